#include "runtime/reflector.h"

#include "base/map.h"
#include "base/str.h"
#include "kube/object_schema.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD_KEYS_MAX 1000 /* undecodable objects that are remembered */
#define INITIAL_EVENTS_END "k8s.io/initial-events-end"

struct rco_reflector {
    struct rco_reflector_options options;
    struct rco_scope scope;
    char *ns, *labels, *fields;
    enum rco_reflector_state state;
    struct rco_timer *timer;
    struct rco_stream_call *call;
    struct rco_list_waiter waiter;
    bool synced;
    bool no_streaming;  /* streaming lists do not end here: remembered for good (A25) */
    bool classic_round; /* classic list for this round only (A24) */
    bool rv_unusable;   /* the next list asks for the most recent state (A3) */
    bool unpaged;       /* a continue token expired: one list without pages (A20) */
    bool taken;         /* the list under way has brought objects */
    char *token;        /* of the next page */
    char *list_rv;      /* of the page that came last */
    char *nameless_rv;  /* where the watch was opened again for an object nobody could name */
    bool nameless_item; /* the same for a list */
    rco_mono watch_started;
    uint64_t watch_events;
    unsigned failures;
    rco_mono last_failure;
    rco_mono last_progress;
    struct rco_map bad; /* keys of undecodable objects */
    struct rco_arena scratch;
    struct rco_reflector_counters n;
};

static void step(struct rco_reflector *r, enum rco_reflector_input in, const struct rco_error *err);
static void take_turn(struct rco_reflector *r);

/* --- small things --- */

static rco_mono now(const struct rco_reflector *r)
{
    return rco_loop_now(r->options.loop);
}

static void progress(struct rco_reflector *r)
{
    r->last_progress = now(r);
    if (r->options.handler.progress)
        r->options.handler.progress(r->options.handler.ctx);
}

static void report(struct rco_reflector *r, const struct rco_error *err)
{
    r->n.errors++;
    if (r->options.handler.failed)
        r->options.handler.failed(r->options.handler.ctx, r->state, err);
}

static void on_turn(void *ctx)
{
    take_turn(ctx);
}

static void gate_enter(struct rco_reflector *r)
{
    if (r->options.gate)
        rco_list_gate_enter(r->options.gate, &r->waiter, on_turn, r);
    else
        rco_timer_arm(r->timer, 0);
}

static void gate_leave(struct rco_reflector *r)
{
    if (r->options.gate)
        rco_list_gate_leave(r->options.gate, &r->waiter);
}

/* --- objects --- */

static void bad_key_text(char *out, size_t size, const struct rco_key *k)
{
    snprintf(out, size, "%s/%s", k->ns, k->name);
}

static void set_bad(struct rco_reflector *r, const struct rco_key *k, const struct rco_error *err)
{
    char text[512];

    r->n.undecodable++;
    bad_key_text(text, sizeof(text), k);
    if (*k->name && r->bad.n < BAD_KEYS_MAX)
        rco_map_set(&r->bad, text, r);
    if (r->options.handler.undecodable)
        r->options.handler.undecodable(r->options.handler.ctx, k, err);
}

static void set_good(struct rco_reflector *r, const struct rco_key *k)
{
    char text[512];

    if (r->bad.n == 0)
        return;
    bad_key_text(text, sizeof(text), k);
    if (rco_map_remove(&r->bad, text) && r->options.handler.decodable)
        r->options.handler.decodable(r->options.handler.ctx, k);
}

/* Object that the kind's table refuses: one tenant's object must not stop the others (A29). Its old
 * record stays, its resourceVersion still counts. Returns "" when not even the metadata can be
 * read. */
static const char *quarantine(struct rco_reflector *r, const char *json, size_t n,
                              const struct rco_error *err)
{
    struct rco_bare_object *o = RCO_NEW(&r->scratch, struct rco_bare_object);
    struct rco_error ignored = RCO_ERROR_INIT;
    struct rco_key k;

    if (rco_codec_decode(&rco_bare_object_schema, json, n, &r->scratch, o, &ignored) < 0)
        memset(o, 0, sizeof(*o));
    k = rco_key_of(o->metadata.ns, o->metadata.name);
    if (*k.name)
        rco_store_mark_keep(r->options.store, &k);
    set_bad(r, &k, err);
    return rco_str_or_empty(o->metadata.resource_version);
}

