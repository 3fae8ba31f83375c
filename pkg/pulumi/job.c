#include "pulumi/job.h"

#include "api/labels.h"
#include "api/names.h"
#include "api/zz_generated_types.h"
#include "base/sha256.h"
#include "pulumi/job_volumes.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define RUNNER_PATH "/usr/local/bin/runtime-cloud-runner"
#define RUNNER_GROUP 10000
#define PULL_POLICY_DEFAULT "IfNotPresent"

const char *rco_phase_name(enum rco_phase phase)
{
    static const char *const names[] = {"", "plan", "apply"};
    return names[phase];
}

enum rco_phase rco_phase_parse(const char *word)
{
    if (rco_streq(word, "plan"))
        return RCO_PHASE_PLAN;
    return rco_streq(word, "apply") ? RCO_PHASE_APPLY : RCO_PHASE_NONE;
}

static const struct {
    const char *name;
    int64_t uid;
} containers[RCO_JOB_CONTAINERS] = {
    [RCO_JOB_FETCH] = {RCO_CONTAINER_FETCH, 10001},
    [RCO_JOB_INSTALL] = {RCO_CONTAINER_INSTALL, 10002},
    [RCO_JOB_REPORT] = {RCO_CONTAINER_REPORT, 10003},
    [RCO_JOB_ENGINE] = {RCO_CONTAINER_ENGINE, 10004},
};

/* What the writers below share. */
struct job {
    const struct rco_run *run;
    enum rco_phase phase;
    const struct rco_job_config *config;
    const char *description; /* RCO_JOB */
    struct rco_json_writer *w;
};

static const char *or_default(const char *s, const char *fallback)
{
    return rco_str_empty(s) ? fallback : s;
}

void rco_job_cause(const struct rco_run *run, enum rco_phase phase, char out[65])
{
    rco_autobuf text = RCO_BUF_INIT;
    rco_buf_addf(&text, "%s\n%s\n", rco_str_or_empty(run->metadata.uid), rco_phase_name(phase));
    rco_codec_encode(&rco_resolved_schema, &run->spec.snapshot, &text);
    rco_sha256_hex(text.data, text.len, out);
}

void rco_job_write_labels(struct rco_json_writer *w, const struct rco_run *run,
                          enum rco_phase phase)
{
    rco_json_kv_string(w, RCO_LABEL_MANAGED_BY, RCO_MANAGED_BY);
    rco_json_kv_string_opt(w, RCO_LABEL_TENANT, run->spec.tenant_id);
    rco_json_kv_string_opt(w, RCO_LABEL_PROJECT, run->spec.project_id);
    rco_json_kv_string_opt(w, RCO_LABEL_ENVIRONMENT, run->spec.environment_id);
    rco_json_kv_string_opt(w, RCO_LABEL_SPECIFICATION, run->spec.specification_ref.name);
    rco_json_kv_string_opt(w, RCO_LABEL_RUN, run->metadata.name);
    rco_json_kv_string_opt(w, RCO_LABEL_RUN_UID, run->metadata.uid);
    if (phase != RCO_PHASE_NONE)
        rco_json_kv_string(w, RCO_LABEL_PHASE, rco_phase_name(phase));
}

/* Keys of our own and of the Job controller never come from the Environment. */
static bool is_reserved_key(const char *key)
{
    return strstr(key, "runtimecloud.io/") || strstr(key, "kubernetes.io/") ||
           rco_str_has_prefix(key, "batch.") || rco_streq(key, "job-name") ||
           rco_streq(key, "controller-uid");
}

static void write_user_pairs(struct rco_json_writer *w, const struct rco_kv *kv, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_reserved_key(kv[i].key))
            rco_json_kv_string(w, kv[i].key, kv[i].value);
}

