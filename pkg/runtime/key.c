#include "runtime/key.h"

#include "base/map.h"

#include <string.h>

struct rco_key rco_key_of(const char *ns, const char *name)
{
    return (struct rco_key){.ns = ns ? ns : "", .name = name ? name : ""};
}

uint64_t rco_key_hash(const struct rco_key *k)
{
    return rco_hash(k->name, strlen(k->name), rco_hash(k->ns, strlen(k->ns), 0));
}
