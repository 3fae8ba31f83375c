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

static inline const char *rco_or_text(const char *text, const char *other)
{
    return text ? text : other;
}
static inline const char *rco_or_none(const char *text)
{
    return text ? text : "(none)";
}

#endif
