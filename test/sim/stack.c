/* Pulumi stacks: what is deployed, who works on them, and what every engine did. */
#include "kubelet.h"

#include "api/labels.h"
#include "api/names.h"
#include "base/sha256.h"
#include "stack.h"

#include <string.h>

struct sim_plan_file {
    struct sim_plan_file *next;
    char digest[RCO_SHA256_HEX], base[RCO_SHA256_HEX];
    const char *wanted; /* content after the apply */
};

/* Every engine start of the world. */
struct sim_engine {
    struct sim_engine *next;
    const char *run_uid, *pod_uid;
    enum rco_engine_phase phase;
};

struct sim_stack {
    struct sim_stack *next;
    const char *key;
    const char *content; /* "" = nothing deployed */
    struct sim_pod *running;
    struct sim_plan_file *plans;
    struct sim_engine *engines;
    int effects; /* applies that changed something */
};

enum sim_program sim_program_of(const char *commit)
{
    switch (commit[0]) {
    case 'f':
        return SIM_PROGRAM_NO_PLAN;
    case 'e':
        return SIM_PROGRAM_NO_APPLY;
    case 'd':
        return SIM_PROGRAM_HOSTILE;
    case 'c':
        return SIM_PROGRAM_NO_SECRET;
    case 'b':
        return SIM_PROGRAM_SLOW;
    default:
        return SIM_PROGRAM_GOOD;
    }
}

static struct sim_stack *stack_of(struct sim_pod *p)
{
    struct sim *s = p->sim;
    const struct rco_runner_job_backend *b = &p->job->backend;
    const char *key =
        rco_arena_printf(&s->arena, "%s/%s%s/%s", rco_str_or_empty(b->claim), b->claim ? p->ns : "",
                         rco_str_or_empty(b->url), p->job->stack);
    struct sim_stack *k;

    for (k = s->stacks; k; k = k->next)
        if (strcmp(k->key, key) == 0)
            return k;
    k = RCO_NEW(&s->arena, struct sim_stack);
    k->key = key;
    k->content = "";
    k->next = s->stacks;
    s->stacks = k;
    return k;
}

/* What the program of P deploys: its commit with the values of its configuration. */
static const char *wanted(const struct sim_pod *p)
{
    rco_autobuf text = RCO_BUF_INIT;

    rco_buf_adds(&text, p->job->program.commit);
    for (size_t i = 0; i < p->job->n_configs; i++)
        rco_buf_addf(&text, " %s=%.8s", p->job->configs[i].key,
                     rco_str_or_empty(p->job->configs[i].value_hash));
    return rco_arena_strdup(&p->sim->arena, rco_buf_str(&text));
}

static const char *hex(struct sim *s, const char *text)
{
    char *out = rco_arena_alloc(&s->arena, RCO_SHA256_HEX);

    rco_sha256_hex(text, strlen(text), out);
    return out;
}

/* --- begin --- */

static void check_start(struct sim_pod *p, struct sim_stack *k)
{
    struct sim *s = p->sim;
    const struct sim_version *run = sim_get(s, RCO_KIND_RUN, p->ns, p->job->run);
    const char *phase = p->job->phase == RCO_ENGINE_PHASE_APPLY ? "apply" : "plan";

    if (p->planted)
        sim_violation(s, "own-job", "pod %s starts, whose Job the operator did not make", p->name);
    if (k->running)
        sim_violation(s, "one-engine", "pod %s starts on stack %s while pod %s runs there", p->name,
                      k->key, k->running->name);
    for (const struct sim_engine *e = k->engines; e; e = e->next)
        if (rco_streq(e->run_uid, p->job->run_uid) && e->phase == p->job->phase)
            sim_violation(s, "one-start", "a second engine starts for %s of run %s", phase,
                          p->job->run);
    if (!run || !rco_streq(run->uid, p->job->run_uid)) {
        sim_violation(s, "recorded-start", "an engine starts for run %s, which is gone",
                      p->job->run);
        return;
    }
    if (!sim_tree_has(run->tree, "metadata|finalizers", RCO_FINALIZER_RUN))
        sim_violation(s, "finalizer", "an engine starts and nothing holds run %s", run->name);
    if (!rco_streq(sim_tree_str(run->tree, "status|engine|podUid"), p->uid) ||
        !rco_streq(sim_tree_str(run->tree, "status|engine|phase"), phase))
        sim_violation(s, "recorded-start", "pod %s starts and run %s does not name it", p->name,
                      p->job->run);
}

void sim_engine_begin(struct sim_pod *p)
{
    struct sim *s = p->sim;
    struct sim_stack *k = stack_of(p);
    struct sim_engine *e = RCO_NEW(&s->arena, struct sim_engine);

    sim_trace(s, "engine %s of run %s starts in pod %s on %s",
              p->job->phase == RCO_ENGINE_PHASE_APPLY ? "apply" : "plan", p->job->run, p->name,
              k->key);
    check_start(p, k);
    s->engines++;
    *e = (struct sim_engine){
        .next = k->engines, .run_uid = p->job->run_uid, .pod_uid = p->uid, .phase = p->job->phase};
    k->engines = e;
    k->running = p;
    p->stack = k;
    p->engine_runs = true;
}

