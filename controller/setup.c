#include "setup.h"

#include "api/zz_generated_types.h"
#include "decide/compact.h"
#include "decide/deployment.h"
#include "decide/environment.h"
#include "decide/run.h"
#include "observe.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define INDEX_KEY_MAX 512

/* --- indexes --------------------------------------------------------------------------------- */

/* "ns/name" into KEY; each event makes several. */
static void write_pair(char key[INDEX_KEY_MAX], const char *ns, const char *name)
{
    const char *before = rco_str_or_empty(ns);
    size_t n_ns = strnlen(before, INDEX_KEY_MAX / 2);
    size_t n_name = strnlen(name, INDEX_KEY_MAX / 2 - 2);

    memcpy(key, before, n_ns);
    key[n_ns] = '/';
    memcpy(key + n_ns + 1, name, n_name);
    key[n_ns + 1 + n_name] = '\0';
}

/* Emits "ns/name". */
static void emit_pair(struct rco_index_sink *sink, const struct rco_meta *m, const char *name)
{
    char key[INDEX_KEY_MAX];

    if (rco_str_empty(name))
        return;
    write_pair(key, m->ns, name);
    rco_index_emit(sink, key);
}

static void index_label_environment(const void *obj, struct rco_index_sink *sink)
{
    emit_pair(sink, obj, rco_meta_label(obj, RCO_LABEL_ENVIRONMENT));
}

static void index_label_run_uid(const void *obj, struct rco_index_sink *sink)
{
    emit_pair(sink, obj, rco_meta_label(obj, RCO_LABEL_RUN_UID));
}

static void index_label_run(const void *obj, struct rco_index_sink *sink)
{
    emit_pair(sink, obj, rco_meta_label(obj, RCO_LABEL_RUN));
}

static void index_pod_node(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_pod *)obj)->spec.node_name);
}

static void index_namespace(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_meta *)obj)->ns);
}

static void index_uid(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_meta *)obj)->uid);
}

static void index_depspec_environment(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_depspec *d = obj;

    emit_pair(sink, &d->metadata, d->spec.environment_id);
}

static void index_depspec_tenant(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_depspec *)obj)->spec.tenant_id);
}

static void index_depspec_blocked_by(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_depspec *)obj)->status.failure.blocked_by);
}

static void index_env_tenant(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_env *)obj)->spec.tenant_id);
}

static void index_env_claim(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_env *e = obj;
    char name[256];

    emit_pair(sink, &e->metadata, rco_env_claim_name(e, name));
}

static void index_run_specification(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_run *r = obj;

    emit_pair(sink, &r->metadata, r->spec.specification_ref.name);
}

/* Final runs without our finalizer need nothing more, and stay out of the sets that others look at.
 */
static void index_run_active(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_run *r = obj;

    if (!rco_run_is_final(r) || rco_meta_has_finalizer(&r->metadata, RCO_FINALIZER_RUN))
        emit_pair(sink, &r->metadata, r->spec.environment_id);
}

static void index_run_active_of(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_run *r = obj;

    if (!rco_run_is_final(r) || rco_meta_has_finalizer(&r->metadata, RCO_FINALIZER_RUN))
        emit_pair(sink, &r->metadata, r->spec.specification_ref.name);
}

static void index_claim_holder(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_lease *)obj)->spec.holder_identity);
}

static void index_claim_run(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, rco_meta_annotation(obj, RCO_ANNOTATION_CLAIM_ENGINE_RUN));
}

static void index_claim_run_uid(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, rco_meta_annotation(obj, RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID));
}

