#include "runtime/multimap.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct rco_multimap_entry {
    uint64_t hash;
    uint32_t id;
    uint32_t next, prev; /* in the bucket; prev 0 = first */
    uint32_t sibling;    /* next of the same owner, or next free entry */
};

void rco_multimap_release(struct rco_multimap *m)
{
    free(m->entries);
    free(m->buckets);
    *m = RCO_MULTIMAP_INIT;
}

static void link_entry(struct rco_multimap *m, uint32_t i)
{
    struct rco_multimap_entry *e = &m->entries[i];
    uint32_t *head = &m->buckets[e->hash & (m->n_buckets - 1)];

    e->prev = 0;
    e->next = *head;
    if (*head)
        m->entries[*head].prev = i;
    *head = i;
}

static void rehash(struct rco_multimap *m, uint32_t n_buckets)
{
    uint32_t *old = m->buckets;
    uint32_t n_old = m->n_buckets;

    m->buckets = rco_calloc(n_buckets, sizeof(*m->buckets));
    m->n_buckets = n_buckets;
    for (uint32_t b = 0; b < n_old; b++) {
        for (uint32_t i = old[b], next; i; i = next) {
            next = m->entries[i].next;
            link_entry(m, i);
        }
    }
    free(old);
}

static uint32_t take_entry(struct rco_multimap *m)
{
    uint32_t i = m->free_list;

    if (i) {
        m->free_list = m->entries[i].sibling;
        return i;
    }
    if (m->top + 1 >= m->capacity) {
        uint32_t capacity = m->capacity ? m->capacity + m->capacity / 4 + 16 : 32;

        m->entries = rco_realloc(m->entries, capacity * sizeof(*m->entries));
        m->capacity = capacity;
    }
    return ++m->top;
}

void rco_multimap_add(struct rco_multimap *m, uint64_t hash, uint32_t id, uint32_t *chain)
{
    uint32_t i = take_entry(m);

    if (m->n + 1 > m->n_buckets)
        rehash(m, m->n_buckets ? m->n_buckets * 2 : 32);
    m->entries[i] = (struct rco_multimap_entry){.hash = hash, .id = id, .sibling = *chain};
    *chain = i;
    link_entry(m, i);
    m->n++;
}

static void unlink_entry(struct rco_multimap *m, uint32_t i)
{
    struct rco_multimap_entry *e = &m->entries[i];

    if (e->prev)
        m->entries[e->prev].next = e->next;
    else
        m->buckets[e->hash & (m->n_buckets - 1)] = e->next;
    if (e->next)
        m->entries[e->next].prev = e->prev;
}

void rco_multimap_remove_chain(struct rco_multimap *m, uint32_t *chain)
{
    for (uint32_t i = *chain, next; i; i = next) {
        next = m->entries[i].sibling;
        unlink_entry(m, i);
        m->entries[i].sibling = m->free_list;
        m->free_list = i;
        m->n--;
    }
    *chain = 0;
}

bool rco_multimap_chain_hash(const struct rco_multimap *m, uint32_t chain, size_t n, uint64_t *ret)
{
    while (chain && n--)
        chain = m->entries[chain].sibling;
    if (!chain)
        return false;
    *ret = m->entries[chain].hash;
    return true;
}

bool rco_multimap_next(const struct rco_multimap *m, uint64_t hash, uint32_t *it, uint32_t *ret_id)
{
    uint32_t i;

    if (m->n_buckets == 0)
        return false;
    i = *it ? m->entries[*it].next : m->buckets[hash & (m->n_buckets - 1)];
    while (i && m->entries[i].hash != hash)
        i = m->entries[i].next;
    if (!i)
        return false;
    *it = i;
    *ret_id = m->entries[i].id;
    return true;
}

size_t rco_multimap_bytes(const struct rco_multimap *m)
{
    return m->capacity * sizeof(*m->entries) + m->n_buckets * sizeof(*m->buckets);
}
