#include "pulumi/digest.h"

#include "base/str.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The N texts sorted; malloc'd array of borrowed texts. */
static const char **sorted(const char *const *list, size_t n)
{
    const char **out = rco_calloc(n ? n : 1, sizeof(*out));
    for (size_t i = 0; i < n; i++)
        out[i] = rco_str_or_empty(list[i]);
    qsort(out, n, sizeof(*out), compare_text);
    return out;
}

static void put_list(struct rco_json_writer *w, const char *key, const char *const *list, size_t n)
{
    rco_autofree const char **texts = sorted(list, n);
    rco_json_kv_array(w, key);
    for (size_t i = 0; i < n; i++)
        rco_json_string(w, texts[i]);
    rco_json_end_array(w);
}

void rco_plan_digest(const struct rco_plan_components *c, char out[RCO_SHA256_HEX])
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &text);
    rco_json_begin_object(&w);
    /* Sorted by name: this is canonical JSON by construction. */
    rco_json_kv_string(&w, "applyServiceAccount", c->apply_service_account);
    rco_json_kv_string(&w, "backend", c->backend);
    rco_json_kv_string(&w, "baseStateDigest", c->base_state_digest);
    rco_json_kv_string(&w, "commit", c->commit);
    rco_json_kv_string(&w, "engineVersion", c->engine_version);
    rco_json_kv_string(&w, "guard", c->guard);
    rco_json_kv_string(&w, "imageDigest", c->image_digest);
    rco_json_kv_string(&w, "inputsHash", c->inputs_hash);
    rco_json_kv_string(&w, "operationsDigest", c->operations_digest);
    rco_json_kv_string(&w, "path", c->path);
    rco_json_kv_string(&w, "planFileDigest", c->plan_file_digest);
    rco_json_kv_string(&w, "planServiceAccount", c->plan_service_account);
    put_list(&w, "plugins", c->plugins, c->n_plugins);
    put_list(&w, "policyPacks", c->policy_packs, c->n_policy_packs);
    rco_json_kv_string(&w, "project", c->project);
    rco_json_kv_string(&w, "secretsProvider", c->secrets_provider);
    rco_json_kv_string(&w, "specificationUid", c->specification_uid);
    rco_json_kv_string(&w, "stack", c->stack);
    rco_json_kv_int(&w, "version", c->version);
    rco_json_kv_string(&w, "workspaceDigest", c->workspace_digest);
    rco_json_end_object(&w);
    rco_sha256_hex(text.data, text.len, out);
}

static bool same_lists(const struct rco_plan_components *a, const struct rco_plan_components *b)
{
    if (a->n_plugins != b->n_plugins)
        return false;
    rco_autofree const char **x = sorted(a->plugins, a->n_plugins);
    rco_autofree const char **y = sorted(b->plugins, b->n_plugins);
    for (size_t i = 0; i < a->n_plugins; i++)
        if (strcmp(x[i], y[i]) != 0)
            return false;
    return true;
}

enum rco_plan_component rco_plan_first_difference(const struct rco_plan_components *want,
                                                  const struct rco_plan_components *got)
{
    const struct {
        enum rco_plan_component component;
        const char *want, *got;
    } rows[] = {
        {RCO_COMPONENT_COMMIT, want->commit, got->commit},
        {RCO_COMPONENT_PROJECT, want->project, got->project},
        {RCO_COMPONENT_WORKSPACE, want->workspace_digest, got->workspace_digest},
        {RCO_COMPONENT_PLAN_FILE, want->plan_file_digest, got->plan_file_digest},
        {RCO_COMPONENT_BASE_STATE, want->base_state_digest, got->base_state_digest},
        {RCO_COMPONENT_INPUTS, want->inputs_hash, got->inputs_hash},
        {RCO_COMPONENT_ENGINE, want->engine_version, got->engine_version},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (!rows[i].want || !rco_streq(rows[i].want, rows[i].got))
            return rows[i].component;
    return same_lists(want, got) ? RCO_COMPONENT_NONE : RCO_COMPONENT_PLUGINS;
}

const char *rco_plan_component_name(enum rco_plan_component c)
{
    static const char *const names[] = {
        [RCO_COMPONENT_NONE] = "nothing",
        [RCO_COMPONENT_COMMIT] = "the commit",
        [RCO_COMPONENT_PROJECT] = "the Pulumi project",
        [RCO_COMPONENT_WORKSPACE] = "the workspace",
        [RCO_COMPONENT_PLAN_FILE] = "the plan file",
        [RCO_COMPONENT_BASE_STATE] = "the base state",
        [RCO_COMPONENT_INPUTS] = "the referenced configuration and secrets",
        [RCO_COMPONENT_ENGINE] = "the engine version",
        [RCO_COMPONENT_PLUGINS] = "the plugins",
    };
    return (size_t)c < RCO_ARRAY_LEN(names) ? names[c] : "?";
}

static int compare_operations(const void *a, const void *b)
{
    const struct rco_operation *x = a, *y = b;
    int r = strcmp(x->urn, y->urn);
    return r ? r : strcmp(x->op, y->op);
}

void rco_operations_digest(struct rco_operation *ops, size_t n, char out[RCO_SHA256_HEX])
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    if (n > 1)
        qsort(ops, n, sizeof(*ops), compare_operations);
    rco_json_writer_init(&w, &text);
    rco_json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && compare_operations(&ops[i - 1], &ops[i]) == 0)
            continue;
        rco_json_begin_array(&w);
        rco_json_string(&w, ops[i].urn);
        rco_json_string(&w, ops[i].op);
        rco_json_end_array(&w);
    }
    rco_json_end_array(&w);
    rco_sha256_hex(text.data, text.len, out);
}

