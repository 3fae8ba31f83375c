/* One living system: an operation, the time it takes to come to rest, what must hold then, and the
 * next one. */
#include "ops.h"

#include "log_sink.h"
#include "oracle.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS SIM_TENANT_NS
#define SWEEP (660 * SIM_S)
#define FAULT_EVERY 3
#define COMPARE_EVERY 8
#define TRIES 3 /* runs after a fault until the system is well */

static const struct sim_workload people = {.name = "operations"};

struct session {
    struct sim *s;
    struct sim_plan plan;
    uint64_t rng;
    int variant;
    bool verbose, faulty, struck;
    struct sim_ops_tally *tally;
    const struct sim_operation *op; /* that goes on */
    int writes, changes, contended; /* before it */
};

static uint64_t draw(struct session *x)
{
    uint64_t z = x->rng += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 29);
}

static int pick(struct session *x, int n)
{
    return (int)(draw(x) % (uint64_t)n);
}

/* --- life of the system --- */

static void shape(struct session *x)
{
    struct sim_plan *p = &x->plan;

    *p = (struct sim_plan){.seed = draw(x), .workload = people.name, .replicas = 1};
    if (pick(x, 3))
        return; /* where nothing disturbs, economy can be asked for */
    p->streaming = pick(x, 2);
    p->twice = pick(x, 3) == 0;
    p->slow = pick(x, 3) == 0;
    p->page = pick(x, 3) ? 0 : 1 + pick(x, 3);
    if (pick(x, 3) == 0) {
        p->replicas = 2;
        p->election = true;
    }
}

static void gather(struct session *x)
{
    struct sim_ops_tally *t = x->tally;

    if (x->s->violations && !t->violations) {
        snprintf(t->text, sizeof t->text, "%s", x->s->first_violation);
        if (x->op)
            snprintf(t->after, sizeof t->after, "%s of %s %s%s%s",
                     sim_mutation_name(x->op->mutation), rco_kind_info(x->op->kind)->kind,
                     x->op->path, x->op->literal ? " to " : "", rco_str_or_empty(x->op->literal));
    }
    t->violations += x->s->violations;
}

/* Specs as texts, since trees belong to one system. */
struct specs {
    struct rco_buf texts[3];
};

static void begin(struct session *x, const struct specs *specs)
{
    x->s = sim_new(&x->plan, &people, x->verbose);
    sim_ops_populate(x->s, x->variant, specs ? specs->texts : NULL);
    sim_ops_settle(x->s, false);
    if (!sim_ops_is_good(x->s))
        sim_violation(x->s, "begin", "a good specification did not become Ready");
}

static void end(struct session *x)
{
    gather(x);
    sim_free(x->s);
    x->s = NULL;
}

static void write_specs(struct sim *s, struct specs *ret)
{
    static const enum rco_kind kinds[] = {RCO_KIND_TENANT, RCO_KIND_ENV, RCO_KIND_DEPSPEC};

    *ret = (struct specs){0};
    for (int i = 0; i < 3; i++)
        rco_value_write(sim_tree_get(sim_ops_object(s, kinds[i])->tree, "spec"), &ret->texts[i]);
}

static void release_specs(struct specs *specs)
{
    for (int i = 0; i < 3; i++)
        rco_buf_release(&specs->texts[i]);
}

/* --- faults --- */

static void arm(struct session *x)
{
    static const int errors[] = {409, 429, 500, 503, 504};
    struct sim_fault *f = &x->plan.faults[0];
    enum sim_fault_type type = (enum sim_fault_type)(1 + pick(x, SIM_FAULT_TYPES - 1));

    *f = (struct sim_fault){
        .type = type, .at = x->s->writes + 1 + pick(x, 12), .length = (2 + pick(x, 28)) * SIM_S};
    if (type == SIM_CLOCK)
        f->arg = pick(x, 2) ? 3600 : -3600;
    if (type == SIM_ERRORS)
        f->arg = errors[pick(x, RCO_ARRAY_LEN(errors))];
    if (type == SIM_DEAF || type == SIM_OUTAGE)
        f->length = 600 * SIM_S;
    if (type == SIM_KILL_RUNNER || type == SIM_LOSE_NODE || type == SIM_DELETE_JOB) {
        f->at = 1 + pick(x, 2);
        f->arg = 1 + pick(x, 6);
        f->length = 300 * SIM_S;
    }
    x->s->fault.used[0] = false;
    x->s->fault.hits[0] = 0;
    x->plan.n_faults = 1;
    x->faulty = true;
    x->tally->faults++;
    sim_trace(x->s, "fault %s is armed, at %d", sim_fault_name(type), f->at);
}

