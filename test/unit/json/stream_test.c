/* List and watch streams, cut at every byte. */
#include "json/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct collected {
    struct rco_buf text; /* what came out, one line each */
    int stop_at;         /* stop with an error at this item; 0 = never */
    int n;
};

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct collected *c = ctx;
    if (++c->n == c->stop_at)
        return rco_error_set(err, RCO_ECANCELLED, "enough");
    rco_buf_add(&c->text, json, n);
    rco_buf_addc(&c->text, '\n');
    return 0;
}

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    static const char names[] = "?amdbe";
    struct collected *c = ctx;
    rco_buf_addc(&c->text, names[type]);
    return on_item(ctx, object, n, err);
}

/* Feeds TEXT in pieces of STEP bytes, each in a block of its own. */
static int feed_list(struct rco_list_parser *p, const char *text, size_t step,
                     struct rco_error *err)
{
    for (size_t at = 0, n = strlen(text); at < n; at += step) {
        size_t len = n - at < step ? n - at : step;
        char *piece = malloc(len);
        memcpy(piece, text + at, len);
        int rc = rco_list_parser_feed(p, piece, len, err);
        free(piece);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int feed_watch(struct rco_watch_parser *p, const char *text, size_t step,
                      struct rco_error *err)
{
    for (size_t at = 0, n = strlen(text); at < n; at += step) {
        size_t len = n - at < step ? n - at : step;
        char *piece = malloc(len);
        memcpy(piece, text + at, len);
        int rc = rco_watch_parser_feed(p, piece, len, err);
        free(piece);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static void check_list(const char *text, const char *want, const char *want_rv,
                       const char *want_next)
{
    for (size_t step = 1; step <= strlen(text); step++) {
        struct collected c = {0};
        struct rco_error err = RCO_ERROR_INIT;
        const struct rco_list_handler h = {.item = on_item, .ctx = &c};
        struct rco_list_parser *p = rco_list_parser_new(&h);
        const char *rv, *next;
        if (feed_list(p, text, step, &err) < 0 || rco_list_parser_finish(p, &rv, &next, &err) < 0)
            fail_msg("step %zu: %s", step, err.msg);
        assert_string_equal(rco_buf_str(&c.text), want);
        assert_string_equal(rv, want_rv);
        assert_string_equal(next, want_next);
        rco_list_parser_free(p);
        rco_buf_release(&c.text);
    }
}

static void a_list_comes_out_item_by_item_however_it_is_cut(void **state)
{
    check_list(
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"12\","
        "\"continue\":\"to\\\\ken\"},\"items\":[{\"a\":\"]}\\\"\"}, {\"b\":[{},[]]} ,{}]}\n",
        "{\"a\":\"]}\\\"\"}\n{\"b\":[{},[]]}\n{}\n", "12", "to\\ken");
}

static void metadata_may_stand_behind_the_items(void **state)
{
    check_list(" { \"items\" : [ {\"x\":\"\\u00e9\xc3\xa9\"} ] , \"metadata\" : { "
               "\"resourceVersion\" : \"7\" },"
               "\"other\":[1,{\"items\":[]}],\"n\":12 , \"t\":true}",
               "{\"x\":\"\\u00e9\xc3\xa9\"}\n", "7", "");
}

static void an_empty_or_null_list_is_a_list(void **state)
{
    check_list("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}", "", "1", "");
    check_list("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":null}", "", "1", "");
}

static void what_is_not_one_complete_list_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "{}",
                                      "[]",
                                      "{\"kind\":\"Status\"}",
                                      "{\"items\":[]",
                                      "{\"items\":[{}",
                                      "{\"items\":[{}}",
                                      "{\"items\":[{},]}",
                                      "{\"items\":[,{}]}",
                                      "{\"items\":{}}",
                                      "{\"items\":[]}{}",
                                      "{\"items\":[] \"a\":1}",
                                      "{\"items\":[],}",
                                      "{\"items\":[],\"items\":[]}",
                                      "{\"metadata\":[],\"items\":[]}",
                                      "{\"metadata\":{\"resourceVersion\":12},\"items\":[]}",
                                      "{\"metadata\":,\"items\":[]}",
                                      "{\"items\":[]]}",
                                      "x",
                                      "{\"items\" [] }",
                                      "{\"a\":\"b"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        for (size_t step = 1; step < 40; step += 38) {
            struct collected c = {0};
            struct rco_error err = RCO_ERROR_INIT;
            const struct rco_list_handler h = {.item = on_item, .ctx = &c};
            struct rco_list_parser *p = rco_list_parser_new(&h);
            const char *rv, *next;
            if (feed_list(p, bad[i], step, &err) == 0 &&
                rco_list_parser_finish(p, &rv, &next, &err) == 0)
                fail_msg("%s was accepted", bad[i]);
            assert_true(err.msg[0] && err.code == RCO_EINVALID);
            rco_list_parser_free(p);
            rco_buf_release(&c.text);
        }
    }
}

static void a_handler_stops_the_list_for_good(void **state)
{
    struct collected c = {.stop_at = 2};
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_list_handler h = {.item = on_item, .ctx = &c};
    struct rco_list_parser *p = rco_list_parser_new(&h);
    const char *rv, *next;
    assert_int_equal(feed_list(p, "{\"items\":[{},{},{}]}", 100, &err), -1);
    assert_int_equal(err.code, RCO_ECANCELLED);
    assert_int_equal(c.n, 2);
    assert_int_equal(rco_list_parser_feed(p, ",{}]}", 5, &err), -1);
    assert_int_equal(rco_list_parser_finish(p, &rv, &next, &err), -1);
    assert_int_equal(c.n, 2);
    rco_list_parser_free(p);
    rco_buf_release(&c.text);
}

/* Feeds BEFORE and then spaces or letters for ever; returns the code of the refusal. */
static enum rco_code feed_endlessly(const char *before, const char *filler, size_t limit)
{
    struct collected c = {0};
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_list_handler h = {.item = on_item, .ctx = &c};
    struct rco_list_parser *p = rco_list_parser_new(&h);
    int rc = feed_list(p, before, 1000, &err);
    for (size_t fed = 0; rc == 0 && fed < limit; fed += strlen(filler))
        rc = rco_list_parser_feed(p, filler, strlen(filler), &err);
    rco_list_parser_free(p);
    rco_buf_release(&c.text);
    return err.code;
}

static void sizes_are_capped(void **state)
{
    char filler[4097];
    memset(filler, 'a', 4096);
    filler[4096] = '\0';
    assert_int_equal(feed_endlessly("{\"items\":[{\"a\":\"", filler, RCO_STREAM_MAX_OBJECT - 8192),
                     RCO_OK);
    assert_int_equal(feed_endlessly("{\"items\":[{\"a\":\"", filler, 2 * RCO_STREAM_MAX_OBJECT),
                     RCO_ETOOBIG);
    assert_int_equal(feed_endlessly("{\"x\":\"", filler, 2 * RCO_STREAM_MAX_ENVELOPE), RCO_ETOOBIG);
    assert_int_equal(feed_endlessly("{\"", filler, 2 * RCO_STREAM_MAX_ENVELOPE), RCO_ETOOBIG);
}

static void check_watch(const char *text, const char *want)
{
    for (size_t step = 1; step <= strlen(text); step++) {
        struct collected c = {0};
        struct rco_error err = RCO_ERROR_INIT;
        const struct rco_watch_handler h = {.event = on_event, .ctx = &c};
        struct rco_watch_parser *p = rco_watch_parser_new(&h);
        if (feed_watch(p, text, step, &err) < 0)
            fail_msg("step %zu: %s", step, err.msg);
        assert_string_equal(rco_buf_str(&c.text), want);
        rco_watch_parser_free(p);
        rco_buf_release(&c.text);
    }
}

static void a_watch_comes_out_event_by_event_however_it_is_cut(void **state)
{
    check_watch(
        "{\"type\":\"ADDED\",\"object\":{\"a\":\"}\\\\\"}}\n"
        "{\"type\":\"MODIFIED\",\"object\":{\"b\":[1]}}\n"
        "{\"object\":{\"c\":{}},\"type\":\"DELETED\"}\n"
        "{\"type\":\"BOOKMARK\",\"object\":{}}{\"type\":\"ERROR\",\"object\":{\"code\":410}}\r\n"
        "{\"type\":\"NEW\",\"object\":{},\"more\":7}\n{\"type\":\"ADDED\",\"obj",
        "a{\"a\":\"}\\\\\"}\nm{\"b\":[1]}\nd{\"c\":{}}\nb{}\ne{\"code\":410}\n?{}\n");
}

static void what_is_no_watch_event_is_refused(void **state)
{
    static const char *const bad[] = {"{}",
                                      "{\"type\":\"ADDED\"}",
                                      "{\"object\":{}}",
                                      "[]",
                                      "{\"type\":\"ADDED\",\"type\":\"ADDED\",\"object\":{}}",
                                      "{\"type\":\"ADDED\",\"object\":{},\"object\":{}}",
                                      "{\"object\":{},\"object\":{},\"type\":\"ADDED\"}",
                                      "{\"type\":\"ADDED\" \"object\":{}}",
                                      "<html>",
                                      "{\"type\":\"ADDED\",\"object\":{}},"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct collected c = {0};
        struct rco_error err = RCO_ERROR_INIT;
        const struct rco_watch_handler h = {.event = on_event, .ctx = &c};
        struct rco_watch_parser *p = rco_watch_parser_new(&h);
        if (feed_watch(p, bad[i], 1, &err) == 0)
            fail_msg("%s was accepted", bad[i]);
        assert_int_equal(err.code, RCO_EINVALID);
        rco_watch_parser_free(p);
        rco_buf_release(&c.text);
    }
}

static void a_large_object_passes_in_a_watch(void **state)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct collected c = {0};
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_watch_handler h = {.event = on_event, .ctx = &c};
    struct rco_watch_parser *p = rco_watch_parser_new(&h);
    rco_buf_adds(&text, "{\"type\":\"ADDED\",\"object\":{\"a\":\"");
    for (int i = 0; i < 30000; i++)
        rco_buf_adds(&text, "0123456789012345678901234567890123456789");
    rco_buf_adds(&text, "\"}}\n");
    assert_int_equal(feed_watch(p, text.data, 16384, &err), 0);
    assert_int_equal(c.n, 1);
    assert_true(c.text.len > 1200000);
    rco_watch_parser_free(p);
    rco_buf_release(&c.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_comes_out_item_by_item_however_it_is_cut),
        cmocka_unit_test(metadata_may_stand_behind_the_items),
        cmocka_unit_test(an_empty_or_null_list_is_a_list),
        cmocka_unit_test(what_is_not_one_complete_list_is_refused),
        cmocka_unit_test(a_handler_stops_the_list_for_good),
        cmocka_unit_test(sizes_are_capped),
        cmocka_unit_test(a_watch_comes_out_event_by_event_however_it_is_cut),
        cmocka_unit_test(what_is_no_watch_event_is_refused),
        cmocka_unit_test(a_large_object_passes_in_a_watch),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
