/* JSON merge patches (RFC 7386) from two structs. */
#include "json/access.h"
#include "json/encode.h"
#include "json/scan.h"

#include <string.h>

/* An object of the patch is written only when something in it differs: the first difference opens
 * it and those around it. */
struct lazy {
    struct rco_json_writer *w;
    struct lazy *around; /* NULL = the patch itself */
    const char *key;     /* in AROUND */
    bool open;
};

static struct rco_json_writer *open_patch(struct lazy *l)
{
    if (l->open)
        return l->w;
    if (l->around)
        rco_json_key(open_patch(l->around), l->key);
    rco_json_begin_object(l->w);
    l->open = true;
    return l->w;
}

static bool close_patch(struct lazy *l)
{
    if (l->open)
        rco_json_end_object(l->w);
    return l->open;
}

static void patch_map(struct lazy *out, const struct rco_field *f, const void *old_obj,
                      const void *new_obj)
{
    const struct rco_kv *a = *RCO_AT(struct rco_kv *, old_obj, f);
    const struct rco_kv *b = *RCO_AT(struct rco_kv *, new_obj, f);
    size_t n_a = *RCO_COUNT(old_obj, f), n_b = *RCO_COUNT(new_obj, f), i = 0, k = 0;
    struct lazy map = {.w = out->w, .around = out, .key = f->name};
    while (i < n_a || k < n_b) {
        int order = i == n_a ? 1 : k == n_b ? -1 : strcmp(a[i].key, b[k].key);
        if (order == 0 && rco_streq(a[i].value, b[k].value)) {
            i++;
            k++;
            continue;
        }
        rco_json_key(open_patch(&map), order < 0 ? a[i].key : b[k].key);
        if (order < 0)
            rco_json_null(map.w);
        else
            rco_json_string(map.w, b[k].value);
        i += order <= 0;
        k += order >= 0;
    }
    close_patch(&map);
}

/* Value of KEY in the object text JSON (valid, made by the decoder or a writer); false when absent.
 */
static bool raw_member(const char *json, size_t n, struct rco_span key, struct rco_span *ret)
{
    struct rco_scan s;
    rco_scan_init(&s, json, n, 64);
    bool first = true, escaped;
    struct rco_span name;
    if (rco_scan_expect(&s, '{', "") < 0)
        return false;
    while (rco_scan_member(&s, &first, &name, &escaped) == 1) {
        if (rco_scan_value(&s, ret) < 0)
            return false;
        if (name.n == key.n && memcmp(name.p, key.p, key.n) == 0)
            return true;
    }
    return false;
}

static void write_raw_key(struct rco_json_writer *w, struct rco_span key, bool escaped)
{
    rco_autobuf plain = RCO_BUF_INIT;
    rco_buf_reserve(&plain, key.n + 1);
    size_t n = key.n;
    if (escaped)
        n = rco_scan_unescape(key, plain.data);
    else
        memcpy(plain.data, key.p, n);
    plain.data[n] = '\0';
    rco_json_key(w, plain.data);
}

/* Patch between two texts. An object that replaces an object must name what vanished in it: a merge
 * patch would keep the rest. */
static void patch_raw(struct rco_json_writer *w, struct rco_span old_text, struct rco_span new_text)
{
    if (old_text.p[0] != '{' || new_text.p[0] != '{') {
        rco_json_raw(w, new_text.p, new_text.n);
        return;
    }
    struct rco_scan s;
    struct rco_span key, value, other;
    bool first = true, escaped;
    rco_json_begin_object(w);
    rco_scan_init(&s, old_text.p + 1, old_text.n - 1, 64);
    while (rco_scan_member(&s, &first, &key, &escaped) == 1 && rco_scan_value(&s, &value) == 0) {
        if (raw_member(new_text.p, new_text.n, key, &other))
            continue;
        write_raw_key(w, key, escaped);
        rco_json_null(w);
    }
    first = true;
    rco_scan_init(&s, new_text.p + 1, new_text.n - 1, 64);
    while (rco_scan_member(&s, &first, &key, &escaped) == 1 && rco_scan_value(&s, &value) == 0) {
        bool had = raw_member(old_text.p, old_text.n, key, &other);
        if (had && other.n == value.n && memcmp(other.p, value.p, value.n) == 0)
            continue;
        write_raw_key(w, key, escaped);
        if (had)
            patch_raw(w, other, value);
        else
            rco_json_raw(w, value.p, value.n);
    }
    rco_json_end_object(w);
}

static struct rco_span text_span(const char *s)
{
    return (struct rco_span){.p = s, .n = strlen(s)};
}

static bool same_field(const struct rco_field *f, const void *old_obj, const void *new_obj)
{
    const struct rco_schema one = {.name = f->name, .fields = f, .n_fields = 1};
    return rco_codec_equal(&one, old_obj, new_obj);
}

static void patch_field(struct lazy *out, const struct rco_field *f, const void *old_obj,
                        const void *new_obj)
{
    bool had = rco_field_present(f, old_obj), has = rco_field_present(f, new_obj);
    if ((!had && !has) || same_field(f, old_obj, new_obj))
        return;
    if (had && has && f->type == RCO_FIELD_STRUCT) {
        struct lazy sub = {.w = out->w, .around = out, .key = f->name};
        for (size_t i = 0; i < f->sub->n_fields; i++)
            patch_field(&sub, &f->sub->fields[i], RCO_AT(char, old_obj, f),
                        RCO_AT(char, new_obj, f));
        close_patch(&sub);
        return;
    }
    if (had && has && f->type == RCO_FIELD_MAP_STRING) {
        patch_map(out, f, old_obj, new_obj);
        return;
    }
    rco_json_key(open_patch(out), f->name);
    if (!has)
        rco_json_null(out->w);
    else if (had && f->type == RCO_FIELD_RAW)
        patch_raw(out->w, text_span(*RCO_AT(const char *, old_obj, f)),
                  text_span(*RCO_AT(const char *, new_obj, f)));
    else
        rco_encode_field(out->w, f, new_obj);
}

bool rco_codec_merge_patch(const struct rco_schema *schema, const void *old_obj,
                           const void *new_obj, struct rco_buf *out)
{
    struct rco_json_writer w;
    rco_json_writer_init(&w, out);
    struct lazy top = {.w = &w};
    for (size_t i = 0; i < schema->n_fields; i++)
        patch_field(&top, &schema->fields[i], old_obj, new_obj);
    return close_patch(&top);
}
