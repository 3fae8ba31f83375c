#include "kube/status.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_status_and_reason_become_codes_and_advice(void **state)
{
    static const struct {
        int http;
        const char *reason; /* NULL = a body that is no Status */
        enum rco_code code;
        enum rco_advice advice;
    } rows[] = {
        {400, "BadRequest", RCO_EINVALID, RCO_ADVICE_GIVE_UP},
        {401, "Unauthorized", RCO_EUNAUTHORIZED, RCO_ADVICE_REAUTH},
        {401, NULL, RCO_EUNAUTHORIZED, RCO_ADVICE_REAUTH},
        {403, "Forbidden", RCO_EFORBIDDEN, RCO_ADVICE_GIVE_UP},
        {404, "NotFound", RCO_ENOTFOUND, RCO_ADVICE_GIVE_UP},
        {404, NULL, RCO_ENOTFOUND, RCO_ADVICE_GIVE_UP},
        {409, "AlreadyExists", RCO_EEXISTS, RCO_ADVICE_GIVE_UP},
        {409, "Conflict", RCO_ECONFLICT, RCO_ADVICE_REFRESH},
        {409, NULL, RCO_ECONFLICT, RCO_ADVICE_REFRESH},
        {410, "Expired", RCO_EGONE, RCO_ADVICE_RELIST},
        {410, "Gone", RCO_EGONE, RCO_ADVICE_RELIST},
        {413, "RequestEntityTooLarge", RCO_ETOOBIG, RCO_ADVICE_GIVE_UP},
        {422, "Invalid", RCO_EINVALID, RCO_ADVICE_GIVE_UP},
        {429, "TooManyRequests", RCO_ETHROTTLED, RCO_ADVICE_RETRY},
        {429, NULL, RCO_ETHROTTLED, RCO_ADVICE_RETRY},
        {500, "InternalError", RCO_EUNAVAILABLE, RCO_ADVICE_READ_BACK},
        {502, NULL, RCO_EUNAVAILABLE, RCO_ADVICE_READ_BACK},
        {503, "ServiceUnavailable", RCO_EUNAVAILABLE, RCO_ADVICE_RETRY},
        {504, "Timeout", RCO_ETIMEOUT, RCO_ADVICE_READ_BACK},
        {504, NULL, RCO_ETIMEOUT, RCO_ADVICE_READ_BACK},
        {302, NULL, RCO_EINTERNAL, RCO_ADVICE_GIVE_UP},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        const struct rco_http_response r = {.status = rows[i].http};
        struct rco_error err = RCO_ERROR_INIT;
        char body[256] = "<html>proxy</html>";

        if (rows[i].reason)
            snprintf(
                body, sizeof(body),
                "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"%s\",\"message\":\"m\"}",
                rows[i].reason);
        assert_int_equal(rco_status_map(&r, body, strlen(body), "get Job a/b", &err), -1);
        if (err.code != rows[i].code || rco_status_advice(&err) != rows[i].advice)
            fail_msg("%d %s: code %d advice %d", rows[i].http, rows[i].reason, err.code,
                     rco_status_advice(&err));
        assert_int_equal(err.http_status, rows[i].http);
        assert_true(rco_str_has_prefix(err.msg, "get Job a/b: "));
    }
}

static void test_success_is_no_error(void **state)
{
    const struct rco_http_response r = {.status = 201};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    assert_int_equal(rco_status_map(&r, "{}", 2, "x", &err), 0);
    assert_int_equal(err.code, RCO_OK);
    assert_int_equal(rco_status_advice(&err), RCO_ADVICE_DONE);
}

static void test_retry_after_comes_from_the_header_then_from_details(void **state)
{
    static const char body[] =
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\","
        "\"details\":{\"retryAfterSeconds\":7}}";
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    rco_status_map(&(struct rco_http_response){.status = 429, .retry_after_ms = 2000}, body,
                   strlen(body), "x", &err);
    assert_int_equal(err.retry_after_ms, 2000);
    rco_status_map(&(struct rco_http_response){.status = 429}, body, strlen(body), "x", &err);
    assert_int_equal(err.retry_after_ms, 7000);
}

static void test_A4_too_large_version_is_treated_as_expired(void **state)
{
    static const char body[] =
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Timeout\",\"code\":504,"
        "\"details\":{"
        "\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large\"}]}}";
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    rco_status_map(&(struct rco_http_response){.status = 504}, body, strlen(body), "x", &err);
    assert_int_equal(err.code, RCO_EGONE);
}

static void test_A12_status_inside_a_watch(void **state)
{
    static const char gone[] =
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}";
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    rco_status_map_event(gone, strlen(gone), "watch jobs", &err);
    assert_int_equal(err.code, RCO_EGONE);
    rco_status_map_event("{\"kind\":\"Pod\"}", 14, "watch jobs", &err);
    assert_int_equal(err.code, RCO_EINTERNAL);
    rco_status_map_event("garbage", 7, "watch jobs", &err);
    assert_int_equal(err.code, RCO_EINTERNAL);
}

static void test_remote_text_is_cut_and_cleaned(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    char body[2000];

    (void)state;
    memset(body, 'a', sizeof(body));
    body[0] = '\n';
    body[1] = '\x1b';
    for (size_t i = 100; i + 1 < sizeof(body); i += 2)
        memcpy(body + i, "\xc3\xa9", 2);
    rco_status_map(&(struct rco_http_response){.status = 500}, body, sizeof(body), "x", &err);
    assert_null(strchr(err.msg, '\n'));
    assert_null(strchr(err.msg, '\x1b'));
    assert_non_null(strstr(err.msg, "(HTTP 500, no reason given)"));
    assert_non_null(strstr(err.msg, "\xc3\xa9 (HTTP")); /* not cut inside a character */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_and_reason_become_codes_and_advice),
        cmocka_unit_test(test_success_is_no_error),
        cmocka_unit_test(test_retry_after_comes_from_the_header_then_from_details),
        cmocka_unit_test(test_A4_too_large_version_is_treated_as_expired),
        cmocka_unit_test(test_A12_status_inside_a_watch),
        cmocka_unit_test(test_remote_text_is_cut_and_cleaned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
