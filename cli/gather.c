#include "gather.h"

#include "advice.h"
#include "api/labels.h"
#include "base/str.h"
#include "cluster.h"
#include "logs.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CURRENT_RUNS 50 /* of a table: further ones are shown by name only */

struct rco_render rco_gather_render(const struct rco_cli *cli)
{
    return (struct rco_render){
        .style = &cli->style,
        .now = rco_cli_now(),
        .detail = cli->opt->output == RCO_OUTPUT_WIDE ? RCO_DETAIL_WIDE : RCO_DETAIL_NORMAL,
        .scope = cli->opt->all_namespaces ? RCO_SHOW_ALL_NAMESPACES : RCO_SHOW_ONE_NAMESPACE,
    };
}

static struct rco_facts new_facts(const struct rco_cli *cli)
{
    return (struct rco_facts){
        .now = rco_cli_now(), .flags = cli->flags, .cluster = cli->cluster_flags};
}

/* A neighbour: NULL when it is missing, forbidden or unreadable. */
static const void *try_get(struct rco_cli *cli, enum rco_kind kind, const char *ns,
                           const char *name, bool *ret_missing)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_api_item item;

    if (rco_str_empty(name))
        return NULL;
    if (rco_api_get(cli, kind, ns, name, &cli->arena, &item, &err) == 0)
        return item.object;
    if (ret_missing)
        *ret_missing = err.code == RCO_ENOTFOUND;
    return NULL;
}

static int compare_newest(const void *a, const void *b)
{
    const struct rco_meta *x = ((const struct rco_api_item *)a)->object;
    const struct rco_meta *y = ((const struct rco_api_item *)b)->object;

    if (x->creation != y->creation)
        return x->creation < y->creation ? 1 : -1;
    return strcmp(y->name, x->name);
}

static int list_runs(struct rco_cli *cli, const char *ns, const char *spec,
                     struct rco_api_list *out, struct rco_error *err)
{
    rco_autofree char *selector = rco_asprintf("%s=%s", RCO_LABEL_SPECIFICATION, spec);
    struct rco_api_query query = {.kind = RCO_KIND_RUN, .ns = ns, .label_selector = selector};

    if (rco_api_list(cli, &query, &cli->arena, out, err) < 0)
        return -1;
    if (out->n)
        qsort(out->items, out->n, sizeof(*out->items), compare_newest);
    return 0;
}

/* --- why there is no pod ----------------------------------------------------------------------
 */

/* The newest Warning about the Job of RUN's engine. */
static void gather_job_trouble(struct rco_cli *cli, const struct rco_run *run, struct rco_facts *f)
{
    const struct rco_run_status *s = &run->status;
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist list = {0};
    const struct rco_event *newest = NULL;

    if (!s->has_engine || rco_str_empty(s->engine.job_name))
        return;
    rco_autofree char *selector =
        rco_asprintf("regarding.kind=Job,regarding.name=%s,type=Warning", s->engine.job_name);
    struct rco_api_query query = {
        .kind = RCO_KIND_EVENT, .ns = run->metadata.ns, .field_selector = selector};
    if (rco_api_list(cli, &query, &cli->arena, &list, &ignored) < 0)
        return;
    for (size_t i = 0; i < list.n; i++) {
        const struct rco_event *e = list.items[i].object;

        if (!newest || e->metadata.creation >= newest->metadata.creation)
            newest = e;
    }
    f->job_trouble = newest ? newest->note : NULL;
}

/* With the caller's own rights: a refusal says nothing. */
static bool is_missing(struct rco_cli *cli, const char *path)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_view_bare object = {0};

    return rco_api_call(cli, path, NULL, "look whether it exists", &rco_view_bare_schema,
                        &cli->arena, &object, &err) < 0 &&
           err.code == RCO_ENOTFOUND;
}

/* The operator itself has no right to look for accounts. */
static bool is_account_missing(struct rco_cli *cli, const char *ns, const char *name)
{
    rco_autofree char *path = rco_asprintf("/api/v1/namespaces/%s/serviceaccounts/%s", ns, name);

    return rco_is_dns_subdomain(ns) && rco_is_dns_subdomain(name) && is_missing(cli, path);
}

