#include "json/stream.h"

#include "json/codec.h"
#include "json/envelope.h"

#include <string.h>

struct list_meta {
    const char *resource_version, *next;
};

static const struct rco_field meta_fields[] = {
    {.name = "resourceVersion",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct list_meta, resource_version)},
    {.name = "continue",
     .name_len = 8,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct list_meta, next)},
};

static const struct rco_schema meta_schema = {.name = "list metadata",
                                              .size = sizeof(struct list_meta),
                                              .fields = meta_fields,
                                              .n_fields = RCO_ARRAY_LEN(meta_fields)};

struct rco_list_parser {
    struct rco_envelope envelope;
    struct rco_list_handler handler;
    struct rco_arena arena;
    struct list_meta meta;
};

static int on_value(void *ctx, struct rco_span text, struct rco_error *err)
{
    struct rco_list_parser *p = ctx;
    if (strcmp(p->envelope.key, "metadata") != 0)
        return 0;
    return rco_codec_decode(&meta_schema, text.p, text.n, &p->arena, &p->meta, err);
}

static int on_item(void *ctx, struct rco_span text, struct rco_error *err)
{
    struct rco_list_parser *p = ctx;
    return p->handler.item(p->handler.ctx, text.p, text.n, err);
}

static int on_end(void *ctx, struct rco_error *err)
{
    (void)ctx;
    (void)err;
    return 0;
}

struct rco_list_parser *rco_list_parser_new(const struct rco_list_handler *handler)
{
    struct rco_list_parser *p = rco_calloc(1, sizeof(*p));
    p->handler = *handler;
    const struct rco_envelope_handler h = {
        .value = on_value, .item = on_item, .end = on_end, .ctx = p, .list_key = "items"};
    rco_envelope_init(&p->envelope, &h);
    return p;
}

void rco_list_parser_free(struct rco_list_parser *p)
{
    if (!p)
        return;
    rco_envelope_release(&p->envelope);
    rco_arena_release(&p->arena);
    free(p);
}

int rco_list_parser_feed(struct rco_list_parser *p, const char *bytes, size_t n,
                         struct rco_error *err)
{
    return rco_envelope_feed(&p->envelope, bytes, n, err);
}

int rco_list_parser_finish(struct rco_list_parser *p, const char **ret_rv,
                           const char **ret_continue, struct rco_error *err)
{
    if (p->envelope.failed || p->envelope.state != RCO_ENVELOPE_END)
        return rco_error_set(err, RCO_EINVALID, "the list ends too early");
    if (!p->envelope.saw_list)
        return rco_error_set(err, RCO_EINVALID, "the answer is not a list: it has no items");
    *ret_rv = rco_str_or_empty(p->meta.resource_version);
    *ret_continue = rco_str_or_empty(p->meta.next);
    return 0;
}
