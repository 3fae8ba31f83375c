#include "json/scan.h"

#include "base/str.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

void rco_scan_init(struct rco_scan *s, const char *json, size_t n, unsigned max_depth)
{
    *s = (struct rco_scan){.p = json, .end = json + n, .start = json, .max_depth = max_depth};
}

int rco_scan_fail(struct rco_scan *s, const char *why)
{
    s->why = why;
    return -1;
}

int rco_scan_expect(struct rco_scan *s, char c, const char *why)
{
    if (rco_scan_peek(s) != c)
        return rco_scan_fail(s, s->p == s->end ? "ends too early" : why);
    s->p++;
    return 0;
}

static inline size_t plain(const char *p, size_t n)
{
    size_t i = 0;
#ifdef __SSE2__
    /* Compared as signed numbers, control characters and what is not ASCII are both below a blank.
     */
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i special = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(' ')),
                                       _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                                    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
        unsigned mask = (unsigned)_mm_movemask_epi8(special);
        if (mask)
            return i + (size_t)__builtin_ctz(mask);
    }
#endif
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, p + i, 8);
        uint64_t quote = w ^ (ONES * '"'), slash = w ^ (ONES * '\\');
        /* A special byte sets its high bit. Borrows may set it in more significant bytes as well,
         * so only the least significant one counts. */
        uint64_t special = ((quote - ONES) | (slash - ONES) | (w - ONES * 0x20) | w) & HIGHS;
        if (special && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            return i + (size_t)__builtin_ctzll(special) / 8;
        if (special)
            break;
    }
    for (; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80)
            return i;
    }
    return n;
}

size_t rco_scan_plain(const char *p, size_t n)
{
    return plain(p, n);
}

/* Takes a string without escapes that stands right here: nearly all of them. */
static inline bool take_plain(struct rco_scan *s, struct rco_span *ret)
{
    if (s->p == s->end || *s->p != '"')
        return false;
    const char *begin = s->p + 1;
    size_t n = plain(begin, (size_t)(s->end - begin));
    if (begin + n == s->end || begin[n] != '"')
        return false;
    *ret = (struct rco_span){.p = begin, .n = n};
    s->p = begin + n + 1;
    return true;
}

