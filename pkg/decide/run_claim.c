#include "decide/run_claim.h"

#include "api/backend.h"
#include "api/names.h"
#include "json/writer.h"

#include <string.h>

#define CLAIM_SCHEME "claim:"

/* One text for one place. */
static void canonical_backend(const char *ns, const struct rco_resolved_backend *b,
                              struct rco_buf *out)
{
    rco_autoarena a = RCO_ARENA_INIT;
    if (!rco_str_empty(b->claim_name))
        rco_buf_addf(out, CLAIM_SCHEME "%s/%s", ns, b->claim_name);
    else
        rco_buf_adds(out, rco_backend_canonical(rco_str_or_empty(b->url), &a));
}

static void claim_name(const char *ns, const struct rco_resolved *snapshot, const char *project,
                       char *out)
{
    rco_autobuf backend = RCO_BUF_INIT;
    canonical_backend(ns, &snapshot->backend, &backend);
    rco_name_stack_claim(rco_buf_str(&backend), project, snapshot->stack_name, out);
}

bool rco_run_claim_name(const struct rco_run *run, const char *project, char *out)
{
    const char *name = rco_or(project, run->status.engine.project);
    /* Of a run that is over the caches keep no snapshot, and anybody may still ask for it. */
    if (rco_str_empty(name) || rco_str_empty(run->spec.snapshot.stack_name))
        return false;
    claim_name(run->metadata.ns, &run->spec.snapshot, name, out);
    return true;
}

/* Names of projects hold no slash. The claim's own name says where its state is, even when nothing
 * else does. */
static bool is_elsewhere(const struct rco_lease *claim, const char *ns,
                         const struct rco_resolved *snapshot)
{
    char project[256], name[RCO_NAME_SIZE];
    const char *stack = rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_STACK);
    const char *slash = stack ? strchr(stack, '/') : NULL;
    if (!slash || (size_t)(slash - stack) >= sizeof(project) ||
        !rco_streq(slash + 1, snapshot->stack_name) || claim->metadata.deletion)
        return false;
    memcpy(project, stack, (size_t)(slash - stack));
    project[slash - stack] = '\0';
    claim_name(ns, snapshot, project, name);
    return !rco_streq(name, claim->metadata.name);
}

const struct rco_lease *rco_claim_elsewhere(const struct rco_lease *const *claims, size_t n,
                                            const char *ns, const struct rco_resolved *snapshot)
{
    for (size_t i = 0; i < n; i++)
        if (is_elsewhere(claims[i], ns, snapshot))
            return claims[i];
    return NULL;
}

static const char *place(const char *canonical, struct rco_arena *a)
{
    size_t n = strlen(CLAIM_SCHEME);
    return strncmp(canonical, CLAIM_SCHEME, n) == 0
               ? rco_message(a, "PersistentVolumeClaim %s", canonical + n)
               : rco_message(a, "%.300s", canonical);
}

const char *rco_claim_place(const struct rco_lease *claim, struct rco_arena *a)
{
    return place(rco_or(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_BACKEND),
                        "another backend"),
                 a);
}

const char *rco_backend_place(const char *ns, const struct rco_resolved *snapshot,
                              struct rco_arena *a)
{
    rco_autobuf backend = RCO_BUF_INIT;
    canonical_backend(ns, &snapshot->backend, &backend);
    return place(rco_buf_str(&backend), a);
}

bool rco_claim_is_busy(const struct rco_lease *claim)
{
    return claim && !rco_str_empty(
                        rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID));
}

bool rco_claim_is_held_by(const struct rco_lease *claim, const char *pod_uid)
{
    return rco_claim_is_busy(claim) &&
           rco_streq(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID),
                     pod_uid);
}

bool rco_claim_is_foreign(const struct rco_run_ctx *c)
{
    const struct rco_lease *claim = c->claim;
    return claim && c->o->claim_holder_exists && !rco_str_empty(claim->spec.holder_identity) &&
           !rco_streq(claim->spec.holder_identity, c->run->spec.specification_id);
}

static void write_labels(struct rco_json_writer *w, const struct rco_run *run)
{
    rco_json_kv_object(w, "labels");
    rco_json_kv_string(w, RCO_LABEL_MANAGED_BY, RCO_MANAGED_BY);
    rco_json_kv_string_opt(w, RCO_LABEL_TENANT, run->spec.tenant_id);
    rco_json_kv_string_opt(w, RCO_LABEL_PROJECT, run->spec.project_id);
    rco_json_kv_string_opt(w, RCO_LABEL_ENVIRONMENT, run->spec.environment_id);
    rco_json_kv_string_opt(w, RCO_LABEL_SPECIFICATION, run->spec.specification_ref.name);
    rco_json_end_object(w);
}

