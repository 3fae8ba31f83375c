/* What run show, logs and watch share: which run is meant. */
#ifndef RCO_CLI_RUN_ARGS_H
#define RCO_CLI_RUN_ARGS_H

#include "cli.h"

/* 0, or the exit code of a usage error: exactly one of NAME and --spec is needed, and NAME must be
 * one. */
int rco_run_args_check(struct rco_cli *cli);

#endif
