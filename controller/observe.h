/* Snapshots for the decisions, read from the informer caches. One file per reconciler. CTX of each
 * is the struct rco_world. */
#ifndef RCO_CONTROLLER_OBSERVE_H
#define RCO_CONTROLLER_OBSERVE_H

#include "runtime/controller.h"

/* Names of the indexes that setup.c declares and observe functions use. */
#define RCO_INDEX_ENVIRONMENT "environment" /* "ns/environment" */
#define RCO_INDEX_ACTIVE "active"           /* runs that still need attention, "ns/environment" */
#define RCO_INDEX_ACTIVE_OF "active-of"     /* the same, "ns/specification" */
#define RCO_INDEX_SPECIFICATION "specification" /* "ns/specification" */
#define RCO_INDEX_RUN "run"                     /* "ns/run", of what a run made */
#define RCO_INDEX_RUN_UID                                                                          \
    "run-uid" /* "ns/uid" of the run that a Job or pod belongs to; of claims the uid */
#define RCO_INDEX_UID "uid"
#define RCO_INDEX_BLOCKED_BY "blocked-by" /* specifications: claim that they wait for */
#define RCO_INDEX_NODE "node"             /* pods: name of their node */
#define RCO_INDEX_HOLDER "holder"         /* claims: uid of the specification */
#define RCO_INDEX_NAMESPACE "namespace"
#define RCO_INDEX_TENANT "tenant"
#define RCO_INDEX_CLAIM "claim" /* Environments: "ns/claim" */

/* "A/B" in arena A. */
const char *rco_index_key(struct rco_arena *a, const char *ns, const char *name);

/* For struct rco_reconciler: *RET_SNAPSHOT, in A, is what the decision of that kind takes, read
 * from the caches and the mailbox of CTX (struct rco_world) alone; left alone when there is nothing
 * to decide about. They do not fail. */
int rco_observe_environment(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                            struct rco_arena *a, void **ret_snapshot, struct rco_error *err);
int rco_observe_deployment(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                           struct rco_arena *a, void **ret_snapshot, struct rco_error *err);
int rco_observe_run(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                    struct rco_arena *a, void **ret_snapshot, struct rco_error *err);

#endif
