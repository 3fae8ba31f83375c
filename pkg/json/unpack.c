#include "json/packing.h"

#include "json/access.h"
#include "json/codec.h"

#include <stdlib.h>
#include <string.h>

struct unpacker {
    const unsigned char *p, *end;
    const struct rco_intern *t;
    struct rco_intern *release; /* not NULL: nothing is built, references are given back */
    struct rco_arena *a;
    rco_wall last;
    size_t n_numbered;
    const char *numbered[RCO_PACK_MAX_NUMBERED];
};

/* A record is our own writing: what does not fit is a broken invariant, whatever NDEBUG says. */
static void check(bool ok)
{
    if (!ok)
        abort();
}

static uint64_t get_varint(struct unpacker *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        check(u->p < u->end && shift < 64);
        unsigned char c = *u->p++;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return v;
    }
}

static int64_t get_signed(struct unpacker *u)
{
    uint64_t v = get_varint(u);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static const unsigned char *get_bytes(struct unpacker *u, uint64_t n)
{
    check(n <= (uint64_t)(u->end - u->p));
    const unsigned char *p = u->p;
    u->p += n;
    return p;
}

static const char *uuid_text(struct unpacker *u, const unsigned char *bytes)
{
    char hex[33];
    char *out = rco_arena_alloc(u->a, 37);
    rco_hex_encode(bytes, 16, hex);
    static const unsigned char cuts[] = {8, 12, 16, 20, 32};
    size_t from = 0, n = 0;
    for (size_t i = 0; i < sizeof(cuts); i++) {
        memcpy(out + n, hex + from, cuts[i] - from);
        n += cuts[i] - from;
        from = cuts[i];
        out[n++] = i + 1 < sizeof(cuts) ? '-' : '\0';
    }
    return out;
}

static const char *prefixed_text(struct unpacker *u, uint64_t from)
{
    uint64_t common = get_varint(u), rest = get_varint(u);
    const unsigned char *bytes = get_bytes(u, rest);
    if (u->release)
        return NULL;
    check(from < u->n_numbered && common <= strlen(u->numbered[from]));
    char *out = rco_arena_alloc(u->a, common + rest + 1);
    memcpy(out, u->numbered[from], common);
    memcpy(out + common, bytes, rest);
    return out;
}

static const char *decimal_text(struct unpacker *u, uint64_t v)
{
    char digits[20];
    size_t n = 0;
    do
        digits[sizeof(digits) - ++n] = (char)('0' + v % 10);
    while (v /= 10);
    return rco_arena_strndup(u->a, digits + sizeof(digits) - n, n);
}

static const char *hex_text(struct unpacker *u, const unsigned char *bytes, size_t n)
{
    char *out = rco_arena_alloc(u->a, 2 * n + 1);
    rco_hex_encode(bytes, n, out);
    return out;
}

/* The string; NULL while references are given back. */
static const char *get_string(struct unpacker *u)
{
    uint64_t header = get_varint(u), v = header >> RCO_PACK_KIND_BITS;
    const unsigned char *bytes;
    const char *s = NULL;
    uint64_t decimal;
    switch ((enum rco_pack_kind)(header & ((1 << RCO_PACK_KIND_BITS) - 1))) {
    case RCO_PACK_TEXT:
        bytes = get_bytes(u, v);
        s = u->release ? NULL : rco_arena_strndup(u->a, (const char *)bytes, v);
        break;
    case RCO_PACK_HEX:
        bytes = get_bytes(u, v);
        s = u->release ? NULL : hex_text(u, bytes, v);
        break;
    case RCO_PACK_UUID:
        bytes = get_bytes(u, 16);
        s = u->release ? NULL : uuid_text(u, bytes);
        break;
    case RCO_PACK_DECIMAL:
        decimal = get_varint(u);
        s = u->release ? NULL : decimal_text(u, decimal);
        break;
    case RCO_PACK_INTERN:
        if (u->release)
            rco_intern_unref(u->release, (uint32_t)v);
        else
            s = rco_intern_str(u->t, (uint32_t)v);
        break;
    case RCO_PACK_REPEAT:
        if (u->release)
            return NULL;
        check(v < u->n_numbered);
        return u->numbered[v];
    case RCO_PACK_PREFIX:
        s = prefixed_text(u, v);
        break;
    default:
        check(false);
    }
    if (!u->release && u->n_numbered < RCO_PACK_MAX_NUMBERED)
        u->numbered[u->n_numbered++] = s;
    return s;
}

static rco_wall get_time(struct unpacker *u, int64_t unit)
{
    rco_wall t = (get_signed(u) + u->last / unit) * unit;
    u->last = t;
    return t;
}

static void unpack_struct(struct unpacker *u, const struct rco_schema *schema, void *obj);

static void unpack_list(struct unpacker *u, const struct rco_field *f, void *obj)
{
    size_t n = get_varint(u);
    size_t size = f->type == RCO_FIELD_LIST_STRUCT   ? f->sub->size
                  : f->type == RCO_FIELD_LIST_STRING ? sizeof(char *)
                                                     : sizeof(struct rco_kv);
    check(n <= (size_t)(u->end - u->p));
    char *items = u->release ? NULL : rco_arena_array(u->a, n ? n : 1, size);
    for (size_t i = 0; i < n; i++) {
        char *item = items ? items + i * size : NULL;
        if (f->type == RCO_FIELD_LIST_STRUCT) {
            unpack_struct(u, f->sub, item);
            continue;
        }
        const char *s = get_string(u);
        const char *value = f->type == RCO_FIELD_MAP_STRING ? get_string(u) : NULL;
        if (item && f->type == RCO_FIELD_MAP_STRING)
            *(struct rco_kv *)(void *)item = (struct rco_kv){.key = s, .value = value};
        else if (item)
            *(const char **)(void *)item = s;
    }
    if (!items)
        return;
    *RCO_AT(char *, obj, f) = items;
    *RCO_COUNT(obj, f) = n;
}

static void skip_field(struct unpacker *u, const struct rco_field *f)
{
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
    case RCO_FIELD_RAW:
        get_string(u);
        break;
    case RCO_FIELD_ENUM:
    case RCO_FIELD_INT:
    case RCO_FIELD_TIME:
    case RCO_FIELD_TIME_MICRO:
        get_varint(u);
        break;
    case RCO_FIELD_BOOL:
        get_bytes(u, 1);
        break;
    case RCO_FIELD_STRUCT:
        unpack_struct(u, f->sub, NULL);
        break;
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
        unpack_list(u, f, NULL);
        break;
    }
}

