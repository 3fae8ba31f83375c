/* Decision for one Environment: state claim, generated passphrase and HMAC key, finalizer. */
#ifndef RCO_DECIDE_ENVIRONMENT_H
#define RCO_DECIDE_ENVIRONMENT_H

#include "base/time.h"
#include "decide/common.h"

#include <stddef.h>

struct rco_buf;
struct rco_depspec;
struct rco_env;
struct rco_namespace;
struct rco_outcome;
struct rco_plan;
struct rco_pvc;
struct rco_run;
struct rco_table;
struct rco_tenant;

#define RCO_ENV_RANDOM_LEN 64

/* Everything the decision looks at; all borrowed from observe's arena. */
struct rco_env_observed {
    const struct rco_env *env;       /* NULL: it is gone */
    const struct rco_namespace *ns;  /* of the Environment */
    const struct rco_tenant *tenant; /* the Tenant named by the namespace's tenant, or NULL */
    /* The claim by the name rco_env_claim_name gives: spec.backend.claimName, else
     * rco-state-<environment>. NULL: not there. (The informer must not be limited to our own
     * labels: people name theirs.) */
    const struct rco_pvc *claim;
    /* Specifications of the namespace whose environmentId is this one; may be left out while the
     * Environment is not being deleted. */
    const struct rco_depspec *const *specs;
    size_t n_specs;
    /* Runs of the namespace whose environmentId is this one, unfinished ones (finished may be left
     * in). */
    const struct rco_run *const *runs;
    size_t n_runs;
    const struct rco_outcome *outcomes; /* of creates of this key since the last observe */
    size_t n_outcomes;
    const struct rco_decide_config *config;
    /* Fresh random bytes for a Secret made by this decision; never logged, never in a status. */
    unsigned char random[RCO_ENV_RANDOM_LEN];
};

/* Name of the claim to observe, borrowed from ENV or written to OUT of RCO_NAME_SIZE bytes
 * (api/names.h); NULL when the Environment keeps its state elsewhere (backend.url). */
const char *rco_env_claim_name(const struct rco_env *env, char *out);

/* SNAPSHOT is a struct rco_env_observed; fills PLAN. */
void rco_env_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);

/* The table, for tests and documentation. */
const struct rco_table *rco_env_table(void);
/* Appends the rows of the table as Markdown, in order. */
void rco_env_print_rows(struct rco_buf *out);

#endif
