/* The broken program: functions of the product wrapped by the linker (--wrap), each doing what it
 * does unless its switch is on. Only test/sim links this. */
#include "breaks.h"

#include "decide/conditions.h"
#include "decide/deployment.h"
#include "decide/run_facts.h"
#include "decide/run_rows.h"
#include "kube/client.h"
#include "kube/status.h"
#include "pulumi/job.h"
#include "runtime/adopt.h"
#include "runtime/elector.h"
#include "runtime/executor.h"
#include "runtime/recorder.h"
#include "runtime/workqueue.h"

#include "api/labels.h"

#include <stdio.h>
#include <string.h>

static enum sim_break on;
static bool was_gone; /* a watch was told 410 */

bool sim_break_is(enum sim_break b)
{
    return on == b;
}

bool sim_break_set(enum sim_break b)
{
    on = b;
    return true;
}

/* --- plans on their way to the executor --- */

static bool row_is(const struct rco_plan *plan, const char *const *rows)
{
    for (; *rows; rows++)
        if (rco_streq(plan->row, *rows))
            return true;
    return false;
}

/* Moves the actions for which FIRST holds before all others. */
static void reorder(struct rco_plan *plan, bool (*first)(const struct rco_action *))
{
    struct rco_action *early = NULL, **e = &early, *late = NULL, **l = &late;

    for (struct rco_action *a = plan->first, *next; a; a = next) {
        struct rco_action ***tail = first(a) ? &e : &l;

        next = a->next;
        a->next = NULL;
        **tail = a;
        *tail = &a->next;
    }
    *e = late;
    plan->first = early ? early : late;
}

static bool is_reply(const struct rco_action *a)
{
    return a->type == RCO_ACTION_REPLY;
}

static bool is_no_claim(const struct rco_action *a)
{
    return a->kind != RCO_KIND_LEASE;
}

/* Blanks the member of an object from AT to END in TEXT, and one comma beside it. */
static void blank(const char *text, char *at, char *end)
{
    if (*end == ',')
        end++;
    else if (at > text && at[-1] == ',')
        at--;
    memset(at, ' ', (size_t)(end - at));
}

/* Blanks "resourceVersion":"...". */
static void strip_version(struct rco_action *a)
{
    char *body = (char *)a->body;
    char *at = body ? strstr(body, "\"resourceVersion\":\"") : NULL;
    char *end = at ? strchr(at + strlen("\"resourceVersion\":\""), '"') : NULL;

    if (end)
        blank(body, at, end + 1);
}

static void strip(struct rco_plan *plan, bool claims_only)
{
    for (struct rco_action *a = plan->first; a; a = a->next) {
        if (claims_only && a->kind != RCO_KIND_LEASE)
            continue;
        if (a->type == RCO_ACTION_DELETE)
            a->uid = NULL;
        if (a->type == RCO_ACTION_PATCH || a->type == RCO_ACTION_PATCH_STATUS)
            strip_version(a);
    }
}

/* New runs carry a finalizer that nobody knows. */
static void let_go(struct rco_plan *plan)
{
    for (struct rco_action *a = plan->first; a; a = a->next) {
        char *at = a->type == RCO_ACTION_CREATE && a->kind == RCO_KIND_RUN && a->body
                       ? strstr((char *)a->body, "\"" RCO_FINALIZER_RUN "\"")
                       : NULL;

        if (at)
            at[1] = 'x';
    }
}

struct rco_execution *__real_rco_executor_run(struct rco_executor *e, const struct rco_plan *plan,
                                              rco_execution_done done, void *ctx);
struct rco_execution *__wrap_rco_executor_run(struct rco_executor *e, const struct rco_plan *plan,
                                              rco_execution_done done, void *ctx);
struct rco_execution *__wrap_rco_executor_run(struct rco_executor *e, const struct rco_plan *plan,
                                              rco_execution_done done, void *ctx)
{
    static const char *const starts[] = {"start-granted", NULL};
    static const char *const receipts[] = {"receipt-planned", "receipt-applied", "receipt-failed",
                                           NULL};
    static const char *const ends[] = {"engine-ended", "gone-leftovers", NULL};
    struct rco_plan *p = (struct rco_plan *)plan;

    if (on == SIM_BREAK_START_EARLY && row_is(p, starts))
        reorder(p, is_reply);
    if (on == SIM_BREAK_RECEIPT_EARLY && row_is(p, receipts))
        reorder(p, is_reply);
    if (on == SIM_BREAK_CLAIM_LAST && row_is(p, ends))
        reorder(p, is_no_claim);
    if (on == SIM_BREAK_PRECONDITIONS || on == SIM_BREAK_CLAIM)
        strip(p, on == SIM_BREAK_CLAIM);
    if (on == SIM_BREAK_UNHELD)
        let_go(p);
    return __real_rco_executor_run(e, plan, done, ctx);
}

