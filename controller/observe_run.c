#include "observe.h"

#include "api/names.h"
#include "api/zz_generated_types.h"
#include "decide/run.h"
#include "mailbox.h"
#include "world.h"

/* Pods of the run's environment that are not the run's own. */
static void observe_other_pods(const struct rco_observer *obs, const char *in_env, const char *uid,
                               struct rco_arena *a, struct rco_run_observed *s)
{
    const struct rco_pod **pods;
    size_t n = rco_observer_by_index(obs, RCO_KIND_POD, RCO_INDEX_ENVIRONMENT, in_env, a,
                                     (const void ***)&pods);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!rco_streq(rco_meta_label(&pods[i]->metadata, RCO_LABEL_RUN_UID), uid))
            pods[kept++] = pods[i];
    s->other_pods = pods;
    s->n_other_pods = kept;
}

/* What is known of the nodes that the run's pods are on. */
static void observe_nodes(const struct rco_observer *obs, struct rco_arena *a,
                          struct rco_run_observed *s)
{
    const char **fenced = rco_arena_array(a, s->n_pods, sizeof *fenced);
    const char **gone = rco_arena_array(a, s->n_pods, sizeof *gone);

    for (size_t i = 0; i < s->n_pods; i++) {
        const char *name = s->pods[i]->spec.node_name;
        const struct rco_node *node;

        if (rco_str_empty(name))
            continue;
        node = rco_observer_get(obs, RCO_KIND_NODE, NULL, name, a);
        if (!node)
            gone[s->n_gone_nodes++] = name;
        else if (rco_node_is_fenced(node))
            fenced[s->n_fenced_nodes++] = name;
    }
    s->fenced_nodes = fenced;
    s->gone_nodes = gone;
}

/* Active runs of the environment besides this one. */
static void observe_others(const struct rco_observer *obs, const char *in_env, const char *uid,
                           struct rco_arena *a, struct rco_run_observed *s)
{
    const struct rco_run **runs;
    size_t n = rco_observer_by_index(obs, RCO_KIND_RUN, RCO_INDEX_ACTIVE, in_env, a,
                                     (const void ***)&runs);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!rco_streq(runs[i]->metadata.uid, uid))
            runs[kept++] = runs[i];
    s->others = runs;
    s->n_others = kept;
}

/* The claim is named after the project in Pulumi.yaml, which the first start request brings. */
static void observe_claim(const struct rco_observer *obs, const char *operator_ns,
                          struct rco_arena *a, struct rco_run_observed *s)
{
    const char *project = s->run->status.engine.project;
    char name[RCO_NAME_SIZE];

    for (size_t i = 0; i < s->mailbox.n_starts && !project; i++)
        if (s->mailbox.starts[i].request)
            project = s->mailbox.starts[i].request->project;
    if (!rco_run_claim_name(s->run, project, name))
        return;
    s->claim = rco_observer_get(obs, RCO_KIND_LEASE, operator_ns, name, a);
    if (s->claim && s->claim->spec.holder_identity)
        s->claim_holder_exists = rco_lister_count(obs->stores[RCO_KIND_DEPSPEC], RCO_INDEX_UID,
                                                  s->claim->spec.holder_identity) > 0;
}

static void observe_run(const struct rco_observer *obs, const struct rco_world *world,
                        struct rco_arena *a, struct rco_run_observed *s)
{
    const struct rco_run *run = s->run;
    const char *ns = run->metadata.ns, *uid = run->metadata.uid;
    const char *in_env = rco_index_key(a, ns, run->spec.environment_id);
    const char *own =
        rco_index_key(a, ns, uid); /* what a label says in another namespace is nothing */
    char anchor[RCO_NAME_SIZE];

    s->spec = rco_observer_get(obs, RCO_KIND_DEPSPEC, ns,
                               rco_str_or_empty(run->spec.specification_ref.name), a);
    s->env = rco_observer_get(obs, RCO_KIND_ENV, ns, rco_str_or_empty(run->spec.environment_id), a);
    s->n_jobs = rco_observer_by_index(obs, RCO_KIND_JOB, RCO_INDEX_RUN_UID, own, a,
                                      (const void ***)&s->jobs);
    s->n_pods = rco_observer_by_index(obs, RCO_KIND_POD, RCO_INDEX_RUN_UID, own, a,
                                      (const void ***)&s->pods);
    rco_name_anchor(uid, anchor);
    s->anchor = rco_observer_get(obs, RCO_KIND_CONFIGMAP, ns, anchor, a);
    observe_claim(obs, world->config.operator_namespace, a, s);
    s->n_held_claims = rco_observer_by_index(obs, RCO_KIND_LEASE, RCO_INDEX_HOLDER,
                                             rco_str_or_empty(run->spec.specification_id), a,
                                             (const void ***)&s->held_claims);
    s->n_engine_claims = rco_observer_by_index(obs, RCO_KIND_LEASE, RCO_INDEX_RUN_UID, uid, a,
                                               (const void ***)&s->engine_claims);
    observe_others(obs, in_env, uid, a, s);
    observe_other_pods(obs, in_env, uid, a, s);
}

/* What a run that is gone left behind; false when there is nothing. */
static bool observe_leftovers(const struct rco_observer *obs, const struct rco_key *key,
                              struct rco_arena *a, struct rco_run_observed *s)
{
    const char *name = rco_index_key(a, key->ns, key->name);
    const struct rco_configmap **anchors;

    s->n_jobs =
        rco_observer_by_index(obs, RCO_KIND_JOB, RCO_INDEX_RUN, name, a, (const void ***)&s->jobs);
    s->n_pods =
        rco_observer_by_index(obs, RCO_KIND_POD, RCO_INDEX_RUN, name, a, (const void ***)&s->pods);
    s->n_engine_claims = rco_observer_by_index(obs, RCO_KIND_LEASE, RCO_INDEX_RUN, name, a,
                                               (const void ***)&s->engine_claims);
    if (rco_observer_by_index(obs, RCO_KIND_CONFIGMAP, RCO_INDEX_RUN, name, a,
                              (const void ***)&anchors))
        s->anchor = anchors[0];
    return s->n_jobs || s->n_pods || s->n_engine_claims || s->anchor;
}

int rco_observe_run(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                    struct rco_arena *a, void **ret_snapshot, struct rco_error *err)
{
    struct rco_world *world = ctx;
    struct rco_run_observed *s = RCO_NEW(a, struct rco_run_observed);

    (void)err;
    rco_mailbox_observe(world->mailbox, key->ns, key->name, a, &s->mailbox);
    s->run = rco_observer_get(obs, RCO_KIND_RUN, key->ns, key->name, a);
    if (!s->run && !observe_leftovers(obs, key, a, s) && !s->mailbox.n_starts &&
        !s->mailbox.n_receipts)
        return 0;
    if (s->run)
        observe_run(obs, world, a, s);
    observe_nodes(obs, a, s);
    s->outcomes = obs->outcomes;
    s->n_outcomes = obs->n_outcomes;
    s->config = &world->config;
    *ret_snapshot = s;
    return 0;
}
