#include "http/client_internal.h"

#include "base/str.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define DEADLINE_NS (60 * RCO_NS_PER_S) /* of requests that name none (A44) */

/* --- while curl runs ------------------------------------------------------------------------ */

/* Bytes came: notes it for the silence timer and for the connection. */
static void note_bytes(struct rco_http_call *call)
{
    struct lane *lane = call->lane;
    struct lane_conn *conn;
    long port = 0;

    call->last_byte = rco_loop_now(lane->client->loop);
    if (!call->conn_id) {
        curl_easy_getinfo(call->easy, CURLINFO_LOCAL_PORT, &port);
        conn = rco_lane_conn_by_port(lane, port);
        call->conn_id = conn ? conn->id : 0;
    } else {
        conn = rco_lane_conn_by_id(lane, call->conn_id);
    }
    if (conn)
        conn->last_rx = call->last_byte;
}

/* The first answer tells whether the server speaks HTTP/2. */
static void note_version(struct rco_http_call *call)
{
    struct lane *lane = call->lane;
    long version = 0;

    if (lane->kind != RCO_LANE_REQUEST || lane->http1)
        return;
    curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
    if (version != CURL_HTTP_VERSION_1_0 && version != CURL_HTTP_VERSION_1_1)
        return;
    lane->http1 = true;
    rco_lane_wake(lane);
}

size_t rco_call_on_header(char *line, size_t size, size_t n, void *ctx)
{
    struct rco_http_call *call = ctx;
    int complete;

    n *= size;
    if (call->cancelled)
        return 0;
    note_bytes(call);
    complete =
        rco_response_head_line(&call->head, line, n, rco_loop_wall(call->lane->client->loop));
    if (call->head.bytes > RCO_HTTP_HEADER_MAX) {
        rco_error_set(&call->fault, RCO_ETOOBIG, "%s %s: the answer's headers exceed %d bytes",
                      call->method, call->lane->client->origin, RCO_HTTP_HEADER_MAX);
        return 0;
    }
    if (complete) {
        note_version(call);
        if (call->handler.head)
            call->handler.head(call->handler.ctx, &call->head.response);
    }
    return call->cancelled ? 0 : n;
}

size_t rco_call_on_data(char *bytes, size_t size, size_t n, void *ctx)
{
    struct rco_http_call *call = ctx;
    struct rco_error err = RCO_ERROR_INIT;

    n *= size;
    if (call->cancelled)
        return CURL_WRITEFUNC_ERROR;
    note_bytes(call);
    if (call->max_body > 0) {
        if (rco_buf_add_capped(&call->answer, bytes, n, call->max_body, &err) == 0)
            return n;
        rco_error_set(&call->fault, RCO_ETOOBIG,
                      "%s %s%.200s: the answer exceeds the cap of %zu bytes", call->method,
                      call->lane->client->origin, call->path, call->max_body);
        return CURL_WRITEFUNC_ERROR;
    }
    if (call->handler.data && call->handler.data(call->handler.ctx, bytes, n) != 0) {
        rco_error_set(&call->fault, RCO_ECANCELLED, "the receiver ended the answer");
        return CURL_WRITEFUNC_ERROR;
    }
    return call->cancelled ? CURL_WRITEFUNC_ERROR : n;
}

static bool is_read(const struct rco_http_call *call)
{
    return rco_streq(call->method, "GET") || rco_streq(call->method, "HEAD");
}

/* Called each time curl is about to put the request on the wire. When a reused connection dies
 * before an answer, curl sends the request again on its own; for a write the server may have acted
 * already (A41). */
