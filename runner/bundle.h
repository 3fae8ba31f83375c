/* The artifact `plan`: the engine's plan file and the short manifest of the workspace it was made
 * from, so that an apply can name the first path that differs. One header line, then both, one
 * behind the other. */
#ifndef RCO_RUNNER_BUNDLE_H
#define RCO_RUNNER_BUNDLE_H

#include "base/buf.h"

#define RCO_BUNDLE_MAX (32 * 1024 * 1024)

/* Appends the two parts to OUT. */
void rco_bundle_write(const void *plan, size_t plan_len, const void *manifest, size_t manifest_len,
                      struct rco_buf *out);
/* The parts are borrowed from TEXT. */
RCO_MUST_CHECK int rco_bundle_read(const struct rco_buf *text, const char **ret_plan,
                                   size_t *ret_plan_len, const char **ret_manifest,
                                   size_t *ret_manifest_len, struct rco_error *err);

/* Whether the engine's plan file PLAN changes outputs of the stack. It also tells of secret ones,
 * whose values the event stream hides. True when it cannot be read. */
bool rco_bundle_changes_outputs(const char *plan, size_t n);

#endif
