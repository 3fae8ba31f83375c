/* Client of the operator's gateway: one request at a time, blocking. */
#ifndef RCO_RUNNER_GATEWAY_H
#define RCO_RUNNER_GATEWAY_H

#include "runner.h"

#include <stddef.h>
#include <stdint.h>

#define RCO_GATEWAY_MAX_ANSWER (64 * 1024)
#define RCO_GATEWAY_CHUNK (512 * 1024)
#define RCO_GATEWAY_TIMEOUT_S 60

struct rco_gateway;

/* URL and CA come from RCO_GATEWAY_URL and RCO_GATEWAY_CA, the token is read from ROOT/token/token
 * again for each request. NULL and ERR when something is missing. */
struct rco_gateway *rco_gateway_new(struct rco_runner *r, struct rco_error *err);
void rco_gateway_free(struct rco_gateway *g);

struct rco_answer {
    int status; /* HTTP */
    int64_t retry_after_ms;
    struct rco_buf body;
};

/* METHOD on ROUTE ("start", "artifacts/plan?index=0&..."). 0 when there was an answer of any
 * status, -1 when there was none. A replica that stands by is left for another at once, over a new
 * connection, for some seconds; its answer is returned when there is no other. */
RCO_MUST_CHECK int rco_gateway_call(struct rco_gateway *g, const char *method, const char *route,
                                    const void *body, size_t n, struct rco_answer *ret,
                                    struct rco_error *err);

/* Whether the answer is that of a replica which does not lead. */
bool rco_gateway_is_standby(const struct rco_answer *a);

/* What to do about an answer that is not 2xx. */
enum rco_gateway_verdict {
    RCO_GATEWAY_DONE,  /* 2xx */
    RCO_GATEWAY_RETRY, /* later: no answer, 401, 408, 429, 5xx */
    RCO_GATEWAY_WAIT,  /* 403, 404: the operator may not have seen everything yet; give up after a
                          while */
    RCO_GATEWAY_REFUSED
};
enum rco_gateway_verdict rco_gateway_judge(int rc, const struct rco_answer *a);

/* Milliseconds to wait before attempt ATTEMPT + 1 (from 1): doubling from 1 s to 15 s, with jitter,
 * and not less than the server asked for. */
int64_t rco_gateway_backoff_ms(unsigned attempt, const struct rco_answer *a);

/* The message in the body of an answer, or a text for its status; in A. */
const char *rco_gateway_message(const struct rco_answer *ans, struct rco_arena *a);

#endif
