#include "outcome.h"

#include "base/str.h"
#include "pulumi/failure.h"

#include <string.h>

static void set_failure(struct rco_runner *r, struct rco_runner_receipt *ret,
                        enum rco_failure_class class, const char *message, const char *urn)
{
    char *m = rco_arena_alloc(&r->arena, 1024), *u = rco_arena_alloc(&r->arena, 1024);
    rco_text_cut(m, 1000, message);
    rco_text_cut(u, 1000, rco_str_or_empty(urn));
    ret->result = RCO_APPLY_RESULT_FAILED;
    ret->has_failure = true;
    ret->failure = (struct rco_run_failure){.class = class, .message = m, .urn = *u ? u : NULL};
}

static const char *stopped_message(struct rco_runner *r, const struct rco_engine_done *d,
                                   const struct rco_receipt_result *s)
{
    const char *steps = s->steps_total && s->preview_done
                            ? rco_arena_printf(&r->arena, "; %zu of %zu steps were done",
                                               s->steps_done, s->steps_total)
                            : "";
    const char *killed = d->signal == 9 ? ", did not end by itself and was killed" : "";
    if (d->timed_out)
        return rco_arena_printf(&r->arena,
                                "the engine did not end within %lld s (runner.timeout), was asked "
                                "to end%s%s",
                                (long long)r->job.timeout_seconds, killed, steps);
    return rco_arena_printf(&r->arena, "cancelled while the engine was running%s%s",
                            *killed ? ": it was asked to end" : "",
                            rco_arena_printf(&r->arena, "%s%s", killed, steps));
}

/* Class and message of an engine that ended otherwise than with 0. */
static void failed_engine(struct rco_runner *r, const struct rco_engine_done *d,
                          const struct rco_receipt_result *s, struct rco_runner_receipt *ret)
{
    const char *error = rco_str_empty(s->error) ? d->message : s->error;
    struct rco_engine_end end = {.exit_code = (int)d->exit_code,
                                 .timed_out = d->timed_out,
                                 .cancelled = d->cancelled,
                                 .plan_violation = s->plan_violation,
                                 .policy_violation = s->policy_violation,
                                 .resource_failed = s->resource_failed,
                                 .program_failed = s->program_failed,
                                 .error = error};
    enum rco_failure_class class = rco_fail_of_engine(&end);
    if (d->timed_out || d->cancelled)
        error = stopped_message(r, d, s);
    else if (rco_str_empty(error) && d->signal)
        error = rco_arena_printf(&r->arena, "the engine was ended by signal %lld%s",
                                 (long long)d->signal, d->signal == 9 ? " (out of memory?)" : "");
    else if (rco_str_empty(error))
        error = rco_arena_printf(&r->arena, "the engine ended with code %lld and without a message",
                                 (long long)d->exit_code);
    set_failure(r, ret, class, error, s->error_urn);
}

/* An apply that did everything and then failed to write its history (iac.md C2). */
static bool applied_after_all(const struct rco_engine_done *d, const struct rco_receipt_result *s)
{
    return s->update_done && s->update_ok && !s->resource_failed && !s->broken && !d->timed_out &&
           !d->cancelled && d->exit_code > 0;
}

static void judge_plan(struct rco_runner *r, const struct rco_engine_done *d,
                       const struct rco_receipt_result *s, struct rco_runner_receipt *ret)
{
    if (!d->ok)
        return;
    if (d->events_cut || s->broken)
        set_failure(r, ret, RCO_FAILURE_CLASS_INTERNAL,
                    rco_arena_printf(&r->arena, "the plan cannot be counted: %s",
                                     s->broken ? s->broken_why
                                               : "the engine wrote more events than are kept"),
                    NULL);
    else if (!s->preview_done || !s->preview_ok)
        set_failure(r, ret, RCO_FAILURE_CLASS_INTERNAL,
                    "the engine ended well, but its event stream has no summary of a preview",
                    NULL);
    else
        ret->result = RCO_APPLY_RESULT_SUCCEEDED;
}

static void judge_apply(const struct rco_engine_done *d, struct rco_runner_receipt *ret)
{
    /* Not by the state's digest: secret outputs are encrypted anew each time. */
    bool counted = ret->adds || ret->changes || ret->deletes || ret->replaces;
    if (!d->ok)
        return;
    ret->result =
        counted || d->outputs_changed ? RCO_APPLY_RESULT_SUCCEEDED : RCO_APPLY_RESULT_NO_CHANGES;
}

static void fill_facts(struct rco_runner *r, const struct rco_outcome_input *in,
                       struct rco_runner_receipt *ret)
{
    const struct rco_engine_done *d = &in->done;
    *ret = (struct rco_runner_receipt){
        .protocol = RCO_RUNNER_PROTOCOL,
        .has_protocol = true,
        .run_uid = r->job.run_uid,
        .phase = r->job.phase,
        .result = RCO_APPLY_RESULT_FAILED,
        .program_version = in->fetched.commit,
        .project = in->fetched.project,
        .stack = r->job.stack,
        .inputs_hash = d->inputs_hash,
        .workspace_digest = in->installed.workspace_digest,
        .plan_file_digest = d->plan_file_digest,
        .base_state_digest = d->base_state_digest,
        .state_digest = d->state_digest,
        .engine_version = d->engine_version,
        .runner_version = rco_runner_version(),
        .plugins = d->plugins,
        .n_plugins = d->n_plugins,
        .outputs = d->outputs,
        .n_outputs = d->n_outputs,
        .pending_operations = d->pending_operations,
        .has_pending_operations = true,
        .started_at = d->started_at,
        .finished_at = d->finished_at,
    };
}

void rco_outcome_receipt(struct rco_runner *r, const struct rco_outcome_input *in,
                         struct rco_runner_receipt *ret)
{
    struct rco_engine_done d = in->done;
    struct rco_receipt_result s;
    fill_facts(r, in, ret);
    rco_receipt_builder_fill(in->builder, &r->arena, ret);
    rco_receipt_builder_result(in->builder, &s);
    bool apply = r->job.phase == RCO_ENGINE_PHASE_APPLY;
    if (apply && d.by_stream && applied_after_all(&d, &s))
        d.ok = true;
    if (!d.ok && d.by_stream)
        failed_engine(r, &d, &s, ret);
    else if (!d.ok)
        set_failure(r, ret,
                    d.class > RCO_FAILURE_CLASS_UNKNOWN ? d.class : RCO_FAILURE_CLASS_INTERNAL,
                    rco_str_empty(d.message) ? "no message" : d.message, d.urn);
    if (apply) {
        judge_apply(&d, ret);
        /* When the stream cannot tell, the worse is true. */
        ret->may_have_changed = s.touched || (d.started && (s.broken || d.events_cut));
        ret->truncated = ret->truncated || s.broken || d.events_cut;
    } else {
        judge_plan(r, &d, &s, ret);
        ret->outputs_changed = s.outputs_changed || d.outputs_changed;
    }
}

void rco_outcome_without_result(struct rco_runner *r, struct rco_engine_done *ret)
{
    *ret = (struct rco_engine_done){
        .started = true,
        .class = RCO_FAILURE_CLASS_LOST,
        .events_cut = true, /* nobody knows what else was done */
        .message =
            r->job.phase == RCO_ENGINE_PHASE_APPLY
                ? "the engine's container ended without a result (out of memory?); what it did is "
                  "shown by the next plan"
                : "the engine's container ended without a result (out of memory?)",
    };
}
