#include "http/client_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* A35: a peer that vanished without a word is found by the kernel within this. */
#define USER_TIMEOUT_MS 45000
#define KEEPALIVE_IDLE_S 30
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 3

#define POOL_REQUEST RCO_HTTP1_CONNECTIONS
#define POOL_ELECTION 2
#define MAX_KICKED (2 * RCO_HTTP1_CONNECTIONS)
#define NUDGE_NS RCO_NS_PER_S

/* A socket that curl wants watched. */
struct watched {
    uv_poll_t handle;
    struct lane *lane;
    curl_socket_t fd;
};

/* Completed transfers are told to their owners, calls given up meanwhile are dropped. */
static void settle(struct lane *lane)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(lane->multi, &left))) {
        struct rco_http_call *call = NULL;
        CURLcode result = msg->data.result;

        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        rco_call_complete(call, result);
    }
    while (lane->n_cancelled > 0) {
        struct rco_http_call *call = lane->calls;

        while (call && !call->cancelled)
            call = call->next;
        if (!call) {
            lane->n_cancelled = 0;
            break;
        }
        lane->n_cancelled--;
        rco_call_drop(call);
    }
}

static void act(struct lane *lane, curl_socket_t fd, int flags)
{
    int running;

    lane->in_curl = true;
    curl_multi_socket_action(lane->multi, fd, flags, &running);
    lane->in_curl = false;
    settle(lane);
}

static void on_timer(void *ctx)
{
    act(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer_change(CURLM *multi, long timeout_ms, void *ctx)
{
    struct lane *lane = ctx;

    if (timeout_ms < 0)
        rco_timer_disarm(lane->timer);
    else
        rco_timer_arm(lane->timer, timeout_ms * RCO_NS_PER_MS);
    return 0;
}

static void on_socket(uv_poll_t *handle, int status, int events)
{
    struct watched *watched = handle->data;
    int flags = 0;

    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    /* ERR alone would end in a vague message; with IN curl reads and finds the real errno. */
    if (status < 0)
        flags = CURL_CSELECT_IN | CURL_CSELECT_OUT | CURL_CSELECT_ERR;
    act(watched->lane, watched->fd, flags);
}

static void free_watched(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watched *watch(struct lane *lane, curl_socket_t fd)
{
    struct watched *watched = rco_calloc(1, sizeof *watched);

    watched->lane = lane;
    watched->fd = fd;
    watched->handle.data = watched;
    if (uv_poll_init_socket(rco_loop_uv_handle(lane->client->loop), &watched->handle, fd) != 0)
        abort(); /* the socket is watched twice or epoll is exhausted */
    curl_multi_assign(lane->multi, fd, watched);
    return watched;
}

static int on_socket_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    struct lane *lane = ctx;
    struct watched *watched = socket_ctx;

    if (what == CURL_POLL_REMOVE) {
        if (watched) {
            uv_close((uv_handle_t *)&watched->handle, free_watched);
            curl_multi_assign(lane->multi, fd, NULL);
        }
        return 0;
    }
    if (!watched)
        watched = watch(lane, fd);
    uv_poll_start(&watched->handle,
                  (what & CURL_POLL_IN ? UV_READABLE : 0) |
                      (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
                  on_socket);
    return 0;
}

/* A server without HTTP/2 answers one request a connection at a time: allow more connections. Curl
 * wakes one waiting transfer per completed one, so those that wait are handed in again. */
static void widen(struct lane *lane)
{
    if (!lane->http1 || lane->width != 1)
        return;
    lane->width = RCO_HTTP1_CONNECTIONS;
    curl_multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)lane->width);
    for (struct rco_http_call *call = lane->calls; call; call = call->next) {
        if (call->easy && call->sends == 0 &&
            curl_multi_remove_handle(lane->multi, call->easy) == CURLM_OK)
            curl_multi_add_handle(lane->multi, call->easy);
    }
}

/* With two answers under way on one HTTP/2 connection libcurl 7.88 may leave the rest of one in its
 * buffers when the other ends or is taken away, and wait for the socket, where nothing comes any
 * more. Pretending that the socket is readable makes it go on. */
static void kick(struct lane *lane)
{
    curl_socket_t fds[MAX_KICKED];
    size_t n = 0;

    lane->kick = false;
    for (struct lane_conn *conn = lane->conns; conn && n < MAX_KICKED; conn = conn->next)
        fds[n++] = conn->fd;
    for (size_t i = 0; i < n; i++)
        act(lane, fds[i], CURL_CSELECT_IN); /* an fd that was closed meanwhile is ignored */
}

/* The same in case it gets stuck on a path nobody has seen yet: a request then loses a second, not
 * its whole deadline. */
static void on_nudge(void *ctx)
{
    struct lane *lane = ctx;

    if (lane->http1 || lane->n_calls == 0)
        return;
    rco_timer_arm(lane->nudge, NUDGE_NS);
    kick(lane);
}

static bool launch_one(struct lane *lane, bool *ret_launched)
{
    for (struct rco_http_call *call = lane->calls; call; call = call->next) {
        if (call->easy || call->cancelled)
            continue;
        if (rco_call_launch(call) == 0) {
            *ret_launched = true;
            continue;
        }
        /* The owner may start and cancel calls in `done`: begin again. */
        rco_call_finish(call, &call->fault);
        return true;
    }
    return false;
}

static void evict(struct lane *lane)
{
    struct rco_error err = RCO_ERROR_INIT;

    while (lane->calls) {
        rco_error_set(&err, RCO_EUNAVAILABLE,
                      "%s %s%s: ended because the client certificate has changed",
                      lane->calls->method, lane->client->origin, lane->calls->path);
        rco_call_finish(lane->calls, &err);
    }
}

static void unlink_retired(struct lane *lane)
{
    struct lane **at = &lane->client->retired;

    while (*at && *at != lane)
        at = &(*at)->next_retired;
    if (*at)
        *at = lane->next_retired;
}

static void on_pump(void *ctx)
{
    struct lane *lane = ctx;
    bool launched = false;

    widen(lane);
    if (lane->kick)
        kick(lane);
    if (lane->evict)
        evict(lane);
    while (launch_one(lane, &launched))
        ;
    /* Curl would begin with them in the next turn only. */
    if (launched)
        act(lane, CURL_SOCKET_TIMEOUT, 0);
    if (lane->retired && !lane->calls) {
        unlink_retired(lane);
        rco_lane_free(lane);
    }
}

struct lane *rco_lane_new(struct rco_http_client *client, enum rco_http_lane kind)
{
    struct lane *lane = rco_calloc(1, sizeof *lane);

    lane->client = client;
    lane->kind = kind;
    lane->tls = rco_client_tls_ref(client->tls);
    lane->multi = curl_multi_init();
    if (!lane->multi)
        abort();
    lane->timer = rco_timer_new(client->loop, on_timer, lane);
    lane->pump = rco_timer_new(client->loop, on_pump, lane);
    lane->nudge = rco_timer_new(client->loop, on_nudge, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket_change);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_timer_change);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING,
                      kind == RCO_LANE_REQUEST ? (long)CURLPIPE_MULTIPLEX : (long)CURLPIPE_NOTHING);
    if (kind == RCO_LANE_REQUEST) {
        lane->http1 = client->plain;
        lane->width = client->plain ? RCO_HTTP1_CONNECTIONS : 1;
        curl_multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)lane->width);
    }
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS,
                      kind == RCO_LANE_REQUEST ? (long)POOL_REQUEST : (long)POOL_ELECTION);
    return lane;
}

