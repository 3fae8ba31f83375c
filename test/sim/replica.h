/* What the front asks of a replica. */
#ifndef RCO_SIM_REPLICA_H
#define RCO_SIM_REPLICA_H

#include "http/server.h"
#include "sim.h"

/* The gateway's handler; NULL when the process is not there. */
const struct rco_server_handler *sim_replica_handler(const struct sim *s, int i);
bool sim_replica_is_doomed(const struct sim *s, int i);
/* It is up and not about to stop. */
bool sim_replica_is_ready(const struct sim *s, int i);
bool sim_replica_is_paused(const struct sim *s, int i);
/* Ends the processes that are doomed. */
void sim_replicas_reap(struct sim *s);

#endif
