/* What a pod reports: recorded in the same status write as the state it leads to, and only then
 * acknowledged (design 3.5, 3.6). */
#include "api/names.h"
#include "base/sha256.h"
#include "decide/run_receipt_map.h"
#include "decide/run_rows.h"

static void acknowledge(struct rco_run_ctx *c)
{
    if (c->receipt.exchange)
        rco_plan_reply(c->plan, c->receipt.exchange, 200, NULL);
}

static void refuse(struct rco_run_ctx *c, int status, const char *message)
{
    rco_run_refuse(c, c->receipt.exchange, status, message);
}

static bool is_waiting(const struct rco_run_ctx *c)
{
    return c->receipt.present;
}

/* It is the receipt of the operation that is under way, from the pod that was allowed to start it.
 */
static bool is_expected(const struct rco_run_ctx *c)
{
    return is_waiting(c) && c->phase != RCO_PHASE_NONE && c->receipt.phase == c->phase &&
           c->started && rco_streq(c->receipt.pod_uid, c->run->status.engine.pod_uid);
}

static bool is_sound(const struct rco_run_ctx *c)
{
    return is_expected(c) && !c->receipt.error;
}

bool rco_run_is_receipt_again(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_waiting(c) && c->receipt.exchange && !c->receipt.error && rco_receipt_is_recorded(c);
}

void rco_run_do_receipt_again(void *p)
{
    acknowledge(RCO_RUN_CTX(p));
}

/* Its start may be what the cache does not show yet. */
static bool is_ahead(const struct rco_run_ctx *c)
{
    return is_waiting(c) && c->receipt.exchange &&
           (rco_run_is_before(c, c->receipt.phase) ||
            (c->receipt.phase == c->phase && !c->started));
}

bool rco_run_is_receipt_late(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_waiting(c) && !is_expected(c) && !is_ahead(c);
}

void rco_run_do_receipt_late(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    refuse(c, 409,
           rco_message(c->a, "run %s is %s and takes no such receipt from this pod", c->meta->name,
                       rco_run_state_name(c->state)));
}

/* Without the pod's status the image that planned is not known. */
bool rco_run_is_receipt_early(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_ahead(c) || (is_sound(c) && c->receipt.exchange && c->phase == RCO_PHASE_PLAN &&
                           (!c->pod || !rco_pod_image_digest(c->pod, c->a)));
}

void rco_run_do_receipt_early(void *p)
{
    refuse(RCO_RUN_CTX(p), 503, "the start or the status of this pod has not been seen yet");
}

bool rco_run_is_receipt_invalid(const void *p)
{
    return is_expected(RCO_RUN_CTX(p)) && RCO_RUN_CTX(p)->receipt.error;
}

void rco_run_do_receipt_invalid(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const char *why = rco_message(c->a, "the receipt of the %s cannot be used: %s",
                                  rco_phase_name(c->phase), c->receipt.error);
    rco_run_fail(c, RCO_FAILURE_CLASS_INTERNAL, "ReceiptInvalid", why);
    refuse(c, 422, why);
}

/* Logs and diffs count for every end; the log of the newest phase is what people are pointed to. */
static void record_artifacts(struct rco_run_ctx *c)
{
    rco_receipt_add_artifacts(c);
}

bool rco_run_is_receipt_failed(const void *p)
{
    const struct rco_run_ctx *c = RCO_RUN_CTX(p);
    return is_sound(c) && c->receipt.body->result == RCO_APPLY_RESULT_FAILED;
}

void rco_run_do_receipt_failed(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    const struct rco_run_failure *f = &c->receipt.body->failure;
    record_artifacts(c);
    if (c->phase == RCO_PHASE_APPLY) {
        rco_receipt_to_apply(c, &c->next.apply_receipt);
        c->next.has_apply_receipt = true;
    }
    rco_run_fail_at(c, f, rco_failure_reason(f));
    acknowledge(c);
}

bool rco_run_is_receipt_planned(const void *p)
{
    return is_sound(RCO_RUN_CTX(p)) && RCO_RUN_CTX(p)->phase == RCO_PHASE_PLAN;
}

void rco_run_do_receipt_planned(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    record_artifacts(c);
    rco_receipt_to_plan(c, &c->next.plan_receipt);
    c->next.has_plan_receipt = true;
    const char *counts = rco_run_counts(c);
    bool none = rco_run_has_no_changes(c);
    rco_run_enter(c, RCO_RUN_STATE_PLANNED, NULL,
                  none ? "the plan changes nothing" : rco_message(c->a, "planned: %s", counts));
    rco_events_add(c->a, &c->next.events, &c->next.n_events, "ProvisioningPlanned", c->now);
    rco_run_commit(c);
    rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Normal", "ProvisioningPlanned",
                   rco_message(c->a, "%s; %s", counts,
                               none ? "nothing is to be applied"
                               : rco_run_is_production(c)
                                   ? "production: it awaits an approval"
                                   : "it is applied when the plan's pod has ended"));
    acknowledge(c);
}

bool rco_run_is_receipt_applied(const void *p)
{
    return is_sound(RCO_RUN_CTX(p)) && RCO_RUN_CTX(p)->phase == RCO_PHASE_APPLY;
}

void rco_run_do_receipt_applied(void *p)
{
    struct rco_run_ctx *c = RCO_RUN_CTX(p);
    record_artifacts(c);
    rco_receipt_to_apply(c, &c->next.apply_receipt);
    c->next.has_apply_receipt = true;
    rco_run_end_applied(c, NULL);
    acknowledge(c);
}

void rco_run_end_applied(struct rco_run_ctx *c, const char *reason)
{
    const struct rco_apply_receipt *r = &c->next.apply_receipt;
    const char *message =
        reason ? "nothing was to be changed, neither resources nor outputs"
               : rco_message(c->a, "%lld added, %lld changed, %lld deleted, %lld replaced%s%s",
                             (long long)r->adds, (long long)r->changes, (long long)r->deletes,
                             (long long)r->replaces, r->duration ? " in " : "",
                             rco_str_or_empty(r->duration));
    c->next.state = RCO_RUN_STATE_APPLIED;
    c->next.reason = reason;
    c->next.completed_at = c->now;
    rco_conditions_ready(&c->conditions, rco_or(reason, "Applied"), message);
    rco_conditions_set(&c->conditions, "Succeeded", "True", rco_or(reason, "Applied"), message);
    rco_conditions_remove(&c->conditions, "AwaitingDecision");
    rco_events_add(c->a, &c->next.events, &c->next.n_events, "ProvisioningApplied", c->now);
    rco_run_commit(c);
    rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Normal", "ProvisioningApplied",
                   rco_message(c->a, "version %lld of %s: %s",
                               (long long)c->run->spec.specification_version,
                               c->run->spec.specification_ref.name, message));
}
