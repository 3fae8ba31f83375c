/* The guard that Pulumi lacks: an apply runs only when everything its plan was made from is
 * unchanged. */
#ifndef RCO_RUNNER_GUARD_H
#define RCO_RUNNER_GUARD_H

#include "pulumi.h"

/* Joins the mounted chunks of the plan artifact, verifies the digest, and writes the engine's plan
 * file to *RET_FILE (in TMPDIR). A digest that differs, or a missing chunk, is class PlanStale. */
RCO_MUST_CHECK int rco_guard_plan_file(struct rco_engine *e, const char **ret_file,
                                       struct rco_buf *ret_manifest, struct rco_failure *f);

/* Compares commit, project, workspace, plan file, base state, inputs, engine and plugins with what
 * the plan was made from. A difference is class PlanStale and named; for the workspace the first
 * path. */
RCO_MUST_CHECK int rco_guard_check(struct rco_engine *e, const struct rco_buf *manifest,
                                   struct rco_failure *f);

/* The hosts that hold the locks which TEXT (the engine's refusal) names, one a line in the arena;
 * NULL when TEXT is no such refusal or one host cannot be read. */
struct rco_lock_holders {
    const char **hosts;
    size_t n;
};
bool rco_guard_lock_holders(const char *text, struct rco_arena *a, struct rco_lock_holders *ret);

#endif
