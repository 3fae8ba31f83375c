#include "http/response_head.h"

#include "base/str.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#define VALUE_MAX 128 /* of the values we parse; longer ones are malformed */

static int status_of(const char *line, size_t n)
{
    const char *space = memchr(line, ' ', n);
    int status = 0;

    if (!space || n - (size_t)(space - line) < 4)
        return 0;
    for (int i = 1; i <= 3; i++) {
        if (space[i] < '0' || space[i] > '9')
            return 0;
        status = status * 10 + (space[i] - '0');
    }
    return status;
}

/* The trimmed value when LINE is header NAME. */
static const char *value_of(const char *line, size_t n, const char *name, size_t *ret_n)
{
    size_t len = strlen(name);
    const char *end = line + n;
    const char *p = line + len;

    if (n <= len || strncasecmp(line, name, len) != 0 || *p != ':')
        return NULL;
    p++;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && strchr(" \t\r\n", end[-1]))
        end--;
    *ret_n = (size_t)(end - p);
    return p;
}

static bool short_copy(const char *value, size_t n, char out[VALUE_MAX])
{
    if (n == 0 || n >= VALUE_MAX)
        return false;
    memcpy(out, value, n);
    out[n] = '\0';
    return true;
}

static rco_wall parse_date(const char *value, size_t n)
{
    char text[VALUE_MAX];
    time_t t;

    if (!short_copy(value, n, text))
        return 0;
    t = curl_getdate(text, NULL);
    return t > 0 ? (rco_wall)t * RCO_US_PER_S : 0;
}

static int64_t parse_retry_after(const char *value, size_t n, rco_wall now)
{
    char text[VALUE_MAX];
    struct rco_error ignored = RCO_ERROR_INIT;
    int64_t seconds;
    rco_wall date;

    if (!short_copy(value, n, text))
        return 0;
    if (rco_parse_int64(text, &seconds, &ignored) != 0) {
        date = parse_date(value, n);
        if (!date)
            return 0;
        seconds = date > now ? (date - now + RCO_US_PER_S - 1) / RCO_US_PER_S : 0;
    }
    if (seconds <= 0)
        return seconds == 0 ? 1 : 0;
    return (seconds < RCO_RETRY_AFTER_MAX_S ? seconds : RCO_RETRY_AFTER_MAX_S) * 1000;
}

static void take_header(struct rco_response_head *head, const char *line, size_t n, rco_wall now)
{
    const char *value;
    size_t len;

    if ((value = value_of(line, n, "retry-after", &len))) {
        head->response.retry_after_ms = parse_retry_after(value, len, now);
    } else if ((value = value_of(line, n, "date", &len))) {
        head->response.date = parse_date(value, len);
    } else if (!head->has_warning && (value = value_of(line, n, "warning", &len))) {
        if (len >= sizeof head->warning)
            len = sizeof head->warning - 1;
        memcpy(head->warning, value, len);
        head->warning[len] = '\0';
        head->has_warning = true;
        head->response.warning = head->warning;
    }
}

int rco_response_head_line(struct rco_response_head *head, const char *line, size_t n, rco_wall now)
{
    head->bytes += n;
    if (head->complete)
        return 0;
    if (n >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        head->response = (struct rco_http_response){.status = status_of(line, n)};
        head->has_warning = false;
        return 0;
    }
    if (n <= 2 && (n == 0 || line[0] == '\r' || line[0] == '\n')) {
        head->complete = head->response.status >= 200;
        return head->complete;
    }
    take_header(head, line, n, now);
    return 0;
}
