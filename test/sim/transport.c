/* The way between a replica and the API server: latency, loss, deadlines, and the client's side of
 * a request. What the server does with it is server.c. */
#include "transport.h"

#include "breaks.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define REQUEST_DEADLINE (60 * SIM_S)

static struct sim_call *call_of(struct rco_http_call *c)
{
    return (struct sim_call *)c;
}

/* --- client's side --- */

static void unlink_call(struct sim_call *c)
{
    struct sim_call **at = &c->link->calls;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
}

/* Nothing reaches the client any more. */
static void end_call(struct sim_call *c)
{
    if (c->over)
        return;
    c->over = true;
    unlink_call(c);
    rco_timer_free(c->pump);
    rco_timer_free(c->deadline);
    rco_timer_free(c->silence);
    c->pump = c->deadline = c->silence = NULL;
}

static void finish(struct sim_call *c, const struct rco_http_response *response, const char *body,
                   size_t n, const struct rco_error *err)
{
    struct rco_http_handler h = c->handler;
    bool dies = c->dies_after;
    struct sim *s = c->link->sim;
    int replica = c->link->replica;

    end_call(c);
    h.done(h.ctx, response, body, n, err);
    if (dies)
        sim_replica_doom(s, replica, "after the answer");
}

static void fail(struct sim_call *c, enum rco_code code, const char *what)
{
    struct rco_error err = RCO_ERROR_INIT;

    rco_error_set(&err, code, "%s", what);
    finish(c, c->status ? &c->response : NULL, NULL, 0, &err);
}

static void on_deadline(void *ctx)
{
    fail(ctx, RCO_ETIMEOUT, "no answer within the deadline");
}

static void on_silence(void *ctx)
{
    fail(ctx, RCO_ETIMEOUT, "no byte for too long");
}

static void deliver_data(struct sim_call *c, const struct sim_delivery *d)
{
    if (c->silence_ns > 0)
        rco_timer_arm(c->silence, c->silence_ns);
    if (c->handler.data && c->handler.data(c->handler.ctx, d->text, d->n) < 0 && !c->over)
        fail(c, RCO_ECANCELLED, "given up by the receiver");
}

static void deliver(struct sim_call *c, const struct sim_delivery *d)
{
    switch (d->type) {
    case SIM_HEAD:
        c->status = d->status;
        c->response = (struct rco_http_response){
            .status = d->status, .retry_after_ms = d->retry_after_ms, .warning = d->warning};
        if (c->handler.head)
            c->handler.head(c->handler.ctx, &c->response);
        break;
    case SIM_DATA:
        deliver_data(c, d);
        break;
    case SIM_DONE:
        finish(c, &c->response, c->streaming ? NULL : d->text, c->streaming ? 0 : d->n, NULL);
        break;
    case SIM_FAIL:
        fail(c, RCO_EUNAVAILABLE, "the connection broke");
        break;
    }
}

static void arm_pump(struct sim_call *c)
{
    rco_mono now = rco_loop_now(c->link->loop);

    if (c->queue && c->pump)
        rco_timer_arm(c->pump, c->queue->due > now ? c->queue->due - now : 0);
}

static void on_pump(void *ctx)
{
    struct sim_call *c = ctx;
    struct sim_delivery *d = c->queue;

    if (!d)
        return;
    c->queue = d->next;
    if (!c->queue)
        c->tail = &c->queue;
    deliver(c, d);
    if (!c->over)
        arm_pump(c);
}

void sim_call_push(struct sim_call *c, const struct sim_delivery *what)
{
    struct sim *s = c->link->sim;
    struct sim_delivery *d;

    if (c->over)
        return;
    d = rco_arena_memdup(&s->arena, what, sizeof *d);
    d->next = NULL;
    d->due = s->now + sim_latency(s);
    if (d->due < c->last_due)
        d->due = c->last_due;
    c->last_due = d->due;
    *c->tail = d;
    c->tail = &d->next;
    if (c->queue == d)
        arm_pump(c);
}

void sim_call_answer(struct sim_call *c, int status, const char *body, size_t n)
{
    struct sim_delivery d = {.type = SIM_HEAD,
                             .status = status,
                             .retry_after_ms = 1000 * c->retry_after_s,
                             .warning = c->warning};

    if (status == 429 || status == 503)
        d.retry_after_ms = 1000;
    sim_call_push(c, &d);
    if (c->streaming)
        sim_call_push(c, &(struct sim_delivery){.type = SIM_DATA, .text = body, .n = n});
    sim_call_push(c, &(struct sim_delivery){.type = SIM_DONE, .text = body, .n = n});
}

/* --- the way to the server --- */

/* The answer does not arrive: the connection breaks, or nothing comes until the deadline. */
static void lose(struct sim_call *c)
{
    struct sim *s = c->link->sim;

    sim_trace(s, "lost: %s %s", c->method, c->path);
    if (c->number % 2)
        sim_call_push(c, &(struct sim_delivery){.type = SIM_FAIL});
}

