/* The sound program: no switch exists. */
#include "breaks.h"

bool sim_break_is(enum sim_break b)
{
    (void)b;
    return false;
}

bool sim_break_set(enum sim_break b)
{
    return b == SIM_BREAK_NONE;
}