static void write_annotations(struct rco_json_writer *w, const struct rco_run_ctx *c,
                              const char *project)
{
    const struct rco_run *run = c->run;
    rco_autobuf backend = RCO_BUF_INIT;
    canonical_backend(run->metadata.ns, &run->spec.snapshot.backend, &backend);
    rco_json_kv_object(w, "annotations");
    rco_json_kv_string(
        w, RCO_ANNOTATION_CLAIM_SPECIFICATION,
        rco_message(c->a, "%s/%s", run->metadata.ns, run->spec.specification_ref.name));
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_STACK,
                       rco_message(c->a, "%s/%s", project, run->spec.snapshot.stack_name));
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_BACKEND, rco_buf_str(&backend));
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_ENGINE_POD, c->start->pod_name);
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID, c->start->pod_uid);
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_ENGINE_RUN,
                       rco_message(c->a, "%s/%s", run->metadata.ns, run->metadata.name));
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID, run->metadata.uid);
    rco_json_end_object(w);
}

static void write_holder(struct rco_json_writer *w, const struct rco_run *run)
{
    rco_json_kv_object(w, "spec");
    rco_json_kv_string(w, "holderIdentity", run->spec.specification_id);
    rco_json_end_object(w);
}

void rco_claim_take(struct rco_run_ctx *c, const char *name, const char *project)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    if (!c->claim)
        rco_kind_write_header(&w, RCO_KIND_LEASE);
    rco_json_kv_object(&w, "metadata");
    if (!c->claim) {
        rco_json_kv_string(&w, "name", name);
        rco_json_kv_string(&w, "namespace", c->o->config->operator_namespace);
    }
    write_labels(&w, c->run);
    write_annotations(&w, c, project);
    rco_json_end_object(&w);
    write_holder(&w, c->run);
    rco_json_end_object(&w);
    if (c->claim)
        rco_plan_patch(c->plan, RCO_KIND_LEASE, &c->claim->metadata, &body);
    else
        rco_plan_create(c->plan, RCO_KIND_LEASE, c->o->config->operator_namespace, name, &body,
                        RCO_EXISTS_REPORT);
}

/* The list with POD in front, without repeats, at most RCO_CLAIM_MAX_ENDED_PODS names. */
static void add_ended(const char *old, const char *pod, struct rco_buf *out)
{
    size_t n = 0;
    if (!rco_str_empty(pod)) {
        rco_buf_adds(out, pod);
        n = 1;
    }
    for (const char *p = rco_str_or_empty(old); *p && n < RCO_CLAIM_MAX_ENDED_PODS;) {
        size_t len = strcspn(p, ",");
        if (len && !(pod && strlen(pod) == len && strncmp(p, pod, len) == 0)) {
            if (out->len)
                rco_buf_addc(out, ',');
            rco_buf_add(out, p, len);
            n++;
        }
        p += len;
        p += *p == ',';
    }
}

void rco_claim_clear(struct rco_run_ctx *c, const struct rco_lease *claim)
{
    rco_autobuf patch = RCO_BUF_INIT, ended = RCO_BUF_INIT;
    struct rco_json_writer w;
    if (c->run && !c->spec) {
        rco_plan_delete(c->plan, RCO_KIND_LEASE, &claim->metadata);
        return;
    }
    static const char *const engine[] = {
        RCO_ANNOTATION_CLAIM_ENGINE_POD, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID,
        RCO_ANNOTATION_CLAIM_ENGINE_RUN, RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID};
    add_ended(rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENDED_PODS),
              rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENGINE_POD), &ended);
    rco_json_writer_init(&w, &patch);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_object(&w, "annotations");
    for (size_t i = 0; i < RCO_ARRAY_LEN(engine); i++) {
        rco_json_key(&w, engine[i]);
        rco_json_null(&w);
    }
    rco_json_kv_string(&w, RCO_ANNOTATION_CLAIM_ENDED_PODS, rco_buf_str(&ended));
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_plan_patch(c->plan, RCO_KIND_LEASE, &claim->metadata, &patch);
}

const char **rco_claim_ended_pods(const struct rco_lease *claim, struct rco_arena *a, size_t *ret_n)
{
    const char *list =
        claim ? rco_meta_annotation(&claim->metadata, RCO_ANNOTATION_CLAIM_ENDED_PODS) : NULL;
    const char **names = rco_arena_array(a, RCO_CLAIM_MAX_ENDED_PODS, sizeof(*names));
    size_t n = 0;
    for (const char *p = rco_str_or_empty(list); *p && n < RCO_CLAIM_MAX_ENDED_PODS;) {
        size_t len = strcspn(p, ",");
        if (len)
            names[n++] = rco_arena_strndup(a, p, len);
        p += len;
        p += *p == ',';
    }
    *ret_n = n;
    return names;
}
