/* When the manager begins to decide, and what makes it look at everything again and again. */
#include "base/log.h"
#include "base/str.h"
#include "runtime/manager_internal.h"

/* A watch brings at least a bookmark a minute (A9). */
#define CURRENT_NS (90 * RCO_NS_PER_S)
#define REFRESH_NS (10 * RCO_NS_PER_S) /* between two lists of one old cache */

/* --- sweeps --- */

static void arm_sweep(struct rco_manager *m)
{
    rco_timer_arm(m->sweep_timer,
                  rco_loop_jitter(m->loop, RCO_SWEEP_NS * 9 / 10, RCO_SWEEP_NS * 11 / 10));
}

static void arm_sweep_all(struct rco_manager *m)
{
    rco_timer_arm(m->sweep_all_timer,
                  rco_loop_jitter(m->loop, RCO_SWEEP_ALL_NS * 9 / 10, RCO_SWEEP_ALL_NS * 11 / 10));
}

void rco_manager_on_sweep(void *ctx)
{
    struct rco_manager *m = ctx;

    rco_manager_walk_start(m, WALK_UNSETTLED);
    arm_sweep(m);
}

void rco_manager_on_sweep_all(void *ctx)
{
    struct rco_manager *m = ctx;

    rco_manager_walk_start(m, WALK_ALL);
    arm_sweep_all(m);
}

/* --- start gate --- */

static bool is_elected(const struct rco_manager *m)
{
    return !m->elector || rco_elector_is_leader(m->elector);
}

bool rco_manager_has_synced(const struct rco_manager *m)
{
    for (size_t i = 0; i < m->n_watched; i++)
        if (!rco_informer_has_synced(m->watched[i].informer))
            return false;
    return true;
}

/* Whether the cache follows the API server at this moment. A standby's may be as old as its last
 * outage, and whoever leads on that makes again what is long over. */
static bool is_current(const struct watched *w)
{
    const struct rco_reflector *r = rco_informer_reflector(w->informer);

    return rco_informer_has_synced(w->informer) &&
           rco_reflector_state(r) == RCO_REFLECTOR_WATCHING &&
           rco_loop_now(w->manager->loop) - rco_reflector_last_progress(r) < CURRENT_NS;
}

/* Lists anew what is old; a list's end looks here again, and so does the timer. */
static void refresh(struct rco_manager *m)
{
    rco_mono t = rco_loop_now(m->loop);

    for (size_t i = 0; i < m->n_watched; i++) {
        struct watched *w = &m->watched[i];

        if (is_current(w) || (w->refreshed_at && t - w->refreshed_at < REFRESH_NS))
            continue;
        w->refreshed_at = t;
        rco_reflector_relist(rco_informer_reflector(w->informer));
    }
    rco_timer_arm(m->lead_timer, REFRESH_NS);
}

static bool all_current(const struct rco_manager *m)
{
    for (size_t i = 0; i < m->n_watched; i++)
        if (!is_current(&m->watched[i]))
            return false;
    return true;
}

static void lead(struct rco_manager *m)
{
    m->leading = true;
    m->transitions = m->elector ? rco_elector_transitions(m->elector) : 0;
    rco_timer_disarm(m->lead_timer);
    rco_timer_disarm(m->sync_timer);
    rco_log(RCO_LOG_INFO, "leading, caches are synced", RCO_N("transitions", m->transitions));
    if (m->options.leading)
        m->options.leading(m->options.ctx, m->transitions);
    rco_manager_walk_start(m, WALK_ALL);
    arm_sweep(m);
    arm_sweep_all(m);
}

void rco_manager_maybe_lead(struct rco_manager *m)
{
    if (m->leading || m->stopping || m->failed || !m->started || !is_elected(m) ||
        !rco_manager_has_synced(m))
        return;
    if (all_current(m))
        lead(m);
    else
        refresh(m);
}

void rco_manager_on_lead_timer(void *ctx)
{
    rco_manager_maybe_lead(ctx);
}

void rco_manager_maybe_lead_soon(struct rco_manager *m)
{
    if (!m->leading && m->started && is_elected(m))
        rco_timer_arm(m->lead_timer, 0);
}

/* --- caches that do not come --- */

/* Nobody can lead without this cache: it was never complete or, when all were, is old. */
static bool is_missing(const struct watched *w)
{
    const struct rco_manager *m = w->manager;

    if (m->leading)
        return false;
    if (!rco_manager_has_synced(m))
        return !rco_informer_has_synced(w->informer);
    return is_elected(m) && !is_current(w);
}

/* The last time at which a cache became complete, or one that is missing received something;
 * 0 = none is missing. */
static rco_mono sync_progress(const struct rco_manager *m)
{
    rco_mono last = 0;

    for (size_t i = 0; i < m->n_watched; i++) {
        const struct watched *w = &m->watched[i];
        rco_mono t = rco_reflector_last_progress(rco_informer_reflector(w->informer));

        if (!is_missing(w))
            continue;
        if (last == 0)
            last = m->synced_at;
        if (t > last)
            last = t;
    }
    return last;
}

void rco_manager_wait_for_caches(struct rco_manager *m)
{
    m->synced_at = rco_loop_now(m->loop);
    rco_timer_arm(m->sync_timer, RCO_SYNC_TIMEOUT_NS);
}

void rco_manager_on_sync_timeout(void *ctx)
{
    struct rco_manager *m = ctx;
    rco_autobuf why = RCO_BUF_INIT;
    rco_mono last = sync_progress(m);
    int64_t quiet = rco_loop_now(m->loop) - last;

    if (last == 0)
        return;
    /* A large cluster behind a slow server takes its time. */
    if (quiet < RCO_SYNC_TIMEOUT_NS) {
        rco_timer_arm(m->sync_timer, RCO_SYNC_TIMEOUT_NS - quiet);
        return;
    }
    rco_buf_adds(&why, "nothing came for 120 s and the caches are not synced; still missing:");
    for (size_t i = 0; i < m->n_watched; i++) {
        const struct watched *w = &m->watched[i];

        if (is_missing(w))
            rco_buf_addf(
                &why, " %s (%s)", rco_kind_info(w->spec->kind)->plural,
                rco_reflector_state_name(rco_reflector_state(rco_informer_reflector(w->informer))));
    }
    rco_manager_fail(m, rco_buf_str(&why));
}
