#include "pulumi/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct rco_plan_components components(void)
{
    static const char *const plugins[] = {"resource/kubernetes@4.25.0", "resource/random@4.1.0"};
    return (struct rco_plan_components){.specification_uid = "uid",
                                        .version = 7,
                                        .commit = "c0ffee",
                                        .path = "infra",
                                        .project = "shop",
                                        .stack = "dev",
                                        .backend = "claim:rco-state-dev",
                                        .secrets_provider = "passphrase",
                                        .plan_service_account = "reader",
                                        .apply_service_account = "writer",
                                        .inputs_hash = "1",
                                        .workspace_digest = "2",
                                        .plan_file_digest = "3",
                                        .base_state_digest = "4",
                                        .operations_digest = "5",
                                        .engine_version = "v3.274.1",
                                        .plugins = plugins,
                                        .n_plugins = 2,
                                        .image_digest = "6",
                                        .guard = "Strict"};
}

static void plan_digest_depends_on_every_component(void **state)
{
    struct rco_plan_components c = components();
    char first[RCO_SHA256_HEX], seen[32][RCO_SHA256_HEX];
    const char **texts[] = {&c.specification_uid,
                            &c.commit,
                            &c.path,
                            &c.project,
                            &c.stack,
                            &c.backend,
                            &c.secrets_provider,
                            &c.plan_service_account,
                            &c.apply_service_account,
                            &c.inputs_hash,
                            &c.workspace_digest,
                            &c.plan_file_digest,
                            &c.base_state_digest,
                            &c.operations_digest,
                            &c.engine_version,
                            &c.image_digest,
                            &c.guard};
    static const char *const packs[] = {"pack"};
    size_t n = 0;
    rco_plan_digest(&c, first);
    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++) {
        const char *old = *texts[i];
        *texts[i] = "changed";
        rco_plan_digest(&c, seen[n++]);
        *texts[i] = old;
    }
    c.version = 8;
    rco_plan_digest(&c, seen[n++]);
    c.version = 7;
    c.n_plugins = 1;
    rco_plan_digest(&c, seen[n++]);
    c.n_plugins = 2;
    c.policy_packs = packs;
    c.n_policy_packs = 1;
    rco_plan_digest(&c, seen[n++]);
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(seen[i], first);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(seen[i], seen[k]);
    }
}

static void plan_digest_is_a_fixed_function(void **state)
{
    struct rco_plan_components c = components();
    char one[RCO_SHA256_HEX], two[RCO_SHA256_HEX];
    static const char *const turned[] = {"resource/random@4.1.0", "resource/kubernetes@4.25.0"};
    rco_plan_digest(&c, one);
    c.plugins = turned;
    rco_plan_digest(&c, two);
    assert_string_equal(one, two);
    /* Approvals are recorded with it: another value here would void them at an upgrade. */
    assert_string_equal(one, "db6199c8ada1479f652a8ee646f43ade97c79b8bef8442cc88afe53696abbbf3");
}

static void the_first_difference_is_named_in_order(void **state)
{
    struct rco_plan_components want = components(), got = components();
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_NONE);
    got.n_plugins = 1;
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_PLUGINS);
    got.engine_version = "v4";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_ENGINE);
    got.inputs_hash = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_INPUTS);
    got.base_state_digest = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_BASE_STATE);
    got.plan_file_digest = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_PLAN_FILE);
    got.workspace_digest = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_WORKSPACE);
    got.project = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_PROJECT);
    got.commit = "x";
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_COMMIT);
}

static void an_absent_expectation_never_passes(void **state)
{
    struct rco_plan_components want = components(), got = components();
    want.base_state_digest = got.base_state_digest = NULL;
    assert_int_equal(rco_plan_first_difference(&want, &got), RCO_COMPONENT_BASE_STATE);
}

static void operations_are_a_set(void **state)
{
    struct rco_operation a[] = {{"urn:b", "create"}, {"urn:a", "update"}, {"urn:b", "create"}};
    struct rco_operation b[] = {{"urn:a", "update"}, {"urn:b", "create"}};
    struct rco_operation c[] = {{"urn:a", "create"}, {"urn:b", "update"}};
    char x[RCO_SHA256_HEX], y[RCO_SHA256_HEX], z[RCO_SHA256_HEX], none[RCO_SHA256_HEX];
    rco_operations_digest(a, 3, x);
    rco_operations_digest(b, 2, y);
    rco_operations_digest(c, 2, z);
    rco_operations_digest(NULL, 0, none);
    assert_string_equal(x, y);
    assert_string_not_equal(x, z);
    assert_string_not_equal(x, none);
}

