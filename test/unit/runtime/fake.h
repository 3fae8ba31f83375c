/* A transport for tests: records requests, answers when the test says so. Everything static: one
 * test program each. */
#ifndef RCO_TEST_RUNTIME_FAKE_H
#define RCO_TEST_RUNTIME_FAKE_H

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "http/transport.h"
#include "kube/client.h"
#include "loop/loop_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S RCO_NS_PER_S
#define MS RCO_NS_PER_MS

struct rco_http_call {
    struct rco_http_call *next;
    struct fake *fake;
    char *method, *path, *body, *content_type;
    enum rco_http_lane lane;
    int64_t deadline_ns, silence_ns;
    bool streaming;
    struct rco_http_handler handler;
    int status; /* of the head that was sent */
};

struct fake {
    struct rco_transport transport; /* first */
    struct rco_loop *loop;
    struct rco_http_call *open; /* oldest first */
    unsigned started, cancelled;
    unsigned answered_401;
};

static void fake_call_free(struct rco_http_call *call)
{
    free(call->method);
    free(call->path);
    free(call->body);
    free(call->content_type);
    free(call);
}

static void fake_unlink(struct rco_http_call *call)
{
    struct rco_http_call **at = &call->fake->open;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

static struct rco_http_call *fake_start(struct rco_transport *t, const struct rco_http_request *q,
                                        const struct rco_http_handler *handler)
{
    struct fake *f = (struct fake *)t;
    struct rco_http_call *call = rco_calloc(1, sizeof(*call));
    struct rco_http_call **at = &f->open;

    call->fake = f;
    call->method = rco_strdup(q->method);
    call->path = rco_strdup(q->path);
    call->body = rco_strndup(q->body ? q->body : "", q->body ? q->body_len : 0);
    call->content_type = rco_strdup("");
    for (const char *const *h = q->headers; h && *h; h++) {
        if (rco_str_has_prefix(*h, "Content-Type: ")) {
            free(call->content_type);
            call->content_type = rco_strdup(*h + strlen("Content-Type: "));
        }
    }
    call->lane = q->lane;
    call->deadline_ns = q->deadline_ns;
    call->silence_ns = q->silence_ns;
    call->streaming = q->max_body == 0;
    call->handler = *handler;
    while (*at)
        at = &(*at)->next;
    *at = call;
    f->started++;
    return call;
}

static void fake_cancel(struct rco_transport *t, struct rco_http_call *call)
{
    ((struct fake *)t)->cancelled++;
    fake_unlink(call);
    fake_call_free(call);
}

static const struct rco_transport_ops fake_ops = {.start = fake_start, .cancel = fake_cancel};

RCO_UNUSED static void fake_init(struct fake *f, struct rco_loop *loop)
{
    memset(f, 0, sizeof(*f));
    f->transport.ops = &fake_ops;
    f->loop = loop;
}

/* Drops what is open, as the end of a test does. */
RCO_UNUSED static void fake_release(struct fake *f)
{
    while (f->open)
        fake_cancel(&f->transport, f->open);
}

/* The oldest open request with METHOD whose path contains PART; NULL when there is none. */
RCO_UNUSED static struct rco_http_call *fake_find(struct fake *f, const char *method,
                                                  const char *part)
{
    for (struct rco_http_call *c = f->open; c; c = c->next)
        if (strcmp(c->method, method) == 0 && strstr(c->path, part))
            return c;
    return NULL;
}

/* The same, and it must be there. */
RCO_UNUSED static struct rco_http_call *fake_expect(struct fake *f, const char *method,
                                                    const char *part)
{
    struct rco_http_call *c = fake_find(f, method, part);

    if (!c) {
        for (c = f->open; c; c = c->next)
            print_message("open: %s %s\n", c->method, c->path);
        fail_msg("no open request %s %s", method, part);
    }
    return c;
}

RCO_UNUSED static size_t fake_count(const struct fake *f, const char *method, const char *part)
{
    size_t n = 0;

    for (const struct rco_http_call *c = f->open; c; c = c->next)
        n += strcmp(c->method, method) == 0 && strstr(c->path, part) != NULL;
    return n;
}

/* --- answers --- */

RCO_UNUSED static void fake_head(struct rco_http_call *call, int status)
{
    const struct rco_http_response r = {.status = status};

    call->status = status;
    if (call->handler.head)
        call->handler.head(call->handler.ctx, &r);
}

static void fake_done(struct rco_http_call *call, const struct rco_http_response *r,
                      const char *body, const struct rco_error *err)
{
    struct rco_http_handler h = call->handler;

    fake_unlink(call);
    fake_call_free(call);
    h.done(h.ctx, r, body, body ? strlen(body) : 0, err);
}

/* Bytes of a streaming body. A client that gives up is told so, as the contract says; returns
 * false. */
RCO_UNUSED static bool fake_data(struct rco_http_call *call, const char *bytes)
{
    struct rco_error err = RCO_ERROR_INIT;

    if (call->handler.data(call->handler.ctx, bytes, strlen(bytes)) == 0)
        return true;
    rco_error_set(&err, RCO_ECANCELLED, "given up by the receiver");
    fake_done(call, NULL, NULL, &err);
    return false;
}

/* Ends a streaming body in full. */
RCO_UNUSED static void fake_end(struct rco_http_call *call)
{
    const struct rco_http_response r = {.status = call->status};

    fake_done(call, &r, NULL, NULL);
}

RCO_UNUSED static void fake_fail(struct rco_http_call *call, enum rco_code code)
{
    struct rco_error err = RCO_ERROR_INIT;

    rco_error_set(&err, code, "connection broke");
    fake_done(call, NULL, NULL, &err);
}

/* A whole answer, streaming or not. */
RCO_UNUSED static void fake_answer_with(struct rco_http_call *call,
                                        const struct rco_http_response *r, const char *body)
{
    if (!call->streaming) {
        fake_done(call, r, body, NULL);
        return;
    }
    call->status = r->status;
    if (call->handler.head)
        call->handler.head(call->handler.ctx, r);
    if (call->handler.data(call->handler.ctx, body, strlen(body)) == 0)
        fake_done(call, r, NULL, NULL);
    else
        fake_fail(call, RCO_ECANCELLED);
}

RCO_UNUSED static void fake_answer(struct rco_http_call *call, int status, const char *body)
{
    const struct rco_http_response r = {.status = status};

    fake_answer_with(call, &r, body);
}

/* A metav1.Status. */
RCO_UNUSED static void fake_status(struct rco_http_call *call, int status, const char *reason)
{
    rco_autofree char *body =
        rco_asprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                     "\"message\":\"the %s message\",\"reason\":\"%s\",\"code\":%d}",
                     reason, reason, status);

    fake_answer(call, status, body);
}

