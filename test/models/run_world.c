#include "../unit/decide/world_objects.h"
#include "decide/table.h"

#include "run_world.h"

#define UID "7c2e9a41-5b0d-4000-8000-000000000001"
#define RUN_NAME "web-5b1d0-v1-b1"
#define PLANS_MAX 65536

/* What every view is made of. */
struct pieces {
    struct world w;
    const struct rco_run *run;
    const struct rco_depspec *spec;
    const struct rco_env *env;
    const struct rco_configmap *anchor;
    const struct rco_job *jobs[2];
    const struct rco_pod *pods[2];
    const struct rco_lease *claim;
    const struct rco_runner_start *start;
    const struct rco_runner_receipt *receipts[2];
};

static struct pieces pieces;
static struct run_plan plans[PLANS_MAX];
static int n_plans;
static unsigned slots[2 * PLANS_MAX]; /* of plans, by the hash of the view */

static void load(struct world *w, const char *base)
{
    char path[256];
    const struct rco_value *objects;
    const char *extends;
    struct rco_value *file;

    snprintf(path, sizeof(path), "test/cases/base/%s.yaml", base);
    file = tree_load(&w->a, path);
    extends = tree_string(file, "extends");
    if (extends)
        load(w, extends);
    objects = tree_get(file, "objects");
    for (const struct rco_value *o = objects ? objects->first : NULL; o; o = o->next) {
        struct rco_value *tree = tree_copy(&w->a, o);
        enum rco_kind kind = world_kind(tree_string(o, "kind"));
        const char *ns = rco_kind_info(kind)->namespaced ? "team-a" : "";
        struct world_object *old;

        if (tree_string(o, "metadata.namespace"))
            ns = tree_string(o, "metadata.namespace");
        old = world_find(w, kind, ns, tree_string(o, "metadata.name"));
        if (old)
            tree_merge(&w->a, old->tree, tree);
        else
            world_add(w, kind, tree);
    }
}

static const void *decoded(struct world *w, enum rco_kind kind, const char *ns, const char *name)
{
    struct world_object *o = world_find(w, kind, ns, name);

    if (!o)
        fail_msg("no %s in the cases", name);
    return world_decode_whole(w, o);
}

static const void *message(struct world *w, const char *file, const struct rco_schema *schema)
{
    struct rco_error err = RCO_ERROR_INIT;
    char path[256];
    char *text;
    void *obj = rco_arena_alloc(&w->a, schema->size);

    snprintf(path, sizeof(path), "test/cases/base/%s.yaml", file);
    text = tree_text(&w->a, tree_load(&w->a, path));
    if (rco_codec_decode(schema, text, strlen(text), &w->a, obj, &err) != 0)
        fail_msg("%s: %s", path, err.msg);
    return obj;
}

static void load_pieces(struct pieces *p)
{
    struct world *w = &p->w;

    world_init(w);
    load(w, "planned");
    p->run = decoded(w, RCO_KIND_RUN, "team-a", RUN_NAME);
    p->spec = decoded(w, RCO_KIND_DEPSPEC, "team-a", "web");
    p->env = decoded(w, RCO_KIND_ENV, "team-a", "dev");
    p->anchor = decoded(w, RCO_KIND_CONFIGMAP, "team-a", "rco-7c2e9a415b0d");
    p->jobs[0] = decoded(w, RCO_KIND_JOB, "team-a", "rco-7c2e9a415b0d-p");
    p->pods[0] = decoded(w, RCO_KIND_POD, "team-a", "rco-7c2e9a415b0d-p-x7k2p");
    p->claim = decoded(w, RCO_KIND_LEASE, WORLD_OPERATOR_NS,
                       "rco-claim-15b6e3f734d4e0d73346ab5250ae19604462fc83");
    load(w, "applying");
    p->jobs[1] = decoded(w, RCO_KIND_JOB, "team-a", "rco-7c2e9a415b0d-a");
    p->pods[1] = decoded(w, RCO_KIND_POD, "team-a", "rco-7c2e9a415b0d-a-q4m9z");
    p->start = message(w, "start", &rco_runner_start_schema);
    p->receipts[0] = message(w, "receipt-plan", &rco_runner_receipt_schema);
    p->receipts[1] = message(w, "receipt-apply", &rco_runner_receipt_schema);
}

