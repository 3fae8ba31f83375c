#include "kube/client.h"

#include "base/map.h"
#include "base/str.h"
#include "kube/client_internal.h"
#include "kube/limiter.h"
#include "kube/object_schema.h"
#include "kube/path.h"
#include "kube/status.h"
#include "json/writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define RETRY_PAUSE_NS (1 * RCO_NS_PER_S) /* A40 */
#define WARNINGS_MAX 256                  /* distinct Warning texts that are remembered */

enum call_state {
    CALL_WAITING, /* in the queue for a slot */
    CALL_RUNNING,
    CALL_PAUSED, /* the timer brings it back into the queue */
    CALL_BROKEN  /* never sent: the timer delivers the error */
};

struct rco_kube_call {
    struct rco_kube_client *client;
    struct rco_kube_call *prev, *next; /* in client->waiting or client->others */
    enum call_state state;
    enum rco_kube_verb verb;
    enum rco_http_lane lane;
    const char *method;
    char *path, *body, *what; /* what: "patch Job a/b", for messages */
    size_t body_len;
    rco_mono deadline, sent;
    unsigned attempts;
    bool replayed_401;
    struct rco_timer *timer;
    struct rco_transport *transport; /* that carries http; the client's may have changed since */
    struct rco_http_call *http;
    struct rco_error err;
    rco_kube_done done;
    void *ctx;
    void *owned; /* freed with the call */
};

struct rco_kube_client {
    struct rco_loop *loop;
    struct rco_transport *transport;
    struct rco_kube_client_options options;
    char *agent;
    struct rco_limiter limiter;
    struct rco_kube_call waiting; /* ring heads */
    struct rco_kube_call others;
    struct rco_stream_link streams;
    size_t n_waiting, n_running;
    struct rco_timer *timer; /* the limiter opens again */
    struct rco_map warnings;
};

static void pump(struct rco_kube_client *c);
static void drop(struct rco_kube_call *call);

/* --- rings --- */

static void ring_init(struct rco_kube_call *head)
{
    head->prev = head->next = head;
}

static void ring_add(struct rco_kube_call *head, struct rco_kube_call *call)
{
    call->prev = head->prev;
    call->next = head;
    head->prev->next = call;
    head->prev = call;
}

static void ring_remove(struct rco_kube_call *call)
{
    call->prev->next = call->next;
    call->next->prev = call->prev;
    call->prev = call->next = call;
}

/* --- client --- */

static void on_timer(void *ctx)
{
    pump(ctx);
}

struct rco_kube_client *rco_kube_client_new(struct rco_loop *loop, struct rco_transport *transport,
                                            const struct rco_kube_client_options *options)
{
    struct rco_kube_client *c = rco_calloc(1, sizeof(*c));
    rco_autobuf agent = RCO_BUF_INIT;

    c->loop = loop;
    c->transport = transport;
    if (options)
        c->options = *options;
    rco_buf_adds(&agent, "User-Agent: ");
    rco_buf_adds(&agent, c->options.user_agent ? c->options.user_agent : "runtime-cloud");
    c->agent = rco_buf_take(&agent);
    rco_limiter_init(&c->limiter);
    ring_init(&c->waiting);
    ring_init(&c->others);
    c->streams.prev = c->streams.next = &c->streams;
    c->timer = rco_timer_new(loop, on_timer, c);
    return c;
}

static void call_free(struct rco_kube_call *call)
{
    rco_timer_free(call->timer);
    free(call->path);
    free(call->body);
    free(call->what);
    free(call->owned);
    free(call);
}

void rco_kube_client_free(struct rco_kube_client *c)
{
    if (!c)
        return;
    while (c->waiting.next != &c->waiting)
        drop(c->waiting.next);
    while (c->others.next != &c->others)
        drop(c->others.next);
    while (c->streams.next != &c->streams)
        rco_stream_drop(c->streams.next);
    rco_timer_free(c->timer);
    rco_map_release(&c->warnings);
    free(c->agent);
    free(c);
}

void rco_kube_client_set_transport(struct rco_kube_client *c, struct rco_transport *transport)
{
    c->transport = transport;
}

size_t rco_kube_client_in_flight(const struct rco_kube_client *c)
{
    return c->n_running;
}

size_t rco_kube_client_queued(const struct rco_kube_client *c)
{
    return c->n_waiting;
}

unsigned rco_kube_client_limit(const struct rco_kube_client *c)
{
    return c->limiter.limit;
}

struct rco_loop *rco_kube_client_loop(struct rco_kube_client *c)
{
    return c->loop;
}

struct rco_transport *rco_kube_client_transport(struct rco_kube_client *c)
{
    return c->transport;
}

const char *rco_kube_client_agent(const struct rco_kube_client *c)
{
    return c->agent;
}

