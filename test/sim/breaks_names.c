#include "breaks.h"

static const struct {
    const char *name, *text;
} table[SIM_BREAKS] = {
    [SIM_BREAK_NONE] = {"none", "nothing is broken"},
    [SIM_BREAK_START_EARLY] = {"start-early", "start is answered before status.engine is written"},
    [SIM_BREAK_CLAIM] = {"claim", "the stack claim is not compared"},
    [SIM_BREAK_RECEIPT_EARLY] = {"receipt-early", "a receipt is answered before it is written"},
    [SIM_BREAK_JOB_EARLY] = {"job-early", "the apply Job is made before Applying is written"},
    [SIM_BREAK_FINALIZER_EARLY] = {"finalizer-early", "a pod is let go while its engine runs"},
    [SIM_BREAK_PRECONDITIONS] = {"preconditions", "writes carry neither uid nor resourceVersion"},
    [SIM_BREAK_EXISTS] = {"exists", "AlreadyExists counts as ours"},
    [SIM_BREAK_GATE] = {"gate", "decisions on caches older than own writes"},
    [SIM_BREAK_NO_FENCING] = {"no-fencing", "a deposed leader goes on writing"},
    [SIM_BREAK_AMBIGUOUS] = {"ambiguous", "an unknown outcome counts as success"},
    [SIM_BREAK_NAME_ONLY] = {"name-only", "runs are recognised by name, not by uid"},
    [SIM_BREAK_POD_PHASE] = {"pod-phase", "an engine has ended when its pod's phase says so"},
    [SIM_BREAK_CLAIM_LAST] = {"claim-last", "the pod is let go before its claim is cleared"},
    [SIM_BREAK_PLAN_UNCHECKED] = {"plan-unchecked", "an apply does not compare the base state"},
    [SIM_BREAK_GONE_IGNORED] = {"gone-ignored", "410 of a watch is taken as an ordinary end"},
    [SIM_BREAK_RV_EARLY] = {"rv-early", "a cache counts as newer than its content"},
    [SIM_BREAK_DEAF] = {"deaf", "a watch may be silent for ever"},
    [SIM_BREAK_LONG_LEASE] = {"long-lease", "the lease of the leader is twice as long"},
    [SIM_BREAK_EVENT_FLOOD] = {"event-flood", "Events about one object are not limited"},
    [SIM_BREAK_HOT_RETRY] = {"hot-retry", "what was refused is tried again at once"},
    [SIM_BREAK_UNHELD] = {"unheld", "runs carry no finalizer"},
    [SIM_BREAK_RELIST] = {"relist", "after a 410 watches go on at a revision that is gone"},
    [SIM_BREAK_SECOND_ATTEMPT] = {"second-attempt", "a run that is over is begun again"},
    [SIM_BREAK_OP_SETTING] = {"op-setting", "resources of the Environment do not reach the run"},
    [SIM_BREAK_OP_UNTOLD] = {"op-untold", "no condition Stalled is ever written"},
    [SIM_BREAK_OP_NULL] = {"op-null", "what has gone from a status is not taken out of it"},
};

const char *sim_break_name(enum sim_break b)
{
    return table[b].name;
}

const char *sim_break_text(enum sim_break b)
{
    return table[b].text;
}
