#include "runtime/manager_internal.h"

#define SLICE 256    /* objects looked at in one turn of the loop */
#define BACKLOG 1024 /* keys ready: the walk waits, so that memory does not grow with the world */

struct visit {
    struct controller *controller;
    const struct rco_trigger *trigger;
    const struct rco_store *unless_in;
};

static void visit_all(void *ctx, const void *obj)
{
    const struct visit *v = ctx;
    const struct rco_meta *meta = obj;
    struct rco_enqueuer e = {
        .controller = v->controller,
        .priority = meta->deletion ? RCO_PRIORITY_HIGH : RCO_PRIORITY_LOW,
        .unless_in = v->unless_in,
    };

    v->trigger->map(v->controller->reconciler->ctx, NULL, obj, &e);
}

static void visit_unsettled(void *ctx, const void *obj)
{
    const struct visit *v = ctx;
    const struct rco_reconciler *r = v->controller->reconciler;
    const struct rco_meta *meta = obj;
    struct rco_key key = rco_key_of(meta->ns, meta->name);

    if (!r->settled || !r->settled(obj))
        rco_manager_add(v->controller, &key, RCO_PRIORITY_LOW);
}

static void singletons(struct rco_manager *m)
{
    struct rco_key key = rco_key_of("", "");

    for (size_t i = 0; i < m->n_controllers; i++)
        if (m->controllers[i].reconciler->kind == RCO_KIND_NONE)
            rco_manager_add(&m->controllers[i], &key, RCO_PRIORITY_LOW);
}

void rco_manager_walk_start(struct rco_manager *m, enum walk_kind kind)
{
    if (m->walk.kind != WALK_NONE) {
        /* The larger of two that meet. */
        if (kind == WALK_ALL || m->walk_next == WALK_NONE)
            m->walk_next = kind;
        return;
    }
    m->walk = (struct walk){.kind = kind};
    singletons(m);
    rco_manager_pump_soon(m);
}

/* Every object of the reconciler's own kind is visited for itself. Of the other triggers only the
 * keys without an object are news then. */
static const struct rco_store *own_store(const struct rco_manager *m,
                                         const struct rco_reconciler *r,
                                         const struct rco_trigger *trigger)
{
    if (trigger->kind == r->kind && trigger->map == rco_trigger_self)
        return NULL;
    for (size_t i = 0; i < r->n_triggers; i++)
        if (r->triggers[i].kind == r->kind && r->triggers[i].map == rco_trigger_self)
            return m->stores[r->kind];
    return NULL;
}

/* The store and the visitor of the walk's position; false at the end. Moves on over empty
 * positions. */
static bool position(struct rco_manager *m, const struct rco_store **ret_store, struct visit *ret)
{
    struct walk *w = &m->walk;

    for (; w->controller < m->n_controllers; w->controller++, w->trigger = 0) {
        struct controller *c = &m->controllers[w->controller];

        if (w->kind == WALK_UNSETTLED) {
            *ret_store = m->stores[c->reconciler->kind];
            *ret = (struct visit){.controller = c};
            if (w->trigger == 0 && *ret_store)
                return true;
            continue;
        }
        if (w->trigger < c->reconciler->n_triggers) {
            *ret = (struct visit){.controller = c, .trigger = &c->reconciler->triggers[w->trigger]};
            ret->unless_in = own_store(m, c->reconciler, ret->trigger);
            *ret_store = m->stores[ret->trigger->kind];
            return true;
        }
    }
    return false;
}

static bool has_backlog(const struct rco_manager *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_controllers; i++)
        n += rco_workqueue_ready(m->controllers[i].queue);
    return n >= BACKLOG;
}

bool rco_manager_walk_slice(struct rco_manager *m)
{
    const struct rco_store *store;
    struct visit v;
    size_t left = SLICE;

    /* With keys ready the pump goes on, and comes here again. */
    if (m->walk.kind == WALK_NONE || has_backlog(m))
        return false;
    while (left > 0 && position(m, &store, &v)) {
        size_t before = m->walk.cursor;
        bool more = rco_lister_walk(store, &m->walk.cursor, left,
                                    m->walk.kind == WALK_ALL ? visit_all : visit_unsettled, &v);
        size_t used = m->walk.cursor - before;

        left = used >= left ? 0 : left - used;
        if (!more) {
            m->walk.trigger++;
            m->walk.cursor = 0;
        }
    }
    if (position(m, &store, &v))
        return true;
    m->walk.kind = WALK_NONE;
    rco_manager_trim_later(m);
    if (m->walk_next != WALK_NONE) {
        enum walk_kind next = m->walk_next;

        m->walk_next = WALK_NONE;
        rco_manager_walk_start(m, next);
        return true;
    }
    return false;
}
