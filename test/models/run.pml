/* One ProvisioningRun from nothing to its end: the operator with caches that lag and crashes between any two
 * writes, the Job controller, the pods of plan and apply, another run that wants the same stack, a person who
 * cancels. The decision is the program's own (run_world.c calls rco_run_decide on what the caches show).
 *
 * An approval is not there yet, nothing here makes a Pending run fail:
 * not modelled: Pending Failed
 * not modelled: AwaitingApproval Applying
 */
#include "zz_generated_run.pml"
c_decl {
    \#include "run_world.h"
    \#define input_names state_names
    \#include "visits.h"
}

#ifndef FAULTS
#define FAULTS 2
#endif
#define FAULT (!calm && faults < FAULTS)

/* What the API server has. */
byte state, recorded; /* status.state; status.engine is of phase 1 plan, 2 apply */
bool engine;          /* ... and names a pod */
bool planned, applied, cancel, production;
byte job[2];          /* 0 not made, 1 there, 2 gone */
byte claim;           /* 0 free, 1 and 2 the pod of plan and apply, 3 another run's */

/* Pods, as the node has them. */
#define NONE 0
#define ALIVE 1
#define ASKS 2
#define WORKS 3
#define REPORTS 4
#define ENDED 5
#define RELEASED 6
byte pod[2];
bool good[2]; /* what it reports */

/* The operator: what its caches show, what it knows in this life, the plan it carries out. */
byte v_state, v_recorded, v_job[2], v_pod[2], v_claim;
bool v_engine, v_planned, v_applied, v_cancel;
bool run_is_new, claim_is_new; /* the cache shows the newest version */
bool gate_run, gate_claim;     /* an own write is not seen yet */
bool made;
short plan;
byte at;
bool run_base, claim_base; /* what the plan was computed from is still the newest */

/* Who waits at the gateway, and what it was answered: 0 nothing yet, 1 yes, 2 no, 3 later. */
bool start[2], receipt[2];
byte told[2];

bool calm;
byte faults, engines;
bool began[2]; /* an engine of this phase was started */

hidden byte what, phase, s_state, s_recorded, s_engine, s_planned, s_applied, late, more;
hidden short code;

#define FINAL TABLE_FINAL(state)
#ifdef BREAK_ENDED /* a pod whose Job is gone counts as ended */
#define POD_VIEW(p) ((pod[p] == NONE || pod[p] == RELEASED) -> 0 :                                \
                     ((pod[p] == ENDED || job[p] == 2) -> 2 : 1))
#else
#define POD_VIEW(p) ((pod[p] == NONE || pod[p] == RELEASED) -> 0 : (pod[p] == ENDED -> 2 : 1))
#endif

inline see_run()
{
    v_state = state;
    v_recorded = recorded;
    v_engine = engine;
    v_planned = planned;
    v_applied = applied;
    v_cancel = cancel;
    run_is_new = true;
    gate_run = false
}

inline run_changed()
{
    run_is_new = false;
    run_base = false
}

inline claim_changed()
{
    claim_is_new = false;
    claim_base = false
}

inline end_plan()
{
    plan = 0;
    at = 0;
    run_base = false;
    claim_base = false
}

inline forget() /* the process is gone, or another one leads */
{
    end_plan();
    made = false;
    gate_run = false;
    gate_claim = false;
    start[0] = false;
    start[1] = false;
    receipt[0] = false;
    receipt[1] = false
}

inline decide(is_late)
{
    late = is_late;
    c_code {
        struct run_view v = {.state = now.v_state,
                             .recorded = now.v_recorded,
                             .engine = now.v_engine,
                             .planned = now.v_planned,
                             .applied = now.v_applied,
                             .cancel = now.v_cancel,
                             .production = now.production,
                             .job = {now.v_job[0] == 1, now.v_job[1] == 1},
                             .pod = {now.v_pod[0], now.v_pod[1]},
                             .claim = now.v_claim,
                             .start = now.start[0] ? 1 : now.start[1] ? 2 : 0,
                             .made = now.made,
                             .late = late};
        if (now.receipt[0])
            v.receipt = now.good[0] ? 1 : 2;
        else if (now.receipt[1])
            v.receipt = now.good[1] ? 3 : 4;
        now.plan = run_decide(&v);
    };
    at = 0;
    run_base = (plan && run_is_new);
    claim_base = (plan && claim_is_new)
}

