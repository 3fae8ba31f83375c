#include "plugins.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int link_files(struct rco_runner *r, const char *from, const char *to, struct rco_failure *f)
{
    DIR *d = opendir(from);
    if (!d || (mkdir(to, 02775) < 0 && errno != EEXIST)) {
        if (d)
            closedir(d);
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "plugin %s: %s", from,
                               strerror(errno));
    }
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        const char *target = rco_arena_printf(&r->arena, "%s/%s", from, e->d_name);
        const char *link = rco_arena_printf(&r->arena, "%s/%s", to, e->d_name);
        if (symlink(target, link) < 0 && errno != EEXIST)
            rc = rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "link %s: %s", link,
                                 strerror(errno));
    }
    closedir(d);
    return rc;
}

int rco_plugins_link(struct rco_runner *r, struct rco_failure *f)
{
    const char *dir = rco_environ_get(r->environ, "RCO_IMAGE_PLUGINS");
    const char *home = rco_runner_path(r, "pulumi/plugins");
    if (!dir)
        dir = RCO_IMAGE_PLUGINS;
    DIR *d = opendir(dir);
    if (!d)
        return 0; /* an image without plugins */
    if (mkdir(home, 02775) < 0 && errno != EEXIST) {
        closedir(d);
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "make %s: %s", home, strerror(errno));
    }
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(d))) {
        const char *from = rco_arena_printf(&r->arena, "%s/%s", dir, e->d_name);
        struct stat st;
        if (e->d_name[0] != '.' && stat(from, &st) == 0 && S_ISDIR(st.st_mode))
            rc = link_files(r, from, rco_runner_pathf(r, "pulumi/plugins/%s", e->d_name), f);
    }
    closedir(d);
    return rc;
}

void rco_language_env(struct rco_runner *r, const char *runtime, struct rco_procenv *env)
{
    const char *src = rco_runner_path(r, "workspace/src");
    if (rco_streq(runtime, "python")) {
        const char *path = rco_str_or_empty(r->job.program.path);
        const char *venv =
            rco_arena_printf(&r->arena, "%s/%s/" RCO_PYTHON_VENV, src, *path ? path : ".");
        rco_procenv_set(env, "VIRTUAL_ENV", venv);
        rco_procenv_set(env, "PATH", rco_arena_printf(&r->arena, "%s/bin:%s", venv, r->path));
        rco_procenv_set(env, "PYTHONDONTWRITEBYTECODE", "1");
        rco_procenv_set(env, "PIP_CACHE_DIR", rco_arena_printf(&r->arena, "%s/pip", r->tmpdir));
    } else if (rco_streq(runtime, "nodejs")) {
        rco_procenv_set(env, "npm_config_cache", rco_arena_printf(&r->arena, "%s/npm", r->tmpdir));
    } else if (rco_streq(runtime, "go")) {
        /* Outside the checkout, so that the workspace digest does not depend on it. */
        rco_procenv_set(env, "GOPATH", rco_runner_path(r, "pulumi/go"));
        rco_procenv_set(env, "GOCACHE", rco_arena_printf(&r->arena, "%s/go-build", r->tmpdir));
        rco_procenv_set(env, "GOTOOLCHAIN", "local");
        rco_procenv_set(env, "GOFLAGS", "-buildvcs=false");
    }
}
