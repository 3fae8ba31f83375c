/* Watches: changes since a revision, bookmarks, their end, and 410 inside a 200. */
#include "transport.h"

#include <inttypes.h>
#include <string.h>

#define BOOKMARK_NS (60 * SIM_S)
#define DEFAULT_TIMEOUT_S 1800

int64_t sim_front_revision(const struct sim *s)
{
    return s->fault.frozen_until > s->now ? s->fault.frozen_at : s->revision;
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

        last->text = NULL;
        last->tree =
            sim_tree_set(&s->arena, v->tree, "metadata|resourceVersion",
                         sim_tree_string(&s->arena, rco_arena_printf(&s->arena, "%" PRId64, rv)));
        v = last;
    }
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

static void push_expired(struct sim_call *c)
{
    static const char line[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
        "\"status\":\"Failure\",\"message\":\"too old resource version\",\"reason\":\"Expired\","
        "\"code\":410}}\n";

    sim_call_push(c, &(struct sim_delivery){.type = SIM_DATA, .text = line, .n = sizeof line - 1});
    sim_call_push(c, &(struct sim_delivery){.type = SIM_DONE});
    c->watch.open = false;
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
    int64_t limit = sim_front_revision(s);

    if (s->fault.deaf_until > s->now)
        c->watch.deaf = true;
    if (!is_alive(c) || s->fault.hiding)
        return;
    while (c->watch.position < k->n_history && k->history[c->watch.position].rv <= limit)
        send_change(c, &k->history[c->watch.position++]);
}

static void on_bookmark(void *ctx)
{
    struct sim_call *c = ctx;
    struct sim *s = c->link->sim;

    if (!is_alive(c))
        return;
    if (!s->fault.hiding && s->fault.deaf_until <= s->now && s->fault.away_until <= s->now)
        push_bookmark(c, sim_front_revision(s), false);
    sim_after(s, BOOKMARK_NS, on_bookmark, c);
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
                push_expired(c);
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

static void send_initial(struct sim_call *c)
{
    struct sim *s = c->link->sim;
    const struct sim_version **list;
    size_t n = sim_list_at(s, c->watch.kind, s->revision, &list);

    for (size_t i = 0; i < n; i++)
        if (sim_matches(list[i], c->watch.ns, c->watch.labels, c->watch.fields))
            push_event(c, "ADDED", list[i], list[i]->rv);
    push_bookmark(c, s->revision, true);
    c->watch.position = s->kinds[c->watch.kind].n_history;
}

void sim_watch_open(struct sim_call *c, enum rco_kind kind, const char *ns,
                    const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    int64_t rv = q->resource_version ? strtoll(q->resource_version, NULL, 10) : s->revision;
    int64_t timeout_s = q->timeout_s > 0 ? q->timeout_s : DEFAULT_TIMEOUT_S;

    c->watch = (struct sim_watch){
        .open = true, .kind = kind, .ns = ns, .labels = q->labels, .fields = q->fields};
    sim_call_push(c, &(struct sim_delivery){.type = SIM_HEAD, .status = 200});
    if (s->fault.deaf_until > s->now) {
        c->watch.deaf = true;
        return;
    }
    if (rv < s->kinds[kind].compacted) {
        push_expired(c);
        return;
    }
    if (q->initial_events)
        send_initial(c);
    else
        c->watch.position = position_of(&s->kinds[kind], rv);
    sim_watch_flush(c);
    sim_after(s, BOOKMARK_NS - sim_between(s, 0, 5 * SIM_S), on_bookmark, c);
    sim_after(s, timeout_s * SIM_S, on_timeout, c);
}
