#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "facts.h"
#include "gateway.h"
#include "outcome.h"
#include "render.h"
#include "tail.h"
#include "upload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEARTBEAT_S 10
#define POLL_MS 200
#define TAIL_BUDGET (8 * 1024 * 1024) /* between two looks at the clock */
/* 403 and 404: the operator may not have seen our pod, or our run, yet. */
#define START_WAIT_S 300
/* After SIGTERM without a result: the engine's last write may still be on its way. */
#define LAST_LOOK_MS 3000
#define SHOWN_MAX (4 * 1024 * 1024) /* of the log on standard output */

struct report {
    struct rco_runner *r;
    struct rco_gateway *gateway;
    struct rco_outcome_input in;
    struct rco_tail tail;
    struct rco_render_log log;
    size_t shown; /* bytes of it on standard output */
    struct rco_buf diff;
    bool diff_cut;
    struct rco_arena line; /* of one event */
    rco_mono next_beat;
    bool term; /* SIGTERM has come */
    bool cancel_written;
    struct rco_runner_receipt receipt;
    struct rco_runner_artifact artifacts[5];
};

static bool exists(struct report *p, const char *name)
{
    return access(rco_runner_path(p->r, name), F_OK) == 0;
}

static void note_term(struct report *p)
{
    struct pollfd fd = {.fd = p->r->stop_fd, .events = POLLIN};
    p->term = p->term || poll(&fd, 1, 0) > 0;
}

/* Sleeps MS, less when SIGTERM comes for the first time. */
static void rest(struct report *p, int64_t ms)
{
    struct pollfd fd = {.fd = p->term ? -1 : p->r->stop_fd, .events = POLLIN};
    if (poll(&fd, 1, (int)ms) > 0)
        p->term = true;
}

/* The log as it comes, for whoever follows the pod; what is stored in the end is what counts. */
static void show(void *ctx, const char *text, size_t n)
{
    static const char more[] = "... more than can be shown here; the stored log has it ...\n";
    struct report *p = ctx;
    struct rco_error ignored = RCO_ERROR_INIT;
    if (p->shown > SHOWN_MAX)
        return;
    p->shown += n;
    bool last = p->shown > SHOWN_MAX;
    if (rco_fd_write_all(STDOUT_FILENO, last ? more : text, last ? sizeof(more) - 1 : n, &ignored) <
        0)
        p->shown = SHOWN_MAX + 1;
}

static void on_line(void *ctx, const char *line, size_t n)
{
    struct report *p = ctx;
    struct rco_engine_event e;
    rco_event_parse(line, n, &p->line, &e);
    rco_receipt_builder_event(p->in.builder, &e);
    rco_render_log_event(&p->log, &e, line, n);
    if (p->r->job.phase == RCO_ENGINE_PHASE_PLAN)
        p->diff_cut = !rco_render_diff(&e, &p->diff) || p->diff_cut;
    rco_arena_clear(&p->line);
}

/* --- start ----------------------------------------------------------------------------------- */

static void encode_start(struct report *p, struct rco_buf *out)
{
    struct rco_runner_start s = {.protocol = RCO_RUNNER_PROTOCOL,
                                 .has_protocol = true,
                                 .run_uid = p->r->job.run_uid,
                                 .project = p->in.fetched.project,
                                 .commit = p->in.fetched.commit,
                                 .workspace_digest = p->in.installed.workspace_digest,
                                 .runner_version = rco_runner_version()};
    rco_codec_encode(&rco_runner_start_schema, &s, out);
}

static int write_never(struct report *p, const char *why)
{
    struct rco_error err = RCO_ERROR_INIT;
    const char *path = rco_runner_path(p->r, "control/never");
    rco_log(RCO_LOG_ERROR, "the start was refused, nothing is run", RCO_S("message", why));
    if (rco_file_create_excl(path, why, strlen(why), 0644, &err) < 0 && err.code != RCO_EEXISTS)
        rco_log(RCO_LOG_ERROR, "refusal not written", RCO_S("error", err.msg));
    return -1;
}

