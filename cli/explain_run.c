#include "explain.h"

#include "advice.h"
#include "advice_pattern.h"
#include "advice_words.h"
#include "base/buf.h"
#include "base/str.h"
#include "explain_internal.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static const char *phase_word(const struct rco_run *r)
{
    return r->status.state == RCO_RUN_STATE_APPLYING ? "apply" : "plan";
}

/* The first container that is stuck: waiting for another reason than its turn. */
static bool explain_waiting(struct rco_explainer *x, const struct rco_container_status *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rco_container_waiting *w = &c[i].state.waiting;

        if (!c[i].state.has_waiting || rco_str_empty(w->reason) ||
            rco_streq(w->reason, "PodInitializing") || rco_streq(w->reason, "ContainerCreating"))
            continue;
        rco_explain_why(x, "container %s waits: %s%s%s", rco_str_or_empty(c[i].name), w->reason,
                        rco_str_empty(w->message) ? "" : ": ", rco_str_or_empty(w->message));
        return true;
    }
    return false;
}

static const char *running_container(const struct rco_container_status *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].state.has_running && !rco_streq(c[i].name, "report"))
            return c[i].name;
    return NULL;
}

static void explain_pod(struct rco_explainer *x, const struct rco_pod *p)
{
    const struct rco_pod_status *s = &p->status;
    const struct rco_condition *scheduled =
        rco_explain_condition(s->conditions, s->n_conditions, "PodScheduled");
    const char *running;

    if (scheduled && rco_streq(scheduled->status, "False")) {
        rco_explain_why(x, "pod %s has no node yet: %s", p->metadata.name,
                        rco_str_or_empty(scheduled->message));
        rco_explain_who(x, RCO_WHO_PLATFORM);
        rco_explain_next(x, "kubectl get events{flags}");
        return;
    }
    if (explain_waiting(x, s->init_container_statuses, s->n_init_container_statuses) ||
        explain_waiting(x, s->container_statuses, s->n_container_statuses)) {
        rco_explain_who(x, RCO_WHO_PLATFORM);
        rco_explain_next(x, "kubectl get events{flags}");
        return;
    }
    running = running_container(s->init_container_statuses, s->n_init_container_statuses);
    if (!running)
        running = running_container(s->container_statuses, s->n_container_statuses);
    if (running)
        rco_explain_why(x, "pod %s runs %s", p->metadata.name, running);
    else
        rco_explain_why(x, "pod %s is %s", p->metadata.name, rco_pod_phase_name(s->phase));
}

/* The Job is there and its pod is not: refused pods are told in an Event of the Job alone. */
static bool explain_no_pod(struct rco_explainer *x)
{
    const struct rco_run_status *s = &x->f->run->status;

    if (!rco_explain_refusal(x, x->f->run)) {
        rco_explain_why(x, "no pod of it could be seen yet");
        return false;
    }
    rco_explain_why(x, "it is tried on for a few minutes, then the run fails");
    rco_explain_who(x, RCO_WHO_ENV);
    if (s->has_engine && !rco_str_empty(s->engine.job_name))
        rco_explain_next(
            x, rco_arena_printf(x->a, "kubectl describe job %s{flags}", s->engine.job_name));
    return true;
}

static const char *cancel_command(const struct rco_explainer *x)
{
    return rco_explain_cancel(x->a, x->f->run->metadata.name, x->f->user, x->f->flags);
}

/* What the engine says, and whether a person has to act for it to go on. */
static void explain_says(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;
    rco_autobuf says = RCO_BUF_INIT, clean = RCO_BUF_INIT;
    struct rco_advice_found found;

    rco_text_clean(&clean, x->f->engine_says);
    const char *line = rco_buf_str(&clean);
    rco_text_cut(&says, line + strspn(line, " "), RCO_EXPLAIN_MAX_SAYS);
    rco_explain_why(x, "the engine says: %s", rco_buf_str(&says));
    rco_advice_waiting(r, line, x->a, &found);
    if (!found.row)
        return;
    if (!r->spec.has_cancel)
        rco_advice_add_name(&found, "cancel", cancel_command(x));
    rco_explain_advise_found(x, &found);
    x->out->health = RCO_HEALTH_WAITING;
}

