/* Patterns of messages: literal text with names in it, and the row of advice for who matches. */
#ifndef RCO_CLI_ADVICE_PATTERN_H
#define RCO_CLI_ADVICE_PATTERN_H

#include "advice.h"

#include <stdbool.h>

/* What a message is about; NULL where there is none. */
struct rco_advice_about {
    const struct rco_run *run;
    const struct rco_depspec *spec;
};

struct rco_advice_pattern {
    enum rco_failure_class classes[2]; /* of failures only */
    /* Literal text, with {name} for a name. Letters count without regard to case. */
    const char *text;
    struct rco_advice_row row; /* its word is the reason, where patterns are of a reason */
    /* Whether the names may be used for what it is about; adds those made from them. NULL = always.
     */
    bool (*fits)(const struct rco_advice_about *about, struct rco_arena *a,
                 struct rco_advice_found *found);
};

/* Whether P is in TEXT: then OUT has its row and names, with text in A. Only the first
 * RCO_ADVICE_MAX_TEXT bytes are looked at. */
bool rco_advice_match(const struct rco_advice_pattern *p, const char *text,
                      const struct rco_advice_about *about, struct rco_arena *a,
                      struct rco_advice_found *out);

/* Length of the NAME at S (one of those that patterns may have), or -1 when there is none. */
int64_t rco_advice_name_length(const char *name, const char *s);
/* The value of NAME, or "". */
const char *rco_advice_name(const struct rco_advice_found *found, const char *name);
/* One more name; VALUE is borrowed. More than RCO_ADVICE_MAX_NAMES are dropped. */
void rco_advice_add_name(struct rco_advice_found *found, const char *name, const char *value);

/* For messages of a right that is missing: whether it is one to propose for the account that the
 * run acts as. Adds {target}, {verbs} and {role}. */
bool rco_advice_fits_account(const struct rco_advice_about *about, struct rco_arena *a,
                             struct rco_advice_found *found);
/* The same, and that what it is about is waited for by reading other things. */
bool rco_advice_fits_workload(const struct rco_advice_about *about, struct rco_arena *a,
                              struct rco_advice_found *found);

#endif
