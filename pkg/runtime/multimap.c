#include "runtime/multimap.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16
#define FIRST_IDS 4
#define IS_LIST (UINT32_C(1) << 31) /* of a value: the rest is a list, else an id + 1 */

void rco_multimap_release(struct rco_multimap *m)
{
    for (uint32_t i = 1; i < m->n_lists; i++)
        free(m->lists[i].ids);
    free(m->lists);
    free(m->hashes);
    free(m->values);
    *m = RCO_MULTIMAP_INIT;
}

/* --- slots --- */

/* Slots stand in the order of the hashes' upper halves, so that any number of them can be used. */
static uint32_t home(const struct rco_multimap *m, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * m->n_slots >> 32);
}

static uint32_t after(const struct rco_multimap *m, uint32_t slot)
{
    return slot + 1 == m->n_slots ? 0 : slot + 1;
}

/* The slot of HASH, or the empty one where it belongs. There is always an empty one. */
static uint32_t find_slot(const struct rco_multimap *m, uint64_t hash)
{
    uint32_t i = home(m, hash);

    while (m->values[i] && m->hashes[i] != hash)
        i = after(m, i);
    return i;
}

static void grow(struct rco_multimap *m)
{
    uint64_t *hashes = m->hashes;
    uint32_t *values = m->values;
    uint32_t n = m->n_slots;

    m->n_slots = n ? n + n / 4 : FIRST_SLOTS;
    m->hashes = rco_calloc(m->n_slots, sizeof(*m->hashes));
    m->values = rco_calloc(m->n_slots, sizeof(*m->values));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot;

        if (!values[i])
            continue;
        slot = find_slot(m, hashes[i]);
        m->hashes[slot] = hashes[i];
        m->values[slot] = values[i];
    }
    free(hashes);
    free(values);
}

/* Empties SLOT and closes the gap, so that there are no deletion marks. */
static void clear_slot(struct rco_multimap *m, uint32_t slot)
{
    uint32_t hole = slot, n = m->n_slots;

    for (uint32_t i = after(m, slot); m->values[i]; i = after(m, i)) {
        uint32_t from = home(m, m->hashes[i]);

        if ((i + n - from) % n < (i + n - hole) % n)
            continue; /* it would come before its home */
        m->hashes[hole] = m->hashes[i];
        m->values[hole] = m->values[i];
        hole = i;
    }
    m->values[hole] = 0;
    m->n_used--;
}

/* --- lists --- */

static uint32_t take_list(struct rco_multimap *m)
{
    uint32_t i = m->free_list;

    if (i) {
        m->free_list = m->lists[i].n;
        m->lists[i] = (struct rco_multimap_list){0};
        return i;
    }
    if (m->n_lists == 0)
        m->n_lists = 1;
    if (m->n_lists >= m->lists_size) {
        m->lists_size += m->lists_size / 4 + 8;
        m->lists = rco_realloc(m->lists, m->lists_size * sizeof(*m->lists));
    }
    m->lists[m->n_lists] = (struct rco_multimap_list){0};
    return m->n_lists++;
}

static void give_list(struct rco_multimap *m, uint32_t i)
{
    struct rco_multimap_list *l = &m->lists[i];

    m->list_bytes -= l->size * sizeof(*l->ids);
    free(l->ids);
    *l = (struct rco_multimap_list){.n = m->free_list};
    m->free_list = i;
}

static void list_resize(struct rco_multimap *m, struct rco_multimap_list *l, uint32_t size)
{
    m->list_bytes += (size_t)size * sizeof(*l->ids);
    m->list_bytes -= (size_t)l->size * sizeof(*l->ids);
    l->ids = rco_realloc(l->ids, size * sizeof(*l->ids));
    l->size = size;
}

static void list_add(struct rco_multimap *m, uint32_t list, uint32_t id)
{
    struct rco_multimap_list *l = &m->lists[list];

    if (l->n == l->size)
        list_resize(m, l, l->size ? l->size + l->size / 4 + 4 : FIRST_IDS);
    l->ids[l->n++] = id;
}

static bool list_remove(struct rco_multimap *m, uint32_t list, uint32_t id)
{
    struct rco_multimap_list *l = &m->lists[list];
    uint32_t i = 0;

    while (i < l->n && l->ids[i] != id)
        i++;
    if (i == l->n)
        return false;
    l->ids[i] = l->ids[--l->n];
    if (l->n < l->size / 2 && l->size > 4 * FIRST_IDS)
        list_resize(m, l, l->n + l->n / 4);
    return true;
}

/* --- the map --- */

void rco_multimap_add(struct rco_multimap *m, uint64_t hash, uint32_t id)
{
    uint32_t slot, value, list;

    assert(id < RCO_MULTIMAP_ID_MAX - 1);
    if ((uint64_t)(m->n_used + 1) * 8 > (uint64_t)m->n_slots * 7)
        grow(m);
    slot = find_slot(m, hash);
    value = m->values[slot];
    if (!value) {
        m->hashes[slot] = hash;
        m->values[slot] = id + 1;
        m->n_used++;
        return;
    }
    if (!(value & IS_LIST)) {
        list = take_list(m);
        list_add(m, list, value - 1);
        m->values[slot] = list | IS_LIST;
    }
    list_add(m, m->values[slot] & ~IS_LIST, id);
}

bool rco_multimap_remove(struct rco_multimap *m, uint64_t hash, uint32_t id)
{
    uint32_t slot, value, list;

    if (m->n_slots == 0)
        return false;
    slot = find_slot(m, hash);
    value = m->values[slot];
    if (!(value & IS_LIST)) {
        if (value != id + 1)
            return false;
        clear_slot(m, slot);
        return true;
    }
    list = value & ~IS_LIST;
    if (!list_remove(m, list, id))
        return false;
    if (m->lists[list].n == 1) {
        m->values[slot] = m->lists[list].ids[0] + 1;
        give_list(m, list);
    }
    return true;
}

size_t rco_multimap_get(const struct rco_multimap *m, uint64_t hash, const uint32_t **ret_ids,
                        uint32_t *single)
{
    uint32_t value;

    *ret_ids = single;
    if (m->n_slots == 0)
        return 0;
    value = m->values[find_slot(m, hash)];
    if (!value)
        return 0;
    if (!(value & IS_LIST)) {
        *single = value - 1;
        return 1;
    }
    *ret_ids = m->lists[value & ~IS_LIST].ids;
    return m->lists[value & ~IS_LIST].n;
}

size_t rco_multimap_bytes(const struct rco_multimap *m)
{
    return m->n_slots * (sizeof(*m->hashes) + sizeof(*m->values)) +
           m->lists_size * sizeof(*m->lists) + m->list_bytes;
}
