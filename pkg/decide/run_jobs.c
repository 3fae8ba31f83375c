/* The Job of the phase: made, recorded, and how its pod gets on until the engine may start. */
#include "api/names.h"
#include "base/sha256.h"
#include "decide/run_owned.h"
#include "decide/run_pod_failures.h"
#include "decide/run_receipt_map.h"
#include "decide/run_rows.h"
#include "pulumi/chunk.h"
#include "pulumi/job.h"

#include <string.h>

#define POD_TIMEOUT_NS (180 * RCO_NS_PER_S)
/* So long a pod that is there may be unseen: until a watch that fell silent is noticed. */
#define UNSEEN_NS (300 * RCO_NS_PER_S)
/* The runner keeps the time limit; this is for one that does not. */
#define OVERTIME_S 600

static bool is_active(const struct rco_run_ctx *c)
{
    return c->phase != RCO_PHASE_NONE;
}

static enum rco_engine_phase engine_phase(const struct rco_run_ctx *c)
{
    return c->phase == RCO_PHASE_APPLY ? RCO_ENGINE_PHASE_APPLY : RCO_ENGINE_PHASE_PLAN;
}

static bool is_recorded(const struct rco_run_ctx *c)
{
    return c->run->status.has_engine && c->run->status.engine.phase == engine_phase(c) &&
           !rco_str_empty(c->run->status.engine.job_uid);
}

/* ---- what the API server said ---- */

/* Where a run waits without going on by itself there is nothing to hold up. */
bool rco_run_is_job_foreign(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return (is_active(c) || c->state < RCO_RUN_STATE_AWAITING_APPROVAL) && rco_run_foreign(c);
}

void rco_run_do_job_foreign(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_outcome *x = rco_run_foreign(c);
    const struct rco_kind_info *kind = rco_kind_info(x->kind);
    rco_run_stall(
        c, "ForeignObject",
        rco_message(c->a,
                    "%s %s in namespace %s was not made for this run (%s), so it is neither used nor "
                    "deleted, and nothing starts while it has the name. Find out who put it there "
                    "(kubectl get %s %s -n %s -o yaml --show-managed-fields) and delete it (kubectl "
                    "delete %s %s -n %s); this goes on within a minute",
                    kind->kind, x->name, c->meta->ns, rco_or(x->message, "it differs"),
                    kind->plural, x->name, c->meta->ns, kind->plural, x->name, c->meta->ns));
    rco_plan_requeue(c->plan, RCO_RUN_RETRY_NS);
}

static const struct rco_outcome *refused(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_outcomes; i++) {
        const struct rco_outcome *x = &c->o->outcomes[i];
        if (x->type == RCO_OUTCOME_REFUSED &&
            (x->kind == RCO_KIND_JOB || x->kind == RCO_KIND_CONFIGMAP))
            return x;
    }
    return NULL;
}

bool rco_run_is_job_refused(const void *p)
{
    return is_active(RCO_RUN_CTX(p)) && refused(RCO_RUN_CTX(p));
}

void rco_run_do_job_refused(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_outcome *x = refused(c);
    const char *text = rco_str_or_empty(x->message);
    enum rco_failure_class class =
        strstr(text, "exceeded quota") ? RCO_FAILURE_CLASS_CAPACITY : RCO_FAILURE_CLASS_CONFIG;
    rco_run_fail(c, class, "CreateRefused",
                 rco_message(c->a, "%s %s could not be made: %s", rco_kind_info(x->kind)->kind,
                             x->name, text));
}

/* ---- making and recording ---- */

static bool lacks_anchor(const struct rco_run_ctx *c)
{
    return !c->anchor && !rco_run_made(c, RCO_KIND_CONFIGMAP, rco_run_anchor_name(c));
}

static bool lacks_job(const struct rco_run_ctx *c)
{
    return !is_recorded(c) && !rco_run_made(c, RCO_KIND_JOB, rco_run_job_name(c));
}

