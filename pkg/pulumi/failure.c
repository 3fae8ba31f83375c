#include "pulumi/failure.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

#define MINUTES(N) ((N)*INT64_C(60))

/* In the first version only a missing Secret (Config) is tried again; the deployment decision looks
 * at the message for that. The other delays are for the retry field that comes with trusted runs.
 */
#define ROW(NAME, ...) [RCO_FAILURE_CLASS_##NAME] = {RCO_FAILURE_CLASS_##NAME, __VA_ARGS__}
#define SOON                                                                                       \
    {                                                                                              \
        MINUTES(1), MINUTES(5), MINUTES(15), MINUTES(60)                                           \
    }

static const struct rco_fail_row rows[] = {
    ROW(UNSET, RCO_RETRY_NEVER, {0}, ""),
    ROW(SOURCE, RCO_RETRY_NEVER, {0}, "correct the program or programRef, push, and set programVersion to that commit"),
    ROW(CONFIG, RCO_RETRY_BACKOFF, SOON, "correct what is named, then ask for run-now"),
    ROW(AUTH, RCO_RETRY_NEVER, {0}, "correct the credentials that the Environment names"),
    ROW(POLICY, RCO_RETRY_NEVER, {0}, "change the program so that the policy holds"),
    ROW(CAPACITY, RCO_RETRY_NEVER, {0}, "wait for capacity, or raise the quota that is named"),
    ROW(PLAN_STALE, RCO_RETRY_ONCE, {0},
        "one new plan is made by itself; look for who else changes this stack"),
    ROW(PLAN_VIOLATION, RCO_RETRY_ONCE, {0},
        "one new plan is made by itself; a program that plans differently each time has to be "
        "changed"),
    ROW(BACKEND_LOCKED, RCO_RETRY_NEVER, {0},
        "wait for the holder of the lock; run pulumi cancel only when it is certain that it has "
        "ended"),
    ROW(RESOURCE, RCO_RETRY_NEVER, {0},
        "correct the program, or the rights of its service account"),
    ROW(PROVIDER_THROTTLE, RCO_RETRY_BACKOFF, SOON, "wait, or ask the provider for a higher limit"),
    ROW(TIMEOUT, RCO_RETRY_NEVER, {0},
        "raise runner.timeout of the Environment, or find what hangs"),
    ROW(CANCELLED, RCO_RETRY_NEVER, {0}, "declare a new version, or ask for run-now"),
    ROW(LOST, RCO_RETRY_NEVER, {0},
        "ask for run-now: the next run plans first and shows the state"),
    ROW(INTERNAL, RCO_RETRY_NEVER, {0}, "read the full log, and report it if it is ours"),
};

const struct rco_fail_row *rco_fail_row(enum rco_failure_class f)
{
    bool known = (size_t)f < RCO_ARRAY_LEN(rows) && f != RCO_FAILURE_CLASS_UNKNOWN;
    return &rows[known ? f : RCO_FAILURE_CLASS_INTERNAL];
}

int64_t rco_fail_delay(enum rco_failure_class f, int64_t attempt)
{
    const struct rco_fail_row *row = rco_fail_row(f);
    if (row->retry == RCO_RETRY_NEVER || attempt < 1 ||
        (row->retry == RCO_RETRY_ONCE && attempt > 1))
        return -1;
    return row->delay_s[attempt > RCO_RETRY_STEPS ? RCO_RETRY_STEPS - 1 : attempt - 1];
}

struct text_rule {
    const char *text; /* looked for without regard to case */
    enum rco_failure_class fail;
};

static enum rco_failure_class match(const struct text_rule *rules, size_t n, const char *text)
{
    for (size_t i = 0; text && i < n; i++)
        if (strcasestr(text, rules[i].text))
            return rules[i].fail;
    return RCO_FAILURE_CLASS_UNSET;
}

