#include "kube/credentials.h"

#include "base/file.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define BEARER "Bearer "

struct rco_credentials {
    struct rco_loop *loop;
    const struct rco_kube_config *config;
    struct rco_credentials_handler handler;
    struct rco_timer *timer;
    char *authorization; /* "Bearer ...", NULL = none */
    rco_mono token_read; /* when the file was read last */
    bool token_dropped;  /* read it before the next request, whatever its age */
    rco_mono first_401;  /* 0 = the last answer was not one */
    bool hopeless_told;
    char *ca, *cert, *key;
};

/* The token is a secret: its memory is wiped before it goes back to the allocator. */
static void wipe_free(char *s)
{
    if (!s)
        return;
    explicit_bzero(s, strlen(s));
    free(s);
}

static void set_token(struct rco_credentials *c, const char *token)
{
    size_t n = strlen(token);
    char *value = rco_malloc(sizeof(BEARER) + n);

    memcpy(value, BEARER, sizeof(BEARER) - 1);
    memcpy(value + sizeof(BEARER) - 1, token, n + 1);
    wipe_free(c->authorization);
    c->authorization = value;
}

static int read_token(struct rco_credentials *c, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    const char *path = c->config->token_file;
    int r = 0;

    if (rco_file_read(path, RCO_KUBE_TOKEN_MAX, &text, err) < 0)
        return rco_error_wrap(err, "token file %s", path);
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]))
        text.data[--text.len] = 0;
    if (text.len == 0)
        r = rco_error_set(err, RCO_EINVALID, "token file %s is empty", path);
    else if (strpbrk(text.data, " \t\r\n"))
        r = rco_error_set(err, RCO_EINVALID, "token file %s does not hold one token", path);
    else
        set_token(c, text.data);
    if (text.data)
        explicit_bzero(text.data, text.size);
    return r;
}

static int read_pem(const char *path, char **out, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (rco_file_read(path, RCO_KUBE_PEM_MAX, &text, err) < 0)
        return rco_error_wrap(err, "%s", path);
    if (!strstr(rco_buf_str(&text), "-----BEGIN "))
        return rco_error_set(err, RCO_EINVALID, "%s holds no PEM block", path);
    *out = rco_buf_take(&text);
    return 0;
}

struct pems {
    char *ca, *cert, *key;
};

static void pems_release(struct pems *p)
{
    free(p->ca);
    free(p->cert);
    wipe_free(p->key);
    *p = (struct pems){0};
}

static int read_one(const char *pem, const char *path, char **out, struct rco_error *err)
{
    if (pem)
        *out = rco_strdup(pem);
    else if (path)
        return read_pem(path, out, err);
    return 0;
}

static int read_pems(const struct rco_kube_config *k, struct pems *out, struct rco_error *err)
{
    if (read_one(k->ca_pem, k->ca_file, &out->ca, err) < 0 ||
        read_one(k->cert_pem, k->cert_file, &out->cert, err) < 0)
        return -1;
    return read_one(k->key_pem, k->key_file, &out->key, err);
}

static void keep(struct rco_credentials *c, struct pems *p)
{
    struct pems old = {c->ca, c->cert, c->key};

    c->ca = p->ca;
    c->cert = p->cert;
    c->key = p->key;
    *p = old;
}

/* A file that is missing, empty or half-written leaves everything as it was until the next check
 * (A54). */
static void on_check(void *ctx)
{
    struct rco_credentials *c = ctx;
    rco_cleanup(pems_release) struct pems now = {0};
    struct rco_error ignored = RCO_ERROR_INIT;

    rco_timer_arm(c->timer, RCO_CERT_CHECK_NS);
    if (read_pems(c->config, &now, &ignored) < 0)
        return;
    if (rco_streq(now.ca, c->ca) && rco_streq(now.cert, c->cert) && rco_streq(now.key, c->key))
        return;
    keep(c, &now);
    if (c->handler.tls_changed)
        c->handler.tls_changed(c->handler.ctx, c->ca, c->cert, c->key);
}

static int start(struct rco_credentials *c, struct rco_error *err)
{
    rco_cleanup(pems_release) struct pems pems = {0};
    const struct rco_kube_config *k = c->config;

    if (k->exec)
        return rco_error_set(err, RCO_EINVALID,
                             "kubeconfig %s: the credential plugin %s is not run by a controller; "
                             "use a token file or a client certificate",
                             k->source, k->exec->command);
    if (read_pems(k, &pems, err) < 0)
        return -1;
    keep(c, &pems);
    if (k->token_file) {
        if (read_token(c, err) < 0)
            return -1;
        c->token_read = rco_loop_now(c->loop);
    } else if (!rco_str_empty(k->token)) {
        set_token(c, k->token);
    }
    if (k->ca_file || k->cert_file || k->key_file)
        rco_timer_arm(c->timer, RCO_CERT_CHECK_NS);
    return 0;
}

struct rco_credentials *rco_credentials_new(struct rco_loop *loop,
                                            const struct rco_kube_config *config,
                                            const struct rco_credentials_handler *handler,
                                            struct rco_error *err)
{
    struct rco_credentials *c = rco_calloc(1, sizeof(*c));

    c->loop = loop;
    c->config = config;
    if (handler)
        c->handler = *handler;
    c->timer = rco_timer_new(loop, on_check, c);
    if (start(c, err) == 0)
        return c;
    rco_credentials_free(c);
    return NULL;
}

void rco_credentials_free(struct rco_credentials *c)
{
    if (!c)
        return;
    rco_timer_free(c->timer);
    wipe_free(c->authorization);
    free(c->ca);
    free(c->cert);
    wipe_free(c->key);
    free(c);
}

const char *rco_credentials_authorization(struct rco_credentials *c)
{
    rco_mono now = rco_loop_now(c->loop);
    struct rco_error ignored = RCO_ERROR_INIT;

    if (c->config->token_file && (c->token_dropped || now - c->token_read >= RCO_TOKEN_REREAD_NS)) {
        /* On failure the old token stays: it may be good for a while yet (A51). */
        if (read_token(c, &ignored) == 0)
            c->token_dropped = false;
        c->token_read = now;
    }
    return c->authorization;
}

void rco_credentials_unauthorized(struct rco_credentials *c)
{
    rco_mono now = rco_loop_now(c->loop);

    c->token_dropped = true;
    if (c->first_401 == 0)
        c->first_401 = now;
    if (now - c->first_401 < RCO_UNAUTHORIZED_EXIT_NS || c->hopeless_told)
        return;
    c->hopeless_told = true;
    if (c->handler.hopeless)
        c->handler.hopeless(c->handler.ctx);
}

void rco_credentials_accepted(struct rco_credentials *c)
{
    c->first_401 = 0;
    c->hopeless_told = false;
}

const char *rco_credentials_ca(const struct rco_credentials *c)
{
    return c->ca;
}

const char *rco_credentials_cert(const struct rco_credentials *c)
{
    return c->cert;
}

const char *rco_credentials_key(const struct rco_credentials *c)
{
    return c->key;
}
