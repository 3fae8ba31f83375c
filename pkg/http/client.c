#include "http/client.h"

#include "base/file.h"
#include "base/str.h"
#include "http/client_internal.h"
#include "http/tls.h"

#include <assert.h>
#include <string.h>

#define CONNECT_NS (30 * RCO_NS_PER_S) /* A36 */
#define ALIVE_NS (5 * RCO_NS_PER_S)

static struct rco_http_client *client_of(struct rco_transport *t)
{
    return (struct rco_http_client *)t;
}

static struct rco_http_call *start_op(struct rco_transport *t,
                                      const struct rco_http_request *request,
                                      const struct rco_http_handler *handler)
{
    struct rco_http_call *call = rco_call_new(client_of(t), request, handler);

    rco_lane_add(client_of(t)->lanes[request->lane], call);
    return call;
}

static void cancel_op(struct rco_transport *t, struct rco_http_call *call)
{
    if (call->finished || call->cancelled)
        return;
    call->cancelled = true;
    if (call->lane->in_curl)
        call->lane->n_cancelled++; /* dropped as soon as curl has returned */
    else
        rco_call_drop(call);
}

static const struct rco_transport_ops client_ops = {.start = start_op, .cancel = cancel_op};

struct client_tls *rco_client_tls_ref(struct client_tls *tls)
{
    tls->refs++;
    return tls;
}

void rco_client_tls_unref(struct client_tls *tls)
{
    if (!tls || --tls->refs > 0)
        return;
    if (tls->key)
        explicit_bzero(tls->key, strlen(tls->key));
    free(tls->ca);
    free(tls->cert);
    free(tls->key);
    free(tls);
}

/* Checked here, because curl would only say so at each connection. */
static int check_tls(const struct client_tls *tls, struct rco_error *err)
{
    size_t n;

    if (tls->ca && rco_tls_count(tls->ca, &n, err) != 0)
        return rco_error_wrap(err, "CA bundle");
    if (!tls->cert != !tls->key)
        return rco_error_set(err, RCO_EINVALID,
                             "client certificate and client key must be given together");
    if (tls->cert && rco_tls_check_pair(tls->cert, tls->key, err) != 0)
        return rco_error_wrap(err, "client certificate");
    return 0;
}

static struct client_tls *tls_new(const char *ca, const char *cert, const char *key,
                                  struct rco_error *err)
{
    struct client_tls *tls = rco_calloc(1, sizeof *tls);

    tls->refs = 1;
    tls->ca = rco_strdup(ca);
    tls->cert = rco_strdup(cert);
    tls->key = rco_strdup(key);
    if (check_tls(tls, err) == 0)
        return tls;
    rco_client_tls_unref(tls);
    return NULL;
}

/* TEXT, or what is in FILE; *RET is NULL when neither is given. */
static int load_pem(const char *text, const char *file, const char *what, char **ret,
                    struct rco_error *err)
{
    rco_autobuf buf = RCO_BUF_INIT;

    *ret = NULL;
    if (text && file)
        return rco_error_set(err, RCO_EINVALID, "%s: give the text or the file, not both", what);
    if (text)
        *ret = rco_strdup(text);
    if (!file)
        return 0;
    if (rco_file_read(file, RCO_HTTP_PEM_MAX, &buf, err) != 0)
        return rco_error_wrap(err, "%s", what);
    *ret = rco_buf_take(&buf);
    return 0;
}

static struct client_tls *load_tls(const struct rco_http_client_options *o, struct rco_error *err)
{
    rco_autofree char *ca = NULL;
    rco_autofree char *cert = NULL;
    rco_autofree char *key = NULL;
    struct client_tls *tls = NULL;

    if (load_pem(o->ca_pem, o->ca_file, "CA bundle", &ca, err) == 0 &&
        load_pem(o->cert_pem, o->cert_file, "client certificate", &cert, err) == 0 &&
        load_pem(o->key_pem, o->key_file, "client key", &key, err) == 0)
        tls = tls_new(ca, cert, key, err);
    if (key)
        explicit_bzero(key, strlen(key));
    return tls;
}

