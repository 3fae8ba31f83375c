#include "http/response_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW (INT64_C(1767225600) * RCO_US_PER_S) /* Thu, 01 Jan 2026 00:00:00 GMT */

static int feed(struct rco_response_head *head, const char *lines)
{
    int complete = 0;

    while (*lines) {
        size_t n = strcspn(lines, "\n") + 1;

        complete += rco_response_head_line(head, lines, n, NOW);
        lines += n;
    }
    return complete;
}

static void status_and_end_of_the_head_are_found(void **state)
{
    struct rco_response_head head = {0};

    assert_int_equal(feed(&head, "HTTP/2 201 \r\ncontent-type: x\r\n"), 0);
    assert_int_equal(feed(&head, "\r\n"), 1);
    assert_int_equal(head.response.status, 201);
    assert_true(head.complete);
}

static void interim_answers_are_passed_over(void **state)
{
    struct rco_response_head head = {0};

    assert_int_equal(feed(&head, "HTTP/1.1 100 Continue\r\nRetry-After: 7\r\nWarning: x\r\n\r\n"),
                     0);
    assert_false(head.complete);
    assert_int_equal(feed(&head, "HTTP/1.1 200 OK\r\n\r\n"), 1);
    assert_int_equal(head.response.status, 200);
    assert_int_equal(head.response.retry_after_ms, 0);
    assert_null(head.response.warning);
}

static void a39_retry_after_is_read_in_seconds_and_as_a_date(void **state)
{
    static const struct {
        const char *value;
        int64_t want;
    } cases[] = {
        {"1", 1000},
        {" 5 ", 5000},
        {"0", 1},
        {"-3", 0},
        {"soon", 0},
        {"", 0},
        {"99999999999", INT64_C(86400000)},
        {"1.5", 0},
        {"Thu, 01 Jan 2026 00:00:30 GMT", 30000},
        {"Wed, 31 Dec 2025 23:00:00 GMT", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rco_response_head head = {0};
        char line[128];

        snprintf(line, sizeof line, "retry-AFTER:%s\r\n", cases[i].value);
        feed(&head, "HTTP/1.1 429 Too Many Requests\r\n");
        feed(&head, line);
        feed(&head, "\r\n");
        if (head.response.retry_after_ms != cases[i].want)
            fail_msg("Retry-After \"%s\": got %lld, want %lld", cases[i].value,
                     (long long)head.response.retry_after_ms, (long long)cases[i].want);
    }
}

static void a49_the_first_warning_counts_and_is_cut(void **state)
{
    struct rco_response_head head = {0};
    char line[3000] = "Warning: 299 - \"";

    memset(line + strlen(line), 'x', 2500);
    strcat(line, "\"\r\n");
    feed(&head,
         "HTTP/1.1 200 OK\r\nwarning:   299 - \"first\"  \r\nWarning: 299 - \"second\"\r\n\r\n");
    assert_string_equal(head.response.warning, "299 - \"first\"");
    head = (struct rco_response_head){0};
    feed(&head, "HTTP/1.1 200 OK\r\n");
    feed(&head, line);
    feed(&head, "\r\n");
    assert_int_equal(strlen(head.response.warning), RCO_WARNING_MAX - 1);
}

static void date_is_read_and_nonsense_is_absent(void **state)
{
    struct rco_response_head head = {0};

    feed(&head, "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n");
    assert_int_equal(head.response.date, NOW);
    head = (struct rco_response_head){0};
    feed(&head, "HTTP/1.1 200 OK\r\nDate: yesterday or so\r\n\r\n");
    assert_int_equal(head.response.date, 0);
}

static void trailers_change_nothing(void **state)
{
    struct rco_response_head head = {0};

    feed(&head, "HTTP/1.1 200 OK\r\n\r\n");
    assert_int_equal(feed(&head, "Retry-After: 9\r\n\r\n"), 0);
    assert_int_equal(head.response.retry_after_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_and_end_of_the_head_are_found),
        cmocka_unit_test(interim_answers_are_passed_over),
        cmocka_unit_test(a39_retry_after_is_read_in_seconds_and_as_a_date),
        cmocka_unit_test(a49_the_first_warning_counts_and_is_cut),
        cmocka_unit_test(date_is_read_and_nonsense_is_absent),
        cmocka_unit_test(trailers_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
