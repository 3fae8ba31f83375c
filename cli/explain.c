#include "explain.h"

#include "advice.h"
#include "advice_words.h"
#include "base/buf.h"
#include "base/str.h"
#include "explain_internal.h"
#include "text.h"
#include "json/writer.h"

#include <stdarg.h>
#include <string.h>

const struct rco_condition *rco_explain_condition(const struct rco_condition *c, size_t n,
                                                  const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(c[i].type, type))
            return &c[i];
    return NULL;
}

bool rco_explain_is_true(const struct rco_condition *c, size_t n, const char *type)
{
    const struct rco_condition *found = rco_explain_condition(c, n, type);

    return found && rco_streq(found->status, "True");
}

int rco_explain_exit(enum rco_health health)
{
    return health == RCO_HEALTH_FINE ? 0 : 1;
}

const char *rco_health_name(enum rco_health health)
{
    static const char *const names[] = {[RCO_HEALTH_FINE] = "fine",
                                        [RCO_HEALTH_BUSY] = "busy",
                                        [RCO_HEALTH_WAITING] = "waiting",
                                        [RCO_HEALTH_BAD] = "bad"};

    return names[health];
}

void rco_explain_set(struct rco_explainer *x, enum rco_health health, const char *word,
                     const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT, clean = RCO_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    rco_text_clean(&clean, rco_buf_str(&text));
    x->out->health = health;
    x->out->word = word;
    x->out->what = rco_arena_strdup(x->a, rco_buf_str(&clean));
}

void rco_explain_why(struct rco_explainer *x, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT, clean = RCO_BUF_INIT;
    va_list ap;

    if (x->out->n_why == RCO_EXPLAIN_MAX_WHY)
        return;
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    rco_text_clean(&clean, rco_buf_str(&text));
    for (size_t i = 0; i < x->out->n_why; i++)
        if (rco_streq(x->out->why[i], rco_buf_str(&clean)))
            return;
    x->out->why[x->out->n_why++] = rco_arena_strdup(x->a, rco_buf_str(&clean));
}

void rco_explain_who(struct rco_explainer *x, const char *who)
{
    if (who && !x->out->who)
        x->out->who = who;
}

static const struct rco_meta *subject(const struct rco_facts *f)
{
    return f->spec ? &f->spec->metadata : f->run ? &f->run->metadata : &f->env->metadata;
}

static const char *run_name(const struct rco_facts *f)
{
    return f->run ? f->run->metadata.name : f->last ? f->last->metadata.name : NULL;
}

static const char *spec_name(const struct rco_facts *f)
{
    return f->spec ? f->spec->metadata.name : f->run ? f->run->spec.specification_ref.name : NULL;
}

static const char *env_name(const struct rco_facts *f)
{
    return f->env    ? f->env->metadata.name
           : f->spec ? f->spec->spec.environment_id
           : f->run  ? f->run->spec.environment_id
                     : NULL;
}

static const char *expand(const struct rco_explainer *x, const char *template)
{
    const struct rco_facts *f = x->f;
    struct rco_text_var vars[6 + RCO_ADVICE_MAX_NAMES] = {
        {"spec", spec_name(f)},
        {"run", run_name(f)},
        {"env", env_name(f)},
        {"ns", subject(f)->ns},
        {"flags", f->flags ? f->flags : ""},
        {"cluster", f->cluster ? f->cluster : ""},
    };
    size_t n = 6;

    for (size_t i = 0; i < x->n_names && n < RCO_ARRAY_LEN(vars); i++)
        vars[n++] = x->names[i];
    return rco_text_expand(x->a, template, vars, n);
}

static bool has_name(const struct rco_explainer *x, const char *name)
{
    for (size_t i = 0; i < x->n_names; i++)
        if (rco_streq(x->names[i].name, name))
            return true;
    return false;
}

static void add_next(struct rco_explainer *x, const char *text)
{
    if (x->out->n_next == RCO_EXPLAIN_MAX_NEXT)
        return;
    for (size_t i = 0; i < x->out->n_next; i++)
        if (rco_streq(x->out->next[i], text))
            return;
    x->out->next[x->out->n_next++] = text;
}

static bool is_leaving(const struct rco_facts *f)
{
    return f->spec && f->spec->metadata.deletion;
}

/* A specification that is being deleted has no further run. */
static bool is_for_next_run(const char *template)
{
    static const char *const rows[] = {RCO_DO_DECLARE, RCO_DO_EDIT_SPEC, RCO_DO_RUN_NOW};

    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_streq(template, rows[i]))
            return true;
    return false;
}

