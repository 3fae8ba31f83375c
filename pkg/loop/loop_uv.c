#include "loop/loop.h"

#include "base/buf.h"
#include "base/clock.h"
#include "loop/core.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

/* Turns granted to handles that are closing when the loop is freed. */
#define CLOSING_TURNS 64

struct signal_watch {
    uv_signal_t handle;
    rco_loop_fn fn;
    void *ctx;
    struct signal_watch *next;
};

/* One timerfd on CLOCK_BOOTTIME serves all timers: libuv's own count CLOCK_MONOTONIC in whole
 * milliseconds, so they would sleep on through a suspend and disagree with rco_loop_now. Setting it
 * is dear, so it is done once a turn, not once an arm; not for what is due at once; and not to a
 * later time: then it wakes the loop once in vain. */
struct uv_loop {
    struct rco_loop_core core;
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; /* active while there is work: makes the poll not wait */
    uv_poll_t wake;
    int wake_fd;
    rco_mono wake_due; /* what wake_fd is set to; 0 = off */
    rco_mono now;      /* 0 = not read in this turn */
    bool running;
    struct signal_watch *signals;
};

static struct uv_loop *loop_of(struct rco_loop *loop)
{
    return (struct uv_loop *)loop;
}

static rco_mono uv_now_op(struct rco_loop *head)
{
    struct uv_loop *loop = loop_of(head);

    if (!loop->running)
        return rco_clock_mono();
    if (!loop->now)
        loop->now = rco_clock_mono();
    return loop->now;
}

static rco_wall uv_wall_op(struct rco_loop *head)
{
    return rco_clock_wall();
}

static void uv_random_op(struct rco_loop *head, void *out, size_t n)
{
    rco_clock_random(out, n);
}

static void uv_stop_op(struct rco_loop *head)
{
    uv_stop(&loop_of(head)->uv);
}

static const struct rco_loop_ops uv_ops = {
    .now = uv_now_op,
    .wall = uv_wall_op,
    .random = uv_random_op,
    .timer_new = rco_loop_core_timer_new,
    .timer_arm = rco_loop_core_timer_arm,
    .timer_disarm = rco_loop_core_timer_disarm,
    .timer_free = rco_loop_core_timer_free,
    .defer = rco_loop_core_defer,
    .stop = uv_stop_op,
};

static void on_idle(uv_idle_t *handle)
{
}

/* Makes the loop wake when the first timer is due; false when one is already. */
static bool set_wake(struct uv_loop *loop)
{
    rco_mono due = rco_loop_core_next_due(&loop->core);
    struct itimerspec spec = {0};

    if (due == 0 || (loop->wake_due != 0 && loop->wake_due <= due))
        return true;
    if (due <= uv_now_op(&loop->core.head))
        return false;
    spec.it_value.tv_sec = due / RCO_NS_PER_S;
    spec.it_value.tv_nsec = due % RCO_NS_PER_S;
    if (timerfd_settime(loop->wake_fd, TFD_TIMER_ABSTIME, &spec, NULL) != 0)
        abort();
    loop->wake_due = due;
    return true;
}

/* Before the loop waits. What was queued by closing callbacks or before the run is done here. */
static void on_prepare(uv_prepare_t *handle)
{
    struct uv_loop *loop = handle->data;
    bool may_wait;

    rco_loop_core_run_deferred(&loop->core);
    may_wait = set_wake(loop);
    if (loop->core.n_queued > 0 || !may_wait)
        uv_idle_start(&loop->idle, on_idle);
    else
        uv_idle_stop(&loop->idle);
    loop->now = 0;
}

/* After the sockets were served. */
static void on_check(uv_check_t *handle)
{
    struct uv_loop *loop = handle->data;

    rco_loop_core_fire_due(&loop->core, uv_now_op(&loop->core.head));
    rco_loop_core_run_deferred(&loop->core);
}

static void on_wake(uv_poll_t *handle, int status, int events)
{
    struct uv_loop *loop = handle->data;
    uint64_t n;

    if (read(loop->wake_fd, &n, sizeof n) < 0 && errno != EAGAIN && errno != EINTR)
        abort();
    loop->wake_due = 0;
}

struct rco_loop *rco_loop_uv_new(void)
{
    struct uv_loop *loop = rco_calloc(1, sizeof *loop);
    int failed = 0;

    rco_loop_core_init(&loop->core, &uv_ops);
    loop->wake_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (loop->wake_fd < 0)
        abort();
    failed |= uv_loop_init(&loop->uv);
    failed |= uv_prepare_init(&loop->uv, &loop->prepare);
    failed |= uv_check_init(&loop->uv, &loop->check);
    failed |= uv_idle_init(&loop->uv, &loop->idle);
    failed |= uv_poll_init(&loop->uv, &loop->wake, loop->wake_fd);
    loop->prepare.data = loop->check.data = loop->wake.data = loop;
    failed |= uv_prepare_start(&loop->prepare, on_prepare);
    failed |= uv_check_start(&loop->check, on_check);
    failed |= uv_poll_start(&loop->wake, UV_READABLE, on_wake);
    if (failed)
        abort();
    return &loop->core.head;
}

static void free_signals(struct uv_loop *loop)
{
    while (loop->signals) {
        struct signal_watch *watch = loop->signals;

        loop->signals = watch->next;
        free(watch);
    }
}

static void print_leak(uv_handle_t *handle, void *arg)
{
    fprintf(stderr, "handle left in the loop: %s%s\n",
            uv_handle_type_name(uv_handle_get_type(handle)),
            uv_is_closing(handle) ? " (closing)" : "");
}

void rco_loop_uv_free(struct rco_loop *head)
{
    struct uv_loop *loop = loop_of(head);
    int rc = UV_EBUSY;

    if (!loop)
        return;
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->check, NULL);
    uv_close((uv_handle_t *)&loop->idle, NULL);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    for (struct signal_watch *watch = loop->signals; watch; watch = watch->next)
        uv_close((uv_handle_t *)&watch->handle, NULL);
    for (int i = 0; i < CLOSING_TURNS && rc == UV_EBUSY; i++) {
        uv_run(&loop->uv, UV_RUN_NOWAIT);
        rc = uv_loop_close(&loop->uv);
    }
    if (rc != 0)
        uv_walk(&loop->uv, print_leak, NULL);
    assert(rc == 0 && "a handle outlives its loop");
    free_signals(loop);
    close(loop->wake_fd);
    rco_loop_core_release(&loop->core);
    free(loop);
}

void rco_loop_run(struct rco_loop *head)
{
    struct uv_loop *loop = loop_of(head);

    loop->running = true;
    loop->now = 0;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    loop->running = false;
}

void *rco_loop_uv_handle(struct rco_loop *head)
{
    return &loop_of(head)->uv;
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct signal_watch *watch = handle->data;

    watch->fn(watch->ctx);
}

void rco_loop_on_signal(struct rco_loop *head, int signum, rco_loop_fn fn, void *ctx)
{
    struct uv_loop *loop = loop_of(head);
    struct signal_watch *watch = rco_calloc(1, sizeof *watch);

    watch->fn = fn;
    watch->ctx = ctx;
    watch->next = loop->signals;
    loop->signals = watch;
    if (uv_signal_init(&loop->uv, &watch->handle) != 0)
        abort();
    watch->handle.data = watch;
    if (uv_signal_start(&watch->handle, on_signal, signum) != 0)
        abort();
}
