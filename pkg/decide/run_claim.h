/* The stack claim: a Lease in the operator's namespace that lets one engine at a time onto a stack,
 * and one specification for good (design 3.6). */
#ifndef RCO_DECIDE_RUN_CLAIM_H
#define RCO_DECIDE_RUN_CLAIM_H

#include "decide/run_facts.h"

/* Whether the claim's engine is the pod with UID. */
bool rco_claim_is_held_by(const struct rco_lease *claim, const char *pod_uid);
/* Another specification, that exists, holds the stack. */
bool rco_claim_is_foreign(const struct rco_run_ctx *c);

/* Adds the create of the claim NAME, or the patch of c->o->claim, that makes c->start's pod its
 * engine. */
void rco_claim_take(struct rco_run_ctx *c, const char *name, const char *project);
/* Adds the patch that clears the engine and remembers its pod as ended; where the specification is
 * gone, the delete of the claim. */
void rco_claim_clear(struct rco_run_ctx *c, const struct rco_lease *claim);

/* One of CLAIMS, all held by one specification of namespace NS, that is for SNAPSHOT's stack at
 * another backend than SNAPSHOT's; NULL: none. */
const struct rco_lease *rco_claim_elsewhere(const struct rco_lease *const *claims, size_t n,
                                            const char *ns, const struct rco_resolved *snapshot);
/* Where the state of CLAIM is, and where SNAPSHOT would look for it, for people; in A. */
const char *rco_claim_place(const struct rco_lease *claim, struct rco_arena *a);
const char *rco_backend_place(const char *ns, const struct rco_resolved *snapshot,
                              struct rco_arena *a);

/* Names of pods whose engine on this stack has ended; the array lives in A. */
const char **rco_claim_ended_pods(const struct rco_lease *claim, struct rco_arena *a,
                                  size_t *ret_n);

#endif
