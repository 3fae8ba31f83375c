#include "pulumi/chunk.h"

#include "api/labels.h"
#include "base/sha256.h"
#include "pulumi/job.h"
#include "json/writer.h"

enum rco_kind rco_chunk_kind(enum rco_artifact_kind kind)
{
    switch (kind) {
    case RCO_ARTIFACT_KIND_LOG:
    case RCO_ARTIFACT_KIND_DIFF:
        return RCO_KIND_CONFIGMAP;
    default:
        return RCO_KIND_SECRET;
    }
}

static void write_owner(struct rco_json_writer *w, const struct rco_chunk *chunk)
{
    rco_json_kv_array(w, "ownerReferences");
    rco_json_begin_object(w);
    rco_json_kv_string(w, "apiVersion", "v1");
    rco_json_kv_string(w, "kind", "ConfigMap");
    rco_json_kv_string(w, "name", chunk->anchor_name);
    rco_json_kv_string(w, "uid", chunk->anchor_uid);
    rco_json_end_object(w);
    rco_json_end_array(w);
}

void rco_chunk_write(const struct rco_chunk *chunk, const char *bytes, size_t n,
                     struct rco_buf *out)
{
    enum rco_kind kind = rco_chunk_kind(chunk->kind);
    rco_autofree char *data = rco_base64_encode(bytes, n);
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_kind_write_header(&w, kind);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "name", chunk->name);
    rco_json_kv_string(&w, "namespace", chunk->run->metadata.ns);
    rco_json_kv_object(&w, "labels");
    rco_job_write_labels(&w, chunk->run, chunk->phase);
    rco_json_kv_string(&w, RCO_LABEL_ARTIFACT, rco_artifact_kind_name(chunk->kind));
    rco_json_end_object(&w);
    write_owner(&w, chunk);
    rco_json_end_object(&w);
    rco_json_kv_bool(&w, "immutable", true);
    rco_json_kv_object(&w, kind == RCO_KIND_SECRET ? "data" : "binaryData");
    rco_json_kv_string(&w, "data", data);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}
