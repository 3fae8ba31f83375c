/* Deletion of a specification (what was deployed stays), its finalizer, and the history of its
 * runs. */
#include "decide/deployment_facts.h"

#define PRUNE_MAX 5 /* runs deleted by one decision */
#define HISTORY_DEFAULT 20
#define CTX(p) ((struct rco_depspec_ctx *)(p))

/* ---- deletion: what was deployed stays ---- */

static bool has_finalizer(const struct rco_depspec_ctx *c)
{
    return rco_meta_has_finalizer(c->meta, RCO_FINALIZER_SPECIFICATION);
}

static bool is_ending(const struct rco_depspec_ctx *c)
{
    return c->meta->deletion && has_finalizer(c);
}

static const struct rco_run *unfinished(const struct rco_depspec_ctx *c)
{
    for (size_t i = 0; i < c->n_runs; i++)
        if (!rco_run_state_is_final(c->runs[i]->status.state))
            return c->runs[i];
    return NULL;
}

/* A namespace that is terminating takes everything with it; retaining needs no waiting. */
static bool namespace_ends(const struct rco_depspec_ctx *c)
{
    return c->o->ns && (c->o->ns->metadata.deletion ||
                        c->o->ns->status.phase == RCO_NAMESPACE_PHASE_TERMINATING);
}

bool rco_depspec_is_deletion_run(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return is_ending(c) && !namespace_ends(c) && unfinished(c);
}

static void tell_ending(struct rco_depspec_ctx *c, const char *reason, const char *message)
{
    rco_conditions_set(&c->conditions, "Ready", "False", reason, message);
    rco_conditions_set(&c->conditions, "Reconciling", "True", reason, message);
    rco_conditions_remove(&c->conditions, "Stalled");
    rco_depspec_commit(c);
}

void rco_depspec_do_deletion_run(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    tell_ending(
        c, "DeletionWaits",
        rco_message(c->a,
                    "deletion waits for run %s; a run that applies goes on to its end, any other "
                    "is cancelled. What was deployed stays",
                    unfinished(c)->metadata.name));
}

static bool is_busy_claim(const struct rco_lease *claim)
{
    return !rco_str_empty(
        rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID));
}

static const struct rco_lease *busy_claim(const struct rco_depspec_ctx *c)
{
    for (size_t i = 0; i < c->o->n_claims; i++)
        if (is_busy_claim(c->o->claims[i]))
            return c->o->claims[i];
    return NULL;
}

bool rco_depspec_is_deletion_engine(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    return is_ending(c) && !namespace_ends(c) && busy_claim(c);
}

void rco_depspec_do_deletion_engine(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    const struct rco_lease *claim = busy_claim(c);
    tell_ending(
        c, "DeletionWaits",
        rco_message(
            c->a,
            "deletion waits until the engine in pod %s has ended (stack %s). When that pod "
            "is gone and surely no longer runs: kubectl delete lease %s -n %s",
            rco_or(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD), "?"),
            rco_or(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_STACK), "?"),
            claim->metadata.name, claim->metadata.ns));
}

bool rco_depspec_is_deletion_claims(const void *p)
{
    const struct rco_depspec_ctx *c = CTX(p);
    for (size_t i = 0; is_ending(c) && i < c->o->n_claims; i++)
        if (!is_busy_claim(c->o->claims[i]) && !c->o->claims[i]->metadata.deletion)
            return true;
    return false;
}

void rco_depspec_do_deletion_claims(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    for (size_t i = 0; i < c->o->n_claims; i++)
        if (!is_busy_claim(c->o->claims[i]) && !c->o->claims[i]->metadata.deletion)
            rco_plan_delete(c->plan, RCO_KIND_LEASE, &c->o->claims[i]->metadata);
}

bool rco_depspec_is_deletion_released(const void *p)
{
    return is_ending(CTX(p));
}

void rco_depspec_do_deletion_released(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    if (c->next.has_applied_version)
        rco_plan_event(
            c->plan, RCO_KIND_DEPSPEC, c->meta, "Normal", "Retained",
            rco_message(c->a,
                        "version %lld stays deployed; its runs stay readable until someone "
                        "deletes them",
                        (long long)c->next.applied_version));
    rco_plan_remove_finalizer(c->plan, RCO_KIND_DEPSPEC, c->meta, RCO_FINALIZER_SPECIFICATION);
}

bool rco_depspec_is_no_finalizer(const void *p)
{
    return !has_finalizer(CTX(p));
}

void rco_depspec_do_no_finalizer(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    rco_plan_add_finalizer(c->plan, RCO_KIND_DEPSPEC, c->meta, RCO_FINALIZER_SPECIFICATION);
}

/* ---- history ---- */

/* Finished, recorded, and nothing of it was ever applied. */
static bool may_be_pruned(const struct rco_depspec_ctx *c, const struct rco_run *run)
{
    return run != c->newest && rco_run_state_is_final(run->status.state) &&
           run->status.state != RCO_RUN_STATE_APPLIED && !run->status.has_apply_receipt &&
           !(run->status.has_engine && run->status.engine.phase == RCO_ENGINE_PHASE_APPLY &&
             run->status.engine.pod_uid) &&
           !rco_streq(run->metadata.uid, c->next.last_run.uid);
}

static int64_t surplus(const struct rco_depspec_ctx *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->n_runs; i++)
        n += may_be_pruned(c, c->runs[i]) && !c->runs[i]->metadata.deletion;
    return n - rco_or_int(c->o->config->history_limit, HISTORY_DEFAULT);
}

bool rco_depspec_is_history(const void *p)
{
    return surplus(CTX(p)) > 0;
}

void rco_depspec_do_history(void *p)
{
    struct rco_depspec_ctx *c = CTX(p);
    int64_t left = surplus(c);
    for (size_t i = 0, done = 0; i < c->n_runs && left > 0 && done < PRUNE_MAX; i++) {
        if (!may_be_pruned(c, c->runs[i]) || c->runs[i]->metadata.deletion)
            continue;
        rco_plan_delete(c->plan, RCO_KIND_RUN, &c->runs[i]->metadata);
        left--;
        done++;
    }
}