static void on_arrival(void *ctx)
{
    struct sim_call *c = ctx;
    struct sim *s = c->link->sim;
    const struct sim_fault *f = c->number ? sim_fault_of_write(s, c->number) : NULL;

    if (s->fault.away_until > s->now) {
        sim_call_push(c, &(struct sim_delivery){.type = SIM_FAIL});
        return;
    }
    if (s->fault.errors_until > s->now &&
        (s->fault.error_code != 410 || (strcmp(c->method, "GET") == 0 && !c->election))) {
        sim_server_error(c, s->fault.error_code);
        return;
    }
    if (f && f->type == SIM_CRASH_REPLY)
        c->dies_after = true;
    if (f && f->type == SIM_LOSE_ANSWER)
        c->answer_lost = true;
    sim_server_handle(c);
    if (f && f->type == SIM_CRASH_COMMIT)
        sim_replica_kill(s, c->link->replica, "after the commit");
    else if (c->answer_lost)
        lose(c);
}

/* Writes that a fault may strike: not Events, reviews, and renewals of the election. */
static bool counts(const struct rco_http_request *q)
{
    return strcmp(q->method, "GET") != 0 && q->lane == RCO_LANE_REQUEST &&
           !strstr(q->path, "/events") && !strstr(q->path, "/tokenreviews");
}

static void number_write(struct sim_call *c)
{
    struct sim *s = c->link->sim;
    const struct sim_fault *f;

    c->number = ++s->writes;
    sim_trace(s, "operator%d sends write %d: %s %s", c->link->replica, c->number, c->method,
              c->path);
    if (s->write_log)
        rco_buf_addf(s->write_log, "%s %.*s\n", c->method, (int)strcspn(c->path, "?"), c->path);
    sim_oracle_text(s, c->path, c->body, c->body_len);
    sim_faults_begin(s, c->number, c->link->replica);
    f = sim_fault_of_write(s, c->number);
    if (f && f->type == SIM_CRASH_BEFORE)
        sim_replica_doom(s, c->link->replica, "before the write left");
}

static const char *content_type(const struct rco_http_request *q)
{
    static const char name[] = "Content-Type: ";

    for (const char *const *h = q->headers; h && *h; h++)
        if (rco_str_has_prefix(*h, name))
            return *h + sizeof name - 1;
    return "";
}

static struct rco_http_call *start(struct rco_transport *t, const struct rco_http_request *q,
                                   const struct rco_http_handler *handler)
{
    struct sim_link *l = (struct sim_link *)t;
    struct sim *s = l->sim;
    struct sim_call *c = RCO_NEW(&s->arena, struct sim_call);
    const struct sim_fault *f;

    c->link = l;
    c->method = rco_arena_strdup(&s->arena, q->method);
    c->path = rco_arena_strdup(&s->arena, q->path);
    c->body = q->body ? rco_arena_strndup(&s->arena, q->body, q->body_len) : "";
    c->body_len = q->body ? q->body_len : 0;
    c->content_type = rco_arena_strdup(&s->arena, content_type(q));
    c->handler = *handler;
    c->streaming = q->max_body == 0;
    c->election = q->lane == RCO_LANE_ELECTION;
    c->silence_ns = sim_break_is(SIM_BREAK_DEAF) ? 0 : q->silence_ns;
    c->tail = &c->queue;
    c->next = l->calls;
    l->calls = c;
    c->pump = rco_timer_new(l->loop, on_pump, c);
    c->deadline = rco_timer_new(l->loop, on_deadline, c);
    c->silence = rco_timer_new(l->loop, on_silence, c);
    if (q->deadline_ns > 0 || q->lane != RCO_LANE_WATCH)
        rco_timer_arm(c->deadline, q->deadline_ns > 0 ? q->deadline_ns : REQUEST_DEADLINE);
    if (c->silence_ns > 0)
        rco_timer_arm(c->silence, c->silence_ns);
    if (l->mute)
        return (struct rco_http_call *)c;
    if (counts(q))
        number_write(c);
    f = c->number ? sim_fault_of_write(s, c->number) : NULL;
    if (l->mute)
        return (struct rco_http_call *)c;
    if (f && f->type == SIM_LOSE_REQUEST)
        lose(c);
    else
        sim_after(s, sim_latency(s), on_arrival, c);
    return (struct rco_http_call *)c;
}

static void cancel(struct rco_transport *t, struct rco_http_call *call)
{
    (void)t;
    end_call(call_of(call));
}

/* --- links --- */

static const struct rco_transport_ops ops = {.start = start, .cancel = cancel};

struct sim_link *sim_link_new(struct sim *s, int replica, struct rco_loop *loop)
{
    struct sim_link *l = RCO_NEW(&s->arena, struct sim_link);

    l->transport.ops = &ops;
    l->sim = s;
    l->replica = replica;
    l->loop = loop;
    l->next = s->links;
    s->links = l;
    return l;
}

struct rco_transport *sim_link_transport(struct sim_link *l)
{
    return &l->transport;
}

void sim_link_mute(struct sim_link *l)
{
    l->mute = true;
}

void sim_link_free(struct sim_link *l)
{
    struct sim_link **at = &l->sim->links;

    l->mute = true;
    while (l->calls)
        end_call(l->calls);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
}

void sim_links_notify(struct sim *s, enum rco_kind kind)
{
    for (struct sim_link *l = s->links; l; l = l->next)
        for (struct sim_call *c = l->calls; c; c = c->next)
            if (c->watch.open && c->watch.kind == kind)
                sim_watch_flush(c);
}