static const struct rco_index env_indexes[] = {
    {RCO_INDEX_NAMESPACE, index_namespace},
    {RCO_INDEX_TENANT, index_env_tenant},
    {RCO_INDEX_CLAIM, index_env_claim},
};
static const struct rco_index depspec_indexes[] = {
    {RCO_INDEX_ENVIRONMENT, index_depspec_environment}, {RCO_INDEX_NAMESPACE, index_namespace},
    {RCO_INDEX_TENANT, index_depspec_tenant},           {RCO_INDEX_UID, index_uid},
    {RCO_INDEX_BLOCKED_BY, index_depspec_blocked_by},
};
static const struct rco_index run_indexes[] = {
    {RCO_INDEX_SPECIFICATION, index_run_specification},
    {RCO_INDEX_ACTIVE, index_run_active},
    {RCO_INDEX_ACTIVE_OF, index_run_active_of},
};
static const struct rco_index job_indexes[] = {
    {RCO_INDEX_RUN, index_label_run},
    {RCO_INDEX_RUN_UID, index_label_run_uid},
};
static const struct rco_index pod_indexes[] = {
    {RCO_INDEX_RUN, index_label_run},
    {RCO_INDEX_RUN_UID, index_label_run_uid},
    {RCO_INDEX_ENVIRONMENT, index_label_environment},
    {RCO_INDEX_NODE, index_pod_node},
};
static const struct rco_index claim_indexes[] = {
    {RCO_INDEX_HOLDER, index_claim_holder},
    {RCO_INDEX_RUN, index_claim_run},
    {RCO_INDEX_RUN_UID, index_claim_run_uid},
};
static const struct rco_index configmap_indexes[] = {
    {RCO_INDEX_RUN, index_label_run},
    {RCO_INDEX_ENVIRONMENT, index_label_environment},
};

/* --- triggers -------------------------------------------------------------------------------- */

/* The newer of the two, for maps that do not care which. */
static const void *either(const void *old_obj, const void *new_obj)
{
    return new_obj ? new_obj : old_obj;
}

static void enqueue_label(const void *old_obj, const void *new_obj, const char *label,
                          struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);
    const char *name = rco_meta_label(m, label);

    if (!rco_str_empty(name))
        rco_enqueue(e, m->ns, name);
}

static void run_of_label(void *ctx, const void *old_obj, const void *new_obj,
                         struct rco_enqueuer *e)
{
    (void)ctx;
    enqueue_label(old_obj, new_obj, RCO_LABEL_RUN, e);
}

static void environment_of_label(void *ctx, const void *old_obj, const void *new_obj,
                                 struct rco_enqueuer *e)
{
    (void)ctx;
    enqueue_label(old_obj, new_obj, RCO_LABEL_ENVIRONMENT, e);
}

static void enqueue_key(void *ctx, const char *ns, const char *name)
{
    rco_enqueue(ctx, ns, name);
}

/* Enqueues the keys of all objects of KIND that INDEX lists under KEY. */
static void enqueue_indexed(struct rco_world *world, enum rco_kind kind, const char *index,
                            const char *key, struct rco_enqueuer *e)
{
    const struct rco_store *store = world->stores[kind];

    if (store && !rco_str_empty(key))
        rco_lister_keys(store, index, key, enqueue_key, e);
}

static void enqueue_pair(struct rco_world *world, enum rco_kind kind, const char *index,
                         const char *ns, const char *name, struct rco_enqueuer *e)
{
    char key[INDEX_KEY_MAX];

    if (rco_str_empty(name))
        return;
    write_pair(key, ns, name);
    enqueue_indexed(world, kind, index, key, e);
}

static void environments_of_namespace(void *ctx, const void *old_obj, const void *new_obj,
                                      struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_indexed(ctx, RCO_KIND_ENV, RCO_INDEX_NAMESPACE, m->name, e);
}

static void specifications_of_namespace(void *ctx, const void *old_obj, const void *new_obj,
                                        struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_indexed(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_NAMESPACE, m->name, e);
}

static void environments_of_tenant(void *ctx, const void *old_obj, const void *new_obj,
                                   struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_indexed(ctx, RCO_KIND_ENV, RCO_INDEX_TENANT, m->name, e);
}

static void specifications_of_tenant(void *ctx, const void *old_obj, const void *new_obj,
                                     struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_indexed(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_TENANT, m->name, e);
}

static void environments_of_claim(void *ctx, const void *old_obj, const void *new_obj,
                                  struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_pair(ctx, RCO_KIND_ENV, RCO_INDEX_CLAIM, m->ns, m->name, e);
}

static void environment_of_specification(void *ctx, const void *old_obj, const void *new_obj,
                                         struct rco_enqueuer *e)
{
    const struct rco_depspec *old = old_obj, *d = either(old_obj, new_obj);