int rco_call_on_send(void *ctx, char *peer_ip, char *local_ip, int peer_port, int port)
{
    struct rco_http_call *call = ctx;

    if (++call->sends > 1 && !is_read(call)) {
        rco_error_set(&call->fault, RCO_EUNAVAILABLE,
                      "%s %s%.200s: the connection was lost after the request was sent",
                      call->method, call->lane->client->origin, call->path);
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

/* --- time ----------------------------------------------------------------------------------- */

/* The connection of a request that got no answer may be dead without the kernel knowing it, and
 * would swallow all later requests: it is shut down, unless it brought something a moment ago. */
static void shut_connection(struct rco_http_call *call)
{
    struct rco_http_client *client = call->lane->client;
    struct lane_conn *conn;
    long port = 0;

    if (!call->easy || call->sends == 0 || call->lane->kind != RCO_LANE_REQUEST)
        return; /* HTTP/1.1 connections are closed with their transfer */
    curl_easy_getinfo(call->easy, CURLINFO_LOCAL_PORT, &port);
    conn = rco_lane_conn_by_port(call->lane, port);
    if (!conn)
        return;
    if (conn->last_rx && rco_loop_now(client->loop) - conn->last_rx < client->alive_ns)
        return;
    client->conns_shut++;
    shutdown(conn->fd, SHUT_RDWR);
}

static void time_out(struct rco_http_call *call, const char *what, int64_t ns)
{
    struct rco_error err = RCO_ERROR_INIT;
    char text[RCO_TIME_STR_MAX];

    rco_duration_format(ns, text);
    rco_error_set(&err, RCO_ETIMEOUT, "%s %s%.200s: %s %s", call->method,
                  call->lane->client->origin, call->path, what, text);
    shut_connection(call);
    rco_call_finish(call, &err);
}

static void on_deadline(void *ctx)
{
    struct rco_http_call *call = ctx;

    if (!call->cancelled)
        time_out(call, "not answered in full within", call->deadline_ns);
}

static void on_silence(void *ctx)
{
    struct rco_http_call *call = ctx;
    int64_t quiet = rco_loop_now(call->lane->client->loop) - call->last_byte;

    if (call->cancelled)
        return;
    if (quiet < call->silence_ns)
        rco_timer_arm(call->silence, call->silence_ns - quiet);
    else
        time_out(call, "the server sent nothing for", call->silence_ns);
}

/* --- life ----------------------------------------------------------------------------------- */

static int check_request(const struct rco_http_request *r, struct rco_error *err)
{
    size_t n = strlen(r->path);

    if (r->path[0] != '/' || n > RCO_HTTP_PATH_MAX)
        return rco_error_set(err, RCO_EINVALID,
                             "request path must begin with / and have at most %d bytes",
                             RCO_HTTP_PATH_MAX);
    for (size_t i = 0; i < n; i++) {
        if (r->path[i] <= ' ' || r->path[i] >= 0x7f || r->path[i] == '#')
            return rco_error_set(err, RCO_EINVALID,
                                 "request path has an unescaped character at byte %zu", i);
    }
    for (const char *p = r->method; *p; p++) {
        if (*p < 'A' || *p > 'Z')
            return rco_error_set(err, RCO_EINVALID, "request method must be upper-case letters");
    }
    if (r->body_len > RCO_HTTP_REQUEST_BODY_MAX)
        return rco_error_set(err, RCO_ETOOBIG, "request body has %zu bytes, the cap is %d",
                             r->body_len, RCO_HTTP_REQUEST_BODY_MAX);
    for (const char *const *h = r->headers; h && *h; h++) {
        if (strpbrk(*h, "\r\n") || !strchr(*h, ':') ||
            strncasecmp(*h, "User-Agent: curl/", 17) == 0)
            return rco_error_set(err, RCO_EINVALID, "request header %zu is not usable",
                                 (size_t)(h - r->headers));
    }
    return 0;
}

struct rco_http_call *rco_call_new(struct rco_http_client *client, const struct rco_http_request *r,
                                   const struct rco_http_handler *handler)
{
    struct rco_http_call *call = rco_calloc(1, sizeof *call);

    assert(handler->done && (unsigned)r->lane < LANE_COUNT);
    call->handler = *handler;
    call->method = rco_strdup(r->method);
    call->path = rco_strdup(r->path);
    call->max_body = r->max_body;
    call->silence_ns = r->silence_ns;
    call->deadline_ns = r->deadline_ns;
    if (call->deadline_ns <= 0 && r->lane != RCO_LANE_WATCH)
        call->deadline_ns = DEADLINE_NS;
    call->last_byte = rco_loop_now(client->loop);
    if (check_request(r, &call->fault) == 0) {
        for (const char *const *h = r->headers; h && *h; h++)
            call->headers = curl_slist_append(call->headers, *h);
        if (r->body)
            rco_buf_add(&call->body, r->body, r->body_len);
    }
    if (call->deadline_ns > 0) {
        call->deadline = rco_timer_new(client->loop, on_deadline, call);
        rco_timer_arm(call->deadline, call->deadline_ns);
    }
    if (call->silence_ns > 0) {
        call->silence = rco_timer_new(client->loop, on_silence, call);
        rco_timer_arm(call->silence, call->silence_ns);
    }
    return call;
}

int rco_call_launch(struct rco_http_call *call)
{
    if (call->fault.code != RCO_OK)
        return -1;
    call->easy = rco_lane_take_easy(call->lane);
    if (rco_call_set_options(call, &call->fault) != 0)
        return -1;
    if (curl_multi_add_handle(call->lane->multi, call->easy) != CURLM_OK)
        return rco_error_set(&call->fault, RCO_EINTERNAL, "libcurl refused the transfer");
    return 0;
}

static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *h = headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data)); /* one of them holds the token */
    curl_slist_free_all(headers);
}

static void call_free(struct rco_http_call *call)
{
    rco_timer_free(call->deadline);
    rco_timer_free(call->silence);
    if (call->easy)
        rco_lane_give_easy(call->lane, call->easy, call->went_well);
    free_headers(call->headers);
    free(call->method);
    free(call->path);
    rco_buf_release(&call->body);
    rco_buf_release(&call->answer);
    free(call);
}

void rco_call_drop(struct rco_http_call *call)
{
    rco_lane_remove(call->lane, call);
    call_free(call);
}

void rco_call_finish(struct rco_http_call *call, const struct rco_error *err)
{
    rco_lane_remove(call->lane, call);
    call->finished = true;
    call->handler.done(call->handler.ctx, &call->head.response, rco_buf_str(&call->answer),
                       call->answer.len, err);
    call_free(call);
}

void rco_call_complete(struct rco_http_call *call, CURLcode result)
{
    struct rco_error err = RCO_ERROR_INIT;

    if (call->cancelled) {
        call->lane->n_cancelled--;
        rco_call_drop(call);
        return;
    }
    if (result == CURLE_OK && call->head.complete) {
        call->went_well = call->sends <= 1; /* a repeated one leaves a count behind */
        rco_call_finish(call, NULL);
        return;
    }
    rco_call_error(call, result == CURLE_OK ? CURLE_WEIRD_SERVER_REPLY : result, &err);
    rco_call_finish(call, &err);
}
