/* The one place that turns an HTTP status and a metav1.Status into an error code and advice. */
#ifndef RCO_KUBE_STATUS_H
#define RCO_KUBE_STATUS_H

#include "base/error.h"
#include "http/transport.h"

#include <stddef.h>

/* What a caller should do about an answer. */
enum rco_advice {
    RCO_ADVICE_DONE,      /* success */
    RCO_ADVICE_RETRY,     /* the same request later, not before retry_after_ms */
    RCO_ADVICE_REFRESH,   /* conflict: read again, decide again */
    RCO_ADVICE_RELIST,    /* the resourceVersion is of no use any more */
    RCO_ADVICE_REAUTH,    /* drop the credentials, ask again */
    RCO_ADVICE_READ_BACK, /* the outcome of a write is unknown: read before writing again */
    RCO_ADVICE_GIVE_UP    /* repeating cannot help */
};

/* Maps an answer; BODY may be anything or empty. Returns 0 for 2xx; else -1 with ERR filled: code,
 * status, retry_after_ms (header first, then details.retryAfterSeconds) and "WHAT: message
 * (reason)". The message of the server is cut at 400 bytes and cleaned of control characters. */
int rco_status_map(const struct rco_http_response *response, const char *body, size_t n,
                   const char *what, struct rco_error *err);
/* The same for the Status object of an ERROR event inside a 200 watch (A12). Always fills ERR. */
void rco_status_map_event(const char *object, size_t n, const char *what, struct rco_error *err);
/* ERR came from above or from a transport. */
enum rco_advice rco_status_advice(const struct rco_error *err);

#endif
