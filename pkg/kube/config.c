#include "kube/config.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kube/kubeconfig_schema.h"
#include "json/yaml.h"

#include <stdlib.h>
#include <string.h>

static void free_list(char **list)
{
    for (char **s = list; s && *s; s++)
        free(*s);
    free(list);
}

static void exec_free(struct rco_kube_exec *e)
{
    if (!e)
        return;
    free(e->api_version);
    free(e->command);
    free(e->install_hint);
    free_list(e->args);
    free_list(e->env);
    free(e);
}

void rco_kube_config_release(struct rco_kube_config *c)
{
    char **strings[] = {&c->source,         &c->server,   &c->ns,         &c->ca_pem,
                        &c->ca_file,        &c->cert_pem, &c->cert_file,  &c->key_pem,
                        &c->key_file,       &c->token,    &c->token_file, &c->proxy_url,
                        &c->tls_server_name};

    for (size_t i = 0; i < RCO_ARRAY_LEN(strings); i++)
        free(*strings[i]);
    exec_free(c->exec);
    *c = RCO_KUBE_CONFIG_INIT;
}

/* --- files --- */

/* One file of the list, decoded. */
struct file {
    const char *source, *dir; /* dir NULL = relative paths stay as they are */
    struct rco_kubeconfig yaml;
};

struct files {
    struct rco_arena arena;
    struct file items[RCO_KUBECONFIG_FILES_MAX];
    size_t n;
};

static void files_release(struct files *f)
{
    rco_arena_release(&f->arena);
}

static const char *dir_of(struct files *f, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return slash == path ? "/" : rco_arena_strndup(&f->arena, path, (size_t)(slash - path));
}

static int add_text(struct files *f, const char *yaml, size_t n, const char *source,
                    const char *dir, struct rco_error *err)
{
    struct file *file;

    if (f->n == RCO_KUBECONFIG_FILES_MAX)
        return rco_error_set(err, RCO_ETOOBIG, "more than %d kubeconfig files",
                             RCO_KUBECONFIG_FILES_MAX);
    file = &f->items[f->n];
    file->source = rco_arena_strdup(&f->arena, source);
    file->dir = dir;
    if (rco_yaml_decode(&rco_kubeconfig_schema, yaml, n, &f->arena, &file->yaml, err) < 0)
        return rco_error_wrap(err, "kubeconfig %s", source);
    f->n++;
    return 0;
}

static int add_file(struct files *f, const char *path, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (rco_file_read(path, RCO_KUBECONFIG_MAX, &text, err) < 0)
        return rco_error_wrap(err, "kubeconfig %s", path);
    return add_text(f, rco_buf_str(&text), text.len, path, dir_of(f, path), err);
}

/* As kubectl: in a list, files that do not exist are passed over. */
static int add_paths(struct files *f, const char *paths, struct rco_error *err)
{
    bool list = strchr(paths, ':') != NULL;
    const char *p = paths;

    while (*p) {
        size_t n = strcspn(p, ":");
        const char *path = rco_arena_strndup(&f->arena, p, n);

        p += n + (p[n] == ':');
        if (n == 0 || (list && access(path, F_OK) < 0))
            continue;
        if (add_file(f, path, err) < 0)
            return -1;
    }
    if (f->n == 0)
        return rco_error_set(err, RCO_ENOTFOUND, "no kubeconfig found at %s", paths);
    return 0;
}

/* --- lookups: the first file to define a name wins --- */

static const char *all_sources(struct files *f)
{
    rco_autobuf b = RCO_BUF_INIT;

    for (size_t i = 0; i < f->n; i++) {
        if (i > 0)
            rco_buf_adds(&b, ", ");
        rco_buf_adds(&b, f->items[i].source);
    }
    return rco_arena_strdup(&f->arena, rco_buf_str(&b));
}

static const struct rco_kubeconfig_context *find_context(struct files *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct rco_kubeconfig *y = &f->items[i].yaml;

        for (size_t k = 0; k < y->n_contexts; k++)
            if (rco_streq(y->contexts[k].name, name))
                return &y->contexts[k].context;
    }
    return NULL;
}

static const struct rco_kubeconfig_cluster *find_cluster(struct files *f, const char *name,
                                                         const struct file **ret_file)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct rco_kubeconfig *y = &f->items[i].yaml;

        for (size_t k = 0; k < y->n_clusters; k++) {
            if (rco_streq(y->clusters[k].name, name)) {
                *ret_file = &f->items[i];
                return &y->clusters[k].cluster;
            }
        }
    }
    return NULL;
}

