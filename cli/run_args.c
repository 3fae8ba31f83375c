#include "run_args.h"

#include "verbs.h"

#include <string.h>

int rco_run_args_check(struct rco_cli *cli)
{
    const struct rco_options *opt = cli->opt;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_target target;

    if (!opt->n_args && !opt->spec)
        return rco_cli_usage_error(
            cli, "which run? give its name, or --spec NAME for the newest one of a specification");
    if (opt->n_args && opt->spec)
        return rco_cli_usage_error(cli, "the name of a run and --spec do not go together");
    if (!opt->n_args)
        return 0;
    if (rco_target_parse(opt->args[0], &target, &err) < 0)
        return rco_cli_usage_error(cli, "%s", err.msg);
    if (strchr(opt->args[0], '/') && target.kind != RCO_TARGET_RUN)
        return rco_cli_usage_error(
            cli, "\"%s\" is not a run; --spec takes the newest run of a specification",
            opt->args[0]);
    return 0;
}