bool rco_run_is_job_create(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && (lacks_job(c) || lacks_anchor(c));
}

static void create_anchor(struct rco_run_ctx *c)
{
    rco_autobuf body = RCO_BUF_INIT;
    rco_run_write_anchor(c, &body);
    rco_plan_create(c->plan, RCO_KIND_CONFIGMAP, c->meta->ns, rco_run_anchor_name(c), &body,
                    RCO_EXISTS_COMPARE);
}

void rco_run_do_job_create(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    if (!is_recorded(c) &&
        rco_job_write(c->run, c->phase, &c->o->config->job, c->a, &body, &err) != 0) {
        rco_run_fail(c, RCO_FAILURE_CLASS_CONFIG, "JobTooLarge", err.msg);
        return;
    }
    /* The anchor first: the pod's first upload needs its uid. Both are asked for until both are
     * recorded: what an earlier plan came to is forgotten when this one has been carried out. */
    if (!c->anchor)
        create_anchor(c);
    if (body.len)
        rco_plan_create(c->plan, RCO_KIND_JOB, c->meta->ns, rco_run_job_name(c), &body,
                        RCO_EXISTS_COMPARE);
}

static const char *anchor_uid(const struct rco_run_ctx *c)
{
    const char *uid = rco_run_made(c, RCO_KIND_CONFIGMAP, rco_run_anchor_name(c));
    return uid ? uid : c->anchor ? c->anchor->metadata.uid : NULL;
}

static bool anchor_is_news(const struct rco_run_ctx *c)
{
    const char *uid = anchor_uid(c);
    return uid && !(c->run->status.has_anchor && rco_streq(uid, c->run->status.anchor.uid));
}

bool rco_run_is_job_record(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && (!is_recorded(c) || anchor_is_news(c));
}

void rco_run_do_job_record(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (!is_recorded(c)) {
        c->next.engine = (struct rco_run_engine){
            .phase = engine_phase(c),
            .job_name = rco_run_job_name(c),
            .job_uid = rco_run_made(c, RCO_KIND_JOB, rco_run_job_name(c)),
            .project = c->run->status.engine.project, /* an apply must name the same */
        };
        c->next.has_engine = true;
    }
    if (anchor_is_news(c)) {
        c->next.anchor = (struct rco_object_ref){.name = rco_run_anchor_name(c), .uid = anchor_uid(c)};
        c->next.has_anchor = true;
    }
    /* What stood in the way is gone. */
    if (rco_condition_is_true(c->conditions.items, c->conditions.n, "Stalled", NULL))
        rco_run_enter(c, c->state, c->run->status.reason, "the Job was made");
    rco_run_commit(c);
}

/* ---- the pod, until the engine may start ---- */

static bool is_past(const struct rco_run_ctx *c, rco_wall since, int64_t after_ns)
{
    return since && c->now >= since + after_ns / 1000;
}

bool rco_run_is_job_vanished(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (!is_active(c) || c->pod)
        return false;
    return c->started || !c->job ||
           is_past(c, rco_job_over_since(c->job), UNSEEN_NS);
}

/* A leader that has just taken over may know of the Job or the pod from the run's status before its
 * own caches show them. */
static void require_absent(struct rco_run_ctx *c)
{
    const struct rco_run_engine *e = &c->run->status.engine;
    if (c->started && !rco_str_empty(e->pod_name))
        rco_plan_require_absent(c->plan, RCO_KIND_POD, c->meta->ns, e->pod_name, e->pod_uid);
    else if (!c->started && !c->job && !rco_str_empty(e->job_name))
        rco_plan_require_absent(c->plan, RCO_KIND_JOB, c->meta->ns, e->job_name, e->job_uid);
}

void rco_run_do_job_vanished(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    require_absent(c);
    rco_run_fail(
        c, RCO_FAILURE_CLASS_LOST, NULL,
        c->started
            ? rco_message(c->a,
                          "pod %s, in which the engine was started, is gone without having told "
                          "its end",
                          rco_or(c->run->status.engine.pod_name, "?"))
            : rco_message(c->a, "%s %s was deleted before its engine was started: nothing started",
                          c->job && rco_job_over_since(c->job) ? "the pod of Job" : "Job",
                          rco_or(c->run->status.engine.job_name, "?")));
}

