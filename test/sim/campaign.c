#include "campaign.h"

#include "breaks.h"
#include "run.h"
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Writes to one object more than the reference has: what waits is told of, or decided once more. */
#define MORE_WRITES 4
#define MORE_WRITES_FAULT 8
#define SHOWN 5 /* violations told of one family */

/* Plans of one kind, counted. */
struct family {
    const char *name;
    int plans, failed;
};

struct campaign {
    struct family families[64];
    size_t n;
    int plans, failed;
    int stride, turn; /* every STRIDE-th planned fault is carried out; 0 = none */
    int64_t virtual_s;
    struct sim_peaks peaks;
    struct timespec began;
};

static double seconds(const struct campaign *c)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - c->began.tv_sec) + (double)(now.tv_nsec - c->began.tv_nsec) / 1e9;
}

static void begin(struct campaign *c)
{
    memset(c, 0, sizeof *c);
    clock_gettime(CLOCK_MONOTONIC, &c->began);
}

static struct family *family(struct campaign *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->families[i].name, name) == 0)
            return &c->families[i];
    if (c->n == RCO_ARRAY_LEN(c->families))
        return &c->families[0];
    c->families[c->n].name = name;
    return &c->families[c->n++];
}

static enum sim_break broken(void)
{
    for (int b = 1; b < SIM_BREAKS; b++)
        if (sim_break_is((enum sim_break)b))
            return (enum sim_break)b;
    return SIM_BREAK_NONE;
}

static void tell(const struct sim_plan *plan, const struct sim_result *r)
{
    rco_autobuf words = RCO_BUF_INIT;

    sim_plan_write(plan, &words);
    printf("VIOLATION %s\n  replay: make sim ", r->text);
    if (broken() != SIM_BREAK_NONE)
        printf("BREAK=%s ", sim_break_name(broken()));
    printf("PLAN=\"%s\"\n", rco_buf_str(&words));
}

/* Whether the sound program fails here too: then PLAN proves nothing about what is broken. */
static bool fails_anyway(const struct sim_plan *plan, const struct sim_run_options *o)
{
    const struct sim_run_options sound = {.sweeps = o->sweeps, .reference = o->reference};
    enum sim_break b = broken();
    struct sim_result r;

    if (b == SIM_BREAK_NONE)
        return false;
    sim_break_set(SIM_BREAK_NONE);
    sim_run_plan(plan, &sound, &r);
    sim_break_set(b);
    return r.violations;
}

static void raise(struct sim_peaks *to, const struct sim_peaks *p)
{
    to->writes = p->writes > to->writes ? p->writes : to->writes;
    to->conflicts = p->conflicts > to->conflicts ? p->conflicts : to->conflicts;
    to->events = p->events > to->events ? p->events : to->events;
    to->extra = p->extra > to->extra ? p->extra : to->extra;
    to->gap = p->gap > to->gap ? p->gap : to->gap;
    to->deaf = p->deaf > to->deaf ? p->deaf : to->deaf;
}

/* Carries PLAN out and counts it under NAME. */
static bool try(struct campaign *c, const char *name, const struct sim_plan *plan,
                const struct sim_run_options *o, struct sim_result *ret)
{
    struct family *f = family(c, name);

    sim_run_plan(plan, o, ret);
    f->plans++;
    c->plans++;
    c->virtual_s += ret->virtual_s;
    raise(&c->peaks, &ret->peaks);
    if (!ret->violations || fails_anyway(plan, o))
        return !ret->violations;
    c->failed++;
    if (f->failed++ < SHOWN)
        tell(plan, ret);
    return false;
}

static int end(const struct campaign *c)
{
    double t = seconds(c);

    for (size_t i = 0; i < c->n; i++)
        printf("family %-24s %6d plans %4d failed\n", c->families[i].name, c->families[i].plans,
               c->families[i].failed);
    printf("%d plans, %d failed, %.1f s, %.2f ms of CPU a plan, %.0f virtual hours\n", c->plans,
           c->failed, t, c->plans ? (double)clock() / CLOCKS_PER_SEC * 1e3 / c->plans : 0,
           (double)c->virtual_s / 3600);
    printf(
        "at most: %d writes, %d conflicts and %d Events of one object in a minute; %d writes more "
        "than the reference; %.1f s without a leader after a crash; %.0f s until a change was "
        "seen\n",
        c->peaks.writes, c->peaks.conflicts, c->peaks.events, c->peaks.extra,
        (double)c->peaks.gap / 1e9, (double)c->peaks.deaf / 1e9);
    return c->failed ? 1 : 0;
}

