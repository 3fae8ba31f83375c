#include "runtime/list_gate.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>

struct rco_list_gate {
    struct rco_timer *timer;
    struct rco_list_waiter *first, **tail;
    struct rco_list_waiter *holder;
};

static void on_timer(void *ctx)
{
    struct rco_list_gate *g = ctx;
    struct rco_list_waiter *w = g->first;

    if (g->holder || !w)
        return;
    g->first = w->next;
    if (!g->first)
        g->tail = &g->first;
    g->holder = w;
    w->turn(w->ctx);
}

struct rco_list_gate *rco_list_gate_new(struct rco_loop *loop)
{
    struct rco_list_gate *g = rco_calloc(1, sizeof(*g));

    g->timer = rco_timer_new(loop, on_timer, g);
    g->tail = &g->first;
    return g;
}

void rco_list_gate_free(struct rco_list_gate *g)
{
    if (!g)
        return;
    assert(!g->first && !g->holder);
    rco_timer_free(g->timer);
    free(g);
}

void rco_list_gate_enter(struct rco_list_gate *g, struct rco_list_waiter *w, rco_loop_fn turn,
                         void *ctx)
{
    *w = (struct rco_list_waiter){.turn = turn, .ctx = ctx};
    *g->tail = w;
    g->tail = &w->next;
    if (!g->holder)
        rco_timer_arm(g->timer, 0);
}

void rco_list_gate_leave(struct rco_list_gate *g, struct rco_list_waiter *w)
{
    if (g->holder == w)
        g->holder = NULL;
    for (struct rco_list_waiter **at = &g->first; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            if (g->tail == &w->next)
                g->tail = at;
            break;
        }
    }
    if (g->first && !g->holder)
        rco_timer_arm(g->timer, 0);
}
