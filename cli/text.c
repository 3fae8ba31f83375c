#include "text.h"

#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DISTANCE_MAX_LEN 64

size_t rco_text_utf8(const char *bytes, size_t n, uint32_t *ret_point)
{
    const unsigned char *s = (const unsigned char *)bytes;
    size_t len = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t point;

    if (!len || len > n)
        return 0;
    point = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (s[i] & 0x3f);
    }
    if (point < least[len] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    *ret_point = point;
    return len;
}

bool rco_text_is_harmless(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point < 0xa0))
        return false;
    if (point >= 0x200b && point <= 0x200f)
        return false;
    if ((point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069))
        return false;
    return point != 0xfeff;
}

static void add_clean(struct rco_buf *out, const char *bytes, size_t n, bool keep_lines)
{
    const char *s = bytes;

    while (n > 0) {
        uint32_t point = 0;
        size_t len = rco_text_utf8(s, n, &point);

        if (len == 1 && (*s == '\n' || *s == '\t'))
            rco_buf_addc(out, keep_lines ? *s : ' ');
        else if (len && rco_text_is_harmless(point))
            rco_buf_add(out, s, len);
        else if (!(keep_lines && *s == '\r'))
            rco_buf_addc(out, '?');
        s += len ? len : 1;
        n -= len ? len : 1;
    }
}

void rco_text_clean(struct rco_buf *out, const char *s)
{
    if (s)
        add_clean(out, s, strlen(s), false);
}

void rco_text_clean_log(struct rco_buf *out, const char *bytes, size_t n)
{
    add_clean(out, bytes, n, true);
}

void rco_text_ink(struct rco_buf *out, const struct rco_style *style, enum rco_ink ink,
                  const char *s)
{
    static const char *const codes[] = {
        [RCO_INK_PLAIN] = NULL, [RCO_INK_BOLD] = "1",  [RCO_INK_DIM] = "2",
        [RCO_INK_GOOD] = "32",  [RCO_INK_BUSY] = "33", [RCO_INK_BAD] = "31",
    };

    if (!style->color || !codes[ink]) {
        rco_text_clean(out, s);
        return;
    }
    rco_buf_addf(out, "\033[%sm", codes[ink]);
    rco_text_clean(out, s);
    rco_buf_adds(out, "\033[0m");
}

/* Bytes of the ANSI colour sequence at S, 0 when there is none. */
static size_t ansi_len(const char *s)
{
    size_t n = 2;

    if (s[0] != '\033' || s[1] != '[')
        return 0;
    while ((s[n] >= '0' && s[n] <= '9') || s[n] == ';')
        n++;
    return s[n] == 'm' ? n + 1 : 0;
}

size_t rco_text_width(const char *s)
{
    size_t width = 0;

    while (*s) {
        size_t skip = ansi_len(s);

        if (skip) {
            s += skip;
            continue;
        }
        if (((unsigned char)*s & 0xc0) != 0x80)
            width++;
        s++;
    }
    return width;
}

void rco_text_cut(struct rco_buf *out, const char *s, size_t width)
{
    size_t keep = width > 3 ? width - 3 : width, seen = 0;

    if (!width || rco_text_width(s) <= width) {
        rco_buf_adds(out, s);
        return;
    }
    for (bool stop = false; *s;) {
        size_t skip = ansi_len(s);

        if (skip) { /* colours are kept, so that the end of one is never lost */
            rco_buf_add(out, s, skip);
            s += skip;
            continue;
        }
        if (((unsigned char)*s & 0xc0) != 0x80 && !stop && seen++ == keep) {
            stop = true;
            rco_buf_adds(out, width > 3 ? "..." : "");
        }
        if (!stop)
            rco_buf_addc(out, *s);
        s++;
    }
}

static void add_seconds(struct rco_buf *out, int64_t s)
{
    if (s < 120)
        rco_buf_addf(out, "%" PRId64 "s", s);
    else if (s < 120 * 60)
        rco_buf_addf(out, "%" PRId64 "m", s / 60);
    else if (s < 48 * 3600)
        rco_buf_addf(out, "%" PRId64 "h", s / 3600);
    else
        rco_buf_addf(out, "%" PRId64 "d", s / 86400);
}

