/* Volumes of a runner pod and which container sees which of them. */
#ifndef RCO_PULUMI_JOB_VOLUMES_H
#define RCO_PULUMI_JOB_VOLUMES_H

#include "pulumi/phase.h"

struct rco_job_config;
struct rco_json_writer;
struct rco_run;

enum rco_job_container {
    RCO_JOB_FETCH,
    RCO_JOB_INSTALL,
    RCO_JOB_REPORT,
    RCO_JOB_ENGINE,
    RCO_JOB_CONTAINERS
};

/* Writes the member "volumes" of the pod specification. */
void rco_job_write_volumes(struct rco_json_writer *w, const struct rco_run *run,
                           enum rco_phase phase, const struct rco_job_config *config);
/* Writes the member "volumeMounts" of CONTAINER. */
void rco_job_write_mounts(struct rco_json_writer *w, const struct rco_run *run,
                          enum rco_phase phase, enum rco_job_container container);

#endif
