#include "message.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE (32 * 1024)
#define REST_MS 60000      /* for what must follow of a message that has begun */
#define CHUNK_LINE_MAX 256 /* bytes of the line before a chunk */

void fp_head_release(struct fp_head *head)
{
    rco_buf_release(&head->text);
    free(head->path);
    head->path = NULL;
}

static int fill(struct fp_reader *r, int ms)
{
    char piece[PIECE];
    int n = fp_stream_read(r->stream, piece, sizeof piece, ms);

    if (n > 0)
        rco_buf_add(&r->ahead, piece, (size_t)n);
    return n;
}

/* The end of the head in what was read, or NULL. */
static const char *head_end(const struct fp_reader *r)
{
    return r->ahead.len ? memmem(r->ahead.data, r->ahead.len, "\r\n\r\n", 4) : NULL;
}

static int read_lines(struct fp_reader *r, struct fp_head *ret, int ms)
{
    const char *end;

    while (!(end = head_end(r))) {
        bool begun = r->ahead.len > 0;
        int n = r->ahead.len > FP_HEAD_MAX ? FP_FAILED : fill(r, begun ? REST_MS : ms);

        if (n <= 0)
            return begun ? FP_FAILED : n;
    }
    rco_buf_add(&ret->text, r->ahead.data, (size_t)(end - r->ahead.data) + 2);
    rco_buf_consume(&r->ahead, ret->text.len + 2);
    return 1;
}

/* Value of the line at P if it is of field NAME, else NULL. */
static const char *value_of(const char *p, const char *name)
{
    size_t n = strlen(name);

    if (strncasecmp(p, name, n) != 0 || p[n] != ':')
        return NULL;
    p += n + 1;
    while (*p == ' ')
        p++;
    return p;
}

static const char *next_line(const char *p)
{
    p = strstr(p, "\r\n");
    return p ? p + 2 : NULL;
}

static void read_framing(struct fp_head *head)
{
    const char *p = rco_buf_str(&head->text), *value;

    head->length = -1;
    while ((p = next_line(p)) && *p) {
        if ((value = value_of(p, "content-length")))
            head->length = strtoll(value, NULL, 10);
        if ((value = value_of(p, "transfer-encoding")) && strncasecmp(value, "chunked", 7) == 0)
            head->chunked = true;
    }
}

int fp_request_head(struct fp_reader *r, struct fp_head *ret, int ms)
{
    int rc = read_lines(r, ret, ms);
    const char *text = rco_buf_str(&ret->text), *space, *end;

    if (rc <= 0)
        return rc;
    space = strchr(text, ' ');
    end = space ? strchr(space + 1, ' ') : NULL;
    if (!end || (size_t)(space - text) >= sizeof ret->method)
        return FP_FAILED;
    memcpy(ret->method, text, (size_t)(space - text));
    ret->path = rco_strndup(space + 1, (size_t)(end - space - 1));
    read_framing(ret);
    return 1;
}

int fp_answer_head(struct fp_reader *r, struct fp_head *ret, int ms)
{
    int rc = read_lines(r, ret, ms);
    const char *space = strchr(rco_buf_str(&ret->text), ' ');

    if (rc <= 0)
        return rc;
    ret->status = space ? atoi(space + 1) : 0;
    read_framing(ret);
    return ret->status < 100 ? FP_FAILED : 1;
}

static int body_of_length(struct fp_reader *r, int64_t length, struct rco_buf *out)
{
    if (length > FP_BODY_MAX)
        return -1;
    while ((int64_t)r->ahead.len < length)
        if (fill(r, REST_MS) <= 0)
            return -1;
    rco_buf_add(out, r->ahead.data, (size_t)length);
    rco_buf_consume(&r->ahead, (size_t)length);
    return 0;
}

/* Waits until a line is there; its length without CRLF, or an fp_io. */
static int line_length(struct fp_reader *r, int ms)
{
    const char *end;

    while (!(end = r->ahead.len ? memmem(r->ahead.data, r->ahead.len, "\r\n", 2) : NULL)) {
        int n = r->ahead.len > CHUNK_LINE_MAX ? FP_FAILED : fill(r, r->ahead.len ? REST_MS : ms);

        if (n <= 0)
            return n == FP_EOF ? FP_FAILED : n;
    }
    return (int)(end - r->ahead.data);
}

int fp_chunk(struct fp_reader *r, struct rco_buf *out, int ms)
{
    int line = line_length(r, ms);
    int64_t size;

    if (line < 0)
        return line;
    size = strtoll(r->ahead.data, NULL, 16);
    rco_buf_consume(&r->ahead, (size_t)line + 2);
    if (size < 0 || body_of_length(r, size, out) < 0 || line_length(r, REST_MS) != 0)
        return FP_FAILED;
    rco_buf_consume(&r->ahead, 2);
    return size ? 1 : FP_EOF;
}

int fp_body(struct fp_reader *r, const struct fp_head *head, struct rco_buf *out)
{
    int rc;

    if (!head->chunked)
        return head->length > 0 ? body_of_length(r, head->length, out) : 0;
    while ((rc = fp_chunk(r, out, REST_MS)) > 0)
        if (out->len > FP_BODY_MAX)
            return -1;
    return rc == FP_EOF ? 0 : -1;
}

void fp_head_copy_fields(const struct fp_head *head, struct rco_buf *out)
{
    static const char *const ours[] = {"connection", "content-length", "transfer-encoding",
                                       "expect", "keep-alive"};
    const char *p = next_line(rco_buf_str(&head->text));

    while (p && *p) {
        const char *next = next_line(p);
        bool skip = false;

        for (size_t i = 0; i < RCO_ARRAY_LEN(ours); i++)
            skip = skip || value_of(p, ours[i]);
        if (!skip)
            rco_buf_add(out, p, next ? (size_t)(next - p) : strlen(p));
        p = next;
    }
}
