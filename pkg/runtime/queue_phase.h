/* The life of one key in the work queue as a table (A61): what the queue works by, and what
 * test/models/workqueue.pml proves things about. */
#ifndef RCO_RUNTIME_QUEUE_PHASE_H
#define RCO_RUNTIME_QUEUE_PHASE_H

enum rco_queue_phase {
    RCO_QUEUE_IDLE,    /* nothing to do */
    RCO_QUEUE_READY,   /* waits to be taken */
    RCO_QUEUE_RUNNING, /* a worker has it */
    RCO_QUEUE_AGAIN,   /* a worker has it, and it was added meanwhile */
    RCO_QUEUE_PHASE_COUNT
};

enum rco_queue_input {
    RCO_QUEUE_ADD,
    RCO_QUEUE_TAKE,
    RCO_QUEUE_DONE,
    RCO_QUEUE_DONE_LAST, /* the queue is shut down */
    RCO_QUEUE_EXPEL,     /* into quarantine */
    RCO_QUEUE_INPUT_COUNT
};

/* What PHASE becomes; RCO_QUEUE_PHASE_COUNT: INPUT cannot come in PHASE. */
enum rco_queue_phase rco_queue_next(enum rco_queue_phase phase, enum rco_queue_input input);
/* "Idle", "Add". */
const char *rco_queue_phase_name(enum rco_queue_phase phase);
const char *rco_queue_input_name(enum rco_queue_input input);

#endif
