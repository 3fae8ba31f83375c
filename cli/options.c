#include "options.h"

#include "base/arena.h"
#include "base/str.h"
#include "base/time.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define MAX_FLAGS 32

const char *const rco_option_state_words[] = {
    "Pending", "Planning", "Planned",  "AwaitingApproval", "Applying",
    "Applied", "Failed",   "Rejected", "Cancelled",        NULL};
const char *const rco_option_output_words[] = {"table", "wide", "json", "yaml", NULL};
const char *const rco_option_phase_words[] = {"newest", "plan", "apply", NULL};

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static const struct rco_option common_options[] = {
    {"kubeconfig", 0, RCO_OPTION_TEXT, AT(kubeconfig), "FILE",
     "kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)", NULL},
    {"context", 0, RCO_OPTION_TEXT, AT(context), "NAME",
     "context in the kubeconfig (default: its current one)", NULL},
    {"namespace", 'n', RCO_OPTION_NAME, AT(ns), "NAMESPACE",
     "namespace (default: that of the context)", NULL},
    {"output", 'o', RCO_OPTION_WORD, AT(output), "FORMAT",
     "table, wide, json or yaml (default: table)", rco_option_output_words},
    {"no-color", 0, RCO_OPTION_FLAG, AT(no_color), NULL,
     "no colours, also where the terminal has them", NULL},
    {"help", 'h', RCO_OPTION_FLAG, AT(help), NULL, "this help", NULL},
};

/* The flags that hold for VERB; returns how many. */
static size_t flags_of(const struct rco_verb *verb, const struct rco_option **out)
{
    size_t n = 0;

    for (size_t i = 0; i < verb->n_options && n < MAX_FLAGS; i++)
        out[n++] = &verb->options[i];
    for (size_t i = 0; i < RCO_ARRAY_LEN(common_options) && n < MAX_FLAGS; i++)
        out[n++] = &common_options[i];
    return n;
}

static const struct rco_option *find_flag(const struct rco_verb *verb, const char *name, size_t n,
                                          char letter)
{
    const struct rco_option *flags[MAX_FLAGS];
    size_t n_flags = flags_of(verb, flags);

    for (size_t i = 0; i < n_flags; i++) {
        if (name && strlen(flags[i]->name) == n && memcmp(flags[i]->name, name, n) == 0)
            return flags[i];
        if (letter && flags[i]->letter == letter)
            return flags[i];
    }
    return NULL;
}

static int unknown_flag(const struct rco_parsed *p, const char *flag, struct rco_error *err)
{
    const struct rco_option *flags[MAX_FLAGS];
    const char *names[MAX_FLAGS] = {NULL};
    size_t n = flags_of(p->verb, flags);
    rco_autofree char *bare = rco_strndup(flag, strcspn(flag, "="));
    const char *near;

    for (size_t i = 0; i < n; i++)
        names[i] = flags[i]->name;
    near = bare[0] == '-' && bare[1] == '-' ? rco_text_nearest(bare + 2, names, n) : NULL;
    if (near)
        return rco_error_set(err, RCO_EINVALID, "unknown flag %.80s for \"%s\"; did you mean --%s?",
                             bare, p->path, near);
    return rco_error_set(err, RCO_EINVALID, "unknown flag %.80s for \"%s\"", bare, p->path);
}

static void join_words(const char *const *words, struct rco_buf *out)
{
    for (size_t i = 0; words[i]; i++)
        rco_buf_addf(out, "%s%s", i ? ", " : "", words[i]);
}

/* Index of the word W[0..N) (case does not matter), -1 when it is none. */
static int find_word(const char *const *words, const char *w, size_t n)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && strncasecmp(words[i], w, n) == 0)
            return i;
    return -1;
}

static int bad_word(const struct rco_option *o, const char *value, size_t n, struct rco_error *err)
{
    rco_autobuf list = RCO_BUF_INIT;
    rco_autofree char *word = rco_strndup(value, n);
    size_t n_words = 0;
    const char *near;

    join_words(o->words, &list);
    while (o->words[n_words])
        n_words++;
    near = rco_text_nearest(word, o->words, n_words);
    if (near)
        return rco_error_set(err, RCO_EINVALID,
                             "\"%.80s\" is not a value of --%s; did you mean %s? (one of: %s)",
                             word, o->name, near, rco_buf_str(&list));
    return rco_error_set(err, RCO_EINVALID, "\"%.80s\" is not a value of --%s (one of: %s)", word,
                         o->name, rco_buf_str(&list));
}

