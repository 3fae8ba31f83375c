#include "decide/run_receipt_map.h"

#include "api/names.h"
#include "base/sha256.h"
#include "pulumi/digest.h"
#include "pulumi/receipt.h"

#include <string.h>

#define ARTIFACTS_MAX 8

static enum rco_engine_phase engine_phase(enum rco_phase phase)
{
    return phase == RCO_PHASE_APPLY ? RCO_ENGINE_PHASE_APPLY : RCO_ENGINE_PHASE_PLAN;
}

static const struct rco_runner_artifact *find_artifact(const struct rco_runner_receipt *r,
                                                       enum rco_artifact_kind kind)
{
    for (size_t i = 0; i < r->n_artifacts; i++)
        if (r->artifacts[i].kind == kind)
            return &r->artifacts[i];
    return NULL;
}

static bool changes_nothing(const struct rco_runner_receipt *r)
{
    return r->adds + r->changes + r->deletes + r->replaces == 0 && r->has_outputs_changed &&
           !r->outputs_changed && r->pending_operations == 0;
}

/* ---- which receipt, and whether it can be used ---- */

static const char *check_body(const struct rco_run_ctx *c, const struct rco_runner_receipt *r)
{
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_resolved *s = &c->run->spec.snapshot;
    if (rco_receipt_check(r, c->meta->uid, engine_phase(c->receipt.phase), &err) != 0)
        return rco_arena_strdup(c->a, err.msg);
    if (r->result == RCO_APPLY_RESULT_FAILED)
        return NULL;
    if (!rco_streq(r->program_version, s->program.commit))
        return rco_message(c->a, "it is for commit %s, the run acts on %s", r->program_version,
                           s->program.commit);
    if (!rco_streq(r->stack, s->stack_name))
        return rco_message(c->a, "it is for stack %s, the run acts on %s", rco_or(r->stack, "?"),
                           s->stack_name);
    if (c->run->status.engine.project && !rco_streq(r->project, c->run->status.engine.project))
        return rco_message(c->a, "it is for project %s, the start named %s",
                           rco_or(r->project, "?"), c->run->status.engine.project);
    if (c->receipt.phase != RCO_PHASE_PLAN || changes_nothing(r))
        return NULL;
    const struct rco_runner_artifact *plan = find_artifact(r, RCO_ARTIFACT_KIND_PLAN);
    if (!plan || plan->truncated || rco_str_empty(plan->digest) || plan->size <= 0)
        return "the saved plan is missing or larger than what can be stored";
    return rco_streq(plan->digest, r->plan_file_digest)
               ? NULL
               : "the digest of the stored plan is not planFileDigest";
}

static void choose_mailbox(struct rco_run_ctx *c)
{
    const struct rco_mailbox_receipt *m = &c->o->mailbox.receipts[0];
    c->receipt = (struct rco_run_receipt){.present = true,
                                          .exchange = m->exchange,
                                          .phase = m->phase,
                                          .pod_uid = m->pod_uid,
                                          .body = m->receipt};
    c->receipt.error = m->receipt ? check_body(c, m->receipt) : rco_or(m->error, "it is not JSON");
}

/* The gateway never got it: report left it in its termination message. What is not a receipt there
 * is looked at with the other termination messages. */
static void choose_fallback(struct rco_run_ctx *c)
{
    if (!c->started || !c->pod || !rco_streq(c->pod->metadata.uid, c->run->status.engine.pod_uid) ||
        !rco_run_engine_ended(c, c->pod) || !rco_pod_is_over(c->pod))
        return;
    const struct rco_runner_summary *s = rco_pod_summary(c->pod, RCO_CONTAINER_REPORT, c->a);
    if (!s || !s->has_receipt)
        return;
    c->receipt = (struct rco_run_receipt){
        .present = true, .phase = c->phase, .pod_uid = c->pod->metadata.uid, .body = &s->receipt};
    c->receipt.error = check_body(c, &s->receipt);
    if (c->receipt.error)
        c->receipt.present = false;
}

void rco_receipt_choose(struct rco_run_ctx *c)
{
    if (c->o->mailbox.n_receipts)
        choose_mailbox(c);
    else if (c->phase != RCO_PHASE_NONE)
        choose_fallback(c);
}

/* ---- mapping ---- */

static struct rco_artifact artifact(const struct rco_runner_artifact *x, enum rco_phase phase)
{
    return (struct rco_artifact){.kind = x->kind,
                                 .phase = engine_phase(phase),
                                 .digest = x->digest,
                                 .size = x->size,
                                 .has_size = true,
                                 .truncated = x->truncated,
                                 .has_truncated = x->truncated};
}

