#include "http/server_internal.h"

#include "base/str.h"
#include "http/reply.h"

#include <assert.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>

#define WRITE_CHUNK (16 * 1024) /* one TLS record */

/* One request after another: what comes behind a request under way waits in `pending`. */
enum connection_state {
    CONNECTION_IDLE,      /* no byte of a request yet; includes the TLS handshake */
    CONNECTION_READING,   /* a request is coming in */
    CONNECTION_HANDLING,  /* the handler has it */
    CONNECTION_REPLYING,  /* the answer is going out */
    CONNECTION_LINGERING, /* the last answer is out: reading and dropping until the peer closes,
                           * because closing with unread bytes would make the kernel destroy the
                           * answer */
};

struct rco_exchange {
    struct connection *connection; /* NULL when it is gone */
    void *data;
    bool telling; /* `gone` is running */
    bool close_after;
};

struct connection {
    struct rco_listener *listener;
    struct connection *prev, *next;
    struct lws *wsi;
    enum connection_state state;
    struct rco_timer *timer; /* the deadline of the state */
    struct rco_request_parser *parser;
    struct rco_exchange *exchange; /* in HANDLING */
    struct rco_buf pending;
    struct rco_buf out; /* begins with LWS_PRE bytes of room */
    size_t sent;        /* bytes of `out` written, with that room */
    size_t dropped;     /* bytes read while lingering */
    size_t held;        /* bytes in parser and `pending` */
    struct rco_server_peer *peer;
    bool continuing;  /* `out` is a 100 Continue, the request still comes in */
    bool close_after; /* linger after this reply */
    bool paused;      /* lws holds unsent bytes: it would spin on incoming ones */
    bool used;        /* something was read: the handshake is over */
    bool vouched;     /* the handler knows who the peer is */
    bool leaving;     /* sent away: closes in the next turn */
};

static void start_state(struct connection *c, enum connection_state state, int64_t deadline_ns)
{
    c->state = state;
    rco_timer_arm(c->timer, deadline_ns);
}

/* Strangers are hurried while it is crowded. */
static int64_t idle_ns(const struct connection *c)
{
    const struct rco_listener *l = c->listener;
    bool crowded = l->n_connections > l->max_connections / 4 * 3;

    return l->handler.known && !c->vouched && crowded ? l->idle_ns / 4 : l->idle_ns;
}

/* --- memory --------------------------------------------------------------------------------- */

/* Only N bytes are left of what C keeps. */
static void hold_only(struct connection *c, size_t n)
{
    size_t freed = c->held > n ? c->held - n : 0;

    c->listener->held -= freed;
    c->peer->held -= freed;
    c->held -= freed;
}

/* --- who has to go when there is no room ----------------------------------------------------- */

static void abandon(struct connection *c);

/* What it holds is free at once; it closes when lws is not in the middle of something. */
static void send_away(struct connection *c)
{
    c->leaving = true;
    c->listener->n_leaving++;
    abandon(c);
    rco_buf_release(&c->pending);
    rco_request_parser_next(c->parser);
    hold_only(c, 0);
    rco_timer_arm(c->timer, 0);
}

/* Whether A has to go before B. Connections are listed youngest first, so that of equals the one
 * that comes later in the list is the older. */
static bool goes_first(const struct connection *a, const struct connection *b, bool by_bytes)
{
    if (!b)
        return true;
    if (!by_bytes)
        return a->peer->n_strangers >= b->peer->n_strangers;
    return a->peer->held != b->peer->held ? a->peer->held > b->peer->held : a->held >= b->held;
}

/* The stranger who goes for the sake of WHO (NULL: of a new connection), or NULL. */
static struct connection *find_stranger(const struct rco_listener *l, const struct connection *who,
                                        bool by_bytes)
{
    struct connection *found = NULL;

    for (struct connection *c = l->connections; c && l->handler.known; c = c->next)
        if (c != who && !c->vouched && !c->leaving && (!by_bytes || c->held) &&
            goes_first(c, found, by_bytes))
            found = c;
    return found;
}

bool rco_connection_fits(const struct rco_listener *l)
{
    if (l->n_connections - l->n_leaving < l->max_connections)
        return l->n_leaving < RCO_SERVER_LEAVING_MAX;
    return l->n_leaving < RCO_SERVER_LEAVING_MAX && find_stranger(l, NULL, false);
}