/* ---- the view as objects ---- */

static struct rco_run *make_run(const struct pieces *p, const struct run_view *v,
                                struct rco_arena *a)
{
    struct rco_run *r = RCO_NEW(a, struct rco_run);
    struct rco_run_engine *e = &r->status.engine;

    *r = *p->run;
    r->status.state = (enum rco_run_state)v->state;
    r->status.reason = NULL;
    r->status.has_plan_receipt = v->planned;
    if (!v->planned)
        memset(&r->status.plan_receipt, 0, sizeof(r->status.plan_receipt));
    r->status.has_apply_receipt = v->applied;
    r->status.completed_at = rco_run_state_is_final(r->status.state) ? p->w.now : 0;
    if (r->status.state == RCO_RUN_STATE_UNSET)
        r->status.provisioning_run_id = NULL;
    r->status.has_engine = v->recorded != 0;
    *e = (struct rco_run_engine){.project = v->recorded ? "web" : NULL};
    if (v->recorded) {
        unsigned i = v->recorded - 1;

        e->phase = i ? RCO_ENGINE_PHASE_APPLY : RCO_ENGINE_PHASE_PLAN;
        e->job_name = p->jobs[i]->metadata.name;
        e->job_uid = p->jobs[i]->metadata.uid;
        e->pod_name = v->engine ? p->pods[i]->metadata.name : NULL;
        e->pod_uid = v->engine ? p->pods[i]->metadata.uid : NULL;
        e->started_at = v->engine ? p->w.now : 0;
    }
    r->spec.has_cancel = v->cancel;
    r->spec.cancel.by = v->cancel ? "ann" : NULL;
    if (v->production)
        r->spec.environment_class = RCO_ENV_CLASS_PRODUCTION;
    return r;
}

static struct rco_pod *make_pod(const struct rco_pod *base, bool ended, struct rco_arena *a)
{
    struct rco_pod *pod = RCO_NEW(a, struct rco_pod);
    struct rco_container_status *all;

    *pod = *base;
    if (!ended)
        return pod;
    pod->status.phase = RCO_POD_PHASE_FAILED;
    all = rco_arena_array(a, base->status.n_container_statuses, sizeof(*all));
    memcpy(all, base->status.container_statuses, base->status.n_container_statuses * sizeof(*all));
    all[0].state.has_running = false;
    all[0].state.has_terminated = true;
    all[0].state.terminated.exit_code = 137;
    pod->status.container_statuses = all;
    return pod;
}

/* A claim without an engine is one whose annotations of it are gone. */
static struct rco_lease *make_claim(const struct pieces *p, unsigned who, struct rco_arena *a)
{
    struct rco_lease *l = RCO_NEW(a, struct rco_lease);
    struct rco_kv *kv = rco_arena_array(a, p->claim->metadata.n_annotations + 1, sizeof(*kv));
    size_t n = 0;

    *l = *p->claim;
    for (size_t i = 0; i < p->claim->metadata.n_annotations; i++) {
        struct rco_kv x = p->claim->metadata.annotations[i];
        bool of_engine = strstr(x.key, "/engine-") != NULL;

        if (of_engine && who == 0)
            continue;
        if (rco_streq(x.key, RCO_ANNOTATION_CLAIM_ENGINE_POD_UID))
            x.value = who == 3 ? "another" : p->pods[who - 1]->metadata.uid;
        if (rco_streq(x.key, RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID) && who == 3)
            x.value = "another";
        kv[n++] = x;
    }
    l->metadata.annotations = kv;
    l->metadata.n_annotations = n;
    return l;
}

/* ---- the plan as steps ---- */