/* The answer becomes the go file: made once, whoever asks again finds it. */
static int write_go(struct report *p, const struct rco_answer *ans)
{
    struct rco_runner_start_answer answer = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    if (ans->body.len && rco_codec_decode(&rco_runner_start_answer_schema, ans->body.data,
                                          ans->body.len, &p->r->arena, &answer, &err) < 0)
        return write_never(
            p, rco_arena_printf(&p->r->arena, "the gateway's answer to the start: %s", err.msg));
    rco_codec_encode(&rco_runner_start_answer_schema, &answer, &text);
    /* Written aside and linked: the engine never sees half of it, and link(2) is exclusive. */
    const char *aside = rco_runner_path(p->r, "control/go.new");
    if (rco_file_write_atomic(aside, text.data, text.len, 0644, &err) < 0)
        return write_never(p, rco_arena_printf(&p->r->arena, "go file: %s", err.msg));
    if (link(aside, rco_runner_path(p->r, "control/go")) < 0 && errno != EEXIST)
        return write_never(p, rco_arena_printf(&p->r->arena, "go file: %s", strerror(errno)));
    return 0;
}

static int ask_to_start(struct report *p)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_answer ans = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_mono since = rco_clock_mono();
    int rc = -1;
    encode_start(p, &body);
    for (unsigned attempt = 1; !p->term; attempt++) {
        int got = rco_gateway_call(p->gateway, "POST", "start", body.data, body.len, &ans, &err);
        enum rco_gateway_verdict v = rco_gateway_judge(got, &ans);
        if (v == RCO_GATEWAY_DONE) {
            rc = write_go(p, &ans);
            break;
        }
        const char *why = got < 0 ? err.msg : rco_gateway_message(&ans, &p->r->arena);
        bool late = rco_clock_mono() - since > START_WAIT_S * RCO_NS_PER_S;
        if (v == RCO_GATEWAY_REFUSED || (v == RCO_GATEWAY_WAIT && late)) {
            write_never(p, why);
            break;
        }
        rco_log(RCO_LOG_INFO, "waiting for the start", RCO_N("status", ans.status),
                RCO_S("message", why));
        rest(p, rco_gateway_backoff_ms(attempt, &ans));
    }
    rco_buf_release(&ans.body);
    return rc;
}

/* --- while the engine runs ------------------------------------------------------------------- */

static void ask_to_cancel(struct report *p)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (p->cancel_written)
        return;
    rco_log(RCO_LOG_INFO, "the operator asks to cancel");
    if (rco_file_create_excl(rco_runner_path(p->r, "control/cancel"), "", 0, 0644, &err) < 0 &&
        err.code != RCO_EEXISTS)
        rco_log(RCO_LOG_ERROR, "cancel not handed on", RCO_S("error", err.msg));
    else
        p->cancel_written = true;
}

static void heartbeat(struct report *p)
{
    struct rco_receipt_result s;
    struct rco_runner_heartbeat_answer answer = {0};
    struct rco_answer ans = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    rco_mono now = rco_clock_mono();
    if (now < p->next_beat)
        return;
    p->next_beat = now + HEARTBEAT_S * RCO_NS_PER_S;
    rco_receipt_builder_result(p->in.builder, &s);
    char urn[1024];
    rco_text_cut(urn, sizeof(urn), rco_str_or_empty(s.current_urn));
    struct rco_runner_heartbeat h = {.run_uid = p->r->job.run_uid,
                                     .stage = s.preview_done ? "update" : "preview",
                                     .done = (int64_t)s.steps_done,
                                     .has_done = true,
                                     .total = (int64_t)s.steps_total,
                                     .has_total = true,
                                     .urn = urn[0] ? urn : NULL};
    rco_codec_encode(&rco_runner_heartbeat_schema, &h, &body);
    int rc = rco_gateway_call(p->gateway, "POST", "heartbeat", body.data, body.len, &ans, &err);
    if (rco_gateway_judge(rc, &ans) == RCO_GATEWAY_DONE && ans.body.len &&
        rco_codec_decode(&rco_runner_heartbeat_answer_schema, ans.body.data, ans.body.len, &p->line,
                         &answer, &err) == 0 &&
        answer.action == RCO_RUNNER_HEARTBEAT_ANSWER_ACTION_CANCEL)
        ask_to_cancel(p);
    rco_arena_clear(&p->line);
    rco_buf_release(&ans.body);
}

/* Until the engine has left its result, or its container has ended without one: a sidecar gets
 * SIGTERM only after the containers it serves. */
static void follow_engine(struct report *p)
{
    rco_mono term_at = 0;
    for (;;) {
        bool done = exists(p, "stream/done"); /* before the last read of the stream */
        bool more = rco_tail_read(&p->tail, TAIL_BUDGET, on_line, p);
        if (done && !more)
            return;
        if (p->term && !term_at)
            term_at = rco_clock_mono();
        if (term_at && rco_clock_mono() - term_at > LAST_LOOK_MS * RCO_NS_PER_MS && !more)
            return;
        heartbeat(p);
        if (!more)
            rest(p, POLL_MS);
        note_term(p);
    }
}

