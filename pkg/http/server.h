/* HTTP/1.1 server on libwebsockets' raw-socket role with http-parser for the grammar
 * (reference: c-libraries, part 2: the library's HTTP role can be sent into an endless loop). */
#ifndef RCO_HTTP_SERVER_H
#define RCO_HTTP_SERVER_H

#include "base/error.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_SERVER_MAX_HEADER (32 * 1024)
#define RCO_SERVER_MAX_TARGET 2048

struct rco_server;   /* the lws context with its listeners */
struct rco_listener; /* one address, TLS or plain */
struct rco_exchange; /* one request and its answer */

struct rco_server_request {
    const char *method;
    const char *path;          /* as sent, not percent-decoded, without the query */
    const char *query;         /* "" when absent */
    const char *authorization; /* value of the header or NULL */
    const char *content_type;  /* or NULL */
    const char *body;          /* complete, NUL-terminated */
    size_t body_len;
};

struct rco_server_handler {
    /* Headers are in: returns the cap in bytes for this request's body, or -1 to answer 404 without
     * reading it. A larger Content-Length is answered 413; chunked or length-less POST/PUT 411. */
    int64_t (*max_body)(void *ctx, const char *method, const char *path);
    /* Whether this request comes from somebody who has shown before who he is. Asked when the headers
     * are in; yes counts for the whole connection, like rco_exchange_vouch. May be NULL: then all
     * connections are alike, and one beyond max_connections is closed. Otherwise it takes the place
     * of a stranger's: of the oldest of the address that has most of them; and likewise for
     * max_held. Nobody takes the place of a connection that is vouched for. */
    bool (*known)(void *ctx, const char *method, const char *path, const char *authorization);
    /* The request is complete. Answer now or later with rco_exchange_reply, exactly once. REQUEST
     * and its texts live until this returns: copy what a later answer needs. */
    void (*request)(void *ctx, struct rco_exchange *exchange,
                    const struct rco_server_request *request);
    /* The peer went away before the reply, or reply_ns has passed (it got a 503); EXCHANGE is dead
     * when this returns and must not be answered. May be NULL: then every exchange must still be
     * answered, in vain, or it leaks. */
    void (*gone)(void *ctx, struct rco_exchange *exchange);
    void *ctx;
};

struct rco_listener_options {
    const char *address;  /* "0.0.0.0", "::", "127.0.0.1" or NULL for any */
    int port;             /* 0 = any free one, see rco_listener_port */
    const char *cert_pem; /* both NULL: plain HTTP */
    const char *key_pem;
    int max_connections; /* further ones wait unaccepted or are closed; 0 = 512 */
    /* Bytes of requests that are not answered yet (bodies until the handler has seen them), of all
     * connections together: who would exceed it gets a 503. 0 = 64 MiB */
    size_t max_held;
    /* One address gets at most the SHAREth part of both. 0 = all of it */
    int share;
    /* Closed when no first byte of a request comes within this; 408 when a begun request is not
     * complete within this; closed when a peer does not take its reply for so long. 0 = 15 s. With
     * `known`, strangers have a quarter of it while three quarters of max_connections are open. */
    int64_t idle_ns;
    int64_t reply_ns; /* no reply within this: 503 and closed; 0 = 60 s */
};

/* LOOP must be the libuv implementation. NULL and ERR on failure. */
struct rco_server *rco_server_new(struct rco_loop *loop, struct rco_error *err);
/* Listens; a failed bind is RCO_EIO with address and port named. HANDLER is copied. */
struct rco_listener *rco_server_listen(struct rco_server *server,
                                       const struct rco_listener_options *options,
                                       const struct rco_server_handler *handler,
                                       struct rco_error *err);
int rco_listener_port(const struct rco_listener *listener);
/* Takes a new certificate without dropping connections. The pair is validated first; on error the
 * old one stays in use. */
RCO_MUST_CHECK int rco_listener_set_certificate(struct rco_listener *listener, const char *cert_pem,
                                                const char *key_pem, struct rco_error *err);
/* Stops accepting (in this turn of the loop, not inside the call), closes idle connections and lets
 * running exchanges finish; their connections close after the reply. Cannot be undone. */
void rco_server_drain(struct rco_server *server);
/* Two-step teardown of libwebsockets: closes everything at once (`gone` is called for open
 * exchanges), a few turns later SERVER with its listeners is freed and DONE is called. May be
 * called from any callback. */
void rco_server_close(struct rco_server *server, rco_loop_fn done, void *ctx);

/* Answers with STATUS and BODY (copied). CONTENT_TYPE NULL = application/json. RETRY_AFTER_S 0 =
 * none. EXCHANGE is dead when this returns. */
void rco_exchange_reply(struct rco_exchange *exchange, int status, const char *content_type,
                        const char *body, size_t n, int retry_after_s);
/* The connection closes after the reply that is to come: behind a Service only a new one can reach
 * another replica. */
void rco_exchange_close_after(struct rco_exchange *exchange);
/* The peer has shown who it is: its connection stays when others have to go. */
void rco_exchange_vouch(struct rco_exchange *exchange);
/* A slot for the handler's own data. */
void rco_exchange_set_data(struct rco_exchange *exchange, void *data);
void *rco_exchange_data(const struct rco_exchange *exchange);

#endif