/* --- planned faults --- */

struct reference {
    const struct sim_workload *workload;
    struct rco_buf dump, write_log, counts;
    int writes;
};

/* PLAN must come to the end of the reference, where that follows from the script alone. */
static bool agree(struct campaign *c, const char *name, const struct sim_plan *plan,
                  const struct reference *ref, int more_writes)
{
    bool strict = ref->workload->strict;
    struct sim_result r;

    return try(c, name, plan,
               &(struct sim_run_options){.reference = strict ? rco_buf_str(&ref->dump) : NULL,
                                         .write_counts = strict ? rco_buf_str(&ref->counts) : NULL,
                                         .more_writes = more_writes},
               &r);
}

/* Runs that differ in every latency must agree; the first is the reference. */
static bool learn(struct campaign *c, const struct sim_workload *w, struct reference *ref)
{
    struct sim_plan plan = {.workload = w->name, .seed = 1, .replicas = 1};
    struct sim_result r, again;
    bool ok;

    *ref = (struct reference){.workload = w};
    ok = try(
        c, "reference", &plan,
        &(struct sim_run_options){
            .sweeps = 10, .dump = &ref->dump, .write_log = &ref->write_log, .counts = &ref->counts},
        &r);
    ref->writes = r.writes;
    if (!ok)
        return false;
    sim_run_plan(&plan, &(struct sim_run_options){.sweeps = 10}, &again);
    if (again.hash != r.hash) {
        printf("VIOLATION same-trace: %s gives another trace with the same seed\n", w->name);
        family(c, "reference")->failed++;
        c->failed++;
        ok = false;
    }
    plan.seed = 2;
    plan.slow = true;
    ok = agree(c, "reference", &plan, ref, MORE_WRITES) && ok;
    plan = (struct sim_plan){
        .workload = w->name, .seed = 3, .replicas = 2, .election = true, .streaming = true};
    ok = agree(c, "reference", &plan, ref, MORE_WRITES) && ok;
    plan = (struct sim_plan){.workload = w->name, .seed = 4, .replicas = 1, .twice = true};
    return agree(c, "delivered-twice", &plan, ref, MORE_WRITES) && ok;
}

static bool is_destructive(const struct reference *ref, int k)
{
    const char *line = rco_buf_str(&ref->write_log);

    for (int i = 1; i < k && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && (strncmp(line, "DELETE", 6) == 0 || strncmp(line, "PATCH", 5) == 0);
}

static void strike_both(struct campaign *c, const struct reference *ref, const char *name,
                        struct sim_fault fault, struct sim_fault second, int replicas)
{
    struct sim_plan plan = {.workload = ref->workload->name,
                            .seed = 1,
                            .replicas = replicas,
                            .election = replicas > 1,
                            .faults = {fault, second},
                            .n_faults = second.type ? 2 : 1};
    bool hurts =
        fault.type >= SIM_KILL_RUNNER || fault.type == SIM_CLOCK || fault.type == SIM_OUTAGE;
    struct sim_result r;

    if (c->stride == 0 || c->turn++ % c->stride != 0)
        return;
    if (hurts)
        try(c, name, &plan, &(struct sim_run_options){0}, &r);
    else
        agree(c, name, &plan, ref, MORE_WRITES_FAULT);
}

static void strike(struct campaign *c, const struct reference *ref, const char *name,
                   struct sim_fault fault, int replicas)
{
    strike_both(c, ref, name, fault, (struct sim_fault){0}, replicas);
}

/* The leader goes at write K, and whoever comes has not seen the last of one type. */
static void strike_successor(struct campaign *c, const struct reference *ref, int k)
{
    static const enum rco_kind kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN,   RCO_KIND_JOB,
                                          RCO_KIND_POD,     RCO_KIND_LEASE, RCO_KIND_CONFIGMAP,
                                          RCO_KIND_ENV,     RCO_KIND_PVC};
    struct sim_fault skew = {.type = SIM_SKEW, .at = k > 4 ? k - 4 : 1, .length = 3 * SIM_S};

    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++) {
        skew.arg = (int)kinds[i];
        strike_both(c, ref, "successor-behind", skew, (struct sim_fault){.type = SIM_TERM, .at = k}, 2);
    }
}

