/* What the explain files share: building one explanation. */
#ifndef RCO_CLI_EXPLAIN_INTERNAL_H
#define RCO_CLI_EXPLAIN_INTERNAL_H

#include "advice.h"
#include "explain.h"

struct rco_explainer {
    const struct rco_facts *f;
    struct rco_arena *a;
    struct rco_explanation *out;
    const struct rco_text_var *names; /* further ones for the templates of a row */
    size_t n_names;
};

/* Health, word (constant) and the sentence. */
void rco_explain_set(struct rco_explainer *x, enum rco_health health, const char *word,
                     const char *fmt, ...) RCO_PRINTF(4, 5);
/* One more reason; repeats and more than RCO_EXPLAIN_MAX_WHY are dropped. */
void rco_explain_why(struct rco_explainer *x, const char *fmt, ...) RCO_PRINTF(2, 3);
/* Who must act; the first one said stays. */
void rco_explain_who(struct rco_explainer *x, const char *who);
/* One more command; {spec}, {run}, {env}, {ns}, {flags} and {cluster} are filled in. */
void rco_explain_next(struct rco_explainer *x, const char *template);
/* All of a row; NULL adds nothing. */
void rco_explain_advise(struct rco_explainer *x, const struct rco_advice_row *row);
/* The same with the names that a message gave. */
void rco_explain_advise_found(struct rco_explainer *x, const struct rco_advice_found *found);
/* Why the failure of RUN happened beyond its message, and what to do. */
void rco_explain_failure(struct rco_explainer *x, const struct rco_run *run);
/* What the namespace has against the pods of RUN's Job. Whether anything is known. */
bool rco_explain_refusal(struct rco_explainer *x, const struct rco_run *run);
/* The service accounts that do not exist. */
void rco_explain_accounts(struct rco_explainer *x);
/* Who cancelled RUN, where that is why it ended and its failure does not say so itself. */
void rco_explain_cancelled(struct rco_explainer *x, const struct rco_run *run);
/* Why, who and next of another explanation, after those that there are. */
void rco_explain_take(struct rco_explainer *x, const struct rco_explanation *from);
/* What the reason of a condition means and asks for, or its message, where that is known. */
void rco_explain_condition_advice(struct rco_explainer *x, const struct rco_condition *c);
/* A condition's message, then what its reason means. */
void rco_explain_reason(struct rco_explainer *x, const struct rco_condition *c);

#endif
