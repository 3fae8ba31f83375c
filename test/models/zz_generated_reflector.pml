/* Written by `make generate` from pkg/runtime/reflector_table.c. Not to be edited. */
/*
 * row Stopped Start Gate
 * row Gate TurnPages Listing
 * row Gate TurnStream Streaming
 * row Gate Stop Stopped
 * row Listing PageMore Listing
 * row Listing PageLast Watching
 * row Listing ListExpired Gate
 * row Listing ListFailed BackoffList
 * row Listing Stop Stopped
 * row Streaming InitialEnd Watching
 * row Streaming Timer Gate
 * row Streaming Ended Gate
 * row Streaming EndedShort Gate
 * row Streaming Expired Gate
 * row Streaming ExpiredAgain Gate
 * row Streaming Unavailable Gate
 * row Streaming Broken Gate
 * row Streaming Overloaded BackoffList
 * row Streaming Stop Stopped
 * row Watching Ended Watching
 * row Watching EndedShort BackoffWatch
 * row Watching Expired Gate
 * row Watching ExpiredAgain BackoffList
 * row Watching Overloaded BackoffWatch
 * row Watching Unavailable BackoffWatch
 * row Watching Broken BackoffList
 * row Watching Relist Gate
 * row Watching Stop Stopped
 * row BackoffList Timer Gate
 * row BackoffList Stop Stopped
 * row BackoffWatch Timer Watching
 * row BackoffWatch Relist Gate
 * row BackoffWatch Stop Stopped
 */
#define AT_STOPPED 0
#define AT_GATE 1
#define AT_LISTING 2
#define AT_STREAMING 3
#define AT_WATCHING 4
#define AT_BACKOFF_LIST 5
#define AT_BACKOFF_WATCH 6
c_decl {
    static const char *const state_names[] = {"Stopped", "Gate", "Listing", "Streaming", "Watching", "BackoffList", "BackoffWatch"};
}

#define IN_START 0
#define IN_TURN_PAGES 1
#define IN_TURN_STREAM 2
#define IN_TIMER 3
#define IN_PAGE_MORE 4
#define IN_PAGE_LAST 5
#define IN_LIST_EXPIRED 6
#define IN_LIST_FAILED 7
#define IN_INITIAL_END 8
#define IN_ENDED 9
#define IN_ENDED_SHORT 10
#define IN_EXPIRED 11
#define IN_EXPIRED_AGAIN 12
#define IN_OVERLOADED 13
#define IN_UNAVAILABLE 14
#define IN_BROKEN 15
#define IN_RELIST 16
#define IN_STOP 17
c_decl {
    static const char *const input_names[] = {"Start", "TurnPages", "TurnStream", "Timer", "PageMore", "PageLast", "ListExpired", "ListFailed", "InitialEnd", "Ended", "EndedShort", "Expired", "ExpiredAgain", "Overloaded", "Unavailable", "Broken", "Relist", "Stop"};
}

#define DO_LEAVE 1
#define DO_REPORT 2
#define DO_CLASSIC 4
#define DO_NO_STREAM 8
#define DO_FRESH 16
#define DO_UNPAGE 32
#define DO_COUNT 64
#define DO_SYNCED 128
#define DO_WAIT 256
#define DO_GO_ON 512