static void take_status(const struct rco_value *patch, const struct run_view *v, struct run_step *s)
{
    const struct rco_value *status = rco_value_get(patch, "status");
    const char *state = tree_string(status, "state");
    const struct rco_value *engine = rco_value_get(status, "engine");
    const char *phase = engine ? tree_string(engine, "phase") : NULL;
    const struct rco_value *pod = engine ? rco_value_get(engine, "podUid") : NULL;

    *s = (struct run_step){.what = RUN_DO_STATUS,
                           .state = v->state,
                           .recorded = v->recorded,
                           .engine = v->engine,
                           .planned = v->planned,
                           .applied = v->applied};
    if (state)
        s->state = (unsigned char)rco_run_state_parse(state);
    if (phase)
        s->recorded = rco_streq(phase, "apply") ? 2 : 1;
    if (pod)
        s->engine = pod->type == RCO_VALUE_STRING;
    s->planned |= rco_value_get(status, "planReceipt") != NULL;
    s->applied |= rco_value_get(status, "applyReceipt") != NULL;
}

static unsigned char phase_of_name(const char *name)
{
    return strstr(name, "-a") != NULL && strncmp(strrchr(name, '-'), "-a", 2) == 0;
}

static bool take_action(const struct rco_action *x, const struct run_view *v, struct rco_arena *a,
                        struct run_step *s)
{
    *s = (struct run_step){0};
    if (x->type == RCO_ACTION_PATCH_STATUS && x->kind == RCO_KIND_RUN) {
        take_status(tree_parse_n(a, x->body, x->body_len), v, s);
    } else if (x->type == RCO_ACTION_CREATE && x->kind == RCO_KIND_JOB) {
        s->what = RUN_DO_JOB;
        s->phase = phase_of_name(x->name);
    } else if (x->type == RCO_ACTION_DELETE && x->kind == RCO_KIND_JOB) {
        s->what = RUN_DO_JOB_GONE;
        s->phase = phase_of_name(x->name);
    } else if (x->kind == RCO_KIND_LEASE) {
        bool clears = strstr(x->body, "engine-pod-uid\":null") != NULL;

        s->what = clears ? RUN_DO_CLEAR : RUN_DO_TAKE;
        s->phase = clears ? v->claim - 1 : v->start - 1;
    } else if (x->type == RCO_ACTION_PATCH && x->kind == RCO_KIND_POD) {
        s->what = RUN_DO_RELEASE;
        s->phase = strstr(x->name, "-a-") != NULL;
    } else if (x->type == RCO_ACTION_REPLY) {
        s->what = x->mailbox == 1 ? RUN_DO_START_REPLY : RUN_DO_RECEIPT_REPLY;
        s->phase = x->mailbox == 1 ? v->start - 1 : (v->receipt - 1) / 2;
        s->code = (unsigned short)x->http_status;
    }
    return s->what != 0;
}

