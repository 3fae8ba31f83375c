/* From a specification and its Environment to everything a run acts on, or to what is missing. */
#ifndef RCO_DECIDE_DEPLOYMENT_RESOLVE_H
#define RCO_DECIDE_DEPLOYMENT_RESOLVE_H

#include "api/zz_generated_types.h"
#include "base/sha256.h"
#include "decide/deployment.h"

#include <stdbool.h>

struct rco_resolution {
    const char *problem; /* NULL: resolved. Else the reason, one CamelCase word */
    const char *message; /* what, where, what to do */
    bool waits; /* goes on by itself when something appears; else a person must change something */
    struct rco_resolved snapshot;
};

/* All memory comes from A or is borrowed from OBSERVED. */
void rco_resolve(const struct rco_depspec_observed *observed, struct rco_arena *a,
                 struct rco_resolution *ret);

/* The observed ConfigMap of that name, or NULL. */
const struct rco_configmap *rco_depspec_configmap(const struct rco_depspec_observed *o,
                                                  const char *name);

/* The hash `inputs` of SNAPSHOT: over what it deploys (program, stack, configuration, Secrets by
 * name, outputs), not over how it is executed. */
void rco_resolved_inputs(const struct rco_resolved *snapshot, char out[RCO_SHA256_HEX]);

/* Hash over the fields of a specification that deploy something: the same hash, the same version.
 */
void rco_depspec_version_hash(const struct rco_depspec_spec *spec, char out[RCO_SHA256_HEX]);

/* Whether URL lies below PREFIX, which ends at a whole path segment. */
bool rco_repository_matches(const char *prefix, const char *url);
/* Whether the Environment lets specifications reference the Secret NAME. */
bool rco_env_allows_secret(const struct rco_env *env, const char *name);

#endif