/* Order matters: the first that is found wins. */
static const struct text_rule engine_rules[] = {
    {"the stack is currently locked by", RCO_FAILURE_CLASS_BACKEND_LOCKED},
    {"[409] Conflict: Another update is currently in progress", RCO_FAILURE_CLASS_BACKEND_LOCKED},
    {"violates plan", RCO_FAILURE_CLASS_PLAN_VIOLATION},
    {"is not allowed by the plan", RCO_FAILURE_CLASS_PLAN_VIOLATION},
    {"expected resource operations for", RCO_FAILURE_CLASS_PLAN_VIOLATION},
    {"incorrect passphrase", RCO_FAILURE_CLASS_AUTH},
    {"this command requires logging in", RCO_FAILURE_CLASS_AUTH},
    {"password authentication failed", RCO_FAILURE_CLASS_AUTH},
    {"InvalidAccessKeyId", RCO_FAILURE_CLASS_AUTH},
    {"SignatureDoesNotMatch", RCO_FAILURE_CLASS_AUTH},
    {"ExpiredToken", RCO_FAILURE_CLASS_AUTH},
    {"passphrase must be set", RCO_FAILURE_CLASS_CONFIG},
    {"Missing required configuration variable", RCO_FAILURE_CLASS_CONFIG},
    {"missing required configuration", RCO_FAILURE_CLASS_CONFIG},
    {"missing configuration value", RCO_FAILURE_CLASS_CONFIG},
    {"validating stack config", RCO_FAILURE_CLASS_CONFIG},
    {"no stack named", RCO_FAILURE_CLASS_CONFIG},
    {"no Pulumi.yaml project file found", RCO_FAILURE_CLASS_SOURCE},
    {"could not locate a Pulumi.yaml", RCO_FAILURE_CLASS_SOURCE},
    {"failed to load Pulumi project", RCO_FAILURE_CLASS_SOURCE},
    {"could not read current project", RCO_FAILURE_CLASS_SOURCE},
    {"Throttling", RCO_FAILURE_CLASS_PROVIDER_THROTTLE},
    {"Rate exceeded", RCO_FAILURE_CLASS_PROVIDER_THROTTLE},
    {"Too Many Requests", RCO_FAILURE_CLASS_PROVIDER_THROTTLE},
    {"no resource plugin", RCO_FAILURE_CLASS_CONFIG},
    {"no language plugin", RCO_FAILURE_CLASS_CONFIG},
    {"plugin acquisition is disabled", RCO_FAILURE_CLASS_CONFIG},
    {"error loading package", RCO_FAILURE_CLASS_CONFIG},
    {"could not find plugin", RCO_FAILURE_CLASS_CONFIG},
    {"failed to load language plugin", RCO_FAILURE_CLASS_CONFIG},
    {"no space left on device", RCO_FAILURE_CLASS_CONFIG},
    {"read-only file system", RCO_FAILURE_CLASS_CONFIG},
    {"permission denied", RCO_FAILURE_CLASS_CONFIG},
    {"error reading from server", RCO_FAILURE_CLASS_INTERNAL}, /* a language host that is gone */
};

enum rco_failure_class rco_fail_of_engine(const struct rco_engine_end *end)
{
    static const enum rco_failure_class by_exit_code[] = {
        [2] = RCO_FAILURE_CLASS_CONFIG,  [3] = RCO_FAILURE_CLASS_AUTH,
        [6] = RCO_FAILURE_CLASS_CONFIG,  [8] = RCO_FAILURE_CLASS_CANCELLED,
        [9] = RCO_FAILURE_CLASS_TIMEOUT,
    };
    if (end->timed_out)
        return RCO_FAILURE_CLASS_TIMEOUT;
    if (end->cancelled)
        return RCO_FAILURE_CLASS_CANCELLED;
    if (end->exit_code > 0 && end->exit_code < (int)RCO_ARRAY_LEN(by_exit_code) &&
        by_exit_code[end->exit_code] != RCO_FAILURE_CLASS_UNSET)
        return by_exit_code[end->exit_code];
    if (end->plan_violation)
        return RCO_FAILURE_CLASS_PLAN_VIOLATION;
    if (end->policy_violation)
        return RCO_FAILURE_CLASS_POLICY;
    enum rco_failure_class f = match(engine_rules, RCO_ARRAY_LEN(engine_rules), end->error);
    /* What a provider says while it works on a resource is about that resource, however it sounds;
     * only the plan's own refusal and throttling are told apart. */
    if (end->resource_failed && f != RCO_FAILURE_CLASS_PLAN_VIOLATION &&
        f != RCO_FAILURE_CLASS_PROVIDER_THROTTLE)
        return RCO_FAILURE_CLASS_RESOURCE;
    if (f != RCO_FAILURE_CLASS_UNSET)
        return f;
    if (end->program_failed)
        return RCO_FAILURE_CLASS_SOURCE;
    if (end->exit_code < 0 || end->exit_code == 255)
        return RCO_FAILURE_CLASS_INTERNAL;
    return RCO_FAILURE_CLASS_RESOURCE;
}

