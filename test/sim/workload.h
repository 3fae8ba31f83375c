/* What people do in a run: scripts of steps, each taken when its condition holds. */
#ifndef RCO_SIM_WORKLOAD_H
#define RCO_SIM_WORKLOAD_H

#include "sim.h"

struct sim_step {
    bool (*when)(struct sim *s, const char *arg);
    const char *when_arg;
    void (*act)(struct sim *s, const char *arg);
    const char *act_arg;
};

struct sim_workload {
    const char *name;
    const char *text;
    const struct sim_step *steps;
    size_t n_steps;
    /* The end depends on nothing but the script: it must equal the reference in every object, and
     * so must the number of creations and removals of each. */
    bool strict;
    /* A good program that must be applied in the end unless a runner was hurt. */
    bool applies;
};

extern const struct sim_workload sim_workloads[];
extern const size_t sim_n_workloads;
const struct sim_workload *sim_workload_find(const char *name);

/* Takes the next step when its condition holds. */
void sim_user_look(struct sim *s);
bool sim_user_is_done(const struct sim *s);

/* The newest run (by version and number) of the specification NAME, or NULL. */
const struct sim_version *sim_newest_run(struct sim *s, const char *name);
/* Whether condition TYPE of V is True. */
bool sim_condition(const struct sim_version *v, const char *type, const char **ret_reason);

#endif
