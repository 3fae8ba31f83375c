#include "http/server.h"

#include "base/buf.h"
#include "base/str.h"
#include "http/server_internal.h"
#include "http/tls.h"
#include "http/tls_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#define SERVICE_BUFFER                                                                             \
    (32 * 1024)          /* below 16,400 large bodies over TLS never come to their end             \
                          */
#define FD_LIMIT 2048    /* of lws' own table; it would be sized by ulimit -n otherwise */
#define LWS_TIMEOUT_S 60 /* handshakes; our own deadline is shorter */
#define CLOSING_TURNS 4  /* see on_closing_turn */

#define MAX_CONNECTIONS 512
#define MAX_HELD ((size_t)64 * 1024 * 1024)
#define IDLE_NS (15 * RCO_NS_PER_S)
#define REPLY_NS (60 * RCO_NS_PER_S)

#define KEEPALIVE_IDLE_S 30
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 3

static struct rco_listener *listener_of(struct lws *wsi)
{
    struct lws_vhost *vhost = lws_get_vhost(wsi);

    return vhost ? lws_get_vhost_user(vhost) : NULL;
}

static int on_accepted(struct lws *wsi)
{
    struct rco_listener *listener = listener_of(wsi);
    struct connection *c;

    if (listener->server->closing)
        return -1;
    c = rco_connection_new(listener, wsi);
    lws_set_opaque_user_data(wsi, c);
    return c ? 0 : -1;
}

static void on_closed(struct lws *wsi)
{
    struct connection *c = lws_get_opaque_user_data(wsi);

    lws_set_opaque_user_data(wsi, NULL);
    if (c)
        rco_connection_closed(c);
}

/* The one moment at which lws shows the SSL_CTX of a vhost. */
static int on_tls_context(SSL_CTX *ctx, struct lws_vhost *vhost)
{
    struct rco_listener *listener = lws_get_vhost_user(vhost);

    listener->tls = ctx;
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS); /* idle connections are many and small */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    return rco_tls_ctx_use(ctx, listener->cert_pem, listener->key_pem, listener->tls_error);
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t n)
{
    struct connection *c;
    struct rco_listener *listener;

    switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        return on_tls_context(user, in);
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
        listener = listener_of(wsi);
        return !rco_connection_fits(listener);
    case LWS_CALLBACK_RAW_ADOPT:
        return on_accepted(wsi);
    case LWS_CALLBACK_RAW_RX:
        c = lws_get_opaque_user_data(wsi);
        return c ? rco_connection_read(c, in, n) : -1;
    case LWS_CALLBACK_RAW_WRITEABLE:
        c = lws_get_opaque_user_data(wsi);
        return c ? rco_connection_write(c) : -1;
    case LWS_CALLBACK_RAW_CLOSE:
        on_closed(wsi);
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "rco-http", .callback = on_event, .rx_buffer_size = SERVICE_BUFFER},
    {0},
};

static void on_later(void *ctx);

struct rco_server *rco_server_new(struct rco_loop *loop, struct rco_error *err)
{
    struct rco_server *server = rco_calloc(1, sizeof *server);
    void *uv = rco_loop_uv_handle(loop);
    struct lws_context_creation_info info = {
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .foreign_loops = &uv,
        .pcontext = &server->context,
        .pt_serv_buf_size = SERVICE_BUFFER,
        .fd_limit_per_thread = FD_LIMIT,
        .timeout_secs = LWS_TIMEOUT_S,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };

    lws_set_log_level(0, NULL);
    server->loop = loop;
    server->context = lws_create_context(&info);
    if (!server->context) {
        free(server);
        rco_error_set(err, RCO_EINTERNAL,
                      "libwebsockets cannot be initialised; is its libuv plug-in installed?");
        return NULL;
    }
    server->later = rco_timer_new(loop, on_later, server);
    return server;
}

/* --- listening ------------------------------------------------------------------------------ */

static bool is_v6(const char *address)
{
    return address && strchr(address, ':');
}

