#include "verbs.h"

#include "base/str.h"
#include "gather.h"
#include "redraw.h"

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static int show_spec(struct rco_cli *cli, const char *name, struct rco_buf *out, int *ret_code,
                     struct rco_error *err)
{
    const struct rco_render r = rco_gather_render(cli);
    struct rco_explanation x;
    struct rco_facts f;

    if (rco_gather_spec(cli, cli->ns, name, &f, err) < 0)
        return -1;
    rco_gather_engine(cli, &f);
    rco_explain_spec(&f, &cli->arena, &x);
    if (rco_cli_wants_json(cli))
        rco_render_spec_json(&f, &x, out);
    else
        rco_render_spec(&r, &f, &x, out);
    *ret_code = rco_explain_exit(x.health);
    return 0;
}

static int worst(const struct rco_render_row *rows, size_t n)
{
    int code = RCO_EXIT_FINE;

    for (size_t i = 0; i < n; i++)
        if (rco_explain_exit(rows[i].explanation.health))
            code = RCO_EXIT_NOT_FINE;
    return code;
}

static int show_env(struct rco_cli *cli, const char *name, struct rco_buf *out, int *ret_code,
                    struct rco_error *err)
{
    const struct rco_render r = rco_gather_render(cli);
    struct rco_render_row *rows;
    struct rco_explanation x;
    struct rco_facts f;
    size_t n;

    if (rco_gather_env(cli, cli->ns, name, &f, err) < 0 ||
        rco_gather_specs(cli, cli->ns, name, &rows, &n, err) < 0)
        return -1;
    rco_explain_env(&f, &cli->arena, &x);
    if (rco_cli_wants_json(cli))
        rco_render_env_json(&f, &x, rows, n, out);
    else
        rco_render_env(&r, &f, &x, rows, n, out);
    *ret_code = rco_explain_exit(x.health) ? RCO_EXIT_NOT_FINE : worst(rows, n);
    return 0;
}

static int show_all(struct rco_cli *cli, struct rco_buf *out, int *ret_code, struct rco_error *err)
{
    const struct rco_render r = rco_gather_render(cli);
    struct rco_render_row *rows;
    size_t n;

    if (rco_gather_specs(cli, cli->opt->all_namespaces ? NULL : cli->ns, NULL, &rows, &n, err) < 0 ||
        (n == 0 && rco_gather_namespace(cli, err) < 0))
        return -1;
    if (rco_cli_wants_json(cli))
        rco_render_specs_json(rows, n, out);
    else if (n)
        rco_render_specs(&r, rows, n, out);
    else if (cli->opt->all_namespaces)
        rco_buf_adds(out, "No DeploymentSpecification in any namespace.\nNext: kubectl apply -f a "
                          "DeploymentSpecification; "
                          "examples/quickstart has one\n");
    else
        rco_buf_addf(out,
                     "No DeploymentSpecification in namespace %s.\nNext: kubectl runtimecloud "
                     "status -A looks in all "
                     "namespaces; examples/quickstart has a first one\n",
                     cli->ns);
    *ret_code = worst(rows, n);
    return 0;
}

static int screen(struct rco_cli *cli, struct rco_buf *out, int *ret_code, struct rco_error *err)
{
    struct rco_target target;

    if (rco_cli_connect(cli, err) < 0)
        return -1;
    if (!cli->opt->n_args)
        return show_all(cli, out, ret_code, err);
    if (rco_target_parse(cli->opt->args[0], &target, err) < 0)
        return -1;
    if (target.kind == RCO_TARGET_ENV)
        return show_env(cli, target.name, out, ret_code, err);
    return show_spec(cli, target.name, out, ret_code, err);
}

static int run(struct rco_cli *cli)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_target target;

    if (cli->opt->n_args && cli->opt->all_namespaces)
        return rco_cli_usage_error(
            cli, "a name and --all-namespaces do not go together: choose a namespace with -n");
    if (cli->opt->n_args && rco_target_parse(cli->opt->args[0], &target, &err) < 0)
        return rco_cli_usage_error(cli, "%s", err.msg);
    if (cli->opt->n_args && target.kind == RCO_TARGET_RUN)
        return rco_cli_usage_error(
            cli,
            "status is about specifications and environments; a run is shown by \"%s run show %s\"",
            RCO_CLI_PROGRAM, target.name);
    return rco_redraw(cli, screen);
}

static const struct rco_option options[] = {
    {"all-namespaces", 'A', RCO_OPTION_FLAG, AT(all_namespaces), NULL, "all namespaces", NULL},
    {"watch", 'w', RCO_OPTION_FLAG, AT(watch), NULL,
     "show again whenever something changed, until interrupted", NULL},
};

static const char *const examples[] = {
    "all specifications of the namespace",
    "status",
    "one: what is applied, what failed and why, what to do next",
    "status shop",
    "an Environment and everything that deploys to it",
    "status environment/dev",
    "is everything applied? for scripts: exit code 0 or 1",
    "status -A -o json",
    NULL,
};

const struct rco_verb rco_verb_status = {
    .name = "status",
    .args = "[NAME | environment/NAME]",
    .summary = "is it fine, what is applied, what failed and why",
    .description = "Shows on one screen whether a specification is applied, what runs, what failed "
                   "and why, and the next\n"
                   "command. Without a name: a table of all specifications of the namespace.\n"
                   "Exit code: 0 when what is declared is applied, 1 otherwise.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .max_args = 1,
    .run = run,
};
