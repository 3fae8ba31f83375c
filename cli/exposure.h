/* Who can act as an approver in a namespace without being one: whoever may create pods there, read
 * its Secrets, run commands in its pods, make tokens of its accounts, or give himself such rights.
 * Pure. */
#ifndef RCO_CLI_EXPOSURE_H
#define RCO_CLI_EXPOSURE_H

#include "base/arena.h"
#include "views.h"

enum rco_power {
    RCO_POWER_CREATE_PODS = 1,
    RCO_POWER_READ_SECRETS = 2,
    RCO_POWER_EXEC = 4,
    RCO_POWER_MAKE_TOKENS = 8,
    RCO_POWER_GIVE_RIGHTS = 16
};

/* Everything RBAC says that concerns one namespace. */
struct rco_exposure_input {
    const struct rco_view_roles *roles; /* of the namespace */
    const struct rco_view_roles *cluster_roles;
    const struct rco_view_bindings *bindings; /* of the namespace */
    const struct rco_view_bindings *cluster_bindings;
};

struct rco_exposed {
    const char *kind, *name, *ns; /* the subject; ns for service accounts */
    unsigned powers;              /* enum rco_power */
    const char *through;          /* the first binding, "RoleBinding team" */
};

/* Fills an array in A, sorted by kind and name; subjects that belong to Kubernetes itself
 * (system:..., accounts of kube-system) are only counted. */
void rco_exposure_find(const struct rco_exposure_input *in, struct rco_arena *a,
                       struct rco_exposed **ret, size_t *ret_n, size_t *ret_n_system);
/* Powers that a rule gives. */
unsigned rco_exposure_of_rule(const struct rco_view_rule *rule);
/* "create pods, read Secrets", in A. */
const char *rco_exposure_words(unsigned powers, struct rco_arena *a);

#endif
