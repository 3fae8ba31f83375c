/* Read-your-writes gate (A78; pure): which own writes of a key the caches do not show yet. */
#ifndef RCO_RUNTIME_GATE_H
#define RCO_RUNTIME_GATE_H

#include "base/time.h"
#include "runtime/store.h"

#define RCO_GATE_TIMEOUT_NS (30 * RCO_NS_PER_S)

struct rco_gate; /* expectations of one key; NULL is an empty one */

/* After a create or patch that was answered with RESOURCE_VERSION. */
void rco_gate_expect_rv(struct rco_gate **g, enum rco_kind kind, const char *ns, const char *name,
                        const char *resource_version, rco_mono now);
/* After an accepted delete: satisfied once the object with UID is gone or being deleted. */
void rco_gate_expect_gone(struct rco_gate **g, enum rco_kind kind, const char *ns, const char *name,
                          const char *uid, rco_mono now);
/* Drops what STORES show by now (a NULL store never holds anything up); true when nothing is left
 * and *G is NULL. */
bool rco_gate_check(struct rco_gate **g, const struct rco_store *const *stores);
/* When the oldest expectation is RCO_GATE_TIMEOUT_NS old; 0 = empty. */
rco_mono rco_gate_deadline(const struct rco_gate *g);
/* Kinds still waited for, as a bit set by enum rco_kind. */
uint32_t rco_gate_kinds(const struct rco_gate *g);
/* Moves all deadlines to NOW + RCO_GATE_TIMEOUT_NS (a relist was asked for). */
void rco_gate_extend(struct rco_gate *g, rco_mono now);
void rco_gate_free(struct rco_gate *g);

#endif
