#include "base/str.h"

#include <string.h>

bool rco_streq(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}

bool rco_str_empty(const char *s)
{
    return !s || !*s;
}

const char *rco_str_or_empty(const char *s)
{
    return s ? s : "";
}

bool rco_str_has_prefix(const char *s, const char *prefix)
{
    return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool rco_str_has_suffix(const char *s, const char *suffix)
{
    size_t n = s ? strlen(s) : 0, m = strlen(suffix);

    return s && n >= m && strcmp(s + n - m, suffix) == 0;
}

size_t rco_utf8_length(const unsigned char *p, size_t n)
{
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 ||
        len > n) /* c0, c1 are overlong; above f4 is beyond U+10FFFF */
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90)) /* overlong */
        return 0;
    if ((p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f)) /* surrogate; too large */
        return 0;
    return len;
}

size_t rco_utf8_cut(const char *s, size_t max)
{
    while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
        max--;
    return max;
}

const char *rco_kv_get(const struct rco_kv *kv, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(kv[i].key, key))
            return kv[i].value;
    return NULL;
}

void rco_hex_encode(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool rco_hex_decode(const char *s, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int hi = hex_digit(s[2 * i]);
        int lo = hi < 0 ? -1 : hex_digit(s[2 * i + 1]);

        if (lo < 0)
            return false;
        out[i] = (unsigned char)(hi << 4 | lo);
    }
    return s[2 * n] == '\0';
}

bool rco_is_lower_hex(const char *s, size_t n)
{
    if (!s || strlen(s) != n)
        return false;
    return strspn(s, "0123456789abcdef") == n;
}

int rco_parse_int64(const char *s, int64_t *ret, struct rco_error *err)
{
    const char *p = s ? s : "";
    bool negative = *p == '-';
    int64_t v = 0;

    p += negative;
    if (!*p)
        return rco_error_set(err, RCO_EINVALID, "\"%s\" is not a whole number",
                             rco_str_or_empty(s));
    for (; *p; p++) {
        int digit = *p - '0';

        if (digit < 0 || digit > 9)
            return rco_error_set(err, RCO_EINVALID, "\"%.64s\" is not a whole number", s);
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, negative ? -digit : digit, &v))
            return rco_error_set(err, RCO_EINVALID, "\"%.64s\" is too large a number", s);
    }
    *ret = v;
    return 0;
}

static bool is_alnum_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* One label of N bytes. */
static bool is_label(const char *s, size_t n)
{
    if (n == 0 || n > 63 || !is_alnum_lower(s[0]) || !is_alnum_lower(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_alnum_lower(s[i]) && s[i] != '-')
            return false;
    return true;
}

bool rco_is_dns_label(const char *s)
{
    return s && is_label(s, strlen(s));
}

bool rco_is_dns_subdomain(const char *s)
{
    if (!s || strlen(s) > 253)
        return false;
    for (;;) {
        size_t n = strcspn(s, ".");

        if (!is_label(s, n))
            return false;
        if (!s[n])
            return true;
        s += n + 1;
    }
}

bool rco_glob_match(const char *pattern, const char *s)
{
    const char *star = NULL, *resume = NULL;

    while (*s) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = s;
        } else if (*pattern == '?' || *pattern == *s) {
            pattern++;
            s++;
        } else if (star) {
            pattern = star;
            s = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool is_rv(const char *s)
{
    size_t n = s ? strlen(s) : 0;

    return n > 0 && s[0] != '0' && strspn(s, "0123456789") == n;
}

int rco_rv_compare(const char *a, const char *b, int *ret)
{
    size_t na, nb;

    if (!is_rv(a) || !is_rv(b))
        return -1;
    na = strlen(a);
    nb = strlen(b);
    *ret = na != nb ? (na < nb ? -1 : 1) : strcmp(a, b);
    return 0;
}