/* Decodes and stores one object; returns its resourceVersion ("" = unknown), valid until the
 * scratch arena is used again. */
static const char *take_object(struct rco_reflector *r, const char *json, size_t n)
{
    const struct rco_schema *schema = rco_kind_info(r->scope.kind)->schema;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_meta *m;
    struct rco_key k;
    const char *rv;
    void *obj;

    rco_arena_clear(&r->scratch);
    obj = rco_arena_alloc(&r->scratch, schema->size);
    if (rco_codec_decode(schema, json, n, &r->scratch, obj, &err) < 0)
        return quarantine(r, json, n, &err);
    m = obj;
    if (rco_str_empty(m->name)) {
        rco_error_set(&err, RCO_EINVALID, ".metadata.name: missing");
        return quarantine(r, json, n, &err);
    }
    k = rco_key_of(m->ns, m->name);
    rv = rco_str_or_empty(m->resource_version);
    rco_store_upsert(r->options.store, obj, &r->scratch);
    set_good(r, &k);
    return rv;
}

static const char *drop_object(struct rco_reflector *r, const char *json, size_t n)
{
    struct rco_bare_object *o;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_key k;

    rco_arena_clear(&r->scratch);
    o = RCO_NEW(&r->scratch, struct rco_bare_object);
    if (rco_codec_decode(&rco_bare_object_schema, json, n, &r->scratch, o, &err) < 0) {
        set_bad(r, &(struct rco_key){.ns = "", .name = ""}, &err);
        return "";
    }
    k = rco_key_of(o->metadata.ns, o->metadata.name);
    rco_store_remove(r->options.store, &k);
    set_good(r, &k);
    return rco_str_or_empty(o->metadata.resource_version);
}

/* An object of which not even the metadata can be read may have been spoiled on its way, and
 * passing it over would hide a change, or make of it a deletion. So it is asked for again, once at
 * each place: if it is the object that is broken, it stops nothing. */
static int ask_again(const struct rco_reflector *r, struct rco_error *err)
{
    return rco_error_set(err, RCO_EUNAVAILABLE,
                         "%s: an object whose metadata cannot be read came; asking again",
                         rco_kind_info(r->scope.kind)->plural);
}

/* --- list --- */

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct rco_reflector *r = ctx;
    bool nameless = !*take_object(r, json, n);

    r->taken = true;
    r->last_progress = now(r);
    if (!nameless || r->nameless_item)
        return 0;
    r->nameless_item = true;
    return ask_again(r, err);
}

static enum rco_reflector_input list_failure(const struct rco_reflector *r,
                                             const struct rco_error *err)
{
    /* At once only when the next request is another one. */
    bool differs = rco_str_empty(r->token) ? !r->rv_unusable : !r->unpaged;

    return err->code == RCO_EGONE && differs ? RCO_REFLECTOR_LIST_EXPIRED
                                             : RCO_REFLECTOR_LIST_FAILED;
}

static void on_page(void *ctx, const char *rv, const char *token, const struct rco_error *err)
{
    struct rco_reflector *r = ctx;

    r->call = NULL;
    if (err) {
        step(r, list_failure(r, err), err);
        return;
    }
    free(r->list_rv);
    free(r->token);
    r->list_rv = rco_strdup(rv);
    r->token = rco_strdup(token);
    step(r, rco_str_empty(token) ? RCO_REFLECTOR_PAGE_LAST : RCO_REFLECTOR_PAGE_MORE, NULL);
}

static void request_page(struct rco_reflector *r)
{
    const struct rco_list_done handler = {.item = on_item, .done = on_page, .ctx = r};
    struct rco_list_request q = {
        .scope = r->scope,
        .limit = r->unpaged ? 0 : RCO_LIST_PAGE,
    };

    if (!rco_str_empty(r->token)) {
        q.continue_token = r->token;
    } else if (r->synced && !r->rv_unusable && !r->unpaged && *rco_store_rv(r->options.store)) {
        /* A relist never goes back in time, and the watch cache can serve it (A2). */
        q.resource_version = rco_store_rv(r->options.store);
        q.resource_version_match = "NotOlderThan";
    }
    r->call = rco_kube_list_page(r->options.client, &q, &handler);
}

