#include "pulumi/value.h"

#include "base/str.h"

#include <assert.h>
#include <string.h>

struct parser {
    const char *text;
    size_t n;
    size_t pos;
    size_t nodes, max_nodes;
    unsigned depth;
    struct rco_arena *a;
    struct rco_error *err;
};

static int invalid(struct parser *p, const char *what)
{
    return rco_error_set(p->err, RCO_EINVALID, "not JSON at byte %zu: %s", p->pos, what);
}

static void skip_space(struct parser *p)
{
    while (p->pos < p->n) {
        char c = p->text[p->pos];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            break;
        p->pos++;
    }
}

static int hex4(const char *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)s[i];
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

static size_t put_utf8(char *out, unsigned cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

/* Length of the valid UTF-8 sequence at S of at most N bytes, 0 when there is none. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
    unsigned c = s[0];
    size_t len = c < 0x80                ? 1
                 : c >= 0xc2 && c < 0xe0 ? 2
                 : c >= 0xe0 && c < 0xf0 ? 3
                 : c >= 0xf0 && c < 0xf5 ? 4
                                         : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, beyond U+10FFFF. */
    if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
        (c == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

/* One \u escape, with its second half when it is a surrogate; a lone surrogate becomes U+FFFD. */
static int parse_unicode(struct parser *p, unsigned *ret)
{
    int hi = p->n - p->pos >= 6 ? hex4(p->text + p->pos + 2) : -1;
    if (hi < 0)
        return invalid(p, "a \\u escape needs four hex digits");
    p->pos += 6;
    unsigned cp = (unsigned)hi;
    if (cp >= 0xd800 && cp < 0xe000) {
        cp = 0xfffd;
        if (hi < 0xdc00 && p->n - p->pos >= 6 && p->text[p->pos] == '\\' &&
            p->text[p->pos + 1] == 'u') {
            int lo = hex4(p->text + p->pos + 2);
            if (lo >= 0xdc00 && lo < 0xe000) {
                cp = 0x10000 + (((unsigned)hi - 0xd800) << 10) + ((unsigned)lo - 0xdc00);
                p->pos += 6;
            }
        }
    }
    *ret = cp;
    return 0;
}

static int parse_escape(struct parser *p, char *out, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->pos + 1 >= p->n)
        return invalid(p, "the text ends within a string");
    char c = p->text[p->pos + 1];
    if (c == 'u') {
        unsigned cp = 0;
        if (parse_unicode(p, &cp) < 0)
            return -1;
        *n += put_utf8(out + *n, cp);
        return 0;
    }
    const char *at = c ? strchr(from, c) : NULL;
    if (!at)
        return invalid(p, "unknown escape in a string");
    out[(*n)++] = to[at - from];
    p->pos += 2;
    return 0;
}

/* The string at the current quote. Decoded text is never longer than its spelling. */
static int parse_string(struct parser *p, const char **ret, size_t *ret_len)
{
    size_t start = ++p->pos, end = start;
    while (end < p->n && p->text[end] != '"')
        end += p->text[end] == '\\' ? 2 : 1;
    if (end >= p->n)
        return invalid(p, "the text ends within a string");
    char *out = rco_arena_alloc(p->a, end - start + 1);
    size_t n = 0;
    while (p->pos < end) {
        unsigned char c = (unsigned char)p->text[p->pos];
        if (c == '\\') {
            if (parse_escape(p, out, &n) < 0)
                return -1;
            continue;
        }
        if (c < 0x20)
            return invalid(p, "a control character in a string");
        size_t len = utf8_len((const unsigned char *)p->text + p->pos, end - p->pos);
        if (len == 0)
            return invalid(p, "invalid UTF-8 in a string");
        memcpy(out + n, p->text + p->pos, len);
        n += len;
        p->pos += len;
    }
    p->pos = end + 1;
    out[n] = '\0';
    *ret = out;
    *ret_len = n;
    return 0;
}

static bool is_digit(const struct parser *p)
{
    return p->pos < p->n && p->text[p->pos] >= '0' && p->text[p->pos] <= '9';
}

static int parse_digits(struct parser *p)
{
    if (!is_digit(p))
        return invalid(p, "a digit is missing in a number");
    while (is_digit(p))
        p->pos++;
    return 0;
}

static int parse_number(struct parser *p, struct rco_value *v)
{
    size_t start = p->pos;
    if (p->text[p->pos] == '-')
        p->pos++;
    if (is_digit(p) && p->text[p->pos] == '0')
        p->pos++;
    else if (parse_digits(p) < 0)
        return -1;
    if (p->pos < p->n && p->text[p->pos] == '.') {
        p->pos++;
        if (parse_digits(p) < 0)
            return -1;
    }
    if (p->pos < p->n && (p->text[p->pos] == 'e' || p->text[p->pos] == 'E')) {
        p->pos++;
        if (p->pos < p->n && (p->text[p->pos] == '+' || p->text[p->pos] == '-'))
            p->pos++;
        if (parse_digits(p) < 0)
            return -1;
    }
    v->type = RCO_VALUE_NUMBER;
    v->len = p->pos - start;
    v->text = rco_arena_strndup(p->a, p->text + start, v->len);
    return 0;
}

static int parse_word(struct parser *p, struct rco_value *v)
{
    static const struct {
        const char *word;
        enum rco_value_type type;
        bool boolean;
    } words[] = {{"null", RCO_VALUE_NULL, false},
                 {"true", RCO_VALUE_BOOL, true},
                 {"false", RCO_VALUE_BOOL, false}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i].word);
        if (p->n - p->pos >= len && memcmp(p->text + p->pos, words[i].word, len) == 0) {
            v->type = words[i].type;
            v->boolean = words[i].boolean;
            p->pos += len;
            return 0;
        }
    }
    return invalid(p, "a value is missing");
}

