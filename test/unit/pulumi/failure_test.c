#include "pulumi/failure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_class_has_a_row_of_its_own(void **state)
{
    for (int f = RCO_FAILURE_CLASS_SOURCE; f <= RCO_FAILURE_CLASS_INTERNAL; f++) {
        const struct rco_fail_row *row = rco_fail_row(f);
        assert_int_equal(row->fail, f);
        assert_true(strlen(row->remedy) > 10);
    }
    assert_int_equal(rco_fail_row(RCO_FAILURE_CLASS_UNKNOWN)->fail, RCO_FAILURE_CLASS_INTERNAL);
    assert_int_equal(rco_fail_row(999)->fail, RCO_FAILURE_CLASS_INTERNAL);
}

static void delays_follow_the_table(void **state)
{
    static const int64_t want[] = {60, 300, 900, 3600, 3600};
    for (int i = 0; i < 5; i++)
        assert_int_equal(rco_fail_delay(RCO_FAILURE_CLASS_CONFIG, i + 1), want[i]);
    assert_int_equal(rco_fail_delay(RCO_FAILURE_CLASS_SOURCE, 1), -1);
    assert_int_equal(rco_fail_delay(RCO_FAILURE_CLASS_PLAN_STALE, 1), 0);
    assert_int_equal(rco_fail_delay(RCO_FAILURE_CLASS_PLAN_STALE, 2), -1);
    assert_int_equal(rco_fail_delay(RCO_FAILURE_CLASS_CONFIG, 0), -1);
}

static void
an_engine_is_classed_by_what_was_done_to_it_then_code_then_events_then_text(void **state)
{
    static const struct {
        struct rco_engine_end end;
        enum rco_failure_class want;
    } rows[] = {
        {{.exit_code = 8, .timed_out = true}, RCO_FAILURE_CLASS_TIMEOUT},
        {{.exit_code = 1, .cancelled = true, .error = "violates plan"},
         RCO_FAILURE_CLASS_CANCELLED},
        {{.exit_code = 8}, RCO_FAILURE_CLASS_CANCELLED},
        {{.exit_code = 2}, RCO_FAILURE_CLASS_CONFIG},
        {{.exit_code = 3}, RCO_FAILURE_CLASS_AUTH},
        {{.exit_code = 6}, RCO_FAILURE_CLASS_CONFIG},
        {{.exit_code = 1, .plan_violation = true, .resource_failed = true},
         RCO_FAILURE_CLASS_PLAN_VIOLATION},
        {{.exit_code = 1, .policy_violation = true}, RCO_FAILURE_CLASS_POLICY},
        {{.exit_code = 1, .error = "the stack is currently locked by 1 lock(s)"},
         RCO_FAILURE_CLASS_BACKEND_LOCKED},
        {{.exit_code = 1, .error = "resource urn violates plan: x"},
         RCO_FAILURE_CLASS_PLAN_VIOLATION},
        {{.exit_code = 1, .error = "incorrect passphrase"}, RCO_FAILURE_CLASS_AUTH},
        {{.exit_code = 1, .error = "incorrect passphrase", .resource_failed = true},
         RCO_FAILURE_CLASS_RESOURCE},
        {{.exit_code = 1, .error = "Throttling: x", .resource_failed = true},
         RCO_FAILURE_CLASS_PROVIDER_THROTTLE},
        {{.exit_code = 1, .error = "no resource plugin 'x' found"}, RCO_FAILURE_CLASS_CONFIG},
        {{.exit_code = 1, .error = "something else"}, RCO_FAILURE_CLASS_RESOURCE},
        {{.exit_code = 1, .error = "no such property", .program_failed = true},
         RCO_FAILURE_CLASS_SOURCE},
        {{.exit_code = 1,
          .error = "no such property",
          .program_failed = true,
          .resource_failed = true},
         RCO_FAILURE_CLASS_RESOURCE},
        {{.exit_code = 1,
          .error = "missing required configuration variable 'x'",
          .program_failed = true},
         RCO_FAILURE_CLASS_CONFIG},
        {{.exit_code = 1,
          .error = "error loading package \"x\": no such host",
          .program_failed = true},
         RCO_FAILURE_CLASS_CONFIG},
        {{.exit_code = 1, .error = "panic: x (error reading from server: EOF)"},
         RCO_FAILURE_CLASS_INTERNAL},
        {{.exit_code = 1}, RCO_FAILURE_CLASS_RESOURCE},
        {{.exit_code = -1}, RCO_FAILURE_CLASS_INTERNAL},
        {{.exit_code = 255}, RCO_FAILURE_CLASS_INTERNAL},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_fail_of_engine(&rows[i].end) != rows[i].want)
            fail_msg("row %zu: %d", i, rco_fail_of_engine(&rows[i].end));
}

static void git_is_classed_by_its_text(void **state)
{
    assert_int_equal(rco_fail_of_git("fatal: Authentication failed for 'https://x/'"),
                     RCO_FAILURE_CLASS_AUTH);
    assert_int_equal(rco_fail_of_git("git@x: Permission denied (publickey)."),
                     RCO_FAILURE_CLASS_AUTH);
    assert_int_equal(rco_fail_of_git("Host key verification failed."), RCO_FAILURE_CLASS_AUTH);
    assert_int_equal(rco_fail_of_git("fatal: repository 'https://x/' not found"),
                     RCO_FAILURE_CLASS_SOURCE);
    assert_int_equal(rco_fail_of_git(NULL), RCO_FAILURE_CLASS_SOURCE);
}

static void first_line_is(const char *text, const char *want)
{
    size_t n = 99;
    const char *line = rco_fail_first_line(text, strlen(text), &n);
    if (!want) {
        assert_null(line);
        return;
    }
    assert_non_null(line);
    assert_int_equal(n, strlen(want));
    assert_memory_equal(line, want, n);
}

static void the_line_that_matters_is_found(void **state)
{
    first_line_is("", NULL);
    first_line_is("\n \r\n", NULL);
    first_line_is("warning: a\nfatal: no such thing\nfatal: more\n", "no such thing");
    first_line_is("git@x: Permission denied (publickey).\r\n"
                  "fatal: Could not read from remote repository.\n\nPlease make sure\n",
                  "git@x: Permission denied (publickey).");
    first_line_is("npm ERR! code E404\nnpm ERR! 404 Not Found - x\nnpm ERR! A complete log\n",
                  "404 Not Found - x");
    first_line_is("Will retry [5/5]error: failed to download plugin: x\ncontext canceled\n",
                  "failed to download plugin: x");
    first_line_is("one\ntwo without an end", "two without an end");
    first_line_is("error: ", "error:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_has_a_row_of_its_own),
        cmocka_unit_test(delays_follow_the_table),
        cmocka_unit_test(
            an_engine_is_classed_by_what_was_done_to_it_then_code_then_events_then_text),
        cmocka_unit_test(git_is_classed_by_its_text),
        cmocka_unit_test(the_line_that_matters_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
