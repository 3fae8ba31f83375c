/* What one container leaves for the next ones, as small JSON files in directories that those can
 * only read; and what the engine leaves for report. Whoever reads them trusts nothing beyond their
 * form. */
#ifndef RCO_RUNNER_FACTS_H
#define RCO_RUNNER_FACTS_H

#include "runner.h"

#include <stdint.h>

#define RCO_FACTS_MAX (256 * 1024)

/* ROOT/fetch/facts */
struct rco_fetch_facts {
    const char *commit, *project, *runtime;
    const char *settings_dir; /* stackConfigDir of Pulumi.yaml, "" = beside it */
    int64_t commit_time;      /* seconds */
};

/* ROOT/install/facts; the short manifest stands beside it in ROOT/install/manifest. */
struct rco_install_facts {
    const char *workspace_digest;
    int64_t files;
};

/* Written whole or not at all. What is read is checked, and its texts live in the arena of R. */
RCO_MUST_CHECK int rco_fetch_facts_write(struct rco_runner *r, const struct rco_fetch_facts *f,
                                         struct rco_error *err);
RCO_MUST_CHECK int rco_fetch_facts_read(struct rco_runner *r, struct rco_fetch_facts *ret,
                                        struct rco_error *err);
RCO_MUST_CHECK int rco_install_facts_write(struct rco_runner *r, const struct rco_install_facts *f,
                                           struct rco_error *err);
RCO_MUST_CHECK int rco_install_facts_read(struct rco_runner *r, struct rco_install_facts *ret,
                                          struct rco_error *err);

/* ROOT/stream/done: what became of the engine, written by its wrapper. Absent texts are NULL. */
struct rco_engine_done {
    bool started;                 /* Pulumi was started for the operation itself */
    bool ok;                      /* its exit code was 0 and nothing else failed */
    enum rco_failure_class class; /* when not ok */
    const char *message, *urn;
    bool by_stream; /* class and message may be made better from the event stream */
    int64_t exit_code, signal;
    bool timed_out, cancelled;
    bool output_cut; /* lines of programs were left out of the stream */
    bool events_cut; /* events were left out: counts are not complete */
    const char *engine_version, *inputs_hash, *base_state_digest, *state_digest;
    const char *plan_file_digest; /* of the bundle */
    int64_t pending_operations;
    bool outputs_changed;
    struct rco_plugin *plugins;
    size_t n_plugins;
    struct rco_kv *outputs; /* those of exportOutputs, masked */
    size_t n_outputs;
    int64_t started_at, finished_at; /* microseconds, wall clock */
};

/* Written whole or not at all. */
RCO_MUST_CHECK int rco_engine_done_write(struct rco_runner *r, const struct rco_engine_done *d,
                                         struct rco_error *err);
/* RCO_ENOTFOUND while there is none. */
RCO_MUST_CHECK int rco_engine_done_read(struct rco_runner *r, struct rco_engine_done *ret,
                                        struct rco_error *err);

#endif
