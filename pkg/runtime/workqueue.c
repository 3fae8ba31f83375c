#include "runtime/workqueue.h"

#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "runtime/queue_phase.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct tenant;

/* One key. Allocated while anything about it has to be remembered, freed otherwise. */
struct item {
    struct rco_heap_node delay; /* first: heap nodes are cast back */
    struct item *hash_next;
    struct item *prev, *next;         /* in its tenant's list */
    struct item *age_prev, *age_next; /* in its level, oldest first */
    uint64_t hash;
    rco_mono ready_since; /* for the metrics */
    rco_mono level_since; /* for ageing */
    rco_mono started;
    unsigned failures;
    uint8_t level;          /* while ready: effective priority */
    uint8_t priority;       /* asked for, of the pending run */
    uint8_t delay_priority; /* of the delayed add */
    uint8_t phase;          /* enum rco_queue_phase */
    bool quarantined;
    const char *ns, *name; /* behind the struct */
};

/* FIFO of one namespace inside a level; namespaces take turns. */
struct tenant {
    struct tenant *prev, *next;
    struct item *first, *last;
    char ns[];
};

struct level {
    struct rco_map tenants;
    struct tenant *turn, *turn_last; /* tenants with items, next to serve first */
    struct item *oldest, *newest;
    size_t n;
};

struct rco_workqueue {
    struct item **buckets;
    size_t n_buckets, n_items;
    struct level levels[RCO_PRIORITY_COUNT];
    struct rco_heap delayed;
    size_t n_processing, n_quarantined;
    uint64_t adds, retries;
    /* Global bucket as the time at which it is full again: in units of one token each. */
    rco_mono bucket_full;
    bool shutdown;
};

/* --- items --- */

static struct item *find(const struct rco_workqueue *q, const struct rco_key *key, uint64_t hash)
{
    if (q->n_buckets == 0)
        return NULL;
    for (struct item *i = q->buckets[hash & (q->n_buckets - 1)]; i; i = i->hash_next)
        if (i->hash == hash && strcmp(i->name, key->name) == 0 && strcmp(i->ns, key->ns) == 0)
            return i;
    return NULL;
}

static void grow(struct rco_workqueue *q)
{
    size_t n = q->n_buckets ? q->n_buckets * 2 : 64;
    struct item **buckets = rco_calloc(n, sizeof(*buckets));

    for (size_t b = 0; b < q->n_buckets; b++) {
        for (struct item *i = q->buckets[b], *next; i; i = next) {
            next = i->hash_next;
            i->hash_next = buckets[i->hash & (n - 1)];
            buckets[i->hash & (n - 1)] = i;
        }
    }
    free(q->buckets);
    q->buckets = buckets;
    q->n_buckets = n;
}

static struct item *find_or_make(struct rco_workqueue *q, const struct rco_key *key)
{
    uint64_t hash = rco_key_hash(key);
    struct item *i = find(q, key, hash);
    size_t n_ns = strlen(key->ns) + 1, n_name = strlen(key->name) + 1;
    char *text;

    if (i)
        return i;
    if (q->n_items >= q->n_buckets)
        grow(q);
    i = rco_calloc(1, sizeof(*i) + n_ns + n_name);
    text = (char *)(i + 1);
    memcpy(text, key->ns, n_ns);
    memcpy(text + n_ns, key->name, n_name);
    i->ns = text;
    i->name = text + n_ns;
    i->hash = hash;
    i->hash_next = q->buckets[hash & (q->n_buckets - 1)];
    q->buckets[hash & (q->n_buckets - 1)] = i;
    q->n_items++;
    return i;
}

static void free_if_idle(struct rco_workqueue *q, struct item *i)
{
    struct item **at;

    if (i->phase != RCO_QUEUE_IDLE || i->quarantined || i->failures > 0 ||
        rco_heap_contains(&i->delay))
        return;
    at = &q->buckets[i->hash & (q->n_buckets - 1)];
    while (*at != i)
        at = &(*at)->hash_next;
    *at = i->hash_next;
    q->n_items--;
    free(i);
}

/* --- levels --- */

