/* What all decisions share: the operator's configuration as facts. */
#ifndef RCO_DECIDE_COMMON_H
#define RCO_DECIDE_COMMON_H

#include "api/kinds.h"
#include "api/labels.h"
#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "pulumi/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The operator's configuration, as far as decisions depend on it. All borrowed; NULL or 0 takes the
 * default that is named here. */
struct rco_decide_config {
    const char *operator_namespace;
    struct rco_job_config job;       /* what goes into Jobs */
    const char *runner_image;        /* default image of runs */
    const char *default_tenant;      /* "" or NULL = strict: unlabelled namespaces are refused */
    const char *state_storage_class; /* NULL = the cluster's default class */
    const char *state_size;          /* "1Gi" */
    int64_t history_limit;           /* finished runs that applied nothing, per specification; 20 */
    int64_t image_timeout_ns;        /* how long an image may fail to be pulled; 3 min */
    int64_t schedule_timeout_ns;     /* how long a pod may be unschedulable; 15 min */
    int64_t pod_timeout_ns;          /* how long a Job may be without a pod; 3 min */
    int64_t container_timeout_ns;    /* CreateContainerError and the like; 3 min */
};

/* Reasons that decisions understand from one another; all others are for people. */
#define RCO_REASON_MISSING_SECRET "MissingSecret" /* a run's: tried again by a new run */
#define RCO_REASON_RESTORED "Restored"            /* a specification's: inert until run-now */
#define RCO_REASON_SUSPENDED "Suspended"          /* a run's: goes on when suspend is taken back */
#define RCO_REASON_BACKEND_CHANGED "BackendChanged" /* a run's: the state is elsewhere */
#define RCO_REASON_STACK_CLAIMED                                                                   \
    "StackClaimed" /* a run's: another specification holds the stack                               \
                    */

struct rco_namespace;
struct rco_outcome;

/* The tenant of a namespace: its label, else the configured default; NULL: it has none (strict). */
const char *rco_namespace_tenant(const struct rco_namespace *ns,
                                 const struct rco_decide_config *config);
/* Whether the namespace has no label of its own and lives on the default. */
bool rco_namespace_is_unlabelled(const struct rco_namespace *ns);

/* The outcome of the create of (KIND, NAME), or NULL. */
const struct rco_outcome *rco_outcome_find(const struct rco_outcome *items, size_t n,
                                           enum rco_kind kind, const char *name);

/* What to do about a failure of CLASS that has REASON, with "; " before it, to put behind its
 * message; "" where the message says it itself. */
const char *rco_remedy_of(enum rco_failure_class class, const char *reason, struct rco_arena *a);

/* The number at the end of a run's name (`...-b3`); 0 when NAME is not such a name. */
int64_t rco_run_number(const char *name);

/* VALUE, or FALLBACK when it is NULL or "". */
const char *rco_or(const char *value, const char *fallback);
/* VALUE, or FALLBACK when it is 0. */
int64_t rco_or_int(int64_t value, int64_t fallback);

#endif
