#include "decide/deployment_resolve.h"

#include "api/validate.h"
#include "decide/compact.h"
#include "decide/conditions.h"

#include <string.h>
#include <strings.h>

#define TIMEOUT_DEFAULT_S 3600
#define GRACE_DEFAULT_S 600

struct resolver {
    const struct rco_depspec_observed *o;
    const struct rco_depspec *spec;
    const struct rco_env *env;
    struct rco_arena *a;
    struct rco_resolution *ret;
};

/* Both return true: "there is a problem, and it is this one". */
static bool refuse(struct resolver *r, const char *reason, const char *message)
{
    r->ret->problem = reason;
    r->ret->message = message;
    return true;
}

static bool wait_for(struct resolver *r, const char *reason, const char *message)
{
    r->ret->waits = true;
    return refuse(r, reason, message);
}

/* ---- tenant and Environment ---- */

static bool check_tenant(struct resolver *r)
{
    const char *tenant = rco_namespace_tenant(r->o->ns, r->o->config);
    const char *ns = r->spec->metadata.ns;
    if (!tenant)
        return refuse(
            r, "TenantMissing",
            rco_message(r->a,
                        "namespace %s has no label %s and this installation has no default "
                        "tenant; a cluster admin has to set the label",
                        ns, RCO_LABEL_TENANT));
    if (!rco_streq(tenant, r->spec->spec.tenant_id))
        return refuse(
            r, "TenantMismatch",
            rco_message(r->a,
                        "spec.tenantId is %s, but namespace %s belongs to tenant %s%s; make "
                        "the specification anew with that tenantId, or in a namespace of its "
                        "tenant",
                        r->spec->spec.tenant_id, ns, tenant,
                        rco_namespace_is_unlabelled(r->o->ns) ? " (the default)" : ""));
    /* Who lives on the default tenant needs no Tenant object. */
    if (!r->o->tenant && !rco_namespace_is_unlabelled(r->o->ns))
        return wait_for(
            r, "ReferenceMissing",
            rco_message(r->a,
                        "Tenant %s (the label of namespace %s) does not exist; a platform "
                        "engineer has to create it, and this goes on by itself",
                        tenant, ns));
    return false;
}

static bool check_env(struct resolver *r)
{
    const struct rco_depspec_spec *s = &r->spec->spec;
    if (!r->env)
        return wait_for(
            r, "ReferenceMissing",
            rco_message(r->a,
                        "Environment %s (spec.environmentId) does not exist in namespace "
                        "%s; create it and this goes on by itself",
                        s->environment_id, r->spec->metadata.ns));
    if (r->env->metadata.deletion)
        return wait_for(
            r, "EnvironmentDeleting",
            rco_message(r->a,
                        "Environment %s is being deleted and waits for this specification "
                        "to be deleted too",
                        s->environment_id));
    if (!rco_streq(r->env->spec.project_id, s->project_id))
        return refuse(
            r, "ProjectMismatch",
            rco_message(r->a,
                        "spec.projectId is %s, but Environment %s belongs to project %s; both "
                        "are immutable, make the specification anew with the right one",
                        s->project_id, s->environment_id, r->env->spec.project_id));
    const struct rco_condition *ready =
        rco_condition_find(r->env->status.conditions, r->env->status.n_conditions, "Ready");
    bool current = r->env->status.has_observed_generation &&
                   r->env->status.observed_generation == r->env->metadata.generation;
    if (!ready || !current || !rco_streq(ready->status, "True"))
        return wait_for(r, "EnvironmentNotReady",
                        rco_message(r->a, "Environment %s is not ready%s%s", s->environment_id,
                                    ready && current ? ": " : " yet",
                                    ready && current ? rco_str_or_empty(ready->message) : ""));
    return false;
}

/* ---- what this version does not have ---- */

