/* Written by `make generate` from pkg/runtime/queue_phase.c. Not to be edited. */
/*
 * row Idle Add Ready
 * row Idle Expel Idle
 * row Ready Add Ready
 * row Ready Take Running
 * row Ready Expel Idle
 * row Running Add Again
 * row Running Done Idle
 * row Running DoneLast Idle
 * row Running Expel Running
 * row Again Add Again
 * row Again Done Ready
 * row Again DoneLast Idle
 * row Again Expel Running
 */
#define PHASE_IDLE 0
#define PHASE_READY 1
#define PHASE_RUNNING 2
#define PHASE_AGAIN 3
c_decl {
    static const char *const state_names[] = {"Idle", "Ready", "Running", "Again"};
}

#define IN_ADD 0
#define IN_TAKE 1
#define IN_DONE 2
#define IN_DONE_LAST 3
#define IN_EXPEL 4
c_decl {
    static const char *const input_names[] = {"Add", "Take", "Done", "DoneLast", "Expel"};
}

#define NEVER 4
#define TABLE_NEXT(p, i) ( \
    ((p) == PHASE_IDLE && (i) == IN_ADD) -> PHASE_READY : ( \
    ((p) == PHASE_IDLE && (i) == IN_EXPEL) -> PHASE_IDLE : ( \
    ((p) == PHASE_READY && (i) == IN_ADD) -> PHASE_READY : ( \
    ((p) == PHASE_READY && (i) == IN_TAKE) -> PHASE_RUNNING : ( \
    ((p) == PHASE_READY && (i) == IN_EXPEL) -> PHASE_IDLE : ( \
    ((p) == PHASE_RUNNING && (i) == IN_ADD) -> PHASE_AGAIN : ( \
    ((p) == PHASE_RUNNING && (i) == IN_DONE) -> PHASE_IDLE : ( \
    ((p) == PHASE_RUNNING && (i) == IN_DONE_LAST) -> PHASE_IDLE : ( \
    ((p) == PHASE_RUNNING && (i) == IN_EXPEL) -> PHASE_RUNNING : ( \
    ((p) == PHASE_AGAIN && (i) == IN_ADD) -> PHASE_AGAIN : ( \
    ((p) == PHASE_AGAIN && (i) == IN_DONE) -> PHASE_READY : ( \
    ((p) == PHASE_AGAIN && (i) == IN_DONE_LAST) -> PHASE_IDLE : ( \
    ((p) == PHASE_AGAIN && (i) == IN_EXPEL) -> PHASE_RUNNING : ( \
    NEVER ))))))))))))))