static void begin_list(struct rco_reflector *r)
{
    r->n.lists++;
    free(r->token);
    r->token = NULL;
    rco_store_mark_begin(r->options.store);
    request_page(r);
}

/* --- watch --- */

static bool is_initial_end(const struct rco_bookmark *b)
{
    return rco_streq(
        rco_kv_get(b->metadata.annotations, b->metadata.n_annotations, INITIAL_EVENTS_END), "true");
}

static void on_bookmark(struct rco_reflector *r, const char *json, size_t n)
{
    struct rco_bookmark *b;
    struct rco_error err = RCO_ERROR_INIT;

    rco_arena_clear(&r->scratch);
    b = RCO_NEW(&r->scratch, struct rco_bookmark);
    if (rco_codec_decode(&rco_bookmark_schema, json, n, &r->scratch, b, &err) < 0) {
        r->n.skipped_events++;
        return;
    }
    r->n.bookmarks++;
    if (r->state == RCO_REFLECTOR_STREAMING) {
        if (!is_initial_end(b))
            return;
        free(r->list_rv);
        r->list_rv = rco_strdup(rco_str_or_empty(b->metadata.resource_version));
        step(r, RCO_REFLECTOR_INITIAL_END, NULL);
        return;
    }
    rco_store_set_rv(r->options.store, b->metadata.resource_version);
    progress(r);
}

static int on_event(void *ctx, enum rco_watch_type type, const char *json, size_t n,
                    struct rco_error *err)
{
    struct rco_reflector *r = ctx;
    const char *rv;

    switch (type) {
    case RCO_WATCH_ADDED:
    case RCO_WATCH_MODIFIED:
        rv = take_object(r, json, n);
        break;
    case RCO_WATCH_DELETED:
        rv = drop_object(r, json, n);
        break;
    case RCO_WATCH_BOOKMARK:
        on_bookmark(r, json, n);
        return 0;
    default:
        r->n.skipped_events++; /* A28 */
        return 0;
    }
    r->n.events++;
    r->watch_events++;
    if (r->state == RCO_REFLECTOR_STREAMING) {
        /* Initial events are in no order of RV: the store's RV waits for the end mark (A11). */
        rco_timer_arm(r->timer, RCO_STREAM_STALL_NS);
        r->taken = true;
        r->last_progress = now(r);
        return 0;
    }
    if (!*rv && !rco_streq(r->nameless_rv, rco_store_rv(r->options.store))) {
        free(r->nameless_rv);
        r->nameless_rv = rco_strdup(rco_store_rv(r->options.store));
        return ask_again(r, err);
    }
    rco_store_set_rv(r->options.store, rv);
    progress(r);
    return 0;
}

static bool was_short(const struct rco_reflector *r)
{
    return r->watch_events == 0 && now(r) - r->watch_started < RCO_SHORT_WATCH_NS;
}

static enum rco_reflector_input stream_failure(const struct rco_reflector *r,
                                               const struct rco_error *err)
{
    switch (err->code) {
    case RCO_EGONE:
        return was_short(r) && r->failures > 0 ? RCO_REFLECTOR_EXPIRED_AGAIN
                                               : RCO_REFLECTOR_EXPIRED;
    case RCO_ETHROTTLED:
        return RCO_REFLECTOR_OVERLOADED;
    case RCO_EUNAVAILABLE:
        return err->http_status == 0 ? RCO_REFLECTOR_OVERLOADED : RCO_REFLECTOR_UNAVAILABLE;
    case RCO_EUNAUTHORIZED:
    case RCO_ETIMEOUT:
        return RCO_REFLECTOR_UNAVAILABLE;
    default:
        return RCO_REFLECTOR_BROKEN;
    }
}

