/* What the API server says when it refuses: reason, words, details and causes, as the real one does
 * (test/contract asks both). */
#ifndef RCO_SIM_REFUSAL_H
#define RCO_SIM_REFUSAL_H

#include "sim.h"

/* One thing that is wrong, in order. */
struct sim_cause {
    const struct sim_cause *next;
    const char *reason, *field, *message; /* field NULL: of none */
};

struct sim_causes {
    struct sim_cause *first, **tail;
    size_t n;
};

/* Adds a cause; all texts are copied into A. */
void sim_cause_add(struct rco_arena *a, struct sim_causes *causes, const char *reason,
                   const char *field, const char *fmt, ...) RCO_PRINTF(5, 6);

struct sim_answer sim_refuse(struct sim *s, int code, const char *reason, const char *fmt, ...)
    RCO_PRINTF(4, 5);
/* The same about an object, named by the plural of its kind; NAME may be NULL. */
struct sim_answer sim_refuse_of(struct sim *s, enum rco_kind kind, const char *name, int code,
                                const char *reason, const char *fmt, ...) RCO_PRINTF(6, 7);
/* 422, for everything in CAUSES. */
struct sim_answer sim_invalid(struct sim *s, enum rco_kind kind, const char *name,
                              const struct sim_cause *causes);
struct sim_answer sim_not_found(struct sim *s, enum rco_kind kind, const char *name);
/* 409 for a precondition of a delete; names the kind, not its plural. */
struct sim_answer sim_precondition(struct sim *s, const struct sim_version *v, const char *what,
                                   const char *want, const char *got, const char *might);
/* "environments.runtimecloud.io", or "pods"; in A. */
const char *sim_plural_of(struct rco_arena *a, enum rco_kind kind);

/* Metadata that no object of any kind may have (meta.c); adds to CAUSES. OLD may be NULL. */
void sim_check_meta(struct rco_arena *a, const struct rco_value *tree, const struct rco_value *old,
                    struct sim_causes *causes);

#endif
