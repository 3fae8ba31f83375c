#include "decide/deployment.h"

#include "decide/deployment_facts.h"
#include "decide/run_claim.h"
#include "decide/table.h"
#include "pulumi/failure.h"

#include <string.h>

#define RETRY_NS (60 * RCO_NS_PER_S)

#define CTX(p) ((struct rco_depspec_ctx *)(p))

static bool is_gone(const void *p)
{
    return !CTX(p)->spec;
}

static bool is_leaving(const void *p)
{
    return CTX(p)->meta->deletion != 0;
}

/* ---- conditions ---- */

/* The ones that are there only while they are true, from the facts alone. */
static void set_standing(struct rco_depspec_ctx *c, bool awaiting)
{
    bool tenant = c->o->tenant && c->o->tenant->spec.suspended;
    if (c->spec->spec.suspend)
        rco_conditions_set(&c->conditions, "Suspended", "True", "Suspended",
                           "spec.suspend is true: no new run starts");
    else if (tenant)
        rco_conditions_set(&c->conditions, "Suspended", "True", "TenantSuspended",
                           rco_message(c->a, "Tenant %s is suspended: no new run starts",
                                       c->o->tenant->metadata.name));
    else
        rco_conditions_remove(&c->conditions, "Suspended");
    if (!awaiting)
        rco_conditions_remove(&c->conditions, "AwaitingDecision");
}

static void stall(struct rco_depspec_ctx *c, const char *reason, const char *message)
{
    set_standing(c, false);
    rco_conditions_stalled(&c->conditions, reason, message);
    rco_depspec_commit(c);
}

static void not_ready(struct rco_depspec_ctx *c, const char *reason, const char *why,
                      const char *message)
{
    set_standing(c, false);
    rco_conditions_set(&c->conditions, "Ready", "False", reason, message);
    rco_conditions_set(&c->conditions, "Reconciling", "True", why, message);
    rco_conditions_remove(&c->conditions, "Stalled");
    rco_depspec_commit(c);
}

/* ---- a cache that lags behind ---- */

#define BEHIND_NS RCO_NS_PER_S

/* No version is later than its specification: what is seen of it is older than that run. So it may
 * be for a leader that has just taken over; what it would make of it is long settled. */
static bool is_behind(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return c->newest && c->newest->spec.specification_version > c->meta->generation;
}

static void wait_for_the_cache(void *p)
{
    rco_plan_requeue(CTX(p)->plan, BEHIND_NS);
}

/* ---- restored from a backup ---- */

static bool is_restored(const void *p)
{
    return CTX(p)->restored;
}

static void mark_restored(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    rco_depspec_ignore_request(c);
    stall(c, RCO_REASON_RESTORED,
          rco_message(c->a,
                      "this specification was restored from a backup (its status is that of uid "
                      "%s), so nothing starts by itself: what is deployed may be newer. To deploy "
                      "it: kubectl annotate --overwrite depspec %s -n %s %s=\"$(date +%%s)\"",
                      c->spec->status.specification_id, c->meta->name, c->meta->ns,
                      RCO_ANNOTATION_RUN_NOW));
}

static bool is_resumed(const void *p)
{
    return CTX(p)->resumed;
}

/* Its own write: a run is judged by the status of its specification. */
static void begin_anew(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    set_standing(c, false);
    rco_conditions_progressing(
        &c->conditions, "Progressing",
        rco_message(c->a, "version %lld: taken up after a restore", (long long)c->next.version));
    rco_depspec_commit(c);
}

/* ---- what the API server said to a new run ---- */

static const struct rco_outcome *run_outcome(const struct rco_depspec_ctx *c,
                                             enum rco_outcome_type type)
{
    for (size_t i = 0; i < c->o->n_outcomes; i++)
        if (c->o->outcomes[i].kind == RCO_KIND_RUN && c->o->outcomes[i].type == type)
            return &c->o->outcomes[i];
    return NULL;
}

static bool run_is_foreign(const void *p)
{
    return run_outcome(CTX(p), RCO_OUTCOME_FOREIGN) != NULL;
}

