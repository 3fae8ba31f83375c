#include "base/quantity.h"

#include <stdbool.h>
#include <string.h>

#define MAX_MILLICORES (INT64_C(1) << 40)
#define MAX_BYTES (INT64_C(1) << 62)
#define MAX_DIGITS 30 /* longer input is refused before arithmetic */

struct number {
    __int128 digits; /* all digits without the point */
    int scale;       /* decimal digits after the point */
};

/* Unsigned decimal with optional point at *P. */
static bool parse_number(const char **p, struct number *n)
{
    bool point = false;
    int seen = 0;

    *n = (struct number){0};
    for (;; (*p)++) {
        if (**p == '.' && !point) {
            point = true;
        } else if (**p >= '0' && **p <= '9') {
            if (++seen > MAX_DIGITS)
                return false;
            n->digits = n->digits * 10 + (**p - '0');
            n->scale += point;
        } else {
            return seen > 0;
        }
    }
}

struct suffix {
    const char *text;
    int exp10;
    int exp2;
};

static const struct suffix suffixes[] = {
    {"", 0, 0},    {"m", -3, 0},  {"u", -6, 0},  {"n", -9, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* "e3", "E-2": a decimal exponent of at most two digits. */
static bool parse_exponent(const char *p, int *ret)
{
    int sign = 1, v = 0, n = 0;

    if (*p != 'e' && *p != 'E')
        return false;
    p++;
    if (*p == '-' || *p == '+')
        sign = *p++ == '-' ? -1 : 1;
    for (; *p >= '0' && *p <= '9' && n < 3; p++, n++)
        v = v * 10 + (*p - '0');
    if (*p || n == 0 || n > 2)
        return false;
    *ret = sign * v;
    return true;
}

static bool parse_suffix(const char *p, int *ret_exp10, int *ret_exp2)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(suffixes); i++) {
        if (strcmp(p, suffixes[i].text) == 0) {
            *ret_exp10 = suffixes[i].exp10;
            *ret_exp2 = suffixes[i].exp2;
            return true;
        }
    }
    *ret_exp2 = 0;
    return parse_exponent(p, ret_exp10);
}

/* digits * 10^exp10 * 2^exp2 as a whole number in [0, max]. */
static bool scale_exactly(__int128 v, int exp10, int exp2, int64_t max, int64_t *ret)
{
    while (exp2-- > 0)
        if (__builtin_mul_overflow(v, (__int128)2, &v))
            return false;
    for (; exp10 > 0; exp10--)
        if (__builtin_mul_overflow(v, (__int128)10, &v))
            return false;
    for (; exp10 < 0 && v != 0; exp10++) {
        if (v % 10 != 0)
            return false;
        v /= 10;
    }
    if (v > max)
        return false;
    *ret = (int64_t)v;
    return true;
}

static int parse(const char *s, int shift, int64_t max, const char *what, int64_t *ret,
                 struct rco_error *err)
{
    const char *p = s ? s : "";
    struct number n;
    int exp10, exp2;

    if (*p == '+')
        p++;
    if (!parse_number(&p, &n) || !parse_suffix(p, &exp10, &exp2))
        return rco_error_set(err, RCO_EINVALID, "\"%.64s\" is not a quantity of %s", s ? s : "",
                             what);
    if (!scale_exactly(n.digits, exp10 - n.scale + shift, exp2, max, ret))
        return rco_error_set(
            err, RCO_EINVALID,
            "\"%.64s\" is finer than the smallest unit of %s or beyond its maximum", s, what);
    return 0;
}

int rco_quantity_cpu(const char *s, int64_t *ret_millicores, struct rco_error *err)
{
    return parse(s, 3, MAX_MILLICORES, "CPU (smallest unit 1m)", ret_millicores, err);
}

int rco_quantity_bytes(const char *s, int64_t *ret_bytes, struct rco_error *err)
{
    return parse(s, 0, MAX_BYTES, "memory (smallest unit 1 byte)", ret_bytes, err);
}
