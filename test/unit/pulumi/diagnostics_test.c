/* Which sentence of an engine is told, and whether it blames the program. The messages are those of
 * Pulumi 3.274 with its YAML host 1.25 and Kubernetes provider 4.25. */
#include "pulumi/diagnostics.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void say(struct rco_diagnostics *d, struct rco_arena *a, const char *severity,
                const char *message)
{
    struct rco_engine_event e = {
        .type = RCO_EVENT_DIAGNOSTIC, .severity = severity, .message = message};
    rco_diagnostics_event(d, &e, false, a);
}

static void a_list_of_errors_is_told_with_its_causes(void **state)
{
    static const struct {
        const char *message, *want;
    } rows[] = {
        {"4 errors occurred:\n"
         "\t* the Kubernetes API server reported that \"shop/web\" failed to fully initialize or "
         "become live: 'web' timed out waiting to be Ready\n"
         "\t* [MinimumReplicasUnavailable] Deployment does not have minimum availability.\n"
         "\t* [Pod shop/web-1]: containers with unready status: [web] -- [StartError] exec: "
         "\"nope\": executable file not found in $PATH\n\n",
         "the Kubernetes API server reported that \"shop/web\" failed to fully initialize or "
         "become "
         "live: 'web' timed out waiting to be Ready; [MinimumReplicasUnavailable] Deployment does "
         "not have minimum availability.; [Pod shop/web-1]: containers with unready status: [web] "
         "-- [StartError] exec: \"nope\": executable file not found in $PATH"},
        {"an unhandled error occurred: 1 error occurred:\n\t* Pulumi.yaml:3,27-31: circular "
         "dependency of variable 'a' transitively on itself; \n\n\n",
         "Pulumi.yaml:3,27-31: circular dependency of variable 'a' transitively on itself;"},
        {"2 errors occurred:\n\t* 1 error occurred:\n\t\t* of a:\n\t\t* inner\nmore of "
         "it\n\nnoise\n\t* b\n",
         "of a: inner more of it; b"},
        {"2 errors occurred:\n"
         "\t* 'web' timed out waiting to be Ready\n"
         "\t* [Pod shop/web-1]: containers with unready status: [web][CrashLoopBackOff] back-off "
         "20s\n"
         "Container \"web\" terminated at 2026-11-30T14:03:31Z (StartError: exit code 128)\n"
         "exec: \"/nope\": no such file or directory\n\n",
         "'web' timed out waiting to be Ready; [Pod shop/web-1]: containers with unready status: "
         "[web][CrashLoopBackOff] back-off 20s Container \"web\" terminated at "
         "2026-11-30T14:03:31Z (StartError: exit code 128) exec: \"/nope\": no such file or "
         "directory"},
        {"error: 1 error occurred:\n", "1 error occurred:"},
        {"3 errors occurred:\nnone is listed", "3 errors occurred: none is listed"},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_diagnostics d = {0};
        say(&d, &a, "error", rows[i].message);
        rco_diagnostics_end(&d, &a);
        assert_string_equal(d.error, rows[i].want);
    }
}

static void a_long_point_loses_its_middle_and_takes_no_room_from_short_ones(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf message = RCO_BUF_INIT;
    struct rco_diagnostics d = {0};
    rco_buf_adds(&message, "3 errors occurred:\n\t* first\n");
    for (int k = 0; k < 2; k++) {
        rco_buf_addf(&message, "\t* begin%d ", k);
        for (int i = 0; i < 600; i++)
            rco_buf_adds(&message, "ä");
        rco_buf_addf(&message, " end%d\n", k);
    }
    say(&d, &a, "error", rco_buf_str(&message));
    assert_in_range(strlen(d.error), RCO_DIAGNOSTICS_MAX_SENTENCE - 20,
                    RCO_DIAGNOSTICS_MAX_SENTENCE);
    assert_non_null(strstr(d.error, "first; begin0 ä"));
    assert_non_null(strstr(d.error, "ä…ä"));
    assert_non_null(strstr(d.error, "ä end0; begin1 ä"));
    assert_true(rco_str_has_suffix(d.error, "ä end1"));
}

static void of_very_many_points_the_first_are_told(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf message = RCO_BUF_INIT;
    struct rco_diagnostics d = {0};
    rco_buf_adds(&message, "999 errors occurred:\n");
    for (int i = 0; i < 999; i++)
        rco_buf_addf(&message, "\t* point %d\n", i);
    say(&d, &a, "error", rco_buf_str(&message));
    assert_true(rco_str_has_suffix(d.error, "; point 15"));
}

