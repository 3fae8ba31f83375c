/* Metrics of the process itself, with the names that every Prometheus client library gives them. */
#ifndef RCO_CONTROLLER_PROCESS_METRICS_H
#define RCO_CONTROLLER_PROCESS_METRICS_H

#include "runtime/metrics.h"

/* The families and their only series; filled in by rco_process_metrics_add. */
struct rco_process_metrics {
    struct rco_series *cpu, *resident, *virtual_memory, *open_fds;
};

/* Registers them in METRICS, to be read from the system at each exposition. P must live until
 * METRICS is freed or rco_metrics_off_collect(METRICS, P) was called; what cannot be read is 0. */
void rco_process_metrics_add(struct rco_process_metrics *p, struct rco_metrics *metrics);

#endif
