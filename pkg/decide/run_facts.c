#include "decide/run_facts.h"

#include "api/names.h"
#include "decide/run_receipt_map.h"

static enum rco_phase phase_of(enum rco_run_state state)
{
    if (state == RCO_RUN_STATE_PLANNING)
        return RCO_PHASE_PLAN;
    return state == RCO_RUN_STATE_APPLYING ? RCO_PHASE_APPLY : RCO_PHASE_NONE;
}

static const struct rco_job *find_job(const struct rco_run_ctx *c)
{
    char name[RCO_NAME_SIZE];
    if (c->phase == RCO_PHASE_NONE)
        return NULL;
    rco_name_job(c->meta->uid, rco_phase_name(c->phase), name);
    for (size_t i = 0; i < c->o->n_jobs; i++)
        if (rco_streq(c->o->jobs[i]->metadata.name, name))
            return c->o->jobs[i];
    return NULL;
}

bool rco_run_is_before(const struct rco_run_ctx *c, enum rco_phase phase)
{
    return phase != RCO_PHASE_NONE &&
           c->state < (phase == RCO_PHASE_APPLY ? RCO_RUN_STATE_APPLYING : RCO_RUN_STATE_PLANNING);
}

bool rco_run_owns_job_name(const struct rco_run_ctx *c, const struct rco_job *job)
{
    char name[RCO_NAME_SIZE];
    const char *uid = c->meta ? c->meta->uid : rco_meta_label(&job->metadata, RCO_LABEL_RUN_UID);
    for (enum rco_phase phase = RCO_PHASE_PLAN; uid && phase <= RCO_PHASE_APPLY; phase++) {
        rco_name_job(uid, rco_phase_name(phase), name);
        if (rco_streq(job->metadata.name, name))
            return true;
    }
    return false;
}

static bool is_made_by(const struct rco_pod *pod, const char *job_uid)
{
    for (size_t i = 0; i < pod->metadata.n_owners; i++)
        if (pod->metadata.owners[i].controller && rco_streq(pod->metadata.owners[i].uid, job_uid))
            return true;
    return false;
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
        if (is_made_by(pod, e->job_uid) &&
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
    if (observed->anchor &&
        rco_streq(rco_meta_label(&observed->anchor->metadata, RCO_LABEL_RUN_UID), c->meta->uid))
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
