/* Bodies of what an Environment owns: the state claim and the generated Secrets. */
#ifndef RCO_DECIDE_ENVIRONMENT_OBJECTS_H
#define RCO_DECIDE_ENVIRONMENT_OBJECTS_H

#include <stddef.h>

struct rco_decide_config;
struct rco_env;
struct rco_plan;

/* The PersistentVolumeClaim NAME, without an owner: it outlives the Environment. */
void rco_env_create_claim(struct rco_plan *plan, const struct rco_env *env,
                          const struct rco_decide_config *config, const char *name);
/* An immutable Secret NAME whose KEY holds N random bytes as hex text. */
void rco_env_create_secret(struct rco_plan *plan, const struct rco_env *env, const char *name,
                           const char *key, const unsigned char *random, size_t n);

#endif