static void report_foreign(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const struct rco_outcome *x = run_outcome(c, RCO_OUTCOME_FOREIGN);
    stall(c, "ForeignObject",
          rco_message(
              c->a,
              "ProvisioningRun %s exists and is not the one this specification would make (%s); "
              "delete it, and this goes on within a minute",
              x->name, rco_or(x->message, "it differs")));
    rco_plan_requeue(c->plan, RETRY_NS);
}

static bool run_was_refused(const void *p)
{
    return run_outcome(CTX(p), RCO_OUTCOME_REFUSED) != NULL;
}

static void report_refused(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const struct rco_outcome *x = run_outcome(c, RCO_OUTCOME_REFUSED);
    stall(c, "RunRefused",
          rco_message(c->a,
                      "ProvisioningRun %s could not be made: %s; it is tried again every minute",
                      x->name, rco_str_or_empty(x->message)));
    rco_plan_requeue(c->plan, RETRY_NS);
}

/* ---- what is missing or refused before a run exists ---- */

static bool is_refused(const void *p)
{
    return CTX(p)->resolution.problem && !CTX(p)->resolution.waits;
}

static void refuse(void *p)
{
    stall(CTX(p), CTX(p)->resolution.problem, CTX(p)->resolution.message);
}

static bool is_missing(const void *p)
{
    return CTX(p)->resolution.problem != NULL;
}

static void wait_for_reference(void *p)
{
    not_ready(CTX(p), CTX(p)->resolution.problem, CTX(p)->resolution.problem,
              CTX(p)->resolution.message);
}

/* ---- suspension ---- */

static bool is_suspended(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return (c->spec->spec.suspend || (c->o->tenant && c->o->tenant->spec.suspended)) && !c->current;
}

static bool is_applied(const struct rco_depspec_ctx *c)
{
    return c->next.has_applied_version && c->next.applied_version == c->next.version &&
           c->next.has_last_run && c->next.last_run.state == RCO_RUN_STATE_APPLIED;
}

static const char *applied_message(const struct rco_depspec_ctx *c)
{
    return rco_message(c->a, "version %lld is applied (commit %.12s, run %s)",
                       (long long)c->next.applied_version, c->spec->spec.program_version,
                       c->next.applied_run_ref.name);
}

static void rest_suspended(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    set_standing(c, false);
    if (is_applied(c)) {
        rco_conditions_ready(&c->conditions, "Succeeded", applied_message(c));
    } else {
        rco_conditions_set(
            &c->conditions, "Ready", "False", "Suspended",
            rco_message(c->a, "version %lld is not applied and no run starts while suspended",
                        (long long)c->next.version));
        rco_conditions_remove(&c->conditions, "Reconciling");
        rco_conditions_remove(&c->conditions, "Stalled");
    }
    rco_depspec_commit(c);
}

static bool may_run(const struct rco_depspec_ctx *c)
{
    return !c->spec->spec.suspend && !(c->o->tenant && c->o->tenant->spec.suspended);
}

/* ---- which run should exist ---- */

static bool wants_first_run(const void *p)
{
    return may_run(CTX(p)) && !rco_depspec_has_run_of_version(CTX(p));
}

static bool wants_requested_run(const void *p)
{
    return may_run(CTX(p)) && CTX(p)->run_now;
}

/* Whether lastRun is the newest run or a later one that was deleted since. Of what it settles the
 * caches no longer keep the snapshot; the hash is in the status. */
static bool newest_is_settled(const struct rco_depspec_ctx *c)
{
    const struct rco_depspec_last_run *last = &c->next.last_run;
    if (!c->newest)
        return true;
    if (!c->next.has_last_run)
        return false;
    int64_t version = c->newest->spec.specification_version;
    return last->version > version ||
           (last->version == version && last->number >= rco_run_number(c->newest->metadata.name));
}