struct rco_stream_link *rco_kube_client_streams(struct rco_kube_client *c)
{
    return &c->streams;
}

static void warn_once(struct rco_kube_client *c, const char *text)
{
    if (!c->options.warning || rco_str_empty(text) || rco_map_has(&c->warnings, text))
        return;
    if (c->warnings.n >= WARNINGS_MAX)
        return;
    rco_map_set(&c->warnings, text, c);
    c->options.warning(c->options.ctx, text);
}

void rco_kube_client_observe(struct rco_kube_client *c, const char *method,
                             const struct rco_http_response *response, int64_t latency_ns)
{
    int status = response ? response->status : 0;

    if (c->options.observed)
        c->options.observed(c->options.ctx, method, status, latency_ns);
    if (status == 401 && c->options.unauthorized)
        c->options.unauthorized(c->options.ctx);
    if (status != 0 && status != 401 && c->options.accepted)
        c->options.accepted(c->options.ctx);
    if (response)
        warn_once(c, response->warning);
}

/* --- delivery --- */

/* Takes CALL out of the client and tells its owner. The owner may do anything but free the client.
 */
static void finish(struct rco_kube_call *call, const struct rco_kube_result *result,
                   const struct rco_error *err)
{
    static const struct rco_kube_result none = {
        .body = "", .name = "", .ns = "", .uid = "", .resource_version = ""};
    rco_kube_done done = call->done;
    void *ctx = call->ctx;

    ring_remove(call);
    done(ctx, result ? result : &none, err);
    call_free(call);
}

static void deliver(struct rco_kube_call *call, const struct rco_http_response *response,
                    const char *body, size_t n, const struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_bare_object obj = {0};
    struct rco_error ignored = RCO_ERROR_INIT;
    struct rco_kube_result r = {
        .http_status = response ? response->status : 0,
        .body = body ? body : "",
        .body_len = body ? n : 0,
        .date = response ? response->date : 0,
    };

    if (!err && call->verb != RCO_KUBE_RAW_GET && r.body_len > 0 &&
        (rco_codec_decode(&rco_bare_object_schema, r.body, r.body_len, &a, &obj, &ignored) < 0 ||
         rco_streq(obj.kind, "Status")))
        memset(&obj, 0, sizeof(obj));
    r.name = rco_str_or_empty(obj.metadata.name);
    r.ns = rco_str_or_empty(obj.metadata.ns);
    r.uid = rco_str_or_empty(obj.metadata.uid);
    r.resource_version = rco_str_or_empty(obj.metadata.resource_version);
    r.deleting = obj.metadata.deletion != 0;
    finish(call, &r, err);
}

/* --- attempts --- */

static bool is_read(const struct rco_kube_call *call)
{
    return call->verb == RCO_KUBE_GET || call->verb == RCO_KUBE_RAW_GET;
}

static void on_call_timer(void *ctx)
{
    struct rco_kube_call *call = ctx;
    struct rco_kube_client *c = call->client;

    if (call->state == CALL_BROKEN) {
        finish(call, NULL, &call->err);
        return;
    }
    if (call->state == CALL_PAUSED) {
        ring_remove(call);
        call->state = CALL_WAITING;
        ring_add(&c->waiting, call);
        c->n_waiting++;
        rco_timer_arm(call->timer, call->deadline - rco_loop_now(c->loop));
        pump(c);
        return;
    }
    /* Still waiting for a slot when its time was over. */
    assert(call->state == CALL_WAITING);
    c->n_waiting--;
    rco_error_set(&call->err, RCO_ETHROTTLED,
                  "%s: not sent within its deadline, %zu requests are waiting for the API server",
                  call->what, c->n_waiting);
    finish(call, NULL, &call->err);
}

/* Whether to try again, and after how long. */
static bool retry_pause(struct rco_kube_call *call, const struct rco_http_response *response,
                        const struct rco_error *err, int64_t *ret_pause)
{
    rco_mono now = rco_loop_now(call->client->loop);
    int64_t pause;

    if (call->lane == RCO_LANE_ELECTION || call->attempts >= RCO_KUBE_ATTEMPTS_MAX)
        return false;
    if (!response) {
        if (!is_read(call) || err->code != RCO_EUNAVAILABLE)
            return false;
        pause = RETRY_PAUSE_NS;
    } else if (response->status == 401) {
        if (!is_read(call) || call->replayed_401)
            return false;
        call->replayed_401 = true;
        pause = 0;
    } else {
        bool refused = response->status == 429 || response->status == 503;

        if (response->retry_after_ms <= 0 ||
            !(refused || (is_read(call) && response->status >= 500)))
            return false;
        pause = response->retry_after_ms * RCO_NS_PER_MS;
    }
    if (now + pause >= call->deadline)
        return false;
    *ret_pause = pause;
    return true;
}

