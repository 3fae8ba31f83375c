#include "cli.h"

#include "advice.h"
#include "api.h"
#include "api/zz_generated_types.h"
#include "base/str.h"
#include "check.h"
#include "cluster.h"
#include "logs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void commands_carry_the_flags_that_reach_the_same_place(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_options o = {0};

    (void)state;
    assert_string_equal(rco_cli_flags(&a, &o, NULL), "");
    o.ns = "team-a";
    assert_string_equal(rco_cli_flags(&a, &o, NULL), " -n team-a");
    o.all_namespaces = true;
    assert_string_equal(rco_cli_flags(&a, &o, NULL), "");
    assert_string_equal(rco_cli_flags(&a, &o, "team-b"), " -n team-b");
    o.context = "admin@prod (it's mine)";
    o.kubeconfig = "/home/j d/$x";
    assert_string_equal(rco_cli_flags(&a, &o, "b"),
                        " -n b --context 'admin@prod (it'\\''s mine)' --kubeconfig '/home/j d/$x'");
}

static void each_fault_has_a_next_step(void **state)
{
    static const enum rco_code codes[] = {RCO_EUNAUTHORIZED, RCO_EFORBIDDEN, RCO_ETIMEOUT,
                                          RCO_EUNAVAILABLE, RCO_ETHROTTLED};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(codes); i++) {
        err.code = codes[i];
        assert_non_null(rco_cli_hint(&err));
    }
    rco_error_set(&err, RCO_EINVALID, "kubeconfig x: field");
    assert_non_null(strstr(rco_cli_hint(&err), "--kubeconfig"));
}

static void style_is_plain_without_a_terminal(void **state)
{
    struct rco_options o = {0};
    const struct rco_cli_environment env = {.term = "xterm", .lang = "C.UTF-8", .out_fd = -1};
    struct rco_style s = rco_cli_style(&o, &env);

    (void)state;
    assert_false(s.color);
    assert_int_equal(s.width, 0);
    assert_true(s.unicode);
}

static void every_failure_class_and_reason_says_what_to_do(void **state)
{
    const struct rco_advice_row *rows;
    size_t n;

    (void)state;
    for (int i = 0; rco_failure_class_words[i]; i++) {
        const struct rco_advice_row *row = rco_advice_class(rco_failure_class_words[i]);

        if (!row || !row->meaning || !row->next[0])
            fail_msg("no advice for failure class %s", rco_failure_class_words[i]);
    }
    rco_advice_classes(&n);
    assert_int_equal(n, 14);
    rows = rco_advice_reasons(&n);
    for (size_t i = 0; i < n; i++)
        if (!rows[i].next[0])
            fail_msg("no command for reason %s", rows[i].word);
}

/* --- what a message names --------------------------------------------------------------------- */

static struct rco_advice_found advice(struct rco_arena *a, enum rco_failure_class class,
                                      const char *message)
{
    const struct rco_run run = {
        .metadata = {.ns = "shop"},
        .spec.snapshot.apply_service_account_name = "deployer",
        .status.failure = {.class = class, .message = message},
    };
    struct rco_advice_found found;

    rco_advice_failure(&run, a, &found);
    return found;
}

static const char *named(const struct rco_advice_found *found, const char *name)
{
    for (size_t i = 0; i < found->n_names; i++)
        if (rco_streq(found->names[i].name, name))
            return found->names[i].value;
    return NULL;
}

static void messages_that_are_known_give_names_to_the_commands(void **state)
{
    static const struct {
        enum rco_failure_class class;
        const char *message, *name, *want;
    } cases[] = {
        {RCO_FAILURE_CLASS_CONFIG, "Stack 's' is missing configuration value 'shop:color'", "key",
         "shop:color"},
        {RCO_FAILURE_CLASS_CONFIG, "Missing required configuration variable 'shop:a/b.c'", "key",
         "shop:a/b.c"},
        {RCO_FAILURE_CLASS_CONFIG, "Missing required configuration variable web:replicas", "key",
         "web:replicas"},
        {RCO_FAILURE_CLASS_CONFIG, "missing Secret db key .pass_1 (spec.secretRefs, x): no", "key",
         ".pass_1"},
        {RCO_FAILURE_CLASS_CONFIG, "missing Secret db key p (spec.secretRefs, x): no", "secret",
         "db"},
        {RCO_FAILURE_CLASS_CONFIG, "Job rco-1-p has no pod: the namespace refuses it (x)", "job",
         "rco-1-p"},
        {RCO_FAILURE_CLASS_RESOURCE,
         "a: x is forbidden: User \"system:serviceaccount:shop:deployer\" cannot get resource "
         "\"pods/log\" in API group \"\" in the namespace \"other\"",
         "target", "pods/log"},
        {RCO_FAILURE_CLASS_AUTH,
         "x is forbidden: User \"system:serviceaccount:shop:default\" cannot list resource "
         "\"nodes\" in API group \"metrics.k8s.io\" at the cluster scope",
         "target", "nodes.metrics.k8s.io"},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_advice_found found = advice(&a, cases[i].class, cases[i].message);

        if (!rco_streq(named(&found, cases[i].name), cases[i].want))
            fail_msg("%s: %s is %s, want %s", cases[i].message, cases[i].name,
                     rco_str_or_empty(named(&found, cases[i].name)), cases[i].want);
    }
}

