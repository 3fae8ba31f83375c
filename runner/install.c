#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "beneath.h"
#include "facts.h"
#include "inputs.h"
#include "netenv.h"
#include "plugins.h"
#include "pulumi/failure.h"
#include "runner.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define INSTALL_TIMEOUT_S 1800
#define INSTALL_MAX_LOG (256 * 1024)

struct install {
    struct rco_runner *r;
    struct rco_fetch_facts fetched;
    struct rco_procenv env;
    int dir; /* of the program */
    struct rco_buf log;
};

static bool has_file(const struct install *in, const char *name)
{
    struct stat st;
    return fstatat(in->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Runs one installer, which messages call WHAT; REMEDY is said when the program is not in the
 * image. */
static int run(struct install *in, const struct rco_argv *argv, const char *what,
               const char *remedy, struct rco_failure *f)
{
    rco_autoproc res = {0};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_runner *r = in->r;
    struct rco_proc p = {.argv = argv->list,
                         .path = r->path,
                         .env = in->env.list,
                         .cwd_fd = in->dir,
                         .max_output = INSTALL_MAX_LOG / 4,
                         .timeout_ms = (int64_t)INSTALL_TIMEOUT_S * 1000,
                         .stop_fd = r->stop_fd};
    rco_buf_addf(&in->log, "$ %s\n", what);
    if (rco_proc_run(&p, &res, &err) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG, "the program's runtime is %s: %s; %s",
                               in->fetched.runtime, err.msg, remedy);
    rco_buf_add(&in->log, res.out.data, res.out.len);
    rco_buf_add(&in->log, res.err.data, res.err.len);
    if (res.stopped)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED, "the pod was asked to end");
    if (res.timed_out)
        return rco_failure_set(f, RCO_FAILURE_CLASS_TIMEOUT, "%s took longer than %d s", what,
                               INSTALL_TIMEOUT_S);
    if (res.exit_code == 0)
        return 0;
    const struct rco_buf *from = res.err.len ? &res.err : &res.out;
    size_t n;
    const char *line = rco_fail_first_line(rco_buf_str(from), from->len, &n);
    const char *text = line ? rco_arena_strndup(&r->arena, line, n) : "no message";
    return rco_failure_set(f, rco_fail_of_install(text), "%s: %s", what, text);
}

static const char image_remedy[] =
    "set runner.image of the Environment to a runner image that has this language";

static int install_nodejs(struct install *in, struct rco_failure *f)
{
    struct rco_argv a = {0};
    if (!has_file(in, "package.json"))
        return 0;
    bool locked = has_file(in, "package-lock.json") || has_file(in, "npm-shrinkwrap.json");
    rco_argv_adds(&a, "npm", locked ? "ci" : "install", "--no-audit", "--no-fund",
                  "--no-update-notifier", NULL);
    return run(in, &a, locked ? "npm ci" : "npm install", image_remedy, f);
}

static int install_python(struct install *in, struct rco_failure *f)
{
    struct rco_argv venv = {0}, pip = {0};
    if (!has_file(in, "requirements.txt"))
        return 0;
    rco_argv_adds(&venv, "python3", "-m", "venv", RCO_PYTHON_VENV, NULL);
    const char *python =
        rco_arena_printf(&in->r->arena, "%s/bin/python", rco_procenv_get(&in->env, "VIRTUAL_ENV"));
    rco_argv_adds(&pip, python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
                  "-r", "requirements.txt", NULL);
    if (run(in, &venv, "python3 -m venv", image_remedy, f) < 0)
        return -1;
    return run(in, &pip, "pip install", image_remedy, f);
}

static int install_go(struct install *in, struct rco_failure *f)
{
    struct rco_argv a = {0};
    if (!has_file(in, "go.mod"))
        return 0;
    rco_argv_adds(&a, "go", "mod", "download", NULL);
    return run(in, &a, "go mod download", image_remedy, f);
}

static int install_nothing(struct install *in RCO_UNUSED, struct rco_failure *f RCO_UNUSED)
{
    return 0;
}

static const struct {
    const char *runtime;
    int (*install)(struct install *in, struct rco_failure *f);
} runtimes[] = {
    {"yaml", install_nothing},
    {"nodejs", install_nodejs},
    {"python", install_python},
    {"go", install_go},
};

static int install_dependencies(struct install *in, struct rco_failure *f)
{
    const char *host = rco_arena_printf(&in->r->arena, "pulumi-language-%s", in->fetched.runtime);
    if (strchr(in->fetched.runtime, '/') || !rco_proc_find(in->r->path, host, &in->r->arena))
        return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                               "the program's runtime is %s and the runner image has no %s; %s",
                               in->fetched.runtime, host, image_remedy);
    for (size_t i = 0; i < RCO_ARRAY_LEN(runtimes); i++)
        if (strcmp(runtimes[i].runtime, in->fetched.runtime) == 0)
            return runtimes[i].install(in, f);
    return 0; /* other languages compile in the engine container */
}

