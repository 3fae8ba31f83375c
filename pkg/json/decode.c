/* JSON text to struct, in one pass over the text: no tree is built, what the table does not name is
 * checked and skipped. */
#include "json/codec.h"

#include "json/access.h"
#include "json/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_CHUNK 1024
#define NO_INDEX SIZE_MAX

struct step {
    const char *name;
    size_t index; /* item of a list; NO_INDEX = the field itself */
};

struct decoder {
    struct rco_scan s;
    struct rco_arena *a;
    char *pool; /* strings are cut from here: the arena would align each */
    size_t pool_left;
    bool strict; /* unknown fields are errors */
    size_t n_steps;
    struct step steps[RCO_JSON_MAX_DEPTH + 1]; /* where we are, for messages */
};

static int decode_struct(struct decoder *d, const struct rco_schema *schema, void *obj);

/* N bytes plus a NUL. */
static char *take_bytes(struct decoder *d, size_t n)
{
    if (n + 1 > d->pool_left) {
        size_t rest = (size_t)(d->s.end - d->s.p);
        size_t want = rest < POOL_CHUNK ? rest : POOL_CHUNK;
        if (want < n + 1)
            want = n + 1;
        d->pool = rco_arena_alloc(d->a, want);
        d->pool_left = want;
    }
    char *out = d->pool;
    d->pool += n + 1;
    d->pool_left -= n + 1;
    return out;
}

static const char *keep(struct decoder *d, struct rco_span span, bool escaped)
{
    char *out = take_bytes(d, span.n);
    size_t n = span.n;
    if (escaped)
        n = rco_scan_unescape(span, out);
    else
        memcpy(out, span.p, n);
    out[n] = '\0';
    return out;
}

/* Takes null if it is next. */
static bool is_null(struct decoder *d)
{
    return rco_scan_peek(&d->s) == 'n' && rco_scan_word(&d->s, "null") == 0;
}

static int decode_text(struct decoder *d, const struct rco_field *f, const char **ret)
{
    struct rco_span span;
    bool flag = false;
    char c = rco_scan_peek(&d->s);
    const char *at = d->s.p;
    if (f->flags & RCO_FIELD_INT_OR_STRING && (c == '-' || (c >= '0' && c <= '9'))) {
        if (rco_scan_number(&d->s, &span, &flag) < 0)
            return -1;
        flag = false;
    } else if (rco_scan_string(&d->s, &span, &flag) < 0) {
        return -1;
    }
    bool list = f->type == RCO_FIELD_LIST_STRING || f->type == RCO_FIELD_MAP_STRING;
    if (span.n > (f->max && !list ? f->max : RCO_JSON_MAX_STRING)) {
        d->s.p = at;
        return rco_scan_fail(&d->s, "is too long");
    }
    *ret = keep(d, span, flag);
    return 0;
}

static int decode_enum(struct decoder *d, const struct rco_field *f, int *ret)
{
    struct rco_span span;
    bool escaped;
    if (rco_scan_string(&d->s, &span, &escaped) < 0)
        return -1;
    *ret = 1;
    for (int i = 0; f->words[i]; i++) {
        if (strncmp(f->words[i], span.p, span.n) == 0 && f->words[i][span.n] == '\0') {
            *ret = i + 2;
            break;
        }
    }
    return 0;
}

