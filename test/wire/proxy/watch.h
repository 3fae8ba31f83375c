/* A watch: frames one by one, with what holds them up. */
#ifndef FP_WATCH_H
#define FP_WATCH_H

#include "message.h"
#include "proxy.h"

/* HEAD is the API server's answer 200, whose chunks UPSTREAM reads; it is handed on to the operator
 * until either side ends, after which both are closed. Without the lock. */
void fp_watch_serve(struct fp_proxy *p, struct fp_stream *operator_side, struct fp_reader *upstream,
                    const struct fp_head *head, const struct fp_target *t);
/* Waits while the resource is frozen. False when the operator has gone meanwhile. */
bool fp_watch_wait(struct fp_proxy *p, struct fp_stream *operator_side, const char *res);

#endif
