#include "pulumi/receipt.h"

#include "base/map.h"
#include "base/str.h"
#include "pulumi/diagnostics.h"
#include "pulumi/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct type_count {
    const char *type;
    int64_t adds, changes, deletes, replaces;
};

/* A resource that is being replaced: it is deleted and made again, in either order. */
struct half {
    const char *urn, *type;
    bool made;
};

struct rco_receipt_builder {
    enum rco_engine_phase phase;
    bool updating; /* apply: the preview part is over */
    struct rco_arena a;
    struct rco_map open;       /* update part: "op urn" of steps that began and did not end */
    struct rco_map types;      /* type -> struct type_count, of the phase's own part */
    struct rco_operation *ops; /* changing steps of the preview part */
    size_t n_ops, size_ops;
    struct rco_operation *done; /* apply: changing steps of the update part that succeeded */
    size_t n_done, size_done;
    struct rco_map halves; /* update part: URN -> struct half, of replacements */
    struct half **deleted; /* those that were deleted, in order */
    size_t n_deleted, size_deleted;
    struct rco_diagnostics diagnostics;
    const char *failed_urn; /* of the first resource that failed */
    struct rco_receipt_result r;
};

struct rco_receipt_builder *rco_receipt_builder_new(enum rco_engine_phase phase)
{
    struct rco_receipt_builder *b = rco_calloc(1, sizeof(*b));
    b->phase = phase;
    return b;
}

void rco_receipt_builder_free(struct rco_receipt_builder *b)
{
    if (!b)
        return;
    rco_map_release(&b->open);
    rco_map_release(&b->types);
    rco_map_release(&b->halves);
    rco_arena_release(&b->a);
    free(b->ops);
    free(b->done);
    free(b->deleted);
    free(b);
}

static void mark_broken(struct rco_receipt_builder *b, const char *why)
{
    if (b->r.broken)
        return;
    b->r.broken = true;
    b->r.broken_why = why;
}

static void push(struct rco_receipt_builder *b, struct rco_operation **list, size_t *n,
                 size_t *size, const struct rco_engine_event *e)
{
    if (*n >= RCO_RECEIPT_MAX_STEPS) {
        mark_broken(b, "the operation has more than 200000 steps");
        return;
    }
    if (*n == *size) {
        *size = *size ? *size * 2 : 64;
        *list = rco_realloc(*list, *size * sizeof(**list));
    }
    (*list)[(*n)++] = (struct rco_operation){.urn = rco_arena_strdup(&b->a, e->urn),
                                             .op = rco_arena_strdup(&b->a, e->op)};
}

static struct type_count *type_of(struct rco_receipt_builder *b, const char *type)
{
    struct type_count *t = rco_map_get(&b->types, type);
    if (!t) {
        t = RCO_NEW(&b->a, struct type_count);
        t->type = rco_arena_strdup(&b->a, type);
        rco_map_set(&b->types, t->type, t);
    }
    return t;
}

static void count(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    enum rco_op_class class = rco_op_classify(e->op);
    struct rco_receipt_result *r = &b->r;
    r->sames += class == RCO_OP_SAME;
    if (class != RCO_OP_ADD && class != RCO_OP_CHANGE && class != RCO_OP_DELETE &&
        class != RCO_OP_REPLACE)
        return;
    struct type_count *t = type_of(b, e->resource_type);
    r->adds += class == RCO_OP_ADD;
    t->adds += class == RCO_OP_ADD;
    r->changes += class == RCO_OP_CHANGE;
    t->changes += class == RCO_OP_CHANGE;
    r->deletes += class == RCO_OP_DELETE;
    t->deletes += class == RCO_OP_DELETE;
    r->replaces += class == RCO_OP_REPLACE;
    t->replaces += class == RCO_OP_REPLACE;
}

static const struct rco_value *outputs_of(const struct rco_value *metadata, const char *which)
{
    const struct rco_value *v = rco_value_get(rco_value_get(metadata, which), "outputs");
    return v && v->type == RCO_VALUE_OBJECT && v->len > 0 ? v : NULL;
}

