#include "decide/run_claim.h"

#include "api/names.h"
#include "json/writer.h"

#include <string.h>

/* One text for one place: scheme and host in small letters, no slash behind. */
static void canonical_backend(const struct rco_run *run, struct rco_buf *out)
{
    const struct rco_resolved_backend *b = &run->spec.snapshot.backend;
    if (!rco_str_empty(b->claim_name)) {
        rco_buf_addf(out, "claim:%s/%s", run->metadata.ns, b->claim_name);
        return;
    }
    const char *url = rco_str_or_empty(b->url);
    const char *host = strstr(url, "://");
    size_t head = host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?") : 0;
    size_t n = strlen(url);
    while (n > head && url[n - 1] == '/')
        n--;
    for (size_t i = 0; i < n; i++)
        rco_buf_addc(out,
                     i < head && url[i] >= 'A' && url[i] <= 'Z' ? (char)(url[i] | 0x20) : url[i]);
}

bool rco_run_claim_name(const struct rco_run *run, const char *project, char *out)
{
    rco_autobuf backend = RCO_BUF_INIT;
    const char *name = rco_or(project, run->status.engine.project);
    if (rco_str_empty(name))
        return false;
    canonical_backend(run, &backend);
    rco_name_stack_claim(rco_buf_str(&backend), name, run->spec.snapshot.stack_name, out);
    return true;
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
    rco_json_kv_object(w, "annotations");
    rco_json_kv_string(
        w, RCO_ANNOTATION_CLAIM_SPECIFICATION,
        rco_message(c->a, "%s/%s", run->metadata.ns, run->spec.specification_ref.name));
    rco_json_kv_string(w, RCO_ANNOTATION_CLAIM_STACK,
                       rco_message(c->a, "%s/%s", project, run->spec.snapshot.stack_name));
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