    (void)ctx;
    /* Only that it goes can unblock an Environment that is being deleted. */
    if (new_obj && old && rco_streq(old->spec.environment_id, d->spec.environment_id))
        return;
    if (!rco_str_empty(d->spec.environment_id))
        rco_enqueue(e, d->metadata.ns, d->spec.environment_id);
}

static void environment_of_run(void *ctx, const void *old_obj, const void *new_obj,
                               struct rco_enqueuer *e)
{
    const struct rco_run *old_run = old_obj, *run = either(old_obj, new_obj);

    (void)ctx;
    /* Only its end can unblock an Environment that is being deleted. */
    if (new_obj && old_run && rco_run_is_final(old_run) == rco_run_is_final(run) &&
        old_run->metadata.n_finalizers == run->metadata.n_finalizers)
        return;
    if (!rco_str_empty(run->spec.environment_id))
        rco_enqueue(e, run->metadata.ns, run->spec.environment_id);
}

static void specification_of_run(void *ctx, const void *old_obj, const void *new_obj,
                                 struct rco_enqueuer *e)
{
    const struct rco_run *run = either(old_obj, new_obj);

    (void)ctx;
    if (!rco_str_empty(run->spec.specification_ref.name))
        rco_enqueue(e, run->metadata.ns, run->spec.specification_ref.name);
}

static void specifications_of_environment(void *ctx, const void *old_obj, const void *new_obj,
                                          struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_pair(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_ENVIRONMENT, m->ns, m->name, e);
}

/* A ConfigMap may lose the label, so both sides count. */
static void specifications_of_configmap(void *ctx, const void *old_obj, const void *new_obj,
                                        struct rco_enqueuer *e)
{
    const void *sides[] = {old_obj, new_obj};

    for (size_t i = 0; i < RCO_ARRAY_LEN(sides); i++) {
        const struct rco_meta *m = sides[i];

        /* Anchors carry run labels and concern runs alone. */
        if (m && !rco_meta_label(m, RCO_LABEL_RUN_UID))
            enqueue_pair(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_ENVIRONMENT, m->ns,
                         rco_meta_label(m, RCO_LABEL_ENVIRONMENT), e);
    }
}

/* The one that holds it, and those that wait for it. */
static void specifications_of_claim(void *ctx, const void *old_obj, const void *new_obj,
                                    struct rco_enqueuer *e)
{
    const struct rco_lease *claim = either(old_obj, new_obj), *old = old_obj;

    enqueue_indexed(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_UID, claim->spec.holder_identity, e);
    /* Engines come and go on it all the time. */
    if (!new_obj || !old || !rco_streq(old->spec.holder_identity, claim->spec.holder_identity))
        enqueue_indexed(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_BLOCKED_BY, claim->metadata.name, e);
}

/* A specification that is gone without having given its claims back holds them no more. */
static void specifications_blocked_by(void *ctx, const void *old_obj, const void *new_obj,
                                      struct rco_enqueuer *e)
{
    struct rco_world *world = ctx;
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_meta **claims;
    size_t n;

    if (new_obj)
        return;
    n = rco_lister_by_index(world->stores[RCO_KIND_LEASE], RCO_INDEX_HOLDER,
                            rco_str_or_empty(((const struct rco_meta *)old_obj)->uid), &a,
                            (const void ***)&claims);
    for (size_t i = 0; i < n; i++)
        enqueue_indexed(ctx, RCO_KIND_DEPSPEC, RCO_INDEX_BLOCKED_BY, claims[i]->name, e);
}

/* Active runs of the same environment: one may wait for the other (StackBusy, serialised claims).
 */
static void runs_of_environment_of_run(void *ctx, const void *old_obj, const void *new_obj,
                                       struct rco_enqueuer *e)
{
    const struct rco_run *old_run = old_obj, *run = either(old_obj, new_obj);

    if (new_obj && old_run && old_run->status.state == run->status.state &&
        old_run->status.has_engine == run->status.has_engine &&
        rco_streq(old_run->status.engine.pod_uid, run->status.engine.pod_uid))
        return;
    enqueue_pair(ctx, RCO_KIND_RUN, RCO_INDEX_ACTIVE, run->metadata.ns, run->spec.environment_id,
                 e);
}

