#include "runtime/controller.h"

#include "base/str.h"
#include "runtime/manager_internal.h"

#include <assert.h>

const void *rco_observer_get(const struct rco_observer *obs, enum rco_kind kind, const char *ns,
                             const char *name, struct rco_arena *a)
{
    const struct rco_store *s = obs->stores[kind];

    assert(s); /* reading a kind that nothing watches would look like "it does not exist" */
    return rco_lister_get(s, ns, name, a);
}

size_t rco_observer_by_index(const struct rco_observer *obs, enum rco_kind kind, const char *index,
                             const char *key, struct rco_arena *a, const void ***ret)
{
    assert(obs->stores[kind]);
    return rco_lister_by_index(obs->stores[kind], index, key, a, ret);
}

const struct rco_outcome *rco_observer_outcome(const struct rco_observer *obs, enum rco_kind kind,
                                               const char *name)
{
    for (size_t i = 0; i < obs->n_outcomes; i++)
        if (obs->outcomes[i].kind == kind && rco_streq(obs->outcomes[i].name, name))
            return &obs->outcomes[i];
    return NULL;
}

void rco_enqueue_with(struct rco_enqueuer *e, const char *ns, const char *name,
                      enum rco_priority priority)
{
    struct rco_key key = rco_key_of(ns, name);

    if (e->unless_in && rco_lister_has(e->unless_in, ns, name))
        return;
    rco_manager_add(e->controller, &key, priority > e->priority ? priority : e->priority);
}

void rco_enqueue(struct rco_enqueuer *e, const char *ns, const char *name)
{
    rco_enqueue_with(e, ns, name, RCO_PRIORITY_LOW);
}

void rco_trigger_self(void *ctx, const void *old_obj, const void *new_obj, struct rco_enqueuer *e)
{
    const struct rco_meta *m = new_obj ? new_obj : old_obj;

    (void)ctx;
    rco_enqueue(e, m->ns, m->name);
}
