#include "pulumi/receipt.h"

#include "pulumi/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STACK "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
#define UID "6b1f3c1e-0000-4000-8000-000000000001"

static void feed(struct rco_receipt_builder *b, const char *line)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_engine_event e;
    rco_event_parse(line, strlen(line), &a, &e);
    rco_receipt_builder_event(b, &e);
}

static void feed_step(struct rco_receipt_builder *b, const char *kind, const char *op,
                      const char *type, const char *urn)
{
    rco_autobuf line = RCO_BUF_INIT;
    rco_buf_addf(
        &line,
        "{\"sequence\":1,\"timestamp\":1,\"%s\":{\"metadata\":{\"op\":\"%s\",\"urn\":\"%s\","
        "\"type\":\"%s\",\"old\":null,\"new\":null}}}",
        kind, op, urn, type);
    feed(b, rco_buf_str(&line));
}

static void feed_summary(struct rco_receipt_builder *b, bool preview, const char *result)
{
    rco_autobuf line = RCO_BUF_INIT;
    rco_buf_addf(
        &line,
        "{\"sequence\":1,\"timestamp\":1,\"summaryEvent\":{\"isPreview\":%s,\"result\":\"%s\"}}",
        preview ? "true" : "false", result);
    feed(b, rco_buf_str(&line));
}

static void feed_error(struct rco_receipt_builder *b, const char *severity, const char *message)
{
    rco_autobuf line = RCO_BUF_INIT;
    rco_buf_addf(
        &line,
        "{\"sequence\":1,\"timestamp\":1,\"diagnosticEvent\":{\"severity\":\"%s\",\"message\":"
        "\"%s\",\"urn\":\"urn:d\"}}",
        severity, message);
    feed(b, rco_buf_str(&line));
}

static void a_plan_is_counted_by_type_and_a_replacement_once(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
    struct rco_runner_receipt r = {0};
    static const char *const steps[][3] = {{"same", "pulumi:pulumi:Stack", STACK},
                                           {"create", "k:Pod", "urn:a"},
                                           {"create", "k:Pod", "urn:b"},
                                           {"update", "k:Map", "urn:c"},
                                           {"create-replacement", "k:Svc", "urn:d"},
                                           {"replace", "k:Svc", "urn:d"},
                                           {"delete-replaced", "k:Svc", "urn:d"},
                                           {"delete", "k:Pod", "urn:e"},
                                           {"read", "k:Pod", "urn:f"}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(steps); i++) {
        feed_step(b, "resourcePreEvent", steps[i][0], steps[i][1], steps[i][2]);
        feed_step(b, "resOutputsEvent", steps[i][0], steps[i][1], steps[i][2]);
    }
    feed_summary(b, true, "succeeded");
    rco_receipt_builder_fill(b, &a, &r);
    assert_true(r.adds == 2 && r.changes == 1 && r.replaces == 1 && r.deletes == 1 && r.sames == 1);
    assert_int_equal(r.n_types, 3);
    assert_string_equal(r.types[0].type, "k:Map");
    assert_true(r.types[1].adds == 2 && r.types[1].deletes == 1);
    assert_true(r.types[2].replaces == 1 && !r.types[2].has_adds);
    assert_int_equal(r.n_resources, 5);
    assert_string_equal(r.resources[3].op, "replace");
    assert_false(r.truncated);
    struct rco_operation ops[] = {{"urn:a", "create"},  {"urn:b", "create"},
                                  {"urn:c", "update"},  {"urn:d", "create-replacement"},
                                  {"urn:d", "replace"}, {"urn:d", "delete-replaced"},
                                  {"urn:e", "delete"}};
    char want[RCO_SHA256_HEX];
    rco_operations_digest(ops, RCO_ARRAY_LEN(ops), want);
    assert_string_equal(r.operations_digest, want);
    rco_receipt_builder_free(b);
}

static void an_apply_counts_what_was_done_and_not_what_was_previewed(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_APPLY);
    struct rco_runner_receipt r = {0};
    struct rco_receipt_result s;
    feed_step(b, "resourcePreEvent", "create", "k:Pod", "urn:a");
    feed_step(b, "resOutputsEvent", "create", "k:Pod", "urn:a");
    feed_step(b, "resourcePreEvent", "create", "k:Pod", "urn:b");
    feed_summary(b, true, "succeeded");
    rco_receipt_builder_result(b, &s);
    assert_true(!s.touched && s.steps_total == 2 && s.adds == 0);
    feed_step(b, "resourcePreEvent", "create", "k:Pod", "urn:a");
    feed_step(b, "resOutputsEvent", "create", "k:Pod", "urn:a");
    feed_step(b, "resOutputsEvent", "create", "k:Pod",
              "urn:a"); /* a component registers its outputs */
    feed_step(b, "resourcePreEvent", "create", "k:Pod", "urn:b");
    feed_step(b, "resOpFailedEvent", "create", "k:Pod", "urn:b");
    feed_error(b, "error", "no such image");
    feed_summary(b, false, "failed");
    rco_receipt_builder_result(b, &s);
    assert_true(s.touched && s.resource_failed && s.preview_ok && s.update_done && !s.update_ok);
    assert_int_equal(s.steps_done, 1);
    assert_string_equal(s.error, "no such image");
    rco_receipt_builder_fill(b, &a, &r);
    assert_true(r.adds == 1 && r.n_resources == 1 && r.may_have_changed);
    rco_receipt_builder_free(b);
}