static void runs_of_environment(void *ctx, const void *old_obj, const void *new_obj,
                                struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_pair(ctx, RCO_KIND_RUN, RCO_INDEX_ACTIVE, m->ns, m->name, e);
}

static void runs_of_specification(void *ctx, const void *old_obj, const void *new_obj,
                                  struct rco_enqueuer *e)
{
    const struct rco_depspec *d = either(old_obj, new_obj);

    enqueue_pair(ctx, RCO_KIND_RUN, RCO_INDEX_ACTIVE_OF, d->metadata.ns, d->metadata.name, e);
}

static bool is_held(const struct rco_meta *pod)
{
    return pod && rco_meta_has_finalizer(pod, RCO_FINALIZER_ENGINE);
}

/* A pod that is let go, or gone, frees the stack for the other runs of its environment, too. */
static void runs_of_pod(void *ctx, const void *old_obj, const void *new_obj, struct rco_enqueuer *e)
{
    const struct rco_meta *m = either(old_obj, new_obj);

    enqueue_label(old_obj, new_obj, RCO_LABEL_RUN, e);
    if (!new_obj || (is_held(old_obj) && !is_held(new_obj)))
        enqueue_pair(ctx, RCO_KIND_RUN, RCO_INDEX_ACTIVE, m->ns,
                     rco_meta_label(m, RCO_LABEL_ENVIRONMENT), e);
}

/* The runs with pods on a node that was fenced, or is so no longer, or went away. */
static void runs_of_node(void *ctx, const void *old_obj, const void *new_obj,
                         struct rco_enqueuer *e)
{
    const struct rco_world *world = ctx;
    const struct rco_meta *m = either(old_obj, new_obj);
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_meta **pods;
    size_t n;

    if (old_obj && new_obj && rco_node_is_fenced(old_obj) == rco_node_is_fenced(new_obj))
        return;
    n = rco_lister_by_index(world->stores[RCO_KIND_POD], RCO_INDEX_NODE, m->name, &a,
                            (const void ***)&pods);
    for (size_t i = 0; i < n; i++)
        enqueue_label(NULL, pods[i], RCO_LABEL_RUN, e);
}

/* The run whose engine is, or was, named in the claim. */
static void runs_of_claim(void *ctx, const void *old_obj, const void *new_obj,
                          struct rco_enqueuer *e)
{
    const void *sides[] = {old_obj, new_obj};

    (void)ctx;
    for (size_t i = 0; i < RCO_ARRAY_LEN(sides); i++) {
        const char *run =
            sides[i] ? rco_meta_annotation(sides[i], RCO_ANNOTATION_CLAIM_ENGINE_RUN) : NULL;
        const char *slash = run ? strchr(run, '/') : NULL;
        char ns[64];

        if (!slash || (size_t)(slash - run) >= sizeof ns)
            continue;
        memcpy(ns, run, (size_t)(slash - run));
        ns[slash - run] = '\0';
        rco_enqueue(e, ns, slash + 1);
    }
}

static const struct rco_trigger environment_triggers[] = {
    {RCO_KIND_ENV, rco_trigger_self},          {RCO_KIND_NAMESPACE, environments_of_namespace},
    {RCO_KIND_TENANT, environments_of_tenant}, {RCO_KIND_PVC, environments_of_claim},
    {RCO_KIND_PVC, environment_of_label},      {RCO_KIND_DEPSPEC, environment_of_specification},
    {RCO_KIND_RUN, environment_of_run},
};
static const struct rco_trigger deployment_triggers[] = {
    {RCO_KIND_DEPSPEC, rco_trigger_self},
    {RCO_KIND_DEPSPEC, specifications_blocked_by},
    {RCO_KIND_RUN, specification_of_run},
    {RCO_KIND_ENV, specifications_of_environment},
    {RCO_KIND_TENANT, specifications_of_tenant},
    {RCO_KIND_NAMESPACE, specifications_of_namespace},
    {RCO_KIND_CONFIGMAP, specifications_of_configmap},
    {RCO_KIND_LEASE, specifications_of_claim},
};
static const struct rco_trigger run_triggers[] = {
    {RCO_KIND_RUN, rco_trigger_self},
    {RCO_KIND_RUN, runs_of_environment_of_run},
    {RCO_KIND_DEPSPEC, runs_of_specification},
    {RCO_KIND_ENV, runs_of_environment},
    {RCO_KIND_JOB, run_of_label},
    {RCO_KIND_POD, runs_of_pod},
    {RCO_KIND_NODE, runs_of_node},
    {RCO_KIND_LEASE, runs_of_claim},
    {RCO_KIND_CONFIGMAP, run_of_label},
};