static bool check_available(struct resolver *r)
{
    const struct rco_depspec_spec *s = &r->spec->spec;
    if (s->deletion_policy == RCO_DELETION_POLICY_DESTROY ||
        (r->env && r->env->spec.deletion_policy == RCO_DELETION_POLICY_DESTROY))
        return refuse(
            r, "NotAvailable",
            "deletionPolicy Destroy is not available in this version; use Retain: what was "
            "deployed stays when the specification is deleted, run pulumi destroy by hand "
            "where needed");
    if (s->strategy > RCO_DEPSPEC_STRATEGY_ALL_AT_ONCE ||
        s->strategy == RCO_DEPSPEC_STRATEGY_UNKNOWN || s->n_targets)
        return refuse(
            r, "NotAvailable",
            "spec.strategy other than AllAtOnce and spec.targets are not available in this "
            "version; leave them out");
    if (s->guard != RCO_GUARD_UNSET && s->guard != RCO_GUARD_STRICT)
        return refuse(
            r, "NotAvailable",
            "spec.guard other than Strict is not available in this version; leave it out");
    return false;
}

/* ---- program ---- */

static bool check_program(struct resolver *r)
{
    const struct rco_depspec_spec *s = &r->spec->spec;
    struct rco_resolved_program *p = &r->ret->snapshot.program;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_program_ref ref;
    r->ret->snapshot.has_program = true;
    if (rco_program_ref_parse(s->program_ref, r->a, &ref, &err) < 0)
        return refuse(r, "ProgramInvalid", rco_message(r->a, "spec.programRef: %s", err.msg));
    if (!rco_is_commit(s->program_version))
        return refuse(
            r, "ProgramInvalid",
            rco_message(r->a,
                        "spec.programVersion is \"%s\"; it must be a full commit id of 40 or 64 "
                        "lower-case hex digits (git rev-parse HEAD), not a branch or tag",
                        rco_str_or_empty(s->program_version)));
    p->repository = ref.repository;
    p->path = ref.path;
    p->commit = s->program_version;
    return false;
}

/* Scheme and host have no case; what follows has. */
static bool has_prefix(const char *url, const char *prefix, size_t n)
{
    const char *host = strstr(prefix, "://");
    size_t head = host ? (size_t)(host + 3 - prefix) + strcspn(host + 3, "/") : 0;
    if (head > n)
        head = n;
    return strncasecmp(url, prefix, head) == 0 && strncmp(url + head, prefix + head, n - head) == 0;
}

bool rco_repository_matches(const char *prefix, const char *url)
{
    size_t n = strlen(prefix);
    while (n && prefix[n - 1] == '/')
        n--;
    return n && has_prefix(url, prefix, n) && (url[n] == '\0' || url[n] == '/');
}

static bool is_allowed_repository(const struct rco_env_git *git, const char *repository)
{
    for (size_t i = 0; i < git->n_allowed_repositories; i++)
        if (rco_repository_matches(git->allowed_repositories[i], repository))
            return true;
    return false;
}

/* Credentials go to a match of the list only; without a list there are no credentials to send. */
static bool check_repository(struct resolver *r)
{
    const struct rco_env_git *git = &r->env->spec.git;
    struct rco_resolved *s = &r->ret->snapshot;
    bool listed = is_allowed_repository(git, s->program.repository);
    if (git->allowed_repositories && !listed)
        return refuse(r, "RepositoryNotAllowed",
                      rco_message(r->a,
                                  "repository %s is not below any of git.allowedRepositories of "
                                  "Environment %s; use an allowed one, or ask whoever owns it to "
                                  "add this one",
                                  s->program.repository, r->env->metadata.name));
    if (listed && git->has_credentials_secret_ref)
        s->git.credentials_secret_name = git->credentials_secret_ref.name;
    if (git->has_ca_secret_ref)
        s->git.ca_secret_name = git->ca_secret_ref.name;
    s->has_git = s->git.credentials_secret_name || s->git.ca_secret_name;
    return false;
}

/* ---- configuration and Secrets ---- */

