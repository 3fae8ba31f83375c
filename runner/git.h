/* The git program: credentials, one exact commit, nothing of the repository that could act. */
#ifndef RCO_RUNNER_GIT_H
#define RCO_RUNNER_GIT_H

#include "proc.h"
#include "runner.h"

#include <stdint.h>

/* Whether URL is https:// or ssh:// with a plain host and path, no password, nothing that git or
 * ssh could take for an option. ERR says what is wrong. */
RCO_MUST_CHECK int rco_git_check_url(const char *url, struct rco_error *err);

struct rco_git {
    struct rco_runner *r;
    struct rco_procenv env;
    int config_fd;      /* a file in memory with the credentials, inherited by git; -1 = none */
    struct rco_buf log; /* what git said, at most RCO_GIT_MAX_LOG */
};

#define RCO_GIT_MAX_LOG (256 * 1024)
/* One object or pack must not be larger. */
#define RCO_GIT_MAX_FILE (INT64_C(4) << 30)
#define RCO_GIT_TIMEOUT_S 900

/* Reads the mounted credentials and CA of the job and prepares the environment. */
RCO_MUST_CHECK int rco_git_init(struct rco_git *g, struct rco_runner *r, struct rco_failure *f);
void rco_git_release(struct rco_git *g);

/* Makes directory DIR a checkout of exactly COMMIT of the job's repository; *RET_TIME is the
 * commit's time in seconds. Asks for the one commit first; a server that refuses it is asked for
 * everything. */
RCO_MUST_CHECK int rco_git_checkout(struct rco_git *g, const char *dir, const char *commit,
                                    int64_t *ret_time, struct rco_failure *f);

/* What git calls in place of ssh (GIT_SSH): runs ssh with the mounted key and known hosts. Does not
 * return on success. */
int rco_git_ssh(int argc, char **argv, char *const *vars);

#endif
