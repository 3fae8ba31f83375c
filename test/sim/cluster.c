/* Controllers of the cluster that the operator relies on: garbage collector, namespace controller,
 * volume binder. Job controller and kubelet are kubelet.c. */
#include "sim.h"

#include <string.h>

#define FOREGROUND "foregroundDeletion"

/* What a delayed call is about. */
struct task {
    struct sim *sim;
    enum rco_kind kind;
    const char *ns, *name, *uid;
};

static struct task *task_of(struct sim *s, const struct sim_version *v)
{
    struct task *t = RCO_NEW(&s->arena, struct task);

    *t = (struct task){.sim = s, .kind = v->kind, .ns = v->ns, .name = v->name, .uid = v->uid};
    return t;
}

/* --- garbage collector --- */

static const struct rco_value *reference_to(const struct sim_version *v, const char *uid)
{
    const struct rco_value *owners = sim_tree_get(v->tree, "metadata|ownerReferences");

    for (const struct rco_value *o = owners ? owners->first : NULL; o; o = o->next)
        if (rco_streq(sim_tree_str(o, "uid"), uid))
            return o;
    return NULL;
}

static enum rco_kind kind_named(const char *word)
{
    for (int k = 1; word && k < RCO_KIND_COUNT; k++)
        if (strcmp(rco_kind_info((enum rco_kind)k)->kind, word) == 0)
            return (enum rco_kind)k;
    return RCO_KIND_NONE;
}

/* Whether the owner that REF of V names keeps V: it is there, with that uid, in the same namespace,
 * and does not wait for what it owns to go. */
static bool keeps(struct sim *s, const struct sim_version *v, const struct rco_value *ref)
{
    enum rco_kind kind = kind_named(sim_tree_str(ref, "kind"));
    const struct sim_version *owner;

    if (kind == RCO_KIND_NONE)
        return true; /* of a kind that is not simulated */
    owner =
        sim_get(s, kind, rco_kind_info(kind)->namespaced ? v->ns : "", sim_tree_str(ref, "name"));
    return owner && rco_streq(owner->uid, sim_tree_str(ref, "uid")) &&
           !(sim_tree_get(owner->tree, "metadata|deletionTimestamp") &&
             sim_tree_has(owner->tree, "metadata|finalizers", FOREGROUND));
}

/* V goes when no owner keeps it; else it forgets those that do not. */
static void judge(struct sim *s, const struct sim_version *v)
{
    const struct rco_value *owners = sim_tree_get(v->tree, "metadata|ownerReferences");
    struct rco_value *list = RCO_NEW(&s->arena, struct rco_value), **tail = &list->first;

    list->type = RCO_VALUE_ARRAY;
    for (const struct rco_value *o = owners ? owners->first : NULL; o; o = o->next) {
        if (!keeps(s, v, o))
            continue;
        *tail = rco_arena_memdup(&s->arena, o, sizeof *o);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
        list->len++;
    }
    if (!owners || list->len == owners->len)
        return;
    if (list->len)
        sim_patch(s, SIM_CLUSTER, v->kind, v->ns, v->name, false,
                  sim_tree_set(&s->arena, NULL, "metadata|ownerReferences", list));
    else if (!sim_tree_get(v->tree, "metadata|deletionTimestamp"))
        sim_remove(s, SIM_CLUSTER, v->kind, v->ns, v->name, &(struct sim_delete){.uid = v->uid});
}

/* Judges what UID owns; returns how many of it are still there and block its end. */
static size_t collect(struct sim *s, const char *uid)
{
    size_t left = 0;

    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct sim_version **list;
        size_t n = sim_list_at(s, (enum rco_kind)k, s->revision, &list);

        for (size_t i = 0; i < n; i++) {
            const struct rco_value *ref = reference_to(list[i], uid);

            if (!ref)
                continue;
            left += rco_value_bool(ref, "blockOwnerDeletion");
            judge(s, list[i]);
        }
    }
    return left;
}

static void on_owner_gone(void *ctx)
{
    struct task *t = ctx;

    collect(t->sim, t->uid);
}

/* An owner that was never there, or not here, is found soon after. */
static void on_owned(void *ctx)
{
    struct task *t = ctx;
    const struct sim_version *v = sim_get(t->sim, t->kind, t->ns, t->name);

    if (v && rco_streq(v->uid, t->uid))
        judge(t->sim, v);
}

