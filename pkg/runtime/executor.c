#include "runtime/executor.h"

#include "base/str.h"
#include "kube/object_schema.h"
#include "kube/status.h"
#include "runtime/adopt.h"

#include <assert.h>
#include <stdlib.h>

struct rco_executor {
    struct rco_executor_options options;
    size_t n_running;
};

struct rco_execution {
    struct rco_executor *executor;
    const struct rco_plan *plan;
    const struct rco_action *action; /* the one under way */
    struct rco_kube_call *call;
    struct rco_timer *timer; /* begins and ends outside of the caller's stack */
    rco_execution_done done;
    void *ctx;
    struct rco_outcomes outcomes;
    struct rco_gate *gate;
    struct rco_error err;
    enum rco_execution_result result;
    unsigned writes;
    bool ambiguous, over;
};

static void advance(struct rco_execution *x);

const char *rco_execution_result_name(enum rco_execution_result r)
{
    static const char *const names[] = {
        [RCO_EXECUTION_DONE] = "done",         [RCO_EXECUTION_CONFLICT] = "conflict",
        [RCO_EXECUTION_RETRY] = "retry",       [RCO_EXECUTION_REFUSED] = "refused",
        [RCO_EXECUTION_TERMINAL] = "terminal", [RCO_EXECUTION_FENCED] = "fenced",
    };

    return (size_t)r < RCO_ARRAY_LEN(names) ? names[r] : "?";
}

struct rco_executor *rco_executor_new(const struct rco_executor_options *options)
{
    struct rco_executor *e = rco_calloc(1, sizeof(*e));

    e->options = *options;
    return e;
}

void rco_executor_free(struct rco_executor *e)
{
    if (!e)
        return;
    assert(e->n_running == 0);
    free(e);
}

/* --- end --- */

static void execution_free(struct rco_execution *x)
{
    x->executor->n_running--;
    rco_timer_free(x->timer);
    rco_outcomes_release(&x->outcomes);
    rco_gate_free(x->gate);
    free(x);
}

static void finish(struct rco_execution *x)
{
    const struct rco_execution_report report = {
        .result = x->result,
        .err = x->result == RCO_EXECUTION_DONE ? NULL : &x->err,
        .failed = x->result == RCO_EXECUTION_DONE ? NULL : x->action,
        .outcomes = &x->outcomes,
        .gate = &x->gate,
        .writes = x->writes,
        .ambiguous = x->ambiguous,
    };

    x->done(x->ctx, &report);
    execution_free(x);
}

static void stop(struct rco_execution *x, enum rco_execution_result result)
{
    x->result = result;
    x->over = true;
    rco_timer_arm(x->timer, 0);
}

static void on_timer(void *ctx)
{
    struct rco_execution *x = ctx;

    if (x->over)
        finish(x);
    else
        advance(x);
}

/* --- results of writes --- */

static rco_mono now(const struct rco_execution *x)
{
    return rco_loop_now(x->executor->options.loop);
}

static void next(struct rco_execution *x)
{
    x->action = x->action->next;
    advance(x);
}

static void note_write(struct rco_execution *x, const struct rco_error *err)
{
    const struct rco_executor_options *o = &x->executor->options;

    if (!err)
        x->writes++;
    if (o->wrote)
        o->wrote(o->ctx, x->action->type, x->action->kind, err ? rco_code_name(err->code) : "");
}

static void put_outcome(struct rco_execution *x, enum rco_outcome_type type, const char *uid,
                        const char *message)
{
    const struct rco_outcome o = {.type = type,
                                  .kind = x->action->kind,
                                  .name = x->action->name,
                                  .uid = uid,
                                  .message = message};

    rco_outcomes_put(&x->outcomes, &o);
}

/* Whether a cache shows the object of RESULT sooner or later. */
static bool is_watched(const struct rco_execution *x, const struct rco_kube_result *result)
{
    const struct rco_executor_options *o = &x->executor->options;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_bare_object obj = {0};
    struct rco_error ignored = RCO_ERROR_INIT;

    if (!o->watched)
        return true;
    return rco_codec_decode(&rco_bare_object_schema, result->body, result->body_len, &a, &obj,
                            &ignored) >= 0 &&
           o->watched(o->ctx, x->action->kind, &obj.metadata);
}

/* The key must not be decided again before the caches show this object at its new version (A78). */
static void expect(struct rco_execution *x, const struct rco_kube_result *result)
{
    if (rco_str_empty(result->resource_version) || !is_watched(x, result))
        return;
    rco_gate_expect_rv(&x->gate, x->action->kind, x->action->ns, x->action->name,
                       result->resource_version, now(x));
}

static void expect_gone(struct rco_execution *x)
{
    rco_gate_expect_gone(&x->gate, x->action->kind, x->action->ns, x->action->name, x->action->uid,
                         now(x));
}

/* After a lost answer: what stands there now? Its version is awaited like that of an own write
 * (A41). */
static void on_read_back(void *ctx, const struct rco_kube_result *result,
                         const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    x->call = NULL;
    if (!err)
        expect(x, result);
    stop(x, RCO_EXECUTION_RETRY);
}

