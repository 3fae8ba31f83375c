#include "kube/limiter.h"

#include <string.h>

#define WINDOW_NS (60 * RCO_NS_PER_S)
#define HALVE_PAUSE_NS (500 * RCO_NS_PER_MS)
/* Latency below this is never a reason to hold back: jitter of a fast server. */
#define FLOOR_NS (20 * RCO_NS_PER_MS)

void rco_limiter_init(struct rco_limiter *l)
{
    memset(l, 0, sizeof(*l));
    l->limit = RCO_LIMIT_START;
}

bool rco_limiter_may_start(const struct rco_limiter *l, rco_mono now)
{
    return l->in_flight < l->limit && now >= l->closed_until;
}

void rco_limiter_start(struct rco_limiter *l)
{
    l->in_flight++;
}

static void halve(struct rco_limiter *l, rco_mono now)
{
    if (l->halved != 0 && now - l->halved < HALVE_PAUSE_NS)
        return;
    l->halved = now;
    l->good = 0;
    l->limit = l->limit / 2 < RCO_LIMIT_MIN ? RCO_LIMIT_MIN : l->limit / 2;
}

void rco_limiter_done(struct rco_limiter *l, rco_mono now, int status, int64_t latency_ns,
                      int64_t retry_after_ms)
{
    bool was_full = l->in_flight >= l->limit;
    int64_t flat;

    if (l->in_flight > 0)
        l->in_flight--;
    if (status == 429) {
        halve(l, now);
        if (retry_after_ms > 0 && now + retry_after_ms * RCO_NS_PER_MS > l->closed_until)
            l->closed_until = now + retry_after_ms * RCO_NS_PER_MS;
        return;
    }
    if (status == 0 || status >= 500) {
        halve(l, now);
        return;
    }
    if (l->best_ns == 0 || latency_ns < l->best_ns || now >= l->window_end) {
        l->best_ns = latency_ns;
        l->window_end = now + WINDOW_NS;
    }
    flat = 2 * l->best_ns > FLOOR_NS ? 2 * l->best_ns : FLOOR_NS;
    if (latency_ns > flat) {
        l->good = 0;
        return;
    }
    /* One more after a full round of flat answers, and only while the limit is what holds us back.
     */
    if (was_full && ++l->good >= l->limit && l->limit < RCO_LIMIT_MAX) {
        l->limit++;
        l->good = 0;
    }
}

void rco_limiter_cancelled(struct rco_limiter *l)
{
    if (l->in_flight > 0)
        l->in_flight--;
}
