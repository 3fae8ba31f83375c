/* One plan, carried out. */
#ifndef RCO_SIM_RUN_H
#define RCO_SIM_RUN_H

#include "base/buf.h"
#include "sim.h"

struct sim_result {
    int violations;
    char text[512]; /* the first */
    uint64_t hash;  /* of the trace */
    int writes, changes, gets;
    int64_t engines;
    int64_t virtual_s;
    struct sim_peaks peaks;
};

struct sim_run_options {
    bool verbose;
    int sweeps;                /* quiet periods of ten minutes to check at the end; 0 = 2 */
    const char *reference;     /* end state that a strict workload must come to; NULL = none */
    const char *write_counts;  /* of the reference; NULL = not compared */
    int more_writes;           /* how many more than those one object may get */
    struct rco_buf *dump;      /* gets the end state; NULL = not wanted */
    struct rco_buf *counts;    /* gets the writes to each object; NULL = not wanted */
    struct rco_buf *write_log; /* gets a line a counted write; NULL = not wanted */
};

void sim_run_plan(const struct sim_plan *plan, const struct sim_run_options *options,
                  struct sim_result *ret);

/* A plan that follows from SEED alone: workload, shape of the world and faults. */
void sim_plan_random(uint64_t seed, struct sim_plan *ret);
/* Reads words as sim_plan_write makes them; false and *RET_WHY when one is none. */
bool sim_plan_parse(char *const *words, int n, struct sim_plan *ret, const char **ret_why);

#endif
