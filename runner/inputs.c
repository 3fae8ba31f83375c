#include "inputs.h"

#include "base/file.h"
#include "base/str.h"
#include "pulumi/digest.h"

#include <dirent.h>
#include <string.h>

/* Reads file NAME below the root. False when it does not exist or cannot be read. */
static bool read_value(struct rco_runner *r, const char *name, struct rco_input_value *ret)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    if (rco_file_read(rco_runner_path(r, name), RCO_INPUT_MAX_VALUE, &text, &err) < 0)
        return false;
    char *copy = rco_arena_alloc(&r->arena, text.len + 1); /* a value may hold NULs */
    if (text.len) {
        memcpy(copy, text.data, text.len);
        explicit_bzero(text.data, text.len);
    }
    ret->bytes = copy;
    ret->len = text.len;
    return true;
}

static int load_configs(struct rco_runner *r, struct rco_inputs *in, struct rco_failure *f)
{
    in->configs = rco_arena_array(&r->arena, r->job.n_configs + 1, sizeof(*in->configs));
    for (size_t i = 0; i < r->job.n_configs; i++) {
        const struct rco_runner_job_config *c = &r->job.configs[i];
        char hex[RCO_SHA256_HEX];
        if (!read_value(r, rco_arena_printf(&r->arena, "config/%zu", i), &in->configs[i]))
            return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG, "missing ConfigMap %s key %s",
                                   c->config_map, c->config_map_key);
        rco_sha256_hex(in->configs[i].bytes, in->configs[i].len, hex);
        if (!rco_str_empty(c->value_hash) && strcmp(hex, c->value_hash) != 0)
            return rco_failure_set(
                f, RCO_FAILURE_CLASS_CONFIG,
                "ConfigMap %s key %s has changed since this run was made; a run of the "
                "new value follows",
                c->config_map, c->config_map_key);
    }
    return 0;
}

static int add_mask(struct rco_inputs *in, const struct rco_input_value *v, const char *secret,
                    const char *key, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_mask_add(in->mask, v->bytes, v->len, &err) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG, "Secret %s key %s: the value is %s",
                               secret, key, err.msg);
    return 0;
}

static int load_secrets(struct rco_runner *r, struct rco_inputs *in, struct rco_failure *f)
{
    in->secrets = rco_arena_array(&r->arena, r->job.n_secrets + 1, sizeof(*in->secrets));
    for (size_t i = 0; i < r->job.n_secrets; i++) {
        const struct rco_runner_job_secret *s = &r->job.secrets[i];
        if (!read_value(r, rco_arena_printf(&r->arena, "secrets/%zu", i), &in->secrets[i]))
            return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                                   "missing Secret %s key %s (spec.secretRefs, %s): there is no "
                                   "such Secret in this namespace, or it has no such key",
                                   s->secret, s->secret_key,
                                   rco_str_empty(s->key) ? s->env : s->key);
        if (add_mask(in, &in->secrets[i], s->secret, s->secret_key, f) < 0)
            return -1;
    }
    return 0;
}

/* Variables of a credentials Secret that name places and people: masking them would make every plan
 * unreadable and protects nothing. */
static bool is_public_variable(const char *name)
{
    static const char *const names[] = {
        "*REGION*",    "PGHOST",    "PGHOSTADDR", "PGPORT", "PGUSER",    "PGDATABASE",
        "PGSSLMODE",   "PGAPPNAME", "*ENDPOINT*", "*_URL",  "*_PROJECT", "AZURE_STORAGE_ACCOUNT",
        "AWS_PROFILE",
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        if (rco_glob_match(names[i], name))
            return true;
    return false;
}

typedef int (*backend_fn)(struct rco_runner *r, const char *name, const struct rco_input_value *v,
                          void *ctx, struct rco_failure *f);

/* Calls FN for each key of the mounted backend credentials. */
static int each_backend(struct rco_runner *r, backend_fn fn, void *ctx, struct rco_failure *f)
{
    if (rco_str_empty(r->job.backend.credentials_secret))
        return 0;
    DIR *d = opendir(rco_runner_path(r, "backend"));
    struct dirent *e;
    size_t n = 0;
    int rc = 0;
    while (d && rc == 0 && (e = readdir(d))) {
        struct rco_input_value v;
        if (e->d_name[0] == '.' ||
            !read_value(r, rco_arena_printf(&r->arena, "backend/%s", e->d_name), &v))
            continue;
        n++;
        rc = fn(r, rco_arena_strdup(&r->arena, e->d_name), &v, ctx, f);
    }
    if (d)
        closedir(d);
    if (rc == 0 && n == 0)
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "missing Secret %s (backend.credentialsSecretRef of the Environment)",
            r->job.backend.credentials_secret);
    return rc;
}

static int mask_backend(struct rco_runner *r, const char *name, const struct rco_input_value *v,
                        void *ctx, struct rco_failure *f RCO_UNUSED)
{
    struct rco_inputs *in = ctx;
    struct rco_error err = RCO_ERROR_INIT;
    /* A value that is a word of the event format ("true") is a setting and no secret. */
    if (!is_public_variable(name) && rco_mask_add(in->mask, v->bytes, v->len, &err) < 0 &&
        err.code == RCO_ETOOBIG)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG, "Secret %s key %s: the value is %s",
                               r->job.backend.credentials_secret, name, err.msg);
    return 0;
}

static bool uses_passphrase(const struct rco_runner_job *job)
{
    return rco_str_empty(job->backend.secrets_provider) ||
           rco_streq(job->backend.secrets_provider, "passphrase");
}

