#include "runtime/informer.h"

#include "base/buf.h"

#include <stdlib.h>

struct rco_informer {
    struct rco_store *store;
    struct rco_reflector *reflector;
};

struct rco_informer *rco_informer_new(const struct rco_informer_spec *spec,
                                      const struct rco_informer_options *options)
{
    struct rco_informer *i = rco_calloc(1, sizeof(*i));
    struct rco_reflector_options r = {
        .loop = options->loop,
        .client = options->client,
        .gate = options->gate,
        .scope = {.kind = spec->kind,
                  .ns = spec->ns,
                  .label_selector = spec->label_selector,
                  .field_selector = spec->field_selector},
        .mode = options->mode,
        .handler = options->handler,
    };

    i->store = rco_store_new(spec->kind, options->intern);
    if (spec->compact)
        rco_store_set_compact(i->store, spec->compact);
    for (size_t n = 0; n < spec->n_indexes; n++)
        rco_store_add_index(i->store, &spec->indexes[n]);
    r.store = i->store;
    i->reflector = rco_reflector_new(&r);
    return i;
}

void rco_informer_free(struct rco_informer *i)
{
    if (!i)
        return;
    rco_reflector_free(i->reflector);
    rco_store_free(i->store);
    free(i);
}

void rco_informer_add_handler(struct rco_informer *i, rco_store_fn fn, void *ctx)
{
    rco_store_add_handler(i->store, fn, ctx);
}

void rco_informer_start(struct rco_informer *i)
{
    rco_reflector_start(i->reflector);
}

void rco_informer_stop(struct rco_informer *i)
{
    rco_reflector_stop(i->reflector);
}

bool rco_informer_has_synced(const struct rco_informer *i)
{
    return rco_reflector_has_synced(i->reflector);
}

struct rco_store *rco_informer_store(struct rco_informer *i)
{
    return i->store;
}

struct rco_reflector *rco_informer_reflector(struct rco_informer *i)
{
    return i->reflector;
}
