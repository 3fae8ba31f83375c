#include "observe.h"

#include "api/zz_generated_types.h"
#include "decide/deployment.h"
#include "world.h"

/* The claim of another specification on the stack, when the newest run was refused for it. */
static void observe_blocking(const struct rco_observer *obs, const char *operator_ns,
                             const char *name, struct rco_arena *a, struct rco_depspec_observed *s)
{
    if (rco_str_empty(name))
        return;
    s->blocking_claim = rco_observer_get(obs, RCO_KIND_LEASE, operator_ns, name, a);
    if (s->blocking_claim && s->blocking_claim->spec.holder_identity)
        s->blocking_holder_exists = rco_lister_count(obs->stores[RCO_KIND_DEPSPEC], RCO_INDEX_UID,
                                                     s->blocking_claim->spec.holder_identity) > 0;
}

int rco_observe_deployment(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                           struct rco_arena *a, void **ret_snapshot, struct rco_error *err)
{
    struct rco_world *world = ctx;
    struct rco_depspec_observed *s = RCO_NEW(a, struct rco_depspec_observed);
    const struct rco_depspec *spec;
    const char *in_env;

    (void)err;
    spec = s->spec = rco_observer_get(obs, RCO_KIND_DEPSPEC, key->ns, key->name, a);
    if (!spec)
        return 0;
    in_env = rco_index_key(a, key->ns, spec->spec.environment_id);
    s->ns = rco_observer_get(obs, RCO_KIND_NAMESPACE, NULL, key->ns, a);
    if (spec->spec.tenant_id)
        s->tenant = rco_observer_get(obs, RCO_KIND_TENANT, NULL, spec->spec.tenant_id, a);
    if (spec->spec.environment_id)
        s->env = rco_observer_get(obs, RCO_KIND_ENV, key->ns, spec->spec.environment_id, a);
    s->n_configmaps = rco_observer_by_index(obs, RCO_KIND_CONFIGMAP, RCO_INDEX_ENVIRONMENT, in_env,
                                            a, (const void ***)&s->configmaps);
    s->n_runs =
        rco_observer_by_index(obs, RCO_KIND_RUN, RCO_INDEX_SPECIFICATION,
                              rco_index_key(a, key->ns, key->name), a, (const void ***)&s->runs);
    s->n_claims = rco_observer_by_index(obs, RCO_KIND_LEASE, RCO_INDEX_HOLDER, spec->metadata.uid,
                                        a, (const void ***)&s->claims);
    observe_blocking(obs, world->config.operator_namespace, spec->status.failure.blocked_by, a, s);
    s->outcomes = obs->outcomes;
    s->n_outcomes = obs->n_outcomes;
    s->config = &world->config;
    *ret_snapshot = s;
    return 0;
}
