#include "runtime/reflector_table.h"

#include "base/cleanup.h"

#define S(STATE) RCO_REFLECTOR_##STATE
#define ROW(STATE, INPUT, NEXT, EFFECTS)                                                           \
    {                                                                                              \
        S(STATE), S(INPUT), S(NEXT), EFFECTS                                                       \
    }
#define LEAVE RCO_REFLECTOR_LEAVE
#define REPORT RCO_REFLECTOR_REPORT
#define CLASSIC RCO_REFLECTOR_CLASSIC
#define NO_STREAM RCO_REFLECTOR_NO_STREAM
#define FRESH RCO_REFLECTOR_FRESH
#define UNPAGE RCO_REFLECTOR_UNPAGE
#define COUNT RCO_REFLECTOR_COUNT
#define SYNCED RCO_REFLECTOR_SYNCED
#define WAIT RCO_REFLECTOR_WAIT
#define GO_ON RCO_REFLECTOR_GO_ON

/* clang-format off */
static const struct rco_reflector_row rows[] = {
    ROW(STOPPED,       START,         GATE,          0),

    ROW(GATE,          TURN_PAGES,    LISTING,       0),
    ROW(GATE,          TURN_STREAM,   STREAMING,     0),
    ROW(GATE,          STOP,          STOPPED,       LEAVE),

    ROW(LISTING,       PAGE_MORE,     LISTING,       GO_ON),
    ROW(LISTING,       PAGE_LAST,     WATCHING,      SYNCED),
    /* Expired or ahead of the server: at once, without the version that is of no use (A3, A4, A20). */
    ROW(LISTING,       LIST_EXPIRED,  GATE,          LEAVE | REPORT | FRESH | UNPAGE),
    ROW(LISTING,       LIST_FAILED,   BACKOFF_LIST,  LEAVE | REPORT | COUNT | WAIT),
    ROW(LISTING,       STOP,          STOPPED,       LEAVE),

    /* The same stream goes on as the watch (A23). */
    ROW(STREAMING,     INITIAL_END,   WATCHING,      SYNCED | GO_ON),
    ROW(STREAMING,     TIMER,         GATE,          LEAVE | REPORT | CLASSIC | NO_STREAM),
    ROW(STREAMING,     ENDED,         GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     ENDED_SHORT,   GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     EXPIRED,       GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     EXPIRED_AGAIN, GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     UNAVAILABLE,   GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     BROKEN,        GATE,          LEAVE | REPORT | CLASSIC),
    ROW(STREAMING,     OVERLOADED,    BACKOFF_LIST,  LEAVE | REPORT | COUNT | WAIT),
    ROW(STREAMING,     STOP,          STOPPED,       LEAVE),

    ROW(WATCHING,      ENDED,         WATCHING,      0),
    ROW(WATCHING,      ENDED_SHORT,   BACKOFF_WATCH, REPORT | COUNT | WAIT), /* A17 */
    /* An ordinary event after a pause (A14); with the last version first (A13). */
    ROW(WATCHING,      EXPIRED,       GATE,          REPORT | COUNT),
    ROW(WATCHING,      EXPIRED_AGAIN, BACKOFF_LIST,  REPORT | COUNT | WAIT),
    ROW(WATCHING,      OVERLOADED,    BACKOFF_WATCH, REPORT | COUNT | WAIT), /* A18 */
    ROW(WATCHING,      UNAVAILABLE,   BACKOFF_WATCH, REPORT | COUNT | WAIT),
    ROW(WATCHING,      BROKEN,        BACKOFF_LIST,  REPORT | COUNT | WAIT),
    /* "Not older than" could be answered from the same old cache. */
    ROW(WATCHING,      RELIST,        GATE,          LEAVE | FRESH),
    ROW(WATCHING,      STOP,          STOPPED,       LEAVE),

    ROW(BACKOFF_LIST,  TIMER,         GATE,          0),
    ROW(BACKOFF_LIST,  STOP,          STOPPED,       LEAVE),

    ROW(BACKOFF_WATCH, TIMER,         WATCHING,      0),
    ROW(BACKOFF_WATCH, RELIST,        GATE,          LEAVE | FRESH),
    ROW(BACKOFF_WATCH, STOP,          STOPPED,       LEAVE),
};
/* clang-format on */

const struct rco_reflector_row *rco_reflector_rows(size_t *ret_n)
{
    *ret_n = RCO_ARRAY_LEN(rows);
    return rows;
}

const struct rco_reflector_row *rco_reflector_row(enum rco_reflector_state state,
                                                  enum rco_reflector_input input)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rows[i].state == state && rows[i].input == input)
            return &rows[i];
    return NULL;
}

const char *rco_reflector_state_name(enum rco_reflector_state s)
{
    static const char *const names[] = {
        [RCO_REFLECTOR_STOPPED] = "Stopped",
        [RCO_REFLECTOR_GATE] = "Gate",
        [RCO_REFLECTOR_LISTING] = "Listing",
        [RCO_REFLECTOR_STREAMING] = "Streaming",
        [RCO_REFLECTOR_WATCHING] = "Watching",
        [RCO_REFLECTOR_BACKOFF_LIST] = "BackoffList",
        [RCO_REFLECTOR_BACKOFF_WATCH] = "BackoffWatch",
    };

    return s < RCO_REFLECTOR_STATE_COUNT ? names[s] : "?";
}

const char *rco_reflector_input_name(enum rco_reflector_input input)
{
    static const char *const names[] = {
        "Start",        "TurnPages",  "TurnStream",  "Timer",  "PageMore",   "PageLast",
        "ListExpired",  "ListFailed", "InitialEnd",  "Ended",  "EndedShort", "Expired",
        "ExpiredAgain", "Overloaded", "Unavailable", "Broken", "Relist",     "Stop",
    };

    return names[input];
}

const char *rco_reflector_effect_name(enum rco_reflector_effect effect)
{
    static const char *const names[] = {"Leave",  "Report", "Classic", "NoStream", "Fresh",
                                        "Unpage", "Count",  "Synced",  "Wait",     "GoOn"};

    return names[__builtin_ctz(effect)];
}
