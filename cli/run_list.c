#include "verbs.h"

#include "api/labels.h"
#include "base/str.h"
#include "gather.h"
#include "redraw.h"

#include <stdlib.h>
#include <string.h>

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static int compare_newest(const void *a, const void *b)
{
    const struct rco_meta *x = ((const struct rco_api_item *)a)->object;
    const struct rco_meta *y = ((const struct rco_api_item *)b)->object;

    if (x->creation != y->creation)
        return x->creation < y->creation ? 1 : -1;
    return strcmp(y->name, x->name);
}

/* Whether --state lets RUN through; the words of --state are the API's states in order. */
static bool is_wanted(const struct rco_cli *cli, const struct rco_run *run)
{
    if (!cli->opt->states)
        return true;
    return run->status.state >= RCO_RUN_STATE_PENDING &&
           cli->opt->states >> (run->status.state - RCO_RUN_STATE_PENDING) & 1;
}

static int list(struct rco_cli *cli, struct rco_api_list *out, struct rco_error *err)
{
    rco_autofree char *selector =
        cli->opt->spec ? rco_asprintf("%s=%s", RCO_LABEL_SPECIFICATION, cli->opt->spec) : NULL;
    struct rco_api_query query = {.kind = RCO_KIND_RUN,
                                  .ns = cli->opt->all_namespaces ? NULL : cli->ns,
                                  .label_selector = selector};
    size_t n = 0;

    if (rco_api_list(cli, &query, &cli->arena, out, err) < 0)
        return -1;
    for (size_t i = 0; i < out->n; i++)
        if (is_wanted(cli, out->items[i].object))
            out->items[n++] = out->items[i];
    out->n = n;
    if (n)
        qsort(out->items, n, sizeof(*out->items), compare_newest);
    return 0;
}

static void none(const struct rco_cli *cli, struct rco_buf *out)
{
    rco_buf_adds(out, "No run");
    if (cli->opt->spec)
        rco_buf_addf(out, " of %s", cli->opt->spec);
    if (cli->opt->states)
        rco_buf_adds(out, " in such a state");
    if (cli->opt->all_namespaces)
        rco_buf_adds(out, " in any namespace.\n");
    else
        rco_buf_addf(out, " in namespace %s.\n", cli->ns);
    rco_buf_addf(out, "Next: kubectl runtimecloud status%s\n", cli->flags);
}

static int screen(struct rco_cli *cli, struct rco_buf *out, int *ret_code, struct rco_error *err)
{
    const struct rco_render r = rco_gather_render(cli);
    rco_autoapilist runs = {0};
    const struct rco_run **array;

    if (rco_cli_connect(cli, err) < 0 || list(cli, &runs, err) < 0 ||
        (runs.n == 0 && rco_gather_namespace(cli, err) < 0))
        return -1;
    *ret_code = RCO_EXIT_FINE;
    if (rco_cli_wants_json(cli)) {
        rco_api_list_json(&runs, out);
        return 0;
    }
    if (!runs.n) {
        none(cli, out);
        return 0;
    }
    array = rco_arena_array(&cli->arena, runs.n, sizeof(*array));
    for (size_t i = 0; i < runs.n; i++)
        array[i] = runs.items[i].object;
    rco_render_runs(&r, array, runs.n, out);
    return 0;
}

static int run(struct rco_cli *cli)
{
    return rco_redraw(cli, screen);
}

static const struct rco_option options[] = {
    {"all-namespaces", 'A', RCO_OPTION_FLAG, AT(all_namespaces), NULL, "all namespaces", NULL},
    {"spec", 0, RCO_OPTION_NAME, AT(spec), "NAME", "only runs of this specification", NULL},
    {"state", 0, RCO_OPTION_WORD_SET, AT(states), "STATE[,STATE]", "only runs in these states",
     rco_option_state_words},
    {"watch", 'w', RCO_OPTION_FLAG, AT(watch), NULL,
     "show again whenever something changed, until interrupted", NULL},
};

static const char *const examples[] = {
    "all runs of the namespace, newest first",
    "run list",
    "those of one specification, with reasons and digests",
    "run list --spec shop -o wide",
    "what failed anywhere",
    "run list -A --state Failed,Rejected",
    NULL,
};

const struct rco_verb rco_verb_run_list = {
    .name = "list",
    .args = "",
    .summary = "the runs, newest first",
    .description = "Lists runs, newest first.\nExit code: 0, also when there is none.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .run = run,
};