const struct rco_configmap *rco_depspec_configmap(const struct rco_depspec_observed *o,
                                                  const char *name)
{
    for (size_t i = 0; i < o->n_configmaps; i++)
        if (rco_streq(o->configmaps[i]->metadata.name, name))
            return o->configmaps[i];
    return NULL;
}

static bool resolve_config(struct resolver *r, const struct rco_depspec_config_ref *ref,
                           struct rco_resolved_config *out)
{
    const char *name = ref->config_map_key_ref.name, *key = ref->config_map_key_ref.key;
    const char *env = r->spec->spec.environment_id;
    if (!ref->has_config_map_key_ref)
        return refuse(r, "NotAvailable",
                      rco_message(r->a,
                                  "spec.configRefs: %s has no configMapKeyRef; other sources are "
                                  "not available in this version",
                                  ref->key));
    const struct rco_configmap *map = rco_depspec_configmap(r->o, name);
    const char *label = map ? rco_meta_label(&map->metadata, RCO_LABEL_ENVIRONMENT) : NULL;
    if (!map || !rco_streq(label, env))
        return wait_for(
            r, "ReferenceMissing",
            rco_message(r->a,
                        "ConfigMap %s (spec.configRefs, %s) does not exist in namespace %s, "
                        "or has no label %s=%s; create or label it and this goes on by "
                        "itself",
                        name, ref->key, r->spec->metadata.ns, RCO_LABEL_ENVIRONMENT, env));
    if (rco_kv_get(map->data, map->n_data, RCO_CONFIGMAP_TOO_MANY_KEYS))
        return wait_for(
            r, "ReferenceMissing",
            rco_message(r->a,
                        "ConfigMap %s (spec.configRefs, %s) has more than %d keys, of which the "
                        "operator looks at none; put the key into a smaller one",
                        name, ref->key, RCO_CONFIGMAP_KEYS_MAX));
    const char *value = rco_kv_get(map->data, map->n_data, key);
    if (!value)
        return wait_for(
            r, "ReferenceMissing",
            rco_message(r->a,
                        "ConfigMap %s has no key %s (spec.configRefs, %s); add it and this "
                        "goes on by itself",
                        name, key, ref->key));
    /* What the cache keeps of a value is its SHA-256 already (compact.h). */
    *out = (struct rco_resolved_config){
        .key = ref->key, .config_map_name = name, .config_map_key = key, .value_hash = value};
    return false;
}

static bool check_configs(struct resolver *r)
{
    const struct rco_depspec_spec *s = &r->spec->spec;
    struct rco_resolved *out = &r->ret->snapshot;
    if (!s->n_config_refs)
        return false;
    out->configs = rco_arena_array(r->a, s->n_config_refs, sizeof(*out->configs));
    for (size_t i = 0; i < s->n_config_refs; i++)
        if (resolve_config(r, &s->config_refs[i], &out->configs[out->n_configs++]))
            return true;
    return false;
}

bool rco_env_allows_secret(const struct rco_env *env, const char *name)
{
    if (rco_str_empty(name) || rco_str_has_prefix(name, "rco-"))
        return false;
    if (!env->spec.allowed_secrets) {
        size_t n = strlen(env->metadata.name);
        return strncmp(name, env->metadata.name, n) == 0 && name[n] == '-';
    }
    for (size_t i = 0; i < env->spec.n_allowed_secrets; i++) {
        const char *allowed = env->spec.allowed_secrets[i];
        size_t n = strlen(allowed);
        if (n && allowed[n - 1] == '*' ? strncmp(name, allowed, n - 1) == 0
                                       : rco_streq(name, allowed))
            return true;
    }
    return false;
}

