#include "supervise.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define POLL_MS 200
/* A process that outlives Pulumi with its output open is not waited for. */
#define DRAIN_MS 2000

struct run {
    struct rco_engine *e;
    struct rco_stream *out, *err;
    int out_fd, err_fd;
    pid_t pid;
    bool ended;
    int status;
    rco_mono started, term_at, ended_at;
    int64_t kill_after_ms; /* from SIGTERM to SIGKILL */
    struct rco_supervised *ret;
    struct rco_error error;
};

static int64_t ms_since(rco_mono t)
{
    return (rco_clock_mono() - t) / RCO_NS_PER_MS;
}

bool rco_stop_requested(struct rco_engine *e)
{
    struct pollfd p = {.fd = e->r->stop_fd, .events = POLLIN};
    if (!e->cancel)
        e->cancel = access(rco_runner_path(e->r, "control/cancel"), F_OK) == 0;
    return e->cancel || poll(&p, 1, 0) > 0;
}

/* Reads once; closes at the end. False on a write error. */
static bool take(struct run *r, int *fd, struct rco_stream *s)
{
    char bytes[65536];
    ssize_t n = read(*fd, bytes, sizeof(bytes));
    if (n > 0)
        return rco_stream_feed(s, bytes, (size_t)n, &r->error) == 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    close(*fd);
    *fd = -1;
    return true;
}

/* Takes the status of Pulumi and of every orphan that became ours. */
static void reap(struct run *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != r->pid)
            continue;
        r->ended = true;
        r->status = status;
        r->ended_at = rco_clock_mono();
    }
}

static void stop_if_due(struct run *r)
{
    int64_t limit_ms = r->e->r->job.timeout_seconds * 1000;
    bool late = limit_ms > 0 && ms_since(r->started) >= limit_ms;
    if (!r->term_at) {
        bool stop = rco_stop_requested(r->e);
        if (!stop && !late)
            return;
        r->ret->cancelled = stop;
        r->ret->timed_out = !stop;
        r->term_at = rco_clock_mono();
        rco_log(RCO_LOG_INFO, "asking the engine to end",
                RCO_S("why", stop ? "asked to" : "timeout"));
        /* Once: a second signal makes Pulumi give up operations in flight. */
        kill(r->pid, SIGTERM);
    } else if (!r->ret->killed && ms_since(r->term_at) >= r->kill_after_ms) {
        r->ret->killed = true;
        rco_log(RCO_LOG_WARN, "killing the engine, the grace is nearly over");
        kill(-r->pid, SIGKILL);
    }
}

/* False when output could not be written. */
static bool pump(struct run *r)
{
    bool ok = true;
    while (ok && (!r->ended ||
                  ((r->out_fd >= 0 || r->err_fd >= 0) && ms_since(r->ended_at) < DRAIN_MS))) {
        struct pollfd p[] = {{.fd = r->out_fd, .events = POLLIN},
                             {.fd = r->err_fd, .events = POLLIN}};
        bool open = r->out_fd >= 0 || r->err_fd >= 0;
        poll(p, 2, open && !r->ended ? POLL_MS : 20);
        if (p[0].revents)
            ok = take(r, &r->out_fd, r->out);
        if (ok && p[1].revents)
            ok = take(r, &r->err_fd, r->err);
        reap(r);
        if (!r->ended)
            stop_if_due(r);
    }
    return ok;
}

void rco_reap_all(void)
{
    if (getpid() != 1)
        return;
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
}

static int start(struct run *r, const struct rco_argv *argv, struct rco_failure *f)
{
    int out[2], errs[2];
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_proc p = {
        .argv = argv->list, .path = r->e->r->path, .env = r->e->env.list, .cwd_fd = r->e->dir};
    rco_autoclose int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || pipe2(out, O_CLOEXEC) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "make a pipe: %s", strerror(errno));
    r->out_fd = out[0];
    rco_autoclose int out_w = out[1];
    if (pipe2(errs, O_CLOEXEC) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "make a pipe: %s", strerror(errno));
    r->err_fd = errs[0];
    rco_autoclose int err_w = errs[1];
    fcntl(r->out_fd, F_SETFL, O_NONBLOCK);
    fcntl(r->err_fd, F_SETFL, O_NONBLOCK);
    r->started = rco_clock_mono();
    if (rco_proc_spawn(&p, null, out_w, err_w, &r->pid, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_CONFIG, &err, "pulumi");
    return 0;
}

static int open_streams(struct run *r, const char *name, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *mask = r->e->inputs.mask;
    r->out = rco_stream_new(rco_runner_pathf(r->e->r, "stream/%s", name), mask, &err);
    if (r->out)
        r->err = rco_stream_new(rco_runner_path(r->e->r, "stream/stderr"), mask, &err);
    if (!r->out || !r->err)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "output of the engine");
    return 0;
}

static int finish(struct run *r, bool ok, struct rco_failure *f)
{
    struct rco_supervised *ret = r->ret;
    if (!r->ended) { /* its output cannot be written: it must not go on unseen */
        kill(r->pid, SIGTERM);
        while (waitpid(r->pid, &r->status, 0) < 0 && errno == EINTR)
            continue;
    }
    kill(-r->pid, SIGKILL); /* what it has left in its group */
    rco_reap_all();
    ok = ok && rco_stream_finish(r->out, &r->error) == 0 &&
         rco_stream_finish(r->err, &r->error) == 0;
    ret->exit_code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1;
    ret->signal = WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0;
    ret->text_cut = rco_stream_text_cut(r->out) || rco_stream_text_cut(r->err);
    ret->events_cut = rco_stream_events_cut(r->out);
    ret->error = rco_pulumi_error_line(r->e, rco_stream_beginning(r->err));
    if (!ok)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &r->error, "output of the engine");
    return 0;
}

int rco_supervise(struct rco_engine *e, const struct rco_argv *argv, const char *name,
                  struct rco_supervised *ret, struct rco_failure *f)
{
    struct run r = {.e = e, .ret = ret, .out_fd = -1, .err_fd = -1};
    int64_t grace = e->r->job.grace_seconds - RCO_KILL_BEFORE_END_S;
    *ret = (struct rco_supervised){.exit_code = -1};
    r.kill_after_ms = (grace > 1 ? grace : 1) * 1000;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int rc = open_streams(&r, name, f);
    if (rc == 0)
        rc = start(&r, argv, f);
    if (rc == 0)
        rc = finish(&r, pump(&r), f);
    rco_close_cleanup(&r.out_fd);
    rco_close_cleanup(&r.err_fd);
    rco_stream_free(r.out);
    rco_stream_free(r.err);
    return rc;
}