static void disarm(struct session *x)
{
    /* Nobody's clock stays wrong for ever: the operator moves to a node with a right one. */
    if (x->plan.n_faults && x->plan.faults[0].type == SIM_CLOCK && x->s->fault.used[0]) {
        for (int i = 0; i < x->plan.replicas; i++)
            sim_replica_kill(x->s, i, "moved to another node");
        sim_ops_settle(x->s, true);
    }
    /* What somebody did to the stack stays until the next run: nothing looks for drift yet. */
    if (x->plan.n_faults && x->plan.faults[0].type == SIM_FOREIGN && x->s->fault.used[0])
        sim_ops_run(x->s);
    /* What is left of a lost engine is nobody's fault. */
    x->struck = x->faulty && x->plan.faults[0].type >= SIM_KILL_RUNNER;
    x->plan.n_faults = 0;
}

/* --- oracles --- */

static void fail(struct session *x, const char *oracle, const char *what, const char *more)
{
    sim_violation(x->s, oracle, "%s%s", what, rco_str_or_empty(more));
}

static bool is_named(const char *message, const char *field)
{
    return field && strstr(message, field);
}

/* The refusal says which field it is about; the object around it will do, as with a reference that
 * must not be there, and of what this version does not have any above. */
static void check_refusal(struct session *x, const struct sim_answer *a)
{
    const char *fields[16] = {0};
    char path[160], *save = NULL;
    size_t n = 0, least;

    snprintf(path, sizeof path, "%s", x->op->path);
    for (char *p = strtok_r(path, "|", &save); p && n < 16; p = strtok_r(NULL, "|", &save))
        if (strcmp(p, "[]") != 0 && strcmp(p, "{}") != 0)
            fields[n++] = p;
    least = strstr(a->message, "not available") || n < 4 ? 1 : n - 2;
    for (size_t i = n; i-- > (n == 1 ? 0 : least);)
        if (is_named(a->message, fields[i]))
            return;
    if (x->op->kind != RCO_KIND_RUN)
        fail(x, "refusal", "the message does not name the field: ", a->message);
}

/* Some condition of V says that it is not as wished, and why. */
static bool says_why(const struct sim_version *v)
{
    static const char *const types[] = {"Stalled", "Reconciling", "Suspended", "AwaitingDecision"};
    const struct rco_value *list = sim_tree_get(v->tree, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next)
        for (size_t i = 0; i < RCO_ARRAY_LEN(types); i++)
            if (rco_streq(sim_tree_str(c, "type"), types[i]) &&
                rco_streq(sim_tree_str(c, "status"), "True") &&
                !rco_str_empty(sim_tree_str(c, "reason")) &&
                strlen(rco_str_or_empty(sim_tree_str(c, "message"))) > 10)
                return true;
    return false;
}

static void check_condition(struct session *x)
{
    const struct sim_version *env = sim_ops_object(x->s, RCO_KIND_ENV);
    const struct sim_version *spec = sim_ops_object(x->s, RCO_KIND_DEPSPEC);

    if (!sim_condition(spec, "Ready", NULL) && !says_why(env) && !says_why(spec))
        fail(x, "told", "the specification is not applied and no condition says why", NULL);
    if (sim_tree_int(spec->tree, "status|observedGeneration", -1) !=
        sim_tree_int(spec->tree, "metadata|generation", 0))
        fail(x, "told", "the status is for an older generation", NULL);
}

static void check_economy(struct session *x)
{
    const struct sim *s = x->s;
    const struct sim_plan *p = &x->plan;

    if (x->faulty || p->twice || p->slow || p->replicas > 1)
        return;
    if (s->writes - x->writes - (s->contended - x->contended) != s->operator_changes - x->changes)
        sim_violation(x->s, "economy", "%d writes for %d changes", s->writes - x->writes,
                      s->operator_changes - x->changes);
}

static void compare(struct session *x, const char *oracle, const char *want, const char *got)
{
    size_t at = 0, line;

    if (strcmp(want, got) == 0)
        return;
    while (want[at] && want[at] == got[at])
        at++;
    for (line = at; line > 0 && want[line - 1] != '\n'; line--)
        ;
    at = at > line + 70 ? at - 70 : line;
    sim_violation(x->s, oracle, "%.*s: want ...%.130s, got ...%.130s",
                  (int)strcspn(want + line, "{["), want + line, want + at, got + at);
}

/* --- one operation --- */

static void note(struct session *x)
{
    x->writes = x->s->writes;
    x->changes = x->s->operator_changes;
    x->contended = x->s->contended;
}