static void pause_call(struct rco_kube_call *call, int64_t pause)
{
    call->state = CALL_PAUSED;
    rco_timer_arm(call->timer, pause);
}

static void on_done(void *ctx, const struct rco_http_response *response, const char *body, size_t n,
                    const struct rco_error *transport_err)
{
    struct rco_kube_call *call = ctx;
    struct rco_kube_client *c = call->client;
    rco_mono now = rco_loop_now(c->loop);
    const struct rco_http_response *answer = transport_err ? NULL : response;
    struct rco_error err = RCO_ERROR_INIT;
    int64_t pause;

    call->http = NULL;
    c->n_running--;
    if (call->lane != RCO_LANE_ELECTION)
        rco_limiter_done(&c->limiter, now, answer ? answer->status : 0, now - call->sent,
                         answer ? answer->retry_after_ms : 0);
    rco_kube_client_observe(c, call->method, answer, now - call->sent);
    if (answer && rco_status_map(answer, body, n, call->what, &err) == 0) {
        deliver(call, answer, body, n, NULL);
        pump(c);
        return;
    }
    if (!answer) {
        err = *transport_err;
        rco_error_wrap(&err, "%s", call->what);
        /* The connection broke: whether a write happened cannot be known (A41). */
        if (!is_read(call) && err.code != RCO_ETOOBIG)
            err.code = RCO_ETIMEOUT;
    }
    if (retry_pause(call, answer, &err, &pause))
        pause_call(call, pause);
    else
        deliver(call, answer, body, n, &err);
    pump(c);
}

static void send_call(struct rco_kube_call *call)
{
    struct rco_kube_client *c = call->client;
    const char *content_type = NULL;
    const struct rco_http_handler handler = {.done = on_done, .ctx = call};

    if (call->verb == RCO_KUBE_PATCH)
        content_type = "Content-Type: application/merge-patch+json";
    else if (call->body)
        content_type = "Content-Type: application/json";
    const char *const headers[] = {"Accept: application/json", c->agent, content_type, NULL};
    const struct rco_http_request request = {
        .method = call->method,
        .path = call->path,
        .headers = headers,
        .body = call->body,
        .body_len = call->body_len,
        .lane = call->lane,
        .deadline_ns = call->deadline - rco_loop_now(c->loop),
        .max_body = RCO_KUBE_ANSWER_MAX,
    };
    call->state = CALL_RUNNING;
    call->attempts++;
    call->sent = rco_loop_now(c->loop);
    c->n_running++;
    if (call->lane != RCO_LANE_ELECTION)
        rco_limiter_start(&c->limiter);
    ring_add(&c->others, call);
    rco_timer_disarm(call->timer);
    call->transport = c->transport;
    call->http = rco_transport_start(call->transport, &request, &handler);
}

/* Starts what may start. */
static void pump(struct rco_kube_client *c)
{
    rco_mono now = rco_loop_now(c->loop);

    while (c->n_waiting > 0 && rco_limiter_may_start(&c->limiter, now)) {
        struct rco_kube_call *call = c->waiting.next;

        ring_remove(call);
        c->n_waiting--;
        send_call(call);
    }
    if (c->n_waiting > 0 && c->limiter.closed_until > now)
        rco_timer_arm(c->timer, c->limiter.closed_until - now);
}

/* --- requests --- */

static const struct {
    const char *method, *word;
} verbs[] = {
    [RCO_KUBE_GET] = {"GET", "get"},       [RCO_KUBE_CREATE] = {"POST", "create"},
    [RCO_KUBE_PATCH] = {"PATCH", "patch"}, [RCO_KUBE_DELETE] = {"DELETE", "delete"},
    [RCO_KUBE_RAW_GET] = {"GET", "get"},   [RCO_KUBE_RAW_POST] = {"POST", "post"},
};

static void delete_body(const struct rco_kube_request *q, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "v1");
    rco_json_kv_string(&w, "kind", "DeleteOptions");
    rco_json_kv_string(&w, "propagationPolicy", "Background");
    if (!rco_str_empty(q->uid) || !rco_str_empty(q->resource_version)) {
        rco_json_kv_object(&w, "preconditions");
        rco_json_kv_string_opt(&w, "uid", q->uid);
        rco_json_kv_string_opt(&w, "resourceVersion", q->resource_version);
        rco_json_end_object(&w);
    }
    rco_json_end_object(&w);
}

static int build(struct rco_kube_call *call, const struct rco_kube_request *q,
                 struct rco_error *err)
{
    rco_autopath p = RCO_PATH_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    bool raw = q->verb == RCO_KUBE_RAW_GET || q->verb == RCO_KUBE_RAW_POST;
    bool write = q->verb == RCO_KUBE_CREATE || q->verb == RCO_KUBE_PATCH;

