#include "kube/status.h"

#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "base/str.h"
#include "json/codec.h"

#include <stdio.h>
#include <string.h>

#define STATUS_BODY_MAX (256 * 1024) /* a longer error body is not looked at */
#define STATUS_TEXT_MAX 400
#define RETRY_AFTER_MAX_S 3600

/* The reason is more exact than the HTTP status where both exist (409 is two things, 410 two
 * spellings). */
static const struct {
    const char *reason;
    enum rco_code code;
} by_reason[] = {
    {"AlreadyExists", RCO_EEXISTS},
    {"Conflict", RCO_ECONFLICT},
    {"Expired", RCO_EGONE},
    {"Gone", RCO_EGONE},
    {"NotFound", RCO_ENOTFOUND},
    {"Unauthorized", RCO_EUNAUTHORIZED},
    {"Forbidden", RCO_EFORBIDDEN},
    {"TooManyRequests", RCO_ETHROTTLED},
    {"Invalid", RCO_EINVALID},
    {"BadRequest", RCO_EINVALID},
    {"MethodNotAllowed", RCO_EINVALID},
    {"NotAcceptable", RCO_EINVALID},
    {"UnsupportedMediaType", RCO_EINVALID},
    {"RequestEntityTooLarge", RCO_ETOOBIG},
    {"ServerTimeout", RCO_EUNAVAILABLE},
    {"Timeout", RCO_ETIMEOUT},
    {"ServiceUnavailable", RCO_EUNAVAILABLE},
    {"InternalError", RCO_EUNAVAILABLE},
};

static enum rco_code code_of_http(int status)
{
    switch (status) {
    case 401:
        return RCO_EUNAUTHORIZED;
    case 403:
        return RCO_EFORBIDDEN;
    case 404:
        return RCO_ENOTFOUND;
    case 408:
        return RCO_ETIMEOUT;
    case 409:
        return RCO_ECONFLICT;
    case 410:
        return RCO_EGONE;
    case 413:
        return RCO_ETOOBIG;
    case 429:
        return RCO_ETHROTTLED;
    case 504:
        return RCO_ETIMEOUT;
    default:
        break;
    }
    if (status >= 500)
        return RCO_EUNAVAILABLE;
    if (status >= 400)
        return RCO_EINVALID;
    return RCO_EINTERNAL;
}

static bool too_large_rv(const struct rco_api_status *s)
{
    for (size_t i = 0; i < s->details.n_causes; i++)
        if (rco_streq(s->details.causes[i].reason, "ResourceVersionTooLarge"))
            return true;
    return false;
}

static enum rco_code code_of(const struct rco_api_status *s, int http_status)
{
    /* Our resourceVersion is ahead of this server: of no more use than an expired one (A4). */
    if (too_large_rv(s))
        return RCO_EGONE;
    for (size_t i = 0; s->reason && i < RCO_ARRAY_LEN(by_reason); i++)
        if (strcmp(s->reason, by_reason[i].reason) == 0)
            return by_reason[i].code;
    return code_of_http(http_status);
}

/* Drops an incomplete UTF-8 sequence at the end of the LEN bytes; returns the new length. */
static size_t trim_utf8(const char *s, size_t len)
{
    size_t start = len;
    size_t want = 1;

    while (start > 0 && ((unsigned char)s[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return 0;
    start--;
    if (((unsigned char)s[start] & 0xe0) == 0xc0)
        want = 2;
    else if (((unsigned char)s[start] & 0xf0) == 0xe0)
        want = 3;
    else if (((unsigned char)s[start] & 0xf8) == 0xf0)
        want = 4;
    return len - start < want ? start : len;
}

/* Remote text enters messages and logs: no control characters, bounded. */
static void clean_copy(char *out, size_t size, const char *s, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n && s[i] && len + 1 < size; i++) {
        unsigned char c = (unsigned char)s[i];

        out[len++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
    }
    out[trim_utf8(out, len)] = 0;
}

static int64_t retry_after_of(const struct rco_api_status *s)
{
    int64_t seconds = s->details.retry_after_seconds;

    if (!s->details.has_retry_after_seconds || seconds <= 0 || seconds > RETRY_AFTER_MAX_S)
        return 0;
    return seconds * 1000;
}

static bool parse_status(const char *body, size_t n, struct rco_arena *a,
                         struct rco_api_status *out)
{
    struct rco_error ignored = RCO_ERROR_INIT;

    memset(out, 0, sizeof(*out));
    if (n == 0 || n > STATUS_BODY_MAX || body[0] != '{')
        return false;
    if (rco_codec_decode(&rco_api_status_schema, body, n, a, out, &ignored) < 0) {
        memset(out, 0, sizeof(*out));
        return false;
    }
    return rco_streq(out->status, "Failure");
}

static void fill(struct rco_error *err, const struct rco_api_status *s, bool is_status,
                 int http_status, const char *body, size_t n, const char *what)
{
    char text[STATUS_TEXT_MAX];
    const char *reason = is_status && s->reason ? s->reason : "no reason given";

    if (is_status && s->message)
        clean_copy(text, sizeof(text), s->message, strlen(s->message));
    else
        clean_copy(text, sizeof(text), body ? body : "", n);
    rco_error_set(err, code_of(s, http_status), "%s: %s (HTTP %d, %.64s)", what,
                  *text ? text : "empty answer", http_status, reason);
    err->http_status = http_status;
}

int rco_status_map(const struct rco_http_response *response, const char *body, size_t n,
                   const char *what, struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_api_status s;
    bool is_status;

    if (response->status >= 200 && response->status < 300)
        return 0;
    is_status = parse_status(body, n, &a, &s);
    if (!is_status)
        memset(&s, 0, sizeof(s));
    fill(err, &s, is_status, response->status, body, n, what);
    err->retry_after_ms = response->retry_after_ms;
    if (err->retry_after_ms == 0)
        err->retry_after_ms = retry_after_of(&s);
    return -1;
}

void rco_status_map_event(const char *object, size_t n, const char *what, struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_api_status s;
    bool is_status = parse_status(object, n, &a, &s);
    int http_status = 0;

    if (!is_status)
        memset(&s, 0, sizeof(s));
    if (s.has_code && s.code >= 400 && s.code <= 599)
        http_status = (int)s.code;
    fill(err, &s, is_status, http_status, object, n, what);
    err->retry_after_ms = retry_after_of(&s);
}

enum rco_advice rco_status_advice(const struct rco_error *err)
{
    switch (err->code) {
    case RCO_OK:
        return RCO_ADVICE_DONE;
    case RCO_EGONE:
        return RCO_ADVICE_RELIST;
    case RCO_ECONFLICT:
        return RCO_ADVICE_REFRESH;
    case RCO_EUNAUTHORIZED:
        return RCO_ADVICE_REAUTH;
    case RCO_ETHROTTLED:
        return RCO_ADVICE_RETRY;
    case RCO_ETIMEOUT:
        return RCO_ADVICE_READ_BACK;
    case RCO_EUNAVAILABLE:
        /* 503 is refused before anything happened; any other 5xx, and a connection that broke, may
         * have come after the write. */
        return err->http_status == 503 ? RCO_ADVICE_RETRY : RCO_ADVICE_READ_BACK;
    case RCO_ECANCELLED:
        return RCO_ADVICE_RETRY;
    default:
        return RCO_ADVICE_GIVE_UP;
    }
}