/* Provider plugins that the program names: those of the image are there already, others are
 * downloaded (from the mirror, when there is one). */
static int install_plugins(struct install *in, struct rco_failure *f)
{
    struct rco_argv a = {0};
    struct rco_failure raw = RCO_FAILURE_INIT;
    rco_argv_adds(&a, "pulumi", "install", "--no-dependencies", "--non-interactive", "--color",
                  "never", NULL);
    if (run(in, &a, "pulumi install", image_remedy, &raw) == 0)
        return 0;
    *f = raw;
    if (strstr(raw.message, "plugin"))
        rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "%s (it is not in the runner image and could not be downloaded: build it into "
            "runner.image, or set runner.pod.pluginMirror)",
            raw.message);
    return -1;
}

static int digest(struct install *in, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autoworkspace w = {0};
    const char *src = rco_runner_path(in->r, "workspace/src");
    rco_workspace_touch(src, in->fetched.commit_time);
    if (rco_workspace_digest(src, &w, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "workspace");
    struct rco_install_facts facts = {.workspace_digest = w.digest, .files = (int64_t)w.files};
    if (rco_file_write_atomic(rco_runner_path(in->r, "install/manifest"), rco_buf_str(&w.manifest),
                              w.manifest.len, 0644, &err) < 0 ||
        rco_file_write_atomic(rco_runner_path(in->r, "install/log"), rco_buf_str(&in->log),
                              in->log.len, 0644, &err) < 0 ||
        rco_install_facts_write(in->r, &facts, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "record what was installed");
    rco_log(RCO_LOG_INFO, "installed", RCO_S("workspaceDigest", w.digest), RCO_N("files", w.files));
    return 0;
}

static int install(struct install *in, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_runner *r = in->r;
    const char *ca;
    if (rco_fetch_facts_read(r, &in->fetched, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "what fetch has left");
    rco_autoclose int top =
        open(rco_runner_path(r, "workspace/src"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    in->dir =
        rco_open_beneath(top, rco_str_or_empty(r->job.program.path), O_RDONLY | O_DIRECTORY, &err);
    if (in->dir < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "directory of the program");
    rco_base_env(r, &in->env);
    rco_language_env(r, in->fetched.runtime, &in->env);
    rco_procenv_set(&in->env, "PULUMI_HOME", rco_runner_path(r, "pulumi"));
    rco_procenv_set(&in->env, "PULUMI_SKIP_UPDATE_CHECK", "true");
    if (!rco_str_empty(r->job.plugin_mirror))
        rco_procenv_set(&in->env, "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES",
                        rco_arena_printf(&r->arena, ".*=%s", r->job.plugin_mirror));
    if (rco_ca_env(r, NULL, &in->env, &ca, f) < 0 || rco_pod_env(r, &in->env, f) < 0 ||
        rco_plugins_link(r, f) < 0 || install_dependencies(in, f) < 0 || install_plugins(in, f) < 0)
        return -1;
    return digest(in, f);
}

int rco_verb_install(struct rco_runner *r)
{
    struct rco_failure f = RCO_FAILURE_INIT;
    struct install in = {.r = r, .dir = -1};
    int code = RCO_EXIT_OK;
    umask(002); /* the group is shared by all containers */
    if (install(&in, &f) < 0) {
        code = rco_runner_fail(r, &f, &in.log);
    } else {
        struct rco_runner_summary ok = {.ok = true};
        rco_runner_write_summary(r, &ok);
    }
    rco_close_cleanup(&in.dir);
    rco_buf_release(&in.log);
    return code;
}
