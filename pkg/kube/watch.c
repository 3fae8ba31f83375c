#include "kube/watch.h"

#include "base/str.h"
#include "kube/client_internal.h"
#include "kube/path.h"
#include "kube/status.h"

#include <string.h>

#define ERROR_BODY_MAX (64 * 1024) /* of an answer that is not 200 */

enum stream_kind { STREAM_LIST, STREAM_WATCH };

struct rco_stream_call {
    struct rco_stream_link link; /* first: rco_stream_drop casts */
    struct rco_kube_client *client;
    struct rco_transport *transport;
    struct rco_http_call *http;
    enum stream_kind kind;
    char *what;
    rco_mono sent;
    struct rco_list_done list;
    struct rco_watch_done watch;
    struct rco_list_parser *list_parser;
    struct rco_watch_parser *watch_parser;
    struct rco_buf error_body;
    int status;     /* HTTP status of the head, 0 = none yet */
    bool inside;    /* a callback of the owner is on the stack */
    bool cancelled; /* by the owner, from inside */
    bool failed;    /* err is why we ended the stream ourselves */
    struct rco_error err;
};

static void stream_free(struct rco_stream_call *s)
{
    s->link.prev->next = s->link.next;
    s->link.next->prev = s->link.prev;
    rco_list_parser_free(s->list_parser);
    rco_watch_parser_free(s->watch_parser);
    rco_buf_release(&s->error_body);
    free(s->what);
    free(s);
}

void rco_stream_cancel(struct rco_stream_call *s)
{
    if (!s)
        return;
    if (s->inside) {
        s->cancelled = true;
        return;
    }
    if (s->http)
        rco_transport_cancel(s->transport, s->http);
    stream_free(s);
}

void rco_stream_drop(struct rco_stream_link *link)
{
    rco_stream_cancel((struct rco_stream_call *)link);
}

/* --- parser callbacks: hand on unless the owner has given up --- */

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct rco_stream_call *s = ctx;

    if (s->cancelled)
        return rco_error_set(err, RCO_ECANCELLED, "given up");
    return s->list.item(s->list.ctx, json, n, err);
}

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    struct rco_stream_call *s = ctx;

    if (s->cancelled)
        return rco_error_set(err, RCO_ECANCELLED, "given up");
    if (type == RCO_WATCH_ERROR) {
        rco_status_map_event(object, n, s->what, err);
        return -1;
    }
    return s->watch.event(s->watch.ctx, type, object, n, err);
}

/* --- transport callbacks --- */

static void on_head(void *ctx, const struct rco_http_response *response)
{
    struct rco_stream_call *s = ctx;

    s->status = response->status;
    rco_kube_client_observe(s->client, "GET", response,
                            rco_loop_now(rco_kube_client_loop(s->client)) - s->sent);
    if (s->status == 200 && s->kind == STREAM_WATCH && s->watch.opened) {
        s->inside = true;
        s->watch.opened(s->watch.ctx);
        s->inside = false;
    }
}

static int on_data(void *ctx, const char *bytes, size_t n)
{
    struct rco_stream_call *s = ctx;
    int r;

    if (s->cancelled)
        return -1;
    if (s->status != 200) {
        size_t room = ERROR_BODY_MAX - s->error_body.len;

        rco_buf_add(&s->error_body, bytes, n < room ? n : room);
        return 0;
    }
    s->inside = true;
    r = s->kind == STREAM_LIST ? rco_list_parser_feed(s->list_parser, bytes, n, &s->err)
                               : rco_watch_parser_feed(s->watch_parser, bytes, n, &s->err);
    s->inside = false;
    if (r < 0)
        s->failed = true;
    return r < 0 || s->cancelled ? -1 : 0;
}

static void end_list(struct rco_stream_call *s, const struct rco_error *err)
{
    const char *rv = "", *token = "";

    if (!err && rco_list_parser_finish(s->list_parser, &rv, &token, &s->err) < 0) {
        rco_error_wrap(&s->err, "%s", s->what);
        err = &s->err;
    }
    s->list.done(s->list.ctx, rv, token, err);
}

static void end_watch(struct rco_stream_call *s, const struct rco_error *err)
{
    /* Once it was open, a cut, a silence or the absolute bound is an ordinary end: the last
     * resourceVersion says where to go on (A15, A16, A35). */
    if (err && !s->failed && s->status == 200 &&
        (err->code == RCO_EUNAVAILABLE || err->code == RCO_ETIMEOUT))
        err = NULL;
    s->watch.done(s->watch.ctx, err);
}

static void on_done(void *ctx, const struct rco_http_response *response, const char *body, size_t n,
                    const struct rco_error *transport_err)
{
    struct rco_stream_call *s = ctx;
    const struct rco_error *err = transport_err;

    (void)body;
    (void)n;
    s->http = NULL;
    if (s->cancelled) {
        stream_free(s);
        return;
    }
    if (s->failed) {
        err = &s->err;
    } else if (err) {
        s->err = *err;
        rco_error_wrap(&s->err, "%s", s->what);
        err = &s->err;
        if (s->status == 0)
            rco_kube_client_observe(s->client, "GET", NULL, 0);
    } else if (rco_status_map(response, rco_buf_str(&s->error_body), s->error_body.len, s->what,
                              &s->err) < 0) {
        err = &s->err;
    }
    s->inside = true; /* a cancel from inside the owner's done is a no-op */
    if (s->kind == STREAM_LIST)
        end_list(s, err);
    else
        end_watch(s, err);
    stream_free(s);
}