static const struct rco_kubeconfig_user *find_user(struct files *f, const char *name,
                                                   const struct file **ret_file)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct rco_kubeconfig *y = &f->items[i].yaml;

        for (size_t k = 0; k < y->n_users; k++) {
            if (rco_streq(y->users[k].name, name)) {
                *ret_file = &f->items[i];
                return &y->users[k].user;
            }
        }
    }
    return NULL;
}

/* --- values --- */

/* Where a value stands, for messages. */
struct place {
    const struct file *file;
    const char *list, *name, *field; /* clusters[prod].server */
};

static int complain(struct rco_error *err, enum rco_code code, const struct place *p,
                    const char *problem)
{
    return rco_error_set(err, code, "kubeconfig %s: %s[%s].%s: %s", p->file->source, p->list,
                         p->name, p->field, problem);
}

static int take_base64(const struct place *p, const char *data, char **out, struct rco_error *err)
{
    size_t n;
    unsigned char *bytes;

    if (strlen(data) > RCO_KUBE_PEM_MAX)
        return complain(err, RCO_ETOOBIG, p, "larger than 1 MiB");
    bytes = rco_base64_decode(data, strlen(data), &n);
    if (!bytes)
        return complain(err, RCO_EINVALID, p, "is not base64");
    if (n == 0 || memchr(bytes, 0, n)) {
        free(bytes);
        return complain(err, RCO_EINVALID, p, "is empty or not text");
    }
    *out = (char *)bytes;
    return 0;
}

static char *resolve(const struct file *f, const char *path)
{
    rco_autobuf b = RCO_BUF_INIT;

    if (path[0] != '/' && f->dir) {
        rco_buf_adds(&b, f->dir);
        rco_buf_addc(&b, '/');
    }
    rco_buf_adds(&b, path);
    return rco_buf_take(&b);
}

static int take_path(const struct place *p, enum rco_kube_trust trust, const char *path, char **out,
                     struct rco_error *err)
{
    if (trust == RCO_KUBE_TRUST_NOTHING)
        return complain(
            err, RCO_EFORBIDDEN, p,
            "a kubeconfig from elsewhere may not name files of this machine; put the data "
            "inline");
    *out = resolve(p->file, path);
    return 0;
}

/* Data wins over a file, as in client-go. */
static int take_pem(const struct place *p, enum rco_kube_trust trust, const char *data_field,
                    const char *data, const char *path, char **out_pem, char **out_file,
                    struct rco_error *err)
{
    struct place data_place = *p;

    data_place.field = data_field;
    if (!rco_str_empty(data))
        return take_base64(&data_place, data, out_pem, err);
    if (!rco_str_empty(path))
        return take_path(p, trust, path, out_file, err);
    return 0;
}

static int take_server(const struct place *p, const char *server, char **out, struct rco_error *err)
{
    size_t n;

    if (rco_str_empty(server))
        return complain(err, RCO_EINVALID, p, "missing");
    if (!rco_str_has_prefix(server, "https://") && !rco_str_has_prefix(server, "http://"))
        return complain(err, RCO_EINVALID, p, "must begin with https://");
    if (strpbrk(server, " \t\r\n?#@"))
        return complain(err, RCO_EINVALID, p, "must be a plain URL without user, query or spaces");
    n = strlen(server);
    while (n > 0 && server[n - 1] == '/')
        n--;
    *out = rco_strndup(server, n);
    return 0;
}

static int use_cluster(const struct place *at, enum rco_kube_trust trust,
                       const struct rco_kubeconfig_cluster *c, struct rco_kube_config *out,
                       struct rco_error *err)
{
    struct place p = *at;

    p.field = "server";
    if (take_server(&p, c->server, &out->server, err) < 0)
        return -1;
    p.field = "certificate-authority";
    if (take_pem(&p, trust, "certificate-authority-data", c->ca_data, c->ca_file, &out->ca_pem,
                 &out->ca_file, err) < 0)
        return -1;
    if (trust == RCO_KUBE_TRUST_NOTHING) {
        p.field = "insecure-skip-tls-verify";
        if (c->insecure)
            return complain(err, RCO_EFORBIDDEN, &p, "not accepted from elsewhere");
        p.field = "proxy-url";
        if (!rco_str_empty(c->proxy_url))
            return complain(err, RCO_EFORBIDDEN, &p, "not accepted from elsewhere");
    }
    out->insecure = c->insecure;
    out->tls_server_name = rco_strdup(c->tls_server_name);
    out->proxy_url = rco_strdup(c->proxy_url);
    return 0;
}

static char **dup_list(const char *const *list, size_t n)
{
    char **out = rco_calloc(n + 1, sizeof(*out));

    for (size_t i = 0; i < n; i++)
        out[i] = rco_strdup(list[i]);
    return out;
}

