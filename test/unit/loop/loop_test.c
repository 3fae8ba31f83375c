/* Both implementations against the same expectations, then what only one of them promises. */
#include "loop/loop.h"

#include "base/buf.h"
#include "loop/loop_virtual.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

struct fixture {
    struct rco_loop *loop;
    char log[256];
    struct rco_timer *timer;
    struct rco_timer *other;
    int count;
    rco_mono seen;
};

struct mark {
    struct fixture *f;
    const char *word;
};

static void note(void *ctx)
{
    struct mark *m = ctx;

    strcat(m->f->log, m->word);
}

static void stop(void *ctx)
{
    rco_loop_stop(((struct fixture *)ctx)->loop);
}

static int set_up_uv(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);

    f->loop = rco_loop_uv_new();
    *state = f;
    return 0;
}

static int tear_down_uv(void **state)
{
    struct fixture *f = *state;

    rco_loop_uv_free(f->loop);
    free(f);
    return 0;
}

static int set_up_virtual(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);

    f->loop = rco_loop_virtual_new(1);
    *state = f;
    return 0;
}

static int tear_down_virtual(void **state)
{
    struct fixture *f = *state;

    rco_loop_virtual_free(f->loop);
    free(f);
    return 0;
}

static void run_virtual(struct rco_loop *loop)
{
    while (rco_loop_virtual_step(loop))
        ;
}

typedef void (*runner_fn)(struct rco_loop *);

static void check_timers_fire_in_order_of_time(struct fixture *f, runner_fn runner)
{
    struct mark a = {f, "a"}, b = {f, "b"}, c = {f, "c"};
    struct rco_timer *ta = rco_timer_new(f->loop, note, &a);
    struct rco_timer *tb = rco_timer_new(f->loop, note, &b);
    struct rco_timer *tc = rco_timer_new(f->loop, note, &c);
    struct rco_timer *end = rco_timer_new(f->loop, stop, f);

    rco_timer_arm(tb, 2 * RCO_NS_PER_MS);
    rco_timer_arm(ta, RCO_NS_PER_MS);
    rco_timer_arm(tc, RCO_NS_PER_MS / 2);
    rco_timer_arm(tc, 3 * RCO_NS_PER_MS);
    rco_timer_arm(end, 4 * RCO_NS_PER_MS);
    runner(f->loop);
    assert_string_equal(f->log, "abc");
    assert_false(rco_timer_armed(ta));
    rco_timer_free(ta);
    rco_timer_free(tb);
    rco_timer_free(tc);
    rco_timer_free(end);
}

static void check_a_disarmed_timer_does_not_fire(struct fixture *f, runner_fn runner)
{
    struct mark a = {f, "a"};
    struct rco_timer *ta = rco_timer_new(f->loop, note, &a);
    struct rco_timer *end = rco_timer_new(f->loop, stop, f);

    rco_timer_arm(ta, RCO_NS_PER_MS);
    assert_true(rco_timer_armed(ta));
    rco_timer_disarm(ta);
    assert_false(rco_timer_armed(ta));
    rco_timer_arm(end, 3 * RCO_NS_PER_MS);
    runner(f->loop);
    assert_string_equal(f->log, "");
    rco_timer_free(ta);
    rco_timer_free(end);
    rco_timer_free(NULL);
}

static void free_both_and_stop(void *ctx)
{
    struct fixture *f = ctx;

    strcat(f->log, "x");
    rco_timer_free(f->timer);
    rco_timer_free(f->other);
    f->timer = f->other = NULL;
    rco_loop_defer(f->loop, stop, f);
}

static void check_a_timer_may_free_itself_and_another_that_is_due(struct fixture *f,
                                                                  runner_fn runner)
{
    struct mark a = {f, "a"};

    f->timer = rco_timer_new(f->loop, free_both_and_stop, f);
    f->other = rco_timer_new(f->loop, note, &a);
    rco_timer_arm(f->timer, RCO_NS_PER_MS);
    rco_timer_arm(f->other, RCO_NS_PER_MS);
    runner(f->loop);
    assert_string_equal(f->log, "x");
}

static void defer_more(void *ctx)
{
    static struct mark late;
    struct fixture *f = ctx;

    strcat(f->log, "1");
    late = (struct mark){f, "4"};
    rco_loop_defer(f->loop, note, &late);
    rco_loop_defer(f->loop, stop, f);
    strcat(f->log, "2");
}

static void check_deferred_calls_run_later_in_the_order_of_the_calls(struct fixture *f,
                                                                     runner_fn runner)
{
    struct mark three = {f, "3"};

    rco_loop_defer(f->loop, defer_more, f);
    rco_loop_defer(f->loop, note, &three);
    assert_string_equal(f->log, "");
    runner(f->loop);
    assert_string_equal(f->log, "1234");
}