static void vouch(struct connection *c)
{
    if (!c->vouched)
        c->peer->n_strangers--;
    c->vouched = true;
}

/* Whether N bytes more may be kept for C, and if so counts them. A stranger gets room only from one
 * whose address has more than his own. */
static bool hold(struct connection *c, size_t n)
{
    struct rco_listener *l = c->listener;
    struct connection *other;

    if (n > l->max_held || c->peer->held + n > l->max_held / (size_t)l->share)
        return false;
    while (l->held + n > l->max_held) {
        other = find_stranger(l, c, true);
        if (!other || (!c->vouched && other->peer->held <= c->peer->held + n))
            return false;
        send_away(other);
    }
    l->held += n;
    c->peer->held += n;
    c->held += n;
    return true;
}

static struct rco_server_peer *join_peer(struct rco_listener *listener, struct lws *wsi)
{
    struct rco_server_peer *peer;
    char address[sizeof peer->address] = "?";

    lws_get_peer_simple_fd(lws_get_socket_fd(wsi), address, sizeof address);
    peer = rco_map_get(&listener->peers, address);
    if (!peer) {
        peer = rco_calloc(1, sizeof *peer);
        memcpy(peer->address, address, sizeof address);
        rco_map_set(&listener->peers, address, peer);
    }
    peer->n_connections++;
    peer->n_strangers++;
    return peer;
}

static void leave_peer(struct rco_listener *listener, struct rco_server_peer *peer, bool stranger)
{
    peer->n_strangers -= stranger;
    if (--peer->n_connections > 0)
        return;
    rco_map_remove(&listener->peers, peer->address);
    free(peer);
}

static bool must_close(const struct connection *c)
{
    return !rco_request_parser_keep_alive(c->parser) || c->listener->server->draining;
}

/* --- replies -------------------------------------------------------------------------------- */

static void begin_out(struct connection *c)
{
    static const char room[LWS_PRE];

    if (c->out.len == 0) {
        rco_buf_add(&c->out, room, sizeof room);
        c->sent = sizeof room;
    }
}

static void send_reply(struct connection *c, struct rco_reply *reply, const char *body,
                       bool is_head)
{
    reply->close = c->close_after;
    reply->now = rco_loop_wall(c->listener->server->loop);
    begin_out(c);
    rco_reply_head(&c->out, reply);
    if (!is_head && reply->status != 204)
        rco_buf_add(&c->out, body, reply->body_len);
    c->continuing = false;
    start_state(c, CONNECTION_REPLYING, idle_ns(c));
    lws_callback_on_writable(c->wsi);
}

/* Answers on our own account and closes. */
static void refuse(struct connection *c, int status, const char *reason)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_reply reply = {.status = status, .content_type = "text/plain"};

    rco_buf_addf(&body, "%s\n", reason);
    reply.body_len = body.len;
    reply.retry_after_s = status == 503 ? 1 : 0;
    c->close_after = true;
    send_reply(c, &reply, rco_buf_str(&body), rco_request_parser_is_head(c->parser));
}

void rco_exchange_reply(struct rco_exchange *exchange, int status, const char *content_type,
                        const char *body, size_t n, int retry_after_s)
{
    struct connection *c = exchange->connection;
    struct rco_reply reply = {.status = status,
                              .content_type = content_type,
                              .body_len = n,
                              .retry_after_s = retry_after_s};

    bool close_after = exchange->close_after;

    if (exchange->telling)
        return; /* the peer is gone; the exchange is freed by the caller of `gone` */
    free(exchange);
    if (!c)
        return;
    assert(c->state == CONNECTION_HANDLING);
    c->exchange = NULL;
    c->close_after = must_close(c) || close_after;
    send_reply(c, &reply, body, rco_request_parser_is_head(c->parser));
}

void rco_exchange_close_after(struct rco_exchange *exchange)
{
    exchange->close_after = true;
}

void rco_exchange_vouch(struct rco_exchange *exchange)
{
    if (exchange->connection)
        vouch(exchange->connection);
}

void rco_exchange_set_data(struct rco_exchange *exchange, void *data)
{
    exchange->data = data;
}

void *rco_exchange_data(const struct rco_exchange *exchange)
{
    return exchange->data;
}

/* The exchange will not be answered by the handler any more. A handler without `gone` cannot know
 * that and frees the exchange with its reply. */
