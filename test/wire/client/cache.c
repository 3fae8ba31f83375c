#include "cache.h"

#include "api/zz_generated_types.h"
#include "base/str.h"
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct wire_cache *c = ctx;

    c->adds += !old_obj;
    c->deletes += !new_obj;
    c->updates += old_obj && new_obj;
}

static void on_failed(void *ctx, enum rco_reflector_state state, const struct rco_error *err)
{
    struct wire_cache *c = ctx;

    c->failed++;
    print_message("    %s: %s\n", rco_reflector_state_name(state), err->msg);
}

void wire_cache_init(struct wire_cache *c, enum rco_list_mode mode, const char *selector)
{
    const struct rco_informer_spec spec = {
        .kind = RCO_KIND_CONFIGMAP, .ns = NS, .label_selector = selector};

    memset(c, 0, sizeof(*c));
    c->intern = rco_intern_new();
    c->gate = rco_list_gate_new(wire.loop);
    const struct rco_informer_options o = {.loop = wire.loop,
                                           .client = wire.client,
                                           .gate = c->gate,
                                           .intern = c->intern,
                                           .mode = mode,
                                           .handler = {.failed = on_failed, .ctx = c}};
    c->informer = rco_informer_new(&spec, &o);
    rco_informer_add_handler(c->informer, on_change, c);
    rco_informer_start(c->informer);
}

void wire_cache_release(struct wire_cache *c)
{
    rco_informer_free(c->informer);
    rco_list_gate_free(c->gate);
    rco_intern_free(c->intern);
}

bool wire_has_synced(void *ctx)
{
    return rco_informer_has_synced(((struct wire_cache *)ctx)->informer);
}

bool wire_has_updates(void *ctx)
{
    const struct wire_cache *c = ctx;

    return c->updates >= c->want;
}

bool wire_has_deletes(void *ctx)
{
    const struct wire_cache *c = ctx;

    return c->deletes >= c->want;
}

bool wire_has_adds(void *ctx)
{
    const struct wire_cache *c = ctx;

    return c->adds >= c->want;
}

bool wire_has_rv(void *ctx)
{
    struct wire_cache *c = ctx;
    int order;

    return rco_rv_compare(rco_store_rv(rco_informer_store(c->informer)), c->want_rv, &order) == 0 &&
           order >= 0;
}

const char *wire_value_of(struct wire_cache *c, const char *name, struct rco_arena *a)
{
    const struct rco_configmap *o = rco_lister_get(rco_informer_store(c->informer), NS, name, a);

    return o ? rco_kv_get(o->data, o->n_data, "k") : NULL;
}
