/* Oracles with a clock: how long nobody leads, how long a change stays unseen, how often caches are
 * listed after an outage. */
#include "oracle.h"

#include <string.h>

#define LOOK (20 * SIM_S)
#define DEAF_MAX (200 * SIM_S) /* A8: 150 s of silence, then a back-off */
#define GAP_MAX (36 * SIM_S)   /* a lease of 30 s, and a look every 4 s with jitter */
#define FIRST_LOOK (5 * SIM_S)
#define RELEASED_MAX (10 * SIM_S)
#define LONG_OUTAGE (3600 * SIM_S)
#define AFTER_OUTAGE (600 * SIM_S)
#define MANY 8 /* caches */
#define SPREAD_MIN (10 * SIM_S)
#define ELECTION_LEASE "runtime-cloud-controller"

struct sim_times {
    const char *holder; /* of the election's lease; "" = released */
    rco_mono vacant;    /* since when its holder is gone; 0 = it is not */
    int64_t vacant_max;
    rco_mono outage_end; /* of the last long one, 0 = none */
    int lists[SIM_REPLICAS][RCO_KIND_COUNT];
    rco_mono first, last; /* list after the outage, of any kind */
    int n;                /* of these */
    bool restarted;       /* some replica since */
};

/* --- a leader --- */

/* From when on somebody could have taken over: not before the last fault ended, and not before a
 * replica ran; in the future when none does. */
static rco_mono able_since(const struct sim *s)
{
    rco_mono first = 0, since = s->times->vacant;

    if (s->fault.calm_from > since)
        since = s->fault.calm_from;
    for (int i = 0; i < SIM_REPLICAS; i++) {
        rco_mono t = sim_replica_since(s, i);

        if (t && (!first || t < first))
            first = t;
    }
    if (!first)
        return s->now + 1;
    return first > since ? first : since;
}

static void check_gap(struct sim *s)
{
    const struct sim_times *t = s->times;
    int64_t gap;

    if (!t->vacant || s->fault.calm_from > s->now || able_since(s) > s->now)
        return;
    gap = s->now - able_since(s);
    if (t->vacant_max == GAP_MAX && gap > s->peaks.gap)
        s->peaks.gap = gap;
    /* The latencies of a slow world come on top, and the first look of a replica that was not
     * there to see the last renewal. */
    if (gap > t->vacant_max + (s->plan->slow ? 4 * SIM_S : SIM_S) +
                  (able_since(s) > t->vacant ? FIRST_LOOK : 0))
        sim_violation(s, "leader-gap", "nobody leads for %lld s", (long long)(gap / SIM_S));
}

void sim_times_elected(struct sim *s, const struct sim_version *lease)
{
    struct sim_times *t = s->times;
    const char *holder = rco_str_or_empty(sim_tree_str(lease->tree, "spec|holderIdentity"));

    if (!t || strcmp(lease->name, ELECTION_LEASE) != 0 || strcmp(holder, t->holder) == 0)
        return;
    if (*holder) {
        check_gap(s);
        t->vacant = 0;
    } else {
        t->vacant = s->now;
        t->vacant_max = RELEASED_MAX;
    }
    t->holder = rco_arena_strdup(&s->arena, holder);
}

void sim_oracle_life(struct sim *s, int replica, bool gone)
{
    struct sim_times *t = s->times;

    if (!t)
        return;
    if (!gone) {
        memset(t->lists[replica], 0, sizeof t->lists[replica]);
        t->restarted = true;
    } else if (s->plan->election && strcmp(t->holder, sim_replica_identity(s, replica)) == 0) {
        t->vacant = s->now;
        t->vacant_max = GAP_MAX;
    }
}

/* --- changes that must be seen --- */

static void check_seen(struct sim *s, int i, enum rco_kind kind)
{
    const struct sim_kind *k = &s->kinds[kind];
    int64_t seen = sim_replica_seen(s, i, kind);

    for (size_t n = k->n_history; seen >= 0 && n > 0 && k->history[n - 1].rv > seen; n--) {
        const struct sim_change *c = &k->history[n - 1];
        const struct sim_version *v = c->now ? c->now : c->before;
        rco_mono since = c->at > s->fault.calm_from ? c->at : s->fault.calm_from;

        if (since < sim_replica_since(s, i))
            since = sim_replica_since(s, i);
        if (since >= s->now || !sim_replica_selects(s, i, v))
            continue;
        if (s->now - since > s->peaks.deaf)
            s->peaks.deaf = s->now - since;
        if (s->now - since <= DEAF_MAX)
            continue;
        sim_violation(s, "deaf", "operator%d has not seen %s %s of revision %lld after %d s", i,
                      rco_kind_info(kind)->kind, v->name, (long long)c->rv,
                      (int)(DEAF_MAX / SIM_S));
        return;
    }
}

/* --- after an outage --- */

void sim_oracle_outage_over(struct sim *s, int64_t length)
{
    struct sim_times *t = s->times;

    if (length < LONG_OUTAGE)
        return;
    t->outage_end = s->now;
    memset(t->lists, 0, sizeof t->lists);
    t->first = t->last = 0;
    t->n = 0;
    t->restarted = false;
}

void sim_oracle_listed(struct sim *s, int replica, enum rco_kind kind)
{
    struct sim_times *t = s->times;

    if (!t || replica < 0 || !t->outage_end || s->now > t->outage_end + AFTER_OUTAGE ||
        s->fault.calm_from > t->outage_end)
        return;
    if (!t->first)
        t->first = s->now;
    t->last = s->now;
    t->n++;
    if (++t->lists[replica][kind] > 1)
        sim_violation(s, "relist", "operator%d lists %s for the second time after an outage",
                      replica, rco_kind_info(kind)->plural);
}

/* Caches that were there all the time come back one after the other, not all at once. */
static void check_spread(struct sim *s)
{
    struct sim_times *t = s->times;

    if (!t->outage_end || s->now < t->outage_end + AFTER_OUTAGE)
        return;
    if (t->n >= MANY && !t->restarted && s->fault.calm_from <= t->outage_end &&
        t->last - t->first < SPREAD_MIN)
        sim_violation(s, "relist", "all caches were listed within %lld s after an outage",
                      (long long)((t->last - t->first) / SIM_S));
    t->outage_end = 0;
}

/* --- looking --- */

static void on_look(void *ctx)
{
    struct sim *s = ctx;

    check_gap(s);
    check_spread(s);
    for (int i = 0; i < SIM_REPLICAS; i++)
        for (int kind = 1; sim_replica_since(s, i) && kind < RCO_KIND_COUNT; kind++)
            check_seen(s, i, (enum rco_kind)kind);
    sim_after(s, LOOK, on_look, s);
}

void sim_times_begin(struct sim *s)
{
    s->times = RCO_NEW(&s->arena, struct sim_times);
    s->times->holder = "";
    sim_after(s, LOOK, on_look, s);
}
