#include "decide/environment.h"

#include "decide/environment_facts.h"
#include "decide/table.h"

const char *rco_env_claim_name(const struct rco_env *env, char *out)
{
    if (env->spec.has_backend && !rco_str_empty(env->spec.backend.url))
        return NULL;
    if (env->spec.has_backend && !rco_str_empty(env->spec.backend.claim_name))
        return env->spec.backend.claim_name;
    rco_name_state_claim(env->metadata.name, out);
    return out;
}

bool rco_env_has_own_claim(const struct rco_env_ctx *c)
{
    return c->claim_name &&
           !(c->env->spec.has_backend && !rco_str_empty(c->env->spec.backend.claim_name));
}

bool rco_env_is_production(const struct rco_env_ctx *c)
{
    return c->env->spec.class != RCO_ENV_CLASS_DEVELOPMENT &&
           c->env->spec.class != RCO_ENV_CLASS_STAGING;
}

/* ---- writing the status ---- */

void rco_env_commit(struct rco_env_ctx *c)
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

void rco_env_stall(struct rco_env_ctx *c, const char *reason, const char *message)
{
    rco_conditions_stalled(&c->conditions, reason, message);
    rco_env_commit(c);
}

void rco_env_wait_for(struct rco_env_ctx *c, const char *reason, const char *message)
{
    rco_conditions_set(&c->conditions, "Ready", "False", reason, message);
    rco_conditions_set(&c->conditions, "Reconciling", "True", reason, message);
    rco_conditions_remove(&c->conditions, "Stalled");
    rco_env_commit(c);
}

static bool is_gone(const void *p)
{
    const struct rco_env_ctx *c = p;
    return !c->env;
}

static bool is_leaving(const void *p)
{
    return ((const struct rco_env_ctx *)p)->meta->deletion != 0;
}

static void become_ready(void *p)
{
    struct rco_env_ctx *c = p;
    const char *message =
        c->claim_name
            ? rco_message(c->plan->arena, "state on PersistentVolumeClaim %s", c->claim_name)
            : rco_message(c->plan->arena, "state at %s", c->env->spec.backend.url);
    rco_conditions_ready(&c->conditions, "Ready", message);
    rco_env_commit(c);
}

static const struct rco_row rows[] = {
    {"gone", "the Environment is gone", "nothing", is_gone, NULL},
    {"deletion-blocked", "being deleted, specifications or unfinished runs name it",
     "condition Ready=False(InUse) says which", rco_env_is_deletion_blocked,
     rco_env_do_deletion_blocked},
    {"deletion-released", "being deleted, nothing names it",
     "finalizer removed; claim and Secrets stay, an Event says so", rco_env_is_deletion_released,
     rco_env_do_deletion_released},
    {"deletion-wait", "being deleted, our finalizer is gone", "nothing", is_leaving, NULL},
    {"finalizer", "our finalizer is missing", "add it", rco_env_is_no_finalizer,
     rco_env_do_no_finalizer},
    {"tenant-none", "the namespace has no tenant", "Stalled(TenantMissing)", rco_env_is_tenant_none,
     rco_env_do_tenant_none},
    {"tenant-other", "spec.tenantId is not the namespace's tenant", "Stalled(TenantMismatch)",
     rco_env_is_tenant_other, rco_env_do_tenant_other},
    {"backend-file", "backend.url begins with file:", "Stalled(BackendInvalid)",
     rco_env_is_backend_file, rco_env_do_backend_file},
    {"production-without-url", "production (or unknown class) without backend.url",
     "Stalled(BackendMissing)", rco_env_is_without_url, rco_env_do_without_url},
    {"production-without-passphrase",
     "production (or unknown class) without a passphrase of its own", "Stalled(PassphraseMissing)",
     rco_env_is_without_passphrase, rco_env_do_without_passphrase},
    {"duration-invalid", "runner.timeout or terminationGracePeriod cannot be used",
     "Stalled(DurationInvalid)", rco_env_is_duration_invalid, rco_env_do_duration_invalid},
    {"record", "a claim or Secret was made, or a claim named by a person appeared",
     "uids into the status", rco_env_is_record, rco_env_do_record},
    {"claim-missing", "backend.claimName does not exist", "Ready=False(ReferenceMissing), waits",
     rco_env_is_claim_missing, rco_env_do_claim_missing},
    {"state-lost", "the recorded claim is gone, being deleted, or another",
     "Stalled(StateLost); never made anew", rco_env_is_state_lost, rco_env_do_state_lost},
    {"state-found", "a claim stands under our name that this Environment did not make",
     "Stalled(StateFound)", rco_env_is_state_found, rco_env_do_state_found},
    {"secrets-taken", "five Secrets of a counter exist and none is recorded",
     "Stalled(SecretsTaken), again in a minute", rco_env_is_secrets_taken,
     rco_env_do_secrets_taken},
    {"create-refused", "the API server refused a claim or Secret",
     "Stalled(CreateRefused), again in a minute", rco_env_is_create_refused,
     rco_env_do_create_refused},
    {"make", "claim, passphrase or HMAC key is missing", "create what is missing", rco_env_is_make,
     rco_env_do_make},
    {"ready", "everything is there", "Ready=True", NULL, become_ready},
};

static const struct rco_table table = {"environment", rows, RCO_ARRAY_LEN(rows)};

void rco_env_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_env_observed *o = snapshot;
    struct rco_env_ctx c = {.o = o, .env = o->env, .plan = plan};
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
        c.pass_next = rco_env_next_secret(&c, rco_name_passphrase, c.pass_name);
        c.hmac_next = rco_env_next_secret(&c, rco_name_hmac_key, c.hmac_name);
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