static void turn_append(struct level *l, struct tenant *t)
{
    t->prev = l->turn_last;
    t->next = NULL;
    if (l->turn_last)
        l->turn_last->next = t;
    else
        l->turn = t;
    l->turn_last = t;
}

static void turn_unlink(struct level *l, struct tenant *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else
        l->turn = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        l->turn_last = t->prev;
}

static struct tenant *tenant_of(struct level *l, const char *ns)
{
    struct tenant *t = rco_map_get(&l->tenants, ns);
    size_t n = strlen(ns) + 1;

    if (t)
        return t;
    t = rco_calloc(1, sizeof(*t) + n);
    memcpy(t->ns, ns, n);
    rco_map_set(&l->tenants, t->ns, t);
    turn_append(l, t);
    return t;
}

static void level_push(struct level *l, struct item *i, rco_mono now)
{
    struct tenant *t = tenant_of(l, i->ns);

    i->prev = t->last;
    i->next = NULL;
    if (t->last)
        t->last->next = i;
    else
        t->first = i;
    t->last = i;
    i->level_since = now;
    i->age_prev = l->newest;
    i->age_next = NULL;
    if (l->newest)
        l->newest->age_next = i;
    else
        l->oldest = i;
    l->newest = i;
    l->n++;
}

static void age_unlink(struct level *l, struct item *i)
{
    if (i->age_prev)
        i->age_prev->age_next = i->age_next;
    else
        l->oldest = i->age_next;
    if (i->age_next)
        i->age_next->age_prev = i->age_prev;
    else
        l->newest = i->age_prev;
}

static void level_remove(struct level *l, struct item *i)
{
    struct tenant *t = rco_map_get(&l->tenants, i->ns);

    if (i->prev)
        i->prev->next = i->next;
    else
        t->first = i->next;
    if (i->next)
        i->next->prev = i->prev;
    else
        t->last = i->prev;
    age_unlink(l, i);
    l->n--;
    if (!t->first) {
        turn_unlink(l, t);
        rco_map_remove(&l->tenants, t->ns);
        free(t);
    }
}

static struct item *level_pop(struct level *l)
{
    struct tenant *t = l->turn;
    struct item *i;

    if (!t)
        return NULL;
    i = t->first;
    /* To the end of the round before the item goes: the last item takes its tenant along. */
    turn_unlink(l, t);
    turn_append(l, t);
    level_remove(l, i);
    return i;
}

/* --- queue --- */

struct rco_workqueue *rco_workqueue_new(void)
{
    return rco_calloc(1, sizeof(struct rco_workqueue));
}

void rco_workqueue_free(struct rco_workqueue *q)
{
    if (!q)
        return;
    for (int l = 0; l < RCO_PRIORITY_COUNT; l++) {
        while (level_pop(&q->levels[l]))
            ;
        rco_map_release(&q->levels[l].tenants);
    }
    for (size_t b = 0; b < q->n_buckets; b++) {
        for (struct item *i = q->buckets[b], *next; i; i = next) {
            next = i->hash_next;
            free(i);
        }
    }
    free(q->buckets);
    rco_heap_release(&q->delayed);
    free(q);
}

static void advance(struct item *i, enum rco_queue_input input)
{
    enum rco_queue_phase next = rco_queue_next((enum rco_queue_phase)i->phase, input);

    assert(next != RCO_QUEUE_PHASE_COUNT);
    i->phase = (uint8_t)next;
}

static void stand_in_line(struct rco_workqueue *q, struct item *i, rco_mono now)
{
    i->level = i->priority;
    i->ready_since = now;
    level_push(&q->levels[i->level], i, now);
}

static void raise_level(struct rco_workqueue *q, struct item *i, enum rco_priority priority,
                        rco_mono now)
{
    level_remove(&q->levels[i->level], i);
    i->level = (uint8_t)priority;
    level_push(&q->levels[priority], i, now);
}

static void add_item(struct rco_workqueue *q, struct item *i, enum rco_priority priority,
                     rco_mono now)
{
    bool waited = i->phase == RCO_QUEUE_READY;

    if (waited || i->phase == RCO_QUEUE_AGAIN) {
        if (priority > i->priority)
            i->priority = (uint8_t)priority;
        if (waited && priority > i->level)
            raise_level(q, i, priority, now);
    } else {
        q->adds++;
        i->priority = (uint8_t)priority;
    }
    advance(i, RCO_QUEUE_ADD);
    if (i->phase == RCO_QUEUE_READY && !waited)
        stand_in_line(q, i, now);
}

