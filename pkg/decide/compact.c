#include "decide/compact.h"

#include "api/labels.h"
#include "api/zz_generated_types.h"
#include "base/sha256.h"
#include "decide/run.h"

#include <string.h>

/* Owner references are written by users and other controllers; no decision reads them. */
static void drop_owners(struct rco_meta *m)
{
    m->owners = NULL;
    m->n_owners = 0;
}

/* Keeps the labels of our own domain. */
static void keep_own_labels(struct rco_meta *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->n_labels; i++)
        if (rco_str_has_prefix(m->labels[i].key, "runtimecloud.io/"))
            m->labels[kept++] = m->labels[i];
    m->n_labels = kept;
    if (!kept)
        m->labels = NULL;
}

void rco_compact_namespace(void *obj, struct rco_arena *scratch)
{
    struct rco_namespace *ns = obj;

    (void)scratch;
    drop_owners(&ns->metadata);
    keep_own_labels(&ns->metadata);
    ns->metadata.finalizers = NULL;
    ns->metadata.n_finalizers = 0;
}

void rco_compact_node(void *obj, struct rco_arena *scratch)
{
    struct rco_node *node = obj;
    struct rco_meta *m = &node->metadata;
    bool fenced = rco_node_is_fenced(node);

    drop_owners(m);
    m->labels = m->annotations = NULL;
    m->n_labels = m->n_annotations = 0;
    m->finalizers = NULL;
    m->n_finalizers = 0;
    node->status = (struct rco_node_status){0};
    node->has_status = false;
    node->spec = (struct rco_node_spec){0};
    node->has_spec = fenced;
    if (!fenced)
        return;
    node->spec.taints = RCO_NEW(scratch, struct rco_node_taint);
    node->spec.taints[0].key = RCO_TAINT_OUT_OF_SERVICE;
    node->spec.n_taints = 1;
}

void rco_compact_depspec(void *obj, struct rco_arena *scratch)
{
    struct rco_depspec *spec = obj;

    (void)scratch;
    drop_owners(&spec->metadata);
    keep_own_labels(&spec->metadata);
}

void rco_compact_run(void *obj, struct rco_arena *scratch)
{
    struct rco_run *run = obj;
    struct rco_run_status *s = &run->status;

    (void)scratch;
    drop_owners(&run->metadata);
    if (!rco_run_is_final(run) || rco_meta_has_finalizer(&run->metadata, RCO_FINALIZER_RUN))
        return;
    bool applied = s->has_apply_receipt || (s->has_engine && s->engine.pod_uid &&
                                            s->engine.phase == RCO_ENGINE_PHASE_APPLY);
    /* Nothing is ever written to such a run again, so nothing has to be compared with. */
    run->metadata.labels = NULL;
    run->metadata.n_labels = 0;
    memset(&run->spec.snapshot, 0, sizeof run->spec.snapshot);
    run->spec.has_snapshot = false;
    s->conditions = NULL;
    s->n_conditions = 0;
    s->events = NULL;
    s->n_events = 0;
    s->artifacts = NULL;
    s->n_artifacts = 0;
    s->logs_ref = NULL;
    memset(&s->plan_receipt, 0, sizeof s->plan_receipt);
    s->has_plan_receipt = false;
    memset(&s->apply_receipt, 0, sizeof s->apply_receipt);
    s->has_apply_receipt = applied; /* retention asks whether anything may have been applied */
    s->failure.message = NULL;
    s->failure.urn = NULL;
    s->has_engine = false;
    memset(&s->engine, 0, sizeof s->engine);
}

void rco_compact_job(void *obj, struct rco_arena *scratch)
{
    struct rco_job *job = obj;

    (void)scratch;
    drop_owners(&job->metadata);
}

void rco_compact_pod(void *obj, struct rco_arena *scratch)
{
    struct rco_pod *pod = obj;

    /* The owner stays: a pod counts for a run only if its Job made it. */
    (void)scratch;
    keep_own_labels(&pod->metadata);
}

void rco_compact_configmap(void *obj, struct rco_arena *scratch)
{
    struct rco_configmap *map = obj;

    drop_owners(&map->metadata);
    for (size_t i = 0; i < map->n_data; i++) {
        char *digest = rco_arena_alloc(scratch, RCO_SHA256_HEX);
        const char *value = rco_str_or_empty(map->data[i].value);

        rco_sha256_hex(value, strlen(value), digest);
        map->data[i].value = digest;
    }
}

void rco_compact_pvc(void *obj, struct rco_arena *scratch)
{
    struct rco_pvc *pvc = obj;

    (void)scratch;
    drop_owners(&pvc->metadata);
    keep_own_labels(&pvc->metadata);
}