/* --- objects --- */

/* A ConfigMap as JSON; malloc'd. */
RCO_UNUSED static char *cm_json(const char *ns, const char *name, const char *rv, const char *value)
{
    return rco_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
        "\"namespace\":\"%s\",\"uid\":\"00000000-0000-4000-8000-%012x\","
        "\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"%s\"}}",
        name, ns, (unsigned)(rco_hash(name, strlen(name), 7) & 0xffffff), rv, value);
}

RCO_UNUSED static char *event_json(const char *type, const char *object)
{
    return rco_asprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
}

RCO_UNUSED static bool send_event(struct rco_http_call *call, const char *type, const char *name,
                                  const char *rv, const char *value)
{
    rco_autofree char *object = cm_json("a", name, rv, value);
    rco_autofree char *line = event_json(type, object);

    return fake_data(call, line);
}

RCO_UNUSED static bool send_bookmark(struct rco_http_call *call, const char *rv,
                                     const char *annotations)
{
    rco_autofree char *line = rco_asprintf(
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","
        "\"metadata\":{\"resourceVersion\":\"%s\"%s%s}}}\n",
        rv, annotations ? ",\"annotations\":" : "", annotations ? annotations : "");

    return fake_data(call, line);
}

#define INITIAL_END "{\"k8s.io/initial-events-end\":\"true\"}"

#endif
