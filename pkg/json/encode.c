#include "json/encode.h"

#include "json/access.h"

#include <string.h>

static void encode_list(struct rco_json_writer *w, const struct rco_field *f, const void *obj)
{
    size_t n = *RCO_COUNT(obj, f);
    rco_json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        if (f->type == RCO_FIELD_LIST_STRUCT)
            rco_encode_struct(w, f->sub, rco_field_item(f, obj, i));
        else
            rco_json_string(w, (*RCO_AT(const char **, obj, f))[i]);
    }
    rco_json_end_array(w);
}

static void encode_map(struct rco_json_writer *w, const struct rco_field *f, const void *obj)
{
    const struct rco_kv *kv = *RCO_AT(struct rco_kv *, obj, f);
    rco_json_begin_object(w);
    for (size_t i = 0; i < *RCO_COUNT(obj, f); i++)
        rco_json_kv_string(w, kv[i].key, kv[i].value);
    rco_json_end_object(w);
}

void rco_encode_field(struct rco_json_writer *w, const struct rco_field *f, const void *obj)
{
    char text[RCO_TIME_STR_MAX];
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
        rco_json_string(w, *RCO_AT(const char *, obj, f));
        break;
    case RCO_FIELD_ENUM:
        rco_json_string(w, rco_words_name(f->words, *RCO_AT(int, obj, f)));
        break;
    case RCO_FIELD_INT:
        rco_json_int(w, *RCO_AT(int64_t, obj, f));
        break;
    case RCO_FIELD_BOOL:
        rco_json_bool(w, *RCO_AT(bool, obj, f));
        break;
    case RCO_FIELD_TIME:
        rco_wall_format(*RCO_AT(rco_wall, obj, f), text);
        rco_json_string(w, text);
        break;
    case RCO_FIELD_TIME_MICRO:
        rco_wall_format_micro(*RCO_AT(rco_wall, obj, f), text);
        rco_json_string(w, text);
        break;
    case RCO_FIELD_STRUCT:
        rco_encode_struct(w, f->sub, RCO_AT(char, obj, f));
        break;
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
        encode_list(w, f, obj);
        break;
    case RCO_FIELD_MAP_STRING:
        encode_map(w, f, obj);
        break;
    case RCO_FIELD_RAW: {
        const char *raw = *RCO_AT(const char *, obj, f);
        rco_json_raw(w, raw, strlen(raw));
        break;
    }
    }
}

void rco_encode_struct(struct rco_json_writer *w, const struct rco_schema *schema, const void *obj)
{
    rco_json_begin_object(w);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct rco_field *f = &schema->fields[i];
        if (!rco_field_present(f, obj))
            continue;
        rco_json_key(w, f->name);
        rco_encode_field(w, f, obj);
    }
    rco_json_end_object(w);
}

void rco_codec_encode(const struct rco_schema *schema, const void *obj, struct rco_buf *out)
{
    struct rco_json_writer w;
    rco_json_writer_init(&w, out);
    rco_encode_struct(&w, schema, obj);
}