static int take_exec(const struct place *at, enum rco_kube_trust trust,
                     const struct rco_kubeconfig_exec *x, struct rco_kube_exec **out,
                     struct rco_error *err)
{
    struct place p = *at;
    struct rco_kube_exec *e;

    p.field = "exec";
    if (trust == RCO_KUBE_TRUST_NOTHING)
        return complain(err, RCO_EFORBIDDEN, &p,
                        "a kubeconfig from elsewhere may not run programs on this machine");
    p.field = "exec.command";
    if (rco_str_empty(x->command))
        return complain(err, RCO_EINVALID, &p, "missing");
    p.field = "exec.apiVersion";
    if (!rco_streq(x->api_version, "client.authentication.k8s.io/v1") &&
        !rco_streq(x->api_version, "client.authentication.k8s.io/v1beta1"))
        return complain(err, RCO_EINVALID, &p,
                        "must be client.authentication.k8s.io/v1 or v1beta1");
    e = rco_calloc(1, sizeof(*e));
    e->api_version = rco_strdup(x->api_version);
    /* A path relative to its file, as client-go; a bare name is looked up in PATH. */
    e->command = strchr(x->command, '/') ? resolve(at->file, x->command) : rco_strdup(x->command);
    e->install_hint = rco_strdup(x->install_hint);
    e->provide_cluster_info = x->provide_cluster_info;
    e->args = dup_list(x->args, x->n_args);
    e->env = rco_calloc(x->n_env + 1, sizeof(*e->env));
    for (size_t i = 0; i < x->n_env; i++)
        e->env[i] = rco_asprintf("%s=%s", rco_str_or_empty(x->env[i].name),
                                 rco_str_or_empty(x->env[i].value));
    *out = e;
    return 0;
}

/* What we do not support must not pass in silence: the calls would go out as somebody else. */
static int refuse_others(const struct place *at, const struct rco_kubeconfig_user *u,
                         struct rco_error *err)
{
    struct place p = *at;

    p.field = "auth-provider";
    if (u->auth_provider)
        return complain(err, RCO_EFORBIDDEN, &p,
                        "removed from Kubernetes in 1.26; use an exec plugin");
    p.field = "username";
    if (!rco_str_empty(u->username) || !rco_str_empty(u->password))
        return complain(err, RCO_EINVALID, &p,
                        "basic authentication was removed from Kubernetes in 1.19");
    p.field = "as";
    if (u->as_user || u->as_uid || u->n_as_groups > 0)
        return complain(err, RCO_EINVALID, &p, "impersonation is not supported");
    return 0;
}

static int use_user(const struct place *at, enum rco_kube_trust trust,
                    const struct rco_kubeconfig_user *u, struct rco_kube_config *out,
                    struct rco_error *err)
{
    struct place p = *at;

    if (refuse_others(at, u, err) < 0)
        return -1;
    p.field = "client-certificate";
    if (take_pem(&p, trust, "client-certificate-data", u->cert_data, u->cert_file, &out->cert_pem,
                 &out->cert_file, err) < 0)
        return -1;
    p.field = "client-key";
    if (take_pem(&p, trust, "client-key-data", u->key_data, u->key_file, &out->key_pem,
                 &out->key_file, err) < 0)
        return -1;
    if (!(out->cert_pem || out->cert_file) != !(out->key_pem || out->key_file))
        return complain(err, RCO_EINVALID, &p, "a client certificate and its key go together");
    p.field = "tokenFile";
    if (!rco_str_empty(u->token_file) &&
        take_path(&p, trust, u->token_file, &out->token_file, err) < 0)
        return -1;
    /* A file wins over the literal token, as in client-go: it is the one that is rotated. */
    if (!out->token_file && !rco_str_empty(u->token))
        out->token = rco_strdup(u->token);
    if (u->has_exec)
        return take_exec(at, trust, &u->exec, &out->exec, err);
    return 0;
}

/* --- putting it together --- */

static const char *current_context(struct files *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!rco_str_empty(f->items[i].yaml.current_context))
            return f->items[i].yaml.current_context;
    return NULL;
}

static int build(struct files *f, const struct rco_kubeconfig_options *o,
                 struct rco_kube_config *out, struct rco_error *err)
{
    const char *name = o->context ? o->context : current_context(f);
    const struct rco_kubeconfig_context *context;
    const struct rco_kubeconfig_cluster *cluster;
    const struct rco_kubeconfig_user *user;
    const struct file *file = NULL;

