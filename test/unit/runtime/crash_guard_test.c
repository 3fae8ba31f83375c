#include "runtime/crash_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/rco-crash-guard-XXXXXX");
    close(mkstemp(path));
    return 0;
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct rco_crash_guard *open_guard(void)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_crash_guard *g = rco_crash_guard_open(path, &err);

    if (!g)
        fail_msg("%s", err.msg);
    return g;
}

/* A process that dies by SIGKILL between begin and end. */
static void crash_on(uint64_t hash)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct rco_error err = RCO_ERROR_INIT;

        rco_crash_guard_begin(rco_crash_guard_open(path, &err), hash);
        kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void test_A68_two_crashes_on_one_key_make_it_poison(void **state)
{
    (void)state;
    crash_on(42);
    struct rco_crash_guard *g = open_guard();
    assert_false(rco_crash_guard_is_poison(g, 42));
    rco_crash_guard_close(g);
    crash_on(42);
    g = open_guard();
    assert_true(rco_crash_guard_is_poison(g, 42));
    assert_false(rco_crash_guard_is_poison(g, 43));
    rco_crash_guard_forget(g, 42);
    assert_false(rco_crash_guard_is_poison(g, 42));
    rco_crash_guard_close(g);
}

static void test_key_that_was_decided_is_not_blamed(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct rco_crash_guard *g = open_guard();

        rco_crash_guard_begin(g, 42);
        rco_crash_guard_end(g);
        assert_false(rco_crash_guard_is_poison(g, 42));
        rco_crash_guard_close(g);
    }
}

static void test_more_keys_than_slots_keep_the_worst(void **state)
{
    struct rco_crash_guard *g;

    (void)state;
    crash_on(1);
    crash_on(1);
    for (uint64_t i = 0; i < RCO_CRASH_KEYS + 50; i++) {
        g = open_guard();
        rco_crash_guard_begin(g, 1000 + i);
        rco_crash_guard_close(g);
    }
    g = open_guard();
    assert_true(rco_crash_guard_is_poison(g, 1));
    rco_crash_guard_close(g);
}

static void test_foreign_file_is_started_over(void **state)
{
    FILE *f = fopen(path, "w");

    (void)state;
    for (int i = 0; i < 10000; i++)
        fputc('x', f);
    fclose(f);
    struct rco_crash_guard *g = open_guard();
    assert_false(rco_crash_guard_is_poison(g, 0x7878787878787878));
    rco_crash_guard_close(g);
}

static void test_no_guard_knows_nothing(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    rco_crash_guard_begin(NULL, 1);
    rco_crash_guard_end(NULL);
    rco_crash_guard_forget(NULL, 1);
    assert_false(rco_crash_guard_is_poison(NULL, 1));
    rco_crash_guard_close(NULL);
    assert_null(rco_crash_guard_open("/does/not/exist/file", &err));
    assert_non_null(strstr(err.msg, "/does/not/exist/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_A68_two_crashes_on_one_key_make_it_poison, make_file,
                                        drop_file),
        cmocka_unit_test_setup_teardown(test_key_that_was_decided_is_not_blamed, make_file,
                                        drop_file),
        cmocka_unit_test_setup_teardown(test_more_keys_than_slots_keep_the_worst, make_file,
                                        drop_file),
        cmocka_unit_test_setup_teardown(test_foreign_file_is_started_over, make_file, drop_file),
        cmocka_unit_test(test_no_guard_knows_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
