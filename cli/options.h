/* The command line: one table of flags per verb and one for all; parsing, help, suggestions. */
#ifndef RCO_CLI_OPTIONS_H
#define RCO_CLI_OPTIONS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RCO_CLI_PROGRAM "kubectl runtimecloud"
#define RCO_CLI_MAX_ARGS 4

enum rco_output { RCO_OUTPUT_TABLE, RCO_OUTPUT_WIDE, RCO_OUTPUT_JSON, RCO_OUTPUT_YAML };

/* What was asked for. All text is borrowed from argv. */
struct rco_options {
    const char *kubeconfig, *context, *ns;
    bool all_namespaces;
    int output; /* enum rco_output */
    bool no_color, help, watch;
    const char *spec;        /* --spec */
    uint64_t states;         /* --state: bit I = word I of rco_option_state_words */
    bool follow;             /* --follow */
    int phase;               /* --phase: 0 newest, 1 plan, 2 apply */
    const char *container;   /* --container */
    int64_t timeout_ns;      /* --timeout, 0 = none */
    const char *operator_ns; /* --operator-namespace */
    bool client;             /* --client */
    const char *args[RCO_CLI_MAX_ARGS];
    size_t n_args;
};

/* Words of --state, in the order of the API's states; NULL-terminated. */
extern const char *const rco_option_state_words[];
extern const char *const rco_option_output_words[];
extern const char *const rco_option_phase_words[];

enum rco_option_type {
    RCO_OPTION_FLAG,     /* bool */
    RCO_OPTION_TEXT,     /* const char * */
    RCO_OPTION_NAME,     /* const char *, must be a Kubernetes name */
    RCO_OPTION_WORD,     /* int: index in words */
    RCO_OPTION_WORD_SET, /* uint64_t: comma-separated words, bit by index */
    RCO_OPTION_DURATION  /* int64_t, nanoseconds */
};

struct rco_option {
    const char *name; /* without the dashes */
    char letter;      /* 0 = none */
    enum rco_option_type type;
    size_t offset;     /* in struct rco_options */
    const char *value; /* how the value is named in help; NULL for flags */
    const char *help;
    const char *const *words;
};

struct rco_cli;

/* One verb. Constant tables; run is NULL where only the verbs below do something. */
struct rco_verb {
    const char *name;
    const char *args; /* "[NAME]", for the usage line */
    const char *summary;
    const char *description;
    const char *const
        *examples; /* alternating: what it is for, the command after the program's name */
    const struct rco_option *options;
    size_t n_options;
    size_t min_args, max_args;
    /* Returns the exit code. */
    int (*run)(struct rco_cli *cli);
    const struct rco_verb *const *verbs; /* NULL-terminated, NULL = none */
};

/* What parsing came to. */
struct rco_parsed {
    const struct rco_verb *verb; /* the innermost verb that was understood, never NULL */
    char path[96];               /* "kubectl runtimecloud run list" */
    struct rco_options options;
};

/* Parses ARGV[1..ARGC) below ROOT. On a usage error ERR says what is wrong and what was probably
 * meant, and OUT->verb is the verb whose usage helps. */
RCO_MUST_CHECK int rco_options_parse(const struct rco_verb *root, int argc, char **argv,
                                     struct rco_parsed *out, struct rco_error *err);

/* Appends the one-line usage of what was parsed. */
void rco_options_usage(const struct rco_parsed *parsed, struct rco_buf *out);
/* Appends the whole help: description, usage, examples, verbs or flags. */
void rco_options_help(const struct rco_parsed *parsed, struct rco_buf *out);

#endif
