/* Messages that are known word by word: what they name goes into the commands. */
#include "advice.h"

#include "advice_words.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define CREATE_SECRET "kubectl create secret generic {secret} --from-literal={key}=VALUE{flags}"
#define ADD_TO_SECRET                                                                              \
    "kubectl patch secret {secret} --type merge -p "                                               \
    "'{\"stringData\":{\"{key}\":\"VALUE\"}}'{flags}"
#define SECRET_OR_KEY                                                                              \
    "the first command makes the Secret, the second adds the key to one that is there; new runs "  \
    "try again by themselves, run-now does at once"
#define CONFIG_MISSING                                                                             \
    "the program wants a value for {key}: add an entry to spec.configRefs, like {key: {key}, "     \
    "configMapKeyRef: {name: CONFIGMAP, key: KEY}}, or to spec.secretRefs when it is a secret; "   \
    "that is a new version, and its run begins by itself"
#define NO_RIGHT "the account that the program acts as lacks a right in the cluster"
#define ADD_RIGHT                                                                                  \
    NO_RIGHT "; a program mostly needs all these verbs for what it deploys: leave out what it "    \
             "should not have"
#define PASSPHRASE                                                                                 \
    "it protects the state: when it was there before, restore it, since no other can read that "   \
    "state"

struct pattern {
    enum rco_failure_class classes[2];
    /* Literal text, with {name} for a name. Letters count without regard to case. */
    const char *text;
    struct rco_advice_row row;
    /* Whether the names may be used for RUN; adds those made from them. NULL = always. */
    bool (*fits)(const struct rco_run *run, struct rco_arena *a, struct rco_advice_found *found);
};

/* --- rights ---------------------------------------------------------------------------------- */

static const char *name_of(const struct rco_advice_found *found, const char *name)
{
    for (size_t i = 0; i < found->n_names; i++)
        if (rco_streq(found->names[i].name, name))
            return found->names[i].value;
    return "";
}

static void add_name(struct rco_advice_found *found, const char *name, const char *value)
{
    if (found->n_names < RCO_ADVICE_MAX_NAMES)
        found->names[found->n_names++] = (struct rco_text_var){name, value};
}

static bool is_account(const char *account, const char *of_run)
{
    return rco_streq(account, rco_str_empty(of_run) ? "default" : of_run);
}

/* What is proposed for VERB: those that are needed together, so that the next run does not fail for
 * the next of them. NULL for escalate, bind, impersonate and others, which are nobody's to propose.
 */
static const char *verbs_with(const char *verb, bool subresource)
{
    static const char reads[] = "get,list,watch",
                      all[] = "get,list,watch,create,update,patch,delete";
    static const struct {
        const char *verb, *with;
    } rows[] = {{"get", reads},  {"list", reads}, {"watch", reads}, {"create", all},
                {"update", all}, {"patch", all},  {"delete", all}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_streq(verb, rows[i].verb))
            return subresource ? rows[i].verb : rows[i].with;
    return NULL;
}

/* "deployments.apps/scale", as kubectl wants it, of "deployments/scale" in "apps". */
static const char *add_target(struct rco_arena *a, const char *resource, const char *group)
{
    const char *slash = strchr(resource, '/');
    size_t n = slash ? (size_t)(slash - resource) : strlen(resource);

    return rco_arena_printf(a, "%.*s%s%s%s", (int)n, resource, *group ? "." : "", group,
                            slash ? slash : "");
}

static bool fits_account(const struct rco_run *run, struct rco_arena *a,
                         struct rco_advice_found *found)
{
    const struct rco_resolved *s = &run->spec.snapshot;
    const char *account = name_of(found, "account"), *verb = name_of(found, "verb");
    const char *target = add_target(a, name_of(found, "resource"), name_of(found, "group"));
    const char *verbs = verbs_with(verb, strchr(target, '/'));
    char *role;

    if (!rco_streq(name_of(found, "accountns"), run->metadata.ns) || !verbs ||
        !(is_account(account, s->apply_service_account_name) ||
          is_account(account, s->plan_service_account_name)))
        return false;
    role = rco_arena_printf(a, "%s-%s-%s", account,
                            strstr(verbs, "create,") ? "change"
                            : strchr(verbs, ',')     ? "read"
                                                     : verb,
                            target);
    for (char *c = role; *c; c++)
        if (*c == '/')
            *c = '-';
    add_name(found, "target", target);
    add_name(found, "verbs", verbs);
    add_name(found, "role", role);
    return true;
}

