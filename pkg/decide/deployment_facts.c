#include "decide/deployment_facts.h"

#include "api/names.h"
#include "decide/run.h"
#include "pulumi/failure.h"

#include <stdlib.h>
#include <string.h>

static int compare_runs(const void *x, const void *y)
{
    const struct rco_run *a = *(const struct rco_run *const *)x;
    const struct rco_run *b = *(const struct rco_run *const *)y;
    int64_t va = a->spec.specification_version, vb = b->spec.specification_version;
    if (va != vb)
        return va < vb ? -1 : 1;
    int64_t na = rco_run_number(a->metadata.name), nb = rco_run_number(b->metadata.name);
    return na < nb ? -1 : na > nb;
}

static bool is_own(const struct rco_depspec_ctx *c, const struct rco_run *run)
{
    if (!rco_streq(run->spec.specification_id, c->meta->uid))
        return false;
    /* A run restored from a backup under another uid is inert and counts for nothing. */
    return rco_str_empty(run->status.provisioning_run_id) ||
           rco_streq(run->status.provisioning_run_id, run->metadata.uid);
}

static void collect_runs(struct rco_depspec_ctx *c)
{
    c->runs = rco_arena_array(c->a, c->o->n_runs + 1, sizeof(*c->runs));
    for (size_t i = 0; i < c->o->n_runs; i++)
        if (is_own(c, c->o->runs[i]))
            c->runs[c->n_runs++] = c->o->runs[i];
    if (!c->n_runs)
        return;
    qsort(c->runs, c->n_runs, sizeof(*c->runs), compare_runs);
    c->newest = c->runs[c->n_runs - 1];
    for (size_t i = c->n_runs; i-- > 0 && !c->current;)
        if (!rco_run_state_is_final(c->runs[i]->status.state))
            c->current = c->runs[i];
}

/* A run of a later version than the recorded one: it was made, and the specification changed back
 * before that version was recorded. */
static bool version_was_passed(const struct rco_depspec_ctx *c)
{
    return (c->newest && c->newest->spec.specification_version > c->next.version) ||
           (c->next.has_last_run && c->next.last_run.version > c->next.version);
}

/* What was looked at before and has not changed since needs no hash. */
static bool is_declared(const struct rco_depspec_ctx *c)
{
    return c->old->has_observed_generation && c->old->observed_generation == c->meta->generation &&
           c->old->has_version && !rco_str_empty(c->old->version_hash) && !version_was_passed(c);
}

/* The version is the generation at which a deploying field last changed. */
static void declare(struct rco_depspec_ctx *c)
{
    char *hash = rco_arena_alloc(c->a, RCO_SHA256_HEX);
    if (c->meta->deletion || is_declared(c))
        return;
    rco_depspec_version_hash(&c->spec->spec, hash);
    if (c->next.has_version && rco_streq(hash, c->next.version_hash) && !version_was_passed(c))
        return;
    c->declared = true;
    c->next.version = c->meta->generation;
    c->next.has_version = true;
    c->next.version_hash = hash;
    c->next.declared_at = c->now;
    rco_events_add(c->a, &c->next.events, &c->next.n_events, "SpecificationDeclared", c->now);
}

/* Runs of one specification are applied one after the other, in the order of version and number.
 * Times would lie: the clock may have been set back, or be another replica's. */
static bool was_applied_later(const struct rco_depspec_status *s, const struct rco_run *run)
{
    int64_t version = run->spec.specification_version;
    if (!s->has_applied_version || !s->has_applied_run_ref)
        return true;
    if (version != s->applied_version)
        return version > s->applied_version;
    return rco_run_number(run->metadata.name) > rco_run_number(s->applied_run_ref.name);
}