static void plan_digest(const struct rco_run_ctx *c, const struct rco_plan_receipt *p,
                        const struct rco_runner_receipt *r, char out[RCO_SHA256_HEX])
{
    const struct rco_resolved *s = &c->run->spec.snapshot;
    const struct rco_plan_components components = {
        .specification_uid = c->run->spec.specification_id,
        .version = c->run->spec.specification_version,
        .commit = r->program_version,
        .path = s->program.path,
        .project = r->project,
        .stack = s->stack_name,
        .backend = rco_str_empty(s->backend.claim_name)
                       ? s->backend.url
                       : rco_arena_printf(c->a, "claim:%s", s->backend.claim_name),
        .secrets_provider = s->backend.secrets_provider,
        .plan_service_account = s->plan_service_account_name,
        .apply_service_account = s->apply_service_account_name,
        .inputs_hash = r->inputs_hash,
        .workspace_digest = r->workspace_digest,
        .plan_file_digest = r->plan_file_digest,
        .base_state_digest = r->base_state_digest,
        .operations_digest = r->operations_digest,
        .engine_version = r->engine_version,
        .plugins = rco_receipt_plugin_texts(r->plugins, r->n_plugins, c->a),
        .n_plugins = r->n_plugins,
        .image_digest = p->image_digest,
        .guard = rco_guard_name(s->guard),
    };
    rco_plan_digest(&components, out);
}

void rco_receipt_to_plan(const struct rco_run_ctx *c, struct rco_plan_receipt *out)
{
    const struct rco_runner_receipt *r = c->receipt.body;
    const struct rco_runner_artifact *plan = find_artifact(r, RCO_ARTIFACT_KIND_PLAN);
    *out = (struct rco_plan_receipt){
        .adds = r->adds,
        .has_adds = true,
        .changes = r->changes,
        .has_changes = true,
        .deletes = r->deletes,
        .has_deletes = true,
        .replaces = r->replaces,
        .has_replaces = true,
        .sames = r->sames,
        .has_sames = true,
        .types = r->n_types ? r->types : NULL,
        .n_types = r->n_types,
        .resources = r->n_resources ? r->resources : NULL,
        .n_resources = r->n_resources,
        .truncated = r->truncated,
        .has_truncated = r->truncated,
        .inputs_hash = rco_str_or_empty(r->inputs_hash),
        .program_version = r->program_version,
        .operations_digest = rco_str_or_empty(r->operations_digest),
        .base_state_digest = rco_str_or_empty(r->base_state_digest),
        .workspace_digest = rco_str_or_empty(r->workspace_digest),
        .engine_version = rco_str_or_empty(r->engine_version),
        .plugins = r->n_plugins ? r->plugins : NULL,
        .n_plugins = r->n_plugins,
        .planned_at = c->now, /* never the clock of a node: what follows is timed by it */
    };
    if (plan && !changes_nothing(r)) {
        out->artifact = artifact(plan, RCO_PHASE_PLAN);
        out->has_artifact = true;
    }
    out->image_digest = c->pod ? rco_pod_image_digest(c->pod, c->a) : NULL;
    char *digest = rco_arena_alloc(c->a, RCO_SHA256_HEX);
    plan_digest(c, out, r, digest);
    out->plan_digest = digest;
}

static const char *duration(const struct rco_run_ctx *c, const struct rco_runner_receipt *r)
{
    char text[RCO_TIME_STR_MAX];
    if (!r->started_at || r->finished_at < r->started_at)
        return NULL;
    rco_duration_format((r->finished_at - r->started_at) * 1000, text);
    return rco_arena_strdup(c->a, text);
}

/* Outputs of the receipt that the specification asked for; the runner sent no others. */
static void map_outputs(const struct rco_run_ctx *c, struct rco_apply_receipt *out)
{
    const struct rco_runner_receipt *r = c->receipt.body;
    const struct rco_resolved *s = &c->run->spec.snapshot;
    size_t left = RCO_RECEIPT_MAX_OUTPUTS;
    if (!r->n_outputs)
        return;
    out->outputs = rco_arena_array(c->a, r->n_outputs, sizeof(*out->outputs));
    for (size_t i = 0; i < r->n_outputs; i++) {
        size_t size = strlen(r->outputs[i].key) + strlen(r->outputs[i].value);
        bool asked = false;
        for (size_t k = 0; k < s->n_export_outputs && !asked; k++)
            asked = rco_streq(s->export_outputs[k], r->outputs[i].key);
        if (!asked || size > left)
            continue;
        left -= size;
        out->outputs[out->n_outputs++] = r->outputs[i];
    }
    if (!out->n_outputs)
        out->outputs = NULL;
}

void rco_receipt_to_apply(const struct rco_run_ctx *c, struct rco_apply_receipt *out)
{
    const struct rco_runner_receipt *r = c->receipt.body;
    *out = (struct rco_apply_receipt){
        .result = r->result,
        .duration = duration(c, r),
        .adds = r->adds,
        .has_adds = true,
        .changes = r->changes,
        .has_changes = true,
        .deletes = r->deletes,
        .has_deletes = true,
        .replaces = r->replaces,
        .has_replaces = true,
        .sames = r->sames,
        .has_sames = true,
        .runner_version = r->runner_version,
        .engine_version = r->engine_version,
        .state_digest = r->state_digest,
    };
    map_outputs(c, out);
    out->artifacts = rco_arena_array(c->a, r->n_artifacts + 1, sizeof(*out->artifacts));
    for (size_t i = 0; i < r->n_artifacts && out->n_artifacts < ARTIFACTS_MAX; i++)
        if (r->artifacts[i].kind == RCO_ARTIFACT_KIND_OUTPUTS ||
            r->artifacts[i].kind == RCO_ARTIFACT_KIND_STATE)
            out->artifacts[out->n_artifacts++] = artifact(&r->artifacts[i], RCO_PHASE_APPLY);
    if (!out->n_artifacts)
        out->artifacts = NULL;
}

