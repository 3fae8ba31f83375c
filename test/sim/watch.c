/* Watches: changes since a revision, bookmarks, their end, and 410 inside a 200. */
#include "refusal.h"
#include "transport.h"

#include <inttypes.h>
#include <string.h>

#define BOOKMARK_NS (60 * SIM_S)
#define DEFAULT_TIMEOUT_S 1800
#define BEFORE_END (2 * SIM_S) /* a bookmark comes so long before the end of a watch */
#define CATCH_UP (3 * SIM_S)

int64_t sim_front_revision(const struct sim *s)
{
    return s->fault.frozen_until > s->now ? s->fault.frozen_at : s->revision;
}

/* What watches of KIND show: one kind's may be behind the others'. */
static int64_t shown(const struct sim *s, enum rco_kind kind)
{
    int64_t rv = sim_front_revision(s);

    if (s->fault.skew_until > s->now && s->fault.skew_kind == (int)kind && s->fault.skew_at < rv)
        return s->fault.skew_at;
    return rv;
}

/* The watch is served, and by a connection that carries bytes. */
static bool is_alive(const struct sim_call *c)
{
    return !c->over && c->watch.open && !c->watch.deaf;
}

static void push_line(struct sim_call *c, const struct rco_buf *line)
{
    struct sim *s = c->link->sim;

    sim_call_push(
        c, &(struct sim_delivery){.type = SIM_DATA,
                                  .text = rco_arena_strndup(&s->arena, line->data, line->len),
                                  .n = line->len});
}

static void push_event(struct sim_call *c, const char *type, const struct sim_version *v,
                       int64_t rv)
{
    struct sim *s = c->link->sim;
    rco_autobuf line = RCO_BUF_INIT;
    const char *text;
    size_t n;

    if (v->rv != rv) {
        /* A removal, or an object that left the selection: the last state, at the revision of the
         * change. */
        struct sim_version *last = rco_arena_memdup(&s->arena, v, sizeof *v);

        last->text = last->item = NULL;
        last->tree =
            sim_tree_set(&s->arena, v->tree, "metadata|resourceVersion",
                         sim_tree_string(&s->arena, rco_arena_printf(&s->arena, "%" PRId64, rv)));
        v = last;
    }
    c->watch.shown = rv > c->watch.shown ? rv : c->watch.shown;
    text = sim_text(s, v, &n);
    rco_buf_addf(&line, "{\"type\":\"%s\",\"object\":", type);
    rco_buf_add(&line, text, n);
    rco_buf_adds(&line, "}\n");
    push_line(c, &line);
    if (s->plan->twice)
        push_line(c, &line);
}

static void push_bookmark(struct sim_call *c, int64_t rv, bool initial_end)
{
    const struct rco_kind_info *info = rco_kind_info(c->watch.kind);
    rco_autobuf line = RCO_BUF_INIT;

    rco_buf_addf(&line,
                 "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\","
                 "\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"%s}}}\n",
                 info->kind, info->group, *info->group ? "/" : "", info->version, rv,
                 initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    push_line(c, &line);
}

/* An ERROR event, and the end. */
static void push_error(struct sim_call *c, const struct sim_answer *a)
{
    rco_autobuf line = RCO_BUF_INIT;

    rco_buf_adds(&line, "{\"type\":\"ERROR\",\"object\":");
    sim_status_write(a, &line);
    rco_buf_adds(&line, "}\n");
    push_line(c, &line);
    sim_call_push(c, &(struct sim_delivery){.type = SIM_DONE});
    c->watch.open = false;
}

static void push_expired(struct sim_call *c, int64_t rv)
{
    struct sim *s = c->link->sim;
    struct sim_answer a =
        sim_refuse(s, 410, "Expired", "too old resource version: %" PRId64 " (%" PRId64 ")", rv,
                   s->kinds[c->watch.kind].compacted);

    push_error(c, &a);
}

static void send_change(struct sim_call *c, const struct sim_change *change)
{
    const struct sim_watch *w = &c->watch;
    bool was = change->before && sim_matches(change->before, w->ns, w->labels, w->fields);
    bool is = change->now && sim_matches(change->now, w->ns, w->labels, w->fields);

    if (is)
        push_event(c, was ? "MODIFIED" : "ADDED", change->now, change->rv);
    else if (was)
        push_event(c, "DELETED", change->before, change->rv);
}

void sim_watch_flush(struct sim_call *c)
{
    struct sim *s = c->link->sim;
    const struct sim_kind *k = &s->kinds[c->watch.kind];
    int64_t limit = shown(s, c->watch.kind);

    if (s->fault.deaf_until > s->now)
        c->watch.deaf = true;
    if (!is_alive(c) || s->fault.hiding)
        return;
    while (c->watch.position < k->n_history && k->history[c->watch.position].rv <= limit)
        send_change(c, &k->history[c->watch.position++]);
}

