/* Leader election (pkg/runtime/elector.c): two replicas, one Lease, one object that the leader works
 * on. What to do next, and what follows from an answer, are the tables of rco_elector_decide and
 * rco_elector_after.
 *
 * Time goes by in ticks, at any moment, whoever is or is not scheduled: a replica that takes no step
 * meanwhile is one that was stopped (SIGSTOP) or hangs. Requests and answers get lost, and requests
 * arrive after their sender has given them up, or has died. Once it is calm nothing of that happens
 * any more, and time waits for who has something to do. */
/* An admission controller may change what is written, and so on; those rows lead to a read:
 * not modelled: Create Others
 * not modelled: Create Missing
 * not modelled: Acquire Others
 * not modelled: Renew Others
 * not modelled: Release Ours
 */
#include "zz_generated_elector.pml"
c_decl {
    \#include "visits.h"
    static unsigned char views[VIEWS];
    __attribute__((destructor)) static void print_views(void)
    {
        unsigned n = 0;
        for (unsigned v = 0; v < VIEWS; v++)
            n += views[v];
        printf("views %u of %u\n", n, VIEWS);
    }
}

#ifndef FAULTS /* so many at most of all that goes wrong besides time */
#define FAULTS 2
#endif
#define FAULT (!calm && faults < FAULTS)
#define LEASE 3
#define RENEW 2

#ifdef BREAK_AMBIGUOUS /* an acquire without an answer counts as one that went well */
#define AFTER(x, y)                                                                               \
    (((x) == DO_ACQUIRE && (y) == GOT_FAILED) -> THEN_LEAD : TABLE_AFTER(x, y))
#else
#define AFTER(x, y) TABLE_AFTER(x, y)
#endif

/* The Lease as the API server has it. */
bool is_there;
byte holder; /* 0: nobody, 1 + i: replica i, 3: a replica that is no more */

/* Replica i. */
bool known[2], exists[2];
byte seen[2];    /* holder: 0 nobody, 1 we, 2 another */
bool same[2];    /* the version that was seen is still the newest */
byte changed[2]; /* ticks since we saw a change; of no use to a leader */
bool leading[2], releasing[2], due[2];
byte renewed[2]; /* ticks since the last good renewal was sent */

/* Its request. */
#define IDLE 0
#define SENT 1
#define ANSWERED 2
byte stage[2], doing[2], sent[2], got[2];
bool based[2]; /* its precondition still holds */
byte got_seen[2];
bool got_same[2], got_new[2];

/* A request that nobody waits for any more. */
bool late;
byte late_holder; /* what it makes of the Lease */

/* The leader's work: one object, changed with the version it was seen in. */
#define CHECKED 1
#define ON_ITS_WAY 2
byte work;
bool object_same, work_based;

bool calm, tampered;
byte faults;
hidden byte view, action, next, x;

#ifdef BREAK_PAUSE /* who once led believes it until told otherwise */
#define IN_TIME(i) true
#else
#define IN_TIME(i) (renewed[i] < RENEW)
#endif
#ifdef BREAK_RELEASE /* the Lease is given back while work goes on */
#define AT_WORK(i) true
#else
#define AT_WORK(i) (!releasing[i])
#endif
#define MAY_WRITE(i) (leading[i] && IN_TIME(i) && AT_WORK(i))
#define CHECK assert(tampered || !(MAY_WRITE(0) && MAY_WRITE(1)))

inline forget_versions() /* the Lease has a new version */
{
    same[0] = false;
    same[1] = false;
    based[0] = false;
    based[1] = false;
    got_same[0] = false;
    got_same[1] = false;
#ifndef BREAK_NO_PRECONDITION
    late = false; /* it is refused when it comes */
    late_holder = 0
#endif
}

inline write_lease(who)
{
    is_there = true;
    holder = who;
    forget_versions()
}

inline give_up(i, who)
{
    late = (doing[i] == DO_CREATE -> !is_there : based[i]);
    late_holder = ((late && doing[i] != DO_RELEASE) -> who : 0)
}

/* The process is gone, and another begins in its place, with another identity. */
inline restart(i)
{
    late_holder = (late_holder == 1 + i -> 3 : late_holder);
    if
    :: stage[i] == SENT && doing[i] != DO_READ && !late -> give_up(i, 3)
    :: else -> skip
    fi;
    holder = (holder == 1 + i -> 3 : holder);
    known[i] = false;
    exists[i] = false;
    seen[i] = 0;
    same[i] = false;
    changed[i] = 0;
    leading[i] = false;
    releasing[i] = false;
    renewed[i] = 0;
    due[i] = true;
    work = ((i == 0 && work == CHECKED) -> 0 : work);
    clear(i)
}

