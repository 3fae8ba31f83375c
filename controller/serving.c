#include "serving.h"

#include "api/labels.h"
#include "api/zz_generated_types.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/sha256.h"
#include "http/tls.h"
#include "json/writer.h"

#include <string.h>

#define DAY_US (INT64_C(86400) * RCO_US_PER_S)
#define BACKDATE_US (INT64_C(3600) * RCO_US_PER_S) /* clocks of runners may be behind ours */
#define PEM_MAX (256 * 1024)

/* Texts of the Secret; malloc'd, NULL = absent. */
struct pems {
    char *cert, *key, *ca, *ca_key;
};

struct rco_serving {
    struct rco_serving_options o;
    struct rco_timer *timer;
    struct rco_kube_call *call;
    struct pems current; /* what is being served */
};

static void release_pems(struct pems *p)
{
    free(p->cert);
    free(p->key);
    free(p->ca);
    free(p->ca_key);
    *p = (struct pems){0};
}

static void check(void *ctx);

static void again(struct rco_serving *s, int64_t after_ns)
{
    rco_timer_arm(s->timer, rco_loop_jitter(s->o.loop, after_ns, after_ns + after_ns / 5));
}

static void fault(struct rco_serving *s, const char *what, const char *why)
{
    rco_log(RCO_LOG_WARN, "gateway certificate: trying again", RCO_S("secret", s->o.secret),
            RCO_S("what", what), RCO_S("error", why));
    again(s, RCO_SERVING_RETRY_NS);
}

/* Value KEY of SECRET, decoded. */
static char *secret_text(const struct rco_secret *secret, const char *key)
{
    const char *base64 = rco_kv_get(secret->data, secret->n_data, key);
    size_t n;

    if (!base64 || strlen(base64) > PEM_MAX)
        return NULL;
    return (char *)rco_base64_decode(base64, strlen(base64), &n);
}

/* Makes a serving pair signed by the CA in P, and the CA itself when P has none. */
static int make_pair(struct rco_serving *s, struct pems *p, struct rco_error *err)
{
    rco_wall now = rco_loop_wall(s->o.loop);
    const char *names[] = {s->o.host, NULL};
    struct rco_tls_serving_options options;

    if (!p->ca_key &&
        rco_tls_make_ca("runtime-cloud-gateway-ca", now - BACKDATE_US,
                        now + RCO_SERVING_CA_DAYS * DAY_US, &p->ca, &p->ca_key, err) < 0)
        return -1;
    options = (struct rco_tls_serving_options){
        .ca_cert_pem = p->ca,
        .ca_key_pem = p->ca_key,
        .common_name = "runtime-cloud-gateway",
        .names = names,
        .not_before = now - BACKDATE_US,
        .not_after = now + RCO_SERVING_CERT_DAYS * DAY_US,
    };
    free(p->cert);
    free(p->key);
    p->cert = p->key = NULL;
    return rco_tls_make_serving(&options, &p->cert, &p->key, err);
}

static void write_data(struct rco_json_writer *w, const struct pems *p)
{
    const struct {
        const char *key, *text;
    } entries[] = {
        {"tls.crt", p->cert}, {"tls.key", p->key}, {"ca.crt", p->ca}, {"ca.key", p->ca_key}};

    rco_json_kv_object(w, "data");
    for (size_t i = 0; i < RCO_ARRAY_LEN(entries); i++) {
        rco_autofree char *base64 = rco_base64_encode(entries[i].text, strlen(entries[i].text));

        rco_json_kv_string(w, entries[i].key, base64);
    }
    rco_json_end_object(w);
}

static void on_written(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_serving *s = ctx;

    (void)result;
    s->call = NULL;
    /* Another replica was quicker: read what it wrote. */
    if (err && err->code != RCO_EEXISTS && err->code != RCO_ECONFLICT) {
        fault(s, "write", err->msg);
        return;
    }
    check(s);
}

static void create(struct rco_serving *s)
{
    struct pems p = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;

    if (make_pair(s, &p, &err) < 0) {
        release_pems(&p);
        fault(s, "make", err.msg);
        return;
    }
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_kind_write_header(&w, RCO_KIND_SECRET);
    rco_json_kv_string(&w, "type", "kubernetes.io/tls");
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "name", s->o.secret);
    rco_json_kv_string(&w, "namespace", s->o.ns);
    rco_json_kv_object(&w, "labels");
    rco_json_kv_string(&w, RCO_LABEL_MANAGED_BY, RCO_MANAGED_BY);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    write_data(&w, &p);
    rco_json_end_object(&w);
    release_pems(&p);
    rco_log(RCO_LOG_INFO, "making the gateway's certificate", RCO_S("secret", s->o.secret));
    s->call = rco_kube_start(s->o.client,
                             &(struct rco_kube_request){.verb = RCO_KUBE_CREATE,
                                                        .kind = RCO_KIND_SECRET,
                                                        .ns = s->o.ns,
                                                        .body = body.data,
                                                        .body_len = body.len},
                             on_written, s);
}

