#include "format.h"

#include "base/str.h"
#include "text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A cursor over JSON text. Errors stop everything: BROKEN stays set. */
struct reader {
    const char *p, *end;
    bool broken;
    unsigned depth;
};

static void skip_space(struct reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
        r->p++;
}

/* The next significant character, 0 at the end or after a fault. */
static char peek(struct reader *r)
{
    skip_space(r);
    return r->broken || r->p >= r->end ? '\0' : *r->p;
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->p++;
    return true;
}

static void expect(struct reader *r, char c)
{
    if (!accept(r, c))
        r->broken = true;
}

static void add_utf8(struct rco_buf *out, uint32_t c)
{
    if (c < 0x80) {
        rco_buf_addc(out, (char)c);
    } else if (c < 0x800) {
        rco_buf_addc(out, (char)(0xc0 | c >> 6));
        rco_buf_addc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        rco_buf_addc(out, (char)(0xe0 | c >> 12));
        rco_buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        rco_buf_addc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        rco_buf_addc(out, (char)(0xf0 | c >> 18));
        rco_buf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        rco_buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        rco_buf_addc(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* Four hex digits at the cursor. */
static uint32_t read_hex4(struct reader *r)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++) {
        if (r->p >= r->end || !isxdigit((unsigned char)*r->p)) {
            r->broken = true;
            return 0;
        }
        v = v << 4 |
            (uint32_t)(isdigit((unsigned char)*r->p) ? *r->p - '0' : (*r->p | 32) - 'a' + 10);
        r->p++;
    }
    return v;
}

static void read_escape(struct reader *r, struct rco_buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->p < r->end ? *r->p++ : '\0';
    const char *at = c ? strchr(from, c) : NULL;

    if (at) {
        rco_buf_addc(out, to[at - from]);
        return;
    }
    uint32_t point = c == 'u' ? read_hex4(r) : 0;
    if (c != 'u')
        r->broken = true;
    if (point >= 0xd800 && point < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' &&
        r->p[1] == 'u') {
        r->p += 2;
        uint32_t low = read_hex4(r);
        point = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00)
                                              : 0xfffd;
    } else if (point >= 0xd800 && point < 0xe000) {
        point = 0xfffd;
    }
    add_utf8(out, point);
}

/* Decodes the string at the cursor into OUT. NUL characters inside are kept as U+FFFD. */
static void read_string(struct reader *r, struct rco_buf *out)
{
    expect(r, '"');
    while (!r->broken) {
        if (r->p >= r->end || (unsigned char)*r->p < 0x20) {
            r->broken = true;
        } else if (*r->p == '"') {
            r->p++;
            break;
        } else if (*r->p == '\\') {
            r->p++;
            read_escape(r, out);
        } else {
            rco_buf_addc(out, *r->p++);
        }
    }
    for (size_t i = 0; i < out->len; i++)
        if (!out->data[i])
            out->data[i] = '?';
}

/* Number, true, false or null, as they stand. */
static void read_literal(struct reader *r, struct rco_buf *out)
{
    const char *start = r->p;

    while (r->p < r->end && (isalnum((unsigned char)*r->p) || strchr("+-.", *r->p)) && *r->p)
        r->p++;
    rco_buf_add(out, start, (size_t)(r->p - start));
    if (r->p == start)
        r->broken = true;
    else if (isalpha((unsigned char)*start) && !rco_streq(rco_buf_str(out), "true") &&
             !rco_streq(rco_buf_str(out), "false") && !rco_streq(rco_buf_str(out), "null"))
        r->broken = true;
}

/* JSON string literal; whatever could steer a terminal as an escape. Valid in YAML as well. */
static void add_quoted(struct rco_buf *out, const char *s)
{
    rco_buf_addc(out, '"');
    while (*s) {
        uint32_t point = 0;
        size_t n = rco_text_utf8(s, strlen(s), &point);

        if (!n)
            rco_buf_adds(out, "\xef\xbf\xbd");
        else if (point == '"' || point == '\\')
            rco_buf_addf(out, "\\%c", (char)point);
        else if (point == '\n')
            rco_buf_adds(out, "\\n");
        else if (point == '\t')
            rco_buf_adds(out, "\\t");
        else if (!rco_text_is_harmless(point))
            rco_buf_addf(out, "\\u%04x", point);
        else
            rco_buf_add(out, s, n);
        s += n ? n : 1;
    }
    rco_buf_addc(out, '"');
}

static void new_line(struct rco_buf *out, unsigned spaces)
{
    rco_buf_addc(out, '\n');
    while (spaces-- > 0)
        rco_buf_addc(out, ' ');
}

/* Whether the member KEY of the object under PARENT is bookkeeping that people never want to see.
 */
static bool is_noise(const char *parent, const char *key)
{
    return rco_streq(parent, "metadata") && rco_streq(key, "managedFields");
}

static void enter(struct reader *r)
{
    if (++r->depth > RCO_FORMAT_MAX_DEPTH)
        r->broken = true;
}

/* The end of a container. */
static void leave(struct reader *r, char bracket)
{
    expect(r, bracket);
    r->depth--;
}

static void json_value(struct reader *r, const char *key, unsigned indent, struct rco_buf *out);

static void json_object(struct reader *r, const char *parent, unsigned indent, struct rco_buf *out)
{
    bool any = false;

    rco_buf_addc(out, '{');
    for (enter(r); peek(r) && peek(r) != '}';) {
        rco_autobuf key = RCO_BUF_INIT, value = RCO_BUF_INIT;

        read_string(r, &key);
        expect(r, ':');
        json_value(r, rco_buf_str(&key), indent + 4, &value);
        if (!is_noise(parent, rco_buf_str(&key))) {
            rco_buf_adds(out, any ? "," : "");
            new_line(out, indent + 4);
            add_quoted(out, rco_buf_str(&key));
            rco_buf_adds(out, ": ");
            rco_buf_adds(out, rco_buf_str(&value));
            any = true;
        }
        if (!accept(r, ','))
            break;
    }
    leave(r, '}');
    if (any)
        new_line(out, indent);
    rco_buf_addc(out, '}');
}

