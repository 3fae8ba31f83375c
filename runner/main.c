#include "git.h"
#include "proc.h"
#include "runner.h"

#include "base/log.h"
#include "base/str.h"

#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum rco_runner_summary_container container;
    int (*run)(struct rco_runner *r);
    const char *help;
} verbs[] = {
    {"fetch", RCO_RUNNER_SUMMARY_CONTAINER_FETCH, rco_verb_fetch,
     "clone the exact commit of the program"},
    {"install", RCO_RUNNER_SUMMARY_CONTAINER_INSTALL, rco_verb_install,
     "install dependencies and plugins, digest the workspace"},
    {"engine", RCO_RUNNER_SUMMARY_CONTAINER_ENGINE, rco_verb_engine,
     "run Pulumi for the job's phase"},
    {"report", RCO_RUNNER_SUMMARY_CONTAINER_REPORT, rco_verb_report,
     "speak with the operator's gateway"},
};

static void usage(FILE *out)
{
    fprintf(out, "usage: runtime-cloud-runner VERB [--root DIR] [--termination-log FILE]\n\n"
                 "One verb for each container of a runner Job; the job stands in RCO_JOB.\n\n");
    for (size_t i = 0; i < RCO_ARRAY_LEN(verbs); i++)
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].help);
    fprintf(out,
            "  %-10s print the version\n\n"
            "  --root DIR              where volumes are mounted (default " RCO_RUNNER_ROOT ")\n"
            "  --termination-log FILE  default " RCO_RUNNER_TERMINATION_LOG "\n",
            "version");
}

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "runtime-cloud-runner: %s '%s'\n", what, word);
    usage(stderr);
    return RCO_EXIT_USAGE;
}

/* Value of option NAME at ARGV[*I] (`--name VALUE` or `--name=VALUE`); NULL when it is not that
 * option. */
static const char *option(char **argv, int *i, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(argv[*i], name, len) != 0)
        return NULL;
    if (argv[*i][len] == '=')
        return argv[*i] + len + 1;
    return argv[*i][len] == '\0' && argv[*i + 1] ? argv[++*i] : NULL;
}

static int run_verb(size_t verb, struct rco_runner *r)
{
    struct rco_error err = RCO_ERROR_INIT;
    sigset_t set;
    /* Nothing of ours may be read by programs of the same user, or end in a core file. */
    struct rlimit none = {0, 0};
    prctl(PR_SET_DUMPABLE, 0);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); /* whatever the runtime left open goes no further */
    setrlimit(RLIMIT_CORE, &none);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    r->stop_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    r->container = verbs[verb].container;
    if (rco_runner_load_job(r, rco_environ_get(environ, "RCO_JOB"), &err) < 0) {
        struct rco_failure f = RCO_FAILURE_INIT;
        rco_failure_error(&f, RCO_FAILURE_CLASS_INTERNAL, &err, "job");
        rco_runner_fail(r, &f, NULL);
        return RCO_EXIT_USAGE;
    }
    return verbs[verb].run(r);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    if (strcmp(slash ? slash + 1 : argv[0], "rco-ssh") == 0)
        return rco_git_ssh(argc, argv, environ);
    struct rco_runner r = {.root = RCO_RUNNER_ROOT,
                           .termination_log = RCO_RUNNER_TERMINATION_LOG,
                           .environ = environ,
                           .stop_fd = -1};
    r.path = rco_environ_get(environ, "PATH");
    r.tmpdir = rco_environ_get(environ, "TMPDIR");
    if (rco_str_empty(r.path))
        r.path = "/usr/local/bin:/usr/bin:/bin";
    if (rco_str_empty(r.tmpdir))
        r.tmpdir = "/tmp";
    if (argc < 2) {
        usage(stderr);
        return RCO_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return RCO_EXIT_OK;
    }
    bool version = strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0;
    for (int i = 2; i < argc; i++) {
        const char *v;
        if (!version && (v = option(argv, &i, "--root")))
            r.root = v;
        else if (!version && (v = option(argv, &i, "--termination-log")))
            r.termination_log = v;
        else
            return usage_error("unknown or incomplete argument", argv[i]);
    }
    if (version) {
        printf("runtime-cloud-runner %s\n", rco_runner_version());
        return RCO_EXIT_OK;
    }
    rco_log_setup(RCO_LOG_INFO, RCO_LOG_TEXT);
    for (size_t i = 0; i < RCO_ARRAY_LEN(verbs); i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            int code = run_verb(i, &r);
            rco_arena_release(&r.arena);
            return code;
        }
    return usage_error("unknown verb", argv[1]);
}