/* Faults at write K. */
static void strike_write(struct campaign *c, const struct reference *ref, int k)
{
    static const struct {
        const char *name;
        enum sim_fault_type type;
    } points[] = {{"crash-before", SIM_CRASH_BEFORE},
                  {"crash-commit", SIM_CRASH_COMMIT},
                  {"crash-reply", SIM_CRASH_REPLY},
                  {"lose-request", SIM_LOSE_REQUEST},
                  {"lose-answer", SIM_LOSE_ANSWER}};
    static const int pauses[] = {4, 16, 31, 40};

    for (size_t i = 0; i < RCO_ARRAY_LEN(points); i++)
        strike(c, ref, points[i].name, (struct sim_fault){.type = points[i].type, .at = k}, 1);
    strike(c, ref, "hidden", (struct sim_fault){.type = SIM_HIDE, .at = k, .length = 5 * SIM_S}, 1);
    if (is_destructive(ref, k)) {
        strike(
            c, ref, "stale",
            (struct sim_fault){.type = SIM_FREEZE, .at = k > 2 ? k - 2 : 1, .length = 20 * SIM_S},
            1);
        strike(c, ref, "restart-stale",
               (struct sim_fault){.type = SIM_RESTALE, .at = k, .length = 20 * SIM_S}, 1);
    }
    strike(c, ref, "leader-paused",
           (struct sim_fault){.type = SIM_PAUSE, .at = k, .length = pauses[k % 4] * SIM_S}, 2);
    strike(c, ref, "handed-over", (struct sim_fault){.type = SIM_TERM, .at = k}, 2);
    if (k % 3 == 0)
        strike_successor(c, ref, k);
    if (k % 3 == 1)
        strike(c, ref, "stopped", (struct sim_fault){.type = SIM_TERM, .at = k}, 1);
    if (k % 3 == 0)
        strike(c, ref, "leader-crash", (struct sim_fault){.type = SIM_CRASH_COMMIT, .at = k}, 2);
}

/* Faults that last, at every sixth write. */
static void strike_long(struct campaign *c, const struct reference *ref, int k)
{
    static const int errors[] = {401, 409, 410, 429, 500, 502, 503, 504};

    strike(c, ref, "deaf", (struct sim_fault){.type = SIM_DEAF, .at = k, .length = 600 * SIM_S}, 1);
    strike(c, ref, "outage",
           (struct sim_fault){.type = SIM_OUTAGE, .at = k, .length = 3600 * SIM_S}, 1);
    strike(c, ref, "clock", (struct sim_fault){.type = SIM_CLOCK, .at = k, .arg = 3600}, 1);
    strike(c, ref, "clock", (struct sim_fault){.type = SIM_CLOCK, .at = k, .arg = -3600}, 1);
    strike(c, ref, "compacted", (struct sim_fault){.type = SIM_COMPACT, .at = k}, 1);
    strike(c, ref, "errors",
           (struct sim_fault){
               .type = SIM_ERRORS, .at = k, .length = 10 * SIM_S, .arg = errors[k / 6 % 8]},
           1);
}

/* Faults when the user acts: the change and what undoes it are not seen one by one. */
static void strike_steps(struct campaign *c, const struct reference *ref)
{
    static const enum rco_kind skewed[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN, RCO_KIND_JOB,
                                           RCO_KIND_POD, RCO_KIND_ENV};

    for (int step = 1; step <= (int)ref->workload->n_steps; step++) {
        strike(c, ref, "unobserved",
               (struct sim_fault){.type = SIM_HIDE, .at = -step, .length = 5 * SIM_S}, 1);
        strike(c, ref, "unobserved",
               (struct sim_fault){.type = SIM_HIDE, .at = -step, .length = 70 * SIM_S}, 1);
        for (size_t i = 0; i < RCO_ARRAY_LEN(skewed); i++)
            strike(c, ref, "skewed",
                   (struct sim_fault){
                       .type = SIM_SKEW, .at = -step, .length = 30 * SIM_S, .arg = (int)skewed[i]},
                   1);
    }
}

static void strike_runner(struct campaign *c, const struct reference *ref)
{
    for (int stage = 1; stage <= 6; stage++) {
        for (int pod = 1; pod <= 2; pod++) {
            strike(c, ref, "kill-runner",
                   (struct sim_fault){.type = SIM_KILL_RUNNER, .at = pod, .arg = stage}, 1);
            strike(c, ref, "lose-node",
                   (struct sim_fault){
                       .type = SIM_LOSE_NODE, .at = pod, .arg = stage, .length = 600 * SIM_S},
                   1);
            strike(c, ref, "delete-job",
                   (struct sim_fault){.type = SIM_DELETE_JOB, .at = pod, .arg = stage}, 1);
        }
    }
    strike(c, ref, "foreign", (struct sim_fault){.type = SIM_FOREIGN, .at = 1}, 1);
}

