/* Growable byte buffer with a cap. Out of memory aborts (all state is in the API server). */
#ifndef RCO_BASE_BUF_H
#define RCO_BASE_BUF_H

#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>

struct rco_buf {
    char *data; /* NUL-terminated whenever not NULL */
    size_t len;
    size_t size; /* bytes allocated */
};

#define RCO_BUF_INIT ((struct rco_buf){0})
/* A local buffer that is released at the end of its scope. */
#define rco_autobuf rco_cleanup(rco_buf_release) struct rco_buf

/* Frees the memory; B may be used again. */
void rco_buf_release(struct rco_buf *b);
/* Empties B and keeps its memory. */
void rco_buf_clear(struct rco_buf *b);
/* Makes room for EXTRA more bytes plus the NUL. */
void rco_buf_reserve(struct rco_buf *b, size_t extra);
void rco_buf_add(struct rco_buf *b, const void *bytes, size_t n);
void rco_buf_addc(struct rco_buf *b, char c);
/* S may be NULL (adds nothing). */
void rco_buf_adds(struct rco_buf *b, const char *s);
void rco_buf_addf(struct rco_buf *b, const char *fmt, ...) RCO_PRINTF(2, 3);
void rco_buf_addv(struct rco_buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
/* Adds N bytes unless B would grow beyond CAP bytes: then RCO_ETOOBIG, B unchanged. */
RCO_MUST_CHECK int rco_buf_add_capped(struct rco_buf *b, const void *bytes, size_t n, size_t cap,
                                      struct rco_error *err);
/* Drops the first N bytes. */
void rco_buf_consume(struct rco_buf *b, size_t n);
/* The bytes as a NUL-terminated string, never NULL; borrowed. */
const char *rco_buf_str(const struct rco_buf *b);
/* Moves the memory out to the caller, who frees it; B is empty afterwards. Never NULL. */
char *rco_buf_take(struct rco_buf *b);

/* Allocation that aborts instead of failing. */
void *rco_malloc(size_t n);
void *rco_calloc(size_t n, size_t size);
void *rco_realloc(void *p, size_t n);
char *rco_strdup(const char *s); /* NULL stays NULL */
char *rco_strndup(const char *s, size_t n);
char *rco_asprintf(const char *fmt, ...) RCO_PRINTF(1, 2);

#endif
