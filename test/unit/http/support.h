/* Peers on loopback for the tests of pkg/http: a scripted plain TCP server, a relay that can go
 * silent, and a thread with blocking sockets that plays the client. Everything static: one test
 * program each. */
#ifndef RCO_TEST_HTTP_SUPPORT_H
#define RCO_TEST_HTTP_SUPPORT_H

#include "base/buf.h"
#include "base/str.h"
#include "http/client.h"
#include "http/tls.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#define GUARD_NS (60 * RCO_NS_PER_S) /* a test that hangs fails; nothing waits for this */
#define MS RCO_NS_PER_MS
/* 2026-01-01 and a century later */
#define CERT_FROM (INT64_C(1767225600) * RCO_US_PER_S)
#define CERT_UNTIL (INT64_C(4920825600) * RCO_US_PER_S)

/* --- the loop ------------------------------------------------------------------------------- */

struct bench {
    struct rco_loop *loop;
    struct rco_timer *guard;
    struct rco_timer *pause;
    bool expired;
    uv_prepare_t turns_handle;
    long turns; /* of the loop: a spin shows here, whatever the speed of the machine */
};

static void bench_expire(void *ctx)
{
    struct bench *b = ctx;

    b->expired = true;
    rco_loop_stop(b->loop);
}

static void bench_stop(void *ctx)
{
    rco_loop_stop(((struct bench *)ctx)->loop);
}

static void bench_count(uv_prepare_t *handle)
{
    ((struct bench *)handle->data)->turns++;
}

static RCO_UNUSED void bench_init(struct bench *b)
{
    *b = (struct bench){.loop = rco_loop_uv_new()};
    b->guard = rco_timer_new(b->loop, bench_expire, b);
    b->pause = rco_timer_new(b->loop, bench_stop, b);
    uv_prepare_init(rco_loop_uv_handle(b->loop), &b->turns_handle);
    b->turns_handle.data = b;
    uv_prepare_start(&b->turns_handle, bench_count);
}

static RCO_UNUSED void bench_release(struct bench *b)
{
    rco_timer_free(b->guard);
    rco_timer_free(b->pause);
    uv_close((uv_handle_t *)&b->turns_handle, NULL);
    rco_loop_uv_free(b->loop);
}

/* Runs until something calls bench_stop. */
static RCO_UNUSED void bench_run(struct bench *b)
{
    rco_timer_arm(b->guard, GUARD_NS);
    rco_loop_run(b->loop);
    rco_timer_disarm(b->guard);
    rco_timer_disarm(b->pause); /* something else may have stopped the loop before it */
    if (b->expired)
        fail_msg("nothing happened in time");
}

static RCO_UNUSED void bench_run_for(struct bench *b, int64_t ns)
{
    rco_timer_arm(b->pause, ns);
    bench_run(b);
}

/* --- a thread with blocking sockets --------------------------------------------------------- */

struct script {
    struct bench *bench;
    uv_async_t ended;
    pthread_t thread;
    void (*fn)(struct script *s);
    void *ctx;
    int port;
    struct rco_buf got; /* what the script received */
    int mark;           /* for its own use */
};

static void script_ended(uv_async_t *handle)
{
    rco_loop_stop(((struct script *)handle->data)->bench->loop);
}

static void *script_main(void *ctx)
{
    struct script *s = ctx;

    s->fn(s);
    uv_async_send(&s->ended);
    return NULL;
}

/* Runs FN in a thread and the loop beside it until FN is through. */
static RCO_UNUSED void script_run(struct bench *b, struct script *s, int port,
                                  void (*fn)(struct script *s))
{
    s->bench = b;
    s->fn = fn;
    s->port = port;
    uv_async_init(rco_loop_uv_handle(b->loop), &s->ended, script_ended);
    s->ended.data = s;
    assert_int_equal(pthread_create(&s->thread, NULL, script_main, s), 0);
    bench_run(b);
    pthread_join(s->thread, NULL);
    uv_close((uv_handle_t *)&s->ended, NULL);
    bench_run_for(b, 0); /* the close callback, before `s` leaves its scope */
}

