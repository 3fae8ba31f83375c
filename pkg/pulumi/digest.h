/* Digests that bind an approval to what will be applied (design 3.7). All are lower-case SHA-256
 * over canonical JSON, so that operator and runner get the same from the same facts. */
#ifndef RCO_PULUMI_DIGEST_H
#define RCO_PULUMI_DIGEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "pulumi/value.h"

#include <stddef.h>
#include <stdint.h>

/* Everything a plan is bound to. Absent texts are NULL and hash as null. */
struct rco_plan_components {
    const char *specification_uid;
    int64_t version;
    const char *commit, *path, *project, *stack;
    const char *backend; /* URL, or "claim:<name>" for state on a PersistentVolumeClaim */
    const char *secrets_provider;
    const char *plan_service_account, *apply_service_account;
    const char *inputs_hash, *workspace_digest, *plan_file_digest, *base_state_digest;
    const char *operations_digest;
    const char *engine_version;
    const char *const *plugins; /* "kind/name@version"; order does not matter */
    size_t n_plugins;
    const char *image_digest;
    const char *const *policy_packs; /* order does not matter */
    size_t n_policy_packs;
    const char *guard; /* Strict, Counts or None */
};

/* planDigest of C. */
void rco_plan_digest(const struct rco_plan_components *c, char out[RCO_SHA256_HEX]);

/* The components the apply pod derives again, in the order in which a difference is named. */
enum rco_plan_component {
    RCO_COMPONENT_NONE, /* no difference */
    RCO_COMPONENT_COMMIT,
    RCO_COMPONENT_PROJECT,
    RCO_COMPONENT_WORKSPACE,
    RCO_COMPONENT_PLAN_FILE,
    RCO_COMPONENT_BASE_STATE,
    RCO_COMPONENT_INPUTS,
    RCO_COMPONENT_ENGINE,
    RCO_COMPONENT_PLUGINS
};

/* First component of those in which WANT (what was approved) and GOT differ. */
enum rco_plan_component rco_plan_first_difference(const struct rco_plan_components *want,
                                                  const struct rco_plan_components *got);
/* Words for people: "the base state". */
const char *rco_plan_component_name(enum rco_plan_component c);

/* One planned step of the engine. */
struct rco_operation {
    const char *urn, *op;
};

/* Over the sorted set of (URN, operation) that change something (see rco_op_changes in events.h);
 * the caller leaves the others out. Repeats count once. OPS is reordered. */
void rco_operations_digest(struct rco_operation *ops, size_t n, char out[RCO_SHA256_HEX]);

/* What an exported state says besides its digest. Texts live in the arena. */
struct rco_state_facts {
    char digest[RCO_SHA256_HEX]; /* baseStateDigest */
    size_t resources;            /* entries in the state */
    size_t pending_operations;
    const struct rco_value *outputs; /* of the root stack resource, or NULL */
    const char *provider_type;       /* "passphrase", "cloud", "service", or NULL without one */
    const char *provider_salt;       /* passphrase: state.salt */
    const char *provider_url;        /* cloud: state.url */
    const char *provider_key;        /* cloud: state.encryptedkey */
};

/* Reads `pulumi stack export`. The digest is over resources, pending operations and secrets
 * provider, never over manifest.time; absent and empty lists are the same. */
RCO_MUST_CHECK int rco_state_read(const char *json, size_t n, struct rco_arena *a,
                                  struct rco_state_facts *ret, struct rco_error *err);

/* One referenced value as it enters inputsHash. */
struct rco_input {
    const char *kind; /* "config", "secret", "secret-env" or "env" */
    const char *key;  /* Pulumi config key or variable name */
    const void *value;
    size_t value_len;
};

/* inputsHash: SHA-256 over the sorted list of (kind, key, HMAC-SHA-256(KEY, value)). Only who holds
 * KEY can guess values from it. INPUTS is reordered. */
void rco_inputs_hash(const void *key, size_t key_len, struct rco_input *inputs, size_t n,
                     char out[RCO_SHA256_HEX]);

#endif
