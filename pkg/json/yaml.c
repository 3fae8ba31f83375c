#include "json/yaml.h"

#include "json/writer.h"

#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    struct rco_json_writer w;
    struct rco_error *err;
};

static int fail(struct reader *r, const yaml_mark_t *mark, const char *why)
{
    return rco_error_set(r->err, RCO_EINVALID, "line %zu, column %zu: %s", mark->line + 1,
                         mark->column + 1, why);
}

static int next(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = false;
    if (!yaml_parser_parse(&r->parser, &r->event))
        return fail(r, &r->parser.problem_mark,
                    r->parser.problem ? r->parser.problem : "is not YAML");
    r->has_event = true;
    return 0;
}

static bool one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(s, *words) == 0)
            return true;
    return false;
}

static size_t count_digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* Whether S is a number that JSON can write as it stands. */
static bool is_json_number(const char *s)
{
    s += *s == '-';
    size_t n = count_digits(s);
    if (!n || (*s == '0' && n > 1))
        return false;
    s += n;
    if (*s == '.') {
        n = count_digits(++s);
        if (!n)
            return false;
        s += n;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        n = count_digits(s);
        if (!n)
            return false;
        s += n;
    }
    return !*s;
}

static int write_scalar(struct reader *r)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    const char *s = (const char *)r->event.data.scalar.value;
    size_t n = r->event.data.scalar.length;
    if (strlen(s) != n)
        return fail(r, &r->event.start_mark, "a text must not contain a NUL character");
    if (r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        rco_json_string_n(&r->w, s, n);
    else if (one_of(s, nulls))
        rco_json_null(&r->w);
    else if (one_of(s, trues) || one_of(s, falses))
        rco_json_bool(&r->w, one_of(s, trues));
    else if (is_json_number(s))
        rco_json_raw(&r->w, s, n);
    else
        rco_json_string_n(&r->w, s, n);
    return 0;
}

static int refuse_extras(struct reader *r)
{
    const yaml_event_t *e = &r->event;
    if (e->type == YAML_ALIAS_EVENT)
        return fail(r, &e->start_mark, "aliases (*name) are not accepted; write the value out");
    const yaml_char_t *anchor = e->type == YAML_SCALAR_EVENT ? e->data.scalar.anchor
                                : e->type == YAML_SEQUENCE_START_EVENT
                                    ? e->data.sequence_start.anchor
                                : e->type == YAML_MAPPING_START_EVENT ? e->data.mapping_start.anchor
                                                                      : NULL;
    const yaml_char_t *tag = e->type == YAML_SCALAR_EVENT           ? e->data.scalar.tag
                             : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.tag
                             : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.tag
                                                                    : NULL;
    if (anchor)
        return fail(r, &e->start_mark, "anchors (&name) are not accepted; write the value out");
    if (tag)
        return fail(r, &e->start_mark, "tags (!name) are not accepted");
    return 0;
}