static bool wants_run_for_config(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    char wanted[RCO_SHA256_HEX], inputs[RCO_SHA256_HEX];
    if (!may_run(c))
        return false;
    rco_resolved_inputs(&c->resolution.snapshot, wanted);
    if (newest_is_settled(c))
        return !rco_streq(c->next.last_run.snapshot_hash, wanted);
    rco_resolved_inputs(&c->newest->spec.snapshot, inputs);
    return !rco_streq(inputs, wanted);
}

static bool wants_resumed_run(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return may_run(c) && !c->current && c->next.has_last_run &&
           c->next.last_run.state != RCO_RUN_STATE_APPLIED &&
           c->next.last_run.state != RCO_RUN_STATE_FAILED &&
           rco_streq(c->next.last_run.reason, RCO_REASON_SUSPENDED);
}

static bool retry_is_due(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return may_run(c) && !c->current && c->next.has_failure && c->next.failure.next_attempt_at &&
           c->now >= c->next.failure.next_attempt_at;
}

/* The claim that stood in the way has gone, or has come to this specification or to nobody. It is
 * observed by the name in the status, so not by the decision that finds the name out. */
static bool stack_is_free(const struct rco_depspec_ctx *c)
{
    const struct rco_lease *claim = c->o->blocking_claim;
    return !rco_str_empty(c->next.failure.blocked_by) &&
           rco_streq(c->spec->status.failure.blocked_by, c->next.failure.blocked_by) &&
           (!claim || !c->o->blocking_holder_exists ||
            rco_streq(claim->spec.holder_identity, c->meta->uid));
}

static bool is_unblocked(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    if (!may_run(c) || c->current || !c->next.has_last_run ||
        c->next.last_run.state != RCO_RUN_STATE_FAILED)
        return false;
    if (rco_streq(c->next.last_run.reason, RCO_REASON_BACKEND_CHANGED))
        return !rco_claim_elsewhere(c->o->claims, c->o->n_claims, c->meta->ns,
                                    &c->resolution.snapshot);
    return rco_streq(c->next.last_run.reason, RCO_REASON_STACK_CLAIMED) && stack_is_free(c);
}

static void create_run(void *p)
{
    rco_depspec_create_run(CTX(p), rco_depspec_next_number(CTX(p)));
}

/* A leader that has just taken over may see the run that the last one made for a new value before it
 * sees that value itself: then its ConfigMap is the older one. */
static void create_run_for_config(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const struct rco_resolved *s = &c->resolution.snapshot;
    for (size_t i = 0; i < s->n_configs; i++) {
        const struct rco_configmap *map = rco_depspec_configmap(c->o, s->configs[i].config_map_name);
        bool again = i && rco_streq(s->configs[i].config_map_name, s->configs[i - 1].config_map_name);
        if (map && !again)
            rco_plan_require_current(c->plan, RCO_KIND_CONFIGMAP, &map->metadata);
    }
    create_run(p);
}

/* ---- what the newest run means ---- */

static bool awaits_decision(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return c->current && c->current == c->newest &&
           c->current->status.state == RCO_RUN_STATE_AWAITING_APPROVAL;
}

static void report_awaiting(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const char *message =
        rco_message(c->a,
                    "run %s of version %lld awaits an approval, which this version of the operator "
                    "cannot record; the plan is in the run's status",
                    c->current->metadata.name, (long long)c->next.version);
    set_standing(c, true);
    rco_conditions_ready(&c->conditions, "AwaitingDecision", message);
    if (c->spec->spec.wait_policy == RCO_DEPSPEC_WAIT_POLICY_BLOCK) {
        rco_conditions_set(&c->conditions, "Ready", "Unknown", "AwaitingDecision", message);
        rco_conditions_set(&c->conditions, "Reconciling", "True", "AwaitingDecision", message);
    }
    rco_conditions_set(&c->conditions, "AwaitingDecision", "True", "ApprovalUnavailable", message);
    rco_depspec_commit(c);
}

static bool is_running(const void *p)
{
    return CTX(p)->current != NULL;
}

