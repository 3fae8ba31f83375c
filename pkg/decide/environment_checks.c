/* Deletion, the finalizer, and inputs that are refused. */
#include "decide/environment_facts.h"

static bool is_deleting(const struct rco_env_ctx *c)
{
    return c->meta->deletion != 0;
}

static const struct rco_run *unfinished_run(const struct rco_env_ctx *c)
{
    for (size_t i = 0; i < c->o->n_runs; i++)
        if (!rco_run_state_is_final(c->o->runs[i]->status.state))
            return c->o->runs[i];
    return NULL;
}

bool rco_env_is_deletion_blocked(const void *p)
{
    const struct rco_env_ctx *c = p;
    return is_deleting(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT) &&
           (c->o->n_specs || unfinished_run(c));
}

void rco_env_do_deletion_blocked(void *p)
{
    struct rco_env_ctx *c = p;
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
    rco_env_commit(c);
}

bool rco_env_is_deletion_released(const void *p)
{
    const struct rco_env_ctx *c = p;
    return is_deleting(c) && rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT);
}

void rco_env_do_deletion_released(void *p)
{
    struct rco_env_ctx *c = p;
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

bool rco_env_is_no_finalizer(const void *p)
{
    const struct rco_env_ctx *c = p;
    return !rco_meta_has_finalizer(c->meta, RCO_FINALIZER_ENVIRONMENT);
}

void rco_env_do_no_finalizer(void *p)
{
    struct rco_env_ctx *c = p;
    rco_plan_add_finalizer(c->plan, RCO_KIND_ENV, c->meta, RCO_FINALIZER_ENVIRONMENT);
}

/* ---- refused inputs ---- */

bool rco_env_is_tenant_none(const void *p)
{
    const struct rco_env_ctx *c = p;
    return !c->tenant;
}

void rco_env_do_tenant_none(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "TenantMissing",
        rco_message(c->plan->arena,
                    "namespace %s has no label %s and this installation has no default tenant; a "
                    "cluster admin has to set the label",
                    c->meta->ns, RCO_LABEL_TENANT));
}

bool rco_env_is_tenant_other(const void *p)
{
    const struct rco_env_ctx *c = p;
    return !rco_streq(c->tenant, c->env->spec.tenant_id);
}

void rco_env_do_tenant_other(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "TenantMismatch",
        rco_message(c->plan->arena,
                    "spec.tenantId is %s, but namespace %s belongs to tenant %s%s; make the "
                    "Environment anew with that tenantId, or in a namespace of its tenant",
                    c->env->spec.tenant_id, c->meta->ns, c->tenant,
                    rco_namespace_is_unlabelled(c->o->ns) ? " (the default)" : ""));
}

bool rco_env_is_without_url(const void *p)
{
    const struct rco_env_ctx *c = p;
    return rco_env_is_production(c) && c->claim_name;
}

void rco_env_do_without_url(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "BackendMissing",
        "spec.backend.url is missing: class production needs a state store that outlives this "
        "cluster (s3://, gs://, azblob://, postgres://, https://); set it, or set class to "
        "development or staging");
}

bool rco_env_is_without_passphrase(const void *p)
{
    const struct rco_env_ctx *c = p;
    return rco_env_is_production(c) && c->needs_pass;
}

void rco_env_do_without_passphrase(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "PassphraseMissing",
        "spec.backend.passphraseSecretRef is missing: class production never gets a generated "
        "passphrase; name a Secret of yours with the key passphrase, or set "
        "backend.secretsProvider "
        "to a key management service");
}

bool rco_env_is_backend_file(const void *p)
{
    const struct rco_env_ctx *c = p;
    return c->env->spec.has_backend && rco_str_has_prefix(c->env->spec.backend.url, "file:");
}

void rco_env_do_backend_file(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "BackendInvalid",
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

bool rco_env_is_duration_invalid(const void *p)
{
    const struct rco_env_ctx *c = p;
    return !is_duration(c->env->spec.runner.timeout, 60, 86400) ||
           !is_duration(c->env->spec.runner.termination_grace_period, 180, 7200);
}

void rco_env_do_duration_invalid(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "DurationInvalid",
        "spec.runner.timeout must be between 1m and 24h, spec.runner.terminationGracePeriod "
        "between "
        "3m and 2h, written like 1h30m");
}
