#include "explain.h"

#include "advice.h"
#include "advice_words.h"
#include "base/buf.h"
#include "base/str.h"
#include "explain_internal.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static const struct rco_condition *condition(const struct rco_facts *f, const char *type)
{
    return rco_explain_condition(f->spec->status.conditions, f->spec->status.n_conditions, type);
}

static bool is_true(const struct rco_facts *f, const char *type)
{
    return rco_explain_is_true(f->spec->status.conditions, f->spec->status.n_conditions, type);
}

static bool is_behind(const struct rco_facts *f)
{
    const struct rco_depspec_status *s = &f->spec->status;

    return !s->has_applied_version || !s->has_version || s->applied_version != s->version;
}

/* --- the rows: when, and what then; the first that holds explains --------------------------- */

static bool when_deleting(const struct rco_facts *f)
{
    return f->spec->metadata.deletion != 0;
}

static bool when_running(const struct rco_facts *f)
{
    return f->run && !rco_run_state_is_final(f->run->status.state);
}

/* What is deleted waits for its run: all that the run waits for, and how to end it. */
static void add_run_to_end(struct rco_explainer *x)
{
    const struct rco_run *run = x->f->run;
    struct rco_explanation about;

    rco_explain_why(x, "run %s has to end first (%s)", run->metadata.name,
                    rco_run_state_name(run->status.state));
    rco_explain_run(x->f, x->a, &about);
    if (about.who)
        x->out->health = about.health;
    rco_explain_take(x, &about);
    if (rco_explain_engine_works(run) && !run->spec.has_cancel)
        rco_explain_next(x, rco_explain_cancel(x->a, run->metadata.name, x->f->user, x->f->flags));
}

static void then_deleting(struct rco_explainer *x)
{
    const struct rco_condition *ready = condition(x->f, "Ready");

    rco_explain_set(x, RCO_HEALTH_BUSY, "Deleting",
                    "specification %s is being deleted; what it deployed stays",
                    x->f->spec->metadata.name);
    if (when_running(x->f))
        add_run_to_end(x);
    if (ready)
        rco_explain_reason(x, ready);
    rco_explain_next(x, "kubectl runtimecloud run list --spec {spec}{flags}");
}

static bool when_unobserved(const struct rco_facts *f)
{
    return !f->spec->status.has_observed_generation ||
           f->spec->status.observed_generation != f->spec->metadata.generation;
}

static void then_unobserved(struct rco_explainer *x)
{
    const struct rco_depspec *s = x->f->spec;

    rco_explain_set(x, RCO_HEALTH_WAITING, "Unobserved",
                    "the operator has not looked at specification %s as it is now",
                    s->metadata.name);
    if (s->status.has_observed_generation && s->status.observed_generation > 0)
        rco_explain_why(x, "generation %" PRId64 " is declared, the operator has seen %" PRId64,
                        s->metadata.generation, s->status.observed_generation);
    else
        rco_explain_why(x, "the operator has not seen it yet");
    rco_explain_why(
        x, "this takes a second; if it stays so, the operator does not run or cannot read it");
    rco_explain_next(x, "kubectl runtimecloud check{flags}");
}

static void then_running(struct rco_explainer *x)
{
    struct rco_explanation run;

    rco_explain_run(x->f, x->a, &run);
    *x->out = run;
    if (x->f->last && x->f->last->status.state == RCO_RUN_STATE_FAILED && is_behind(x->f))
        rco_explain_why(x, "the run before it, %s, failed (%s)", x->f->last->metadata.name,
                        rco_failure_class_name(x->f->last->status.failure.class));
}

/* The run is known by name only: it was not read, or has gone. */
static bool when_run_unread(const struct rco_facts *f)
{
    return f->spec->status.has_current_run_ref && !f->run;
}

static void then_run_unread(struct rco_explainer *x)
{
    const char *name = rco_str_or_empty(x->f->spec->status.current_run_ref.name);

    rco_explain_set(x, RCO_HEALTH_BUSY, "Running", "run %s is under way", name);
    rco_explain_next(x, rco_arena_printf(x->a, "kubectl runtimecloud run watch %s{flags}", name));
}

static bool when_stalled(const struct rco_facts *f)
{
    const struct rco_condition *c = condition(f, "Stalled");

    if (!c || !rco_streq(c->status, "True"))
        return false;
    return !f->spec->status.has_failure ||
           !rco_streq(c->reason, rco_failure_class_name(f->spec->status.failure.class));
}