/* P (consumed) with a new serving pair under the same CA. */
static void renew(struct rco_serving *s, struct pems *p, const char *resource_version)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_json_writer w;

    if (make_pair(s, p, &err) < 0) {
        fault(s, "renew", err.msg);
        return;
    }
    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "resourceVersion", resource_version);
    rco_json_end_object(&w);
    write_data(&w, p);
    rco_json_end_object(&w);
    rco_log(RCO_LOG_INFO, "renewing the gateway's certificate", RCO_S("secret", s->o.secret));
    s->call = rco_kube_start(s->o.client,
                             &(struct rco_kube_request){.verb = RCO_KUBE_PATCH,
                                                        .kind = RCO_KIND_SECRET,
                                                        .ns = s->o.ns,
                                                        .name = s->o.secret,
                                                        .body = body.data,
                                                        .body_len = body.len},
                             on_written, s);
}

/* Why P cannot be served with, or NULL. */
static const char *unusable(struct rco_serving *s, const struct pems *p, struct rco_error *err)
{
    rco_wall now = rco_loop_wall(s->o.loop), until;

    if (!p->cert || !p->key || !p->ca)
        return "one of tls.crt, tls.key and ca.crt is missing";
    if (rco_tls_check_pair(p->cert, p->key, err) < 0 ||
        rco_tls_validity(p->cert, NULL, &until, err) < 0)
        return err->msg;
    if (until <= now)
        return "the certificate has expired";
    if (!rco_tls_covers(p->cert, s->o.host))
        return "the certificate is not for the host of the gateway URL";
    if (!rco_tls_trusted(p->cert, p->ca, now))
        return "ca.crt does not trust the certificate";
    return NULL;
}

static bool due(struct rco_serving *s, const struct pems *p)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_wall from, until;

    if (rco_tls_validity(p->cert, &from, &until, &err) < 0)
        return true;
    return rco_loop_wall(s->o.loop) > until - (until - from) / 3;
}

/* Takes P into use when it is new; consumes it. */
static void serve(struct rco_serving *s, struct pems *p)
{
    bool same = rco_streq(p->cert, s->current.cert) && rco_streq(p->key, s->current.key) &&
                rco_streq(p->ca, s->current.ca);

    if (!same) {
        release_pems(&s->current);
        s->current = *p;
        *p = (struct pems){0};
        s->o.changed(s->o.ctx, s->current.cert, s->current.key, s->current.ca);
    }
    again(s, RCO_SERVING_CHECK_NS);
}

static void consider(struct rco_serving *s, const struct rco_secret *secret)
{
    struct pems p = {
        .cert = secret_text(secret, "tls.crt"),
        .key = secret_text(secret, "tls.key"),
        .ca = secret_text(secret, "ca.crt"),
        .ca_key = secret_text(secret, "ca.key"),
    };
    struct rco_error err = RCO_ERROR_INIT;
    const char *why = unusable(s, &p, &err);
    bool ours = p.ca_key != NULL && p.ca != NULL;

    if (why && !ours)
        fault(s, "the Secret is not ours to renew and cannot be used", why);
    else if (why && (!s->current.cert || s->o.may_renew(s->o.ctx)))
        renew(s, &p, secret->metadata.resource_version);
    else if (why)
        fault(s, "waiting for the leader to renew", why);
    else if (ours && due(s, &p) && s->o.may_renew(s->o.ctx))
        renew(s, &p, secret->metadata.resource_version);
    else
        serve(s, &p);
    release_pems(&p);
}

static void on_read(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_serving *s = ctx;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error decode_err = RCO_ERROR_INIT;
    void *secret;

    s->call = NULL;
    if (err && err->code == RCO_ENOTFOUND)
        create(s);
    else if (err)
        fault(s, "read", err->msg);
    else if (rco_kube_result_decode(result, RCO_KIND_SECRET, &a, &secret, &decode_err) < 0)
        fault(s, "read", decode_err.msg);
    else
        consider(s, secret);
}

static void check(void *ctx)
{
    struct rco_serving *s = ctx;

    s->call = rco_kube_start(
        s->o.client,
        &(struct rco_kube_request){
            .verb = RCO_KUBE_GET, .kind = RCO_KIND_SECRET, .ns = s->o.ns, .name = s->o.secret},
        on_read, s);
}

struct rco_serving *rco_serving_new(const struct rco_serving_options *options)
{
    struct rco_serving *s = rco_calloc(1, sizeof *s);

    s->o = *options;
    s->timer = rco_timer_new(options->loop, check, s);
    check(s);
    return s;
}

void rco_serving_free(struct rco_serving *s)
{
    if (!s)
        return;
    rco_kube_cancel(s->call);
    rco_timer_free(s->timer);
    release_pems(&s->current);
    free(s);
}
