/* A JSON text as a tree in an arena, for small bodies that have no table (comparing an object with
 * what was sent). Lists and watches never come this way. */
#ifndef RCO_JSON_VALUE_H
#define RCO_JSON_VALUE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_JSON_VALUE_MAX (4 * 1024 * 1024) /* bytes of text */

enum rco_json_type {
    RCO_JSON_NULL,
    RCO_JSON_BOOL,
    RCO_JSON_NUMBER,
    RCO_JSON_STRING,
    RCO_JSON_LIST,
    RCO_JSON_OBJECT
};

struct rco_json_value {
    enum rco_json_type type;
    const char *text;             /* string: unescaped; number and bool: as written */
    const char *key;              /* of a member of an object */
    struct rco_json_value *first; /* items or members, in the order of the text */
    struct rco_json_value *next;
    size_t n; /* number of items or members */
};

/* Parses the complete text JSON[0..N) into A. Errors say what is wrong and at which byte. */
RCO_MUST_CHECK int rco_json_value_parse(const char *json, size_t n, struct rco_arena *a,
                                        struct rco_json_value **ret, struct rco_error *err);
/* Member KEY of an object, or NULL (also when V is NULL or no object). */
const struct rco_json_value *rco_json_value_get(const struct rco_json_value *v, const char *key);

#endif