static void absorb_applied(struct rco_depspec_ctx *c)
{
    for (size_t i = 0; i < c->n_runs; i++) {
        const struct rco_run *run = c->runs[i];
        if (run->status.state != RCO_RUN_STATE_APPLIED || !was_applied_later(&c->next, run))
            continue;
        c->next.applied_version = run->spec.specification_version;
        c->next.has_applied_version = true;
        c->next.applied_at = run->status.completed_at;
        c->next.applied_run_ref =
            (struct rco_object_ref){.name = run->metadata.name, .uid = run->metadata.uid};
        c->next.has_applied_run_ref = true;
    }
}

static bool is_stale_class(enum rco_failure_class class)
{
    return class == RCO_FAILURE_CLASS_PLAN_STALE || class == RCO_FAILURE_CLASS_PLAN_VIOLATION;
}

static bool same_class(enum rco_failure_class a, enum rco_failure_class b)
{
    return a == b || (is_stale_class(a) && is_stale_class(b));
}

static void absorb_failure(struct rco_depspec_ctx *c, const struct rco_run *run, const char *inputs)
{
    const struct rco_depspec_status *old = c->old;
    struct rco_depspec_failure f = {.class = run->status.failure.class, .has_attempts = true};
    bool in_a_row = old->has_failure && old->has_last_run &&
                    old->last_run.version == run->spec.specification_version &&
                    rco_streq(old->last_run.snapshot_hash, inputs) &&
                    same_class(old->failure.class, f.class);
    char claim[RCO_NAME_SIZE];
    if (rco_streq(run->status.reason, RCO_REASON_STACK_CLAIMED) &&
        rco_run_claim_name(run, NULL, claim))
        f.blocked_by = rco_arena_strdup(c->a, claim);
    f.attempts = in_a_row ? old->failure.attempts + 1 : 1;
    rco_wall ended = rco_or_int(run->status.completed_at, c->now);
    int64_t delay = rco_fail_delay(f.class, f.attempts);
    if (delay >= 0 &&
        (is_stale_class(f.class) || rco_streq(run->status.reason, RCO_REASON_MISSING_SECRET)))
        f.next_attempt_at = ended + delay * RCO_US_PER_S;
    c->next.failure = f;
    c->next.has_failure = true;
}

/* Records the newest run that ended; older ones are settled by it. */
static void absorb_last(struct rco_depspec_ctx *c)
{
    const struct rco_run *run = NULL;
    for (size_t i = c->n_runs; i-- > 0 && !run;)
        if (rco_run_state_is_final(c->runs[i]->status.state))
            run = c->runs[i];
    if (!run)
        return;
    int64_t number = rco_run_number(run->metadata.name);
    const struct rco_depspec_last_run *old = &c->old->last_run;
    if (c->old->has_last_run &&
        (rco_streq(old->uid, run->metadata.uid) || old->version > run->spec.specification_version ||
         (old->version == run->spec.specification_version && old->number > number)))
        return;
    char *inputs = rco_arena_alloc(c->a, RCO_SHA256_HEX);
    rco_resolved_inputs(&run->spec.snapshot, inputs);
    c->next.last_run = (struct rco_depspec_last_run){
        .name = run->metadata.name,
        .uid = run->metadata.uid,
        .version = run->spec.specification_version,
        .has_version = true,
        .number = number > 0 ? number : 1,
        .has_number = true,
        .kind = run->spec.kind,
        .state = run->status.state,
        .reason = run->status.reason,
        .snapshot_hash = inputs,
        .completed_at = run->status.completed_at,
    };
    c->next.has_last_run = true;
    c->next.has_failure = false;
    c->next.failure = (struct rco_depspec_failure){0};
    if (run->status.state == RCO_RUN_STATE_FAILED)
        absorb_failure(c, run, inputs);
}

static void refer_to_current(struct rco_depspec_ctx *c)
{
    c->next.has_current_run_ref = c->current != NULL;
    c->next.current_run_ref = (struct rco_object_ref){0};
    if (c->current)
        c->next.current_run_ref = (struct rco_object_ref){.name = c->current->metadata.name,
                                                          .uid = c->current->metadata.uid};
}

