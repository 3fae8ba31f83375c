/* What an engine needs and may not find: Secrets that a run refers to, as runner/inputs.c looks for
 * them in its mounts. */
#include "kubelet.h"
#include "stack.h"

#include <string.h>

static bool has_key(struct sim_pod *p, const char *secret, const char *key)
{
    const struct sim_version *v = sim_get(p->sim, RCO_KIND_SECRET, p->ns, secret);

    if (!v)
        return false;
    return !key || rco_value_get(sim_tree_get(v->tree, "data"), key) ||
           rco_value_get(sim_tree_get(v->tree, "stringData"), key);
}

static const char *missing_reference(struct sim_pod *p)
{
    for (size_t i = 0; i < p->job->n_secrets; i++) {
        const struct rco_runner_job_secret *s = &p->job->secrets[i];

        if (!has_key(p, s->secret, s->secret_key))
            return rco_arena_printf(&p->sim->arena,
                                    "missing Secret %s key %s (spec.secretRefs, %s): there is no "
                                    "such Secret in this namespace, or it has no such key",
                                    s->secret, s->secret_key,
                                    rco_str_empty(s->key) ? s->env : s->key);
    }
    return NULL;
}

const char *sim_missing_input(struct sim_pod *p)
{
    const struct rco_runner_job_backend *b = &p->job->backend;
    const char *missing = missing_reference(p);

    if (missing)
        return missing;
    if (!rco_str_empty(b->credentials_secret) && !has_key(p, b->credentials_secret, NULL))
        return rco_arena_printf(
            &p->sim->arena, "missing Secret %s (backend.credentialsSecretRef of the Environment)",
            b->credentials_secret);
    if (!rco_str_empty(b->passphrase_secret) && !has_key(p, b->passphrase_secret, "passphrase"))
        return rco_arena_printf(
            &p->sim->arena,
            "missing Secret %s key passphrase (what protects the state of the Environment)",
            b->passphrase_secret);
    return NULL;
}
