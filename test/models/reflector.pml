/* The reflector (pkg/runtime/reflector.c) and a server with a history of four revisions and two
 * objects. State and what is done on the way are the table of pkg/runtime/reflector_table.c.
 *
 * Revision 1 makes object A, 2 makes B, 3 deletes B, 4 changes A. The server the reflector talks to
 * may lag behind the newest revision, forgets old ones (410), and answers a list in two pages, A then
 * B, both of one revision. While it is calm nothing fails any more. */
#include "zz_generated_reflector.pml"
c_decl {
    \#include "visits.h"
}

#define NEWEST 4
/* The revision that made A what it is at revision R, and whether B is there. */
#define A_AT(r) ((r) == 0 -> 0 : ((r) == 4 -> 4 : 1))
#define B_AT(r) ((r) == 2)

#ifdef BREAK_GONE /* a watch that is told 410 is simply tried again */
#define NEXT(s, i) (((s) == AT_WATCHING && (i) == IN_EXPIRED) -> AT_WATCHING :                    \
                    (((s) == AT_WATCHING && (i) == IN_EXPIRED_AGAIN) -> AT_BACKOFF_WATCH :        \
                     TABLE_NEXT(s, i)))
#else
#define NEXT(s, i) TABLE_NEXT(s, i)
#endif

/* The server. */
byte rev, front, oldest; /* newest; as this front end has it; the oldest one may resume from */
bool calm, restless;

/* The store. */
byte rv, a, b; /* 0: not there */
bool b_went;   /* its deletion was seen */
bool synced;

/* The reflector. */
byte state;
bool classic, no_stream, fresh, unpaged, taken;
bool failed_before; /* failures > 0 */
byte list_rev;      /* of the list under way, in pages or as initial events; 0: not asked yet */
byte page;          /* how much of it has come */
bool marked_b;      /* B was in it */
bool deaf;          /* nothing comes over this stream any more */
bool any;           /* this watch has brought something */
byte at;            /* where the server is in this stream */

hidden byte from, input, to;
hidden short effects;

#define CONTENT_IS_AS_NEW_AS_THE_VERSION                                                          \
    ((rv < 4 || a == 4) && (rv < 1 || a >= 1) && (rv != 2 || b == 2 || rev >= 3) && (rv < 3 || b == 0))

inline set_a(v)
{
    assert(v >= a); /* never backwards */
    a = v
}

inline take_b() /* of a list */
{
    marked_b = B_AT(list_rev);
    if
    :: marked_b -> assert(!b_went); b = 2
    :: else -> skip
    fi
}

inline set_rv(r)
{
    rv = (r > rv -> r : rv);
    assert(CONTENT_IS_AS_NEW_AS_THE_VERSION)
}

inline leave()
{
#ifndef BREAK_HALF_A_LIST
    fresh = (fresh || taken);
#endif
    taken = false;
    list_rev = 0;
    page = 0;
    marked_b = false
}

inline end_list()
{
#ifndef BREAK_SWEEP
    b = (marked_b -> b : 0);
#endif
    b_went = (b_went || list_rev >= 3);
    fresh = false;
    unpaged = false;
    classic = false;
    taken = false;
    synced = true;
    set_rv(list_rev);
    list_rev = 0;
    page = 0;
    marked_b = false
}

inline step(i)
{
    from = state;
    input = i;
    to = NEXT(from, input);
    if
    :: to == NEVER -> skip /* e.g. a relist while one is due */
    :: else ->
        c_code { visit(from, input); };
        effects = TABLE_EFFECTS(from, input);
        if
        :: effects & DO_UNPAGE -> unpaged = (page > 0)
        :: else -> skip
        fi;
        if
        :: effects & DO_LEAVE -> leave()
        :: else -> skip
        fi;
        classic = (classic || (effects & DO_CLASSIC) != 0);
        no_stream = (no_stream || (effects & DO_NO_STREAM) != 0);
        fresh = (fresh || (effects & DO_FRESH) != 0);
        failed_before = (failed_before || (effects & DO_COUNT) != 0);
        state = to;
        if
        :: effects & DO_SYNCED -> at = list_rev; end_list()
        :: else -> skip
        fi;
        if
        :: state == AT_WATCHING && (effects & DO_GO_ON) == 0 -> at = rv; deaf = false; any = false
        :: state == AT_WATCHING && (effects & DO_GO_ON) != 0 -> any = true
        :: state == AT_STREAMING -> deaf = false
        :: else -> deaf = false; any = false; at = 0
        fi
    fi
}

/* Which revision a list is of: asked for the most recent, or for one not older than the store's. */
#ifdef BREAK_ANY_VERSION /* resourceVersion=0 */
#define MOST_RECENT false
#define AT_LEAST 0
#else
#define MOST_RECENT (fresh || unpaged || !synced || rv == 0)
#define AT_LEAST rv
#endif

inline begin_list()
{
    if
    :: MOST_RECENT -> list_rev = rev
    :: else ->
        if
        :: front >= AT_LEAST -> list_rev = front
        :: else -> list_rev = 0
        fi
    fi
}