/* A program may say what it likes: none of it becomes a part of a command that does harm. */
static void hostile_messages_give_no_names(void **state)
{
    static const struct {
        enum rco_failure_class class;
        const char *message;
    } cases[] = {
        {RCO_FAILURE_CLASS_CONFIG, "is missing configuration value '$(reboot)'"},
        {RCO_FAILURE_CLASS_CONFIG, "is missing configuration value '--all'"},
        {RCO_FAILURE_CLASS_CONFIG, "is missing configuration value ''"},
        {RCO_FAILURE_CLASS_CONFIG, "is missing configuration value 'a"},
        {RCO_FAILURE_CLASS_CONFIG, "missing Secret a;b key c (spec.secretRefs"},
        {RCO_FAILURE_CLASS_CONFIG, "missing Secret a key b'c (spec.secretRefs"},
        {RCO_FAILURE_CLASS_SOURCE, "is missing configuration value 'a'"},
        {RCO_FAILURE_CLASS_RESOURCE,
         " is forbidden: User \"system:serviceaccount:shop:deployer\" cannot * resource \"*\" in "
         "API group \"*\" at the cluster scope"},
        {RCO_FAILURE_CLASS_RESOURCE,
         " is forbidden: User \"system:serviceaccount:shop:deployer\" cannot impersonate resource "
         "\"users\" in API group \"\" at the cluster scope"},
        {RCO_FAILURE_CLASS_RESOURCE,
         " is forbidden: User \"system:serviceaccount:shop:other\" cannot get resource \"pods\" in "
         "API group \"\" at the cluster scope"},
        {RCO_FAILURE_CLASS_RESOURCE,
         " is forbidden: User \"system:serviceaccount:prod:deployer\" cannot get resource \"pods\" "
         "in API group \"\" in the namespace \"shop\""},
    };
    char long_key[1024];

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_advice_found found = advice(&a, cases[i].class, cases[i].message);

        if (found.n_names || !found.row)
            fail_msg("%s gives names", cases[i].message);
    }
    rco_autoarena a = RCO_ARENA_INIT;
    memset(long_key, 'k', sizeof(long_key) - 1);
    long_key[sizeof(long_key) - 1] = '\0';
    assert_int_equal(advice(&a, RCO_FAILURE_CLASS_CONFIG,
                            rco_arena_printf(&a, "is missing configuration value '%s'", long_key))
                         .n_names,
                     0);
}

static void a_failure_without_a_known_message_has_the_advice_of_its_class(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const char *forbidden = "configmaps \"page\" is forbidden: User "
                            "\"system:serviceaccount:shop:default\" cannot patch";

    (void)state;
    assert_ptr_equal(advice(&a, RCO_FAILURE_CLASS_RESOURCE, "no such image").row,
                     rco_advice_class("Resource"));
    assert_ptr_equal(advice(&a, RCO_FAILURE_CLASS_RESOURCE, NULL).row,
                     rco_advice_class("Resource"));
    assert_ptr_equal(advice(&a, RCO_FAILURE_CLASS_CONFIG, forbidden).row,
                     rco_advice_class("Config"));
    /* Who has to act is another where the account of the program lacks a right. */
    assert_non_null(
        strstr(advice(&a, RCO_FAILURE_CLASS_RESOURCE, forbidden).row->who, "gives rights"));
    assert_null(advice(&a, RCO_FAILURE_CLASS_UNSET, forbidden).row);
}

#define FORBIDDEN(USER, VERB, RESOURCE, GROUP)                                                     \
    "x is forbidden: User \"system:serviceaccount:shop:" USER "\" cannot " VERB                    \
    " resource \"" RESOURCE "\" in API group \"" GROUP "\" in the namespace \"shop\""

static struct rco_advice_found waiting(struct rco_arena *a, const char *says)
{
    const struct rco_run run = {
        .metadata = {.ns = "shop"},
        .spec.snapshot.apply_service_account_name = "deployer",
    };
    struct rco_advice_found found;