static void on_foreground(void *ctx)
{
    struct task *t = ctx;
    struct sim *s = t->sim;
    const struct sim_version *v = sim_get(s, t->kind, t->ns, t->name);
    const struct rco_value *list;

    if (!v || !rco_streq(v->uid, t->uid))
        return;
    if (collect(s, t->uid)) {
        sim_after(s, SIM_S, on_foreground, t);
        return;
    }
    list = sim_tree_get(sim_tree_drop(&s->arena, v->tree, "metadata|finalizers", FOREGROUND),
                        "metadata|finalizers");
    sim_patch(s, SIM_CLUSTER, t->kind, t->ns, t->name, false,
              sim_tree_set(&s->arena, NULL, "metadata|finalizers",
                           list ? list : sim_tree_f(&s->arena, "null")));
}

/* --- namespaces --- */

static bool is_empty(struct sim *s, const char *ns)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++)
        for (size_t i = 0; k != RCO_KIND_EVENT && i < s->kinds[k].n_live; i++)
            if (strcmp(s->kinds[k].live[i]->ns, ns) == 0)
                return false;
    return true;
}

static void empty(struct sim *s, const char *ns)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct sim_version **list;
        size_t n = sim_list_at(s, (enum rco_kind)k, s->revision, &list);

        for (size_t i = 0; i < n; i++)
            if (strcmp(list[i]->ns, ns) == 0 &&
                !sim_tree_get(list[i]->tree, "metadata|deletionTimestamp"))
                sim_remove(s, SIM_CLUSTER, (enum rco_kind)k, ns, list[i]->name,
                           &(struct sim_delete){.uid = list[i]->uid});
    }
}

static void on_terminating(void *ctx)
{
    struct task *t = ctx;
    struct sim *s = t->sim;
    const struct sim_version *v = sim_get(s, RCO_KIND_NAMESPACE, "", t->name);

    if (!v || !rco_streq(v->uid, t->uid))
        return;
    empty(s, t->name);
    if (!is_empty(s, t->name)) {
        sim_after(s, 2 * SIM_S, on_terminating, t);
        return;
    }
    sim_patch(s, SIM_CLUSTER, RCO_KIND_NAMESPACE, "", t->name, false,
              sim_tree_f(&s->arena, "{\"spec\":{\"finalizers\":null}}"));
}

/* --- volumes --- */

static void on_claim(void *ctx)
{
    struct task *t = ctx;
    struct sim *s = t->sim;

    sim_patch(s, SIM_CLUSTER, RCO_KIND_PVC, t->ns, t->name, false,
              sim_tree_f(&s->arena,
                         "{\"spec\":{\"volumeName\":\"pv-%s\",\"storageClassName\":"
                         "\"standard\"}}",
                         t->uid));
    sim_patch(s, SIM_CLUSTER, RCO_KIND_PVC, t->ns, t->name, true,
              sim_tree_f(&s->arena, "{\"status\":{\"phase\":\"Bound\"}}"));
}

static void on_claim_deleted(void *ctx)
{
    struct task *t = ctx;

    sim_patch(t->sim, SIM_CLUSTER, RCO_KIND_PVC, t->ns, t->name, false,
              sim_tree_f(&t->sim->arena, "{\"metadata\":{\"finalizers\":null}}"));
}

/* --- dispatch --- */

void sim_cluster_changed(struct sim *s, const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;
    bool deleting = sim_tree_get(v->tree, "metadata|deletionTimestamp") != NULL;
    bool was_deleting =
        c->before && sim_tree_get(c->before->tree, "metadata|deletionTimestamp") != NULL;

    sim_kubelet_changed(s, c);
    if (v->kind == RCO_KIND_EVENT || v->kind == RCO_KIND_LEASE)
        return;
    if (!c->now) {
        sim_after(s, sim_between(s, 20 * SIM_MS, SIM_S), on_owner_gone, task_of(s, v));
        return;
    }
    if (!c->before && sim_tree_get(v->tree, "metadata|ownerReferences"))
        sim_after(s, sim_between(s, 20 * SIM_MS, SIM_S), on_owned, task_of(s, v));
    if (v->kind == RCO_KIND_PVC && !c->before)
        sim_after(s, sim_between(s, 50 * SIM_MS, SIM_S), on_claim, task_of(s, v));
    if (!deleting || was_deleting)
        return;
    if (v->kind == RCO_KIND_NAMESPACE)
        sim_after(s, 100 * SIM_MS, on_terminating, task_of(s, v));
    else if (v->kind == RCO_KIND_PVC)
        sim_after(s, SIM_S, on_claim_deleted, task_of(s, v));
    else if (sim_tree_has(v->tree, "metadata|finalizers", FOREGROUND))
        sim_after(s, 50 * SIM_MS, on_foreground, task_of(s, v));
}