static bool run_settled(const void *obj)
{
    const struct rco_run *r = obj;

    return rco_run_is_final(r) && !rco_meta_has_finalizer(&r->metadata, RCO_FINALIZER_RUN);
}

/* --- the table ------------------------------------------------------------------------------- */

#define INDEXES(A) (A), RCO_ARRAY_LEN(A)

void rco_setup_fill(struct rco_setup_storage *storage, struct rco_world *world)
{
    /* Objects of ours carry this label; users' own Jobs and pods are never watched. */
    static const char ours[] = "app.kubernetes.io/managed-by=runtime-cloud";
    /* Labelled by people for an environment, or anchors of ours; never the chunks of artifacts. */
    static const char of_environments[] = "runtimecloud.io/environment,!runtimecloud.io/artifact";
    const char *operator_ns = world->config.operator_namespace;
    const struct rco_informer_spec informers[] = {
        /* kind, namespace, labels, fields, compact, indexes */
        {RCO_KIND_TENANT, NULL, NULL, NULL, NULL, NULL, 0},
        {RCO_KIND_NAMESPACE, NULL, NULL, NULL, rco_compact_namespace, NULL, 0},
        {RCO_KIND_NODE, NULL, NULL, NULL, rco_compact_node, NULL, 0},
        {RCO_KIND_ENV, NULL, NULL, NULL, rco_compact_env, INDEXES(env_indexes)},
        {RCO_KIND_DEPSPEC, NULL, NULL, NULL, rco_compact_depspec, INDEXES(depspec_indexes)},
        {RCO_KIND_RUN, NULL, NULL, NULL, rco_compact_run, INDEXES(run_indexes)},
        {RCO_KIND_JOB, NULL, ours, NULL, rco_compact_job, INDEXES(job_indexes)},
        {RCO_KIND_POD, NULL, ours, NULL, rco_compact_pod, INDEXES(pod_indexes)},
        {RCO_KIND_LEASE, operator_ns, ours, NULL, NULL, INDEXES(claim_indexes)},
        {RCO_KIND_CONFIGMAP, NULL, of_environments, NULL, rco_compact_configmap,
         INDEXES(configmap_indexes)},
        {RCO_KIND_PVC, NULL, NULL, NULL, rco_compact_pvc, NULL, 0},
    };
    const struct rco_reconciler reconcilers[] = {
        {.name = RCO_RECONCILER_ENVIRONMENT,
         .kind = RCO_KIND_ENV,
         .triggers = INDEXES(environment_triggers),
         .observe = rco_observe_environment,
         .decide = rco_env_decide,
         .ctx = world},
        {.name = RCO_RECONCILER_DEPLOYMENT,
         .kind = RCO_KIND_DEPSPEC,
         .triggers = INDEXES(deployment_triggers),
         .observe = rco_observe_deployment,
         .decide = rco_depspec_decide,
         .ctx = world},
        {.name = RCO_RECONCILER_RUN,
         .kind = RCO_KIND_RUN,
         .triggers = INDEXES(run_triggers),
         .settled = run_settled,
         .observe = rco_observe_run,
         .decide = rco_run_decide,
         .ctx = world},
    };

    static_assert(RCO_ARRAY_LEN(informers) <= RCO_SETUP_INFORMERS, "RCO_SETUP_INFORMERS");
    static_assert(RCO_ARRAY_LEN(reconcilers) == RCO_SETUP_RECONCILERS, "RCO_SETUP_RECONCILERS");
    memcpy(storage->informers, informers, sizeof informers);
    memcpy(storage->reconcilers, reconcilers, sizeof reconcilers);
    storage->setup = (struct rco_setup){
        .informers = storage->informers,
        .n_informers = RCO_ARRAY_LEN(informers),
        .reconcilers = storage->reconcilers,
        .n_reconcilers = RCO_ARRAY_LEN(reconcilers),
    };
}
