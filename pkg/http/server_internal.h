/* Shared by server.c and connection.c only. */
#ifndef RCO_HTTP_SERVER_INTERNAL_H
#define RCO_HTTP_SERVER_INTERNAL_H

#include "base/buf.h"
#include "base/map.h"
#include "http/request_parser.h"
#include "http/server.h"

#include <libwebsockets.h>
#include <openssl/ssl.h>

#define RCO_SERVER_PIPELINE_MAX (64 * 1024) /* bytes kept that came behind a request under way */
#define RCO_SERVER_DRAIN_MAX (64 * 1024 * 1024) /* bytes read and dropped after a last reply */
#define RCO_SERVER_LINGER_NS (5 * RCO_NS_PER_S) /* and for how long */
/* Connections that have been sent away close in the next turn; so many may be on their way out. */
#define RCO_SERVER_LEAVING_MAX 64

struct connection;

/* What one address has of a listener. */
struct rco_server_peer {
    char address[48]; /* text form; key in the listener's map */
    int n_connections;
    int n_strangers; /* of them, those nobody vouches for */
    size_t held;
};

struct rco_server {
    struct rco_loop *loop;
    struct lws_context *context;
    struct rco_listener *listeners;
    struct rco_timer *later; /* drain and close, outside of any callback of lws */
    bool draining, drained;
    bool closing;
    rco_loop_fn done;
    void *done_ctx;
};

struct rco_listener {
    struct rco_server *server;
    struct rco_listener *next;
    struct lws_vhost *vhost;
    SSL_CTX *tls; /* owned by lws; NULL = plain */
    struct rco_server_handler handler;
    struct connection *connections;
    int n_connections, max_connections;
    int n_leaving; /* of n_connections, those that were sent away */
    size_t held, max_held; /* bytes of requests */
    int share;
    struct rco_map peers; /* address -> struct rco_server_peer */
    int64_t idle_ns, reply_ns;
    char *address; /* lws borrows it; NULL = any */
    char *name;
    const char *cert_pem, *key_pem; /* borrowed, only while the vhost is made */
    struct rco_error *tls_error;    /* the same */
};

/* Whether LISTENER has room for one more connection, or can make some. */
bool rco_connection_fits(const struct rco_listener *listener);
/* A connection on WSI that was just accepted; lws' opaque user data of WSI. NULL: its address has
 * its share already. */
struct connection *rco_connection_new(struct rco_listener *listener, struct lws *wsi);
/* Bytes came. -1 = close it. */
int rco_connection_read(struct connection *c, const char *bytes, size_t n);
/* The socket takes more. -1 = close it. */
int rco_connection_write(struct connection *c);
/* lws has closed it: tells the handler, frees it. */
void rco_connection_closed(struct connection *c);
/* Closes every idle connection of LISTENER and has the others close after their reply. */
void rco_connection_drain_all(struct rco_listener *listener);
/* Closes every connection of LISTENER at once. */
void rco_connection_kill_all(struct rco_listener *listener);

#endif
