/* (namespace, name): what queues carry and stores are keyed by. */
#ifndef RCO_RUNTIME_KEY_H
#define RCO_RUNTIME_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct rco_key {
    const char *ns; /* "" = cluster scope or a singleton; never NULL */
    const char *name;
};

/* NS may be NULL. The strings are borrowed. */
struct rco_key rco_key_of(const char *ns, const char *name);
uint64_t rco_key_hash(const struct rco_key *k);

#endif
