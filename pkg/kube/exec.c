#include "base/clock.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kube/credentials.h"
#include "json/codec.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXEC_INFO "KUBERNETES_EXEC_INFO"
#define WAIT_STEP_MS 20

struct exec_status {
    const char *token, *cert, *key;
    rco_wall expires;
};

struct exec_credential {
    const char *api_version, *kind;
    struct exec_status status;
    bool has_status;
};

static const struct rco_field status_fields[] = {
    {.name = "token",
     .name_len = 5,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct exec_status, token)},
    {.name = "clientCertificateData",
     .name_len = 21,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct exec_status, cert)},
    {.name = "clientKeyData",
     .name_len = 13,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct exec_status, key)},
    {.name = "expirationTimestamp",
     .name_len = 19,
     .type = RCO_FIELD_TIME,
     .offset = offsetof(struct exec_status, expires)},
};
static const struct rco_schema status_schema = {
    .name = "ExecCredentialStatus",
    .size = sizeof(struct exec_status),
    .fields = status_fields,
    .n_fields = RCO_ARRAY_LEN(status_fields),
};
static const struct rco_field credential_fields[] = {
    {.name = "apiVersion",
     .name_len = 10,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct exec_credential, api_version)},
    {.name = "kind",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct exec_credential, kind)},
    {.name = "status",
     .name_len = 6,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct exec_credential, status),
     .aux_offset = offsetof(struct exec_credential, has_status),
     .sub = &status_schema},
};
static const struct rco_schema credential_schema = {
    .name = "ExecCredential",
    .size = sizeof(struct exec_credential),
    .fields = credential_fields,
    .n_fields = RCO_ARRAY_LEN(credential_fields),
};

void rco_exec_credential_release(struct rco_exec_credential *e)
{
    char *secrets[] = {e->token, e->key_pem};

    for (size_t i = 0; i < RCO_ARRAY_LEN(secrets); i++) {
        if (secrets[i])
            explicit_bzero(secrets[i], strlen(secrets[i]));
        free(secrets[i]);
    }
    free(e->cert_pem);
    *e = (struct rco_exec_credential){0};
}

/* --- what the plugin is told --- */

static void info_cluster(struct rco_json_writer *w, const struct rco_kube_config *c)
{
    rco_json_kv_object(w, "cluster");
    rco_json_kv_string(w, "server", c->server);
    rco_json_kv_string_opt(w, "tls-server-name", c->tls_server_name);
    if (c->insecure)
        rco_json_kv_bool(w, "insecure-skip-tls-verify", true);
    if (c->ca_pem) {
        rco_autofree char *data = rco_base64_encode(c->ca_pem, strlen(c->ca_pem));

        rco_json_kv_string(w, "certificate-authority-data", data);
    }
    rco_json_kv_string_opt(w, "proxy-url", c->proxy_url);
    rco_json_end_object(w);
}

static void exec_info(const struct rco_kube_config *c, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_buf_adds(out, EXEC_INFO "=");
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "kind", "ExecCredential");
    rco_json_kv_string(&w, "apiVersion", c->exec->api_version);
    rco_json_kv_object(&w, "spec");
    rco_json_kv_bool(&w, "interactive", false);
    if (c->exec->provide_cluster_info)
        info_cluster(&w, c);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool overridden(const char *pair, char **by, const char *info)
{
    if (same_name(pair, info))
        return true;
    for (; *by; by++)
        if (same_name(pair, *by))
            return true;
    return false;
}

/* The caller's environment, the plugin's own pairs over it. Only the array is allocated. */
static char **child_environment(char *const *base, char **own, char *info)
{
    size_t n = 2, k = 0;
    char **out;

    for (char *const *p = base; p && *p; p++)
        n++;
    for (char **p = own; *p; p++)
        n++;
    out = rco_calloc(n, sizeof(*out));
    for (char *const *p = base; p && *p; p++)
        if (!overridden(*p, own, info))
            out[k++] = *p;
    for (char **p = own; *p; p++)
        out[k++] = *p;
    out[k] = info;
    return out;
}

/* --- running it: by argv, never by a shell (A56) --- */

