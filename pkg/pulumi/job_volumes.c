#include "pulumi/job_volumes.h"

#include "api/names.h"
#include "api/zz_generated_types.h"
#include "pulumi/job.h"
#include "json/writer.h"

#include <stdio.h>

#define READ_ONLY_MODE 0440
#define CLUSTER_TOKEN_SECONDS 3600

/* What a source function sees. */
struct source {
    struct rco_json_writer *w;
    const struct rco_run *run;
    const struct rco_resolved *s;
    enum rco_phase phase;
    const struct rco_job_config *config; /* NULL while mounts are written */
};

/* One volume: whether the pod has it, what it is made from, where it is mounted, and for whom: one
 * letter for fetch, install, report, engine: w writes, r reads, - does not see it. */
struct volume {
    const char *name, *path;
    const char access[5];
    bool (*present)(const struct source *src); /* NULL: always */
    void (*write)(const struct source *src);
};

static bool has_git_credentials(const struct source *src)
{
    return src->s->has_git && !rco_str_empty(src->s->git.credentials_secret_name);
}

static bool has_git_ca(const struct source *src)
{
    return src->s->has_git && !rco_str_empty(src->s->git.ca_secret_name);
}

static bool has_configs(const struct source *src)
{
    return src->s->n_configs > 0;
}

static bool has_secrets(const struct source *src)
{
    return src->s->n_secrets > 0;
}

static bool has_backend_credentials(const struct source *src)
{
    return !rco_str_empty(src->s->backend.credentials_secret_name);
}

static bool has_passphrase(const struct source *src)
{
    return rco_streq(src->s->backend.secrets_provider, "passphrase") &&
           !rco_str_empty(src->s->backend.passphrase_secret_name);
}

static bool has_plan(const struct source *src)
{
    return src->phase == RCO_PHASE_APPLY && src->run->status.plan_receipt.has_artifact;
}

static bool has_state(const struct source *src)
{
    return !rco_str_empty(src->s->backend.claim_name);
}

static bool has_ca(const struct source *src)
{
    return src->s->has_pod && src->s->pod.has_ca_bundle;
}

static bool has_cluster_access(const struct source *src)
{
    return src->s->cluster_access == RCO_CLUSTER_ACCESS_SERVICE_ACCOUNT;
}

/* On disk, without a size limit: exceeding one would evict the pod with one second of grace. */
static void write_empty_dir(const struct source *src)
{
    rco_json_kv_object(src->w, "emptyDir");
    rco_json_end_object(src->w);
}

static void write_item(struct rco_json_writer *w, const char *key, const char *path)
{
    rco_json_kv_array(w, "items");
    rco_json_begin_object(w);
    rco_json_kv_string(w, "key", key);
    rco_json_kv_string(w, "path", path);
    rco_json_end_object(w);
    rco_json_end_array(w);
}

/* Every Secret is optional: a missing one would otherwise show as a pod that is being created for
 * ever. The wrapper names what is missing. KEY NULL mounts all keys. */
static void write_secret(const struct source *src, const char *name, const char *key)
{
    rco_json_kv_object(src->w, "secret");
    rco_json_kv_string(src->w, "secretName", name);
    rco_json_kv_bool(src->w, "optional", true);
    rco_json_kv_int(src->w, "defaultMode", READ_ONLY_MODE);
    if (key)
        write_item(src->w, key, key);
    rco_json_end_object(src->w);
}

static void write_git(const struct source *src)
{
    write_secret(src, src->s->git.credentials_secret_name, NULL);
}

static void write_git_ca(const struct source *src)
{
    write_secret(src, src->s->git.ca_secret_name, "ca.crt");
}

static void write_backend(const struct source *src)
{
    write_secret(src, src->s->backend.credentials_secret_name, NULL);
}

static void write_passphrase(const struct source *src)
{
    write_secret(src, src->s->backend.passphrase_secret_name, "passphrase");
}

static void write_hmac(const struct source *src)
{
    write_secret(src, src->s->hmac_key_secret_name, "key");
}

static void begin_projected(const struct source *src)
{
    rco_json_kv_object(src->w, "projected");
    rco_json_kv_int(src->w, "defaultMode", READ_ONLY_MODE);
    rco_json_kv_array(src->w, "sources");
}