static bool resolve_secret(struct resolver *r, const struct rco_depspec_secret_ref *ref,
                           struct rco_resolved_secret *out)
{
    const char *name = ref->secret_key_ref.name;
    const char *what = ref->key ? ref->key : rco_str_or_empty(ref->env);
    if (!ref->has_secret_key_ref)
        return refuse(r, "NotAvailable",
                      rco_message(r->a,
                                  "spec.secretRefs: %s has no secretKeyRef; other sources are not "
                                  "available in this version",
                                  what));
    if (rco_str_has_prefix(name, "rco-"))
        return refuse(
            r, "SecretNotAllowed",
            rco_message(r->a,
                        "Secret %s (spec.secretRefs, %s): names that begin with rco- are the "
                        "operator's own and can never be referenced",
                        name, what));
    if (!rco_env_allows_secret(r->env, name))
        return refuse(
            r, "SecretNotAllowed",
            rco_message(r->a,
                        "Secret %s (spec.secretRefs, %s) is not allowed by Environment %s; "
                        "%s, or ask whoever owns it to add the name to allowedSecrets",
                        name, what, r->env->metadata.name,
                        r->env->spec.allowed_secrets
                            ? "use one of its allowedSecrets"
                            : rco_message(r->a, "use one whose name begins with %s-",
                                          r->env->metadata.name)));
    *out = (struct rco_resolved_secret){.key = ref->key,
                                        .env = ref->env,
                                        .secret_name = name,
                                        .secret_key = ref->secret_key_ref.key};
    return false;
}

static bool check_secrets(struct resolver *r)
{
    const struct rco_depspec_spec *s = &r->spec->spec;
    struct rco_resolved *out = &r->ret->snapshot;
    if (!s->n_secret_refs)
        return false;
    out->secrets = rco_arena_array(r->a, s->n_secret_refs, sizeof(*out->secrets));
    for (size_t i = 0; i < s->n_secret_refs; i++)
        if (resolve_secret(r, &s->secret_refs[i], &out->secrets[out->n_secrets++]))
            return true;
    return false;
}

/* ---- how it is executed: cannot fail ---- */

static void resolve_backend(struct resolver *r)
{
    const struct rco_env_backend *b = &r->env->spec.backend;
    const struct rco_env_status *status = &r->env->status;
    struct rco_resolved_backend *out = &r->ret->snapshot.backend;
    r->ret->snapshot.has_backend = true;
    if (!rco_str_empty(b->url))
        out->url = b->url;
    else
        out->claim_name = rco_str_empty(b->claim_name) ? status->state_claim.name : b->claim_name;
    if (b->has_credentials_secret_ref)
        out->credentials_secret_name = b->credentials_secret_ref.name;
    out->secrets_provider = rco_or(b->secrets_provider, "passphrase");
    if (rco_streq(out->secrets_provider, "passphrase"))
        out->passphrase_secret_name =
            b->has_passphrase_secret_ref ? b->passphrase_secret_ref.name : status->passphrase.name;
}

static void resolve_pod(struct resolver *r)
{
    const struct rco_env_runner_pod *p = &r->env->spec.runner.pod;
    struct rco_resolved_pod *out = &r->ret->snapshot.pod;
    if (!r->env->spec.runner.has_pod)
        return;
    r->ret->snapshot.has_pod = true;
    out->n_image_pull_secrets = p->n_image_pull_secrets;
    if (p->n_image_pull_secrets)
        out->image_pull_secrets =
            rco_arena_array(r->a, p->n_image_pull_secrets, sizeof(*out->image_pull_secrets));
    for (size_t i = 0; i < p->n_image_pull_secrets; i++)
        out->image_pull_secrets[i] = p->image_pull_secrets[i].name;
    out->labels = p->labels;
    out->n_labels = p->n_labels;
    out->annotations = p->annotations;
    out->n_annotations = p->n_annotations;
    out->env = p->env;
    out->n_env = p->n_env;
    out->proxy = p->proxy;
    out->has_proxy = p->has_proxy;
    out->ca_bundle = p->ca_bundle;
    out->has_ca_bundle = p->has_ca_bundle;
    if (p->has_ca_bundle)
        out->ca_bundle.key = rco_or(p->ca_bundle.key, "ca.crt");
    out->plugin_mirror = p->plugin_mirror;
}

static int64_t seconds(const char *duration, int64_t fallback)
{
    struct rco_error err = RCO_ERROR_INIT;
    int64_t ns;
    if (rco_str_empty(duration) || rco_duration_parse(duration, &ns, &err) != 0)
        return fallback;
    return ns / RCO_NS_PER_S;
}

