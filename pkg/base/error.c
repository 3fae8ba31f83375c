#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void format_into(struct rco_error *err, const char *fmt, va_list ap)
{
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
}

int rco_error_set(struct rco_error *err, enum rco_code code, const char *fmt, ...)
{
    va_list ap;

    err->code = code;
    err->http_status = 0;
    err->retry_after_ms = 0;
    va_start(ap, fmt);
    format_into(err, fmt, ap);
    va_end(ap);
    return -1;
}

static enum rco_code code_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        return RCO_ENOTFOUND;
    case EEXIST:
        return RCO_EEXISTS;
    case EACCES:
    case EPERM:
        return RCO_EFORBIDDEN;
    case ETIMEDOUT:
        return RCO_ETIMEOUT;
    case EINVAL:
        return RCO_EINVALID;
    default:
        return RCO_EIO;
    }
}

int rco_error_errno(struct rco_error *err, int errnum, const char *fmt, ...)
{
    va_list ap;
    char reason[128];
    size_t len;

    err->code = code_of_errno(errnum);
    err->http_status = 0;
    err->retry_after_ms = 0;
    va_start(ap, fmt);
    format_into(err, fmt, ap);
    va_end(ap);
    len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %s",
             strerror_r(errnum, reason, sizeof reason));
    return -1;
}

int rco_error_wrap(struct rco_error *err, const char *fmt, ...)
{
    char inner[RCO_ERROR_MSG_MAX];
    va_list ap;
    size_t len;

    memcpy(inner, err->msg, sizeof inner);
    va_start(ap, fmt);
    format_into(err, fmt, ap);
    va_end(ap);
    len = strlen(err->msg);
    snprintf(err->msg + len, sizeof err->msg - len, ": %s", inner);
    return -1;
}

bool rco_error_is_retryable(const struct rco_error *err)
{
    switch (err->code) {
    case RCO_ECONFLICT:
    case RCO_EGONE:
    case RCO_EUNAUTHORIZED:
    case RCO_ETHROTTLED:
    case RCO_EUNAVAILABLE:
    case RCO_ETIMEOUT:
    case RCO_EIO:
    case RCO_ECANCELLED:
        return true;
    default:
        return false;
    }
}

const char *rco_code_name(enum rco_code code)
{
    static const char *const names[RCO_CODE_COUNT] = {
        [RCO_OK] = "OK",
        [RCO_EINVALID] = "Invalid",
        [RCO_ENOTFOUND] = "NotFound",
        [RCO_EEXISTS] = "AlreadyExists",
        [RCO_ECONFLICT] = "Conflict",
        [RCO_EGONE] = "Gone",
        [RCO_EUNAUTHORIZED] = "Unauthorized",
        [RCO_EFORBIDDEN] = "Forbidden",
        [RCO_ETHROTTLED] = "Throttled",
        [RCO_EUNAVAILABLE] = "Unavailable",
        [RCO_ETIMEOUT] = "Timeout",
        [RCO_ETOOBIG] = "TooBig",
        [RCO_EIO] = "IO",
        [RCO_ECANCELLED] = "Cancelled",
        [RCO_EINTERNAL] = "Internal",
    };

    return code >= 0 && code < RCO_CODE_COUNT ? names[code] : "Unknown";
}