static void start_get(struct rco_execution *x, rco_kube_done done)
{
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_GET,
        .kind = x->action->kind,
        .ns = x->action->ns,
        .name = x->action->name,
    };

    x->call = rco_kube_start(x->executor->options.client, &q, done, x);
}

static void ambiguous(struct rco_execution *x)
{
    x->ambiguous = true;
    if (x->action->kind == RCO_KIND_SECRET)
        stop(x, RCO_EXECUTION_RETRY); /* which we may not read; its name decides the next create */
    else
        start_get(x, on_read_back);
}

/* Failures that all writes share; false when ERR is none of them. */
static bool common_failure(struct rco_execution *x, const struct rco_error *err)
{
    x->err = *err;
    switch (rco_status_advice(err)) {
    case RCO_ADVICE_READ_BACK:
        ambiguous(x);
        return true;
    case RCO_ADVICE_RETRY:
    case RCO_ADVICE_REAUTH:
        stop(x, RCO_EXECUTION_RETRY);
        return true;
    case RCO_ADVICE_REFRESH:
        stop(x, RCO_EXECUTION_CONFLICT);
        return true;
    default:
        return false;
    }
}

static bool fenced(struct rco_execution *x)
{
    const struct rco_executor_options *o = &x->executor->options;

    if (!o->may_write || o->may_write(o->ctx))
        return false;
    rco_error_set(&x->err, RCO_ECANCELLED,
                  "not written: this instance does not lead, or its lease is nearly over");
    stop(x, RCO_EXECUTION_FENCED);
    return true;
}

/* --- create --- */

/* Whether the live object of RESULT is the one that the action under way would have made; otherwise
 * the plan stops here. */
static bool is_ours(struct rco_execution *x, const struct rco_kube_result *result,
                    const struct rco_error *err)
{
    const struct rco_action *a = x->action;
    rco_autobuf why = RCO_BUF_INIT;

    x->call = NULL;
    if (err) {
        x->err = *err;
        /* Gone again between the two requests: decide anew. */
        stop(x, err->code == RCO_ENOTFOUND ? RCO_EXECUTION_CONFLICT : RCO_EXECUTION_RETRY);
        return false;
    }
    if (!rco_adopt_same(a->kind, a->body, a->body_len, result->body, result->body_len, &why)) {
        rco_error_set(&x->err, RCO_EEXISTS, "%s %s/%s is not the one we would have made: %.300s",
                      rco_kind_info(a->kind)->kind, rco_str_or_empty(a->ns), a->name,
                      rco_buf_str(&why));
        put_outcome(x, RCO_OUTCOME_FOREIGN, result->uid, rco_buf_str(&why));
        stop(x, RCO_EXECUTION_REFUSED);
        return false;
    }
    return true;
}

static void on_compare(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    if (!is_ours(x, result, err))
        return;
    put_outcome(x, RCO_OUTCOME_SAME, result->uid, NULL);
    expect(x, result);
    next(x);
}

static void name_taken(struct rco_execution *x, const struct rco_error *err)
{
    switch (x->action->exists) {
    case RCO_EXISTS_OK:
        next(x);
        return;
    case RCO_EXISTS_COMPARE:
        start_get(x, on_compare);
        return;
    case RCO_EXISTS_REPORT:
        x->err = *err;
        put_outcome(x, RCO_OUTCOME_EXISTS, NULL, err->msg);
        stop(x, RCO_EXECUTION_REFUSED);
        return;
    }
}

static void on_create(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    x->call = NULL;
    note_write(x, err);
    if (!err) {
        put_outcome(x, RCO_OUTCOME_CREATED, result->uid, NULL);
        expect(x, result);
        next(x);
        return;
    }
    if (err->code == RCO_EEXISTS) {
        name_taken(x, err);
        return;
    }
    if (common_failure(x, err))
        return;
    /* 403 (quota, Pod Security, admission), 422, 413, or a namespace that is gone: for the
     * decision. */
    put_outcome(x, RCO_OUTCOME_REFUSED, NULL, err->msg);
    stop(x, RCO_EXECUTION_REFUSED);
}

/* --- patch, delete --- */

static void on_patch(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    x->call = NULL;
    note_write(x, err);
    if (!err) {
        expect(x, result);
        next(x);
        return;
    }
    if (common_failure(x, err))
        return;
    if (err->code == RCO_ENOTFOUND)
        stop(x, RCO_EXECUTION_CONFLICT);
    else if (err->code == RCO_EFORBIDDEN)
        stop(x, RCO_EXECUTION_RETRY); /* a role may be repaired */
    else
        stop(x, RCO_EXECUTION_TERMINAL);
}

static void on_delete(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    (void)result;
    x->call = NULL;
    note_write(x, err);
    if (!err || err->code == RCO_ENOTFOUND) {
        expect_gone(x);
        next(x);
        return;
    }
    if (common_failure(x, err))
        return;
    stop(x, err->code == RCO_EFORBIDDEN ? RCO_EXECUTION_RETRY : RCO_EXECUTION_TERMINAL);
}

