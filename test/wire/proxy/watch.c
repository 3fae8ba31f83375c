#include "watch.h"

#include "deliver.h"
#include "object.h"
#include "status.h"
#include "trace.h"

#include "base/str.h"

#include <string.h>

#define FRAME_MAX (16 * 1024 * 1024)
#define TURN_MS 50 /* how often a watch looks whether the operator is still there */

struct watch {
    struct fp_proxy *proxy;
    struct fp_stream *to;
    struct fp_reader *from;
    const struct fp_target *target;
    unsigned number;
};

bool fp_watch_wait(struct fp_proxy *p, struct fp_stream *operator_side, const char *res)
{
    for (;;) {
        bool frozen;

        pthread_mutex_lock(&p->lock);
        frozen = fp_gate_is_frozen(&p->gates, res);
        pthread_mutex_unlock(&p->lock);
        if (!frozen)
            return true;
        if (fp_stream_readable(operator_side, TURN_MS))
            return false;
    }
}

static int send_chunk(struct watch *w, const struct fp_rule *rule, const char *bytes, size_t n)
{
    rco_autobuf chunk = RCO_BUF_INIT;

    rco_buf_addf(&chunk, "%zx\r\n", n);
    rco_buf_add(&chunk, bytes, n);
    rco_buf_adds(&chunk, "\r\n");
    return fp_deliver(w->to, rule, chunk.data, chunk.len);
}

static int send_end(struct watch *w)
{
    return fp_deliver(w->to, NULL, "0\r\n\r\n", 5);
}

/* An ERROR frame inside the stream, as the API server tells of history that is gone. */
static int send_error(struct watch *w, int status, const char *reason)
{
    rco_autobuf frame = RCO_BUF_INIT;
    struct rco_json_writer json;

    rco_json_writer_init(&json, &frame);
    rco_json_begin_object(&json);
    rco_json_kv_string(&json, "type", "ERROR");
    rco_json_key(&json, "object");
    fp_status_write(&json, status, reason, "");
    rco_json_end_object(&json);
    rco_buf_addc(&frame, '\n');
    if (send_chunk(w, NULL, frame.data, frame.len) == 0)
        send_end(w);
    return -1;
}

/* Whether the frame of this key is kept back now. */
static bool is_held(struct watch *w, const struct fp_object *o)
{
    struct fp_hold *hold = &w->proxy->gates.hold;

    if (!rco_streq(hold->res, w->target->res) || !rco_streq(hold->name, o->name))
        return false;
    hold->hidden++;
    return true;
}

/* A hold that is over ends this watch as one whose history is gone, so that the operator lists. */
static bool hold_ends(struct watch *w)
{
    struct fp_hold *hold = &w->proxy->gates.hold;
    bool ends;

    pthread_mutex_lock(&w->proxy->lock);
    ends = rco_streq(hold->res, w->target->res) && fp_now_ms() >= hold->until_ms;
    if (ends)
        *hold->res = '\0';
    pthread_mutex_unlock(&w->proxy->lock);
    return ends;
}

/* Decides about a frame: a copy of the rule that strikes it in RULE; false: it is kept back. */
static bool judge(struct watch *w, const char *type, const struct fp_object *o,
                  const struct rco_buf *frame, size_t at, size_t length, struct fp_rule *rule)
{
    struct fp_proxy *p = w->proxy;
    const struct fp_rule *found;
    char key[520];
    bool show;

    snprintf(key, sizeof key, "%s/%s", o->ns, o->name);
    pthread_mutex_lock(&p->lock);
    found = fp_rules_frame(&p->rules, w->target, type, o->name);
    *rule = found ? *found : (struct fp_rule){0};
    show = !is_held(w, o) && rule->action != FP_DROP;
    fp_trace(p, &(struct fp_entry){.what = show ? "frame" : "hidden",
                                   .target = w->target,
                                   .name = o->name,
                                   .type = type,
                                   .rv_before = fp_history_rv(&p->history, w->target->res, key),
                                   .rv_after = o->rv,
                                   .fault = found ? fp_action_name(rule->action) : NULL});
    if (show)
        fp_history_frame(&p->history, w->target->res, type, key, o->rv, frame->data + at, length);
    pthread_mutex_unlock(&p->lock);
    return show;
}