static void put_part(const struct rco_value *deployment, const char *key, const char *empty,
                     struct rco_buf *out)
{
    const struct rco_value *v = rco_value_get(deployment, key);
    rco_buf_addf(out, "\"%s\":", key);
    if (!v || v->type == RCO_VALUE_NULL || (v->type == RCO_VALUE_ARRAY && v->len == 0))
        rco_buf_adds(out, empty);
    else
        rco_value_canonical(v, out);
}

static const struct rco_value *root_outputs(const struct rco_value *resources)
{
    if (!resources || resources->type != RCO_VALUE_ARRAY)
        return NULL;
    for (const struct rco_value *r = resources->first; r; r = r->next)
        if (rco_streq(rco_value_text(r, "type"), "pulumi:pulumi:Stack") &&
            !rco_value_bool(r, "delete"))
            return rco_value_get(r, "outputs");
    return NULL;
}

static size_t list_len(const struct rco_value *v)
{
    return v && v->type == RCO_VALUE_ARRAY ? v->len : 0;
}

int rco_state_read(const char *json, size_t n, struct rco_arena *a, struct rco_state_facts *ret,
                   struct rco_error *err)
{
    struct rco_value *root;
    if (rco_value_parse(json, n, a, &root, err) < 0)
        return rco_error_wrap(err, "exported state");
    const struct rco_value *d = rco_value_get(root, "deployment");
    if (!d || d->type != RCO_VALUE_OBJECT)
        return rco_error_set(err, RCO_EINVALID, "exported state: no object .deployment");

    rco_autobuf text = RCO_BUF_INIT;
    rco_buf_addc(&text, '{');
    put_part(d, "pending_operations", "[]", &text);
    rco_buf_addc(&text, ',');
    put_part(d, "resources", "[]", &text);
    rco_buf_addc(&text, ',');
    put_part(d, "secrets_providers", "null", &text);
    rco_buf_addc(&text, '}');

    const struct rco_value *provider = rco_value_get(d, "secrets_providers");
    const struct rco_value *state = rco_value_get(provider, "state");
    *ret = (struct rco_state_facts){
        .resources = list_len(rco_value_get(d, "resources")),
        .pending_operations = list_len(rco_value_get(d, "pending_operations")),
        .outputs = root_outputs(rco_value_get(d, "resources")),
        .provider_type = rco_value_text(provider, "type"),
        .provider_salt = rco_value_text(state, "salt"),
        .provider_url = rco_value_text(state, "url"),
        .provider_key = rco_value_text(state, "encryptedkey"),
    };
    rco_sha256_hex(text.data, text.len, ret->digest);
    return 0;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct rco_input *x = a, *y = b;
    int r = strcmp(x->kind, y->kind);
    return r ? r : strcmp(x->key, y->key);
}

void rco_inputs_hash(const void *key, size_t key_len, struct rco_input *inputs, size_t n,
                     char out[RCO_SHA256_HEX])
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    if (n > 1)
        qsort(inputs, n, sizeof(*inputs), compare_inputs);
    rco_json_writer_init(&w, &text);
    rco_json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        unsigned char mac[RCO_SHA256_LEN];
        char hex[RCO_SHA256_HEX];
        rco_hmac_sha256(key, key_len, inputs[i].value, inputs[i].value_len, mac);
        rco_hex_encode(mac, sizeof(mac), hex);
        rco_json_begin_array(&w);
        rco_json_string(&w, inputs[i].kind);
        rco_json_string(&w, inputs[i].key);
        rco_json_string(&w, hex);
        rco_json_end_array(&w);
    }
    rco_json_end_array(&w);
    rco_sha256_hex(text.data, text.len, out);
}
