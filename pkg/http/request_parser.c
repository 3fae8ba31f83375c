#include "http/request_parser.h"

#include "base/buf.h"
#include "base/str.h"

#include <http_parser.h>
#include <string.h>
#include <strings.h>

#define CONTENT_LENGTH_DIGITS 15 /* more than any cap, far from overflow */

/* Where the check of the raw head stands. */
struct head_scan {
    bool started, done;
    bool first_line_done;
    char previous;
    size_t line_len;
    int n_spaces;   /* in the request line */
    size_t n_known; /* characters of "HTTP/" seen behind the second one */
};

/* `http` first: http-parser's callbacks get a pointer to it. */
struct rco_request_parser {
    http_parser http;
    struct head_scan scan;
    const struct rco_server_handler *handler; /* borrowed, for max_body and known */
    struct rco_buf target;                    /* path, NUL, query */
    struct rco_buf field, value;              /* header being read */
    struct rco_buf authorization, content_type;
    struct rco_buf body;
    const char *query; /* into target */
    size_t header_bytes;
    int n_headers, n_hosts, n_lengths;
    bool has_authorization, has_content_type;
    bool known;
    bool has_transfer_encoding;
    bool in_value; /* field and value hold a header that is not yet taken */
    bool headers_done;
    bool complete;
    bool expect_continue; /* headers are in, the client waits for 100 before it sends the body */
    bool keep_alive;
    int status;         /* of a refusal, 0 = none */
    const char *reason; /* constant text */
};

static struct rco_request_parser *parser_of(http_parser *http)
{
    return (struct rco_request_parser *)http;
}

/* Not 0, 1 or 2, which http-parser understands from on_headers_complete. */
static int refuse(struct rco_request_parser *p, int status, const char *reason)
{
    if (!p->status) {
        p->status = status;
        p->reason = reason;
    }
    return -1;
}

static int count(struct rco_request_parser *p, size_t n)
{
    p->header_bytes += n;
    if (p->header_bytes > RCO_SERVER_MAX_HEADER)
        return refuse(p, 431, "headers are too large");
    return 0;
}

static bool scan_request_line(struct head_scan *scan, char c)
{
    static const char protocol[] = "HTTP/";

    if (c == ' ')
        scan->n_spaces++;
    else if (scan->n_spaces == 2 && scan->n_known < sizeof protocol - 1)
        return c == protocol[scan->n_known++];
    return true;
}

/* One byte of the head. In its lenient mode http-parser takes line feeds alone, folded headers, and
 * any four letters for HTTP. */
static bool scan_byte(struct head_scan *scan, char c)
{
    char previous = scan->previous;

    scan->previous = c;
    if (c == '\n') {
        scan->done = scan->line_len == 1 && scan->first_line_done;
        scan->first_line_done = true;
        scan->line_len = 0;
        return previous == '\r';
    }
    if (previous == '\r' ||
        (scan->line_len == 0 && scan->first_line_done && (c == ' ' || c == '\t')))
        return false;
    scan->line_len++;
    return scan->first_line_done || scan_request_line(scan, c);
}

static int scan_head(struct rco_request_parser *p, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !p->scan.done; i++) {
        /* Empty lines before a request are allowed. */
        if (!p->scan.started && (bytes[i] == '\r' || bytes[i] == '\n'))
            continue;
        p->scan.started = true;
        if (!scan_byte(&p->scan, bytes[i]))
            return refuse(p, 400, "malformed line end, folded header or protocol");
    }
    return 0;
}

static int on_url(http_parser *http, const char *at, size_t n)
{
    struct rco_request_parser *p = parser_of(http);

    if (p->target.len + n > RCO_SERVER_MAX_TARGET)
        return refuse(p, 414, "request target is too long");
    rco_buf_add(&p->target, at, n);
    return count(p, n);
}

static bool is_token(const struct rco_buf *b)
{
    static const char other[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < b->len; i++) {
        char c = b->data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c && strchr(other, c))))
            return false;
    }
    return b->len > 0;
}

