#include "runtime/recorder.h"

#include "base/map.h"
#include "base/str.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 253
#define SUFFIX_LEN 17 /* "." and 16 hex digits */

/* An Event that was written: what repeats are counted against. */
struct series {
    struct series *prev, *next; /* most recently used first */
    char *key, *ns, *name;
    unsigned count;
    bool created;
    rco_mono last, written;
};

/* Token bucket of one object. */
struct bucket {
    struct bucket *prev, *next;
    char *key;
    rco_mono full; /* when it will be full again */
};

struct pending {
    struct pending *next;
    struct rco_recorder *recorder;
    enum rco_kube_verb verb;
    char *ns, *name, *series_key, *body;
    size_t body_len;
    unsigned attempts;
    struct rco_kube_call *call;
    struct rco_timer *timer; /* next attempt */
    struct pending *flying_prev, *flying_next;
};

struct rco_recorder {
    struct rco_recorder_options options;
    char *controller, *instance;
    struct rco_map series;
    struct series recent; /* ring head */
    struct rco_map buckets;
    struct bucket recent_buckets; /* ring head */
    struct pending *first, **tail;
    size_t n_pending;
    struct pending flying; /* ring head: under way or waiting for the next attempt */
    size_t n_flying;
    struct rco_recorder_counters n;
};

static void pump(struct rco_recorder *r);

/* --- rings --- */

#define RING_INIT(H) ((H)->prev = (H)->next = (H))
#define RING_REMOVE(N) ((N)->prev->next = (N)->next, (N)->next->prev = (N)->prev)
#define RING_PUSH(H, N)                                                                            \
    ((N)->next = (H)->next, (N)->prev = (H), (H)->next->prev = (N), (H)->next = (N))

static void series_free(struct rco_recorder *r, struct series *s)
{
    RING_REMOVE(s);
    rco_map_remove(&r->series, s->key);
    free(s->key);
    free(s->ns);
    free(s->name);
    free(s);
}

static void bucket_free(struct rco_recorder *r, struct bucket *b)
{
    RING_REMOVE(b);
    rco_map_remove(&r->buckets, b->key);
    free(b->key);
    free(b);
}

static void pending_free(struct pending *p)
{
    rco_timer_free(p->timer);
    free(p->ns);
    free(p->name);
    free(p->series_key);
    free(p->body);
    free(p);
}

/* --- limits --- */

/* A89: 25 at once for each object, then one in 300 s. */
static bool take_token(struct rco_recorder *r, const char *object)
{
    rco_mono now = rco_loop_now(r->options.loop);
    struct bucket *b = rco_map_get(&r->buckets, object);
    rco_mono full;

    if (!b) {
        if (r->buckets.n >= RCO_EVENT_CACHE_MAX)
            bucket_free(r, r->recent_buckets.prev);
        b = rco_calloc(1, sizeof(*b));
        b->key = rco_strdup(object);
        rco_map_set(&r->buckets, object, b);
    } else {
        RING_REMOVE(b);
    }
    RING_PUSH(&r->recent_buckets, b);
    full = (b->full > now ? b->full : now) + RCO_EVENT_REFILL_NS;
    if (full - now > RCO_EVENT_BURST * RCO_EVENT_REFILL_NS)
        return false;
    b->full = full;
    return true;
}

/* --- bodies --- */

static void note_of(const char *note, char out[RCO_EVENT_NOTE_MAX + 1])
{
    size_t n = strnlen(rco_str_or_empty(note), RCO_EVENT_NOTE_MAX + 1);

    if (n > RCO_EVENT_NOTE_MAX)
        n = rco_utf8_cut(note, RCO_EVENT_NOTE_MAX);
    memcpy(out, rco_str_or_empty(note), n);
    out[n] = 0;
}

