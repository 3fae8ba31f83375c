#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "beneath.h"
#include "bundle.h"
#include "guard.h"
#include "pulumi.h"
#include "supervise.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define WAIT_MS 100
/* Without a SIGTERM the pod is kept alive for report, also when the gateway is away for long. */
#define DELIVERY_WAIT_S (6 * 3600)
#define STATE_UPLOAD_MAX (32 * 1024 * 1024)

static bool exists(struct rco_engine *e, const char *name)
{
    return access(rco_runner_path(e->r, name), F_OK) == 0;
}

/* Sleeps WAIT_MS; true when the pod is asked to end. */
static bool pause_or_stop(struct rco_engine *e)
{
    struct pollfd p = {.fd = e->r->stop_fd, .events = POLLIN};
    return poll(&p, 1, WAIT_MS) > 0;
}

/* Until report has been told to go on. */
static int wait_for_go(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf why = RCO_BUF_INIT;
    while (!exists(e, "control/go")) {
        if (exists(e, "control/never")) {
            if (rco_file_read(rco_runner_path(e->r, "control/never"), RCO_FACTS_MAX, &why, &err) <
                0)
                rco_buf_adds(&why, err.msg);
            return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED,
                                   "the operator refused the start, nothing was run: %s",
                                   rco_buf_str(&why));
        }
        if (pause_or_stop(e))
            return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED,
                                   "the pod was asked to end before the start, nothing was run");
    }
    e->waited = true;
    return 0;
}

/* Pods whose engine is proven to have ended; stands in the go file. */
static int read_go(struct rco_engine *e, struct rco_runner_start_answer *ret, struct rco_failure *f)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_file_read(rco_runner_path(e->r, "control/go"), RCO_FACTS_MAX, &text, &err) < 0 ||
        rco_codec_decode(&rco_runner_start_answer_schema, rco_buf_str(&text), text.len,
                         &e->r->arena, ret, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "answer to the start");
    return 0;
}

