/* The libcurl implementation of struct rco_transport on the libuv loop, for one server.
 *
 * Three lanes, each with connections of its own: requests share one HTTP/2 connection, every watch
 * has an HTTP/1.1 connection, leader election an HTTP/1.1 pair that nothing else can delay. Where
 * the server does not speak HTTP/2 the requests share up to RCO_HTTP1_CONNECTIONS connections.
 *
 * What callers rely on:
 * - A write (anything but GET and HEAD) is put on the wire at most once. An error without
 * http_status means that its outcome is unknown, whatever the code. A GET whose reused connection
 * turns out to be dead before any byte came is sent again by libcurl, within its deadline.
 * - A request that times out takes its connection with it, unless other answers came over that
 * connection meanwhile (then only its stream is reset).
 * - No redirects, no cookies, no compression, nothing is read from the environment. */
#ifndef RCO_HTTP_CLIENT_H
#define RCO_HTTP_CLIENT_H

#include "base/error.h"
#include "http/transport.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_HTTP_PEM_MAX (1024 * 1024)   /* bytes of a CA bundle, certificate or key */
#define RCO_HTTP_HEADER_MAX (256 * 1024) /* bytes of one answer's headers */
#define RCO_HTTP_PATH_MAX (16 * 1024)    /* bytes of a request's path and query */
#define RCO_HTTP_REQUEST_BODY_MAX (64 * 1024 * 1024)
#define RCO_HTTP1_CONNECTIONS 8

struct rco_http_client;

struct rco_http_client_options {
    const char *base_url; /* "https://host:port[/prefix]"; http:// is for tests and local proxies */
    const char *user_agent; /* not empty and not "curl/...": such agents get pretty-printed JSON */
    /* Trust: PEM text or file, at most one; both NULL = the system's store. */
    const char *ca_pem, *ca_file;
    /* Client certificate with chain, and its key: text or file, both or neither. */
    const char *cert_pem, *cert_file;
    const char *key_pem, *key_file;
    const char
        *tls_server_name; /* name to ask for and verify instead of the host; NULL = the host */
    bool insecure;        /* accept any certificate */
    const char *proxy;    /* URL, NULL = none; the environment is never looked at */
    const char *no_proxy; /* comma-separated hosts, domains, CIDRs that go direct; NULL = none */
    /* Called before each request: the value of its Authorization header ("Bearer ..."), borrowed,
     * or NULL to send none. */
    const char *(*authorization)(void *ctx);
    void *ctx;
    int64_t connect_ns; /* TCP and TLS until ready; 0 = 30 s */
    int64_t
        alive_ns; /* a connection that brought a byte this recently survives a time-out; 0 = 5 s */
};

/* LOOP must be the libuv implementation. Reads the files named; NULL and ERR (naming field or file)
 * when an option is unusable. */
struct rco_http_client *rco_http_client_new(struct rco_loop *loop,
                                            const struct rco_http_client_options *options,
                                            struct rco_error *err);
/* Drops every call without a callback and closes all connections. Not from inside a callback of
 * this client. NULL is allowed. */
void rco_http_client_free(struct rco_http_client *client);
/* The interface the Kubernetes client uses; lives as long as CLIENT. */
struct rco_transport *rco_http_client_transport(struct rco_http_client *client);

/* Uses other trust and identity from now on (texts are copied, each may be NULL). Pooled
 * connections are closed, requests under way end on the old ones. When certificate or key differ,
 * watches end with RCO_EUNAVAILABLE so that no connection keeps the old identity. On error
 * (unusable PEM, mismatched pair) everything stays as it was. */
RCO_MUST_CHECK int rco_http_client_set_tls(struct rco_http_client *client, const char *ca_pem,
                                           const char *cert_pem, const char *key_pem,
                                           struct rco_error *err);

/* Counts for metrics and tests. */
struct rco_http_client_stats {
    size_t calls;              /* under way or queued */
    size_t connections;        /* open now, all lanes */
    uint64_t connections_made; /* since the start */
    uint64_t connections_shut; /* taken down because a request on them timed out */
};
void rco_http_client_get_stats(const struct rco_http_client *client,
                               struct rco_http_client_stats *ret);

#endif