static void on_watch_done(void *ctx, const struct rco_error *err)
{
    struct rco_reflector *r = ctx;
    struct rco_error early = RCO_ERROR_INIT;
    const char *plural = rco_kind_info(r->scope.kind)->plural;
    bool is_short = was_short(r);

    r->call = NULL;
    if (err) {
        step(r, stream_failure(r, err), err);
        return;
    }
    if (r->state == RCO_REFLECTOR_STREAMING)
        rco_error_set(&early, RCO_EINTERNAL, "streaming list of %s ended before its end mark",
                      plural);
    else
        rco_error_set(&early, RCO_EUNAVAILABLE, "watch of %s ended within 1 s without any event",
                      plural);
    step(r, is_short ? RCO_REFLECTOR_ENDED_SHORT : RCO_REFLECTOR_ENDED, &early);
}

static void begin_watch(struct rco_reflector *r, bool initial_events)
{
    const struct rco_watch_done handler = {.event = on_event, .done = on_watch_done, .ctx = r};
    struct rco_watch_request q = {.scope = r->scope, .send_initial_events = initial_events};

    if (!initial_events)
        q.resource_version = rco_store_rv(r->options.store);
    r->n.watches++;
    r->watch_started = now(r);
    r->watch_events = 0;
    r->call = rco_kube_watch(r->options.client, &q, &handler);
}

/* --- the machine --- */

static void enter(struct rco_reflector *r, enum rco_reflector_state state)
{
    r->state = state;
    switch (state) {
    case RCO_REFLECTOR_GATE:
        gate_enter(r);
        break;
    case RCO_REFLECTOR_LISTING:
        begin_list(r);
        break;
    case RCO_REFLECTOR_STREAMING:
        r->n.lists++;
        rco_store_mark_begin(r->options.store);
        begin_watch(r, true);
        rco_timer_arm(r->timer, RCO_STREAM_STALL_NS);
        break;
    case RCO_REFLECTOR_WATCHING:
        begin_watch(r, false);
        break;
    default:
        break;
    }
}

/* A19: 0.8 s doubling to 30 s, plus a uniform share of up to the same again. */
static int64_t backoff(struct rco_reflector *r, int64_t at_least_ms)
{
    int64_t d = RCO_BACKOFF_FIRST_NS;

    if (r->failures > 0 && now(r) - r->last_failure > RCO_BACKOFF_RESET_NS)
        r->failures = 0;
    for (unsigned i = 0; i < r->failures && d < RCO_BACKOFF_CAP_NS; i++)
        d *= 2;
    if (d > RCO_BACKOFF_CAP_NS)
        d = RCO_BACKOFF_CAP_NS;
    d += rco_loop_jitter(r->options.loop, 0, d);
    return at_least_ms * RCO_NS_PER_MS > d ? at_least_ms * RCO_NS_PER_MS : d;
}

static void end_list(struct rco_reflector *r)
{
    bool first = !r->synced;

    rco_store_mark_finish(r->options.store);
    rco_store_set_rv(r->options.store, r->list_rv);
    r->rv_unusable = r->unpaged = r->classic_round = r->taken = r->nameless_item = false;
    r->synced = true;
    gate_leave(r);
    progress(r);
    if (first && r->options.handler.synced)
        r->options.handler.synced(r->options.handler.ctx);
}

static void leave(struct rco_reflector *r)
{
    rco_stream_cancel(r->call);
    r->call = NULL;
    rco_timer_disarm(r->timer);
    if (r->state == RCO_REFLECTOR_LISTING || r->state == RCO_REFLECTOR_STREAMING)
        rco_store_mark_abandon(r->options.store);
    /* What the list has brought may be newer than the store's version: a list that is only not
     * older than that could take it back. */
    r->rv_unusable |= r->taken;
    r->taken = false;
    gate_leave(r);
}

static void take_turn(struct rco_reflector *r)
{
    bool streaming = r->options.mode == RCO_LIST_STREAMING && !r->no_streaming &&
                     !r->classic_round && !r->unpaged;

    step(r, streaming ? RCO_REFLECTOR_TURN_STREAM : RCO_REFLECTOR_TURN_PAGES, NULL);
}

static void go_on(struct rco_reflector *r, enum rco_reflector_state state)
{
    r->state = state;
    if (state == RCO_REFLECTOR_LISTING)
        request_page(r);
    else
        rco_timer_disarm(r->timer);
}