/* The same text from the first state of a run to its last: each change would be a write. */
static void report_running(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    set_standing(c, false);
    rco_conditions_progressing(&c->conditions, "Progressing",
                               rco_message(c->a, "version %lld: run %s is under way",
                                           (long long)c->current->spec.specification_version,
                                           c->current->metadata.name));
    rco_depspec_commit(c);
}

/* NULL: the run is gone, or the caches no longer keep its message. */
static const char *failure_message(const struct rco_depspec_ctx *c)
{
    for (size_t i = 0; i < c->n_runs; i++)
        if (rco_streq(c->runs[i]->metadata.uid, c->next.last_run.uid))
            return c->runs[i]->status.failure.message;
    return NULL;
}

/* What was said about the newest run when it ended, as long as it is still the one that is told
 * about. */
static const char *said_before(const struct rco_depspec_ctx *c, const char *reason)
{
    const struct rco_condition *ready =
        rco_condition_find(c->conditions.items, c->conditions.n, "Ready");
    return ready && rco_streq(ready->reason, reason) &&
                   strstr(rco_str_or_empty(ready->message), c->next.last_run.name)
               ? ready->message
               : NULL;
}

static bool retry_is_waited_for(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return c->next.has_failure && c->next.failure.next_attempt_at > c->now && may_run(c);
}

static void report_retry(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    char at[RCO_TIME_STR_MAX];
    const char *reason = rco_failure_class_name(c->next.failure.class);
    const char *text = failure_message(c), *old = said_before(c, reason);
    rco_wall_format(c->next.failure.next_attempt_at, at);
    not_ready(c, reason, "ProgressingWithRetry",
              !text && old ? old
                           : rco_message(c->a, "run %s failed: %s; a new run is made at %s",
                                         c->next.last_run.name, rco_or(text, "see its log"), at));
    rco_plan_requeue(c->plan, (c->next.failure.next_attempt_at - c->now) * 1000);
}

static bool has_failed(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return c->next.has_last_run && c->next.last_run.state == RCO_RUN_STATE_FAILED;
}

static void report_failed(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const char *last = c->next.last_run.reason;
    bool blocked =
        rco_streq(last, RCO_REASON_STACK_CLAIMED) || rco_streq(last, RCO_REASON_BACKEND_CHANGED);
    const char *reason = blocked ? last : rco_failure_class_name(c->next.failure.class);
    const char *text = failure_message(c), *old = said_before(c, rco_or(reason, "Failed"));
    const char *head = rco_message(c->a, "run %s failed (%s): ", c->next.last_run.name,
                                   rco_failure_class_name(c->next.failure.class));
    const char *rest = rco_remedy_of(c->next.failure.class, last, c->a);
    stall(c, rco_or(reason, "Failed"),
          !text && old ? old
                       : rco_message_fit(c->a, head, rco_or(text, "see its log"), rest,
                                         RCO_MESSAGE_MAX));
}

static bool was_stopped(const void *p)
{
    return CTX(p)->next.has_last_run && !is_applied(CTX(p));
}

static void report_stopped(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    stall(c, rco_run_state_name(c->next.last_run.state),
          rco_message(c->a,
                      "run %s of version %lld was %s (%s); a change of the specification or the "
                      "annotation %s starts a new one",
                      c->next.last_run.name, (long long)c->next.last_run.version,
                      c->next.last_run.state == RCO_RUN_STATE_REJECTED ? "rejected" : "cancelled",
                      rco_or(c->next.last_run.reason, "no reason recorded"),
                      RCO_ANNOTATION_RUN_NOW));
}

static void report_applied(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    set_standing(c, false);
    rco_conditions_ready(&c->conditions, "Succeeded", applied_message(c));
    rco_depspec_commit(c);
}

