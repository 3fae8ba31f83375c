#include "stream.h"

#include "base/file.h"
#include "pulumi/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct rco_mask *mask_of(const char *value)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = rco_mask_new();
    assert_int_equal(rco_mask_add(m, value, strlen(value), &err), 0);
    return m;
}

struct scene {
    char path[64];
    struct rco_mask *mask;
    struct rco_stream *stream;
    struct rco_buf file;
};

static void begin(struct scene *s)
{
    struct rco_error err = RCO_ERROR_INIT;
    strcpy(s->path, "/tmp/rco-stream-XXXXXX");
    close(mkstemp(s->path));
    s->mask = mask_of("canary-value");
    s->stream = rco_stream_new(s->path, s->mask, &err);
    s->file = RCO_BUF_INIT;
    assert_non_null(s->stream);
}

static void feed(struct scene *s, const char *text, size_t n)
{
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_stream_feed(s->stream, text, n, &err), 0);
}

static void end(struct scene *s)
{
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_stream_finish(s->stream, &err), 0);
    assert_int_equal(rco_file_read(s->path, 64 << 20, &s->file, &err), 0);
}

static void release(struct scene *s)
{
    rco_stream_free(s->stream);
    rco_mask_free(s->mask);
    rco_buf_release(&s->file);
    unlink(s->path);
}

#define EVENT "{\"sequence\":1,\"timestamp\":1,\"summaryEvent\":{}}\n"

static void lines_come_through_masked_and_in_order(void **state)
{
    struct scene s;
    static const char text[] = "a canary-val\n" EVENT "b canary-value c\nno line end";
    begin(&s);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        feed(&s, text + i, 1);
    end(&s);
    assert_string_equal(rco_buf_str(&s.file), "a canary-val\n" EVENT "b [masked] c\nno line end\n");
    assert_false(rco_stream_text_cut(s.stream) || rco_stream_events_cut(s.stream));
    assert_string_equal(rco_buf_str(rco_stream_beginning(s.stream)),
                        "a canary-val\nb [masked] c\nno line end\n");
    release(&s);
}

static void events_survive_a_flood_of_text(void **state)
{
    struct scene s;
    char line[128];
    begin(&s);
    for (int i = 0; i < 100000; i++) {
        int n = snprintf(line, sizeof(line), "%d %080d\n", i, 0);
        feed(&s, line, (size_t)n);
        if (i % 10000 == 0)
            feed(&s, EVENT, strlen(EVENT));
    }
    end(&s);
    assert_true(rco_stream_text_cut(s.stream));
    assert_false(rco_stream_events_cut(s.stream));
    assert_true(s.file.len < RCO_STREAM_HEAD + RCO_STREAM_TAIL + 4096);
    size_t events = 0;
    for (const char *at = rco_buf_str(&s.file); (at = strstr(at, "summaryEvent")); at++)
        events++;
    assert_int_equal(events, 10);
    assert_non_null(strstr(rco_buf_str(&s.file), "\n99999 "));
    assert_non_null(strstr(rco_buf_str(&s.file), "bytes of output left out"));
    release(&s);
}

static void a_line_without_end_is_cut(void **state)
{
    struct scene s;
    static char block[1 << 16];
    begin(&s);
    memset(block, 0xff, sizeof(block));
    for (int i = 0; i < 400; i++) /* 25 MiB */
        feed(&s, block, sizeof(block));
    feed(&s, "\nafter\n", 7);
    end(&s);
    assert_true(rco_stream_text_cut(s.stream));
    assert_true(s.file.len < 3 * RCO_STREAM_MAX_TEXT);
    assert_non_null(memmem(s.file.data, s.file.len, "\nafter\n", 7));
    release(&s);
}

static void an_event_beyond_the_cap_is_told(void **state)
{
    struct scene s;
    static char block[1 << 20];
    static const char start[] = "{\"sequence\":1,\"timestamp\":1,\"resOutputsEvent\":{\"x\":\"";
    begin(&s);
    memset(block, 'y', sizeof(block));
    feed(&s, start, strlen(start));
    for (int i = 0; i < 17; i++)
        feed(&s, block, sizeof(block));
    feed(&s, "\"}}\n" EVENT, 4 + strlen(EVENT));
    end(&s);
    assert_true(rco_stream_events_cut(s.stream));
    assert_non_null(strstr(rco_buf_str(&s.file), EVENT));
    assert_true(s.file.len < 4096);
    release(&s);
}

static void the_file_is_not_opened_through_a_link(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = mask_of("canary-value");
    char link[] = "/tmp/rco-stream-link-XXXXXX";
    close(mkstemp(link));
    unlink(link);
    assert_int_equal(symlink("/tmp/rco-elsewhere", link), 0);
    assert_null(rco_stream_new(link, m, &err));
    unlink(link);
    rco_mask_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_through_masked_and_in_order),
        cmocka_unit_test(events_survive_a_flood_of_text),
        cmocka_unit_test(a_line_without_end_is_cut),
        cmocka_unit_test(an_event_beyond_the_cap_is_told),
        cmocka_unit_test(the_file_is_not_opened_through_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