static int decode_int(struct decoder *d, int64_t *ret)
{
    struct rco_span span;
    bool integer;
    char c = rco_scan_peek(&d->s);
    const char *at = d->s.p;
    if (c != '-' && (c < '0' || c > '9'))
        return rco_scan_fail(&d->s, "wants an integer");
    if (rco_scan_number(&d->s, &span, &integer) < 0)
        return -1;
    bool negative = span.p[0] == '-', fits = integer;
    uint64_t v = 0;
    for (size_t i = negative; i < span.n && fits; i++)
        fits = !__builtin_mul_overflow(v, UINT64_C(10), &v) &&
               !__builtin_add_overflow(v, (uint64_t)(span.p[i] - '0'), &v);
    if (!fits || v > (uint64_t)INT64_MAX + negative) {
        d->s.p = at;
        return rco_scan_fail(&d->s, integer ? "is out of range" : "wants an integer");
    }
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

static int decode_bool(struct decoder *d, bool *ret)
{
    char c = rco_scan_peek(&d->s);
    if (c != 't' && c != 'f')
        return rco_scan_fail(&d->s, "wants true or false");
    *ret = c == 't';
    return rco_scan_word(&d->s, c == 't' ? "true" : "false");
}

static int decode_time(struct decoder *d, rco_wall *ret)
{
    struct rco_span span;
    bool escaped;
    char text[RCO_TIME_STR_MAX + 1];
    const char *at = d->s.p;
    if (rco_scan_string(&d->s, &span, &escaped) < 0)
        return -1;
    struct rco_error ignored;
    if (span.n <= RCO_TIME_STR_MAX && !escaped) {
        memcpy(text, span.p, span.n);
        text[span.n] = '\0';
        if (rco_wall_parse(text, ret, &ignored) == 0)
            return 0;
    }
    d->s.p = at;
    return rco_scan_fail(&d->s, "wants an RFC 3339 time");
}

static int decode_raw(struct decoder *d, const char **ret)
{
    struct rco_span span;
    if (rco_scan_value(&d->s, &span) < 0)
        return -1;
    if (span.n > RCO_JSON_MAX_STRING)
        return rco_scan_fail(&d->s, "is too long");
    *ret = keep(d, span, false);
    return 0;
}

static size_t item_cap(const struct rco_field *f)
{
    return f->max ? f->max : RCO_JSON_MAX_ITEMS;
}

/* Makes room for item N of SIZE bytes: capacities are 4, 8, 16, ... An empty list still gets
 * memory, since NULL means absent. */
static char *grow(struct decoder *d, char *items, size_t n, size_t size)
{
    if (items && (n < 4 || (n & (n - 1)) != 0))
        return items;
    char *more = rco_arena_array(d->a, n < 4 ? 4 : 2 * n, size);
    if (n)
        memcpy(more, items, n * size);
    return more;
}

static int decode_list(struct decoder *d, const struct rco_field *f, void *obj)
{
    if (rco_scan_expect(&d->s, '[', "wants a list") < 0)
        return -1;
    bool structs = f->type == RCO_FIELD_LIST_STRUCT, first = true;
    size_t size = structs ? f->sub->size : sizeof(char *), n = 0;
    char *items = grow(d, NULL, 0, size);
    struct step *step = &d->steps[d->n_steps - 1];
    int more;
    while ((more = rco_scan_item(&d->s, &first)) == 1) {
        step->index = n;
        if (n >= item_cap(f))
            return rco_scan_fail(&d->s, "has too many items");
        items = grow(d, items, n, size);
        void *item = items + n * size;
        if ((structs ? decode_struct(d, f->sub, item) : decode_text(d, f, item)) < 0)
            return -1;
        n++;
    }
    if (more < 0)
        return -1;
    step->index = NO_INDEX;
    *RCO_AT(char *, obj, f) = items;
    *RCO_COUNT(obj, f) = n;
    return 0;
}

/* Whether the key of a map is one that the field keeps. */
static bool wanted_key(const struct rco_field *f, struct rco_span key)
{
    if (!f->words)
        return true;
    for (const char *const *prefix = f->words; *prefix; prefix++) {
        size_t n = strlen(*prefix);
        if (key.n > n && memcmp(key.p, *prefix, n) == 0)
            return true;
    }
    return false;
}

static int compare_kv(const void *a, const void *b)
{
    return strcmp(((const struct rco_kv *)a)->key, ((const struct rco_kv *)b)->key);
}

/* Sorts the pairs if they are not sorted (the API server sends them sorted) and refuses repeats. */
static int order_pairs(struct decoder *d, struct rco_kv *kv, size_t n)
{
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = strcmp(kv[i - 1].key, kv[i].key) < 0;
    if (sorted)
        return 0;
    qsort(kv, n, sizeof(*kv), compare_kv);
    for (size_t i = 1; i < n; i++)
        if (strcmp(kv[i - 1].key, kv[i].key) == 0)
            return rco_scan_fail(&d->s, "has the same key twice");
    return 0;
}

static int decode_map(struct decoder *d, const struct rco_field *f, void *obj)
{
    if (rco_scan_expect(&d->s, '{', "wants an object") < 0)
        return -1;
    char *items = grow(d, NULL, 0, sizeof(struct rco_kv));
    size_t n = 0;
    bool first = true, escaped;
    struct rco_span key;
    int more;
    while ((more = rco_scan_member(&d->s, &first, &key, &escaped)) == 1) {
        if (!wanted_key(f, key)) {
            if (rco_scan_value(&d->s, NULL) < 0)
                return -1;
            continue;
        }
        if (is_null(d))
            continue;
        if (n >= item_cap(f))
            return rco_scan_fail(&d->s, "has too many items");
        items = grow(d, items, n, sizeof(struct rco_kv));
        struct rco_kv *kv = (struct rco_kv *)items + n;
        kv->key = keep(d, key, escaped);
        if (decode_text(d, f, &kv->value) < 0)
            return -1;
        n++;
    }
    if (more < 0 || order_pairs(d, (struct rco_kv *)items, n) < 0)
        return -1;
    *RCO_AT(char *, obj, f) = items;
    *RCO_COUNT(obj, f) = n;
    return 0;
}

static int decode_field(struct decoder *d, const struct rco_field *f, void *obj)
{
    if (is_null(d))
        return 0;
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
        return decode_text(d, f, RCO_AT(const char *, obj, f));
    case RCO_FIELD_ENUM:
        return decode_enum(d, f, RCO_AT(int, obj, f));
    case RCO_FIELD_INT:
        *RCO_HAS(obj, f) = true;
        return decode_int(d, RCO_AT(int64_t, obj, f));
    case RCO_FIELD_BOOL:
        *RCO_HAS(obj, f) = true;
        return decode_bool(d, RCO_AT(bool, obj, f));
    case RCO_FIELD_TIME:
    case RCO_FIELD_TIME_MICRO:
        return decode_time(d, RCO_AT(rco_wall, obj, f));
    case RCO_FIELD_STRUCT:
        if (!(f->flags & RCO_FIELD_ALWAYS))
            *RCO_HAS(obj, f) = true;
        return decode_struct(d, f->sub, RCO_AT(char, obj, f));
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
        return decode_list(d, f, obj);
    case RCO_FIELD_MAP_STRING:
        return decode_map(d, f, obj);
    case RCO_FIELD_RAW:
        return decode_raw(d, RCO_AT(const char *, obj, f));
    }
    return rco_scan_fail(&d->s, "has a type that the codec does not know");
}