int rco_gather_namespace(struct rco_cli *cli, struct rco_error *err)
{
    rco_autofree char *path = rco_asprintf("/api/v1/namespaces/%s", cli->ns);

    if (cli->opt->all_namespaces || !rco_is_dns_subdomain(cli->ns) || !is_missing(cli, path))
        return 0;
    return rco_error_set(err, RCO_ENOTFOUND,
                         "there is no namespace %s; 'kubectl get namespaces' lists those there are",
                         cli->ns);
}

/* The default account is Kubernetes' own to make. */
static void gather_accounts(struct rco_cli *cli, const char *ns, const char *plan,
                            const char *apply, struct rco_facts *f)
{
    const char *names[RCO_EXPLAIN_ACCOUNTS] = {plan, rco_streq(plan, apply) ? NULL : apply};

    f->n_no_account = 0;
    for (size_t i = 0; i < RCO_EXPLAIN_ACCOUNTS; i++)
        if (!rco_str_empty(names[i]) && !rco_streq(names[i], "default") &&
            is_account_missing(cli, ns, names[i]))
            f->no_account[f->n_no_account++] = names[i];
}

static void gather_refusal(struct rco_cli *cli, const struct rco_run *run, struct rco_facts *f)
{
    const struct rco_resolved *s = &run->spec.snapshot;

    gather_job_trouble(cli, run, f);
    gather_accounts(cli, run->metadata.ns, s->plan_service_account_name,
                    s->apply_service_account_name, f);
}

static bool was_refused(const struct rco_run *run)
{
    return run && run->status.state == RCO_RUN_STATE_FAILED &&
           rco_streq(run->status.reason, RCO_EXPLAIN_POD_REFUSED);
}

/* Whether it is for its pod that RUN waits. */
static bool wants_pod(const struct rco_run *run)
{
    return run->status.state == RCO_RUN_STATE_PLANNING ||
           run->status.state == RCO_RUN_STATE_APPLYING;
}

/* The pods of F->run's present phase, or else what stands in their way; forbidden or none: F has
 * none. */
static void gather_pods(struct rco_cli *cli, struct rco_facts *f)
{
    rco_autofree char *selector =
        rco_asprintf("%s=%s", RCO_LABEL_RUN_UID, rco_str_or_empty(f->run->metadata.uid));
    struct rco_api_query query = {
        .kind = RCO_KIND_POD, .ns = f->run->metadata.ns, .label_selector = selector};
    const char *phase = f->run->status.state == RCO_RUN_STATE_APPLYING ? "apply" : "plan";
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist list = {0};
    const struct rco_pod **pods;

    if (was_refused(f->run))
        gather_refusal(cli, f->run, f);
    if (rco_run_state_is_final(f->run->status.state) ||
        rco_api_list(cli, &query, &cli->arena, &list, &ignored) < 0)
        return;
    pods = rco_arena_array(&cli->arena, list.n + 1, sizeof(*pods));
    for (size_t i = 0; i < list.n; i++) {
        const struct rco_pod *pod = list.items[i].object;

        if (rco_streq(rco_meta_label(&pod->metadata, RCO_LABEL_PHASE), phase))
            pods[f->n_pods++] = pod;
    }
    f->pods = pods;
    if (!f->n_pods && wants_pod(f->run) && !rco_explain_engine_works(f->run))
        gather_refusal(cli, f->run, f);
}

/* --- what the engine does ---------------------------------------------------------------------
 */

const char *rco_gather_user(struct rco_cli *cli)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    const char *name;

    if (rco_cluster_whoami(cli, &name, &ignored) < 0 || rco_str_empty(name))
        return NULL;
    return name;
}

void rco_gather_engine(struct rco_cli *cli, struct rco_facts *f)
{
    struct rco_advice_found found;

    if (!f->run || !rco_explain_engine_works(f->run))
        return;
    for (size_t i = 0; i < f->n_pods && !f->engine_says; i++)
        if (rco_streq(f->pods[i]->metadata.name, f->run->status.engine.pod_name))
            f->engine_says = rco_logs_last_line(cli, f->pods[i]->metadata.ns,
                                                f->pods[i]->metadata.name, RCO_CONTAINER_REPORT);
    rco_advice_waiting(f->run, f->engine_says, &cli->arena, &found);
    if (found.row || (f->spec && f->spec->metadata.deletion) ||
        f->now - f->run->status.engine.started_at > RCO_EXPLAIN_LONG_US)
        f->user = rco_gather_user(cli);
}

/* A run that had nothing to change has no outputs of its own: those of the apply before it stand.
 */
