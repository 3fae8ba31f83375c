/* What oracles ask of the stacks. */
#ifndef RCO_SIM_STACK_H
#define RCO_SIM_STACK_H

#include "base/buf.h"
#include "sim.h"

/* Appends a line a stack; returns how many have an engine at the moment. */
size_t sim_stacks_write(const struct sim *s, struct rco_buf *out);
/* Whether the stack named STACK is what COMMIT deploys ("": nothing). */
bool sim_stack_shows(const struct sim *s, const char *stack, const char *commit);
/* Whether an engine runs at the moment of the run, or of a run of the specification, V. */
bool sim_engine_for(struct sim *s, const struct sim_version *v);
/* Engine starts of the run with RUN_UID. */
size_t sim_engines_of_run(const struct sim *s, const char *run_uid);

/* The Secret that the engine of P needs and that is not there, as the runner says it; or NULL. */
struct sim_pod;
const char *sim_missing_input(struct sim_pod *p);

#endif
