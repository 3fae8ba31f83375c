/* kubectl-runtimecloud: the plugin people use. This file is the table of verbs. */
#include "cli.h"
#include "verbs.h"

#include "base/str.h"

#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static const struct rco_verb *const verbs[] = {
    &rco_verb_status, &rco_verb_run, &rco_verb_why, &rco_verb_check, &rco_verb_version, NULL,
};

static const char *const examples[] = {
    "is everything applied, and if not, why?",
    "status",
    "what waits for whom?",
    "why shop",
    "follow the newest run",
    "run watch --spec shop",
    NULL,
};

static const struct rco_verb root = {
    .name = "runtimecloud",
    .args = "",
    .summary = "",
    .description =
        "Shows what the Runtime Cloud operator does: specifications, runs, and what they wait for.",
    .examples = examples,
    .verbs = verbs,
};

static const char *first_set(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(names[i]);

        if (!rco_str_empty(value))
            return value;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const locale[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const struct rco_cli_environment env = {
        .kubeconfig = getenv("KUBECONFIG"),
        .home = getenv("HOME"),
        .no_color = getenv("NO_COLOR"),
        .term = getenv("TERM"),
        .lang = first_set(locale, RCO_ARRAY_LEN(locale)),
        .service_host = getenv("KUBERNETES_SERVICE_HOST"),
        .service_port = getenv("KUBERNETES_SERVICE_PORT"),
        .columns = getenv("COLUMNS"),
        .environ = environ,
        .out_fd = STDOUT_FILENO,
    };
    char *help[] = {argc ? argv[0] : NULL, "-h", NULL};

    /* Without a word there is nothing to do but to say what there is. */
    if (argc <= 1)
        return rco_cli_main(&root, 2, help, &env);
    return rco_cli_main(&root, argc, argv, &env);
}
