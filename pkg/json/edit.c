#include "json/edit.h"

#include "json/codec.h"
#include "json/scan.h"
#include "json/writer.h"

#include <string.h>

static bool span_is(struct rco_span span, const char *text)
{
    return span.n == strlen(text) && memcmp(span.p, text, span.n) == 0;
}

/* What is set: a string at the end of the path INNER, or of OUTER and then INNER. */
struct edit {
    const char *outer, *inner, *value;
};

/* Writes the members of the object at S but the one called SKIP, whose value goes to *RET_SKIPPED.
 */
static int copy_members(struct rco_scan *s, struct rco_json_writer *w, const char *skip,
                        struct rco_span *ret_skipped)
{
    bool first = true, escaped;
    struct rco_span key, value;
    int more;
    if (rco_scan_expect(s, '{', "wants an object") < 0)
        return -1;
    while ((more = rco_scan_member(s, &first, &key, &escaped)) == 1) {
        if (rco_scan_value(s, &value) < 0)
            return -1;
        if (span_is(key, skip)) {
            *ret_skipped = value;
            continue;
        }
        /* Key and value go out as they came: the quotes stand around the span. */
        rco_json_raw(w, key.p - 1, (size_t)(value.p + value.n - key.p + 1));
    }
    return more;
}

static int edit_object(struct rco_scan *s, struct rco_json_writer *w, const struct edit *e)
{
    struct rco_span outer = {0}, inner = {0};
    rco_json_begin_object(w);
    if (copy_members(s, w, e->outer, &outer) < 0 || rco_scan_finish(s) < 0)
        return -1;
    rco_json_kv_object(w, e->outer);
    if (outer.p && !span_is(outer, "null")) {
        s->p = outer.p;
        s->end = outer.p + outer.n;
        if (copy_members(s, w, e->inner, &inner) < 0)
            return -1;
    }
    rco_json_kv_string(w, e->inner, e->value);
    rco_json_end_object(w);
    rco_json_end_object(w);
    return 0;
}

int rco_json_set_nested(const char *json, size_t n, const char *outer, const char *inner,
                        const char *value, struct rco_buf *out, struct rco_error *err)
{
    struct rco_scan s;
    struct rco_json_writer w;
    rco_autobuf text = RCO_BUF_INIT;
    const struct edit e = {.outer = outer, .inner = inner, .value = value};
    rco_scan_init(&s, json, n, RCO_JSON_MAX_DEPTH);
    rco_json_writer_init(&w, &text);
    if (edit_object(&s, &w, &e) < 0)
        return rco_error_set(err, RCO_EINVALID, "the text %s (at byte %zu)", s.why,
                             (size_t)(s.p - s.start));
    rco_buf_add(out, text.data, text.len);
    return 0;
}