    rco_advice_waiting(&run, says, a, &found);
    return found;
}

static void what_an_engine_says_shows_whether_a_person_must_act(void **state)
{
    static const struct {
        const char *says, *who; /* NULL = nobody */
    } cases[] = {
        {NULL, NULL},
        {"", NULL},
        {"+ create kubernetes:apps/v1:Deployment web", NULL},
        {"web: Waiting for app ReplicaSet to be available (0/1 Pods available)", NULL},
        {"web: containers with unready status: [web] -- [ImagePullBackOff] Back-off", "specific"},
        {"[ErrImagePull] failed to pull and unpack image \"x\"", "specific"},
        {"[InvalidImageName] Failed to apply default image tag \"X\"", "specific"},
        {"[RunContainerError] x", "specific"},
        {"[StartError] x", "specific"},
        {"[CrashLoopBackOff] x", "specific"},
        {"[CreateContainerConfigError] secret \"db\" not found", "specific"},
        {"Error: failed to create containerd task: failed to create shim task", "specific"},
        {FORBIDDEN("deployer", "list", "pods", ""), "gives rights"},
        {FORBIDDEN("other", "list", "pods", ""), "gives rights"},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_advice_found found = waiting(&a, cases[i].says);

        if (!found.row != !cases[i].who ||
            (found.row && (!strstr(found.row->who, cases[i].who) || !found.row->next[0])))
            fail_msg("%s: %s", cases[i].says, found.row ? found.row->who : "nobody");
    }
}

