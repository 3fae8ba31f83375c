/* What must hold at every change, at every answer, and at the end. */
#include "oracle.h"

#include "api/labels.h"
#include "base/sha256.h"
#include "kubelet.h"
#include "stack.h"
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ENGINE_POD "metadata|annotations|" RCO_ANNOTATION_CLAIM_ENGINE_POD_UID

void sim_violation(struct sim *s, const char *oracle, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (s->violations++ == 0)
        snprintf(s->first_violation, sizeof s->first_violation, "%s: %s", oracle, text);
    sim_trace(s, "VIOLATION of %s: %s", oracle, text);
}

static bool is_claim(const struct sim_version *v)
{
    return v->kind == RCO_KIND_LEASE && rco_str_has_prefix(v->name, "rco-claim-");
}

static const struct sim_version *run_of(struct sim *s, const char *ns, const char *name)
{
    return sim_get(s, RCO_KIND_RUN, ns, name);
}

/* --- at every change --- */

/* No Job of a phase before the run is in it, and no apply Job before the plan is recorded. */
static void check_job(struct sim *s, const struct sim_version *job)
{
    const char *phase = sim_tree_str(job->tree, "metadata|labels|" RCO_LABEL_PHASE);
    const char *name = sim_tree_str(job->tree, "metadata|labels|" RCO_LABEL_RUN);
    const struct sim_version *run = run_of(s, job->ns, rco_str_or_empty(name));
    const char *state = run ? sim_tree_str(run->tree, "status|state") : NULL;
    const char *want = rco_streq(phase, "apply") ? "Applying" : "Planning";

    if (!run || !rco_streq(run->uid, sim_tree_str(job->tree, "metadata|labels|" RCO_LABEL_RUN_UID)))
        return; /* deleted meanwhile: the Job starts nothing */
    if (!rco_streq(state, want) && !rco_streq(state, "Failed") && !rco_streq(state, "Cancelled"))
        sim_violation(s, "intent-first", "Job %s is made for %s while run %s is %s", job->name,
                      phase, run->name, rco_or_none(state));
}

static void check_pod(struct sim *s, const struct sim_change *c)
{
    bool was =
        c->before && sim_tree_has(c->before->tree, "metadata|finalizers", RCO_FINALIZER_ENGINE);
    bool is = c->now && sim_tree_has(c->now->tree, "metadata|finalizers", RCO_FINALIZER_ENGINE);

    if (was && !is && sim_engine_of(s, c->before->uid))
        sim_violation(s, "held-pod", "pod %s is let go while its engine runs", c->before->name);
}

static void check_claim(struct sim *s, const struct sim_change *c)
{
    const char *was = c->before ? sim_tree_str(c->before->tree, ENGINE_POD) : NULL;
    const char *is = c->now ? sim_tree_str(c->now->tree, ENGINE_POD) : NULL;

    if (was && !rco_streq(was, is) && sim_engine_of(s, was))
        sim_violation(s, "held-claim", "claim %s leaves an engine that runs",
                      (c->now ? c->now : c->before)->name);
}

static void check_run(struct sim *s, const struct sim_change *c)
{
    const char *was, *is;

    if (!c->before || !c->now)
        return;
    was = sim_tree_str(c->before->tree, "status|engine|podUid");
    is = sim_tree_str(c->now->tree, "status|engine|podUid");
    if (was && is && strcmp(was, is) != 0)
        sim_violation(s, "one-start", "run %s lets a second pod start", c->now->name);
}

/* From the start of an engine to its end, run and specification cannot go away. */
static void check_held(struct sim *s, const struct sim_change *c, const char *finalizer)
{
    const struct sim_version *v = c->now ? c->now : c->before;

    if (c->now && sim_tree_has(c->now->tree, "metadata|finalizers", finalizer))
        return;
    if (sim_engine_for(s, v))
        sim_violation(s, "finalizer", "%s %s is not held by %s while its engine runs",
                      rco_kind_info(v->kind)->kind, v->name, finalizer);
}

/* Who writes must hold the Lease: no write of a deposed leader. */
static void check_leader(struct sim *s, int actor, const struct sim_version *v)
{
    const struct sim_version *lease =
        sim_get(s, RCO_KIND_LEASE, SIM_OPERATOR_NS, "runtime-cloud-controller");
    const char *holder = lease ? sim_tree_str(lease->tree, "spec|holderIdentity") : NULL;
    char prefix[32];

    if (!s->plan->election || actor < SIM_OPERATOR)
        return;
    snprintf(prefix, sizeof prefix, "operator%d_", actor - SIM_OPERATOR);
    if (!rco_str_has_prefix(holder, prefix))
        sim_violation(s, "leader", "operator%d writes %s %s while %s leads", actor - SIM_OPERATOR,
                      rco_kind_info(v->kind)->kind, v->name, rco_or_none(holder));
}

