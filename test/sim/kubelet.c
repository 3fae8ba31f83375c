#include "kubelet.h"

#include "api/labels.h"
#include "json/writer.h"

#include <string.h>

#define TRACKING "batch.kubernetes.io/job-tracking"
#define IMAGE_ID                                                                                   \
    "registry.example.com/runner@sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccc"  \
    "cccccccc"
#define RETRY (5 * SIM_S)

/* --- status --- */

static void write_container(struct rco_json_writer *w, const struct sim_pod *p,
                            enum sim_container which)
{
    static const char *const names[] = {RCO_CONTAINER_FETCH, RCO_CONTAINER_INSTALL,
                                        RCO_CONTAINER_REPORT, RCO_CONTAINER_ENGINE};
    const struct sim_container_state *c = &p->containers[which];

    rco_json_begin_object(w);
    rco_json_kv_string(w, "name", names[which]);
    if (c->is != SIM_WAITING) {
        rco_json_kv_string(w, "imageID", IMAGE_ID);
        rco_json_kv_string(w, "containerID", "containerd://1");
    }
    rco_json_kv_object(w, "state");
    if (c->is == SIM_WAITING) {
        rco_json_kv_object(w, "waiting");
        rco_json_kv_string(w, "reason", "PodInitializing");
    } else if (c->is == SIM_RUNNING) {
        rco_json_kv_object(w, "running");
        rco_json_kv_string(w, "startedAt", "2026-01-01T00:00:00Z");
    } else {
        rco_json_kv_object(w, "terminated");
        rco_json_kv_int(w, "exitCode", c->exit_code);
        rco_json_kv_string(w, "reason", c->exit_code ? "Error" : "Completed");
        rco_json_kv_string_opt(w, "message", c->message);
    }
    rco_json_end_object(w);
    rco_json_end_object(w);
    rco_json_end_object(w);
}

