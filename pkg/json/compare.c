/* Deep equality and deep copy. */
#include "json/codec.h"

#include "json/access.h"

#include <string.h>

static bool equal_lists(const struct rco_field *f, const void *a, const void *b)
{
    const void *x = *RCO_AT(void *, a, f), *y = *RCO_AT(void *, b, f);
    size_t n = *RCO_COUNT(a, f);
    if (!x || !y || n != *RCO_COUNT(b, f))
        return !x && !y;
    for (size_t i = 0; i < n; i++) {
        if (f->type == RCO_FIELD_LIST_STRUCT) {
            if (!rco_codec_equal(f->sub, rco_field_item(f, a, i), rco_field_item(f, b, i)))
                return false;
        } else if (f->type == RCO_FIELD_LIST_STRING) {
            if (!rco_streq(((const char *const *)x)[i], ((const char *const *)y)[i]))
                return false;
        } else {
            const struct rco_kv *p = (const struct rco_kv *)x + i,
                                *q = (const struct rco_kv *)y + i;
            if (!rco_streq(p->key, q->key) || !rco_streq(p->value, q->value))
                return false;
        }
    }
    return true;
}

static bool equal_fields(const struct rco_field *f, const void *a, const void *b)
{
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
    case RCO_FIELD_RAW:
        return rco_streq(*RCO_AT(const char *, a, f), *RCO_AT(const char *, b, f));
    case RCO_FIELD_ENUM:
        return *RCO_AT(int, a, f) == *RCO_AT(int, b, f);
    case RCO_FIELD_INT:
        return *RCO_HAS(a, f) == *RCO_HAS(b, f) &&
               (!*RCO_HAS(a, f) || *RCO_AT(int64_t, a, f) == *RCO_AT(int64_t, b, f));
    case RCO_FIELD_BOOL:
        return *RCO_HAS(a, f) == *RCO_HAS(b, f) &&
               (!*RCO_HAS(a, f) || *RCO_AT(bool, a, f) == *RCO_AT(bool, b, f));
    case RCO_FIELD_TIME: /* written in seconds, so compared in seconds */
        return *RCO_AT(rco_wall, a, f) / RCO_US_PER_S == *RCO_AT(rco_wall, b, f) / RCO_US_PER_S;
    case RCO_FIELD_TIME_MICRO:
        return *RCO_AT(rco_wall, a, f) == *RCO_AT(rco_wall, b, f);
    case RCO_FIELD_STRUCT:
        if (!rco_field_present(f, a) || !rco_field_present(f, b))
            return rco_field_present(f, a) == rco_field_present(f, b);
        return rco_codec_equal(f->sub, RCO_AT(char, a, f), RCO_AT(char, b, f));
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
        break;
    }
    return equal_lists(f, a, b);
}

bool rco_codec_equal(const struct rco_schema *schema, const void *a, const void *b)
{
    for (size_t i = 0; i < schema->n_fields; i++)
        if (!equal_fields(&schema->fields[i], a, b))
            return false;
    return true;
}

static void copy_list(const struct rco_field *f, void *dst, const void *src, struct rco_arena *a)
{
    const void *items = *RCO_AT(void *, src, f);
    size_t n = *RCO_COUNT(src, f);
    if (!items)
        return;
    size_t size = f->type == RCO_FIELD_LIST_STRUCT   ? f->sub->size
                  : f->type == RCO_FIELD_LIST_STRING ? sizeof(char *)
                                                     : sizeof(struct rco_kv);
    void *copy = rco_arena_array(a, n ? n : 1, size);
    *RCO_AT(void *, dst, f) = copy;
    *RCO_COUNT(dst, f) = n;
    for (size_t i = 0; i < n; i++) {
        if (f->type == RCO_FIELD_LIST_STRUCT) {
            rco_codec_copy(f->sub, (char *)copy + i * size, rco_field_item(f, src, i), a);
        } else if (f->type == RCO_FIELD_LIST_STRING) {
            ((const char **)copy)[i] = rco_arena_strdup(a, ((const char *const *)items)[i]);
        } else {
            const struct rco_kv *kv = (const struct rco_kv *)items + i;
            ((struct rco_kv *)copy)[i] = (struct rco_kv){.key = rco_arena_strdup(a, kv->key),
                                                         .value = rco_arena_strdup(a, kv->value)};
        }
    }
}

void rco_codec_copy(const struct rco_schema *schema, void *dst, const void *src,
                    struct rco_arena *a)
{
    memcpy(dst, src, schema->size);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct rco_field *f = &schema->fields[i];
        switch ((enum rco_field_type)f->type) {
        case RCO_FIELD_STRING:
        case RCO_FIELD_RAW:
            *RCO_AT(char *, dst, f) = rco_arena_strdup(a, *RCO_AT(char *, src, f));
            break;
        case RCO_FIELD_STRUCT:
            if (rco_field_present(f, src))
                rco_codec_copy(f->sub, RCO_AT(char, dst, f), RCO_AT(char, src, f), a);
            break;
        case RCO_FIELD_LIST_STRUCT:
        case RCO_FIELD_LIST_STRING:
        case RCO_FIELD_MAP_STRING:
            copy_list(f, dst, src, a);
            break;
        case RCO_FIELD_ENUM:
        case RCO_FIELD_INT:
        case RCO_FIELD_BOOL:
        case RCO_FIELD_TIME:
        case RCO_FIELD_TIME_MICRO:
            break;
        }
    }
}
