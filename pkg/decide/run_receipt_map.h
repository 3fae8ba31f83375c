/* From a runner's receipt to what a run's status keeps of it. */
#ifndef RCO_DECIDE_RUN_RECEIPT_MAP_H
#define RCO_DECIDE_RUN_RECEIPT_MAP_H

#include "decide/run_facts.h"

/* Chooses the receipt to decide about and checks it: c->receipt. */
void rco_receipt_choose(struct rco_run_ctx *c);

/* The plan receipt with its planDigest, computed from C's receipt and the pod that sent it. */
void rco_receipt_to_plan(const struct rco_run_ctx *c, struct rco_plan_receipt *out);
void rco_receipt_to_apply(const struct rco_run_ctx *c, struct rco_apply_receipt *out);
/* Adds log and diff of the phase to c->next.artifacts, and points logsRef at the log. */
void rco_receipt_add_artifacts(struct rco_run_ctx *c);
/* Whether C's receipt is the one that was recorded before. */
bool rco_receipt_is_recorded(const struct rco_run_ctx *c);

/* The reason word that a failure of a runner gets, or NULL: its class. */
const char *rco_failure_reason(const struct rco_run_failure *failure);

/* Adds a log of the current phase to the status: DIGEST and SIZE of its text. */
void rco_run_add_log(struct rco_run_ctx *c, const char *digest, int64_t size);

/* Ends the run as Applied with c->next.apply_receipt; REASON NULL or NoChanges. Commits. */
void rco_run_end_applied(struct rco_run_ctx *c, const char *reason);

#endif
