/* A JSON text as a tree in an arena, exact enough to be hashed: numbers keep their spelling and
 * duplicate keys are refused. (json-c clamps large integers and lets the last duplicate win.) */
#ifndef RCO_PULUMI_VALUE_H
#define RCO_PULUMI_VALUE_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Caps of one tree. A state of 100,000 resources has about 20 million nodes' worth of text; what
 * is larger is refused, never cut. */
#define RCO_VALUE_MAX_DEPTH 128
#define RCO_VALUE_MAX_NODES 24000000

enum rco_value_type {
    RCO_VALUE_NULL,
    RCO_VALUE_BOOL,
    RCO_VALUE_NUMBER,
    RCO_VALUE_STRING,
    RCO_VALUE_ARRAY,
    RCO_VALUE_OBJECT
};

struct rco_value {
    enum rco_value_type type;
    bool boolean;     /* BOOL */
    const char *key;  /* name within an object, decoded, NUL-terminated; NULL in arrays */
    const char *text; /* STRING: decoded bytes (NUL-terminated, may hold NULs); NUMBER: spelling */
    size_t len;       /* of text; number of children of ARRAY and OBJECT */
    struct rco_value *first; /* children in the order of the text */
    struct rco_value *next;
};

/* Parses the complete text JSON[0..N) (RFC 8259, valid UTF-8, no trailing bytes). The tree lives in
 * A. RCO_EINVALID names the byte offset, RCO_ETOOBIG a cap. */
RCO_MUST_CHECK int rco_value_parse(const char *json, size_t n, struct rco_arena *a,
                                   struct rco_value **ret, struct rco_error *err);

/* The same with a cap of its own on the number of values: each costs about 100 bytes of memory, so
 * 16 MiB of
 * "[1,1,1,..." would cost hundreds. */
RCO_MUST_CHECK int rco_value_parse_capped(const char *json, size_t n, size_t max_nodes,
                                          struct rco_arena *a, struct rco_value **ret,
                                          struct rco_error *err);

/* Member KEY of an object, or NULL (also when V is NULL or not an object). */
const struct rco_value *rco_value_get(const struct rco_value *v, const char *key);
/* Text of the string member KEY, or NULL. Texts with a NUL inside count as absent. */
const char *rco_value_text(const struct rco_value *v, const char *key);
/* Integer member KEY within int64, or DEF. */
int64_t rco_value_int(const struct rco_value *v, const char *key, int64_t def);
bool rco_value_bool(const struct rco_value *v, const char *key);

/* Same JSON value; object members in any order, numbers by spelling. */
bool rco_value_equal(const struct rco_value *a, const struct rco_value *b);

/* Appends V as canonical JSON: no spaces, members sorted by the bytes of their names, strings with
 * the shortest escapes, numbers as they were spelt. Equal values give equal bytes. */
void rco_value_canonical(const struct rco_value *v, struct rco_buf *out);

/* Appends V as compact JSON in the order of the text. */
void rco_value_write(const struct rco_value *v, struct rco_buf *out);

#endif