static void gather_outputs(struct rco_cli *cli, struct rco_facts *f)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist runs = {0};

    if (!f->applied || f->applied->status.apply_receipt.result != RCO_APPLY_RESULT_NO_CHANGES ||
        f->applied->status.apply_receipt.n_outputs || !f->spec->spec.n_export_outputs ||
        list_runs(cli, f->spec->metadata.ns, f->spec->metadata.name, &runs, &ignored) < 0)
        return;
    for (size_t i = 0; i < runs.n && !f->outputs_of; i++) {
        const struct rco_run *run = runs.items[i].object;

        if (run->status.state == RCO_RUN_STATE_APPLIED && run->status.apply_receipt.n_outputs &&
            rco_streq(run->spec.specification_ref.uid, f->spec->metadata.uid))
            f->outputs_of = run;
    }
}

static void gather_runs(struct rco_cli *cli, struct rco_facts *f)
{
    const struct rco_depspec_status *s = &f->spec->status;
    const char *ns = f->spec->metadata.ns;

    if (s->has_current_run_ref)
        f->run = try_get(cli, RCO_KIND_RUN, ns, s->current_run_ref.name, NULL);
    if (s->has_last_run)
        f->last = try_get(cli, RCO_KIND_RUN, ns, s->last_run.name, NULL);
    if (s->has_applied_run_ref && s->has_last_run &&
        rco_streq(s->applied_run_ref.name, s->last_run.name))
        f->applied = f->last;
    else if (s->has_applied_run_ref)
        f->applied = try_get(cli, RCO_KIND_RUN, ns, s->applied_run_ref.name, NULL);
    gather_outputs(cli, f);
    if (f->run)
        gather_pods(cli, f);
    else if (was_refused(f->last))
        gather_refusal(cli, f->last, f);
}

/* A specification that was deleted leaves its runs. */
static int explain_gone(struct rco_cli *cli, const char *ns, const char *name,
                        struct rco_error *err)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist runs = {0};

    if (err->code != RCO_ENOTFOUND || list_runs(cli, ns, name, &runs, &ignored) < 0 || !runs.n)
        return -1;
    return rco_error_set(err, RCO_ENOTFOUND,
                         "there is no DeploymentSpecification \"%s\" in namespace %s any more, and "
                         "what it deployed stays; %zu of its runs are left: kubectl runtimecloud "
                         "run list --spec %s%s",
                         name, ns, runs.n, name, cli->flags);
}

int rco_gather_spec(struct rco_cli *cli, const char *ns, const char *name, struct rco_facts *out,
                    struct rco_error *err)
{
    struct rco_api_item item;

    *out = new_facts(cli);
    if (rco_api_get(cli, RCO_KIND_DEPSPEC, ns, name, &cli->arena, &item, err) < 0)
        return explain_gone(cli, ns, name, err);
    out->spec = item.object;
    out->env = try_get(cli, RCO_KIND_ENV, ns, out->spec->spec.environment_id, &out->env_missing);
    gather_runs(cli, out);
    return 0;
}

int rco_gather_env(struct rco_cli *cli, const char *ns, const char *name, struct rco_facts *out,
                   struct rco_error *err)
{
    struct rco_api_item item;

    *out = new_facts(cli);
    if (rco_api_get(cli, RCO_KIND_ENV, ns, name, &cli->arena, &item, err) < 0)
        return -1;
    out->env = item.object;
    if (out->env->spec.has_runner)
        gather_accounts(cli, ns, out->env->spec.runner.plan_service_account_name,
                        out->env->spec.runner.apply_service_account_name, out);
    if (out->env->status.has_state_claim)
        out->claim = try_get(cli, RCO_KIND_PVC, ns, out->env->status.state_claim.name, NULL);
    return 0;
}

/* A specification's name where a run's was meant is the likeliest slip. */
static int explain_wrong_kind(struct rco_cli *cli, const char *ns, const char *name,
                              struct rco_error *err)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist runs = {0};

    if (err->code != RCO_ENOTFOUND || !try_get(cli, RCO_KIND_DEPSPEC, ns, name, NULL))
        return -1;
    if (list_runs(cli, ns, name, &runs, &ignored) < 0 || !runs.n)
        return rco_error_set(err, RCO_ENOTFOUND,
                             "\"%s\" is a DeploymentSpecification, and it has no run yet", name);
    return rco_error_set(
        err, RCO_ENOTFOUND,
        "there is no run \"%s\"; that is a DeploymentSpecification, and its newest run is %s "
        "(--spec %s takes it)",
        name, ((struct rco_meta *)runs.items[0].object)->name, name);
}

