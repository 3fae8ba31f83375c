#include "advice.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <string.h>

#define YOU "whoever changes the specification"
#define ADMIN "the workspace admin, who owns the Environment"
#define PLATFORM "the platform engineer"

#define CHECK "kubectl runtimecloud check{flags}"
#define NAMESPACE "kubectl get namespace {ns} --show-labels"
#define RESUME                                                                                     \
    "kubectl patch depspec {spec} --type merge -p '{\"spec\":{\"suspend\":false}}'{flags}"
#define RUNS "kubectl runtimecloud run list --spec {spec}{flags}"
#define STATUS "kubectl runtimecloud status {spec}{flags}"
#define LOGS "kubectl runtimecloud run logs {run}{flags}"
#define SHOW "kubectl runtimecloud run show {run}{flags}"
#define EDIT_SPEC "kubectl edit deploymentspecification {spec}{flags}"
#define EDIT_ENV "kubectl edit environment.runtimecloud.io {env}{flags}"
#define WHY_ENV "kubectl runtimecloud why environment/{env}{flags}"
#define RUN_NOW                                                                                    \
    "kubectl annotate --overwrite depspec {spec} runtimecloud.io/run-now=\"$(date +%s)\"{flags}"

static const struct rco_advice_row classes[] = {
    {"Source",
     "the program could not be fetched, or what was fetched is not a Pulumi program",
     YOU,
     {LOGS, EDIT_SPEC}},
    {"Config",
     "configuration or a Secret that the program needs is missing or wrong",
     YOU,
     {LOGS, RUN_NOW}},
    {"Auth",
     "the Git server, the state backend or a provider did not accept the credentials",
     "whoever keeps the Secret with the credentials",
     {LOGS, RUN_NOW}},
    {"Policy", "a policy refused the plan or the runner pods", ADMIN, {LOGS, SHOW}},
    {"Capacity",
     "the cluster had no room for the runner pod: quota, nodes or image",
     PLATFORM,
     {"kubectl get events{flags}", "kubectl describe resourcequota{flags}", RUN_NOW}},
    {"PlanStale",
     "something the plan was made from moved before the apply, so nothing was applied; it is tried "
     "again once by itself",
     "whoever else changes this stack, when it happens again",
     {RUNS, SHOW, RUN_NOW}},
    {"PlanViolation",
     "the apply would have done something that the plan does not contain, so it was stopped; it is "
     "tried again once by itself",
     YOU,
     {LOGS, SHOW, RUN_NOW}},
    {"BackendLocked",
     "another engine holds the lock of this stack, and it is none of the operator's ended pods",
     "whoever runs Pulumi on this stack by hand",
     {LOGS, RUN_NOW}},
    {"Resource",
     "a resource could not be created, changed or deleted",
     YOU,
     {LOGS, EDIT_SPEC, RUN_NOW}},
    {"ProviderThrottle",
     "a provider limited the rate of requests for too long",
     YOU,
     {LOGS, RUN_NOW}},
    {"Timeout",
     "the run took longer than the Environment's runner.timeout",
     ADMIN,
     {LOGS, EDIT_ENV, RUN_NOW}},
    {"Cancelled", "the engine was told to stop and stopped", YOU, {SHOW, RUN_NOW}},
    {"Lost",
     "the runner went away without saying how it ended; part of the plan may have been applied, "
     "and the next "
     "run's plan shows what",
     YOU,
     {SHOW, RUN_NOW}},
    {"Internal",
     "the operator or the runner met something that it cannot explain",
     PLATFORM,
     {LOGS, RUN_NOW}},
};