/* --- the patterns; the first that is found wins ------------------------------------------------
 */

#define CONFIG                                                                                     \
    {                                                                                              \
        RCO_FAILURE_CLASS_CONFIG                                                                   \
    }
#define RIGHTS                                                                                     \
    {                                                                                              \
        RCO_FAILURE_CLASS_RESOURCE, RCO_FAILURE_CLASS_AUTH                                         \
    }
#define FORBIDDEN                                                                                  \
    " is forbidden: User \"system:serviceaccount:{accountns}:{account}\" cannot {verb} resource "  \
    "\"{resource}\" in API group \"{group}\" "

static const struct pattern failures[] = {
    {CONFIG,
     "missing configuration value '{key}'",
     {"Config", CONFIG_MISSING, RCO_WHO_SPEC, {RCO_DO_EDIT_SPEC, RCO_DO_LOGS}},
     NULL},
    {CONFIG,
     "missing required configuration variable '{key}'",
     {"Config", CONFIG_MISSING, RCO_WHO_SPEC, {RCO_DO_EDIT_SPEC, RCO_DO_LOGS}},
     NULL},
    {CONFIG,
     "missing required configuration variable {key}",
     {"Config", CONFIG_MISSING, RCO_WHO_SPEC, {RCO_DO_EDIT_SPEC, RCO_DO_LOGS}},
     NULL},
    {CONFIG,
     "missing Secret {secret} key {key} (spec.secretRefs",
     {"Config", SECRET_OR_KEY, RCO_WHO_SECRET, {CREATE_SECRET, ADD_TO_SECRET, RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "missing Secret {secret} key {key} (git.credentialsSecretRef",
     {"Config", SECRET_OR_KEY, RCO_WHO_ENV, {CREATE_SECRET, ADD_TO_SECRET, RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "missing Secret {secret} key {key} (git.caSecretRef",
     {"Config",
      "it has the certificate of the authority that the Git server's is from",
      RCO_WHO_ENV,
      {"kubectl create secret generic {secret} --from-file={key}=FILE{flags}", RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "missing Secret {secret} (backend.credentialsSecretRef",
     {"Config",
      "each of its keys is a variable of the state backend, like AWS_ACCESS_KEY_ID",
      RCO_WHO_ENV,
      {"kubectl create secret generic {secret} --from-literal=KEY=VALUE{flags}", RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "missing Secret {secret} key passphrase (what protects",
     {"Config",
      PASSPHRASE,
      RCO_WHO_ENV,
      {RCO_DO_WHY_ENV, "kubectl get secret {secret}{flags}", RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "missing Secret {secret} key key (made by the operator",
     {"Config",
      "the operator made it and never makes it anew by itself: restore it",
      RCO_WHO_ENV,
      {RCO_DO_WHY_ENV, "kubectl get secret {secret}{flags}", RCO_DO_RUN_NOW}},
     NULL},
    {CONFIG,
     "Job {job} has no pod: the namespace refuses it",
     {"Config",
      NULL,
      RCO_WHO_ENV,
      {"kubectl describe job {job}{flags}", RCO_DO_WHY_ENV, RCO_DO_RUN_NOW}},
     NULL},
    {RIGHTS,
     FORBIDDEN "in the namespace \"{where}\"",
     {"Resource",
      ADD_RIGHT,
      RCO_WHO_RIGHTS,
      {"kubectl create role {role} --verb={verbs} --resource={target} -n {where}{cluster}",
       "kubectl create rolebinding {role} --role={role} --serviceaccount={accountns}:{account} "
       "-n {where}{cluster}",
       RCO_DO_RUN_NOW, RCO_DO_LOGS}},
     fits_account},
    {RIGHTS,
     FORBIDDEN "at the cluster scope",
     {"Resource",
      ADD_RIGHT,
      RCO_WHO_RIGHTS,
      {"kubectl create clusterrole {role} --verb={verbs} --resource={target}{cluster}",
       "kubectl create clusterrolebinding {role} --clusterrole={role} "
       "--serviceaccount={accountns}:{account}{cluster}",
       RCO_DO_RUN_NOW, RCO_DO_LOGS}},
     fits_account},
    {RIGHTS,
     " is forbidden: User \"system:serviceaccount:",
     {"Resource",
      NO_RIGHT,
      RCO_WHO_RIGHTS,
      {RCO_DO_LOGS, "kubectl get role,rolebinding{flags}", RCO_DO_RUN_NOW}},
     NULL},
};

static const struct pattern refusals[] = {
    {{RCO_FAILURE_CLASS_UNSET},
     "serviceaccount \"{account}\" not found",
     {"PodRefused", NULL, RCO_WHO_ENV, {RCO_DO_CREATE_ACCOUNT}},
     NULL},
};

/* --- matching -------------------------------------------------------------------------------- */

/* What a name may have besides letters, digits, '.', '_' and '-', which mean nothing to a shell. */
static const struct name_rule {
    const char *name;
    const char *also;
    bool may_be_empty;
} name_rules[] = {
    {"account", "", false}, {"accountns", "", false}, {"group", "", true},
    {"key", ":/", false},   {"job", "", false},       {"resource", "/", false},
    {"secret", "", false},  {"verb", "", false},      {"where", "", false},
};

static const struct name_rule *find_rule(const char *name, size_t n)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(name_rules); i++)
        if (strlen(name_rules[i].name) == n && memcmp(name_rules[i].name, name, n) == 0)
            return &name_rules[i];
    return NULL;
}

/* Length of the name at S, or -1 when there is none. One that begins like a flag is none. */
static int64_t name_length(const struct name_rule *rule, const char *s)
{
    size_t n = 0;

    while (s[n] &&
           (isalnum((unsigned char)s[n]) || strchr("._-", s[n]) || strchr(rule->also, s[n])))
        n++;
    if (*s == '-' || n > RCO_ADVICE_MAX_NAME || (n == 0 && !rule->may_be_empty))
        return -1;
    return (int64_t)n;
}

static bool match_at(const char *pattern, const char *s, struct rco_arena *a,
                     struct rco_advice_found *found)
{
    while (*pattern) {
        if (*pattern != '{') {
            if (tolower((unsigned char)*pattern++) != tolower((unsigned char)*s++))
                return false;
            continue;
        }
        const char *end = strchr(pattern, '}');
        const struct name_rule *rule = find_rule(pattern + 1, (size_t)(end - pattern) - 1);
        int64_t n = rule ? name_length(rule, s) : -1;

        if (n < 0)
            return false;
        add_name(found, rule->name, rco_arena_strndup(a, s, (size_t)n));
        s += n;
        pattern = end + 1;
    }
    return true;
}

static bool match(const struct pattern *p, const char *text, const struct rco_run *run,
                  struct rco_arena *a, struct rco_advice_found *out)
{
    for (size_t i = 0; text[i] && i < RCO_ADVICE_MAX_TEXT; i++) {
        *out = (struct rco_advice_found){.row = &p->row};
        if (match_at(p->text, text + i, a, out) && (!p->fits || p->fits(run, a, out)))
            return true;
    }
    *out = (struct rco_advice_found){0};
    return false;
}

void rco_advice_failure(const struct rco_run *run, struct rco_arena *a,
                        struct rco_advice_found *out)
{
    const struct rco_run_failure *failure = &run->status.failure;
    const char *text = rco_str_or_empty(failure->message);

    for (size_t i = 0; i < RCO_ARRAY_LEN(failures); i++) {
        const struct pattern *p = &failures[i];

        if (failure->class != RCO_FAILURE_CLASS_UNSET &&
            (failure->class == p->classes[0] || failure->class == p->classes[1]) &&
            match(p, text, run, a, out))
            return;
    }
    *out =
        (struct rco_advice_found){.row = rco_advice_class(rco_failure_class_name(failure->class))};
}

void rco_advice_refusal(const char *text, struct rco_arena *a, struct rco_advice_found *out)
{
    *out = (struct rco_advice_found){0};
    for (size_t i = 0; i < RCO_ARRAY_LEN(refusals); i++)
        if (match(&refusals[i], rco_str_or_empty(text), NULL, a, out))
            return;
}
