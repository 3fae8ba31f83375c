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
    /* Who has to act is another where the account of the program lacks a right. */
    const char *forbidden = "configmaps \"page\" is forbidden: User "
                            "\"system:serviceaccount:shop:default\" cannot patch";
    assert_non_null(strstr(rco_advice_failure("Resource", forbidden)->who, "gives rights"));
    assert_ptr_equal(rco_advice_failure("Resource", "no such image"), rco_advice_class("Resource"));
    assert_ptr_equal(rco_advice_failure("Resource", NULL), rco_advice_class("Resource"));
    assert_ptr_equal(rco_advice_failure("Config", forbidden), rco_advice_class("Config"));
    rco_advice_classes(&n);
    assert_int_equal(n, 14);
    rows = rco_advice_reasons(&n);
    for (size_t i = 0; i < n; i++)
        if (!rows[i].next[0])
            fail_msg("no command for reason %s", rows[i].word);
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
        cmocka_unit_test(server_versions_are_read_as_numbers),
        cmocka_unit_test(servers_before_1_30_are_not_supported),
        cmocka_unit_test(the_newest_log_is_the_applys),
        cmocka_unit_test(findings_are_grouped_and_counted),
        cmocka_unit_test(a_list_keeps_the_servers_own_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
