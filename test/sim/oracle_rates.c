/* Oracles that count: writes, conflicts and Events to one object within a time, and writes to each
 * object in all. */
#include "oracle.h"

#include "runtime/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE (60 * SIM_S)
#define WRITES_MAX 40    /* a minute, to one object */
#define CONFLICTS_MAX 30 /* the same, refused with 409 */
#define TIMES (WRITES_MAX + 1)

/* The last times of something, as a ring. */
struct moments {
    rco_mono at[TIMES];
    unsigned n;
};

struct rate {
    struct rate *next;
    const char *key;
    struct moments writes, conflicts;
    /* Events about it, of one process */
    rco_mono first_event;
    int events;
    struct moments event_times;
};

struct sim_rates {
    struct rate *list;
};

static struct rate *rate_of(struct sim *s, const char *key)
{
    struct rate *r;

    if (!s->rates)
        s->rates = RCO_NEW(&s->arena, struct sim_rates);
    for (r = s->rates->list; r; r = r->next)
        if (strcmp(r->key, key) == 0)
            return r;
    r = RCO_NEW(&s->arena, struct rate);
    r->key = key;
    r->next = s->rates->list;
    s->rates->list = r;
    return r;
}

/* Counts one more, now; returns how many there were within the last minute (at most TIMES). */
static int count(struct sim *s, struct moments *m)
{
    int n = 0;

    m->at[m->n++ % TIMES] = s->now;
    for (unsigned i = 0; i < TIMES && i < m->n; i++)
        n += s->now - m->at[i] < MINUTE;
    return n;
}

static void limit(struct sim *s, const struct rate *r, int n, int max, int *peak, const char *what)
{
    if (n > *peak)
        *peak = n;
    if (n > max)
        sim_violation(s, "rates", "more than %d %s a minute: %s", max, what, r->key);
}

/* A burst, then one every so often: what the recorder's buckets let through. */
static void count_event(struct sim *s, int replica, const char *regarding)
{
    struct rate *r = rate_of(
        s, rco_arena_printf(&s->arena, "%s of %s", regarding, sim_replica_identity(s, replica)));
    int n = count(s, &r->event_times);

    if (n > s->peaks.events)
        s->peaks.events = n;
    if (r->events++ == 0)
        r->first_event = s->now;
    if (r->events > RCO_EVENT_BURST + 1 + (s->now - r->first_event) / RCO_EVENT_REFILL_NS)
        sim_violation(s, "rates", "%d Events about %s", r->events, r->key);
}

void sim_oracle_wrote(struct sim *s, int replica, enum rco_kind kind, const char *ns,
                      const char *name, int status)
{
    struct rate *r;

    if (kind == RCO_KIND_EVENT) {
        count_event(s, replica, name);
        return;
    }
    r = rate_of(s, rco_arena_printf(&s->arena, "%s %s/%s", rco_kind_info(kind)->kind, ns, name));
    limit(s, r, count(s, &r->writes), WRITES_MAX, &s->peaks.writes, "writes");
    if (status == 409)
        limit(s, r, count(s, &r->conflicts), CONFLICTS_MAX, &s->peaks.conflicts, "conflicts");
}

/* --- in all --- */

static bool is_counted(const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;

    /* The names of random Secrets have a counter in them. */
    return c->actor >= SIM_OPERATOR && v->kind != RCO_KIND_EVENT && v->kind != RCO_KIND_SECRET &&
           (v->kind != RCO_KIND_LEASE || rco_str_has_prefix(v->name, "rco-claim-"));
}

static int writes_to(const struct sim_kind *k, const struct sim_version *v, size_t *ret_first)
{
    int n = 0;

    for (size_t i = k->n_history; i > 0; i--) {
        const struct sim_change *c = &k->history[i - 1];
        const struct sim_version *w = c->now ? c->now : c->before;

        if (!is_counted(c) || strcmp(w->name, v->name) != 0 || strcmp(w->ns, v->ns) != 0)
            continue;
        n++;
        *ret_first = i - 1;
    }
    return n;
}

void sim_write_counts(struct sim *s, struct rco_buf *out)
{
    for (int kind = 1; kind < RCO_KIND_COUNT; kind++) {
        const struct sim_kind *k = &s->kinds[kind];

        for (size_t i = 0; i < k->n_history; i++) {
            const struct sim_version *v =
                k->history[i].now ? k->history[i].now : k->history[i].before;
            size_t first = 0;
            int n = is_counted(&k->history[i]) ? writes_to(k, v, &first) : 0;

            if (n && first == i)
                rco_buf_addf(out, "%s %s/%s %d\n", rco_kind_info((enum rco_kind)kind)->kind, v->ns,
                             v->name, n);
        }
    }
}

void sim_check_writes(struct sim *s, const char *reference, int allowed)
{
    rco_autobuf counts = RCO_BUF_INIT;

    sim_write_counts(s, &counts);
    for (const char *p = rco_buf_str(&counts); *p;) {
        size_t n = strcspn(p, "\n"), key = n;
        const char *there;
        int more;

        while (key > 0 && p[key - 1] != ' ')
            key--;
        there = memmem(reference, strlen(reference), p, key);
        more = atoi(p + key) - (there ? atoi(there + key) : 0);
        if (there && more > s->peaks.extra)
            s->peaks.extra = more;
        if (there && more > allowed)
            sim_violation(s, "write-summary", "%.*s writes, %d more than the reference", (int)n, p,
                          more);
        p += n + (p[n] == '\n');
    }
}
