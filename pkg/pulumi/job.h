/* Bodies of runner Jobs (design 3.6): one Job per operation, made from the run alone, so that the
 * same run and phase give the same text. */
#ifndef RCO_PULUMI_JOB_H
#define RCO_PULUMI_JOB_H

#include "base/error.h"
#include "pulumi/phase.h"

struct rco_arena;
struct rco_buf;
struct rco_json_writer;
struct rco_run;
struct rco_runner_job;

/* What of the operator's configuration goes into Jobs. Borrowed; NULL takes the default named here.
 */
struct rco_job_config {
    const char *gateway_url;        /* https://<service>.<namespace>.svc:<port>, no slash behind */
    const char *gateway_ca;         /* PEM, stands inline in Jobs */
    const char *gateway_audience;   /* "runtime-cloud-gateway" */
    const char *image_pull_policy;  /* "IfNotPresent" */
    const char *engine_cpu_request; /* "250m" */
    const char *engine_memory_request; /* "512Mi" */
    const char *engine_memory_limit;   /* "2Gi" */
    const char *node_selector;         /* JSON object or NULL */
    const char *tolerations;           /* JSON array or NULL */
};

/* The text of RCO_JOB may not be larger: it stands in the Job four times. */
#define RCO_JOB_MAX_TEXT (64 * 1024)

/* Fills JOB with what the runner of PHASE must do; strings are borrowed from RUN or live in A. For
 * the apply phase RUN has its plan receipt and engine. */
void rco_job_describe(const struct rco_run *run, enum rco_phase phase, struct rco_arena *a,
                      struct rco_runner_job *job);

/* Appends the complete Job of RUN and PHASE. -1 with RCO_ETOOBIG when RCO_JOB would be larger than
 * its cap; the message names what is large. OUT is unchanged then. */
RCO_MUST_CHECK int rco_job_write(const struct rco_run *run, enum rco_phase phase,
                                 const struct rco_job_config *config, struct rco_arena *a,
                                 struct rco_buf *out, struct rco_error *err);

/* Hex digest over run uid, phase and snapshot: the cause of a Job, in its annotation. */
void rco_job_cause(const struct rco_run *run, enum rco_phase phase, char out[65]);

/* Writes the labels of everything made for RUN as members of the current JSON object; PHASE may be
 * RCO_PHASE_NONE. */
void rco_job_write_labels(struct rco_json_writer *w, const struct rco_run *run,
                          enum rco_phase phase);

#endif