static void write_security_context(struct rco_json_writer *w, int64_t uid)
{
    rco_json_kv_object(w, "securityContext");
    rco_json_kv_int(w, "runAsUser", uid);
    rco_json_kv_bool(w, "runAsNonRoot", true);
    rco_json_kv_bool(w, "allowPrivilegeEscalation", false);
    rco_json_kv_bool(w, "readOnlyRootFilesystem", true);
    rco_json_kv_object(w, "capabilities");
    rco_json_kv_array(w, "drop");
    rco_json_string(w, "ALL");
    rco_json_end_array(w);
    rco_json_end_object(w);
    rco_json_end_object(w);
}

/* Exceeding a limit of ephemeral storage evicts with one second of grace, in the middle of an
 * apply: such a limit is never passed on. */
static void write_quantities(struct rco_json_writer *w, const char *key, const struct rco_kv *kv,
                             size_t n, const char *skip)
{
    rco_json_kv_object(w, key);
    for (size_t i = 0; i < n; i++)
        if (!rco_streq(kv[i].key, skip))
            rco_json_kv_string(w, kv[i].key, kv[i].value);
    rco_json_end_object(w);
}

static void write_engine_resources(const struct job *j)
{
    const struct rco_resolved *s = &j->run->spec.snapshot;
    struct rco_kv requests[] = {
        {"cpu", or_default(j->config->engine_cpu_request, "250m")},
        {"memory", or_default(j->config->engine_memory_request, "512Mi")},
    };
    struct rco_kv limits[] = {{"memory", or_default(j->config->engine_memory_limit, "2Gi")}};
    rco_json_kv_object(j->w, "resources");
    if (s->has_resources && (s->resources.n_requests || s->resources.n_limits)) {
        write_quantities(j->w, "requests", s->resources.requests, s->resources.n_requests, NULL);
        write_quantities(j->w, "limits", s->resources.limits, s->resources.n_limits,
                         "ephemeral-storage");
    } else {
        write_quantities(j->w, "requests", requests, RCO_ARRAY_LEN(requests), NULL);
        write_quantities(j->w, "limits", limits, RCO_ARRAY_LEN(limits), NULL);
    }
    rco_json_end_object(j->w);
}

static void write_resources(const struct job *j, enum rco_job_container c)
{
    static const struct rco_kv fetch[] = {{"cpu", "50m"}, {"memory", "64Mi"}};
    static const struct rco_kv report[] = {{"cpu", "10m"}, {"memory", "32Mi"}};
    static const struct rco_kv report_limits[] = {{"memory", "256Mi"}};
    if (c == RCO_JOB_INSTALL || c == RCO_JOB_ENGINE) {
        write_engine_resources(j);
        return;
    }
    rco_json_kv_object(j->w, "resources");
    if (c == RCO_JOB_FETCH) {
        write_quantities(j->w, "requests", fetch, RCO_ARRAY_LEN(fetch), NULL);
    } else {
        write_quantities(j->w, "requests", report, RCO_ARRAY_LEN(report), NULL);
        write_quantities(j->w, "limits", report_limits, RCO_ARRAY_LEN(report_limits), NULL);
    }
    rco_json_end_object(j->w);
}

static void write_variable(struct rco_json_writer *w, const char *name, const char *value)
{
    rco_json_begin_object(w);
    rco_json_kv_string(w, "name", name);
    rco_json_kv_string(w, "value", rco_str_or_empty(value));
    rco_json_end_object(w);
}

