#include "verbs.h"

static const struct rco_verb *const verbs[] = {
    &rco_verb_run_list, &rco_verb_run_show, &rco_verb_run_logs, &rco_verb_run_watch, NULL,
};

static const char *const examples[] = {
    "the runs of a specification, newest first",
    "run list --spec shop",
    "what a run did",
    "run show shop-1a2b3-v3-b1",
    "the log of the newest run",
    "run logs --spec shop",
    NULL,
};

const struct rco_verb rco_verb_run = {
    .name = "run",
    .args = "",
    .summary = "runs: list, show, logs, watch",
    .description = "A run is one plan and apply of one version of a specification.",
    .examples = examples,
    .verbs = verbs,
};
