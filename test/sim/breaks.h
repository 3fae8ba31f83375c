/* Switches that break one rule of the protocol each, so that it can be proved that the campaign
 * finds it. In the sound program sim_break_is is always false and nothing is wrapped
 * (breaks_off.c). */
#ifndef RCO_SIM_BREAKS_H
#define RCO_SIM_BREAKS_H

#include <stdbool.h>

enum sim_break {
    SIM_BREAK_NONE,
    SIM_BREAK_START_EARLY,     /* start is answered before status.engine is written */
    SIM_BREAK_CLAIM,           /* the stack claim is not compared */
    SIM_BREAK_RECEIPT_EARLY,   /* a receipt is answered before it is written */
    SIM_BREAK_JOB_EARLY,       /* the apply Job is made before Applying is written */
    SIM_BREAK_FINALIZER_EARLY, /* the pod's finalizer goes while its engine runs */
    SIM_BREAK_PRECONDITIONS,   /* writes carry neither uid nor resourceVersion */
    SIM_BREAK_EXISTS,          /* AlreadyExists counts as ours */
    SIM_BREAK_GATE,            /* decisions on caches older than own writes */
    SIM_BREAK_NO_FENCING,      /* a deposed leader goes on writing */
    SIM_BREAK_AMBIGUOUS,       /* an unknown outcome counts as success */
    SIM_BREAK_NAME_ONLY,       /* runs and specifications are told by name, not by uid */
    SIM_BREAK_POD_PHASE,       /* an engine has ended when its pod's phase says so */
    SIM_BREAK_CLAIM_LAST,      /* the pod is let go before its claim is cleared */
    SIM_BREAK_PLAN_UNCHECKED,  /* an apply does not compare the base state */
    SIM_BREAK_GONE_IGNORED,    /* 410 of a watch is taken as an ordinary end */
    SIM_BREAK_RV_EARLY,        /* a cache counts as newer than its content */
    SIM_BREAK_DEAF,            /* a watch may be silent for ever */
    SIM_BREAK_LONG_LEASE,      /* the lease of the leader is twice as long */
    SIM_BREAK_EVENT_FLOOD,     /* Events about one object are not limited */
    SIM_BREAK_HOT_RETRY,       /* what was refused is tried again at once */
    SIM_BREAK_UNHELD,          /* runs carry no finalizer */
    SIM_BREAK_RELIST,          /* after a 410 watches go on at a revision that is long gone */
    SIM_BREAK_SECOND_ATTEMPT,  /* a run that is over is begun again */
    /* found by operations; their names begin with op- */
    SIM_BREAK_OP_SETTING, /* resources of the Environment do not reach the run */
    SIM_BREAK_OP_UNTOLD,  /* nobody is told that something stands still */
    SIM_BREAK_OP_NULL,    /* what has gone from a status is not taken out of it */
    SIM_BREAKS
};

const char *sim_break_name(enum sim_break b);
const char *sim_break_text(enum sim_break b);
bool sim_break_is(enum sim_break b);
/* Switches B on; false in the sound program. */
bool sim_break_set(enum sim_break b);

#endif
