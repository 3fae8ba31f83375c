#include "exposure.h"

#include "base/error.h"
#include "base/str.h"
#include "json/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char roles_json[] =
    "{\"items\":[{\"metadata\":{\"name\":\"podder\"},\"rules\":[{\"verbs\":[\"create\"],"
    "\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]},"
    "{\"metadata\":{\"name\":\"harmless\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],"
    "\"resources\":[\"pods\"]}]}]}";
static const char cluster_roles_json[] =
    "{\"items\":[{\"metadata\":{\"name\":\"cluster-admin\"},\"rules\":[{\"verbs\":[\"*\"],"
    "\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]}"
    ","
    "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],"
    "\"resources\":[\"secrets\"],\"resourceNames\":[\"one\"]}]}]}";
static const char bindings_json[] =
    "{\"items\":[{\"metadata\":{\"name\":\"team\"},\"roleRef\":{\"kind\":\"Role\",\"name\":"
    "\"podder\"},\"subjects\":["
    "{\"kind\":\"User\",\"name\":\"jane\"},{\"kind\":\"ServiceAccount\",\"name\":\"ci\","
    "\"namespace\":\"build\"}]},"
    "{\"metadata\":{\"name\":\"look\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"harmless\"},"
    "\"subjects\":[{\"kind\":\"User\",\"name\":\"joe\"}]},"
    "{\"metadata\":{\"name\":\"read\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"reader\"},"
    "\"subjects\":[{\"kind\":\"User\",\"name\":\"jane\"}]},"
    "{\"metadata\":{\"name\":\"everybody\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"podder\"},"
    "\"subjects\":[{\"kind\":\"Group\",\"name\":\"system:authenticated\"}]},"
    "{\"metadata\":{\"name\":\"dangling\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"gone\"},"
    "\"subjects\":[{\"kind\":\"User\",\"name\":\"ann\"}]}]}";
static const char cluster_bindings_json[] =
    "{\"items\":[{\"metadata\":{\"name\":\"admins\"},\"roleRef\":{\"kind\":\"ClusterRole\","
    "\"name\":\"cluster-admin\"},\"subjects\":["
    "{\"kind\":\"Group\",\"name\":\"system:masters\"},{\"kind\":\"ServiceAccount\",\"name\":\"job-"
    "controller\",\"namespace\":\"kube-system\"},"
    "{\"kind\":\"Group\",\"name\":\"ops\"}]}]}";

static void decode(const struct rco_schema *schema, const char *json, struct rco_arena *a,
                   void *out)
{
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_codec_decode(schema, json, strlen(json), a, out, &err) < 0)
        fail_msg("%s", err.msg);
}

static void approvers_in_fact_are_found(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_view_roles roles, cluster_roles;
    struct rco_view_bindings bindings, cluster_bindings;
    const struct rco_exposure_input in = {&roles, &cluster_roles, &bindings, &cluster_bindings};
    struct rco_exposed *found;
    size_t n, n_system;

    (void)state;
    decode(&rco_view_roles_schema, roles_json, &a, &roles);
    decode(&rco_view_roles_schema, cluster_roles_json, &a, &cluster_roles);
    decode(&rco_view_bindings_schema, bindings_json, &a, &bindings);
    decode(&rco_view_bindings_schema, cluster_bindings_json, &a, &cluster_bindings);
    rco_exposure_find(&in, &a, &found, &n, &n_system);
    assert_int_equal(n, 4);
    assert_int_equal(n_system, 2);
    assert_string_equal(found[0].name, "ops");
    assert_int_equal(found[0].powers, RCO_POWER_CREATE_PODS | RCO_POWER_READ_SECRETS |
                                          RCO_POWER_EXEC | RCO_POWER_MAKE_TOKENS |
                                          RCO_POWER_GIVE_RIGHTS);
    assert_string_equal(found[1].name, "system:authenticated");
    assert_string_equal(found[2].name, "ci");
    assert_string_equal(found[2].ns, "build");
    assert_string_equal(found[3].name, "jane");
    assert_int_equal(found[3].powers, RCO_POWER_CREATE_PODS | RCO_POWER_READ_SECRETS);
    assert_string_equal(found[3].through, "RoleBinding team");
    assert_string_equal(rco_exposure_words(found[3].powers, &a), "create pods, read Secrets");
}

static unsigned rule(const char *verb, const char *group, const char *resource, const char *name)
{
    const char *verbs[] = {verb}, *groups[] = {group}, *resources[] = {resource}, *names[] = {name};
    const struct rco_view_rule r = {verbs, groups, resources, names, 1, 1, 1, name != NULL};

    return rco_exposure_of_rule(&r);
}

static void each_rule_gives_what_kubernetes_gives(void **state)
{
    (void)state;
    assert_int_equal(rule("create", "", "pods", NULL), RCO_POWER_CREATE_PODS);
    assert_int_equal(rule("create", "", "pods", "x"), 0);
    assert_int_equal(rule("get", "", "pods", NULL), 0);
    assert_int_equal(rule("create", "apps", "pods", NULL), 0);
    assert_int_equal(rule("patch", "apps", "deployments", NULL), RCO_POWER_CREATE_PODS);
    assert_int_equal(rule("patch", "batch", "jobs", NULL), 0);
    assert_int_equal(rule("create", "batch", "jobs", NULL), RCO_POWER_CREATE_PODS);
    assert_int_equal(rule("watch", "", "secrets", NULL), RCO_POWER_READ_SECRETS);
    assert_int_equal(rule("get", "", "secrets", "x"), RCO_POWER_READ_SECRETS);
    assert_int_equal(rule("create", "", "secrets", NULL), 0);
    assert_int_equal(rule("create", "", "pods/exec", NULL), RCO_POWER_EXEC);
    assert_int_equal(rule("create", "", "*/exec", NULL), RCO_POWER_EXEC);
    assert_int_equal(rule("create", "", "serviceaccounts/token", NULL), RCO_POWER_MAKE_TOKENS);
    assert_int_equal(rule("bind", "rbac.authorization.k8s.io", "clusterroles", "x"),
                     RCO_POWER_GIVE_RIGHTS);
    assert_int_equal(rule("impersonate", "", "users", NULL), RCO_POWER_GIVE_RIGHTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approvers_in_fact_are_found),
        cmocka_unit_test(each_rule_gives_what_kubernetes_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
