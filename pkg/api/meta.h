/* ObjectMeta as far as the product reads it, and the standard condition. Every generated object
 * begins with a struct rco_meta. */
#ifndef RCO_API_META_H
#define RCO_API_META_H

#include "base/str.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_schema;

struct rco_owner {
    const char *api_version, *kind, *name, *uid;
    bool controller;
    bool has_controller;
};

struct rco_meta {
    const char *name, *ns, *uid, *resource_version;
    int64_t generation;
    bool has_generation;
    rco_wall creation; /* creationTimestamp */
    rco_wall deletion; /* deletionTimestamp, 0 = not being deleted */
    struct rco_kv *labels;
    size_t n_labels;
    struct rco_kv *annotations; /* those of our own domain only, see rco_meta_schema */
    size_t n_annotations;
    const char **finalizers;
    size_t n_finalizers;
    struct rco_owner *owners;
    size_t n_owners;
};

/* metav1.Condition; status is kept as the word "True", "False" or "Unknown". */
struct rco_condition {
    const char *type, *status, *reason, *message;
    rco_wall last_transition_time;
    int64_t observed_generation;
    bool has_observed_generation;
};

extern const struct rco_schema rco_meta_schema;
extern const struct rco_schema rco_condition_schema;

/* Value of a label or annotation, or NULL. */
const char *rco_meta_label(const struct rco_meta *m, const char *key);
const char *rco_meta_annotation(const struct rco_meta *m, const char *key);
/* Whether the controller that made the object is the KIND with UID, by its own word: whoever writes an
 * object chooses its owners. */
bool rco_meta_is_controlled_by(const struct rco_meta *m, const char *kind, const char *uid);
bool rco_meta_has_finalizer(const struct rco_meta *m, const char *finalizer);

#endif
