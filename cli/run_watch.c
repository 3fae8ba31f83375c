#include "verbs.h"

#include "api/labels.h"
#include "base/str.h"
#include "gather.h"
#include "run_args.h"

#include <string.h>

#define AT(FIELD) offsetof(struct rco_options, FIELD)
#define FAULTS_MAX 20 /* in a row, before giving up on a server that cannot be reached */

#define POD_LOOK_MS 2000 /* how often the pods are looked at while the run itself stands still */

struct watching {
    struct rco_cli *cli;
    struct rco_facts facts;  /* as last read; in the invocation's arena */
    struct rco_arena arena;  /* holds the object of a deletion */
    struct rco_buf before;   /* what was printed last: a line, or a resourceVersion with -o json */
    enum rco_run_state last; /* the newest state seen */
    bool deleted;
    rco_wall started;
    int faults; /* in a row */
};

/* What ends a watch: a final state, or one that only a person can end and this version cannot. */
static bool is_over(const struct rco_run *run)
{
    if (run->status.state == RCO_RUN_STATE_AWAITING_APPROVAL &&
        rco_streq(run->status.reason, "ApprovalUnavailable"))
        return true;
    return rco_run_state_is_final(run->status.state);
}

/* Prints LINE unless KEY was printed last. */
static void print_once(struct watching *w, const char *key, const struct rco_buf *line)
{
    rco_autobuf out = RCO_BUF_INIT;

    if (rco_streq(key, rco_buf_str(&w->before)))
        return;
    rco_buf_clear(&w->before);
    rco_buf_adds(&w->before, key);
    rco_buf_add(&out, line->data, line->len);
    rco_buf_addc(&out, '\n');
    rco_cli_print(w->cli, &out);
}

static void print_state(struct watching *w, const struct rco_api_item *item)
{
    const struct rco_render r = rco_gather_render(w->cli);
    rco_autobuf line = RCO_BUF_INIT, stamped = RCO_BUF_INIT;

    if (w->cli->opt->output == RCO_OUTPUT_JSON) { /* one object a line, as programs read it */
        rco_buf_add(&line, item->json, item->json_len);
        print_once(w, w->facts.run->metadata.resource_version, &line);
        return;
    }
    rco_render_progress(&r, &w->facts, &line);
    rco_text_clock(&stamped, r.now);
    rco_buf_addf(&stamped, "  %s", rco_buf_str(&line));
    print_once(w, rco_buf_str(&line), &stamped);
}

/* Any event is a reason to look again; only a deletion says something that cannot be read
 * afterwards. */
static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    struct watching *w = ctx;

    if (type == RCO_WATCH_BOOKMARK)
        return 0;
    if (type == RCO_WATCH_DELETED) {
        struct rco_run *run = RCO_NEW(&w->arena, struct rco_run);

        if (rco_codec_decode(&rco_run_schema, object, n, &w->arena, run, err) < 0)
            return -1;
        w->deleted = true;
        w->last = run->status.state;
    }
    return RCO_CLI_STOP;
}

static bool is_late(const struct watching *w)
{
    const struct rco_options *opt = w->cli->opt;

    return opt->timeout_ns && opt->timeout_ns / 1000 <= rco_cli_now() - w->started;
}

/* Waits for a change of OBJECT, which is of KIND, at most POD_LOOK_MS. */
static int wait_for_change(struct watching *w, enum rco_kind kind, const struct rco_meta *object,
                           rco_api_on_event on_change, struct rco_error *err)
{
    rco_autofree char *selector = rco_asprintf("metadata.name=%s", object->name);
    struct rco_api_query query = {.kind = kind, .ns = w->cli->ns, .field_selector = selector};
    bool stopped = false;

    if (rco_api_watch(w->cli, &query, object->resource_version, POD_LOOK_MS, on_change, w, &stopped,
                      err) == 0)
        return 0;
    return err->code == RCO_ETIMEOUT || err->code == RCO_EGONE ? 0 : -1;
}

