/* The schemas of our CRDs, read from crds/ when they are first asked for: what the API server
 * prunes, fills in and refuses of an object. They live as long as the process. */
#ifndef RCO_SIM_SCHEMA_H
#define RCO_SIM_SCHEMA_H

#include "api/kinds.h"
#include "pulumi/value.h"
#include "schema_cel.h"
#include "schema_regex.h"

enum sim_schema_type {
    SIM_SCHEMA_ANY,
    SIM_SCHEMA_OBJECT,
    SIM_SCHEMA_ARRAY,
    SIM_SCHEMA_STRING,
    SIM_SCHEMA_INTEGER,
    SIM_SCHEMA_BOOLEAN
};

struct sim_rule {
    const char *text, *message, *field_path, *reason;
    const struct sim_cel *cel;
};

struct sim_schema {
    enum sim_schema_type type;
    const char *name; /* of the property */
    const struct sim_schema *next;
    const struct sim_schema *properties; /* linked by next */
    const struct sim_schema *items;
    const struct sim_schema *additional;
    const struct rco_value *required, *words; /* lists; NULL = none */
    const struct rco_value *preset;
    int64_t min_length, max_length; /* characters; -1 = no bound, as below */
    int64_t max_items, max_properties;
    bool has_minimum, has_maximum;
    int64_t minimum, maximum;
    const char *pattern_text;
    const struct sim_regex *pattern;
    bool preserves; /* x-kubernetes-preserve-unknown-fields, and metadata */
    bool is_time;
    bool is_set;                      /* x-kubernetes-list-type */
    const struct rco_value *map_keys; /* of a list that is a map */
    const struct sim_rule *rules;
    size_t n_rules;
};

/* The schema of the whole object; NULL for a kind that is not ours. A CRD that cannot be read, or
 * uses what is not known here, ends the process with a sentence. */
const struct sim_schema *sim_schema_of(enum rco_kind kind);
const struct sim_schema *sim_schema_property(const struct sim_schema *s, const char *name);

/* TREE without fields that no schema knows, with defaults; in A. */
const struct rco_value *sim_schema_fill(const struct sim_schema *s, struct rco_arena *a,
                                        const struct rco_value *tree);
struct sim_cause;
/* NULL when TREE (filled) may be stored in the place of OLD (NULL: a new object); else all that is
 * wrong with it, as the API server says it. */
const struct sim_cause *sim_schema_check(const struct sim_schema *s, struct rco_arena *a,
                                         const struct rco_value *tree, const struct rco_value *old);
/* The first field of TREE that no schema knows ("spec.bogus"), or NULL; in A. */
const char *sim_schema_unknown(const struct sim_schema *s, struct rco_arena *a,
                               const struct rco_value *tree);

#endif
