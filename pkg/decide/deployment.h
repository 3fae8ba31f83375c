/* Decision for one DeploymentSpecification: its version, which run should exist, its deletion. */
#ifndef RCO_DECIDE_DEPLOYMENT_H
#define RCO_DECIDE_DEPLOYMENT_H

#include "base/time.h"
#include "decide/common.h"

#include <stddef.h>

struct rco_buf;
struct rco_configmap;
struct rco_depspec;
struct rco_env;
struct rco_lease;
struct rco_namespace;
struct rco_outcome;
struct rco_plan;
struct rco_run;
struct rco_table;
struct rco_tenant;

/* Everything the decision looks at; all borrowed from observe's arena. */
struct rco_depspec_observed {
    const struct rco_depspec *spec;  /* NULL: it is gone */
    const struct rco_namespace *ns;  /* of the specification */
    const struct rco_tenant *tenant; /* the Tenant named spec.tenantId, or NULL */
    const struct rco_env *env;       /* the Environment named spec.environmentId, or NULL */
    /* ConfigMaps of the namespace labelled runtimecloud.io/environment=<environmentId>; at least
     * those that spec.configRefs names, as far as they exist. */
    const struct rco_configmap *const *configmaps; /* compacted: their values are SHA-256 digests */
    size_t n_configmaps;
    /* All runs of the namespace whose spec.specificationRef.name is this specification's (of any
     * uid). */
    const struct rco_run *const *runs;
    size_t n_runs;
    /* All stack claims (Leases rco-claim-*) whose holderIdentity is this specification's uid. */
    const struct rco_lease *const *claims;
    size_t n_claims;
    /* The claim status.failure.blockedBy, or NULL, and whether a specification has the uid of its
     * holder. */
    const struct rco_lease *blocking_claim;
    bool blocking_holder_exists;
    const struct rco_outcome *outcomes;
    size_t n_outcomes;
    const struct rco_decide_config *config;
};

/* SNAPSHOT is a struct rco_depspec_observed; fills PLAN. */
void rco_depspec_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);

/* The table, for tests and documentation. */
const struct rco_table *rco_depspec_table(void);
/* Appends the rows of the table as Markdown, in order. */
void rco_depspec_print_rows(struct rco_buf *out);

#endif
