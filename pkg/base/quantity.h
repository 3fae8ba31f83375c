/* Kubernetes resource quantities as exact integers.
 * Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
#ifndef RCO_BASE_QUANTITY_H
#define RCO_BASE_QUANTITY_H

#include "base/error.h"

#include <stdint.h>

/* CPU in millicores; finer than 1m, negative or beyond 2^40 is RCO_EINVALID. */
RCO_MUST_CHECK int rco_quantity_cpu(const char *s, int64_t *ret_millicores, struct rco_error *err);
/* Memory or storage in bytes (suffixes k M G T P E, Ki Mi Gi Ti Pi Ei, m only if whole);
 * a fraction of a byte, negative or beyond 2^62 is RCO_EINVALID. */
RCO_MUST_CHECK int rco_quantity_bytes(const char *s, int64_t *ret_bytes, struct rco_error *err);

#endif
