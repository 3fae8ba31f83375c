/* RCO_JOB: what a runner pod must do, from the run alone. */
#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "pulumi/job.h"

#define PROTOCOL 1
#define STATE_URL "file:///rco/state"

static void describe_sources(const struct rco_run *run, struct rco_runner_job *job)
{
    const struct rco_resolved *s = &run->spec.snapshot;
    job->program = (struct rco_runner_job_program){
        .repository = s->program.repository, .path = s->program.path, .commit = s->program.commit};
    job->has_program = true;
    job->git = (struct rco_runner_job_git){
        .credentials = !rco_str_empty(s->git.credentials_secret_name),
        .has_credentials = true,
        .credentials_secret = s->git.credentials_secret_name,
        .ca = !rco_str_empty(s->git.ca_secret_name),
        .has_ca = true,
        .ca_secret = s->git.ca_secret_name,
    };
    job->has_git = true;
    job->backend = (struct rco_runner_job_backend){
        .url = rco_str_empty(s->backend.claim_name) ? s->backend.url : STATE_URL,
        .secrets_provider = s->backend.secrets_provider,
        .credentials_secret = s->backend.credentials_secret_name,
        .passphrase_secret = s->backend.passphrase_secret_name,
        .claim = s->backend.claim_name,
    };
    job->has_backend = true;
    job->hmac_secret = s->hmac_key_secret_name;
}

static void describe_values(const struct rco_run *run, struct rco_arena *a,
                            struct rco_runner_job *job)
{
    const struct rco_resolved *s = &run->spec.snapshot;
    job->n_configs = s->n_configs;
    if (s->n_configs)
        job->configs = rco_arena_array(a, s->n_configs, sizeof(*job->configs));
    for (size_t i = 0; i < s->n_configs; i++)
        job->configs[i] = (struct rco_runner_job_config){
            .key = s->configs[i].key,
            .config_map = s->configs[i].config_map_name,
            .config_map_key = s->configs[i].config_map_key,
            .value_hash = s->configs[i].value_hash,
        };
    job->n_secrets = s->n_secrets;
    if (s->n_secrets)
        job->secrets = rco_arena_array(a, s->n_secrets, sizeof(*job->secrets));
    for (size_t i = 0; i < s->n_secrets; i++)
        job->secrets[i] = (struct rco_runner_job_secret){
            .key = s->secrets[i].key,
            .env = s->secrets[i].env,
            .secret = s->secrets[i].secret_name,
            .secret_key = s->secrets[i].secret_key,
        };
    job->n_env = s->pod.n_env;
    if (s->pod.n_env)
        job->env = rco_arena_array(a, s->pod.n_env, sizeof(*job->env));
    for (size_t i = 0; i < s->pod.n_env; i++)
        job->env[i] = (struct rco_runner_job_env){s->pod.env[i].name, s->pod.env[i].value};
    if (s->n_export_outputs)
        job->export_outputs = s->export_outputs;
    job->n_export_outputs = s->n_export_outputs;
}

static void describe_expected(const struct rco_run *run, struct rco_runner_job *job)
{
    const struct rco_plan_receipt *p = &run->status.plan_receipt;
    job->expected = (struct rco_runner_job_expected){
        .commit = p->program_version,
        .project = run->status.engine.project,
        .workspace_digest = p->workspace_digest,
        .plan_file_digest = p->artifact.digest,
        .plan_file_size = p->artifact.size,
        .has_plan_file_size = p->has_artifact,
        .base_state_digest = p->base_state_digest,
        .operations_digest = p->operations_digest,
        .inputs_hash = p->inputs_hash,
        .engine_version = p->engine_version,
        .plugins = p->plugins,
        .n_plugins = p->n_plugins,
    };
    job->has_expected = true;
}

void rco_job_describe(const struct rco_run *run, enum rco_phase phase, struct rco_arena *a,
                      struct rco_runner_job *job)
{
    const struct rco_resolved *s = &run->spec.snapshot;
    *job = (struct rco_runner_job){
        .protocol = PROTOCOL,
        .has_protocol = true,
        .namespace = run->metadata.ns,
        .run = run->metadata.name,
        .run_uid = run->metadata.uid,
        .phase = phase == RCO_PHASE_APPLY ? RCO_ENGINE_PHASE_APPLY : RCO_ENGINE_PHASE_PLAN,
        .specification_uid = run->spec.specification_id,
        .specification_version = run->spec.specification_version,
        .has_specification_version = true,
        .stack = s->stack_name,
        .guard = s->guard,
        .timeout_seconds = s->timeout_seconds,
        .has_timeout_seconds = true,
        .grace_seconds = s->termination_grace_period_seconds,
        .has_grace_seconds = true,
    };
    describe_sources(run, job);
    describe_values(run, a, job);
    if (s->pod.has_proxy) {
        job->proxy = (struct rco_runner_job_proxy){s->pod.proxy.http_proxy,
                                                   s->pod.proxy.https_proxy, s->pod.proxy.no_proxy};
        job->has_proxy = true;
    }
    if (s->pod.has_ca_bundle)
        job->ca_bundle = s->pod.ca_bundle.name;
    job->plugin_mirror = s->pod.plugin_mirror;
    if (phase == RCO_PHASE_APPLY)
        describe_expected(run, job);
}