static void write_container(const struct job *j, enum rco_job_container c)
{
    struct rco_json_writer *w = j->w;
    rco_json_begin_object(w);
    rco_json_kv_string(w, "name", containers[c].name);
    rco_json_kv_string(w, "image", j->run->spec.snapshot.image);
    rco_json_kv_string(w, "imagePullPolicy",
                       or_default(j->config->image_pull_policy, PULL_POLICY_DEFAULT));
    rco_json_kv_array(w, "command");
    rco_json_string(w, RUNNER_PATH);
    rco_json_string(w, containers[c].name);
    rco_json_end_array(w);
    rco_json_kv_array(w, "env");
    write_variable(w, "RCO_JOB", j->description);
    if (c == RCO_JOB_REPORT) {
        write_variable(w, "RCO_GATEWAY_URL", j->config->gateway_url);
        write_variable(w, "RCO_GATEWAY_CA", j->config->gateway_ca);
    }
    rco_json_end_array(w);
    if (c == RCO_JOB_REPORT)
        rco_json_kv_string(w, "restartPolicy", "Always"); /* a native sidecar */
    write_resources(j, c);
    write_security_context(w, containers[c].uid);
    rco_json_kv_string(w, "terminationMessagePath", "/dev/termination-log");
    rco_json_kv_string(w, "terminationMessagePolicy", "File");
    rco_job_write_mounts(w, j->run, j->phase, c);
    rco_json_end_object(w);
}

static void write_pod_security(struct rco_json_writer *w)
{
    rco_json_kv_object(w, "securityContext");
    rco_json_kv_bool(w, "runAsNonRoot", true);
    /* Each container has a user of its own; this one is the sandbox's: containerd refuses a group
     * without a user ("user group is specified without user"). */
    rco_json_kv_int(w, "runAsUser", containers[RCO_JOB_ENGINE].uid);
    rco_json_kv_int(w, "runAsGroup", RUNNER_GROUP);
    rco_json_kv_int(w, "fsGroup", RUNNER_GROUP);
    rco_json_kv_string(w, "fsGroupChangePolicy", "OnRootMismatch");
    rco_json_kv_object(w, "seccompProfile");
    rco_json_kv_string(w, "type", "RuntimeDefault");
    rco_json_end_object(w);
    rco_json_end_object(w);
}

static void write_raw_opt(struct rco_json_writer *w, const char *key, const char *json)
{
    if (rco_str_empty(json))
        return;
    rco_json_key(w, key);
    rco_json_raw(w, json, strlen(json));
}

static void write_pod_spec(const struct job *j)
{
    const struct rco_resolved *s = &j->run->spec.snapshot;
    struct rco_json_writer *w = j->w;
    rco_json_kv_object(w, "spec");
    rco_json_kv_string(w, "restartPolicy", "Never");
    rco_json_kv_string(w, "serviceAccountName",
                       j->phase == RCO_PHASE_APPLY ? s->apply_service_account_name
                                                   : s->plan_service_account_name);
    rco_json_kv_bool(w, "automountServiceAccountToken", false);
    rco_json_kv_bool(w, "enableServiceLinks", false);
    rco_json_kv_int(w, "terminationGracePeriodSeconds", s->termination_grace_period_seconds);
    write_pod_security(w);
    if (s->pod.n_image_pull_secrets) {
        rco_json_kv_array(w, "imagePullSecrets");
        for (size_t i = 0; i < s->pod.n_image_pull_secrets; i++) {
            rco_json_begin_object(w);
            rco_json_kv_string(w, "name", s->pod.image_pull_secrets[i]);
            rco_json_end_object(w);
        }
        rco_json_end_array(w);
    }
    write_raw_opt(w, "nodeSelector", j->config->node_selector);
    write_raw_opt(w, "tolerations", j->config->tolerations);
    rco_json_kv_array(w, "initContainers");
    write_container(j, RCO_JOB_FETCH);
    write_container(j, RCO_JOB_INSTALL);
    write_container(j, RCO_JOB_REPORT);
    rco_json_end_array(w);
    rco_json_kv_array(w, "containers");
    write_container(j, RCO_JOB_ENGINE);
    rco_json_end_array(w);
    rco_job_write_volumes(w, j->run, j->phase, j->config);
    rco_json_end_object(w);
}