/* What the engine did to D (k:Svc) in order, and what is counted of it. */
static void a_replacement_counts_when_the_resource_is_there_again(void **state)
{
    static const struct {
        const char *steps[5], *op;
        int64_t deletes, replaces;
    } rows[] = {
        {{"delete-replaced", "replace", "create-replacement"}, "replace", 0, 1},
        {{"create-replacement", "replace", "delete-replaced"}, "replace", 0, 1},
        {{"create-replacement"}, "replace", 0, 1},
        {{"delete-replaced"}, "delete", 1, 0},
        {{"delete-replaced", "replace"}, "delete", 1, 0},
        {{"replace"}, NULL, 0, 0},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_APPLY);
        struct rco_runner_receipt r = {0};
        feed_summary(b, true, "succeeded");
        for (size_t k = 0; rows[i].steps[k]; k++) {
            feed_step(b, "resourcePreEvent", rows[i].steps[k], "k:Svc", "urn:d");
            feed_step(b, "resOutputsEvent", rows[i].steps[k], "k:Svc", "urn:d");
        }
        rco_receipt_builder_fill(b, &a, &r);
        assert_int_equal(r.deletes, rows[i].deletes);
        assert_int_equal(r.replaces, rows[i].replaces);
        assert_int_equal(r.adds + r.changes, 0);
        assert_int_equal(r.n_resources, rows[i].op ? 1 : 0);
        if (rows[i].op) {
            assert_string_equal(r.resources[0].op, rows[i].op);
            assert_int_equal(r.n_types, 1);
            assert_true(r.types[0].deletes == rows[i].deletes &&
                        r.types[0].replaces == rows[i].replaces);
        }
        assert_true(r.may_have_changed);
        rco_receipt_builder_free(b);
    }
}

static void an_exception_is_told_not_its_traceback(void **state)
{
    static const struct {
        const char *message, *want;
    } rows[] = {
        {"error: Program failed with an unhandled exception:\\nTraceback (most recent call "
         "last):\\n"
         "  File a, line 1\\n    raise RuntimeError(x)\\nRuntimeError: it gives up here\\n",
         "unhandled exception: RuntimeError: it gives up here"},
        {"Program failed:\\nTraceback (most recent call last):\\n  File a\\nKeyError: 'x'\\n\\n"
         "During handling of the above exception, another exception occurred:\\n\\n"
         "Traceback (most recent call last):\\n  File b\\n\\n  File c\\nValueError: y\\nmore",
         "unhandled exception: ValueError: y"},
        {"Program failed:\\nTraceback (most recent call last):\\n  File a\\n",
         "Program failed: Traceback (most recent call last): File a"},
        {"Traceback (most recent call last):", "Traceback (most recent call last):"},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_receipt_result s;
        struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
        feed_error(b, "error", rows[i].message);
        rco_receipt_builder_result(b, &s);
        assert_string_equal(s.error, rows[i].want);
        rco_receipt_builder_free(b);
    }
}

static void the_error_that_says_most_is_taken(void **state)
{
    struct rco_receipt_result s;
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
    feed_error(b, "info#err", "Error: undefined variable x");
    feed_error(b, "error", "preview failed");
    rco_receipt_builder_result(b, &s);
    assert_string_equal(s.error, "undefined variable x");
    feed_error(b, "error", "<{%fg 1%}>error: 1 error occurred:\\n\\t* quota exceeded\\n\\nmore");
    feed_error(b, "error", "a later one");
    rco_receipt_builder_result(b, &s);
    assert_string_equal(s.error, "quota exceeded");
    assert_string_equal(s.error_urn, "urn:d");
    feed_error(b, "error", "resource urn:x violates plan: properties changed");
    feed_error(b, "error", "update failed");
    rco_receipt_builder_result(b, &s);
    assert_true(s.plan_violation);
    assert_string_equal(s.error, "resource urn:x violates plan: properties changed");
    rco_receipt_builder_free(b);
}

#define LEFT_OUT "expected resource operations for urn:w but none were seen"