static char *url_part(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    char *copy;

    if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
        return NULL;
    copy = rco_strdup(text);
    curl_free(text);
    return copy;
}

/* Splits base_url. With another server name the URL carries that name and curl is told to connect
 * to the real host: name verification and SNI follow the URL. */
static int set_url(struct rco_http_client *c, CURLU *url, const char *server_name,
                   struct rco_error *err)
{
    rco_autofree char *scheme = url_part(url, CURLUPART_SCHEME, 0);
    rco_autofree char *host = url_part(url, CURLUPART_HOST, 0);
    rco_autofree char *port = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    rco_autofree char *path = url_part(url, CURLUPART_PATH, 0);
    rco_autofree char *user = url_part(url, CURLUPART_USER, 0);
    rco_autofree char *query = url_part(url, CURLUPART_QUERY, 0);
    rco_autofree char *fragment = url_part(url, CURLUPART_FRAGMENT, 0);
    rco_autofree char *connect_to = NULL;
    size_t n = path ? strlen(path) : 0;

    if (!scheme || !host || !port || user || query || fragment ||
        (!rco_streq(scheme, "https") && !rco_streq(scheme, "http")))
        return rco_error_set(
            err, RCO_EINVALID,
            "server URL must be https://host[:port][/prefix], without user or query");
    while (n > 0 && path[n - 1] == '/')
        path[--n] = '\0';
    c->plain = rco_streq(scheme, "http");
    c->origin = rco_asprintf("%s://%s:%s", scheme, host, port);
    c->prefix = rco_strdup(rco_str_or_empty(path));
    if (rco_str_empty(server_name) || c->plain) {
        c->url = rco_strdup(c->origin);
        return 0;
    }
    if (!rco_is_dns_subdomain(server_name))
        return rco_error_set(err, RCO_EINVALID, "TLS server name \"%.100s\" is not a DNS name",
                             server_name);
    c->url = rco_asprintf("%s://%s:%s", scheme, server_name, port);
    c->host_header = rco_asprintf("Host: %s:%s", host, port);
    connect_to = rco_asprintf("%s:%s:%s:%s", server_name, port, host, port);
    c->connect_to = curl_slist_append(NULL, connect_to);
    return 0;
}

static int parse_url(struct rco_http_client *c, const struct rco_http_client_options *o,
                     struct rco_error *err)
{
    CURLU *url = curl_url();
    int rc;

    if (rco_str_empty(o->base_url) || curl_url_set(url, CURLUPART_URL, o->base_url, 0) != CURLUE_OK)
        rc = rco_error_set(err, RCO_EINVALID, "server URL \"%.200s\" is not a URL",
                           rco_str_or_empty(o->base_url));
    else
        rc = set_url(c, url, o->tls_server_name, err);
    curl_url_cleanup(url);
    return rc;
}

static int check_options(const struct rco_http_client_options *o, struct rco_error *err)
{
    if (rco_str_empty(o->user_agent) || strncasecmp(o->user_agent, "curl/", 5) == 0 ||
        strpbrk(o->user_agent, "\r\n"))
        return rco_error_set(err, RCO_EINVALID,
                             "user agent must be a single line that does not begin with \"curl/\"");
    return 0;
}

struct rco_http_client *rco_http_client_new(struct rco_loop *loop,
                                            const struct rco_http_client_options *o,
                                            struct rco_error *err)
{
    struct rco_http_client *c;

