/* The runner gateway (design 3.6): HTTPS routes for runner pods. Authenticates the pod, hands start requests
 * and receipts to the run reconciler through the mailbox, stores artifact chunks, answers heartbeats. */
#ifndef RCO_CONTROLLER_GATEWAY_H
#define RCO_CONTROLLER_GATEWAY_H

#include "http/server.h"
#include "runtime/manager.h"
#include "world.h"

struct rco_gateway;

struct rco_gateway_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_manager *manager;
    struct rco_world *world;
};

/* Everything in OPTIONS is borrowed. */
struct rco_gateway *rco_gateway_new(const struct rco_gateway_options *options);
void rco_gateway_free(struct rco_gateway *g);
/* The handler to listen with. */
struct rco_server_handler rco_gateway_handler(struct rco_gateway *g);

#endif