void sim_oracle_changed(struct sim *s, int actor, const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;

    if (v->kind == RCO_KIND_EVENT)
        return;
    if (v->kind != RCO_KIND_LEASE || is_claim(v))
        check_leader(s, actor, v);
    switch (v->kind) {
    case RCO_KIND_JOB:
        if (!c->before && actor >= SIM_OPERATOR)
            check_job(s, v);
        break;
    case RCO_KIND_POD:
        check_pod(s, c);
        break;
    case RCO_KIND_LEASE:
        if (is_claim(v))
            check_claim(s, c);
        else if (c->now)
            sim_times_elected(s, v);
        break;
    case RCO_KIND_RUN:
        check_run(s, c);
        check_held(s, c, RCO_FINALIZER_RUN);
        break;
    case RCO_KIND_DEPSPEC:
        check_held(s, c, RCO_FINALIZER_SPECIFICATION);
        break;
    default:
        break;
    }
}

/* --- at every answer to a runner --- */

static bool claim_names(struct sim *s, const char *pod_uid)
{
    const struct sim_kind *k = &s->kinds[RCO_KIND_LEASE];

    for (size_t i = 0; i < k->n_live; i++)
        if (rco_streq(sim_tree_str(k->live[i]->tree, ENGINE_POD), pod_uid))
            return true;
    return false;
}

static bool is_over(const char *state)
{
    return rco_streq(state, "Applied") || rco_streq(state, "Failed") ||
           rco_streq(state, "Cancelled") || rco_streq(state, "Rejected");
}

static void check_start_answer(struct sim *s, const struct sim_version *run,
                               const struct sim_version *pod)
{
    if (!pod)
        return;
    if (run && is_over(sim_tree_str(run->tree, "status|state")))
        sim_violation(s, "attempt-over", "pod %s may start for run %s, which is %s", pod->name,
                      run->name, sim_tree_str(run->tree, "status|state"));
    if (!run || !rco_streq(sim_tree_str(run->tree, "status|engine|podUid"), pod->uid))
        sim_violation(s, "write-then-answer", "pod %s may start and its run does not name it",
                      pod->name);
    if (!claim_names(s, pod->uid))
        sim_violation(s, "write-then-answer", "pod %s may start and no claim names it", pod->name);
}

static void check_receipt_answer(struct sim *s, const struct sim_version *run, const char *name,
                                 bool apply)
{
    const char *state = run ? sim_tree_str(run->tree, "status|state") : NULL;

    if (!run || (!sim_tree_get(run->tree, apply ? "status|applyReceipt" : "status|planReceipt") &&
                 !rco_streq(state, "Failed")))
        sim_violation(s, "receipt-kept", "a receipt of run %s was acknowledged and is not stored",
                      name);
}

void sim_oracle_replied(struct sim *s, const struct sim_front_request *q, int status)
{
    const char *part[4] = {0}; /* namespace, run, phase, verb */
    const char *p = q->path + strlen("/v1/runs/");
    const struct sim_version *run;

    if (status < 200 || status > 299)
        return;
    for (int i = 0; i < 4; i++) {
        size_t n = strcspn(p, "/");

        part[i] = rco_arena_strndup(&s->arena, p, n);
        p += n + (p[n] == '/');
    }
    run = run_of(s, part[0], part[1]);
    if (strcmp(part[3], "start") == 0)
        check_start_answer(s, run, sim_pod_of_token(s, q->token));
    if (strcmp(part[3], "receipt") == 0)
        check_receipt_answer(s, run, part[1], strcmp(part[2], "apply") == 0);
}

void sim_oracle_text(struct sim *s, const char *where, const char *text, size_t n)
{
    if (n && memmem(text, n, SIM_CANARY, sizeof SIM_CANARY - 1))
        sim_violation(s, "canary", "a secret stands in %s", where);
}

/* --- the end --- */

static bool has_pod_fault(const struct sim *s)
{
    for (int i = 0; i < s->plan->n_faults; i++)
        if (s->plan->faults[i].type >= SIM_KILL_RUNNER)
            return true;
    return false;
}

/* Faults after which a run may rightly have ended as Failed although its program is good. */
static bool may_fail(const struct sim *s)
{
    for (int i = 0; i < s->plan->n_faults; i++) {
        const struct sim_fault *f = &s->plan->faults[i];

        if (f->type >= SIM_KILL_RUNNER || f->type == SIM_CLOCK ||
            (f->type == SIM_OUTAGE && f->length > 3000 * SIM_S))
            return true;
    }
    return false;
}

