/* The object that holds one chunk of an artifact. Pure. */
#ifndef RCO_CONTROLLER_GATEWAY_CHUNK_H
#define RCO_CONTROLLER_GATEWAY_CHUNK_H

#include "api/kinds.h"
#include "gateway_route.h"

struct rco_configmap;
struct rco_run;

/* Masked text goes to ConfigMaps, so that an approver can read a plan without the right to read Secrets;
 * everything that may hold secrets, even encrypted ones, goes to Secrets. */
enum rco_kind rco_gateway_chunk_kind(enum rco_artifact_kind kind);

/* Appends the object NAME of ROUTE's namespace with the N bytes under the key "data", immutable, owned by
 * ANCHOR so that it goes away with it. */
void rco_gateway_chunk_object(const struct rco_run *run, const struct rco_gateway_route *route,
                              const char *name, const struct rco_configmap *anchor,
                              const char *bytes, size_t n, struct rco_buf *out);

#endif