static RCO_UNUSED int dial(int port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&sa, sizeof sa) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* False when the peer did not take it all. */
static RCO_UNUSED bool say(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, text, n, MSG_NOSIGNAL);

        if (done <= 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

static RCO_UNUSED bool says(int fd, const char *text)
{
    return say(fd, text, strlen(text));
}

/* Everything until the peer closes; false after a reset or when nothing came for 20 s. */
static RCO_UNUSED bool hear_all(int fd, struct rco_buf *out)
{
    char buf[65536];
    ssize_t n;

    while ((n = recv(fd, buf, sizeof buf, 0)) > 0)
        rco_buf_add(out, buf, (size_t)n);
    return n == 0;
}

/* One answer with Content-Length (and BODY unless it is to HEAD). */
static RCO_UNUSED bool hear_answer(int fd, struct rco_buf *out, bool is_head)
{
    size_t start = out->len, want = SIZE_MAX;
    char buf[1];

    while (out->len < want) {
        const char *end, *length;

        if (recv(fd, buf, 1, 0) != 1)
            return false;
        rco_buf_add(out, buf, 1);
        if (want != SIZE_MAX)
            continue;
        end = strstr(out->data + start, "\r\n\r\n");
        if (!end)
            continue;
        length = strstr(out->data + start, "Content-Length: ");
        want = (size_t)(end + 4 - out->data);
        if (length && length < end && !is_head)
            want += strtoul(length + 16, NULL, 10);
    }
    return true;
}

static RCO_UNUSED void nap(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

/* How often WORD stands in TEXT. */
static RCO_UNUSED int count_of(const char *text, const char *word)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* --- a scripted server ---------------------------------------------------------------------- */

#define PEER_CONNS 64

struct peer;

struct peer_conn {
    uv_tcp_t tcp;
    struct peer *peer;
    int index; /* 0 for the first connection */
    struct rco_buf in;
    bool closed; /* by the client */
};

struct peer {
    struct bench *bench;
    uv_tcp_t listener;
    int port;
    struct peer_conn *conns[PEER_CONNS];
    int n_conns;
    int n_requests; /* for the script's own use */
    /* More came; `in` holds everything not consumed. */
    void (*on_bytes)(struct peer_conn *conn);
    void (*on_close)(struct peer_conn *conn);
};

static void peer_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    *buf = uv_buf_init(rco_malloc(65536), 65536);
}

static void peer_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct peer_conn *conn = stream->data;

    if (n > 0) {
        rco_buf_add(&conn->in, buf->base, (size_t)n);
        if (conn->peer->on_bytes)
            conn->peer->on_bytes(conn);
    } else if (n < 0 && !conn->closed) {
        conn->closed = true;
        uv_read_stop(stream);
        if (conn->peer->on_close)
            conn->peer->on_close(conn);
    }
    free(buf->base);
}

static void peer_accept(uv_stream_t *listener, int status)
{
    struct peer *peer = listener->data;
    struct peer_conn *conn = rco_calloc(1, sizeof *conn);

    assert_true(peer->n_conns < PEER_CONNS);
    conn->peer = peer;
    conn->index = peer->n_conns;
    peer->conns[peer->n_conns++] = conn;
    uv_tcp_init(listener->loop, &conn->tcp);
    conn->tcp.data = conn;
    uv_accept(listener, (uv_stream_t *)&conn->tcp);
    uv_read_start((uv_stream_t *)&conn->tcp, peer_alloc, peer_read);
}

static RCO_UNUSED void peer_init(struct peer *peer, struct bench *b,
                                 void (*on_bytes)(struct peer_conn *conn))
{
    struct sockaddr_in sa;
    int n = sizeof sa;

    *peer = (struct peer){.bench = b, .on_bytes = on_bytes};
    uv_ip4_addr("127.0.0.1", 0, &sa);
    uv_tcp_init(rco_loop_uv_handle(b->loop), &peer->listener);
    peer->listener.data = peer;
    uv_tcp_bind(&peer->listener, (struct sockaddr *)&sa, 0);
    assert_int_equal(uv_listen((uv_stream_t *)&peer->listener, 128, peer_accept), 0);
    uv_tcp_getsockname(&peer->listener, (struct sockaddr *)&sa, &n);
    peer->port = ntohs(sa.sin_port);
}

static void peer_conn_gone(uv_handle_t *handle)
{
    struct peer_conn *conn = handle->data;

    rco_buf_release(&conn->in);
    free(conn);
}

static RCO_UNUSED void peer_hang_up(struct peer_conn *conn)
{
    conn->closed = true;
    conn->peer->conns[conn->index] = NULL;
    if (!uv_is_closing((uv_handle_t *)&conn->tcp))
        uv_close((uv_handle_t *)&conn->tcp, peer_conn_gone);
}

static RCO_UNUSED void peer_release(struct peer *peer)
{
    uv_close((uv_handle_t *)&peer->listener, NULL);
    for (int i = 0; i < peer->n_conns; i++) {
        if (peer->conns[i])
            peer_hang_up(peer->conns[i]);
    }
    bench_run_for(peer->bench, 0);
}

static void peer_written(uv_write_t *req, int status)
{
    free(req->data);
    free(req);
}