static void then_stalled(struct rco_explainer *x)
{
    const struct rco_condition *c = condition(x->f, "Stalled");
    const char *stopped = rco_streq(c->reason, "Cancelled")  ? "Cancelled"
                          : rco_streq(c->reason, "Rejected") ? "Rejected"
                                                             : NULL;

    rco_explain_set(x, RCO_HEALTH_BAD, stopped ? stopped : "Stalled",
                    "specification %s is stalled (%s)", x->f->spec->metadata.name,
                    rco_str_or_empty(c->reason));
    if (x->f->last && x->f->last->status.state == RCO_RUN_STATE_CANCELLED &&
        rco_streq(c->reason, "Cancelled"))
        rco_explain_cancelled(x, x->f->last);
    rco_explain_reason(x, c);
    if (when_running(x->f))
        rco_explain_why(x, "run %s of version %" PRId64 " is still under way",
                        x->f->run->metadata.name, x->f->run->spec.specification_version);
    rco_explain_who(x, RCO_WHO_SPEC);
    rco_explain_next(x, "kubectl describe depspec {spec}{flags}");
}

/* A failure of an older version is not one of what is declared now. */
static bool when_failed(const struct rco_facts *f)
{
    const struct rco_depspec_status *s = &f->spec->status;
    bool older = s->has_last_run && s->last_run.has_version && s->has_version &&
                 s->last_run.version < s->version;

    return s->has_failure && !older;
}

static void add_retry(struct rco_explainer *x)
{
    const struct rco_depspec_failure *failure = &x->f->spec->status.failure;
    rco_autobuf in = RCO_BUF_INIT;

    if (!failure->next_attempt_at)
        return;
    rco_text_span(&in, x->f->now, failure->next_attempt_at);
    rco_explain_why(x, "it is tried again by itself in %s (%" PRId64 " failed so far)",
                    rco_buf_str(&in), failure->attempts);
}

/* Whether RUN may have changed something, whatever it says of itself. */
static bool began_to_apply(const struct rco_run *run)
{
    const struct rco_run_status *s = run ? &run->status : NULL;

    return s && (s->has_apply_receipt || (s->has_engine && !rco_str_empty(s->engine.pod_uid) &&
                                          s->engine.phase == RCO_ENGINE_PHASE_APPLY));
}

/* What a failure leaves of the version that was applied before. */
static const char *aftermath(const struct rco_facts *f)
{
    if (began_to_apply(f->last))
        return "; part of it may have been applied";
    return f->spec->status.has_applied_version ? "; what was applied before still stands" : "";
}

static void then_failed(struct rco_explainer *x)
{
    const struct rco_depspec_status *s = &x->f->spec->status;
    const struct rco_run *last = x->f->last;
    const struct rco_condition *ready = condition(x->f, "Ready");

    rco_explain_set(x, RCO_HEALTH_BAD, "Failed", "version %" PRId64 " of %s failed (%s)%s",
                    s->version, x->f->spec->metadata.name, rco_failure_class_name(s->failure.class),
                    aftermath(x->f));
    if (last && last->status.has_failure)
        rco_explain_cancelled(x, last);
    if (last && last->status.has_failure && !rco_str_empty(last->status.failure.message)) {
        rco_explain_why(x, "%s", last->status.failure.message);
        if (!rco_str_empty(last->status.failure.urn))
            rco_explain_why(x, "resource: %s", last->status.failure.urn);
    } else if (ready && !rco_str_empty(ready->message)) {
        rco_explain_why(x, "%s", ready->message);
    }
    add_retry(x);
    if (last && last->status.has_failure)
        rco_explain_failure(x, last);
    else
        rco_explain_advise(x, rco_advice_class(rco_failure_class_name(s->failure.class)));
}

static bool when_suspended_behind(const struct rco_facts *f)
{
    return (f->spec->spec.suspend || is_true(f, "Suspended")) && is_behind(f);
}

static void then_suspended_behind(struct rco_explainer *x)
{
    const struct rco_condition *c = condition(x->f, "Suspended");
    const struct rco_depspec_status *s = &x->f->spec->status;

    rco_explain_set(x, RCO_HEALTH_WAITING, "Suspended",
                    "specification %s is suspended with version %" PRId64 " not applied",
                    x->f->spec->metadata.name, s->version);
    if (s->has_applied_version)
        rco_explain_why(x, "applied is version %" PRId64, s->applied_version);
    rco_explain_advise(x,
                       rco_advice_reason(c && !x->f->spec->spec.suspend ? c->reason : "Suspended"));
    if (s->has_failure)
        rco_explain_why(x, "the newest run, %s of version %" PRId64 ", failed (%s)",
                        rco_str_or_empty(s->last_run.name), s->last_run.version,
                        rco_failure_class_name(s->failure.class));
}