static void check_end_of_run(struct sim *s, const struct sim_version *run)
{
    const char *state = sim_tree_str(run->tree, "status|state");
    bool inert =
        sim_condition(run, "Stalled", NULL) && !sim_tree_str(run->tree, "status|startedAt");

    if (inert) {
        if (sim_engines_of_run(s, run->uid))
            sim_violation(s, "inert", "an engine ran for restored run %s", run->name);
        return;
    }
    if (rco_streq(state, "Pending") || rco_streq(state, "Planning") ||
        rco_streq(state, "Planned") || rco_streq(state, "Applying"))
        sim_violation(s, "converged", "run %s rests in %s", run->name, state);
}

static void check_end_of_spec(struct sim *s, const struct sim_version *v)
{
    const struct sim_version *run = sim_newest_run(s, v->name);
    const char *state = run ? sim_tree_str(run->tree, "status|state") : NULL;
    const char *why = NULL;
    bool applied = rco_streq(state, "Applied");

    if (sim_tree_int(v->tree, "status|observedGeneration", -1) !=
        sim_tree_int(v->tree, "metadata|generation", 0))
        sim_violation(s, "converged", "%s: status is for an older generation", v->name);
    if (sim_condition(v, "Reconciling", &why))
        sim_violation(s, "converged", "%s rests in Reconciling (%s)", v->name, why);
    if (applied && !sim_condition(v, "Ready", NULL))
        sim_violation(s, "converged", "%s is applied and not Ready", v->name);
    if (applied &&
        !sim_stack_shows(s, rco_or_text(sim_tree_str(run->tree, "spec|snapshot|stackName"), ""),
                         sim_tree_str(run->tree, "spec|snapshot|program|commit")) &&
        !has_pod_fault(s))
        sim_violation(s, "converged", "%s says Applied and its stack shows something else",
                      v->name);
    if (applied && rco_streq(run->ns, v->ns) &&
        sim_tree_int(run->tree, "spec|specificationVersion", 0) ==
            sim_tree_int(v->tree, "status|version", 0) &&
        !rco_streq(sim_tree_str(run->tree, "spec|snapshot|program|commit"),
                   sim_tree_str(v->tree, "spec|programVersion")))
        sim_violation(s, "converged", "%s applied another commit than it names", v->name);
    if (s->workload->applies && !applied && !may_fail(s))
        sim_violation(s, "converged", "%s has a good program and ended as %s (%s)", v->name,
                      rco_or_none(state),
                      run ? rco_or_none(sim_tree_str(run->tree, "status|reason")) : "no run");
}

static void check_leftover(struct sim *s, const struct sim_version *v)
{
    bool unknown = has_pod_fault(s); /* a lost engine may keep its pod and its claim */

    if ((v->kind == RCO_KIND_JOB || v->kind == RCO_KIND_POD) && !unknown)
        sim_violation(s, "no-leftovers", "%s %s is left", rco_kind_info(v->kind)->kind, v->name);
    if (is_claim(v) && sim_tree_str(v->tree, ENGINE_POD) && !unknown)
        sim_violation(s, "no-leftovers", "claim %s names an engine", v->name);
    if (v->kind != RCO_KIND_POD && sim_tree_get(v->tree, "metadata|deletionTimestamp") && !unknown)
        sim_violation(s, "no-leftovers", "%s %s does not go away", rco_kind_info(v->kind)->kind,
                      v->name);
}

/* Where nobody else writes and nothing fails, every write changes something and none is refused:
 * each decision was made on what its own writes had come to. */
static void check_economy(struct sim *s)
{
    const struct sim_plan *p = s->plan;

    if (p->n_faults || p->twice || p->slow || p->front_loss || p->replicas > 1 ||
        !s->workload->strict)
        return;
    if (s->writes - s->contended != s->operator_changes)
        sim_violation(s, "economy", "%d writes for %d changes", s->writes, s->operator_changes);
    if (s->gets)
        sim_violation(s, "economy", "%d objects that are there were read one by one", s->gets);
}

void sim_check_end(struct sim *s)
{
    rco_autobuf text = RCO_BUF_INIT;

    check_economy(s);

    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        for (size_t i = 0; i < s->kinds[k].n_live; i++) {
            const struct sim_version *v = s->kinds[k].live[i];

            check_leftover(s, v);
            if (v->kind == RCO_KIND_RUN)
                check_end_of_run(s, v);
            if (v->kind == RCO_KIND_DEPSPEC)
                check_end_of_spec(s, v);
        }
    }
    if (sim_stacks_write(s, &text))
        sim_violation(s, "no-leftovers", "an engine runs at the end");
}