static const char *path_of(char *const *env)
{
    for (; env && *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

static char *find_program(const char *command, char *const *env)
{
    if (strchr(command, '/'))
        return rco_strdup(command);
    for (const char *p = path_of(env); *p;) {
        size_t n = strcspn(p, ":");
        rco_autofree char *dir = rco_strndup(p, n);
        rco_autofree char *file = rco_asprintf("%s/%s", dir, command);

        if (n > 0 && access(file, X_OK) == 0)
            return rco_strdup(file);
        p += n + (p[n] == ':');
    }
    return NULL;
}

static char **child_argv(const struct rco_kube_exec *x)
{
    size_t n = 0;
    char **argv;

    while (x->args[n])
        n++;
    argv = rco_calloc(n + 2, sizeof(*argv));
    argv[0] = x->command;
    memcpy(argv + 1, x->args, n * sizeof(*argv));
    return argv;
}

static int spawn(const struct rco_kube_exec *x, const char *file, char **env, pid_t *ret_pid,
                 int *ret_fd, struct rco_error *err)
{
    posix_spawn_file_actions_t actions;
    rco_autofree char **argv = child_argv(x);
    int fds[2], r;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return rco_error_errno(err, errno, "credential plugin %s: pipe", x->command);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    r = posix_spawn(ret_pid, file, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (r != 0) {
        close(fds[0]);
        return rco_error_errno(err, r, "credential plugin %s", file);
    }
    *ret_fd = fds[0];
    return 0;
}

static int64_t left_ms(rco_mono deadline)
{
    int64_t left = (deadline - rco_clock_mono()) / RCO_NS_PER_MS;

    return left > 0 ? left : 0;
}

static int read_output(int fd, rco_mono deadline, struct rco_buf *out, struct rco_error *err)
{
    char bytes[8192];

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, (int)left_ms(deadline));
        ssize_t n;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return rco_error_set(err, RCO_ETIMEOUT, "no answer within 60 s");
        n = read(fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return rco_error_errno(err, errno, "read its output");
        if (n == 0)
            return 0;
        if (rco_buf_add_capped(out, bytes, (size_t)n, RCO_EXEC_OUTPUT_MAX, err) < 0)
            return -1;
    }
}

/* Reaps PID, by force when the deadline has passed. */
static int reap(pid_t pid, rco_mono deadline)
{
    int status = 0;

    for (;;) {
        pid_t r = waitpid(pid, &status, WNOHANG);

        if (r == pid)
            return status;
        if (r < 0 && errno != EINTR)
            return -1;
        if (left_ms(deadline) == 0)
            kill(pid, SIGKILL);
        poll(NULL, 0, WAIT_STEP_MS);
    }
}

static int run(const struct rco_kube_config *config, char *const *base, struct rco_buf *out,
               struct rco_error *err)
{
    const struct rco_kube_exec *x = config->exec;
    rco_mono deadline = rco_clock_mono() + RCO_EXEC_TIMEOUT_NS;
    rco_autobuf info = RCO_BUF_INIT;
    rco_autofree char **env = NULL;
    rco_autofree char *file = find_program(x->command, base);
    rco_autoclose int fd = -1;
    pid_t pid;
    int status, r;

    if (!file)
        return rco_error_set(err, RCO_ENOTFOUND, "credential plugin %s is not in PATH. %.200s",
                             x->command, rco_str_or_empty(x->install_hint));
    exec_info(config, &info);
    env = child_environment(base, x->env, info.data);
    if (spawn(x, file, env, &pid, &fd, err) < 0)
        return -1;
    r = read_output(fd, deadline, out, err);
    status = reap(pid, r < 0 ? 0 : deadline);
    if (r < 0)
        return rco_error_wrap(err, "credential plugin %s", file);
    if (status != 0)
        return rco_error_set(err, RCO_EUNAUTHORIZED,
                             "credential plugin %s ended with %s %d. %.200s", file,
                             WIFSIGNALED(status) ? "signal" : "exit code",
                             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                             rco_str_or_empty(x->install_hint));
    return 0;
}

static int parse(const struct rco_kube_exec *x, const struct rco_buf *text,
                 struct rco_exec_credential *out, struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct exec_credential c = {0};

    if (rco_codec_decode(&credential_schema, rco_buf_str(text), text->len, &a, &c, err) < 0)
        return rco_error_wrap(err, "answer of credential plugin %s", x->command);
    if (!rco_streq(c.kind, "ExecCredential") || !rco_streq(c.api_version, x->api_version))
        return rco_error_set(
            err, RCO_EINVALID,
            "credential plugin %s answered %s of %s instead of ExecCredential of %s", x->command,
            rco_str_or_empty(c.kind), rco_str_or_empty(c.api_version), x->api_version);
    if (!rco_str_empty(c.status.cert) != !rco_str_empty(c.status.key))
        return rco_error_set(err, RCO_EINVALID,
                             "credential plugin %s gave a certificate without key or the reverse",
                             x->command);
    if (rco_str_empty(c.status.token) && rco_str_empty(c.status.cert))
        return rco_error_set(err, RCO_EINVALID,
                             "credential plugin %s gave neither a token nor a certificate",
                             x->command);
    out->token = rco_strdup(rco_str_empty(c.status.token) ? NULL : c.status.token);
    out->cert_pem = rco_strdup(rco_str_empty(c.status.cert) ? NULL : c.status.cert);
    out->key_pem = rco_strdup(rco_str_empty(c.status.key) ? NULL : c.status.key);
    out->expires = c.status.expires;
    return 0;
}

int rco_kube_exec_run(const struct rco_kube_config *config, char *const *env,
                      struct rco_exec_credential *out, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    int r = run(config, env, &text, err);

    if (r == 0)
        r = parse(config->exec, &text, out, err);
    if (text.data)
        explicit_bzero(text.data, text.size);
    return r;
}