static void end_projected(const struct source *src)
{
    rco_json_end_array(src->w);
    rco_json_end_object(src->w);
}

/* One source of a projected volume: the key of an optional ConfigMap or Secret as a file. */
static void write_projection(const struct source *src, const char *what, const char *name,
                             const char *key, const char *path)
{
    rco_json_begin_object(src->w);
    rco_json_kv_object(src->w, what);
    rco_json_kv_string(src->w, "name", name);
    rco_json_kv_bool(src->w, "optional", true);
    write_item(src->w, key, path);
    rco_json_end_object(src->w);
    rco_json_end_object(src->w);
}

static const char *number(size_t i, char out[24])
{
    snprintf(out, 24, "%zu", i);
    return out;
}

static void write_configs(const struct source *src)
{
    char path[24];
    begin_projected(src);
    for (size_t i = 0; i < src->s->n_configs; i++)
        write_projection(src, "configMap", src->s->configs[i].config_map_name,
                         src->s->configs[i].config_map_key, number(i, path));
    end_projected(src);
}

static void write_secrets(const struct source *src)
{
    char path[24];
    begin_projected(src);
    for (size_t i = 0; i < src->s->n_secrets; i++)
        write_projection(src, "secret", src->s->secrets[i].secret_name,
                         src->s->secrets[i].secret_key, number(i, path));
    end_projected(src);
}

static size_t chunks_of(int64_t size)
{
    return size <= 0 ? 0 : ((size_t)size + RCO_CHUNK_SIZE - 1) / RCO_CHUNK_SIZE;
}

static void write_plan(const struct source *src)
{
    const struct rco_artifact *plan = &src->run->status.plan_receipt.artifact;
    char path[24], name[RCO_NAME_SIZE];
    begin_projected(src);
    for (size_t i = 0; i < chunks_of(plan->size); i++) {
        rco_name_chunk(src->run->metadata.uid, "plan", "plan", i, plan->digest, name);
        write_projection(src, "secret", name, "data", number(i, path));
    }
    end_projected(src);
}

static void write_token_source(const struct source *src, const char *audience, int64_t seconds)
{
    rco_json_begin_object(src->w);
    rco_json_kv_object(src->w, "serviceAccountToken");
    rco_json_kv_string_opt(src->w, "audience", audience);
    rco_json_kv_int(src->w, "expirationSeconds", seconds);
    rco_json_kv_string(src->w, "path", "token");
    rco_json_end_object(src->w);
    rco_json_end_object(src->w);
}

/* The kubelet stops refreshing tokens when the pod is terminating: it must outlive the grace. */
static void write_token(const struct source *src)
{
    const char *audience = src->config->gateway_audience;
    begin_projected(src);
    write_token_source(src, rco_str_empty(audience) ? "runtime-cloud-gateway" : audience,
                       5 * src->s->termination_grace_period_seconds + 600);
    end_projected(src);
}

static void write_state(const struct source *src)
{
    rco_json_kv_object(src->w, "persistentVolumeClaim");
    rco_json_kv_string(src->w, "claimName", src->s->backend.claim_name);
    rco_json_end_object(src->w);
}

static void write_ca(const struct source *src)
{
    rco_json_kv_object(src->w, "configMap");
    rco_json_kv_string(src->w, "name", src->s->pod.ca_bundle.name);
    rco_json_kv_bool(src->w, "optional", true);
    rco_json_kv_int(src->w, "defaultMode", READ_ONLY_MODE);
    write_item(src->w, src->s->pod.ca_bundle.key, "ca.crt");
    rco_json_end_object(src->w);
}

static void write_cluster(const struct source *src)
{
    struct rco_json_writer *w = src->w;
    begin_projected(src);
    write_token_source(src, NULL, CLUSTER_TOKEN_SECONDS);
    rco_json_begin_object(w);
    rco_json_kv_object(w, "configMap");
    rco_json_kv_string(w, "name", "kube-root-ca.crt");
    write_item(w, "ca.crt", "ca.crt");
    rco_json_end_object(w);
    rco_json_end_object(w);
    rco_json_begin_object(w);
    rco_json_kv_object(w, "downwardAPI");
    rco_json_kv_array(w, "items");
    rco_json_begin_object(w);
    rco_json_kv_string(w, "path", "namespace");
    rco_json_kv_object(w, "fieldRef");
    rco_json_kv_string(w, "apiVersion", "v1");
    rco_json_kv_string(w, "fieldPath", "metadata.namespace");
    rco_json_end_object(w);
    rco_json_end_object(w);
    rco_json_end_array(w);
    rco_json_end_object(w);
    rco_json_end_object(w);
    end_projected(src);
}

