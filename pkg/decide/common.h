/* What all decisions share: the operator's configuration as facts. */
#ifndef RCO_DECIDE_COMMON_H
#define RCO_DECIDE_COMMON_H

#include "api/labels.h"
#include "pulumi/job.h"

#include <stdint.h>

/* The operator's configuration, as far as decisions depend on it. All borrowed; NULL or 0 takes the
 * default that is named here. */
struct rco_decide_config {
    const char *operator_namespace;
    struct rco_job_config job; /* what goes into Jobs */
    const char *runner_image;  /* default image of runs */
    const char *default_tenant;        /* "" or NULL = strict: unlabelled namespaces are refused */
    const char *state_storage_class;   /* NULL = the cluster's default class */
    const char *state_size;            /* "1Gi" */
    const char *instance;              /* reporting instance, for messages */
    int64_t history_limit;             /* finished runs that applied nothing, per specification; 20 */
    int64_t image_timeout_ns;          /* how long an image may fail to be pulled; 3 min */
    int64_t schedule_timeout_ns;       /* how long a pod may be unschedulable; 15 min */
    int64_t pod_timeout_ns;            /* how long a Job may be without a pod; 3 min */
    int64_t container_timeout_ns;      /* CreateContainerError and the like; 3 min */
};

#endif