static void event_body(struct rco_recorder *r, const struct rco_occurrence *o, const char *ns,
                       const char *name, struct rco_buf *out)
{
    struct rco_json_writer w;
    char time[RCO_TIME_STR_MAX], api_version[128], note[RCO_EVENT_NOTE_MAX + 1];

    rco_wall_format_micro(rco_loop_wall(r->options.loop), time);
    rco_kind_api_version(o->kind, api_version);
    note_of(o->note, note);
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "events.k8s.io/v1");
    rco_json_kv_string(&w, "kind", "Event");
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "name", name);
    rco_json_kv_string(&w, "namespace", ns);
    rco_json_end_object(&w);
    rco_json_kv_string(&w, "eventTime", time);
    rco_json_kv_string(&w, "reportingController", r->controller);
    rco_json_kv_string(&w, "reportingInstance", r->instance);
    rco_json_kv_string(&w, "action", o->action ? o->action : o->reason);
    rco_json_kv_string(&w, "reason", o->reason);
    rco_json_kv_object(&w, "regarding");
    rco_json_kv_string(&w, "apiVersion", api_version);
    rco_json_kv_string(&w, "kind", rco_kind_info(o->kind)->kind);
    rco_json_kv_string_opt(&w, "namespace", o->ns);
    rco_json_kv_string(&w, "name", o->name);
    rco_json_kv_string_opt(&w, "uid", o->uid);
    rco_json_end_object(&w);
    rco_json_kv_string(&w, "note", note);
    rco_json_kv_string(&w, "type", o->type);
    rco_json_end_object(&w);
}

static void series_body(struct rco_recorder *r, const struct series *s, struct rco_buf *out)
{
    struct rco_json_writer w;
    char time[RCO_TIME_STR_MAX];

    rco_wall_format_micro(rco_loop_wall(r->options.loop), time);
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "series");
    rco_json_kv_int(&w, "count", s->count);
    rco_json_kv_string(&w, "lastObservedTime", time);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

/* --- sending --- */

static void enqueue(struct rco_recorder *r, enum rco_kube_verb verb, const struct series *s,
                    struct rco_buf *body)
{
    struct pending *p;

    if (r->n_pending >= RCO_EVENT_QUEUE_MAX) {
        r->n.dropped_queue++;
        return;
    }
    p = rco_calloc(1, sizeof(*p));
    p->recorder = r;
    p->verb = verb;
    p->ns = rco_strdup(s->ns);
    p->name = rco_strdup(s->name);
    p->series_key = rco_strdup(s->key);
    p->body_len = body->len;
    p->body = rco_buf_take(body);
    *r->tail = p;
    r->tail = &p->next;
    r->n_pending++;
    pump(r);
}

static void fly_remove(struct rco_recorder *r, struct pending *p)
{
    p->flying_prev->flying_next = p->flying_next;
    p->flying_next->flying_prev = p->flying_prev;
    r->n_flying--;
}

static void on_sent(void *ctx, const struct rco_kube_result *result, const struct rco_error *err);

static void send(struct pending *p)
{
    const struct rco_kube_request q = {
        .verb = p->verb,
        .kind = RCO_KIND_EVENT,
        .ns = p->ns,
        .name = p->name,
        .body = p->body,
        .body_len = p->body_len,
    };

    p->attempts++;
    p->call = rco_kube_start(p->recorder->options.client, &q, on_sent, p);
}

static void on_retry(void *ctx)
{
    send(ctx);
}

static void on_sent(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct pending *p = ctx;
    struct rco_recorder *r = p->recorder;
    struct series *s = rco_map_get(&r->series, p->series_key);

    (void)result;
    p->call = NULL;
    /* A lost answer of a create may have been written: the same name again is then AlreadyExists.
     */
    if (err && err->code != RCO_EEXISTS && rco_error_is_retryable(err) &&
        p->attempts < RCO_EVENT_ATTEMPTS_MAX) {
        int64_t first = p->attempts == 1 ? 0 : RCO_EVENT_RETRY_NS;

        rco_timer_arm(p->timer, rco_loop_jitter(r->options.loop, first, RCO_EVENT_RETRY_NS));
        return;
    }
    if (!err || err->code == RCO_EEXISTS) {
        if (p->verb == RCO_KUBE_CREATE)
            r->n.sent++;
        else
            r->n.series++;
        if (s && p->verb == RCO_KUBE_CREATE)
            s->created = true;
    } else {
        r->n.failed++;
        if (s)
            series_free(r, s); /* the Event has expired, or never was: the next one starts over */
    }
    fly_remove(r, p);
    pending_free(p);
    pump(r);
}

static void pump(struct rco_recorder *r)
{
    while (r->first && r->n_flying < RCO_EVENT_IN_FLIGHT_MAX) {
        struct pending *p = r->first;

        r->first = p->next;
        if (!r->first)
            r->tail = &r->first;
        r->n_pending--;
        p->flying_prev = &r->flying;
        p->flying_next = r->flying.flying_next;
        r->flying.flying_next->flying_prev = p;
        r->flying.flying_next = p;
        r->n_flying++;
        p->timer = rco_timer_new(r->options.loop, on_retry, p);
        send(p);
    }
}

