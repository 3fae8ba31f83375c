/* Messages that are known word by word: what they name goes into the commands. */
#include "advice_pattern.h"
#include "advice_words.h"
#include "api/labels.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

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
#define READS_TOO                                                                                  \
    "the second role has what Pulumi reads to see that it is ready, or else it waits without a "   \
    "word; leave it out where the account has that"
#define WAITS_FOR_RIGHT NO_RIGHT "; the provider may wait for it until runner.timeout ends the run"
#define PASSPHRASE                                                                                 \
    "it protects the state: when it was there before, restore it, since no other can read that "   \
    "state"

/* The keys that the specification wants of a ConfigMap, for the command that makes it. */
static bool fits_config(const struct rco_advice_about *about, struct rco_arena *a,
                        struct rco_advice_found *found)
{
    const struct rco_depspec_spec *s = about->spec ? &about->spec->spec : NULL;
    rco_autobuf literals = RCO_BUF_INIT;

    for (size_t i = 0; s && i < s->n_config_refs; i++) {
        const struct rco_key_ref *ref = &s->config_refs[i].config_map_key_ref;
        const char *key = rco_str_or_empty(ref->key);

        if (!rco_streq(ref->name, rco_advice_name(found, "configmap")))
            continue;
        if (!*key || rco_advice_name_length("key", key) != (int64_t)strlen(key))
            return false;
        const char *literal = rco_arena_printf(a, " --from-literal=%s=VALUE", key);
        if (!strstr(rco_buf_str(&literals), literal))
            rco_buf_adds(&literals, literal);
    }
    rco_advice_add_name(found, "literals", rco_arena_strdup(a, rco_buf_str(&literals)));
    return literals.len > 0;
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

#define IN_NAMESPACE "in the namespace \"{where}\""
#define AT_CLUSTER "at the cluster scope"
#define FORBIDDEN_AT_ALL " is forbidden: User \"system:serviceaccount:"
#define NONE                                                                                       \
    {                                                                                              \
        RCO_FAILURE_CLASS_UNSET                                                                    \
    }

/* Commands that belong together. */
#define GIVE_IN_NAMESPACE                                                                          \
    "kubectl create role {role} --verb={verbs} --resource={target} -n {where}{cluster}",           \
        "kubectl create rolebinding {role} --role={role} "                                         \
        "--serviceaccount={accountns}:{account} -n {where}{cluster}"
#define GIVE_AT_CLUSTER                                                                            \
    "kubectl create clusterrole {role} --verb={verbs} --resource={target}{cluster}",               \
        "kubectl create clusterrolebinding {role} --clusterrole={role} "                           \
        "--serviceaccount={accountns}:{account}{cluster}"
#define WAIT_ROLE RCO_ADVICE_WAIT_ROLE("{account}")
#define GIVE_READS                                                                                 \
    "kubectl create role " WAIT_ROLE                                                               \
    " --verb=get,list,watch --resource=" RCO_ADVICE_WAIT_RESOURCES " -n {where}{cluster}",         \
        "kubectl create rolebinding " WAIT_ROLE " --role=" WAIT_ROLE                               \
        " --serviceaccount={accountns}:{account} -n {where}{cluster}"
#define WHY_NAMED "kubectl runtimecloud why run/{named}{flags}"
#define LIST_ROLES "kubectl get role,rolebinding{flags}"

#define CANNOT_START                                                                               \
    {                                                                                              \
        "Waiting", "what it deploys cannot start; Pulumi waits for it until its own time-out",     \
            RCO_WHO_SPEC,                                                                          \
        {                                                                                          \
            RCO_DO_CANCEL, RCO_DO_DECLARE                                                          \
        }                                                                                          \
    }

static const struct rco_advice_pattern failures[] = {
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
     FORBIDDEN IN_NAMESPACE,
     {"Resource",
      ADD_RIGHT "; " READS_TOO,
      RCO_WHO_RIGHTS,
      {GIVE_IN_NAMESPACE, GIVE_READS, RCO_DO_RUN_NOW, RCO_DO_LOGS}},
     rco_advice_fits_workload},
    {RIGHTS,
     FORBIDDEN IN_NAMESPACE,
     {"Resource", ADD_RIGHT, RCO_WHO_RIGHTS, {GIVE_IN_NAMESPACE, RCO_DO_RUN_NOW, RCO_DO_LOGS}},
     rco_advice_fits_account},
    {RIGHTS,
     FORBIDDEN AT_CLUSTER,
     {"Resource", ADD_RIGHT, RCO_WHO_RIGHTS, {GIVE_AT_CLUSTER, RCO_DO_RUN_NOW, RCO_DO_LOGS}},
     rco_advice_fits_account},
    {RIGHTS,
     FORBIDDEN_AT_ALL,
     {"Resource", NO_RIGHT, RCO_WHO_RIGHTS, {RCO_DO_LOGS, LIST_ROLES, RCO_DO_RUN_NOW}},
     NULL},
};