void rco_receipt_add_artifacts(struct rco_run_ctx *c)
{
    const struct rco_runner_receipt *r = c->receipt.body;
    size_t n = c->next.n_artifacts;
    struct rco_artifact *list = rco_arena_array(c->a, n + r->n_artifacts + 1, sizeof(*list));
    if (n)
        memcpy(list, c->next.artifacts, n * sizeof(*list));
    for (size_t i = 0; i < r->n_artifacts && n < ARTIFACTS_MAX; i++) {
        const struct rco_runner_artifact *x = &r->artifacts[i];
        if (x->kind != RCO_ARTIFACT_KIND_LOG && x->kind != RCO_ARTIFACT_KIND_DIFF)
            continue;
        list[n++] = artifact(x, c->receipt.phase);
        if (x->kind == RCO_ARTIFACT_KIND_LOG && x->size > 0) {
            char name[RCO_NAME_SIZE];
            rco_name_chunk(c->meta->uid, rco_phase_name(c->receipt.phase), "log", 0, x->digest,
                           name);
            c->next.logs_ref = rco_arena_printf(c->a, "configmap/%s", name);
        }
    }
    if (n == c->next.n_artifacts)
        return;
    c->next.artifacts = list;
    c->next.n_artifacts = n;
}

void rco_run_add_log(struct rco_run_ctx *c, const char *digest, int64_t size)
{
    size_t n = c->next.n_artifacts;
    struct rco_artifact *list = rco_arena_array(c->a, n + 1, sizeof(*list));
    char name[RCO_NAME_SIZE];
    if (n >= ARTIFACTS_MAX)
        return;
    if (n)
        memcpy(list, c->next.artifacts, n * sizeof(*list));
    list[n] = (struct rco_artifact){.kind = RCO_ARTIFACT_KIND_LOG,
                                    .phase = c->phase == RCO_PHASE_APPLY ? RCO_ENGINE_PHASE_APPLY
                                                                         : RCO_ENGINE_PHASE_PLAN,
                                    .digest = digest,
                                    .size = size,
                                    .has_size = true};
    c->next.artifacts = list;
    c->next.n_artifacts = n + 1;
    rco_name_chunk(c->meta->uid, rco_phase_name(c->phase), "log", 0, digest, name);
    c->next.logs_ref = rco_arena_printf(c->a, "configmap/%s", name);
}

const char *rco_failure_reason(const struct rco_run_failure *failure)
{
    return failure->class == RCO_FAILURE_CLASS_CONFIG &&
                   rco_str_has_prefix(failure->message, "missing Secret ")
               ? RCO_REASON_MISSING_SECRET
               : NULL;
}

/* ---- the same receipt again ---- */

static bool same_plan(const struct rco_run_ctx *c)
{
    struct rco_plan_receipt again;
    const struct rco_plan_receipt *old = &c->run->status.plan_receipt;
    if (!c->run->status.has_plan_receipt)
        return false;
    rco_receipt_to_plan(c, &again);
    /* The pod's status and our clock are not part of the receipt. */
    again.image_digest = old->image_digest;
    again.planned_at = old->planned_at;
    char *digest = rco_arena_alloc(c->a, RCO_SHA256_HEX);
    plan_digest(c, &again, c->receipt.body, digest);
    again.plan_digest = digest;
    return rco_codec_equal(&rco_plan_receipt_schema, old, &again);
}

static bool same_apply(const struct rco_run_ctx *c)
{
    struct rco_apply_receipt again;
    if (!c->run->status.has_apply_receipt)
        return false;
    rco_receipt_to_apply(c, &again);
    return rco_codec_equal(&rco_apply_receipt_schema, &c->run->status.apply_receipt, &again);
}

/* A failed plan leaves nothing but its failure. */
static bool same_failure(const struct rco_run_ctx *c)
{
    const struct rco_run_failure *old = &c->run->status.failure;
    const struct rco_run_failure *f = &c->receipt.body->failure;
    return c->state == RCO_RUN_STATE_FAILED && c->run->status.has_failure &&
           c->run->status.engine.phase == engine_phase(c->receipt.phase) &&
           old->class == f->class &&
           rco_streq(old->message, rco_message_cut(c->a, rco_or(f->message, "no message"), 1000));
}

bool rco_receipt_is_recorded(const struct rco_run_ctx *c)
{
    if (!c->run->status.has_engine)
        return false;
    if (c->receipt.body->result == RCO_APPLY_RESULT_FAILED)
        return same_failure(c);
    return c->receipt.phase == RCO_PHASE_PLAN ? same_plan(c) : same_apply(c);
}
