/* HTTP client as the Kubernetes client sees it. The libcurl implementation is client.c; the
 * simulation and tests bring their own. A transport never interprets bodies and never retries. */
#ifndef RCO_HTTP_TRANSPORT_H
#define RCO_HTTP_TRANSPORT_H

#include "base/error.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

/* Which connections a request may use (design 3.4): requests share one HTTP/2 connection, each
 * watch has an HTTP/1.1 connection of its own, leader election has a third so that nothing can
 * delay it. */
enum rco_http_lane { RCO_LANE_REQUEST, RCO_LANE_WATCH, RCO_LANE_ELECTION };

struct rco_http_request {
    const char *method;         /* "GET", "POST", ... */
    const char *path;           /* absolute path and query, already escaped */
    const char *const *headers; /* "Name: value", NULL-terminated; without Authorization, Host */
    const char *body;           /* copied by start; NULL = none */
    size_t body_len;
    enum rco_http_lane lane;
    int64_t deadline_ns; /* total time, waiting included, 0 = 60 s; for a watch the absolute bound
                          * (A35), 0 = none */
    int64_t silence_ns;  /* watch: no byte for so long ends it with RCO_ETIMEOUT; 0 = off */
    size_t max_body;     /* cap of the answer's body for non-streaming use; 0 = streaming */
};

struct rco_http_response {
    int status;             /* HTTP status */
    int64_t retry_after_ms; /* of Retry-After in seconds or date form; 0 = absent, "at once" = 1 */
    const char *warning;    /* first Warning header or NULL; borrowed */
    rco_wall date;          /* Date header, 0 = absent */
};

/* An error in `done` leaves the outcome of a write unknown (A41), whatever its code and also when a
 * status is known already; only after RCO_EINVALID nothing was sent. Calls may be started and
 * cancelled inside any callback.
 *
 * Callbacks; any may be NULL but done. After `done` no other comes. None is called from inside
 * start. */
struct rco_http_handler {
    /* Status and headers are known. */
    void (*head)(void *ctx, const struct rco_http_response *response);
    /* Bytes of the body. Return -1 to abort the request (done follows with RCO_ECANCELLED). */
    int (*data)(void *ctx, const char *bytes, size_t n);
    /* Exactly once. ERR is NULL when an HTTP answer came in full, whatever its status. For requests
     * with max_body, BODY holds it (NUL-terminated, borrowed). */
    void (*done)(void *ctx, const struct rco_http_response *response, const char *body, size_t n,
                 const struct rco_error *err);
    void *ctx;
};

struct rco_http_call; /* a request under way */

struct rco_transport;
struct rco_transport_ops {
    struct rco_http_call *(*start)(struct rco_transport *t, const struct rco_http_request *request,
                                   const struct rco_http_handler *handler);
    void (*cancel)(struct rco_transport *t, struct rco_http_call *call);
};
struct rco_transport {
    const struct rco_transport_ops *ops;
};

/* Starts REQUEST; everything it points to is copied. Never fails at once: faults arrive in `done`.
 */
struct rco_http_call *rco_transport_start(struct rco_transport *t,
                                          const struct rco_http_request *request,
                                          const struct rco_http_handler *handler);
/* Gives up on CALL: no callback comes after this returns. */
void rco_transport_cancel(struct rco_transport *t, struct rco_http_call *call);

#endif
