/* Child processes: by argv, never by a shell, with an environment made from nothing. */
#ifndef RCO_RUNNER_PROC_H
#define RCO_RUNNER_PROC_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Environment of a child. */
struct rco_procenv {
    struct rco_arena *a;
    char **list; /* "NAME=value", NULL-terminated */
    size_t n, size;
};

/* Empty; its texts live in A. */
void rco_procenv_init(struct rco_procenv *e, struct rco_arena *a);
/* Sets NAME to VALUE (NULL: does nothing), replacing an earlier value. */
void rco_procenv_set(struct rco_procenv *e, const char *name, const char *value);
const char *rco_procenv_get(const struct rco_procenv *e, const char *name);
/* Value of NAME in a NULL-terminated environment, or NULL. */
const char *rco_environ_get(char *const *vars, const char *name);

#define RCO_ARGV_MAX 48

struct rco_argv {
    const char *list[RCO_ARGV_MAX + 1]; /* NULL-terminated */
    size_t n;
};

/* Borrows ARG; more than RCO_ARGV_MAX are a broken invariant (assert). */
void rco_argv_add(struct rco_argv *a, const char *arg);
/* Adds all arguments up to a NULL. */
void rco_argv_adds(struct rco_argv *a, const char *arg, ...) __attribute__((sentinel));

struct rco_proc {
    const char *const *argv; /* argv[0]: a path, or a name that is looked for in PATH */
    const char *path;        /* PATH to look in */
    char *const *env;
    int cwd_fd;        /* directory to start in; -1 = ours */
    const void *input; /* stdin; NULL = /dev/null */
    size_t input_len;
    size_t max_output;  /* bytes kept of stdout and of stderr: the first and last half of it */
    int64_t timeout_ms; /* 0 = none; afterwards SIGTERM, and SIGKILL after 10 s */
    int stop_fd;        /* readable: the same; -1 = none */
    void (*on_tick)(void *ctx); /* about once a second while it runs; NULL = none */
    void *ctx;
};

struct rco_proc_result {
    int exit_code; /* -1 when ended by a signal */
    int signal;
    bool timed_out, stopped;
    bool cut; /* output was left out */
    struct rco_buf out, err;
};

#define rco_autoproc rco_cleanup(rco_proc_result_release) struct rco_proc_result
void rco_proc_result_release(struct rco_proc_result *r);

/* Runs P to its end. -1 with RCO_ENOTFOUND when there is no such program, RCO_EIO when it cannot be
 * started; the child's own failure is in RET. */
RCO_MUST_CHECK int rco_proc_run(const struct rco_proc *p, struct rco_proc_result *ret,
                                struct rco_error *err);

/* Starts argv without waiting. Its stdin is IN_FD, stdout OUT_FD, stderr ERR_FD, all of which stay
 * open here. The child has a process group of its own. */
RCO_MUST_CHECK int rco_proc_spawn(const struct rco_proc *p, int in_fd, int out_fd, int err_fd,
                                  pid_t *ret, struct rco_error *err);

/* Absolute path of program NAME in PATH, in arena A; NULL when there is none. */
const char *rco_proc_find(const char *path, const char *name, struct rco_arena *a);

#endif
