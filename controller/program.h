/* The operator as one object: everything that main wires together, and its life from start to end.
 */
#ifndef RCO_CONTROLLER_PROGRAM_H
#define RCO_CONTROLLER_PROGRAM_H

#include "base/error.h"
#include "options.h"

/* Runs the operator until a signal or a hopeless fault. ENVIRON values that count are in OPTIONS
 * already; SERVICE_HOST and SERVICE_PORT are those of the in-cluster discovery. Returns the exit
 * code: 0 after a graceful end, 1 after a fault that was logged. */
struct rco_program_env {
    const char *service_host, *service_port; /* KUBERNETES_SERVICE_HOST, _PORT */
    const char *pod_name;                    /* POD_NAME or NULL */
    const char *host_name;
};
int rco_program_run(const struct rco_options *options, const struct rco_program_env *env);

#endif