static int hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* Takes one escape; P stands behind the backslash. */
static int scan_escape(struct rco_scan *s)
{
    if (s->p == s->end)
        return rco_scan_fail(s, "ends too early");
    char c = *s->p++;
    if (c != 'u')
        return strchr("\"\\/bfnrt", c) && c ? 0 : rco_scan_fail(s, "has an unknown escape");
    int v = hex4(s->p, s->end);
    if (v < 0)
        return rco_scan_fail(s, "has a broken \\u escape");
    s->p += 4;
    if (v < 0xd800 || v > 0xdfff)
        return 0;
    if (v > 0xdbff || s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u')
        return rco_scan_fail(s, "has a lone surrogate");
    int low = hex4(s->p + 2, s->end);
    if (low < 0xdc00 || low > 0xdfff)
        return rco_scan_fail(s, "has a lone surrogate");
    s->p += 6;
    return 0;
}

int rco_scan_string(struct rco_scan *s, struct rco_span *ret, bool *ret_escaped)
{
    *ret_escaped = false;
    if (take_plain(s, ret))
        return 0;
    if (rco_scan_expect(s, '"', "wants a string") < 0)
        return -1;
    const char *begin = s->p;
    bool escaped = false;
    for (;;) {
        s->p += rco_scan_plain(s->p, (size_t)(s->end - s->p));
        if (s->p == s->end)
            return rco_scan_fail(s, "ends too early");
        unsigned char c = (unsigned char)*s->p;
        if (c == '"')
            break;
        if (c == '\\') {
            s->p++;
            escaped = true;
            if (scan_escape(s) < 0)
                return -1;
        } else if (c < 0x20) {
            return rco_scan_fail(s, "has a control character in a string");
        } else {
            size_t len = rco_utf8_length((const unsigned char *)s->p, (size_t)(s->end - s->p));
            if (!len)
                return rco_scan_fail(s, "is not valid UTF-8");
            s->p += len;
        }
    }
    *ret = (struct rco_span){.p = begin, .n = (size_t)(s->p - begin)};
    *ret_escaped = escaped;
    s->p++;
    return 0;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

int rco_scan_number(struct rco_scan *s, struct rco_span *ret, bool *ret_integer)
{
    rco_scan_peek(s);
    const char *begin = s->p, *end = s->end, *p = begin;
    if (p < end && *p == '-')
        p++;
    const char *whole = p;
    p = digits(p, end);
    if (p == whole || (*whole == '0' && p - whole > 1))
        return rco_scan_fail(s, "wants a value");
    *ret_integer = true;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = digits(p, end);
        if (p == fraction)
            return rco_scan_fail(s, "has a broken number");
        *ret_integer = false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        p = digits(p, end);
        if (p == exponent)
            return rco_scan_fail(s, "has a broken number");
        *ret_integer = false;
    }
    s->p = p;
    *ret = (struct rco_span){.p = begin, .n = (size_t)(p - begin)};
    return 0;
}

int rco_scan_word(struct rco_scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return rco_scan_fail(s, "wants a value");
    s->p += n;
    return 0;
}

int rco_scan_finish(struct rco_scan *s)
{
    rco_scan_peek(s);
    return s->p == s->end ? 0 : rco_scan_fail(s, "has something behind its end");
}

/* The same as below, of what has neither white space nor escapes; false: nothing was taken. */
static inline bool take_plain_member(struct rco_scan *s, bool *first, struct rco_span *ret_key)
{
    const char *begin = s->p;
    if (!*first) {
        if (s->p == s->end || *s->p != ',')
            return false;
        s->p++;
    }
    if (take_plain(s, ret_key) && s->p < s->end && *s->p == ':') {
        s->p++;
        *first = false;
        return true;
    }
    s->p = begin;
    return false;
}

int rco_scan_member(struct rco_scan *s, bool *first, struct rco_span *ret_key, bool *ret_escaped)
{
    *ret_escaped = false;
    if (take_plain_member(s, first, ret_key))
        return 1;
    char c = rco_scan_peek(s);
    if (c == '}') {
        s->p++;
        return 0;
    }
    if (!*first && rco_scan_expect(s, ',', "wants ',' or '}'") < 0)
        return -1;
    *first = false;
    if (rco_scan_peek(s) != '"')
        return rco_scan_fail(s, s->p == s->end ? "ends too early" : "wants a key");
    if (rco_scan_string(s, ret_key, ret_escaped) < 0)
        return -1;
    if (s->p < s->end && *s->p == ':') {
        s->p++;
        return 1;
    }
    return rco_scan_expect(s, ':', "wants ':'") < 0 ? -1 : 1;
}

int rco_scan_item(struct rco_scan *s, bool *first)
{
    if (rco_scan_peek(s) == ']' && *first) {
        s->p++;
        return 0;
    }
    if (*first) {
        *first = false;
        return 1;
    }
    if (rco_scan_peek(s) == ']') {
        s->p++;
        return 0;
    }
    return rco_scan_expect(s, ',', "wants ',' or ']'") < 0 ? -1 : 1;
}

static int scan_scalar(struct rco_scan *s, char c)
{
    struct rco_span span;
    bool flag;
    switch (c) {
    case '"':
        return rco_scan_string(s, &span, &flag);
    case 't':
        return rco_scan_word(s, "true");
    case 'f':
        return rco_scan_word(s, "false");
    case 'n':
        return rco_scan_word(s, "null");
    default:
        return rco_scan_number(s, &span, &flag);
    }
}

/* Nesting is a stack of bits (1 = object), so that hostile depth costs nothing. */
int rco_scan_value(struct rco_scan *s, struct rco_span *ret)
{
    char c = rco_scan_peek(s);
    const char *begin = s->p;
    uint64_t kinds = 0;
    unsigned depth = 0;
    bool first = true;
    for (bool value = true;;) {
        if (value) {
            c = rco_scan_peek(s);
            if (c == '{' || c == '[') {
                if (s->depth + ++depth > s->max_depth)
                    return rco_scan_fail(s, "is nested too deeply");
                kinds = kinds << 1 | (c == '{');
                s->p++;
                first = true;
            } else if (scan_scalar(s, c) < 0) {
                return -1;
            }
        }
        if (!depth)
            break;
        struct rco_span key;
        bool escaped;
        int more =
            kinds & 1 ? rco_scan_member(s, &first, &key, &escaped) : rco_scan_item(s, &first);
        if (more < 0)
            return -1;
        value = more;
        if (!more) {
            kinds >>= 1;
            depth--;
            first = false;
        }
    }
    if (ret)
        *ret = (struct rco_span){.p = begin, .n = (size_t)(s->p - begin)};
    return 0;
}

static char *put_utf8(char *out, uint32_t v)
{
    if (v == 0)
        v = 0xfffd;
    if (v < 0x80) {
        *out++ = (char)v;
    } else if (v < 0x800) {
        *out++ = (char)(0xc0 | v >> 6);
        *out++ = (char)(0x80 | (v & 0x3f));
    } else if (v < 0x10000) {
        *out++ = (char)(0xe0 | v >> 12);
        *out++ = (char)(0x80 | (v >> 6 & 0x3f));
        *out++ = (char)(0x80 | (v & 0x3f));
    } else {
        *out++ = (char)(0xf0 | v >> 18);
        *out++ = (char)(0x80 | (v >> 12 & 0x3f));
        *out++ = (char)(0x80 | (v >> 6 & 0x3f));
        *out++ = (char)(0x80 | (v & 0x3f));
    }
    return out;
}

size_t rco_scan_unescape(struct rco_span span, char *out)
{
    const char *p = span.p, *end = span.p + span.n;
    char *o = out;
    while (p < end) {
        if (*p != '\\') {
            *o++ = *p++;
            continue;
        }
        p++;
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        if (*p != 'u') {
            *o++ = to[strchr(from, *p++) - from];
            continue;
        }
        uint32_t v = (uint32_t)hex4(p + 1, end);
        p += 5;
        if (v >= 0xd800 && v <= 0xdbff) { /* the scan made sure that the other half follows */
            v = 0x10000 + ((v - 0xd800) << 10) + ((uint32_t)hex4(p + 2, end) - 0xdc00);
            p += 6;
        }
        o = put_utf8(o, v);
    }
    return (size_t)(o - out);
}
