#include "pulumi.h"

#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "netenv.h"
#include "plugins.h"
#include "pulumi/failure.h"
#include "pulumi/receipt.h"
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_TIMEOUT_S 300
#define MAX_OUTPUT (4 * 1024 * 1024)

static const char secret_dir[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* What programs in a pod use to find its API server. */
static void pass_on(struct rco_engine *e)
{
    static const char *const names[] = {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
                                        "KUBERNETES_SERVICE_PORT_HTTPS"};
    if (access(secret_dir, R_OK) < 0)
        return;
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        rco_procenv_set(&e->env, names[i], rco_environ_get(e->r->environ, names[i]));
}

int rco_engine_env(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_runner *r = e->r;
    const struct rco_runner_job_backend *b = &r->job.backend;
    const char *ca;
    rco_base_env(r, &e->env);
    rco_language_env(r, e->fetched.runtime, &e->env);
    pass_on(e);
    if (rco_ca_env(r, NULL, &e->env, &ca, f) < 0 || rco_inputs_env(r, &e->inputs, &e->env, f) < 0)
        return -1;
    const struct {
        const char *name, *value;
    } vars[] = {
        {"PULUMI_HOME", rco_runner_path(r, "pulumi")},
        {"PULUMI_BACKEND_URL", b->url},
        {"PULUMI_SKIP_UPDATE_CHECK", "true"},
        {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true"},
        {"PULUMI_IGNORE_AMBIENT_PLUGINS", "true"},
        {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW", "true"},
        {"PULUMI_DISABLE_CI_DETECTION", "true"},
        {"PULUMI_CREDENTIAL_STORE", "plaintext"},
        /* The workspace came from fetch, which has another uid. */
        {"GIT_CONFIG_COUNT", "1"},
        {"GIT_CONFIG_KEY_0", "safe.directory"},
        {"GIT_CONFIG_VALUE_0", "*"},
        {"GIT_TERMINAL_PROMPT", "0"},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(vars); i++)
        rco_procenv_set(&e->env, vars[i].name, vars[i].value);
    if (rco_str_empty(b->secrets_provider) || rco_streq(b->secrets_provider, "passphrase"))
        rco_procenv_set(&e->env, "PULUMI_CONFIG_PASSPHRASE_FILE",
                        rco_runner_path(r, "passphrase/passphrase"));
    if (r->job.has_parallel && r->job.parallel > 0)
        rco_procenv_set(&e->env, "PULUMI_PARALLEL",
                        rco_arena_printf(&r->arena, "%lld", (long long)r->job.parallel));
    return 0;
}

const char *rco_pulumi_error_line(struct rco_engine *e, const struct rco_buf *text)
{
    rco_autobuf masked = RCO_BUF_INIT;
    size_t n;
    rco_mask_text(e->inputs.mask, rco_buf_str(text), text->len, &masked);
    const char *line = rco_fail_first_line(rco_buf_str(&masked), masked.len, &n);
    return line ? rco_arena_strndup(&e->r->arena, line, n) : NULL;
}

int rco_pulumi(struct rco_engine *e, const struct rco_argv *argv, const void *input,
               size_t input_len, const char *what, struct rco_proc_result *res,
               struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_proc p = {.argv = argv->list,
                         .path = e->r->path,
                         .env = e->env.list,
                         .cwd_fd = e->dir,
                         .input = input,
                         .input_len = input_len,
                         .max_output = MAX_OUTPUT,
                         .timeout_ms = COMMAND_TIMEOUT_S * 1000,
                         .stop_fd = e->r->stop_fd};
    if (rco_proc_run(&p, res, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_CONFIG, &err, what);
    if (res->stopped)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED, "the pod was asked to end (%s)",
                               what);
    if (res->timed_out)
        return rco_failure_set(f, RCO_FAILURE_CLASS_TIMEOUT, "%s: no end after %d s", what,
                               COMMAND_TIMEOUT_S);
    if (res->exit_code == 0)
        return 0;
    const char *line = rco_pulumi_error_line(e, res->err.len ? &res->err : &res->out);
    struct rco_engine_end end = {.exit_code = res->exit_code, .error = line};
    enum rco_failure_class class = rco_fail_of_engine(&end);
    /* Nothing was applied by these commands. */
    if (class == RCO_FAILURE_CLASS_RESOURCE)
        class = RCO_FAILURE_CLASS_CONFIG;
    return rco_failure_set(f, class, "%s: %s", what,
                           line ? line : "pulumi failed without a message");
}

static int read_plugins(struct rco_engine *e, const struct rco_buf *text, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    struct rco_arena *a = &e->r->arena;
    if (rco_value_parse(rco_buf_str(text), text->len, a, &v, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "pulumi plugin ls");
    size_t n = v->type == RCO_VALUE_ARRAY ? v->len : 0;
    if (n > 32)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                               "more than 32 plugins are installed; make a smaller runner image");
    e->done.plugins = rco_arena_array(a, n + 1, sizeof(*e->done.plugins));
    for (const struct rco_value *p = n ? v->first : NULL; p; p = p->next)
        e->done.plugins[e->done.n_plugins++] =
            (struct rco_plugin){.name = rco_str_or_empty(rco_value_text(p, "name")),
                                .kind = rco_str_or_empty(rco_value_text(p, "kind")),
                                .version = rco_str_or_empty(rco_value_text(p, "version"))};
    return 0;
}

int rco_pulumi_versions(struct rco_engine *e, struct rco_failure *f)
{
    rco_autoproc version = {0}, plugins = {0};
    struct rco_argv v = {0}, p = {0};
    rco_argv_adds(&v, "pulumi", "version", NULL);
    rco_argv_adds(&p, "pulumi", "plugin", "ls", "--json", NULL);
    if (rco_pulumi(e, &v, NULL, 0, "pulumi version", &version, f) < 0)
        return -1;
    const char *text = rco_buf_str(&version.out);
    e->done.engine_version = rco_arena_strndup(&e->r->arena, text, strcspn(text, " \r\n"));
    if (rco_pulumi(e, &p, NULL, 0, "list the plugins", &plugins, f) < 0)
        return -1;
    return read_plugins(e, &plugins.out, f);
}

int rco_pulumi_export(struct rco_engine *e, struct rco_state_facts *ret, struct rco_buf *text,
                      struct rco_failure *f)
{
    rco_autoproc res = {0};
    rco_autobuf own = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_argv a = {0};
    struct rco_buf *out = text ? text : &own;
    const char *file = rco_arena_printf(&e->r->arena, "%s/state.json", e->r->tmpdir);
    *ret = (struct rco_state_facts){0};
    unlink(file);
    rco_argv_adds(&a, "pulumi", "stack", "export", "--stack", e->r->job.stack, "--file", file,
                  "--non-interactive", NULL);
    if (rco_pulumi(e, &a, NULL, 0, "export the state", &res, f) < 0)
        return -1;
    if (rco_file_read(file, RCO_STATE_MAX, out, &err) < 0 ||
        rco_state_read(rco_buf_str(out), out->len, &e->r->arena, ret, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "exported state");
    unlink(file);
    return 0;
}

static int create_stack(struct rco_engine *e, struct rco_failure *f)
{
    rco_autoproc res = {0};
    struct rco_argv a = {0};
    const char *provider = e->r->job.backend.secrets_provider;
    rco_argv_adds(&a, "pulumi", "stack", "select", "--stack", e->r->job.stack, "--create",
                  "--secrets-provider", rco_str_empty(provider) ? "passphrase" : provider,
                  "--non-interactive", NULL);
    return rco_pulumi(e, &a, NULL, 0, "make the stack", &res, f);
}

static bool is_missing_stack(const struct rco_failure *f)
{
    return strstr(f->message, "no stack named") != NULL;
}

/* The secrets provider of a stack is fixed when it is made; a later wish does not change it. */
static int check_provider(struct rco_engine *e, struct rco_failure *f)
{
    const char *want = e->r->job.backend.secrets_provider, *type = e->base.provider_type;
    bool passphrase = rco_str_empty(want) || rco_streq(want, "passphrase");
    if (!type || (passphrase && rco_streq(type, "passphrase")) ||
        (!passphrase && rco_streq(type, "cloud")) || rco_streq(type, "service"))
        return 0;
    return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                           "the state of stack %s is protected by the secrets provider %s, the "
                           "Environment says %s: set backend.secretsProvider to what the stack has",
                           e->r->job.stack, type, passphrase ? "passphrase" : want);
}

int rco_pulumi_prepare(struct rco_engine *e, enum rco_stack_mode mode, struct rco_failure *f)
{
    if (rco_pulumi_export(e, &e->base, NULL, f) < 0) {
        if (mode != RCO_STACK_CREATE || !is_missing_stack(f))
            return -1;
        *f = RCO_FAILURE_INIT;
        if (create_stack(e, f) < 0 || rco_pulumi_export(e, &e->base, NULL, f) < 0)
            return -1;
    }
    e->done.base_state_digest = rco_arena_strdup(&e->r->arena, e->base.digest);
    e->done.pending_operations = (int64_t)e->base.pending_operations;
    if (check_provider(e, f) < 0)
        return -1;
    return rco_settings_complete(e, f);
}

/* One value on stdin, where nobody can see it. */
static int set_config(struct rco_engine *e, const char *key, const char *kind,
                      const struct rco_input_value *v, struct rco_failure *f)
{
    rco_autoproc res = {0};
    struct rco_argv a = {0};
    const char *what = rco_arena_printf(&e->r->arena, "set the configuration key %s", key);
    rco_argv_adds(&a, "pulumi", "config", "set", kind, "--stack", e->r->job.stack,
                  "--non-interactive", "--", key, NULL);
    return rco_pulumi(e, &a, v->bytes, v->len, what, &res, f);
}

int rco_pulumi_configure(struct rco_engine *e, struct rco_failure *f)
{
    const struct rco_runner_job *job = &e->r->job;
    for (size_t i = 0; i < job->n_configs; i++)
        if (set_config(e, job->configs[i].key, "--plaintext", &e->inputs.configs[i], f) < 0)
            return -1;
    for (size_t i = 0; i < job->n_secrets; i++)
        if (!rco_str_empty(job->secrets[i].key) &&
            set_config(e, job->secrets[i].key, "--secret", &e->inputs.secrets[i], f) < 0)
            return -1;
    return 0;
}

static const char *output_text(struct rco_arena *a, const struct rco_value *v)
{
    rco_autobuf text = RCO_BUF_INIT;
    if (v->type == RCO_VALUE_STRING && strlen(v->text) == v->len)
        return rco_arena_strdup(a, v->text);
    rco_value_canonical(v, &text);
    return rco_arena_strdup(a, rco_buf_str(&text));
}

static int compare_kv(const void *a, const void *b)
{
    return strcmp(((const struct rco_kv *)a)->key, ((const struct rco_kv *)b)->key);
}

/* Those that exportOutputs names, up to the cap of the status. */
static void select_outputs(struct rco_engine *e, const struct rco_value *all)
{
    const struct rco_runner_job *job = &e->r->job;
    struct rco_arena *a = &e->r->arena;
    size_t total = 0;
    e->done.outputs = rco_arena_array(a, job->n_export_outputs + 1, sizeof(*e->done.outputs));
    for (size_t i = 0; i < job->n_export_outputs; i++) {
        const struct rco_value *v = rco_value_get(all, job->export_outputs[i]);
        if (!v)
            continue;
        const char *text = output_text(a, v);
        if (strcmp(text, "[secret]") == 0) {
            rco_log(RCO_LOG_WARN, "output left out of the receipt, it is secret",
                    RCO_S("output", job->export_outputs[i]));
            continue;
        }
        size_t size = strlen(job->export_outputs[i]) + strlen(text);
        if (total + size > RCO_RECEIPT_MAX_OUTPUTS) {
            rco_log(RCO_LOG_WARN, "output left out of the receipt, all together exceed 4 KiB",
                    RCO_S("output", job->export_outputs[i]));
            continue;
        }
        total += size;
        e->done.outputs[e->done.n_outputs++] =
            (struct rco_kv){.key = job->export_outputs[i], .value = text};
    }
    qsort(e->done.outputs, e->done.n_outputs, sizeof(*e->done.outputs), compare_kv);
}

int rco_pulumi_outputs(struct rco_engine *e, struct rco_buf *text, struct rco_failure *f)
{
    rco_autoproc res = {0};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    struct rco_argv a = {0};
    rco_argv_adds(&a, "pulumi", "stack", "output", "--json", "--stack", e->r->job.stack,
                  "--non-interactive", NULL);
    if (rco_pulumi(e, &a, NULL, 0, "read the outputs", &res, f) < 0)
        return -1;
    if (res.cut)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "the outputs exceed %d bytes",
                               MAX_OUTPUT);
    rco_mask_text(e->inputs.mask, rco_buf_str(&res.out), res.out.len, text);
    if (rco_value_parse(rco_buf_str(text), text->len, &e->r->arena, &v, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "outputs");
    select_outputs(e, v);
    return 0;
}