static void abandon(struct connection *c)
{
    const struct rco_server_handler *handler = &c->listener->handler;
    struct rco_exchange *exchange = c->exchange;

    if (!exchange)
        return;
    c->exchange = NULL;
    exchange->connection = NULL;
    if (!handler->gone)
        return;
    exchange->telling = true;
    handler->gone(handler->ctx, exchange);
    free(exchange);
}

/* --- reading -------------------------------------------------------------------------------- */

static void dispatch(struct connection *c)
{
    const struct rco_server_handler *handler = &c->listener->handler;
    struct rco_server_request request;

    c->exchange = rco_calloc(1, sizeof *c->exchange);
    c->exchange->connection = c;
    start_state(c, CONNECTION_HANDLING, c->listener->reply_ns);
    rco_request_parser_get(c->parser, &request);
    handler->request(handler->ctx, c->exchange, &request);
    /* Whoever needs the body later has copied it. */
    if (c->state == CONNECTION_HANDLING) {
        rco_request_parser_drop_body(c->parser);
        hold_only(c, c->pending.len);
    }
}

static void send_continue(struct connection *c)
{
    begin_out(c);
    rco_buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
    c->continuing = true;
    lws_callback_on_writable(c->wsi);
}

static int keep_pending(struct connection *c, const char *bytes, size_t n)
{
    struct rco_error ignored = RCO_ERROR_INIT;

    if (c->state != CONNECTION_READING && !hold(c, n))
        return -1;
    return n == 0 ? 0
                  : rco_buf_add_capped(&c->pending, bytes, n, RCO_SERVER_PIPELINE_MAX, &ignored);
}

/* Bytes while a request may begin or go on. */
static int take(struct connection *c, const char *bytes, size_t n)
{
    enum rco_parse_result parsed;
    const char *reason;
    size_t used;
    int status;

    if (c->state == CONNECTION_IDLE)
        start_state(c, CONNECTION_READING, idle_ns(c));
    if (!hold(c, n)) {
        refuse(c, 503, "too much is being received at once, try again");
        return 0;
    }
    parsed = rco_request_parser_feed(c->parser, bytes, n, &used);
    if (rco_request_parser_is_known(c->parser))
        vouch(c);
    switch (parsed) {
    case RCO_PARSE_MORE:
        if (rco_request_parser_take_expectation(c->parser))
            send_continue(c);
        return 0;
    case RCO_PARSE_COMPLETE:
        /* Before the handler runs: it may reply at once. */
        if (keep_pending(c, bytes + used, n - used) != 0)
            return -1;
        dispatch(c);
        return 0;
    case RCO_PARSE_REFUSED:
        status = rco_request_parser_refusal(c->parser, &reason);
        refuse(c, status, reason);
        return 0;
    }
    return -1;
}

int rco_connection_read(struct connection *c, const char *bytes, size_t n)
{
    if (!c->used) {
        c->used = true;
        /* lws left a timer of its own running after the handshake. */
        lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
    }
    if (c->leaving)
        return -1;
    switch (c->state) {
    case CONNECTION_IDLE:
    case CONNECTION_READING:
        return take(c, bytes, n);
    case CONNECTION_HANDLING:
        return keep_pending(c, bytes, n);
    case CONNECTION_REPLYING:
        if (!c->close_after)
            return keep_pending(c, bytes, n);
        c->dropped += n;
        return c->dropped > RCO_SERVER_DRAIN_MAX ? -1 : 0;
    case CONNECTION_LINGERING:
        c->dropped += n;
        return c->dropped > RCO_SERVER_DRAIN_MAX ? -1 : 0;
    }
    return -1;
}

/* --- writing -------------------------------------------------------------------------------- */

/* No more from us: the peer sees the end after the reply, we go on reading. */
static void linger(struct connection *c)
{
    int64_t ns = RCO_SERVER_LINGER_NS;
    SSL *ssl = lws_get_ssl(c->wsi);

    if (c->listener->idle_ns < ns)
        ns = c->listener->idle_ns;
    start_state(c, CONNECTION_LINGERING, ns);
    if (ssl) {
        ERR_clear_error();
        SSL_shutdown(ssl);
        ERR_clear_error();
    }
    shutdown(lws_get_socket_fd(c->wsi), SHUT_WR);
}

