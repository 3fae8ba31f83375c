/* Strings: comparison that accepts NULL, prefixes, hex, numbers, simple globs. */
#ifndef RCO_BASE_STR_H
#define RCO_BASE_STR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A (key, value) pair of a string map, sorted by key wherever a list of them is kept. */
struct rco_kv {
    const char *key;
    const char *value;
};

/* Equal as text; NULL equals NULL only. */
bool rco_streq(const char *a, const char *b);
/* NULL and "" are empty. */
bool rco_str_empty(const char *s);
/* S or "" when NULL. */
const char *rco_str_or_empty(const char *s);
bool rco_str_has_prefix(const char *s, const char *prefix);
bool rco_str_has_suffix(const char *s, const char *suffix);

/* Length of the valid UTF-8 sequence of more than one byte at P (N bytes left), or 0 (RFC 3629). */
size_t rco_utf8_length(const unsigned char *p, size_t n);
/* The greatest length of at most MAX at which S ends between two characters; S has more than MAX
 * bytes, or ends with NUL there. */
size_t rco_utf8_cut(const char *s, size_t max);

/* Value of KEY in the N pairs KV, or NULL. */
const char *rco_kv_get(const struct rco_kv *kv, size_t n, const char *key);

/* Lower-case hex of N bytes into OUT, which has room for 2 N + 1. */
void rco_hex_encode(const unsigned char *bytes, size_t n, char *out);
/* Decodes exactly 2 N lower- or upper-case hex digits; false when S is anything else. */
bool rco_hex_decode(const char *s, unsigned char *out, size_t n);
/* All of S lower-case hex, of length N. */
bool rco_is_lower_hex(const char *s, size_t n);

/* Decimal int64 without sign tricks, spaces or overflow ("-5" is accepted, "+5" and "" are not). */
RCO_MUST_CHECK int rco_parse_int64(const char *s, int64_t *ret, struct rco_error *err);

/* RFC 1123 label / subdomain as Kubernetes names are. */
bool rco_is_dns_label(const char *s);
bool rco_is_dns_subdomain(const char *s);

/* `*` any run of characters, `?` one; no classes. Linear in practice: one backtrack point. */
bool rco_glob_match(const char *pattern, const char *s);

/* Compares two resourceVersions of one type as KEP-5504 defines: decimal text, longer is greater.
 * Returns -1 when either is malformed ("" and "0" are), else 0 and *RET is <0, 0 or >0. */
RCO_MUST_CHECK int rco_rv_compare(const char *a, const char *b, int *ret);

#endif