static void leave(struct sim_pod *p)
{
    if (p->stack && p->stack->running == p)
        p->stack->running = NULL;
    p->engine_runs = false;
}

bool sim_engine_of(struct sim *s, const char *pod_uid)
{
    for (const struct sim_pod *p = s->pods; p; p = p->next)
        if (rco_streq(p->uid, pod_uid))
            return p->engine_runs;
    return false;
}

bool sim_engine_for(struct sim *s, const struct sim_version *v)
{
    for (const struct sim_pod *p = s->pods; p; p = p->next) {
        const struct sim_version *run;

        if (!p->engine_runs)
            continue;
        if (rco_streq(p->job->run_uid, v->uid))
            return true;
        run = sim_get(s, RCO_KIND_RUN, p->ns, p->job->run);
        if (run && rco_streq(run->uid, p->job->run_uid) &&
            rco_streq(sim_tree_str(run->tree, "spec|specificationId"), v->uid))
            return true;
    }
    return false;
}

/* --- plan and apply --- */

static void fail(struct rco_runner_receipt *r, enum rco_failure_class class, const char *message)
{
    r->result = RCO_APPLY_RESULT_FAILED;
    r->has_failure = true;
    r->failure = (struct rco_run_failure){.class = class, .message = message};
}

static int starts_of_commit(const struct sim_stack *k, const char *run_uid)
{
    int n = 0;

    for (const struct sim_engine *e = k->engines; e; e = e->next)
        n += e->phase == RCO_ENGINE_PHASE_PLAN && !rco_streq(e->run_uid, run_uid);
    return n;
}

static void add_artifact(struct sim_pod *p, enum rco_artifact_kind kind, const char *text)
{
    struct sim *s = p->sim;
    struct rco_runner_receipt *r = &p->receipt;
    struct rco_runner_artifact *list = (struct rco_runner_artifact *)r->artifacts;

    if (!list)
        list = r->artifacts = rco_arena_array(&s->arena, 4, sizeof *list);
    list[r->n_artifacts++] = (struct rco_runner_artifact){
        .kind = kind, .digest = hex(s, text), .size = (int64_t)strlen(text), .has_size = true};
    p->kinds[p->n_artifacts] = kind;
    p->artifacts[p->n_artifacts++] = text;
}

static void plan(struct sim_pod *p, struct sim_stack *k)
{
    struct sim *s = p->sim;
    struct rco_runner_receipt *r = &p->receipt;
    struct sim_plan_file *f = RCO_NEW(&s->arena, struct sim_plan_file);
    enum sim_program program = sim_program_of(p->job->program.commit);
    const char *text;

    if (program == SIM_PROGRAM_NO_PLAN) {
        fail(r, RCO_FAILURE_CLASS_RESOURCE, "the program has an error");
        return;
    }
    if (program == SIM_PROGRAM_NO_SECRET && starts_of_commit(k, p->job->run_uid) < 2) {
        fail(r, RCO_FAILURE_CLASS_CONFIG, "missing Secret db (key password)");
        return;
    }
    f->wanted = wanted(p);
    memcpy(f->base, hex(s, k->content), RCO_SHA256_HEX);
    text = rco_arena_printf(&s->arena, "plan from %s to %s", f->base, f->wanted);
    memcpy(f->digest, hex(s, text), RCO_SHA256_HEX);
    f->next = k->plans;
    k->plans = f;
    r->plan_file_digest = f->digest;
    r->adds = !*k->content;
    r->changes = *k->content && strcmp(k->content, f->wanted) != 0;
    add_artifact(p, RCO_ARTIFACT_KIND_PLAN, text);
}

/* What was planned in this very run, and nothing else, is what happens now. */
static void check_apply(struct sim_pod *p, const struct sim_stack *k, const struct sim_plan_file *f)
{
    struct sim *s = p->sim;
    const struct sim_version *run = sim_get(s, RCO_KIND_RUN, p->ns, p->job->run);
    const struct rco_value *receipt = run ? sim_tree_get(run->tree, "status|planReceipt") : NULL;

    if (!run || !rco_streq(run->uid, p->job->run_uid))
        return;
    if (!receipt || !rco_streq(sim_tree_str(receipt, "artifact|digest"), f->digest) ||
        !rco_streq(sim_tree_str(receipt, "baseStateDigest"), hex(s, k->content)))
        sim_violation(s, "as-planned",
                      "run %s applies something else than it planned, or to "
                      "another state",
                      p->job->run);
}