static int out_complete(struct connection *c)
{
    struct rco_buf pending;
    int rc;

    rco_buf_release(&c->out);
    if (c->continuing) {
        c->continuing = false;
        return 0;
    }
    rco_request_parser_next(c->parser);
    hold_only(c, c->pending.len);
    if (c->close_after) {
        linger(c);
        return 0;
    }
    start_state(c, CONNECTION_IDLE, idle_ns(c));
    if (c->pending.len == 0)
        return 0;
    pending = c->pending;
    c->pending = RCO_BUF_INIT;
    hold_only(c, 0); /* counted again as it is taken */
    rc = take(c, pending.data, pending.len);
    rco_buf_release(&pending);
    return rc;
}

/* While lws holds bytes that the socket did not take, it serves a readable socket by returning at
 * once: with a peer that sends and does not read that is an endless loop. */
static void pause_reading(struct connection *c, bool pause)
{
    if (c->paused == pause)
        return;
    c->paused = pause;
    lws_rx_flow_control(c->wsi, pause ? 0 : 1);
}

int rco_connection_write(struct connection *c)
{
    size_t n = c->out.len - c->sent;

    if (c->leaving)
        return -1;
    if (c->out.len == 0)
        return 0;
    if (n > 0) {
        n = n < WRITE_CHUNK ? n : WRITE_CHUNK;
        if (lws_write(c->wsi, (unsigned char *)c->out.data + c->sent, n, LWS_WRITE_RAW) < 0)
            return -1;
        c->sent += n;
        if (c->state == CONNECTION_REPLYING)
            rco_timer_arm(c->timer, idle_ns(c)); /* it moves on */
    }
    pause_reading(c, lws_partial_buffered(c->wsi));
    if (c->sent < c->out.len || c->paused) {
        lws_callback_on_writable(c->wsi);
        return 0;
    }
    return out_complete(c);
}

/* --- life ----------------------------------------------------------------------------------- */

static void kill_connection(struct connection *c)
{
    lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

static void on_deadline(void *ctx)
{
    struct connection *c = ctx;

    if (c->leaving) {
        kill_connection(c);
        return;
    }
    switch (c->state) {
    case CONNECTION_READING:
        refuse(c, 408, "the request did not come in time");
        return;
    case CONNECTION_HANDLING:
        abandon(c);
        refuse(c, 503, "no answer in time, try again");
        return;
    case CONNECTION_IDLE:
    case CONNECTION_REPLYING:
    case CONNECTION_LINGERING:
        kill_connection(c);
        return;
    }
}

struct connection *rco_connection_new(struct rco_listener *listener, struct lws *wsi)
{
    struct rco_server_peer *peer = join_peer(listener, wsi);
    struct connection *c, *stranger;

    if (peer->n_connections > (listener->max_connections + listener->share - 1) / listener->share) {
        leave_peer(listener, peer, true);
        return NULL;
    }
    if (listener->n_connections - listener->n_leaving >= listener->max_connections) {
        stranger = find_stranger(listener, NULL, false);
        if (stranger)
            send_away(stranger);
    }
    c = rco_calloc(1, sizeof *c);
    c->peer = peer;
    c->listener = listener;
    c->wsi = wsi;
    c->timer = rco_timer_new(listener->server->loop, on_deadline, c);
    c->parser = rco_request_parser_new(&listener->handler);
    c->next = listener->connections;
    if (c->next)
        c->next->prev = c;
    listener->connections = c;
    listener->n_connections++;
    start_state(c, CONNECTION_IDLE, idle_ns(c));
    return c;
}

void rco_connection_closed(struct connection *c)
{
    struct rco_listener *listener = c->listener;

    abandon(c);
    if (c->prev)
        c->prev->next = c->next;
    else
        listener->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    listener->n_connections--;
    hold_only(c, 0);
    listener->n_leaving -= c->leaving;
    leave_peer(listener, c->peer, !c->vouched);
    rco_timer_free(c->timer);
    rco_request_parser_free(c->parser);
    rco_buf_release(&c->pending);
    rco_buf_release(&c->out);
    free(c);
}

void rco_connection_drain_all(struct rco_listener *listener)
{
    for (struct connection *c = listener->connections, *next; c; c = next) {
        next = c->next;
        if (c->state == CONNECTION_IDLE)
            kill_connection(c);
        else if (c->state == CONNECTION_REPLYING && c->pending.len == 0)
            c->close_after = true;
    }
}

void rco_connection_kill_all(struct rco_listener *listener)
{
    while (listener->connections)
        kill_connection(listener->connections);
}