static const struct rco_row rows[] = {
    {"gone", "the specification is gone", "nothing", is_gone, NULL},
    {"deletion-run", "being deleted, one of its runs has not ended",
     "wait; runs cancel themselves, one that applies goes on", rco_depspec_is_deletion_run,
     rco_depspec_do_deletion_run},
    {"deletion-engine", "being deleted, an engine on its stack has not ended", "wait",
     rco_depspec_is_deletion_engine, rco_depspec_do_deletion_engine},
    {"deletion-claims", "being deleted, it holds stack claims", "delete the claims",
     rco_depspec_is_deletion_claims, rco_depspec_do_deletion_claims},
    {"deletion-released", "being deleted, nothing is left to wait for",
     "finalizer removed; what was deployed stays", rco_depspec_is_deletion_released,
     rco_depspec_do_deletion_released},
    {"deletion-wait", "being deleted, our finalizer is gone", "nothing", is_leaving, NULL},
    {"restored", "restored from a backup (its status is that of another uid)",
     "inert; Stalled(Restored)", is_restored, mark_restored},
    {"restored-resumed", "the same, and run-now has a new value since that was said",
     "a status of its own, from which it goes on", is_resumed, begin_anew},
    {"behind", "a run is of a later version than is seen of the specification",
     "wait for the cache", is_behind, wait_for_the_cache},
    {"finalizer", "our finalizer is missing", "add it", rco_depspec_is_no_finalizer,
     rco_depspec_do_no_finalizer},
    {"history", "more finished runs that applied nothing than the limit", "delete the oldest",
     rco_depspec_is_history, rco_depspec_do_history},
    {"run-foreign", "something else stands under the name of the next run",
     "Stalled(ForeignObject), again in a minute", run_is_foreign, report_foreign},
    {"run-refused", "the API server refused the next run", "Stalled(RunRefused), again in a minute",
     run_was_refused, report_refused},
    {"refused", "tenant, program, repository, Secret or a field cannot be used",
     "Stalled with the reason; no run", is_refused, refuse},
    {"missing", "Tenant, Environment or ConfigMap is missing or not ready",
     "Ready=False(ReferenceMissing...), goes on by itself; no run", is_missing, wait_for_reference},
    {"suspended", "suspended (itself or its tenant), no run under way",
     "condition Suspended; no run", is_suspended, rest_suspended},
    {"run-first", "no run of this version", "create run number 1", wants_first_run, create_run},
    {"run-now", "the annotation run-now has a value no run carries", "create the next run",
     wants_requested_run, create_run},
    {"run-config", "what the newest run acts on differs (a referenced ConfigMap changed)",
     "create the next run, if the API server shows the same ConfigMaps", wants_run_for_config,
     create_run_for_config},
    {"run-resumed", "the newest run was stopped by suspend, which was taken back",
     "create the next run", wants_resumed_run, create_run},
    {"run-unblocked",
     "the newest run failed as StackClaimed or BackendChanged, and that claim is out of the way",
     "create the next run", is_unblocked, create_run},
    {"run-retry", "the time of the next attempt has come", "create the next run", retry_is_due,
     create_run},
    {"awaiting", "the newest run awaits an approval",
     "AwaitingDecision; Ready unless waitPolicy Block", awaits_decision, report_awaiting},
    {"running", "a run has not ended", "Reconciling", is_running, report_running},
    {"retry-waits", "the newest run failed and is tried again later",
     "Ready=False, Reconciling(ProgressingWithRetry)", retry_is_waited_for, report_retry},
    {"failed", "the newest run failed", "Stalled with the failure class", has_failed,
     report_failed},
    {"stopped", "the newest run was cancelled or rejected", "Stalled(Cancelled or Rejected)",
     was_stopped, report_stopped},
    {"applied", "the newest run applied this version", "Ready", NULL, report_applied},
};

static const struct rco_table table = {"deployment", rows, RCO_ARRAY_LEN(rows)};

void rco_depspec_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_depspec_observed *o = snapshot;
    struct rco_depspec_ctx c = {.o = o, .plan = plan};
    if (o->spec)
        rco_depspec_ctx_init(&c, o, now, plan);
    plan->row = rco_table_run(&table, &c);
}

const struct rco_table *rco_depspec_table(void)
{
    return &table;
}

void rco_depspec_print_rows(struct rco_buf *out)
{
    rco_table_print(&table, out);
}