static bool is_any(const char *address)
{
    return rco_str_empty(address) || rco_streq(address, "0.0.0.0") || rco_streq(address, "::");
}

/* The sockaddr of ADDRESS and PORT; 0 when ADDRESS is not an IP literal. */
static socklen_t make_sockaddr(const char *address, int port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

    memset(ret, 0, sizeof *ret);
    if (is_v6(address)) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, address, &v6->sin6_addr) == 1 ? sizeof *v6 : 0;
    }
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, address, &v4->sin_addr) == 1 ? sizeof *v4 : 0;
}

/* lws says neither why a bind failed nor, with some errors, that it did: it tries again later. */
static int probe_bind(const char *address, int port, struct rco_error *err)
{
    struct sockaddr_storage sa;
    socklen_t n = make_sockaddr(address, port, &sa);
    rco_autoclose int fd = -1;
    int one = 1, rc = RCO_EIO;

    if (n == 0 || port < 0 || port > 65535)
        return rco_error_set(err, RCO_EINVALID,
                             "cannot listen on %s port %d: not an IP address or port", address,
                             port);
    fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        rc = bind(fd, (struct sockaddr *)&sa, n) != 0 || listen(fd, 1) != 0;
    }
    if (fd >= 0 && rc == 0)
        return 0;
    rc = errno;
    rco_error_errno(err, rc, "listen on %s port %d", address, port);
    err->code = RCO_EIO;
    return -1;
}

/* NULL means any: both families where the kernel has IPv6, else IPv4. */
static const char *choose_address(const char *wanted)
{
    rco_autoclose int fd = -1;

    if (!rco_str_empty(wanted))
        return wanted;
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 ? "::" : "0.0.0.0";
}

static struct lws_vhost *make_vhost(struct rco_listener *listener, const char *address, int port)
{
    struct lws_context_creation_info info = {
        .port = port,
        .iface = listener->address,
        .vhost_name = listener->name,
        .protocols = protocols,
        .listen_accept_role = "raw-skt",
        .listen_accept_protocol = protocols[0].name,
        .options = LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
        .alpn = "http/1.1",
        .ka_time = KEEPALIVE_IDLE_S,
        .ka_interval = KEEPALIVE_INTERVAL_S,
        .ka_probes = KEEPALIVE_PROBES,
        .user = listener,
    };

    if (listener->cert_pem)
        info.options |=
            LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
    if (!is_v6(address))
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    else if (is_any(address))
        info.options |= LWS_SERVER_OPTION_IPV6_V6ONLY_MODIFY; /* value 0: IPv4 as well */
    return lws_create_vhost(listener->server->context, &info);
}

static void listener_free(struct rco_listener *listener)
{
    rco_map_release(&listener->peers); /* empty: every connection is closed */
    free(listener->address);
    free(listener->name);
    free(listener);
}

static struct rco_listener *listener_new(struct rco_server *server, const char *address,
                                         const struct rco_listener_options *o,
                                         const struct rco_server_handler *handler)
{
    struct rco_listener *listener = rco_calloc(1, sizeof *listener);

    listener->server = server;
    listener->handler = *handler;
    listener->max_connections = o->max_connections > 0 ? o->max_connections : MAX_CONNECTIONS;
    listener->max_held = o->max_held > 0 ? o->max_held : MAX_HELD;
    listener->share = o->share > 0 ? o->share : 1;
    listener->idle_ns = o->idle_ns > 0 ? o->idle_ns : IDLE_NS;
    listener->reply_ns = o->reply_ns > 0 ? o->reply_ns : REPLY_NS;
    listener->address = is_any(address) ? NULL : rco_strdup(address);
    /* Unique, so that lws never serves one listener's name on another's port. */
    listener->name = rco_asprintf("listener-%p", (void *)listener);
    listener->cert_pem = o->cert_pem;
    listener->key_pem = o->key_pem;
    return listener;
}

struct rco_listener *rco_server_listen(struct rco_server *server,
                                       const struct rco_listener_options *o,
                                       const struct rco_server_handler *handler,
                                       struct rco_error *err)
{
    const char *address = choose_address(o->address);
    struct rco_listener *listener;