/* In a preview an output that depends on something new is not known: it counts as changed. */
static void compare_outputs(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    if (!rco_streq(e->resource_type, "pulumi:pulumi:Stack"))
        return;
    b->r.outputs_changed =
        !rco_value_equal(outputs_of(e->metadata, "old"), outputs_of(e->metadata, "new"));
}

static const char *step_key(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    return rco_arena_printf(&b->a, "%s %s", e->op, e->urn);
}

static void step_begins(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    bool changes = rco_op_changes(e->op);
    if (b->updating) {
        b->r.touched = b->r.touched || changes;
        rco_map_set(&b->open, step_key(b, e), b);
    } else if (changes) {
        push(b, &b->ops, &b->n_ops, &b->size_ops, e);
        b->r.steps_total++;
    }
    if (b->phase == RCO_ENGINE_PHASE_PLAN)
        count(b, e);
    b->r.current_urn = rco_arena_strdup(&b->a, e->urn);
}

static struct half *half_of(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    struct half *h = rco_map_get(&b->halves, e->urn);
    if (!h) {
        h = RCO_NEW(&b->a, struct half);
        h->urn = rco_arena_strdup(&b->a, e->urn);
        h->type = rco_arena_strdup(&b->a, e->resource_type);
        rco_map_set(&b->halves, h->urn, h);
    }
    return h;
}

/* Those of TYPE (NULL = all) that were deleted for a replacement and not made again. */
static int64_t count_lost(const struct rco_receipt_builder *b, const char *type)
{
    int64_t n = 0;
    for (size_t i = 0; i < b->n_deleted; i++)
        n += !b->deleted[i]->made && (!type || rco_streq(type, b->deleted[i]->type));
    return n;
}

static void push_deleted(struct rco_receipt_builder *b, struct half *h)
{
    if (b->n_deleted == b->size_deleted) {
        b->size_deleted = b->size_deleted ? b->size_deleted * 2 : 64;
        b->deleted = rco_realloc(b->deleted, b->size_deleted * sizeof(*b->deleted));
    }
    b->deleted[b->n_deleted++] = h;
    type_of(b, h->type);
}

/* A replacement is done when the resource is there again. What the engine itself calls "replace"
 * may end before that, and a resource that was deleted and not made again is one that was deleted.
 */
static void replacement_ends(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    struct rco_engine_event replace = *e;
    if (rco_streq(e->op, "delete-replaced")) {
        push_deleted(b, half_of(b, e));
    } else if (rco_str_has_suffix(e->op, "-replacement")) {
        replace.op = "replace";
        half_of(b, e)->made = true;
        count(b, &replace);
        push(b, &b->done, &b->n_done, &b->size_done, &replace);
    }
}

static void step_ends(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    if (!b->updating) {
        compare_outputs(b, e);
        return;
    }
    /* A component reports its outputs a second time when it registers them. */
    if (!rco_map_remove(&b->open, step_key(b, e)))
        return;
    enum rco_op_class class = rco_op_classify(e->op);
    if (class == RCO_OP_PART || class == RCO_OP_REPLACE) {
        replacement_ends(b, e);
    } else {
        count(b, e);
        if (rco_op_changes(e->op))
            push(b, &b->done, &b->n_done, &b->size_done, e);
    }
    b->r.steps_done += rco_op_changes(e->op);
}

/* The preview part of an apply is over: what is counted from here on is what was done. */
static void begin_update(struct rco_receipt_builder *b)
{
    b->updating = true;
}

static void summary(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    bool ok = rco_streq(e->result, "succeeded");
    if (e->is_preview) {
        b->r.preview_done = true;
        b->r.preview_ok = ok;
        if (b->phase == RCO_ENGINE_PHASE_APPLY)
            begin_update(b);
    } else {
        b->r.update_done = true;
        b->r.update_ok = ok;
    }
}

