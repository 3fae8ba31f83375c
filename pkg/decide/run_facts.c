#include "decide/run_facts.h"

#include "api/names.h"
#include "decide/run_receipt_map.h"

static enum rco_phase phase_of(enum rco_run_state state)
{
    if (state == RCO_RUN_STATE_PLANNING)
        return RCO_PHASE_PLAN;
    return state == RCO_RUN_STATE_APPLYING ? RCO_PHASE_APPLY : RCO_PHASE_NONE;
}

/* By its uid: under its name anybody's Job may stand. */
static const struct rco_job *find_job(const struct rco_run_ctx *c)
{
    const char *uid = c->run->status.engine.job_uid;
    if (c->phase == RCO_PHASE_NONE || rco_str_empty(uid))
        return NULL;
    for (size_t i = 0; i < c->o->n_jobs; i++)
        if (rco_streq(c->o->jobs[i]->metadata.uid, uid))
            return c->o->jobs[i];
    return NULL;
}

bool rco_run_is_before(const struct rco_run_ctx *c, enum rco_phase phase)
{
    return phase != RCO_PHASE_NONE &&
           c->state < (phase == RCO_PHASE_APPLY ? RCO_RUN_STATE_APPLYING : RCO_RUN_STATE_PLANNING);
}

rco_wall rco_job_over_since(const struct rco_job *job)
{
    static const char *const types[] = {"Complete", "Failed"};
    const struct rco_job_status *s = &job->status;
    for (size_t i = 0; i < RCO_ARRAY_LEN(types); i++) {
        const struct rco_condition *x =
            rco_condition_find(s->conditions, s->n_conditions, types[i]);
        if (x && rco_streq(x->status, "True"))
            return x->last_transition_time;
    }
    return 0;
}

static const struct rco_pod *find_pod(const struct rco_run_ctx *c)
{
    const struct rco_run_engine *e = &c->run->status.engine;
    const struct rco_pod *newest = NULL;
    if (c->phase == RCO_PHASE_NONE || rco_str_empty(e->job_uid))
        return NULL;
    if (c->started)
        return rco_run_pod_by_uid(c, e->pod_uid);
    for (size_t i = 0; i < c->o->n_pods; i++) {
        const struct rco_pod *pod = c->o->pods[i];
        /* The Job controller also takes in strangers that carry its labels: ours are held. */
        if (rco_meta_is_controlled_by(&pod->metadata, "Job", e->job_uid) && rco_pod_is_held(pod) &&
            (!newest || pod->metadata.creation > newest->metadata.creation))
            newest = pod;
    }
    return newest;
}

static const struct rco_lease *find_claim(const struct rco_run_ctx *c)
{
    char name[RCO_NAME_SIZE];
    const struct rco_runner_start *s = c->start ? c->start->request : NULL;
    if (!c->o->claim || !rco_run_claim_name(c->run, s ? s->project : NULL, name))
        return NULL;
    return rco_streq(c->o->claim->metadata.name, name) ? c->o->claim : NULL;
}

void rco_run_ctx_init(struct rco_run_ctx *c, const struct rco_run_observed *observed, rco_wall now,
                      struct rco_plan *plan)
{
    const struct rco_run *run = observed->run;
    *c = (struct rco_run_ctx){.o = observed,
                              .run = run,
                              .meta = &run->metadata,
                              .plan = plan,
                              .a = plan->arena,
                              .state = run->status.state,
                              .phase = phase_of(run->status.state)};
    c->now = now / RCO_US_PER_S * RCO_US_PER_S; /* as the API keeps times */
    c->next = run->status;
    c->conditions = rco_conditions_begin(c->a, c->next.conditions, c->next.n_conditions,
                                         c->meta->generation, c->now);
    if (observed->spec && rco_streq(observed->spec->metadata.uid, run->spec.specification_id))
        c->spec = observed->spec;
    if (observed->anchor && run->status.has_anchor &&
        rco_streq(observed->anchor->metadata.uid, run->status.anchor.uid))
        c->anchor = observed->anchor;
    c->started = c->phase != RCO_PHASE_NONE && run->status.has_engine &&
                 rco_phase_parse(rco_engine_phase_name(run->status.engine.phase)) == c->phase &&
                 !rco_str_empty(run->status.engine.pod_uid);
    c->job = find_job(c);
    c->pod = find_pod(c);
    c->stop = rco_run_stop(run, c->spec, observed->others, observed->n_others, c->a, &c->stop_text);
    if (observed->mailbox.n_starts) {
        c->start = &observed->mailbox.starts[0];
        c->start_pod = rco_run_pod_by_uid(c, c->start->pod_uid);
    }
    c->claim = find_claim(c);
    rco_receipt_choose(c);
}
