/* The decision about a ProvisioningRun (pkg/decide/run.c) for the model run.pml: what the model's
 * caches show goes in as objects, what the plan asks for comes out as steps. The objects are those
 * of the decision cases (test/cases/base). Answers are kept: the decision is a function of the
 * view. */
#ifndef RCO_TEST_MODELS_RUN_WORLD_H
#define RCO_TEST_MODELS_RUN_WORLD_H

enum run_do {
    RUN_DO_STATUS = 1,
    RUN_DO_JOB,      /* make it */
    RUN_DO_JOB_GONE, /* delete it */
    RUN_DO_TAKE,     /* the claim */
    RUN_DO_CLEAR,    /* the claim */
    RUN_DO_RELEASE,  /* the pod: our finalizer */
    RUN_DO_START_REPLY,
    RUN_DO_RECEIPT_REPLY
};

/* Phases: 0 plan, 1 apply; in the fields that can be empty 1 and 2. */
struct run_view {
    unsigned char state, recorded, engine, planned, applied, cancel, production;
    unsigned char job[2], pod[2]; /* job: there; pod: 0 none, 1 alive, 2 ended */
    unsigned char claim;          /* 0 free, 1 and 2 our pods, 3 another's */
    unsigned char start;          /* who asks: 0, 1, 2 */
    unsigned char receipt;        /* 0; of the plan 1 good, 2 failed; of the apply 3, 4 */
    unsigned char made;           /* our own POST of the Job is known in this life */
    unsigned char late;           /* every time limit has passed */
};

struct run_step {
    unsigned char what, phase;
    unsigned short code;                                     /* of a reply */
    unsigned char state, recorded, engine, planned, applied; /* of a status: the whole */
};

#define RUN_STEPS_MAX 8
struct run_plan {
    struct run_view view;
    const char *row;
    unsigned n;
    struct run_step steps[RUN_STEPS_MAX];
};

/* Number of the plan for VIEW, from 1; 0: nothing is to be done. */
int run_decide(const struct run_view *view);
const struct run_plan *run_plan(int number);

#endif