static RCO_UNUSED void peer_write(struct peer_conn *conn, const char *bytes, size_t n)
{
    uv_write_t *req = rco_malloc(sizeof *req);
    char *copy = rco_malloc(n + 1);
    uv_buf_t buf = uv_buf_init(copy, (unsigned)n);

    memcpy(copy, bytes, n);
    req->data = copy;
    if (uv_write(req, (uv_stream_t *)&conn->tcp, &buf, 1, peer_written) != 0)
        peer_written(req, 0);
}

static RCO_UNUSED void peer_says(struct peer_conn *conn, const char *text)
{
    peer_write(conn, text, strlen(text));
}

/* Whether a whole request stands in `in` (with the body its Content-Length names). It is kept. */
static RCO_UNUSED bool peer_has_request(struct peer_conn *conn)
{
    const char *end = conn->in.len ? strstr(conn->in.data, "\r\n\r\n") : NULL;
    const char *length;
    size_t want;

    if (!end)
        return false;
    want = (size_t)(end + 4 - conn->in.data);
    length = strcasestr(conn->in.data, "content-length: ");
    if (length && length < end)
        want += strtoul(length + 16, NULL, 10);
    return conn->in.len >= want;
}

/* --- a relay -------------------------------------------------------------------------------- */

#define RELAY_PAIRS 512

struct relay_end {
    uv_tcp_t tcp;
    struct relay_pair *pair;
    struct relay_end *other;
};

struct relay_pair {
    struct relay_end near, far;
    bool frozen; /* what comes is swallowed; the kernel acknowledges it all the same */
    int open;
};

struct relay {
    struct bench *bench;
    uv_tcp_t listener;
    int port, target;
    struct relay_pair *pairs[RELAY_PAIRS];
    int n_pairs;
};

static void relay_end_gone(uv_handle_t *handle)
{
    struct relay_end *end = handle->data;

    if (--end->pair->open == 0)
        free(end->pair);
}

static void relay_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct relay_end *end = stream->data;
    uv_write_t *req;
    uv_buf_t out;

    if (n <= 0 || end->pair->frozen) {
        free(buf->base);
        if (n < 0)
            uv_read_stop(stream);
        if (n < 0 && !end->pair->frozen && !uv_is_closing((uv_handle_t *)&end->other->tcp))
            uv_close((uv_handle_t *)&end->other->tcp, relay_end_gone);
        return;
    }
    req = rco_malloc(sizeof *req);
    req->data = buf->base;
    out = uv_buf_init(buf->base, (unsigned)n);
    if (uv_is_closing((uv_handle_t *)&end->other->tcp) ||
        uv_write(req, (uv_stream_t *)&end->other->tcp, &out, 1, peer_written) != 0)
        peer_written(req, 0);
}

static void relay_connected(uv_connect_t *req, int status)
{
    struct relay_pair *pair = req->data;

    free(req);
    if (status != 0)
        return;
    uv_tcp_nodelay(&pair->far.tcp, 1);
    uv_read_start((uv_stream_t *)&pair->near.tcp, peer_alloc, relay_read);
    uv_read_start((uv_stream_t *)&pair->far.tcp, peer_alloc, relay_read);
}

static void relay_accept(uv_stream_t *listener, int status)
{
    struct relay *relay = listener->data;
    struct relay_pair *pair = rco_calloc(1, sizeof *pair);
    uv_connect_t *req = rco_malloc(sizeof *req);
    struct sockaddr_in sa;

    assert_true(relay->n_pairs < RELAY_PAIRS);
    relay->pairs[relay->n_pairs++] = pair;
    pair->open = 2;
    pair->near.pair = pair->far.pair = pair;
    pair->near.other = &pair->far;
    pair->far.other = &pair->near;
    uv_tcp_init(listener->loop, &pair->near.tcp);
    uv_tcp_init(listener->loop, &pair->far.tcp);
    pair->near.tcp.data = &pair->near;
    pair->far.tcp.data = &pair->far;
    uv_accept(listener, (uv_stream_t *)&pair->near.tcp);
    uv_tcp_nodelay(&pair->near.tcp, 1);
    uv_ip4_addr("127.0.0.1", relay->target, &sa);
    req->data = pair;
    uv_tcp_connect(req, &pair->far.tcp, (struct sockaddr *)&sa, relay_connected);
}

