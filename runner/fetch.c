#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "beneath.h"
#include "facts.h"
#include "git.h"
#include "project.h"
#include "runner.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char *const project_files[] = {"Pulumi.yaml", "Pulumi.yml"};

static int read_all(int fd, size_t cap, const char *name, struct rco_buf *out,
                    struct rco_error *err)
{
    char bytes[65536];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return rco_error_errno(err, errno, "read %s", name);
        if (rco_buf_add_capped(out, bytes, (size_t)n, cap, err) < 0)
            return rco_error_wrap(err, "%s", name);
    }
    return 0;
}

/* The project file in DIR_FD, the first of its possible names. */
static int read_project(struct rco_runner *r, int dir_fd, struct rco_project *ret,
                        struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    const char *where = rco_str_empty(r->job.program.path) ? "." : r->job.program.path;
    for (size_t i = 0; i < RCO_ARRAY_LEN(project_files); i++) {
        rco_autoclose int fd =
            rco_open_beneath(dir_fd, project_files[i], O_RDONLY | O_NONBLOCK, &err);
        if (fd < 0 && err.code == RCO_ENOTFOUND)
            continue;
        if (fd < 0 || read_all(fd, RCO_PROJECT_MAX, project_files[i], &text, &err) < 0 ||
            rco_project_parse(project_files[i], rco_buf_str(&text), text.len, &r->arena, ret,
                              &err) < 0)
            return rco_failure_set(f, RCO_FAILURE_CLASS_SOURCE, "directory %s of %s: %s", where,
                                   r->job.program.repository, err.msg);
        return 0;
    }
    return rco_failure_set(
        f, RCO_FAILURE_CLASS_SOURCE,
        "directory %s of %s at %s holds no Pulumi.yaml: programRef must end in the "
        "directory of the program",
        where, r->job.program.repository, r->job.program.commit);
}

static int fetch(struct rco_runner *r, struct rco_git *g, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_project project;
    int64_t time = 0;
    const char *src = rco_runner_path(r, "workspace/src");
    if (rco_git_check_url(r->job.program.repository, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, r->job.program.repository);
    size_t len = strlen(r->job.program.commit);
    if ((len != 40 && len != 64) || !rco_is_lower_hex(r->job.program.commit, len))
        return rco_failure_set(f, RCO_FAILURE_CLASS_SOURCE,
                               "%s is not a full commit id; programVersion takes no branch or tag",
                               r->job.program.commit);
    /* The container starts again when its node's sandbox was lost. */
    if (rco_workspace_remove(src, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "clear the workspace");
    if (rco_git_init(g, r, f) < 0 || rco_git_checkout(g, src, r->job.program.commit, &time, f) < 0)
        return -1;
    rco_autoclose int top = open(src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rco_autoclose int dir =
        rco_open_beneath(top, rco_str_or_empty(r->job.program.path), O_RDONLY | O_DIRECTORY, &err);
    if (dir < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_SOURCE, "path in %s: %s",
                               r->job.program.repository, err.msg);
    if (read_project(r, dir, &project, f) < 0)
        return -1;
    rco_workspace_touch(src, time);
    struct rco_fetch_facts facts = {.commit = r->job.program.commit,
                                    .project = project.name,
                                    .runtime = project.runtime,
                                    .settings_dir = project.settings_dir,
                                    .commit_time = time};
    if (rco_fetch_facts_write(r, &facts, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "record what was fetched");
    rco_log(RCO_LOG_INFO, "fetched", RCO_S("commit", facts.commit), RCO_S("project", facts.project),
            RCO_S("runtime", facts.runtime));
    return 0;
}

int rco_verb_fetch(struct rco_runner *r)
{
    struct rco_failure f = RCO_FAILURE_INIT;
    struct rco_git g;
    struct rlimit limit = {RCO_GIT_MAX_FILE, RCO_GIT_MAX_FILE};
    umask(002); /* the group is shared by all containers */
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    memset(&g, 0, sizeof(g));
    g.config_fd = -1;
    int rc = fetch(r, &g, &f);
    int code = RCO_EXIT_OK;
    if (rc < 0) {
        code = rco_runner_fail(r, &f, &g.log);
    } else {
        struct rco_runner_summary ok = {.ok = true};
        rco_runner_write_summary(r, &ok);
    }
    rco_git_release(&g);
    return code;
}