/* Not by our own cache alone, which may lag behind: the Job controller has looked at the Job, and
 * says that there is no pod of it. */
static bool says_no_pod(const struct rco_job *job)
{
    const struct rco_job_status *s = &job->status;
    return s->start_time && !(s->active || s->ready || s->terminating || s->succeeded || s->failed);
}

bool rco_run_is_pod_missing(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && !c->pod && c->job && says_no_pod(c->job) &&
           is_past(c, c->job->status.start_time,
                   rco_or_int(c->o->config->pod_timeout_ns, POD_TIMEOUT_NS));
}

void rco_run_do_pod_missing(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_fail(
        c, RCO_FAILURE_CLASS_CONFIG, "PodRefused",
        rco_message(c->a,
                    "Job %s has no pod: the namespace refuses it (service account %s missing, a "
                    "ResourceQuota, Pod Security or another admission rule); kubectl describe "
                    "job %s -n %s says which",
                    c->job->metadata.name,
                    c->phase == RCO_PHASE_APPLY ? c->run->spec.snapshot.apply_service_account_name
                                                : c->run->spec.snapshot.plan_service_account_name,
                    c->job->metadata.name, c->meta->ns));
}

#define POD_ROW(NAME, FIND)                                                                        \
    bool rco_run_is_##NAME(const void *p)                                                          \
    {                                                                                              \
        struct rco_pod_failure f;                                                                  \
        const struct rco_run_ctx *c = RCO_RUN_CTX(p);                                              \
        return is_active(c) && c->pod && FIND(c, &f);                                              \
    }                                                                                              \
    void rco_run_do_##NAME(void *p)                                                                \
    {                                                                                              \
        struct rco_pod_failure f;                                                                  \
        struct rco_run_ctx *c = RCO_RUN_CTX(p);                                                    \
        if (FIND(c, &f))                                                                           \
            rco_run_fail_at(c, &f.failure, f.reason);                                              \
    }

POD_ROW(pod_image, rco_pod_failure_image)
POD_ROW(pod_config, rco_pod_failure_config)
POD_ROW(pod_unschedulable, rco_pod_failure_unschedulable)

bool rco_run_is_pod_ended(const void *p)
{
    struct rco_pod_failure f;
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && c->pod && rco_pod_failure_ended(c, &f);
}

/* The text of container CONTAINER's own end, or NULL. */
static const char *last_words(const struct rco_run_ctx *c, const char *container)
{
    const struct rco_runner_summary *s = rco_pod_summary(c->pod, container, c->a);
    return s && !s->ok && !rco_str_empty(s->log) ? s->log : NULL;
}

/* A pod that ended without a receipt has uploaded no log; what its containers said last is stored
 * in its place, so that every failed run has one. */
static void store_last_words(struct rco_run_ctx *c)
{
    static const char *const order[] = {RCO_CONTAINER_FETCH, RCO_CONTAINER_INSTALL,
                                        RCO_CONTAINER_ENGINE};
    const char *text = NULL, *anchor = anchor_uid(c);
    char digest[RCO_SHA256_HEX], name[RCO_NAME_SIZE];
    rco_autobuf body = RCO_BUF_INIT;
    for (size_t i = 0; i < RCO_ARRAY_LEN(order) && !text; i++)
        text = last_words(c, order[i]);
    if (!text || !anchor)
        return;
    rco_sha256_hex(text, strlen(text), digest);
    rco_name_chunk(c->meta->uid, rco_phase_name(c->phase), "log", 0, digest, name);
    rco_chunk_write(&(struct rco_chunk){.run = c->run,
                                        .phase = c->phase,
                                        .kind = RCO_ARTIFACT_KIND_LOG,
                                        .name = name,
                                        .anchor_name = rco_run_anchor_name(c),
                                        .anchor_uid = anchor},
                    text, strlen(text), &body);
    rco_plan_create(c->plan, RCO_KIND_CONFIGMAP, c->meta->ns, name, &body, RCO_EXISTS_OK);
    rco_run_add_log(c, rco_arena_strdup(c->a, digest), (int64_t)strlen(text));
}