static bool name_is(const struct rco_field *f, struct rco_span key)
{
    if (f->name_len)
        return f->name_len == key.n && memcmp(f->name, key.p, key.n) == 0;
    return strncmp(f->name, key.p, key.n) == 0 && f->name[key.n] == '\0';
}

/* Index of the field called KEY, or n_fields. Servers keep an order, so the search starts behind
 * the field before: it mostly hits at once. */
static size_t find_field(const struct rco_schema *schema, struct rco_span key, size_t from)
{
    const struct rco_field *fields = schema->fields;
    size_t n = schema->n_fields;
    for (size_t i = from; i < n; i++)
        if (name_is(&fields[i], key))
            return i;
    for (size_t i = 0; i < from; i++)
        if (name_is(&fields[i], key))
            return i;
    return n;
}

static int decode_member(struct decoder *d, const struct rco_schema *schema, size_t i,
                         uint64_t seen[2], void *obj)
{
    const struct rco_field *f = &schema->fields[i];
    d->steps[d->n_steps++] = (struct step){.name = f->name, .index = NO_INDEX};
    uint64_t bit = UINT64_C(1) << (i & 63);
    if (seen[i >> 6] & bit)
        return rco_scan_fail(&d->s, "stands there twice");
    seen[i >> 6] |= bit;
    if (decode_field(d, f, obj) < 0)
        return -1;
    d->n_steps--;
    return 0;
}

