/* Table-driven codec: one generated table per struct, one hand-written engine.
 *
 * A schema says where each JSON field lives in a C struct. The same table serves decoding of
 * API bodies, encoding, comparison, merge patches and the packed form of the informer store. */
#ifndef RCO_JSON_CODEC_H
#define RCO_JSON_CODEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rco_field_type {
    RCO_FIELD_STRING,      /* const char *, NULL = absent */
    RCO_FIELD_ENUM,        /* int, 0 = unset, 1 = unknown word, then field->words order + 2 */
    RCO_FIELD_INT,         /* int64_t with bool has_ at has_offset */
    RCO_FIELD_BOOL,        /* bool with bool has_ at has_offset */
    RCO_FIELD_TIME,        /* rco_wall, written with seconds */
    RCO_FIELD_TIME_MICRO,  /* rco_wall, written with microseconds */
    RCO_FIELD_STRUCT,      /* embedded struct with bool has_ at has_offset, sub = its schema */
    RCO_FIELD_LIST_STRUCT, /* T *items; size_t n at n_offset; sub = schema of T */
    RCO_FIELD_LIST_STRING, /* const char **; size_t n at n_offset */
    RCO_FIELD_MAP_STRING,  /* struct rco_kv *, sorted by key; size_t n at n_offset */
    RCO_FIELD_RAW          /* const char *: complete JSON text of the value, NULL = absent */
};

enum rco_field_flags {
    RCO_FIELD_INTERN = 1,       /* value repeats across objects: the packed form keeps an id */
    RCO_FIELD_SKIP_PACK = 2,    /* read from the wire, never kept in the store */
    RCO_FIELD_ALWAYS = 4,       /* STRUCT without has_: always there (metadata) */
    RCO_FIELD_INT_OR_STRING = 8 /* STRING that also accepts a number, kept as its text */
};

struct rco_schema;

struct rco_field {
    const char *name; /* JSON name */
    uint16_t type;    /* enum rco_field_type */
    uint16_t flags;
    uint32_t offset;     /* of the value */
    uint32_t aux_offset; /* of has_x or n_x */
    uint32_t name_len;   /* strlen(name); 0 = not filled in */
    const struct rco_schema *sub;
    const char *const *words; /* enum words; of a map the key prefixes that are kept (NULL: all).
                               * NULL-terminated */
    uint32_t max;             /* cap: bytes of a string, items of a list or map; 0 = default caps */
};

struct rco_schema {
    const char *name;
    size_t size; /* sizeof the C struct */
    const struct rco_field *fields;
    size_t n_fields; /* at most RCO_SCHEMA_MAX_FIELDS */
};

#define RCO_SCHEMA_MAX_FIELDS 128

/* The word of value V (0 = "", 1 = "Unknown") and the value of a word (NULL = 0, none of them = 1).
 */
const char *rco_words_name(const char *const *words, int v);
int rco_words_parse(const char *const *words, const char *word);

/* Caps that hold for every decode, besides a field's own. */
#define RCO_JSON_MAX_DEPTH 48
#define RCO_JSON_MAX_STRING (1024 * 1024)
#define RCO_JSON_MAX_ITEMS 20000

/* Decodes the complete JSON text JSON[0..N) into OBJ (zeroed by the call, schema->size bytes). All
 * memory comes from A. Unknown fields are skipped, null counts as absent. On error OBJ is undefined
 * and ERR names the field path (".spec.programRef: ..."). Invalid UTF-8, duplicate known keys, and
 * trailing bytes are errors. An empty list or map is not NULL; U+0000 becomes U+FFFD. */
RCO_MUST_CHECK int rco_codec_decode(const struct rco_schema *schema, const char *json, size_t n,
                                    struct rco_arena *a, void *obj, struct rco_error *err);

/* The same, but a field that SCHEMA does not know is an error that names it: for what people write.
 */
RCO_MUST_CHECK int rco_codec_decode_strict(const struct rco_schema *schema, const char *json,
                                           size_t n, struct rco_arena *a, void *obj,
                                           struct rco_error *err);

/* Appends OBJ as a JSON object; absent fields are left out. Field order is schema order. */
void rco_codec_encode(const struct rco_schema *schema, const void *obj, struct rco_buf *out);

/* Deep equality of everything the schema knows. */
bool rco_codec_equal(const struct rco_schema *schema, const void *a, const void *b);

/* Deep copy into arena A. DST has schema->size bytes. */
void rco_codec_copy(const struct rco_schema *schema, void *dst, const void *src,
                    struct rco_arena *a);

/* Appends the JSON merge patch (RFC 7386) that turns OLD into NEW: nested objects recurse, lists
 * are replaced whole, vanished fields become null. Returns false and appends nothing when equal. */
bool rco_codec_merge_patch(const struct rco_schema *schema, const void *old_obj,
                           const void *new_obj, struct rco_buf *out);

/* Interned strings, shared by all records of a process. Reference-counted by the store. */
struct rco_intern;
struct rco_intern *rco_intern_new(void);
void rco_intern_free(struct rco_intern *t);
/* Id of S, with one more reference; ids start at 1. */
uint32_t rco_intern_ref(struct rco_intern *t, const char *s);
void rco_intern_unref(struct rco_intern *t, uint32_t id);
const char *rco_intern_str(const struct rco_intern *t, uint32_t id);
size_t rco_intern_count(const struct rco_intern *t);

/* Packs OBJ into OUT: only present fields, varints, hex and UUID text in binary, interned ids. */
void rco_codec_pack(const struct rco_schema *schema, const void *obj, struct rco_intern *t,
                    struct rco_buf *out);
/* The inverse; BYTES came from rco_codec_pack with the same table and schema (broken input aborts).
 * Interned strings are borrowed from T and live as long as the record does. */
void rco_codec_unpack(const struct rco_schema *schema, const void *bytes, size_t n,
                      const struct rco_intern *t, struct rco_arena *a, void *obj);
/* Gives back the intern references that the packed record holds. */
void rco_codec_unpack_release(const struct rco_schema *schema, const void *bytes, size_t n,
                              struct rco_intern *t);

#endif