/* Nothing may move the pod while it applies: the marks that the usual node scalers look at. */
static void write_pod_annotations(const struct job *j)
{
    const struct rco_resolved_pod *pod = &j->run->spec.snapshot.pod;
    rco_json_kv_object(j->w, "annotations");
    rco_json_kv_string(j->w, "cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
    rco_json_kv_string(j->w, "karpenter.sh/do-not-disrupt", "true");
    for (size_t i = 0; i < pod->n_annotations; i++)
        if (!is_reserved_key(pod->annotations[i].key) &&
            !rco_streq(pod->annotations[i].key, "karpenter.sh/do-not-disrupt"))
            rco_json_kv_string(j->w, pod->annotations[i].key, pod->annotations[i].value);
    rco_json_end_object(j->w);
}

static void write_template(const struct job *j)
{
    struct rco_json_writer *w = j->w;
    rco_json_kv_object(w, "template");
    rco_json_kv_object(w, "metadata");
    rco_json_kv_object(w, "labels");
    rco_job_write_labels(w, j->run, j->phase);
    write_user_pairs(w, j->run->spec.snapshot.pod.labels, j->run->spec.snapshot.pod.n_labels);
    rco_json_end_object(w);
    write_pod_annotations(j);
    /* So that a pod cannot vanish before the end of its engine is known. */
    rco_json_kv_array(w, "finalizers");
    rco_json_string(w, RCO_FINALIZER_ENGINE);
    rco_json_end_array(w);
    rco_json_end_object(w);
    write_pod_spec(j);
    rco_json_end_object(w);
}

static void write_job(const struct job *j)
{
    struct rco_json_writer *w = j->w;
    char name[RCO_NAME_SIZE], cause[RCO_SHA256_HEX];
    rco_name_job(j->run->metadata.uid, rco_phase_name(j->phase), name);
    rco_job_cause(j->run, j->phase, cause);
    rco_json_begin_object(w);
    rco_json_kv_string(w, "apiVersion", "batch/v1");
    rco_json_kv_string(w, "kind", "Job");
    rco_json_kv_object(w, "metadata");
    rco_json_kv_string(w, "name", name);
    rco_json_kv_string(w, "namespace", j->run->metadata.ns);
    rco_json_kv_object(w, "labels");
    rco_job_write_labels(w, j->run, j->phase);
    rco_json_end_object(w);
    rco_json_kv_object(w, "annotations");
    rco_json_kv_string(w, RCO_ANNOTATION_CAUSE, cause);
    rco_json_end_object(w);
    rco_json_end_object(w);
    rco_json_kv_object(w, "spec");
    rco_json_kv_int(w, "parallelism", 1);
    rco_json_kv_int(w, "completions", 1);
    rco_json_kv_int(w, "backoffLimit", 0);
    rco_json_kv_string(w, "podReplacementPolicy", "Failed");
    write_template(j);
    rco_json_end_object(w);
    rco_json_end_object(w);
}

int rco_job_write(const struct rco_run *run, enum rco_phase phase,
                  const struct rco_job_config *config, struct rco_arena *a, struct rco_buf *out,
                  struct rco_error *err)
{
    struct rco_runner_job description = {0};
    rco_autobuf text = RCO_BUF_INIT;
    rco_job_describe(run, phase, a, &description);
    rco_codec_encode(&rco_runner_job_schema, &description, &text);
    if (text.len > RCO_JOB_MAX_TEXT)
        return rco_error_set(
            err, RCO_ETOOBIG,
            "the description of the %s is %zu bytes, at most %d fit into a Job; use "
            "fewer or shorter configRefs, secretRefs, exportOutputs or "
            "spec.runner.pod.env of the Environment",
            rco_phase_name(phase), text.len, RCO_JOB_MAX_TEXT);
    struct rco_json_writer w;
    rco_json_writer_init(&w, out);
    struct job j = {
        .run = run, .phase = phase, .config = config, .description = rco_buf_str(&text), .w = &w};
    write_job(&j);
    return 0;
}
