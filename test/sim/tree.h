/* JSON objects of the simulated API server: immutable trees in one arena. A change makes new nodes
 * on the way to it and shares all others, so that old revisions stay readable. */
#ifndef RCO_SIM_TREE_H
#define RCO_SIM_TREE_H

#include "pulumi/value.h"

/* NULL when JSON is not one complete text. */
const struct rco_value *sim_tree_parse(struct rco_arena *a, const char *json, size_t n);
/* The same from a printf format whose arguments need no escaping. A broken text aborts. */
const struct rco_value *sim_tree_f(struct rco_arena *a, const char *fmt, ...) RCO_PRINTF(2, 3);

/* Member by path: keys joined by '|' ("metadata|labels|app.kubernetes.io/name"), since keys have
 * dots. */
const struct rco_value *sim_tree_get(const struct rco_value *v, const char *path);
/* Text of a string there, or NULL. */
const char *sim_tree_str(const struct rco_value *v, const char *path);
int64_t sim_tree_int(const struct rco_value *v, const char *path, int64_t fallback);
/* Whether the list of strings at PATH has TEXT. */
bool sim_tree_has(const struct rco_value *v, const char *path, const char *text);

const struct rco_value *sim_tree_string(struct rco_arena *a, const char *text);
const struct rco_value *sim_tree_number(struct rco_arena *a, int64_t n);
/* ROOT with VALUE (NULL: nothing) at PATH; missing objects on the way are made. */
const struct rco_value *sim_tree_set(struct rco_arena *a, const struct rco_value *root,
                                     const char *path, const struct rco_value *value);
/* OLD (may be NULL) after the merge patch PATCH (RFC 7386). */
const struct rco_value *sim_tree_merge(struct rco_arena *a, const struct rco_value *old,
                                       const struct rco_value *patch);
/* The list at PATH without the string TEXT. */
const struct rco_value *sim_tree_drop(struct rco_arena *a, const struct rco_value *root,
                                      const char *path, const char *text);
/* The list at PATH with the string TEXT at its end. */
const struct rco_value *sim_tree_append(struct rco_arena *a, const struct rco_value *root,
                                        const char *path, const char *text);

#endif