void rco_run_do_pod_ended(void *p)
{
    struct rco_pod_failure f;
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (!rco_pod_failure_ended(c, &f))
        return;
    store_last_words(c);
    rco_run_fail_at(c, &f.failure, f.reason);
}

/* Whether the status says something else about the wait than the pod does. */
bool rco_run_is_pod_waits(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *message, *now = c->run->status.reason;
    if (!is_active(c) || c->started || !c->pod)
        return false;
    const char *why = rco_pod_waits_for(c, &message);
    return why ? !rco_streq(why, now) : rco_pod_is_wait(now);
}

void rco_run_do_pod_waits(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *message = "its pod goes on";
    const char *why = rco_pod_waits_for(c, &message);
    rco_run_enter(c, c->state, why, message);
    rco_run_commit(c);
    if (why)
        rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Warning", why, message);
    rco_plan_requeue(c->plan, RCO_RUN_RETRY_NS);
}

bool rco_run_is_pod_slow(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && !c->started && c->job &&
           is_past(c, c->job->metadata.creation,
                   c->run->spec.snapshot.timeout_seconds * RCO_NS_PER_S);
}

void rco_run_do_pod_slow(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    long long limit = (long long)c->run->spec.snapshot.timeout_seconds;
    rco_run_fail(
        c, RCO_FAILURE_CLASS_TIMEOUT, "NotStarted",
        c->pod ? rco_message(c->a,
                             "the pod of Job %s did not get as far as starting the engine within "
                             "%lld s; kubectl describe pod -l %s=%s -n %s says what it waits for",
                             c->job->metadata.name, limit, RCO_LABEL_RUN_UID, c->meta->uid,
                             c->meta->ns)
               : rco_message(c->a,
                             "no pod of Job %s was seen within %lld s, and nothing says why; "
                             "kubectl describe job %s -n %s",
                             c->job->metadata.name, limit, c->job->metadata.name, c->meta->ns));
}

static rco_wall overtime_at(const struct rco_run_ctx *c)
{
    const struct rco_resolved *s = &c->run->spec.snapshot;
    return c->run->status.engine.started_at +
           (s->timeout_seconds + s->termination_grace_period_seconds + OVERTIME_S) * RCO_US_PER_S;
}

bool rco_run_is_overtime(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_active(c) && c->started && c->now >= overtime_at(c) && c->job &&
           !c->job->metadata.deletion;
}

/* The pod is told to stop; an apply stays what it is until its end is known. */
void rco_run_do_overtime(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *why =
        rco_message(c->a, "the %s took longer than %lld s and did not stop by itself",
                    rco_phase_name(c->phase), (long long)c->run->spec.snapshot.timeout_seconds);
    if (c->phase == RCO_PHASE_PLAN)
        rco_run_fail(c, RCO_FAILURE_CLASS_TIMEOUT, NULL, why);
    else
        rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Warning", "Overtime", why);
    rco_plan_delete(c->plan, RCO_KIND_JOB, &c->job->metadata);
}

bool rco_run_is_running(const void *p)
{
    return is_active(RCO_RUN_CTX(p));
}

/* Nothing is written while it runs; what is to be noticed without an event has a time. */
void rco_run_do_running(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (!c->started) {
        rco_plan_requeue(c->plan, RCO_RUN_LOOK_NS);
        return;
    }
    int64_t left = (overtime_at(c) - c->now) * 1000;
    rco_plan_requeue(c->plan, left > RCO_RUN_RETRY_NS ? left : RCO_RUN_RETRY_NS);
}
