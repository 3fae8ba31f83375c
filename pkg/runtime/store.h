/* Informer store: per kind, (namespace, name) -> one packed immutable record, with indexes by
 * function and the resourceVersion the whole store has reached. Readers see it through the lister
 * functions. */
#ifndef RCO_RUNTIME_STORE_H
#define RCO_RUNTIME_STORE_H

#include "api/kinds.h"
#include "base/arena.h"
#include "json/codec.h"
#include "runtime/key.h"

#include <stdbool.h>
#include <stddef.h>

struct rco_store;

/* Drops or shortens what no reconciler reads, before packing. OBJ is the kind's struct in SCRATCH;
 * its fields may be set to NULL or to strings made in SCRATCH. */
typedef void (*rco_compact_fn)(void *obj, struct rco_arena *scratch);

/* Collects the index keys of one object. An index function sees the object as the store keeps it,
 * after compaction. */
struct rco_index_sink;
typedef void (*rco_index_fn)(const void *obj, struct rco_index_sink *sink);
/* KEY NULL or "" emits nothing. At most RCO_INDEX_KEYS_MAX keys an object and index. */
#define RCO_INDEX_KEYS_MAX 64
void rco_index_emit(struct rco_index_sink *sink, const char *key);

struct rco_index {
    const char *name; /* "by-owner" */
    rco_index_fn fn;
};
#define RCO_INDEXES_MAX 8 /* of one store */

/* What happened to an object. OLD is NULL for an add, NEW is NULL for a delete; both are unpacked
 * and valid during the call only. */
typedef void (*rco_store_fn)(void *ctx, const void *old_obj, const void *new_obj);

/* KIND needs a schema. INTERN is shared by all stores of a process and borrowed. */
struct rco_store *rco_store_new(enum rco_kind kind, struct rco_intern *intern);
void rco_store_free(struct rco_store *s);
enum rco_kind rco_store_kind(const struct rco_store *s);
/* Before the first object only. INDEX is copied, its name borrowed. */
void rco_store_set_compact(struct rco_store *s, rco_compact_fn fn);
void rco_store_add_index(struct rco_store *s, const struct rco_index *index);
/* Called after each change of the store, in the order of the changes. Several may be added. */
void rco_store_add_handler(struct rco_store *s, rco_store_fn fn, void *ctx);

/* Writers (the reflector). OBJ is the kind's struct in SCRATCH; it is compacted and packed. An
 * object that equals the stored one (same uid and resourceVersion) changes nothing and calls no
 * handler. */
void rco_store_upsert(struct rco_store *s, void *obj, struct rco_arena *scratch);
/* Removes; handlers get the last known state. Absent keys are fine. */
void rco_store_remove(struct rco_store *s, const struct rco_key *key);
/* Relist (A21, A22) without a second copy of the world: between begin and finish every upsert marks
 * its record with the new generation, finish removes the records that were not marked. A mark that
 * is abandoned (failed list) removes nothing. */
void rco_store_mark_begin(struct rco_store *s);
/* A known key whose new version could not be decoded: keeps the old record through the sweep. */
void rco_store_mark_keep(struct rco_store *s, const struct rco_key *key);
void rco_store_mark_finish(struct rco_store *s);
void rco_store_mark_abandon(struct rco_store *s);
/* The store now shows the world at RV (A10: after the change itself). Never moves back: an older or
 * malformed RV is ignored. */
void rco_store_set_rv(struct rco_store *s, const char *rv);
/* "" before the first list. */
const char *rco_store_rv(const struct rco_store *s);

struct rco_store_stats {
    size_t objects;
    size_t record_bytes; /* packed records with their allocation overhead */
    size_t table_bytes;  /* hash table and indexes */
};
void rco_store_stats(const struct rco_store *s, struct rco_store_stats *out);

/* Lister: what observe functions use. */

/* The object, unpacked into A, or NULL. NS NULL = cluster scope. */
const void *rco_lister_get(const struct rco_store *s, const char *ns, const char *name,
                           struct rco_arena *a);
/* Whether it is there, without unpacking. */
bool rco_lister_has(const struct rco_store *s, const char *ns, const char *name);
/* Unpacked objects borrow their interned strings from the store: they are valid until the store
 * changes, that is until the running callback of the loop returns. */
/* All objects that emitted KEY for INDEX, sorted by (namespace, name), unpacked into A; *RET is an
 * array of pointers in A. An unknown index is a broken invariant (assert). */
size_t rco_lister_by_index(const struct rco_store *s, const char *index, const char *key,
                           struct rco_arena *a, const void ***ret);
/* Calls FN with the keys of those objects, in no order and without unpacking them; very rarely also
 * with one that emitted another key of the same hash, or twice with one. FN must not change the
 * store. */
void rco_lister_keys(const struct rco_store *s, const char *index, const char *key,
                     void (*fn)(void *ctx, const char *ns, const char *name), void *ctx);
/* Number of them, without unpacking. */
size_t rco_lister_count(const struct rco_store *s, const char *index, const char *key);
size_t rco_lister_size(const struct rco_store *s);
/* Calls FN with each object (unpacked for the call only) in slices, for sweeps that must not hold
 * the loop: visits at most MAX objects from *CURSOR (start with 0) and returns false when all were
 * visited. Objects that come or go between slices may be missed or not; FN may do anything but
 * change the store. */
bool rco_lister_walk(const struct rco_store *s, size_t *cursor, size_t max,
                     void (*fn)(void *ctx, const void *obj), void *ctx);

#endif