static void start_delete(struct rco_execution *x)
{
    const struct rco_action *a = x->action;
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_DELETE,
        .kind = a->kind,
        .ns = a->ns,
        .name = a->name,
        .uid = a->uid,
        .resource_version = a->resource_version,
        .deadline_ns = RCO_WRITE_DEADLINE_NS,
    };

    x->call = rco_kube_start(x->executor->options.client, &q, on_delete, x);
}

/* The precondition on the uid sees to it that what was compared is what goes. */
static void on_compare_for_delete(void *ctx, const struct rco_kube_result *result,
                                  const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    if (is_ours(x, result, err) && !fenced(x))
        start_delete(x);
}

/* --- absent, current --- */

/* The decision was made on less than there is: anew, when the caches show it. */
static void lags_behind(struct rco_execution *x, const struct rco_kube_result *result)
{
    const struct rco_action *a = x->action;

    rco_error_set(&x->err, RCO_ECONFLICT, "%s %s/%s: the cache lags behind",
                  rco_kind_info(a->kind)->kind, rco_str_or_empty(a->ns), a->name);
    expect(x, result);
    stop(x, RCO_EXECUTION_CONFLICT);
}

static void on_current(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;

    x->call = NULL;
    if (err) {
        x->err = *err;
        stop(x, err->code == RCO_ENOTFOUND ? RCO_EXECUTION_CONFLICT : RCO_EXECUTION_RETRY);
        return;
    }
    if (rco_streq(result->resource_version, x->action->resource_version))
        next(x);
    else
        lags_behind(x, result);
}

static void on_absent(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_execution *x = ctx;
    const struct rco_action *a = x->action;

    x->call = NULL;
    if (err && err->code != RCO_ENOTFOUND) {
        x->err = *err;
        stop(x, RCO_EXECUTION_RETRY);
        return;
    }
    if (err || !rco_streq(result->uid, a->uid) || !is_watched(x, result)) {
        next(x);
        return;
    }
    lags_behind(x, result);
}

/* --- actions --- */

static void start_write(struct rco_execution *x)
{
    const struct rco_action *a = x->action;
    struct rco_kube_request q = {
        .kind = a->kind,
        .ns = a->ns,
        .name = a->name,
        .body = a->body,
        .body_len = a->body_len,
        .deadline_ns = RCO_WRITE_DEADLINE_NS,
    };
    rco_kube_done done = on_patch;

    switch (a->type) {
    case RCO_ACTION_CREATE:
        q.verb = RCO_KUBE_CREATE;
        done = on_create;
        break;
    case RCO_ACTION_DELETE:
        if (a->body)
            start_get(x, on_compare_for_delete);
        else
            start_delete(x);
        return;
    case RCO_ACTION_ABSENT:
        start_get(x, on_absent);
        return;
    case RCO_ACTION_CURRENT:
        start_get(x, on_current);
        return;
    case RCO_ACTION_PATCH_STATUS:
        q.verb = RCO_KUBE_PATCH;
        q.subresource = "status";
        break;
    default:
        q.verb = RCO_KUBE_PATCH;
        break;
    }
    x->call = rco_kube_start(x->executor->options.client, &q, done, x);
}

static void send_event(struct rco_execution *x)
{
    const struct rco_action *a = x->action;
    const struct rco_occurrence o = {
        .kind = a->kind,
        .ns = a->ns,
        .name = a->name,
        .uid = a->regarding_uid,
        .type = a->event_type,
        .reason = a->reason,
        .note = a->note,
    };

    if (x->executor->options.recorder)
        rco_recorder_event(x->executor->options.recorder, &o);
}

/* Carries out actions until one has to be waited for. */
static void advance(struct rco_execution *x)
{
    const struct rco_executor_options *o = &x->executor->options;

    for (; x->action; x->action = x->action->next) {
        const struct rco_action *a = x->action;

        if (a->type == RCO_ACTION_EVENT) {
            send_event(x);
            continue;
        }
        if (fenced(x))
            return;
        if (a->type != RCO_ACTION_REPLY) {
            start_write(x);
            return;
        }
        if (o->reply)
            o->reply(o->ctx, a->mailbox, a->http_status, a->body ? a->body : "", a->body_len);
    }
    stop(x, RCO_EXECUTION_DONE);
}

struct rco_execution *rco_executor_run(struct rco_executor *e, const struct rco_plan *plan,
                                       rco_execution_done done, void *ctx)
{
    struct rco_execution *x = rco_calloc(1, sizeof(*x));

    e->n_running++;
    x->executor = e;
    x->plan = plan;
    x->action = plan->first;
    x->done = done;
    x->ctx = ctx;
    x->timer = rco_timer_new(e->options.loop, on_timer, x);
    rco_timer_arm(x->timer, 0);
    return x;
}

void rco_execution_cancel(struct rco_execution *x)
{
    if (!x)
        return;
    rco_kube_cancel(x->call);
    execution_free(x);
}