/* --- requests --- */

static char *describe(const char *verb, const struct rco_scope *scope)
{
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_adds(&b, verb);
    rco_buf_addc(&b, ' ');
    rco_buf_adds(&b, rco_kind_info(scope->kind)->plural);
    if (!rco_str_empty(scope->ns)) {
        rco_buf_adds(&b, " in ");
        rco_buf_adds(&b, scope->ns);
    }
    return rco_buf_take(&b);
}

static void scope_path(struct rco_path *p, const struct rco_scope *scope)
{
    struct rco_error err = RCO_ERROR_INIT;

    /* A scope is part of the program, not input; an odd namespace ends in a 404 of the server. */
    if (rco_path_kind(p, scope->kind, scope->ns, NULL, NULL, &err) < 0)
        rco_path_literal(p, "/");
    rco_path_query(p, "labelSelector", scope->label_selector);
    rco_path_query(p, "fieldSelector", scope->field_selector);
}

static struct rco_stream_call *stream_new(struct rco_kube_client *c, enum stream_kind kind,
                                          const char *verb, const struct rco_scope *scope)
{
    struct rco_stream_call *s = rco_calloc(1, sizeof(*s));
    struct rco_stream_link *head = rco_kube_client_streams(c);

    s->client = c;
    s->transport = rco_kube_client_transport(c);
    s->kind = kind;
    s->what = describe(verb, scope);
    s->sent = rco_loop_now(rco_kube_client_loop(c));
    s->link.prev = head->prev;
    s->link.next = head;
    head->prev->next = &s->link;
    head->prev = &s->link;
    return s;
}

static void stream_start(struct rco_stream_call *s, struct rco_http_request *request)
{
    const char *const headers[] = {"Accept: application/json", rco_kube_client_agent(s->client),
                                   NULL};
    const struct rco_http_handler handler = {
        .head = on_head, .data = on_data, .done = on_done, .ctx = s};

    request->method = "GET";
    request->headers = headers;
    s->http = rco_transport_start(s->transport, request, &handler);
}

struct rco_stream_call *rco_kube_list_page(struct rco_kube_client *c,
                                           const struct rco_list_request *request,
                                           const struct rco_list_done *handler)
{
    struct rco_stream_call *s = stream_new(c, STREAM_LIST, "list", &request->scope);
    const struct rco_list_handler parser_handler = {.item = on_item, .ctx = s};
    rco_autopath p = RCO_PATH_INIT;
    struct rco_http_request http = {
        .lane = RCO_LANE_REQUEST,
        .deadline_ns = RCO_KUBE_LIST_DEADLINE_NS,
    };

    s->list = *handler;
    s->list_parser = rco_list_parser_new(&parser_handler);
    scope_path(&p, &request->scope);
    rco_path_query(&p, "resourceVersion", request->resource_version);
    rco_path_query(&p, "resourceVersionMatch", request->resource_version_match);
    if (request->limit > 0)
        rco_path_query_int(&p, "limit", request->limit);
    rco_path_query(&p, "continue", request->continue_token);
    http.path = rco_path_str(&p);
    stream_start(s, &http);
    return s;
}

struct rco_stream_call *rco_kube_watch(struct rco_kube_client *c,
                                       const struct rco_watch_request *request,
                                       const struct rco_watch_done *handler)
{
    struct rco_stream_call *s = stream_new(c, STREAM_WATCH, "watch", &request->scope);
    const struct rco_watch_handler parser_handler = {.event = on_event, .ctx = s};
    rco_autopath p = RCO_PATH_INIT;
    int64_t timeout_s = request->timeout_s;
    struct rco_http_request http = {
        .lane = RCO_LANE_WATCH,
        .silence_ns = RCO_WATCH_SILENCE_NS,
    };

    if (timeout_s <= 0)
        timeout_s = rco_loop_jitter(rco_kube_client_loop(c), RCO_WATCH_TIMEOUT_MIN_S,
                                    RCO_WATCH_TIMEOUT_MAX_S);
    s->watch = *handler;
    s->watch_parser = rco_watch_parser_new(&parser_handler);
    scope_path(&p, &request->scope);
    rco_path_query(&p, "watch", "true");
    rco_path_query(&p, "allowWatchBookmarks", "true");
    rco_path_query_int(&p, "timeoutSeconds", timeout_s);
    if (request->send_initial_events) {
        rco_path_query(&p, "sendInitialEvents", "true");
        rco_path_query(&p, "resourceVersionMatch", "NotOlderThan");
    }
    rco_path_query(&p, "resourceVersion", request->resource_version);
    http.path = rco_path_str(&p);
    http.deadline_ns = timeout_s * RCO_NS_PER_S + RCO_WATCH_GRACE_NS;
    stream_start(s, &http);
    return s;
}