static int parse_value(struct parser *p, struct rco_value **ret);

/* Key and colon before a member. */
static int parse_key(struct parser *p, const char **ret)
{
    size_t len;
    skip_space(p);
    if (p->pos >= p->n || p->text[p->pos] != '"')
        return invalid(p, "a member name is missing");
    if (parse_string(p, ret, &len) < 0)
        return -1;
    if (strlen(*ret) != len)
        return invalid(p, "a NUL in a member name");
    skip_space(p);
    if (p->pos >= p->n || p->text[p->pos] != ':')
        return invalid(p, "a colon is missing");
    p->pos++;
    return 0;
}

/* Small objects are searched; large ones are checked once, by sorting, in check_large. */
#define DUPLICATE_SCAN_MAX 16

static int compare_members(const void *a, const void *b)
{
    return strcmp((*(struct rco_value *const *)a)->key, (*(struct rco_value *const *)b)->key);
}

/* The children of V sorted by name; malloc'd. */
static struct rco_value **sorted_members(const struct rco_value *v)
{
    struct rco_value **list = rco_calloc(v->len ? v->len : 1, sizeof(*list));
    size_t n = 0;
    for (struct rco_value *c = v->first; c; c = c->next)
        list[n++] = c;
    qsort(list, n, sizeof(struct rco_value *), compare_members);
    return list;
}

static int check_duplicates(struct parser *p, const struct rco_value *v)
{
    if (v->len <= DUPLICATE_SCAN_MAX) {
        for (const struct rco_value *c = v->first; c; c = c->next)
            for (const struct rco_value *d = c->next; d; d = d->next)
                if (strcmp(c->key, d->key) == 0)
                    return invalid(p, "a member name stands twice in one object");
        return 0;
    }
    rco_autofree struct rco_value **list = sorted_members(v);
    for (size_t i = 1; i < v->len; i++)
        if (strcmp(list[i - 1]->key, list[i]->key) == 0)
            return invalid(p, "a member name stands twice in one object");
    return 0;
}

static int parse_container(struct parser *p, struct rco_value *v)
{
    char open = p->text[p->pos], close = open == '{' ? '}' : ']';
    struct rco_value **tail = &v->first;
    v->type = open == '{' ? RCO_VALUE_OBJECT : RCO_VALUE_ARRAY;
    if (++p->depth > RCO_VALUE_MAX_DEPTH)
        return rco_error_set(p->err, RCO_ETOOBIG, "JSON nested deeper than %d levels",
                             RCO_VALUE_MAX_DEPTH);
    p->pos++;
    skip_space(p);
    if (p->pos < p->n && p->text[p->pos] == close) {
        p->pos++;
        p->depth--;
        return 0;
    }
    for (;;) {
        const char *key = NULL;
        if (open == '{' && parse_key(p, &key) < 0)
            return -1;
        if (parse_value(p, tail) < 0)
            return -1;
        (*tail)->key = key;
        tail = &(*tail)->next;
        v->len++;
        skip_space(p);
        if (p->pos >= p->n || (p->text[p->pos] != ',' && p->text[p->pos] != close))
            return invalid(p, "a comma or a closing bracket is missing");
        if (p->text[p->pos++] == close)
            break;
    }
    p->depth--;
    return open == '{' ? check_duplicates(p, v) : 0;
}

