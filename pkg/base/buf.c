#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static RCO_NORETURN void out_of_memory(void)
{
    fputs("out of memory\n", stderr); /* not buffered, so it needs no memory itself */
    abort();
}

void *rco_malloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *rco_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *rco_realloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        out_of_memory();
    return q;
}

char *rco_strdup(const char *s)
{
    return s ? rco_strndup(s, strlen(s)) : NULL;
}

char *rco_strndup(const char *s, size_t n)
{
    char *copy = rco_malloc(n + 1);

    if (n)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *rco_asprintf(const char *fmt, ...)
{
    struct rco_buf b = RCO_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&b, fmt, ap);
    va_end(ap);
    return rco_buf_take(&b);
}

void rco_buf_release(struct rco_buf *b)
{
    free(b->data);
    *b = RCO_BUF_INIT;
}

void rco_buf_clear(struct rco_buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

void rco_buf_reserve(struct rco_buf *b, size_t extra)
{
    size_t want, size;

    if (extra > SIZE_MAX / 4 - b->len)
        out_of_memory();
    want = b->len + extra + 1;
    if (want <= b->size)
        return;
    size = b->size ? b->size : 64;
    while (size < want)
        size += size / 2 + 16;
    b->data = rco_realloc(b->data, size);
    b->size = size;
    b->data[b->len] = '\0';
}

void rco_buf_add(struct rco_buf *b, const void *bytes, size_t n)
{
    if (b->size <= b->len || n >= b->size - b->len)
        rco_buf_reserve(b, n);
    if (n)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void rco_buf_addc(struct rco_buf *b, char c)
{
    if (b->size < 2 || b->len >= b->size - 2)
        rco_buf_reserve(b, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void rco_buf_adds(struct rco_buf *b, const char *s)
{
    if (s)
        rco_buf_add(b, s, strlen(s));
}

void rco_buf_addv(struct rco_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    rco_buf_reserve(b, 64); /* most fit, and are formatted once */
    n = vsnprintf(b->data + b->len, b->size - b->len, fmt, ap);
    if (n > 0 && (size_t)n >= b->size - b->len) {
        rco_buf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    }
    if (n > 0)
        b->len += (size_t)n;
    b->data[b->len] = '\0';
    va_end(again);
}

void rco_buf_addf(struct rco_buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(b, fmt, ap);
    va_end(ap);
}

int rco_buf_add_capped(struct rco_buf *b, const void *bytes, size_t n, size_t cap,
                       struct rco_error *err)
{
    if (n > cap || b->len > cap - n)
        return rco_error_set(err, RCO_ETOOBIG, "more than %zu bytes", cap);
    rco_buf_add(b, bytes, n);
    return 0;
}

void rco_buf_consume(struct rco_buf *b, size_t n)
{
    if (n >= b->len) {
        rco_buf_clear(b);
        return;
    }
    memmove(b->data, b->data + n, b->len - n + 1);
    b->len -= n;
}

const char *rco_buf_str(const struct rco_buf *b)
{
    return b->data ? b->data : "";
}

char *rco_buf_take(struct rco_buf *b)
{
    char *s;

    rco_buf_reserve(b, 0);
    s = b->data;
    *b = RCO_BUF_INIT;
    return s;
}
