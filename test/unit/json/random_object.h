/* Objects with random content for any schema, from a seed. */
#ifndef RCO_TEST_RANDOM_OBJECT_H
#define RCO_TEST_RANDOM_OBJECT_H

#include "base/arena.h"
#include "json/codec.h"

#include <stdio.h>
#include <string.h>

struct random_source {
    uint64_t state;
    unsigned percent; /* how many of the fields are there */
    struct rco_arena *a;
};

static inline uint64_t random_next(struct random_source *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state;
}

static inline size_t random_below(struct random_source *r, size_t n)
{
    return (size_t)(random_next(r) % n);
}

/* All the shapes that the packed form treats apart, and what JSON must escape. */
static inline const char *random_text(struct random_source *r)
{
    uint64_t v = random_next(r);
    switch (random_below(r, 10)) {
    case 0:
        return "";
    case 1:
        return rco_arena_printf(r->a, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)v,
                                (unsigned)(v >> 8) & 0xffff, (unsigned)v & 0xfff,
                                (unsigned)(v >> 3) & 0xfff,
                                (unsigned long long)(v & 0xffffffffffff));
    case 2:
        return rco_arena_printf(r->a, "%016llx%016llx", (unsigned long long)v,
                                (unsigned long long)~v);
    case 3:
        return rco_arena_printf(r->a, "%llu", (unsigned long long)(v % 1000000000000));
    case 4:
        return rco_arena_printf(r->a, "urn:pulumi:dev::shop::kubernetes:apps/v1:Deployment::w%u",
                                (unsigned)v % 1000);
    case 5:
        return "quote \" backslash \\ tab \t newline \n bell \x07 slash / delete \x7f";
    case 6:
        return "Zürich, 東京, \xf0\x9f\x9a\x80";
    case 7:
        return rco_arena_printf(r->a, "0%u", (unsigned)v % 100);
    case 8:
        return rco_arena_printf(r->a, "ABCDEF%08X", (unsigned)v);
    default:
        return rco_arena_printf(r->a, "word-%u", (unsigned)v % 50);
    }
}

static inline void random_object(struct random_source *r, const struct rco_schema *schema,
                                 char *obj);

static inline void random_list(struct random_source *r, const struct rco_field *f, char *obj)
{
    size_t n = random_below(r, 4);
    size_t size = f->type == RCO_FIELD_LIST_STRUCT   ? f->sub->size
                  : f->type == RCO_FIELD_LIST_STRING ? sizeof(char *)
                                                     : sizeof(struct rco_kv);
    char *items = rco_arena_array(r->a, n ? n : 1, size);
    for (size_t i = 0; i < n; i++) {
        if (f->type == RCO_FIELD_LIST_STRUCT)
            random_object(r, f->sub, items + i * size);
        else if (f->type == RCO_FIELD_LIST_STRING)
            ((const char **)(void *)items)[i] = random_text(r);
        else
            ((struct rco_kv *)(void *)items)[i] = (struct rco_kv){
                .key = rco_arena_printf(r->a, "%s%zu", f->words ? f->words[0] : "k", i),
                .value = random_text(r)};
    }
    *(void **)(void *)(obj + f->offset) = items;
    *(size_t *)(void *)(obj + f->aux_offset) = n;
}

static inline void random_field(struct random_source *r, const struct rco_field *f, char *obj)
{
    static const char *const raws[] = {"{\"a\":1}", "{\"a\":2,\"b\":{\"c\":[1,2]}}",
                                       "[true]",    "{\"b\":{\"d\":\"x\"}}",
                                       "3.5",       "{}"};
    size_t words = 0;
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_STRING:
        *(const char **)(void *)(obj + f->offset) = random_text(r);
        break;
    case RCO_FIELD_RAW:
        *(const char **)(void *)(obj + f->offset) = raws[random_below(r, RCO_ARRAY_LEN(raws))];
        break;
    case RCO_FIELD_ENUM:
        while (f->words[words])
            words++;
        *(int *)(void *)(obj + f->offset) = 2 + (int)random_below(r, words);
        break;
    case RCO_FIELD_INT:
        *(int64_t *)(void *)(obj + f->offset) =
            random_below(r, 5) ? (int64_t)random_below(r, 100) : (int64_t)random_next(r);
        *(bool *)(obj + f->aux_offset) = true;
        break;
    case RCO_FIELD_BOOL:
        *(bool *)(obj + f->offset) = random_below(r, 2);
        *(bool *)(obj + f->aux_offset) = true;
        break;
    case RCO_FIELD_TIME:
        *(rco_wall *)(void *)(obj + f->offset) =
            (rco_wall)(1 + random_below(r, 4000000000)) * RCO_US_PER_S;
        break;
    case RCO_FIELD_TIME_MICRO:
        *(rco_wall *)(void *)(obj + f->offset) = (rco_wall)(1 + random_below(r, 4000000000000000));
        break;
    case RCO_FIELD_STRUCT:
        if (!(f->flags & RCO_FIELD_ALWAYS))
            *(bool *)(obj + f->aux_offset) = true;
        random_object(r, f->sub, obj + f->offset);
        break;
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
        random_list(r, f, obj);
        break;
    }
}

/* Fills OBJ, which is zeroed. */
static inline void random_object(struct random_source *r, const struct rco_schema *schema,
                                 char *obj)
{
    for (size_t i = 0; i < schema->n_fields; i++)
        if (schema->fields[i].flags & RCO_FIELD_ALWAYS || random_below(r, 100) < r->percent)
            random_field(r, &schema->fields[i], obj);
}

#endif
