/* Job controller, kubelet and runner of the test world: each step does one thing that could happen.
 */
#ifndef RCO_TEST_DECIDE_MACHINE_H
#define RCO_TEST_DECIDE_MACHINE_H

#include "world.h"

#define COMMIT_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define COMMIT_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX64(D)                                                                                   \
    D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D  \
        D D D D D D D D D D D D D D D D D

enum pod_stage {
    POD_NEW,
    POD_RUNNING,
    POD_ASKING,
    POD_STARTED,
    POD_REPORTING,
    POD_DELIVERED,
    POD_ENDED
};

struct pod_model {
    const char *name, *uid, *run, *run_uid;
    enum rco_phase phase;
    enum pod_stage stage;
    bool engine_runs; /* an engine is inside Pulumi */
    uint64_t exchange;
};

struct machine {
    struct world w;
    struct pod_model pods[64];
    size_t n_pods;
    uint64_t exchange;
    const char *project;
    int64_t adds;       /* changes that the next plans report */
    bool fail_next;     /* the next receipt is a failure */
    const char *commit; /* of the workspaces: what the run says */
};

static inline void machine_init(struct machine *m)
{
    memset(m, 0, sizeof(*m));
    world_init(&m->w);
    m->project = "web";
    m->adds = 2;
    world_add_json(&m->w, RCO_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"team-a\"}}");
    world_add_json(
        &m->w, RCO_KIND_ENV,
        "{\"metadata\":{\"name\":\"dev\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":"
        "\"shop\",\"class\":\"development\"},\"status\":{\"observedGeneration\":-1}}");
}

static inline void machine_add_spec(struct machine *m, const char *name)
{
    world_add_json(
        &m->w, RCO_KIND_DEPSPEC,
        rco_arena_printf(
            &m->w.a,
            "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":"
            "\"shop\",\"environmentId\":\"dev\",\"kind\":\"Workload\",\"programRef\":"
            "\"https://git.example.com/shop/infra.git//web\",\"programVersion\":\"%s\"},"
            "\"status\":{\"observedGeneration\":-1}}",
            name, COMMIT_A));
}

static inline struct world_object *machine_spec(struct machine *m, const char *name)
{
    return world_find(&m->w, RCO_KIND_DEPSPEC, "team-a", name);
}

/* Job controller: a pod for each Job that has none. */
static inline bool machine_make_pods(struct machine *m)
{
    struct world *w = &m->w;
    for (size_t i = 0; i < w->n_objects; i++) {
        struct world_object *job = &w->objects[i];
        if (job->gone || job->kind != RCO_KIND_JOB ||
            tree_get(job->tree, "metadata.deletionTimestamp"))
            continue;
        const char *uid = tree_string(job->tree, "metadata.uid");
        bool has = false;
        for (size_t k = 0; k < m->n_pods && !has; k++)
            has = rco_str_has_prefix(m->pods[k].name, world_name(job));
        if (has)
            continue;
        struct rco_value *pod = tree_parse(
            &w->a, rco_arena_printf(
                       &w->a,
                       "{\"metadata\":{\"name\":\"%s-x1\",\"ownerReferences\":[{\"apiVersion\":"
                       "\"batch/v1\",\"kind\":\"Job\",\"name\":\"%s\",\"uid\":\"%s\","
                       "\"controller\":true}]},\"spec\":{\"serviceAccountName\":\"default\"},"
                       "\"status\":{\"phase\":\"Pending\"}}",
                       world_name(job), world_name(job), uid));
        tree_put(&w->a, (struct rco_value *)rco_value_get(pod, "metadata"), "labels",
                 tree_copy(&w->a, tree_get(job->tree, "spec.template.metadata.labels")));
        tree_put(&w->a, (struct rco_value *)rco_value_get(pod, "metadata"), "finalizers",
                 tree_copy(&w->a, tree_get(job->tree, "spec.template.metadata.finalizers")));
        struct world_object *o = world_add(w, RCO_KIND_POD, pod);
        assert_true(m->n_pods < RCO_ARRAY_LEN(m->pods));
        m->pods[m->n_pods++] =
            (struct pod_model){.name = world_name(o),
                               .uid = tree_string(o->tree, "metadata.uid"),
                               .run = world_label(o, RCO_LABEL_RUN),
                               .run_uid = world_label(o, RCO_LABEL_RUN_UID),
                               .phase = rco_phase_parse(world_label(o, RCO_LABEL_PHASE))};
        return true;
    }
    return false;
}

static inline struct world_object *machine_pod(struct machine *m, const struct pod_model *p)
{
    return world_find(&m->w, RCO_KIND_POD, "team-a", p->name);
}

