#include "base/map.h"

#include "base/buf.h"

#include <string.h>

struct rco_map_slot {
    char *key;   /* NULL = never used */
    void *value; /* NULL with a key = deleted mark */
    uint64_t hash;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t m = (__uint128_t)a * b;

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t rco_hash(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ 0x9e3779b97f4a7c15ULL;
    uint64_t word;
    size_t left = n;

    while (left >= 8) {
        memcpy(&word, p, 8);
        h = mix(h ^ word, 0xe7037ed1a0b428dbULL);
        p += 8;
        left -= 8;
    }
    word = 0;
    if (left)
        memcpy(&word, p, left);
    h = mix(h ^ word, 0x8ebc6af09c88c6e3ULL);
    return mix(h ^ n, 0x589965cc75374cc3ULL);
}

static uint64_t hash_of(const char *key)
{
    return rco_hash(key, strlen(key), 0);
}

/* Slot that holds KEY, or NULL. */
static struct rco_map_slot *find(const struct rco_map *m, const char *key, uint64_t hash)
{
    size_t mask = m->capacity - 1;

    if (!m->capacity)
        return NULL;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct rco_map_slot *s = &m->slots[i];

        if (!s->key)
            return NULL;
        if (s->value && s->hash == hash && strcmp(s->key, key) == 0)
            return s;
    }
}

static void insert(struct rco_map *m, char *key, void *value, uint64_t hash)
{
    size_t mask = m->capacity - 1, i = hash & mask;

    while (m->slots[i].key)
        i = (i + 1) & mask;
    m->slots[i] = (struct rco_map_slot){.key = key, .value = value, .hash = hash};
    m->n++;
    m->n_used++;
}

static void rehash(struct rco_map *m)
{
    struct rco_map old = *m;
    size_t capacity = 16;

    while (capacity < old.n * 2 + 2)
        capacity *= 2;
    m->slots = rco_calloc(capacity, sizeof *m->slots);
    m->capacity = capacity;
    m->n = m->n_used = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        struct rco_map_slot *s = &old.slots[i];

        if (s->value)
            insert(m, s->key, s->value, s->hash);
        else
            free(s->key);
    }
    free(old.slots);
}

void rco_map_release(struct rco_map *m)
{
    for (size_t i = 0; i < m->capacity; i++)
        free(m->slots[i].key);
    free(m->slots);
    *m = RCO_MAP_INIT;
}

void *rco_map_get(const struct rco_map *m, const char *key)
{
    struct rco_map_slot *s = find(m, key, hash_of(key));

    return s ? s->value : NULL;
}

bool rco_map_has(const struct rco_map *m, const char *key)
{
    return rco_map_get(m, key) != NULL;
}

void *rco_map_set(struct rco_map *m, const char *key, void *value)
{
    uint64_t hash = hash_of(key);
    struct rco_map_slot *s = find(m, key, hash);

    if (s) {
        void *old = s->value;

        s->value = value;
        return old;
    }
    if ((m->n_used + 1) * 4 > m->capacity * 3)
        rehash(m);
    insert(m, rco_strdup(key), value, hash);
    return NULL;
}

void *rco_map_remove(struct rco_map *m, const char *key)
{
    struct rco_map_slot *s = find(m, key, hash_of(key));
    void *value;

    if (!s)
        return NULL;
    value = s->value;
    s->value = NULL;
    m->n--;
    return value;
}

bool rco_map_next(const struct rco_map *m, size_t *it, const char **ret_key, void **ret_value)
{
    while (*it < m->capacity) {
        struct rco_map_slot *s = &m->slots[(*it)++];

        if (s->value) {
            if (ret_key)
                *ret_key = s->key;
            if (ret_value)
                *ret_value = s->value;
            return true;
        }
    }
    return false;
}