inline load_step()
{
    c_code {
        const struct run_step *s = &run_plan(now.plan)->steps[now.at];
        what = s->what;
        phase = s->phase;
        code = s->code;
        s_state = s->state;
        s_recorded = s->recorded;
        s_engine = s->engine;
        s_planned = s->planned;
        s_applied = s->applied;
    }
}

inline next_step()
{
    at++;
    c_code { more = now.at < run_plan(now.plan)->n; };
    if
    :: !more -> end_plan()
    :: else -> skip
    fi
}

inline write_status()
{
    if
    :: s_state != state ->
        c_code { visit(now.state, s_state); };
        assert(!FINAL); /* final states absorb */
        assert(TABLE_MAY(state, s_state))
    :: else -> skip
    fi;
    assert(!planned || s_planned); /* what was recorded stays */
    assert(!applied || s_applied);
    state = s_state;
    recorded = s_recorded;
    engine = s_engine;
    planned = s_planned;
    applied = s_applied;
    made = (made && recorded != (state == RUN_APPLYING -> 2 : 1));
    assert(state != RUN_APPLYING || planned);
    run_changed()
}

/* The step, at the API server; OK says whether it went through. */
inline carry_out()
{
    if
#ifdef BREAK_CAS /* versions are not compared */
    :: what == 1 -> write_status(); gate_run = true
    :: what == 4 -> claim = phase + 1; claim_changed(); gate_claim = true
#else
    :: what == 1 && run_base -> write_status(); gate_run = true
    :: what == 1 && !run_base -> at = 100
    :: what == 4 && claim_base -> claim = phase + 1; claim_changed(); gate_claim = true
    :: what == 4 && !claim_base -> at = 100
#endif
    :: what == 5 && claim_base ->
        assert(pod[phase] == ENDED || pod[phase] == RELEASED); /* the engine has ended */
        claim = 0; claim_changed(); gate_claim = true
    :: what == 5 && !claim_base -> at = 100
    :: what == 2 ->
        /* A second one, for a run that has gone on, is not asked for by anybody. */
        assert(phase == 0 || planned); /* the receipt was recorded before */
        job[phase] = (job[phase] == 0 -> 1 : job[phase]);
        made = true
    :: what == 3 -> job[phase] = 2
    :: what == 6 ->
        assert(pod[phase] == ENDED || pod[phase] == RELEASED);
        pod[phase] = RELEASED
    :: what == 7 ->
        if
        :: start[phase] -> told[phase] = (code == 200 -> 1 : (code == 503 -> 3 : 2)); start[phase] = false
        :: else -> skip
        fi
    :: what == 8 ->
        if
        :: receipt[phase] ->
            told[phase] = (code == 200 -> 1 : (code == 503 -> 3 : 2));
            receipt[phase] = false;
            /* What was acknowledged is recorded. */
            assert(code != 200 || (phase == 0 && good[0] && planned) ||
                   (phase == 1 && good[1] && applied) || (!good[phase] && state == RUN_FAILED))
        :: else -> skip
        fi
    fi
}

inline one_step()
{
    load_step();
#ifdef BREAK_REPLY_FIRST /* acknowledged before it is recorded */
    c_code { more = run_plan(now.plan)->steps[now.at + 1].what == 8; };
    if
    :: what == 1 && more ->
        c_code { phase = run_plan(now.plan)->steps[now.at + 1].phase; code = 200; };
        what = 8
    :: else -> skip
    fi;
#endif
    carry_out();
    if
    :: at == 100 -> end_plan()
    :: else -> next_step()
    fi
}

proctype Operator()
{
    do
    :: d_step { plan == 0 && !gate_run && !gate_claim -> decide(0) }
    :: d_step { /* every time limit has passed */
        plan == 0 && !gate_run && !gate_claim && FAULT ->
        decide(1);
        faults = (plan -> faults + 1 : faults)
    }
    :: d_step { plan != 0 -> one_step() }
    :: d_step { plan != 0 && FAULT -> faults++; end_plan() }             /* never came */
    :: d_step { /* no answer: nobody knows whether it was done */
        plan != 0 && FAULT -> faults++; one_step(); end_plan(); gate_run = false; gate_claim = false
    }
    :: d_step { FAULT -> faults++; forget() }
    od
}

