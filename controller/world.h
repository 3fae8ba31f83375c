/* What the observe functions and triggers of all reconcilers share: where facts come from besides
 * the informer caches, and the caches themselves for triggers that look something up. */
#ifndef RCO_CONTROLLER_WORLD_H
#define RCO_CONTROLLER_WORLD_H

#include "api/kinds.h"
#include "decide/common.h"
#include "loop/loop.h"

struct rco_mailbox;
struct rco_store;

struct rco_world {
    struct rco_loop *loop;
    struct rco_decide_config config; /* gateway_ca changes when the certificate is renewed */
    struct rco_mailbox *mailbox;     /* what runners said and nobody has answered yet */
    const struct rco_store *stores[RCO_KIND_COUNT]; /* set once the manager exists */
};

#endif
