/* What a failure class or the reason of a condition means for people, and what to do about it. */
#ifndef RCO_CLI_ADVICE_H
#define RCO_CLI_ADVICE_H

#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "text.h"

#include <stddef.h>

#define RCO_ADVICE_MAX_NEXT 6
#define RCO_ADVICE_MAX_NAMES 12  /* names that one message gives, with what is made from them */
#define RCO_ADVICE_MAX_TEXT 4096 /* bytes of a message that are looked at */
#define RCO_ADVICE_MAX_NAME 253  /* bytes of one name in it; a longer one is none */

struct rco_advice_row {
    const char *word;    /* class or reason, as in the API */
    const char *meaning; /* a sentence without a full stop; NULL = the message says it */
    const char *who;     /* who must act; NULL = nobody */
    /* Commands, NULL-terminated when fewer. Templates, as is the meaning: {spec}, {run}, {env},
     * {ns}; {flags} reach the same namespace, {cluster} the same cluster; and what a message named.
     */
    const char *next[RCO_ADVICE_MAX_NEXT];
};

/* A row with the names that a message gave for its templates. */
struct rco_advice_found {
    const struct rco_advice_row *row; /* NULL = no advice */
    struct rco_text_var names[RCO_ADVICE_MAX_NAMES];
    size_t n_names;
};

/* The row of a failure class, or NULL. */
const struct rco_advice_row *rco_advice_class(const char *word);
/* The row of a condition's or a run's reason, or NULL. */
const struct rco_advice_row *rco_advice_reason(const char *word);
/* The tables themselves, for tests and documentation. */
const struct rco_advice_row *rco_advice_classes(size_t *ret_n);
const struct rco_advice_row *rco_advice_reasons(size_t *ret_n);

/* The row for the failure of RUN: that of its class, or a closer one when its message is one that
 * is known. The message is text of others: only characters of names are taken from it, and rights
 * are proposed for no account but the run's own. Names are in A. */
void rco_advice_failure(const struct rco_run *run, struct rco_arena *a,
                        struct rco_advice_found *out);
/* The row for the newest line TEXT of the engine of RUN, when it says what only a person can
 * change; as for a failure, it is text of others. */
void rco_advice_waiting(const struct rco_run *run, const char *text, struct rco_arena *a,
                        struct rco_advice_found *out);
/* The row for a condition's reason, or a closer one when its message is one that is known. SPEC is
 * the specification that it is of, NULL for other kinds; keys for a command are those of it. */
void rco_advice_condition(const struct rco_condition *c, const struct rco_depspec *spec,
                          struct rco_arena *a, struct rco_advice_found *out);
/* The row for what an Event says about a Job that can make no pod. */
void rco_advice_refusal(const char *text, struct rco_arena *a, struct rco_advice_found *out);

#endif
