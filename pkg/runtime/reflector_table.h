/* The reflector's state machine as a table: what the reflector works by, and what
 * test/models/reflector.pml proves things about. */
#ifndef RCO_RUNTIME_REFLECTOR_TABLE_H
#define RCO_RUNTIME_REFLECTOR_TABLE_H

#include <stddef.h>

enum rco_reflector_state {
    RCO_REFLECTOR_STOPPED,
    RCO_REFLECTOR_GATE,      /* waits for its turn to list */
    RCO_REFLECTOR_LISTING,   /* pages */
    RCO_REFLECTOR_STREAMING, /* initial events of a streaming list */
    RCO_REFLECTOR_WATCHING,
    RCO_REFLECTOR_BACKOFF_LIST,
    RCO_REFLECTOR_BACKOFF_WATCH,
    RCO_REFLECTOR_STATE_COUNT
};

/* What may happen to the machine. */
enum rco_reflector_input {
    RCO_REFLECTOR_START,
    RCO_REFLECTOR_TURN_PAGES,  /* the gate is ours, and pages are asked for */
    RCO_REFLECTOR_TURN_STREAM, /* the same with a streaming list */
    RCO_REFLECTOR_TIMER,       /* backoff is over, or the streaming list stalled */
    RCO_REFLECTOR_PAGE_MORE,   /* a page is complete, another follows */
    RCO_REFLECTOR_PAGE_LAST,
    RCO_REFLECTOR_LIST_EXPIRED, /* 410, or ahead of the server: the version is of no use */
    RCO_REFLECTOR_LIST_FAILED,
    RCO_REFLECTOR_INITIAL_END,   /* streaming list complete */
    RCO_REFLECTOR_ENDED,         /* the stream, cleanly */
    RCO_REFLECTOR_ENDED_SHORT,   /* the same within 1 s without an event */
    RCO_REFLECTOR_EXPIRED,       /* 410 on a watch */
    RCO_REFLECTOR_EXPIRED_AGAIN, /* the same at once after a failure */
    RCO_REFLECTOR_OVERLOADED,    /* 429, or no connection */
    RCO_REFLECTOR_UNAVAILABLE,   /* 5xx, 401, silence */
    RCO_REFLECTOR_BROKEN,        /* any other failure of a stream */
    RCO_REFLECTOR_RELIST,        /* from outside */
    RCO_REFLECTOR_STOP,
    RCO_REFLECTOR_INPUT_COUNT
};

/* What is done on the way, in this order. */
enum rco_reflector_effect {
    RCO_REFLECTOR_LEAVE = 1 << 0,   /* requests, timer and turn are given up, a list is abandoned */
    RCO_REFLECTOR_REPORT = 1 << 1,  /* the failure */
    RCO_REFLECTOR_CLASSIC = 1 << 2, /* pages in this round (A24) */
    RCO_REFLECTOR_NO_STREAM = 1 << 3, /* pages for good (A25) */
    RCO_REFLECTOR_FRESH = 1 << 4,     /* the next list asks for the most recent state (A3) */
    RCO_REFLECTOR_UNPAGE = 1 << 5,    /* ... in one piece, when it failed at a later page (A20) */
    RCO_REFLECTOR_COUNT = 1 << 6,     /* counts as a failure */
    RCO_REFLECTOR_SYNCED = 1 << 7,    /* the list is complete: store and version are set */
    RCO_REFLECTOR_WAIT = 1 << 8,      /* the timer is armed for the backoff (A19) */
    RCO_REFLECTOR_GO_ON = 1 << 9      /* the stream or list under way goes on in the next state */
};

struct rco_reflector_row {
    enum rco_reflector_state state;
    enum rco_reflector_input input;
    enum rco_reflector_state next;
    unsigned effects;
};

/* NULL: INPUT means nothing in STATE. */
const struct rco_reflector_row *rco_reflector_row(enum rco_reflector_state state,
                                                  enum rco_reflector_input input);
/* All rows; *RET_N is their number. */
const struct rco_reflector_row *rco_reflector_rows(size_t *ret_n);

const char *rco_reflector_state_name(enum rco_reflector_state s);
/* "TurnPages". */
const char *rco_reflector_input_name(enum rco_reflector_input input);
/* Of one bit: "Leave". */
const char *rco_reflector_effect_name(enum rco_reflector_effect effect);

#endif