static void apply(struct sim_pod *p, struct sim_stack *k)
{
    struct rco_runner_receipt *r = &p->receipt;
    const struct rco_runner_job_expected *x = &p->job->expected;
    const struct sim_plan_file *f = k->plans;

    while (f && !rco_streq(f->digest, x->plan_file_digest))
        f = f->next;
    if (!f) {
        fail(r, RCO_FAILURE_CLASS_PLAN_STALE, "the saved plan is not there");
        return;
    }
    if (x->base_state_digest && !rco_streq(x->base_state_digest, hex(p->sim, k->content))) {
        fail(r, RCO_FAILURE_CLASS_PLAN_STALE, "the state is not the one that was planned");
        return;
    }
    check_apply(p, k, f);
    r->adds = !*k->content;
    r->changes = *k->content && strcmp(k->content, f->wanted) != 0;
    if (sim_program_of(p->job->program.commit) == SIM_PROGRAM_NO_APPLY) {
        k->content = "half";
        fail(r, RCO_FAILURE_CLASS_RESOURCE, "Deployment web: forbidden");
    } else {
        k->content = f->wanted;
    }
    r->may_have_changed = r->has_may_have_changed = true;
    k->effects++;
    sim_trace(p->sim, "stack %s is now: %s", k->key, k->content);
    add_artifact(p, RCO_ARTIFACT_KIND_STATE,
                 rco_arena_printf(&p->sim->arena, "state: %s", k->content));
}

static void set_types(struct sim_pod *p)
{
    struct rco_runner_receipt *r = &p->receipt;
    struct rco_plan_type *t;

    if (r->adds + r->changes == 0)
        return;
    t = RCO_NEW(&p->sim->arena, struct rco_plan_type);
    *t = (struct rco_plan_type){.type = "kubernetes:apps/v1:Deployment",
                                .adds = r->adds,
                                .has_adds = r->adds > 0,
                                .changes = r->changes,
                                .has_changes = r->changes > 0};
    r->types = t;
    r->n_types = 1;
}

void sim_engine_finish(struct sim_pod *p)
{
    struct sim *s = p->sim;
    struct sim_stack *k = p->stack;
    struct rco_runner_receipt *r = &p->receipt;
    const struct rco_runner_job *job = p->job;
    const char *missing = sim_missing_input(p);

    *r = (struct rco_runner_receipt){
        .protocol = 1,
        .has_protocol = true,
        .run_uid = job->run_uid,
        .phase = job->phase,
        .result = RCO_APPLY_RESULT_SUCCEEDED,
        .program_version = job->program.commit,
        .project = "project",
        .stack = job->stack,
        .inputs_hash = hex(s, wanted(p)),
        .workspace_digest = hex(s, job->program.commit),
        .base_state_digest = hex(s, k->content),
        .operations_digest = hex(s, "operations"),
        .engine_version = "3.274.1",
        .runner_version = "0.1.0",
        .has_adds = true,
        .has_changes = true,
        .has_deletes = true,
        .has_replaces = true,
        .has_sames = true,
        .has_outputs_changed = true,
        .has_pending_operations = true,
        .started_at = sim_wall(s),
        .finished_at = sim_wall(s),
    };
    if (p->cancelled)
        fail(r, RCO_FAILURE_CLASS_CANCELLED, "stopped on request");
    else if (missing)
        fail(r, RCO_FAILURE_CLASS_CONFIG, missing);
    else if (job->phase == RCO_ENGINE_PHASE_APPLY)
        apply(p, k);
    else
        plan(p, k);
    r->state_digest = hex(s, k->content);
    set_types(p);
    add_artifact(p, RCO_ARTIFACT_KIND_LOG,
                 rco_arena_printf(&s->arena, "log of pod %s: [masked]", p->name));
    leave(p);
    if (job->phase == RCO_ENGINE_PHASE_PLAN && sim_fault_foreign(s))
        sim_stacks_meddle(s);
}

void sim_engine_kill(struct sim_pod *p)
{
    if (!p->engine_runs)
        return;
    /* Killed in its middle: some of it may have happened. */
    if (p->job->phase == RCO_ENGINE_PHASE_APPLY && sim_chance(p->sim, 50)) {
        p->stack->content = "half";
        sim_trace(p->sim, "stack %s is half done", p->stack->key);
    }
    leave(p);
}

void sim_stacks_meddle(struct sim *s)
{
    for (struct sim_stack *k = s->stacks; k; k = k->next) {
        k->content = rco_arena_printf(&s->arena, "%s meddled", k->content);
        sim_trace(s, "somebody changes stack %s", k->key);
    }
}

/* --- for oracles --- */

size_t sim_stacks_write(const struct sim *s, struct rco_buf *out)
{
    size_t busy = 0;

    for (const struct sim_stack *k = s->stacks; k; k = k->next) {
        rco_buf_addf(out, "stack %s = %s, %d applied\n", k->key, k->content, k->effects);
        busy += k->running != NULL;
    }
    return busy;
}

bool sim_stack_shows(const struct sim *s, const char *stack, const char *commit)
{
    for (const struct sim_stack *k = s->stacks; k; k = k->next) {
        const char *name = strrchr(k->key, '/') + 1;

        if (strcmp(name, stack) == 0)
            return rco_str_has_prefix(k->content, commit);
    }
    return !*commit;
}

size_t sim_engines_of_run(const struct sim *s, const char *run_uid)
{
    size_t n = 0;

    for (const struct sim_stack *k = s->stacks; k; k = k->next)
        for (const struct sim_engine *e = k->engines; e; e = e->next)
            n += rco_streq(e->run_uid, run_uid);
    return n;
}
