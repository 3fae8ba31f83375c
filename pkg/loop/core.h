/* What both loops share: the timer heap and the queue of deferred calls. Private to pkg/loop. */
#ifndef RCO_LOOP_CORE_H
#define RCO_LOOP_CORE_H

#include "base/heap.h"
#include "loop/loop.h"

struct rco_deferred {
    rco_loop_fn fn;
    void *ctx;
};

/* `head` first: a struct rco_loop pointer of either implementation points to its core. */
struct rco_loop_core {
    struct rco_loop head;
    struct rco_heap timers;
    size_t n_timers;            /* allocated, armed or not */
    struct rco_deferred *queue; /* ring of `capacity` (power of two) entries */
    size_t capacity;
    size_t first;
    size_t n_queued;
};

/* An empty loop with the entries OPS, which are borrowed. */
void rco_loop_core_init(struct rco_loop_core *core, const struct rco_loop_ops *ops);
/* Timers that were not freed are a broken invariant (assert). Queued calls are dropped. */
void rco_loop_core_release(struct rco_loop_core *core);

/* The timer and defer entries of struct rco_loop_ops. */
struct rco_timer *rco_loop_core_timer_new(struct rco_loop *loop, rco_loop_fn fn, void *ctx);
void rco_loop_core_timer_arm(struct rco_timer *timer, rco_mono due);
void rco_loop_core_timer_disarm(struct rco_timer *timer);
void rco_loop_core_timer_free(struct rco_timer *timer);
void rco_loop_core_defer(struct rco_loop *loop, rco_loop_fn fn, void *ctx);

/* When the first armed timer is due; 0 = none is armed. */
rco_mono rco_loop_core_next_due(const struct rco_loop_core *core);
/* Fires the first timer if it is due at NOW; false when none was. */
bool rco_loop_core_fire_one(struct rco_loop_core *core, rco_mono now);
/* Fires the timers due at NOW, but none that was armed meanwhile: a timer that arms itself with no
 * delay cannot keep the loop from its sockets. */
void rco_loop_core_fire_due(struct rco_loop_core *core, rco_mono now);
/* Runs the oldest deferred call; false when there is none. */
bool rco_loop_core_run_one(struct rco_loop_core *core);
/* Runs the calls queued at entry, not those queued meanwhile. */
void rco_loop_core_run_deferred(struct rco_loop_core *core);

#endif