static inline const char *machine_status(struct machine *m, const char *engine, const char *report,
                                         const char *phase)
{
    return rco_arena_printf(
        &m->w.a,
        "{\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"%s\",\"initContainerStatuses\":[{"
        "\"name\":"
        "\"report\",\"imageID\":\"docker.io/library/runner@sha256:" HEX64(
            "c") "\",\"state\":{%s}}],"
                 "\"containerStatuses\":[{\"name\":\"engine\",\"imageID\":\"docker.io/library/"
                 "runner@sha256:" HEX64("c") "\",\"state\":{%s}}]}}",
        phase, report, engine);
}

#define RUNNING "\"running\":{\"startedAt\":\"2026-11-30T07:00:00Z\"}"
#define TERMINATED(CODE) "\"terminated\":{\"exitCode\":" CODE ",\"reason\":\"Completed\"}"

static inline void machine_ask(struct machine *m, struct pod_model *p)
{
    struct world *w = &m->w;
    const struct rco_run *run = world_get(w, RCO_KIND_RUN, "team-a", p->run);
    struct rco_runner_start *s = RCO_NEW(&w->a, struct rco_runner_start);
    *s = (struct rco_runner_start){.protocol = 1,
                                   .has_protocol = true,
                                   .run_uid = p->run_uid,
                                   .project = m->project,
                                   .commit = run ? run->spec.snapshot.program.commit : COMMIT_A,
                                   .workspace_digest = HEX64("d"),
                                   .runner_version = "0.1.0"};
    size_t at = w->n_starts++ % RCO_ARRAY_LEN(w->starts);
    if (w->n_starts > RCO_ARRAY_LEN(w->starts))
        w->n_starts = RCO_ARRAY_LEN(w->starts);
    p->exchange = ++m->exchange;
    w->starts[at].run = p->run;
    w->starts[at].live = true;
    w->starts[at].start = (struct rco_mailbox_start){.exchange = p->exchange,
                                                     .phase = p->phase,
                                                     .pod_name = p->name,
                                                     .pod_uid = p->uid,
                                                     .request = s};
}

static inline struct rco_runner_receipt *machine_receipt(struct machine *m,
                                                         const struct pod_model *p, bool failed)
{
    struct world *w = &m->w;
    const struct rco_run *run = world_get(w, RCO_KIND_RUN, "team-a", p->run);
    struct rco_runner_receipt *r = RCO_NEW(&w->a, struct rco_runner_receipt);
    struct rco_runner_artifact *artifacts = rco_arena_array(&w->a, 2, sizeof(*artifacts));
    artifacts[0] = (struct rco_runner_artifact){
        .kind = RCO_ARTIFACT_KIND_LOG, .digest = HEX64("1"), .size = 100, .has_size = true};
    artifacts[1] = (struct rco_runner_artifact){
        .kind = p->phase == RCO_PHASE_PLAN ? RCO_ARTIFACT_KIND_PLAN : RCO_ARTIFACT_KIND_STATE,
        .digest = HEX64("e"),
        .size = 1000,
        .has_size = true};
    *r = (struct rco_runner_receipt){
        .protocol = 1,
        .has_protocol = true,
        .run_uid = p->run_uid,
        .phase = p->phase == RCO_PHASE_PLAN ? RCO_ENGINE_PHASE_PLAN : RCO_ENGINE_PHASE_APPLY,
        .result = failed ? RCO_APPLY_RESULT_FAILED : RCO_APPLY_RESULT_SUCCEEDED,
        .program_version = run ? run->spec.snapshot.program.commit : COMMIT_A,
        .project = m->project,
        .stack = run ? run->spec.snapshot.stack_name : "",
        .inputs_hash = HEX64("2"),
        .workspace_digest = HEX64("d"),
        .plan_file_digest = HEX64("e"),
        .base_state_digest = HEX64("3"),
        .operations_digest = HEX64("4"),
        .state_digest = HEX64("5"),
        .engine_version = "3.274.1",
        .runner_version = "0.1.0",
        .adds = m->adds,
        .has_adds = true,
        .has_changes = true,
        .has_deletes = true,
        .has_replaces = true,
        .sames = 1,
        .has_sames = true,
        .has_outputs_changed = true,
        .has_pending_operations = true,
        .has_may_have_changed = true,
        .started_at = w->now,
        .finished_at = w->now,
        .artifacts = artifacts,
        .n_artifacts = failed ? 1 : 2};
    if (m->adds) {
        r->types = rco_arena_array(&w->a, 1, sizeof(*r->types));
        r->types[0] = (struct rco_plan_type){
            .type = "kubernetes:apps/v1:Deployment", .adds = m->adds, .has_adds = true};
        r->n_types = 1;
        r->resources = rco_arena_array(&w->a, 1, sizeof(*r->resources));
        r->resources[0] = (struct rco_plan_resource){"urn:pulumi:dev::web::d::web", "create"};
        r->n_resources = 1;
    }
    if (failed) {
        r->failure = (struct rco_run_failure){.class = RCO_FAILURE_CLASS_RESOURCE,
                                              .message = "Deployment web: forbidden"};
        r->has_failure = true;
    }
    return r;
}