/* A run of what is there now, where there is none yet. */
static void refresh(struct session *x)
{
    if (sim_ops_is_good(x->s) && !sim_ops_is_fresh(x->s))
        sim_ops_run(x->s);
}

static void ask_again(struct session *x)
{
    for (int i = 0; i < TRIES && !sim_ops_is_good(x->s); i++)
        sim_ops_run(x->s);
}

static struct sim_answer ask(struct session *x, const struct sim_version *old,
                             const struct rco_value *wanted)
{
    struct rco_arena *a = &x->s->arena;
    const struct rco_value *spec = sim_tree_get(wanted, "spec"), *patch;

    patch =
        spec ? sim_merge_patch(a, sim_tree_get(old->tree, "spec"), spec) : sim_tree_f(a, "null");
    if (!patch)
        return (struct sim_answer){.code = 200, .v = old};
    return sim_patch(x->s, SIM_USER, old->kind, old->ns, old->name, false,
                     sim_tree_set(a, NULL, "spec", patch));
}

/* Without objects and lists that have nothing in them: those are no leaves. */
static const struct rco_value *leaves(struct rco_arena *a, const struct rco_value *v)
{
    struct rco_value *copy = rco_arena_memdup(a, v, sizeof *v), **tail = &copy->first;

    if (v->type != RCO_VALUE_OBJECT)
        return copy;
    *tail = NULL;
    copy->len = 0;
    for (const struct rco_value *x = v->first; x; x = x->next) {
        const struct rco_value *inner = leaves(a, x);

        if ((inner->type == RCO_VALUE_OBJECT || inner->type == RCO_VALUE_ARRAY) && !inner->first)
            continue;
        *tail = (struct rco_value *)inner;
        (*tail)->next = NULL;
        tail = &(*tail)->next;
        copy->len++;
    }
    return copy;
}

/* Whether the change of a leaf shows in a child or in a status. */
static void check_effect(struct session *x, const struct rco_value *old_spec, const char *before)
{
    rco_autobuf after = RCO_BUF_INIT;
    struct rco_arena *a = &x->s->arena;
    const struct sim_operation *all;
    const struct rco_value *spec = sim_tree_get(sim_ops_object(x->s, x->op->kind)->tree, "spec");

    if (rco_value_equal(leaves(a, old_spec), leaves(a, spec)))
        return;
    sim_operations(&all);
    sim_ops_view(x->s, SIM_VIEW_EFFECTS, &after);
    if (strcmp(before, rco_buf_str(&after)) != 0)
        return;
    x->tally->quiet[x->op - all] = 1;
    if (!sim_op_no_effect(x->op))
        fail(x, "shown", "the change was taken and shows nowhere", NULL);
}

/* The system is made anew with the same specs. */
static void rebuild(struct session *x)
{
    struct specs specs;

    write_specs(x->s, &specs);
    end(x);
    begin(x, &specs);
    release_specs(&specs);
    x->tally->rebuilt++;
}

static void take_back(struct session *x, const struct rco_value *old_spec, const char *before)
{
    rco_autobuf after = RCO_BUF_INIT;
    const struct sim_version *now = sim_ops_object(x->s, x->op->kind);

    if (x->op->scene) {
        x->op->scene->undo(x->s);
    } else {
        struct sim_answer a = ask(x, now, sim_tree_set(&x->s->arena, now->tree, "spec", old_spec));

        if (a.code != 200)
            fail(x, "rollback", "the way back is refused: ", a.message);
    }
    sim_ops_settle(x->s, false);
    refresh(x);
    ask_again(x);
    x->tally->reverted++;
    if (x->struck && !sim_ops_is_good(x->s)) {
        rebuild(x);
        return;
    }
    sim_ops_view(x->s, SIM_VIEW_ALL, &after);
    compare(x, "rollback", before, rco_buf_str(&after));
}

/* There a change waits for an approval, and what changes nothing does not: the way matters. */
static bool is_production(struct sim *s)
{
    return rco_streq(sim_tree_str(sim_ops_object(s, RCO_KIND_ENV)->tree, "spec|class"),
                     "production");
}