static int refuse_unknown(struct decoder *d, struct rco_span key)
{
    d->steps[d->n_steps++] =
        (struct step){.name = rco_arena_strndup(d->a, key.p, key.n), .index = NO_INDEX};
    return rco_scan_fail(&d->s, "is not a known field");
}

static int decode_struct(struct decoder *d, const struct rco_schema *schema, void *obj)
{
    if (rco_scan_expect(&d->s, '{', "wants an object") < 0)
        return -1;
    if (++d->s.depth > RCO_JSON_MAX_DEPTH)
        return rco_scan_fail(&d->s, "is nested too deeply");
    uint64_t seen[2] = {0, 0};
    size_t next = 0;
    bool first = true, escaped;
    struct rco_span key;
    int more;
    while ((more = rco_scan_member(&d->s, &first, &key, &escaped)) == 1) {
        if (escaped) {
            char *plain = take_bytes(d, key.n);
            key = (struct rco_span){.p = plain, .n = rco_scan_unescape(key, plain)};
        }
        size_t i = find_field(schema, key, next);
        if (i == schema->n_fields) {
            if (d->strict)
                return refuse_unknown(d, key);
            if (rco_scan_value(&d->s, NULL) < 0)
                return -1;
            continue;
        }
        next = i + 1;
        if (decode_member(d, schema, i, seen, obj) < 0)
            return -1;
    }
    d->s.depth--;
    return more;
}

/* The message: the path of the field, what is wrong with it, and where in the text. */
static int report(struct decoder *d, const struct rco_schema *schema, struct rco_error *err)
{
    char path[RCO_ERROR_MSG_MAX / 2];
    size_t n = 0;
    path[0] = '\0';
    for (size_t i = 0; i < d->n_steps && n + 80 < sizeof(path); i++) {
        const struct step *s = &d->steps[i];
        n += (size_t)snprintf(path + n, sizeof(path) - n, ".%.40s", s->name);
        if (s->index != NO_INDEX)
            n += (size_t)snprintf(path + n, sizeof(path) - n, "[%zu]", s->index);
    }
    return rco_error_set(err, RCO_EINVALID, "%s: %s %s (at byte %zu of %zu)", schema->name,
                         n ? path : "the text", d->s.why ? d->s.why : "is not valid JSON",
                         (size_t)(d->s.p - d->s.start), (size_t)(d->s.end - d->s.start));
}

static int decode_span(const struct rco_schema *schema, struct rco_span text, struct rco_arena *a,
                       bool strict, void *obj, struct rco_error *err)
{
    struct decoder d;
    rco_scan_init(&d.s, text.p, text.n, RCO_JSON_MAX_DEPTH);
    d.a = a;
    d.pool = NULL;
    d.pool_left = 0;
    d.strict = strict;
    d.n_steps = 0;
    memset(obj, 0, schema->size);
    if (decode_struct(&d, schema, obj) < 0 || rco_scan_finish(&d.s) < 0)
        return report(&d, schema, err);
    return 0;
}

int rco_codec_decode(const struct rco_schema *schema, const char *json, size_t n,
                     struct rco_arena *a, void *obj, struct rco_error *err)
{
    return decode_span(schema, (struct rco_span){.p = json, .n = n}, a, false, obj, err);
}

int rco_codec_decode_strict(const struct rco_schema *schema, const char *json, size_t n,
                            struct rco_arena *a, void *obj, struct rco_error *err)
{
    return decode_span(schema, (struct rco_span){.p = json, .n = n}, a, true, obj, err);
}