/* Which of the planned faults to take so that there are about WANTED of them (0 = all). */
static int stride_for(const struct reference *ref, int wanted)
{
    int all = ref->writes * 10 + 37 + (int)ref->workload->n_steps * 7;

    return wanted > 0 && all > wanted ? all / wanted : 1;
}

int sim_campaign_plans(int per_workload)
{
    struct campaign c;

    begin(&c);
    for (size_t i = 0; i < sim_n_workloads; i++) {
        struct reference ref;

        /* What fails without faults says nothing with them. */
        c.stride = learn(&c, &sim_workloads[i], &ref) ? stride_for(&ref, per_workload) : 0;
        c.turn = (int)i;
        for (int k = 1; k <= ref.writes; k++) {
            strike_write(&c, &ref, k);
            if (k % 6 == 0)
                strike_long(&c, &ref, k);
        }
        strike_steps(&c, &ref);
        strike_runner(&c, &ref);
        rco_buf_release(&ref.dump);
        rco_buf_release(&ref.write_log);
        rco_buf_release(&ref.counts);
        rco_buf_release(&ref.counts);
    }
    return end(&c);
}

/* --- hunting for what is broken on purpose --- */

static bool hunt_planned(struct campaign *c, const struct sim_workload *w)
{
    struct reference ref;

    if (learn(c, w, &ref)) {
        c->stride = 1;
        for (int k = 1; k <= ref.writes && !c->failed; k++) {
            strike_write(c, &ref, k);
            if (k % 6 == 0)
                strike_long(c, &ref, k);
        }
        if (!c->failed)
            strike_steps(c, &ref);
        if (!c->failed)
            strike_runner(c, &ref);
    }
    rco_buf_release(&ref.dump);
    rco_buf_release(&ref.write_log);
    rco_buf_release(&ref.counts);
    return c->failed;
}

int sim_campaign_hunt(int seeds)
{
    struct campaign c;
    struct sim_result r;
    struct sim_plan plan;

    begin(&c);
    for (size_t i = 0; i < sim_n_workloads && !c.failed; i++) {
        struct reference ref;

        learn(&c, &sim_workloads[i], &ref);
        rco_buf_release(&ref.dump);
        rco_buf_release(&ref.write_log);
        rco_buf_release(&ref.counts);
        rco_buf_release(&ref.counts);
    }
    if (!c.failed)
        hunt_planned(&c, &sim_workloads[0]);
    for (int i = 1; i <= seeds && !c.failed; i++) {
        sim_plan_random((uint64_t)i, &plan);
        try(&c, "seeds", &plan, &(struct sim_run_options){0}, &r);
    }
    for (size_t i = 1; i < sim_n_workloads && !c.failed; i++)
        hunt_planned(&c, &sim_workloads[i]);
    printf("%s after %d plans, %.1f s\n", c.failed ? "found" : "NOT FOUND", c.plans, seconds(&c));
    return c.failed ? 0 : 1;
}

/* --- random plans --- */

int sim_campaign_seeds(uint64_t from, int count)
{
    struct campaign c;
    struct sim_plan plan;
    struct sim_result r;

    begin(&c);
    for (int i = 0; i < count; i++) {
        sim_plan_random(from + (uint64_t)i, &plan);
        if (!try(&c, "seeds", &plan, &(struct sim_run_options){0}, &r))
            printf("  or: make sim SEED=%" PRIu64 "\n", from + (uint64_t)i);
    }
    return end(&c);
}

int sim_campaign_soak(double hours, uint64_t from)
{
    struct campaign c;
    struct sim_plan plan;
    struct sim_result r;
    double next = 60;

    begin(&c);
    for (uint64_t seed = from; seconds(&c) < hours * 3600; seed++) {
        sim_plan_random(seed, &plan);
        if (!try(&c, "soak", &plan, &(struct sim_run_options){0}, &r))
            printf("  or: make sim SEED=%" PRIu64 "\n", seed);
        if (seconds(&c) < next)
            continue;
        printf("%d plans, %d failed, next seed %" PRIu64 "\n", c.plans, c.failed, seed + 1);
        next += 60;
    }
    return end(&c);
}
