/* Plain HTTP for kubelet and Prometheus: /livez, /readyz (also /healthz) and /metrics. */
#ifndef RCO_CONTROLLER_HEALTH_H
#define RCO_CONTROLLER_HEALTH_H

#include "http/server.h"
#include "runtime/manager.h"

struct rco_health {
    struct rco_manager *manager;
    bool gateway_ready; /* the gateway listens with a certificate */
};

/* Handlers; H is borrowed. */
struct rco_server_handler rco_health_handler(struct rco_health *h);
struct rco_server_handler rco_metrics_handler(struct rco_health *h);

#endif