static int write_key(struct reader *r)
{
    const yaml_event_t *e = &r->event;
    if (e->type != YAML_SCALAR_EVENT)
        return fail(r, &e->start_mark, "a key must be text");
    const char *s = (const char *)e->data.scalar.value;
    if (strlen(s) != e->data.scalar.length)
        return fail(r, &e->start_mark, "a key must not contain a NUL character");
    if (strcmp(s, "<<") == 0 && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return fail(r, &e->start_mark, "merge keys (<<) are not accepted; write the fields out");
    rco_json_key(&r->w, s);
    return 0;
}

/* Writes the value that begins with the current event. Nesting is a stack of bits (1 = in a map
 * whose value comes next), since what people write is not trusted to be shallow. */
static int write_value(struct reader *r)
{
    unsigned depth = 0;
    bool map[RCO_YAML_MAX_DEPTH], key_next[RCO_YAML_MAX_DEPTH];
    for (;;) {
        yaml_event_type_t type = r->event.type;
        bool opens = type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
        bool closes = type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT;
        if (refuse_extras(r) < 0)
            return -1;
        if (opens && depth == RCO_YAML_MAX_DEPTH)
            return fail(r, &r->event.start_mark, "is nested too deeply");
        if (!closes && depth && map[depth - 1] && key_next[depth - 1]) {
            if (write_key(r) < 0)
                return -1;
            key_next[depth - 1] = false;
        } else {
            if (type == YAML_SCALAR_EVENT && write_scalar(r) < 0)
                return -1;
            if (type == YAML_MAPPING_START_EVENT)
                rco_json_begin_object(&r->w);
            if (type == YAML_SEQUENCE_START_EVENT)
                rco_json_begin_array(&r->w);
            if (type == YAML_MAPPING_END_EVENT)
                rco_json_end_object(&r->w);
            if (type == YAML_SEQUENCE_END_EVENT)
                rco_json_end_array(&r->w);
            depth -= closes;
            if (opens) {
                map[depth] = key_next[depth] = type == YAML_MAPPING_START_EVENT;
                depth++;
            } else if (depth && map[depth - 1]) {
                key_next[depth - 1] = true;
            }
        }
        if (!depth)
            return 0;
        if (next(r) < 0)
            return -1;
    }
}

static bool is_empty_document(const struct reader *r)
{
    const yaml_event_t *e = &r->event;
    return e->type == YAML_SCALAR_EVENT && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           !e->data.scalar.length;
}

static int read_documents(struct reader *r, rco_yaml_each_fn each, void *ctx)
{
    rco_autobuf json = RCO_BUF_INIT;
    for (size_t index = 0;;) {
        if (next(r) < 0)
            return -1;
        if (r->event.type == YAML_STREAM_END_EVENT)
            return 0;
        if (r->event.type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (next(r) < 0)
            return -1;
        if (is_empty_document(r))
            continue;
        size_t line = r->event.start_mark.line + 1;
        rco_buf_clear(&json);
        rco_json_writer_init(&r->w, &json);
        if (write_value(r) < 0 || each(ctx, index++, line, json.data, json.len, r->err) < 0)
            return -1;
    }
}

int rco_yaml_each(const char *yaml, size_t n, rco_yaml_each_fn each, void *ctx,
                  struct rco_error *err)
{
    struct reader r = {.err = err};
    if (n > RCO_YAML_MAX_TEXT)
        return rco_error_set(err, RCO_ETOOBIG, "the text has %zu bytes, more than %d", n,
                             RCO_YAML_MAX_TEXT);
    if (!yaml_parser_initialize(&r.parser))
        abort();
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)yaml, n);
    int rc = read_documents(&r, each, ctx);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return rc;
}

static int take_only(void *ctx, size_t index, size_t line, const char *json, size_t n,
                     struct rco_error *err)
{
    if (index)
        return rco_error_set(err, RCO_EINVALID,
                             "line %zu: a second document begins; only one is accepted", line);
    rco_buf_add(ctx, json, n);
    return 0;
}

int rco_yaml_to_json(const char *yaml, size_t n, struct rco_buf *out, struct rco_error *err)
{
    rco_autobuf json = RCO_BUF_INIT;
    if (rco_yaml_each(yaml, n, take_only, &json, err) < 0)
        return -1;
    if (json.len)
        rco_buf_add(out, json.data, json.len);
    else
        rco_buf_adds(out, "null");
    return 0;
}

typedef int (*decode_fn)(const struct rco_schema *schema, const char *json, size_t n,
                         struct rco_arena *a, void *obj, struct rco_error *err);

static int decode_with(decode_fn decode, const struct rco_schema *schema, const char *yaml,
                       size_t n, struct rco_arena *a, void *obj, struct rco_error *err)
{
    rco_autobuf json = RCO_BUF_INIT;
    if (rco_yaml_each(yaml, n, take_only, &json, err) < 0)
        return -1;
    if (!json.len)
        rco_buf_adds(&json, "{}");
    return decode(schema, json.data, json.len, a, obj, err);
}

int rco_yaml_decode(const struct rco_schema *schema, const char *yaml, size_t n,
                    struct rco_arena *a, void *obj, struct rco_error *err)
{
    return decode_with(rco_codec_decode, schema, yaml, n, a, obj, err);
}

int rco_yaml_decode_strict(const struct rco_schema *schema, const char *yaml, size_t n,
                           struct rco_arena *a, void *obj, struct rco_error *err)
{
    return decode_with(rco_codec_decode_strict, schema, yaml, n, a, obj, err);
}
