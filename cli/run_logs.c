#include "verbs.h"

#include "api/labels.h"
#include "base/map.h"
#include "base/str.h"
#include "gather.h"
#include "logs.h"
#include "run_args.h"

#include <string.h>
#include <time.h>

#define AT(FIELD) offsetof(struct rco_options, FIELD)

/* The engine's output is in a file; the sidecar reports it as it comes. */
static const char *const container_order[] = {RCO_CONTAINER_FETCH, RCO_CONTAINER_INSTALL,
                                              RCO_CONTAINER_REPORT, RCO_CONTAINER_ENGINE};

static enum rco_engine_phase wanted_phase(const struct rco_cli *cli)
{
    static const enum rco_engine_phase by_word[] = {RCO_ENGINE_PHASE_UNSET, RCO_ENGINE_PHASE_PLAN,
                                                    RCO_ENGINE_PHASE_APPLY};

    return by_word[cli->opt->phase];
}

static int print_stored(struct rco_cli *cli, const struct rco_run *run,
                        const struct rco_artifact *artifact, struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT, pending = RCO_BUF_INIT;
    int rc = rco_logs_read(cli, run, artifact, &text, err);

    rco_logs_print(cli, &pending, rco_buf_str(&text), text.len);
    rco_logs_print(cli, &pending, "", 0);
    return rc;
}

static const struct rco_container_status *find_container(const struct rco_pod *pod,
                                                         const char *name)
{
    for (size_t i = 0; i < pod->status.n_init_container_statuses; i++)
        if (rco_streq(pod->status.init_container_statuses[i].name, name))
            return &pod->status.init_container_statuses[i];
    for (size_t i = 0; i < pod->status.n_container_statuses; i++)
        if (rco_streq(pod->status.container_statuses[i].name, name))
            return &pod->status.container_statuses[i];
    return NULL;
}

static bool has_started(const struct rco_container_status *c)
{
    return c && (c->state.has_running || c->state.has_terminated);
}

/* "plan, container fetch" above its log. */
static void print_header(struct rco_cli *cli, const struct rco_pod *pod, const char *container)
{
    rco_autobuf out = RCO_BUF_INIT, text = RCO_BUF_INIT;

    rco_buf_addf(&text, "==> %s, %s (pod %s)",
                 rco_str_or_empty(rco_meta_label(&pod->metadata, RCO_LABEL_PHASE)), container,
                 pod->metadata.name);
    rco_text_ink(&out, &cli->style, RCO_INK_DIM, rco_buf_str(&text));
    rco_buf_addc(&out, '\n');
    rco_cli_print(cli, &out);
}

static int list_pods(struct rco_cli *cli, const struct rco_run *run, struct rco_api_list *out,
                     struct rco_error *err)
{
    rco_autofree char *selector =
        rco_asprintf("%s=%s", RCO_LABEL_RUN_UID, rco_str_or_empty(run->metadata.uid));
    struct rco_api_query query = {
        .kind = RCO_KIND_POD, .ns = run->metadata.ns, .label_selector = selector};

    return rco_api_list(cli, &query, &cli->arena, out, err);
}

/* What was printed already, by "pod/container", and of which phases that was all. */
struct printed {
    struct rco_map map;
    size_t n;
    bool whole[RCO_ENGINE_PHASE_APPLY + 1]; /* by phase */
    struct rco_logs_quiet *quiet;           /* of a log that is followed; NULL = none is */
};

static bool is_printed(struct printed *p, const struct rco_pod *pod, const char *container)
{
    rco_autofree char *key = rco_asprintf("%s/%s", pod->metadata.name, container);

    return rco_map_has(&p->map, key);
}

static void set_printed(struct printed *p, const struct rco_pod *pod, const char *container)
{
    rco_autofree char *key = rco_asprintf("%s/%s", pod->metadata.name, container);

    rco_map_set(&p->map, key, p);
    p->n++;
}

/* The sidecar was followed to its end, so what it stored has been shown. */
static void set_whole(struct printed *p, const struct rco_pod *pod)
{
    const char *word = rco_meta_label(&pod->metadata, RCO_LABEL_PHASE);
    enum rco_engine_phase phase = rco_engine_phase_parse(word);

    if ((size_t)phase < RCO_ARRAY_LEN(p->whole))
        p->whole[phase] = true;
}

static bool is_wanted(const struct rco_cli *cli, const struct rco_pod *pod, const char *container)
{
    if (cli->opt->container && !rco_streq(cli->opt->container, container))
        return false;
    return wanted_phase(cli) == RCO_ENGINE_PHASE_UNSET ||
           rco_streq(rco_meta_label(&pod->metadata, RCO_LABEL_PHASE),
                     rco_engine_phase_name(wanted_phase(cli)));
}

