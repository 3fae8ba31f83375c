/* Controllers of the cluster that the operator relies on: garbage collector, namespace controller,
 * volume binder. Job controller and kubelet are kubelet.c. */
#include "sim.h"

#include <string.h>

#define FOREGROUND "foregroundDeletion"
#define NAMESPACE_FINALIZER "kubernetes"

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

static bool is_owned_by(const struct sim_version *v, const char *uid)
{
    const struct rco_value *owners = sim_tree_get(v->tree, "metadata|ownerReferences");

    for (const struct rco_value *o = owners ? owners->first : NULL; o; o = o->next)
        if (rco_streq(sim_tree_str(o, "uid"), uid))
            return true;
    return false;
}

/* Deletes what UID owns; returns how many are still there. */
static size_t collect(struct sim *s, const char *uid)
{
    size_t left = 0;

    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct sim_version **list;
        size_t n = sim_list_at(s, (enum rco_kind)k, s->revision, &list);

        for (size_t i = 0; i < n; i++) {
            if (!is_owned_by(list[i], uid))
                continue;
            left++;
            if (!sim_tree_get(list[i]->tree, "metadata|deletionTimestamp"))
                sim_remove(s, SIM_CLUSTER, (enum rco_kind)k, list[i]->ns, list[i]->name,
                           &(struct sim_delete){.uid = list[i]->uid});
        }
    }
    return left;
}

static void on_owner_gone(void *ctx)
{
    struct task *t = ctx;

    collect(t->sim, t->uid);
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
    sim_patch(s, SIM_CLUSTER, RCO_KIND_NAMESPACE, "", t->name, true,
              sim_tree_f(&s->arena, "{\"status\":{\"phase\":\"Terminating\"}}"));
    empty(s, t->name);
    if (!is_empty(s, t->name)) {
        sim_after(s, 2 * SIM_S, on_terminating, t);
        return;
    }
    sim_patch(s, SIM_CLUSTER, RCO_KIND_NAMESPACE, "", t->name, false,
              sim_tree_f(&s->arena, "{\"metadata\":{\"finalizers\":null}}"));
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