static const struct rco_advice_row reasons[] = {
    /* of specifications, before a run exists */
    {"ReferenceMissing",
     "it goes on by itself when that exists",
     YOU,
     {"kubectl get configmaps --show-labels{flags}", EDIT_SPEC}},
    {"EnvironmentNotReady", "it goes on by itself when the Environment is ready", ADMIN, {WHY_ENV}},
    {"EnvironmentDeleting", "the Environment is going away", ADMIN, {WHY_ENV, EDIT_SPEC}},
    {"TenantMissing", NULL, PLATFORM, {"kubectl get tenants.runtimecloud.io", NAMESPACE}},
    {"TenantMismatch", NULL, YOU, {NAMESPACE, EDIT_SPEC}},
    {"ProjectMismatch", NULL, YOU, {EDIT_SPEC, WHY_ENV}},
    {"NotAvailable", "this version of the operator does not have that", YOU, {EDIT_SPEC}},
    {"ProgramInvalid", NULL, YOU, {EDIT_SPEC}},
    {"RepositoryNotAllowed",
     "only the Environment's git.allowedRepositories may be deployed from",
     ADMIN,
     {EDIT_ENV, EDIT_SPEC}},
    {"SecretNotAllowed",
     "only the Environment's allowedSecrets may be referenced",
     ADMIN,
     {EDIT_ENV, EDIT_SPEC}},
    {"RunRefused", "the API server does not let the operator make the run", PLATFORM, {CHECK}},
    {"StackClaimed",
     "another specification has this stack; two can never share one",
     YOU,
     {"kubectl get depspec -A", EDIT_SPEC}},
    {"BackendChanged",
     "the Environment names another state store than the one that has this stack's state",
     ADMIN,
     {EDIT_ENV, WHY_ENV}},
    {"Suspended", "spec.suspend is true: no new run starts", YOU, {RESUME}},
    {"TenantSuspended",
     "the Tenant is suspended: no new run starts in any of its namespaces",
     PLATFORM,
     {"kubectl get tenants.runtimecloud.io"}},
    {"DeletionWaits", NULL, NULL, {RUNS}},
    {"NamespaceTerminating",
     "the namespace is being deleted, so nothing new can be made in it",
     PLATFORM,
     {NAMESPACE}},
    /* of Environments */
    {"BackendMissing", NULL, ADMIN, {EDIT_ENV}},
    {"BackendInvalid", NULL, ADMIN, {EDIT_ENV}},
    {"PassphraseMissing", NULL, ADMIN, {EDIT_ENV}},
    {"DurationInvalid", NULL, ADMIN, {EDIT_ENV}},
    {"StateLost",
     "state or its key is gone, and is never made anew by itself",
     ADMIN,
     {EDIT_ENV, "kubectl get pvc,secret{flags}"}},
    {"StateFound",
     "a state volume that is not this Environment's is never taken over by itself",
     ADMIN,
     {EDIT_ENV, "kubectl get pvc{flags}"}},
    {"SecretsTaken", NULL, ADMIN, {"kubectl get secret{flags}", EDIT_ENV}},
    {"CreateRefused",
     "a quota, a policy or a missing right keeps the operator from making it",
     PLATFORM,
     {"kubectl describe resourcequota{flags}", CHECK}},
    /* of runs */
    {"StackBusy",
     "another run has its engine on this stack; this one starts when that has ended",
     NULL,
     {RUNS}},
    {"Unschedulable",
     "no node takes the runner pod yet; it goes on by itself when one does",
     PLATFORM,
     {"kubectl get nodes,pvc{flags}", "kubectl get events{flags}"}},
    {"ImagePull",
     "the runner image cannot be pulled yet; it is tried on for three minutes",
     ADMIN,
     {"kubectl get events{flags}", EDIT_ENV}},
    {"ContainerNotCreated",
     "a container of the runner pod cannot be made yet",
     ADMIN,
     {"kubectl get events{flags}", EDIT_ENV}},
    {"VolumeBusy",
     "another run has the Environment's state volume; this one starts when that has ended",
     NULL,
     {"kubectl runtimecloud run list{flags}"}},
    {"ApprovalUnavailable",
     "an apply in a production Environment needs an approval, and this version cannot record one; "
     "the plan is kept and nothing is applied",
     ADMIN,
     {SHOW, "kubectl runtimecloud run logs {run} --phase plan{flags}"}},
    {"AwaitingDecision", "a person has to decide", "someone with the right to approve", {SHOW}},
    {"ForeignObject",
     "an object that the operator did not make has a name that it needs",
     ADMIN,
     {"kubectl get job,configmap,pvc,provisioningrun{flags}"}},
    {"EngineUnknown", NULL, PLATFORM, {SHOW}},
    {"Restored",
     "it came back from a backup with another identity, so it does nothing by itself",
     YOU,
     {RUN_NOW}},
    {"Cancelled", NULL, YOU, {RUN_NOW, RUNS}},
    {"Rejected", NULL, YOU, {RUN_NOW, RUNS}},
    {"Replaced", "a newer version took its place", NULL, {STATUS}},
    {"NoChanges", "the plan had nothing to change", NULL, {SHOW}},
};

static const struct rco_advice_row *find(const struct rco_advice_row *rows, size_t n,
                                         const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(rows[i].word, word))
            return &rows[i];
    return NULL;
}

const struct rco_advice_row *rco_advice_class(const char *word)
{
    return find(classes, RCO_ARRAY_LEN(classes), word);
}

const struct rco_advice_row *rco_advice_failure(const char *word, const char *message)
{
    static const struct rco_advice_row forbidden = {
        "Resource",
        "the account that the program acts as lacks a right in the cluster",
        "whoever gives rights to the account that the message names",
        {LOGS, "kubectl get role,rolebinding{flags}", RUN_NOW}};
    if (rco_streq(word, "Resource") && message &&
        strstr(message, " is forbidden: User \"system:serviceaccount:"))
        return &forbidden;
    return rco_advice_class(word);
}

const struct rco_advice_row *rco_advice_reason(const char *word)
{
    return find(reasons, RCO_ARRAY_LEN(reasons), word);
}

const struct rco_advice_row *rco_advice_classes(size_t *ret_n)
{
    *ret_n = RCO_ARRAY_LEN(classes);
    return classes;
}

const struct rco_advice_row *rco_advice_reasons(size_t *ret_n)
{
    *ret_n = RCO_ARRAY_LEN(reasons);
    return reasons;
}
