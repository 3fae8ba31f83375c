/* The start handshake (design 3.6): no engine without it. Refusals that no repetition can change
 * are 409; what a moment may change is 503. */
#include "api/names.h"
#include "decide/run_claim.h"
#include "decide/run_rows.h"

/* The claim and the status are written one decision after the other, in milliseconds. */
#define AGAIN_NS (50 * RCO_NS_PER_MS)

static bool waits(const struct rco_run_ctx *c)
{
    return c->start != NULL;
}

static void refuse(void *p, int status, const char *message)
{
    rco_run_refuse(RCO_RUN_CTX(p), RCO_RUN_CTX(p)->start->exchange, status, message);
}

static void grant(struct rco_run_ctx *c)
{
    struct rco_runner_start_answer answer = {0};
    rco_autobuf body = RCO_BUF_INIT;
    answer.ended_pods = rco_claim_ended_pods(c->claim, c->a, &answer.n_ended_pods);
    rco_codec_encode(&rco_runner_start_answer_schema, &answer, &body);
    rco_plan_reply(c->plan, c->start->exchange, 200, &body);
}

/* What speaks is not off, whatever the taint says. Were it let go, its engine would count as ended
 * and another be allowed beside it. */
bool rco_run_is_start_fenced(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && c->start_pod && rco_run_is_fenced(c, c->start_pod);
}

void rco_run_do_start_fenced(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    refuse(p, 503,
           rco_message(c->a, "node %s is marked out of service (taint %s): no engine starts there",
                       c->start_pod->spec.node_name, RCO_TAINT_OUT_OF_SERVICE));
}

/* The pod that was allowed to start asks again: its first answer was lost. */
bool rco_run_is_start_again(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && c->phase != RCO_PHASE_NONE && c->start->phase == c->phase && c->started &&
           rco_streq(c->start->pod_uid, c->run->status.engine.pod_uid);
}

void rco_run_do_start_again(void *p)
{
    grant(RCO_RUN_CTX(p));
}

bool rco_run_is_start_late(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && (c->phase == RCO_PHASE_NONE || c->start->phase != c->phase) &&
           !rco_run_is_before(c, c->start->phase);
}

void rco_run_do_start_late(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    refuse(p, 409,
           rco_message(c->a, "run %s is %s: no %s may start", c->meta->name,
                       rco_run_state_name(c->state), rco_phase_name(c->start->phase)));
}

bool rco_run_is_start_unseen(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && (!c->start_pod || rco_run_is_before(c, c->start->phase));
}

void rco_run_do_start_unseen(void *p)
{
    refuse(p, 503, "this pod, or that the run has come to this phase, has not been seen yet");
}

/* Its engine would be told to stop as soon as it begins. */
bool rco_run_is_start_ending(const void *p)
{
    return waits(RCO_RUN_CTX(p)) && RCO_RUN_CTX(p)->start_pod->metadata.deletion;
}

void rco_run_do_start_ending(void *p)
{
    refuse(p, 409, "this pod is being deleted: no engine starts in it");
}

static bool is_owned(const struct rco_run_ctx *c)
{
    return rco_meta_is_controlled_by(&c->start_pod->metadata, "Job",
                                     c->run->status.engine.job_uid);
}

static const char *account(const struct rco_run_ctx *c)
{
    const struct rco_resolved *s = &c->run->spec.snapshot;
    return rco_or(c->phase == RCO_PHASE_APPLY ? s->apply_service_account_name
                                              : s->plan_service_account_name,
                  "default");
}

/* The Job controller also takes in pods that it did not make: any with the Job's selector labels and
 * no other owner. What the template gives to every pod of ours they may lack. */
static const char *strange(const struct rco_run_ctx *c)
{
    const char *runs_as = rco_or(c->start_pod->spec.service_account_name, "default");
    if (!is_owned(c))
        return rco_message(c->a, "pod %s does not belong to the recorded Job %s of this run",
                           c->start->pod_name, rco_or(c->run->status.engine.job_name, "?"));
    if (!rco_pod_is_held(c->start_pod))
        return rco_message(c->a,
                           "pod %s was not made from the template of Job %s: it lacks the finalizer "
                           RCO_FINALIZER_ENGINE,
                           c->start->pod_name, c->run->status.engine.job_name);
    if (!rco_streq(runs_as, account(c)))
        return rco_message(c->a,
                           "pod %s was not made from the template of Job %s: it runs under service "
                           "account %s in place of %s",
                           c->start->pod_name, c->run->status.engine.job_name, runs_as, account(c));
    return NULL;
}

bool rco_run_is_start_stranger(const void *p)
{
    return waits(RCO_RUN_CTX(p)) && strange(RCO_RUN_CTX(p));
}

void rco_run_do_start_stranger(void *p)
{
    refuse(p, 409, strange(RCO_RUN_CTX(p)));
}

bool rco_run_is_start_second_pod(const void *p)
{
    return waits(RCO_RUN_CTX(p)) && RCO_RUN_CTX(p)->started;
}

void rco_run_do_start_second_pod(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    refuse(p, 409,
           rco_message(c->a, "pod %s was allowed to start this operation; no other ever is",
                       rco_or(c->run->status.engine.pod_name, "?")));
}

