/* A loop with virtual time for the simulation and for unit tests: nothing waits, everything that is
 * due happens in an order that depends on the seed and the calls alone. It serves no sockets. */
#ifndef RCO_LOOP_LOOP_VIRTUAL_H
#define RCO_LOOP_LOOP_VIRTUAL_H

#include "loop/loop.h"

/* Steady time starts at 1 s, calendar time at 2026-01-01T00:00:00Z; random bytes follow from SEED.
 */
struct rco_loop *rco_loop_virtual_new(uint64_t seed);
/* NULL is allowed. Timers not freed are a broken invariant (assert); queued calls are dropped. */
void rco_loop_virtual_free(struct rco_loop *loop);

/* Runs the oldest deferred call or, when there is none, moves the clock to the first timer and
 * fires it. False when there was nothing to do or the loop was stopped. */
bool rco_loop_virtual_step(struct rco_loop *loop);
/* Runs everything that is due up to T; the clock then stands at T, or where it was stopped. */
void rco_loop_virtual_run_until(struct rco_loop *loop, rco_mono t);
/* The same, relative to now. */
void rco_loop_virtual_run_for(struct rco_loop *loop, int64_t ns);
/* Runs what can run without moving the clock. */
void rco_loop_virtual_settle(struct rco_loop *loop);
/* Moves both clocks without running anything, as a stalled or suspended process sees it. */
void rco_loop_virtual_skip(struct rco_loop *loop, int64_t ns);
/* Steps the calendar alone, as an administrator or NTP does. */
void rco_loop_virtual_set_wall(struct rco_loop *loop, rco_wall wall);

/* When the first timer is due; 0 = none is armed. Deferred calls are not counted. */
rco_mono rco_loop_virtual_next(const struct rco_loop *loop);
/* Timers allocated and not freed, armed or not. */
size_t rco_loop_virtual_timers(const struct rco_loop *loop);
/* rco_loop_stop was called. Step and run do nothing from then on until rco_loop_virtual_resume. */
bool rco_loop_virtual_stopped(const struct rco_loop *loop);
void rco_loop_virtual_resume(struct rco_loop *loop);

#endif
