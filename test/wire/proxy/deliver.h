/* How bytes reach the operator: whole, or as a byte fault has it. */
#ifndef FP_DELIVER_H
#define FP_DELIVER_H

#include "rules.h"
#include "stream.h"

#include "base/buf.h"

#define FP_BIG_BYTES (8 * 1024 * 1024)

/* Changes a JSON text as ACTION (garbage, big, nul, utf8) asks; others leave it. */
void fp_spoil(enum fp_action action, struct rco_buf *json);
/* Sends BYTES as RULE (NULL = whole) asks. 0 when the connection goes on, -1 when it is over, by
 * the fault or because the operator has closed it; then S is closed or reset. */
int fp_deliver(struct fp_stream *s, const struct fp_rule *rule, const char *bytes, size_t n);

#endif