proctype RunCache()
{
    do
    :: d_step { !run_is_new -> see_run() }
    od
}

proctype ClaimCache()
{
    do
    :: d_step { !claim_is_new -> v_claim = claim; claim_is_new = true; gate_claim = false }
    od
}

proctype WorkCache(bit p)
{
    do
    :: d_step { v_job[p] != job[p] -> v_job[p] = job[p] }
    :: d_step { v_pod[p] != POD_VIEW(p) -> v_pod[p] = POD_VIEW(p) }
    od
}

inline end_pod(p)
{
    engines = ((pod[p] == WORKS || pod[p] == REPORTS) -> engines - 1 : engines);
    pod[p] = ENDED;
    start[p] = false;
    receipt[p] = false;
    told[p] = 0
}

#ifdef BREAK_START /* "later" is taken for a yes */
#define MAY_START(p) (told[p] == 1 || told[p] == 3)
#else
#define MAY_START(p) (told[p] == 1)
#endif
#ifdef BREAK_RETRY /* who gets no answer asks no more */
#define UNANSWERED(p, waits) false
#else
#define UNANSWERED(p, waits) (!told[p] && !waits[p])
#endif

proctype Pod(bit p)
{
    do
    :: d_step { job[p] == 1 && pod[p] == NONE -> pod[p] = ALIVE }
    :: d_step { pod[p] == ALIVE -> start[p] = true; told[p] = 0; pod[p] = ASKS }
    :: d_step {
        pod[p] == ASKS && MAY_START(p) ->
        told[p] = 0;
        assert(engines == 0); /* one engine on the stack */
        assert(!began[p]);
        assert(engine && recorded == p + 1); /* that is recorded */
        began[p] = true;
        engines++;
        pod[p] = WORKS
    }
    :: d_step { pod[p] == ASKS && told[p] == 2 -> end_pod(p) }
    :: d_step {
        pod[p] == ASKS && (told[p] == 3 || UNANSWERED(p, start)) ->
        told[p] = 0;
        pod[p] = ALIVE
    }
    :: atomic {
        pod[p] == WORKS ->
        receipt[p] = true;
        told[p] = 0;
        pod[p] = REPORTS;
        if
        :: good[p] = true
        :: good[p] = false
        fi
    }
    :: d_step { pod[p] == REPORTS && (told[p] == 1 || told[p] == 2) -> end_pod(p) }
    :: d_step { 
        pod[p] == REPORTS && (told[p] == 3 || UNANSWERED(p, receipt)) ->
        told[p] = 0;
        receipt[p] = true
    }
    /* The node fails, or the Job was deleted. */
    :: d_step { pod[p] >= ALIVE && pod[p] <= REPORTS && FAULT -> faults++; end_pod(p) }
    :: d_step { pod[p] >= ALIVE && pod[p] <= REPORTS && job[p] == 2 -> end_pod(p) }
    od
}

/* Somebody cancels, or deletes the Job. */
proctype People()
{
    do
    :: d_step { FAULT && !cancel -> faults++; cancel = true; run_changed() }
    :: d_step { FAULT && recorded && job[recorded - 1] == 1 -> faults++; job[recorded - 1] = 2 }
    :: atomic { !calm -> calm = true; break }
    od
}

/* Another run of this stack. */
proctype Other()
{
    do
    :: d_step { !calm && claim == 0 -> claim = 3; claim_changed(); assert(engines == 0); engines++ }
    :: d_step { claim == 3 -> claim = 0; claim_changed(); engines-- }
    od
}

init
{
    atomic {
        if
        :: production = true
        :: production = false
        fi;
        run_is_new = true;
        claim_is_new = true;
        run Operator(); run RunCache(); run ClaimCache(); run WorkCache(0); run WorkCache(1);
        run Pod(0); run Pod(1); run People(); run Other()
    }
}

#define CLEAN                                                                                     \
    (claim == 0 && (pod[0] == NONE || pod[0] == RELEASED) && (pod[1] == NONE || pod[1] == RELEASED))
ltl ends { [] (calm -> <> ((FINAL || (production && state == RUN_AWAITING_APPROVAL)) && CLEAN)) }