/* Whether to go on after RC of one look: a server that cannot be reached is asked again. */
static int check_fault(struct watching *w, int rc, const struct rco_error *err)
{
    if (rc == 0)
        w->faults = 0;
    else if (!rco_error_is_retryable(err) || ++w->faults == FAULTS_MAX)
        return -1;
    return 0;
}

/* --- which run ---------------------------------------------------------------------------------
 */

static int on_spec_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                         struct rco_error *err)
{
    (void)ctx;
    (void)object;
    (void)n;
    (void)err;
    return type == RCO_WATCH_BOOKMARK ? 0 : RCO_CLI_STOP;
}

/* Whether a run was asked for that is not there yet: the operator says which request it carried
 * out.
 */
static bool run_is_asked_for(const struct rco_depspec *spec)
{
    const struct rco_depspec_status *s = &spec->status;
    const char *asked = rco_meta_annotation(&spec->metadata, RCO_ANNOTATION_RUN_NOW);

    return !rco_str_empty(asked) && strlen(asked) <= RCO_REQUEST_MAX && !spec->spec.suspend &&
           !rco_streq(rco_kv_get(s->handled_requests, s->n_handled_requests, "run-now"), asked);
}

/* The run of what is declared now: the current one, or the one that has ended. NULL = none yet. */
static const char *run_of_now(const struct rco_depspec *spec)
{
    const struct rco_depspec_status *s = &spec->status;

    if (!s->has_observed_generation || s->observed_generation != spec->metadata.generation ||
        run_is_asked_for(spec))
        return NULL;
    if (s->has_current_run_ref)
        return s->current_run_ref.name;
    if (s->has_last_run && s->last_run.version == s->version)
        return s->last_run.name;
    return s->applied_version == s->version ? s->applied_run_ref.name : NULL;
}

/* Nothing makes a run unless somebody acts. */
static int refuse_idle(struct watching *w, const struct rco_explanation *x, struct rco_error *err)
{
    return rco_error_set(err, RCO_ECANCELLED,
                         "there is no run to watch: %s%s%s; 'kubectl runtimecloud why %s%s' says "
                         "what to do",
                         x->what, x->n_why ? ": " : "", x->n_why ? x->why[0] : "",
                         w->cli->opt->spec, w->cli->flags);
}

static void print_waiting(struct watching *w, const struct rco_explanation *x)
{
    rco_autobuf line = RCO_BUF_INIT;
    const char *why = x->n_why ? x->why[0] : x->what;

    if (rco_cli_wants_json(w->cli))
        return;
    rco_text_clock(&line, rco_cli_now());
    rco_buf_addf(&line, "  %-16s ", x->word);
    rco_text_clean(&line, why);
    print_once(w, why, &line);
}

/* With --spec: waits until the operator has seen what is declared and made its run, so that a run
 * of an older version is not taken for it. *RET_NAME is malloc'd. */
static int find_run(struct watching *w, char **ret_name, struct rco_error *err)
{
    struct rco_cli *cli = w->cli;

    while (true) {
        struct rco_explanation x = {0};
        struct rco_facts f;
        const char *name;
        int rc;

        rco_cli_renew(cli);
        rc = rco_gather_spec(cli, cli->ns, cli->opt->spec, &f, err);
        if (rc == 0) {
            name = run_of_now(f.spec);
            if (name) {
                *ret_name = rco_strdup(name);
                return 0;
            }
            rco_explain_spec(&f, &cli->arena, &x);
            /* A request after a failure is carried out; what else is bad stays so. */
            if ((x.health == RCO_HEALTH_BAD &&
                 !(f.spec->status.has_failure && run_is_asked_for(f.spec))) ||
                f.spec->spec.suspend)
                return refuse_idle(w, &x, err);
            print_waiting(w, &x);
            rc = wait_for_change(w, RCO_KIND_DEPSPEC, &f.spec->metadata, on_spec_event, err);
        }
        if (check_fault(w, rc, err) < 0)
            return -1;
        if (is_late(w))
            return rco_error_set(err, RCO_ECANCELLED, "no run has begun within --timeout: %s",
                                 x.n_why ? x.why[0] : rco_str_or_empty(x.what));
    }
}

/* --- the run ------------------------------------------------------------------------------------
 */

