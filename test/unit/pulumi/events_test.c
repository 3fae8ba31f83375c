#include "pulumi/events.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct rco_engine_event parse(struct rco_arena *a, const char *line)
{
    struct rco_engine_event e;
    rco_event_parse(line, strlen(line), a, &e);
    return e;
}

#define E(BODY) "{\"sequence\":3,\"timestamp\":1796022380," BODY "}"

static void lines_as_the_engine_writes_them_are_read(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_engine_event e = parse(
        &a,
        E("\"resourcePreEvent\":{\"metadata\":{\"op\":\"create\",\"urn\":"
          "\"urn:x\",\"type\":\"a:b:C\",\"old\":null,\"new\":{\"inputs\":{}}},\"planning\":true}"));
    assert_int_equal(e.type, RCO_EVENT_RESOURCE);
    assert_string_equal(e.op, "create");
    assert_string_equal(e.urn, "urn:x");
    assert_string_equal(e.resource_type, "a:b:C");
    assert_true(e.planning);
    assert_int_equal(e.sequence, 3);
    e = parse(&a, E("\"summaryEvent\":{\"isPreview\":true,\"result\":\"succeeded\","
                    "\"resourceChanges\":{\"create\":2}}"));
    assert_int_equal(e.type, RCO_EVENT_SUMMARY);
    assert_true(e.is_preview);
    assert_string_equal(e.result, "succeeded");
    assert_int_equal(rco_value_int(e.changes, "create", 0), 2);
    e = parse(&a,
              E("\"diagnosticEvent\":{\"message\":\"m\",\"severity\":\"error\",\"urn\":\"u\"}"));
    assert_int_equal(e.type, RCO_EVENT_DIAGNOSTIC);
    assert_string_equal(e.severity, "error");
    e = parse(&a, E("\"policyEvent\":{\"message\":\"m\",\"enforcementLevel\":\"mandatory\","
                    "\"policyName\":\"p\"}"));
    assert_true(e.type == RCO_EVENT_POLICY && e.mandatory);
    e = parse(&a, E("\"policyEvent\":{\"message\":\"m\",\"enforcementLevel\":\"advisory\"}"));
    assert_false(e.mandatory);
    assert_int_equal(parse(&a, E("\"cancelEvent\":{}")).type, RCO_EVENT_CANCEL);
    assert_int_equal(parse(&a, E("\"errorEvent\":{\"error\":\"x\"}")).type, RCO_EVENT_ERROR);
    assert_int_equal(parse(&a, E("\"eventOfTheFuture\":{}")).type, RCO_EVENT_OTHER);
}

static void a_message_with_a_nul_is_not_lost(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_engine_event e = parse(&a, E("\"diagnosticEvent\":{\"message\":\"a\\u0000b "
                                            "\\\\u0000 c\\u0000\",\"severity\":\"info\"}"));
    assert_int_equal(e.type, RCO_EVENT_DIAGNOSTIC);
    assert_string_equal(e.message, "a\xef\xbf\xbd"
                                   "b \\u0000 c\xef\xbf\xbd");
    e = parse(&a, E("\"diagnosticEvent\":{\"message\":\"\\u000\",\"severity\":\"info\"}"));
    assert_int_equal(e.type, RCO_EVENT_BROKEN);
}

static void what_is_no_event_is_text_and_what_should_be_one_is_broken(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    assert_int_equal(parse(&a, "").type, RCO_EVENT_TEXT);
    assert_int_equal(parse(&a, "hello").type, RCO_EVENT_TEXT);
    assert_int_equal(parse(&a, "{\"json\":1}").type, RCO_EVENT_TEXT);
    assert_int_equal(parse(&a, "{\"sequence\":1,\"resourcePreEvent\":").type, RCO_EVENT_BROKEN);
    assert_int_equal(parse(&a, E("\"resourcePreEvent\":{\"metadata\":{\"op\":\"create\"}}")).type,
                     RCO_EVENT_BROKEN);
    assert_int_equal(parse(&a, E("\"resOutputsEvent\":7")).type, RCO_EVENT_BROKEN);
    assert_int_equal(parse(&a, "{\"sequence\":1,\"sequence\":2}").type, RCO_EVENT_BROKEN);
}

static void an_event_of_too_many_values_is_broken(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf line = RCO_BUF_INIT;
    rco_buf_adds(&line, "{\"sequence\":1,\"resOutputsEvent\":[1");
    for (int i = 0; i < RCO_EVENT_MAX_NODES; i++)
        rco_buf_adds(&line, ",1");
    rco_buf_adds(&line, "]}");
    assert_int_equal(parse(&a, rco_buf_str(&line)).type, RCO_EVENT_BROKEN);
    assert_true(a.used < (size_t)128 << 20);
}

static void chatter_is_told_from_events_by_the_first_bytes(void **state)
{
    static const char *const chatter[] = {
        "", "x", "{", "{\"a\":1}",
        E("\"diagnosticEvent\":{\"message\":\"a very long message that goes on and on and on\"}")};
    static const char *const events[] = {
        E("\"resourcePreEvent\":{}"), E("\"summaryEvent\":{}"),
        E("\"resOutputsEvent\":{\"metadata\":{\"op\":\"create\",\"urn\":\"diagnosticEvent\"}}"),
        "{\"sequence\":1,\"timestamp\":1,\"unknown\":{}}"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(chatter); i++)
        assert_true(rco_event_is_chatter(chatter[i], strlen(chatter[i])));
    for (size_t i = 0; i < RCO_ARRAY_LEN(events); i++)
        assert_false(rco_event_is_chatter(events[i], strlen(events[i])));
}

static void operations_have_their_class(void **state)
{
    assert_int_equal(rco_op_classify("same"), RCO_OP_SAME);
    assert_int_equal(rco_op_classify("import"), RCO_OP_ADD);
    assert_int_equal(rco_op_classify("replace"), RCO_OP_REPLACE);
    assert_int_equal(rco_op_classify("delete-replaced"), RCO_OP_PART);
    assert_int_equal(rco_op_classify("read"), RCO_OP_NOTHING);
    assert_int_equal(rco_op_classify("creat"), RCO_OP_UNKNOWN);
    assert_int_equal(rco_op_classify("create "), RCO_OP_UNKNOWN);
    assert_int_equal(rco_op_classify(NULL), RCO_OP_UNKNOWN);
    assert_true(rco_op_changes("create-replacement") && rco_op_changes("delete"));
    assert_false(rco_op_changes("same") || rco_op_changes("read") || rco_op_changes("refresh"));
}

static void markup_is_removed(void **state)
{
    char a[] = "<{%fg 1%}>red<{%reset%}> \033[1;31mbold\033[0m <{% open", b[] = "\033[";
    a[rco_event_strip_markup(a, strlen(a))] = '\0';
    assert_string_equal(a, "red bold <{% open");
    assert_int_equal(rco_event_strip_markup(b, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_as_the_engine_writes_them_are_read),
        cmocka_unit_test(a_message_with_a_nul_is_not_lost),
        cmocka_unit_test(what_is_no_event_is_text_and_what_should_be_one_is_broken),
        cmocka_unit_test(an_event_of_too_many_values_is_broken),
        cmocka_unit_test(chatter_is_told_from_events_by_the_first_bytes),
        cmocka_unit_test(operations_have_their_class),
        cmocka_unit_test(markup_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