bool rco_run_is_start_invalid(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_runner_start *s = waits(c) ? c->start->request : NULL;
    return waits(c) && (!s || rco_str_empty(s->project) || !rco_streq(s->run_uid, c->meta->uid) ||
                        !rco_streq(s->commit, c->run->spec.snapshot.program.commit));
}

void rco_run_do_start_invalid(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_runner_start *s = c->start->request;
    refuse(p, 409,
           !s ? rco_message(c->a, "not a start request: %s", rco_str_or_empty(c->start->error))
           : rco_str_empty(s->project)
               ? "Pulumi.yaml has no name: the project of the stack is not known"
           : !rco_streq(s->run_uid, c->meta->uid)
               ? "the request names another run"
               : rco_message(c->a, "commit %s was checked out, the run acts on %s",
                             rco_or(s->commit, "?"), c->run->spec.snapshot.program.commit));
}

/* What an apply must find unchanged and the pod itself cannot know, or names at the start already.
 */
static const char *stale(const struct rco_run_ctx *c)
{
    const struct rco_plan_receipt *p = &c->run->status.plan_receipt;
    const struct rco_runner_start *s = c->start->request;
    const char *image = rco_pod_image_digest(c->start_pod, c->a);
    if (!rco_streq(s->project, c->run->status.engine.project))
        return rco_message(c->a, "the plan is for project %s, Pulumi.yaml now says %s",
                           rco_or(c->run->status.engine.project, "?"), s->project);
    if (!rco_streq(s->workspace_digest, p->workspace_digest))
        return "the workspace is not the one that was planned: the installed dependencies differ";
    if (image && p->image_digest && !rco_streq(image, p->image_digest))
        return rco_message(c->a, "the plan was made with image %s, the apply pod runs %s",
                           p->image_digest, image);
    if (c->o->env && !rco_streq(c->o->env->metadata.uid, c->run->spec.snapshot.environment_uid))
        return rco_message(c->a, "Environment %s was made anew since the plan",
                           c->run->spec.environment_id);
    return NULL;
}

bool rco_run_is_start_stale(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && c->phase == RCO_PHASE_APPLY && stale(c);
}

void rco_run_do_start_stale(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *why = stale(c);
    rco_run_fail(c, RCO_FAILURE_CLASS_PLAN_STALE, NULL, why);
    refuse(p, 409, why);
}

/* The claim is ours: record the engine, then let it go. */
bool rco_run_is_start_granted(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return waits(c) && rco_claim_is_held_by(c->claim, c->start->pod_uid);
}

void rco_run_do_start_granted(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    struct rco_run_engine *e = &c->next.engine;
    e->pod_name = c->start->pod_name;
    e->pod_uid = c->start->pod_uid;
    e->project = c->start->request->project;
    e->started_at = c->now;
    if (c->run->status.reason)
        rco_run_enter(c, c->state, NULL, "the engine was allowed to start");
    rco_run_commit(c);
    grant(c);
}

bool rco_run_is_start_claimed(const void *p)
{
    return waits(RCO_RUN_CTX(p)) && rco_claim_is_foreign(RCO_RUN_CTX(p));
}

void rco_run_do_start_claimed(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_meta *claim = &c->claim->metadata;
    const char *why =
        rco_message(c->a,
                    "stack %s belongs to DeploymentSpecification %s; two specifications on one "
                    "stack would undo each "
                    "other. Delete one of them, or make this one anew with another spec.stackName; "
                    "it goes on by itself when the other is gone",
                    rco_or(rco_meta_annotation(claim, RCO_ANNOTATION_CLAIM_STACK),
                           c->run->spec.snapshot.stack_name),
                    rco_or(rco_meta_annotation(claim, RCO_ANNOTATION_CLAIM_SPECIFICATION), "?"));
    c->next.engine.project = c->start->request->project; /* which claim it was */
    rco_run_fail(c, RCO_FAILURE_CLASS_CONFIG, RCO_REASON_STACK_CLAIMED, why);
    refuse(p, 409, why);
}

bool rco_run_is_start_busy(const void *p)
{
    return waits(RCO_RUN_CTX(p)) && rco_claim_is_busy(RCO_RUN_CTX(p)->claim);
}

void rco_run_do_start_busy(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_meta *claim = &c->claim->metadata;
    const char *why = rco_message(
        c->a, "waits for another engine on this stack: pod %s of run %s (Lease %s)",
        rco_or(rco_meta_annotation(claim, RCO_ANNOTATION_CLAIM_ENGINE_POD), "?"),
        rco_or(rco_meta_annotation(claim, RCO_ANNOTATION_CLAIM_ENGINE_RUN), "?"), claim->name);
    rco_run_enter(c, c->state, "StackBusy", why);
    rco_run_commit(c);
    refuse(p, 503, why);
}

bool rco_run_is_start_take(const void *p)
{
    return waits(RCO_RUN_CTX(p));
}

/* Compare-and-swap: the create fails when the claim exists, the patch when it has moved on. The
 * answer follows when the claim is seen with this pod as its engine. */
void rco_run_do_start_take(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    char name[RCO_NAME_SIZE];
    const char *project = c->start->request->project;
    rco_run_claim_name(c->run, project, name);
    rco_claim_take(c, name, project);
    rco_plan_requeue(c->plan, AGAIN_NS);
}
