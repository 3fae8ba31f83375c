/* What a failure class or the reason of a condition means for people, and what to do about it. */
#ifndef RCO_CLI_ADVICE_H
#define RCO_CLI_ADVICE_H

#include <stddef.h>

#define RCO_ADVICE_MAX_NEXT 3

struct rco_advice_row {
    const char *word;    /* class or reason, as in the API */
    const char *meaning; /* a sentence without a full stop; NULL = the message says it */
    const char *who;     /* who must act; NULL = nobody */
    /* Templates with {spec}, {run}, {env}, {ns}, {flags}; NULL-terminated when fewer. */
    const char *next[RCO_ADVICE_MAX_NEXT];
};

/* The row of a failure class, or NULL. */
const struct rco_advice_row *rco_advice_class(const char *word);
/* The row of a failure: that of its class, or a closer one when MESSAGE, which may be NULL, tells
 * more. */
const struct rco_advice_row *rco_advice_failure(const char *word, const char *message);
/* The row of a condition's or a run's reason, or NULL. */
const struct rco_advice_row *rco_advice_reason(const char *word);
/* The tables themselves, for tests and documentation. */
const struct rco_advice_row *rco_advice_classes(size_t *ret_n);
const struct rco_advice_row *rco_advice_reasons(size_t *ret_n);

#endif
