/* Hash multi-map from 64-bit hashes to small integers (record ids), for the indexes of the store.
 * Most hashes have one id: that takes 12 bytes in a table that is 70 to 87 per cent full. The ids
 * of a hash with several stand in an array, 4 bytes each. */
#ifndef RCO_RUNTIME_MULTIMAP_H
#define RCO_RUNTIME_MULTIMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids are below this. */
#define RCO_MULTIMAP_ID_MAX (UINT32_C(1) << 31)

struct rco_multimap_list {
    uint32_t *ids; /* NULL = a free list, then n is the next free one */
    uint32_t n, size;
};

struct rco_multimap {
    uint64_t *hashes; /* open addressing; parallel to values */
    uint32_t *values; /* 0 = empty slot */
    uint32_t n_slots, n_used;
    struct rco_multimap_list *lists; /* [0] is unused */
    uint32_t n_lists, lists_size;
    uint32_t free_list; /* 0 = none */
    size_t list_bytes;
};

#define RCO_MULTIMAP_INIT ((struct rco_multimap){0})

/* Empty afterwards, and usable. */
void rco_multimap_release(struct rco_multimap *m);
/* Adds (HASH, ID); the same pair may stand there several times. */
void rco_multimap_add(struct rco_multimap *m, uint64_t hash, uint32_t id);
/* Removes (HASH, ID) once; false when it is not there. */
bool rco_multimap_remove(struct rco_multimap *m, uint64_t hash, uint32_t id);
/* The ids under HASH, in no order: *RET_IDS is borrowed until the map changes, or is SINGLE, which
 * the caller gives for the only one. */
size_t rco_multimap_get(const struct rco_multimap *m, uint64_t hash, const uint32_t **ret_ids,
                        uint32_t *single);
size_t rco_multimap_bytes(const struct rco_multimap *m);

#endif