/* --- afterwards ------------------------------------------------------------------------------ */

static bool wait_more(void *ctx, int64_t ms)
{
    struct report *p = ctx;
    heartbeat(p);
    rest(p, ms);
    return true; /* the kubelet ends us, nobody else */
}

/* A file of the engine's directory, as hostile as its name: regular, not through a link, capped. */
static bool read_stream_file(struct report *p, const char *name, size_t cap, struct rco_buf *out)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct stat st;
    char bytes[65536];
    ssize_t n;
    rco_autoclose int fd = open(rco_runner_pathf(p->r, "stream/%s", name),
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        if (rco_buf_add_capped(out, bytes, (size_t)n, cap, &err) < 0)
            return false;
    return n == 0;
}

static void build_log(struct report *p, struct rco_buf *out, bool *ret_cut)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf install = RCO_BUF_INIT, stderr_text = RCO_BUF_INIT, engine = RCO_BUF_INIT;
    if (rco_file_read(rco_runner_path(p->r, "install/log"), 512 * 1024, &install, &err) == 0 &&
        install.len) {
        rco_buf_adds(out, "--- install ---\n");
        rco_render_printable(install.data, install.len, out);
        rco_buf_adds(out, "--- engine ---\n");
    }
    if (read_stream_file(p, "stderr", 8 * 1024 * 1024, &stderr_text) && stderr_text.len)
        rco_render_log_text(&p->log, stderr_text.data, stderr_text.len);
    bool cut = rco_render_log_finish(&p->log, &engine);
    rco_buf_add(out, engine.data, engine.len);
    if (p->receipt.has_failure) {
        rco_autobuf failure = RCO_BUF_INIT;
        rco_buf_addf(&failure, "%s: %s\n", rco_failure_class_name(p->receipt.failure.class),
                     p->receipt.failure.message);
        rco_buf_add(out, failure.data, failure.len);
        show(p, failure.data, failure.len);
    }
    *ret_cut = cut || p->in.done.output_cut;
}

static void upload(struct report *p, enum rco_artifact_kind kind, const struct rco_buf *text,
                   bool cut)
{
    const struct rco_patience patience = {wait_more, p};
    struct rco_runner_artifact *a = &p->artifacts[p->receipt.n_artifacts];
    if (text->len == 0 ||
        rco_upload(p->r, p->gateway, kind, text->data, text->len, &patience, a) < 0)
        return;
    if (cut)
        a->truncated = a->has_truncated = true;
    p->receipt.n_artifacts++;
}

static void upload_stream_file(struct report *p, enum rco_artifact_kind kind, const char *name,
                               size_t cap)
{
    rco_autobuf text = RCO_BUF_INIT;
    if (read_stream_file(p, name, cap, &text))
        upload(p, kind, &text, false);
}

/* A plan that nobody can apply is none. */
static void upload_plan(struct report *p)
{
    struct rco_runner_receipt *r = &p->receipt;
    size_t before = r->n_artifacts;
    if (r->result != RCO_APPLY_RESULT_SUCCEEDED)
        return;
    upload_stream_file(p, RCO_ARTIFACT_KIND_PLAN, "plan", 33 * 1024 * 1024);
    const struct rco_runner_artifact *a = &p->artifacts[before];
    bool stored = r->n_artifacts > before && !a->truncated;
    if (stored) {
        r->plan_file_digest = a->digest;
        return;
    }
    r->n_artifacts = before;
    r->result = RCO_APPLY_RESULT_FAILED;
    r->has_failure = true;
    r->failure = (struct rco_run_failure){
        .class = RCO_FAILURE_CLASS_INTERNAL,
        .message =
            "the plan was made and could not be stored: it is larger than the operator keeps"};
}

static void upload_all(struct report *p)
{
    rco_autobuf log = RCO_BUF_INIT;
    bool cut = false;
    p->receipt.artifacts = p->artifacts;
    if (p->r->job.phase == RCO_ENGINE_PHASE_PLAN) {
        upload_plan(p);
        if (p->receipt.result == RCO_APPLY_RESULT_SUCCEEDED)
            upload(p, RCO_ARTIFACT_KIND_DIFF, &p->diff, p->diff_cut);
    } else {
        upload_stream_file(p, RCO_ARTIFACT_KIND_OUTPUTS, "outputs", 1024 * 1024);
        upload_stream_file(p, RCO_ARTIFACT_KIND_STATE, "state", 33 * 1024 * 1024);
    }
    build_log(p, &log, &cut);
    upload(p, RCO_ARTIFACT_KIND_LOG, &log, cut);
}

