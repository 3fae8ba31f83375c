/* Opening of paths that come from outside: only beneath a directory, through no symbolic link. */
#ifndef RCO_RUNNER_BENEATH_H
#define RCO_RUNNER_BENEATH_H

#include "base/error.h"

/* Opens PATH (relative, "" or "." = the directory itself) beneath DIR_FD with FLAGS (O_CLOEXEC is
 * added). Returns the descriptor, or -1: RCO_EINVALID when the path leaves the directory or goes
 * through a symbolic link, RCO_ENOTFOUND when it does not exist. */
RCO_MUST_CHECK int rco_open_beneath(int dir_fd, const char *path, int flags, struct rco_error *err);

/* The same without openat2(2), component by component: what rco_open_beneath does where the kernel
 * or the sandbox has no openat2. Public for its test. */
RCO_MUST_CHECK int rco_open_beneath_walk(int dir_fd, const char *path, int flags,
                                         struct rco_error *err);

#endif
