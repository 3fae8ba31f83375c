/* Conditions and domain events inside a status that is being decided. All memory comes from the
 * plan's arena; what is unchanged keeps its time, so that an unchanged status writes nothing. */
#ifndef RCO_DECIDE_CONDITIONS_H
#define RCO_DECIDE_CONDITIONS_H

#include "api/meta.h"
#include "base/arena.h"
#include "base/cleanup.h"

struct rco_domain_event;

#define RCO_MESSAGE_MAX 1024 /* bytes of a message that the operator writes */
#define RCO_STATUS_EVENTS_MAX 32

/* A list of conditions while it changes. */
struct rco_conditions {
    struct rco_arena *arena;
    struct rco_condition *items;
    size_t n;
    int64_t generation; /* observedGeneration of what is set */
    rco_wall now;
};

/* Starts from a copy of the N conditions OLD. */
struct rco_conditions rco_conditions_begin(struct rco_arena *a, const struct rco_condition *old,
                                           size_t n, int64_t generation, rco_wall now);

/* Sets TYPE to STATUS ("True", "False", "Unknown"). The transition time moves only when the status
 * changes. Ready stands first, others in the order in which they came. */
void rco_conditions_set(struct rco_conditions *c, const char *type, const char *status,
                        const char *reason, const char *message);
/* For conditions that are there only while they are true. */
void rco_conditions_remove(struct rco_conditions *c, const char *type);

/* The condition of TYPE in a list, or NULL. */
const struct rco_condition *rco_condition_find(const struct rco_condition *items, size_t n,
                                               const char *type);
/* Whether TYPE is there with STATUS "True" and REASON (NULL: any). */
bool rco_condition_is_true(const struct rco_condition *items, size_t n, const char *type,
                           const char *reason);

/* Three shapes that every kind has (kstatus): done or waiting for a person; working; failed. */
void rco_conditions_ready(struct rco_conditions *c, const char *reason, const char *message);
void rco_conditions_progressing(struct rco_conditions *c, const char *reason, const char *message);
void rco_conditions_stalled(struct rco_conditions *c, const char *reason, const char *message);

/* Appends an event of TYPE to the list, with the next sequence number; keeps the last 32. */
void rco_events_add(struct rco_arena *a, struct rco_domain_event **items, size_t *n,
                    const char *type, rco_wall now);

/* A text of at most RCO_MESSAGE_MAX bytes in A, cut between UTF-8 characters. */
const char *rco_message(struct rco_arena *a, const char *fmt, ...) RCO_PRINTF(2, 3);
/* S cut to at most MAX bytes between UTF-8 characters, control characters replaced by spaces and what
 * is not UTF-8 by question marks: what is read back from the API server is then the same text. */
const char *rco_message_cut(struct rco_arena *a, const char *s, size_t max);
/* HEAD, TEXT and REST in one; TEXT, which comes from outside, is cut so that all have at most MAX
 * bytes. */
const char *rco_message_fit(struct rco_arena *a, const char *head, const char *text,
                            const char *rest, size_t max);

#endif