    if (rco_str_empty(name))
        return rco_error_set(err, RCO_EINVALID,
                             "kubeconfig %s: current-context: not set, and no context was named",
                             all_sources(f));
    context = find_context(f, name);
    if (!context)
        return rco_error_set(err, RCO_ENOTFOUND, "kubeconfig %s: contexts: there is no \"%s\"",
                             all_sources(f), name);
    cluster = find_cluster(f, context->cluster, &file);
    if (!cluster)
        return rco_error_set(err, RCO_ENOTFOUND,
                             "kubeconfig %s: contexts[%s].cluster: there is no cluster \"%s\"",
                             all_sources(f), name, rco_str_or_empty(context->cluster));
    out->source = rco_strdup(file->source);
    out->ns = rco_strdup(rco_str_empty(context->ns) ? "default" : context->ns);
    if (use_cluster(&(struct place){file, "clusters", context->cluster, NULL}, o->trust, cluster,
                    out, err) < 0)
        return -1;
    if (rco_str_empty(context->user))
        return 0;
    user = find_user(f, context->user, &file);
    if (!user)
        return rco_error_set(err, RCO_ENOTFOUND,
                             "kubeconfig %s: contexts[%s].user: there is no user \"%s\"",
                             all_sources(f), name, context->user);
    return use_user(&(struct place){file, "users", context->user, NULL}, o->trust, user, out, err);
}

static int finish(struct files *f, const struct rco_kubeconfig_options *o,
                  struct rco_kube_config *out, struct rco_error *err)
{
    rco_autokubeconfig made = RCO_KUBE_CONFIG_INIT;

    if (build(f, o, &made, err) < 0)
        return -1;
    *out = made;
    made = RCO_KUBE_CONFIG_INIT;
    return 0;
}

int rco_kube_config_load(const struct rco_kubeconfig_options *options, struct rco_kube_config *out,
                         struct rco_error *err)
{
    rco_cleanup(files_release) struct files f = {0};

    if (add_paths(&f, rco_str_or_empty(options->paths), err) < 0)
        return -1;
    return finish(&f, options, out, err);
}

int rco_kube_config_parse(const char *yaml, size_t n, const char *source,
                          const struct rco_kubeconfig_options *options, struct rco_kube_config *out,
                          struct rco_error *err)
{
    rco_cleanup(files_release) struct files f = {0};

    if (n > RCO_KUBECONFIG_MAX)
        return rco_error_set(err, RCO_ETOOBIG, "kubeconfig %s: larger than 4 MiB", source);
    if (add_text(&f, yaml, n, source, NULL, err) < 0)
        return -1;
    return finish(&f, options, out, err);
}

/* --- in the cluster --- */

static int read_trimmed(const char *dir, const char *file, size_t cap, char **ret_path,
                        char **ret_text, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    rco_autofree char *path = rco_asprintf("%s/%s", dir, file);

    if (rco_file_read(path, cap, &text, err) < 0)
        return rco_error_wrap(err, "in-cluster configuration: %s", path);
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]))
        text.data[--text.len] = 0;
    if (text.len == 0)
        return rco_error_set(err, RCO_EINVALID, "in-cluster configuration: %s is empty", path);
    if (ret_text)
        *ret_text = rco_buf_take(&text);
    if (ret_path) {
        *ret_path = path;
        path = NULL;
    }
    return 0;
}

static int in_cluster(const char *host, const char *port, const char *dir,
                      struct rco_kube_config *c, struct rco_error *err)
{
    bool v6 = strchr(host, ':') != NULL && host[0] != '[';

    c->source = rco_strdup("in-cluster");
    c->server = rco_asprintf(v6 ? "https://[%s]:%s" : "https://%s:%s", host, port);
    if (read_trimmed(dir, "token", RCO_KUBE_TOKEN_MAX, &c->token_file, NULL, err) < 0)
        return -1;
    if (read_trimmed(dir, "ca.crt", RCO_KUBE_PEM_MAX, &c->ca_file, NULL, err) < 0)
        return -1;
    return read_trimmed(dir, "namespace", 256, NULL, &c->ns, err);
}

int rco_kube_config_in_cluster(const char *host, const char *port, const char *dir,
                               struct rco_kube_config *out, struct rco_error *err)
{
    rco_autokubeconfig made = RCO_KUBE_CONFIG_INIT;

    if (rco_str_empty(host) || rco_str_empty(port))
        return rco_error_set(err, RCO_ENOTFOUND,
                             "in-cluster configuration: KUBERNETES_SERVICE_HOST and "
                             "KUBERNETES_SERVICE_PORT are not set; outside of a cluster name a "
                             "kubeconfig");
    if (in_cluster(host, port, dir, &made, err) < 0)
        return -1;
    *out = made;
    made = RCO_KUBE_CONFIG_INIT;
    return 0;
}
