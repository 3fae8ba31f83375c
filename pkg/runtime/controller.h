/* A reconciler as the program declares it: triggers say which keys a change concerns, observe reads
 * the caches into a snapshot, decide (pure) turns it into a plan, the executor carries the plan
 * out. */
#ifndef RCO_RUNTIME_CONTROLLER_H
#define RCO_RUNTIME_CONTROLLER_H

#include "plan/plan.h"
#include "runtime/store.h"
#include "runtime/workqueue.h"

/* What observe may look at. A plain struct, so that tests fill it by hand from stores of their own.
 */
struct rco_observer {
    const struct rco_store *stores[RCO_KIND_COUNT]; /* NULL = kind not watched */
    const struct rco_outcome *outcomes; /* of this key's creates that no later plan has settled */
    size_t n_outcomes;
    rco_wall now;
    int64_t lease_transitions; /* fencing token of our leadership (A95) */
};

/* Object of a watched kind unpacked into A, or NULL. */
const void *rco_observer_get(const struct rco_observer *obs, enum rco_kind kind, const char *ns,
                             const char *name, struct rco_arena *a);
/* As rco_lister_by_index. */
size_t rco_observer_by_index(const struct rco_observer *obs, enum rco_kind kind, const char *index,
                             const char *key, struct rco_arena *a, const void ***ret);
/* The outcome of the create of (KIND, NAME) or NULL. */
const struct rco_outcome *rco_observer_outcome(const struct rco_observer *obs, enum rco_kind kind,
                                               const char *name);

/* Where map functions put the keys a change concerns. */
struct rco_enqueuer;
/* NS NULL = "". The priority is chosen by the runtime: low for the first list, high when the
 * changed object is being deleted, normal otherwise. */
void rco_enqueue(struct rco_enqueuer *e, const char *ns, const char *name);
/* With at least PRIORITY. */
void rco_enqueue_with(struct rco_enqueuer *e, const char *ns, const char *name,
                      enum rco_priority priority);

struct rco_trigger {
    enum rco_kind kind;
    /* OLD NULL = added, NEW NULL = deleted (last known state in OLD). Only enqueues (A32). */
    void (*map)(void *ctx, const void *old_obj, const void *new_obj, struct rco_enqueuer *e);
};

/* Ready-made map: the changed object's own key. */
void rco_trigger_self(void *ctx, const void *old_obj, const void *new_obj, struct rco_enqueuer *e);

struct rco_reconciler {
    const char *name;   /* "run": label of metrics and logs */
    enum rco_kind kind; /* what a key names; RCO_KIND_NONE for a singleton key */
    const struct rco_trigger *triggers;
    size_t n_triggers;
    /* Whether OBJ is settled: the 10-minute sweep leaves it out (A30). NULL = never. */
    bool (*settled)(const void *obj);
    /* Reads the caches. *RET_SNAPSHOT NULL = nothing to decide (the object is gone). An error is
     * counted and the key retried with backoff; RCO_EINVALID is terminal (A65) until the next
     * change. */
    int (*observe)(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                   struct rco_arena *a, void **ret_snapshot, struct rco_error *err);
    void (*decide)(const void *snapshot, rco_wall now, struct rco_plan *plan);
    /* The plan of KEY ended: all done (ERR NULL) or stopped at a failure. May be NULL. For
     * mailboxes. */
    void (*finished)(void *ctx, const struct rco_key *key, const struct rco_plan *plan,
                     const struct rco_error *err);
    void *ctx;
};

#endif