    assert(handler->max_body && handler->request);
    if (!o->cert_pem != !o->key_pem) {
        rco_error_set(err, RCO_EINVALID, "a listener needs certificate and key, or neither");
        return NULL;
    }
    if ((o->cert_pem && rco_tls_check_pair(o->cert_pem, o->key_pem, err) != 0) ||
        probe_bind(address, o->port, err) != 0)
        return NULL;
    listener = listener_new(server, address, o, handler);
    listener->tls_error = err;
    listener->vhost = make_vhost(listener, address, o->port);
    listener->cert_pem = listener->key_pem = NULL;
    listener->tls_error = NULL;
    /* Linked even after a failure: lws may look at a vhost's user data until the context is gone.
     */
    listener->next = server->listeners;
    server->listeners = listener;
    if (listener->vhost)
        return listener;
    rco_error_set(err, RCO_EIO, "listen on %s port %d: the address cannot be used", address,
                  o->port);
    return NULL;
}

int rco_listener_port(const struct rco_listener *listener)
{
    return lws_get_vhost_listen_port(listener->vhost);
}

int rco_listener_set_certificate(struct rco_listener *listener, const char *cert_pem,
                                 const char *key_pem, struct rco_error *err)
{
    if (!listener->tls)
        return rco_error_set(err, RCO_EINVALID, "this listener does not use TLS");
    if (rco_tls_check_pair(cert_pem, key_pem, err) != 0)
        return -1;
    /* Connections have taken their own references; new ones get the new pair. */
    return rco_tls_ctx_use(listener->tls, cert_pem, key_pem, err);
}

/* --- ending --------------------------------------------------------------------------------- */

struct closing {
    uv_timer_t handle;
    struct rco_server *server;
    int turns;
};

static void finish(struct rco_server *server)
{
    rco_loop_fn done = server->done;
    void *ctx = server->done_ctx;

    lws_context_destroy(server->context);
    assert(!server->context && "lws has not let go of its context");
    while (server->listeners) {
        struct rco_listener *listener = server->listeners;

        server->listeners = listener->next;
        listener_free(listener);
    }
    free(server);
    if (done)
        done(ctx);
}

/* lws closes its socket handles in the turn of the first destroy and its own two in the next; only
 * then may the second destroy come. A handle of ours that closes with them counts the turns. */
static void on_closing_turn(uv_handle_t *handle)
{
    struct closing *closing = handle->data;
    struct rco_server *server = closing->server;

    if (++closing->turns == CLOSING_TURNS) {
        free(closing);
        finish(server);
        return;
    }
    uv_timer_init(rco_loop_uv_handle(server->loop), &closing->handle);
    uv_close(handle, on_closing_turn);
}

static void close_now(struct rco_server *server)
{
    struct closing *closing = rco_calloc(1, sizeof *closing);

    for (struct rco_listener *l = server->listeners; l; l = l->next)
        rco_connection_kill_all(l);
    rco_timer_free(server->later);
    server->later = NULL;
    lws_context_destroy(server->context);
    closing->server = server;
    closing->handle.data = closing;
    uv_timer_init(rco_loop_uv_handle(server->loop), &closing->handle);
    uv_close((uv_handle_t *)&closing->handle, on_closing_turn);
}

static void on_later(void *ctx)
{
    struct rco_server *server = ctx;

    if (!server->drained) {
        server->drained = true;
        lws_context_deprecate(server->context, NULL);
        for (struct rco_listener *l = server->listeners; l; l = l->next)
            rco_connection_drain_all(l);
    }
    if (server->closing)
        close_now(server);
}

void rco_server_drain(struct rco_server *server)
{
    server->draining = true;
    rco_timer_arm(server->later, 0);
}

void rco_server_close(struct rco_server *server, rco_loop_fn done, void *ctx)
{
    server->draining = server->closing = true;
    server->done = done;
    server->done_ctx = ctx;
    rco_timer_arm(server->later, 0);
}