static inline void machine_report(struct machine *m, struct pod_model *p, bool failed)
{
    struct world *w = &m->w;
    size_t at = w->n_receipts++ % RCO_ARRAY_LEN(w->receipts);
    if (w->n_receipts > RCO_ARRAY_LEN(w->receipts))
        w->n_receipts = RCO_ARRAY_LEN(w->receipts);
    p->exchange = ++m->exchange;
    w->receipts[at].run = p->run;
    w->receipts[at].live = true;
    w->receipts[at].receipt =
        (struct rco_mailbox_receipt){.exchange = p->exchange,
                                     .phase = p->phase,
                                     .pod_name = p->name,
                                     .pod_uid = p->uid,
                                     .receipt = machine_receipt(m, p, failed)};
}

/* Status of the reply to the pod's exchange; 0: none yet. */
static inline int machine_reply(const struct machine *m, const struct pod_model *p)
{
    for (size_t i = 0; i < m->w.n_replies; i++)
        if (m->w.replies[i].exchange == p->exchange)
            return m->w.replies[i].status;
    return 0;
}

static inline void machine_set(struct machine *m, struct pod_model *p, enum pod_stage stage,
                               const char *status)
{
    struct world_object *o = machine_pod(m, p);
    p->stage = stage;
    if (o && status)
        world_change(&m->w, o, status);
}

static inline void machine_end(struct machine *m, struct pod_model *p, bool ok)
{
    p->engine_runs = false;
    machine_set(m, p, POD_ENDED,
                ok ? machine_status(m, TERMINATED("0"), TERMINATED("0"), "Succeeded")
                   : machine_status(m, TERMINATED("137"), TERMINATED("143"), "Failed"));
}

/* One step of one pod; false: it waits for an answer or is over. */
static inline bool machine_step_pod(struct machine *m, struct pod_model *p)
{
    struct world_object *o = machine_pod(m, p);
    if (!o || p->stage == POD_ENDED)
        return false;
    if (tree_get(o->tree, "metadata.deletionTimestamp") && p->stage != POD_DELIVERED) {
        machine_end(m, p, false);
        return true;
    }
    switch (p->stage) {
    case POD_NEW:
        machine_set(m, p, POD_RUNNING, machine_status(m, RUNNING, RUNNING, "Running"));
        return true;
    case POD_RUNNING:
        machine_ask(m, p);
        p->stage = POD_ASKING;
        return true;
    case POD_ASKING:
        switch (machine_reply(m, p)) {
        case 0:
            return false;
        case 200:
            p->engine_runs = true;
            p->stage = POD_STARTED;
            return true;
        case 503:
            p->stage = POD_RUNNING;
            return true;
        default:
            machine_end(m, p, false);
            return true;
        }
    case POD_STARTED:
        machine_report(m, p, m->fail_next);
        m->fail_next = false;
        p->stage = POD_REPORTING;
        return true;
    case POD_REPORTING:
        switch (machine_reply(m, p)) {
        case 0:
            return false;
        case 503:
            p->stage = POD_STARTED;
            return true;
        default:
            p->engine_runs = false;
            p->stage = POD_DELIVERED;
            return true;
        }
    case POD_DELIVERED:
        machine_end(m, p, true);
        return true;
    case POD_ENDED:
        return false;
    }
    return false;
}

/* Lets everything happen until nothing does any more. */
static inline void machine_run(struct machine *m)
{
    for (unsigned i = 0; i < 300; i++) {
        world_settle(&m->w);
        bool any = machine_make_pods(m);
        for (size_t k = 0; k < m->n_pods; k++)
            any |= machine_step_pod(m, &m->pods[k]);
        if (!any)
            return;
        m->w.now += RCO_US_PER_S;
    }
    fail_msg("the machine does not come to rest");
}

static inline const struct rco_run *machine_newest_run(struct machine *m)
{
    const struct rco_run *run = NULL;
    for (size_t i = 0; i < m->w.n_objects; i++)
        if (!m->w.objects[i].gone && m->w.objects[i].kind == RCO_KIND_RUN)
            run = world_decode(&m->w, &m->w.objects[i]);
    return run;
}

#endif
