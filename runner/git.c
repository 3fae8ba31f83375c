#include "git.h"

#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/str.h"
#include "netenv.h"
#include "pulumi/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define CREDENTIAL_MAX (64 * 1024)

static bool is_host_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           strchr(".-_", c);
}

/* [user@]host[:port] up to the slash. */
static int check_authority(const char *s, size_t n, bool ssh, struct rco_error *err)
{
    const char *at = memchr(s, '@', n);
    if (at) {
        size_t user = (size_t)(at - s);
        if (!ssh || user == 0 || s[0] == '-')
            return rco_error_set(err, RCO_EINVALID,
                                 "the URL must not carry a user name or password");
        for (size_t i = 0; i < user; i++)
            if (!is_host_char(s[i]))
                return rco_error_set(err, RCO_EINVALID,
                                     "the user name in the URL must be plain, "
                                     "without a password");
        n -= user + 1;
        s = at + 1;
    }
    size_t host = 0, i;
    if (n > 0 && *s == '[') { /* IPv6 */
        const char *close = memchr(s, ']', n);
        host = close ? (size_t)(close - s) + 1 : 0;
        for (i = 1; i + 1 < host; i++)
            if (!strchr("0123456789abcdefABCDEF:.", s[i]))
                host = 0;
    } else {
        while (host < n && is_host_char(s[host]))
            host++;
    }
    if (host == 0 || s[0] == '-')
        return rco_error_set(err, RCO_EINVALID, "the URL has no valid host");
    for (i = host; i < n; i++)
        if (i == host ? s[i] != ':' : s[i] < '0' || s[i] > '9')
            return rco_error_set(err, RCO_EINVALID, "the URL has no valid port");
    return 0;
}

int rco_git_check_url(const char *url, struct rco_error *err)
{
    bool ssh = rco_str_has_prefix(url, "ssh://");
    if (!ssh && !rco_str_has_prefix(url, "https://"))
        return rco_error_set(err, RCO_EINVALID, "only https:// and ssh:// URLs are fetched");
    const char *authority = url + (ssh ? 6 : 8);
    const char *path = strchr(authority, '/');
    if (!path || !path[1])
        return rco_error_set(err, RCO_EINVALID, "the URL names no repository");
    if (check_authority(authority, (size_t)(path - authority), ssh, err) < 0)
        return -1;
    if (path[1] == '-')
        return rco_error_set(err, RCO_EINVALID, "the path of the URL must not begin with '-'");
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c <= 0x20 || *c == 0x7f || strchr("?#\\\"'`$;&|<>(){}*", *c))
            return rco_error_set(err, RCO_EINVALID,
                                 "the path of the URL holds a character that is not allowed");
    return 0;
}

static const char *first_line(struct rco_runner *r, const char *text)
{
    return rco_arena_strndup(&r->arena, text, strcspn(text, "\r\n"));
}

/* One key of the credentials Secret; NULL when it is not there. */
static const char *credential(struct rco_git *g, const char *key)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    const char *path = rco_runner_pathf(g->r, "git/%s", key);
    if (rco_file_read(path, CREDENTIAL_MAX, &text, &err) < 0)
        return NULL;
    const char *s = first_line(g->r, rco_buf_str(&text));
    explicit_bzero(text.data, text.len);
    return s;
}

static bool has_credential(struct rco_git *g, const char *key)
{
    return access(rco_runner_pathf(g->r, "git/%s", key), R_OK) == 0;
}

static int missing_key(struct rco_git *g, const char *key, struct rco_failure *f)
{
    return rco_failure_set(f, RCO_FAILURE_CLASS_CONFIG,
                           "missing Secret %s key %s (git.credentialsSecretRef of the Environment)",
                           rco_str_or_empty(g->r->job.git.credentials_secret), key);
}

/* The Authorization header goes into a file in memory that only git and its children can open. */
static int write_header(struct rco_git *g, const char *user, const char *password,
                        struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf pair = RCO_BUF_INIT, config = RCO_BUF_INIT;
    const char *url = g->r->job.program.repository;
    const char *slash = strchr(url + 8, '/');
    rco_buf_addf(&pair, "%s:%s", user, password);
    char *encoded = rco_base64_encode(pair.data, pair.len);
    /* For this host alone, whatever else git may come to talk to. */
    rco_buf_addf(&config, "[http \"%.*s/\"]\n\textraHeader = Authorization: Basic %s\n",
                 (int)(slash - url), url, encoded);
    int fd = memfd_create("git", 0); /* inherited on purpose */
    int rc = fd < 0 ? rco_error_errno(&err, errno, "make a file in memory")
                    : rco_fd_write_all(fd, config.data, config.len, &err);
    explicit_bzero(pair.data, pair.len);
    explicit_bzero(config.data, config.len);
    explicit_bzero(encoded, strlen(encoded));
    free(encoded);
    g->config_fd = fd;
    if (rc < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "hand credentials to git");
    rco_procenv_set(&g->env, "GIT_CONFIG_GLOBAL",
                    rco_arena_printf(&g->r->arena, "/proc/self/fd/%d", fd));
    return 0;
}

