#include "decide/run_facts.h"

#include <string.h>

/* Restored copies are inert and stand in nobody's way. */
static bool is_inert(const struct rco_run *run)
{
    return !rco_str_empty(run->status.provisioning_run_id) &&
           !rco_streq(run->status.provisioning_run_id, run->metadata.uid);
}

static bool is_newer(const struct rco_run *other, const struct rco_run *run)
{
    if (other->spec.specification_version != run->spec.specification_version)
        return other->spec.specification_version > run->spec.specification_version;
    return rco_run_number(other->metadata.name) > rco_run_number(run->metadata.name);
}

static const struct rco_run *find_newer(const struct rco_run *run,
                                        const struct rco_run *const *others, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(others[i]->spec.specification_id, run->spec.specification_id) &&
            !is_inert(others[i]) && is_newer(others[i], run))
            return others[i];
    return NULL;
}

const char *rco_run_stop(const struct rco_run *run, const struct rco_depspec *spec,
                         const struct rco_run *const *others, size_t n_others, struct rco_arena *a,
                         const char **ret_text)
{
    const struct rco_run *newer = find_newer(run, others, n_others);
    if (run->spec.has_cancel) {
        *ret_text = rco_message(a, "cancelled by %s%s%s", rco_or(run->spec.cancel.by, "?"),
                                rco_str_empty(run->spec.cancel.reason) ? "" : ": ",
                                rco_str_or_empty(run->spec.cancel.reason));
        return "CancelRequested";
    }
    if (run->metadata.deletion) {
        *ret_text = "the run was deleted before it began to apply";
        return "Deleted";
    }
    if (!spec) {
        *ret_text = rco_message(a, "DeploymentSpecification %s with uid %s is gone",
                                run->spec.specification_ref.name, run->spec.specification_id);
        return "SpecificationGone";
    }
    if (spec->metadata.deletion) {
        *ret_text =
            rco_message(a, "DeploymentSpecification %s is being deleted", spec->metadata.name);
        return "SpecificationDeleted";
    }
    if (newer) {
        *ret_text = rco_message(a, "replaced by run %s of version %lld", newer->metadata.name,
                                (long long)newer->spec.specification_version);
        return "Replaced";
    }
    if (spec->status.has_version && spec->status.version > run->spec.specification_version) {
        *ret_text = rco_message(a, "replaced by version %lld of DeploymentSpecification %s",
                                (long long)spec->status.version, spec->metadata.name);
        return "Replaced";
    }
    if (spec->spec.suspend) {
        *ret_text = rco_message(a,
                                "DeploymentSpecification %s is suspended; a new run starts when "
                                "spec.suspend is taken back",
                                spec->metadata.name);
        return RCO_REASON_SUSPENDED;
    }
    return NULL;
}

enum rco_verdict rco_run_heartbeat(const struct rco_run *run, const struct rco_depspec *spec,
                                   enum rco_phase phase, rco_wall now, const char **ret_why)
{
    const char *why = NULL, *text;
    rco_autoarena a = RCO_ARENA_INIT;
    bool own = spec && rco_streq(spec->metadata.uid, run->spec.specification_id);
    bool planning = run->status.state == RCO_RUN_STATE_PLANNING;
    bool applying = run->status.state == RCO_RUN_STATE_APPLYING;
    (void)now; /* the runner itself keeps the time limit */
    if (phase == RCO_PHASE_PLAN && planning)
        why = rco_run_stop(run, own ? spec : NULL, NULL, 0, &a, &text);
    else if (phase == RCO_PHASE_APPLY && applying)
        why = run->spec.has_cancel ? "CancelRequested" : NULL; /* only a person stops an apply */
    else if (rco_run_state_is_final(run->status.state))
        why = "Ended";
    if (ret_why)
        *ret_why = why;
    return why ? RCO_VERDICT_CANCEL : RCO_VERDICT_CONTINUE;
}

/* ---- who keeps whom from starting an engine ---- */

static bool same_stack(const struct rco_run *a, const struct rco_run *b)
{
    const struct rco_resolved *x = &a->spec.snapshot, *y = &b->spec.snapshot;
    return rco_streq(a->spec.specification_id, b->spec.specification_id) ||
           (rco_streq(x->stack_name, y->stack_name) && rco_streq(x->backend.url, y->backend.url) &&
            rco_streq(x->backend.claim_name, y->backend.claim_name));
}

static bool same_volume(const struct rco_run *a, const struct rco_run *b)
{
    const char *x = a->spec.snapshot.backend.claim_name;
    return !rco_str_empty(x) && rco_streq(x, b->spec.snapshot.backend.claim_name);
}

static bool has_held_pod(const struct rco_run_ctx *c, const struct rco_run *other)
{
    for (size_t i = 0; i < c->o->n_other_pods; i++) {
        const struct rco_pod *pod = c->o->other_pods[i];
        if (rco_pod_is_held(pod) &&
            rco_streq(rco_meta_label(&pod->metadata, RCO_LABEL_RUN_UID), other->metadata.uid))
            return true;
    }
    return false;
}

/* Older by creation; names decide between two of one second. */
static bool is_older(const struct rco_run *other, const struct rco_run *run)
{
    if (other->metadata.creation != run->metadata.creation)
        return other->metadata.creation < run->metadata.creation;
    return strcmp(other->metadata.name, run->metadata.name) < 0;
}

/* One that plans or applies, or whose pod is not released, stands in the way of everybody. One
 * between its plan and its apply keeps its place against those that have not begun, and so does an
 * older one that waits. */
static bool blocks(const struct rco_run_ctx *c, const struct rco_run *other)
{
    enum rco_run_state s = other->status.state;
    if (s == RCO_RUN_STATE_PLANNING || s == RCO_RUN_STATE_APPLYING || has_held_pod(c, other))
        return true;
    if (c->state == RCO_RUN_STATE_PLANNED || rco_run_state_is_final(s))
        return false;
    /* Of one's own specification the newer run is the one that stays. */
    if (rco_streq(other->spec.specification_id, c->run->spec.specification_id))
        return s == RCO_RUN_STATE_PLANNED;
    /* One without a state has not taken its place yet: it may be restored from a backup, without a
     * specification, and never begin. */
    return s == RCO_RUN_STATE_PLANNED ||
           (s != RCO_RUN_STATE_UNSET && s <= RCO_RUN_STATE_PENDING && is_older(other, c->run));
}

const struct rco_run *rco_run_blocker(const struct rco_run_ctx *c, const char **ret_reason)
{
    for (size_t i = 0; i < c->o->n_others; i++) {
        const struct rco_run *other = c->o->others[i];
        bool stack = same_stack(c->run, other);
        if (rco_streq(other->metadata.uid, c->meta->uid) || is_inert(other) ||
            !(stack || same_volume(c->run, other)) || !blocks(c, other))
            continue;
        *ret_reason = stack ? "StackBusy" : "VolumeBusy";
        return other;
    }
    return NULL;
}
