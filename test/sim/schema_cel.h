/* The CEL of x-kubernetes-validations, as far as our CRDs use it: read from the YAML and carried
 * out, so that no rule has a copy that may differ. What is not known here is an error when the
 * schemas are loaded. */
#ifndef RCO_SIM_SCHEMA_CEL_H
#define RCO_SIM_SCHEMA_CEL_H

#include "pulumi/value.h"

struct sim_cel;

/* NULL and *RET_WHY when TEXT uses something that is not known here. Lives in A. */
const struct sim_cel *sim_cel_new(struct rco_arena *a, const char *text, const char **ret_why);
/* Whether the rule is about a change: it names oldSelf. */
bool sim_cel_is_transition(const struct sim_cel *c);
/* Whether the rule holds; an error (a field that is not there, a text that is no duration) counts
 * as no. OLD may be NULL where the rule is none about a change. */
bool sim_cel_holds(const struct sim_cel *c, struct rco_arena *a, const struct rco_value *self,
                   const struct rco_value *old);

#endif
