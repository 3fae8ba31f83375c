/* Faults: what went wrong in one call, on the caller's stack, without allocation.
 * Outcomes of the domain (quota exceeded, run failed) are not errors; they are conditions. */
#ifndef RCO_BASE_ERROR_H
#define RCO_BASE_ERROR_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum rco_code {
    RCO_OK = 0,
    RCO_EINVALID,      /* input is not what it must be; repeating it cannot help */
    RCO_ENOTFOUND,     /* the thing named does not exist */
    RCO_EEXISTS,       /* create of a name that is taken (409 AlreadyExists) */
    RCO_ECONFLICT,     /* resourceVersion or precondition did not hold (409 Conflict) */
    RCO_EGONE,         /* resourceVersion too old (410, Expired) */
    RCO_EUNAUTHORIZED, /* credentials not accepted (401) */
    RCO_EFORBIDDEN,    /* credentials accepted, action not allowed (403) */
    RCO_ETHROTTLED,    /* asked to slow down (429) */
    RCO_EUNAVAILABLE,  /* server or peer cannot serve now (5xx, refused, reset) */
    RCO_ETIMEOUT,      /* no answer within the deadline; the outcome of a write is unknown */
    RCO_ETOOBIG,       /* larger than the named cap */
    RCO_EIO,           /* local input/output failed */
    RCO_ECANCELLED,    /* given up on request */
    RCO_EINTERNAL,     /* broken invariant or an answer that makes no sense */
    RCO_CODE_COUNT
};

#define RCO_ERROR_MSG_MAX 512

struct rco_error {
    enum rco_code code;
    int http_status;        /* 0 = none */
    int64_t retry_after_ms; /* 0 = not said */
    char msg[RCO_ERROR_MSG_MAX];
};

#define RCO_ERROR_INIT ((struct rco_error){.code = RCO_OK})

/* Sets ERR and returns -1, so that `return rco_error_set(...)` reads well. ERR is never NULL. */
int rco_error_set(struct rco_error *err, enum rco_code code, const char *fmt, ...) RCO_PRINTF(3, 4);

/* Like rco_error_set, appending the text of errno value ERRNUM; maps it to a code. Returns -1. */
int rco_error_errno(struct rco_error *err, int errnum, const char *fmt, ...) RCO_PRINTF(3, 4);

/* Prefixes the message with what the caller was doing ("read the token: ..."). Returns -1. */
int rco_error_wrap(struct rco_error *err, const char *fmt, ...) RCO_PRINTF(2, 3);

/* Whether the same call may succeed later without anybody changing anything. */
bool rco_error_is_retryable(const struct rco_error *err);

/* Constant word for a code ("Conflict"), for logs and metrics. */
const char *rco_code_name(enum rco_code code);

#endif