/* The value of the request for a new run when the status does not show it as handled, else NULL. */
static const char *pending_request(const struct rco_depspec_ctx *c)
{
    const char *asked = rco_meta_annotation(c->meta, RCO_ANNOTATION_RUN_NOW);
    if (rco_str_empty(asked))
        return NULL;
    asked = rco_message_cut(c->a, asked, RCO_REQUEST_MAX);
    return rco_streq(rco_kv_get(c->next.handled_requests, c->next.n_handled_requests, "run-now"),
                     asked)
               ? NULL
               : asked;
}

static void set_handled(struct rco_depspec_ctx *c, const char *asked)
{
    struct rco_kv *kv = rco_arena_array(c->a, 1, sizeof(*kv));
    *kv = (struct rco_kv){"run-now", asked};
    c->next.handled_requests = kv;
    c->next.n_handled_requests = 1;
}

/* A run that carries the request's value is the request carried out. */
static void handle_requests(struct rco_depspec_ctx *c)
{
    const char *asked = pending_request(c);
    for (size_t i = 0; asked && i < c->n_runs; i++) {
        if (!rco_streq(rco_meta_annotation(&c->runs[i]->metadata, RCO_ANNOTATION_RUN_NOW), asked))
            continue;
        set_handled(c, asked);
        return;
    }
    c->run_now = asked;
}

void rco_depspec_ignore_request(struct rco_depspec_ctx *c)
{
    const char *asked = pending_request(c);
    if (asked)
        set_handled(c, asked);
}

/* A status of another uid was written back by a restore from a backup. What it says is of that
 * other life: nothing is made from it until a person asks for a run, and then it begins anew. A
 * request that was in the backup is no such question: the first decision shelves it. */
static void look_for_restore(struct rco_depspec_ctx *c)
{
    static const struct rco_depspec_status none = {0};
    const struct rco_depspec_status *s = &c->spec->status;
    c->old = s;
    if (rco_str_empty(s->specification_id) || rco_streq(s->specification_id, c->meta->uid))
        return;
    const struct rco_condition *ready = rco_condition_find(s->conditions, s->n_conditions, "Ready");
    c->resumed = ready && rco_streq(ready->reason, RCO_REASON_RESTORED) && pending_request(c);
    c->restored = !c->resumed;
    if (c->resumed) {
        c->old = &none;
        c->next = none;
    }
}

void rco_depspec_ctx_init(struct rco_depspec_ctx *c, const struct rco_depspec_observed *observed,
                          rco_wall now, struct rco_plan *plan)
{
    *c = (struct rco_depspec_ctx){.o = observed,
                                  .spec = observed->spec,
                                  .plan = plan,
                                  .a = plan->arena,
                                  .meta = &observed->spec->metadata};
    c->now = now / RCO_US_PER_S * RCO_US_PER_S; /* as the API keeps times */
    c->next = c->spec->status;
    look_for_restore(c);
    if (!c->restored)
        c->next.specification_id = c->meta->uid;
    c->next.observed_generation = c->meta->generation;
    c->next.has_observed_generation = true;
    c->conditions = rco_conditions_begin(c->a, c->spec->status.conditions,
                                         c->spec->status.n_conditions, c->meta->generation, c->now);
    collect_runs(c);
    if (c->restored)
        return;
    declare(c);
    absorb_applied(c);
    absorb_last(c);
    refer_to_current(c);
    handle_requests(c);
    rco_resolve(observed, c->a, &c->resolution);
}

bool rco_depspec_has_run_of_version(const struct rco_depspec_ctx *c)
{
    return (c->newest && c->newest->spec.specification_version == c->next.version) ||
           (c->next.has_last_run && c->next.last_run.version == c->next.version);
}

int64_t rco_depspec_next_number(const struct rco_depspec_ctx *c)
{
    int64_t number = 0;
    if (c->newest && c->newest->spec.specification_version == c->next.version)
        number = rco_run_number(c->newest->metadata.name);
    if (c->next.has_last_run && c->next.last_run.version == c->next.version &&
        c->next.last_run.number > number)
        number = c->next.last_run.number;
    return number + 1;
}