static void remember(struct rco_reflector *r, unsigned effects)
{
    if (effects & RCO_REFLECTOR_CLASSIC)
        r->classic_round = true;
    if (effects & RCO_REFLECTOR_NO_STREAM) {
        r->no_streaming = true;
        r->n.fallbacks++;
    }
    if (effects & RCO_REFLECTOR_FRESH)
        r->rv_unusable = true;
    if (effects & RCO_REFLECTOR_UNPAGE)
        r->unpaged = !rco_str_empty(r->token);
}

static void step(struct rco_reflector *r, enum rco_reflector_input in, const struct rco_error *err)
{
    const struct rco_reflector_row *row = rco_reflector_row(r->state, in);
    int64_t delay = 0;

    /* A relist, e.g., while a list is under way or due, which serves as well. */
    if (!row)
        return;
    if (row->effects & RCO_REFLECTOR_LEAVE)
        leave(r);
    if (row->effects & RCO_REFLECTOR_REPORT)
        report(r, err);
    remember(r, row->effects);
    if (row->effects & RCO_REFLECTOR_WAIT)
        delay = backoff(r, err->retry_after_ms);
    if (row->effects & RCO_REFLECTOR_COUNT) {
        r->failures++;
        r->last_failure = now(r);
    }
    if (row->effects & RCO_REFLECTOR_GO_ON)
        go_on(r, row->next);
    if (row->effects & RCO_REFLECTOR_SYNCED)
        end_list(r);
    if (!(row->effects & RCO_REFLECTOR_GO_ON))
        enter(r, row->next);
    if (row->effects & RCO_REFLECTOR_WAIT)
        rco_timer_arm(r->timer, delay);
}

/* --- life --- */

static void on_timer(void *ctx)
{
    struct rco_reflector *r = ctx;
    struct rco_error err = RCO_ERROR_INIT;

    if (r->state == RCO_REFLECTOR_GATE) { /* no gate: the turn comes by timer */
        take_turn(r);
        return;
    }
    rco_error_set(&err, RCO_ETIMEOUT,
                  "streaming list of %s: no progress for %d s and no end mark; listing in pages "
                  "from now on",
                  rco_kind_info(r->scope.kind)->plural, (int)(RCO_STREAM_STALL_NS / RCO_NS_PER_S));
    step(r, RCO_REFLECTOR_TIMER, &err);
}

struct rco_reflector *rco_reflector_new(const struct rco_reflector_options *options)
{
    struct rco_reflector *r = rco_calloc(1, sizeof(*r));

    r->options = *options;
    r->ns = rco_strdup(options->scope.ns);
    r->labels = rco_strdup(options->scope.label_selector);
    r->fields = rco_strdup(options->scope.field_selector);
    r->scope = (struct rco_scope){.kind = options->scope.kind,
                                  .ns = r->ns,
                                  .label_selector = r->labels,
                                  .field_selector = r->fields};
    r->timer = rco_timer_new(options->loop, on_timer, r);
    return r;
}

void rco_reflector_free(struct rco_reflector *r)
{
    if (!r)
        return;
    rco_reflector_stop(r);
    rco_timer_free(r->timer);
    rco_map_release(&r->bad);
    rco_arena_release(&r->scratch);
    free(r->token);
    free(r->list_rv);
    free(r->nameless_rv);
    free(r->ns);
    free(r->labels);
    free(r->fields);
    free(r);
}

void rco_reflector_start(struct rco_reflector *r)
{
    step(r, RCO_REFLECTOR_START, NULL);
}

void rco_reflector_stop(struct rco_reflector *r)
{
    step(r, RCO_REFLECTOR_STOP, NULL);
}

void rco_reflector_relist(struct rco_reflector *r)
{
    step(r, RCO_REFLECTOR_RELIST, NULL);
}

bool rco_reflector_has_synced(const struct rco_reflector *r)
{
    return r->synced;
}

enum rco_reflector_state rco_reflector_state(const struct rco_reflector *r)
{
    return r->state;
}

const struct rco_reflector_counters *rco_reflector_counters(const struct rco_reflector *r)
{
    return &r->n;
}

rco_mono rco_reflector_last_progress(const struct rco_reflector *r)
{
    return r->last_progress;
}
