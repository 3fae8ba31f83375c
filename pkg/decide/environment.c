#include "decide/environment.h"

#include "api/names.h"
#include "api/zz_generated_types.h"
#include "base/sha256.h"
#include "decide/conditions.h"
#include "decide/environment_objects.h"
#include "decide/table.h"
#include "plan/plan.h"

#include <stdio.h>

/* Random Secrets have a counter in their name; a namespace in which five are taken needs a person.
 */
#define SECRETS_MAX 5
#define RETRY_NS (60 * RCO_NS_PER_S)

struct ctx {
    const struct rco_env_observed *o;
    const struct rco_env *env;
    const struct rco_meta *meta;
    struct rco_plan *plan;
    struct rco_env_status next;
    struct rco_conditions conditions;
    const char *tenant;     /* of the namespace; NULL: none */
    const char *claim_name; /* NULL: the state is elsewhere */
    char claim_text[RCO_NAME_SIZE];
    char pass_name[RCO_NAME_SIZE], hmac_name[RCO_NAME_SIZE]; /* the next to try */
    int pass_next, hmac_next;                                /* its counter */
    bool needs_pass;
};

const char *rco_env_claim_name(const struct rco_env *env, char *out)
{
    if (env->spec.has_backend && !rco_str_empty(env->spec.backend.url))
        return NULL;
    if (env->spec.has_backend && !rco_str_empty(env->spec.backend.claim_name))
        return env->spec.backend.claim_name;
    rco_name_state_claim(env->metadata.name, out);
    return out;
}

static bool has_own_claim(const struct ctx *c)
{
    return c->claim_name &&
           !(c->env->spec.has_backend && !rco_str_empty(c->env->spec.backend.claim_name));
}

static bool is_production(const struct ctx *c)
{
    return c->env->spec.class != RCO_ENV_CLASS_DEVELOPMENT &&
           c->env->spec.class != RCO_ENV_CLASS_STAGING;
}

/* ---- writing the status ---- */

/* Writes the status when it differs, and an Event when the meaning of Ready changed. */
static void commit(struct ctx *c)
{
    const struct rco_condition *old =
        rco_condition_find(c->env->status.conditions, c->env->status.n_conditions, "Ready");
    const struct rco_condition *ready =
        rco_condition_find(c->conditions.items, c->conditions.n, "Ready");
    c->next.conditions = c->conditions.n ? c->conditions.items : NULL;
    c->next.n_conditions = c->conditions.n;
    c->next.observed_generation = c->meta->generation;
    c->next.has_observed_generation = true;
    if (!rco_plan_patch_status(c->plan, RCO_KIND_ENV, c->meta, &c->env->status, &c->next))
        return;
    if (!ready || rco_streq(ready->status, "Unknown") ||
        (old && rco_streq(old->reason, ready->reason)))
        return;
    rco_plan_event(c->plan, RCO_KIND_ENV, c->meta,
                   rco_streq(ready->status, "True") ? "Normal" : "Warning", ready->reason,
                   ready->message);
}

static void stall(struct ctx *c, const char *reason, const char *message)
{
    rco_conditions_stalled(&c->conditions, reason, message);
    commit(c);
}

static void wait_for(struct ctx *c, const char *reason, const char *message)
{
    rco_conditions_set(&c->conditions, "Ready", "False", reason, message);
    rco_conditions_set(&c->conditions, "Reconciling", "True", reason, message);
    rco_conditions_remove(&c->conditions, "Stalled");
    commit(c);
}

/* ---- deletion and finalizer ---- */

static bool is_gone(const void *p)
{
    const struct ctx *c = p;
    return !c->env;
}

static bool is_deleting(const struct ctx *c)
{
    return c->meta->deletion != 0;
}

static const struct rco_run *unfinished_run(const struct ctx *c)
{
    for (size_t i = 0; i < c->o->n_runs; i++)
        if (!rco_run_state_is_final(c->o->runs[i]->status.state))
            return c->o->runs[i];
    return NULL;
}

