#include "runtime/store.h"

#include "base/map.h"
#include "base/str.h"
#include "runtime/multimap.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define HANDLERS_MAX 16
#define NO_SLOT UINT32_MAX

/* One object: the name, then the packed bytes. Namespace and name are left out of the packed form.
 */
struct record {
    uint32_t hash;
    uint32_t ns; /* interned */
    uint32_t n_packed;
    uint16_t n_name;
    uint8_t mark; /* generation of the relist that saw it last */
    char bytes[];
};

struct handler {
    rco_store_fn fn;
    void *ctx;
};

struct rco_store {
    enum rco_kind kind;
    const struct rco_schema *schema;
    struct rco_intern *intern;
    rco_compact_fn compact;
    struct rco_index indexes[RCO_INDEXES_MAX];
    size_t n_indexes;
    struct handler handlers[HANDLERS_MAX];
    size_t n_handlers;
    struct record **records; /* by id; NULL = free */
    uint32_t n_ids, ids_capacity;
    uint32_t *free_ids;
    uint32_t n_free, free_capacity;
    uint32_t *table; /* ids + 1 by hash, linear probing, 0 = empty */
    uint32_t table_size;
    uint32_t n;
    struct rco_multimap multi;
    size_t record_bytes;
    uint8_t mark;
    bool marking;
    char *rv;
    struct rco_arena old_arena;
    struct rco_buf packed;
};

struct rco_index_sink {
    uint64_t seed; /* of the index */
    uint64_t hashes[RCO_INDEXES_MAX * RCO_INDEX_KEYS_MAX];
    size_t n, limit;
    const char *match; /* verification: is this key among them? */
    bool matched;
};

/* --- keys --- */

static uint64_t key_hash(const struct rco_key *k)
{
    return rco_key_hash(k);
}

static const char *record_ns(const struct rco_store *s, const struct record *r)
{
    return r->ns ? rco_intern_str(s->intern, r->ns) : "";
}

static bool record_is(const struct rco_store *s, const struct record *r, uint32_t hash,
                      const struct rco_key *k)
{
    return r->hash == hash && strncmp(k->name, r->bytes, r->n_name) == 0 &&
           k->name[r->n_name] == 0 && strcmp(record_ns(s, r), k->ns) == 0;
}

/* Slot of KEY in the table, or NO_SLOT. */
static uint32_t find_slot(const struct rco_store *s, uint32_t hash, const struct rco_key *k)
{
    if (s->table_size == 0)
        return NO_SLOT;
    for (uint32_t i = hash & (s->table_size - 1); s->table[i]; i = (i + 1) & (s->table_size - 1))
        if (record_is(s, s->records[s->table[i] - 1], hash, k))
            return i;
    return NO_SLOT;
}

static void table_put(struct rco_store *s, uint32_t hash, uint32_t id)
{
    uint32_t i = hash & (s->table_size - 1);

    while (s->table[i])
        i = (i + 1) & (s->table_size - 1);
    s->table[i] = id + 1;
}

static void table_grow(struct rco_store *s)
{
    if ((uint64_t)(s->n + 1) * 5 <= (uint64_t)s->table_size * 4)
        return;
    free(s->table);
    s->table_size = s->table_size ? s->table_size * 2 : 64;
    s->table = rco_calloc(s->table_size, sizeof(*s->table));
    for (uint32_t id = 0; id < s->n_ids; id++)
        if (s->records[id])
            table_put(s, s->records[id]->hash, id);
}

/* Removes the slot and closes the gap, so that there are no deletion marks. */
static void table_remove(struct rco_store *s, uint32_t slot)
{
    uint32_t mask = s->table_size - 1;
    uint32_t hole = slot;

    for (uint32_t i = (slot + 1) & mask; s->table[i]; i = (i + 1) & mask) {
        uint32_t home = s->records[s->table[i] - 1]->hash & mask;

        if (((i - home) & mask) >= ((i - hole) & mask)) {
            s->table[hole] = s->table[i];
            hole = i;
        }
    }
    s->table[hole] = 0;
}