/* --- decisions --- */

static void make_job_early(const struct rco_run_observed *o, rco_wall now, struct rco_plan *plan,
                           void (*decide)(const void *, rco_wall, struct rco_plan *))
{
    struct rco_run_observed later = *o;
    struct rco_run run = *o->run;
    struct rco_action *first = plan->first;
    struct rco_plan jobs;

    run.status.state = RCO_RUN_STATE_APPLYING;
    later.run = &run;
    rco_plan_init(&jobs, plan->arena);
    decide(&later, now, &jobs);
    if (!jobs.first)
        return;
    *jobs.tail = first;
    plan->first = jobs.first;
}

static void let_go_early(const struct rco_run_observed *o, struct rco_plan *plan)
{
    for (size_t i = 0; i < o->n_pods; i++)
        if (rco_streq(plan->row, "running") && rco_pod_is_held(o->pods[i]))
            rco_plan_remove_finalizer(plan, RCO_KIND_POD, &o->pods[i]->metadata,
                                      RCO_FINALIZER_ENGINE);
}

void __real_rco_run_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);
void __wrap_rco_run_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);
void __wrap_rco_run_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_run_observed *o = snapshot;
    struct rco_run_observed again;
    struct rco_run run;

    if (on == SIM_BREAK_NAME_ONLY && o->run && o->spec)
        ((struct rco_depspec *)o->spec)->metadata.uid = o->run->spec.specification_id;
    if (on == SIM_BREAK_SECOND_ATTEMPT && o->run && o->mailbox.n_starts &&
        rco_run_is_final(o->run)) {
        again = *o;
        run = *o->run;
        run.status.state = o->mailbox.starts[0].phase == RCO_PHASE_PLAN ? RCO_RUN_STATE_PLANNING
                                                                        : RCO_RUN_STATE_APPLYING;
        run.metadata.deletion = 0;
        again.run = &run;
        snapshot = &again;
    }
    __real_rco_run_decide(snapshot, now, plan);
    if (on == SIM_BREAK_JOB_EARLY && rco_streq(plan->row, "apply"))
        make_job_early(o, now, plan, __real_rco_run_decide);
    if (on == SIM_BREAK_FINALIZER_EARLY)
        let_go_early(o, plan);
}

void __real_rco_depspec_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);
void __wrap_rco_depspec_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);
void __wrap_rco_depspec_decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct rco_depspec_observed *o = snapshot;

    if (on == SIM_BREAK_OP_SETTING && o->env)
        ((struct rco_env *)o->env)->spec.runner.has_resources = false;
    for (size_t i = 0; on == SIM_BREAK_NAME_ONLY && o->spec && i < o->n_runs; i++)
        ((struct rco_run *)o->runs[i])->spec.specification_id = o->spec->metadata.uid;
    __real_rco_depspec_decide(snapshot, now, plan);
}

void __real_rco_conditions_stalled(struct rco_conditions *c, const char *reason,
                                   const char *message);
void __wrap_rco_conditions_stalled(struct rco_conditions *c, const char *reason,
                                   const char *message);
void __wrap_rco_conditions_stalled(struct rco_conditions *c, const char *reason,
                                   const char *message)
{
    if (on == SIM_BREAK_OP_UNTOLD)
        rco_conditions_set(c, "Ready", "False", reason, message);
    else
        __real_rco_conditions_stalled(c, reason, message);
}

bool __real_rco_codec_merge_patch(const struct rco_schema *schema, const void *old_obj,
                                  const void *new_obj, struct rco_buf *out);
bool __wrap_rco_codec_merge_patch(const struct rco_schema *schema, const void *old_obj,
                                  const void *new_obj, struct rco_buf *out);
bool __wrap_rco_codec_merge_patch(const struct rco_schema *schema, const void *old_obj,
                                  const void *new_obj, struct rco_buf *out)
{
    bool differs = __real_rco_codec_merge_patch(schema, old_obj, new_obj, out);
    char *at =
        on == SIM_BREAK_OP_NULL && differs ? strstr(rco_buf_str(out), "\"failure\":null") : NULL;

    if (at)
        blank(out->data, at, at + strlen("\"failure\":null"));
    return differs;
}

bool __real_rco_run_is_start_busy(const void *p);
bool __wrap_rco_run_is_start_busy(const void *p);
bool __wrap_rco_run_is_start_busy(const void *p)
{
    return on != SIM_BREAK_CLAIM && __real_rco_run_is_start_busy(p);
}

bool __real_rco_run_is_start_claimed(const void *p);
bool __wrap_rco_run_is_start_claimed(const void *p);
bool __wrap_rco_run_is_start_claimed(const void *p)
{
    return on != SIM_BREAK_CLAIM && __real_rco_run_is_start_claimed(p);
}

