#include "json/packing.h"

#include "json/access.h"
#include "json/codec.h"
#include "json/scan.h"

#include <string.h>

#define MIN_HEX 8
#define MAX_DECIMAL 18
#define MIN_PREFIX 5 /* a shorter one costs more than it saves */

struct packer {
    struct rco_intern *t;
    struct rco_buf *out;
    rco_wall last; /* time written before, microseconds */
    size_t n_numbered;
    struct rco_span numbered[RCO_PACK_MAX_NUMBERED];
};

static void put_varint(struct packer *p, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;
    while (v >= 0x80) {
        bytes[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (unsigned char)v;
    rco_buf_add(p->out, bytes, n);
}

static void put_signed(struct packer *p, int64_t v)
{
    put_varint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_header(struct packer *p, enum rco_pack_kind kind, uint64_t v)
{
    put_varint(p, v << RCO_PACK_KIND_BITS | kind);
}

static void number(struct packer *p, const char *s, size_t n)
{
    if (p->n_numbered < RCO_PACK_MAX_NUMBERED)
        p->numbered[p->n_numbered++] = (struct rco_span){.p = s, .n = n};
}

static bool put_repeat(struct packer *p, const char *s, size_t n)
{
    if (n < 2)
        return false;
    for (size_t i = 0; i < p->n_numbered; i++) {
        if (p->numbered[i].n != n || memcmp(p->numbered[i].p, s, n) != 0)
            continue;
        put_header(p, RCO_PACK_REPEAT, i);
        return true;
    }
    return false;
}

static bool put_uuid(struct packer *p, const char *s, size_t n)
{
    unsigned char bytes[16];
    char hex[33];
    if (n != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-')
        return false;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (i != 8 && i != 13 && i != 18 && i != 23)
            hex[k++] = s[i];
    hex[k] = '\0';
    if (!rco_is_lower_hex(hex, 32) || !rco_hex_decode(hex, bytes, 16))
        return false;
    put_header(p, RCO_PACK_UUID, 0);
    rco_buf_add(p->out, bytes, 16);
    return true;
}

static bool put_decimal(struct packer *p, const char *s, size_t n)
{
    if (!n || n > MAX_DECIMAL || (s[0] == '0' && n > 1))
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    put_header(p, RCO_PACK_DECIMAL, 0);
    put_varint(p, v);
    return true;
}

static bool put_hex(struct packer *p, const char *s, size_t n)
{
    if (n < MIN_HEX || n % 2 || !rco_is_lower_hex(s, n))
        return false;
    put_header(p, RCO_PACK_HEX, n / 2);
    rco_buf_reserve(p->out, n / 2);
    rco_hex_decode(s, (unsigned char *)p->out->data + p->out->len, n / 2);
    p->out->len += n / 2;
    p->out->data[p->out->len] = '\0';
    return true;
}

static size_t common_prefix(struct rco_span a, const char *s, size_t n)
{
    size_t max = a.n < n ? a.n : n, common = MIN_PREFIX;
    if (max < MIN_PREFIX || memcmp(a.p, s, MIN_PREFIX) != 0)
        return 0;
    while (common < max && a.p[common] == s[common])
        common++;
    return common;
}

static bool put_prefix(struct packer *p, const char *s, size_t n)
{
    size_t best = 0, from = 0;
    for (size_t i = 0; i < p->n_numbered; i++) {
        size_t common = common_prefix(p->numbered[i], s, n);
        if (common > best) {
            best = common;
            from = i;
        }
    }
    if (!best)
        return false;
    put_header(p, RCO_PACK_PREFIX, from);
    put_varint(p, best);
    put_varint(p, n - best);
    rco_buf_add(p->out, s + best, n - best);
    return true;
}

static void put_interned(struct packer *p, const char *s)
{
    put_header(p, RCO_PACK_INTERN, rco_intern_ref(p->t, s));
    number(p, s, strlen(s));
}

static void put_string(struct packer *p, const char *s)
{
    size_t n = strlen(s);
    if (put_repeat(p, s, n))
        return;
    if (!put_uuid(p, s, n) && !put_decimal(p, s, n) && !put_hex(p, s, n) && !put_prefix(p, s, n)) {
        put_header(p, RCO_PACK_TEXT, n);
        rco_buf_add(p->out, s, n);
    }
    number(p, s, n);
}

/* A label's value: mostly shared by many objects, but a uid or the object's own name is not. */
static void put_map_value(struct packer *p, const struct rco_field *f, const char *s)
{
    size_t n = strlen(s);
    if (!(f->flags & RCO_FIELD_INTERN)) {
        put_string(p, s);
        return;
    }
    if (put_repeat(p, s, n))
        return;
    if (put_uuid(p, s, n) || put_decimal(p, s, n) || put_hex(p, s, n))
        number(p, s, n);
    else
        put_interned(p, s);
}

static void put_time(struct packer *p, rco_wall t, int64_t unit)
{
    put_signed(p, t / unit - p->last / unit);
    p->last = t;
}

static bool is_packed(const struct rco_field *f, const void *obj)
{
    if (f->flags & RCO_FIELD_SKIP_PACK)
        return false;
    if (f->type == RCO_FIELD_ENUM) /* the unknown word is remembered as such */
        return *RCO_AT(int, obj, f) != 0;
    return rco_field_present(f, obj);
}

static void pack_struct(struct packer *p, const struct rco_schema *schema, const void *obj);

static void pack_list(struct packer *p, const struct rco_field *f, const void *obj)
{
    size_t n = *RCO_COUNT(obj, f);
    put_varint(p, n);
    for (size_t i = 0; i < n; i++) {
        if (f->type == RCO_FIELD_LIST_STRUCT) {
            pack_struct(p, f->sub, rco_field_item(f, obj, i));
            continue;
        }
        if (f->type == RCO_FIELD_MAP_STRING) {
            const struct rco_kv *kv = *RCO_AT(struct rco_kv *, obj, f) + i;
            put_interned(p, kv->key);
            put_map_value(p, f, rco_str_or_empty(kv->value));
            continue;
        }
        const char *s = rco_str_or_empty((*RCO_AT(const char **, obj, f))[i]);
        if (f->flags & RCO_FIELD_INTERN)
            put_interned(p, s);
        else
            put_string(p, s);
    }
}

static void pack_field(struct packer *p, const struct rco_field *f, const void *obj)
{
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
    case RCO_FIELD_RAW:
        if (f->flags & RCO_FIELD_INTERN)
            put_interned(p, *RCO_AT(const char *, obj, f));
        else
            put_string(p, *RCO_AT(const char *, obj, f));
        break;
    case RCO_FIELD_ENUM:
        put_varint(p, (uint64_t)*RCO_AT(int, obj, f));
        break;
    case RCO_FIELD_INT:
        put_signed(p, *RCO_AT(int64_t, obj, f));
        break;
    case RCO_FIELD_BOOL:
        rco_buf_addc(p->out, *RCO_AT(bool, obj, f));
        break;
    case RCO_FIELD_TIME:
        put_time(p, *RCO_AT(rco_wall, obj, f), RCO_US_PER_S);
        break;
    case RCO_FIELD_TIME_MICRO:
        put_time(p, *RCO_AT(rco_wall, obj, f), 1);
        break;
    case RCO_FIELD_STRUCT:
        pack_struct(p, f->sub, RCO_AT(char, obj, f));
        break;
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
        pack_list(p, f, obj);
        break;
    }
}

static void pack_struct(struct packer *p, const struct rco_schema *schema, const void *obj)
{
    unsigned char bits[RCO_SCHEMA_MAX_FIELDS / 8] = {0};
    for (size_t i = 0; i < schema->n_fields; i++)
        if (is_packed(&schema->fields[i], obj))
            bits[i / 8] |= (unsigned char)(1 << i % 8);
    rco_buf_add(p->out, bits, (schema->n_fields + 7) / 8);
    for (size_t i = 0; i < schema->n_fields; i++)
        if (bits[i / 8] >> i % 8 & 1)
            pack_field(p, &schema->fields[i], obj);
}

void rco_codec_pack(const struct rco_schema *schema, const void *obj, struct rco_intern *t,
                    struct rco_buf *out)
{
    struct packer p;
    p.t = t;
    p.out = out;
    p.last = RCO_PACK_EPOCH * RCO_US_PER_S;
    p.n_numbered = 0;
    pack_struct(&p, schema, obj);
}
