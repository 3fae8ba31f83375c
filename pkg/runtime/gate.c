#include "runtime/gate.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* More writes than this in one plan than the caches show: the oldest is forgotten. */
#define EXPECTATIONS_MAX 64

struct expectation {
    enum rco_kind kind;
    char *ns, *name;
    char *rv;  /* a write; NULL for a delete */
    char *uid; /* a delete */
};

struct rco_gate {
    struct expectation *items;
    size_t n, capacity;
    rco_mono since; /* of the oldest */
};

static void drop(struct rco_gate *g, size_t i)
{
    free(g->items[i].ns);
    free(g->items[i].name);
    free(g->items[i].rv);
    free(g->items[i].uid);
    memmove(&g->items[i], &g->items[i + 1], (g->n - i - 1) * sizeof(g->items[0]));
    g->n--;
}

static struct expectation *add(struct rco_gate **gp, enum rco_kind kind, const char *ns,
                               const char *name, rco_mono now)
{
    struct rco_gate *g = *gp;
    struct expectation *e;

    if (!g) {
        g = *gp = rco_calloc(1, sizeof(*g));
        g->since = now;
    }
    /* A later write of the same object replaces the earlier one. */
    for (size_t i = 0; i < g->n; i++) {
        if (g->items[i].kind == kind && strcmp(g->items[i].name, name) == 0 &&
            rco_streq(g->items[i].ns, rco_str_or_empty(ns))) {
            drop(g, i);
            break;
        }
    }
    if (g->n == EXPECTATIONS_MAX)
        drop(g, 0);
    if (g->n == g->capacity) {
        g->capacity = g->capacity ? g->capacity * 2 : 2;
        g->items = rco_realloc(g->items, g->capacity * sizeof(*g->items));
    }
    e = &g->items[g->n++];
    *e = (struct expectation){
        .kind = kind, .ns = rco_strdup(rco_str_or_empty(ns)), .name = rco_strdup(name)};
    return e;
}

void rco_gate_expect_rv(struct rco_gate **g, enum rco_kind kind, const char *ns, const char *name,
                        const char *resource_version, rco_mono now)
{
    int order;

    /* An RV that cannot be compared can never be awaited. */
    if (rco_rv_compare(rco_str_or_empty(resource_version), "1", &order) < 0)
        return;
    add(g, kind, ns, name, now)->rv = rco_strdup(resource_version);
}

void rco_gate_expect_gone(struct rco_gate **g, enum rco_kind kind, const char *ns, const char *name,
                          const char *uid, rco_mono now)
{
    add(g, kind, ns, name, now)->uid = rco_strdup(rco_str_or_empty(uid));
}

static bool reached(const struct rco_store *s, const char *rv)
{
    int order;

    return rco_rv_compare(rco_store_rv(s), rv, &order) == 0 && order >= 0;
}

static bool satisfied(const struct expectation *e, const struct rco_store *s)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_meta *m;

    if (!s)
        return true;
    if (e->rv)
        return reached(s, e->rv);
    m = rco_lister_get(s, e->ns, e->name, &a);
    return !m || m->deletion != 0 || (*e->uid && !rco_streq(m->uid, e->uid));
}

bool rco_gate_check(struct rco_gate **gp, const struct rco_store *const *stores)
{
    struct rco_gate *g = *gp;

    if (!g)
        return true;
    for (size_t i = 0; i < g->n;) {
        if (satisfied(&g->items[i], stores[g->items[i].kind]))
            drop(g, i);
        else
            i++;
    }
    if (g->n > 0)
        return false;
    rco_gate_free(g);
    *gp = NULL;
    return true;
}

rco_mono rco_gate_deadline(const struct rco_gate *g)
{
    return g ? g->since + RCO_GATE_TIMEOUT_NS : 0;
}

uint32_t rco_gate_kinds(const struct rco_gate *g)
{
    uint32_t kinds = 0;

    for (size_t i = 0; g && i < g->n; i++)
        kinds |= UINT32_C(1) << g->items[i].kind;
    return kinds;
}

void rco_gate_extend(struct rco_gate *g, rco_mono now)
{
    g->since = now;
}

void rco_gate_free(struct rco_gate *g)
{
    if (!g)
        return;
    while (g->n > 0)
        drop(g, g->n - 1);
    free(g->items);
    free(g);
}
