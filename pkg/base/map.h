/* Hash map from string to pointer, open addressing, keys borrowed or copied by the caller. */
#ifndef RCO_BASE_MAP_H
#define RCO_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_map_slot;

struct rco_map {
    struct rco_map_slot *slots;
    size_t n;        /* live entries */
    size_t n_used;   /* live plus deleted marks */
    size_t capacity; /* power of two, 0 before the first set */
};

#define RCO_MAP_INIT ((struct rco_map){0})

/* Frees the table and its own copies of the keys, not the values. */
void rco_map_release(struct rco_map *m);
/* Value of KEY or NULL. */
void *rco_map_get(const struct rco_map *m, const char *key);
bool rco_map_has(const struct rco_map *m, const char *key);
/* Sets KEY (copied) to VALUE (not NULL); returns the old value or NULL. */
void *rco_map_set(struct rco_map *m, const char *key, void *value);
/* Removes KEY; returns its value or NULL. */
void *rco_map_remove(struct rco_map *m, const char *key);
/* Iterates: start with *IT = 0; false at the end. The map may lose the current entry meanwhile,
 * and must not gain any. */
bool rco_map_next(const struct rco_map *m, size_t *it, const char **ret_key, void **ret_value);

/* 64-bit hash of N bytes (wyhash-like mixing; not for untrusted table flooding beyond our caps). */
uint64_t rco_hash(const void *bytes, size_t n, uint64_t seed);

#endif