static void what_a_failed_resource_left_out_is_not_the_plans_refusal(void **state)
{
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_APPLY);
    struct rco_receipt_result s;
    feed_summary(b, true, "succeeded");
    feed_step(b, "resourcePreEvent", "create", "k:Map", "urn:m");
    feed_error(b, "error", "resource urn:m was not successfully created: it is forbidden");
    feed_step(b, "resOpFailedEvent", "create", "k:Map", "urn:m");
    feed_error(b, "error", LEFT_OUT);
    rco_receipt_builder_result(b, &s);
    assert_false(s.plan_violation);
    assert_true(s.resource_failed);
    assert_string_equal(s.error, "resource urn:m was not successfully created: it is forbidden");
    rco_receipt_builder_free(b);

    /* A program that fails for a reason of its own leaves steps out too. */
    b = rco_receipt_builder_new(RCO_ENGINE_PHASE_APPLY);
    feed_error(b, "error", "fn::invoke of urn:f: no such image");
    feed_error(b, "error", LEFT_OUT);
    rco_receipt_builder_result(b, &s);
    assert_false(s.plan_violation);
    assert_string_equal(s.error, "fn::invoke of urn:f: no such image");
    rco_receipt_builder_free(b);

    /* Nothing else went wrong: the program did not do what was planned. */
    b = rco_receipt_builder_new(RCO_ENGINE_PHASE_APPLY);
    feed_error(b, "error", "update failed");
    feed_error(b, "error", LEFT_OUT);
    rco_receipt_builder_result(b, &s);
    assert_true(s.plan_violation);
    assert_string_equal(s.error, LEFT_OUT);
    rco_receipt_builder_free(b);
}

static void a_stream_that_cannot_be_read_is_marked(void **state)
{
    struct rco_receipt_result s;
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
    feed(b, "noise of a plugin");
    rco_receipt_builder_result(b, &s);
    assert_false(s.broken);
    feed_step(b, "resourcePreEvent", "explode", "k:Pod", "urn:a");
    rco_receipt_builder_result(b, &s);
    assert_true(s.broken && strstr(s.broken_why, "does not know"));
    rco_receipt_builder_free(b);
    b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
    feed(b, "{\"sequence\":1,");
    rco_receipt_builder_result(b, &s);
    assert_true(s.broken);
    rco_receipt_builder_free(b);
}

static void changed_outputs_are_seen(void **state)
{
    static const char line[] =
        "{\"sequence\":1,\"resOutputsEvent\":{\"metadata\":{\"op\":\"same\",\"urn\":\"" STACK
        "\",\"type\":\"pulumi:pulumi:Stack\",\"old\":{\"outputs\":{\"a\":1}},\"new\":{\"outputs\":{"
        "\"a\":";
    struct rco_receipt_result s;
    for (int value = 1; value <= 2; value++) {
        struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
        rco_autobuf text = RCO_BUF_INIT;
        rco_buf_addf(&text, "%s%d}}}}}", line, value);
        feed(b, rco_buf_str(&text));
        rco_receipt_builder_result(b, &s);
        assert_int_equal(s.outputs_changed, value == 2);
        rco_receipt_builder_free(b);
    }
}

static void long_lists_are_cut_and_say_so(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_receipt_builder *b = rco_receipt_builder_new(RCO_ENGINE_PHASE_PLAN);
    struct rco_runner_receipt r = {0};
    for (int i = 0; i < 300; i++) {
        char type[32], urn[32];
        snprintf(type, sizeof(type), "k:T%d", i);
        snprintf(urn, sizeof(urn), "urn:%d", i);
        feed_step(b, "resourcePreEvent", "create", type, urn);
    }
    rco_receipt_builder_fill(b, &a, &r);
    assert_true(r.adds == 300 && r.n_types == 200 && r.n_resources == 20 && r.truncated);
    rco_receipt_builder_free(b);
}

/* --- receipts from outside --- */

#define D "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct rco_plan_type one_type[] = {{.type = "k:Pod", .adds = 1, .has_adds = true}};
static struct rco_runner_artifact plan_artifact[] = {
    {.kind = RCO_ARTIFACT_KIND_PLAN, .digest = D, .size = 10, .has_size = true}};

static struct rco_runner_receipt valid(void)
{
    return (struct rco_runner_receipt){.run_uid = UID,
                                       .phase = RCO_ENGINE_PHASE_PLAN,
                                       .result = RCO_APPLY_RESULT_SUCCEEDED,
                                       .program_version =
                                           "0123456789abcdef0123456789abcdef01234567",
                                       .project = "shop",
                                       .stack = "dev",
                                       .inputs_hash = D,
                                       .workspace_digest = D,
                                       .plan_file_digest = D,
                                       .base_state_digest = D,
                                       .operations_digest = D,
                                       .engine_version = "v3.274.1",
                                       .adds = 1,
                                       .has_adds = true,
                                       .has_changes = true,
                                       .has_deletes = true,
                                       .has_replaces = true,
                                       .has_sames = true,
                                       .types = one_type,
                                       .n_types = 1,
                                       .artifacts = plan_artifact,
                                       .n_artifacts = 1};
}

