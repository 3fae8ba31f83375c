#include "decide/run.h"

#include "decide/run_claim.h"
#include "decide/run_facts.h"
#include "decide/run_receipt_map.h"
#include "decide/run_rows.h"
#include "decide/table.h"

bool rco_run_is_final(const struct rco_run *run)
{
    return rco_run_state_is_final(run->status.state);
}

/* ---- runs that are not there, or not themselves ---- */

static bool is_gone(const void *p)
{
    return !RCO_RUN_CTX(p)->run;
}

/* A new leader whose cache lags does not know the run either: nobody is refused for ever. */
#define GONE "the run is gone, or has not been seen yet"

static void answer_gone(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    for (size_t i = 0; i < c->o->mailbox.n_starts; i++)
        rco_run_refuse(c, c->o->mailbox.starts[i].exchange, 404, GONE);
    for (size_t i = 0; i < c->o->mailbox.n_receipts; i++)
        rco_run_refuse(c, c->o->mailbox.receipts[i].exchange, 404, GONE);
}

/* The specification has recorded the end of a run of this version and number, or of a later one:
 * numbers are never used again. */
static bool is_settled(const struct rco_run_ctx *c)
{
    const struct rco_depspec_last_run *last = &c->spec->status.last_run;
    int64_t version = c->run->spec.specification_version;
    return c->spec->status.has_last_run && !rco_streq(last->uid, c->meta->uid) &&
           (last->version > version ||
            (last->version == version && last->number >= rco_run_number(c->meta->name)));
}

/* Restored from a backup: another uid than the recorded one; or never begun, and made by a
 * specification that is not there or has seen its end. It stays readable, and nothing runs again by
 * itself. */
static bool is_restored(const struct rco_run_ctx *c)
{
    const char *id = c->run->status.provisioning_run_id;
    return rco_str_empty(id) ? !c->spec || is_settled(c) : !rco_streq(id, c->meta->uid);
}

static bool is_restored_leaving(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_restored(c) && c->meta->deletion &&
           rco_meta_has_finalizer(c->meta, RCO_FINALIZER_RUN);
}

static void let_restored_go(void *p)
{
    rco_plan_remove_finalizer(RCO_RUN_CTX(p)->plan, RCO_KIND_RUN, RCO_RUN_CTX(p)->meta,
                              RCO_FINALIZER_RUN);
}

static bool is_inert(const void *p)
{
    return is_restored(RCO_RUN_CTX(p));
}

static void mark_restored(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (c->start)
        rco_run_refuse(c, c->start->exchange, 409, "the run was restored from a backup");
    if (rco_run_is_final(c->run))
        return;
    rco_run_stall(
        c, "Restored",
        "this run was restored from a backup, so nothing runs for it; delete it when it is no "
        "longer needed");
}

/* ---- Pending ---- */

static bool is_new(const void *p)
{
    return RCO_RUN_CTX(p)->state == RCO_RUN_STATE_UNSET;
}

static void begin(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    c->next.provisioning_run_id = c->meta->uid;
    rco_run_enter(c, RCO_RUN_STATE_PENDING, NULL, "waits for its turn");
    rco_run_commit(c);
}

static bool is_stopped_in(const struct rco_run_ctx *c, enum rco_run_state state)
{
    return c->state == state && c->stop;
}

static bool is_stopped_early(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_stopped_in(c, RCO_RUN_STATE_PENDING) || is_stopped_in(c, RCO_RUN_STATE_PLANNING) ||
           is_stopped_in(c, RCO_RUN_STATE_PLANNED);
}

static void cancel(void *p)
{
    rco_run_end_stopped(RCO_RUN_CTX(p), RCO_RUN_STATE_CANCELLED);
}

static bool is_stopped_awaiting(const void *p)
{
    return is_stopped_in(RCO_RUN_CTX(p), RCO_RUN_STATE_AWAITING_APPROVAL);
}

static void reject(void *p)
{
    rco_run_end_stopped(RCO_RUN_CTX(p), RCO_RUN_STATE_REJECTED);
}

/* Only a person stops an apply, and only before its engine started is it simply not done. */
static bool is_stopped_before_apply(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return c->phase == RCO_PHASE_APPLY && !c->started && c->run->spec.has_cancel;
}

static void fail_cancelled(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_fail(c, RCO_FAILURE_CLASS_CANCELLED, NULL, c->stop_text);
}

static bool is_blocked(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *reason;
    return (c->state == RCO_RUN_STATE_PENDING || c->state == RCO_RUN_STATE_PLANNED) &&
           rco_run_blocker(c, &reason);
}

