/* Adaptive in-flight limit (pure): additive increase while latency stays below twice the best seen,
 * halved on 429 and on 5xx. */
#ifndef RCO_KUBE_LIMITER_H
#define RCO_KUBE_LIMITER_H

#include "base/time.h"

#include <stdbool.h>

#define RCO_LIMIT_START 8
#define RCO_LIMIT_MIN 1
#define RCO_LIMIT_MAX 128

struct rco_limiter {
    unsigned limit;
    unsigned in_flight;
    unsigned good;         /* answers since the last growth */
    int64_t best_ns;       /* smallest latency of the current window, 0 = none yet */
    rco_mono window_end;   /* when best_ns is forgotten */
    rco_mono halved;       /* last halving: at most one per 500 ms */
    rco_mono closed_until; /* Retry-After of a 429: nothing starts before */
};

/* At its first limit, with nothing in flight. */
void rco_limiter_init(struct rco_limiter *l);
/* Whether one more may start NOW. */
bool rco_limiter_may_start(const struct rco_limiter *l, rco_mono now);
void rco_limiter_start(struct rco_limiter *l);
/* An answer of STATUS (0 = transport fault) after LATENCY. RETRY_AFTER_MS 0 = none. */
void rco_limiter_done(struct rco_limiter *l, rco_mono now, int status, int64_t latency_ns,
                      int64_t retry_after_ms);
/* Given up by ourselves: says nothing about the server. */
void rco_limiter_cancelled(struct rco_limiter *l);

#endif