void sim_check_quiet(struct sim *s, int64_t length)
{
    int changes = s->operator_changes, writes = s->writes;

    sim_idle(s, length);
    if (s->operator_changes != changes || s->writes != writes)
        sim_violation(s, "quiet", "%d writes to objects that nobody changed", s->writes - writes);
}

/* --- end state as text --- */

static bool is_masked(const char *key)
{
    static const char *const keys[] = {"resourceVersion",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "lastTransitionTime",
                                       "startedAt",
                                       "completedAt",
                                       "declaredAt",
                                       "appliedAt",
                                       "plannedAt",
                                       "duration",
                                       "at",
                                       "nextAttemptAt",
                                       "startTime",
                                       "completionTime",
                                       "time",
                                       "snapshotHash"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* Random Secrets have a counter in their names: a crash before the name is recorded costs one. */
static bool is_counted(const char *name)
{
    return rco_str_has_prefix(name, "rco-dev-pass-") || rco_str_has_prefix(name, "rco-dev-hmac-");
}

static const struct rco_value *masked(struct sim *s, const struct rco_value *v)
{
    struct rco_value *copy = rco_arena_memdup(&s->arena, v, sizeof *v);
    struct rco_value **tail = &copy->first;

    *tail = NULL;
    copy->len = v->type == RCO_VALUE_OBJECT || v->type == RCO_VALUE_ARRAY ? 0 : v->len;
    for (const struct rco_value *x = v->first; x; x = x->next) {
        if ((x->key && is_masked(x->key)) || is_counted(sim_tree_str(x, "name")) ||
            (x->type == RCO_VALUE_STRING && is_counted(x->text)))
            continue;
        *tail = (struct rco_value *)masked(s, x);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
        copy->len++;
    }
    return copy;
}

static void dump_object(struct sim *s, const struct sim_version *v, struct rco_buf *out)
{
    const struct rco_value *t = v->tree;

    if (is_counted(v->name))
        return;
    if (v->kind == RCO_KIND_SECRET)
        t = sim_tree_set(&s->arena, t, "data", NULL);
    rco_buf_addf(out, "%s %s/%s ", rco_kind_info(v->kind)->kind, v->ns, v->name);
    rco_value_canonical(masked(s, t), out);
    rco_buf_addc(out, '\n');
}

/* How often each object of KIND was made and removed. */
static void dump_counts(struct sim *s, enum rco_kind kind, struct rco_buf *out)
{
    const struct sim_kind *k = &s->kinds[kind];

    for (size_t i = 0; i < k->n_history; i++) {
        const struct sim_change *c = &k->history[i];
        size_t made = 0, removed = 0;

        if (c->before || is_counted(c->now->name))
            continue;
        for (size_t j = 0; j < k->n_history; j++) {
            const struct sim_version *v =
                k->history[j].now ? k->history[j].now : k->history[j].before;

            if (strcmp(v->name, c->now->name) != 0 || strcmp(v->ns, c->now->ns) != 0)
                continue;
            made += !k->history[j].before;
            removed += !k->history[j].now;
            if (j < i && !k->history[j].before)
                made = 1000; /* told already */
        }
        if (made < 1000)
            rco_buf_addf(out, "count %s %s/%s made %zu removed %zu\n", rco_kind_info(kind)->kind,
                         c->now->ns, c->now->name, made, removed);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_lines(struct rco_buf *text)
{
    size_t n = 0, at = 0;
    rco_autobuf sorted = RCO_BUF_INIT;
    const char **lines;

    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n';
    lines = rco_calloc(n + 1, sizeof *lines);
    for (char *p = text->data; p && *p && at < n;) {
        lines[at++] = p;
        p = strchr(p, '\n');
        *p++ = '\0';
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++)
        rco_buf_addf(&sorted, "%s\n", lines[i]);
    free(lines);
    rco_buf_clear(text);
    rco_buf_add(text, sorted.data, sorted.len);
}

void sim_dump(struct sim *s, struct rco_buf *out)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        if (k == RCO_KIND_EVENT || k == RCO_KIND_NAMESPACE)
            continue;
        for (size_t i = 0; i < s->kinds[k].n_live; i++)
            if (k != RCO_KIND_LEASE || is_claim(s->kinds[k].live[i]))
                dump_object(s, s->kinds[k].live[i], out);
        if (k != RCO_KIND_LEASE)
            dump_counts(s, (enum rco_kind)k, out);
    }
    sim_stacks_write(s, out);
    sort_lines(out);
}
