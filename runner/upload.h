/* Upload of artifacts in chunks. */
#ifndef RCO_RUNNER_UPLOAD_H
#define RCO_RUNNER_UPLOAD_H

#include "gateway.h"

/* How often something has to be tried again goes through this: sleeps MS, does what has to be done
 * meanwhile; false = give up. */
struct rco_patience {
    bool (*wait)(void *ctx, int64_t ms);
    void *ctx;
};

/* Uploads N bytes as artifact KIND. Fills RET (digest in R's arena); truncated is set when the
 * gateway does not take it. -1 only when patience is over. */
RCO_MUST_CHECK int rco_upload(struct rco_runner *r, struct rco_gateway *g,
                              enum rco_artifact_kind kind, const void *bytes, size_t n,
                              const struct rco_patience *patience, struct rco_runner_artifact *ret);

#endif