static void decide(const struct pieces *p, const struct run_view *v, struct run_plan *out)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_job *jobs[2];
    const struct rco_pod *pods[2];
    const struct rco_lease *claim = make_claim(p, v->claim, &a);
    struct rco_mailbox_start start = {.exchange = 1, .request = p->start};
    struct rco_mailbox_receipt receipt = {.exchange = 2};
    struct rco_outcome made = {.type = RCO_OUTCOME_CREATED, .kind = RCO_KIND_JOB};
    struct rco_run_observed o = {.run = make_run(p, v, &a),
                                 .spec = p->spec,
                                 .env = p->env,
                                 .anchor = p->anchor,
                                 .jobs = jobs,
                                 .pods = pods,
                                 .claim = claim,
                                 .claim_holder_exists = true,
                                 .held_claims = &claim,
                                 .n_held_claims = 1,
                                 .engine_claims = &claim,
                                 .n_engine_claims = v->claim == 1 || v->claim == 2,
                                 .outcomes = &made,
                                 .n_outcomes = v->made,
                                 .config = &p->w.config};
    rco_wall now = p->w.now + (v->late ? 24 * 3600 * RCO_US_PER_S : 0);
    struct rco_plan plan;

    for (unsigned i = 0; i < 2; i++) {
        if (v->job[i])
            jobs[o.n_jobs++] = p->jobs[i];
        if (v->pod[i])
            pods[o.n_pods++] = make_pod(p->pods[i], v->pod[i] == 2, &a);
    }
    if (v->start) {
        start.phase = v->start == 2 ? RCO_PHASE_APPLY : RCO_PHASE_PLAN;
        start.pod_name = p->pods[v->start - 1]->metadata.name;
        start.pod_uid = p->pods[v->start - 1]->metadata.uid;
        o.mailbox.starts = &start;
        o.mailbox.n_starts = 1;
    }
    if (v->receipt) {
        unsigned i = (v->receipt - 1) / 2;
        struct rco_runner_receipt *r = RCO_NEW(&a, struct rco_runner_receipt);

        *r = *p->receipts[i];
        if (v->receipt % 2 == 0) {
            r->result = RCO_APPLY_RESULT_FAILED;
            r->has_failure = true;
            r->failure = (struct rco_run_failure){.class = RCO_FAILURE_CLASS_RESOURCE,
                                                  .message = "Deployment web: forbidden"};
        }
        receipt.phase = i ? RCO_PHASE_APPLY : RCO_PHASE_PLAN;
        receipt.pod_name = p->pods[i]->metadata.name;
        receipt.pod_uid = p->pods[i]->metadata.uid;
        receipt.receipt = r;
        o.mailbox.receipts = &receipt;
        o.mailbox.n_receipts = 1;
    }
    made.name = p->jobs[v->state == RCO_RUN_STATE_APPLYING]->metadata.name;
    made.uid = p->jobs[v->state == RCO_RUN_STATE_APPLYING]->metadata.uid;
    rco_plan_init(&plan, &a);
    rco_run_decide(&o, now, &plan);
    out->row = plan.row;
    for (const struct rco_action *x = plan.first; x; x = x->next) {
        struct run_step s;

        if (!take_action(x, v, &a, &s))
            continue;
        assert_true(out->n < RUN_STEPS_MAX);
        out->steps[out->n++] = s;
    }
}

int run_decide(const struct run_view *view)
{
    const unsigned char *bytes = (const unsigned char *)view;
    unsigned h = 2166136261u;
    unsigned *slot;

    for (size_t i = 0; i < sizeof(*view); i++)
        h = (h ^ bytes[i]) * 16777619u;
    for (slot = &slots[h % RCO_ARRAY_LEN(slots)]; *slot;) {
        if (memcmp(&plans[*slot].view, view, sizeof(*view)) == 0)
            return plans[*slot].n ? (int)*slot : 0;
        if (++slot == slots + RCO_ARRAY_LEN(slots))
            slot = slots;
    }
    if (n_plans == 0)
        load_pieces(&pieces);
    if (++n_plans == PLANS_MAX)
        fail_msg("more than %d views", PLANS_MAX);
    *slot = (unsigned)n_plans;
    plans[n_plans].view = *view;
    decide(&pieces, view, &plans[n_plans]);
    if (getenv("RCO_TEST_TRACE"))
        fprintf(stderr, "%-18s state %d recorded %d engine %d -> %u steps\n", plans[n_plans].row,
                view->state, view->recorded, view->engine, plans[n_plans].n);
    return plans[n_plans].n ? n_plans : 0;
}

const struct run_plan *run_plan(int number)
{
    return &plans[number];
}

/* Rows of the decision table that the model went through. */
__attribute__((destructor)) static void print_rows(void)
{
    const struct rco_table *t = rco_run_table();

    for (size_t i = 0; i < t->n_rows; i++)
        for (int k = 1; k <= n_plans; k++)
            if (rco_streq(plans[k].row, t->rows[i].name)) {
                printf("row %s\n", t->rows[i].name);
                break;
            }
    printf("views %d\n", n_plans);
}
