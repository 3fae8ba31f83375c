#include "advice.h"

#include "advice_words.h"
#include "base/cleanup.h"
#include "base/str.h"

static const struct rco_advice_row classes[] = {
    {"Source",
     "the program could not be fetched, or is in error: correct and push it, and declare that "
     "commit",
     RCO_WHO_SPEC,
     {RCO_DO_LOGS, RCO_DO_DECLARE, RCO_DO_EDIT_SPEC}},
    {"Config",
     "configuration or a Secret that the program needs is missing or wrong",
     RCO_WHO_SPEC,
     {RCO_DO_LOGS, RCO_DO_RUN_NOW}},
    {"Auth",
     "the Git server, the state backend or a provider did not accept the credentials",
     "whoever keeps the Secret with the credentials",
     {RCO_DO_LOGS, RCO_DO_RUN_NOW}},
    {"Policy",
     "a policy refused the plan or the runner pods",
     RCO_WHO_ENV,
     {RCO_DO_LOGS, RCO_DO_SHOW}},
    {"Capacity",
     "the cluster had no room for the runner pod: quota, nodes or image",
     RCO_WHO_PLATFORM,
     {"kubectl get events{flags}", "kubectl describe resourcequota{flags}", RCO_DO_RUN_NOW}},
    {"PlanStale",
     "something the plan was made from moved before the apply, so nothing was applied; it is tried "
     "again once by itself",
     "whoever else changes this stack, when it happens again",
     {RCO_DO_RUNS, RCO_DO_SHOW, RCO_DO_RUN_NOW}},
    {"PlanViolation",
     "the apply would have done something that the plan does not contain, so it was stopped; it is "
     "tried again once by itself",
     RCO_WHO_SPEC,
     {RCO_DO_LOGS, RCO_DO_SHOW, RCO_DO_RUN_NOW}},
    {"BackendLocked",
     "another engine holds the lock of this stack, and it is none of the operator's ended pods",
     "whoever runs Pulumi on this stack by hand",
     {RCO_DO_LOGS, RCO_DO_RUN_NOW}},
    {"Resource",
     "a resource could not be created, changed or deleted; when the program is at fault, correct "
     "and "
     "push it, and declare that commit",
     RCO_WHO_SPEC,
     {RCO_DO_LOGS, RCO_DO_DECLARE, RCO_DO_RUN_NOW}},
    {"ProviderThrottle",
     "a provider limited the rate of requests for too long",
     RCO_WHO_SPEC,
     {RCO_DO_LOGS, RCO_DO_RUN_NOW}},
    {"Timeout",
     "the run took longer than the Environment's runner.timeout",
     RCO_WHO_ENV,
     {RCO_DO_LOGS, RCO_DO_EDIT_ENV, RCO_DO_RUN_NOW}},
    {"Cancelled",
     "the engine was told to stop and stopped",
     RCO_WHO_SPEC,
     {RCO_DO_SHOW, RCO_DO_RUN_NOW}},
    {"Lost",
     "the runner went away without saying how it ended; part of the plan may have been applied, "
     "and the next "
     "run's plan shows what",
     RCO_WHO_SPEC,
     {RCO_DO_SHOW, RCO_DO_RUN_NOW}},
    {"Internal",
     "the operator or the runner met something that it cannot explain",
     RCO_WHO_PLATFORM,
     {RCO_DO_LOGS, RCO_DO_RUN_NOW}},
};