static bool when_not_ready(const struct rco_facts *f)
{
    const struct rco_condition *ready = condition(f, "Ready");

    return ready && rco_streq(ready->status, "False");
}

/* What stands in the way lies with the Environment: say so in the same breath. */
static void add_env(struct rco_explainer *x)
{
    const struct rco_facts *f = x->f;
    struct rco_explanation env;

    if (f->env_missing) {
        rco_explain_next(x, "kubectl get environments.runtimecloud.io{flags}");
        return;
    }
    if (!f->env)
        return;
    rco_explain_env(f, x->a, &env);
    if (env.health == RCO_HEALTH_FINE)
        return;
    rco_explain_why(x, "%s", env.what);
    for (size_t i = 0; i < env.n_why; i++)
        rco_explain_why(x, "%s", env.why[i]);
    rco_explain_next(x, "kubectl runtimecloud why environment/{env}{flags}");
}

static void then_not_ready(struct rco_explainer *x)
{
    const struct rco_condition *ready = condition(x->f, "Ready");

    rco_explain_set(x, RCO_HEALTH_WAITING, "Waiting", "specification %s waits (%s)",
                    x->f->spec->metadata.name, rco_str_or_empty(ready->reason));
    if (!rco_str_empty(ready->message))
        rco_explain_why(x, "%s", ready->message);
    add_env(x);
    rco_explain_condition_advice(x, ready);
    rco_explain_next(x, "kubectl describe depspec {spec}{flags}");
}

static bool when_behind(const struct rco_facts *f)
{
    return is_behind(f);
}

static void then_behind(struct rco_explainer *x)
{
    const struct rco_condition *ready = condition(x->f, "Ready");
    const struct rco_depspec_last_run *last = &x->f->spec->status.last_run;

    rco_explain_set(x, RCO_HEALTH_BUSY, "Progressing",
                    "version %" PRId64 " of %s is not applied yet", x->f->spec->status.version,
                    x->f->spec->metadata.name);
    if (x->f->spec->status.has_last_run && last->has_version &&
        last->version == x->f->spec->status.version) {
        x->out->health = RCO_HEALTH_WAITING;
        x->out->word = rco_run_state_name(last->state);
        rco_explain_why(x, "its run %s ended %s%s%s%s; a change or run-now makes the next one",
                        rco_str_or_empty(last->name), rco_run_state_name(last->state),
                        rco_str_empty(last->reason) ? "" : " (", rco_str_or_empty(last->reason),
                        rco_str_empty(last->reason) ? "" : ")");
        rco_explain_who(x, RCO_WHO_SPEC);
        rco_explain_next(x, RCO_DO_RUN_NOW);
    } else {
        rco_explain_why(x, "its run is about to be made");
    }
    if (ready && !rco_str_empty(ready->message))
        rco_explain_why(x, "%s", ready->message);
    rco_explain_next(x, "kubectl runtimecloud run list --spec {spec}{flags}");
}

static bool when_fine(const struct rco_facts *f)
{
    (void)f;
    return true;
}

static void then_fine(struct rco_explainer *x)
{
    const struct rco_depspec_status *s = &x->f->spec->status;
    rco_autobuf age = RCO_BUF_INIT;

    rco_text_age(&age, x->f->now, s->applied_at);
    rco_explain_set(x, RCO_HEALTH_FINE, "Applied", "version %" PRId64 " of %s is applied (%s ago)",
                    s->version, x->f->spec->metadata.name, rco_buf_str(&age));
    if (x->f->spec->spec.suspend || is_true(x->f, "Suspended")) {
        x->out->word = "Applied, suspended";
        rco_explain_why(x, "it is suspended: a change would not be applied");
    }
    if (x->f->applied)
        rco_explain_next(x, rco_arena_printf(x->a, "kubectl runtimecloud run show %s{flags}",
                                             x->f->applied->metadata.name));
    else
        rco_explain_next(x, "kubectl runtimecloud run list --spec {spec}{flags}");
}

static const struct {
    bool (*when)(const struct rco_facts *);
    void (*then)(struct rco_explainer *);
} rows[] = {
    {when_deleting, then_deleting},
    {when_unobserved, then_unobserved},
    {when_stalled, then_stalled},
    {when_running, then_running},
    {when_run_unread, then_run_unread},
    {when_failed, then_failed},
    {when_suspended_behind, then_suspended_behind},
    {when_not_ready, then_not_ready},
    {when_behind, then_behind},
    {when_fine, then_fine},
};

void rco_explain_spec(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out)
{
    struct rco_explainer x = {.f = f, .a = a, .out = out};

    *out = (struct rco_explanation){0};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        if (rows[i].when(f)) {
            rows[i].then(&x);
            return;
        }
    }
}
