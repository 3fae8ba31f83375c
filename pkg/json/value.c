#include "json/value.h"

#include "json/codec.h"
#include "json/scan.h"

#include <string.h>

static int parse(struct rco_scan *s, struct rco_arena *a, struct rco_json_value *out);

static char *text_of(struct rco_arena *a, struct rco_span span, bool escaped)
{
    char *out;

    if (!escaped)
        return rco_arena_strndup(a, span.p, span.n);
    out = rco_arena_alloc(a, span.n + 1);
    out[rco_scan_unescape(span, out)] = 0;
    return out;
}

static int parse_object(struct rco_scan *s, struct rco_arena *a, struct rco_json_value *out)
{
    struct rco_json_value **tail = &out->first;
    struct rco_span key;
    bool first = true, escaped;
    int r;

    out->type = RCO_JSON_OBJECT;
    if (rco_scan_expect(s, '{', "expected an object") < 0)
        return -1;
    while ((r = rco_scan_member(s, &first, &key, &escaped)) > 0) {
        struct rco_json_value *v = RCO_NEW(a, struct rco_json_value);

        v->key = text_of(a, key, escaped);
        if (parse(s, a, v) < 0)
            return -1;
        *tail = v;
        tail = &v->next;
        out->n++;
    }
    return r;
}

static int parse_list(struct rco_scan *s, struct rco_arena *a, struct rco_json_value *out)
{
    struct rco_json_value **tail = &out->first;
    bool first = true;
    int r;

    out->type = RCO_JSON_LIST;
    if (rco_scan_expect(s, '[', "expected a list") < 0)
        return -1;
    while ((r = rco_scan_item(s, &first)) > 0) {
        struct rco_json_value *v = RCO_NEW(a, struct rco_json_value);

        if (parse(s, a, v) < 0)
            return -1;
        *tail = v;
        tail = &v->next;
        out->n++;
    }
    return r;
}

static int parse_word(struct rco_scan *s, enum rco_json_type type, const char *word,
                      struct rco_json_value *out)
{
    out->type = type;
    out->text = word;
    return rco_scan_word(s, word);
}

static int parse_scalar(struct rco_scan *s, char c, struct rco_arena *a, struct rco_json_value *out)
{
    struct rco_span span;
    bool flag;

    if (c == '"') {
        out->type = RCO_JSON_STRING;
        if (rco_scan_string(s, &span, &flag) < 0)
            return -1;
        out->text = text_of(a, span, flag);
        return 0;
    }
    out->type = RCO_JSON_NUMBER;
    if (rco_scan_number(s, &span, &flag) < 0)
        return -1;
    out->text = rco_arena_strndup(a, span.p, span.n);
    return 0;
}

/* Recursion is bounded by the scanner's depth. */
static int parse(struct rco_scan *s, struct rco_arena *a, struct rco_json_value *out)
{
    char c = rco_scan_peek(s);

    switch (c) {
    case '{':
        return parse_object(s, a, out);
    case '[':
        return parse_list(s, a, out);
    case 't':
        return parse_word(s, RCO_JSON_BOOL, "true", out);
    case 'f':
        return parse_word(s, RCO_JSON_BOOL, "false", out);
    case 'n':
        return parse_word(s, RCO_JSON_NULL, "null", out);
    default:
        return parse_scalar(s, c, a, out);
    }
}

int rco_json_value_parse(const char *json, size_t n, struct rco_arena *a,
                         struct rco_json_value **ret, struct rco_error *err)
{
    struct rco_json_value *v = RCO_NEW(a, struct rco_json_value);
    struct rco_scan s;

    if (n > RCO_JSON_VALUE_MAX)
        return rco_error_set(err, RCO_ETOOBIG, "JSON text larger than 4 MiB");
    rco_scan_init(&s, json, n, RCO_JSON_MAX_DEPTH);
    if (parse(&s, a, v) < 0 || rco_scan_finish(&s) < 0)
        return rco_error_set(err, RCO_EINVALID, "not JSON at byte %zu: %s", (size_t)(s.p - json),
                             s.why);
    *ret = v;
    return 0;
}

const struct rco_json_value *rco_json_value_get(const struct rco_json_value *v, const char *key)
{
    if (!v || v->type != RCO_JSON_OBJECT)
        return NULL;
    for (v = v->first; v; v = v->next)
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}