/* Since when it works, for how long it may, and what it works on. */
static void explain_work(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;
    rco_wall began = r->status.engine.started_at;
    int64_t limit = r->spec.snapshot.timeout_seconds;
    rco_autobuf age = RCO_BUF_INIT, since = RCO_BUF_INIT, until = RCO_BUF_INIT;

    rco_text_age(&age, x->f->now, began);
    rco_text_clock(&since, began);
    if (limit > 0) {
        rco_buf_adds(&until, "; runner.timeout ends it at ");
        rco_text_clock(&until, began + limit * RCO_US_PER_S);
    }
    rco_explain_why(x, "the %s engine has been at work for %s, since %s%s UTC", phase_word(r),
                    rco_buf_str(&age), rco_buf_str(&since), rco_buf_str(&until));
    if (!rco_str_empty(x->f->engine_says))
        explain_says(x);
}

static bool is_long(const struct rco_facts *f)
{
    return f->now - f->run->status.engine.started_at > RCO_EXPLAIN_LONG_US;
}

static void explain_engine(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;
    bool works = rco_explain_engine_works(r);
    const struct rco_pod *newest = NULL;

    for (size_t i = 0; i < x->f->n_pods; i++)
        if (!newest || x->f->pods[i]->metadata.creation > newest->metadata.creation)
            newest = x->f->pods[i];
    if (newest)
        explain_pod(x, newest);
    else if (works && !x->f->pods_unread)
        rco_explain_why(x, "its pod cannot be seen");
    else if (!works && !x->f->pods_unread && explain_no_pod(x))
        return;
    if (works)
        explain_work(x);
    rco_explain_next(x, "kubectl runtimecloud run logs {run} --follow{flags}");
    if (works && is_long(x->f) && !r->spec.has_cancel)
        rco_explain_next(x, cancel_command(x));
}

static void explain_ready(struct rco_explainer *x)
{
    const struct rco_run_status *s = &x->f->run->status;
    const struct rco_condition *ready =
        rco_explain_condition(s->conditions, s->n_conditions, "Ready");

    if (ready && !rco_str_empty(ready->message))
        rco_explain_why(x, "%s", ready->message);
}

static void add_failure(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    if (!rco_str_empty(r->status.failure.message))
        rco_explain_why(x, "%s", r->status.failure.message);
    else
        explain_ready(x);
    if (!rco_str_empty(r->status.failure.urn))
        rco_explain_why(x, "resource: %s", r->status.failure.urn);
    rco_explain_failure(x, r);
}

static void explain_counts(struct rco_explainer *x, const char *word)
{
    const struct rco_plan_receipt *p = &x->f->run->status.plan_receipt;

    if (x->f->run->status.has_plan_receipt)
        rco_explain_why(x,
                        "%s %" PRId64 " to create, %" PRId64 " to change, %" PRId64
                        " to delete, %" PRId64 " to replace",
                        word, p->adds, p->changes, p->deletes, p->replaces);
}

/* --- one function per state ------------------------------------------------------------------ */

static void on_unset(struct rco_explainer *x)
{
    rco_explain_set(x, RCO_HEALTH_WAITING, "New", "the operator has not taken up run %s yet",
                    x->f->run->metadata.name);
    rco_explain_why(x, "this takes a second; if it stays so, the operator does not run");
    rco_explain_next(x, "kubectl runtimecloud check{flags}");
}

static void on_pending(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    rco_explain_set(x, RCO_HEALTH_WAITING, "Pending", "run %s has not begun%s%s%s",
                    r->metadata.name, rco_str_empty(r->status.reason) ? "" : " (",
                    rco_str_or_empty(r->status.reason), rco_str_empty(r->status.reason) ? "" : ")");
    explain_ready(x);
    rco_explain_advise(x, rco_advice_reason(r->status.reason));
    rco_explain_next(x, "kubectl runtimecloud run watch {run}{flags}");
}

static void on_working(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    rco_explain_set(x, RCO_HEALTH_BUSY, rco_run_state_name(r->status.state),
                    "the %s of run %s is under way", phase_word(r), r->metadata.name);
    if (r->spec.has_cancel)
        rco_explain_why(x, "%s asked it to stop%s%s", rco_str_or_empty(r->spec.cancel.by),
                        rco_str_empty(r->spec.cancel.reason) ? "" : ": ",
                        rco_str_or_empty(r->spec.cancel.reason));
    explain_engine(x);
    rco_explain_next(x, "kubectl runtimecloud run watch {run}{flags}");
}

static void on_planned(struct rco_explainer *x)
{
    rco_explain_set(x, RCO_HEALTH_BUSY, "Planned", "run %s has its plan and is about to go on",
                    x->f->run->metadata.name);
    explain_counts(x, "the plan has");
    rco_explain_next(x, "kubectl runtimecloud run watch {run}{flags}");
}

