/* The request grammar without sockets: every way of cutting the bytes gives the same result. */
#include "http/request_parser.h"

#include "base/buf.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int64_t cap_10(void *ctx, const char *method, const char *path)
{
    return strcmp(path, "/none") == 0 ? -1 : 10;
}

static const struct rco_server_handler handler = {.max_body = cap_10};

/* Feeds TEXT in pieces of STEP bytes; returns the status of a refusal, 200 when complete, 0 for
 * more. */
static int feed(struct rco_request_parser *p, const char *text, size_t n, size_t step,
                size_t *ret_used)
{
    const char *reason;

    *ret_used = 0;
    while (*ret_used < n) {
        size_t part = n - *ret_used < step ? n - *ret_used : step;
        size_t used;
        enum rco_parse_result r = rco_request_parser_feed(p, text + *ret_used, part, &used);

        *ret_used += used;
        if (r == RCO_PARSE_COMPLETE)
            return 200;
        if (r == RCO_PARSE_REFUSED)
            return rco_request_parser_refusal(p, &reason);
        assert_int_equal(used, part);
    }
    return 0;
}

static const struct {
    const char *text;
    int want;
} cases[] = {
    {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", 200},
    {"GET /a?b?c HTTP/1.1\r\nhOsT:h\r\n\r\n", 200},
    {"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789", 200},
    {"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 200},
    {"DELETE / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", 200},
    {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200},
    {"GET / HTTP/1.0\r\n\r\n", 200},
    {"GET / HTTP/1.1\r\nHost: h\r\n", 0},
    {"", 0},
    {"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n012345678", 0},
    {"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", 413},
    {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", 413},
    {"GET /none HTTP/1.1\r\nHost: h\r\n\r\n", 404},
    {"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405},
    {"TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", 405},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
    {"GET / HTTP/0.9\r\n\r\n", 505},
    {"GET / HTTP/3.1\r\nHost: h\r\n\r\n", 505},
    {"GET / HTTP/1.9\r\nHost: h\r\n\r\n", 505},
    {"GET / FTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1 2\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
    {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n", 411},
    {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
    {"POST / HTTP/1.1\r\nHost: h\r\n\r\n", 411},
    {"GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nA B: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nA\t: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nHost : h\r\n\r\n", 400},
    {"\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 200},
    {"GET / HXXP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET / HTTP/1.1\nHost: h\n\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nX: y\r\n folded\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nX: y\rz\r\n\r\n", 400},
};

static void requests_are_accepted_or_refused_however_they_are_cut(void **state)
{
    static const size_t steps[] = {1, 2, 3, 7, 16, 10000};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            struct rco_request_parser *p = rco_request_parser_new(&handler);
            size_t used;
            int got = feed(p, cases[i].text, strlen(cases[i].text), steps[k], &used);

            if (got != cases[i].want)
                fail_msg("%.50s in steps of %zu: got %d, want %d", cases[i].text, steps[k], got,
                         cases[i].want);
            if (got == 200)
                assert_int_equal(used, strlen(cases[i].text));
            rco_request_parser_free(p);
        }
    }
}

static void a_nul_byte_is_refused_wherever_it_stands(void **state)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n";

    for (size_t i = 0; i < sizeof text - 1; i++) {
        struct rco_request_parser *p = rco_request_parser_new(&handler);
        char copy[sizeof text];
        size_t used;
        int got;

        memcpy(copy, text, sizeof text);
        copy[i] = '\0';
        got = feed(p, copy, sizeof text - 1, 10000, &used);
        if (got == 200)
            fail_msg("NUL at %zu was accepted", i);
        rco_request_parser_free(p);
    }
}

static void bytes_behind_a_request_are_left_for_the_next(void **state)
{
    static const char text[] =
        "PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"
        "GET /2?q HTTP/1.1\r\nHost: h\r\nAuthorization: t\r\n\r\n";
    struct rco_request_parser *p = rco_request_parser_new(&handler);
    struct rco_server_request r;
    size_t used, more;

    assert_int_equal(feed(p, text, sizeof text - 1, 10000, &used), 200);
    rco_request_parser_get(p, &r);
    assert_string_equal(r.path, "/1");
    assert_string_equal(r.body, "ab");
    assert_int_equal(r.body_len, 2);
    assert_false(rco_request_parser_keep_alive(p));
    rco_request_parser_next(p);
    assert_int_equal(feed(p, text + used, sizeof text - 1 - used, 10000, &more), 200);
    assert_int_equal(used + more, sizeof text - 1);
    rco_request_parser_get(p, &r);
    assert_string_equal(r.method, "GET");
    assert_string_equal(r.path, "/2");
    assert_string_equal(r.query, "q");
    assert_string_equal(r.authorization, "t");
    assert_null(r.content_type);
    assert_string_equal(r.body, "");
    assert_true(rco_request_parser_keep_alive(p));
    rco_request_parser_free(p);
}

static void an_expectation_is_reported_once_and_only_with_a_body(void **state)
{
    static const char text[] =
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    static const char none[] =
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n";
    struct rco_request_parser *p = rco_request_parser_new(&handler);
    size_t used;

    assert_int_equal(feed(p, text, sizeof text - 1, 5, &used), 0);
    assert_true(rco_request_parser_take_expectation(p));
    assert_false(rco_request_parser_take_expectation(p));
    rco_request_parser_next(p);
    assert_int_equal(feed(p, none, sizeof none - 1, 5, &used), 200);
    assert_false(rco_request_parser_take_expectation(p));
    rco_request_parser_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_accepted_or_refused_however_they_are_cut),
        cmocka_unit_test(a_nul_byte_is_refused_wherever_it_stands),
        cmocka_unit_test(bytes_behind_a_request_are_left_for_the_next),
        cmocka_unit_test(an_expectation_is_reported_once_and_only_with_a_body),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
