/* Where the operator's log goes. */
#ifndef RCO_SIM_LOG_SINK_H
#define RCO_SIM_LOG_SINK_H

struct sim;
/* NULL: nowhere. */
void sim_log_to(struct sim *s);

#endif