static int print_container(struct rco_cli *cli, struct printed *p, const struct rco_pod *pod,
                           const char *container, struct rco_error *err)
{
    if (!is_wanted(cli, pod, container) || is_printed(p, pod, container) ||
        !has_started(find_container(pod, container)))
        return 0;
    print_header(cli, pod, container);
    if (rco_logs_pod(cli, pod->metadata.ns, pod->metadata.name, container, p->quiet, err) < 0) {
        if (err->code == RCO_ENOTFOUND || err->code == RCO_EINVALID)
            return 0; /* the pod went, or the container is not there yet: the next look tells */
        return -1;
    }
    set_printed(p, pod, container);
    if (p->quiet && rco_streq(container, RCO_CONTAINER_REPORT))
        set_whole(p, pod);
    return 0;
}

/* The logs of all containers that have started, in their order. */
static int print_pods(struct rco_cli *cli, const struct rco_run *run, struct printed *p,
                      struct rco_error *err)
{
    rco_autoapilist pods = {0};
    size_t n = RCO_ARRAY_LEN(container_order);

    if (list_pods(cli, run, &pods, err) < 0)
        return -1;
    for (size_t i = 0; i < pods.n; i++)
        for (size_t k = 0; k < n; k++)
            if (print_container(cli, p, pods.items[i].object, container_order[k], err) < 0)
                return -1;
    return 0;
}

static void pause_s(time_t s)
{
    struct timespec ts = {.tv_sec = s};

    nanosleep(&ts, NULL);
}

/* Whether nothing more will come that was asked for. */
static bool is_over(const struct rco_cli *cli, const struct rco_run *run)
{
    if (run->status.state == RCO_RUN_STATE_AWAITING_APPROVAL)
        return true;
    if (wanted_phase(cli) == RCO_ENGINE_PHASE_PLAN && run->status.state == RCO_RUN_STATE_APPLYING)
        return true;
    return rco_run_state_is_final(run->status.state);
}

static int explain_forbidden(struct rco_error *err)
{
    if (err->code == RCO_EFORBIDDEN)
        return rco_error_wrap(
            err,
            "to follow a running log you need \"get\" on pods/log and \"list\" on pods (the stored "
            "log can be read when the phase has ended)");
    return -1;
}

/* Nothing is stored: pods that are still there, else the reason. */
static int print_unstored(struct rco_cli *cli, const struct rco_run *run, struct rco_error *err)
{
    struct printed printed = {.map = RCO_MAP_INIT};
    struct rco_error ignored = RCO_ERROR_INIT;
    int rc = print_pods(cli, run, &printed, &ignored);
    size_t n = printed.n;

    rco_map_release(&printed.map);
    if (rc == 0 && n)
        return 0;
    if (!rco_run_state_is_final(run->status.state))
        return rco_error_set(
            err, RCO_ENOTFOUND,
            "run %s is %s and has stored no %slog yet; --follow shows it while it runs%s",
            run->metadata.name, run->status.state ? rco_run_state_name(run->status.state) : "new",
            wanted_phase(cli)
                ? rco_arena_printf(&cli->arena, "%s ", rco_engine_phase_name(wanted_phase(cli)))
                : "",
            ignored.code == RCO_EFORBIDDEN
                ? " (needs the rights \"list\" on pods and \"get\" on pods/log)"
                : "");
    if (run->status.has_failure)
        return rco_error_set(err, RCO_ENOTFOUND,
                             "run %s stored no log: it failed before its engine began (%s: %s)",
                             run->metadata.name, rco_failure_class_name(run->status.failure.class),
                             rco_str_or_empty(run->status.failure.message));
    return rco_error_set(err, RCO_ENOTFOUND, "run %s (%s) has stored no log of that phase",
                         run->metadata.name, rco_run_state_name(run->status.state));
}

/* What ended before it could be followed: its stored log. */
static int print_ended_phases(struct rco_cli *cli, const struct rco_run *run, struct printed *p,
                              struct rco_error *err)
{
    static const enum rco_engine_phase phases[] = {RCO_ENGINE_PHASE_PLAN, RCO_ENGINE_PHASE_APPLY};

    for (size_t i = 0; i < RCO_ARRAY_LEN(phases); i++) {
        const struct rco_artifact *stored = rco_logs_find(run, phases[i]);
        bool wanted = wanted_phase(cli) == RCO_ENGINE_PHASE_UNSET || wanted_phase(cli) == phases[i];
        rco_autobuf out = RCO_BUF_INIT, text = RCO_BUF_INIT;

        if (!stored || p->whole[phases[i]] || !wanted || cli->opt->container)
            continue;
        rco_buf_addf(&text, "==> %s, its whole log", rco_engine_phase_name(phases[i]));
        rco_text_ink(&out, &cli->style, RCO_INK_DIM, rco_buf_str(&text));
        rco_buf_addc(&out, '\n');
        rco_cli_print(cli, &out);
        p->whole[phases[i]] = true;
        p->n++;
        if (print_stored(cli, run, stored, err) < 0)
            return -1;
    }
    return 0;
}