static const struct volume volumes[] = {
    {"workspace", "/rco/workspace", "ww-w", NULL, write_empty_dir},
    {"fetch", "/rco/fetch", "wrrr", NULL, write_empty_dir},
    {"install", "/rco/install", "-wrr", NULL, write_empty_dir},
    {"control", "/rco/control", "--wr", NULL, write_empty_dir},
    {"stream", "/rco/stream", "--rw", NULL, write_empty_dir},
    {"pulumi", "/rco/pulumi", "-w-w", NULL, write_empty_dir},
    {"tmp-fetch", "/tmp", "w---", NULL, write_empty_dir},
    {"tmp-install", "/tmp", "-w--", NULL, write_empty_dir},
    {"tmp-report", "/tmp", "--w-", NULL, write_empty_dir},
    {"tmp-engine", "/tmp", "---w", NULL, write_empty_dir},
    {"git", "/rco/git", "r---", has_git_credentials, write_git},
    {"git-ca", "/rco/git-ca", "r---", has_git_ca, write_git_ca},
    {"token", "/rco/token", "--r-", NULL, write_token},
    {"config", "/rco/config", "---r", has_configs, write_configs},
    {"secrets", "/rco/secrets", "---r", has_secrets, write_secrets},
    {"backend", "/rco/backend", "---r", has_backend_credentials, write_backend},
    {"passphrase", "/rco/passphrase", "---r", has_passphrase, write_passphrase},
    {"hmac", "/rco/hmac", "---r", NULL, write_hmac},
    {"plan", "/rco/plan", "---r", has_plan, write_plan},
    {"state", "/rco/state", "---w", has_state, write_state},
    {"ca", "/rco/ca", "rr-r", has_ca, write_ca},
    {"cluster", "/var/run/secrets/kubernetes.io/serviceaccount", "---r", has_cluster_access,
     write_cluster},
};

void rco_job_write_volumes(struct rco_json_writer *w, const struct rco_run *run,
                           enum rco_phase phase, const struct rco_job_config *config)
{
    struct source src = {w, run, &run->spec.snapshot, phase, config};
    rco_json_kv_array(w, "volumes");
    for (size_t i = 0; i < RCO_ARRAY_LEN(volumes); i++) {
        if (volumes[i].present && !volumes[i].present(&src))
            continue;
        rco_json_begin_object(w);
        rco_json_kv_string(w, "name", volumes[i].name);
        volumes[i].write(&src);
        rco_json_end_object(w);
    }
    rco_json_end_array(w);
}

void rco_job_write_mounts(struct rco_json_writer *w, const struct rco_run *run,
                          enum rco_phase phase, enum rco_job_container container)
{
    struct source src = {w, run, &run->spec.snapshot, phase, NULL};
    rco_json_kv_array(w, "volumeMounts");
    for (size_t i = 0; i < RCO_ARRAY_LEN(volumes); i++) {
        const struct volume *v = &volumes[i];
        if (v->access[container] == '-' || (v->present && !v->present(&src)))
            continue;
        rco_json_begin_object(w);
        rco_json_kv_string(w, "name", v->name);
        rco_json_kv_string(w, "mountPath", v->path);
        if (v->access[container] == 'r')
            rco_json_kv_bool(w, "readOnly", true);
        if (v->write == write_state) { /* one directory a stack */
            rco_autobuf sub = RCO_BUF_INIT;
            rco_buf_addf(&sub, "stacks/%s", rco_str_or_empty(run->spec.snapshot.stack_name));
            rco_json_kv_string(w, "subPath", rco_buf_str(&sub));
        }
        rco_json_end_object(w);
    }
    rco_json_end_array(w);
}
