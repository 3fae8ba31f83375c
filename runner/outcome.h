/* From what fetch, install and engine have left, and from the event stream, to the receipt. */
#ifndef RCO_RUNNER_OUTCOME_H
#define RCO_RUNNER_OUTCOME_H

#include "facts.h"
#include "pulumi/receipt.h"
#include "runner.h"

struct rco_outcome_input {
    struct rco_fetch_facts fetched;
    struct rco_install_facts installed;
    struct rco_engine_done done;
    struct rco_receipt_builder *builder; /* has taken the whole stream */
};

/* Fills RET but for artifacts. Arrays and texts live in R's arena or in IN. The same input gives
 * the same receipt. */
void rco_outcome_receipt(struct rco_runner *r, const struct rco_outcome_input *in,
                         struct rco_runner_receipt *ret);

/* What stands in place of a result when the engine's container ended without one. */
void rco_outcome_without_result(struct rco_runner *r, struct rco_engine_done *ret);

#endif