static void wait_in_line(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *reason;
    const struct rco_run *other = rco_run_blocker(c, &reason);
    rco_run_enter(c, c->state, reason,
                  rco_message(c->a, "waits for run %s, which has %s", other->metadata.name,
                              rco_streq(reason, "StackBusy")
                                  ? "the engine of this stack"
                                  : rco_message(c->a, "the state volume %s",
                                                c->run->spec.snapshot.backend.claim_name)));
    rco_run_commit(c);
    rco_plan_requeue(c->plan, RCO_RUN_RETRY_NS);
}

static const struct rco_lease *claim_elsewhere(const struct rco_run_ctx *c)
{
    return rco_claim_elsewhere(c->o->held_claims, c->o->n_held_claims, c->meta->ns,
                               &c->run->spec.snapshot);
}

static bool is_moved(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return c->state == RCO_RUN_STATE_PENDING && claim_elsewhere(c);
}

/* At another backend the state seems empty, and the plan would make everything a second time. */
static void refuse_other_backend(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_lease *claim = claim_elsewhere(c);
    const char *stack = rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_STACK);
    rco_run_fail(
        c, RCO_FAILURE_CLASS_CONFIG, RCO_REASON_BACKEND_CHANGED,
        rco_message(
            c->a,
            "the state of stack %s is at %s, but Environment %s now says %s, where this run "
            "would create everything a second time. Set spec.backend back; or move the "
            "state (pulumi stack export, pulumi stack import) and confirm that by: "
            "kubectl delete lease %s -n %s",
            stack, rco_claim_place(claim, c->a), c->run->spec.environment_id,
            rco_backend_place(c->meta->ns, &c->run->spec.snapshot, c->a), claim->metadata.name,
            claim->metadata.ns));
}

static bool is_pending(const void *p)
{
    return RCO_RUN_CTX(p)->state == RCO_RUN_STATE_PENDING;
}

static void start_planning(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    c->next.started_at = c->now;
    rco_run_enter(c, RCO_RUN_STATE_PLANNING, NULL, "the plan is being made");
    rco_run_commit(c);
}

/* ---- Planned ---- */

static bool is_planned(const struct rco_run_ctx *c)
{
    return c->state == RCO_RUN_STATE_PLANNED;
}

static bool has_no_changes(const void *p)
{
    return is_planned(RCO_RUN_CTX(p)) && rco_run_has_no_changes(RCO_RUN_CTX(p));
}

static void skip_apply(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_enter(c, RCO_RUN_STATE_APPLYING, "NoChanges", "allowed by builtin/no-changes");
    rco_run_commit(c);
}

static bool needs_approval(const void *p)
{
    return is_planned(RCO_RUN_CTX(p)) && rco_run_is_production(RCO_RUN_CTX(p));
}

static void await_approval(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *message = rco_message(
        c->a,
        "production: %s. Approvals are not available in this version, so it is never applied; "
        "it ends when a newer version replaces it, or by spec.cancel",
        rco_run_counts(c));
    c->next.state = RCO_RUN_STATE_AWAITING_APPROVAL;
    c->next.reason = "ApprovalUnavailable";
    rco_conditions_ready(&c->conditions, "AwaitingDecision", message);
    rco_conditions_set(&c->conditions, "Succeeded", "Unknown", "ApprovalUnavailable", message);
    rco_conditions_set(&c->conditions, "AwaitingDecision", "True", "ApprovalUnavailable", message);
    rco_run_commit(c);
    rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Normal", "AwaitingApproval", message);
}

static bool may_apply(const void *p)
{
    return is_planned(RCO_RUN_CTX(p));
}

static void start_applying(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    rco_run_enter(c, RCO_RUN_STATE_APPLYING, NULL,
                  rco_message(c->a, "the plan is being applied: %s", rco_run_counts(c)));
    rco_run_commit(c);
}

static bool is_applying_nothing(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return c->state == RCO_RUN_STATE_APPLYING && rco_streq(c->run->status.reason, "NoChanges");
}

static void end_without_changes(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_plan_receipt *plan = &c->run->status.plan_receipt;
    c->next.apply_receipt = (struct rco_apply_receipt){
        .result = RCO_APPLY_RESULT_NO_CHANGES,
        .has_adds = true,
        .has_changes = true,
        .has_deletes = true,
        .has_replaces = true,
        .sames = plan->sames,
        .has_sames = true,
        .engine_version = plan->engine_version,
        .state_digest = plan->base_state_digest,
    };
    c->next.has_apply_receipt = true;
    rco_run_end_applied(c, "NoChanges");
}

