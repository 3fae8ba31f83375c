#include "gateway_chunk.h"

#include "api/labels.h"
#include "base/sha256.h"
#include "json/writer.h"
#include "pulumi/job.h"

enum rco_kind rco_gateway_chunk_kind(enum rco_artifact_kind kind)
{
    switch (kind) {
    case RCO_ARTIFACT_KIND_LOG:
    case RCO_ARTIFACT_KIND_DIFF:
        return RCO_KIND_CONFIGMAP;
    default:
        return RCO_KIND_SECRET;
    }
}

static void write_owner(struct rco_json_writer *w, const struct rco_meta *anchor)
{
    rco_json_kv_array(w, "ownerReferences");
    rco_json_begin_object(w);
    rco_json_kv_string(w, "apiVersion", "v1");
    rco_json_kv_string(w, "kind", "ConfigMap");
    rco_json_kv_string(w, "name", anchor->name);
    rco_json_kv_string(w, "uid", anchor->uid);
    rco_json_end_object(w);
    rco_json_end_array(w);
}

void rco_gateway_chunk_object(const struct rco_run *run, const struct rco_gateway_route *route,
                              const char *name, const struct rco_configmap *anchor,
                              const char *bytes, size_t n, struct rco_buf *out)
{
    enum rco_kind kind = rco_gateway_chunk_kind(route->kind);
    rco_autofree char *data = rco_base64_encode(bytes, n);
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_kind_write_header(&w, kind);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "name", name);
    rco_json_kv_string(&w, "namespace", route->ns);
    rco_json_kv_object(&w, "labels");
    rco_job_write_labels(&w, run, route->phase);
    rco_json_kv_string(&w, RCO_LABEL_ARTIFACT, rco_artifact_kind_name(route->kind));
    rco_json_end_object(&w);
    write_owner(&w, &anchor->metadata);
    rco_json_end_object(&w);
    rco_json_kv_bool(&w, "immutable", true);
    rco_json_kv_object(&w, kind == RCO_KIND_SECRET ? "data" : "binaryData");
    rco_json_kv_string(&w, "data", data);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}