#define STATE(TIME, PENDING, VALUE, SALT)                                                          \
    "{\"version\":3,\"deployment\":{\"manifest\":{\"time\":\"" TIME "\",\"magic\":\"m\"},"         \
    "\"secrets_providers\":{\"type\":\"passphrase\",\"state\":{\"salt\":\"" SALT "\"}},"           \
    "\"resources\":[{\"urn\":\"u\",\"type\":\"pulumi:pulumi:Stack\",\"outputs\":{\"a\":" VALUE     \
    "}}]" PENDING ",\"metadata\":{}}}"

static void read_state(struct rco_arena *a, const char *json, struct rco_state_facts *ret)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_state_read(json, strlen(json), a, ret, &err) < 0)
        fail_msg("%s", err.msg);
}

static void base_state_digest_ignores_the_time_of_the_manifest_only(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_state_facts s, t;
    read_state(&a, STATE("10:00", "", "1", "v1:x"), &s);
    assert_string_equal(s.provider_type, "passphrase");
    assert_string_equal(s.provider_salt, "v1:x");
    assert_int_equal(s.resources, 1);
    assert_int_equal(s.pending_operations, 0);
    assert_int_equal(rco_value_int(s.outputs, "a", 0), 1);
    read_state(&a, STATE("11:00", "", "1", "v1:x"), &t);
    assert_string_equal(s.digest, t.digest);
    read_state(&a, STATE("10:00", ",\"pending_operations\":[]", "1", "v1:x"), &t);
    assert_string_equal(s.digest, t.digest);
    read_state(&a, STATE("10:00", "", "2", "v1:x"), &t);
    assert_string_not_equal(s.digest, t.digest);
    read_state(&a, STATE("10:00", "", "1", "v1:y"), &t);
    assert_string_not_equal(s.digest, t.digest);
    read_state(&a, STATE("10:00", ",\"pending_operations\":[{\"type\":\"creating\"}]", "1", "v1:x"),
               &t);
    assert_string_not_equal(s.digest, t.digest);
    assert_int_equal(t.pending_operations, 1);
}

static void an_empty_stack_has_a_digest_and_anything_else_is_refused(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_state_facts s, t;
    read_state(&a, "{\"version\":3,\"deployment\":{\"resources\":null}}", &s);
    read_state(&a, "{\"deployment\":{\"resources\":[],\"pending_operations\":[]}}", &t);
    assert_string_equal(s.digest, t.digest);
    assert_null(s.outputs);
    assert_null(s.provider_type);
    assert_int_equal(rco_state_read("{}", 2, &a, &s, &err), -1);
    assert_int_equal(rco_state_read("[", 1, &a, &s, &err), -1);
}

static void inputs_hash_needs_the_key_and_every_value(void **state)
{
    struct rco_input a[] = {{"secret", "app:token", "value", 5}, {"config", "app:size", "3", 1}};
    struct rco_input b[] = {{"config", "app:size", "3", 1}, {"secret", "app:token", "value", 5}};
    struct rco_input c[] = {{"config", "app:size", "3", 1}, {"secret", "app:token", "valuf", 5}};
    struct rco_input d[] = {{"config", "app:size", "3", 1},
                            {"secret-env", "app:token", "value", 5}};
    char x[RCO_SHA256_HEX], y[RCO_SHA256_HEX];
    rco_inputs_hash("key", 3, a, 2, x);
    rco_inputs_hash("key", 3, b, 2, y);
    assert_string_equal(x, y);
    rco_inputs_hash("kez", 3, b, 2, y);
    assert_string_not_equal(x, y);
    rco_inputs_hash("key", 3, c, 2, y);
    assert_string_not_equal(x, y);
    rco_inputs_hash("key", 3, d, 2, y);
    assert_string_not_equal(x, y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_digest_depends_on_every_component),
        cmocka_unit_test(plan_digest_is_a_fixed_function),
        cmocka_unit_test(the_first_difference_is_named_in_order),
        cmocka_unit_test(an_absent_expectation_never_passes),
        cmocka_unit_test(operations_are_a_set),
        cmocka_unit_test(base_state_digest_ignores_the_time_of_the_manifest_only),
        cmocka_unit_test(an_empty_stack_has_a_digest_and_anything_else_is_refused),
        cmocka_unit_test(inputs_hash_needs_the_key_and_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