static uint32_t take_id(struct rco_store *s)
{
    if (s->n_free > 0)
        return s->free_ids[--s->n_free];
    if (s->n_ids == s->ids_capacity) {
        s->ids_capacity += s->ids_capacity / 4 + 64;
        s->records = rco_realloc(s->records, s->ids_capacity * sizeof(struct record *));
    }
    s->records[s->n_ids] = NULL;
    return s->n_ids++;
}

static void give_id(struct rco_store *s, uint32_t id)
{
    s->records[id] = NULL;
    if (s->n_free == s->free_capacity) {
        s->free_capacity += s->free_capacity / 4 + 64;
        s->free_ids = rco_realloc(s->free_ids, s->free_capacity * sizeof(*s->free_ids));
    }
    s->free_ids[s->n_free++] = id;
}

/* --- indexes --- */

void rco_index_emit(struct rco_index_sink *sink, const char *key)
{
    if (rco_str_empty(key))
        return;
    if (sink->match) {
        sink->matched = sink->matched || strcmp(key, sink->match) == 0;
        return;
    }
    if (sink->n < sink->limit)
        sink->hashes[sink->n++] = rco_hash(key, strlen(key), sink->seed);
}

static uint64_t index_seed(size_t index)
{
    return 0x9e3779b97f4a7c15u * (index + 1);
}

static void collect(const struct rco_store *s, const void *obj, struct rco_index_sink *sink)
{
    sink->n = 0;
    sink->match = NULL;
    for (size_t i = 0; i < s->n_indexes; i++) {
        sink->seed = index_seed(i);
        sink->limit = sink->n + RCO_INDEX_KEYS_MAX;
        s->indexes[i].fn(obj, sink);
    }
}

static bool same_hashes(const struct rco_index_sink *a, const struct rco_index_sink *b)
{
    return a->n == b->n && memcmp(a->hashes, b->hashes, a->n * sizeof(a->hashes[0])) == 0;
}

/* Moves the entries of record ID from what OLD_OBJ emits to what NEW_OBJ does; either may be NULL.
 */
static void index_record(struct rco_store *s, uint32_t id, const void *old_obj, const void *new_obj)
{
    struct rco_index_sink old_keys, new_keys;

    old_keys.n = new_keys.n = 0;
    if (s->n_indexes == 0)
        return;
    if (old_obj)
        collect(s, old_obj, &old_keys);
    if (new_obj)
        collect(s, new_obj, &new_keys);
    if (same_hashes(&old_keys, &new_keys))
        return;
    for (size_t i = 0; i < old_keys.n; i++) {
        bool was_there = rco_multimap_remove(&s->multi, old_keys.hashes[i], id);

        assert(was_there); /* index functions are pure */
        (void)was_there;
    }
    for (size_t i = 0; i < new_keys.n; i++)
        rco_multimap_add(&s->multi, new_keys.hashes[i], id);
}

/* --- life --- */

struct rco_store *rco_store_new(enum rco_kind kind, struct rco_intern *intern)
{
    struct rco_store *s = rco_calloc(1, sizeof(*s));

    s->kind = kind;
    s->schema = rco_kind_info(kind)->schema;
    assert(s->schema);
    s->intern = intern;
    s->rv = rco_strdup("");
    return s;
}

static void record_drop(struct rco_store *s, struct record *r)
{
    rco_codec_unpack_release(s->schema, r->bytes + r->n_name, r->n_packed, s->intern);
    if (r->ns)
        rco_intern_unref(s->intern, r->ns);
    s->record_bytes -= malloc_usable_size(r) + sizeof(size_t);
    free(r);
}