static void refused(const struct rco_runner_receipt *r, const char *part)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_receipt_check(r, UID, RCO_ENGINE_PHASE_PLAN, &err) == 0)
        fail_msg("accepted, wanted %s", part);
    if (!strstr(err.msg, part))
        fail_msg("%s, wanted %s", err.msg, part);
}

static void a_valid_receipt_is_accepted(void **state)
{
    struct rco_runner_receipt r = valid();
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_receipt_check(&r, UID, RCO_ENGINE_PHASE_PLAN, &err) != 0)
        fail_msg("%s", err.msg);
    r.result = RCO_APPLY_RESULT_FAILED;
    r.has_failure = true;
    r.failure.class = RCO_FAILURE_CLASS_CONFIG;
    r.base_state_digest = r.plan_file_digest = r.operations_digest = r.engine_version = NULL;
    r.has_adds = r.has_sames = false;
    r.n_types = r.n_artifacts = 0;
    assert_int_equal(rco_receipt_check(&r, UID, RCO_ENGINE_PHASE_PLAN, &err), 0);
}

static void receipts_that_lie_are_refused(void **state)
{
    static struct rco_runner_artifact twice[] = {
        {.kind = RCO_ARTIFACT_KIND_PLAN, .digest = D, .size = 10, .has_size = true},
        {.kind = RCO_ARTIFACT_KIND_PLAN, .digest = D, .size = 10, .has_size = true}};
    struct rco_runner_receipt r;
#define LIE(CHANGE, PART)                                                                          \
    do {                                                                                           \
        r = valid();                                                                               \
        CHANGE;                                                                                    \
        refused(&r, PART);                                                                         \
    } while (0)
    LIE(r.run_uid = "another", "another run");
    LIE(r.run_uid = NULL, "another run");
    LIE(r.phase = RCO_ENGINE_PHASE_APPLY, ".phase");
    LIE(r.result = RCO_APPLY_RESULT_UNKNOWN, ".result");
    LIE(r.result = RCO_APPLY_RESULT_NO_CHANGES, ".result");
    LIE(r.result = RCO_APPLY_RESULT_FAILED, "without a .failure");
    LIE(r.has_failure = true, "with a .failure");
    LIE((r.result = RCO_APPLY_RESULT_FAILED, r.has_failure = true,
         r.failure.class = RCO_FAILURE_CLASS_UNKNOWN),
        ".failure.class");
    LIE(r.program_version = "main", "not a commit");
    LIE(r.base_state_digest = "12", ".baseStateDigest");
    LIE(r.operations_digest = NULL, ".operationsDigest");
    LIE(r.inputs_hash = NULL, ".inputsHash");
    LIE(r.workspace_digest = NULL, ".workspaceDigest");
    LIE(r.project = NULL, ".project");
    LIE(r.adds = -1, ".adds");
    LIE(r.adds = 2, "do not add up to .adds");
    LIE(r.deletes = 1, "do not add up to .deletes");
    LIE(r.has_replaces = false, ".replaces is missing");
    LIE(r.sames = INT64_MAX, ".sames");
    LIE(r.n_artifacts = 0, "no artifact is the plan file");
    LIE(r.plan_file_digest = "f"
                             "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "no artifact is the plan file");
    LIE((r.artifacts = twice, r.n_artifacts = 2), "plan twice");
}

static void plugins_have_one_text(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_plugin plugins[] = {{.name = "random", .kind = "resource", .version = "4.1.0"},
                                         {0}};
    const char **texts = rco_receipt_plugin_texts(plugins, 2, &a);
    assert_string_equal(texts[0], "resource/random@4.1.0");
    assert_string_equal(texts[1], "/@");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_counted_by_type_and_a_replacement_once),
        cmocka_unit_test(an_apply_counts_what_was_done_and_not_what_was_previewed),
        cmocka_unit_test(the_error_that_says_most_is_taken),
        cmocka_unit_test(a_replacement_counts_when_the_resource_is_there_again),
        cmocka_unit_test(an_exception_is_told_not_its_traceback),
        cmocka_unit_test(what_a_failed_resource_left_out_is_not_the_plans_refusal),
        cmocka_unit_test(a_stream_that_cannot_be_read_is_marked),
        cmocka_unit_test(changed_outputs_are_seen),
        cmocka_unit_test(long_lists_are_cut_and_say_so),
        cmocka_unit_test(a_valid_receipt_is_accepted),
        cmocka_unit_test(receipts_that_lie_are_refused),
        cmocka_unit_test(plugins_have_one_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