static bool is_in_use(const void *p)
{
    const struct ctx *c = p;
    return is_deleting(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT) &&
           (c->o->n_specs || unfinished_run(c));
}

static void block_deletion(void *p)
{
    struct ctx *c = p;
    const struct rco_run *run = unfinished_run(c);
    const char *message =
        c->o->n_specs
            ? rco_message(
                  c->plan->arena,
                  "deletion waits: %zu DeploymentSpecification(s) name this Environment, the "
                  "first is %s; delete them, and what they deployed stays",
                  c->o->n_specs, c->o->specs[0]->metadata.name)
            : rco_message(c->plan->arena, "deletion waits: run %s has not finished (state %s)",
                          run->metadata.name, rco_run_state_name(run->status.state));
    rco_conditions_set(&c->conditions, "Ready", "False", "InUse", message);
    rco_conditions_set(&c->conditions, "Reconciling", "True", "InUse", message);
    commit(c);
}

static bool may_be_released(const void *p)
{
    const struct ctx *c = p;
    return is_deleting(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT);
}

static void release(void *p)
{
    struct ctx *c = p;
    if (c->env->status.has_state_claim)
        rco_plan_event(
            c->plan, RCO_KIND_ENV, c->meta, "Normal", "StateRetained",
            rco_message(c->plan->arena,
                        "the state stays on PersistentVolumeClaim %s%s%s; an Environment of "
                        "the same name takes them over only when backend.claimName and "
                        "backend.passphraseSecretRef name them",
                        c->env->status.state_claim.name,
                        c->env->status.has_passphrase ? " with its passphrase in Secret " : "",
                        rco_str_or_empty(c->env->status.passphrase.name)));
    rco_plan_remove_finalizer(c->plan, RCO_KIND_ENV, c->meta, RCO_FINALIZER_ENVIRONMENT);
}

static bool is_leaving(const void *p)
{
    return is_deleting(p);
}

static bool lacks_finalizer(const void *p)
{
    const struct ctx *c = p;
    return !rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT);
}

static void add_finalizer(void *p)
{
    struct ctx *c = p;
    rco_plan_add_finalizer(c->plan, RCO_KIND_ENV, c->meta, RCO_FINALIZER_ENVIRONMENT);
}

/* ---- refused inputs ---- */

static bool has_no_tenant(const void *p)
{
    const struct ctx *c = p;
    return !c->tenant;
}

static void refuse_no_tenant(void *p)
{
    struct ctx *c = p;
    stall(c, "TenantMissing",
          rco_message(c->plan->arena,
                      "namespace %s has no label %s and this installation has no default tenant; a "
                      "cluster admin has to set the label",
                      c->meta->ns, RCO_LABEL_TENANT));
}

static bool is_of_other_tenant(const void *p)
{
    const struct ctx *c = p;
    return !rco_streq(c->tenant, c->env->spec.tenant_id);
}

static void refuse_other_tenant(void *p)
{
    struct ctx *c = p;
    stall(c, "TenantMismatch",
          rco_message(c->plan->arena,
                      "spec.tenantId is %s, but namespace %s belongs to tenant %s%s; make the "
                      "Environment anew with that tenantId, or in a namespace of its tenant",
                      c->env->spec.tenant_id, c->meta->ns, c->tenant,
                      rco_namespace_is_unlabelled(c->o->ns) ? " (the default)" : ""));
}

static bool is_production_without_url(const void *p)
{
    const struct ctx *c = p;
    return is_production(c) && c->claim_name;
}

static void refuse_without_url(void *p)
{
    struct ctx *c = p;
    stall(c, "BackendMissing",
          "spec.backend.url is missing: class production needs a state store that outlives this "
          "cluster (s3://, gs://, azblob://, postgres://, https://); set it, or set class to "
          "development or staging");
}

static bool is_production_without_passphrase(const void *p)
{
    const struct ctx *c = p;
    return is_production(c) && c->needs_pass;
}