    if (raw) {
        if (!q->path || q->path[0] != '/')
            return rco_error_set(err, RCO_EINVALID, "raw request without an absolute path");
        rco_path_literal(&p, q->path);
    } else {
        const char *name = q->verb == RCO_KUBE_CREATE ? NULL : rco_str_or_empty(q->name);

        if (q->verb == RCO_KUBE_CREATE && rco_kind_info(q->kind)->namespaced &&
            rco_str_empty(q->ns))
            return rco_error_set(err, RCO_EINVALID, "create of a %s without a namespace",
                                 rco_kind_info(q->kind)->kind);
        if (rco_path_kind(&p, q->kind, q->ns, name, q->subresource, err) < 0)
            return -1;
    }
    if (write) {
        rco_path_query(&p, "fieldManager", RCO_FIELD_MANAGER);
        rco_path_query(&p, "fieldValidation", "Warn");
    }
    if (q->verb == RCO_KUBE_DELETE) {
        delete_body(q, &body);
        call->body_len = body.len;
        call->body = rco_buf_take(&body);
    } else if (q->body) {
        call->body_len = q->body_len;
        call->body = rco_strndup(q->body, q->body_len);
    }
    call->path = rco_strdup(rco_path_str(&p));
    return 0;
}

static char *describe(const struct rco_kube_request *q)
{
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_adds(&b, verbs[q->verb].word);
    rco_buf_addc(&b, ' ');
    if (q->path) {
        rco_buf_adds(&b, q->path);
        return rco_buf_take(&b);
    }
    rco_buf_adds(&b, rco_kind_info(q->kind)->kind);
    if (!rco_str_empty(q->subresource)) {
        rco_buf_addc(&b, '/');
        rco_buf_adds(&b, q->subresource);
    }
    rco_buf_addc(&b, ' ');
    if (!rco_str_empty(q->ns)) {
        rco_buf_adds(&b, q->ns);
        rco_buf_addc(&b, '/');
    }
    rco_buf_adds(&b, rco_str_or_empty(q->name));
    return rco_buf_take(&b);
}

struct rco_kube_call *rco_kube_start(struct rco_kube_client *c,
                                     const struct rco_kube_request *request, rco_kube_done done,
                                     void *ctx)
{
    struct rco_kube_call *call = rco_calloc(1, sizeof(*call));
    int64_t deadline = request->deadline_ns > 0 ? request->deadline_ns : RCO_KUBE_DEADLINE_NS;

    call->client = c;
    call->prev = call->next = call;
    call->verb = request->verb;
    call->lane = request->lane;
    call->method = verbs[request->verb].method;
    call->what = describe(request);
    call->done = done;
    call->ctx = ctx;
    call->deadline = rco_loop_now(c->loop) + deadline;
    call->timer = rco_timer_new(c->loop, on_call_timer, call);
    if (build(call, request, &call->err) < 0 ||
        (c->n_waiting >= RCO_KUBE_QUEUE_MAX && call->lane != RCO_LANE_ELECTION &&
         rco_error_set(&call->err, RCO_ETHROTTLED, "%s: %d requests are waiting already",
                       call->what, RCO_KUBE_QUEUE_MAX) < 0)) {
        call->state = CALL_BROKEN;
        ring_add(&c->others, call);
        rco_timer_arm(call->timer, 0);
        return call;
    }
    if (call->lane == RCO_LANE_ELECTION) {
        send_call(call);
        return call;
    }
    ring_add(&c->waiting, call);
    c->n_waiting++;
    rco_timer_arm(call->timer, deadline);
    pump(c);
    return call;
}

static void drop(struct rco_kube_call *call)
{
    struct rco_kube_client *c = call->client;

    ring_remove(call);
    if (call->state == CALL_WAITING)
        c->n_waiting--;
    if (call->state == CALL_RUNNING) {
        rco_transport_cancel(call->transport, call->http);
        c->n_running--;
        if (call->lane != RCO_LANE_ELECTION)
            rco_limiter_cancelled(&c->limiter);
    }
    call_free(call);
}

void rco_kube_cancel(struct rco_kube_call *call)
{
    struct rco_kube_client *c;

    if (!call)
        return;
    c = call->client;
    drop(call);
    pump(c); /* its slot is free */
}

void rco_kube_call_own(struct rco_kube_call *call, void *owned)
{
    call->owned = owned;
}

int rco_kube_result_decode(const struct rco_kube_result *result, enum rco_kind kind,
                           struct rco_arena *a, void **ret_obj, struct rco_error *err)
{
    const struct rco_schema *schema = rco_kind_info(kind)->schema;
    void *obj;

    assert(schema);
    obj = rco_arena_alloc(a, schema->size);
    if (rco_codec_decode(schema, result->body, result->body_len, a, obj, err) < 0)
        return rco_error_wrap(err, "read the %s of the answer", rco_kind_info(kind)->kind);
    *ret_obj = obj;
    return 0;
}