static void summarize(struct report *p)
{
    struct rco_runner_summary s = {.ok = !p->receipt.has_failure,
                                   .started = p->in.done.started,
                                   .has_started = true,
                                   .has_receipt = true,
                                   .receipt = p->receipt};
    rco_runner_write_summary(p->r, &s);
}

static void send_receipt(struct report *p)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_answer ans = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_mono since = rco_clock_mono();
    rco_codec_encode(&rco_runner_receipt_schema, &p->receipt, &body);
    for (unsigned attempt = 1;; attempt++) {
        int rc = rco_gateway_call(p->gateway, "POST", "receipt", body.data, body.len, &ans, &err);
        enum rco_gateway_verdict v = rco_gateway_judge(rc, &ans);
        if (v == RCO_GATEWAY_DONE)
            break;
        const char *why = rc < 0 ? err.msg : rco_gateway_message(&ans, &p->r->arena);
        rco_log(RCO_LOG_WARN, "receipt not taken", RCO_N("status", ans.status),
                RCO_S("message", why));
        bool late = rco_clock_mono() - since > START_WAIT_S * RCO_NS_PER_S;
        if (v == RCO_GATEWAY_REFUSED || (v == RCO_GATEWAY_WAIT && late))
            break; /* the run is gone, and nobody keeps its result */
        wait_more(p, rco_gateway_backoff_ms(attempt, &ans));
    }
    rco_buf_release(&ans.body);
}

static void deliver(struct report *p)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_engine_done_read(p->r, &p->in.done, &err) < 0) {
        rco_log(RCO_LOG_ERROR, "the engine has left no result", RCO_S("error", err.msg));
        rco_outcome_without_result(p->r, &p->in.done);
    }
    rco_outcome_receipt(p->r, &p->in, &p->receipt);
    summarize(p); /* first, should everything else fail */
    upload_all(p);
    summarize(p);
    send_receipt(p);
    if (rco_file_create_excl(rco_runner_path(p->r, "control/delivered"), "", 0, 0644, &err) < 0 &&
        err.code != RCO_EEXISTS)
        rco_log(RCO_LOG_ERROR, "delivery not noted", RCO_S("error", err.msg));
    rco_log(RCO_LOG_INFO, "delivered", RCO_S("result", rco_apply_result_name(p->receipt.result)),
            RCO_N("adds", p->receipt.adds), RCO_N("changes", p->receipt.changes),
            RCO_N("deletes", p->receipt.deletes), RCO_N("replaces", p->receipt.replaces));
}

/* A sidecar that ends is started again, so it stays until it is asked to go. */
static void wait_for_end(struct report *p)
{
    while (!p->term)
        rest(p, 60 * 1000);
}

static int run(struct report *p, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_runner *r = p->r;
    if (exists(p, "control/delivered") || exists(p, "control/never"))
        return 0;
    if (rco_fetch_facts_read(r, &p->in.fetched, &err) < 0 ||
        rco_install_facts_read(r, &p->in.installed, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err,
                                 "what earlier containers left");
    p->gateway = rco_gateway_new(r, &err);
    if (!p->gateway)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "gateway");
    if (!exists(p, "control/go") && ask_to_start(p) < 0)
        return p->term ? 0
                       : rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED,
                                         "the operator refused the start, nothing was run");
    follow_engine(p);
    deliver(p);
    return 0;
}

int rco_verb_report(struct rco_runner *r)
{
    struct rco_failure f = RCO_FAILURE_INIT;
    struct report p = {.r = r};
    p.log.on_text = show;
    p.log.ctx = &p;
    int code = RCO_EXIT_OK;
    umask(022);
    p.in.builder = rco_receipt_builder_new(r->job.phase);
    rco_tail_init(&p.tail, rco_runner_path(r, "stream/events"));
    if (run(&p, &f) < 0)
        code = rco_runner_fail(r, &f, NULL);
    wait_for_end(&p);
    rco_tail_release(&p.tail);
    rco_render_log_release(&p.log);
    rco_buf_release(&p.diff);
    rco_arena_release(&p.line);
    rco_receipt_builder_free(p.in.builder);
    rco_gateway_free(p.gateway);
    return code;
}