static void refuse_without_passphrase(void *p)
{
    struct ctx *c = p;
    stall(c, "PassphraseMissing",
          "spec.backend.passphraseSecretRef is missing: class production never gets a generated "
          "passphrase; name a Secret of yours with the key passphrase, or set "
          "backend.secretsProvider "
          "to a key management service");
}

static bool is_file_url(const void *p)
{
    const struct ctx *c = p;
    return c->env->spec.has_backend && rco_str_has_prefix(c->env->spec.backend.url, "file:");
}

static void refuse_file_url(void *p)
{
    struct ctx *c = p;
    stall(c, "BackendInvalid",
          "spec.backend.url is a file: URL, which would be lost with the runner's pod; leave url "
          "out to "
          "keep the state on a PersistentVolumeClaim");
}

static bool is_duration(const char *text, int64_t min_s, int64_t max_s)
{
    struct rco_error err = RCO_ERROR_INIT;
    int64_t ns;
    if (rco_str_empty(text))
        return true; /* the default */
    return rco_duration_parse(text, &ns, &err) == 0 && ns >= min_s * RCO_NS_PER_S &&
           ns <= max_s * RCO_NS_PER_S;
}

static bool has_bad_duration(const void *p)
{
    const struct ctx *c = p;
    return !is_duration(c->env->spec.runner.timeout, 60, 86400) ||
           !is_duration(c->env->spec.runner.termination_grace_period, 180, 7200);
}

static void refuse_duration(void *p)
{
    struct ctx *c = p;
    stall(c, "DurationInvalid",
          "spec.runner.timeout must be between 1m and 24h, spec.runner.terminationGracePeriod "
          "between "
          "3m and 2h, written like 1h30m");
}

/* ---- state claim and Secrets ---- */

static const struct rco_outcome *outcome(const struct ctx *c, enum rco_kind kind, const char *name)
{
    return rco_outcome_find(c->o->outcomes, c->o->n_outcomes, kind, name);
}

static bool made(const struct ctx *c, enum rco_kind kind, const char *name, const char **ret_uid)
{
    const struct rco_outcome *x = outcome(c, kind, name);
    if (!x || x->type != RCO_OUTCOME_CREATED || rco_str_empty(x->uid))
        return false;
    *ret_uid = x->uid;
    return true;
}

/* Fills NAME with the Secret that was made and not yet recorded, else with the one after the last
 * that was found taken; returns its counter. */
static int next_secret(const struct ctx *c, void (*name_of)(const char *, int, char *), char *name)
{
    int next = 1;
    for (int k = 1; k <= SECRETS_MAX; k++) {
        name_of(c->meta->name, k, name);
        const struct rco_outcome *x = outcome(c, RCO_KIND_SECRET, name);
        if (x && x->type == RCO_OUTCOME_CREATED)
            return k;
        if (x && (x->type == RCO_OUTCOME_EXISTS || x->type == RCO_OUTCOME_FOREIGN))
            next = k + 1;
    }
    name_of(c->meta->name, next, name);
    return next;
}

/* The claim in the cache is the one that this Environment made. */
static bool claim_is_ours(const struct ctx *c)
{
    return c->o->claim &&
           rco_streq(rco_meta_annotation(&c->o->claim->metadata, RCO_ANNOTATION_ENVIRONMENT_UID),
                     c->meta->uid);
}

static bool claim_is_recorded(const struct ctx *c)
{
    return c->env->status.has_state_claim &&
           rco_streq(c->env->status.state_claim.name, c->claim_name);
}

/* A claim named by a person counts as theirs to replace only while they change the spec. */
static bool may_take_claim(const struct ctx *c)
{
    if (!c->claim_name || !c->o->claim || c->o->claim->metadata.deletion)
        return false;
    if (has_own_claim(c))
        return claim_is_ours(c) && !claim_is_recorded(c);
    if (!claim_is_recorded(c))
        return true;
    return !rco_streq(c->env->status.state_claim.uid, c->o->claim->metadata.uid) &&
           c->env->status.observed_generation < c->meta->generation;
}

