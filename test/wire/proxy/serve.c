/* One connection of the operator: exchange after exchange. */
#include "deliver.h"
#include "message.h"
#include "object.h"
#include "proxy.h"
#include "status.h"
#include "trace.h"
#include "watch.h"

#include "base/str.h"

#include <string.h>

#define REPLY_PAUSE_MS 5 /* what the operator has to read an answer before it is killed */
#define UPSTREAM_MS 70000
#define AWAY_MS 50

struct conn {
    struct fp_proxy *proxy;
    struct fp_stream to; /* the operator */
    struct fp_reader in;
    struct fp_stream up; /* the API server; closed = not yet or no more */
    struct fp_reader back;
};

/* One request and its answer. */
struct exchange {
    struct fp_head request, answer;
    struct fp_target target;
    struct rco_buf path, request_body, answer_body;
    struct fp_object sent, got; /* what the bodies are about */
    struct fp_rule rule;        /* a copy; action FP_NOTHING = none */
    bool counts;
    unsigned long k; /* 0 = not effective */
};

static void exchange_release(struct exchange *x)
{
    fp_head_release(&x->request);
    fp_head_release(&x->answer);
    rco_buf_release(&x->path);
    rco_buf_release(&x->request_body);
    rco_buf_release(&x->answer_body);
}

/* --- the API server's side --- */

static int connect_upstream(struct conn *c)
{
    if (c->up.fd >= 0 && !fp_stream_readable(&c->up, 0))
        return 0;
    fp_stream_close(&c->up);
    rco_buf_clear(&c->back.ahead);
    return fp_stream_connect(&c->up, c->proxy->options.upstream, c->proxy->client);
}

static int send_request(struct conn *c, const struct exchange *x, const char *method,
                        const char *path, const struct rco_buf *body)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (connect_upstream(c) < 0)
        return -1;
    rco_buf_addf(&text, "%s %s HTTP/1.1\r\n", method, path);
    fp_head_copy_fields(&x->request, &text);
    if (body && (body->len || rco_streq(method, "POST")))
        rco_buf_addf(&text, "Content-Length: %zu\r\n", body->len);
    rco_buf_adds(&text, "\r\n");
    if (body)
        rco_buf_add(&text, rco_buf_str(body), body->len);
    return fp_stream_write(&c->up, text.data, text.len);
}

/* Reads the answer's head, and its body unless it is a watch. */
static int read_answer(struct conn *c, const struct exchange *x, struct fp_head *head,
                       struct rco_buf *body)
{
    do {
        fp_head_release(head);
        *head = (struct fp_head){0};
        if (fp_answer_head(&c->back, head, UPSTREAM_MS) != 1)
            return -1;
    } while (head->status == 100);
    if (x->target.verb == FP_WATCH && head->status == 200)
        return 0;
    return fp_body(&c->back, head, body);
}

static int ask(struct conn *c, struct exchange *x)
{
    if (send_request(c, x, x->request.method, rco_buf_str(&x->path), &x->request_body) == 0 &&
        read_answer(c, x, &x->answer, &x->answer_body) == 0)
        return 0;
    fp_stream_reset(&c->up);
    return -1;
}

/* --- self-checks: a proxy that lies --- */

/* Answers a write with the object as it stands, as if it had been written. */
static int forge(struct conn *c, struct exchange *x)
{
    const char *p = rco_buf_str(&x->path);
    size_t n = strcspn(p, "?") - (*x->target.sub ? strlen(x->target.sub) + 1 : 0);
    rco_autofree char *path = rco_strndup(p, n);

    if (send_request(c, x, "GET", path, NULL) < 0)
        return -1;
    return read_answer(c, x, &x->answer, &x->answer_body);
}

/* Makes a second object with the same body under another name. */
static void create_twice(struct conn *c, const struct exchange *x)
{
    rco_autobuf body = RCO_BUF_INIT, nothing = RCO_BUF_INIT;
    fp_autohead head = {0};
    rco_autofree char *name = rco_asprintf("\"name\":\"%s\"", x->sent.name);
    const char *from = rco_buf_str(&x->request_body), *at = strstr(from, name);

    if (!at)
        return;
    at += strlen(name) - 1;
    rco_buf_add(&body, from, (size_t)(at - from));
    rco_buf_adds(&body, "-twin");
    rco_buf_adds(&body, at);
    if (send_request(c, x, "POST", rco_buf_str(&x->path), &body) == 0)
        (void)!read_answer(c, x, &head, &nothing);
}

