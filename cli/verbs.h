/* The verbs; main.c lists them. */
#ifndef RCO_CLI_VERBS_H
#define RCO_CLI_VERBS_H

#include "cli.h"

extern const struct rco_verb rco_verb_status;
extern const struct rco_verb rco_verb_run;
extern const struct rco_verb rco_verb_run_list;
extern const struct rco_verb rco_verb_run_show;
extern const struct rco_verb rco_verb_run_logs;
extern const struct rco_verb rco_verb_run_watch;
extern const struct rco_verb rco_verb_why;
extern const struct rco_verb rco_verb_check;
extern const struct rco_verb rco_verb_version;

/* "environment/dev" and the like. */
enum rco_target_kind { RCO_TARGET_SPEC, RCO_TARGET_ENV, RCO_TARGET_RUN };
struct rco_target {
    enum rco_target_kind kind;
    const char *name; /* borrowed from the argument */
};
/* TEXT is NAME (a specification) or KIND/NAME with any name or short name of our kinds. An unknown
 * kind or a name that cannot be one is RCO_EINVALID. Pure. */
RCO_MUST_CHECK int rco_target_parse(const char *text, struct rco_target *out,
                                    struct rco_error *err);

#endif