void rco_store_free(struct rco_store *s)
{
    if (!s)
        return;
    for (uint32_t id = 0; id < s->n_ids; id++)
        if (s->records[id])
            record_drop(s, s->records[id]);
    free(s->records);
    free(s->free_ids);
    free(s->table);
    rco_multimap_release(&s->multi);
    rco_arena_release(&s->old_arena);
    rco_buf_release(&s->packed);
    free(s->rv);
    free(s);
}

enum rco_kind rco_store_kind(const struct rco_store *s)
{
    return s->kind;
}

void rco_store_set_compact(struct rco_store *s, rco_compact_fn fn)
{
    assert(s->n == 0);
    s->compact = fn;
}

void rco_store_add_index(struct rco_store *s, const struct rco_index *index)
{
    assert(s->n == 0 && s->n_indexes < RCO_INDEXES_MAX);
    s->indexes[s->n_indexes++] = *index;
}

void rco_store_add_handler(struct rco_store *s, rco_store_fn fn, void *ctx)
{
    assert(s->n_handlers < HANDLERS_MAX);
    s->handlers[s->n_handlers++] = (struct handler){fn, ctx};
}

static void notify(struct rco_store *s, const void *old_obj, const void *new_obj)
{
    for (size_t i = 0; i < s->n_handlers; i++)
        s->handlers[i].fn(s->handlers[i].ctx, old_obj, new_obj);
}

/* --- records --- */

static void *unpack(const struct rco_store *s, const struct record *r, struct rco_arena *a)
{
    void *obj = rco_arena_alloc(a, s->schema->size);
    struct rco_meta *m = obj;

    rco_codec_unpack(s->schema, r->bytes + r->n_name, r->n_packed, s->intern, a, obj);
    m->name = rco_arena_strndup(a, r->bytes, r->n_name);
    m->ns = r->ns ? rco_intern_str(s->intern, r->ns) : NULL;
    return obj;
}

/* Packs OBJ into s->packed without namespace and name, which the record has already. */
static void pack(struct rco_store *s, void *obj)
{
    struct rco_meta *m = obj;
    struct rco_meta saved = *m;

    m->name = NULL;
    m->ns = NULL;
    rco_buf_clear(&s->packed);
    rco_codec_pack(s->schema, obj, s->intern, &s->packed);
    m->name = saved.name;
    m->ns = saved.ns;
}

static struct record *record_new(struct rco_store *s, uint32_t hash, const struct rco_key *k)
{
    size_t n_name = strlen(k->name);
    struct record *r = rco_malloc(sizeof(*r) + n_name + s->packed.len);

    assert(n_name <= UINT16_MAX && s->packed.len <= UINT32_MAX);
    *r = (struct record){
        .hash = hash,
        .ns = *k->ns ? rco_intern_ref(s->intern, k->ns) : 0,
        .n_packed = (uint32_t)s->packed.len,
        .n_name = (uint16_t)n_name,
        .mark = s->mark,
    };
    memcpy(r->bytes, k->name, n_name);
    if (s->packed.len > 0)
        memcpy(r->bytes + n_name, s->packed.data, s->packed.len);
    s->record_bytes += malloc_usable_size(r) + sizeof(size_t);
    return r;
}

static void insert(struct rco_store *s, uint32_t hash, const struct rco_key *k, const void *obj)
{
    uint32_t id;

    table_grow(s);
    id = take_id(s);
    s->records[id] = record_new(s, hash, k);
    table_put(s, hash, id);
    s->n++;
    index_record(s, id, NULL, obj);
    notify(s, NULL, obj);
}

static void replace(struct rco_store *s, uint32_t id, const struct rco_key *k, const void *obj)
{
    struct record *old = s->records[id];
    struct record *r;
    const void *old_obj;

    if (old->n_packed == s->packed.len &&
        memcmp(old->bytes + old->n_name, s->packed.data, s->packed.len) == 0) {
        old->mark = s->mark;
        rco_codec_unpack_release(s->schema, s->packed.data, s->packed.len, s->intern);
        return;
    }
    rco_arena_clear(&s->old_arena);
    old_obj = unpack(s, old, &s->old_arena);
    r = record_new(s, old->hash, k);
    s->records[id] = r;
    index_record(s, id, old_obj, obj);
    notify(s, old_obj, obj);
    /* Only now: old_obj borrows its interned strings. */
    record_drop(s, old);
}

