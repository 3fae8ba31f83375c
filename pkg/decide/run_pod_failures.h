/* What the status of a runner pod says about why it gets nowhere, or how it ended. */
#ifndef RCO_DECIDE_RUN_POD_FAILURES_H
#define RCO_DECIDE_RUN_POD_FAILURES_H

#include "decide/run_facts.h"

struct rco_pod_failure {
    struct rco_run_failure failure;
    const char *reason; /* NULL: the class */
};

/* Each returns whether c->pod shows it, and then fills RET. */
bool rco_pod_failure_image(const struct rco_run_ctx *c, struct rco_pod_failure *ret);
bool rco_pod_failure_config(const struct rco_run_ctx *c, struct rco_pod_failure *ret);
bool rco_pod_failure_unschedulable(const struct rco_run_ctx *c, struct rco_pod_failure *ret);
/* What the pod waits for that people may have to see to, once it has waited for a while; NULL: nothing such.
 * *RET_MESSAGE is a sentence. */
const char *rco_pod_waits_for(const struct rco_run_ctx *c, const char **ret_message);
/* Whether REASON is one that rco_pod_waits_for gives. */
bool rco_pod_is_wait(const char *reason);
/* Everything in the pod has ended and there is no receipt. */
bool rco_pod_failure_ended(const struct rco_run_ctx *c, struct rco_pod_failure *ret);

#endif
