/* An informer of ConfigMaps and what it has told. */
#ifndef RCO_WIRE_CLIENT_CACHE_H
#define RCO_WIRE_CLIENT_CACHE_H

#include "base/arena.h"
#include "runtime/informer.h"

struct wire_cache {
    struct rco_intern *intern;
    struct rco_list_gate *gate;
    struct rco_informer *informer;
    unsigned adds, updates, deletes, failed;
    size_t want;
    const char *want_rv;
};

void wire_cache_init(struct wire_cache *c, enum rco_list_mode mode, const char *selector);
void wire_cache_release(struct wire_cache *c);
/* For wire_wait_for; CTX is a wire_cache, which says how many are wanted. */
bool wire_has_synced(void *ctx);
bool wire_has_updates(void *ctx);
bool wire_has_deletes(void *ctx);
bool wire_has_adds(void *ctx);
/* Whether the store has come to want_rv. */
bool wire_has_rv(void *ctx);
/* data.k of ConfigMap NAME, in A; NULL when it is not there. */
const char *wire_value_of(struct wire_cache *c, const char *name, struct rco_arena *a);

#endif
