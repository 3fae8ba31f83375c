/* After the engine: claim, pod and Job, in this order; and the end of the run itself. */
#include "api/names.h"
#include "decide/run_claim.h"
#include "decide/run_owned.h"
#include "decide/run_rows.h"

/* An engine whose receipt is recorded ends by itself within seconds. */
#define LINGER_US (120 * RCO_US_PER_S)
/* After its time to end, a pod of a living node is known to have ended within seconds. */
#define SILENCE_US (300 * RCO_US_PER_S)
#define ENGINE_UNKNOWN "EngineUnknown"

static bool is_resting(const struct rco_run_ctx *c)
{
    return c->phase == RCO_PHASE_NONE;
}

static bool is_final(const struct rco_run_ctx *c)
{
    return rco_run_state_is_final(c->state);
}

static bool belongs_to(const struct rco_pod *pod, const struct rco_job *job)
{
    for (size_t i = 0; i < pod->metadata.n_owners; i++)
        if (rco_streq(pod->metadata.owners[i].uid, job->metadata.uid))
            return true;
    return false;
}

/* Whether a pod of JOB may still run an engine. */
static bool is_alive(const struct rco_run_ctx *c, const struct rco_job *job)
{
    for (size_t i = 0; i < c->o->n_pods; i++)
        if (belongs_to(c->o->pods[i], job) && !rco_run_engine_ended(c, c->o->pods[i]))
            return true;
    return false;
}

/* Whether POD belongs to a phase that has not come yet, as far as the run is seen. */
static bool is_ahead(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    for (size_t i = 0; i < c->o->n_jobs; i++)
        if (belongs_to(pod, c->o->jobs[i]) && !rco_run_has_come_to_job(c, c->o->jobs[i]))
            return true;
    return false;
}

static bool may_delete(const struct rco_run_ctx *c, const struct rco_job *job)
{
    return rco_run_may_delete_job(c, job) && rco_run_has_come_to_job(c, job);
}

static rco_wall resting_since(const struct rco_run_ctx *c)
{
    return is_final(c) ? c->run->status.completed_at : c->run->status.plan_receipt.planned_at;
}

/* Told to stop at once: what was never allowed to start, what was cancelled, what took too long. */
static bool must_stop(const struct rco_run_ctx *c)
{
    const struct rco_run_status *s = &c->run->status;
    if (c->now >= resting_since(c) + LINGER_US)
        return true;
    if (!is_final(c))
        return false;
    return rco_str_empty(s->engine.pod_uid) || s->state == RCO_RUN_STATE_CANCELLED ||
           rco_streq(s->reason, "ReceiptInvalid") ||
           (s->has_failure && s->failure.class == RCO_FAILURE_CLASS_TIMEOUT);
}

static const struct rco_job *job_to_stop(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_jobs; i++)
        if (may_delete(c, c->o->jobs[i]) && is_alive(c, c->o->jobs[i]))
            return c->o->jobs[i];
    return NULL;
}

bool rco_run_is_job_stop(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_resting(c) && must_stop(c) && job_to_stop(c);
}

void rco_run_do_job_stop(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_delete_job(c, job_to_stop(c));
}

/* ---- the engine has ended: claim, then pod, then Job ---- */

static const char *claim_pod(const struct rco_lease *claim)
{
    return rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID);
}

static bool may_clear(const struct rco_run_ctx *c, const struct rco_lease *claim)
{
    const struct rco_pod *pod = rco_run_pod_by_uid(c, claim_pod(claim));
    return rco_claim_is_busy(claim) && pod && rco_run_engine_ended(c, pod) && !is_ahead(c, pod);
}

static bool may_release(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    return rco_pod_is_held(pod) && rco_run_engine_ended(c, pod) && !is_ahead(c, pod);
}

static bool is_done_with(const struct rco_run_ctx *c, const struct rco_job *job)
{
    return may_delete(c, job) && !is_alive(c, job);
}

bool rco_run_is_engine_ended(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    bool any = false;
    for (size_t i = 0; i < c->o->n_engine_claims; i++)
        any |= may_clear(c, c->o->engine_claims[i]);
    for (size_t i = 0; i < c->o->n_pods; i++)
        any |= may_release(c, c->o->pods[i]);
    for (size_t i = 0; i < c->o->n_jobs; i++)
        any |= is_done_with(c, c->o->jobs[i]);
    return is_resting(c) && any;
}

