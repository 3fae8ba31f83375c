#include "render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void printable_is(const char *text, size_t n, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;
    rco_render_printable(text, n, &out);
    assert_string_equal(rco_buf_str(&out), want);
}

static void any_bytes_become_readable_text(void **state)
{
    printable_is("a\tb\n", 4, "a\tb\n");
    printable_is("a\0\033[1m\177b", 8, "a[1mb");
    printable_is("\xff\xfe\x80 \xc3\xa9 \xc3", 8, "\xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd");
    printable_is("\xed\xa0\x80", 3, "\xef\xbf\xbd");
}

static void event(struct rco_arena *a, const char *line, struct rco_engine_event *e)
{
    rco_event_parse(line, strlen(line), a, e);
}

#define STEP(OP, BODY)                                                                             \
    "{\"sequence\":1,\"resourcePreEvent\":{\"metadata\":{\"op\":\"" OP                             \
    "\",\"urn\":\"urn:p::k:Map::app\","                                                            \
    "\"type\":\"k:Map\"," BODY "},\"planning\":true}}"

static void diff_is(const char *line, const char *want)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_engine_event e;
    event(&a, line, &e);
    assert_true(rco_render_diff(&e, &out));
    assert_string_equal(rco_buf_str(&out), want);
}

static void a_diff_shows_paths_and_values(void **state)
{
    diff_is(STEP("update", "\"old\":{\"inputs\":{\"data\":{\"a.b\":\"one\"},\"l\":[1,{\"x\":2}]}},"
                           "\"new\":{\"inputs\":{\"data\":{\"a.b\":\"two\"},\"l\":[1,{\"x\":3}]}},"
                           "\"detailedDiff\":{"
                           "\"data[\\\"a.b\\\"]\":{\"diffKind\":\"update\",\"inputDiff\":true},"
                           "\"l[1].x\":{\"diffKind\":\"update\",\"inputDiff\":true},"
                           "\"gone.y\":{\"diffKind\":\"delete\",\"inputDiff\":true}}"),
            "~ update urn:p::k:Map::app\n"
            "    update data[\"a.b\"]: \"one\" => \"two\"\n"
            "    update l[1].x: 2 => 3\n"
            "    delete gone.y: (none) => (none)\n");
    diff_is(STEP("create", "\"old\":null,\"new\":{\"inputs\":{\"__meta\":1,\"a\":{"
                           "\"4dabf18193072939515e22adb298388d\":"
                           "\"x\",\"ciphertext\":\"y\"},\"b\":[true]}}"),
            "+ create urn:p::k:Map::app\n    a: [secret]\n    b: [true]\n");
    diff_is(STEP("delete", "\"old\":{},\"new\":null"), "- delete urn:p::k:Map::app\n");
    diff_is(STEP("same", "\"old\":{},\"new\":{}"), "");
    diff_is(STEP("create-replacement", "\"old\":{},\"new\":{}"), "");
}

static void on_text(void *ctx, const char *text, size_t n)
{
    rco_buf_add(ctx, text, n);
}

static void the_log_says_what_happened(void **state)
{
    static const char *const lines[] = {
        "{\"sequence\":1,\"diagnosticEvent\":{\"severity\":\"debug\",\"message\":\"no\"}}",
        "{\"sequence\":1,\"diagnosticEvent\":{\"severity\":\"warning\",\"message\":\"<{%fg "
        "1%}>careful\\n\\n\"}}",
        "plain text",
        STEP("update", "\"old\":{},\"new\":{}"),
        STEP("same", "\"old\":{},\"new\":{}"),
        "{\"sequence\":1,\"summaryEvent\":{\"isPreview\":true,\"result\":\"succeeded\","
        "\"resourceChanges\":{\"same\":1,\"update\":2}}}",
        "{\"sequence\":1,\"summaryEvent\":",
    };
    rco_autobuf out = RCO_BUF_INIT, shown = RCO_BUF_INIT;
    struct rco_render_log log = {.on_text = on_text, .ctx = &shown};
    for (size_t i = 0; i < RCO_ARRAY_LEN(lines); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_engine_event e;
        event(&a, lines[i], &e);
        rco_render_log_event(&log, &e, lines[i], strlen(lines[i]));
    }
    assert_false(rco_render_log_finish(&log, &out));
    assert_string_equal(rco_buf_str(&out),
                        "warning: careful\nplain text\n~ update k:Map app (preview)\n"
                        "preview succeeded: 1 same, 2 update\n"
                        "(an event of the engine could not be read)\n");
    assert_string_equal(rco_buf_str(&shown), rco_buf_str(&out));
    rco_render_log_release(&log);
}