static const struct rco_advice_row reasons[] = {
    /* of specifications, before a run exists */
    {"ReferenceMissing",
     "it goes on by itself when that exists",
     RCO_WHO_SPEC,
     {"kubectl get configmaps --show-labels{flags}", RCO_DO_EDIT_SPEC}},
    {"EnvironmentNotReady",
     "it goes on by itself when the Environment is ready",
     RCO_WHO_ENV,
     {RCO_DO_WHY_ENV}},
    {"EnvironmentDeleting",
     "the Environment is going away",
     RCO_WHO_ENV,
     {RCO_DO_WHY_ENV, RCO_DO_EDIT_SPEC}},
    {"TenantMissing",
     NULL,
     RCO_WHO_PLATFORM,
     {"kubectl get tenants.runtimecloud.io", RCO_DO_NAMESPACE}},
    {"TenantMismatch", NULL, RCO_WHO_SPEC, {RCO_DO_NAMESPACE, RCO_DO_EDIT_SPEC}},
    {"ProjectMismatch", NULL, RCO_WHO_SPEC, {RCO_DO_EDIT_SPEC, RCO_DO_WHY_ENV}},
    {"NotAvailable",
     "this version of the operator does not have that",
     RCO_WHO_SPEC,
     {RCO_DO_EDIT_SPEC}},
    {"ProgramInvalid", NULL, RCO_WHO_SPEC, {RCO_DO_EDIT_SPEC}},
    {"RepositoryNotAllowed",
     "only what the Environment lists in git.allowedRepositories may be deployed from",
     RCO_WHO_SPEC ", or " RCO_WHO_ENV " to allow more",
     {RCO_DO_EDIT_SPEC, RCO_DO_EDIT_ENV}},
    {"SecretNotAllowed",
     "only Secrets whose name begins with that of the Environment and \"-\", or those that its "
     "allowedSecrets name, may be referenced",
     RCO_WHO_SPEC ", or " RCO_WHO_ENV " to allow more",
     {RCO_DO_EDIT_SPEC, RCO_DO_EDIT_ENV}},
    {"RunRefused",
     "the API server does not let the operator make the run",
     RCO_WHO_PLATFORM,
     {RCO_DO_CHECK}},
    {"StackClaimed",
     "another specification has this stack; two can never share one",
     RCO_WHO_SPEC,
     {"kubectl get depspec -A", RCO_DO_EDIT_SPEC}},
    {"BackendChanged",
     "the Environment names another state store than the one that has this stack's state",
     RCO_WHO_ENV,
     {RCO_DO_EDIT_ENV, RCO_DO_WHY_ENV}},
    {"Suspended", "spec.suspend is true: no new run starts", RCO_WHO_SPEC, {RCO_DO_RESUME}},
    {"TenantSuspended",
     "the Tenant is suspended: no new run starts in any of its namespaces",
     RCO_WHO_PLATFORM,
     {"kubectl get tenants.runtimecloud.io"}},
    {"DeletionWaits", NULL, NULL, {RCO_DO_RUNS}},
    {"NamespaceTerminating",
     "the namespace is being deleted, so nothing new can be made in it",
     RCO_WHO_PLATFORM,
     {RCO_DO_NAMESPACE}},
    /* of Environments */
    {"BackendMissing", NULL, RCO_WHO_ENV, {RCO_DO_EDIT_ENV}},
    {"BackendInvalid", NULL, RCO_WHO_ENV, {RCO_DO_EDIT_ENV}},
    {"PassphraseMissing", NULL, RCO_WHO_ENV, {RCO_DO_EDIT_ENV}},
    {"DurationInvalid", NULL, RCO_WHO_ENV, {RCO_DO_EDIT_ENV}},
    {"StateLost",
     "state or its key is gone, and is never made anew by itself",
     RCO_WHO_ENV,
     {RCO_DO_EDIT_ENV, "kubectl get pvc,secret{flags}"}},
    {"StateFound",
     "a state volume that is not this Environment's is never taken over by itself",
     RCO_WHO_ENV,
     {RCO_DO_EDIT_ENV, "kubectl get pvc{flags}"}},
    {"NoServiceAccount",
     "service account {account}, which programs act as (spec.runner of the Environment), does not "
     "exist",
     RCO_WHO_ENV,
     {RCO_DO_CREATE_ACCOUNT}},
    {"SecretsTaken", NULL, RCO_WHO_ENV, {"kubectl get secret{flags}", RCO_DO_EDIT_ENV}},
    {"CreateRefused",
     "a quota, a policy or a missing right keeps the operator from making it",
     RCO_WHO_PLATFORM,
     {"kubectl describe resourcequota{flags}", RCO_DO_CHECK}},
    /* of runs */
    {"StackBusy",
     "another run has its engine on this stack; this one starts when that has ended",
     NULL,
     {RCO_DO_RUNS}},
    {"Unschedulable",
     "no node takes the runner pod yet; it goes on by itself when one does",
     RCO_WHO_PLATFORM,
     {"kubectl get nodes,pvc{flags}", "kubectl get events{flags}"}},
    {"ImagePull",
     "the runner image cannot be pulled yet; it is tried on for three minutes",
     RCO_WHO_ENV,
     {"kubectl get events{flags}", RCO_DO_EDIT_ENV}},
    {"ContainerNotCreated",
     "a container of the runner pod cannot be made yet",
     RCO_WHO_ENV,
     {"kubectl get events{flags}", RCO_DO_EDIT_ENV}},
    {"VolumeBusy",
     "another run has the Environment's state volume; this one starts when that has ended",
     NULL,
     {"kubectl runtimecloud run list{flags}"}},
    {"ApprovalUnavailable",
     "an apply in a production Environment needs an approval, and this version cannot record one; "
     "the plan is kept and nothing is applied",
     RCO_WHO_ENV,
     {RCO_DO_SHOW, "kubectl runtimecloud run logs {run} --phase plan{flags}"}},
    {"AwaitingDecision",
     "a person has to decide",
     "someone with the right to approve",
     {RCO_DO_SHOW}},
    {"ForeignObject",
     "an object that the operator did not make has a name that it needs",
     RCO_WHO_ENV,
     {"kubectl get job,configmap,pvc,provisioningrun{flags}"}},
    {"EngineUnknown", NULL, RCO_WHO_PLATFORM, {RCO_DO_SHOW}},
    {"Restored",
     "it came back from a backup with another identity, so it does nothing by itself",
     RCO_WHO_SPEC,
     {RCO_DO_RUN_NOW}},
    {"Cancelled", NULL, RCO_WHO_SPEC, {RCO_DO_RUN_NOW, RCO_DO_RUNS}},
    {"Rejected", NULL, RCO_WHO_SPEC, {RCO_DO_RUN_NOW, RCO_DO_RUNS}},
    {"Replaced", "a newer version took its place", NULL, {RCO_DO_STATUS}},
    {"NoChanges", "the plan had nothing to change", NULL, {RCO_DO_SHOW}},
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
