#include "verbs.h"

#include "base/str.h"
#include "gather.h"
#include "redraw.h"
#include "run_args.h"

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static int screen(struct rco_cli *cli, struct rco_buf *out, int *ret_code, struct rco_error *err)
{
    const struct rco_render r = rco_gather_render(cli);
    struct rco_api_item item;
    struct rco_explanation x;
    struct rco_facts f;
    const char *name;

    if (rco_cli_connect(cli, err) < 0 || rco_gather_named_run(cli, &name, err) < 0 ||
        rco_gather_run(cli, cli->ns, name, &f, &item, err) < 0)
        return -1;
    rco_gather_engine(cli, &f);
    rco_explain_run(&f, &cli->arena, &x);
    if (rco_cli_wants_json(cli))
        rco_buf_add(out, item.json, item.json_len);
    else
        rco_render_run(&r, &f, &x, out);
    *ret_code = f.run->status.state == RCO_RUN_STATE_FAILED ? RCO_EXIT_NOT_FINE : RCO_EXIT_FINE;
    return 0;
}

static int run(struct rco_cli *cli)
{
    int code = rco_run_args_check(cli);

    if (code)
        return code;
    return rco_redraw(cli, screen);
}

static const struct rco_option options[] = {
    {"spec", 0, RCO_OPTION_NAME, AT(spec), "NAME",
     "the current or newest run of this specification", NULL},
    {"watch", 'w', RCO_OPTION_FLAG, AT(watch), NULL,
     "show again whenever something changed, until interrupted", NULL},
};

static const char *const examples[] = {
    "timeline, plan, what was applied, failure, artifacts",
    "run show shop-1a2b3-v3-b1",
    "the newest run of a specification, with all digests",
    "run show --spec shop -o wide",
    "the whole object",
    "run show shop-1a2b3-v3-b1 -o yaml",
    NULL,
};

const struct rco_verb rco_verb_run_show = {
    .name = "show",
    .args = "[NAME]",
    .summary = "timeline, plan, receipts, failure, artifacts",
    .description = "Shows one run: its timeline, what its plan does, what was applied, why it "
                   "failed, what it stored.\n"
                   "Exit code: 0, or 1 when the run failed.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .max_args = 1,
    .run = run,
};
