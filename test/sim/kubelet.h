/* Runner pods: the Job controller that makes them, the kubelet that runs them, the runner inside.
 */
#ifndef RCO_SIM_KUBELET_H
#define RCO_SIM_KUBELET_H

#include "api/zz_generated_types.h"
#include "sim.h"

/* How far a pod is; faults of pods name one of these. */
enum sim_stage {
    SIM_POD_NEW,
    SIM_POD_FETCH,
    SIM_POD_INSTALL,
    SIM_POD_ASKING,    /* report and engine run, the start is asked for */
    SIM_POD_ENGINE,    /* Pulumi runs */
    SIM_POD_REPORTING, /* Pulumi has ended, artifacts and receipt are on their way */
    SIM_POD_DELIVERED,
    SIM_POD_ENDED /* no container runs */
};

enum sim_container { SIM_FETCH, SIM_INSTALL, SIM_REPORT, SIM_ENGINE, SIM_CONTAINERS };

struct sim_container_state {
    enum { SIM_WAITING, SIM_RUNNING, SIM_TERMINATED } is;
    int exit_code;
    const char *message;
};

struct sim_pod {
    struct sim_pod *next;
    struct sim *sim;
    const char *ns, *name, *uid, *token;
    const char *owner, *owner_uid;    /* its Job */
    const struct rco_runner_job *job; /* RCO_JOB */
    enum sim_stage stage;
    struct sim_container_state containers[SIM_CONTAINERS];
    const char *phase; /* as the kubelet last said */
    bool bound;
    bool term;    /* SIGTERM was sent */
    bool cut_off; /* the node does not answer and is not heard */
    bool gone;    /* the object is gone */
    bool cancelled;
    bool planted;     /* its Job is not the operator's */
    unsigned attempt; /* of the request that is repeated */
    rco_mono asked_since, asked_receipt;
    int round; /* calls of an earlier round are void */
    /* the engine (stack.c) */
    bool engine_runs;
    struct sim_stack *stack;
    struct rco_runner_receipt receipt;
    const char *receipt_text;
    const char *artifacts[4]; /* texts to upload */
    enum rco_artifact_kind kinds[4];
    int n_artifacts, uploaded;
};

/* Writes the pod's status as its containers are. */
void sim_pod_report(struct sim_pod *p);
/* Every container that runs ends with EXIT_CODE. */
void sim_pod_end(struct sim_pod *p, int exit_code, const char *message);
/* Strikes the pod when a fault is planned for its stage; true: it did. */
bool sim_pod_struck(struct sim_pod *p);

/* --- runner.c --- */
void sim_runner_start(struct sim_pod *p);
/* SIGTERM */
void sim_runner_term(struct sim_pod *p);

/* --- stack.c --- */
/* Pulumi starts in P: records it and checks that it may. */
void sim_engine_begin(struct sim_pod *p);
/* Pulumi has ended: fills P's receipt and artifacts. */
void sim_engine_finish(struct sim_pod *p);
/* Pulumi was killed. */
void sim_engine_kill(struct sim_pod *p);
/* Whether an engine of the pod with UID runs at this moment. */
bool sim_engine_of(struct sim *s, const char *pod_uid);
/* Somebody else changes every stack. */
void sim_stacks_meddle(struct sim *s);

/* A program of the world: what its commit's first digit makes of it. */
enum sim_program {
    SIM_PROGRAM_GOOD,
    SIM_PROGRAM_NO_PLAN,   /* 'f': the plan fails */
    SIM_PROGRAM_NO_APPLY,  /* 'e': the apply fails in its middle */
    SIM_PROGRAM_HOSTILE,   /* 'd': its receipts are not JSON */
    SIM_PROGRAM_NO_SECRET, /* 'c': a Secret is missing for the first two times */
    SIM_PROGRAM_SLOW       /* 'b': takes minutes */
};
enum sim_program sim_program_of(const char *commit);

#endif
