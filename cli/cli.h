/* One invocation: options, terminal, clock, and the connection that is opened at first need. */
#ifndef RCO_CLI_CLI_H
#define RCO_CLI_CLI_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"
#include "http.h"
#include "options.h"
#include "text.h"

enum rco_exit { RCO_EXIT_FINE = 0, RCO_EXIT_NOT_FINE = 1, RCO_EXIT_USAGE = 2 };

/* What main found in the environment. Borrowed. */
struct rco_cli_environment {
    const char *kubeconfig;                  /* $KUBECONFIG */
    const char *home;                        /* $HOME */
    const char *no_color;                    /* $NO_COLOR */
    const char *term, *lang;                 /* $TERM; the first set of $LC_ALL, $LC_CTYPE, $LANG */
    const char *service_host, *service_port; /* $KUBERNETES_SERVICE_HOST and _PORT */
    const char *columns;                     /* $COLUMNS */
    char *const *environ;                    /* for credential plugins */
    int out_fd; /* where output goes, to ask whether it is a terminal */
};

struct rco_cli {
    struct rco_parsed parsed;
    const struct rco_options *opt; /* of parsed */
    const struct rco_cli_environment *env;
    struct rco_style style;
    struct rco_arena arena; /* lives as long as the invocation */
    struct rco_kube_config config;
    struct rco_cli_http *http; /* NULL before rco_cli_connect */
    const char *ns;    /* the namespace asked for or of the context; set by rco_cli_connect */
    const char *flags; /* what commands need to reach the same place, like " -n team-a" */
    const char *cluster_flags; /* the same without the namespace */
};

/* Parses, runs the verb, cleans up; returns the exit code. ROOT is the table of verbs. */
int rco_cli_main(const struct rco_verb *root, int argc, char **argv,
                 const struct rco_cli_environment *env);

/* Forgets what the arena holds, for another look, and makes the flags anew. */
void rco_cli_renew(struct rco_cli *cli);

/* Reads the kubeconfig and makes the client. Again: nothing. */
RCO_MUST_CHECK int rco_cli_connect(struct rco_cli *cli, struct rco_error *err);

/* Microseconds since the epoch, now. */
rco_wall rco_cli_now(void);

/* Writes TEXT to standard output; a closed pipe ends the program quietly with the exit code so far.
 */
void rco_cli_print(struct rco_cli *cli, const struct rco_buf *text);
/* Prints JSON text in the format asked for (json or yaml). Returns 0, or the exit code of an error.
 */
int rco_cli_print_json(struct rco_cli *cli, const struct rco_buf *json);
bool rco_cli_wants_json(const struct rco_cli *cli);

/* Prints "error: ..." and what to try next to standard error; returns RCO_EXIT_NOT_FINE. */
int rco_cli_fail(struct rco_cli *cli, const struct rco_error *err);
/* The same for a mistake on the command line, with the usage; returns RCO_EXIT_USAGE. */
int rco_cli_usage_error(struct rco_cli *cli, const char *fmt, ...) RCO_PRINTF(2, 3);

/* What to try after ERR, or NULL. Pure. */
const char *rco_cli_hint(const struct rco_error *err);
/* Style from terminal and environment. Pure but for the terminal's size. */
struct rco_style rco_cli_style(const struct rco_options *opt,
                               const struct rco_cli_environment *env);
/* The flags that commands in hints need, in A: " -n x --context y". NS NULL = the one asked for. */
const char *rco_cli_flags(struct rco_arena *a, const struct rco_options *opt, const char *ns);

#endif