/* --- what was seen --- */

/* The number of this write, if it took effect: the object has another version than the one it was
 * decided on. */
static void count(struct fp_proxy *p, struct exchange *x)
{
    bool effective = x->counts && x->answer.status / 100 == 2 && x->rule.action != FP_FORGE;

    if (x->target.verb == FP_PATCH && *x->sent.rv && rco_streq(x->sent.rv, x->got.rv))
        effective = false;
    x->k = effective ? ++p->writes : 0;
}

static void record(struct fp_proxy *p, struct exchange *x)
{
    const char *name = *x->target.name ? x->target.name : x->sent.name;
    bool is_list = x->target.verb == FP_LIST && x->answer.status == 200 &&
                   !fp_target_has(&x->target, "continue", NULL);

    pthread_mutex_lock(&p->lock);
    p->answers++;
    count(p, x);
    if (is_list)
        fp_history_list(&p->history, x->target.res, rco_buf_str(&x->answer_body),
                        x->answer_body.len);
    fp_trace(p, &(struct fp_entry){.what = "answer",
                                   .target = &x->target,
                                   .name = name,
                                   .status = x->answer.status,
                                   .rv_before = x->sent.rv,
                                   .rv_after = x->got.rv,
                                   .uid = x->got.uid,
                                   .fault = x->rule.action ? fp_action_name(x->rule.action) : NULL,
                                   .k = x->k});
    pthread_mutex_unlock(&p->lock);
}

static void record_fault(struct fp_proxy *p, const struct exchange *x)
{
    pthread_mutex_lock(&p->lock);
    fp_trace(p, &(struct fp_entry){.what = "fault",
                                   .target = &x->target,
                                   .name = *x->target.name ? x->target.name : x->sent.name,
                                   .status = x->rule.action == FP_STATUS ? x->rule.status : 0,
                                   .fault = fp_action_name(x->rule.action)});
    pthread_mutex_unlock(&p->lock);
}

static void kill_operator(struct fp_proxy *p)
{
    pthread_mutex_lock(&p->lock);
    fp_kill_operator(p);
    pthread_mutex_unlock(&p->lock);
}

/* --- the operator's side --- */

static int over(struct conn *c)
{
    fp_stream_reset(&c->to);
    return -1;
}

static int reply(struct conn *c, struct exchange *x)
{
    rco_autobuf text = RCO_BUF_INIT;
    const char *line = rco_buf_str(&x->answer.text);

    fp_spoil(x->rule.action, &x->answer_body);
    rco_buf_add(&text, line, strcspn(line, "\r"));
    rco_buf_adds(&text, "\r\n");
    fp_head_copy_fields(&x->answer, &text);
    rco_buf_addf(&text, "Content-Length: %zu\r\n\r\n", x->answer_body.len);
    rco_buf_add(&text, rco_buf_str(&x->answer_body), x->answer_body.len);
    return fp_deliver(&c->to, &x->rule, text.data, text.len);
}

/* A list as it was shown last, while the resource is stale. */
static bool stale_list(struct conn *c, const struct exchange *x, int *ret_rc)
{
    struct fp_proxy *p = c->proxy;
    rco_autobuf body = RCO_BUF_INIT, text = RCO_BUF_INIT;
    bool stale;

    pthread_mutex_lock(&p->lock);
    stale = x->target.verb == FP_LIST && fp_gate_is_stale(&p->gates, x->target.res) &&
            fp_history_answer(&p->history, x->target.res, &body);
    if (stale)
        fp_trace(p, &(struct fp_entry){.what = "fault", .target = &x->target, .fault = "stale"});
    pthread_mutex_unlock(&p->lock);
    if (!stale)
        return false;
    rco_buf_addf(&text,
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                 body.len);
    rco_buf_add(&text, body.data, body.len);
    *ret_rc = fp_deliver(&c->to, NULL, text.data, text.len);
    return true;
}

/* Faults that come instead of asking the API server. True when one did; then *RET_RC says whether
 * the connection goes on. */