/* What the newest line of an engine at work may say that only a person can change. */
static const struct rco_advice_pattern waitings[] = {
    {NONE,
     FORBIDDEN IN_NAMESPACE,
     {"Waiting",
      WAITS_FOR_RIGHT "; " READS_TOO,
      RCO_WHO_RIGHTS,
      {GIVE_IN_NAMESPACE, GIVE_READS, RCO_DO_CANCEL}},
     rco_advice_fits_workload},
    {NONE,
     FORBIDDEN IN_NAMESPACE,
     {"Waiting", WAITS_FOR_RIGHT, RCO_WHO_RIGHTS, {GIVE_IN_NAMESPACE, RCO_DO_CANCEL}},
     rco_advice_fits_account},
    {NONE,
     FORBIDDEN AT_CLUSTER,
     {"Waiting", WAITS_FOR_RIGHT, RCO_WHO_RIGHTS, {GIVE_AT_CLUSTER, RCO_DO_CANCEL}},
     rco_advice_fits_account},
    {NONE,
     FORBIDDEN_AT_ALL,
     {"Waiting", WAITS_FOR_RIGHT, RCO_WHO_RIGHTS, {LIST_ROLES, RCO_DO_CANCEL}},
     NULL},
    {NONE, "ImagePullBackOff", CANNOT_START, NULL},
    {NONE, "ErrImagePull", CANNOT_START, NULL},
    {NONE, "ErrImageNeverPull", CANNOT_START, NULL},
    {NONE, "InvalidImageName", CANNOT_START, NULL},
    {NONE, "failed to pull image", CANNOT_START, NULL},
    {NONE, "Back-off pulling image", CANNOT_START, NULL},
    {NONE, "failed to apply default image tag", CANNOT_START, NULL},
    {NONE, "CreateContainerConfigError", CANNOT_START, NULL},
    {NONE, "CreateContainerError", CANNOT_START, NULL},
    {NONE, "RunContainerError", CANNOT_START, NULL},
    {NONE, "StartError", CANNOT_START, NULL},
    {NONE, "failed to create containerd task", CANNOT_START, NULL},
    {NONE, "CrashLoopBackOff", CANNOT_START, NULL},
    {NONE, "Back-off restarting failed container", CANNOT_START, NULL},
};

/* Of conditions; the word of the row is their reason. */
static const struct rco_advice_pattern conditions[] = {
    {NONE,
     "ConfigMap {configmap} has no key {key} (spec.configRefs",
     {"ReferenceMissing",
      NULL,
      RCO_WHO_SPEC,
      {"kubectl patch configmap {configmap} --type merge -p "
       "'{\"data\":{\"{key}\":\"VALUE\"}}'{flags}",
       RCO_DO_EDIT_SPEC}},
     NULL},
    {NONE,
     "ConfigMap {configmap} (spec.configRefs, {ref}) does not exist in namespace ",
     {"ReferenceMissing",
      "the first command makes it, the second gives it, or one that is there, its label",
      RCO_WHO_SPEC,
      {"kubectl create configmap {configmap}{literals}{flags}",
       "kubectl label configmap {configmap} " RCO_LABEL_ENVIRONMENT "={env}{flags}",
       RCO_DO_EDIT_SPEC}},
     fits_config},
    {NONE,
     " name this Environment, the first is {named};",
     {"InUse",
      NULL,
      "whoever changes the specifications that name it",
      {"kubectl get depspec{flags}", "kubectl delete depspec {named}{flags}"}},
     NULL},
    {NONE,
     "deletion waits: run {named} has not finished (state AwaitingApproval)",
     {"InUse",
      NULL,
      "whoever may delete that run: it waits for an approval, and has applied nothing",
      {WHY_NAMED, "kubectl delete prun {named}{flags}"}},
     NULL},
    {NONE,
     "deletion waits: run {named} has not finished",
     {"InUse", NULL, NULL, {WHY_NAMED}},
     NULL},
};

static const struct rco_advice_pattern refusals[] = {
    {NONE,
     "serviceaccount \"{account}\" not found",
     {"PodRefused", NULL, RCO_WHO_ENV, {RCO_DO_CREATE_ACCOUNT}},
     NULL},
};

/* --- which table for what --------------------------------------------------------------------- */

void rco_advice_failure(const struct rco_run *run, struct rco_arena *a,
                        struct rco_advice_found *out)
{
    const struct rco_run_failure *failure = &run->status.failure;
    const struct rco_advice_about about = {.run = run};
    const char *text = rco_str_or_empty(failure->message);

    for (size_t i = 0; i < RCO_ARRAY_LEN(failures); i++) {
        const struct rco_advice_pattern *p = &failures[i];

        if (failure->class != RCO_FAILURE_CLASS_UNSET &&
            (failure->class == p->classes[0] || failure->class == p->classes[1]) &&
            rco_advice_match(p, text, &about, a, out))
            return;
    }
    *out =
        (struct rco_advice_found){.row = rco_advice_class(rco_failure_class_name(failure->class))};
}

static void find(const struct rco_advice_pattern *patterns, size_t n, const char *text,
                 const struct rco_advice_about *about, struct rco_arena *a,
                 struct rco_advice_found *out)
{
    *out = (struct rco_advice_found){0};
    for (size_t i = 0; i < n; i++)
        if (rco_advice_match(&patterns[i], rco_str_or_empty(text), about, a, out))
            return;
}

void rco_advice_waiting(const struct rco_run *run, const char *text, struct rco_arena *a,
                        struct rco_advice_found *out)
{
    const struct rco_advice_about about = {.run = run};

    find(waitings, RCO_ARRAY_LEN(waitings), text, &about, a, out);
}

void rco_advice_condition(const struct rco_condition *c, const struct rco_depspec *spec,
                          struct rco_arena *a, struct rco_advice_found *out)
{
    const struct rco_advice_about about = {.spec = spec};

    for (size_t i = 0; i < RCO_ARRAY_LEN(conditions); i++)
        if (rco_streq(conditions[i].row.word, c->reason) &&
            rco_advice_match(&conditions[i], rco_str_or_empty(c->message), &about, a, out))
            return;
    *out = (struct rco_advice_found){.row = rco_advice_reason(c->reason)};
}

void rco_advice_refusal(const char *text, struct rco_arena *a, struct rco_advice_found *out)
{
    find(refusals, RCO_ARRAY_LEN(refusals), text, NULL, a, out);
}
