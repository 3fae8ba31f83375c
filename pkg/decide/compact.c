#include "decide/compact.h"

#include "api/labels.h"
#include "api/zz_generated_types.h"
#include "base/sha256.h"
#include "decide/conditions.h"
#include "decide/run.h"

#include <string.h>

#define LABEL_MAX 63
#define ANNOTATION_MAX 256 /* as much of a request as is recorded */
#define OWNERS_MAX 4
#define POD_FINALIZERS_MAX 32
#define POD_CONTAINERS_MAX 16 /* ours are 4; others are injected */
#define WAITING_MESSAGE_MAX 600
#define TERMINATED_MESSAGE_MAX 4096 /* the kubelet's own limit */

/* Owner references are written by users and other controllers; no decision reads them. */
static void drop_owners(struct rco_meta *m)
{
    m->owners = NULL;
    m->n_owners = 0;
}

static bool is_one_of(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (rco_streq(key, *keys))
            return true;
    return false;
}

/* Keeps the entries of KEYS, a NULL-terminated list, with values of at most MAX bytes. Whoever may
 * write an object may put any number of labels and annotations of any size on it, ours or not. */
static void keep(struct rco_kv **items, size_t *n, const char *const *keys, size_t max,
                 struct rco_arena *scratch)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (!is_one_of((*items)[i].key, keys))
            continue;
        (*items)[kept] = (*items)[i];
        (*items)[kept++].value = rco_message_cut(scratch, (*items)[i].value, max);
    }
    *n = kept;
    if (!kept)
        *items = NULL;
}

static const char *const nothing[] = {NULL};

static void keep_labels(struct rco_meta *m, const char *const *keys, struct rco_arena *scratch)
{
    keep(&m->labels, &m->n_labels, keys, LABEL_MAX, scratch);
}

static void keep_annotations(struct rco_meta *m, const char *const *keys, struct rco_arena *scratch)
{
    keep(&m->annotations, &m->n_annotations, keys, ANNOTATION_MAX, scratch);
}

static void drop_finalizers(struct rco_meta *m)
{
    m->finalizers = NULL;
    m->n_finalizers = 0;
}

void rco_compact_namespace(void *obj, struct rco_arena *scratch)
{
    static const char *const labels[] = {RCO_LABEL_TENANT, NULL};
    struct rco_namespace *ns = obj;

    drop_owners(&ns->metadata);
    keep_labels(&ns->metadata, labels, scratch);
    keep_annotations(&ns->metadata, nothing, scratch);
    drop_finalizers(&ns->metadata);
}

void rco_compact_env(void *obj, struct rco_arena *scratch)
{
    struct rco_env *env = obj;

    drop_owners(&env->metadata);
    keep_labels(&env->metadata, nothing, scratch);
    keep_annotations(&env->metadata, nothing, scratch);
}

void rco_compact_node(void *obj, struct rco_arena *scratch)
{
    struct rco_node *node = obj;
    struct rco_meta *m = &node->metadata;
    bool fenced = rco_node_is_fenced(node);

    drop_owners(m);
    keep_labels(m, nothing, scratch);
    keep_annotations(m, nothing, scratch);
    drop_finalizers(m);
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
    static const char *const annotations[] = {RCO_ANNOTATION_RUN_NOW, NULL};
    struct rco_depspec *spec = obj;

    drop_owners(&spec->metadata);
    keep_labels(&spec->metadata, nothing, scratch);
    keep_annotations(&spec->metadata, annotations, scratch);
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

static const char *const run_labels[] = {RCO_LABEL_RUN, RCO_LABEL_RUN_UID, RCO_LABEL_ENVIRONMENT,
                                         NULL};

void rco_compact_job(void *obj, struct rco_arena *scratch)
{
    struct rco_job *job = obj;

    drop_owners(&job->metadata);
    keep_labels(&job->metadata, run_labels, scratch);
    keep_annotations(&job->metadata, nothing, scratch);
    drop_finalizers(&job->metadata);
}

static void compact_statuses(struct rco_container_status *items, size_t *n,
                             struct rco_arena *scratch)
{
    if (*n > POD_CONTAINERS_MAX)
        *n = POD_CONTAINERS_MAX;
    for (size_t i = 0; i < *n; i++) {
        struct rco_container_state *states[] = {&items[i].state, &items[i].last_state};

        for (size_t k = 0; k < RCO_ARRAY_LEN(states); k++) {
            const char *message = states[k]->terminated.message;

            if (message && strlen(message) > TERMINATED_MESSAGE_MAX)
                states[k]->terminated.message = NULL;
            if (states[k]->waiting.message)
                states[k]->waiting.message =
                    rco_message_cut(scratch, states[k]->waiting.message, WAITING_MESSAGE_MAX);
        }
    }
}

void rco_compact_pod(void *obj, struct rco_arena *scratch)
{
    struct rco_pod *pod = obj;
    struct rco_meta *m = &pod->metadata;

    /* Its owners stay: a pod counts for a run only if its Job made it. */
    if (m->n_owners > OWNERS_MAX)
        m->n_owners = OWNERS_MAX;
    keep_labels(m, run_labels, scratch);
    keep_annotations(m, nothing, scratch);
    /* The list is written as a whole when ours is taken off; one that nobody could have made in
     * earnest is not worth its memory. */
    if (m->n_finalizers > POD_FINALIZERS_MAX)
        drop_finalizers(m);
    compact_statuses(pod->status.container_statuses, &pod->status.n_container_statuses, scratch);
    compact_statuses(pod->status.init_container_statuses, &pod->status.n_init_container_statuses,
                     scratch);
}

void rco_compact_configmap(void *obj, struct rco_arena *scratch)
{
    struct rco_configmap *map = obj;

    drop_owners(&map->metadata);
    keep_labels(&map->metadata, run_labels, scratch);
    keep_annotations(&map->metadata, nothing, scratch);
    drop_finalizers(&map->metadata);
    if (map->n_data > RCO_CONFIGMAP_KEYS_MAX) {
        map->n_data = 1;
        map->data[0] = (struct rco_kv){RCO_CONFIGMAP_TOO_MANY_KEYS, ""};
    }
    for (size_t i = 0; i < map->n_data; i++) {
        char *digest = rco_arena_alloc(scratch, RCO_SHA256_HEX);
        const char *value = rco_str_or_empty(map->data[i].value);

        rco_sha256_hex(value, strlen(value), digest);
        map->data[i].value = digest;
    }
}

void rco_compact_pvc(void *obj, struct rco_arena *scratch)
{
    static const char *const labels[] = {RCO_LABEL_ENVIRONMENT, NULL};
    static const char *const annotations[] = {RCO_ANNOTATION_ENVIRONMENT_UID, NULL};
    struct rco_pvc *pvc = obj;

    drop_owners(&pvc->metadata);
    keep_labels(&pvc->metadata, labels, scratch);
    keep_annotations(&pvc->metadata, annotations, scratch);
    drop_finalizers(&pvc->metadata);
}
