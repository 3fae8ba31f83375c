#include "decide/environment_objects.h"

#include "api/zz_generated_types.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "decide/common.h"
#include "plan/plan.h"
#include "json/writer.h"

#include <string.h>

#define RANDOM_MAX 64

static void write_metadata(struct rco_json_writer *w, enum rco_kind kind, const struct rco_env *env,
                           const char *name)
{
    rco_kind_write_header(w, kind);
    rco_json_kv_object(w, "metadata");
    rco_json_kv_string(w, "name", name);
    rco_json_kv_string(w, "namespace", env->metadata.ns);
    rco_json_kv_object(w, "labels");
    rco_json_kv_string(w, RCO_LABEL_MANAGED_BY, RCO_MANAGED_BY);
    rco_json_kv_string_opt(w, RCO_LABEL_TENANT, env->spec.tenant_id);
    rco_json_kv_string_opt(w, RCO_LABEL_PROJECT, env->spec.project_id);
    rco_json_kv_string(w, RCO_LABEL_ENVIRONMENT, env->metadata.name);
    rco_json_end_object(w);
    rco_json_kv_object(w, "annotations");
    rco_json_kv_string(w, RCO_ANNOTATION_ENVIRONMENT_UID, env->metadata.uid);
    rco_json_end_object(w);
    rco_json_end_object(w);
}

void rco_env_create_claim(struct rco_plan *plan, const struct rco_env *env,
                          const struct rco_decide_config *config, const char *name)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    write_metadata(&w, RCO_KIND_PVC, env, name);
    rco_json_kv_object(&w, "spec");
    rco_json_kv_array(&w, "accessModes");
    rco_json_string(&w, "ReadWriteOnce");
    rco_json_end_array(&w);
    rco_json_kv_string_opt(&w, "storageClassName", config->state_storage_class);
    rco_json_kv_object(&w, "resources");
    rco_json_kv_object(&w, "requests");
    rco_json_kv_string(&w, "storage", rco_or(config->state_size, "1Gi"));
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_plan_create(plan, RCO_KIND_PVC, env->metadata.ns, name, &body, RCO_EXISTS_REPORT);
}

void rco_env_create_secret(struct rco_plan *plan, const struct rco_env *env, const char *name,
                           const char *key, const unsigned char *random, size_t n)
{
    char hex[2 * RANDOM_MAX + 1];
    rco_hex_encode(random, n < RANDOM_MAX ? n : RANDOM_MAX, hex);
    rco_autofree char *value = rco_base64_encode(hex, strlen(hex));
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    write_metadata(&w, RCO_KIND_SECRET, env, name);
    rco_json_kv_string(&w, "type", "Opaque");
    rco_json_kv_bool(&w, "immutable", true);
    rco_json_kv_object(&w, "data");
    rco_json_kv_string(&w, key, value);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_plan_create(plan, RCO_KIND_SECRET, env->metadata.ns, name, &body, RCO_EXISTS_REPORT);
}