void rco_text_age(struct rco_buf *out, rco_wall now, rco_wall t)
{
    if (!t)
        rco_buf_addc(out, '-');
    else
        add_seconds(out, now > t ? (now - t) / RCO_US_PER_S : 0);
}

void rco_text_span(struct rco_buf *out, rco_wall from, rco_wall to)
{
    int64_t s = to > from ? (to - from) / RCO_US_PER_S : 0;

    if (!from || !to)
        rco_buf_addc(out, '-');
    else if (s < 60)
        rco_buf_addf(out, "%" PRId64 "s", s);
    else if (s < 3600)
        rco_buf_addf(out, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    else
        rco_buf_addf(out, "%" PRId64 "h%" PRId64 "m", s / 3600, s / 60 % 60);
}

void rco_text_time(struct rco_buf *out, rco_wall t)
{
    char text[RCO_TIME_STR_MAX];

    if (!t) {
        rco_buf_addc(out, '-');
        return;
    }
    rco_wall_format(t, text);
    text[10] = ' ';
    rco_buf_adds(out, text);
}

void rco_text_clock(struct rco_buf *out, rco_wall t)
{
    char text[RCO_TIME_STR_MAX];

    rco_wall_format(t, text);
    rco_buf_add(out, text + 11, 8);
}

void rco_text_size(struct rco_buf *out, int64_t bytes)
{
    if (bytes < 1024)
        rco_buf_addf(out, "%" PRId64 " B", bytes);
    else if (bytes < 1024 * 1024)
        rco_buf_addf(out, "%.1f KiB", (double)bytes / 1024);
    else
        rco_buf_addf(out, "%.1f MiB", (double)bytes / (1024 * 1024));
}

void rco_text_word(struct rco_buf *out, const char *s)
{
    bool plain = *s != '\0';

    for (const char *p = s; *p; p++)
        plain = plain && (isalnum((unsigned char)*p) || strchr("-_./:@+=,", *p));
    if (plain) {
        rco_buf_adds(out, s);
        return;
    }
    rco_buf_addc(out, '\'');
    for (; *s; s++)
        if (*s == '\'')
            rco_buf_adds(out, "'\\''");
        else
            rco_buf_addc(out, *s);
    rco_buf_addc(out, '\'');
}

static const char *find_var(const struct rco_text_var *vars, size_t n_vars, const char *name,
                            size_t n)
{
    for (size_t i = 0; i < n_vars; i++)
        if (strlen(vars[i].name) == n && memcmp(vars[i].name, name, n) == 0)
            return vars[i].value;
    return NULL;
}

const char *rco_text_expand(struct rco_arena *a, const char *template,
                            const struct rco_text_var *vars, size_t n_vars)
{
    rco_autobuf out = RCO_BUF_INIT;

    while (*template) {
        size_t n = *template == '{' ? strspn(template + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        const char *end = template + 1 + n;

        if (!n || *end != '}') { /* also braces of JSON in a command */
            rco_buf_addc(&out, *template ++);
            continue;
        }
        const char *value = find_var(vars, n_vars, template + 1, (size_t)(end - template) - 1);
        rco_text_clean(&out, value ? value : "?");
        template = end + 1;
    }
    return rco_arena_strndup(a, rco_buf_str(&out), out.len);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

unsigned rco_text_distance(const char *a, const char *b, unsigned limit)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned row[DISTANCE_MAX_LEN + 1];

    if (n > DISTANCE_MAX_LEN || m > DISTANCE_MAX_LEN)
        return limit;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned up = row[j];

            row[j] = least(row[j - 1] + 1, up + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = up;
        }
    }
    return row[m] < limit ? row[m] : limit;
}

const char *rco_text_nearest(const char *s, const char *const *words, size_t n)
{
    unsigned best = (unsigned)(strlen(s) / 3 + 2);
    const char *found = NULL;

    if (rco_str_empty(s))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!words[i])
            continue;
        unsigned distance = rco_text_distance(s, words[i], best);
        if (distance < best) {
            best = distance;
            found = words[i];
        }
    }
    for (size_t i = 0; !found && strlen(s) >= 3 && i < n; i++)
        if (words[i] && rco_str_has_prefix(words[i], s))
            found = words[i];
    return found;
}