int rco_gather_run(struct rco_cli *cli, const char *ns, const char *name, struct rco_facts *out,
                   struct rco_api_item *item, struct rco_error *err)
{
    struct rco_api_item got;

    *out = new_facts(cli);
    if (rco_api_get(cli, RCO_KIND_RUN, ns, name, &cli->arena, &got, err) < 0)
        return explain_wrong_kind(cli, ns, name, err);
    out->run = got.object;
    if (item)
        *item = got;
    gather_pods(cli, out);
    return 0;
}

int rco_gather_named_run(struct rco_cli *cli, const char **ret_name, struct rco_error *err)
{
    const struct rco_options *opt = cli->opt;
    struct rco_facts f;
    rco_autoapilist runs = {0};

    if (opt->n_args) {
        const char *slash = strchr(opt->args[0], '/');

        *ret_name = slash ? slash + 1 : opt->args[0];
        return 0;
    }
    if (rco_gather_spec(cli, cli->ns, opt->spec, &f, err) < 0 ||
        list_runs(cli, cli->ns, opt->spec, &runs, err) < 0)
        return -1;
    if (f.run)
        *ret_name = f.run->metadata.name;
    else if (runs.n)
        *ret_name = ((struct rco_meta *)runs.items[0].object)->name;
    else
        return rco_error_set(
            err, RCO_ENOTFOUND,
            "DeploymentSpecification %s has no run yet; 'kubectl runtimecloud why %s%s' says why",
            opt->spec, opt->spec, cli->flags);
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct rco_meta *x = &((const struct rco_render_row *)a)->facts.spec->metadata;
    const struct rco_meta *y = &((const struct rco_render_row *)b)->facts.spec->metadata;
    int by_ns = strcmp(rco_str_or_empty(x->ns), rco_str_or_empty(y->ns));

    return by_ns ? by_ns : strcmp(x->name, y->name);
}

static const struct rco_env *find_env(const struct rco_api_list *envs, const struct rco_depspec *s)
{
    for (size_t i = 0; i < envs->n; i++) {
        const struct rco_env *e = envs->items[i].object;

        if (rco_streq(e->metadata.name, s->spec.environment_id) &&
            rco_streq(e->metadata.ns, s->metadata.ns))
            return e;
    }
    return NULL;
}

int rco_gather_specs(struct rco_cli *cli, const char *ns, const char *environment,
                     struct rco_render_row **ret_rows, size_t *ret_n, struct rco_error *err)
{
    struct rco_api_query query = {.kind = RCO_KIND_DEPSPEC, .ns = ns};
    struct rco_api_query env_query = {.kind = RCO_KIND_ENV, .ns = ns};
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autoapilist specs = {0}, envs = {0};
    struct rco_render_row *rows;
    size_t n = 0, read = 0;
    bool envs_known;

    if (rco_api_list(cli, &query, &cli->arena, &specs, err) < 0)
        return -1;
    envs_known = rco_api_list(cli, &env_query, &cli->arena, &envs, &ignored) == 0;
    rows = rco_arena_array(&cli->arena, specs.n + 1, sizeof(*rows));
    for (size_t i = 0; i < specs.n; i++) {
        const struct rco_depspec *s = specs.items[i].object;
        struct rco_facts *f = &rows[n].facts;

        if (environment && !rco_streq(s->spec.environment_id, environment))
            continue;
        *f = new_facts(cli);
        f->spec = s;
        f->env = find_env(&envs, s);
        f->env_missing = envs_known && !f->env;
        f->pods_unread = true;
        f->flags = cli->opt->all_namespaces ? rco_cli_flags(&cli->arena, cli->opt, s->metadata.ns)
                                            : cli->flags;
        if (s->status.has_current_run_ref && read++ < MAX_CURRENT_RUNS)
            f->run =
                try_get(cli, RCO_KIND_RUN, s->metadata.ns, s->status.current_run_ref.name, NULL);
        rco_explain_spec(f, &cli->arena, &rows[n++].explanation);
    }
    if (n)
        qsort(rows, n, sizeof(*rows), compare_rows);
    *ret_rows = rows;
    *ret_n = n;
    return 0;
}
