/* Chooses among the diagnostics of an engine the one sentence that says why it failed. */
#ifndef RCO_PULUMI_DIAGNOSTICS_H
#define RCO_PULUMI_DIAGNOSTICS_H

#include "base/arena.h"
#include "pulumi/events.h"

#include <stdbool.h>

/* Cap of the sentence, in bytes. */
#define RCO_DIAGNOSTICS_MAX_SENTENCE 1000

/* Zero it to begin. Texts live in the arena that is given with each event. */
struct rco_diagnostics {
    const char *error;     /* the error that says most so far; may be NULL */
    const char *error_urn; /* the resource that it is about; may be NULL */
    bool plan_violation;   /* an error said that the plan is violated */
    bool program_failed;   /* the program's own code or text is at fault, not a resource */
    const char *told;      /* first "Error: ..." or "panic: ..." that came by stderr */
    bool told_of_program;
    bool more_may_follow; /* the line before was that one: the next may belong to it */
};

/* Takes what a diagnostic or error event says; ephemeral ones are progress and say nothing. After a
 * resource failed (RESOURCE_FAILED), planned steps that never came are no refusal of the plan. */
void rco_diagnostics_event(struct rco_diagnostics *d, const struct rco_engine_event *e,
                           bool resource_failed, struct rco_arena *a);

/* A mandatory policy's MESSAGE about URN (may be NULL). */
void rco_diagnostics_policy(struct rco_diagnostics *d, const char *message, const char *urn,
                            struct rco_arena *a);

/* At the end of the stream: what the language host printed is taken when the engine itself said no
 * more than that it failed. */
void rco_diagnostics_end(struct rco_diagnostics *d, struct rco_arena *a);

#endif
