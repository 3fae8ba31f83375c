/* Who acts, and the commands that several rows of advice share. Templates: see advice.h. */
#ifndef RCO_CLI_ADVICE_WORDS_H
#define RCO_CLI_ADVICE_WORDS_H

#define RCO_WHO_SPEC "whoever changes the specification"
#define RCO_WHO_ENV "whoever owns the Environment"
#define RCO_WHO_PLATFORM "the platform engineer"
#define RCO_WHO_SECRET "whoever keeps the Secret"
#define RCO_WHO_RIGHTS                                                                             \
    "whoever gives rights to the account that the message names, if it should have that one"

#define RCO_DO_CHECK "kubectl runtimecloud check{flags}"
#define RCO_DO_NAMESPACE "kubectl get namespace {ns} --show-labels"
#define RCO_DO_RESUME                                                                              \
    "kubectl patch depspec {spec} --type merge -p '{\"spec\":{\"suspend\":false}}'{flags}"
#define RCO_DO_RUNS "kubectl runtimecloud run list --spec {spec}{flags}"
#define RCO_DO_STATUS "kubectl runtimecloud status {spec}{flags}"
#define RCO_DO_LOGS "kubectl runtimecloud run logs {run}{flags}"
#define RCO_DO_SHOW "kubectl runtimecloud run show {run}{flags}"
#define RCO_DO_EDIT_SPEC "kubectl edit deploymentspecification {spec}{flags}"
#define RCO_DO_DECLARE                                                                             \
    "kubectl patch depspec {spec} --type merge -p "                                                \
    "'{\"spec\":{\"programVersion\":\"COMMIT\"}}'{flags}"
#define RCO_DO_EDIT_ENV "kubectl edit environment.runtimecloud.io {env}{flags}"
#define RCO_DO_WHY_ENV "kubectl runtimecloud why environment/{env}{flags}"
#define RCO_DO_RUN_NOW                                                                             \
    "kubectl annotate --overwrite depspec {spec} runtimecloud.io/run-now=\"$(date +%s)\"{flags}"
#define RCO_DO_CREATE_ACCOUNT "kubectl create serviceaccount {account}{flags}"
/* Nothing where there is nobody to say it to: {cancel} is a name like others. */
#define RCO_DO_CANCEL "{cancel}"

/* The role with which ACCOUNT sees that what it deploys is ready, and what that reads. */
#define RCO_ADVICE_WAIT_ROLE(ACCOUNT) ACCOUNT "-read-workloads"
#define RCO_ADVICE_WAIT_RESOURCES                                                                  \
    "pods,events,endpoints,persistentvolumeclaims,replicasets.apps,"                               \
    "endpointslices.discovery.k8s.io"

#endif