    if (check_options(o, err) != 0)
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        rco_error_set(err, RCO_EINTERNAL, "libcurl cannot be initialised");
        return NULL;
    }
    c = rco_calloc(1, sizeof *c);
    c->transport.ops = &client_ops;
    c->loop = loop;
    c->tls = load_tls(o, err);
    if (!c->tls || parse_url(c, o, err) != 0) {
        rco_http_client_free(c);
        return NULL;
    }
    c->user_agent = rco_strdup(o->user_agent);
    c->proxy = rco_strdup(rco_str_or_empty(o->proxy));
    c->no_proxy = rco_strdup(rco_str_or_empty(o->no_proxy));
    c->insecure = o->insecure;
    c->authorization = o->authorization;
    c->ctx = o->ctx;
    c->connect_ns = o->connect_ns > 0 ? o->connect_ns : CONNECT_NS;
    c->alive_ns = o->alive_ns > 0 ? o->alive_ns : ALIVE_NS;
    for (int i = 0; i < LANE_COUNT; i++)
        c->lanes[i] = rco_lane_new(c, (enum rco_http_lane)i);
    return c;
}

void rco_http_client_free(struct rco_http_client *c)
{
    if (!c)
        return;
    for (int i = 0; i < LANE_COUNT; i++)
        rco_lane_free(c->lanes[i]);
    while (c->retired) {
        struct lane *lane = c->retired;

        c->retired = lane->next_retired;
        rco_lane_free(lane);
    }
    rco_client_tls_unref(c->tls);
    curl_slist_free_all(c->connect_to);
    free(c->origin);
    free(c->url);
    free(c->prefix);
    rco_client_forget_authorization(c);
    free(c->host_header);
    free(c->user_agent);
    free(c->proxy);
    free(c->no_proxy);
    free(c);
    curl_global_cleanup();
}

struct rco_transport *rco_http_client_transport(struct rco_http_client *c)
{
    return &c->transport;
}

/* Replaces a lane: calls not yet given to curl move, the others end on the old one, whose pump
 * frees it. */
static void retire(struct rco_http_client *c, enum rco_http_lane kind, bool new_identity)
{
    struct lane *old = c->lanes[kind];
    struct lane *lane = c->lanes[kind] = rco_lane_new(c, kind);

    for (struct rco_http_call *call = old->calls, *next; call; call = next) {
        next = call->next;
        if (call->easy || call->cancelled)
            continue;
        rco_lane_remove(old, call);
        rco_lane_add(lane, call);
    }
    old->retired = true;
    old->evict = new_identity && kind == RCO_LANE_WATCH;
    old->next_retired = c->retired;
    c->retired = old;
    rco_lane_wake(old);
}

int rco_http_client_set_tls(struct rco_http_client *c, const char *ca_pem, const char *cert_pem,
                            const char *key_pem, struct rco_error *err)
{
    struct client_tls *tls = tls_new(ca_pem, cert_pem, key_pem, err);
    bool new_identity;

    if (!tls)
        return -1;
    new_identity = !rco_streq(tls->cert, c->tls->cert) || !rco_streq(tls->key, c->tls->key);
    if (!new_identity && rco_streq(tls->ca, c->tls->ca)) {
        rco_client_tls_unref(tls);
        return 0;
    }
    rco_client_tls_unref(c->tls);
    c->tls = tls;
    for (int i = 0; i < LANE_COUNT; i++)
        retire(c, (enum rco_http_lane)i, new_identity);
    return 0;
}

static void count_lane(const struct lane *lane, struct rco_http_client_stats *ret)
{
    ret->calls += lane->n_calls;
    for (const struct lane_conn *conn = lane->conns; conn; conn = conn->next)
        ret->connections++;
}

void rco_http_client_get_stats(const struct rco_http_client *c, struct rco_http_client_stats *ret)
{
    *ret = (struct rco_http_client_stats){.connections_made = c->conns_made,
                                          .connections_shut = c->conns_shut};
    for (int i = 0; i < LANE_COUNT; i++)
        count_lane(c->lanes[i], ret);
    for (const struct lane *lane = c->retired; lane; lane = lane->next_retired)
        count_lane(lane, ret);
}