static bool is_over(const struct rco_pod *pod)
{
    return pod->status.phase == RCO_POD_PHASE_SUCCEEDED ||
           pod->status.phase == RCO_POD_PHASE_FAILED;
}

bool __real_rco_run_engine_ended(const struct rco_run_ctx *c, const struct rco_pod *pod);
bool __wrap_rco_run_engine_ended(const struct rco_run_ctx *c, const struct rco_pod *pod);
bool __wrap_rco_run_engine_ended(const struct rco_run_ctx *c, const struct rco_pod *pod)
{
    return on == SIM_BREAK_POD_PHASE ? is_over(pod) : __real_rco_run_engine_ended(c, pod);
}

int __real_rco_job_write(const struct rco_run *run, enum rco_phase phase,
                         const struct rco_job_config *config, struct rco_arena *a,
                         struct rco_buf *out, struct rco_error *err);
int __wrap_rco_job_write(const struct rco_run *run, enum rco_phase phase,
                         const struct rco_job_config *config, struct rco_arena *a,
                         struct rco_buf *out, struct rco_error *err);
int __wrap_rco_job_write(const struct rco_run *run, enum rco_phase phase,
                         const struct rco_job_config *config, struct rco_arena *a,
                         struct rco_buf *out, struct rco_error *err)
{
    int rc = __real_rco_job_write(run, phase, config, a, out, err);

    for (char *p = out->data; on == SIM_BREAK_PLAN_UNCHECKED && rc == 0 && p;)
        if ((p = strstr(p, "baseStateDigest")))
            *p = 'x'; /* a key that nobody knows */
    return rc;
}

/* --- runtime --- */

bool __real_rco_adopt_same(enum rco_kind kind, const char *sent, size_t sent_len, const char *live,
                           size_t live_len, struct rco_buf *ret_why);
bool __wrap_rco_adopt_same(enum rco_kind kind, const char *sent, size_t sent_len, const char *live,
                           size_t live_len, struct rco_buf *ret_why);
bool __wrap_rco_adopt_same(enum rco_kind kind, const char *sent, size_t sent_len, const char *live,
                           size_t live_len, struct rco_buf *ret_why)
{
    return on == SIM_BREAK_EXISTS ||
           __real_rco_adopt_same(kind, sent, sent_len, live, live_len, ret_why);
}

bool __real_rco_gate_check(struct rco_gate **g, const struct rco_store *const *stores);
bool __wrap_rco_gate_check(struct rco_gate **g, const struct rco_store *const *stores);
bool __wrap_rco_gate_check(struct rco_gate **g, const struct rco_store *const *stores)
{
    if (on != SIM_BREAK_GATE)
        return __real_rco_gate_check(g, stores);
    rco_gate_free(*g);
    *g = NULL;
    return true;
}

static void on_lost(void *ctx, const char *why)
{
    (void)ctx;
    (void)why;
}

struct rco_elector *__real_rco_elector_new(const struct rco_elector_options *options);
struct rco_elector *__wrap_rco_elector_new(const struct rco_elector_options *options);
struct rco_elector *__wrap_rco_elector_new(const struct rco_elector_options *options)
{
    struct rco_elector_options o = *options;

    if (on == SIM_BREAK_NO_FENCING)
        o.handler.lost = on_lost;
    if (on == SIM_BREAK_LONG_LEASE)
        o.timing.lease_ns *= 2;
    return __real_rco_elector_new(&o);
}

bool __real_rco_elector_may_write(const struct rco_elector *e);
bool __wrap_rco_elector_may_write(const struct rco_elector *e);
bool __wrap_rco_elector_may_write(const struct rco_elector *e)
{
    return on == SIM_BREAK_NO_FENCING || __real_rco_elector_may_write(e);
}

#define FLOOD 40

void __real_rco_recorder_event(struct rco_recorder *r, const struct rco_occurrence *o);
void __wrap_rco_recorder_event(struct rco_recorder *r, const struct rco_occurrence *o);
void __wrap_rco_recorder_event(struct rco_recorder *r, const struct rco_occurrence *o)
{
    struct rco_occurrence other = *o;
    char uid[64];

    __real_rco_recorder_event(r, o);
    /* Buckets are told by uid: every one of these has its own. */
    for (int i = 0; on == SIM_BREAK_EVENT_FLOOD && i < FLOOD; i++) {
        snprintf(uid, sizeof uid, "%.36s-%d", rco_str_or_empty(o->uid), i);
        other.uid = uid;
        __real_rco_recorder_event(r, &other);
    }
}

void __real_rco_workqueue_add_backoff(struct rco_workqueue *q, const struct rco_key *key,
                                      enum rco_priority priority, rco_mono now);
