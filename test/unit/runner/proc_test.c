#include "proc.h"

#include "base/clock.h"

#include <linux/close_range.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void run_with(const char *const *argv, struct rco_proc *p, struct rco_proc_result *ret)
{
    struct rco_error err = RCO_ERROR_INIT;
    p->argv = argv;
    p->path = "/usr/bin:/bin";
    if (rco_proc_run(p, ret, &err) < 0)
        fail_msg("%s", err.msg);
}

#define PROC ((struct rco_proc){.env = (char *[]){"A=b", NULL}, .cwd_fd = -1, .stop_fd = -1})

static void a_child_has_only_what_it_was_given(void **state)
{
    rco_autoproc res = {0};
    struct rco_proc p = PROC;
    setenv("RCO_CANARY", "1", 1);
    run_with((const char *[]){"env", NULL}, &p, &res);
    assert_string_equal(rco_buf_str(&res.out), "A=b\n");
    assert_int_equal(res.exit_code, 0);
}

static void input_comes_on_stdin_and_codes_come_back(void **state)
{
    rco_autoproc cat = {0}, no = {0};
    struct rco_proc p = PROC;
    p.input = "a\0b";
    p.input_len = 3;
    run_with((const char *[]){"cat", NULL}, &p, &cat);
    assert_int_equal(cat.out.len, 3);
    assert_memory_equal(cat.out.data, "a\0b", 3);
    p = PROC;
    run_with((const char *[]){"false", NULL}, &p, &no);
    assert_int_equal(no.exit_code, 1);
}

static void no_descriptor_of_ours_is_inherited(void **state)
{
    rco_autoproc res = {0};
    struct rco_proc p = PROC;
    /* Those that this test itself has inherited are not ours. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    run_with((const char *[]){"ls", "/proc/self/fd", NULL}, &p, &res);
    assert_string_equal(rco_buf_str(&res.out), "0\n1\n2\n3\n"); /* 3 is the directory it lists */
}

static void a_program_that_is_not_there_is_named(void **state)
{
    rco_autoproc res = {0};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_proc p = PROC;
    p.argv = (const char *[]){"no-such-program", NULL};
    p.path = "/usr/bin:relative:";
    assert_int_equal(rco_proc_run(&p, &res, &err), -1);
    assert_int_equal(err.code, RCO_ENOTFOUND);
    assert_non_null(strstr(err.msg, "no-such-program"));
}

static void a_child_that_takes_too_long_is_ended(void **state)
{
    rco_autoproc res = {0};
    struct rco_proc p = PROC;
    rco_mono begin = rco_clock_mono();
    p.timeout_ms = 300;
    run_with((const char *[]){"sleep", "30", NULL}, &p, &res);
    assert_true(res.timed_out && !res.stopped && res.signal == 15);
    assert_true(rco_clock_mono() - begin < 5 * RCO_NS_PER_S);
}

static void a_stop_ends_the_child(void **state)
{
    int pipes[2];
    rco_autoproc res = {0};
    struct rco_proc p = PROC;
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    p.stop_fd = pipes[0];
    run_with((const char *[]){"sleep", "30", NULL}, &p, &res);
    assert_true(res.stopped && res.signal == 15);
    close(pipes[0]);
    close(pipes[1]);
}

static void much_output_keeps_its_beginning_and_its_end(void **state)
{
    rco_autoproc res = {0};
    struct rco_proc p = PROC;
    p.max_output = 4096;
    run_with((const char *[]){"seq", "100000", NULL}, &p, &res);
    assert_true(res.cut && res.out.len < 5000);
    assert_true(strncmp(rco_buf_str(&res.out), "1\n2\n3\n", 6) == 0);
    assert_non_null(strstr(rco_buf_str(&res.out), "output left out"));
    assert_non_null(strstr(rco_buf_str(&res.out), "99999\n100000\n"));
}

static void an_environment_is_made_from_nothing(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_procenv e;
    rco_procenv_init(&e, &a);
    for (int i = 0; i < 200; i++)
        rco_procenv_set(&e, rco_arena_printf(&a, "N%d", i), "x");
    rco_procenv_set(&e, "N7", "again");
    rco_procenv_set(&e, "NONE", NULL);
    assert_int_equal(e.n, 200);
    assert_null(e.list[200]);
    assert_string_equal(rco_procenv_get(&e, "N7"), "again");
    assert_string_equal(rco_procenv_get(&e, "N70"), "x");
    assert_null(rco_procenv_get(&e, "NONE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_only_what_it_was_given),
        cmocka_unit_test(input_comes_on_stdin_and_codes_come_back),
        cmocka_unit_test(no_descriptor_of_ours_is_inherited),
        cmocka_unit_test(a_program_that_is_not_there_is_named),
        cmocka_unit_test(a_child_that_takes_too_long_is_ended),
        cmocka_unit_test(a_stop_ends_the_child),
        cmocka_unit_test(much_output_keeps_its_beginning_and_its_end),
        cmocka_unit_test(an_environment_is_made_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
