/* One copy of each string that repeats across objects. */
#include "json/codec.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

#define FIRST_SLOTS 256

struct entry {
    char *s; /* NULL = free, then refs is the next free id */
    uint32_t refs;
    uint32_t hash;
};

/* Open addressing over ids; entries never move within their array, so ids stay small numbers. */
struct rco_intern {
    struct entry *entries; /* index 0 is not used */
    uint32_t n_entries, entries_size;
    uint32_t free_id; /* 0 = none */
    uint32_t *slots;  /* ids, 0 = empty */
    uint32_t n_slots; /* a power of two */
    uint32_t live;
};

struct rco_intern *rco_intern_new(void)
{
    struct rco_intern *t = rco_calloc(1, sizeof(*t));
    t->n_slots = FIRST_SLOTS;
    t->slots = rco_calloc(t->n_slots, sizeof(*t->slots));
    t->n_entries = 1;
    return t;
}

void rco_intern_free(struct rco_intern *t)
{
    if (!t)
        return;
    for (uint32_t i = 1; i < t->n_entries; i++)
        free(t->entries[i].s);
    free(t->entries);
    free(t->slots);
    free(t);
}

static uint32_t hash_of(const char *s)
{
    return (uint32_t)rco_hash(s, strlen(s), 0);
}

/* The slot of S, or the empty one where it belongs. */
static uint32_t *find_slot(const struct rco_intern *t, const char *s, uint32_t hash)
{
    for (uint32_t i = hash;; i++) {
        uint32_t *slot = &t->slots[i & (t->n_slots - 1)];
        if (!*slot)
            return slot;
        const struct entry *e = &t->entries[*slot];
        if (e->hash == hash && strcmp(e->s, s) == 0)
            return slot;
    }
}

static void place(struct rco_intern *t, uint32_t id)
{
    uint32_t i = t->entries[id].hash;
    while (t->slots[i & (t->n_slots - 1)])
        i++;
    t->slots[i & (t->n_slots - 1)] = id;
}

static void grow_slots(struct rco_intern *t)
{
    free(t->slots);
    t->n_slots *= 2;
    t->slots = rco_calloc(t->n_slots, sizeof(*t->slots));
    for (uint32_t id = 1; id < t->n_entries; id++)
        if (t->entries[id].s)
            place(t, id);
}

static uint32_t new_id(struct rco_intern *t)
{
    uint32_t id = t->free_id;
    if (id) {
        t->free_id = t->entries[id].refs;
        return id;
    }
    if (t->n_entries >= t->entries_size) {
        t->entries_size = t->entries_size ? t->entries_size * 2 : FIRST_SLOTS;
        t->entries = rco_realloc(t->entries, t->entries_size * sizeof(*t->entries));
        t->entries[0] = (struct entry){0};
    }
    return t->n_entries++;
}

uint32_t rco_intern_ref(struct rco_intern *t, const char *s)
{
    uint32_t hash = hash_of(s);
    uint32_t *slot = find_slot(t, s, hash);
    if (*slot) {
        t->entries[*slot].refs++;
        return *slot;
    }
    if ((t->live + 1) * 4 > t->n_slots * 3) {
        grow_slots(t);
        slot = find_slot(t, s, hash);
    }
    uint32_t id = new_id(t);
    t->entries[id] = (struct entry){.s = rco_strdup(s), .refs = 1, .hash = hash};
    *slot = id;
    t->live++;
    return id;
}

/* Empties the slot of ID and moves up what was pushed behind it. */
static void remove_slot(struct rco_intern *t, uint32_t id)
{
    uint32_t mask = t->n_slots - 1, i = t->entries[id].hash & mask;
    while (t->slots[i] != id)
        i = (i + 1) & mask;
    t->slots[i] = 0;
    for (i = (i + 1) & mask; t->slots[i]; i = (i + 1) & mask) {
        uint32_t moved = t->slots[i];
        t->slots[i] = 0;
        place(t, moved);
    }
}

void rco_intern_unref(struct rco_intern *t, uint32_t id)
{
    assert(id && id < t->n_entries && t->entries[id].s);
    struct entry *e = &t->entries[id];
    if (--e->refs)
        return;
    remove_slot(t, id);
    free(e->s);
    *e = (struct entry){.refs = t->free_id};
    t->free_id = id;
    t->live--;
}

const char *rco_intern_str(const struct rco_intern *t, uint32_t id)
{
    assert(id && id < t->n_entries && t->entries[id].s);
    return t->entries[id].s;
}

size_t rco_intern_count(const struct rco_intern *t)
{
    return t->live;
}