static void count_to_1000(void *ctx)
{
    struct fixture *f = ctx;

    if (++f->count == 1000)
        rco_loop_stop(f->loop);
    rco_loop_defer(f->loop, count_to_1000, f);
}

static void check_a_call_that_defers_itself_does_not_block_stop(struct fixture *f, runner_fn runner)
{
    rco_loop_defer(f->loop, count_to_1000, f);
    runner(f->loop);
    assert_in_range(f->count, 1000, 1002);
}

static void see_time(void *ctx)
{
    struct fixture *f = ctx;

    f->seen = rco_loop_now(f->loop);
    rco_loop_stop(f->loop);
}

static void check_a_timer_never_fires_before_its_time(struct fixture *f, runner_fn runner)
{
    struct rco_timer *t = rco_timer_new(f->loop, see_time, f);
    rco_mono due;

    rco_timer_arm(t, 1500 * 1000);
    due = t->due;
    runner(f->loop);
    assert_true(f->seen >= due);
    rco_timer_free(t);
}

static void check_jitter_stays_in_its_bounds_and_reaches_both(struct fixture *f, runner_fn runner)
{
    bool low = false, high = false;

    for (int i = 0; i < 1000; i++) {
        int64_t v = rco_loop_jitter(f->loop, -2, 3);

        assert_true(v >= -2 && v <= 3);
        low |= v == -2;
        high |= v == 3;
    }
    assert_true(low && high);
    assert_int_equal(rco_loop_jitter(f->loop, 7, 7), 7);
    assert_true(rco_loop_jitter(f->loop, INT64_MIN, INT64_MAX) != 0);
}

#define BOTH(NAME)                                                                                 \
    static void uv_##NAME(void **state)                                                            \
    {                                                                                              \
        check_##NAME(*state, rco_loop_run);                                                        \
    }                                                                                              \
    static void virtual_##NAME(void **state)                                                       \
    {                                                                                              \
        check_##NAME(*state, run_virtual);                                                         \
    }
BOTH(timers_fire_in_order_of_time)
BOTH(a_disarmed_timer_does_not_fire)
BOTH(a_timer_may_free_itself_and_another_that_is_due)
BOTH(deferred_calls_run_later_in_the_order_of_the_calls)
BOTH(a_call_that_defers_itself_does_not_block_stop)
BOTH(a_timer_never_fires_before_its_time)
BOTH(jitter_stays_in_its_bounds_and_reaches_both)

static void rearm_at_once(void *ctx)
{
    struct fixture *f = ctx;

    f->count++;
    rco_timer_arm(f->timer, 0);
}

static void stop_on_readable(uv_poll_t *handle, int status, int events)
{
    struct fixture *f = handle->data;

    rco_loop_stop(f->loop);
}

static void a_timer_without_delay_does_not_starve_sockets(void **state)
{
    struct fixture *f = *state;
    uv_poll_t poll;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    uv_poll_init(rco_loop_uv_handle(f->loop), &poll, fds[0]);
    poll.data = f;
    uv_poll_start(&poll, UV_READABLE, stop_on_readable);
    f->timer = rco_timer_new(f->loop, rearm_at_once, f);
    rco_timer_arm(f->timer, 0);
    rco_loop_run(f->loop);
    assert_in_range(f->count, 0, 3);
    rco_timer_free(f->timer);
    uv_close((uv_handle_t *)&poll, NULL);
    uv_run(rco_loop_uv_handle(f->loop), UV_RUN_NOWAIT);
    close(fds[0]);
    close(fds[1]);
}

static void count_and_stop(void *ctx)
{
    struct fixture *f = ctx;

    f->count++;
    rco_loop_stop(f->loop);
}

static void raise_usr1(void *ctx)
{
    raise(SIGUSR1);
}

static void a_signal_is_delivered_from_the_loop(void **state)
{
    struct fixture *f = *state;

    rco_loop_on_signal(f->loop, SIGUSR1, count_and_stop, f);
    rco_loop_defer(f->loop, raise_usr1, NULL);
    rco_loop_run(f->loop);
    assert_int_equal(f->count, 1);
}

static void see_same_now(void *ctx)
{
    struct fixture *f = ctx;
    rco_mono first = rco_loop_now(f->loop);
    struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};

    nanosleep(&pause, NULL);
    f->count = rco_loop_now(f->loop) == first;
    rco_loop_stop(f->loop);
}

static void time_is_read_once_a_turn(void **state)
{
    struct fixture *f = *state;

    rco_loop_defer(f->loop, see_same_now, f);
    rco_loop_run(f->loop);
    assert_int_equal(f->count, 1);
}

