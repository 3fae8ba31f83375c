/* The trace: one JSON object a line for each answer, frame and fault. Never a body or a header. */
#ifndef FP_TRACE_H
#define FP_TRACE_H

#include "proxy.h"

#include <stdint.h>

struct fp_entry {
    const char *what;               /* "answer", "frame", "fault", "control" */
    const struct fp_target *target; /* may be NULL */
    const char *name;               /* of the object; NULL = the target's */
    const char *type;               /* of a frame */
    const char *rv_before, *rv_after, *uid;
    const char *fault; /* id of the rule and what it did */
    const char *text;
    int status;
    unsigned long k; /* 0 = no effective write */
};

/* Writes and flushes it. Under the lock. */
void fp_trace(struct fp_proxy *p, const struct fp_entry *e);

#endif
