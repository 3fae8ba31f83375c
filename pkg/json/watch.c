#include "json/stream.h"

#include "json/envelope.h"

#include <string.h>

struct rco_watch_parser {
    struct rco_envelope envelope;
    struct rco_watch_handler handler;
    bool has_type;
    enum rco_watch_type type;
    bool delivered;
    struct rco_buf early; /* an object that came before its type */
};

static enum rco_watch_type parse_type(struct rco_span text)
{
    static const struct {
        const char *word;
        enum rco_watch_type type;
    } words[] = {{"\"ADDED\"", RCO_WATCH_ADDED},
                 {"\"MODIFIED\"", RCO_WATCH_MODIFIED},
                 {"\"DELETED\"", RCO_WATCH_DELETED},
                 {"\"BOOKMARK\"", RCO_WATCH_BOOKMARK},
                 {"\"ERROR\"", RCO_WATCH_ERROR}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++)
        if (strlen(words[i].word) == text.n && memcmp(words[i].word, text.p, text.n) == 0)
            return words[i].type;
    return RCO_WATCH_UNKNOWN;
}

static int deliver(struct rco_watch_parser *p, const char *object, size_t n, struct rco_error *err)
{
    p->delivered = true;
    return p->handler.event(p->handler.ctx, p->type, object, n, err);
}

static int on_value(void *ctx, struct rco_span text, struct rco_error *err)
{
    struct rco_watch_parser *p = ctx;
    if (strcmp(p->envelope.key, "type") == 0) {
        if (p->has_type)
            return rco_error_set(err, RCO_EINVALID, "a watch event has two types");
        p->has_type = true;
        p->type = parse_type(text);
        return 0;
    }
    if (strcmp(p->envelope.key, "object") != 0)
        return 0;
    if (p->delivered || p->early.len)
        return rco_error_set(err, RCO_EINVALID, "a watch event has two objects");
    if (p->has_type)
        return deliver(p, text.p, text.n, err);
    rco_buf_add(&p->early, text.p, text.n);
    return 0;
}

static int on_end(void *ctx, struct rco_error *err)
{
    struct rco_watch_parser *p = ctx;
    int rc = 0;
    if (!p->has_type || (!p->delivered && !p->early.len))
        return rco_error_set(err, RCO_EINVALID, "a watch event lacks its %s",
                             p->has_type ? "object" : "type");
    if (!p->delivered)
        rc = deliver(p, p->early.data, p->early.len, err);
    p->has_type = false;
    p->delivered = false;
    rco_buf_clear(&p->early);
    return rc;
}

struct rco_watch_parser *rco_watch_parser_new(const struct rco_watch_handler *handler)
{
    struct rco_watch_parser *p = rco_calloc(1, sizeof(*p));
    p->handler = *handler;
    const struct rco_envelope_handler h = {
        .value = on_value, .end = on_end, .ctx = p, .large_key = "object", .repeat = true};
    rco_envelope_init(&p->envelope, &h);
    return p;
}

void rco_watch_parser_free(struct rco_watch_parser *p)
{
    if (!p)
        return;
    rco_envelope_release(&p->envelope);
    rco_buf_release(&p->early);
    free(p);
}

int rco_watch_parser_feed(struct rco_watch_parser *p, const char *bytes, size_t n,
                          struct rco_error *err)
{
    return rco_envelope_feed(&p->envelope, bytes, n, err);
}