void rco_explain_next(struct rco_explainer *x, const char *template)
{
    /* Without an Environment nothing below it has been looked at. */
    if (x->f->env_missing &&
        (strstr(template, "environment/{env}") || strstr(template, "get configmaps")))
        return;
    if (is_leaving(x->f) && is_for_next_run(template))
        return;
    if ((!run_name(x->f) && strstr(template, "{run}")) ||
        (rco_streq(template, RCO_DO_CANCEL) && !has_name(x, "cancel")))
        return;
    add_next(x, expand(x, template));
}

void rco_explain_take(struct rco_explainer *x, const struct rco_explanation *from)
{
    for (size_t i = 0; i < from->n_why; i++)
        rco_explain_why(x, "%s", from->why[i]);
    rco_explain_who(x, from->who);
    for (size_t i = 0; i < from->n_next; i++)
        add_next(x, from->next[i]);
}

void rco_explain_advise(struct rco_explainer *x, const struct rco_advice_row *row)
{
    if (!row)
        return;
    if (row->meaning)
        rco_explain_why(x, "%s", expand(x, row->meaning));
    rco_explain_who(x, row->who);
    for (size_t i = 0; i < RCO_ADVICE_MAX_NEXT && row->next[i]; i++)
        rco_explain_next(x, row->next[i]);
}

void rco_explain_advise_found(struct rco_explainer *x, const struct rco_advice_found *found)
{
    x->names = found->names;
    x->n_names = found->n_names;
    rco_explain_advise(x, found->row);
    x->names = NULL;
    x->n_names = 0;
}

void rco_explain_accounts(struct rco_explainer *x)
{
    for (size_t i = 0; i < x->f->n_no_account; i++) {
        const struct rco_advice_found found = {
            .row = rco_advice_reason("NoServiceAccount"),
            .names = {{"account", x->f->no_account[i]}},
            .n_names = 1,
        };

        rco_explain_advise_found(x, &found);
    }
}

bool rco_explain_refusal(struct rco_explainer *x, const struct rco_run *run)
{
    const char *job = run->status.has_engine ? run->status.engine.job_name : NULL;
    bool told = !rco_str_empty(x->f->job_trouble) && !rco_str_empty(job);
    struct rco_advice_found found;

    if (told) {
        rco_explain_why(x, "Job %s cannot make its pod: %s", job, x->f->job_trouble);
        rco_advice_refusal(x->f->job_trouble, x->a, &found);
        rco_explain_advise_found(x, &found);
    }
    rco_explain_accounts(x);
    return told || x->f->n_no_account;
}

void rco_explain_failure(struct rco_explainer *x, const struct rco_run *run)
{
    struct rco_advice_found found;

    if (rco_streq(run->status.reason, RCO_EXPLAIN_POD_REFUSED))
        rco_explain_refusal(x, run);
    rco_advice_failure(run, x->a, &found);
    rco_explain_advise_found(x, &found);
}

const char *rco_explain_cancel(struct rco_arena *a, const char *name, const char *user,
                               const char *flags)
{
    rco_autobuf patch = RCO_BUF_INIT, out = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &patch);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "spec");
    rco_json_kv_object(&w, "cancel");
    rco_json_kv_string(&w, "by", rco_str_empty(user) ? "ME" : user);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_buf_addf(&out, "kubectl patch prun %s --type merge -p ", name);
    rco_text_word(&out, rco_buf_str(&patch));
    rco_buf_adds(&out, rco_str_or_empty(flags));
    return rco_arena_strdup(a, rco_buf_str(&out));
}

bool rco_explain_engine_works(const struct rco_run *run)
{
    const struct rco_run_status *s = &run->status;
    enum rco_engine_phase phase = s->state == RCO_RUN_STATE_APPLYING   ? RCO_ENGINE_PHASE_APPLY
                                  : s->state == RCO_RUN_STATE_PLANNING ? RCO_ENGINE_PHASE_PLAN
                                                                       : RCO_ENGINE_PHASE_UNSET;

    /* What the status says of an engine may still be of the phase before. */
    return phase != RCO_ENGINE_PHASE_UNSET && s->has_engine && s->engine.started_at &&
           s->engine.phase == phase;
}