/* Only news: a revision that the client does not know yet. */
static void bookmark(struct sim_call *c)
{
    struct sim *s = c->link->sim;
    int64_t rv = shown(s, c->watch.kind);

    if (s->fault.hiding || s->fault.deaf_until > s->now || s->fault.away_until > s->now ||
        rv <= c->watch.shown)
        return;
    push_bookmark(c, rv, false);
    c->watch.shown = rv;
}

static void on_bookmark(void *ctx)
{
    struct sim_call *c = ctx;
    struct sim *s = c->link->sim;

    if (!is_alive(c))
        return;
    bookmark(c);
    sim_after(s, BOOKMARK_NS, on_bookmark, c);
}

static void on_last_bookmark(void *ctx)
{
    struct sim_call *c = ctx;

    if (is_alive(c))
        bookmark(c);
}

static void on_timeout(void *ctx)
{
    struct sim_call *c = ctx;

    if (!is_alive(c))
        return;
    c->watch.open = false;
    sim_call_push(c, &(struct sim_delivery){.type = SIM_DONE});
}

void sim_watch_expire(struct sim *s)
{
    for (struct sim_link *l = s->links; l; l = l->next)
        for (struct sim_call *c = l->calls; c; c = c->next)
            if (is_alive(c))
                push_expired(c, c->watch.shown);
}

static size_t position_of(const struct sim_kind *k, int64_t rv)
{
    size_t lo = 0, hi = k->n_history;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (k->history[mid].rv <= rv)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void send_initial(struct sim_call *c, bool mark)
{
    struct sim *s = c->link->sim;
    const struct sim_version **list;
    size_t n = sim_list_at(s, c->watch.kind, s->revision, &list);

    for (size_t i = 0; i < n; i++)
        if (sim_matches(list[i], c->watch.ns, c->watch.labels, c->watch.fields))
            push_event(c, "ADDED", list[i], list[i]->rv);
    if (mark && c->watch.bookmarks)
        push_bookmark(c, s->revision, true);
    c->watch.shown = s->revision;
    if (mark)
        sim_oracle_listed(s, c->link->replica, c->watch.kind);
    c->watch.position = s->kinds[c->watch.kind].n_history;
}

static void on_too_large(void *ctx)
{
    struct sim_call *c = ctx;
    struct sim_answer a;

    if (!is_alive(c))
        return;
    a = sim_too_large(c->link->sim,
                      rco_arena_printf(&c->link->sim->arena, "%" PRId64, c->watch.shown));
    push_error(c, &a);
}

static void begin(struct sim_call *c, enum rco_kind kind, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    bool any = !q->resource_version || strcmp(q->resource_version, "0") == 0;
    int64_t rv = any ? s->revision : strtoll(q->resource_version, NULL, 10);

    c->watch.shown = rv;
    if (rv > s->revision && q->initial_events) {
        sim_after(s, CATCH_UP, on_too_large, c);
        return;
    }
    if (rv < s->kinds[kind].compacted && !q->initial_events) {
        push_expired(c, rv);
        return;
    }
    if (q->initial_events || any)
        send_initial(c, q->initial_events);
    else
        c->watch.position = position_of(&s->kinds[kind], rv);
    sim_watch_flush(c);
}

void sim_watch_open(struct sim_call *c, enum rco_kind kind, const char *ns,
                    const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    int64_t timeout = (q->timeout_s > 0 ? q->timeout_s : DEFAULT_TIMEOUT_S) * SIM_S;
    struct sim_answer refusal = sim_check_query(s, q);

    if (refusal.code) {
        sim_call_refuse(c, &refusal);
        return;
    }
    c->watch = (struct sim_watch){.open = true,
                                  .kind = kind,
                                  .ns = ns,
                                  .labels = q->labels,
                                  .fields = q->fields,
                                  .bookmarks = q->bookmarks};
    sim_call_push(c, &(struct sim_delivery){.type = SIM_HEAD, .status = 200});
    if (s->fault.deaf_until > s->now) {
        c->watch.deaf = true;
        return;
    }
    begin(c, kind, q);
    if (q->bookmarks) {
        sim_after(s, BOOKMARK_NS - sim_between(s, 0, 5 * SIM_S), on_bookmark, c);
        if (timeout > BEFORE_END)
            sim_after(s, timeout - BEFORE_END, on_last_bookmark, c);
    }
    sim_after(s, timeout, on_timeout, c);
}
