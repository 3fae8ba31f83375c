#include "decide/run_facts.h"

#include <string.h>

/* The kubelet cuts termination messages at this size. */
#define TERMINATION_MESSAGE_MAX 4096

static const struct rco_container_status *find(const struct rco_container_status *items, size_t n,
                                               const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(items[i].name, name))
            return &items[i];
    return NULL;
}

const struct rco_container_status *rco_pod_container(const struct rco_pod *pod, const char *name)
{
    const struct rco_pod_status *s = &pod->status;
    const struct rco_container_status *c =
        find(s->container_statuses, s->n_container_statuses, name);
    return c ? c : find(s->init_container_statuses, s->n_init_container_statuses, name);
}

const struct rco_pod *rco_run_pod_by_uid(const struct rco_run_ctx *c, const char *uid)
{
    for (size_t i = 0; i < c->o->n_pods; i++)
        if (uid && rco_streq(c->o->pods[i]->metadata.uid, uid))
            return c->o->pods[i];
    return NULL;
}

static bool is_terminal(const struct rco_pod *pod)
{
    return pod->status.phase == RCO_POD_PHASE_SUCCEEDED ||
           pod->status.phase == RCO_POD_PHASE_FAILED;
}

/* A pod that is being deleted before it was bound to a node can never start: nothing binds it then.
 */
static bool was_never_bound(const struct rco_pod *pod)
{
    return pod->metadata.deletion && rco_str_empty(pod->spec.node_name);
}

/* The taint alone is not enough: on a node whose kubelet is alive it merely evicts, and an engine
 * uses its grace. Kubernetes' own garbage collection of pods asks for the same two. */
bool rco_node_is_fenced(const struct rco_node *node)
{
    const struct rco_condition *ready =
        rco_condition_find(node->status.conditions, node->status.n_conditions, "Ready");
    if (ready && rco_streq(ready->status, "True"))
        return false;
    for (size_t i = 0; i < node->spec.n_taints; i++)
        if (rco_streq(node->spec.taints[i].key, RCO_TAINT_OUT_OF_SERVICE))
            return true;
    return false;
}

static bool is_on_one_of(const struct rco_pod *pod, const char *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(pod->spec.node_name, nodes[i]))
            return true;
    return false;
}

/* Never by pod phase alone, absence or Job status: those come before the container has stopped. */
static bool engine_ended(const struct rco_pod *pod, const char *const *fenced_nodes,
                         size_t n_fenced_nodes, bool let_start)
{
    const struct rco_container_status *engine = rco_pod_container(pod, RCO_CONTAINER_ENGINE);
    if (engine && engine->state.has_terminated)
        return true;
    if (is_on_one_of(pod, fenced_nodes, n_fenced_nodes) || was_never_bound(pod))
        return true;
    if (!is_terminal(pod))
        return false;
    /* A sandbox that died takes the state of its containers along; what they were last is kept. */
    if (engine && engine->last_state.has_terminated && !engine->state.has_running)
        return true;
    /* Who asked for its start has an engine: a status that shows none is older than it, or was
     * written by somebody who does not know. */
    bool began =
        let_start || (engine && (engine->state.has_running ||
                                 (engine->has_started && engine->started) || engine->container_id));
    return !began;
}

/* Whether the run or a claim says that POD may start, or may have been told so. */
static bool is_let_start(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    if (c->run && rco_streq(c->run->status.engine.pod_uid, pod->metadata.uid))
        return true;
    for (size_t i = 0; i < c->o->n_engine_claims; i++)
        if (rco_streq(rco_meta_annotation(&c->o->engine_claims[i]->metadata,
                                          RCO_ANNOTATION_CLAIM_ENGINE_POD_UID),
                      pod->metadata.uid))
            return true;
    return false;
}

bool rco_run_engine_ended(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    return engine_ended(pod, c->o->fenced_nodes, c->o->n_fenced_nodes, is_let_start(c, pod));
}

bool rco_run_is_fenced(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    return is_on_one_of(pod, c->o->fenced_nodes, c->o->n_fenced_nodes);
}

bool rco_run_is_node_gone(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    return is_on_one_of(pod, c->o->gone_nodes, c->o->n_gone_nodes);
}

bool rco_pod_is_over(const struct rco_pod *pod)
{
    if (is_terminal(pod) || was_never_bound(pod))
        return true;
    const struct rco_container_status *report = rco_pod_container(pod, RCO_CONTAINER_REPORT);
    const struct rco_container_status *engine = rco_pod_container(pod, RCO_CONTAINER_ENGINE);
    return engine && engine->state.has_terminated && report && report->state.has_terminated;
}

bool rco_pod_is_held(const struct rco_pod *pod)
{
    return rco_meta_has_finalizer(&pod->metadata, RCO_FINALIZER_ENGINE);
}

const char *rco_pod_image_digest(const struct rco_pod *pod, struct rco_arena *a)
{
    const struct rco_container_status *c = rco_pod_container(pod, RCO_CONTAINER_ENGINE);
    if (!c || rco_str_empty(c->image_id))
        c = rco_pod_container(pod, RCO_CONTAINER_REPORT);
    if (!c || rco_str_empty(c->image_id))
        return NULL;
    const char *digest = strstr(c->image_id, "sha256:");
    return rco_arena_strdup(a, digest ? digest : c->image_id);
}

const struct rco_runner_summary *rco_pod_summary(const struct rco_pod *pod, const char *container,
                                                 struct rco_arena *a)
{
    const struct rco_container_status *c = rco_pod_container(pod, container);
    const char *text = c && c->state.has_terminated ? c->state.terminated.message : NULL;
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_str_empty(text) || strlen(text) > TERMINATION_MESSAGE_MAX || text[0] != '{')
        return NULL;
    struct rco_runner_summary *s = RCO_NEW(a, struct rco_runner_summary);
    if (rco_codec_decode(&rco_runner_summary_schema, text, strlen(text), a, s, &err) != 0)
        return NULL;
    return s;
}
