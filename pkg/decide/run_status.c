#include "decide/run_facts.h"

#include "pulumi/failure.h"
#include "json/writer.h"

#define CLASS_MAX 32 /* "PlanViolation: ", which the Event puts before the message */

static void set_observed(struct rco_run_ctx *c)
{
    c->next.conditions = c->conditions.n ? c->conditions.items : NULL;
    c->next.n_conditions = c->conditions.n;
    c->next.observed_generation = c->meta->generation;
    c->next.has_observed_generation = true;
}

void rco_run_commit(struct rco_run_ctx *c)
{
    set_observed(c);
    rco_plan_patch_status(c->plan, RCO_KIND_RUN, c->meta, &c->run->status, &c->next);
}

void rco_run_enter(struct rco_run_ctx *c, enum rco_run_state state, const char *reason,
                   const char *message)
{
    const char *why = rco_or(reason, rco_run_state_name(state));
    c->next.state = state;
    c->next.reason = reason;
    rco_conditions_progressing(&c->conditions, why, message);
    rco_conditions_set(&c->conditions, "Succeeded", "Unknown", why, message);
    rco_conditions_remove(&c->conditions, "AwaitingDecision");
}

/* Final for ever. */
static void end(struct rco_run_ctx *c, enum rco_run_state state, const char *reason)
{
    c->next.state = state;
    c->next.reason = reason;
    c->next.completed_at = c->now;
    rco_conditions_remove(&c->conditions, "AwaitingDecision");
}

/* What the failure left behind, for the first half of the sentence. */
static const char *aftermath(const struct rco_run_ctx *c)
{
    if (c->state != RCO_RUN_STATE_APPLYING)
        return "nothing was applied";
    if (!c->started)
        return "nothing was applied: the engine had not started";
    const struct rco_apply_receipt *r = &c->next.apply_receipt;
    if (!c->next.has_apply_receipt)
        return "it may have been applied";
    if (r->adds + r->changes + r->deletes + r->replaces > 0)
        return "part of it was applied";
    /* A step that failed counts as nothing, and may have left something all the same. */
    return c->receipt.body && !c->receipt.body->may_have_changed
               ? "no resource was changed"
               : "part of it may have been applied";
}

void rco_run_fail_at(struct rco_run_ctx *c, const struct rco_run_failure *failure,
                     const char *reason)
{
    enum rco_failure_class class =
        failure->class > RCO_FAILURE_CLASS_UNKNOWN ? failure->class : RCO_FAILURE_CLASS_INTERNAL;
    const char *why = rco_or(reason, rco_failure_class_name(class));
    const char *text = rco_message_cut(c->a, rco_or(failure->message, "no message"), 1000);
    c->next.failure =
        (struct rco_run_failure){.class = class, .message = text, .urn = failure->urn};
    c->next.has_failure = true;
    end(c, RCO_RUN_STATE_FAILED, why);
    const char *rest =
        rco_message(c->a, " (%s)%s", aftermath(c), rco_remedy_of(class, reason, c->a));
    const char *message = rco_message_fit(c->a, "", text, rest, RCO_MESSAGE_MAX - CLASS_MAX);
    rco_conditions_stalled(&c->conditions, why, message);
    rco_conditions_set(&c->conditions, "Succeeded", "False", why, message);
    rco_events_add(c->a, &c->next.events, &c->next.n_events, "ProvisioningFailed", c->now);
    rco_run_commit(c);
    rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Warning", "ProvisioningFailed",
                   rco_message(c->a, "%s: %s", rco_failure_class_name(class), message));
}

void rco_run_fail(struct rco_run_ctx *c, enum rco_failure_class class, const char *reason,
                  const char *message)
{
    struct rco_run_failure failure = {.class = class, .message = message};
    rco_run_fail_at(c, &failure, reason);
}

void rco_run_end_stopped(struct rco_run_ctx *c, enum rco_run_state state)
{
    const char *name = rco_run_state_name(state);
    end(c, state, c->stop);
    rco_conditions_ready(&c->conditions, c->stop, c->stop_text);
    rco_conditions_set(&c->conditions, "Succeeded", "False", c->stop, c->stop_text);
    rco_run_commit(c);
    rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Normal", name, c->stop_text);
}

void rco_run_stall(struct rco_run_ctx *c, const char *reason, const char *message)
{
    const struct rco_condition *old =
        rco_condition_find(c->run->status.conditions, c->run->status.n_conditions, "Stalled");
    rco_conditions_stalled(&c->conditions, reason, message);
    rco_run_commit(c);
    if (!old || !rco_streq(old->reason, reason))
        rco_plan_event(c->plan, RCO_KIND_RUN, c->meta, "Warning", reason, message);
}

void rco_run_stall_over(struct rco_run_ctx *c)
{
    struct rco_conditions *x = &c->conditions;
    const struct rco_condition *end = rco_condition_find(x->items, x->n, "Succeeded");
    if (!end)
        return;
    if (rco_condition_is_true(x->items, x->n, "AwaitingDecision", NULL))
        rco_conditions_ready(x, "AwaitingDecision", end->message);
    else if (rco_streq(end->status, "Unknown"))
        rco_conditions_progressing(x, end->reason, end->message);
    else if (c->state == RCO_RUN_STATE_FAILED)
        rco_conditions_stalled(x, end->reason, end->message);
    else
        rco_conditions_ready(x, end->reason, end->message);
    rco_run_commit(c);
}

void rco_run_refuse(struct rco_run_ctx *c, uint64_t exchange, int status, const char *message)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;
    if (!exchange)
        return;
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "message", message);
    rco_json_end_object(&w);
    rco_plan_reply(c->plan, exchange, status, &body);
}

bool rco_run_is_production(const struct rco_run_ctx *c)
{
    enum rco_env_class class = c->run->spec.environment_class;
    if (class != RCO_ENV_CLASS_DEVELOPMENT && class != RCO_ENV_CLASS_STAGING)
        return true;
    return c->o->env && c->o->env->spec.class != RCO_ENV_CLASS_DEVELOPMENT &&
           c->o->env->spec.class != RCO_ENV_CLASS_STAGING;
}

/* A plan that changes nothing has no saved plan: the receipt of the runner said that the outputs
 * stay the same too. */
bool rco_run_has_no_changes(const struct rco_run_ctx *c)
{
    const struct rco_plan_receipt *p = &c->next.plan_receipt;
    return c->next.has_plan_receipt && !p->has_artifact &&
           p->adds + p->changes + p->deletes + p->replaces == 0;
}

const char *rco_run_counts(const struct rco_run_ctx *c)
{
    const struct rco_plan_receipt *p = &c->next.plan_receipt;
    return rco_message(c->a, "%lld to add, %lld to change, %lld to delete, %lld to replace",
                       (long long)p->adds, (long long)p->changes, (long long)p->deletes,
                       (long long)p->replaces);
}
