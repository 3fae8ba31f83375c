/* JSON text as people read it: indented, or as YAML. Fields of no use to people (managedFields) go.
 */
#ifndef RCO_CLI_FORMAT_H
#define RCO_CLI_FORMAT_H

#include "base/buf.h"

#define RCO_FORMAT_MAX_DEPTH 64

/* Appends the JSON text TEXT[0..N) indented by four spaces, with a newline at the end. Characters
 * that could steer a terminal become escapes. Text that is not JSON is RCO_EINVALID. */
RCO_MUST_CHECK int rco_format_json(const char *text, size_t n, struct rco_buf *out,
                                   struct rco_error *err);
/* The same value as YAML in block style. */
RCO_MUST_CHECK int rco_format_yaml(const char *text, size_t n, struct rco_buf *out,
                                   struct rco_error *err);

#endif
