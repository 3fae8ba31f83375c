/* Answers of the gateway that are not the run reconciler's: one JSON object with a message for
 * people. */
#ifndef RCO_CONTROLLER_GATEWAY_ANSWER_H
#define RCO_CONTROLLER_GATEWAY_ANSWER_H

#include "http/server.h"

/* {"message": MESSAGE}; 429 and 503 carry Retry-After 1. EXCHANGE is dead when this returns. */
void rco_gateway_answer(struct rco_exchange *exchange, int status, const char *message);

/* 503 of a replica that does not lead: says so with "standby": true, and closes the connection,
 * since only a new one can reach the replica that does. EXCHANGE is dead when this returns. */
void rco_gateway_answer_standby(struct rco_exchange *exchange);

#endif
