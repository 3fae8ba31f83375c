/* The work queue (pkg/runtime/workqueue.c): two keys, two workers, adds of three priorities at any
 * time, delayed adds, ageing, quarantine of the second key, shutdown. A key's phase moves by the
 * table of pkg/runtime/queue_phase.c. */
#include "zz_generated_workqueue.pml"
c_decl {
    \#include "visits.h"
}

#define LOW 0
#define NORMAL 1
#define HIGH 2

#ifdef BREAK_LOST_ADD /* what comes while the key runs is forgotten */
#define NEXT(p, i) (((p) == PHASE_RUNNING && (i) == IN_ADD) -> PHASE_RUNNING : TABLE_NEXT(p, i))
#else
#ifdef BREAK_TWO_WORKERS /* what comes while the key runs is given to another worker */
#define NEXT(p, i) (((p) == PHASE_RUNNING && (i) == IN_ADD) -> PHASE_READY : TABLE_NEXT(p, i))
#else
#define NEXT(p, i) TABLE_NEXT(p, i)
#endif
#endif

byte phase[2];
byte level[2];  /* priority: while ready with ageing, while running of the run that comes again */
byte due[2];    /* delayed add: in so many ticks; 0: none */
bool barred[2]; /* quarantine */
byte older;     /* which of the two has stood longer in its level */
bool shut;
byte ended;     /* workers */

/* What is to be shown. */
byte workers[2];  /* that have the key */
bool wanted[2];   /* added, and no run has begun since */
byte promised[2]; /* the earliest of the delayed adds that have not come true; 0: none */

hidden byte from, input, old;

#define READY(k) (phase[k] == PHASE_READY)
#define FIRST(k)                                                                                  \
    (READY(k) && (!READY(1 - (k)) || level[k] > level[1 - (k)] ||                                 \
                  (level[k] == level[1 - (k)] && older == (k))))
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MIN(a, b) ((a) < (b) -> (a) : (b))

inline step(k, i)
{
    from = phase[k];
    input = i;
    c_code { visit(from, input); };
    phase[k] = NEXT(from, input);
    assert(phase[k] != NEVER);
}

inline add(k, p)
{
    if
    :: shut || barred[k] -> skip
    :: else ->
        old = level[k];
        from = phase[k];
        level[k] = ((from == PHASE_READY || from == PHASE_AGAIN) -> MAX(old, p) : (p));
        /* A key comes last in a level that it comes to. */
        older = (from == PHASE_IDLE || (from == PHASE_READY && level[k] > old) -> 1 - (k)
                                                                                    : older);
        step(k, IN_ADD);
        wanted[k] = true;
        assert(phase[k] == PHASE_READY || phase[k] == PHASE_AGAIN);
    fi
}

inline add_at(k, d)
{
    if
    :: shut || barred[k] -> skip
    :: else ->
#ifdef BREAK_LATER /* the last delay holds, not the shortest */
        due[k] = d;
#else
        due[k] = (due[k] == 0 -> (d) : MIN(due[k], d));
#endif
        promised[k] = (promised[k] == 0 -> (d) : MIN(promised[k], d));
    fi
}

inline take(k)
{
    step(k, IN_TAKE);
    level[k] = 0;
    workers[k]++;
    assert(workers[k] == 1);
    wanted[k] = false;
}

inline done(k)
{
    workers[k]--;
    if
    :: shut -> step(k, IN_DONE_LAST)
    :: else -> step(k, IN_DONE)
    fi;
    if
    :: READY(k) -> older = 1 - (k)
    :: else -> level[k] = 0
    fi;
    assert(shut || !wanted[k] || READY(k))
}

active [2] proctype Worker()
{
    bit k;
    do
    :: d_step { !shut && FIRST(0) -> take(0); k = 0 };
       d_step { done(k); k = 0 }
    :: d_step { !shut && FIRST(1) -> take(1); k = 1 };
       d_step { done(k); k = 0 }
#ifndef BREAK_SHUTDOWN /* who waits for a key is not told of the end */
    :: shut -> break
#endif
    od;
    ended++
}

active proctype Watches()
{
    do
    :: d_step { !shut -> add(0, LOW) }
    :: d_step { !shut -> add(0, HIGH) }
    :: d_step { !shut -> add(1, LOW) }
    :: d_step { !shut -> add(1, NORMAL) }
    :: d_step { !shut -> add_at(0, 1) }
    :: d_step { !shut -> add_at(1, 1) }
    :: d_step { !shut -> add_at(1, 2) }
    :: shut -> break
    od
}

inline tick(k)
{
    assert(promised[k] == 0 || (due[k] != 0 && due[k] <= promised[k]));
    if
    :: due[k] == 1 -> due[k] = 0; promised[k] = 0; add(k, NORMAL)
    :: due[k] > 1 -> due[k]--; promised[k]--
    :: else -> skip
    fi
}

active proctype Clock()
{
    do
    :: d_step { !shut && (due[0] || due[1]) -> tick(0); tick(1) }
    :: shut -> break
    od
}

#define MAY_AGE(k) (READY(k) && level[k] < HIGH)

/* One for each key: fairness is between processes. */
proctype Ageing(bit k)
{
    do
#ifndef BREAK_AGEING
    :: d_step { !shut && MAY_AGE(k) -> level[k]++; older = 1 - k }
#endif
    :: shut -> break
    od
}

init
{
    atomic { run Ageing(0); run Ageing(1) }
}

active proctype Quarantine()
{
    do
    :: d_step {
        !shut && !barred[1] ->
        step(1, IN_EXPEL);
        barred[1] = true;
        due[1] = 0;
        promised[1] = 0;
        wanted[1] = false;
        level[1] = 0
    }
    :: d_step { !shut && barred[1] -> barred[1] = false }
    :: break /* fairness must not make it come again and again */
    od
}

active proctype Operator()
{
    if
    :: d_step { shut = true; due[0] = 0; due[1] = 0; promised[0] = 0; promised[1] = 0 }
    :: skip
    fi
}

/* A key of the lowest priority is taken in the end, whatever else comes. */
ltl no_add_is_lost { [] (wanted[1] -> <> (!wanted[1] || shut)) }
ltl shutdown_ends { [] (shut -> <> (ended == 2)) }
