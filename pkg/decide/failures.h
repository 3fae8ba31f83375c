/* Failure classes: what each means for a person, and whether it is tried again by itself. */
#ifndef RCO_DECIDE_FAILURES_H
#define RCO_DECIDE_FAILURES_H

#include "api/zz_generated_types.h"

struct rco_buf;

/* What to do about CLASS, as a sentence; never NULL. */
const char *rco_failure_advice(enum rco_failure_class class);
/* "yes, ..." or "no", for the table. */
const char *rco_failure_retry(enum rco_failure_class class);
/* Appends the table as Markdown. */
void rco_failures_print(struct rco_buf *out);

#endif
