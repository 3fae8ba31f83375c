#include "verbs.h"

#include "base/str.h"
#include "gather.h"
#include "redraw.h"

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static int gather(struct rco_cli *cli, const struct rco_target *target, struct rco_facts *f,
                  struct rco_explanation *x, struct rco_error *err)
{
    switch (target->kind) {
    case RCO_TARGET_SPEC:
        if (rco_gather_spec(cli, cli->ns, target->name, f, err) < 0)
            return -1;
        rco_gather_engine(cli, f);
        rco_explain_spec(f, &cli->arena, x);
        return 0;
    case RCO_TARGET_ENV:
        if (rco_gather_env(cli, cli->ns, target->name, f, err) < 0)
            return -1;
        rco_explain_env(f, &cli->arena, x);
        return 0;
    case RCO_TARGET_RUN:
        if (rco_gather_run(cli, cli->ns, target->name, f, NULL, err) < 0)
            return -1;
        rco_gather_engine(cli, f);
        rco_explain_run(f, &cli->arena, x);
        return 0;
    }
    return rco_error_set(err, RCO_EINTERNAL, "a kind without an explanation");
}

static int screen(struct rco_cli *cli, struct rco_buf *out, int *ret_code, struct rco_error *err)
{
    static const char *const kinds[] = {[RCO_TARGET_SPEC] = "DeploymentSpecification",
                                        [RCO_TARGET_ENV] = "Environment",
                                        [RCO_TARGET_RUN] = "ProvisioningRun"};
    static const char *const words[] = {
        [RCO_TARGET_SPEC] = "depspec", [RCO_TARGET_ENV] = "environment", [RCO_TARGET_RUN] = "run"};
    const struct rco_render r = rco_gather_render(cli);
    struct rco_explanation x = {0};
    struct rco_target target;
    struct rco_facts f;

    if (rco_target_parse(cli->opt->args[0], &target, err) < 0 || rco_cli_connect(cli, err) < 0 ||
        gather(cli, &target, &f, &x, err) < 0)
        return -1;
    if (rco_cli_wants_json(cli))
        rco_render_why_json(kinds[target.kind],
                            target.kind == RCO_TARGET_SPEC  ? &f.spec->metadata
                            : target.kind == RCO_TARGET_ENV ? &f.env->metadata
                                                            : &f.run->metadata,
                            &x, out);
    else
        rco_render_why(&r, rco_arena_printf(&cli->arena, "%s/%s", words[target.kind], target.name),
                       &x, out);
    *ret_code = rco_explain_exit(x.health);
    return 0;
}

static int run(struct rco_cli *cli)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_target target;

    if (rco_target_parse(cli->opt->args[0], &target, &err) < 0)
        return rco_cli_usage_error(cli, "%s", err.msg);
    return rco_redraw(cli, screen);
}

static const struct rco_option options[] = {
    {"watch", 'w', RCO_OPTION_FLAG, AT(watch), NULL,
     "show again whenever something changed, until interrupted", NULL},
};

static const char *const examples[] = {
    "why is this specification not applied?",
    "why shop",
    "what does the Environment wait for?",
    "why environment/dev",
    "what does this run do, or why did it fail?",
    "why run/shop-1a2b3-v3-b1",
    NULL,
};

const struct rco_verb rco_verb_why = {
    .name = "why",
    .args = "NAME | KIND/NAME",
    .summary = "what is waited for, who must act, which command",
    .description = "Explains the present condition of a specification, an Environment or a run in "
                   "plain words: what is waited\n"
                   "for, who must act, and with which command.\n"
                   "Exit code: 0 when it is fine, 1 otherwise.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