static bool has_news(const void *p)
{
    const struct ctx *c = p;
    const char *uid;
    return may_take_claim(c) ||
           (!c->env->status.has_passphrase && c->needs_pass &&
            made(c, RCO_KIND_SECRET, c->pass_name, &uid)) ||
           (!c->env->status.has_hmac_key && made(c, RCO_KIND_SECRET, c->hmac_name, &uid));
}

static struct rco_object_ref reference(const struct ctx *c, const char *name, const char *uid)
{
    return (struct rco_object_ref){.name = rco_arena_strdup(c->plan->arena, name),
                                   .uid = rco_arena_strdup(c->plan->arena, uid)};
}

static void record(void *p)
{
    struct ctx *c = p;
    const char *uid;
    if (may_take_claim(c)) {
        c->next.state_claim = reference(c, c->claim_name, c->o->claim->metadata.uid);
        c->next.has_state_claim = true;
    }
    if (!c->next.has_passphrase && c->needs_pass && made(c, RCO_KIND_SECRET, c->pass_name, &uid)) {
        c->next.passphrase = reference(c, c->pass_name, uid);
        c->next.has_passphrase = true;
    }
    if (!c->next.has_hmac_key && made(c, RCO_KIND_SECRET, c->hmac_name, &uid)) {
        c->next.hmac_key = reference(c, c->hmac_name, uid);
        c->next.has_hmac_key = true;
    }
    rco_conditions_progressing(&c->conditions, "Preparing",
                               "the state claim and the Secrets are being made");
    commit(c);
}

static bool claim_is_missing(const void *p)
{
    const struct ctx *c = p;
    return c->claim_name && !has_own_claim(c) && !c->o->claim && !claim_is_recorded(c);
}

static void wait_for_claim(void *p)
{
    struct ctx *c = p;
    wait_for(
        c, "ReferenceMissing",
        rco_message(c->plan->arena,
                    "PersistentVolumeClaim %s (spec.backend.claimName) does not exist in namespace "
                    "%s; create it and this goes on by itself",
                    c->claim_name, c->meta->ns));
}

static bool state_is_lost(const void *p)
{
    const struct ctx *c = p;
    return c->claim_name && claim_is_recorded(c) &&
           (!c->o->claim || c->o->claim->metadata.deletion ||
            c->o->claim->status.phase == RCO_PVC_PHASE_LOST ||
            !rco_streq(c->o->claim->metadata.uid, c->env->status.state_claim.uid));
}

static const char *what_happened(const struct ctx *c)
{
    if (!c->o->claim)
        return "is gone";
    if (c->o->claim->metadata.deletion)
        return "is being deleted";
    return c->o->claim->status.phase == RCO_PVC_PHASE_LOST ? "has lost its volume"
                                                           : "was replaced by another";
}

static void report_lost(void *p)
{
    struct ctx *c = p;
    stall(
        c, "StateLost",
        rco_message(c->plan->arena,
                    "PersistentVolumeClaim %s with the state of this Environment %s; no new one is "
                    "made, since programs would deploy everything a second time. Restore the state "
                    "onto a claim, then set spec.backend.claimName to it and "
                    "spec.backend.passphraseSecretRef to the Secret with its passphrase",
                    c->claim_name, what_happened(c)));
}

static bool state_is_found(const void *p)
{
    const struct ctx *c = p;
    if (!c->claim_name || !has_own_claim(c) || claim_is_recorded(c))
        return false;
    const struct rco_outcome *x = outcome(c, RCO_KIND_PVC, c->claim_name);
    return (c->o->claim && !claim_is_ours(c)) ||
           (!c->o->claim && x && x->type == RCO_OUTCOME_FOREIGN);
}