static void write_status(const struct sim_pod *p, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "status");
    rco_json_kv_string(&w, "phase", p->phase);
    rco_json_kv_array(&w, "initContainerStatuses");
    for (int c = SIM_FETCH; c <= SIM_REPORT; c++)
        write_container(&w, p, (enum sim_container)c);
    rco_json_end_array(&w);
    rco_json_kv_array(&w, "containerStatuses");
    write_container(&w, p, SIM_ENGINE);
    rco_json_end_array(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

void sim_pod_report(struct sim_pod *p)
{
    struct sim *s = p->sim;
    rco_autobuf text = RCO_BUF_INIT;

    if (p->cut_off || p->gone)
        return;
    write_status(p, &text);
    sim_patch(s, SIM_CLUSTER, RCO_KIND_POD, p->ns, p->name, true,
              sim_tree_parse(&s->arena, text.data, text.len));
}

/* --- end of a pod --- */

/* The kubelet's last delete of a pod that was asked to go: its grace is over. */
static void on_delete_now(void *ctx)
{
    struct sim_pod *p = ctx;
    const struct sim_version *v = sim_get(p->sim, RCO_KIND_POD, p->ns, p->name);

    if (v && rco_streq(v->uid, p->uid) && sim_tree_get(v->tree, "metadata|deletionTimestamp"))
        sim_remove(p->sim, SIM_CLUSTER, RCO_KIND_POD, p->ns, p->name,
                   &(struct sim_delete){.uid = p->uid, .now = true});
}

void sim_pod_end(struct sim_pod *p, int exit_code, const char *message)
{
    if (p->stage == SIM_POD_ENDED)
        return;
    p->round++;
    sim_engine_kill(p);
    for (int c = 0; c < SIM_CONTAINERS; c++) {
        if (p->containers[c].is != SIM_RUNNING)
            continue;
        p->containers[c].is = SIM_TERMINATED;
        p->containers[c].exit_code = exit_code;
        if (c != SIM_REPORT && !p->containers[c].message)
            p->containers[c].message = message;
    }
    p->stage = SIM_POD_ENDED;
    p->phase = exit_code ? "Failed" : "Succeeded";
    sim_pod_report(p);
    sim_after(p->sim, 200 * SIM_MS, on_delete_now, p);
}

/* --- faults of nodes and pods --- */

static void terminate(struct sim_pod *p, const struct sim_version *v);

static void on_node_back(void *ctx)
{
    struct sim_pod *p = ctx;
    const struct sim_version *v;

    sim_trace(p->sim, "the node of pod %s is back", p->name);
    p->cut_off = false;
    if (p->stage == SIM_POD_ENDED)
        p->phase = p->containers[SIM_ENGINE].exit_code ? "Failed" : "Succeeded";
    sim_pod_report(p);
    v = sim_get(p->sim, RCO_KIND_POD, p->ns, p->name);
    if (p->stage == SIM_POD_ENDED)
        on_delete_now(p);
    else if (!p->gone && v && sim_tree_get(v->tree, "metadata|deletionTimestamp"))
        terminate(p, v);
}

/* What the control plane does about a node that is silent: the phase says Failed while the
 * containers go on, and nobody knows. */
static void on_node_unreachable(void *ctx)
{
    struct sim_pod *p = ctx;

    if (p->cut_off && !p->gone)
        sim_patch(p->sim, SIM_CLUSTER, RCO_KIND_POD, p->ns, p->name, true,
                  sim_tree_f(&p->sim->arena, "{\"status\":{\"phase\":\"Failed\",\"reason\":"
                                             "\"NodeLost\",\"message\":\"the node is silent\"}}"));
}

bool sim_pod_struck(struct sim_pod *p)
{
    struct sim *s = p->sim;
    const struct sim_fault *f = sim_fault_of_pod(s, (int)p->stage);

    if (!f)
        return false;
    if (f->type == SIM_KILL_RUNNER) {
        sim_trace(s, "pod %s is killed", p->name);
        sim_pod_end(p, 137, NULL);
        return true;
    }
    if (f->type == SIM_DELETE_JOB) {
        const struct sim_version *v = sim_get(s, RCO_KIND_POD, p->ns, p->name);
        const struct rco_value *owners =
            v ? sim_tree_get(v->tree, "metadata|ownerReferences") : NULL;

        if (owners)
            sim_remove(s, SIM_USER, RCO_KIND_JOB, p->ns, sim_tree_str(owners->first, "name"),
                       &(struct sim_delete){0});
        return false;
    }
    sim_trace(s, "the node of pod %s is cut off for %lld s", p->name,
              (long long)(f->length / SIM_S));
    p->cut_off = true;
    s->fault.node_until = s->now + f->length;
    sim_after(s, 40 * SIM_S, on_node_unreachable, p);
    sim_after(s, f->length, on_node_back, p);
    return false;
}

/* --- life of a pod --- */

static void on_stage(void *ctx);

static void next_stage(struct sim_pod *p, enum sim_stage stage, int64_t after)
{
    p->stage = stage;
    sim_after(p->sim, after, on_stage, p);
}

static int64_t step_time(struct sim_pod *p)
{
    return sim_between(p->sim, 200 * SIM_MS, 2 * SIM_S);
}

static void bind(struct sim_pod *p)
{
    sim_patch(p->sim, SIM_CLUSTER, RCO_KIND_POD, p->ns, p->name, false,
              sim_tree_f(&p->sim->arena, "{\"spec\":{\"nodeName\":\"node-1\"}}"));
    p->bound = true;
}

static void on_stage(void *ctx)
{
    struct sim_pod *p = ctx;

    if (p->gone || p->stage == SIM_POD_ENDED)
        return;
    switch (p->stage) {
    case SIM_POD_NEW:
        bind(p);
        next_stage(p, SIM_POD_FETCH, step_time(p));
        break;
    case SIM_POD_FETCH:
        p->containers[SIM_FETCH].is = SIM_RUNNING;
        if (sim_pod_struck(p))
            return;
        next_stage(p, SIM_POD_INSTALL, step_time(p));
        break;
    case SIM_POD_INSTALL:
        p->containers[SIM_FETCH].is = SIM_TERMINATED;
        p->containers[SIM_INSTALL].is = SIM_RUNNING;
        if (sim_pod_struck(p))
            return;
        sim_pod_report(p);
        next_stage(p, SIM_POD_ASKING, step_time(p));
        break;
    case SIM_POD_ASKING:
        p->containers[SIM_INSTALL].is = SIM_TERMINATED;
        p->containers[SIM_REPORT].is = p->containers[SIM_ENGINE].is = SIM_RUNNING;
        p->phase = "Running";
        if (sim_pod_struck(p))
            return;
        sim_pod_report(p);
        sim_runner_start(p);
        break;
    default:
        break;
    }
}

/* --- grace --- */

static void on_grace_over(void *ctx)
{
    struct sim_pod *p = ctx;

    if (!p->cut_off)
        sim_pod_end(p, 137, NULL);
}

static void terminate(struct sim_pod *p, const struct sim_version *v)
{
    if (p->term || p->cut_off)
        return;
    p->term = true;
    if (!p->bound) {
        p->stage = SIM_POD_ENDED; /* nothing ever ran */
        return;
    }
    if (p->stage == SIM_POD_ENDED) {
        sim_after(p->sim, 100 * SIM_MS, on_delete_now, p);
        return;
    }
    if (p->stage < SIM_POD_ASKING)
        sim_pod_end(p, 143, NULL);
    else
        sim_runner_term(p);
    sim_after(p->sim,
              sim_tree_int(v->tree, "metadata|deletionGracePeriodSeconds", 30) * SIM_S + SIM_S,
              on_grace_over, p);
}

/* --- the Job controller --- */

static const char *condition(struct sim *s, const char *type, const char *reason,
                             const char *message);

struct job_task {
    struct sim *sim;
    const char *ns, *name, *uid;
};

static const struct rco_runner_job *job_text(struct sim *s, const struct rco_value *template)
{
    const struct rco_value *list = sim_tree_get(template, "spec|containers");
    const struct rco_value *env = list ? sim_tree_get(list->first, "env") : NULL;
    struct rco_runner_job *job = RCO_NEW(&s->arena, struct rco_runner_job);
    struct rco_error err = RCO_ERROR_INIT;

    for (const struct rco_value *e = env ? env->first : NULL; e; e = e->next) {
        const char *text = sim_tree_str(e, "value");

        if (!rco_streq(sim_tree_str(e, "name"), "RCO_JOB"))
            continue;
        if (rco_codec_decode(&rco_runner_job_schema, text, strlen(text), &s->arena, job, &err) == 0)
            return job;
        sim_violation(s, "runner-job", "RCO_JOB cannot be read: %s", err.msg);
    }
    return NULL;
}

static void adopt_pod(struct sim *s, const struct sim_version *v, const struct sim_version *job,
                      const struct rco_value *template)
{
    struct sim_pod *p = RCO_NEW(&s->arena, struct sim_pod);

    p->sim = s;
    p->ns = v->ns;
    p->name = v->name;
    p->uid = v->uid;
    p->owner = job->name;
    p->owner_uid = job->uid;
    p->token = rco_arena_printf(&s->arena, "h.%s.%s", SIM_CANARY, v->uid);
    p->phase = "Pending";
    p->job = job_text(s, template);
    p->planted = !sim_tree_get(template, "metadata|finalizers"); /* ours always have one */
    p->next = s->pods;
    s->pods = p;
    if (p->job)
        next_stage(p, SIM_POD_NEW, step_time(p));
}

static void on_job(void *ctx)
{
    struct job_task *t = ctx;
    struct sim *s = t->sim;
    struct rco_arena *a = &s->arena;
    const struct sim_version *job = sim_get(s, RCO_KIND_JOB, t->ns, t->name);
    const struct rco_value *template, *pod;
    struct sim_answer made;

    if (!job || !rco_streq(job->uid, t->uid) ||
        sim_tree_get(job->tree, "metadata|deletionTimestamp"))
        return;
    if (rco_value_bool(sim_tree_get(job->tree, "spec"), "suspend")) {
        sim_patch(s, SIM_CLUSTER, RCO_KIND_JOB, t->ns, t->name, true,
                  sim_tree_f(a, "{\"status\":{\"conditions\":[%s]}}",
                             condition(s, "Suspended", "JobSuspended", "Job suspended")));
        return;
    }
    template = sim_tree_get(job->tree, "spec|template");
    pod = sim_tree_f(a,
                     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s-%.5s\","
                     "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":"
                     "\"%s\",\"uid\":\"%s\",\"controller\":true,\"blockOwnerDeletion\":true}]}}",
                     t->name, t->uid, t->name, t->uid);
    pod = sim_tree_merge(a, pod, sim_tree_set(a, template, "metadata|creationTimestamp", NULL));
    pod = sim_tree_append(a, pod, "metadata|finalizers", TRACKING);
    made = sim_create(s, SIM_CLUSTER, RCO_KIND_POD, t->ns, pod);
    if (made.code != 201) {
        if (made.code != 409)
            sim_after(s, RETRY, on_job, t);
        return;
    }
    adopt_pod(s, made.v, job, template);
    sim_patch(s, SIM_CLUSTER, RCO_KIND_JOB, t->ns, t->name, true,
              sim_tree_f(a,
                         "{\"status\":{\"active\":1,\"ready\":0,\"terminating\":0,"
                         "\"startTime\":\"%s\"}}",
                         sim_time(s)));
}

/* Job controllers before Kubernetes 1.31 said Failed as soon as a pod was told to go, later ones
 * say FailureTarget and wait for its end: every fourth seed is an old cluster. */
static bool is_old_cluster(const struct sim *s)
{
    return s->plan->seed % 4 == 3;
}

static bool is_finished(const struct sim_version *job)
{
    const struct rco_value *list = sim_tree_get(job->tree, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next)
        if (rco_streq(sim_tree_str(c, "type"), "Failed") ||
            rco_streq(sim_tree_str(c, "type"), "Complete"))
            return true;
    return false;
}

static const char *condition(struct sim *s, const char *type, const char *reason,
                             const char *message)
{
    return rco_arena_printf(&s->arena,
                            "{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"%s\",\"message\":"
                            "\"%s\",\"lastProbeTime\":\"%s\",\"lastTransitionTime\":\"%s\"}",
                            type, reason, message, sim_time(s), sim_time(s));
}

/* The state of a Job after its pod was told to go, and after it has ended (OVER). */
static const struct rco_value *job_status(struct sim *s, bool good, bool over)
{
    const char *failed = "Job has reached the specified backoff limit";
    const char *done = "Reached expected number of succeeded pods";

    if (good)
        return sim_tree_f(&s->arena,
                          "{\"status\":{\"active\":null,\"ready\":0,\"terminating\":0,"
                          "\"succeeded\":1,\"completionTime\":\"%s\",\"conditions\":[%s,%s]}}",
                          sim_time(s),
                          condition(s, "SuccessCriteriaMet", "CompletionsReached", done),
                          condition(s, "Complete", "CompletionsReached", done));
    return sim_tree_f(
        &s->arena,
        "{\"status\":{\"active\":null,\"ready\":0,\"terminating\":%d,\"failed\":1,\"conditions\":"
        "[%s%s%s]}}",
        !over, condition(s, "FailureTarget", "BackoffLimitExceeded", failed), over ? "," : "",
        over ? condition(s, "Failed", "BackoffLimitExceeded", failed) : "");
}

/* The controller needs the pod no more. */
static void let_go(struct sim *s, const struct sim_version *pod)
{
    const struct rco_value *list;

    if (!sim_tree_has(pod->tree, "metadata|finalizers", TRACKING))
        return;
    list = sim_tree_get(sim_tree_drop(&s->arena, pod->tree, "metadata|finalizers", TRACKING),
                        "metadata|finalizers");
    sim_patch(s, SIM_CLUSTER, RCO_KIND_POD, pod->ns, pod->name, false,
              sim_tree_set(&s->arena, NULL, "metadata|finalizers",
                           list ? list : sim_tree_f(&s->arena, "null")));
}

static void on_pod_counts(void *ctx)
{
    struct sim_pod *p = ctx;
    struct sim *s = p->sim;
    const struct sim_version *pod = p->gone ? NULL : sim_get(s, RCO_KIND_POD, p->ns, p->name);
    const struct sim_version *job = sim_get(s, RCO_KIND_JOB, p->ns, p->owner);
    const char *phase = pod ? sim_tree_str(pod->tree, "status|phase") : NULL;
    bool good = rco_streq(phase, "Succeeded"), over = !pod || good || rco_streq(phase, "Failed");

    if (!over && !sim_tree_get(pod->tree, "metadata|deletionTimestamp"))
        return;
    if (job && rco_streq(job->uid, p->owner_uid) && !is_finished(job))
        sim_patch(s, SIM_CLUSTER, RCO_KIND_JOB, p->ns, p->owner, true,
                  job_status(s, good, over || is_old_cluster(s)));
    if (pod)
        let_go(s, pod);
}

static struct sim_pod *find_pod(struct sim *s, const char *uid)
{
    for (struct sim_pod *p = s->pods; p; p = p->next)
        if (rco_streq(p->uid, uid))
            return p;
    return NULL;
}

static void pod_changed(struct sim *s, const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;
    struct sim_pod *p = find_pod(s, v->uid);

    if (!p)
        return;
    if (!c->now)
        p->gone = true;
    else if (sim_tree_get(v->tree, "metadata|deletionTimestamp"))
        terminate(p, v);
    sim_after(s, sim_between(s, 50 * SIM_MS, 500 * SIM_MS), on_pod_counts, p);
}

static bool is_resumed(const struct sim_change *c)
{
    return rco_value_bool(sim_tree_get(c->before->tree, "spec"), "suspend") &&
           !rco_value_bool(sim_tree_get(c->now->tree, "spec"), "suspend");
}

void sim_kubelet_changed(struct sim *s, const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;

    if (v->kind == RCO_KIND_POD)
        pod_changed(s, c);
    if (v->kind == RCO_KIND_JOB && c->now && (!c->before || is_resumed(c))) {
        struct job_task *t = RCO_NEW(&s->arena, struct job_task);

        *t = (struct job_task){.sim = s, .ns = v->ns, .name = v->name, .uid = v->uid};
        sim_after(s, sim_between(s, 20 * SIM_MS, 400 * SIM_MS), on_job, t);
    }
}

const struct sim_version *sim_pod_of_token(struct sim *s, const char *token)
{
    for (struct sim_pod *p = s->pods; p && token; p = p->next) {
        const struct sim_version *v;

        if (strcmp(p->token, token) != 0)
            continue;
        v = sim_get(s, RCO_KIND_POD, p->ns, p->name);
        return v && rco_streq(v->uid, p->uid) ? v : NULL;
    }
    return NULL;
}