/* What is recorded goes first: a plan stops at the first Job that turns out to be another's. */
static void delete_jobs(struct rco_run_ctx *c, bool recorded)
{
    for (size_t i = 0; i < c->o->n_jobs; i++)
        if (is_done_with(c, c->o->jobs[i]) && rco_run_is_recorded_job(c, c->o->jobs[i]) == recorded)
            rco_run_delete_job(c, c->o->jobs[i]);
}

void rco_run_do_engine_ended(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    for (size_t i = 0; i < c->o->n_engine_claims; i++)
        if (may_clear(c, c->o->engine_claims[i]))
            rco_claim_clear(c, c->o->engine_claims[i]);
    for (size_t i = 0; i < c->o->n_pods; i++)
        if (may_release(c, c->o->pods[i]))
            rco_plan_remove_finalizer(c->plan, RCO_KIND_POD, &c->o->pods[i]->metadata,
                                      RCO_FINALIZER_ENGINE);
    delete_jobs(c, true);
    delete_jobs(c, false);
}

/* ---- the run is gone: what it left behind ---- */

static bool has_engine(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_pods; i++)
        if (rco_pod_is_held(c->o->pods[i]) && !is_ahead(c, c->o->pods[i]))
            return true;
    return false;
}

bool rco_run_is_gone_leftovers(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return !c->run && (rco_run_is_engine_ended(p) || (rco_run_may_delete_anchor(c) && !has_engine(c)));
}

/* The run that M names must be gone; *LAST is the uid that was asked about before. */
static void require_gone(struct rco_run_ctx *c, const struct rco_meta *m, const char **last)
{
    const char *name = rco_meta_label(m, RCO_LABEL_RUN), *uid = rco_meta_label(m, RCO_LABEL_RUN_UID);
    if (rco_str_empty(name) || rco_str_empty(uid) || (*last && rco_streq(uid, *last)))
        return;
    *last = uid;
    rco_plan_require_absent(c->plan, RCO_KIND_RUN, m->ns, name, uid);
}

/* A leader that has just taken over may see what a run made before it sees the run. */
static void require_no_run(struct rco_run_ctx *c)
{
    const char *last = NULL;
    for (size_t i = 0; i < c->o->n_jobs; i++)
        require_gone(c, &c->o->jobs[i]->metadata, &last);
    for (size_t i = 0; i < c->o->n_pods; i++)
        require_gone(c, &c->o->pods[i]->metadata, &last);
    if (c->o->anchor)
        require_gone(c, &c->o->anchor->metadata, &last);
}

/* The artifacts go last: a pod that goes on may still upload. */
void rco_run_do_gone_leftovers(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    require_no_run(c);
    rco_run_do_engine_ended(p);
    if (rco_run_may_delete_anchor(c) && !has_engine(c))
        rco_plan_delete(c->plan, RCO_KIND_CONFIGMAP, &c->o->anchor->metadata);
}

bool rco_run_is_engine_waits(const void *p)
{
    return is_resting(RCO_RUN_CTX(p)) && has_engine(RCO_RUN_CTX(p));
}

void rco_run_do_engine_waits(void *p)
{
    rco_plan_requeue(RCO_RUN_CTX(p)->plan, RCO_RUN_RETRY_NS);
}

/* ---- a pod that someone took away from us ---- */

static const struct rco_lease *vanished(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_engine_claims; i++)
        if (rco_claim_is_busy(c->o->engine_claims[i]) &&
            !rco_run_pod_by_uid(c, claim_pod(c->o->engine_claims[i])))
            return c->o->engine_claims[i];
    return NULL;
}

static bool is_ending(const struct rco_run_ctx *c)
{
    return c->meta->deletion && is_final(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_RUN);
}

/* Who deletes the run may have it gone; the claim stays and says why the stack is locked. */
bool rco_run_is_engine_vanished(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_resting(c) && !is_ending(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_RUN) &&
           vanished(c);
}

/* Absence proves nothing: on its node the engine may still run. */
void rco_run_do_engine_vanished(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_lease *claim = vanished(c);
    rco_run_stall(
        c, ENGINE_UNKNOWN,
        rco_message(
            c->a,
            "pod %s vanished before the end of its engine was known, so stack %s stays locked. "
            "Make "
            "sure that it no longer runs on its node, then: kubectl delete lease %s -n %s",
            rco_or(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD), "?"),
            rco_or(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_STACK), "?"),
            claim->metadata.name, claim->metadata.ns));
}

/* ---- a pod whose node says nothing ---- */

