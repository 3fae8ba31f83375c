/* The operation itself: Pulumi as our child, its output on the way to files, one SIGTERM when it
 * has to end. */
#ifndef RCO_RUNNER_SUPERVISE_H
#define RCO_RUNNER_SUPERVISE_H

#include "pulumi.h"

/* Before the end of the pod's grace Pulumi is killed, so that its state is exported and reported.
 */
#define RCO_KILL_BEFORE_END_S 120

struct rco_supervised {
    int exit_code; /* -1 when ended by a signal */
    int signal;
    bool timed_out, cancelled, killed;
    bool text_cut, events_cut;
    const char *error; /* first error line of stderr, masked; NULL when there is none */
};

/* Runs `pulumi ARGV...` to its end, output to ROOT/stream/NAME and ROOT/stream/stderr. Ends it with
 * one SIGTERM on SIGTERM to us, on ROOT/control/cancel, or when the job's timeout is over; kills it
 * and all it has started when it then takes too long. As PID 1 nothing of it is left when this
 * returns. */
RCO_MUST_CHECK int rco_supervise(struct rco_engine *e, const struct rco_argv *argv,
                                 const char *name, struct rco_supervised *ret,
                                 struct rco_failure *f);

/* Whether the pod was asked to end, or report asks to cancel. */
bool rco_stop_requested(struct rco_engine *e);

/* Ends every other process of this container and waits for all of them; only as PID 1. */
void rco_reap_all(void);

#endif