static bool is_field_value(const struct rco_buf *b)
{
    for (size_t i = 0; i < b->len; i++) {
        unsigned char c = (unsigned char)b->data[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool is_length(const struct rco_buf *b)
{
    for (size_t i = 0; i < b->len; i++) {
        if (b->data[i] < '0' || b->data[i] > '9')
            return false;
    }
    return b->len > 0 && b->len <= CONTENT_LENGTH_DIGITS;
}

static bool is_field(const struct rco_request_parser *p, const char *name)
{
    return strcasecmp(p->field.data, name) == 0;
}

static void trim_end(struct rco_buf *b)
{
    while (b->len > 0 && (b->data[b->len - 1] == ' ' || b->data[b->len - 1] == '\t'))
        b->data[--b->len] = '\0';
}

/* At most one of these may be in a request. */
static int take_single(struct rco_request_parser *p, bool *seen, struct rco_buf *into)
{
    if (*seen)
        return refuse(p, 400, "a header that must be unique is repeated");
    *seen = true;
    rco_buf_add(into, rco_buf_str(&p->value), p->value.len);
    return 0;
}

static int take_known(struct rco_request_parser *p)
{
    if (is_field(p, "authorization"))
        return take_single(p, &p->has_authorization, &p->authorization);
    if (is_field(p, "content-type"))
        return take_single(p, &p->has_content_type, &p->content_type);
    if (is_field(p, "host"))
        p->n_hosts++;
    if (is_field(p, "transfer-encoding"))
        p->has_transfer_encoding = true;
    if (is_field(p, "content-length")) {
        if (p->n_lengths++ > 0)
            return refuse(p, 400, "Content-Length is repeated");
        if (!is_length(&p->value))
            return refuse(p, 400, "Content-Length is not a number");
    }
    if (is_field(p, "expect")) {
        if (strcasecmp(rco_buf_str(&p->value), "100-continue") != 0)
            return refuse(p, 417, "unknown expectation");
        p->expect_continue = true;
    }
    return 0;
}

/* The header in `field` and `value` is complete. */
static int take_header(struct rco_request_parser *p)
{
    int rc;

    if (!p->in_value)
        return 0;
    p->in_value = false;
    trim_end(&p->value);
    if (++p->n_headers > RCO_SERVER_MAX_HEADERS)
        return refuse(p, 431, "too many headers");
    if (!is_token(&p->field) || !is_field_value(&p->value))
        return refuse(p, 400, "malformed header");
    rc = take_known(p);
    rco_buf_clear(&p->field);
    rco_buf_clear(&p->value);
    return rc;
}

static int on_header_field(http_parser *http, const char *at, size_t n)
{
    struct rco_request_parser *p = parser_of(http);

    if (take_header(p) != 0 || count(p, n) != 0)
        return -1;
    rco_buf_add(&p->field, at, n);
    return 0;
}

static int on_header_value(http_parser *http, const char *at, size_t n)
{
    struct rco_request_parser *p = parser_of(http);

    if (count(p, n + 4) != 0) /* ": " and the line end */
        return -1;
    p->in_value = true;
    rco_buf_add(&p->value, at, n);
    return 0;
}

static bool is_method_known(unsigned method)
{
    return method == HTTP_GET || method == HTTP_HEAD || method == HTTP_POST || method == HTTP_PUT ||
           method == HTTP_DELETE;
}

/* Splits the target at its first question mark. */
static int take_target(struct rco_request_parser *p)
{
    char *mark;

    for (size_t i = 0; i < p->target.len; i++) {
        unsigned char c = (unsigned char)p->target.data[i];

        if (c <= ' ' || c >= 0x7f || c == '#')
            return refuse(p, 400, "request target has an unescaped character");
    }
    if (p->target.len == 0 || p->target.data[0] != '/')
        return refuse(p, 400, "request target must be a path");
    mark = strchr(p->target.data, '?');
    p->query = "";
    if (mark) {
        *mark = '\0';
        p->query = mark + 1;
    }
    return 0;
}

static int take_length(struct rco_request_parser *p)
{
    bool has_length = p->n_lengths > 0;
    int64_t cap;

    if (p->has_transfer_encoding)
        return refuse(p, 411, "send the body with a Content-Length, not with Transfer-Encoding");
    if (!has_length && (p->http.method == HTTP_POST || p->http.method == HTTP_PUT))
        return refuse(p, 411, "Content-Length is missing");
    cap = p->handler->max_body(p->handler->ctx, http_method_str(p->http.method), p->target.data);
    if (cap < 0)
        return refuse(p, 404, "no such path");
    if (has_length && p->http.content_length > (uint64_t)cap)
        return refuse(p, 413, "body is larger than this path takes");
    return 0;
}

static int on_headers_complete(http_parser *http)
{
    struct rco_request_parser *p = parser_of(http);

    if (take_header(p) != 0)
        return -1;
    p->headers_done = true;
    /* Upgrades are declined by answering as if nobody had asked. */
    http->upgrade = 0;
    if (http->http_major != 1 || http->http_minor > 1)
        return refuse(p, 505, "only HTTP/1.1 is spoken here");
    if (!is_method_known(http->method))
        return refuse(p, 405, "method is not allowed");
    if (http->http_minor == 1 ? p->n_hosts != 1 : p->n_hosts > 1)
        return refuse(p, 400, "exactly one Host header is needed");
    if (take_target(p) != 0 || take_length(p) != 0)
        return -1;
    p->known = p->handler->known &&
               p->handler->known(p->handler->ctx, http_method_str(p->http.method), p->target.data,
                                 p->has_authorization ? rco_buf_str(&p->authorization) : NULL);
    p->keep_alive = http->http_minor == 1 && http_should_keep_alive(http);
    p->expect_continue = p->expect_continue && p->n_lengths > 0 && http->content_length > 0;
    return 0;
}

static int on_body(http_parser *http, const char *at, size_t n)
{
    struct rco_request_parser *p = parser_of(http);

    p->expect_continue = false;
    rco_buf_add(&p->body, at, n); /* Content-Length was held against the cap */
    return 0;
}

static int on_message_complete(http_parser *http)
{
    parser_of(http)->complete = true;
    http_parser_pause(http, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static void init(struct rco_request_parser *p, const struct rco_server_handler *handler)
{
    *p = (struct rco_request_parser){.handler = handler};
    http_parser_init(&p->http, HTTP_REQUEST);
}

static void release(struct rco_request_parser *p)
{
    rco_buf_release(&p->target);
    rco_buf_release(&p->field);
    if (p->value.data)
        explicit_bzero(p->value.data, p->value.size);
    rco_buf_release(&p->value);
    if (p->authorization.data)
        explicit_bzero(p->authorization.data, p->authorization.size);
    rco_buf_release(&p->authorization);
    rco_buf_release(&p->content_type);
    rco_buf_release(&p->body);
}

struct rco_request_parser *rco_request_parser_new(const struct rco_server_handler *handler)
{
    struct rco_request_parser *p = rco_malloc(sizeof *p);

    init(p, handler);
    return p;
}

void rco_request_parser_free(struct rco_request_parser *p)
{
    if (!p)
        return;
    release(p);
    free(p);
}

void rco_request_parser_next(struct rco_request_parser *p)
{
    const struct rco_server_handler *handler = p->handler;

    release(p);
    init(p, handler);
}

void rco_request_parser_drop_body(struct rco_request_parser *p)
{
    rco_buf_release(&p->body);
}

bool rco_request_parser_keep_alive(const struct rco_request_parser *p)
{
    return p->keep_alive;
}

bool rco_request_parser_is_known(const struct rco_request_parser *p)
{
    return p->known;
}

bool rco_request_parser_is_head(const struct rco_request_parser *p)
{
    return p->http.method == HTTP_HEAD;
}

bool rco_request_parser_take_expectation(struct rco_request_parser *p)
{
    bool expects = p->headers_done && p->expect_continue;

    if (expects)
        p->expect_continue = false;
    return expects;
}

int rco_request_parser_refusal(const struct rco_request_parser *p, const char **ret_reason)
{
    *ret_reason = p->reason;
    return p->status;
}

static void refuse_by_error(struct rco_request_parser *p)
{
    switch (HTTP_PARSER_ERRNO(&p->http)) {
    case HPE_HEADER_OVERFLOW:
        refuse(p, 431, "headers are too large");
        break;
    case HPE_INVALID_TRANSFER_ENCODING:
        refuse(p, 411, "send the body with a Content-Length, not with Transfer-Encoding");
        break;
    case HPE_INVALID_VERSION:
        refuse(p, 505, "only HTTP/1.1 is spoken here");
        break;
    default:
        refuse(p, 400, "malformed request");
        break;
    }
}

enum rco_parse_result rco_request_parser_feed(struct rco_request_parser *p, const char *bytes,
                                              size_t n, size_t *ret_used)
{
    *ret_used = n;
    if (p->status)
        return RCO_PARSE_REFUSED;
    if (n == 0)
        return RCO_PARSE_MORE;
    if (scan_head(p, bytes, n) != 0)
        return RCO_PARSE_REFUSED;
    *ret_used = http_parser_execute(&p->http, &settings, bytes, n);
    if (p->complete)
        return RCO_PARSE_COMPLETE;
    if (HTTP_PARSER_ERRNO(&p->http) != HPE_OK)
        refuse_by_error(p);
    else if (!p->headers_done && p->http.nread > RCO_SERVER_MAX_HEADER)
        refuse(p, 431, "headers are too large");
    return p->status ? RCO_PARSE_REFUSED : RCO_PARSE_MORE;
}

void rco_request_parser_get(const struct rco_request_parser *p, struct rco_server_request *ret)
{
    *ret = (struct rco_server_request){
        .method = http_method_str(p->http.method),
        .path = rco_buf_str(&p->target),
        .query = p->query,
        .authorization = p->has_authorization ? rco_buf_str(&p->authorization) : NULL,
        .content_type = p->has_content_type ? rco_buf_str(&p->content_type) : NULL,
        .body = rco_buf_str(&p->body),
        .body_len = p->body.len,
    };
}