static int parse_value(struct parser *p, struct rco_value **ret)
{
    skip_space(p);
    if (p->pos >= p->n)
        return invalid(p, "the text ends where a value must stand");
    if (++p->nodes > p->max_nodes)
        return rco_error_set(p->err, RCO_ETOOBIG, "JSON with more than %zu values", p->max_nodes);
    struct rco_value *v = RCO_NEW(p->a, struct rco_value);
    *ret = v;
    char c = p->text[p->pos];
    if (c == '{' || c == '[')
        return parse_container(p, v);
    if (c == '"') {
        v->type = RCO_VALUE_STRING;
        return parse_string(p, &v->text, &v->len);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return parse_number(p, v);
    return parse_word(p, v);
}

int rco_value_parse_capped(const char *json, size_t n, size_t max_nodes, struct rco_arena *a,
                           struct rco_value **ret, struct rco_error *err)
{
    struct parser p = {.text = json, .n = n, .max_nodes = max_nodes, .a = a, .err = err};
    struct rco_value *v = NULL;
    if (parse_value(&p, &v) < 0)
        return -1;
    skip_space(&p);
    if (p.pos != n)
        return invalid(&p, "more text behind the value");
    *ret = v;
    return 0;
}

int rco_value_parse(const char *json, size_t n, struct rco_arena *a, struct rco_value **ret,
                    struct rco_error *err)
{
    return rco_value_parse_capped(json, n, RCO_VALUE_MAX_NODES, a, ret, err);
}

const struct rco_value *rco_value_get(const struct rco_value *v, const char *key)
{
    if (!v || v->type != RCO_VALUE_OBJECT)
        return NULL;
    for (const struct rco_value *c = v->first; c; c = c->next)
        if (strcmp(c->key, key) == 0)
            return c;
    return NULL;
}

const char *rco_value_text(const struct rco_value *v, const char *key)
{
    const struct rco_value *c = rco_value_get(v, key);
    return c && c->type == RCO_VALUE_STRING && strlen(c->text) == c->len ? c->text : NULL;
}

int64_t rco_value_int(const struct rco_value *v, const char *key, int64_t def)
{
    const struct rco_value *c = rco_value_get(v, key);
    struct rco_error err = RCO_ERROR_INIT;
    int64_t n;
    if (!c || c->type != RCO_VALUE_NUMBER || rco_parse_int64(c->text, &n, &err) < 0)
        return def;
    return n;
}

bool rco_value_bool(const struct rco_value *v, const char *key)
{
    const struct rco_value *c = rco_value_get(v, key);
    return c && c->type == RCO_VALUE_BOOL && c->boolean;
}

bool rco_value_equal(const struct rco_value *a, const struct rco_value *b)
{
    rco_autobuf x = RCO_BUF_INIT, y = RCO_BUF_INIT;
    if (!a || !b)
        return a == b;
    rco_value_canonical(a, &x);
    rco_value_canonical(b, &y);
    return x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

static void write_string(const char *s, size_t n, struct rco_buf *out)
{
    static const char hex[] = "0123456789abcdef";
    rco_buf_addc(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        rco_buf_add(out, s + from, i - from);
        from = i + 1;
        const char *at = c ? strchr("\"\\\b\f\n\r\t", c) : NULL;
        rco_buf_addc(out, '\\');
        if (at) {
            rco_buf_addc(out, "\"\\bfnrt"[at - strchr("\"\\\b\f\n\r\t", '"')]);
            continue;
        }
        rco_buf_adds(out, "u00");
        rco_buf_addc(out, hex[c >> 4]);
        rco_buf_addc(out, hex[c & 15]);
    }
    rco_buf_add(out, s + from, n - from);
    rco_buf_addc(out, '"');
}

static void write_value(const struct rco_value *v, bool canonical, struct rco_buf *out);

static void write_member(const struct rco_value *c, bool first, bool canonical, struct rco_buf *out)
{
    if (!first)
        rco_buf_addc(out, ',');
    if (c->key) {
        write_string(c->key, strlen(c->key), out);
        rco_buf_addc(out, ':');
    }
    write_value(c, canonical, out);
}

static void write_container(const struct rco_value *v, bool canonical, struct rco_buf *out)
{
    rco_buf_addc(out, v->type == RCO_VALUE_OBJECT ? '{' : '[');
    if (canonical && v->type == RCO_VALUE_OBJECT) {
        rco_autofree struct rco_value **list = sorted_members(v);
        for (size_t i = 0; i < v->len; i++)
            write_member(list[i], i == 0, canonical, out);
    } else {
        for (const struct rco_value *c = v->first; c; c = c->next)
            write_member(c, c == v->first, canonical, out);
    }
    rco_buf_addc(out, v->type == RCO_VALUE_OBJECT ? '}' : ']');
}

static void write_value(const struct rco_value *v, bool canonical, struct rco_buf *out)
{
    switch (v->type) {
    case RCO_VALUE_NULL:
        rco_buf_adds(out, "null");
        return;
    case RCO_VALUE_BOOL:
        rco_buf_adds(out, v->boolean ? "true" : "false");
        return;
    case RCO_VALUE_NUMBER:
        rco_buf_add(out, v->text, v->len);
        return;
    case RCO_VALUE_STRING:
        write_string(v->text, v->len, out);
        return;
    case RCO_VALUE_ARRAY:
    case RCO_VALUE_OBJECT:
        write_container(v, canonical, out);
        return;
    }
    assert(!"value type");
}

void rco_value_canonical(const struct rco_value *v, struct rco_buf *out)
{
    write_value(v, true, out);
}

void rco_value_write(const struct rco_value *v, struct rco_buf *out)
{
    write_value(v, false, out);
}