void rco_workqueue_add(struct rco_workqueue *q, const struct rco_key *key,
                       enum rco_priority priority, rco_mono now)
{
    struct item *i;

    if (q->shutdown)
        return;
    i = find_or_make(q, key);
    if (!i->quarantined)
        add_item(q, i, priority, now);
}

void rco_workqueue_add_at(struct rco_workqueue *q, const struct rco_key *key,
                          enum rco_priority priority, rco_mono due, rco_mono now)
{
    struct item *i;

    if (due <= now) {
        rco_workqueue_add(q, key, priority, now);
        return;
    }
    if (q->shutdown)
        return;
    i = find_or_make(q, key);
    if (i->quarantined)
        return;
    if (rco_heap_contains(&i->delay)) {
        if (priority > i->delay_priority)
            i->delay_priority = (uint8_t)priority;
        if (i->delay.key <= due)
            return;
        rco_heap_remove(&q->delayed, &i->delay);
    } else {
        i->delay_priority = (uint8_t)priority;
    }
    rco_heap_push(&q->delayed, &i->delay, due);
}

static int64_t backoff(unsigned failures)
{
    int64_t d = RCO_QUEUE_BACKOFF_FIRST_NS;

    while (failures-- > 0 && d < RCO_QUEUE_BACKOFF_CAP_NS)
        d *= 2;
    return d < RCO_QUEUE_BACKOFF_CAP_NS ? d : RCO_QUEUE_BACKOFF_CAP_NS;
}

/* Takes a token; returns when it is there. The bucket may go into debt, which spreads a storm. */
static rco_mono take_token(struct rco_workqueue *q, rco_mono now)
{
    const int64_t per_token = RCO_NS_PER_S / RCO_QUEUE_BUCKET_PER_S;
    rco_mono full = q->bucket_full > now ? q->bucket_full : now;
    rco_mono due = full + per_token - RCO_QUEUE_BUCKET_BURST * per_token;

    q->bucket_full = full + per_token;
    return due > now ? due : now;
}

static rco_mono retry_at(struct rco_workqueue *q, const struct rco_key *key,
                         enum rco_priority priority, rco_mono earliest, rco_mono now)
{
    struct item *i;
    rco_mono due;

    if (q->shutdown)
        return now;
    i = find_or_make(q, key);
    due = now + backoff(i->failures);
    if (earliest > due)
        due = earliest;
    if (i->failures < 1000)
        i->failures++;
    q->retries++;
    rco_workqueue_add_at(q, key, priority, due, now);
    return due;
}

rco_mono rco_workqueue_add_rate_limited(struct rco_workqueue *q, const struct rco_key *key,
                                        enum rco_priority priority, rco_mono now)
{
    return retry_at(q, key, priority, take_token(q, now), now);
}

rco_mono rco_workqueue_add_backoff(struct rco_workqueue *q, const struct rco_key *key,
                                   enum rco_priority priority, rco_mono now)
{
    return retry_at(q, key, priority, now, now);
}

void rco_workqueue_forget(struct rco_workqueue *q, const struct rco_key *key)
{
    struct item *i = find(q, key, rco_key_hash(key));

    if (!i)
        return;
    i->failures = 0;
    free_if_idle(q, i);
}

unsigned rco_workqueue_failures(const struct rco_workqueue *q, const struct rco_key *key)
{
    const struct item *i = find(q, key, rco_key_hash(key));

    return i ? i->failures : 0;
}

static void wake_delayed(struct rco_workqueue *q, rco_mono now)
{
    struct rco_heap_node *node;

    while ((node = rco_heap_peek(&q->delayed)) && node->key <= now) {
        struct item *i = (struct item *)node;

        rco_heap_pop(&q->delayed);
        add_item(q, i, (enum rco_priority)i->delay_priority, now);
    }
}