static void json_array(struct reader *r, unsigned indent, struct rco_buf *out)
{
    bool any = false;

    rco_buf_addc(out, '[');
    for (enter(r); peek(r) && peek(r) != ']';) {
        rco_buf_adds(out, any ? "," : "");
        new_line(out, indent + 4);
        json_value(r, NULL, indent + 4, out);
        any = true;
        if (!accept(r, ','))
            break;
    }
    leave(r, ']');
    if (any)
        new_line(out, indent);
    rco_buf_addc(out, ']');
}

static void json_value(struct reader *r, const char *key, unsigned indent, struct rco_buf *out)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (accept(r, '{')) {
        json_object(r, key, indent, out);
    } else if (accept(r, '[')) {
        json_array(r, indent, out);
    } else if (peek(r) == '"') {
        read_string(r, &text);
        add_quoted(out, rco_buf_str(&text));
    } else if (peek(r)) {
        read_literal(r, &text);
        rco_buf_adds(out, rco_buf_str(&text));
    } else {
        r->broken = true;
    }
}

/* Whether S can stand in YAML without quotes and still be this very string. */
static bool is_plain(const char *s)
{
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
    size_t n = strlen(s);

    if (!n || !(isalpha((unsigned char)s[0]) || s[0] == '_' || s[0] == '/'))
        return false;
    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++)
        if (strcasecmp(s, words[i]) == 0)
            return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < 0x20 || c >= 0x7f || (c == ':' && (s[i + 1] == ' ' || !s[i + 1])) ||
            (c == ' ' && s[i + 1] == '#'))
            return false;
    }
    return s[n - 1] != ' ';
}

static void yaml_string(const char *s, struct rco_buf *out)
{
    if (is_plain(s))
        rco_buf_adds(out, s);
    else
        add_quoted(out, s);
}

static void yaml_value(struct reader *r, const char *key, unsigned indent, bool in_list,
                       struct rco_buf *out);

/* Begins on the current line when IN_LIST (after "- "), else on a new one. */
static void yaml_object(struct reader *r, const char *parent, unsigned indent, bool in_list,
                        struct rco_buf *out)
{
    bool any = false;

    for (enter(r); peek(r) && peek(r) != '}';) {
        rco_autobuf key = RCO_BUF_INIT, value = RCO_BUF_INIT;

        read_string(r, &key);
        expect(r, ':');
        yaml_value(r, rco_buf_str(&key), indent, false, &value);
        if (!is_noise(parent, rco_buf_str(&key))) {
            if (any || !in_list)
                new_line(out, indent);
            yaml_string(rco_buf_str(&key), out);
            rco_buf_addc(out, ':');
            rco_buf_adds(out, rco_buf_str(&value));
            any = true;
        }
        if (!accept(r, ','))
            break;
    }
    leave(r, '}');
    if (!any)
        rco_buf_adds(out, in_list ? "{}" : " {}");
}

static void yaml_array(struct reader *r, unsigned indent, bool in_list, struct rco_buf *out)
{
    bool any = false;

    for (enter(r); peek(r) && peek(r) != ']';) {
        if (any || !in_list)
            new_line(out, indent);
        rco_buf_adds(out, "- ");
        yaml_value(r, NULL, indent + 2, true, out);
        any = true;
        if (!accept(r, ','))
            break;
    }
    leave(r, ']');
    if (!any)
        rco_buf_adds(out, in_list ? "[]" : " []");
}

/* KEY is that of the member whose value this is; INDENT that of the line it stands on. */
static void yaml_value(struct reader *r, const char *key, unsigned indent, bool in_list,
                       struct rco_buf *out)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (accept(r, '{')) {
        yaml_object(r, key, in_list ? indent : indent + 2, in_list, out);
        return;
    }
    if (accept(r, '[')) {
        yaml_array(r, indent, in_list, out);
        return;
    }
    rco_buf_adds(out, in_list ? "" : " ");
    if (peek(r) == '"') {
        read_string(r, &text);
        yaml_string(rco_buf_str(&text), out);
    } else if (peek(r)) {
        read_literal(r, &text);
        rco_buf_adds(out, rco_buf_str(&text));
    } else {
        r->broken = true;
    }
}

static int finish(struct reader *r, const char *text, size_t old_len, struct rco_buf *out,
                  struct rco_error *err)
{
    skip_space(r);
    if (r->broken || r->p != r->end) {
        out->len = old_len;
        return rco_error_set(err, RCO_EINVALID, "the answer is not JSON (at byte %zu)",
                             (size_t)(r->p - text));
    }
    rco_buf_addc(out, '\n');
    return 0;
}

int rco_format_json(const char *text, size_t n, struct rco_buf *out, struct rco_error *err)
{
    struct reader r = {.p = text, .end = text + n};
    size_t old_len = out->len;

    json_value(&r, NULL, 0, out);
    return finish(&r, text, old_len, out, err);
}

int rco_format_yaml(const char *text, size_t n, struct rco_buf *out, struct rco_error *err)
{
    struct reader r = {.p = text, .end = text + n};
    size_t old_len = out->len;

    /* As a member of a list at column 0, so that the document begins on the first line. */
    yaml_value(&r, NULL, 0, true, out);
    return finish(&r, text, old_len, out, err);
}