void rco_receipt_builder_event(struct rco_receipt_builder *b, const struct rco_engine_event *e)
{
    bool step = e->type == RCO_EVENT_RESOURCE || e->type == RCO_EVENT_OUTPUTS ||
                e->type == RCO_EVENT_FAILED;
    if (step && rco_op_classify(e->op) == RCO_OP_UNKNOWN) {
        mark_broken(b, "the engine named an operation that this runner does not know");
        return;
    }
    switch (e->type) {
    case RCO_EVENT_BROKEN:
        mark_broken(b, "an event of the engine could not be read");
        break;
    case RCO_EVENT_RESOURCE:
        step_begins(b, e);
        break;
    case RCO_EVENT_OUTPUTS:
        step_ends(b, e);
        break;
    case RCO_EVENT_FAILED:
        b->r.resource_failed = true;
        if (!b->failed_urn)
            b->failed_urn = rco_arena_strdup(&b->a, e->urn);
        break;
    case RCO_EVENT_SUMMARY:
        summary(b, e);
        break;
    case RCO_EVENT_POLICY:
        b->r.policy_violation = b->r.policy_violation || e->mandatory;
        if (e->mandatory)
            rco_diagnostics_policy(&b->diagnostics, e->message, e->urn, &b->a);
        break;
    case RCO_EVENT_DIAGNOSTIC:
    case RCO_EVENT_ERROR:
        rco_diagnostics_event(&b->diagnostics, e, b->r.resource_failed, &b->a);
        break;
    default:
        break;
    }
}

void rco_receipt_builder_result(struct rco_receipt_builder *b, struct rco_receipt_result *ret)
{
    struct rco_diagnostics d = b->diagnostics;
    *ret = b->r;
    ret->deletes += count_lost(b, NULL);
    rco_diagnostics_end(&d, &b->a);
    ret->error = d.error;
    ret->error_urn = d.error_urn ? d.error_urn : b->failed_urn;
    ret->plan_violation = d.plan_violation;
    ret->program_failed = d.program_failed;
    rco_operations_digest(b->ops, b->n_ops, ret->operations_digest);
}

static int compare_types(const void *a, const void *b)
{
    return strcmp(((const struct rco_plan_type *)a)->type, ((const struct rco_plan_type *)b)->type);
}

static void fill_types(struct rco_receipt_builder *b, struct rco_arena *a,
                       struct rco_runner_receipt *r)
{
    struct rco_plan_type *list = rco_arena_array(a, b->types.n ? b->types.n : 1, sizeof(*list));
    size_t it = 0, n = 0;
    void *value;
    while (rco_map_next(&b->types, &it, NULL, &value)) {
        const struct type_count *t = value;
        int64_t deletes = t->deletes + count_lost(b, t->type);
        list[n++] = (struct rco_plan_type){.type = rco_arena_strdup(a, t->type),
                                           .adds = t->adds,
                                           .has_adds = t->adds > 0,
                                           .changes = t->changes,
                                           .has_changes = t->changes > 0,
                                           .deletes = deletes,
                                           .has_deletes = deletes > 0,
                                           .replaces = t->replaces,
                                           .has_replaces = t->replaces > 0};
    }
    qsort(list, n, sizeof(*list), compare_types);
    r->types = list;
    r->n_types = n > RCO_RECEIPT_MAX_TYPES ? RCO_RECEIPT_MAX_TYPES : n;
    r->truncated = r->truncated || n > RCO_RECEIPT_MAX_TYPES;
}

/* The URN's cap in the API is in characters; a URN of more is cut at the front, where it repeats
 * the project and the stack. */
#define URN_MAX 1024

static bool add_resource(struct rco_arena *a, struct rco_runner_receipt *r, const char *urn,
                         const char *op)
{
    size_t len = strlen(urn);
    if (r->n_resources == RCO_RECEIPT_MAX_RESOURCES) {
        r->truncated = true;
        return false;
    }
    r->resources[r->n_resources++] = (struct rco_plan_resource){
        .urn = rco_arena_strdup(a, urn + (len > URN_MAX ? len - URN_MAX : 0)),
        .op = rco_arena_strdup(a, op)};
    return true;
}