/* ---- nothing to decide ---- */

/* A change of spec.cancel that comes too late is still a generation that was seen. */
static void rest(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    if (c->run->status.observed_generation != c->meta->generation)
        rco_run_commit(c);
}

#define ROW(NAME) rco_run_is_##NAME, rco_run_do_##NAME

static const struct rco_row rows[] = {
    {"gone-leftovers", "the run is gone, an engine of it has ended, or its artifacts are left",
     "claim, pod and Job as for a run; then the anchor", ROW(gone_leftovers)},
    {"gone", "the run is gone, or not seen yet", "404 to whoever waits", is_gone, answer_gone},
    {"restored-leaving", "restored from a backup, being deleted", "finalizer removed",
     is_restored_leaving, let_restored_go},
    {"restored",
     "restored from a backup (recorded uid is another, or its specification is not there or past "
     "it)",
     "inert; Stalled(Restored) unless finished", is_inert, mark_restored},
    {"new", "no state yet", "Pending", is_new, begin},

    {"job-foreign", "something else stands under the name of our Job or anchor",
     "Stalled(ForeignObject), again in a minute; it is neither used nor deleted", ROW(job_foreign)},
    {"job-refused", "the API server refused Job or anchor",
     "Failed(Config, or Capacity for a quota)", ROW(job_refused)},

    {"receipt-again", "a receipt that is recorded comes again", "200", ROW(receipt_again)},
    {"receipt-late", "a receipt that is not awaited, or of a pod that never started", "409",
     ROW(receipt_late)},
    {"receipt-early", "its start or the status of its pod is not seen yet", "503", ROW(receipt_early)},
    {"receipt-invalid",
     "the awaited receipt cannot be used: not JSON, other run, other commit, no plan",
     "Failed(Internal, ReceiptInvalid), then 422", ROW(receipt_invalid)},
    {"receipt-failed", "the awaited receipt says that it failed", "Failed(class), then 200",
     ROW(receipt_failed)},
    {"receipt-planned", "the awaited receipt of the plan", "planReceipt and Planned, then 200",
     ROW(receipt_planned)},
    {"receipt-applied", "the awaited receipt of the apply", "applyReceipt and Applied, then 200",
     ROW(receipt_applied)},

    {"cancelled",
     "Pending, Planning or Planned, and cancelled, deleted, suspended, replaced, or the "
     "specification goes",
     "Cancelled(reason)", is_stopped_early, cancel},
    {"rejected", "AwaitingApproval, and one of the same", "Rejected(reason)", is_stopped_awaiting,
     reject},
    {"apply-cancelled", "Applying, spec.cancel, the engine has not started", "Failed(Cancelled)",
     is_stopped_before_apply, fail_cancelled},
    {"no-changes-applied", "Applying without changes", "Applied(NoChanges), no Job",
     is_applying_nothing, end_without_changes},

    {"job-create", "Planning or Applying, Job or anchor is missing", "create them",
     ROW(job_create)},
    {"job-record", "our Job was made", "its uid and the anchor's into the status", ROW(job_record)},

    {"start-fenced", "a start of a pod whose node is marked out of service", "503",
     ROW(start_fenced)},
    {"start-again", "the pod that was allowed to start asks again", "200", ROW(start_again)},
    {"start-late", "a start in a state that has no such phase", "409", ROW(start_late)},
    {"start-unseen", "a start of a pod, or of a phase, that is not seen yet", "503", ROW(start_unseen)},
    {"start-ending", "a start of a pod that is being deleted", "409", ROW(start_ending)},
    {"start-stranger", "a start of a pod of another Job, or one that the Job's template does not make", "409", ROW(start_stranger)},
    {"start-second-pod", "a start of another pod than the one that was allowed", "409 for ever",
     ROW(start_second_pod)},
    {"start-invalid", "no start request, other run, other commit, no project", "409",
     ROW(start_invalid)},
    {"start-stale", "an apply that would not act on what was planned",
     "Failed(PlanStale), then 409", ROW(start_stale)},
    {"start-granted", "the claim names this pod as its engine", "status.engine, then 200",
     ROW(start_granted)},
    {"start-claimed", "the stack belongs to another specification",
     "Failed(Config, StackClaimed), then 409", ROW(start_claimed)},
    {"start-busy", "the claim names another engine", "reason StackBusy, then 503", ROW(start_busy)},
    {"start-take", "the claim is free", "compare-and-swap of the claim", ROW(start_take)},

    {"job-vanished", "the recorded Job (or its pod) is gone", "Failed(Lost)",
     ROW(job_vanished)},
    {"pod-ended", "everything in the pod has ended, without a receipt",
     "Failed(class from termination messages, else Lost)", ROW(pod_ended)},
    {"pod-image", "the image cannot be had", "Failed(Config, ImagePull)", ROW(pod_image)},
    {"pod-config", "a container cannot be made", "Failed(Config)", ROW(pod_config)},
    {"pod-unschedulable", "no node takes the pod for a long time",
     "Failed(Capacity, or Config for a missing claim)", ROW(pod_unschedulable)},
    {"pod-missing", "the Job says for a long time that it has no pod", "Failed(Config, PodRefused)",
     ROW(pod_missing)},
    {"pod-slow", "the engine did not get started within the time limit",
     "Failed(Timeout, NotStarted)", ROW(pod_slow)},
    {"pod-unreachable", "the pod's time to end is long over and its node says nothing",
     "Stalled(EngineUnknown) with what to do, no change of state", ROW(pod_unreachable)},
    {"overtime", "far over the time limit and the grace", "plan: Failed(Timeout); Job deleted",
     ROW(overtime)},
    {"pod-waits", "the pod waits for a node, an image or a container for a while, or no longer",
     "says so, or takes it back", ROW(pod_waits)},
    {"running", "Planning or Applying", "wait", ROW(running)},

    {"engine-ended", "an engine of this run has ended",
     "clear the claim, release the pod, delete the Job (one whose uid is not recorded only when it is "
     "what we would have made)",
     ROW(engine_ended)},
    {"engine-vanished", "the claim names a pod that is gone",
     "Stalled(EngineUnknown), the claim stays", ROW(engine_vanished)},
    {"engine-unreachable", "the same after the run has ended or planned",
     "Stalled(EngineUnknown) with what to do", ROW(engine_unreachable)},
    {"engine-known", "Stalled(EngineUnknown), and neither holds any more",
     "the conditions of its state again", ROW(engine_known)},
    {"job-stop", "ended or planned, and a pod goes on that has to stop", "delete the Job",
     ROW(job_stop)},
    {"engine-waits", "an engine of this run has not ended", "wait", ROW(engine_waits)},

    {"no-changes", "Planned without changes of resources or outputs", "Applying(NoChanges)",
     has_no_changes, skip_apply},
    {"await-approval", "Planned, production", "AwaitingApproval(ApprovalUnavailable)",
     needs_approval, await_approval},
    {"busy", "Pending or Planned, another run has the stack or its volume",
     "wait with reason StackBusy or VolumeBusy", is_blocked, wait_in_line},
    {"backend-changed", "Pending, the specification holds its stack at another backend",
     "Failed(Config, BackendChanged)", is_moved, refuse_other_backend},
    {"plan", "Pending", "Planning", is_pending, start_planning},
    {"apply", "Planned", "Applying", may_apply, start_applying},

    {"anchor-removed", "finished, being deleted, recorded by its specification",
     "delete the anchor with all artifacts", ROW(anchor_removed)},
    {"finalizer-removed", "finished, its engines have ended, recorded by its specification",
     "finalizer removed", ROW(finalizer_removed)},
    {"finalizer-waits", "finished, being deleted, not recorded yet", "wait", ROW(finalizer_waits)},
    {"rest", "nothing else", "nothing", NULL, rest},
};

static const struct rco_table table = {"run", rows, RCO_ARRAY_LEN(rows)};

/* One exchange is answered at a time, and an answer alone wakes nobody. */
static void come_back_for_the_others(const struct rco_run_observed *o, struct rco_plan *plan)
{
    size_t answered = 0;
    for (const struct rco_action *x = plan->first; x; x = x->next)
        answered += x->type == RCO_ACTION_REPLY;
    if (answered && answered < o->mailbox.n_starts + o->mailbox.n_receipts)
        rco_plan_requeue(plan, RCO_NS_PER_MS);
}

void rco_run_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_run_observed *o = snapshot;
    struct rco_run_ctx c = {.o = o, .plan = plan, .a = plan->arena};
    if (o->run)
        rco_run_ctx_init(&c, o, now, plan);
    plan->row = rco_table_run(&table, &c);
    come_back_for_the_others(o, plan);
}

const struct rco_table *rco_run_table(void)
{
    return &table;
}

void rco_run_print_rows(struct rco_buf *out)
{
    rco_table_print(&table, out);
}