/* What was taken has come to its end. */
static void judge(struct session *x, const struct rco_value *old_spec, const char *before,
                  const char *effects)
{
    bool good;

    if (x->faulty && !sim_ops_is_good(x->s))
        sim_ops_run(x->s);
    good = sim_ops_is_good(x->s);
    if (good)
        sim_check_end(x->s);
    disarm(x);
    check_economy(x);
    if (!good)
        check_condition(x);
    refresh(x);
    good = good && sim_ops_is_good(x->s);
    if (good && !x->faulty && !x->op->scene && x->op->kind != RCO_KIND_RUN)
        check_effect(x, old_spec, effects);
    if (x->op->kind == RCO_KIND_RUN)
        return; /* what a run is asked cannot be taken back */
    if (!good || x->op->scene || is_production(x->s) || pick(x, 2))
        take_back(x, old_spec, before);
    else
        x->tally->kept++;
}

/* Carries X->op out; false: it cannot be done to what is there. */
static bool act(struct session *x, const struct sim_version *old, struct sim_answer *ret)
{
    const struct rco_value *wanted;

    if (x->op->scene) {
        x->op->scene->act(x->s);
        *ret = (struct sim_answer){.code = 200};
        return true;
    }
    wanted = old ? sim_operation_apply(x->op, &x->s->arena, old->tree) : NULL;
    if (!wanted)
        return false;
    *ret = ask(x, old, wanted);
    return true;
}

static void operate(struct session *x, bool fault)
{
    rco_autobuf before = RCO_BUF_INIT, effects = RCO_BUF_INIT;
    const struct sim_version *old = sim_ops_object(x->s, x->op->kind);
    const struct rco_value *old_spec = old ? sim_tree_get(old->tree, "spec") : NULL;
    struct sim_answer a;

    sim_trace(x->s, "operation: %s of %s %s %s", sim_mutation_name(x->op->mutation),
              rco_kind_info(x->op->kind)->kind, x->op->path, rco_str_or_empty(x->op->literal));
    sim_ops_view(x->s, SIM_VIEW_ALL, &before);
    sim_ops_view(x->s, SIM_VIEW_EFFECTS, &effects);
    note(x);
    x->faulty = false;
    if (fault)
        arm(x);
    if (!act(x, old, &a)) {
        x->tally->skipped++;
        disarm(x);
        return;
    }
    x->tally->done++;
    if (a.code != 200) {
        check_refusal(x, &a);
        sim_ops_rule_spoke(x->op->kind, a.message);
        disarm(x);
        x->tally->refused++;
        return;
    }
    if (!x->op->scene && a.v == old) {
        disarm(x);
        x->tally->unmoved++;
        return;
    }
    sim_ops_settle(x->s, fault);
    judge(x, old_spec, rco_buf_str(&before), rco_buf_str(&effects));
}

/* --- fresh against path --- */

/* A Secret that was generated when the Environment named none. */
static bool refers_to_its_past(struct sim *s)
{
    const struct sim_version *env = sim_ops_object(s, RCO_KIND_ENV);
    const char *name = sim_tree_str(env->tree, "spec|backend|passphraseSecretRef|name");

    return rco_str_has_prefix(name, "rco-");
}

static void compare_fresh(struct session *x)
{
    struct session fresh = {.plan = {.seed = draw(x), .workload = people.name, .replicas = 1},
                            .variant = x->variant,
                            .tally = x->tally};
    struct specs specs;
    rco_autobuf want = RCO_BUF_INIT, got = RCO_BUF_INIT;

    refresh(x);
    if (!sim_ops_is_good(x->s) || refers_to_its_past(x->s))
        return;
    sim_check_quiet(x->s, SWEEP);
    write_specs(x->s, &specs);
    begin(&fresh, &specs);
    release_specs(&specs);
    sim_ops_view(fresh.s, SIM_VIEW_ALL, &want);
    end(&fresh);
    sim_log_to(x->s);
    sim_ops_view(x->s, SIM_VIEW_ALL, &got);
    compare(x, "fresh-as-path", rco_buf_str(&want), rco_buf_str(&got));
    x->tally->compared++;
}

void sim_ops_session(uint64_t seed, const size_t *which, size_t n, bool verbose,
                     struct sim_ops_tally *tally)
{
    struct session x = {.rng = seed * UINT64_C(0x2545f4914f6cdd1d) + 7,
                        .variant = (int)(seed % 2),
                        .verbose = verbose,
                        .tally = tally};
    const struct sim_operation *all;

    sim_operations(&all);
    shape(&x);
    begin(&x, NULL);
    for (size_t i = 0; i < n && !x.s->violations; i++) {
        int done = tally->done;

        x.op = &all[which[i]];
        operate(&x, i % FAULT_EVERY == FAULT_EVERY - 1);
        tally->ran[which[i]] |= tally->done > done;
        if (i % COMPARE_EVERY == COMPARE_EVERY - 1 && !x.s->violations)
            compare_fresh(&x);
    }
    end(&x);
}