static bool is_news(const struct rco_condition *old, const struct rco_condition *ready)
{
    return ready && (!old || !rco_streq(old->reason, ready->reason) ||
                     !rco_streq(old->status, ready->status));
}

void rco_depspec_commit(struct rco_depspec_ctx *c)
{
    const struct rco_condition *old =
        rco_condition_find(c->spec->status.conditions, c->spec->status.n_conditions, "Ready");
    const struct rco_condition *ready =
        rco_condition_find(c->conditions.items, c->conditions.n, "Ready");
    c->next.conditions = c->conditions.n ? c->conditions.items : NULL;
    c->next.n_conditions = c->conditions.n;
    if (!rco_plan_patch_status(c->plan, RCO_KIND_DEPSPEC, c->meta, &c->spec->status, &c->next))
        return;
    if (c->declared)
        rco_plan_event(c->plan, RCO_KIND_DEPSPEC, c->meta, "Normal", "SpecificationDeclared",
                       rco_message(c->a, "version %lld: commit %s of %s",
                                   (long long)c->next.version, c->spec->spec.program_version,
                                   c->spec->spec.program_ref));
    /* Reconciling comes and goes with every version; only what a person acts on is told. */
    if (is_news(old, ready) && !rco_streq(ready->reason, "Progressing"))
        rco_plan_event(c->plan, RCO_KIND_DEPSPEC, c->meta,
                       rco_streq(ready->status, "True") ? "Normal" : "Warning", ready->reason,
                       ready->message);
}

void rco_depspec_create_run(struct rco_depspec_ctx *c, int64_t number)
{
    const struct rco_depspec_spec *s = &c->spec->spec;
    char name[RCO_NAME_SIZE];
    rco_name_run(c->meta->name, c->meta->uid, c->next.version, "Baseline", number, name);
    const char *const finalizers[] = {RCO_FINALIZER_RUN};
    struct rco_kv labels[] = {
        {RCO_LABEL_MANAGED_BY, RCO_MANAGED_BY}, {RCO_LABEL_ENVIRONMENT, s->environment_id},
        {RCO_LABEL_PROJECT, s->project_id},     {RCO_LABEL_SPECIFICATION, c->meta->name},
        {RCO_LABEL_TENANT, s->tenant_id},
    };
    struct rco_kv annotations[] = {{RCO_ANNOTATION_RUN_NOW, c->run_now}};
    struct rco_run run = {
        .metadata = {.name = name,
                     .ns = c->meta->ns,
                     .labels = labels,
                     .n_labels = RCO_ARRAY_LEN(labels),
                     .annotations = annotations,
                     .n_annotations = c->run_now ? 1 : 0,
                     .finalizers = (const char **)finalizers,
                     .n_finalizers = 1},
        .spec = {.tenant_id = s->tenant_id,
                 .project_id = s->project_id,
                 .environment_id = s->environment_id,
                 .specification_id = c->meta->uid,
                 .specification_ref = {.name = c->meta->name, .uid = c->meta->uid},
                 .has_specification_ref = true,
                 .specification_version = c->next.version,
                 .has_specification_version = true,
                 .kind = RCO_RUN_KIND_BASELINE,
                 .environment_class = c->o->env->spec.class > RCO_ENV_CLASS_UNKNOWN
                                          ? c->o->env->spec.class
                                          : RCO_ENV_CLASS_PRODUCTION,
                 .snapshot = c->resolution.snapshot,
                 .has_snapshot = true},
        .has_spec = true,
    };
    if (!run.metadata.n_annotations)
        run.metadata.annotations = NULL;
    rco_autobuf body = RCO_BUF_INIT;
    rco_kind_encode(RCO_KIND_RUN, &run, &body);
    rco_plan_create(c->plan, RCO_KIND_RUN, c->meta->ns, name, &body, RCO_EXISTS_COMPARE);
}