static void virtual_time_jumps_to_the_next_timer_and_no_further(void **state)
{
    struct fixture *f = *state;
    rco_mono start = rco_loop_now(f->loop);
    struct mark a = {f, "a"}, b = {f, "b"};
    struct rco_timer *ta = rco_timer_new(f->loop, note, &a);
    struct rco_timer *tb = rco_timer_new(f->loop, note, &b);

    rco_timer_arm(ta, 3600 * RCO_NS_PER_S);
    rco_timer_arm(tb, 7200 * RCO_NS_PER_S);
    assert_int_equal(rco_loop_virtual_next(f->loop), start + 3600 * RCO_NS_PER_S);
    assert_true(rco_loop_virtual_step(f->loop));
    assert_string_equal(f->log, "a");
    assert_int_equal(rco_loop_now(f->loop), start + 3600 * RCO_NS_PER_S);
    rco_loop_virtual_run_for(f->loop, 1800 * RCO_NS_PER_S);
    assert_string_equal(f->log, "a");
    assert_int_equal(rco_loop_now(f->loop), start + 5400 * RCO_NS_PER_S);
    rco_loop_virtual_run_for(f->loop, 1800 * RCO_NS_PER_S);
    assert_string_equal(f->log, "ab");
    assert_false(rco_loop_virtual_step(f->loop));
    assert_int_equal(rco_loop_virtual_timers(f->loop), 2);
    rco_timer_free(ta);
    rco_timer_free(tb);
    assert_int_equal(rco_loop_virtual_timers(f->loop), 0);
}

static void virtual_calendar_steps_without_moving_steady_time(void **state)
{
    struct fixture *f = *state;
    rco_mono before = rco_loop_now(f->loop);

    rco_loop_virtual_set_wall(f->loop, 5 * RCO_US_PER_S);
    assert_int_equal(rco_loop_wall(f->loop), 5 * RCO_US_PER_S);
    assert_int_equal(rco_loop_now(f->loop), before);
    rco_loop_virtual_run_for(f->loop, RCO_NS_PER_S);
    assert_int_equal(rco_loop_wall(f->loop), 6 * RCO_US_PER_S);
}

static void virtual_skip_makes_timers_late(void **state)
{
    struct fixture *f = *state;
    struct rco_timer *t = rco_timer_new(f->loop, see_time, f);
    rco_mono start = rco_loop_now(f->loop);

    rco_timer_arm(t, RCO_NS_PER_S);
    rco_loop_virtual_skip(f->loop, 10 * RCO_NS_PER_S);
    assert_int_equal(f->seen, 0);
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(f->seen, start + 10 * RCO_NS_PER_S);
    assert_true(rco_loop_virtual_stopped(f->loop));
    rco_timer_free(t);
}

static void virtual_randomness_follows_from_the_seed(void **state)
{
    struct rco_loop *a = rco_loop_virtual_new(42), *b = rco_loop_virtual_new(42),
                    *c = rco_loop_virtual_new(43);
    unsigned char x[20], y[20], z[20];

    rco_loop_random(a, x, sizeof x);
    rco_loop_random(b, y, sizeof y);
    rco_loop_random(c, z, sizeof z);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_not_equal(x, z, sizeof x);
    rco_loop_virtual_free(a);
    rco_loop_virtual_free(b);
    rco_loop_virtual_free(c);
}

#define T_UV(NAME) cmocka_unit_test_setup_teardown(NAME, set_up_uv, tear_down_uv)
#define T_VIRTUAL(NAME) cmocka_unit_test_setup_teardown(NAME, set_up_virtual, tear_down_virtual)
#define T_BOTH(NAME) T_UV(uv_##NAME), T_VIRTUAL(virtual_##NAME)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T_BOTH(timers_fire_in_order_of_time),
        T_BOTH(a_disarmed_timer_does_not_fire),
        T_BOTH(a_timer_may_free_itself_and_another_that_is_due),
        T_BOTH(deferred_calls_run_later_in_the_order_of_the_calls),
        T_BOTH(a_call_that_defers_itself_does_not_block_stop),
        T_BOTH(a_timer_never_fires_before_its_time),
        T_BOTH(jitter_stays_in_its_bounds_and_reaches_both),
        T_UV(a_timer_without_delay_does_not_starve_sockets),
        T_UV(a_signal_is_delivered_from_the_loop),
        T_UV(time_is_read_once_a_turn),
        T_VIRTUAL(virtual_time_jumps_to_the_next_timer_and_no_further),
        T_VIRTUAL(virtual_calendar_steps_without_moving_steady_time),
        T_VIRTUAL(virtual_skip_makes_timers_late),
        cmocka_unit_test(virtual_randomness_follows_from_the_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