static int prepare(struct rco_engine *e, enum rco_stack_mode mode, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_runner *r = e->r;
    if (rco_fetch_facts_read(r, &e->fetched, &err) < 0 ||
        rco_install_facts_read(r, &e->installed, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err,
                                 "what earlier containers left");
    rco_autoclose int top =
        open(rco_runner_path(r, "workspace/src"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    e->dir =
        rco_open_beneath(top, rco_str_or_empty(r->job.program.path), O_RDONLY | O_DIRECTORY, &err);
    if (e->dir < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "directory of the program");
    if (rco_inputs_load(r, &e->inputs, f) < 0)
        return -1;
    e->done.inputs_hash = e->inputs.hash;
    if (rco_engine_env(e, f) < 0 || rco_pulumi_versions(e, f) < 0)
        return -1;
    return rco_pulumi_prepare(e, mode, f);
}

static int cancelled(struct rco_failure *f)
{
    return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED,
                           "cancelled before the engine was started, nothing was changed");
}

/* Keeps what became of the operation; the class is made better from its events by report. */
static int outcome(struct rco_engine *e, const struct rco_supervised *s, struct rco_failure *f)
{
    struct rco_engine_done *d = &e->done;
    d->exit_code = s->exit_code;
    d->signal = s->signal;
    d->timed_out = s->timed_out;
    d->cancelled = s->cancelled;
    d->output_cut = d->output_cut || s->text_cut;
    d->events_cut = d->events_cut || s->events_cut;
    if (s->exit_code == 0)
        return 0;
    d->by_stream = true;
    enum rco_failure_class class = s->timed_out   ? RCO_FAILURE_CLASS_TIMEOUT
                                   : s->cancelled ? RCO_FAILURE_CLASS_CANCELLED
                                                  : RCO_FAILURE_CLASS_INTERNAL;
    if (s->killed)
        return rco_failure_set(f, class,
                               "the engine did not end when it was asked to and was killed");
    return rco_failure_set(f, class, "%s", s->error ? s->error : "");
}

static int keep_plan(struct rco_engine *e, const char *file, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf plan = RCO_BUF_INIT, manifest = RCO_BUF_INIT, bundle = RCO_BUF_INIT;
    char hex[RCO_SHA256_HEX];
    if (rco_file_read(file, RCO_BUNDLE_MAX - RCO_WORKSPACE_MAX_SHORT - 1024, &plan, &err) < 0)
        return rco_failure_error(
            f, RCO_FAILURE_CLASS_CONFIG, &err,
            err.code == RCO_ETOOBIG ? "the plan file is larger than can be kept" : "plan file");
    if (rco_file_read(rco_runner_path(e->r, "install/manifest"), RCO_WORKSPACE_MAX_SHORT, &manifest,
                      &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "manifest of the workspace");
    rco_bundle_write(plan.data, plan.len, manifest.data, manifest.len, &bundle);
    rco_sha256_hex(bundle.data, bundle.len, hex);
    e->done.plan_file_digest = rco_arena_strdup(&e->r->arena, hex);
    e->done.outputs_changed = rco_bundle_changes_outputs(plan.data, plan.len);
    if (rco_file_write_atomic(rco_runner_path(e->r, "stream/plan"), bundle.data, bundle.len, 0640,
                              &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "plan artifact");
    return 0;
}

static int plan(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_supervised s;
    struct rco_argv a = {0};
    const char *file = rco_arena_printf(&e->r->arena, "%s/plan.json", e->r->tmpdir);
    const char *save = rco_arena_printf(&e->r->arena, "--save-plan=%s", file);
    if (prepare(e, RCO_STACK_CREATE, f) < 0 || rco_pulumi_configure(e, f) < 0)
        return -1;
    if (rco_stop_requested(e))
        return cancelled(f);
    unlink(file);
    rco_argv_adds(&a, "pulumi", "preview", "--stack", e->r->job.stack, "--non-interactive",
                  "--color", "never", "--json", save, NULL);
    e->done.started = true;
    if (rco_supervise(e, &a, "events", &s, f) < 0 || outcome(e, &s, f) < 0)
        return -1;
    return keep_plan(e, file, f);
}

/* Clears locks that our own dead pods have left; any other lock is somebody's. */
static int clear_locks(struct rco_engine *e, const char *text, struct rco_failure *f)
{
    struct rco_runner_start_answer go = {0};
    struct rco_lock_holders holders;
    rco_autoproc res = {0};
    struct rco_argv a = {0};
    if (read_go(e, &go, f) < 0)
        return -1;
    if (!rco_guard_lock_holders(text, &e->r->arena, &holders))
        return rco_failure_set(f, RCO_FAILURE_CLASS_BACKEND_LOCKED, "the stack is locked: %s",
                               text);
    for (size_t i = 0; i < holders.n; i++) {
        bool ended = false;
        for (size_t k = 0; k < go.n_ended_pods; k++)
            ended = ended || rco_streq(go.ended_pods[k], holders.hosts[i]);
        if (!ended)
            return rco_failure_set(
                f, RCO_FAILURE_CLASS_BACKEND_LOCKED,
                "stack %s is locked by %s, which is none of our pods that are known "
                "to have ended; wait for it, or run `pulumi cancel` when it is gone "
                "for certain",
                e->r->job.stack, holders.hosts[i]);
    }
    rco_log(RCO_LOG_WARN, "clearing the lock of a pod that has ended",
            RCO_S("pod", holders.hosts[0]));
    rco_argv_adds(&a, "pulumi", "cancel", "--yes", "--stack", e->r->job.stack, "--non-interactive",
                  NULL);
    return rco_pulumi(e, &a, NULL, 0, "clear the lock of an ended pod", &res, f);
}

static int run_up(struct rco_engine *e, const char *file, struct rco_supervised *s,
                  struct rco_failure *f)
{
    struct rco_argv a = {0};
    rco_argv_adds(&a, "pulumi", "up", "--stack", e->r->job.stack, "--non-interactive", "--yes",
                  "--color", "never", "--json", NULL);
    rco_argv_add(&a, rco_arena_printf(&e->r->arena, "--plan=%s", file));
    e->done.started = true;
    return rco_supervise(e, &a, "events", s, f);
}

/* The text in which the engine refuses a locked stack, or NULL. */
static const char *lock_refusal(struct rco_engine *e, const struct rco_supervised *s)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    if (s->exit_code == 0 ||
        rco_file_read(rco_runner_path(e->r, "stream/stderr"), 8 * 1024 * 1024, &text, &err) < 0)
        return NULL;
    const char *at = strstr(rco_buf_str(&text), "the stack is currently locked by ");
    return at ? rco_arena_strdup(&e->r->arena, at) : NULL;
}

static int keep_file(struct rco_engine *e, const char *name, const struct rco_buf *text,
                     struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_file_write_atomic(rco_runner_path(e->r, name), rco_buf_str(text), text->len, 0640,
                              &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, name);
    return 0;
}

/* State and outputs after the operation, however it ended. Failing here does not undo an apply, so
 * it only leaves things out of the receipt. */
static void look_after(struct rco_engine *e)
{
    struct rco_state_facts after;
    struct rco_failure f = RCO_FAILURE_INIT;
    rco_autobuf state = RCO_BUF_INIT, outputs = RCO_BUF_INIT;
    if (rco_pulumi_export(e, &after, &state, &f) == 0) {
        e->done.state_digest = rco_arena_strdup(&e->r->arena, after.digest);
        e->done.pending_operations = (int64_t)after.pending_operations;
        if (state.len <= STATE_UPLOAD_MAX && keep_file(e, "stream/state", &state, &f) < 0)
            rco_log(RCO_LOG_WARN, "state not kept", RCO_S("message", f.message));
    } else {
        rco_log(RCO_LOG_WARN, "state not exported after the apply", RCO_S("message", f.message));
    }
    if (rco_pulumi_outputs(e, &outputs, &f) < 0 || keep_file(e, "stream/outputs", &outputs, &f) < 0)
        rco_log(RCO_LOG_WARN, "outputs not read after the apply", RCO_S("message", f.message));
}

static int prepare_apply(struct rco_engine *e, const char **ret_file, struct rco_failure *f)
{
    rco_autobuf manifest = RCO_BUF_INIT;
    if (e->r->job.guard != RCO_GUARD_STRICT)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL,
                               "this runner knows the guard Strict only");
    if (prepare(e, RCO_STACK_MUST_EXIST, f) < 0) {
        if (strstr(f->message, "no stack named"))
            rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                            "the base state has changed since the plan was made: stack %s is gone",
                            e->r->job.stack);
        return -1;
    }
    if (rco_guard_plan_file(e, ret_file, &manifest, f) < 0 || rco_guard_check(e, &manifest, f) < 0)
        return -1;
    return rco_pulumi_configure(e, f);
}

static int apply(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_supervised s;
    const char *file, *refusal;
    if (prepare_apply(e, &file, f) < 0)
        return -1;
    if (rco_stop_requested(e))
        return cancelled(f);
    int rc = run_up(e, file, &s, f);
    if (rc == 0 && (refusal = lock_refusal(e, &s))) {
        /* The lock is taken before anything else: nothing was run yet. */
        e->done.started = false;
        rc = clear_locks(e, refusal, f);
        if (rc == 0 && rco_stop_requested(e))
            rc = cancelled(f);
        if (rc == 0)
            rc = run_up(e, file, &s, f);
        if (rc < 0 && !e->done.started)
            return -1;
    }
    if (rc == 0)
        rc = outcome(e, &s, f);
    look_after(e);
    return rc;
}

/* Why Pulumi itself failed is in its output, which report reads. */
static void log_end(const struct rco_engine_done *d)
{
    if (d->ok)
        rco_log(RCO_LOG_INFO, "the engine succeeded");
    else if (rco_str_empty(d->message))
        rco_log(RCO_LOG_INFO, "the engine failed", RCO_N("exitCode", d->exit_code));
    else
        rco_log(RCO_LOG_ERROR, "the run failed", RCO_S("class", rco_failure_class_name(d->class)),
                RCO_S("message", d->message));
}

static void finish(struct rco_engine *e, const struct rco_failure *f, bool ok)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_engine_done *d = &e->done;
    d->ok = ok;
    if (!ok) {
        d->class = f->class;
        d->message = f->message;
        d->urn = f->urn[0] ? f->urn : NULL;
    }
    d->finished_at = rco_clock_wall();
    rco_reap_all();
    if (rco_engine_done_write(e->r, d, &err) < 0)
        rco_log(RCO_LOG_ERROR, "result not written", RCO_S("error", err.msg));
    struct rco_runner_summary s = {.ok = ok, .started = d->started, .has_started = true};
    if (!ok) {
        s.has_failure = true;
        s.failure = (struct rco_run_failure){.class = f->class, .message = f->message};
    }
    rco_runner_write_summary(e->r, &s);
    log_end(d);
}