void rco_explain_cancelled(struct rco_explainer *x, const struct rco_run *run)
{
    const struct rco_run_cancel *c = &run->spec.cancel;
    const struct rco_run_failure *failure = &run->status.failure;

    if (run->status.has_failure && (failure->class != RCO_FAILURE_CLASS_CANCELLED ||
                                    strstr(rco_str_or_empty(failure->message), "cancelled by ")))
        return;
    if (run->spec.has_cancel)
        rco_explain_why(x, "%s cancelled it%s%s", rco_str_or_empty(c->by),
                        rco_str_empty(c->reason) ? "" : ": ", rco_str_or_empty(c->reason));
}

void rco_explain_condition_advice(struct rco_explainer *x, const struct rco_condition *c)
{
    struct rco_advice_found found;

    rco_advice_condition(c, x->f->spec, x->a, &found);
    rco_explain_advise_found(x, &found);
}

void rco_explain_reason(struct rco_explainer *x, const struct rco_condition *c)
{
    if (!rco_str_empty(c->message))
        rco_explain_why(x, "%s", c->message);
    rco_explain_condition_advice(x, c);
}

/* --- Environment ----------------------------------------------------------------------------- */

static bool env_unobserved(const struct rco_env *e)
{
    return !e->status.has_observed_generation ||
           e->status.observed_generation != e->metadata.generation;
}

static void explain_claim(struct rco_explainer *x)
{
    const struct rco_pvc *claim = x->f->claim;

    if (claim && claim->status.phase == RCO_PVC_PHASE_PENDING)
        rco_explain_why(x,
                        "the volume claim %s is not bound yet: it binds with the first run, or no "
                        "volume fits it",
                        claim->metadata.name);
}

void rco_explain_env(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out)
{
    struct rco_explainer x = {.f = f, .a = a, .out = out};
    const struct rco_env *e = f->env;
    const struct rco_condition *ready =
        rco_explain_condition(e->status.conditions, e->status.n_conditions, "Ready");
    const struct rco_condition *stalled =
        rco_explain_condition(e->status.conditions, e->status.n_conditions, "Stalled");

    *out = (struct rco_explanation){0};
    if (e->metadata.deletion) {
        rco_explain_set(&x, RCO_HEALTH_BUSY, "Deleting", "Environment %s is being deleted",
                        e->metadata.name);
        if (ready && rco_streq(ready->reason, "InUse"))
            rco_explain_reason(&x, ready);
        else
            rco_explain_why(
                &x, "it goes when no specification and no unfinished run names it any more");
        if (out->who)
            out->health = RCO_HEALTH_WAITING;
        rco_explain_next(&x, "kubectl runtimecloud status{flags}");
    } else if (env_unobserved(e)) {
        rco_explain_set(&x, RCO_HEALTH_WAITING, "Unobserved",
                        "the operator has not looked at Environment %s as it is now",
                        e->metadata.name);
        rco_explain_why(
            &x, "this takes a second; if it stays so, the operator does not run or cannot read it");
        rco_explain_next(&x, "kubectl runtimecloud check{flags}");
    } else if (stalled && rco_streq(stalled->status, "True")) {
        rco_explain_set(&x, RCO_HEALTH_BAD, "Stalled", "Environment %s is stalled (%s)",
                        e->metadata.name, rco_str_or_empty(stalled->reason));
        rco_explain_reason(&x, stalled);
        rco_explain_who(&x, RCO_WHO_ENV);
        rco_explain_next(&x, "kubectl describe environment.runtimecloud.io {env}{flags}");
    } else if (ready && rco_streq(ready->status, "True") && f->n_no_account) {
        rco_explain_set(&x, RCO_HEALTH_WAITING, "No account",
                        "Environment %s is ready, but its runs can make no pod", e->metadata.name);
        rco_explain_accounts(&x);
        rco_explain_next(&x, RCO_DO_EDIT_ENV);
    } else if (ready && rco_streq(ready->status, "True")) {
        rco_explain_set(&x, RCO_HEALTH_FINE, "Ready", "Environment %s is ready", e->metadata.name);
        explain_claim(&x);
        rco_explain_next(&x, "kubectl runtimecloud status{flags}");
    } else {
        rco_explain_set(&x, RCO_HEALTH_BUSY, "Not ready", "Environment %s is being prepared (%s)",
                        e->metadata.name,
                        ready ? rco_str_or_empty(ready->reason) : "no condition yet");
        if (ready)
            rco_explain_reason(&x, ready);
        rco_explain_accounts(&x);
        explain_claim(&x);
        rco_explain_next(&x, "kubectl describe environment.runtimecloud.io {env}{flags}");
    }
}
