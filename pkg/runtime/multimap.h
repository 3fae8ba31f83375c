/* Hash multi-map from 64-bit hashes to small integers (record ids), for the indexes of the store.
 * Values of one owner are chained, so that all of them go in time proportional to their number. */
#ifndef RCO_RUNTIME_MULTIMAP_H
#define RCO_RUNTIME_MULTIMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_multimap_entry;

struct rco_multimap {
    struct rco_multimap_entry *entries; /* [0] is unused: 0 means none */
    uint32_t *buckets;
    uint32_t n_buckets; /* power of two */
    uint32_t n;         /* live entries */
    uint32_t top;       /* entries ever used */
    uint32_t capacity;
    uint32_t free_list;
};

#define RCO_MULTIMAP_INIT ((struct rco_multimap){0})

void rco_multimap_release(struct rco_multimap *m);
/* Adds (HASH, ID) to the chain of an owner; *CHAIN is its head, 0 = empty. */
void rco_multimap_add(struct rco_multimap *m, uint64_t hash, uint32_t id, uint32_t *chain);
/* Removes all entries of the chain. */
void rco_multimap_remove_chain(struct rco_multimap *m, uint32_t *chain);
/* Hash of the Nth entry of a chain; false beyond its end. */
bool rco_multimap_chain_hash(const struct rco_multimap *m, uint32_t chain, size_t n, uint64_t *ret);
/* Iterates the ids under HASH: start with *IT = 0. The map must not change meanwhile. */
bool rco_multimap_next(const struct rco_multimap *m, uint64_t hash, uint32_t *it, uint32_t *ret_id);
size_t rco_multimap_bytes(const struct rco_multimap *m);

#endif