inline clear(i)
{
    stage[i] = IDLE;
    doing[i] = 0;
    sent[i] = 0;
    got[i] = 0;
    based[i] = false;
    got_seen[i] = 0;
    got_same[i] = false;
    got_new[i] = false
}

/* Who does not know looks at nothing of it. */
inline unknow(i)
{
    known[i] = false;
    exists[i] = false;
    seen[i] = 0
}

inline see(i)
{
    known[i] = true;
    exists[i] = true;
    seen[i] = got_seen[i];
    changed[i] = (got_new[i] -> 0 : changed[i]);
    same[i] = got_same[i]
}

inline act(i)
{
    due[i] = !calm;
    view = VIEW(leading[i], (renewed[i] >= RENEW), releasing[i], known[i], exists[i], seen[i],
                (changed[i] >= LEASE));
    c_code { views[view] = 1; };
    action = TABLE_DECIDE(view);
    if
    :: action == DO_LOST -> restart(i)
    :: action == DO_WAIT ->
        if
        :: releasing[i] -> restart(i)
        :: else -> skip
        fi
    :: else ->
        doing[i] = action;
        stage[i] = SENT;
        sent[i] = 0;
        based[i] = (action != DO_READ && same[i])
    fi
}

inline answer(i)
{
    x = doing[i];
    action = got[i];
    c_code { visit(x, action); };
    next = AFTER(x, action);
    if
    :: got[i] == GOT_OURS || got[i] == GOT_OTHERS -> see(i)
    :: else -> skip
    fi;
    if
    :: next == THEN_LOOK && got[i] == GOT_MISSING ->
        known[i] = true;
        exists[i] = false;
        seen[i] = 0;
        same[i] = false;
        changed[i] = 0;
        due[i] = true;
        clear(i)
    :: next == THEN_LOOK && got[i] != GOT_MISSING -> due[i] = true; clear(i)
    :: next == THEN_LEAD ->
        leading[i] = true;
#ifdef BREAK_COUNT_FROM_ANSWER
        renewed[i] = 0;
#else
        renewed[i] = sent[i];
#endif
        changed[i] = 0;
        due[i] = (releasing[i] || !calm);
        clear(i);
        CHECK
    :: next == THEN_GIVEN_BACK -> clear(i); restart(i)
    :: next == THEN_READ_FIRST ->
#ifndef BREAK_NO_READ
        unknow(i);
#endif
        clear(i)
    fi
}

proctype Replica(bit i)
{
    do
    :: d_step { due[i] && stage[i] == IDLE -> act(i) }
    :: d_step { stage[i] == ANSWERED -> answer(i) }
    /* The deadline's own timer. */
    :: d_step { leading[i] && renewed[i] >= RENEW && !releasing[i] -> restart(i) }
    od
}

inline reply(i, what)
{
    got[i] = what;
    stage[i] = ANSWERED;
    based[i] = false;
    if
    :: what == GOT_FAILED || what == GOT_MISSING ->
        got_seen[i] = 0;
        got_same[i] = false;
        got_new[i] = false
    :: else -> skip
    fi
}

inline tell(i)
{
    got_seen[i] = (holder == 0 -> 0 : (holder == 1 + i -> 1 : 2));
    got_same[i] = true;
    reply(i, (holder == 1 + i -> GOT_OURS : GOT_OTHERS))
}

inline serve(i)
{
    if
    :: doing[i] == DO_READ && is_there -> got_new[i] = !same[i]; tell(i)
    :: doing[i] == DO_CREATE && !is_there -> write_lease(1 + i); got_new[i] = true; tell(i)
    :: doing[i] == DO_CREATE && is_there -> reply(i, GOT_FAILED)
    :: doing[i] != DO_CREATE && !is_there -> reply(i, GOT_MISSING)
#ifdef BREAK_NO_PRECONDITION
    :: doing[i] > DO_CREATE && is_there ->
#else
    :: doing[i] > DO_CREATE && is_there && !based[i] -> reply(i, GOT_FAILED)
    :: doing[i] > DO_CREATE && is_there && based[i] ->
#endif
        write_lease((doing[i] == DO_RELEASE -> 0 : 1 + i));
        got_new[i] = true;
        tell(i)
    fi
}