static void fill_resources(struct rco_receipt_builder *b, struct rco_arena *a,
                           struct rco_runner_receipt *r)
{
    bool plan = b->phase == RCO_ENGINE_PHASE_PLAN;
    const struct rco_operation *ops = plan ? b->ops : b->done;
    size_t n_ops = plan ? b->n_ops : b->n_done;
    r->resources = rco_arena_array(a, RCO_RECEIPT_MAX_RESOURCES, sizeof(*r->resources));
    /* One line for a replacement: its halves carry no news. */
    for (size_t i = 0; i < n_ops; i++)
        if (rco_op_classify(ops[i].op) != RCO_OP_PART && !add_resource(a, r, ops[i].urn, ops[i].op))
            break;
    for (size_t i = 0; i < b->n_deleted; i++)
        if (!b->deleted[i]->made && !add_resource(a, r, b->deleted[i]->urn, "delete"))
            break;
}

void rco_receipt_builder_fill(struct rco_receipt_builder *b, struct rco_arena *a,
                              struct rco_runner_receipt *r)
{
    struct rco_receipt_result s;
    /* Resources in the order of the stream, so before the digest sorts them. */
    fill_resources(b, a, r);
    fill_types(b, a, r);
    rco_receipt_builder_result(b, &s);
    r->has_truncated = true;
    r->adds = s.adds;
    r->changes = s.changes;
    r->deletes = s.deletes;
    r->replaces = s.replaces;
    r->sames = s.sames;
    r->has_adds = r->has_changes = r->has_deletes = r->has_replaces = r->has_sames = true;
    r->operations_digest = rco_arena_strdup(a, s.operations_digest);
    if (b->phase == RCO_ENGINE_PHASE_PLAN) {
        r->outputs_changed = s.outputs_changed;
        r->has_outputs_changed = true;
    } else {
        r->may_have_changed = s.touched;
        r->has_may_have_changed = true;
    }
}

static int check_digest(const char *name, const char *value, bool required, struct rco_error *err)
{
    if (!value && !required)
        return 0;
    if (!value || !rco_is_lower_hex(value, 64))
        return rco_error_set(err, RCO_EINVALID, "receipt: .%s is not a SHA-256 digest", name);
    return 0;
}

static int check_counts(const struct rco_runner_receipt *r, bool required, struct rco_error *err)
{
    const struct {
        const char *name;
        int64_t value;
        bool has;
    } counts[] = {{"adds", r->adds, r->has_adds},
                  {"changes", r->changes, r->has_changes},
                  {"deletes", r->deletes, r->has_deletes},
                  {"replaces", r->replaces, r->has_replaces},
                  {"sames", r->sames, r->has_sames}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(counts); i++) {
        if (!counts[i].has && required)
            return rco_error_set(err, RCO_EINVALID, "receipt: .%s is missing", counts[i].name);
        if (counts[i].value < 0 || counts[i].value > RCO_RECEIPT_MAX_STEPS)
            return rco_error_set(err, RCO_EINVALID, "receipt: .%s is not between 0 and %d",
                                 counts[i].name, RCO_RECEIPT_MAX_STEPS);
    }
    int64_t sum[4] = {0};
    for (size_t i = 0; i < r->n_types; i++) {
        const struct rco_plan_type *t = &r->types[i];
        if (!t->type || t->adds < 0 || t->changes < 0 || t->deletes < 0 || t->replaces < 0)
            return rco_error_set(err, RCO_EINVALID, "receipt: .types[%zu] is not valid", i);
        sum[0] += t->adds;
        sum[1] += t->changes;
        sum[2] += t->deletes;
        sum[3] += t->replaces;
    }
    for (size_t i = 0; i < 4 && required && !(r->has_truncated && r->truncated); i++)
        if (sum[i] != counts[i].value)
            return rco_error_set(err, RCO_EINVALID, "receipt: .types do not add up to .%s",
                                 counts[i].name);
    return 0;
}

static int check_plan(const struct rco_runner_receipt *r, bool ok, struct rco_error *err)
{
    if (check_digest("inputsHash", r->inputs_hash, ok, err) < 0 ||
        check_digest("workspaceDigest", r->workspace_digest, ok, err) < 0 ||
        check_digest("baseStateDigest", r->base_state_digest, ok, err) < 0 ||
        check_digest("operationsDigest", r->operations_digest, ok, err) < 0 ||
        check_digest("planFileDigest", r->plan_file_digest, ok && r->phase == RCO_ENGINE_PHASE_PLAN,
                     err) < 0 ||
        check_digest("stateDigest", r->state_digest, false, err) < 0)
        return -1;
    if (ok && (rco_str_empty(r->engine_version) || rco_str_empty(r->project)))
        return rco_error_set(err, RCO_EINVALID, "receipt: .engineVersion or .project is missing");
    return 0;
}

