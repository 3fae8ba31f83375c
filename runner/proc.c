#include "proc.h"

#include "base/clock.h"
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void rco_procenv_init(struct rco_procenv *e, struct rco_arena *a)
{
    *e = (struct rco_procenv){.a = a, .size = 64};
    e->list = rco_arena_array(a, e->size, sizeof(*e->list));
}

void rco_procenv_set(struct rco_procenv *e, const char *name, const char *value)
{
    size_t len = strlen(name);
    if (!value)
        return;
    char *text = rco_arena_printf(e->a, "%s=%s", name, value);
    for (size_t i = 0; i < e->n; i++) {
        if (strncmp(e->list[i], name, len) == 0 && e->list[i][len] == '=') {
            e->list[i] = text;
            return;
        }
    }
    if (e->n + 2 > e->size) {
        char **bigger = rco_arena_array(e->a, e->size * 2, sizeof(*bigger));
        memcpy(bigger, e->list, e->n * sizeof(*bigger));
        e->list = bigger;
        e->size *= 2;
    }
    e->list[e->n++] = text;
    e->list[e->n] = NULL;
}

const char *rco_environ_get(char *const *vars, const char *name)
{
    size_t len = strlen(name);
    for (; vars && *vars; vars++)
        if (strncmp(*vars, name, len) == 0 && (*vars)[len] == '=')
            return *vars + len + 1;
    return NULL;
}

const char *rco_procenv_get(const struct rco_procenv *e, const char *name)
{
    return rco_environ_get(e->list, name);
}

void rco_argv_add(struct rco_argv *a, const char *arg)
{
    assert(a->n < RCO_ARGV_MAX);
    a->list[a->n++] = arg;
    a->list[a->n] = NULL;
}

void rco_argv_adds(struct rco_argv *a, const char *arg, ...)
{
    va_list ap;
    va_start(ap, arg);
    for (; arg; arg = va_arg(ap, const char *))
        rco_argv_add(a, arg);
    va_end(ap);
}

const char *rco_proc_find(const char *path, const char *name, struct rco_arena *a)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    while (path && *path) {
        size_t len = strcspn(path, ":");
        if (len > 0 && path[0] == '/') { /* never a relative entry: the checkout is not ours */
            const char *full = rco_arena_printf(a, "%.*s/%s", (int)len, path, name);
            struct stat st;
            if (stat(full, &st) == 0 && S_ISREG(st.st_mode) && access(full, X_OK) == 0)
                return full;
        }
        path += len;
        path += *path == ':';
    }
    return NULL;
}

void rco_proc_result_release(struct rco_proc_result *r)
{
    rco_buf_release(&r->out);
    rco_buf_release(&r->err);
}

static int spawn_with(const struct rco_proc *p, const char *program, const int fds[3],
                      posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, pid_t *ret)
{
    sigset_t none, defaults;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    sigemptyset(&none);
    sigfillset(&defaults);
    sigdelset(&defaults, SIGKILL);
    sigdelset(&defaults, SIGSTOP);
    for (int i = 0; i < 3; i++) {
        int rc = posix_spawn_file_actions_adddup2(actions, fds[i], i);
        if (rc)
            return rc;
    }
    int rc = p->cwd_fd >= 0 ? posix_spawn_file_actions_addfchdir_np(actions, p->cwd_fd) : 0;
    if (!rc)
        rc = posix_spawnattr_setsigmask(attr, &none);
    if (!rc)
        rc = posix_spawnattr_setsigdefault(attr, &defaults);
    if (!rc)
        rc = posix_spawnattr_setpgroup(attr, 0);
    if (!rc)
        rc = posix_spawnattr_setflags(attr, flags);
    if (!rc)
        rc = posix_spawn(ret, program, actions, attr, (char *const *)p->argv, p->env);
    return rc;
}

int rco_proc_spawn(const struct rco_proc *p, int in_fd, int out_fd, int err_fd, pid_t *ret,
                   struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const char *program = rco_proc_find(p->path, p->argv[0], &a);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    if (!program)
        return rco_error_set(err, RCO_ENOTFOUND, "no program %s in this image", p->argv[0]);
    /* Copies above the standard three, so that no dup2 overwrites one that is still needed; they
     * close on exec. */
    int from[3] = {in_fd, out_fd, err_fd}, fds[3] = {-1, -1, -1}, rc = 0;
    for (int i = 0; i < 3; i++)
        if ((fds[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 10)) < 0)
            rc = errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    if (!rc)
        rc = spawn_with(p, program, fds, &actions, &attr, ret);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 3; i++)
        rco_close_cleanup(&fds[i]);
    return rc ? rco_error_errno(err, rc, "start %s", program) : 0;
}

/* Keeps the first and the last half of MAX bytes. */
struct keeper {
    struct rco_buf *head, tail;
    size_t max;
    bool cut;
};

