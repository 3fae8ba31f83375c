/* What goes wrong in one run, and when. A plan is small, so that its command line says all of it.
 */
#ifndef RCO_SIM_FAULTS_H
#define RCO_SIM_FAULTS_H

#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

struct sim;
struct sim_workload;

enum sim_fault_type {
    SIM_FAULT_NONE,
    SIM_CRASH_BEFORE, /* the operator dies before its write leaves */
    SIM_CRASH_COMMIT, /* after the commit, before the answer */
    SIM_CRASH_REPLY,  /* after the answer */
    SIM_LOSE_REQUEST, /* the request is lost, the client is told of a broken connection or nothing
                       */
    SIM_LOSE_ANSWER,  /* committed, the answer is lost */
    SIM_FREEZE,       /* the front end of the watches shows nothing new */
    SIM_RESTALE,      /* the same, and the operator is started anew onto it */
    SIM_HIDE,         /* watches miss changes until they are told 410 */
    SIM_PAUSE,        /* the process that wrote is stopped, then goes on */
    SIM_DEAF,         /* watches are open and silent, new ones too */
    SIM_OUTAGE,       /* no request reaches the API server */
    SIM_CLOCK,        /* the operator's wall clock jumps */
    SIM_COMPACT,      /* history is gone: watches get 410 */
    SIM_SKEW,         /* watches of the kind ARG stay behind those of all others */
    SIM_TERM,         /* the process that wrote gets SIGTERM and hands over */
    SIM_ERRORS,       /* answers are errors: ARG = HTTP status */
    SIM_KILL_RUNNER,  /* containers of a runner pod are killed at stage ARG */
    SIM_LOSE_NODE,    /* its node falls silent, the engine goes on */
    SIM_FOREIGN,      /* somebody changes the stack between plan and apply */
    SIM_DELETE_JOB,   /* somebody deletes the Job of an engine */
    SIM_FAULT_TYPES
};
const char *sim_fault_name(enum sim_fault_type type);
enum sim_fault_type sim_fault_parse(const char *name);

#define SIM_FAULTS_MAX 8

struct sim_fault {
    enum sim_fault_type type;
    int at;         /* the operator's AT-th counted write, from 1; -N: the user's N-th step */
    int64_t length; /* ns, where it takes time */
    int arg;
};

struct sim_plan {
    uint64_t seed; /* of latencies, jitter, and everything that is chosen */
    const char *workload;
    int replicas;
    bool election;
    bool streaming; /* lists as streams */
    int page;       /* at most so many items a page; 0 = as asked */
    bool twice;     /* every watch event comes twice */
    int front_loss; /* percent of the gateway's answers that are lost */
    bool slow;      /* latencies up to seconds instead of tens of milliseconds */
    struct sim_fault faults[SIM_FAULTS_MAX];
    int n_faults;
};

/* Faults that are on at the moment. */
struct sim_fault_state {
    rco_mono frozen_until, deaf_until, away_until, node_until;
    int64_t frozen_at; /* revision that watches still show */
    rco_mono errors_until;
    int error_code;
    rco_mono skew_until;
    int skew_kind;
    int64_t skew_at;    /* revision that watches of that kind still show */
    rco_mono calm_from; /* when the last fault that hinders requests or watches ends */
    bool hiding;
    bool used[SIM_FAULTS_MAX];
    int hits[SIM_FAULTS_MAX]; /* pods that came to the stage of the fault */
};

/* The fault that strikes at write number K, of those that a request meets; or NULL. */
const struct sim_fault *sim_fault_of_write(struct sim *s, int k);
/* The operator has sent write number K: starts all other faults of that number. */
void sim_faults_begin(struct sim *s, int k, int replica);
/* The user takes step STEP (from 1): starts the faults of that step. */
void sim_faults_step(struct sim *s, int step);
/* A pod is at STAGE (see kubelet.h): the fault that strikes there, or NULL. */
const struct sim_fault *sim_fault_of_pod(struct sim *s, int stage);
bool sim_fault_foreign(struct sim *s);

/* The plan as the words that make it (arguments of the program), appended to OUT. */
struct rco_buf;
void sim_plan_write(const struct sim_plan *plan, struct rco_buf *out);

#endif
