/* Whether an object that stands under our deterministic name is the one we would have made (A76):
 * all that was sent is there and equal, lists have the same length, and further fields come only
 * from a table of defaults that the API server fills in. */
#ifndef RCO_RUNTIME_ADOPT_H
#define RCO_RUNTIME_ADOPT_H

#include "api/kinds.h"
#include "base/buf.h"

#include <stdbool.h>

/* SENT and LIVE are complete JSON objects. On a difference returns false and writes the path and
 * what differs to RET_WHY ("spec.template.spec.containers: 2 items, sent 1"). Values never enter
 * RET_WHY for Secrets. */
bool rco_adopt_same(enum rco_kind kind, const char *sent, size_t sent_len, const char *live,
                    size_t live_len, struct rco_buf *ret_why);

#endif