static int check_artifacts(const struct rco_runner_receipt *r, struct rco_error *err)
{
    const struct rco_runner_artifact *plan = NULL;
    unsigned seen = 0;
    for (size_t i = 0; i < r->n_artifacts; i++) {
        const struct rco_runner_artifact *f = &r->artifacts[i];
        if (f->kind <= RCO_ARTIFACT_KIND_UNKNOWN || !f->digest ||
            !rco_is_lower_hex(f->digest, 64) || !f->has_size || f->size < 0)
            return rco_error_set(err, RCO_EINVALID, "receipt: .artifacts[%zu] is not valid", i);
        if (seen & 1u << f->kind)
            return rco_error_set(err, RCO_EINVALID, "receipt: .artifacts name %s twice",
                                 rco_artifact_kind_name(f->kind));
        seen |= 1u << f->kind;
        if (f->kind == RCO_ARTIFACT_KIND_PLAN)
            plan = f;
    }
    bool need_plan = r->phase == RCO_ENGINE_PHASE_PLAN && r->result == RCO_APPLY_RESULT_SUCCEEDED;
    if (need_plan && (!plan || !rco_streq(plan->digest, r->plan_file_digest)))
        return rco_error_set(err, RCO_EINVALID,
                             "receipt: no artifact is the plan file that .planFileDigest names");
    return 0;
}

int rco_receipt_check(const struct rco_runner_receipt *r, const char *run_uid,
                      enum rco_engine_phase phase, struct rco_error *err)
{
    if (!run_uid || !rco_streq(r->run_uid, run_uid))
        return rco_error_set(err, RCO_EINVALID, "receipt: .runUid names another run");
    if (r->phase != phase || phase <= RCO_ENGINE_PHASE_UNKNOWN)
        return rco_error_set(err, RCO_EINVALID,
                             "receipt: .phase is not the phase that it was sent for");
    if (r->result <= RCO_APPLY_RESULT_UNKNOWN ||
        (phase == RCO_ENGINE_PHASE_PLAN && r->result == RCO_APPLY_RESULT_NO_CHANGES))
        return rco_error_set(err, RCO_EINVALID, "receipt: .result is not a result of this phase");
    bool ok = r->result != RCO_APPLY_RESULT_FAILED;
    if (ok == r->has_failure)
        return rco_error_set(err, RCO_EINVALID,
                             ok ? "receipt: succeeded with a .failure"
                                : "receipt: failed without a .failure");
    if (r->has_failure && r->failure.class <= RCO_FAILURE_CLASS_UNKNOWN)
        return rco_error_set(err, RCO_EINVALID, "receipt: .failure.class is unknown");
    size_t len = rco_str_empty(r->program_version) ? 0 : strlen(r->program_version);
    if ((len != 40 && len != 64) || !rco_is_lower_hex(r->program_version, len))
        return rco_error_set(err, RCO_EINVALID, "receipt: .programVersion is not a commit");
    if (check_plan(r, ok, err) < 0 || check_counts(r, ok, err) < 0 || check_artifacts(r, err) < 0)
        return -1;
    if (r->result == RCO_APPLY_RESULT_NO_CHANGES &&
        r->adds + r->changes + r->deletes + r->replaces != 0)
        return rco_error_set(err, RCO_EINVALID, "receipt: NoChanges with changes counted");
    return 0;
}

const char **rco_receipt_plugin_texts(const struct rco_plugin *plugins, size_t n,
                                      struct rco_arena *a)
{
    const char **list = rco_arena_array(a, n ? n : 1, sizeof(*list));
    for (size_t i = 0; i < n; i++)
        list[i] = rco_arena_printf(a, "%s/%s@%s", rco_str_or_empty(plugins[i].kind),
                                   rco_str_or_empty(plugins[i].name),
                                   rco_str_or_empty(plugins[i].version));
    return list;
}
