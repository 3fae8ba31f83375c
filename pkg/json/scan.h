/* Strict JSON scanner over a complete text (RFC 8259, UTF-8): the base of everything that reads
 * JSON. For pkg/json only. A scan function returns -1 after setting WHY; the scanner is then
 * useless. */
#ifndef RCO_JSON_SCAN_H
#define RCO_JSON_SCAN_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_scan {
    const char *p;   /* next byte */
    const char *end; /* behind the last byte */
    const char *start;
    const char *why;    /* constant text: what is wrong at P */
    unsigned depth;     /* of the object or list that P is in */
    unsigned max_depth; /* at most 64 */
};

/* A piece of the text. */
struct rco_span {
    const char *p;
    size_t n;
};

/* JSON (N bytes) is borrowed; nesting beyond MAX_DEPTH is a fault. */
void rco_scan_init(struct rco_scan *s, const char *json, size_t n, unsigned max_depth);
/* Skips white space; the next byte without taking it, or 0 at the end (a NUL byte is no JSON
 * either). */
static inline char rco_scan_peek(struct rco_scan *s)
{
    /* What the API server sends has none. */
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
    return s->p < s->end ? *s->p : '\0';
}
/* Takes the byte C after white space, or fails with WHY. */
RCO_MUST_CHECK int rco_scan_expect(struct rco_scan *s, char c, const char *why);
/* Takes a string. RET is what stands between the quotes; *RET_ESCAPED says whether it has escapes.
 */
RCO_MUST_CHECK int rco_scan_string(struct rco_scan *s, struct rco_span *ret, bool *ret_escaped);
/* Takes a number; *RET_INTEGER says that it has neither fraction nor exponent. */
RCO_MUST_CHECK int rco_scan_number(struct rco_scan *s, struct rco_span *ret, bool *ret_integer);
/* Takes WORD (true, false or null), at whose first letter the scanner stands. */
RCO_MUST_CHECK int rco_scan_word(struct rco_scan *s, const char *word);
/* Takes any value and checks all of it. RET may be NULL. */
RCO_MUST_CHECK int rco_scan_value(struct rco_scan *s, struct rco_span *ret);
/* Fails unless only white space is left. */
RCO_MUST_CHECK int rco_scan_finish(struct rco_scan *s);
/* Sets WHY, returns -1. */
int rco_scan_fail(struct rco_scan *s, const char *why);

/* Members of an object: after '{' was taken call with *FIRST = true until it returns 0 (end taken).
 * 1: KEY was taken and the scanner stands before the value. -1: failed. */
RCO_MUST_CHECK int rco_scan_member(struct rco_scan *s, bool *first, struct rco_span *ret_key,
                                   bool *ret_escaped);
/* Items of a list, likewise after '['. 1: the scanner stands before an item. */
RCO_MUST_CHECK int rco_scan_item(struct rco_scan *s, bool *first);

/* Resolves the escapes of a scanned string into OUT (room for SPAN.n bytes, no NUL is added);
 * returns the length. The character U+0000 becomes U+FFFD, so that C strings are never cut. */
size_t rco_scan_unescape(struct rco_span span, char *out);

/* Index of the first byte of P..P+N that is a quote, a backslash, a control character or not ASCII;
 * N when there is none. */
size_t rco_scan_plain(const char *p, size_t n);

#endif