void rco_store_upsert(struct rco_store *s, void *obj, struct rco_arena *scratch)
{
    const struct rco_meta *m = obj;
    struct rco_key k = rco_key_of(m->ns, m->name);
    uint32_t hash = (uint32_t)key_hash(&k);
    uint32_t slot = find_slot(s, hash, &k);

    if (s->compact)
        s->compact(obj, scratch);
    pack(s, obj);
    if (slot == NO_SLOT)
        insert(s, hash, &k, obj);
    else
        replace(s, s->table[slot] - 1, &k, obj);
}

static void remove_slot(struct rco_store *s, uint32_t slot)
{
    uint32_t id = s->table[slot] - 1;
    struct record *r = s->records[id];
    const void *old_obj;

    rco_arena_clear(&s->old_arena);
    old_obj = unpack(s, r, &s->old_arena);
    table_remove(s, slot);
    index_record(s, id, old_obj, NULL);
    give_id(s, id);
    s->n--;
    notify(s, old_obj, NULL);
    record_drop(s, r);
}

void rco_store_remove(struct rco_store *s, const struct rco_key *key)
{
    uint32_t slot = find_slot(s, (uint32_t)key_hash(key), key);

    if (slot != NO_SLOT)
        remove_slot(s, slot);
}

/* --- relist --- */

void rco_store_mark_begin(struct rco_store *s)
{
    if (s->mark == UINT8_MAX) {
        /* Marks of long abandoned lists must not come true again. */
        s->mark = 0;
        for (uint32_t id = 0; id < s->n_ids; id++)
            if (s->records[id])
                s->records[id]->mark = 0;
    }
    s->mark++;
    s->marking = true;
}

void rco_store_mark_keep(struct rco_store *s, const struct rco_key *key)
{
    uint32_t slot = find_slot(s, (uint32_t)key_hash(key), key);

    if (slot != NO_SLOT)
        s->records[s->table[slot] - 1]->mark = s->mark;
}

void rco_store_mark_finish(struct rco_store *s)
{
    assert(s->marking);
    s->marking = false;
    for (uint32_t id = 0; id < s->n_ids; id++) {
        struct record *r = s->records[id];

        if (r && r->mark != s->mark) {
            uint32_t slot = r->hash & (s->table_size - 1);

            while (s->table[slot] != id + 1)
                slot = (slot + 1) & (s->table_size - 1);
            remove_slot(s, slot);
        }
    }
}

void rco_store_mark_abandon(struct rco_store *s)
{
    s->marking = false;
}

void rco_store_set_rv(struct rco_store *s, const char *rv)
{
    int order;

    if (rco_str_empty(rv))
        return;
    if (*s->rv && (rco_rv_compare(rv, s->rv, &order) < 0 || order <= 0))
        return;
    free(s->rv);
    s->rv = rco_strdup(rv);
}

const char *rco_store_rv(const struct rco_store *s)
{
    return s->rv;
}

void rco_store_stats(const struct rco_store *s, struct rco_store_stats *out)
{
    *out = (struct rco_store_stats){
        .objects = s->n,
        .record_bytes = s->record_bytes,
        .table_bytes = s->ids_capacity * sizeof(struct record *) +
                       s->free_capacity * sizeof(*s->free_ids) + s->table_size * sizeof(*s->table) +
                       rco_multimap_bytes(&s->multi),
    };
}

/* --- lister --- */

static const struct record *find(const struct rco_store *s, const char *ns, const char *name)
{
    struct rco_key k = rco_key_of(ns, name);
    uint32_t slot = find_slot(s, (uint32_t)key_hash(&k), &k);

    return slot == NO_SLOT ? NULL : s->records[s->table[slot] - 1];
}

