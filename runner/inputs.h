/* The values that a job refers to: read from the mounts, fingerprinted, and known to the mask. Only
 * the engine container has them. */
#ifndef RCO_RUNNER_INPUTS_H
#define RCO_RUNNER_INPUTS_H

#include "base/sha256.h"
#include "proc.h"
#include "pulumi/mask.h"
#include "runner.h"

/* A ConfigMap or Secret holds no more. */
#define RCO_INPUT_MAX_VALUE (1024 * 1024)

struct rco_input_value {
    const char *bytes; /* in the runner's arena, NUL behind */
    size_t len;
};

struct rco_inputs {
    struct rco_input_value *configs; /* one for each job.configs */
    struct rco_input_value *secrets; /* one for each job.secrets */
    char hash[RCO_SHA256_HEX];       /* inputsHash */
    struct rco_mask *mask;           /* every secret value the engine can see */
};

/* Reads all values. A missing one is class Config, "missing Secret NAME key KEY". Fills everything
 * of RET; rco_inputs_release frees the mask also after a failure. */
RCO_MUST_CHECK int rco_inputs_load(struct rco_runner *r, struct rco_inputs *ret,
                                   struct rco_failure *f);
void rco_inputs_release(struct rco_inputs *in);

/* Sets the plain variables of spec.runner.pod.env, which install has too: where packages come from
 * (PIP_INDEX_URL, npm_config_registry, GOPROXY) is said by them. Failures as in rco_inputs_env. */
RCO_MUST_CHECK int rco_pod_env(struct rco_runner *r, struct rco_procenv *env,
                               struct rco_failure *f);

/* Sets the engine's own variables: spec.runner.pod.env, secretRefs with env, backend credentials. A
 * name that the runner sets itself is class Config. */
RCO_MUST_CHECK int rco_inputs_env(struct rco_runner *r, struct rco_inputs *in,
                                  struct rco_procenv *env, struct rco_failure *f);

#endif
