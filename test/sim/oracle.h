/* Oracles of the end (oracle.c); those of every change are called from where they happen, see
 * sim.h. */
#ifndef RCO_SIM_ORACLE_H
#define RCO_SIM_ORACLE_H

#include "sim.h"

/* Everything that must hold when nothing happens any more. */
void sim_check_end(struct sim *s);
/* LENGTH more of virtual time: the operator writes nothing. */
void sim_check_quiet(struct sim *s, int64_t length);
/* Appends the end state without times and versions, a line an object, and how often each object was
 * made and removed; sorted. */
void sim_dump(struct sim *s, struct rco_buf *out);

/* Oracles with a clock: begins to look. */
void sim_times_begin(struct sim *s);
/* The lease of the election was written. */
void sim_times_elected(struct sim *s, const struct sim_version *lease);
/* Appends a line an object with the number of the operator's writes to it. */
void sim_write_counts(struct sim *s, struct rco_buf *out);
/* No object got more than ALLOWED writes more than REFERENCE (of sim_write_counts) says. */
void sim_check_writes(struct sim *s, const char *reference, int allowed);

static inline const char *rco_or_text(const char *text, const char *other)
{
    return text ? text : other;
}
static inline const char *rco_or_none(const char *text)
{
    return text ? text : "(none)";
}

#endif
