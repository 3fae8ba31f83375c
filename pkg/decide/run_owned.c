#include "decide/run_owned.h"

#include "api/names.h"
#include "decide/run_facts.h"
#include "json/writer.h"
#include "pulumi/job.h"

const char *rco_run_job_name(const struct rco_run_ctx *c)
{
    char name[RCO_NAME_SIZE];
    rco_name_job(c->meta->uid, rco_phase_name(c->phase), name);
    return rco_arena_strdup(c->a, name);
}

const char *rco_run_anchor_name(const struct rco_run_ctx *c)
{
    char name[RCO_NAME_SIZE];
    rco_name_anchor(c->meta->uid, name);
    return rco_arena_strdup(c->a, name);
}

const char *rco_run_made(const struct rco_run_ctx *c, enum rco_kind kind, const char *name)
{
    const struct rco_outcome *x = rco_outcome_find(c->o->outcomes, c->o->n_outcomes, kind, name);
    return x && (x->type == RCO_OUTCOME_CREATED || x->type == RCO_OUTCOME_SAME) ? x->uid : NULL;
}

const struct rco_outcome *rco_run_foreign(const struct rco_run_ctx *c)
{
    for (size_t i = 0; i < c->o->n_outcomes; i++) {
        const struct rco_outcome *x = &c->o->outcomes[i];
        if (x->type == RCO_OUTCOME_FOREIGN &&
            (x->kind == RCO_KIND_JOB || x->kind == RCO_KIND_CONFIGMAP))
            return x;
    }
    return NULL;
}

static bool is_foreign(const struct rco_run_ctx *c, enum rco_kind kind, const char *name)
{
    const struct rco_outcome *x = rco_outcome_find(c->o->outcomes, c->o->n_outcomes, kind, name);
    return x && x->type == RCO_OUTCOME_FOREIGN;
}

/* Nothing was known to be left of it when its finalizer went, and the cache has forgotten what it
 * acted on. */
static bool is_let_go(const struct rco_run_ctx *c)
{
    return !rco_meta_has_finalizer(c->meta, RCO_FINALIZER_RUN);
}

/* ---- Jobs ---- */

static enum rco_phase phase_of_job(const struct rco_run_ctx *c, const struct rco_job *job)
{
    char name[RCO_NAME_SIZE];
    const char *uid = c->meta ? c->meta->uid : rco_meta_label(&job->metadata, RCO_LABEL_RUN_UID);
    for (enum rco_phase phase = RCO_PHASE_PLAN; uid && phase <= RCO_PHASE_APPLY; phase++) {
        rco_name_job(uid, rco_phase_name(phase), name);
        if (rco_streq(job->metadata.name, name))
            return phase;
    }
    return RCO_PHASE_NONE;
}

bool rco_run_is_recorded_job(const struct rco_run_ctx *c, const struct rco_job *job)
{
    return c->run && rco_streq(job->metadata.uid, c->run->status.engine.job_uid);
}

bool rco_run_has_come_to_job(const struct rco_run_ctx *c, const struct rco_job *job)
{
    return !c->run || !rco_run_is_before(c, phase_of_job(c, job));
}

bool rco_run_may_delete_job(const struct rco_run_ctx *c, const struct rco_job *job)
{
    if (job->metadata.deletion || phase_of_job(c, job) == RCO_PHASE_NONE)
        return false;
    if (!c->run || rco_run_is_recorded_job(c, job))
        return true;
    if (is_let_go(c))
        return rco_job_over_since(job) != 0;
    return !is_foreign(c, RCO_KIND_JOB, job->metadata.name);
}

void rco_run_delete_job(struct rco_run_ctx *c, const struct rco_job *job)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_error ignored = RCO_ERROR_INIT;
    if (!c->run || rco_run_is_recorded_job(c, job) || is_let_go(c)) {
        rco_plan_delete(c->plan, RCO_KIND_JOB, &job->metadata);
        return;
    }
    /* What cannot be written we never made: nothing is the same as an empty object. */
    if (rco_job_write(c->run, phase_of_job(c, job), &c->o->config->job, c->a, &body, &ignored) != 0)
        rco_buf_adds(&body, "{}");
    rco_plan_delete_same(c->plan, RCO_KIND_JOB, &job->metadata, &body);
}

/* ---- the anchor ---- */

void rco_run_write_anchor(const struct rco_run_ctx *c, struct rco_buf *out)
{
    struct rco_json_writer w;
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_kind_write_header(&w, RCO_KIND_CONFIGMAP);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "name", rco_run_anchor_name(c));
    rco_json_kv_string(&w, "namespace", c->meta->ns);
    rco_json_kv_object(&w, "labels");
    rco_job_write_labels(&w, c->run, RCO_PHASE_NONE);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_kv_object(&w, "data");
    rco_json_kv_string(&w, "run", c->meta->name);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

/* Whether the object under the anchor's name is one that carries the mark of its run. */
static bool is_marked_anchor(const struct rco_run_ctx *c)
{
    char name[RCO_NAME_SIZE];
    const struct rco_meta *m = c->o->anchor ? &c->o->anchor->metadata : NULL;
    const char *uid = m ? rco_meta_label(m, RCO_LABEL_RUN_UID) : NULL;
    if (!uid || m->deletion || (c->run && !rco_streq(uid, c->meta->uid)))
        return false;
    rco_name_anchor(uid, name);
    return rco_streq(m->name, name);
}

bool rco_run_may_delete_anchor(const struct rco_run_ctx *c)
{
    if (!is_marked_anchor(c))
        return false;
    return !c->run || c->anchor || !is_foreign(c, RCO_KIND_CONFIGMAP, rco_run_anchor_name(c));
}

void rco_run_delete_anchor(struct rco_run_ctx *c)
{
    rco_autobuf body = RCO_BUF_INIT;
    if (!c->run || c->anchor) {
        rco_plan_delete(c->plan, RCO_KIND_CONFIGMAP, &c->o->anchor->metadata);
        return;
    }
    rco_run_write_anchor(c, &body);
    rco_plan_delete_same(c->plan, RCO_KIND_CONFIGMAP, &c->o->anchor->metadata, &body);
}