static int https_credentials(struct rco_git *g, struct rco_failure *f)
{
    if (!g->r->job.git.has_credentials || !g->r->job.git.credentials)
        return 0;
    const char *user = credential(g, "username"), *token = credential(g, "token");
    const char *password = credential(g, "password");
    if (!rco_str_empty(token))
        return write_header(g, rco_str_empty(user) ? "x-access-token" : user, token, f);
    if (has_credential(g, "ssh-privatekey") && !password)
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "Secret %s holds an SSH key, but the repository's URL is https://: use "
            "an ssh:// URL, or a Secret with username and password, or token",
            rco_str_or_empty(g->r->job.git.credentials_secret));
    if (rco_str_empty(password))
        return missing_key(g, "password (or token)", f);
    if (rco_str_empty(user))
        return missing_key(g, "username", f);
    return write_header(g, user, password, f);
}

static int ssh_credentials(struct rco_git *g, struct rco_failure *f)
{
    if (!g->r->job.git.has_credentials || !g->r->job.git.credentials)
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_CONFIG,
            "an ssh:// repository needs git.credentialsSecretRef of the Environment, "
            "with ssh-privatekey and known_hosts");
    if (!has_credential(g, "ssh-privatekey"))
        return missing_key(g, "ssh-privatekey", f);
    if (!has_credential(g, "known_hosts"))
        return missing_key(g, "known_hosts", f);
    /* git runs GIT_SSH as a program; under this name we are the program. */
    const char *link = rco_arena_printf(&g->r->arena, "%s/rco-ssh", g->r->tmpdir);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0 || (unlink(link) < 0 && errno != ENOENT))
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "prepare ssh: %s", strerror(errno));
    self[n] = '\0';
    if (symlink(self, link) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "prepare ssh: %s", strerror(errno));
    rco_procenv_set(&g->env, "GIT_SSH", link);
    rco_procenv_set(&g->env, "GIT_SSH_VARIANT", "ssh");
    rco_procenv_set(&g->env, "RCO_SSH_DIR", rco_runner_path(g->r, "git"));
    return 0;
}

int rco_git_ssh(int argc, char **argv, char *const *vars)
{
    const char *dir = rco_environ_get(vars, "RCO_SSH_DIR");
    char key[4096], hosts[4096];
    struct rco_argv a = {0};
    if (!dir || argc > RCO_ARGV_MAX - 24)
        return RCO_EXIT_USAGE;
    snprintf(key, sizeof(key), "%s/ssh-privatekey", dir);
    snprintf(hosts, sizeof(hosts), "UserKnownHostsFile=%s/known_hosts", dir);
    rco_argv_adds(&a, "ssh", "-F", "/dev/null", "-i", key, "-o", hosts, "-o",
                  "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes", "-o",
                  "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o",
                  "ForwardAgent=no", "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15",
                  NULL);
    for (int i = 1; i < argc; i++)
        rco_argv_add(&a, argv[i]);
    execve("/usr/bin/ssh", (char *const *)a.list, (char *const *)vars);
    fprintf(stderr, "fatal: /usr/bin/ssh: %s (the runner image needs openssh-client)\n",
            strerror(errno));
    return 127;
}

/* Everything that a repository, the image or a user's configuration could use to make git act is
 * set here; GIT_CONFIG_* wins over all files. */
