/* What all decisions share: the operator's configuration as facts, and the names of conditions,
 * finalizers, labels and annotations. */
#ifndef RCO_DECIDE_COMMON_H
#define RCO_DECIDE_COMMON_H

#include "base/str.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RCO_FINALIZER_RUN "runtimecloud.io/run"
#define RCO_FINALIZER_SPECIFICATION "runtimecloud.io/specification"
#define RCO_FINALIZER_ENVIRONMENT "runtimecloud.io/environment"
#define RCO_FINALIZER_ENGINE "runtimecloud.io/engine"

#define RCO_LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define RCO_MANAGED_BY "runtime-cloud"
#define RCO_LABEL_TENANT "runtimecloud.io/tenant"
#define RCO_LABEL_PROJECT "runtimecloud.io/project"
#define RCO_LABEL_ENVIRONMENT "runtimecloud.io/environment"
#define RCO_LABEL_SPECIFICATION "runtimecloud.io/specification"
#define RCO_LABEL_RUN "runtimecloud.io/run"
#define RCO_LABEL_RUN_UID "runtimecloud.io/run-uid"
#define RCO_LABEL_PHASE "runtimecloud.io/phase"

/* On Jobs: hash of run uid, phase and snapshot. */
#define RCO_ANNOTATION_CAUSE "runtimecloud.io/cause"
/* On a specification: any new value asks for a new run. */
#define RCO_ANNOTATION_RUN_NOW "runtimecloud.io/run-now"
/* On a state claim: uid of the Environment that made it. */
#define RCO_ANNOTATION_ENVIRONMENT_UID "runtimecloud.io/environment-uid"

/* On the stack claim Lease (operator's namespace); its spec.holderIdentity is the uid of the
 * specification. The engine annotations are absent while no engine may run. */
#define RCO_ANNOTATION_CLAIM_SPECIFICATION "runtimecloud.io/specification-ref" /* "ns/name" */
#define RCO_ANNOTATION_CLAIM_STACK "runtimecloud.io/stack"                     /* for people */
#define RCO_ANNOTATION_CLAIM_ENGINE_POD "runtimecloud.io/engine-pod"           /* pod name */
#define RCO_ANNOTATION_CLAIM_ENGINE_POD_UID "runtimecloud.io/engine-pod-uid"
#define RCO_ANNOTATION_CLAIM_ENGINE_RUN "runtimecloud.io/engine-run"           /* "ns/name" */
#define RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID "runtimecloud.io/engine-run-uid"
/* Names of pods whose engine on this stack has ended, newest first, comma-separated: the answer to a
 * start, so that the runner may clear a backend lock that one of them left. */
#define RCO_ANNOTATION_CLAIM_ENDED_PODS "runtimecloud.io/ended-pods"
#define RCO_CLAIM_MAX_ENDED_PODS 32

#define RCO_CONTAINER_FETCH "fetch"
#define RCO_CONTAINER_INSTALL "install"
#define RCO_CONTAINER_REPORT "report"
#define RCO_CONTAINER_ENGINE "engine"

/* The operator's configuration, as far as decisions depend on it. All borrowed; NULL or 0 takes the
 * default that is named here. */
struct rco_decide_config {
    const char *operator_namespace;
    const char *gateway_url;           /* https://<service>.<namespace>.svc:<port>, no slash behind */
    const char *gateway_ca;            /* PEM, stands inline in Jobs */
    const char *gateway_audience;      /* "runtime-cloud-gateway" */
    const char *runner_image;          /* default image of runs */
    const char *image_pull_policy;     /* "IfNotPresent" */
    const char *default_tenant;        /* "" or NULL = strict: unlabelled namespaces are refused */
    const char *state_storage_class;   /* NULL = the cluster's default class */
    const char *state_size;            /* "1Gi" */
    const char *engine_cpu_request;    /* "250m" */
    const char *engine_memory_request; /* "512Mi" */
    const char *engine_memory_limit;   /* "2Gi" */
    const char *runner_node_selector;  /* JSON object or NULL */
    const char *runner_tolerations;    /* JSON array or NULL */
    const char *instance;              /* reporting instance, for messages */
    int64_t history_limit;             /* finished runs that applied nothing, per specification; 20 */
    int64_t image_timeout_ns;          /* how long an image may fail to be pulled; 3 min */
    int64_t schedule_timeout_ns;       /* how long a pod may be unschedulable; 15 min */
    int64_t pod_timeout_ns;            /* how long a Job may be without a pod; 3 min */
    int64_t container_timeout_ns;      /* CreateContainerError and the like; 3 min */
};

#endif