static void keep(struct keeper *k, const char *bytes, size_t n)
{
    size_t half = k->max / 2;
    size_t room = k->head->len < half ? half - k->head->len : 0;
    if (room > n)
        room = n;
    rco_buf_add(k->head, bytes, room);
    rco_buf_add(&k->tail, bytes + room, n - room);
    if (k->tail.len > 2 * half) {
        rco_buf_consume(&k->tail, k->tail.len - half);
        k->cut = true;
    }
}

static void keep_end(struct keeper *k)
{
    size_t half = k->max / 2;
    if (k->tail.len > half) {
        rco_buf_consume(&k->tail, k->tail.len - half);
        k->cut = true;
    }
    if (k->cut)
        rco_buf_adds(k->head, "\n... output left out ...\n");
    rco_buf_add(k->head, k->tail.data, k->tail.len);
    rco_buf_release(&k->tail);
}

/* Reads what is there; false at the end. */
static bool drain(int fd, struct keeper *k)
{
    char bytes[65536];
    ssize_t n = read(fd, bytes, sizeof(bytes));
    if (n > 0)
        keep(k, bytes, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static int input_file(const struct rco_proc *p, struct rco_error *err)
{
    if (!p->input) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return fd < 0 ? rco_error_errno(err, errno, "open /dev/null") : fd;
    }
    /* A file in memory: no pipe to feed, nothing on disk. */
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0)
        return rco_error_errno(err, errno, "make a file in memory");
    if (rco_fd_write_all(fd, p->input, p->input_len, err) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        return rco_error_errno(err, errno, "write a file in memory");
    }
    return fd;
}

#define TICK_MS 1000
#define KILL_AFTER_MS 10000

struct running {
    const struct rco_proc *p;
    pid_t pid;
    rco_mono started, term_at;
    struct rco_proc_result *ret;
};

static int64_t ms_since(rco_mono t)
{
    return (rco_clock_mono() - t) / RCO_NS_PER_MS;
}

static void stop_if_due(struct running *r, bool stop)
{
    bool late = r->p->timeout_ms > 0 && ms_since(r->started) >= r->p->timeout_ms;
    if (!r->term_at && (stop || late)) {
        r->ret->stopped = stop;
        r->ret->timed_out = !stop;
        r->term_at = rco_clock_mono();
        kill(-r->pid, SIGTERM);
    } else if (r->term_at && ms_since(r->term_at) >= KILL_AFTER_MS) {
        kill(-r->pid, SIGKILL);
    }
}

/* Until the child has ended and both pipes are dry. Something that outlives the child with a pipe
 * in its hand is given one second. */
static void pump(struct running *r, int out, int err_fd, struct keeper *ko, struct keeper *ke)
{
    bool open_out = true, open_err = true, ended = false;
    int status = 0;
    rco_mono ended_at = 0;
    while (!ended || ((open_out || open_err) && ms_since(ended_at) < 1000)) {
        struct pollfd fds[] = {{.fd = open_out ? out : -1, .events = POLLIN},
                               {.fd = open_err ? err_fd : -1, .events = POLLIN},
                               {.fd = r->term_at ? -1 : r->p->stop_fd, .events = POLLIN}};
        poll(fds, 3, open_out || open_err ? (ended ? 100 : TICK_MS) : 20);
        if (fds[0].revents)
            open_out = drain(out, ko);
        if (fds[1].revents)
            open_err = drain(err_fd, ke);
        if (!ended && waitpid(r->pid, &status, WNOHANG) == r->pid) {
            ended = true;
            ended_at = rco_clock_mono();
        }
        if (!ended)
            stop_if_due(r, fds[2].revents & POLLIN);
        if (!ended && r->p->on_tick)
            r->p->on_tick(r->p->ctx);
    }
    r->ret->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r->ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int rco_proc_run(const struct rco_proc *p, struct rco_proc_result *ret, struct rco_error *err)
{
    int out[2], errs[2];
    *ret = (struct rco_proc_result){.exit_code = -1};
    rco_autoclose int in = input_file(p, err);
    if (in < 0)
        return -1;
    if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0)
        return rco_error_errno(err, errno, "make a pipe");
    rco_autoclose int out_r = out[0], out_w = out[1];
    if (pipe2(errs, O_CLOEXEC | O_NONBLOCK) < 0)
        return rco_error_errno(err, errno, "make a pipe");
    rco_autoclose int err_r = errs[0], err_w = errs[1];
    /* The child's ends must block: programs do not expect EAGAIN on their output. */
    fcntl(out_w, F_SETFL, 0);
    fcntl(err_w, F_SETFL, 0);

    struct running r = {.p = p, .ret = ret, .started = rco_clock_mono()};
    if (rco_proc_spawn(p, in, out_w, err_w, &r.pid, err) < 0)
        return -1;
    close(out_w);
    close(err_w);
    out_w = err_w = -1;
    size_t max = p->max_output ? p->max_output : 1024 * 1024;
    struct keeper ko = {.head = &ret->out, .max = max}, ke = {.head = &ret->err, .max = max};
    pump(&r, out_r, err_r, &ko, &ke);
    keep_end(&ko);
    keep_end(&ke);
    ret->cut = ko.cut || ke.cut;
    return 0;
}