proctype Net(bit i)
{
    do
    :: d_step { stage[i] == SENT -> serve(i) }
    :: d_step { stage[i] == SENT && FAULT -> faults++; reply(i, GOT_FAILED) } /* never came */
    :: d_step { /* no answer came */
        stage[i] == SENT && FAULT && doing[i] != DO_READ -> faults++; serve(i); reply(i, GOT_FAILED)
    }
    :: d_step { /* given up, and under way */
        stage[i] == SENT && FAULT && !late && doing[i] != DO_READ ->
        faults++;
        give_up(i, 1 + i);
        reply(i, GOT_FAILED)
    }
    od
}

active proctype Late()
{
    do
    :: d_step {
        late ->
        write_lease(late_holder);
        late = false;
        late_holder = 0
    }
    od
}

/* The watch of a standby. */
proctype Watch(bit i)
{
    do
    :: d_step {
        !leading[i] && known[i] && exists[i] && stage[i] == IDLE && !same[i] && is_there ->
        got_seen[i] = (holder == 0 -> 0 : (holder == 1 + i -> 1 : 2));
        got_same[i] = true;
        got_new[i] = true;
        see(i);
        clear(i);
        due[i] = (due[i] || seen[i] == 0)
    }
    :: d_step {
        !leading[i] && known[i] && exists[i] && stage[i] == IDLE && !is_there ->
        exists[i] = false;
        seen[i] = 0;
        same[i] = false;
        changed[i] = 0;
        due[i] = true
    }
    :: d_step { FAULT && !leading[i] && known[i] && stage[i] == IDLE -> faults++; unknow(i) } /* it broke */
    od
}

#ifdef WITH_WORK
/* Replica 0 in detail; of replica 1 only that its work is accepted. */
active proctype Work()
{
    do
    :: d_step { work == 0 && !object_same -> object_same = true } /* the cache follows */
    :: d_step { work == 0 && MAY_WRITE(0) -> work = CHECKED; work_based = object_same }
    :: d_step { work == CHECKED -> work = ON_ITS_WAY }
    :: d_step {
        work == ON_ITS_WAY ->
        if
#ifdef BREAK_FENCE
        :: true ->
#else
        :: work_based ->
#endif
            /* Accepted: then nobody has done anything since this one looked. */
            assert(work_based);
            object_same = false
        :: true /* refused with 409, or lost */
        fi;
        work = 0;
        work_based = false
    }
    :: d_step { MAY_WRITE(1) && (object_same || work_based) -> object_same = false; work_based = false }
    od
}
#endif

#define QUIET(i) (stage[i] == IDLE && !due[i] && !late &&                                         \
                  !(leading[i] && renewed[i] >= RENEW))

inline tick(i)
{
    changed[i] = ((!leading[i] && changed[i] < LEASE) -> changed[i] + 1 : changed[i]);
    renewed[i] = ((leading[i] && renewed[i] < RENEW) -> renewed[i] + 1 : renewed[i]);
    sent[i] = ((stage[i] != IDLE && sent[i] < RENEW) -> sent[i] + 1 : sent[i]);
    due[i] = true
}

active proctype Time()
{
    do
    :: d_step { !calm || (QUIET(0) && QUIET(1)) -> tick(0); tick(1) }
    od
}

active proctype World()
{
    do
    :: d_step { FAULT -> faults++; restart(0) } /* SIGKILL */
    :: d_step { FAULT -> faults++; restart(1) }
    /* SIGTERM: given back when the work has ended. */
    :: d_step { FAULT && !releasing[0] && work != CHECKED -> faults++; releasing[0] = true; due[0] = true }
    :: d_step { FAULT && !releasing[1] -> faults++; releasing[1] = true; due[1] = true }
    :: d_step { /* somebody deletes the Lease: two may lead, and the work is still safe */
        FAULT && !tampered && is_there ->
        faults++;
        tampered = true;
        is_there = false;
        holder = 0;
        forget_versions()
    }
#ifdef LIVE
    :: atomic { !calm -> calm = true; faults = 0; break }
#endif
    od
}

init
{
    atomic {
        due[0] = true;
        due[1] = true;
        run Replica(0); run Replica(1);
        run Net(0); run Net(1);
        run Watch(0); run Watch(1)
    }
}

ltl somebody_leads { [] (calm -> <> [] (leading[0] || leading[1])) }