static void set_config(struct rco_git *g, const char *ca_file)
{
    const struct {
        const char *key, *value;
    } config[] = {
        {"core.hooksPath", "/dev/null"},
        {"core.fsmonitor", "false"},
        {"core.attributesFile", "/dev/null"},
        {"core.autocrlf", "false"},
        {"core.askPass", ""},
        {"credential.helper", ""},
        {"protocol.allow", "never"},
        {"protocol.https.allow", "always"},
        {"protocol.ssh.allow", "always"},
        {"protocol.version", "2"},
        {"http.followRedirects", "false"}, /* a redirect would carry the credentials along */
        {"http.sslVerify", "true"},
        {"http.lowSpeedLimit", "1000"},
        {"http.lowSpeedTime", "60"},
        {"submodule.recurse", "false"},
        {"fetch.recurseSubmodules", "false"},
        {"fetch.unpackLimit", "1"}, /* keep packs: the file size limit then bounds them */
        {"transfer.bundleURI", "false"},
        {"gc.auto", "0"},
        {"maintenance.auto", "false"},
        {"advice.detachedHead", "false"},
        {"init.defaultBranch", "main"},
        {"safe.directory", "*"},
        {"user.name", "runtime-cloud"},
        {"user.email", "runtime-cloud@localhost"},
        {"http.sslCAInfo", ca_file}, /* last: may be absent */
    };
    size_t n = RCO_ARRAY_LEN(config) - (ca_file ? 0 : 1);
    for (size_t i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%zu", i);
        rco_procenv_set(&g->env, name, config[i].key);
        snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%zu", i);
        rco_procenv_set(&g->env, name, config[i].value);
    }
    rco_procenv_set(&g->env, "GIT_CONFIG_COUNT", rco_arena_printf(&g->r->arena, "%zu", n));
    rco_procenv_set(&g->env, "GIT_CONFIG_NOSYSTEM", "1");
    rco_procenv_set(&g->env, "GIT_CONFIG_GLOBAL", "/dev/null");
    rco_procenv_set(&g->env, "GIT_TERMINAL_PROMPT", "0");
    rco_procenv_set(&g->env, "GIT_ALLOW_PROTOCOL", "https:ssh");
    rco_procenv_set(&g->env, "GIT_LFS_SKIP_SMUDGE", "1");
    rco_procenv_set(&g->env, "GIT_ADVICE", "0");
    rco_procenv_set(&g->env, "LC_ALL", "C");
}

int rco_git_init(struct rco_git *g, struct rco_runner *r, struct rco_failure *f)
{
    const char *ca = NULL, *ca_file;
    *g = (struct rco_git){.r = r, .config_fd = -1};
    rco_base_env(r, &g->env);
    if (r->job.git.has_ca && r->job.git.ca) {
        ca = rco_runner_path(r, "git-ca/ca.crt");
        if (access(ca, R_OK) < 0)
            return rco_failure_set(
                f, RCO_FAILURE_CLASS_CONFIG,
                "missing Secret %s key ca.crt (git.caSecretRef of the Environment)",
                rco_str_or_empty(r->job.git.ca_secret));
    }
    if (rco_ca_env(r, ca, &g->env, &ca_file, f) < 0)
        return -1;
    set_config(g, ca_file);
    return rco_str_has_prefix(r->job.program.repository, "ssh://") ? ssh_credentials(g, f)
                                                                   : https_credentials(g, f);
}

void rco_git_release(struct rco_git *g)
{
    rco_close_cleanup(&g->config_fd);
    rco_buf_release(&g->log);
}

/* Runs `git ARGV...` in DIR_FD. -1 only when it could not be run or was stopped; else RET has its
 * result. */
static int run(struct rco_git *g, int dir_fd, const struct rco_argv *argv,
               struct rco_proc_result *ret, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_proc p = {.argv = argv->list,
                         .path = g->r->path,
                         .env = g->env.list,
                         .cwd_fd = dir_fd,
                         .max_output = RCO_GIT_MAX_LOG / 4,
                         .timeout_ms = RCO_GIT_TIMEOUT_S * 1000,
                         .stop_fd = g->r->stop_fd};
    if (rco_proc_run(&p, ret, &err) < 0)
        return rco_failure_error(
            f, err.code == RCO_ENOTFOUND ? RCO_FAILURE_CLASS_CONFIG : RCO_FAILURE_CLASS_INTERNAL,
            &err, "git");
    if (g->log.len + ret->err.len < RCO_GIT_MAX_LOG)
        rco_buf_add(&g->log, ret->err.data, ret->err.len);
    if (ret->stopped)
        return rco_failure_set(f, RCO_FAILURE_CLASS_CANCELLED, "the pod was asked to end");
    if (ret->timed_out)
        return rco_failure_set(f, RCO_FAILURE_CLASS_TIMEOUT, "git %s took longer than %d s",
                               argv->list[1], RCO_GIT_TIMEOUT_S);
    return 0;
}

static int explain(struct rco_git *g, const struct rco_proc_result *res, const char *what,
                   struct rco_failure *f)
{
    size_t n;
    const char *line = rco_fail_first_line(rco_buf_str(&res->err), res->err.len, &n);
    const char *text = line ? rco_arena_strndup(&g->r->arena, line, n) : "no message";
    enum rco_failure_class class = rco_fail_of_git(rco_buf_str(&res->err));
    const char *hint = "";
    if (strstr(text, "could not read Username"))
        hint = g->r->job.git.credentials
                   ? " (the server refuses the mounted credentials)"
                   : " (the repository needs credentials: "
                     "git.credentialsSecretRef and allowedRepositories of the "
                     "Environment)";
    else if (strstr(text, "unable to update url base from redirection") ||
             strstr(text, "returned error: 30"))
        hint = " (a redirect is not followed: put the URL it leads to into programRef)";
    else if (strstr(text, "certificate"))
        hint = " (git.caSecretRef of the Environment names further CA certificates)";
    return rco_failure_set(f, class, "%s %s: %s%s", what, g->r->job.program.repository, text, hint);
}

