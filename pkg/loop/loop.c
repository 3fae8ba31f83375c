#include "loop/loop.h"

#include <assert.h>

rco_mono rco_loop_now(struct rco_loop *loop)
{
    return loop->ops->now(loop);
}

rco_wall rco_loop_wall(struct rco_loop *loop)
{
    return loop->ops->wall(loop);
}

void rco_loop_random(struct rco_loop *loop, void *out, size_t n)
{
    loop->ops->random(loop, out, n);
}

int64_t rco_loop_jitter(struct rco_loop *loop, int64_t lo, int64_t hi)
{
    uint64_t span, bits;

    assert(lo <= hi);
    span = (uint64_t)hi - (uint64_t)lo;
    rco_loop_random(loop, &bits, sizeof bits);
    if (span == UINT64_MAX)
        return (int64_t)bits;
    /* High half of a 128-bit product: no modulo bias that anybody could measure. */
    return (int64_t)((uint64_t)lo +
                     (uint64_t)(((unsigned __int128)bits * ((unsigned __int128)span + 1)) >> 64));
}

struct rco_timer *rco_timer_new(struct rco_loop *loop, rco_loop_fn fn, void *ctx)
{
    return loop->ops->timer_new(loop, fn, ctx);
}

void rco_timer_arm(struct rco_timer *timer, int64_t delay_ns)
{
    rco_mono now = rco_loop_now(timer->loop);
    rco_mono due;

    if (delay_ns < 0)
        delay_ns = 0;
    if (__builtin_add_overflow(now, delay_ns, &due))
        due = INT64_MAX;
    timer->loop->ops->timer_arm(timer, due);
}

void rco_timer_disarm(struct rco_timer *timer)
{
    if (timer->due)
        timer->loop->ops->timer_disarm(timer);
}

bool rco_timer_armed(const struct rco_timer *timer)
{
    return timer->due != 0;
}

void rco_timer_free(struct rco_timer *timer)
{
    if (timer)
        timer->loop->ops->timer_free(timer);
}

void rco_loop_defer(struct rco_loop *loop, rco_loop_fn fn, void *ctx)
{
    loop->ops->defer(loop, fn, ctx);
}

void rco_loop_stop(struct rco_loop *loop)
{
    loop->ops->stop(loop);
}