proctype Reflector()
{
    do
    :: d_step {
        state == AT_GATE ->
        if
        :: !no_stream && !classic && !unpaged -> step(IN_TURN_STREAM)
        :: else -> step(IN_TURN_PAGES)
        fi
    }

    /* a list in pages */
    :: d_step {
        state == AT_LISTING && page == 0 && rev > 0 ->
        begin_list();
        if
        :: list_rev == 0 -> step(IN_LIST_EXPIRED) /* too large */
        :: list_rev != 0 && unpaged ->
            set_a(A_AT(list_rev));
            take_b();
            step(IN_PAGE_LAST)
        :: list_rev != 0 && !unpaged ->
            set_a(A_AT(list_rev));
            taken = true;
            page = 1;
            step(IN_PAGE_MORE)
        fi
    }
    :: d_step {
        state == AT_LISTING && page == 1 ->
        if
        :: list_rev < oldest -> step(IN_LIST_EXPIRED) /* of the token */
        :: else ->
            take_b();
            step(IN_PAGE_LAST)
        fi
    }
    :: d_step { state == AT_LISTING && !calm -> step(IN_LIST_FAILED) }
    :: d_step { /* ahead of the server, or expired at the first page */
        state == AT_LISTING && page == 0 && !calm ->
        if
        :: fresh -> step(IN_LIST_FAILED)
        :: else -> step(IN_LIST_EXPIRED)
        fi
    }

    /* a streaming list: A, B, the end mark */
    :: d_step {
        state == AT_STREAMING && !deaf && page == 0 && rev > 0 ->
        list_rev = rev;
        set_a(A_AT(list_rev));
        taken = true;
        page = 1
    }
    :: d_step {
        state == AT_STREAMING && !deaf && page == 1 ->
        take_b();
        page = 2
    }
    :: d_step { state == AT_STREAMING && !deaf && page == 2 -> step(IN_INITIAL_END) }
    :: d_step { state == AT_STREAMING && !calm -> step(IN_ENDED) }
    :: d_step { state == AT_STREAMING && !calm && page == 0 -> step(IN_ENDED_SHORT) }
    :: d_step { state == AT_STREAMING && !calm -> step(IN_EXPIRED) }
    :: d_step { state == AT_STREAMING && !calm && failed_before && page == 0 -> step(IN_EXPIRED_AGAIN) }
    :: d_step { state == AT_STREAMING && !calm -> step(IN_UNAVAILABLE) }
    :: d_step { state == AT_STREAMING && !calm -> step(IN_BROKEN) }
    :: d_step { state == AT_STREAMING && !calm -> step(IN_OVERLOADED) }
    :: d_step { state == AT_STREAMING && !calm && !deaf -> deaf = true } /* the mark never comes */
#ifndef BREAK_STALL
    :: d_step { state == AT_STREAMING && deaf -> step(IN_TIMER) }
#endif

    /* a watch */
    :: d_step { state == AT_WATCHING && at < oldest && (any || !failed_before) -> step(IN_EXPIRED) }
    :: d_step { /* it lasted a while, or not */
        state == AT_WATCHING && at < oldest && !any && failed_before -> step(IN_EXPIRED)
    }
    :: d_step {
        state == AT_WATCHING && at < oldest && !any && failed_before -> step(IN_EXPIRED_AGAIN)
    }
    :: d_step { /* the next event */
        state == AT_WATCHING && !deaf && at >= oldest && at < front ->
        at++;
        any = true;
#ifdef BREAK_VERSION_FIRST
        set_rv(at);
#endif
        if
        :: at == 2 -> assert(!b_went); b = 2
        :: at == 3 -> b = 0; b_went = true
        :: else -> set_a(at)
        fi;
        set_rv(at)
    }
    :: d_step { /* a bookmark: nothing of this kind up to there */
        state == AT_WATCHING && !deaf && at >= oldest && at == front -> set_rv(at)
    }
    :: d_step { state == AT_WATCHING && !calm -> step(IN_ENDED) }
    :: d_step { state == AT_WATCHING && !calm && !any -> step(IN_ENDED_SHORT) }
    :: d_step { state == AT_WATCHING && !calm -> step(IN_OVERLOADED) }
    :: d_step { state == AT_WATCHING && !calm -> step(IN_UNAVAILABLE) }
    :: d_step { state == AT_WATCHING && !calm -> step(IN_BROKEN) }
    :: d_step { state == AT_WATCHING && !calm && !deaf -> deaf = true }
#ifndef BREAK_IDLE
    :: d_step { state == AT_WATCHING && deaf -> step(IN_UNAVAILABLE) } /* silence */
#endif

    :: d_step { state == AT_BACKOFF_LIST || state == AT_BACKOFF_WATCH -> step(IN_TIMER) }
    :: d_step { state == AT_STOPPED -> step(IN_START) }
    od
}

/* Asked from outside. */
proctype Manager()
{
    do
    :: d_step { !calm && state != AT_STOPPED -> step(IN_RELIST) }
    :: d_step { !calm && state != AT_STOPPED -> step(IN_STOP) }
    :: d_step { failed_before -> failed_before = false } /* two minutes without a failure */
    :: calm -> break
    od
}

active proctype Server()
{
    do
    :: d_step { rev < NEWEST -> rev++ }
    :: d_step { front < rev -> front++ }
    :: d_step { !calm && oldest < front -> oldest++ }                 /* compaction */
    :: d_step { !calm && front > 0 && front > oldest -> front-- }     /* another front end, behind */
    :: d_step { rev == NEWEST && front == NEWEST && !calm -> calm = true }
    od
}

init
{
    atomic { run Reflector(); run Manager() }
}

ltl in_step_at_last { [] (calm -> <> (synced && rv == 4 && a == 4 && b == 0)) }