static void a_point_of_very_many_lines_is_not_gathered_for_ever(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf message = RCO_BUF_INIT;
    struct rco_diagnostics d = {0};
    rco_buf_adds(&message, "1 error occurred:\n\t* begin\n");
    for (int i = 0; i < 1000000; i++)
        rco_buf_adds(&message, "x\n");
    rco_buf_adds(&message, "end\n");
    say(&d, &a, "error", rco_buf_str(&message));
    assert_true(rco_str_has_prefix(d.error, "begin x x"));
    assert_in_range(strlen(d.error), RCO_DIAGNOSTICS_MAX_SENTENCE - 20,
                    RCO_DIAGNOSTICS_MAX_SENTENCE);
}

static void what_the_program_is_blamed_for(void **state)
{
    static const char failed[] = "preview failed\n", gone[] = "error reading from server: EOF\n",
                      exited[] = "an unhandled error occurred: program exited with non-zero exit "
                                 "code: 1\n";
    static const struct {
        const char *severity, *messages[4], *last, *want;
        bool program;
    } rows[] = {
        {"info#err",
         {"warning: using pulumi-resource-kubernetes from $PATH\n\n",
          "Error: Property dataa does not exist on 'kubernetes:core/v1:ConfigMap'\n\n",
          "  on Pulumi.yaml line 12:\n\n", "  12:       dataa: {color: \"red\"}\n\n"},
         failed,
         "Property dataa does not exist on 'kubernetes:core/v1:ConfigMap' (Pulumi.yaml line 12)",
         true},
        {"info#err",
         {"Error: no place is known\n\n", "\n", "something else line 3:\n\n",
          "  on Pulumi.yaml line 12:\n\n"},
         failed,
         "no place is known",
         true},
        {"info#err",
         {"Error: invocation of a:b:c returned an error: denied\n\n", "  on Pulumi.yaml line 5:\n"},
         failed,
         "invocation of a:b:c returned an error: denied (Pulumi.yaml line 5)",
         false},
        {"info#err",
         {"panic: fatal: An assertion has failed\n\n", "goroutine 34 [running]:\n\n"},
         gone,
         "panic: fatal: An assertion has failed (error reading from server: EOF)",
         false},
        {"info#err",
         {"panic: runtime error: index out of range\n", "\n", "goroutine 1 [running]:\n"},
         exited,
         "panic: runtime error: index out of range",
         true},
        {"info#err",
         {"error: program failed: 1 error occurred:\n", "\t* the bucket has no name\n", "\n"},
         exited,
         "the bucket has no name",
         true},
        {"info#err",
         {"error: program failed:\n", "\n", "it is broken\n", "more\n"},
         exited,
         "program failed: it is broken",
         true},
        {"error",
         {"resource or variable named \"nothing\" could not be found\n\n  on Pulumi.yaml line 4:\n "
          "  "
          "4:   a: ${nothing}\n\n\n",
          "Error registering output [a]: no diagnostics\n"},
         failed,
         "resource or variable named \"nothing\" could not be found (Pulumi.yaml line 4)",
         true},
        {"error",
         {"invoke of a:b:c failed: denied\n\n  on Pulumi.yaml line 4:\n   4: x\n"},
         failed,
         "invoke of a:b:c failed: denied (Pulumi.yaml line 4)",
         false},
        {"error",
         {"Duplicate resource URN 'urn:x'; try giving it a unique name\n"},
         failed,
         "Duplicate resource URN 'urn:x'; try giving it a unique name",
         true},
        {"error",
         {"Program failed with an unhandled exception:\nTraceback (most recent call last):\n  "
          "File a\nKeyError: 'x'\n"},
         failed,
         "unhandled exception: KeyError: 'x'",
         true},
        {"error",
         {"resource r was not successfully created by the Kubernetes API server: no\n"},
         failed,
         "resource r was not successfully created by the Kubernetes API server: no",
         false},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_diagnostics d = {0};
        for (size_t k = 0; k < 4 && rows[i].messages[k]; k++)
            say(&d, &a, rows[i].severity, rows[i].messages[k]);
        say(&d, &a, "error", rows[i].last);
        rco_diagnostics_end(&d, &a);
        assert_string_equal(d.error, rows[i].want);
        assert_int_equal(d.program_failed, rows[i].program);
    }
}

static void progress_is_no_error(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_diagnostics d = {0};
    struct rco_engine_event e = {.type = RCO_EVENT_DIAGNOSTIC,
                                 .severity = "error",
                                 .message = "[Pod web-1]: pulling the image",
                                 .ephemeral = true};
    rco_diagnostics_event(&d, &e, false, &a);
    say(&d, &a, "error", "quota exceeded");
    rco_diagnostics_end(&d, &a);
    assert_string_equal(d.error, "quota exceeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_errors_is_told_with_its_causes),
        cmocka_unit_test(a_long_point_loses_its_middle_and_takes_no_room_from_short_ones),
        cmocka_unit_test(of_very_many_points_the_first_are_told),
        cmocka_unit_test(a_point_of_very_many_lines_is_not_gathered_for_ever),
        cmocka_unit_test(what_the_program_is_blamed_for),
        cmocka_unit_test(progress_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