static RCO_UNUSED void relay_init(struct relay *relay, struct bench *b, int target)
{
    struct sockaddr_in sa;
    int n = sizeof sa;

    *relay = (struct relay){.bench = b, .target = target};
    uv_ip4_addr("127.0.0.1", 0, &sa);
    uv_tcp_init(rco_loop_uv_handle(b->loop), &relay->listener);
    relay->listener.data = relay;
    uv_tcp_bind(&relay->listener, (struct sockaddr *)&sa, 0);
    assert_int_equal(uv_listen((uv_stream_t *)&relay->listener, 512, relay_accept), 0);
    uv_tcp_getsockname(&relay->listener, (struct sockaddr *)&sa, &n);
    relay->port = ntohs(sa.sin_port);
}

static RCO_UNUSED void relay_release(struct relay *relay)
{
    uv_close((uv_handle_t *)&relay->listener, NULL);
    for (int i = 0; i < relay->n_pairs; i++) {
        struct relay_pair *pair = relay->pairs[i];

        if (!uv_is_closing((uv_handle_t *)&pair->near.tcp))
            uv_close((uv_handle_t *)&pair->near.tcp, relay_end_gone);
        if (!uv_is_closing((uv_handle_t *)&pair->far.tcp))
            uv_close((uv_handle_t *)&pair->far.tcp, relay_end_gone);
    }
    bench_run_for(relay->bench, 0);
}

/* --- certificates --------------------------------------------------------------------------- */

struct identity {
    char *ca, *ca_key, *cert, *key;
};

static RCO_UNUSED void identity_make(struct identity *id, const char *name)
{
    const char *const names[] = {name, NULL};
    struct rco_tls_serving_options o = {
        .common_name = "test", .names = names, .not_before = CERT_FROM, .not_after = CERT_UNTIL};
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_tls_make_ca("test ca", CERT_FROM, CERT_UNTIL, &id->ca, &id->ca_key, &err),
                     0);
    o.ca_cert_pem = id->ca;
    o.ca_key_pem = id->ca_key;
    assert_int_equal(rco_tls_make_serving(&o, &id->cert, &id->key, &err), 0);
}

static RCO_UNUSED void identity_release(struct identity *id)
{
    free(id->ca);
    free(id->ca_key);
    free(id->cert);
    free(id->key);
}

/* --- calls of the client -------------------------------------------------------------------- */

struct outcome {
    struct bench *bench;
    struct rco_transport *transport;
    struct rco_http_call *call;
    int *countdown; /* stops the loop at 0; NULL: stops at once */
    int n_head, n_data, n_done;
    bool starting; /* inside rco_transport_start */
    bool inside;   /* a callback came while starting */
    int status;
    int64_t retry_after_ms;
    char warning[128];
    struct rco_buf body;
    struct rco_error err;
    int (*on_data)(struct outcome *o);
    void (*on_head)(struct outcome *o);
    void (*on_done)(struct outcome *o);
};

static void outcome_head(void *ctx, const struct rco_http_response *response)
{
    struct outcome *o = ctx;

    o->inside |= o->starting;
    o->n_head++;
    o->status = response->status;
    if (o->on_head)
        o->on_head(o);
}

static int outcome_data(void *ctx, const char *bytes, size_t n)
{
    struct outcome *o = ctx;

    o->inside |= o->starting;
    o->n_data++;
    rco_buf_add(&o->body, bytes, n);
    return o->on_data ? o->on_data(o) : 0;
}

static void outcome_done(void *ctx, const struct rco_http_response *response, const char *body,
                         size_t n, const struct rco_error *err)
{
    struct outcome *o = ctx;

    o->inside |= o->starting;
    o->n_done++;
    o->status = response->status;
    o->retry_after_ms = response->retry_after_ms;
    snprintf(o->warning, sizeof o->warning, "%s", response->warning ? response->warning : "");
    rco_buf_add(&o->body, body, n);
    if (err)
        o->err = *err;
    if (o->on_done)
        o->on_done(o);
    if (!o->countdown || --*o->countdown == 0)
        rco_loop_stop(o->bench->loop);
}

static RCO_UNUSED void outcome_start(struct outcome *o, const struct rco_http_request *r)
{
    struct rco_http_handler handler = {
        .head = outcome_head, .data = outcome_data, .done = outcome_done, .ctx = o};

    o->starting = true;
    o->call = rco_transport_start(o->transport, r, &handler);
    o->starting = false;
    assert_false(o->inside);
}

static RCO_UNUSED void outcome_get(struct outcome *o, const char *path, int64_t deadline_ns)
{
    outcome_start(o, &(struct rco_http_request){.method = "GET",
                                                .path = path,
                                                .lane = RCO_LANE_REQUEST,
                                                .deadline_ns = deadline_ns,
                                                .max_body = 1 << 20});
}

static RCO_UNUSED void outcome_clear(struct outcome *o)
{
    rco_buf_release(&o->body);
    *o = (struct outcome){.bench = o->bench, .transport = o->transport};
}

#endif
