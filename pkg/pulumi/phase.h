/* The two operations of a run. */
#ifndef RCO_PULUMI_PHASE_H
#define RCO_PULUMI_PHASE_H

enum rco_phase { RCO_PHASE_NONE, RCO_PHASE_PLAN, RCO_PHASE_APPLY };

/* "plan", "apply" or "". */
const char *rco_phase_name(enum rco_phase phase);
/* The phase of a word; RCO_PHASE_NONE when it is none (or NULL). */
enum rco_phase rco_phase_parse(const char *word);

#endif