void __wrap_rco_workqueue_add_backoff(struct rco_workqueue *q, const struct rco_key *key,
                                      enum rco_priority priority, rco_mono now);
void __wrap_rco_workqueue_add_backoff(struct rco_workqueue *q, const struct rco_key *key,
                                      enum rco_priority priority, rco_mono now)
{
    if (on == SIM_BREAK_HOT_RETRY)
        rco_workqueue_add(q, key, priority, now);
    else
        __real_rco_workqueue_add_backoff(q, key, priority, now);
}

void __real_rco_workqueue_add_rate_limited(struct rco_workqueue *q, const struct rco_key *key,
                                           enum rco_priority priority, rco_mono now);
void __wrap_rco_workqueue_add_rate_limited(struct rco_workqueue *q, const struct rco_key *key,
                                           enum rco_priority priority, rco_mono now);
void __wrap_rco_workqueue_add_rate_limited(struct rco_workqueue *q, const struct rco_key *key,
                                           enum rco_priority priority, rco_mono now)
{
    if (on == SIM_BREAK_HOT_RETRY)
        rco_workqueue_add(q, key, priority, now);
    else
        __real_rco_workqueue_add_rate_limited(q, key, priority, now);
}

/* --- client --- */

struct rco_stream_call *__real_rco_kube_watch(struct rco_kube_client *c,
                                              const struct rco_watch_request *request,
                                              const struct rco_watch_done *handler);
struct rco_stream_call *__wrap_rco_kube_watch(struct rco_kube_client *c,
                                              const struct rco_watch_request *request,
                                              const struct rco_watch_done *handler);
struct rco_stream_call *__wrap_rco_kube_watch(struct rco_kube_client *c,
                                              const struct rco_watch_request *request,
                                              const struct rco_watch_done *handler)
{
    struct rco_watch_request old = *request;

    if (on == SIM_BREAK_RELIST && was_gone && !request->send_initial_events)
        old.resource_version = "1";
    return __real_rco_kube_watch(c, &old, handler);
}

struct hopeful {
    rco_kube_done done;
    void *ctx;
};

static void on_hopeful(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    static const struct rco_kube_result fine = {
        .http_status = 200, .body = "", .name = "", .ns = "", .uid = "", .resource_version = ""};
    struct hopeful *h = ctx;
    bool unknown = err && err->code == RCO_ETIMEOUT;

    h->done(h->ctx, unknown ? &fine : result, unknown ? NULL : err);
    free(h);
}

struct rco_kube_call *__real_rco_kube_start(struct rco_kube_client *c,
                                            const struct rco_kube_request *request,
                                            rco_kube_done done, void *ctx);
struct rco_kube_call *__wrap_rco_kube_start(struct rco_kube_client *c,
                                            const struct rco_kube_request *request,
                                            rco_kube_done done, void *ctx);
struct rco_kube_call *__wrap_rco_kube_start(struct rco_kube_client *c,
                                            const struct rco_kube_request *request,
                                            rco_kube_done done, void *ctx)
{
    struct hopeful *h;

    if (on != SIM_BREAK_AMBIGUOUS || request->lane == RCO_LANE_ELECTION ||
        (request->verb != RCO_KUBE_PATCH && request->verb != RCO_KUBE_CREATE))
        return __real_rco_kube_start(c, request, done, ctx);
    h = rco_calloc(1, sizeof *h); /* lost when the call is cancelled */
    *h = (struct hopeful){done, ctx};
    return __real_rco_kube_start(c, request, on_hopeful, h);
}

void __real_rco_status_map_event(const char *object, size_t n, const char *what,
                                 struct rco_error *err);
void __wrap_rco_status_map_event(const char *object, size_t n, const char *what,
                                 struct rco_error *err);
void __wrap_rco_status_map_event(const char *object, size_t n, const char *what,
                                 struct rco_error *err)
{
    __real_rco_status_map_event(object, n, what, err);
    was_gone = was_gone || err->code == RCO_EGONE;
    if (on == SIM_BREAK_GONE_IGNORED && err->code == RCO_EGONE)
        err->code = RCO_EUNAVAILABLE;
}

void __real_rco_store_set_rv(struct rco_store *s, const char *rv);
void __wrap_rco_store_set_rv(struct rco_store *s, const char *rv);
void __wrap_rco_store_set_rv(struct rco_store *s, const char *rv)
{
    char ahead[32];

    if (on != SIM_BREAK_RV_EARLY || rco_str_empty(rv)) {
        __real_rco_store_set_rv(s, rv);
        return;
    }
    snprintf(ahead, sizeof ahead, "%lld", strtoll(rv, NULL, 10) + 3);
    __real_rco_store_set_rv(s, ahead);
}