/* As for failures: nothing but plain rights of the run's own account becomes a command. */
static void rights_are_given_to_see_that_what_is_deployed_is_ready(void **state)
{
    static const struct {
        const char *says, *target;
        bool reads_too;
    } cases[] = {
        {FORBIDDEN("deployer", "create", "deployments", "apps"), "deployments.apps", true},
        {FORBIDDEN("deployer", "patch", "jobs", "batch"), "jobs.batch", true},
        {FORBIDDEN("deployer", "create", "services", ""), "services", true},
        {FORBIDDEN("deployer", "create", "services", "serving.knative.dev"),
         "services.serving.knative.dev", false},
        {FORBIDDEN("deployer", "create", "configmaps", ""), "configmaps", false},
        {FORBIDDEN("deployer", "list", "endpointslices", "discovery.k8s.io"),
         "pods,events,endpoints,persistentvolumeclaims,replicasets.apps,"
         "endpointslices.discovery.k8s.io",
         false},
        {FORBIDDEN("deployer", "create", "pods", ""), "pods", false},
        {FORBIDDEN("deployer", "bind", "roles", "rbac.authorization.k8s.io"), NULL, false},
        {FORBIDDEN("other", "create", "deployments", "apps"), NULL, false},
        {FORBIDDEN("deployer", "list", "$(reboot)", ""), NULL, false},
        {FORBIDDEN("deployer", "create", "deployments", "apps; reboot"), NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_advice_found found = waiting(&a, cases[i].says);
        bool reads_too = false;

        for (size_t j = 0; found.row && j < RCO_ADVICE_MAX_NEXT && found.row->next[j]; j++)
            reads_too |= strstr(found.row->next[j], "{account}-read-workloads") != NULL;
        if (!rco_streq(rco_str_or_empty(named(&found, "target")),
                       rco_str_or_empty(cases[i].target)) ||
            reads_too != cases[i].reads_too)
            fail_msg("%s: %s", cases[i].says, rco_str_or_empty(named(&found, "target")));
    }
}

static void conditions_that_are_known_give_names_to_the_commands(void **state)
{
    struct rco_depspec_config_ref refs[] = {
        {.key = "a", .config_map_key_ref = {.name = "web", .key = "size"}},
        {.key = "b", .config_map_key_ref = {.name = "web", .key = "max-size"}},
        {.key = "c", .config_map_key_ref = {.name = "web", .key = "size"}},
        {.key = "d", .config_map_key_ref = {.name = "other", .key = "x"}},
    };
    const struct rco_depspec spec = {.spec = {.config_refs = refs, .n_config_refs = 4}};
    struct rco_condition c = {
        .reason = "ReferenceMissing",
        .message =
            "ConfigMap web (spec.configRefs, a) does not exist in namespace shop, or has no"};
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_advice_found found;

    (void)state;
    rco_advice_condition(&c, &spec, &a, &found);
    assert_string_equal(named(&found, "literals"),
                        " --from-literal=size=VALUE --from-literal=max-size=VALUE");
    /* Without a specification, or with a key that is none, there is the reason's own row. */
    rco_advice_condition(&c, NULL, &a, &found);
    assert_ptr_equal(found.row, rco_advice_reason("ReferenceMissing"));
    refs[1].config_map_key_ref.key = "a b";
    rco_advice_condition(&c, &spec, &a, &found);
    assert_ptr_equal(found.row, rco_advice_reason("ReferenceMissing"));
    /* A message counts under its own reason alone. */
    c = (struct rco_condition){.reason = "Restored",
                               .message = "ConfigMap web has no key k (spec.configRefs, a)"};
    rco_advice_condition(&c, &spec, &a, &found);
    assert_ptr_equal(found.row, rco_advice_reason("Restored"));
    c.reason = "ReferenceMissing";
    rco_advice_condition(&c, &spec, &a, &found);
    assert_string_equal(named(&found, "key"), "k");
    c.message = "ConfigMap web has no key $(k) (spec.configRefs, a)";
    rco_advice_condition(&c, &spec, &a, &found);
    assert_int_equal(found.n_names, 0);
}

static void a_refused_pod_names_the_account_that_is_missing(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_advice_found found;

    (void)state;
    rco_advice_refusal("pods \"x-\" is forbidden: error looking up service account shop/deployer: "
                       "serviceaccount \"deployer\" not found",
                       &a, &found);
    assert_string_equal(named(&found, "account"), "deployer");
    rco_advice_refusal("exceeded quota: q", &a, &found);
    assert_null(found.row);
    rco_advice_refusal(NULL, &a, &found);
    assert_null(found.row);
}

/* --- logs ------------------------------------------------------------------------------------- */

static void silence_of_a_log_is_said_after_30s_and_then_once_a_minute(void **state)
{
    struct rco_logs_quiet q = {0};
    rco_mono t = 1000 * RCO_NS_PER_S;
    int64_t s = 0;

    (void)state;
    assert_false(rco_logs_quiet_due(&q, t, &s));
    assert_false(rco_logs_quiet_due(&q, t + 29 * RCO_NS_PER_S, &s));
    assert_true(rco_logs_quiet_due(&q, t + 31 * RCO_NS_PER_S, &s));
    assert_int_equal(s, 31);
    assert_false(rco_logs_quiet_due(&q, t + 90 * RCO_NS_PER_S, &s));
    assert_true(rco_logs_quiet_due(&q, t + 91 * RCO_NS_PER_S, &s));
    assert_int_equal(s, 91);
    q.heard = t + 100 * RCO_NS_PER_S; /* a piece came */
    assert_false(rco_logs_quiet_due(&q, t + 129 * RCO_NS_PER_S, &s));
    assert_false(rco_logs_quiet_due(&q, t + 150 * RCO_NS_PER_S, &s));
    assert_true(rco_logs_quiet_due(&q, t + 151 * RCO_NS_PER_S, &s));
    assert_int_equal(s, 51);
}

static void the_newest_line_is_the_engines(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"one\ntwo\n", "two"},
        {"one\ntwo", "two"},
        {"one\n\n \t\n", "one"},
        {"+ create web\n2026-11-30T12:00:00.123456Z info delivered\n", "+ create web"},
        {"2026-11-30T12:00:00.123456Z info waiting for the start\n", NULL},
        {"2026-11-30 is a day\n", "2026-11-30 is a day"},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        const char *got = rco_logs_newest_line(&a, cases[i].text, strlen(cases[i].text));

        if (!rco_streq(got, cases[i].want))
            fail_msg("\"%s\" gives \"%s\"", cases[i].text, rco_str_or_empty(got));
    }
}

static void server_versions_are_read_as_numbers(void **state)
{
    (void)state;
    assert_int_equal(rco_cluster_number("34"), 34);
    assert_int_equal(rco_cluster_number("30+"), 30);
    assert_int_equal(rco_cluster_number("x"), 0);
    assert_int_equal(rco_cluster_number("3x"), 0);
    assert_int_equal(rco_cluster_number(""), 0);
    assert_int_equal(rco_cluster_number(NULL), 0);
}

static void servers_before_1_30_are_not_supported(void **state)
{
    const struct rco_server_version old = {.major = 1, .minor = 29},
                                    good = {.major = 1, .minor = 30},
                                    later = {.major = 2, .minor = 0}, none = {0};

    (void)state;
    assert_false(rco_cluster_is_supported(&old));
    assert_true(rco_cluster_is_supported(&good));
    assert_true(rco_cluster_is_supported(&later));
    assert_false(rco_cluster_is_supported(&none));
}

