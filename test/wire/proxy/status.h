/* Answers that the proxy makes up. */
#ifndef FP_STATUS_H
#define FP_STATUS_H

#include "rules.h"

#include "base/buf.h"
#include "json/writer.h"

/* A Status object as the API server answers it. REASON "" = the usual one of CODE; CAUSE "" = none.
 */
void fp_status_write(struct rco_json_writer *w, int code, const char *reason, const char *cause);
/* The whole answer, head and body, that RULE (do=status) gives. */
void fp_status_answer(const struct fp_rule *rule, struct rco_buf *out);

#endif