static int send_frame(struct watch *w, const struct rco_buf *text)
{
    rco_autobuf frame = RCO_BUF_INIT;
    struct fp_rule rule;
    struct fp_object o;
    char type[16];
    size_t at = 0, length = 0;
    int rc;

    if (!fp_frame_read(text->data, text->len, type, &o, &at, &length))
        return send_chunk(w, NULL, text->data, text->len);
    if (!judge(w, type, &o, text, at, length, &rule))
        return 0;
    if (rule.action == FP_ERROR)
        return send_error(w, rule.status, rule.reason);
    rco_buf_add(&frame, text->data, text->len - 1);
    fp_spoil(rule.action, &frame);
    rco_buf_addc(&frame, '\n');
    rc = send_chunk(w, rule.action ? &rule : NULL, frame.data, frame.len);
    if (rc == 0 && rule.action == FP_DUPLICATE)
        rc = send_chunk(w, NULL, frame.data, frame.len);
    return rc;
}

/* Sends the frames that are complete; what delays them comes before each. */
static int send_frames(struct watch *w, struct rco_buf *bytes)
{
    const char *end;

    while ((end = bytes->len ? memchr(bytes->data, '\n', bytes->len) : NULL)) {
        size_t n = (size_t)(end - bytes->data) + 1;
        rco_autobuf frame = RCO_BUF_INIT;
        int skew;

        rco_buf_add(&frame, bytes->data, n);
        rco_buf_consume(bytes, n);
        pthread_mutex_lock(&w->proxy->lock);
        skew = fp_gate_skew(&w->proxy->gates, w->target->res);
        pthread_mutex_unlock(&w->proxy->lock);
        if (skew)
            fp_sleep_ms(skew);
        if (!fp_watch_wait(w->proxy, w->to, w->target->res) || send_frame(w, &frame) < 0)
            return -1;
    }
    return bytes->len > FRAME_MAX ? -1 : 0;
}

static bool is_cut(struct watch *w)
{
    bool cut;

    pthread_mutex_lock(&w->proxy->lock);
    cut = fp_gate_is_cut(&w->proxy->gates, w->target->res, w->number);
    pthread_mutex_unlock(&w->proxy->lock);
    return cut;
}

static void pump(struct watch *w)
{
    rco_autobuf bytes = RCO_BUF_INIT;

    for (;;) {
        int rc = fp_chunk(w->from, &bytes, TURN_MS);

        if (rc == FP_EOF && send_frames(w, &bytes) == 0)
            send_end(w);
        if (rc == FP_EOF || rc == FP_FAILED)
            return;
        if (rc > 0 && send_frames(w, &bytes) < 0)
            return;
        if (hold_ends(w)) {
            send_error(w, 410, "Expired");
            return;
        }
        if (is_cut(w)) {
            fp_stream_reset(w->to);
            return;
        }
        if (rc == FP_TIMEOUT && fp_stream_readable(w->to, 0))
            return; /* it never speaks during a watch: it has closed */
    }
}

void fp_watch_serve(struct fp_proxy *p, struct fp_stream *operator_side, struct fp_reader *upstream,
                    const struct fp_head *head, const struct fp_target *t)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct watch w = {.proxy = p, .to = operator_side, .from = upstream, .target = t};

    pthread_mutex_lock(&p->lock);
    w.number = p->watches++;
    pthread_mutex_unlock(&p->lock);
    rco_buf_adds(&text, "HTTP/1.1 200 OK\r\n");
    fp_head_copy_fields(head, &text);
    rco_buf_adds(&text, "Transfer-Encoding: chunked\r\n\r\n");
    if (fp_deliver(operator_side, NULL, text.data, text.len) == 0)
        pump(&w);
    fp_stream_close(operator_side);
    fp_stream_close(upstream->stream);
}
