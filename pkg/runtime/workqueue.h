/* Work queue (pure: the time comes in as a parameter). Three sets as in client-go (A61), delayed
 * and rate-limited adds (A62..A64), three priorities with ageing (A66), fairness between namespaces
 * inside a priority, quarantine of poisonous keys. */
#ifndef RCO_RUNTIME_WORKQUEUE_H
#define RCO_RUNTIME_WORKQUEUE_H

#include "base/time.h"
#include "runtime/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rco_priority {
    RCO_PRIORITY_LOW,    /* first list, resync */
    RCO_PRIORITY_NORMAL, /* live change */
    RCO_PRIORITY_HIGH,   /* deletion, expiry, a waiting runner */
    RCO_PRIORITY_COUNT
};

#define RCO_QUEUE_BACKOFF_FIRST_NS (5 * RCO_NS_PER_MS) /* A62 */
#define RCO_QUEUE_BACKOFF_CAP_NS (1000 * RCO_NS_PER_S)
#define RCO_QUEUE_BUCKET_PER_S 10 /* A63 */
#define RCO_QUEUE_BUCKET_BURST 100
#define RCO_QUEUE_AGE_NS (30 * RCO_NS_PER_S) /* A66: one level up after each */

struct rco_workqueue;

struct rco_workqueue_stats {
    size_t depth[RCO_PRIORITY_COUNT]; /* ready to be taken, by effective priority */
    size_t delayed;
    size_t processing;
    size_t quarantined;
    uint64_t adds, retries;
    rco_mono oldest_processing; /* start of the longest run, 0 = none */
    int64_t unfinished_ns;      /* sum over the runs under way */
};

/* Empty. */
struct rco_workqueue *rco_workqueue_new(void);
void rco_workqueue_free(struct rco_workqueue *q);

/* Ready at once. A key that is already waiting keeps its place and the higher priority; one that is
 * being processed runs again afterwards. Quarantined keys and a shut-down queue ignore it. */
void rco_workqueue_add(struct rco_workqueue *q, const struct rco_key *key,
                       enum rco_priority priority, rco_mono now);
/* Ready at DUE; an earlier due time already known wins (A64). */
void rco_workqueue_add_at(struct rco_workqueue *q, const struct rco_key *key,
                          enum rco_priority priority, rco_mono due, rco_mono now);
/* After a failure: the larger of the key's backoff and the global bucket (A63). Returns the due
 * time. */
rco_mono rco_workqueue_add_rate_limited(struct rco_workqueue *q, const struct rco_key *key,
                                        enum rco_priority priority, rco_mono now);
/* After a conflict: the key's backoff alone. A conflict says nothing about the server's health, so
 * it takes nothing from the bucket. Returns the due time. */
rco_mono rco_workqueue_add_backoff(struct rco_workqueue *q, const struct rco_key *key,
                                   enum rco_priority priority, rco_mono now);
/* Success: the key's failures are forgotten. */
void rco_workqueue_forget(struct rco_workqueue *q, const struct rco_key *key);
unsigned rco_workqueue_failures(const struct rco_workqueue *q, const struct rco_key *key);

struct rco_work {
    struct rco_key key; /* borrowed until rco_workqueue_done */
    enum rco_priority priority;
    int64_t waited_ns; /* since it became ready */
};
/* Takes the next ready key; false when there is none. The key counts as processing until _done. */
bool rco_workqueue_get(struct rco_workqueue *q, rco_mono now, struct rco_work *ret);
/* The run of KEY is over; if it became dirty meanwhile it waits again. KEY dies here if it was the
 * one that _get returned. */
void rco_workqueue_done(struct rco_workqueue *q, const struct rco_key *key, rco_mono now);
/* When _get can next succeed: NOW or earlier = at once; 0 = nothing is waiting. */
rco_mono rco_workqueue_next(const struct rco_workqueue *q, rco_mono now);

/* How many keys are ready. */
size_t rco_workqueue_ready(const struct rco_workqueue *q);

/* Poison (A29, A68): the key is neither taken nor added until released. */
void rco_workqueue_quarantine(struct rco_workqueue *q, const struct rco_key *key);
void rco_workqueue_unquarantine(struct rco_workqueue *q, const struct rco_key *key);
bool rco_workqueue_is_quarantined(const struct rco_workqueue *q, const struct rco_key *key);

/* No further adds; _get returns nothing; _done still works (A70). */
void rco_workqueue_shutdown(struct rco_workqueue *q);
void rco_workqueue_stats(const struct rco_workqueue *q, rco_mono now,
                         struct rco_workqueue_stats *out);

#endif