static void age(struct rco_workqueue *q, rco_mono now)
{
    for (int l = RCO_PRIORITY_COUNT - 2; l >= 0; l--) {
        struct item *i;

        while ((i = q->levels[l].oldest) && now - i->level_since >= RCO_QUEUE_AGE_NS)
            raise_level(q, i, (enum rco_priority)(l + 1), now);
    }
}

bool rco_workqueue_get(struct rco_workqueue *q, rco_mono now, struct rco_work *ret)
{
    wake_delayed(q, now);
    if (q->shutdown)
        return false;
    age(q, now);
    for (int l = RCO_PRIORITY_COUNT - 1; l >= 0; l--) {
        struct item *i = level_pop(&q->levels[l]);

        if (!i)
            continue;
        advance(i, RCO_QUEUE_TAKE);
        i->started = now;
        q->n_processing++;
        *ret = (struct rco_work){
            .key = {.ns = i->ns, .name = i->name},
            .priority = (enum rco_priority)i->priority,
            .waited_ns = now - i->ready_since,
        };
        return true;
    }
    return false;
}

void rco_workqueue_done(struct rco_workqueue *q, const struct rco_key *key, rco_mono now)
{
    struct item *i = find(q, key, rco_key_hash(key));

    assert(i);
    advance(i, q->shutdown ? RCO_QUEUE_DONE_LAST : RCO_QUEUE_DONE);
    q->n_processing--;
    if (i->phase == RCO_QUEUE_READY)
        stand_in_line(q, i, now);
    free_if_idle(q, i);
}

rco_mono rco_workqueue_next(const struct rco_workqueue *q, rco_mono now)
{
    const struct rco_heap_node *node;

    if (q->shutdown)
        return 0;
    for (int l = 0; l < RCO_PRIORITY_COUNT; l++)
        if (q->levels[l].n > 0)
            return now;
    node = rco_heap_peek(&q->delayed);
    return node ? node->key : 0;
}

size_t rco_workqueue_ready(const struct rco_workqueue *q)
{
    size_t n = 0;

    for (int l = 0; l < RCO_PRIORITY_COUNT; l++)
        n += q->levels[l].n;
    return n;
}

void rco_workqueue_quarantine(struct rco_workqueue *q, const struct rco_key *key)
{
    struct item *i = find_or_make(q, key);

    if (i->quarantined)
        return;
    i->quarantined = true;
    q->n_quarantined++;
    i->failures = 0;
    rco_heap_remove(&q->delayed, &i->delay);
    if (i->phase == RCO_QUEUE_READY)
        level_remove(&q->levels[i->level], i);
    advance(i, RCO_QUEUE_EXPEL);
}

void rco_workqueue_unquarantine(struct rco_workqueue *q, const struct rco_key *key)
{
    struct item *i = find(q, key, rco_key_hash(key));

    if (!i || !i->quarantined)
        return;
    i->quarantined = false;
    q->n_quarantined--;
    free_if_idle(q, i);
}

bool rco_workqueue_is_quarantined(const struct rco_workqueue *q, const struct rco_key *key)
{
    const struct item *i = find(q, key, rco_key_hash(key));

    return i && i->quarantined;
}

void rco_workqueue_shutdown(struct rco_workqueue *q)
{
    q->shutdown = true;
}

void rco_workqueue_stats(const struct rco_workqueue *q, rco_mono now,
                         struct rco_workqueue_stats *out)
{
    *out = (struct rco_workqueue_stats){
        .delayed = q->delayed.n,
        .processing = q->n_processing,
        .quarantined = q->n_quarantined,
        .adds = q->adds,
        .retries = q->retries,
    };
    for (int l = 0; l < RCO_PRIORITY_COUNT; l++)
        out->depth[l] = q->levels[l].n;
    if (q->n_processing == 0)
        return;
    for (size_t b = 0; b < q->n_buckets; b++) {
        for (const struct item *i = q->buckets[b]; i; i = i->hash_next) {
            if (i->phase != RCO_QUEUE_RUNNING && i->phase != RCO_QUEUE_AGAIN)
                continue;
            out->unfinished_ns += now - i->started;
            if (out->oldest_processing == 0 || i->started < out->oldest_processing)
                out->oldest_processing = i->started;
        }
    }
}