static int must(struct rco_git *g, int dir_fd, const struct rco_argv *argv, const char *what,
                struct rco_proc_result *ret, struct rco_failure *f)
{
    if (run(g, dir_fd, argv, ret, f) < 0)
        return -1;
    return ret->exit_code == 0 ? 0 : explain(g, ret, what, f);
}

/* Servers that do not serve a commit by its id (uploadpack.allowReachableSHA1InWant) say one of
 * these. */
static bool refuses_commit(const struct rco_proc_result *res)
{
    const char *s = rco_buf_str(&res->err);
    return strstr(s, "not our ref") || strstr(s, "unadvertised object") ||
           strstr(s, "couldn't find remote ref") || strstr(s, "does not support shallow") ||
           strstr(s, "dumb http transport");
}

static int fetch_commit(struct rco_git *g, int dir_fd, const char *commit, struct rco_failure *f)
{
    rco_autoproc one = {0}, all = {0};
    struct rco_argv shallow = {0}, full = {0};
    const char *url = g->r->job.program.repository;
    rco_argv_adds(&shallow, "git", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
                  "--depth=1", "--end-of-options", url, commit, NULL);
    if (run(g, dir_fd, &shallow, &one, f) < 0)
        return -1;
    if (one.exit_code == 0)
        return 0;
    if (!refuses_commit(&one))
        return explain(g, &one, "fetch", f);
    rco_log(RCO_LOG_INFO, "the server does not serve single commits; fetching all branches");
    rco_argv_adds(&full, "git", "fetch", "--quiet", "--no-recurse-submodules", "--tags",
                  "--end-of-options", url, "+refs/heads/*:refs/remotes/origin/*", NULL);
    return must(g, dir_fd, &full, "fetch", &all, f);
}

static int checkout_commit(struct rco_git *g, int dir_fd, const char *commit, struct rco_failure *f)
{
    rco_autoproc res = {0}, type = {0};
    struct rco_argv a = {0}, t = {0};
    const char *object = rco_arena_printf(&g->r->arena, "%s^{commit}", commit);
    rco_argv_adds(&t, "git", "cat-file", "-e", object, NULL);
    if (run(g, dir_fd, &t, &type, f) < 0)
        return -1;
    if (type.exit_code != 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_SOURCE,
                               "commit %s is in no branch or tag of %s: push it, or correct "
                               "programVersion",
                               commit, g->r->job.program.repository);
    rco_argv_adds(&a, "git", "checkout", "--quiet", "--force", "--detach", commit, NULL);
    return must(g, dir_fd, &a, "checkout of", &res, f);
}

/* HEAD must be the commit, whatever happened before. */
static int verify(struct rco_git *g, int dir_fd, const char *commit, int64_t *ret_time,
                  struct rco_failure *f)
{
    rco_autoproc head = {0}, time = {0};
    struct rco_argv a = {0}, t = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_argv_adds(&a, "git", "rev-parse", "--verify", "HEAD", NULL);
    rco_argv_adds(&t, "git", "show", "--no-patch", "--no-show-signature", "--format=%ct", "HEAD",
                  NULL);
    if (must(g, dir_fd, &a, "verify", &head, f) < 0 || must(g, dir_fd, &t, "verify", &time, f) < 0)
        return -1;
    const char *got = first_line(g->r, rco_buf_str(&head.out));
    if (strcmp(got, commit) != 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_SOURCE,
                               "the checkout of %s is at %s and not at %s",
                               g->r->job.program.repository, got, commit);
    if (rco_parse_int64(first_line(g->r, rco_buf_str(&time.out)), ret_time, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "time of the commit");
    return 0;
}

int rco_git_checkout(struct rco_git *g, const char *dir, const char *commit, int64_t *ret_time,
                     struct rco_failure *f)
{
    rco_autoproc made = {0};
    struct rco_argv init = {0};
    bool sha256 = strlen(commit) == 64;
    if (mkdir(dir, 02775) < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "make %s: %s", dir, strerror(errno));
    rco_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "open %s: %s", dir, strerror(errno));
    rco_argv_adds(&init, "git", "init", "--quiet",
                  "--template=", sha256 ? "--object-format=sha256" : "--object-format=sha1", NULL);
    if (must(g, fd, &init, "prepare", &made, f) < 0)
        return -1;
    if (fetch_commit(g, fd, commit, f) < 0 || checkout_commit(g, fd, commit, f) < 0)
        return -1;
    return verify(g, fd, commit, ret_time, f);
}