static void report_found(void *p)
{
    struct ctx *c = p;
    stall(c, "StateFound",
          rco_message(
              c->plan->arena,
              "PersistentVolumeClaim %s already exists and was not made for this Environment "
              "(an earlier one of this name?). To go on with its state set "
              "spec.backend.claimName to %s and spec.backend.passphraseSecretRef to the Secret "
              "with its passphrase; to begin without state delete the claim",
              c->claim_name, c->claim_name));
}

static bool secrets_are_exhausted(const void *p)
{
    const struct ctx *c = p;
    return (c->needs_pass && !c->env->status.has_passphrase && c->pass_next > SECRETS_MAX) ||
           (!c->env->status.has_hmac_key && c->hmac_next > SECRETS_MAX);
}

static void report_exhausted(void *p)
{
    struct ctx *c = p;
    bool pass = c->needs_pass && !c->env->status.has_passphrase && c->pass_next > SECRETS_MAX;
    const char *word = pass ? "pass" : "hmac";
    stall(c, "SecretsTaken",
          rco_message(c->plan->arena,
                      "Secrets rco-%s-%s-1 to rco-%s-%s-%d all exist and none is known to be this "
                      "Environment's; delete those that no Environment uses%s",
                      c->meta->name, word, c->meta->name, word, SECRETS_MAX,
                      pass ? ", or set spec.backend.passphraseSecretRef" : ""));
    rco_plan_requeue(c->plan, RETRY_NS);
}

static const struct rco_outcome *refused(const struct ctx *c)
{
    for (size_t i = 0; i < c->o->n_outcomes; i++)
        if (c->o->outcomes[i].type == RCO_OUTCOME_REFUSED)
            return &c->o->outcomes[i];
    return NULL;
}

static bool was_refused(const void *p)
{
    return refused(p) != NULL;
}

static void report_refused(void *p)
{
    struct ctx *c = p;
    const struct rco_outcome *x = refused(c);
    stall(c, "CreateRefused",
          rco_message(c->plan->arena, "%s %s could not be made: %s; it is tried again every minute",
                      rco_kind_info(x->kind)->kind, x->name, rco_str_or_empty(x->message)));
    rco_plan_requeue(c->plan, RETRY_NS);
}

static bool lacks_claim(const struct ctx *c)
{
    const struct rco_outcome *x = outcome(c, RCO_KIND_PVC, rco_str_or_empty(c->claim_name));
    /* One that exists and is not seen yet is waited for; the Secrets need not wait with it. */
    return has_own_claim(c) && !claim_is_recorded(c) && !c->o->claim &&
           !(x && x->type == RCO_OUTCOME_EXISTS);
}

static bool lacks_pass(const struct ctx *c)
{
    return c->needs_pass && !c->env->status.has_passphrase;
}

static bool is_incomplete(const void *p)
{
    const struct ctx *c = p;
    return (has_own_claim(c) && !claim_is_recorded(c)) || lacks_pass(c) ||
           !c->env->status.has_hmac_key;
}

/* Whatever is missing, together; each outcome is recorded by the next decision. */
static void make(void *p)
{
    struct ctx *c = p;
    size_t half = RCO_ENV_RANDOM_LEN / 2;
    if (lacks_claim(c))
        rco_env_create_claim(c->plan, c->env, c->o->config, c->claim_name);
    if (lacks_pass(c))
        rco_env_create_secret(c->plan, c->env, c->pass_name, "passphrase", c->o->random, half);
    if (!c->env->status.has_hmac_key)
        rco_env_create_secret(c->plan, c->env, c->hmac_name, "key", c->o->random + half, half);
    /* A claim that exists but has not reached the cache yet wakes nobody when it was there before.
     */
    rco_plan_requeue(c->plan, 2 * RCO_NS_PER_S);
}

static void become_ready(void *p)
{
    struct ctx *c = p;
    const char *message =
        c->claim_name
            ? rco_message(c->plan->arena, "state on PersistentVolumeClaim %s", c->claim_name)
            : rco_message(c->plan->arena, "state at %s", c->env->spec.backend.url);
    rco_conditions_ready(&c->conditions, "Ready", message);
    commit(c);
}

