/* The reactor: one thread, timers, deferred calls, clocks, randomness. Two implementations: libuv
 * (loop_uv.c, the only file of the product that knows libuv besides pkg/http's socket glue) and one
 * with virtual time for the simulation. */
#ifndef RCO_LOOP_LOOP_H
#define RCO_LOOP_LOOP_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_loop;
struct rco_timer;

typedef void (*rco_loop_fn)(void *ctx);

struct rco_loop_ops {
    rco_mono (*now)(struct rco_loop *loop);
    rco_wall (*wall)(struct rco_loop *loop);
    void (*random)(struct rco_loop *loop, void *out, size_t n);
    struct rco_timer *(*timer_new)(struct rco_loop *loop, rco_loop_fn fn, void *ctx);
    void (*timer_arm)(struct rco_timer *timer, rco_mono due);
    void (*timer_disarm)(struct rco_timer *timer);
    void (*timer_free)(struct rco_timer *timer);
    void (*defer)(struct rco_loop *loop, rco_loop_fn fn, void *ctx);
    void (*stop)(struct rco_loop *loop);
};

struct rco_loop {
    const struct rco_loop_ops *ops;
};

/* Steady time in nanoseconds, read once per turn of the loop. */
rco_mono rco_loop_now(struct rco_loop *loop);
/* Calendar time. For fields people read, never for ordering. */
rco_wall rco_loop_wall(struct rco_loop *loop);
void rco_loop_random(struct rco_loop *loop, void *out, size_t n);
/* Uniform in [LO, HI]. */
int64_t rco_loop_jitter(struct rco_loop *loop, int64_t lo, int64_t hi);

/* A timer that is not armed. Free it with rco_timer_free. */
struct rco_timer *rco_timer_new(struct rco_loop *loop, rco_loop_fn fn, void *ctx);
/* Fires once, DELAY nanoseconds from now; arming again moves it. */
void rco_timer_arm(struct rco_timer *timer, int64_t delay_ns);
void rco_timer_disarm(struct rco_timer *timer);
bool rco_timer_armed(const struct rco_timer *timer);
/* NULL is allowed; safe inside its own callback. */
void rco_timer_free(struct rco_timer *timer);

/* Runs FN after the current callback has returned, in order of the calls. */
void rco_loop_defer(struct rco_loop *loop, rco_loop_fn fn, void *ctx);
/* Makes rco_loop_run return. */
void rco_loop_stop(struct rco_loop *loop);

/* The head of every implementation's timer. */
struct rco_timer {
    struct rco_loop *loop;
    rco_loop_fn fn;
    void *ctx;
    rco_mono due; /* 0 = not armed */
};

/* libuv implementation. */
struct rco_loop *rco_loop_uv_new(void);
/* Frees LOOP after its handles were closed; leaks are a broken invariant (assert). */
void rco_loop_uv_free(struct rco_loop *loop);
/* Runs until rco_loop_stop. */
void rco_loop_run(struct rco_loop *loop);
/* The uv_loop_t, for pkg/http alone. */
void *rco_loop_uv_handle(struct rco_loop *loop);
/* Calls FN on SIGNUM (from the loop, not from the signal handler) until the loop is freed. */
void rco_loop_on_signal(struct rco_loop *loop, int signum, rco_loop_fn fn, void *ctx);

#endif
