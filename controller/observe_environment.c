#include "observe.h"

#include "api/zz_generated_types.h"
#include "decide/environment.h"
#include "world.h"

#include <string.h>

const char *rco_index_key(struct rco_arena *a, const char *ns, const char *name)
{
    size_t n_ns = strlen(rco_str_or_empty(ns)), n_name = strlen(rco_str_or_empty(name));
    char *key = rco_arena_alloc(a, n_ns + n_name + 2);

    memcpy(key, rco_str_or_empty(ns), n_ns);
    key[n_ns] = '/';
    memcpy(key + n_ns + 1, rco_str_or_empty(name), n_name + 1);
    return key;
}

int rco_observe_environment(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                            struct rco_arena *a, void **ret_snapshot, struct rco_error *err)
{
    struct rco_world *world = ctx;
    struct rco_env_observed *s = RCO_NEW(a, struct rco_env_observed);
    const char *in_env = rco_index_key(a, key->ns, key->name);
    char claim[256];
    const char *name;

    (void)err;
    s->env = rco_observer_get(obs, RCO_KIND_ENV, key->ns, key->name, a);
    if (!s->env)
        return 0;
    s->ns = rco_observer_get(obs, RCO_KIND_NAMESPACE, NULL, key->ns, a);
    if (s->env->spec.tenant_id)
        s->tenant = rco_observer_get(obs, RCO_KIND_TENANT, NULL, s->env->spec.tenant_id, a);
    name = rco_env_claim_name(s->env, claim);
    if (name)
        s->claim = rco_observer_get(obs, RCO_KIND_PVC, key->ns, name, a);
    /* Whose they are matters at its end only, and they are many. */
    if (s->env->metadata.deletion)
        s->n_specs = rco_observer_by_index(obs, RCO_KIND_DEPSPEC, RCO_INDEX_ENVIRONMENT, in_env, a,
                                           (const void ***)&s->specs);
    s->n_runs = rco_observer_by_index(obs, RCO_KIND_RUN, RCO_INDEX_ACTIVE, in_env, a,
                                      (const void ***)&s->runs);
    s->outcomes = obs->outcomes;
    s->n_outcomes = obs->n_outcomes;
    s->config = &world->config;
    rco_loop_random(world->loop, s->random, sizeof s->random);
    *ret_snapshot = s;
    return 0;
}