static void resolve_runner(struct resolver *r)
{
    const struct rco_env_runner *e = &r->env->spec.runner;
    const struct rco_depspec_spec *s = &r->spec->spec;
    struct rco_resolved *out = &r->ret->snapshot;
    out->stack_name = rco_str_empty(s->stack_name)
                          ? rco_arena_printf(r->a, "%s-%s", s->project_id, r->spec->metadata.name)
                          : s->stack_name;
    out->hmac_key_secret_name = r->env->status.hmac_key.name;
    out->apply_service_account_name = rco_or(e->apply_service_account_name, "default");
    out->plan_service_account_name =
        rco_or(e->plan_service_account_name, out->apply_service_account_name);
    out->cluster_access = e->cluster_access == RCO_CLUSTER_ACCESS_SERVICE_ACCOUNT
                              ? RCO_CLUSTER_ACCESS_SERVICE_ACCOUNT
                              : RCO_CLUSTER_ACCESS_NONE;
    out->image = rco_or(e->image, r->o->config->runner_image);
    out->resources = e->resources;
    out->has_resources = e->has_resources;
    out->timeout_seconds = seconds(e->timeout, TIMEOUT_DEFAULT_S);
    out->has_timeout_seconds = true;
    out->termination_grace_period_seconds = seconds(e->termination_grace_period, GRACE_DEFAULT_S);
    out->has_termination_grace_period_seconds = true;
    out->guard = RCO_GUARD_STRICT;
    out->environment_generation = r->env->metadata.generation;
    out->has_environment_generation = true;
    out->environment_uid = r->env->metadata.uid;
    out->export_outputs = s->n_export_outputs ? s->export_outputs : NULL;
    out->n_export_outputs = s->n_export_outputs;
}

/* In this order, so that the first thing named is the first thing to repair. */
static bool (*const checks[])(struct resolver *) = {
    check_tenant,     check_available, check_program, check_env,
    check_repository, check_configs,   check_secrets,
};

void rco_resolve(const struct rco_depspec_observed *observed, struct rco_arena *a,
                 struct rco_resolution *ret)
{
    *ret = (struct rco_resolution){0};
    struct resolver r = {
        .o = observed, .spec = observed->spec, .env = observed->env, .a = a, .ret = ret};
    for (size_t i = 0; i < RCO_ARRAY_LEN(checks); i++)
        if (checks[i](&r))
            return;
    resolve_backend(&r);
    resolve_pod(&r);
    resolve_runner(&r);
}

void rco_resolved_inputs(const struct rco_resolved *snapshot, char out[RCO_SHA256_HEX])
{
    struct rco_resolved deploys = {
        .program = snapshot->program,
        .has_program = snapshot->has_program,
        .stack_name = snapshot->stack_name,
        .configs = snapshot->configs,
        .n_configs = snapshot->n_configs,
        .secrets = snapshot->secrets,
        .n_secrets = snapshot->n_secrets,
        .export_outputs = snapshot->export_outputs,
        .n_export_outputs = snapshot->n_export_outputs,
    };
    rco_autobuf text = RCO_BUF_INIT;
    rco_codec_encode(&rco_resolved_schema, &deploys, &text);
    rco_sha256_hex(text.data, text.len, out);
}

void rco_depspec_version_hash(const struct rco_depspec_spec *spec, char out[RCO_SHA256_HEX])
{
    struct rco_depspec_spec deploys = *spec;
    deploys.suspend = deploys.has_suspend = false;
    deploys.wait_policy = RCO_DEPSPEC_WAIT_POLICY_UNSET;
    deploys.deletion_policy = RCO_DELETION_POLICY_UNSET;
    rco_autobuf text = RCO_BUF_INIT;
    rco_codec_encode(&rco_depspec_spec_schema, &deploys, &text);
    rco_sha256_hex(text.data, text.len, out);
}
