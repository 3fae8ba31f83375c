#include "http/reply.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct phrase {
    int status;
    const char *text;
};

static const struct phrase phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

static const char *phrase_of(int status)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(phrases); i++) {
        if (phrases[i].status == status)
            return phrases[i].text;
    }
    return "Status";
}

static void add_date(struct rco_buf *out, rco_wall now)
{
    time_t t = (time_t)(now / RCO_US_PER_S);
    struct tm tm;
    char text[64];

    if (gmtime_r(&t, &tm) && strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0)
        rco_buf_addf(out, "Date: %s\r\n", text);
}

void rco_reply_head(struct rco_buf *out, const struct rco_reply *r)
{
    const char *type = r->content_type ? r->content_type : "application/json";

    if (strpbrk(type, "\r\n"))
        type = "application/octet-stream";
    rco_buf_addf(out, "HTTP/1.1 %d %s\r\n", r->status, phrase_of(r->status));
    add_date(out, r->now);
    if (r->status != 204)
        rco_buf_addf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, r->body_len);
    if (r->retry_after_s > 0)
        rco_buf_addf(out, "Retry-After: %d\r\n", r->retry_after_s);
    if (r->status == 405)
        rco_buf_adds(out, "Allow: GET, HEAD, POST, PUT, DELETE\r\n");
    rco_buf_adds(out, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
    if (r->close)
        rco_buf_adds(out, "Connection: close\r\n");
    rco_buf_adds(out, "\r\n");
}
