/* Builds a receipt from the events of one engine run, and checks one that came from outside. */
#ifndef RCO_PULUMI_RECEIPT_H
#define RCO_PULUMI_RECEIPT_H

#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "pulumi/events.h"

#include <stdbool.h>
#include <stddef.h>

/* Caps. More steps than this are refused: counts and digest would not be complete. */
#define RCO_RECEIPT_MAX_STEPS 200000
#define RCO_RECEIPT_MAX_TYPES 200
#define RCO_RECEIPT_MAX_RESOURCES 20
#define RCO_RECEIPT_MAX_OUTPUTS 4096 /* bytes of names and values */

struct rco_receipt_builder;

/* Nothing was seen yet of PHASE. */
struct rco_receipt_builder *rco_receipt_builder_new(enum rco_engine_phase phase);
void rco_receipt_builder_free(struct rco_receipt_builder *b);

/* Takes one event of the stream, in order. An apply's stream has two parts, the engine's own
 * preview and the update, split by the preview's summary event. */
void rco_receipt_builder_event(struct rco_receipt_builder *b, const struct rco_engine_event *e);

/* What came of the stream so far; texts live as long as B. */
struct rco_receipt_result {
    int64_t adds, changes, deletes, replaces, sames; /* of the phase's own part; apply: done */
    size_t steps_total; /* apply: steps of the preview part that change something */
    size_t steps_done;  /* steps of the current part that ended */
    const char *current_urn;
    bool broken;            /* an event could not be read, or too many: counts are not complete */
    const char *broken_why; /* one sentence */
    bool preview_done, update_done; /* a summary of that part was seen */
    bool preview_ok, update_ok;     /* ... and says succeeded */
    bool touched;                   /* a changing step of the update part began */
    bool policy_violation, resource_failed;
    const char *error, *error_urn; /* first error diagnostic that says something; may be NULL */
    bool plan_violation, program_failed; /* what the error says, see diagnostics.h */
    bool outputs_changed;       /* outputs of the root stack differ between old and new */
    char operations_digest[65]; /* plan: of the preview part; apply: of its preview part too */
};

/* At any time. */
void rco_receipt_builder_result(struct rco_receipt_builder *b, struct rco_receipt_result *ret);

/* Fills counts, types, resources, operationsDigest and outputsChanged of R; arrays and texts live
 * in A. */
void rco_receipt_builder_fill(struct rco_receipt_builder *b, struct rco_arena *a,
                              struct rco_runner_receipt *r);

/* Whether R is one that the run RUN_UID in PHASE may send: right run and phase, digests and commit
 * well formed, counts not negative and not contradicting, result and failure agree. ERR says what
 * is wrong. */
RCO_MUST_CHECK int rco_receipt_check(const struct rco_runner_receipt *r, const char *run_uid,
                                     enum rco_engine_phase phase, struct rco_error *err);

/* "kind/name@version" for each plugin; the array and texts live in A. */
const char **rco_receipt_plugin_texts(const struct rco_plugin *plugins, size_t n,
                                      struct rco_arena *a);

#endif
