/* The table of everything that runs: kinds watched, reconcilers, triggers. Start reading here. */
#ifndef RCO_CONTROLLER_SETUP_H
#define RCO_CONTROLLER_SETUP_H

#include "runtime/manager.h"
#include "world.h"

#define RCO_RECONCILER_ENVIRONMENT "environment"
#define RCO_RECONCILER_DEPLOYMENT "deployment"
#define RCO_RECONCILER_RUN "run"

#define RCO_SETUP_INFORMERS 12
#define RCO_SETUP_RECONCILERS 3

struct rco_setup_storage {
    struct rco_informer_spec informers[RCO_SETUP_INFORMERS];
    struct rco_reconciler reconcilers[RCO_SETUP_RECONCILERS];
    struct rco_setup setup;
};

/* Fills STORAGE, whose setup member is for rco_manager_new. WORLD is borrowed and becomes the
 * context of all observe functions and triggers. */
void rco_setup_fill(struct rco_setup_storage *storage, struct rco_world *world);

#endif