static const struct rco_row rows[] = {
    {"gone", "the Environment is gone", "nothing", is_gone, NULL},
    {"deletion-blocked", "being deleted, specifications or unfinished runs name it",
     "condition Ready=False(InUse) says which", is_in_use, block_deletion},
    {"deletion-released", "being deleted, nothing names it",
     "finalizer removed; claim and Secrets stay, an Event says so", may_be_released, release},
    {"deletion-wait", "being deleted, our finalizer is gone", "nothing", is_leaving, NULL},
    {"finalizer", "our finalizer is missing", "add it", lacks_finalizer, add_finalizer},
    {"tenant-none", "the namespace has no tenant", "Stalled(TenantMissing)", has_no_tenant,
     refuse_no_tenant},
    {"tenant-other", "spec.tenantId is not the namespace's tenant", "Stalled(TenantMismatch)",
     is_of_other_tenant, refuse_other_tenant},
    {"backend-file", "backend.url begins with file:", "Stalled(BackendInvalid)", is_file_url,
     refuse_file_url},
    {"production-without-url", "production (or unknown class) without backend.url",
     "Stalled(BackendMissing)", is_production_without_url, refuse_without_url},
    {"production-without-passphrase",
     "production (or unknown class) without a passphrase of its own", "Stalled(PassphraseMissing)",
     is_production_without_passphrase, refuse_without_passphrase},
    {"duration-invalid", "runner.timeout or terminationGracePeriod cannot be used",
     "Stalled(DurationInvalid)", has_bad_duration, refuse_duration},
    {"record", "a claim or Secret was made, or a claim named by a person appeared",
     "uids into the status", has_news, record},
    {"claim-missing", "backend.claimName does not exist", "Ready=False(ReferenceMissing), waits",
     claim_is_missing, wait_for_claim},
    {"state-lost", "the recorded claim is gone, being deleted, or another",
     "Stalled(StateLost); never made anew", state_is_lost, report_lost},
    {"state-found", "a claim stands under our name that this Environment did not make",
     "Stalled(StateFound)", state_is_found, report_found},
    {"secrets-taken", "five Secrets of a counter exist and none is recorded",
     "Stalled(SecretsTaken), again in a minute", secrets_are_exhausted, report_exhausted},
    {"create-refused", "the API server refused a claim or Secret",
     "Stalled(CreateRefused), again in a minute", was_refused, report_refused},
    {"make", "claim, passphrase or HMAC key is missing", "create what is missing", is_incomplete,
     make},
    {"ready", "everything is there", "Ready=True", NULL, become_ready},
};

static const struct rco_table table = {"environment", rows, RCO_ARRAY_LEN(rows)};

void rco_env_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_env_observed *o = snapshot;
    struct ctx c = {.o = o, .env = o->env, .plan = plan};
    if (c.env) {
        const struct rco_env_backend *b = &c.env->spec.backend;
        c.meta = &c.env->metadata;
        c.next = c.env->status;
        c.conditions = rco_conditions_begin(plan->arena, c.next.conditions, c.next.n_conditions,
                                            c.meta->generation, now / RCO_US_PER_S * RCO_US_PER_S);
        c.tenant = rco_namespace_tenant(o->ns, o->config);
        c.claim_name = rco_env_claim_name(c.env, c.claim_text);
        c.needs_pass = rco_streq(rco_or(b->secrets_provider, "passphrase"), "passphrase") &&
                       !b->has_passphrase_secret_ref;
        c.pass_next = next_secret(&c, rco_name_passphrase, c.pass_name);
        c.hmac_next = next_secret(&c, rco_name_hmac_key, c.hmac_name);
    }
    plan->row = rco_table_run(&table, &c);
}

const struct rco_table *rco_env_table(void)
{
    return &table;
}

void rco_env_print_rows(struct rco_buf *out)
{
    rco_table_print(&table, out);
}