static void log_event(struct rco_render_log *l, const char *line)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_engine_event e;
    event(&a, line, &e);
    rco_render_log_event(l, &e, line, strlen(line));
}

#define PROGRESS(URN, TEXT)                                                                        \
    "{\"sequence\":1,\"diagnosticEvent\":{\"severity\":\"info\",\"ephemeral\":true,\"urn\":\"" URN \
    "\",\"message\":\"" TEXT "\"}}"

static void what_a_resource_waits_for_is_told_once(void **state)
{
    struct rco_render_log log = {0};
    rco_autobuf out = RCO_BUF_INIT;
    for (int i = 0; i < 3; i++) {
        log_event(&log, PROGRESS("urn:p::k:D::a", "0/1 Pods available\\n"));
        log_event(&log, PROGRESS("urn:p::k:D::b", "0/1 Pods available\\n"));
        log_event(&log, PROGRESS("", "of nothing"));
    }
    log_event(&log, PROGRESS("urn:p::k:D::a", "<{%fg 1%}>ErrImagePull"));
    rco_render_log_finish(&log, &out);
    assert_string_equal(rco_buf_str(&out), "  a: 0/1 Pods available\n  b: 0/1 Pods available\n"
                                           "  a: ErrImagePull\n");
    rco_render_log_release(&log);
}

static void what_is_waited_for_has_a_cap(void **state)
{
    struct rco_render_log log = {0};
    rco_autobuf out = RCO_BUF_INIT;
    for (int i = 0; i < RCO_LOG_PROGRESS_MAX + 10; i++) {
        rco_autobuf line = RCO_BUF_INIT;
        rco_buf_addf(&line, PROGRESS("urn:p::k:D::a", "%d s"), i);
        log_event(&log, rco_buf_str(&line));
    }
    rco_render_log_finish(&log, &out);
    assert_non_null(strstr(rco_buf_str(&out), "  a: 999 s\n"));
    assert_null(strstr(rco_buf_str(&out), "  a: 1000 s\n"));
    rco_render_log_release(&log);
}

static void a_long_log_keeps_its_beginning_and_its_end(void **state)
{
    struct rco_render_log log = {0};
    rco_autobuf out = RCO_BUF_INIT;
    char line[1000];
    memset(line, 'x', sizeof(line));
    line[999] = '\n';
    rco_render_log_text(&log, "first\n", 6);
    for (int i = 0; i < 10000; i++)
        rco_render_log_text(&log, line, sizeof(line));
    rco_render_log_text(&log, "last\n", 5);
    assert_true(rco_render_log_finish(&log, &out));
    assert_true(out.len <= RCO_LOG_HEAD + RCO_LOG_TAIL + 100);
    assert_true(strncmp(out.data, "first\n", 6) == 0);
    assert_string_equal(out.data + out.len - 5, "last\n");
    assert_non_null(strstr(out.data, "bytes left out"));
    rco_render_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_become_readable_text),
        cmocka_unit_test(a_diff_shows_paths_and_values),
        cmocka_unit_test(the_log_says_what_happened),
        cmocka_unit_test(what_a_resource_waits_for_is_told_once),
        cmocka_unit_test(what_is_waited_for_has_a_cap),
        cmocka_unit_test(a_long_log_keeps_its_beginning_and_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