static bool strike_before(struct conn *c, struct exchange *x, int *ret_rc)
{
    rco_autobuf text = RCO_BUF_INIT;

    switch (x->rule.action) {
    case FP_CRASH_BEFORE:
    case FP_LOSE_REQUEST:
        record_fault(c->proxy, x);
        if (x->rule.action == FP_CRASH_BEFORE)
            kill_operator(c->proxy);
        *ret_rc = over(c);
        return true;
    case FP_STATUS:
        record_fault(c->proxy, x);
        fp_status_answer(&x->rule, &text);
        *ret_rc = fp_deliver(&c->to, NULL, text.data, text.len);
        return true;
    case FP_DELAY:
        fp_sleep_ms(x->rule.ms);
        return false;
    default:
        return false;
    }
}

static int strike_after(struct conn *c, struct exchange *x)
{
    int rc;

    if (x->rule.action == FP_CRASH_COMMIT)
        kill_operator(c->proxy);
    if (x->rule.action == FP_CRASH_COMMIT || x->rule.action == FP_LOSE_ANSWER)
        return over(c);
    rc = reply(c, x);
    if (x->rule.action == FP_CRASH_REPLY) {
        fp_sleep_ms(REPLY_PAUSE_MS);
        kill_operator(c->proxy);
    }
    return rc;
}

static int answer(struct conn *c, struct exchange *x)
{
    int rc;

    if (stale_list(c, x, &rc) || strike_before(c, x, &rc))
        return rc;
    if (x->target.verb == FP_WATCH && !fp_watch_wait(c->proxy, &c->to, x->target.res))
        return over(c);
    if (x->rule.action == FP_FORGE ? forge(c, x) < 0 : ask(c, x) < 0)
        return over(c);
    fp_object_read(rco_buf_str(&x->answer_body), x->answer_body.len, &x->got);
    record(c->proxy, x);
    if (x->target.verb == FP_WATCH && x->answer.status == 200) {
        fp_watch_serve(c->proxy, &c->to, &c->back, &x->answer, &x->target);
        return -1;
    }
    if (x->rule.action == FP_TWICE)
        create_twice(c, x);
    return strike_after(c, x);
}

/* Which rule strikes, if any. */
static void judge(struct fp_proxy *p, struct exchange *x)
{
    struct fp_target named = x->target;
    const struct fp_rule *rule;

    if (!*named.name)
        snprintf(named.name, sizeof named.name, "%s", x->sent.name);
    pthread_mutex_lock(&p->lock);
    x->counts = fp_target_counts(&named, p->options.election);
    rule = fp_rules_request(&p->rules, &named, x->counts ? p->writes + 1 : 0);
    if (rule)
        x->rule = *rule;
    pthread_mutex_unlock(&p->lock);
}

/* Stands while the server is to be silent; false when the operator has gone. */
static bool is_heard(struct conn *c)
{
    for (;;) {
        bool silent;

        pthread_mutex_lock(&c->proxy->lock);
        silent = c->proxy->gates.black_hole;
        pthread_mutex_unlock(&c->proxy->lock);
        if (!silent)
            return true;
        if (fp_stream_readable(&c->to, AWAY_MS))
            return false;
    }
}

static int exchange(struct conn *c)
{
    struct fp_proxy *p = c->proxy;
    struct exchange x = {0};
    int rc = fp_request_head(&c->in, &x.request, -1);

    if (rc == 1 && fp_body(&c->in, &x.request, &x.request_body) == 0 && is_heard(c)) {
        fp_target_parse(x.request.method, x.request.path, &x.target);
        fp_target_scope(&x.target, x.request.path, p->options.ns, &x.path);
        fp_object_read(rco_buf_str(&x.request_body), x.request_body.len, &x.sent);
        bool write = fp_target_counts(&x.target, p->options.election);

        if (write)
            pthread_mutex_lock(&p->one_write);
        judge(p, &x);
        rc = answer(c, &x);
        if (write)
            pthread_mutex_unlock(&p->one_write);
    } else {
        rc = -1;
    }
    exchange_release(&x);
    return rc;
}

void fp_serve(struct fp_proxy *p, int fd)
{
    struct conn c = {.proxy = p, .to = FP_STREAM_INIT, .up = FP_STREAM_INIT};

    c.in.stream = &c.to;
    c.back.stream = &c.up;
    if (fp_stream_accept(&c.to, fd, p->server) == 0)
        while (exchange(&c) == 0)
            continue;
    fp_stream_reset(&c.to);
    fp_stream_close(&c.up);
    rco_buf_release(&c.in.ahead);
    rco_buf_release(&c.back.ahead);
}