static int load_passphrase(struct rco_runner *r, struct rco_inputs *in, struct rco_failure *f)
{
    struct rco_input_value v;
    if (!uses_passphrase(&r->job))
        return 0;
    if (!read_value(r, "passphrase/passphrase", &v))
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "missing Secret %s key passphrase (what protects the state of the Environment)",
            rco_str_or_empty(r->job.backend.passphrase_secret));
    return add_mask(in, &v, rco_str_or_empty(r->job.backend.passphrase_secret), "passphrase", f);
}

/* Seen by the engine, referenced by nobody: tokens of its service account. */
static void mask_tokens(struct rco_runner *r, struct rco_inputs *in)
{
    static const char token[] = "/var/run/secrets/kubernetes.io/serviceaccount/token";
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    if (rco_file_read(token, RCO_MASK_MAX_VALUE, &text, &err) == 0 && text.len)
        (void)(rco_mask_add(in->mask, text.data, text.len, &err) == 0);
    (void)r;
}

static int compute_hash(struct rco_runner *r, struct rco_inputs *in, struct rco_failure *f)
{
    const struct rco_runner_job *job = &r->job;
    struct rco_input_value key;
    struct rco_input *list =
        rco_arena_array(&r->arena, job->n_configs + job->n_secrets + job->n_env + 1, sizeof(*list));
    size_t n = 0;
    if (!read_value(r, "hmac/key", &key) || key.len == 0)
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "missing Secret %s key key (made by the operator for the Environment)",
            rco_str_or_empty(job->hmac_secret));
    if (add_mask(in, &key, rco_str_or_empty(job->hmac_secret), "key", f) < 0)
        return -1;
    for (size_t i = 0; i < job->n_configs; i++)
        list[n++] = (struct rco_input){"config", job->configs[i].key, in->configs[i].bytes,
                                       in->configs[i].len};
    for (size_t i = 0; i < job->n_secrets; i++)
        list[n++] = (struct rco_input){job->secrets[i].env ? "secret-env" : "secret",
                                       job->secrets[i].env ? job->secrets[i].env
                                                           : rco_str_or_empty(job->secrets[i].key),
                                       in->secrets[i].bytes, in->secrets[i].len};
    for (size_t i = 0; i < job->n_env; i++)
        list[n++] = (struct rco_input){"env", job->env[i].name, rco_str_or_empty(job->env[i].value),
                                       strlen(rco_str_or_empty(job->env[i].value))};
    rco_inputs_hash(key.bytes, key.len, list, n, in->hash);
    return 0;
}

int rco_inputs_load(struct rco_runner *r, struct rco_inputs *ret, struct rco_failure *f)
{
    *ret = (struct rco_inputs){.mask = rco_mask_new()};
    if (load_configs(r, ret, f) < 0 || load_secrets(r, ret, f) < 0 ||
        load_passphrase(r, ret, f) < 0 || each_backend(r, mask_backend, ret, f) < 0 ||
        compute_hash(r, ret, f) < 0)
        return -1;
    mask_tokens(r, ret);
    return 0;
}

void rco_inputs_release(struct rco_inputs *in)
{
    rco_mask_free(in->mask);
    in->mask = NULL;
}

/* Names whose meaning is ours, or that change how programs are loaded. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {"PULUMI_*", "LD_*", "GIT_*",  "RCO_*",
                                        "PATH",     "HOME", "TMPDIR", "SSL_CERT_FILE"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        if (rco_glob_match(names[i], name))
            return true;
    return false;
}

static bool is_variable_name(const char *s)
{
    if (!*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}

static int set_variable(struct rco_procenv *env, const char *where, const char *name,
                        const struct rco_input_value *v, struct rco_failure *f)
{
    if (!is_variable_name(name))
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                               "%s: %s cannot be the name of an environment variable", where, name);
    if (is_reserved(name))
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                               "%s: the variable %s is set by the runner; choose another name",
                               where, name);
    if (strlen(v->bytes) != v->len)
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "%s: the value for %s is binary; an environment variable cannot hold it", where, name);
    rco_procenv_set(env, name, v->bytes);
    return 0;
}

static int set_backend(struct rco_runner *r, const char *name, const struct rco_input_value *v,
                       void *ctx, struct rco_failure *f)
{
    const char *where = rco_arena_printf(&r->arena, "Secret %s", r->job.backend.credentials_secret);
    /* The one PULUMI_ variable that is a credential of a backend. */
    if (strcmp(name, "PULUMI_ACCESS_TOKEN") == 0) {
        rco_procenv_set(ctx, name, v->bytes);
        return 0;
    }
    return set_variable(ctx, where, name, v, f);
}

int rco_pod_env(struct rco_runner *r, struct rco_procenv *env, struct rco_failure *f)
{
    for (size_t i = 0; i < r->job.n_env; i++) {
        const char *value = rco_str_or_empty(r->job.env[i].value);
        struct rco_input_value v = {value, strlen(value)};
        if (set_variable(env, "runner.pod.env", r->job.env[i].name, &v, f) < 0)
            return -1;
    }
    return 0;
}

int rco_inputs_env(struct rco_runner *r, struct rco_inputs *in, struct rco_procenv *env,
                   struct rco_failure *f)
{
    if (rco_pod_env(r, env, f) < 0)
        return -1;
    for (size_t i = 0; i < r->job.n_secrets; i++)
        if (!rco_str_empty(r->job.secrets[i].env) &&
            set_variable(env, "secretRefs", r->job.secrets[i].env, &in->secrets[i], f) < 0)
            return -1;
    return each_backend(r, set_backend, env, f);
}
