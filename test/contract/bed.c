/* Requests and streams over a transport, the same for both beds. */
#include "bed.h"

#include "base/buf.h"
#include "lies.h"
#include "json/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX ((size_t)8 << 20)
#define DEADLINE (40 * BED_S)
#define POLL (20 * BED_MS)

const char *bed_text(struct bed *b, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    return rco_arena_strndup(&b->arena, rco_buf_str(&text), text.len);
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

void bed_sleep(struct bed *b, int64_t length)
{
    b->ops->wait(b, length, never, NULL);
}

/* --- single requests --- */

struct pending {
    struct bed *bed;
    struct reply reply;
    bool done;
};

static void on_done(void *ctx, const struct rco_http_response *response, const char *body, size_t n,
                    const struct rco_error *err)
{
    struct pending *p = ctx;
    struct bed *b = p->bed;
    struct reply *r = &p->reply;

    p->done = true;
    if (err || !response) {
        r->text = bed_text(b, "no answer: %s", err ? err->msg : "");
        r->n = strlen(r->text);
        return;
    }
    r->status = lie_status(b->lie, response->status);
    r->text = lie_text(&b->arena, b->lie, LIE_ANSWER,
                       rco_arena_strndup(&b->arena, body ? body : "", n), n, &r->n);
    r->json = sim_tree_parse(&b->arena, r->text, r->n);
    r->warning = response->warning ? rco_arena_strdup(&b->arena, response->warning) : NULL;
    r->retry_after_ms = response->retry_after_ms;
}

static bool is_done(void *ctx)
{
    return ((struct pending *)ctx)->done;
}

/* Path of a request after the bed's lie. */
static const char *path_of(struct bed *b, const char *path)
{
    size_t n;

    return lie_text(&b->arena, b->lie, LIE_PATH, path, strlen(path), &n);
}

struct reply bed_ask(struct bed *b, const struct ask *q)
{
    const char *type = q->content_type                   ? q->content_type
                       : strcmp(q->method, "PATCH") == 0 ? "application/merge-patch+json"
                                                         : "application/json";
    const char *const headers[] = {bed_text(b, "Content-Type: %s", type),
                                   "Accept: application/json", NULL};
    struct pending p = {.bed = b};
    rco_mono began = rco_loop_now(b->loop);
    struct rco_http_call *call;
    size_t n = 0;
    const char *body = q->body ? lie_text(&b->arena, b->lie, LIE_REQUEST, q->body,
                                          q->body_len ? q->body_len : strlen(q->body), &n)
                               : NULL;

    call = rco_transport_start(b->transports[q->who],
                               &(struct rco_http_request){.method = q->method,
                                                          .path = path_of(b, q->path),
                                                          .headers = headers,
                                                          .body = body,
                                                          .body_len = n,
                                                          .deadline_ns = DEADLINE,
                                                          .max_body = ANSWER_MAX},
                               &(struct rco_http_handler){.done = on_done, .ctx = &p});
    if (!b->ops->wait(b, DEADLINE + 5 * BED_S, is_done, &p)) {
        rco_transport_cancel(b->transports[q->who], call);
        p.reply.text = "no answer within the deadline";
        p.reply.n = strlen(p.reply.text);
    }
    p.reply.took = rco_loop_now(b->loop) - began;
    if (b->verbose)
        printf("    %s %s %.*s\n      -> %d %.*s\n", q->method, q->path, n > 600 ? 600 : (int)n,
               body ? body : "", p.reply.status, p.reply.n > 1500 ? 1500 : (int)p.reply.n,
               p.reply.text);
    return p.reply;
}

struct reply bed_do(struct bed *b, const char *method, const char *path, const char *body)
{
    return bed_ask(b, &(struct ask){.method = method, .path = path, .body = body});
}

struct reply bed_poll(struct bed *b, const char *path, bool (*filter)(const struct reply *r))
{
    rco_mono end = rco_loop_now(b->loop) + BED_PATIENCE;
    struct reply r;

    for (;;) {
        r = bed_do(b, "GET", path, NULL);
        if (filter(&r) || rco_loop_now(b->loop) >= end)
            return r;
        bed_sleep(b, POLL);
    }
}

static bool is_gone(const struct reply *r)
{
    return r->status == 404;
}

bool bed_poll_gone(struct bed *b, const char *path)
{
    struct reply r = bed_poll(b, path, is_gone);

    return is_gone(&r);
}

/* --- watches --- */

struct queued {
    struct queued *next;
    struct event event;
};

struct stream {
    struct bed *bed;
    struct rco_http_call *call; /* NULL when over */
    struct rco_watch_parser *parser;
    struct queued *first, **tail;
    int status;
    bool over, clean;
};

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    static const char *const names[] = {"?", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    struct stream *s = ctx;
    struct bed *b = s->bed;
    struct queued *q = RCO_NEW(&b->arena, struct queued);

    (void)err;
    q->event.type = names[type];
    q->event.object = sim_tree_parse(&b->arena, object, n);
    q->event.rv = sim_tree_str(q->event.object, "metadata|resourceVersion");
    *s->tail = q;
    s->tail = &q->next;
    if (b->verbose)
        printf("      event %s %.*s\n", q->event.type, n > 700 ? 700 : (int)n, object);
    return 0;
}

static void on_head(void *ctx, const struct rco_http_response *response)
{
    struct stream *s = ctx;

    s->status = lie_status(s->bed->lie, response->status);
}

static int on_data(void *ctx, const char *bytes, size_t n)
{
    struct stream *s = ctx;
    struct rco_error err = RCO_ERROR_INIT;
    const char *text = lie_text(&s->bed->arena, s->bed->lie, LIE_ANSWER, bytes, n, &n);

    return s->status == 200 ? rco_watch_parser_feed(s->parser, text, n, &err) : 0;
}

static void on_stream_done(void *ctx, const struct rco_http_response *response, const char *body,
                           size_t n, const struct rco_error *err)
{
    struct stream *s = ctx;

    (void)response;
    (void)body;
    (void)n;
    s->over = true;
    s->clean = !err;
    s->call = NULL;
}

struct stream *bed_watch(struct bed *b, const char *path)
{
    static const char *const headers[] = {"Accept: application/json", NULL};
    struct stream *s = RCO_NEW(&b->arena, struct stream);

    s->bed = b;
    s->tail = &s->first;
    s->parser = rco_watch_parser_new(&(struct rco_watch_handler){.event = on_event, .ctx = s});
    if (b->verbose)
        printf("    WATCH %s\n", path);
    s->call = rco_transport_start(
        b->transports[BED_ADMIN],
        &(struct rco_http_request){
            .method = "GET", .path = path_of(b, path), .headers = headers, .lane = RCO_LANE_WATCH},
        &(struct rco_http_handler){
            .head = on_head, .data = on_data, .done = on_stream_done, .ctx = s});
    return s;
}

static bool has_event(void *ctx)
{
    struct stream *s = ctx;

    return s->first || s->over;
}

struct event bed_next(struct stream *s, int64_t patience)
{
    struct queued *q;

    if (!s->first)
        s->bed->ops->wait(s->bed, patience, has_event, s);
    q = s->first;
    if (!q)
        return (struct event){0};
    s->first = q->next;
    if (!s->first)
        s->tail = &s->first;
    return q->event;
}

static bool has_status(void *ctx)
{
    struct stream *s = ctx;

    return s->status || s->over;
}

int bed_stream_status(struct stream *s)
{
    s->bed->ops->wait(s->bed, BED_PATIENCE, has_status, s);
    return s->status;
}

static bool is_over(void *ctx)
{
    return ((struct stream *)ctx)->over;
}

bool bed_ended(struct stream *s, int64_t patience, bool *ret_clean)
{
    bool over = s->bed->ops->wait(s->bed, patience, is_over, s);

    *ret_clean = s->clean;
    return over;
}

void bed_close(struct stream *s)
{
    if (s->call)
        rco_transport_cancel(s->bed->transports[BED_ADMIN], s->call);
    s->call = NULL;
    rco_watch_parser_free(s->parser);
    s->parser = NULL;
}
