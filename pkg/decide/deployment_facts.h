/* What a DeploymentSpecification's decision knows: facts derived from what was observed, and the
 * status that is being decided. */
#ifndef RCO_DECIDE_DEPLOYMENT_FACTS_H
#define RCO_DECIDE_DEPLOYMENT_FACTS_H

#include "api/zz_generated_types.h"
#include "decide/conditions.h"
#include "decide/deployment.h"
#include "decide/deployment_resolve.h"
#include "plan/plan.h"

struct rco_depspec_ctx {
    const struct rco_depspec_observed *o;
    const struct rco_depspec *spec;
    const struct rco_meta *meta;
    rco_wall now;
    struct rco_plan *plan;
    struct rco_arena *a;
    struct rco_resolution resolution;
    const struct rco_run **runs; /* of this uid, oldest first by (version, number) */
    size_t n_runs;
    const struct rco_run *newest;  /* by (version, number), or NULL */
    const struct rco_run *current; /* newest that has not ended, or NULL */
    bool declared;                 /* this decision declares a new version */
    bool restored; /* came back from a backup: its status is that of another uid */
    bool resumed;  /* the same, and a person has asked for a run since: begins anew */
    const struct rco_depspec_status *old; /* what this decision goes on from */
    struct rco_depspec_status next;
    struct rco_conditions conditions;
    const char *run_now; /* value of the request that was not handled yet, or NULL */
};

/* Derives everything; OBSERVED->spec is not NULL. */
void rco_depspec_ctx_init(struct rco_depspec_ctx *c, const struct rco_depspec_observed *observed,
                          rco_wall now, struct rco_plan *plan);

/* Whether the newest run is for the current version. */
bool rco_depspec_has_run_of_version(const struct rco_depspec_ctx *c);
/* The number that the next run of the current version gets. */
int64_t rco_depspec_next_number(const struct rco_depspec_ctx *c);

/* Writes the status when it differs, with an Event where Ready's meaning changed. */
void rco_depspec_commit(struct rco_depspec_ctx *c);

/* Adds the create of run NUMBER of the current version to the plan. */
void rco_depspec_create_run(struct rco_depspec_ctx *c, int64_t number);

/* Records the request that stands in the annotation as handled, without a run. */
void rco_depspec_ignore_request(struct rco_depspec_ctx *c);

/* One guard and one action of a row. Both take a struct rco_depspec_ctx. */
#define RCO_DEPSPEC_ROW(NAME)                                                                      \
    bool rco_depspec_is_##NAME(const void *p);                                                     \
    void rco_depspec_do_##NAME(void *p)

/* deployment_end.c: deletion, finalizer, history */
RCO_DEPSPEC_ROW(deletion_run);
RCO_DEPSPEC_ROW(deletion_engine);
RCO_DEPSPEC_ROW(deletion_claims);
RCO_DEPSPEC_ROW(deletion_released);
RCO_DEPSPEC_ROW(no_finalizer);
RCO_DEPSPEC_ROW(history);

#undef RCO_DEPSPEC_ROW

#endif