static int set_words(const struct rco_option *o, const char *value, uint64_t *set,
                     struct rco_error *err)
{
    while (true) {
        size_t n = strcspn(value, ",");
        int i = find_word(o->words, value, n);

        if (i < 0)
            return bad_word(o, value, n, err);
        *set |= UINT64_C(1) << i;
        if (!value[n])
            return 0;
        value += n + 1;
    }
}

static int set_value(const struct rco_option *o, const char *value, struct rco_options *options,
                     struct rco_error *err)
{
    char *at = (char *)options + o->offset;
    int word;

    switch (o->type) {
    case RCO_OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case RCO_OPTION_NAME:
        if (!rco_is_dns_subdomain(value))
            return rco_error_set(
                err, RCO_EINVALID,
                "\"%.80s\" cannot be the value of --%s: names have lower-case letters, "
                "digits, '-' and '.'",
                value, o->name);
        *(const char **)at = value;
        return 0;
    case RCO_OPTION_TEXT:
        if (!*value)
            return rco_error_set(err, RCO_EINVALID, "--%s must not be empty", o->name);
        *(const char **)at = value;
        return 0;
    case RCO_OPTION_WORD:
        word = find_word(o->words, value, strlen(value));
        if (word < 0)
            return bad_word(o, value, strlen(value), err);
        *(int *)at = word;
        return 0;
    case RCO_OPTION_WORD_SET:
        return set_words(o, value, (uint64_t *)at, err);
    case RCO_OPTION_DURATION:
        if (rco_duration_parse(value, (int64_t *)at, err) < 0)
            return rco_error_wrap(err, "\"%.40s\" is not a value of --%s (like 90s or 10m)", value,
                                  o->name);
        return 0;
    }
    return 0;
}

/* Takes the value of O: INLINE_VALUE when it stood in the same word, else the next word. */
static int take_value(const struct rco_option *o, const char *inline_value, int argc, char **argv,
                      int *i, struct rco_options *options, struct rco_error *err)
{
    if (o->type == RCO_OPTION_FLAG) {
        if (inline_value && !rco_streq(inline_value, "true") && !rco_streq(inline_value, "false"))
            return rco_error_set(err, RCO_EINVALID, "--%s takes no value (got \"%.40s\")", o->name,
                                 inline_value);
        *(bool *)((char *)options + o->offset) = !rco_streq(inline_value, "false");
        return 0;
    }
    if (!inline_value && *i + 1 >= argc)
        return rco_error_set(err, RCO_EINVALID, "--%s needs a value: --%s %s", o->name, o->name,
                             o->value);
    return set_value(o, inline_value ? inline_value : argv[++*i], options, err);
}

static int parse_long(struct rco_parsed *p, int argc, char **argv, int *i, struct rco_error *err)
{
    const char *name = argv[*i] + 2;
    size_t n = strcspn(name, "=");
    const struct rco_option *o = find_flag(p->verb, name, n, 0);

    if (!o)
        return unknown_flag(p, argv[*i], err);
    return take_value(o, name[n] ? name + n + 1 : NULL, argc, argv, i, &p->options, err);
}

/* "-n x", "-nx", "-n=x", and flags together as in "-Aw". */
static int parse_short(struct rco_parsed *p, int argc, char **argv, int *i, struct rco_error *err)
{
    for (const char *s = argv[*i] + 1; *s; s++) {
        const struct rco_option *o = find_flag(p->verb, NULL, 0, *s);
        const char *rest = s[1] == '=' ? s + 2 : s[1] ? s + 1 : NULL;

        if (!o && s > argv[*i] + 1) {
            char flag[] = {'-', *s, '\0'};

            return unknown_flag(p, flag, err);
        }
        if (!o)
            return unknown_flag(p, argv[*i], err);
        if (o->type != RCO_OPTION_FLAG)
            return take_value(o, rest, argc, argv, i, &p->options, err);
        *(bool *)((char *)&p->options + o->offset) = true;
    }
    return 0;
}

static int unknown_verb(const struct rco_parsed *p, const char *word, struct rco_error *err)
{
    const char *names[MAX_FLAGS] = {NULL};
    rco_autobuf list = RCO_BUF_INIT;
    const char *near;
    size_t n = 0;

    for (; p->verb->verbs[n] && n < MAX_FLAGS; n++)
        names[n] = p->verb->verbs[n]->name;
    near = rco_text_nearest(word, names, n);
    if (near)
        return rco_error_set(err, RCO_EINVALID,
                             "unknown command \"%.80s\"; did you mean \"%s %s\"?", word, p->path,
                             near);
    for (size_t i = 0; i < n; i++)
        rco_buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    return rco_error_set(err, RCO_EINVALID, "unknown command \"%.80s\" (one of: %s)", word,
                         rco_buf_str(&list));
}