static const struct text_rule git_rules[] = {
    {"could not read Username", RCO_FAILURE_CLASS_AUTH},
    {"could not read Password", RCO_FAILURE_CLASS_AUTH},
    {"Authentication failed", RCO_FAILURE_CLASS_AUTH},
    {"Permission denied (", RCO_FAILURE_CLASS_AUTH},
    {"Host key verification failed", RCO_FAILURE_CLASS_AUTH},
    {"The requested URL returned error: 401", RCO_FAILURE_CLASS_AUTH},
    {"The requested URL returned error: 403", RCO_FAILURE_CLASS_AUTH},
    {"invalid format", RCO_FAILURE_CLASS_AUTH}, /* Load key "…": invalid format */
    {"error in libcrypto", RCO_FAILURE_CLASS_AUTH},
    {"No user exists for uid", RCO_FAILURE_CLASS_CONFIG},
    {"No space left on device", RCO_FAILURE_CLASS_CONFIG},
};

enum rco_failure_class rco_fail_of_git(const char *text)
{
    enum rco_failure_class f = match(git_rules, RCO_ARRAY_LEN(git_rules), text);
    return f == RCO_FAILURE_CLASS_UNSET ? RCO_FAILURE_CLASS_SOURCE : f;
}

static const struct text_rule install_rules[] = {
    {"E401", RCO_FAILURE_CLASS_AUTH},
    {"E403", RCO_FAILURE_CLASS_AUTH},
    {"401 Error", RCO_FAILURE_CLASS_AUTH},
    {"403 Error", RCO_FAILURE_CLASS_AUTH},
    {"No space left on device", RCO_FAILURE_CLASS_CONFIG},
    {"ENOSPC", RCO_FAILURE_CLASS_CONFIG},
    {"plugin", RCO_FAILURE_CLASS_CONFIG},
};

enum rco_failure_class rco_fail_of_install(const char *text)
{
    enum rco_failure_class f = match(install_rules, RCO_ARRAY_LEN(install_rules), text);
    return f == RCO_FAILURE_CLASS_UNSET ? RCO_FAILURE_CLASS_SOURCE : f;
}

/* Lines that begin so say what went wrong; the prefix itself is noise. */
static const char *const error_prefixes[] = {
    "fatal: ", "error: ", "ERROR: ", "npm ERR! ", "npm error ", "ssh: ", "remote: ERROR: ",
};

static bool line_has_prefix(const char *line, size_t n, const char *prefix)
{
    size_t len = strlen(prefix);
    return n >= len && memcmp(line, prefix, len) == 0;
}

/* Where in a line the error begins: progress of a downloader may stand before it without a line
 * end. */
static size_t error_offset(const char *line, size_t n)
{
    const char *at = memmem(line, n, "]error: ", 8);
    return at ? (size_t)(at - line) + 1 : 0;
}

/* Generic sentences of git that explain nothing when a better line stands before them. */
static bool is_noise(const char *line, size_t n)
{
    static const char *const noise[] = {"fatal: Could not read from remote repository",
                                        "fatal: the remote end hung up",
                                        "npm ERR! A complete log",
                                        "npm error A complete log",
                                        "npm error code",
                                        "npm ERR! code"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(noise); i++)
        if (line_has_prefix(line, n, noise[i]))
            return true;
    return false;
}

static bool is_error_line(const char *line, size_t n)
{
    static const char *const others[] = {"Host key verification failed", "No user exists for uid",
                                         "Load key "};
    for (size_t i = 0; i < RCO_ARRAY_LEN(error_prefixes); i++)
        if (line_has_prefix(line, n, error_prefixes[i]))
            return !is_noise(line, n);
    for (size_t i = 0; i < RCO_ARRAY_LEN(others); i++)
        if (line_has_prefix(line, n, others[i]))
            return true;
    return memmem(line, n, "Permission denied (", 19) != NULL;
}

const char *rco_fail_first_line(const char *text, size_t n, size_t *ret_len)
{
    const char *last = NULL;
    size_t last_len = 0;
    for (size_t pos = 0; pos < n;) {
        const char *line = text + pos;
        const char *nl = memchr(line, '\n', n - pos);
        size_t len = nl ? (size_t)(nl - line) : n - pos;
        pos += len + 1;
        while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
            len--;
        if (len == 0)
            continue;
        size_t skip = error_offset(line, len);
        line += skip;
        len -= skip;
        bool found = is_error_line(line, len);
        if (!found && is_noise(line, len) && last)
            continue;
        last = line;
        last_len = len;
        if (found)
            break;
    }
    for (size_t i = 0; last && i < RCO_ARRAY_LEN(error_prefixes); i++) {
        size_t len = strlen(error_prefixes[i]);
        if (line_has_prefix(last, last_len, error_prefixes[i]) && last_len > len) {
            *ret_len = last_len - len;
            return last + len;
        }
    }
    *ret_len = last_len;
    return last;
}