/* --- events --- */

static void series_key(const struct rco_occurrence *o, char out[64])
{
    const char *parts[] = {o->uid, o->ns, o->name, o->type, o->reason, o->note};
    uint64_t a = (uint64_t)o->kind, b = ~a;

    for (size_t i = 0; i < RCO_ARRAY_LEN(parts); i++) {
        const char *s = rco_str_or_empty(parts[i]);

        a = rco_hash(s, strlen(s), a + i);
        b = rco_hash(s, strlen(s), b ^ a);
    }
    snprintf(out, 64, "%016" PRIx64 "%016" PRIx64, a, b);
}

static struct series *series_new(struct rco_recorder *r, const char *key,
                                 const struct rco_occurrence *o, rco_mono now)
{
    struct series *s = rco_calloc(1, sizeof(*s));
    unsigned char random[8];
    char hex[17];
    rco_autobuf name = RCO_BUF_INIT;

    if (r->series.n >= RCO_EVENT_CACHE_MAX)
        series_free(r, r->recent.prev);
    rco_loop_random(r->options.loop, random, sizeof(random));
    rco_hex_encode(random, sizeof(random), hex);
    rco_buf_add(&name, o->name, strnlen(o->name, NAME_MAX_LEN - SUFFIX_LEN));
    rco_buf_addc(&name, '.');
    rco_buf_adds(&name, hex);
    s->key = rco_strdup(key);
    s->name = rco_buf_take(&name);
    s->ns = rco_strdup(rco_str_empty(o->ns) ? "default" : o->ns);
    s->count = 1;
    s->last = s->written = now;
    rco_map_set(&r->series, key, s);
    RING_PUSH(&r->recent, s);
    return s;
}

static void repeat(struct rco_recorder *r, struct series *s, rco_mono now)
{
    rco_autobuf body = RCO_BUF_INIT;

    s->count++;
    s->last = now;
    RING_REMOVE(s);
    RING_PUSH(&r->recent, s);
    if (!s->created || now - s->written < RCO_EVENT_REFRESH_NS)
        return;
    s->written = now;
    series_body(r, s, &body);
    enqueue(r, RCO_KUBE_PATCH, s, &body);
}

void rco_recorder_event(struct rco_recorder *r, const struct rco_occurrence *o)
{
    rco_mono now = rco_loop_now(r->options.loop);
    rco_autobuf body = RCO_BUF_INIT;
    char key[64];
    struct series *s;

    series_key(o, key);
    s = rco_map_get(&r->series, key);
    if (s && now - s->last < RCO_EVENT_SERIES_NS) {
        repeat(r, s, now);
        return;
    }
    if (s)
        series_free(r, s);
    if (!take_token(r, rco_str_empty(o->uid) ? o->name : o->uid)) {
        r->n.dropped_rate++;
        return;
    }
    s = series_new(r, key, o, now);
    event_body(r, o, s->ns, s->name, &body);
    enqueue(r, RCO_KUBE_CREATE, s, &body);
}

/* --- life --- */

struct rco_recorder *rco_recorder_new(const struct rco_recorder_options *options)
{
    struct rco_recorder *r = rco_calloc(1, sizeof(*r));

    r->options = *options;
    r->controller = rco_strdup(options->controller);
    r->instance =
        rco_strdup(rco_str_empty(options->instance) ? options->controller : options->instance);
    RING_INIT(&r->recent);
    RING_INIT(&r->recent_buckets);
    r->flying.flying_prev = r->flying.flying_next = &r->flying;
    r->tail = &r->first;
    return r;
}

void rco_recorder_free(struct rco_recorder *r)
{
    if (!r)
        return;
    while (r->flying.flying_next != &r->flying) {
        struct pending *p = r->flying.flying_next;

        fly_remove(r, p);
        rco_kube_cancel(p->call);
        pending_free(p);
    }
    for (struct pending *p = r->first, *next; p; p = next) {
        next = p->next;
        pending_free(p);
    }
    while (r->recent.next != &r->recent)
        series_free(r, r->recent.next);
    while (r->recent_buckets.next != &r->recent_buckets)
        bucket_free(r, r->recent_buckets.next);
    rco_map_release(&r->series);
    rco_map_release(&r->buckets);
    free(r->controller);
    free(r->instance);
    free(r);
}

const struct rco_recorder_counters *rco_recorder_counters(const struct rco_recorder *r)
{
    return &r->n;
}