static int parse_word(struct rco_parsed *p, const char *word, struct rco_error *err)
{
    if (p->verb->verbs) {
        for (size_t i = 0; p->verb->verbs[i]; i++) {
            const struct rco_verb *v = p->verb->verbs[i];

            if (!rco_streq(v->name, word))
                continue;
            size_t n = strlen(p->path);
            snprintf(p->path + n, sizeof(p->path) - n, " %s", v->name);
            p->verb = v;
            return 0;
        }
        return unknown_verb(p, word, err);
    }
    if (p->options.n_args >= p->verb->max_args || p->options.n_args >= RCO_CLI_MAX_ARGS)
        return rco_error_set(err, RCO_EINVALID, "\"%.80s\" is one argument too many", word);
    if (!*word)
        return rco_error_set(err, RCO_EINVALID, "an argument must not be empty");
    p->options.args[p->options.n_args++] = word;
    return 0;
}

static int check_complete(struct rco_parsed *p, struct rco_error *err)
{
    rco_autobuf list = RCO_BUF_INIT;

    if (p->options.help)
        return 0;
    if (!p->verb->run) {
        for (size_t i = 0; p->verb->verbs && p->verb->verbs[i]; i++)
            rco_buf_addf(&list, "%s%s", i ? ", " : "", p->verb->verbs[i]->name);
        return rco_error_set(err, RCO_EINVALID, "\"%s\" needs a command: one of %s", p->path,
                             rco_buf_str(&list));
    }
    if (p->options.n_args < p->verb->min_args)
        return rco_error_set(err, RCO_EINVALID, "\"%s\" needs %s", p->path, p->verb->args);
    return 0;
}

int rco_options_parse(const struct rco_verb *root, int argc, char **argv, struct rco_parsed *out,
                      struct rco_error *err)
{
    bool words_only = false;

    *out = (struct rco_parsed){.verb = root};
    snprintf(out->path, sizeof(out->path), "%s", RCO_CLI_PROGRAM);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int rc;

        if (!words_only && rco_streq(word, "--")) {
            words_only = true;
            continue;
        }
        if (!words_only && word[0] == '-' && word[1] == '-')
            rc = parse_long(out, argc, argv, &i, err);
        else if (!words_only && word[0] == '-' && word[1])
            rc = parse_short(out, argc, argv, &i, err);
        else
            rc = parse_word(out, word, err);
        if (rc < 0)
            return -1;
    }
    return check_complete(out, err);
}

void rco_options_usage(const struct rco_parsed *parsed, struct rco_buf *out)
{
    const struct rco_verb *v = parsed->verb;

    rco_buf_addf(out, "Usage: %s %s%s[flags]\n", parsed->path, v->verbs ? "COMMAND" : v->args,
                 v->verbs || *v->args ? " " : "");
}

static void add_flag(const struct rco_option *o, struct rco_buf *out)
{
    rco_autobuf left = RCO_BUF_INIT;

    if (o->letter)
        rco_buf_addf(&left, "-%c, --%s", o->letter, o->name);
    else
        rco_buf_addf(&left, "    --%s", o->name);
    if (o->value)
        rco_buf_addf(&left, " %s", o->value);
    rco_buf_addf(out, "  %-32s %s\n", rco_buf_str(&left), o->help);
}

void rco_options_help(const struct rco_parsed *parsed, struct rco_buf *out)
{
    const struct rco_verb *v = parsed->verb;
    const struct rco_option *flags[MAX_FLAGS];
    size_t n = flags_of(v, flags);

    rco_buf_addf(out, "%s\n\n", v->description);
    rco_options_usage(parsed, out);
    if (v->examples)
        rco_buf_adds(out, "\nExamples:\n");
    for (size_t i = 0; v->examples && v->examples[i]; i += 2)
        rco_buf_addf(out, "  # %s\n  %s %s\n", v->examples[i], RCO_CLI_PROGRAM, v->examples[i + 1]);
    if (v->verbs)
        rco_buf_adds(out, "\nCommands:\n");
    for (size_t i = 0; v->verbs && v->verbs[i]; i++)
        rco_buf_addf(out, "  %-12s %s\n", v->verbs[i]->name, v->verbs[i]->summary);
    rco_buf_adds(out, "\nFlags:\n");
    for (size_t i = 0; i < n; i++)
        add_flag(flags[i], out);
    if (v->verbs)
        rco_buf_addf(out, "\n'%s COMMAND -h' shows the flags and examples of a command.\n",
                     parsed->path);
}