static void on_awaiting(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;
    const char *reason = rco_str_empty(r->status.reason) ? "AwaitingDecision" : r->status.reason;

    rco_explain_set(x, RCO_HEALTH_WAITING, "Awaiting approval",
                    "run %s is planned and waits for an approval (%s)", r->metadata.name, reason);
    rco_explain_advise(x, rco_advice_reason(reason));
    explain_counts(x, "the plan has");
    rco_explain_next(x, "kubectl runtimecloud run show {run}{flags}");
}

static void on_applied(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    rco_explain_set(x, RCO_HEALTH_FINE, "Applied", "run %s applied version %" PRId64 " of %s%s",
                    r->metadata.name, r->spec.specification_version,
                    rco_str_or_empty(r->spec.specification_ref.name),
                    rco_streq(r->status.reason, "NoChanges") ? "; there was nothing to change"
                                                             : "");
    rco_explain_next(x, "kubectl runtimecloud status {spec}{flags}");
}

static void on_failed(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    rco_explain_set(x, RCO_HEALTH_BAD, "Failed", "run %s failed%s%s%s", r->metadata.name,
                    r->status.has_failure ? " (" : "",
                    r->status.has_failure ? rco_failure_class_name(r->status.failure.class) : "",
                    r->status.has_failure ? ")" : "");
    rco_explain_cancelled(x, r);
    add_failure(x);
    rco_explain_next(x, "kubectl runtimecloud run show {run}{flags}");
}

static void on_stopped(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;

    rco_explain_set(x, RCO_HEALTH_BAD, rco_run_state_name(r->status.state), "run %s was %s%s%s%s",
                    r->metadata.name,
                    r->status.state == RCO_RUN_STATE_REJECTED ? "rejected" : "cancelled",
                    rco_str_empty(r->status.reason) ? "" : " (", rco_str_or_empty(r->status.reason),
                    rco_str_empty(r->status.reason) ? "" : ")");
    rco_explain_cancelled(x, r);
    explain_ready(x);
    rco_explain_advise(x, rco_advice_reason(r->status.reason));
    rco_explain_next(x, "kubectl runtimecloud status {spec}{flags}");
}

static void on_unknown(struct rco_explainer *x)
{
    rco_explain_set(x, RCO_HEALTH_WAITING, "Unknown",
                    "run %s is in a state that this program does not know",
                    x->f->run->metadata.name);
    rco_explain_why(x, "the operator is newer than this kubectl plugin");
    rco_explain_next(x, "kubectl runtimecloud version{flags}");
}

/* Something keeps the run, or its end, from going on, and it is not the failure of the run itself.
 */
static bool explain_stalled(struct rco_explainer *x)
{
    const struct rco_run *r = x->f->run;
    const struct rco_condition *c =
        rco_explain_condition(r->status.conditions, r->status.n_conditions, "Stalled");

    if (!c || !rco_streq(c->status, "True") ||
        (r->status.has_failure && !rco_streq(c->reason, "EngineUnknown")))
        return false;
    rco_explain_set(x, RCO_HEALTH_BAD, "Stalled", "run %s is stalled (%s)", r->metadata.name,
                    rco_str_or_empty(c->reason));
    rco_explain_reason(x, c);
    rco_explain_who(x, RCO_WHO_PLATFORM);
    rco_explain_next(x, "kubectl runtimecloud run show {run}{flags}");
    return true;
}

void rco_explain_run(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out)
{
    static void (*const by_state[])(struct rco_explainer *) = {
        [RCO_RUN_STATE_UNSET] = on_unset,       [RCO_RUN_STATE_UNKNOWN] = on_unknown,
        [RCO_RUN_STATE_PENDING] = on_pending,   [RCO_RUN_STATE_PLANNING] = on_working,
        [RCO_RUN_STATE_PLANNED] = on_planned,   [RCO_RUN_STATE_AWAITING_APPROVAL] = on_awaiting,
        [RCO_RUN_STATE_APPLYING] = on_working,  [RCO_RUN_STATE_APPLIED] = on_applied,
        [RCO_RUN_STATE_FAILED] = on_failed,     [RCO_RUN_STATE_REJECTED] = on_stopped,
        [RCO_RUN_STATE_CANCELLED] = on_stopped,
    };
    struct rco_explainer x = {.f = f, .a = a, .out = out};

    *out = (struct rco_explanation){0};
    if (!explain_stalled(&x))
        by_state[f->run->status.state](&x);
    if (f->run->metadata.deletion && !rco_run_state_is_final(f->run->status.state))
        rco_explain_why(&x,
                        "the run was deleted: it is cancelled, or runs to its end when it applies");
}