static void the_newest_log_is_the_applys(void **state)
{
    struct rco_artifact stored[] = {
        {.kind = RCO_ARTIFACT_KIND_DIFF, .phase = RCO_ENGINE_PHASE_PLAN},
        {.kind = RCO_ARTIFACT_KIND_LOG, .phase = RCO_ENGINE_PHASE_PLAN},
    };
    struct rco_artifact of_apply[] = {
        {.kind = RCO_ARTIFACT_KIND_LOG, .phase = RCO_ENGINE_PHASE_APPLY}};
    struct rco_run run = {.status = {.artifacts = stored, .n_artifacts = 2}};

    (void)state;
    assert_ptr_equal(rco_logs_find(&run, RCO_ENGINE_PHASE_UNSET), &stored[1]);
    assert_null(rco_logs_find(&run, RCO_ENGINE_PHASE_APPLY));
    run.status.apply_receipt.artifacts = of_apply;
    run.status.apply_receipt.n_artifacts = 1;
    assert_ptr_equal(rco_logs_find(&run, RCO_ENGINE_PHASE_UNSET), &of_apply[0]);
    assert_ptr_equal(rco_logs_find(&run, RCO_ENGINE_PHASE_PLAN), &stored[1]);
}

static void findings_are_grouped_and_counted(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT, json = RCO_BUF_INIT;
    struct rco_checks c = {.arena = &a};
    const struct rco_style plain = {0};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    rco_check_section(&c, "One");
    rco_check_add(&c, RCO_CHECK_OK, "a", "never shown", "fine");
    assert_int_equal(rco_check_exit(&c), 0);
    rco_check_add(&c, RCO_CHECK_FAILED, "b", "do it", "gone");
    rco_check_add(&c, RCO_CHECK_FAILED, "c", "do it", "gone too");
    rco_check_section(&c, "Two");
    rco_error_set(&err, RCO_EFORBIDDEN, "no");
    rco_check_unknown(&c, "d", &err);
    assert_int_equal(rco_check_exit(&c), 1);
    rco_check_render(&c, &plain, &out);
    assert_string_equal(rco_buf_str(&out), "One\n"
                                           "  ok      a: fine\n"
                                           "  failed  b: gone\n"
                                           "  failed  c: gone too\n"
                                           "          next: do it\n"
                                           "Two\n"
                                           "  unknown d: not allowed to look (no)\n"
                                           "1 ok, 2 failed, 0 warnings, 1 unknown\n");
    rco_check_json(&c, &json);
    assert_non_null(strstr(rco_buf_str(&json), "\"ok\":false"));
    for (int i = 0; i < RCO_CHECK_MAX_ITEMS + 5; i++)
        rco_check_add(&c, RCO_CHECK_NOTE, "x", NULL, "y");
    assert_int_equal(c.n, RCO_CHECK_MAX_ITEMS);
}

static void a_list_keeps_the_servers_own_text(void **state)
{
    struct rco_api_item items[] = {{.json = "{\"a\":1}", .json_len = 7},
                                   {.json = "{\"b\":2}", .json_len = 7}};
    const struct rco_api_list list = {.items = items, .n = 2};
    rco_autobuf out = RCO_BUF_INIT;

    (void)state;
    rco_api_list_json(&list, &out);
    assert_string_equal(
        rco_buf_str(&out),
        "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"a\":1},{\"b\":2}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_carry_the_flags_that_reach_the_same_place),
        cmocka_unit_test(each_fault_has_a_next_step),
        cmocka_unit_test(style_is_plain_without_a_terminal),
        cmocka_unit_test(every_failure_class_and_reason_says_what_to_do),
        cmocka_unit_test(messages_that_are_known_give_names_to_the_commands),
        cmocka_unit_test(hostile_messages_give_no_names),
        cmocka_unit_test(a_failure_without_a_known_message_has_the_advice_of_its_class),
        cmocka_unit_test(what_an_engine_says_shows_whether_a_person_must_act),
        cmocka_unit_test(rights_are_given_to_see_that_what_is_deployed_is_ready),
        cmocka_unit_test(conditions_that_are_known_give_names_to_the_commands),
        cmocka_unit_test(a_refused_pod_names_the_account_that_is_missing),
        cmocka_unit_test(silence_of_a_log_is_said_after_30s_and_then_once_a_minute),
        cmocka_unit_test(the_newest_line_is_the_engines),
        cmocka_unit_test(server_versions_are_read_as_numbers),
        cmocka_unit_test(servers_before_1_30_are_not_supported),
        cmocka_unit_test(the_newest_log_is_the_applys),
        cmocka_unit_test(findings_are_grouped_and_counted),
        cmocka_unit_test(a_list_keeps_the_servers_own_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