/* Its time to end is long over (deletionTimestamp has the grace in it), and the kubelet has not
 * said that the engine ended. */
static const struct rco_pod *unreachable(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_pods; i++) {
        const struct rco_pod *pod = c->o->pods[i];
        if (rco_pod_is_held(pod) && pod->metadata.deletion &&
            c->now > pod->metadata.deletion + SILENCE_US && !rco_run_engine_ended(c, pod))
            return pod;
    }
    return NULL;
}

bool rco_run_is_pod_unreachable(const void *p)
{
    return !is_resting(RCO_RUN_CTX(p)) && unreachable(RCO_RUN_CTX(p));
}

void rco_run_do_pod_unreachable(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_pod *pod = unreachable(c);
    const char *node = rco_or(pod->spec.node_name, "?");
    /* Absence is no fence: a Node object may be deleted while its machine goes on. */
    const char *why =
        rco_run_is_node_gone(c, pod)
            ? rco_message(c->a,
                          "pod %s should have ended, and its node %s is gone from the cluster, "
                          "which does not prove that the engine has ended. When that machine is "
                          "surely off: kubectl patch pod %s -n %s --type=json "
                          "-p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'",
                          pod->metadata.name, node, pod->metadata.name, c->meta->ns)
            : rco_message(c->a,
                          "pod %s should have ended, but node %s does not say that its engine has. "
                          "When that machine is surely off: kubectl taint nodes %s "
                          "%s=nodeshutdown:NoExecute",
                          pod->metadata.name, node, node, RCO_TAINT_OUT_OF_SERVICE);
    rco_run_stall(c, ENGINE_UNKNOWN, why);
    rco_plan_requeue(c->plan, RCO_RUN_RETRY_NS);
}

bool rco_run_is_engine_unreachable(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return c->run && is_resting(c) && unreachable(c);
}

void rco_run_do_engine_unreachable(void *p)
{
    rco_run_do_pod_unreachable(p);
}

/* What was unknown is known: a claim is given back or deleted, a node speaks again. */
bool rco_run_is_engine_known(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return c->run && is_resting(c) &&
           rco_condition_is_true(c->run->status.conditions, c->run->status.n_conditions, "Stalled",
                                 ENGINE_UNKNOWN) &&
           !vanished(c) && !unreachable(c);
}

void rco_run_do_engine_known(void *p)
{
    rco_run_stall_over(RCO_RUN_CTX(p));
}

/* ---- the end of the run ---- */

/* The specification knows how this run ended, or a later one has settled it; or it is gone itself.
 * Otherwise it would make the same run again. */
static bool is_recorded(const struct rco_run_ctx *c)
{
    if (!c->spec)
        return true;
    const struct rco_depspec_status *s = &c->spec->status;
    if (!s->has_last_run)
        return false;
    if (rco_streq(s->last_run.uid, c->meta->uid))
        return rco_run_state_is_final(s->last_run.state);
    int64_t version = c->run->spec.specification_version;
    return s->last_run.version > version ||
           (s->last_run.version == version && s->last_run.number > rco_run_number(c->meta->name));
}

bool rco_run_is_anchor_removed(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_ending(c) && is_recorded(c) && rco_run_may_delete_anchor(c);
}

void rco_run_do_anchor_removed(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_delete_anchor(c);
    rco_plan_requeue(c->plan, RCO_NS_PER_S);
}

/* Not only when it is deleted: finished runs then need nothing from the operator any more, also
 * when it is gone. Their artifacts are deleted after them (gone-leftovers). */
bool rco_run_is_finalizer_removed(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_final(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_RUN) && is_recorded(c);
}

void rco_run_do_finalizer_removed(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_outcome *x = rco_run_foreign(c);
    rco_plan_remove_finalizer(c->plan, RCO_KIND_RUN, c->meta, RCO_FINALIZER_RUN);
    if (x)
        rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Warning", "ForeignObject",
                       rco_message(c->a,
                                   "%s %s, which carries the marks of this finished run, is not its "
                                   "own (%s) and was left alone",
                                   rco_kind_info(x->kind)->kind, x->name,
                                   rco_or(x->message, "it differs")));
}

bool rco_run_is_finalizer_waits(const void *p)
{
    return is_ending(RCO_RUN_CTX(p));
}

void rco_run_do_finalizer_waits(void *p)
{
    rco_plan_requeue(RCO_RUN_CTX(p)->plan, RCO_RUN_RETRY_NS);
}