/* No log is there to follow yet, or none any more. */
static void say_waiting(struct rco_cli *cli, const struct rco_facts *f,
                        struct rco_logs_quiet *quiet)
{
    struct rco_explanation x;

    rco_explain_run(f, &cli->arena, &x);
    rco_logs_quiet_say(
        quiet, rco_arena_printf(&cli->arena, "still waiting: %s", x.n_why ? x.why[0] : x.what));
}

static int follow(struct rco_cli *cli, const char *name, struct rco_error *err)
{
    rco_autofree char *user = rco_strdup(rco_str_or_empty(rco_gather_user(cli)));
    struct rco_logs_quiet quiet = {0};
    struct printed printed = {.map = RCO_MAP_INIT, .quiet = &quiet};
    struct rco_facts f;
    int rc;

    while (true) {
        rco_cli_renew(cli);
        rc = rco_gather_run(cli, cli->ns, name, &f, NULL, err);
        if (rc == 0)
            rc = print_ended_phases(cli, f.run, &printed, err);
        if (rc < 0 || is_over(cli, f.run))
            break;
        quiet.next =
            f.run->spec.has_cancel ? NULL : rco_explain_cancel(&cli->arena, name, user, cli->flags);
        rc = print_pods(cli, f.run, &printed, err);
        if (rc < 0)
            break;
        say_waiting(cli, &f, &quiet);
        pause_s(1);
    }
    printed.quiet = NULL;
    if (rc == 0 && !printed.n)
        rc = print_unstored(cli, f.run, err);
    rco_map_release(&printed.map);
    return rc < 0 ? explain_forbidden(err) : 0;
}

static int print_once(struct rco_cli *cli, const char *name, struct rco_error *err)
{
    const struct rco_artifact *stored;
    struct rco_facts f;

    if (rco_gather_run(cli, cli->ns, name, &f, NULL, err) < 0)
        return -1;
    stored = cli->opt->container ? NULL : rco_logs_find(f.run, wanted_phase(cli));
    if (stored)
        return print_stored(cli, f.run, stored, err);
    return print_unstored(cli, f.run, err);
}

static int run(struct rco_cli *cli)
{
    struct rco_error err = RCO_ERROR_INIT;
    int code = rco_run_args_check(cli);
    rco_autofree char *own_name = NULL;
    const char *name;

    if (code)
        return code;
    if (cli->opt->output != RCO_OUTPUT_TABLE)
        return rco_cli_usage_error(cli, "a log is text: run logs has no -o");
    if (rco_cli_connect(cli, &err) < 0 || rco_gather_named_run(cli, &name, &err) < 0)
        return rco_cli_fail(cli, &err);
    own_name = rco_strdup(name);
    if (cli->opt->follow ? follow(cli, own_name, &err) < 0 : print_once(cli, own_name, &err) < 0)
        return rco_cli_fail(cli, &err);
    return RCO_EXIT_FINE;
}

static const struct rco_option options[] = {
    {"spec", 0, RCO_OPTION_NAME, AT(spec), "NAME",
     "the current or newest run of this specification", NULL},
    {"phase", 0, RCO_OPTION_WORD, AT(phase), "PHASE", "plan, apply or newest (default: newest)",
     rco_option_phase_words},
    {"follow", 'f', RCO_OPTION_FLAG, AT(follow), NULL,
     "show the log of the running pods as it comes", NULL},
    {"container", 'c', RCO_OPTION_NAME, AT(container), "NAME",
     "the pod's own log of fetch, install, engine or report, while the pod exists", NULL},
};

static const char *const examples[] = {
    "the log of the newest phase",
    "run logs shop-1a2b3-v3-b1",
    "what the plan said",
    "run logs shop-1a2b3-v3-b1 --phase plan",
    "follow what is running now",
    "run logs --spec shop --follow",
    NULL,
};

const struct rco_verb rco_verb_run_logs = {
    .name = "logs",
    .args = "[NAME]",
    .summary = "the log of a run, stored or running",
    .description = "Prints the log that a run has stored (put together from its ConfigMaps and "
                   "checked against the recorded\n"
                   "digest), or with --follow that of its running pods.\n"
                   "Exit code: 0, or 1 when there is no log or it is not complete.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .max_args = 1,
    .run = run,
};
