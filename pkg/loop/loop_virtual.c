#include "loop/loop_virtual.h"

#include "base/buf.h"
#include "loop/core.h"

#include <string.h>

#define START_MONO RCO_NS_PER_S
#define START_WALL (INT64_C(1767225600) * RCO_US_PER_S) /* 2026-01-01T00:00:00Z */
#define NS_PER_US 1000

struct virtual_loop {
    struct rco_loop_core core;
    rco_mono now;
    rco_wall wall_base; /* calendar time when the steady clock was 0 */
    uint64_t state[4];  /* xoshiro256** by Blackman and Vigna */
    bool stopped;
};

static struct virtual_loop *loop_of(const struct rco_loop *loop)
{
    return (struct virtual_loop *)loop;
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t next_random(uint64_t s[4])
{
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

/* splitmix64, as its authors advise for filling the state. */
static void seed_random(uint64_t s[4], uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        s[i] = z ^ (z >> 31);
    }
}

static rco_mono virtual_now(struct rco_loop *loop)
{
    return loop_of(loop)->now;
}

static rco_wall virtual_wall(struct rco_loop *loop)
{
    return loop_of(loop)->wall_base + loop_of(loop)->now / NS_PER_US;
}

static void virtual_random(struct rco_loop *loop, void *out, size_t n)
{
    unsigned char *p = out;

    while (n > 0) {
        uint64_t bits = next_random(loop_of(loop)->state);
        size_t part = n < sizeof bits ? n : sizeof bits;

        memcpy(p, &bits, part);
        p += part;
        n -= part;
    }
}

static void virtual_stop(struct rco_loop *loop)
{
    loop_of(loop)->stopped = true;
}

static const struct rco_loop_ops virtual_ops = {
    .now = virtual_now,
    .wall = virtual_wall,
    .random = virtual_random,
    .timer_new = rco_loop_core_timer_new,
    .timer_arm = rco_loop_core_timer_arm,
    .timer_disarm = rco_loop_core_timer_disarm,
    .timer_free = rco_loop_core_timer_free,
    .defer = rco_loop_core_defer,
    .stop = virtual_stop,
};

struct rco_loop *rco_loop_virtual_new(uint64_t seed)
{
    struct virtual_loop *loop = rco_calloc(1, sizeof *loop);

    rco_loop_core_init(&loop->core, &virtual_ops);
    loop->now = START_MONO;
    loop->wall_base = START_WALL - START_MONO / NS_PER_US;
    seed_random(loop->state, seed);
    return &loop->core.head;
}

void rco_loop_virtual_free(struct rco_loop *loop)
{
    if (!loop)
        return;
    rco_loop_core_release(&loop_of(loop)->core);
    free(loop);
}

/* One step, but the clock does not go beyond LIMIT. */
static bool step_until(struct virtual_loop *loop, rco_mono limit)
{
    rco_mono due;

    if (loop->stopped)
        return false;
    if (rco_loop_core_run_one(&loop->core))
        return true;
    due = rco_loop_core_next_due(&loop->core);
    if (!due || due > limit)
        return false;
    if (due > loop->now)
        loop->now = due;
    return rco_loop_core_fire_one(&loop->core, loop->now);
}

bool rco_loop_virtual_step(struct rco_loop *loop)
{
    return step_until(loop_of(loop), INT64_MAX);
}

void rco_loop_virtual_run_until(struct rco_loop *head, rco_mono t)
{
    struct virtual_loop *loop = loop_of(head);

    while (step_until(loop, t))
        ;
    if (!loop->stopped && loop->now < t)
        loop->now = t;
}

void rco_loop_virtual_run_for(struct rco_loop *loop, int64_t ns)
{
    rco_loop_virtual_run_until(loop, loop_of(loop)->now + ns);
}

void rco_loop_virtual_settle(struct rco_loop *loop)
{
    rco_loop_virtual_run_until(loop, loop_of(loop)->now);
}

void rco_loop_virtual_skip(struct rco_loop *loop, int64_t ns)
{
    loop_of(loop)->now += ns;
}

void rco_loop_virtual_set_wall(struct rco_loop *loop, rco_wall wall)
{
    loop_of(loop)->wall_base = wall - loop_of(loop)->now / NS_PER_US;
}

rco_mono rco_loop_virtual_next(const struct rco_loop *loop)
{
    return rco_loop_core_next_due(&loop_of(loop)->core);
}

size_t rco_loop_virtual_timers(const struct rco_loop *loop)
{
    return loop_of(loop)->core.n_timers;
}

bool rco_loop_virtual_stopped(const struct rco_loop *loop)
{
    return loop_of(loop)->stopped;
}

void rco_loop_virtual_resume(struct rco_loop *loop)
{
    loop_of(loop)->stopped = false;
}
