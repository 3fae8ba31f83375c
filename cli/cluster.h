/* What the cluster is: version, served API, who the caller is and what the caller may do. */
#ifndef RCO_CLI_CLUSTER_H
#define RCO_CLI_CLUSTER_H

#include "cli.h"

#define RCO_CLUSTER_MIN_MINOR                                                                      \
    30 /* Kubernetes 1.30: ValidatingAdmissionPolicy is stable from there on */

struct rco_server_version {
    int64_t major, minor;
    const char *git_version; /* in the invocation's arena */
};

/* Asks the server for its version. */
RCO_MUST_CHECK int rco_cluster_version(struct rco_cli *cli, struct rco_server_version *out,
                                       struct rco_error *err);
/* "30+" counts as 30; anything else that is not a number is 0. Pure. */
int64_t rco_cluster_number(const char *s);
/* Whether the operator works with such a server. Pure. */
bool rco_cluster_is_supported(const struct rco_server_version *v);
/* Whether runtimecloud.io/v1alpha1 is served at all. */
bool rco_cluster_serves_api(struct rco_cli *cli);

/* One thing a caller may do. */
struct rco_access {
    const char *verb, *group, *resource, *subresource; /* "" = core group; NULL = none */
    const char *ns;                                    /* NULL = cluster scope */
};
/* Asks by SelfSubjectAccessReview. */
RCO_MUST_CHECK int rco_cluster_may(struct rco_cli *cli, const struct rco_access *access,
                                   bool *ret_allowed, struct rco_error *err);
/* The caller's user name, in the invocation's arena. */
RCO_MUST_CHECK int rco_cluster_whoami(struct rco_cli *cli, const char **ret_name,
                                      struct rco_error *err);

#endif