const void *rco_lister_get(const struct rco_store *s, const char *ns, const char *name,
                           struct rco_arena *a)
{
    const struct record *r = find(s, ns, name);

    return r ? unpack(s, r, a) : NULL;
}

bool rco_lister_has(const struct rco_store *s, const char *ns, const char *name)
{
    return find(s, ns, name) != NULL;
}

static size_t index_number(const struct rco_store *s, const char *index)
{
    size_t i = 0;

    while (i < s->n_indexes && strcmp(s->indexes[i].name, index) != 0)
        i++;
    assert(i < s->n_indexes);
    return i;
}

static size_t ids_of(const struct rco_store *s, size_t index, const char *key, const uint32_t **ret,
                     uint32_t *single)
{
    const char *text = rco_str_or_empty(key);

    return rco_multimap_get(&s->multi, rco_hash(text, strlen(text), index_seed(index)), ret,
                            single);
}

static int by_key(const void *a, const void *b)
{
    const struct rco_meta *const *x = a, *const *y = b;
    int order = strcmp(rco_str_or_empty((*x)->ns), rco_str_or_empty((*y)->ns));

    return order ? order : strcmp((*x)->name, (*y)->name);
}

/* The same record may stand twice under one hash (two emitted keys that are equal): sorted
 * neighbours. */
static size_t drop_doubles(const void **objs, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (kept == 0 || by_key(&objs[kept - 1], &objs[i]) != 0)
            objs[kept++] = objs[i];
    return kept;
}

size_t rco_lister_by_index(const struct rco_store *s, const char *index, const char *key,
                           struct rco_arena *a, const void ***ret)
{
    size_t i = index_number(s, index);
    const uint32_t *ids;
    uint32_t single;
    size_t n = ids_of(s, i, key, &ids, &single), found = 0;
    const void **objs = rco_arena_array(a, n + 1, sizeof(*objs));

    for (size_t k = 0; k < n; k++) {
        struct rco_index_sink sink;
        void *obj = unpack(s, s->records[ids[k]], a);

        sink.match = rco_str_or_empty(key);
        sink.matched = false;
        s->indexes[i].fn(obj, &sink);
        if (sink.matched)
            objs[found++] = obj;
    }
    qsort(objs, found, sizeof(*objs), by_key);
    *ret = objs;
    return drop_doubles(objs, found);
}

void rco_lister_keys(const struct rco_store *s, const char *index, const char *key,
                     void (*fn)(void *ctx, const char *ns, const char *name), void *ctx)
{
    rco_autobuf name = RCO_BUF_INIT;
    const uint32_t *ids;
    uint32_t single;
    size_t n = ids_of(s, index_number(s, index), key, &ids, &single);

    for (size_t i = 0; i < n; i++) {
        const struct record *r = s->records[ids[i]];

        rco_buf_clear(&name);
        rco_buf_add(&name, r->bytes, r->n_name);
        fn(ctx, record_ns(s, r), rco_buf_str(&name));
    }
}

size_t rco_lister_count(const struct rco_store *s, const char *index, const char *key)
{
    const uint32_t *ids;
    uint32_t single;

    return ids_of(s, index_number(s, index), key, &ids, &single);
}

size_t rco_lister_size(const struct rco_store *s)
{
    return s->n;
}

bool rco_lister_walk(const struct rco_store *s, size_t *cursor, size_t max,
                     void (*fn)(void *ctx, const void *obj), void *ctx)
{
    rco_autoarena a = RCO_ARENA_INIT;

    for (; *cursor < s->n_ids; ++*cursor) {
        if (!s->records[*cursor])
            continue;
        if (max-- == 0)
            return true;
        rco_arena_clear(&a);
        fn(ctx, unpack(s, s->records[*cursor], &a));
    }
    return false;
}