#define NEVER 7
#define TABLE_NEXT(s, i) ( \
    ((s) == AT_STOPPED && (i) == IN_START) -> AT_GATE : ( \
    ((s) == AT_GATE && (i) == IN_TURN_PAGES) -> AT_LISTING : ( \
    ((s) == AT_GATE && (i) == IN_TURN_STREAM) -> AT_STREAMING : ( \
    ((s) == AT_GATE && (i) == IN_STOP) -> AT_STOPPED : ( \
    ((s) == AT_LISTING && (i) == IN_PAGE_MORE) -> AT_LISTING : ( \
    ((s) == AT_LISTING && (i) == IN_PAGE_LAST) -> AT_WATCHING : ( \
    ((s) == AT_LISTING && (i) == IN_LIST_EXPIRED) -> AT_GATE : ( \
    ((s) == AT_LISTING && (i) == IN_LIST_FAILED) -> AT_BACKOFF_LIST : ( \
    ((s) == AT_LISTING && (i) == IN_STOP) -> AT_STOPPED : ( \
    ((s) == AT_STREAMING && (i) == IN_INITIAL_END) -> AT_WATCHING : ( \
    ((s) == AT_STREAMING && (i) == IN_TIMER) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_ENDED) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_ENDED_SHORT) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_EXPIRED) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_EXPIRED_AGAIN) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_UNAVAILABLE) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_BROKEN) -> AT_GATE : ( \
    ((s) == AT_STREAMING && (i) == IN_OVERLOADED) -> AT_BACKOFF_LIST : ( \
    ((s) == AT_STREAMING && (i) == IN_STOP) -> AT_STOPPED : ( \
    ((s) == AT_WATCHING && (i) == IN_ENDED) -> AT_WATCHING : ( \
    ((s) == AT_WATCHING && (i) == IN_ENDED_SHORT) -> AT_BACKOFF_WATCH : ( \
    ((s) == AT_WATCHING && (i) == IN_EXPIRED) -> AT_GATE : ( \
    ((s) == AT_WATCHING && (i) == IN_EXPIRED_AGAIN) -> AT_BACKOFF_LIST : ( \
    ((s) == AT_WATCHING && (i) == IN_OVERLOADED) -> AT_BACKOFF_WATCH : ( \
    ((s) == AT_WATCHING && (i) == IN_UNAVAILABLE) -> AT_BACKOFF_WATCH : ( \
    ((s) == AT_WATCHING && (i) == IN_BROKEN) -> AT_BACKOFF_LIST : ( \
    ((s) == AT_WATCHING && (i) == IN_RELIST) -> AT_GATE : ( \
    ((s) == AT_WATCHING && (i) == IN_STOP) -> AT_STOPPED : ( \
    ((s) == AT_BACKOFF_LIST && (i) == IN_TIMER) -> AT_GATE : ( \
    ((s) == AT_BACKOFF_LIST && (i) == IN_STOP) -> AT_STOPPED : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_TIMER) -> AT_WATCHING : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_RELIST) -> AT_GATE : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_STOP) -> AT_STOPPED : ( \
    NEVER ))))))))))))))))))))))))))))))))))
#define TABLE_EFFECTS(s, i) ( \
    ((s) == AT_STOPPED && (i) == IN_START) -> 0 : ( \
    ((s) == AT_GATE && (i) == IN_TURN_PAGES) -> 0 : ( \
    ((s) == AT_GATE && (i) == IN_TURN_STREAM) -> 0 : ( \
    ((s) == AT_GATE && (i) == IN_STOP) -> DO_LEAVE : ( \
    ((s) == AT_LISTING && (i) == IN_PAGE_MORE) -> DO_GO_ON : ( \
    ((s) == AT_LISTING && (i) == IN_PAGE_LAST) -> DO_SYNCED : ( \
    ((s) == AT_LISTING && (i) == IN_LIST_EXPIRED) -> DO_LEAVE+DO_REPORT+DO_FRESH+DO_UNPAGE : ( \
    ((s) == AT_LISTING && (i) == IN_LIST_FAILED) -> DO_LEAVE+DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_LISTING && (i) == IN_STOP) -> DO_LEAVE : ( \
    ((s) == AT_STREAMING && (i) == IN_INITIAL_END) -> DO_SYNCED+DO_GO_ON : ( \
    ((s) == AT_STREAMING && (i) == IN_TIMER) -> DO_LEAVE+DO_REPORT+DO_CLASSIC+DO_NO_STREAM : ( \
    ((s) == AT_STREAMING && (i) == IN_ENDED) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_ENDED_SHORT) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_EXPIRED) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_EXPIRED_AGAIN) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_UNAVAILABLE) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_BROKEN) -> DO_LEAVE+DO_REPORT+DO_CLASSIC : ( \
    ((s) == AT_STREAMING && (i) == IN_OVERLOADED) -> DO_LEAVE+DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_STREAMING && (i) == IN_STOP) -> DO_LEAVE : ( \
    ((s) == AT_WATCHING && (i) == IN_ENDED) -> 0 : ( \
    ((s) == AT_WATCHING && (i) == IN_ENDED_SHORT) -> DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_WATCHING && (i) == IN_EXPIRED) -> DO_REPORT+DO_COUNT : ( \
    ((s) == AT_WATCHING && (i) == IN_EXPIRED_AGAIN) -> DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_WATCHING && (i) == IN_OVERLOADED) -> DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_WATCHING && (i) == IN_UNAVAILABLE) -> DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_WATCHING && (i) == IN_BROKEN) -> DO_REPORT+DO_COUNT+DO_WAIT : ( \
    ((s) == AT_WATCHING && (i) == IN_RELIST) -> DO_LEAVE+DO_FRESH : ( \
    ((s) == AT_WATCHING && (i) == IN_STOP) -> DO_LEAVE : ( \
    ((s) == AT_BACKOFF_LIST && (i) == IN_TIMER) -> 0 : ( \
    ((s) == AT_BACKOFF_LIST && (i) == IN_STOP) -> DO_LEAVE : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_TIMER) -> 0 : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_RELIST) -> DO_LEAVE+DO_FRESH : ( \
    ((s) == AT_BACKOFF_WATCH && (i) == IN_STOP) -> DO_LEAVE : ( \
    0 ))))))))))))))))))))))))))))))))))
