/* What stands under the names of a run's Jobs and of its anchor, and whether it is the operator's.
 *
 * Names, labels and annotations prove nothing: whoever may create Jobs can write them. An object is
 * the operator's when its uid is recorded in the run's status, when this process made it, or when a
 * live read shows it to be what the operator would have made, field by field. Everything else is
 * foreign: it is neither used nor deleted. */
#ifndef RCO_DECIDE_RUN_OWNED_H
#define RCO_DECIDE_RUN_OWNED_H

#include "api/kinds.h"

#include <stdbool.h>

struct rco_buf;
struct rco_job;
struct rco_outcome;
struct rco_run_ctx;

/* Names of the Job of the present phase, and of the anchor; in the context's arena. */
const char *rco_run_job_name(const struct rco_run_ctx *c);
const char *rco_run_anchor_name(const struct rco_run_ctx *c);

/* The uid of what our own POST of NAME made or found to be the same; NULL: not known in this life
 * of the process. An object that merely stands in the cache under our name proves nothing. */
const char *rco_run_made(const struct rco_run_ctx *c, enum rco_kind kind, const char *name);

/* What was found to be another's under the name of a Job or of the anchor, or NULL. */
const struct rco_outcome *rco_run_foreign(const struct rco_run_ctx *c);

/* Appends the anchor of the run. */
void rco_run_write_anchor(const struct rco_run_ctx *c, struct rco_buf *out);

/* Whether JOB is the one whose uid the run has recorded. */
bool rco_run_is_recorded_job(const struct rco_run_ctx *c, const struct rco_job *job);

/* Whether the run, as it is seen, has come to the phase of JOB (or JOB is none of ours). A Job of a
 * phase that has not come is either made by a leader before us, whose writes our cache of runs does
 * not show yet, or planted; the phase itself will tell. */
bool rco_run_has_come_to_job(const struct rco_run_ctx *c, const struct rco_job *job);

/* Whether JOB stands under a name of ours and may be the operator's to delete: it is not known to be
 * another's. Of a run that is gone its name and label have to do; of one that was let go (no
 * finalizer, no snapshot to compare with) only what has ended goes. */
bool rco_run_may_delete_job(const struct rco_run_ctx *c, const struct rco_job *job);
/* Deletes it: by its recorded uid, or after a comparison with what we would have made. */
void rco_run_delete_job(struct rco_run_ctx *c, const struct rco_job *job);

/* The same of what stands under the name of the anchor, which may be NULL. */
bool rco_run_may_delete_anchor(const struct rco_run_ctx *c);
void rco_run_delete_anchor(struct rco_run_ctx *c);

#endif