void rco_lane_free(struct lane *lane)
{
    if (!lane)
        return;
    while (lane->calls)
        rco_call_drop(lane->calls);
    while (lane->n_spares > 0)
        curl_easy_cleanup(lane->spares[--lane->n_spares]);
    curl_multi_cleanup(lane->multi);
    rco_timer_free(lane->timer);
    rco_timer_free(lane->pump);
    rco_timer_free(lane->nudge);
    while (lane->conns)
        rco_lane_close_socket(lane, lane->conns->fd);
    rco_client_tls_unref(lane->tls);
    free(lane);
}

void rco_lane_wake(struct lane *lane)
{
    rco_timer_arm(lane->pump, 0);
}

void rco_lane_add(struct lane *lane, struct rco_http_call *call)
{
    call->lane = lane;
    call->prev = lane->last;
    call->next = NULL;
    if (lane->last)
        lane->last->next = call;
    else
        lane->calls = call;
    lane->last = call;
    lane->n_calls++;
    if (lane->kind == RCO_LANE_REQUEST && !lane->http1 && !rco_timer_armed(lane->nudge))
        rco_timer_arm(lane->nudge, NUDGE_NS);
    rco_lane_wake(lane);
}

void rco_lane_remove(struct lane *lane, struct rco_http_call *call)
{
    if (call->easy) {
        lane->in_curl = true;
        curl_multi_remove_handle(lane->multi, call->easy);
        lane->in_curl = false;
        if (lane->kind == RCO_LANE_REQUEST && !lane->http1 && lane->n_calls > 1) {
            lane->kick = true;
            rco_lane_wake(lane);
        }
    }
    if (call->prev)
        call->prev->next = call->next;
    else
        lane->calls = call->next;
    if (call->next)
        call->next->prev = call->prev;
    else
        lane->last = call->prev;
    call->prev = call->next = NULL;
    lane->n_calls--;
    if (lane->retired && lane->n_calls == 0)
        rco_lane_wake(lane);
}

static void set_int(int fd, int level, int name, int value)
{
    /* Best effort: a kernel without the option still has the deadlines. */
    (void)setsockopt(fd, level, name, &value, sizeof value);
}

curl_socket_t rco_lane_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct rco_http_call *call = ctx;
    struct lane *lane = call->lane;
    struct lane_conn *conn;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    if (fd < 0)
        return CURL_SOCKET_BAD;
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
    conn = rco_calloc(1, sizeof *conn);
    conn->fd = fd;
    conn->id = ++lane->client->conns_made;
    conn->next = lane->conns;
    lane->conns = conn;
    return fd;
}

int rco_lane_close_socket(void *ctx, curl_socket_t fd)
{
    struct lane *lane = ctx;

    for (struct lane_conn **at = &lane->conns; *at; at = &(*at)->next) {
        struct lane_conn *conn = *at;

        if (conn->fd != fd)
            continue;
        *at = conn->next;
        free(conn);
        break;
    }
    return close(fd);
}

struct lane_conn *rco_lane_conn_by_id(struct lane *lane, uint64_t id)
{
    for (struct lane_conn *conn = lane->conns; conn; conn = conn->next) {
        if (conn->id == id)
            return conn;
    }
    return NULL;
}

static long local_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t n = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &n) != 0)
        return 0;
    if (address.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

struct lane_conn *rco_lane_conn_by_port(struct lane *lane, long port)
{
    for (struct lane_conn *conn = lane->conns; port > 0 && conn; conn = conn->next) {
        if (local_port(conn->fd) == port)
            return conn;
    }
    return NULL;
}
