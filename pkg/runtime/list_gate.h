/* Relists of different kinds take turns: one holder at a time, first come first served. */
#ifndef RCO_RUNTIME_LIST_GATE_H
#define RCO_RUNTIME_LIST_GATE_H

#include "loop/loop.h"

struct rco_list_gate;

/* Embedded in whoever waits. */
struct rco_list_waiter {
    struct rco_list_waiter *next;
    rco_loop_fn turn;
    void *ctx;
};

/* Open. LOOP is borrowed. */
struct rco_list_gate *rco_list_gate_new(struct rco_loop *loop);
/* Nobody may hold or wait any more. NULL is allowed. */
void rco_list_gate_free(struct rco_list_gate *g);
/* Calls TURN(CTX) later, from the loop, when it is W's turn; W then holds the gate. */
void rco_list_gate_enter(struct rco_list_gate *g, struct rco_list_waiter *w, rco_loop_fn turn,
                         void *ctx);
/* Gives up the turn or the place in the queue; does nothing for others. */
void rco_list_gate_leave(struct rco_list_gate *g, struct rco_list_waiter *w);

#endif