/* report works best while nobody has asked it to end: the engine's container stays until it is
 * done. */
static void wait_for_delivery(struct rco_engine *e)
{
    rco_mono since = rco_clock_mono(), term_at = 0;
    int64_t grace_s = e->r->job.grace_seconds > 10 ? e->r->job.grace_seconds - 5 : 5;
    while (!exists(e, "control/delivered")) {
        rco_mono now = rco_clock_mono();
        if (term_at ? now - term_at > grace_s * RCO_NS_PER_S
                    : now - since > DELIVERY_WAIT_S * RCO_NS_PER_S) {
            rco_log(RCO_LOG_WARN,
                    "the result was not delivered in time; the termination message of "
                    "report holds its summary");
            return;
        }
        if (term_at)
            poll(NULL, 0, WAIT_MS);
        else if (pause_or_stop(e))
            term_at = now;
    }
}

/* One pod runs Pulumi at most once, also when its container should ever be started again. */
static int first_time(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_file_create_excl(rco_runner_path(e->r, "stream/started"), "", 0, 0640, &err) == 0)
        return 0;
    e->done.started = true;
    return rco_failure_set(f, RCO_FAILURE_CLASS_LOST,
                           "the engine of this pod was started before and left no result (%s)",
                           err.msg);
}

int rco_verb_engine(struct rco_runner *r)
{
    struct rco_failure f = RCO_FAILURE_INIT;
    struct rco_engine e = {.r = r, .dir = -1};
    int code = RCO_EXIT_OK;
    umask(007); /* report reads through the group */
    if (wait_for_go(&e, &f) < 0) {
        code = rco_runner_fail(r, &f, NULL);
    } else if (exists(&e, "stream/done")) {
        rco_log(RCO_LOG_WARN, "this pod has run its operation already");
        wait_for_delivery(&e);
    } else {
        e.done.started_at = rco_clock_wall();
        int rc = first_time(&e, &f);
        if (rc == 0)
            rc = r->job.phase == RCO_ENGINE_PHASE_PLAN ? plan(&e, &f) : apply(&e, &f);
        finish(&e, &f, rc == 0);
        wait_for_delivery(&e);
    }
    rco_inputs_release(&e.inputs);
    rco_close_cleanup(&e.dir);
    return code;
}
