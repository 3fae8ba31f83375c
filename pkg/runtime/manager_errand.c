/* Plans that are no reconciler's. */
#include "runtime/manager_internal.h"

#include <stdlib.h>

static void unlink_errand(struct rco_errand *e)
{
    *e->prev = e->next;
    if (e->next)
        e->next->prev = e->prev;
    e->prev = NULL;
}

static void on_done(void *ctx, const struct rco_execution_report *report)
{
    struct rco_errand *e = ctx;
    struct rco_manager *m = e->manager;
    rco_execution_done done = e->done;
    void *arg = e->ctx;

    unlink_errand(e);
    free(e);
    done(arg, report);
    rco_manager_maybe_over(m);
}

struct rco_errand *rco_manager_execute(struct rco_manager *m, const struct rco_plan *plan,
                                       rco_execution_done done, void *ctx)
{
    struct rco_errand *e = rco_calloc(1, sizeof(*e));

    *e = (struct rco_errand){.manager = m, .done = done, .ctx = ctx, .next = m->errands};
    e->prev = &m->errands;
    if (e->next)
        e->next->prev = &e->next;
    m->errands = e;
    e->execution = rco_executor_run(m->executor, plan, on_done, e);
    return e;
}

void rco_errand_cancel(struct rco_errand *e)
{
    if (!e)
        return;
    if (e->prev) {
        rco_execution_cancel(e->execution);
        unlink_errand(e);
    }
    free(e);
}

void rco_manager_give_errands_up(struct rco_manager *m)
{
    while (m->errands) {
        struct rco_errand *e = m->errands;

        rco_execution_cancel(e->execution);
        unlink_errand(e);
    }
}
