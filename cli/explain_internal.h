/* What the explain files share: building one explanation. */
#ifndef RCO_CLI_EXPLAIN_INTERNAL_H
#define RCO_CLI_EXPLAIN_INTERNAL_H

#include "advice.h"
#include "explain.h"

struct rco_explainer {
    const struct rco_facts *f;
    struct rco_arena *a;
    struct rco_explanation *out;
};

/* Health, word (constant) and the sentence. */
void rco_explain_set(struct rco_explainer *x, enum rco_health health, const char *word,
                     const char *fmt, ...) RCO_PRINTF(4, 5);
/* One more reason; repeats and more than RCO_EXPLAIN_MAX_WHY are dropped. */
void rco_explain_why(struct rco_explainer *x, const char *fmt, ...) RCO_PRINTF(2, 3);
/* Who must act; the first one said stays. */
void rco_explain_who(struct rco_explainer *x, const char *who);
/* One more command; {spec}, {run}, {env}, {ns} and {flags} are filled in. */
void rco_explain_next(struct rco_explainer *x, const char *template);
/* All of a row; NULL adds nothing. */
void rco_explain_advise(struct rco_explainer *x, const struct rco_advice_row *row);
/* A condition's message, then what its reason means. */
void rco_explain_reason(struct rco_explainer *x, const struct rco_condition *c);

#endif