static void unpack_field(struct unpacker *u, const struct rco_field *f, void *obj)
{
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
    case RCO_FIELD_RAW:
        *RCO_AT(const char *, obj, f) = get_string(u);
        break;
    case RCO_FIELD_ENUM:
        *RCO_AT(int, obj, f) = (int)get_varint(u);
        break;
    case RCO_FIELD_INT:
        *RCO_HAS(obj, f) = true;
        *RCO_AT(int64_t, obj, f) = get_signed(u);
        break;
    case RCO_FIELD_BOOL:
        *RCO_HAS(obj, f) = true;
        *RCO_AT(bool, obj, f) = *get_bytes(u, 1) != 0;
        break;
    case RCO_FIELD_TIME:
        *RCO_AT(rco_wall, obj, f) = get_time(u, RCO_US_PER_S);
        break;
    case RCO_FIELD_TIME_MICRO:
        *RCO_AT(rco_wall, obj, f) = get_time(u, 1);
        break;
    case RCO_FIELD_STRUCT:
        if (!(f->flags & RCO_FIELD_ALWAYS))
            *RCO_HAS(obj, f) = true;
        unpack_struct(u, f->sub, RCO_AT(char, obj, f));
        break;
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
        unpack_list(u, f, obj);
        break;
    }
}

static void unpack_struct(struct unpacker *u, const struct rco_schema *schema, void *obj)
{
    const unsigned char *bits = get_bytes(u, (schema->n_fields + 7) / 8);
    for (size_t i = 0; i < schema->n_fields; i++) {
        if (!(bits[i / 8] >> i % 8 & 1))
            continue;
        if (u->release)
            skip_field(u, &schema->fields[i]);
        else
            unpack_field(u, &schema->fields[i], obj);
    }
}

static void unpacker_init(struct unpacker *u, const void *bytes, size_t n)
{
    u->p = bytes;
    u->end = u->p + n;
    u->t = NULL;
    u->release = NULL;
    u->a = NULL;
    u->last = RCO_PACK_EPOCH * RCO_US_PER_S;
    u->n_numbered = 0;
}

void rco_codec_unpack(const struct rco_schema *schema, const void *bytes, size_t n,
                      const struct rco_intern *t, struct rco_arena *a, void *obj)
{
    struct unpacker u;
    unpacker_init(&u, bytes, n);
    u.t = t;
    u.a = a;
    memset(obj, 0, schema->size);
    unpack_struct(&u, schema, obj);
    check(u.p == u.end);
}

void rco_codec_unpack_release(const struct rco_schema *schema, const void *bytes, size_t n,
                              struct rco_intern *t)
{
    struct unpacker u;
    unpacker_init(&u, bytes, n);
    u.release = t;
    unpack_struct(&u, schema, NULL);
    check(u.p == u.end);
}