/* Reads, prints, waits for a change, until the run is over or gone. NAME must outlive the arena. */
static int follow(struct watching *w, const char *name, struct rco_error *err)
{
    struct rco_cli *cli = w->cli;
    bool seen = false;

    while (true) {
        struct rco_api_item item = {0};
        int rc;

        rco_cli_renew(cli);
        rc = rco_gather_run(cli, cli->ns, name, &w->facts, &item, err);
        if (rc < 0 && err->code == RCO_ENOTFOUND && seen) {
            w->deleted = true;
            return 0;
        }
        if (rc == 0) {
            seen = true;
            w->last = w->facts.run->status.state;
            print_state(w, &item);
            if (is_over(w->facts.run))
                return 0;
            rc = wait_for_change(w, RCO_KIND_RUN, &w->facts.run->metadata, on_event, err);
        }
        if (check_fault(w, rc, err) < 0)
            return -1;
        if (w->deleted)
            return 0;
        if (is_late(w))
            return rco_error_set(err, RCO_ECANCELLED,
                                 "run %s has not ended within --timeout; it goes on (now %s)", name,
                                 rco_run_state_name(w->last));
    }
}

static void print_end(struct watching *w)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_explanation x;

    if (rco_cli_wants_json(w->cli))
        return;
    if (w->deleted) {
        rco_buf_addf(
            &out,
            "The run was deleted; its last state was %s.\nNext: kubectl runtimecloud status%s\n",
            rco_run_state_name(w->last), w->cli->flags);
    } else {
        rco_explain_run(&w->facts, &w->arena, &x);
        if (x.n_next)
            rco_buf_addf(&out, "Next: %s\n", x.next[0]);
    }
    rco_cli_print(w->cli, &out);
}

static int name_run(struct watching *w, char **ret_name, struct rco_error *err)
{
    const char *name;

    if (!w->cli->opt->n_args)
        return find_run(w, ret_name, err);
    if (rco_gather_named_run(w->cli, &name, err) < 0)
        return -1;
    *ret_name = rco_strdup(name);
    return 0;
}

static int run(struct rco_cli *cli)
{
    struct watching w = {.cli = cli, .arena = RCO_ARENA_INIT, .started = rco_cli_now()};
    struct rco_error err = RCO_ERROR_INIT;
    int code = rco_run_args_check(cli);
    rco_autofree char *name = NULL;

    if (code)
        return code;
    if (cli->opt->output == RCO_OUTPUT_YAML)
        return rco_cli_usage_error(
            cli, "run watch prints lines for people, or one object a line with -o json");
    if (rco_cli_connect(cli, &err) < 0 || name_run(&w, &name, &err) < 0)
        code = -1;
    else
        code = follow(&w, name, &err);
    if (code < 0) {
        code = rco_cli_fail(cli, &err);
    } else {
        print_end(&w);
        code = w.last == RCO_RUN_STATE_APPLIED ? RCO_EXIT_FINE : RCO_EXIT_NOT_FINE;
    }
    rco_buf_release(&w.before);
    rco_arena_release(&w.arena);
    return code;
}

static const struct rco_option options[] = {
    {"spec", 0, RCO_OPTION_NAME, AT(spec), "NAME",
     "the run of what this specification declares now; waits until there is one", NULL},
    {"timeout", 0, RCO_OPTION_DURATION, AT(timeout_ns), "DURATION",
     "give up after so long, like 10m; the run goes on (default: never)", NULL},
};

static const char *const examples[] = {
    "follow a run until it has ended",
    "run watch shop-1a2b3-v3-b1",
    "in a pipeline: succeeds only if it is applied",
    "run watch --spec shop --timeout 15m",
    NULL,
};

const struct rco_verb rco_verb_run_watch = {
    .name = "watch",
    .args = "[NAME]",
    .summary = "progress of a run until it has ended",
    .description = "Prints a line at each step of a run until it has ended, or until it waits for "
                   "an approval that this version\n"
                   "cannot record.\nExit code: 0 when the run is Applied, 1 otherwise.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .max_args = 1,
    .run = run,
};
