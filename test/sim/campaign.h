/* Sets of plans. Each prints what it found, with the command that replays it, and returns 0 when
 * that was nothing. */
#ifndef RCO_SIM_CAMPAIGN_H
#define RCO_SIM_CAMPAIGN_H

#include <stdint.h>

/* Every workload twice without faults (end states must agree), then with each planned fault; at
 * most PER_WORKLOAD plans of one (0 = all). */
int sim_campaign_plans(int per_workload);
int sim_campaign_seeds(uint64_t from, int count);
/* Plans and seeds until the first violation; 0 when there was one. */
int sim_campaign_hunt(int seeds);
int sim_campaign_soak(double hours, uint64_t from);

#endif
