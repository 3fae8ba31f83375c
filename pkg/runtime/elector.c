#include "runtime/elector.h"

#include "api/zz_generated_types.h"
#include "base/str.h"
#include "json/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MIN_NS (1 * RCO_NS_PER_S)
#define REQUEST_MAX_NS (5 * RCO_NS_PER_S) /* A44 */
#define RELEASE_NS (5 * RCO_NS_PER_S)
#define HANDOVER_JITTER_NS (20 * RCO_NS_PER_MS)

struct rco_elector {
    struct rco_elector_options options;
    char *ns, *name, *identity;
    bool started;
    /* the record as last seen */
    bool known, exists;
    char *holder, *rv;
    int64_t duration_ns, transitions;
    rco_mono changed;
    /* ourselves */
    bool leading, lost, releasing;
    rco_mono renewed, sent;
    enum rco_elector_action doing;
    struct rco_kube_call *call;
    struct rco_stream_call *watch;
    struct rco_timer *tick, *deadline, *release_timer;
    rco_loop_fn release_done;
    void *release_ctx;
};

static void act(struct rco_elector *e);

int rco_elector_timing_check(const struct rco_elector_timing *t, struct rco_error *err)
{
    if (t->lease_ns < RCO_NS_PER_S || t->lease_ns % RCO_NS_PER_S != 0)
        return rco_error_set(err, RCO_EINVALID,
                             "--leader-elect-lease-duration must be a whole number of seconds, at "
                             "least 1s");
    if (t->renew_ns <= 0 || t->renew_ns >= t->lease_ns)
        return rco_error_set(err, RCO_EINVALID,
                             "--leader-elect-renew-deadline must be shorter than "
                             "--leader-elect-lease-duration");
    if (t->retry_ns <= 0 || t->retry_ns + t->retry_ns / 5 >= t->renew_ns)
        return rco_error_set(err, RCO_EINVALID,
                             "--leader-elect-retry-period times 1.2 must be shorter than "
                             "--leader-elect-renew-deadline");
    return 0;
}

enum rco_elector_action rco_elector_decide(const struct rco_elector_view *v,
                                           const struct rco_elector_timing *timing, rco_mono now)
{
    bool ours = v->known && v->exists && rco_streq(v->holder, v->identity);

    if (v->leading && now - v->renewed >= timing->renew_ns)
        return RCO_ELECTOR_LOST;
    if (v->leading && v->known && !ours)
        return RCO_ELECTOR_LOST;
    if (v->releasing && !v->leading)
        return RCO_ELECTOR_WAIT;
    if (!v->known)
        return RCO_ELECTOR_READ;
    if (v->releasing)
        return RCO_ELECTOR_RELEASE;
    if (v->leading)
        return RCO_ELECTOR_RENEW;
    if (!v->exists)
        return RCO_ELECTOR_CREATE;
    /* Ours without leading: an acquire whose answer was lost. */
    if (ours || rco_str_empty(v->holder) || now - v->changed >= v->duration_ns)
        return RCO_ELECTOR_ACQUIRE;
    return RCO_ELECTOR_WAIT;
}

enum rco_elector_next rco_elector_after(enum rco_elector_action action,
                                        enum rco_elector_answer answer)
{
#define READ_FIRST RCO_ELECTOR_READ_FIRST
    /* OURS, OTHERS, MISSING, FAILED. A write that comes back as another's was changed by an
     * admission controller. */
    static const unsigned char table[][RCO_ELECTOR_ANSWER_COUNT] = {
        [RCO_ELECTOR_READ] = {RCO_ELECTOR_LOOK, RCO_ELECTOR_LOOK, RCO_ELECTOR_LOOK, READ_FIRST},
        [RCO_ELECTOR_CREATE] = {RCO_ELECTOR_LEAD, READ_FIRST, READ_FIRST, READ_FIRST},
        [RCO_ELECTOR_ACQUIRE] = {RCO_ELECTOR_LEAD, READ_FIRST, READ_FIRST, READ_FIRST},
        [RCO_ELECTOR_RENEW] = {RCO_ELECTOR_LEAD, READ_FIRST, READ_FIRST, READ_FIRST},
        [RCO_ELECTOR_RELEASE] = {RCO_ELECTOR_GIVEN_BACK, RCO_ELECTOR_GIVEN_BACK, READ_FIRST,
                                 READ_FIRST},
    };
#undef READ_FIRST

    return (enum rco_elector_next)table[action][answer];
}

/* --- driver --- */

static rco_mono now(const struct rco_elector *e)
{
    return rco_loop_now(e->options.loop);
}

static void schedule(struct rco_elector *e, int64_t delay)
{
    rco_timer_arm(e->tick, delay);
}

static void schedule_retry(struct rco_elector *e)
{
    int64_t retry = e->options.timing.retry_ns;

    schedule(e, rco_loop_jitter(e->options.loop, retry, retry + retry / 5));
}

static int64_t request_deadline(const struct rco_elector *e)
{
    int64_t d = e->options.timing.renew_ns / 2;

    if (d < REQUEST_MIN_NS)
        d = REQUEST_MIN_NS;
    return d < REQUEST_MAX_NS ? d : REQUEST_MAX_NS;
}

static void lose(struct rco_elector *e, const char *why)
{
    e->leading = false;
    e->lost = true;
    rco_timer_disarm(e->tick);
    rco_timer_disarm(e->deadline);
    rco_kube_cancel(e->call);
    e->call = NULL;
    e->options.handler.lost(e->options.handler.ctx, why);
}

static void end_release(struct rco_elector *e)
{
    rco_loop_fn done = e->release_done;

    if (!done)
        return;
    e->release_done = NULL;
    e->leading = false;
    rco_timer_disarm(e->tick);
    rco_timer_disarm(e->deadline);
    rco_timer_disarm(e->release_timer);
    rco_kube_cancel(e->call);
    e->call = NULL;
    rco_stream_cancel(e->watch);
    e->watch = NULL;
    done(e->release_ctx);
}

/* A record as the server has it. */
static void see(struct rco_elector *e, const struct rco_lease *l)
{
    const char *rv = rco_str_or_empty(l->metadata.resource_version);
    const char *holder = rco_str_or_empty(l->spec.holder_identity);

    if (!rco_streq(e->rv, rv))
        e->changed = now(e); /* A91: only changes that we saw ourselves count, on our own clock */
    if (!rco_streq(e->holder, holder) && e->options.handler.observed)
        e->options.handler.observed(e->options.handler.ctx, holder);
    free(e->rv);
    free(e->holder);
    e->rv = rco_strdup(rv);
    e->holder = rco_strdup(holder);
    e->known = e->exists = true;
    e->duration_ns = l->spec.has_lease_duration_seconds
                         ? l->spec.lease_duration_seconds * RCO_NS_PER_S
                         : e->options.timing.lease_ns;
    e->transitions = l->spec.has_lease_transitions ? l->spec.lease_transitions : 0;
}

static void see_missing(struct rco_elector *e)
{
    e->known = true;
    e->exists = false;
    free(e->rv);
    free(e->holder);
    e->rv = NULL;
    e->holder = NULL;
}

static bool see_json(struct rco_elector *e, const char *json, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_lease l = {0};

    if (rco_codec_decode(&rco_lease_schema, json, n, &a, &l, &err) < 0) {
        if (e->options.handler.failed)
            e->options.handler.failed(e->options.handler.ctx, &err);
        return false;
    }
    see(e, &l);
    return true;
}

/* --- watch of a standby --- */

static int on_watch_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                          struct rco_error *err)
{
    struct rco_elector *e = ctx;

    (void)err;
    if (type == RCO_WATCH_DELETED)
        see_missing(e);
    else if (type == RCO_WATCH_ADDED || type == RCO_WATCH_MODIFIED)
        see_json(e, object, n);
    else
        return 0;
    /* Released or deleted: at once, with a little jitter between several standbys. */
    if (!e->call && (!e->exists || rco_str_empty(e->holder)))
        schedule(e, rco_loop_jitter(e->options.loop, 0, HANDOVER_JITTER_NS));
    return 0;
}

static void on_watch_done(void *ctx, const struct rco_error *err)
{
    struct rco_elector *e = ctx;

    e->watch = NULL;
    /* An expired version or a lost connection: the next tick reads the record again. */
    if (err)
        e->known = false;
}

static void watch_record(struct rco_elector *e)
{
    const struct rco_watch_done handler = {
        .event = on_watch_event, .done = on_watch_done, .ctx = e};
    rco_autobuf field = RCO_BUF_INIT;
    struct rco_watch_request q = {
        .scope = {.kind = RCO_KIND_LEASE, .ns = e->ns},
        .resource_version = e->rv,
    };

    if (e->watch || !e->exists || rco_str_empty(e->rv))
        return;
    rco_buf_adds(&field, "metadata.name=");
    rco_buf_adds(&field, e->name);
    q.scope.field_selector = rco_buf_str(&field);
    e->watch = rco_kube_watch(e->options.client, &q, &handler);
}

/* --- requests --- */

static void lead(struct rco_elector *e)
{
    bool first = !e->leading;

    e->leading = true;
    e->renewed = e->sent;
    rco_timer_arm(e->deadline, e->renewed + e->options.timing.renew_ns - now(e));
    rco_stream_cancel(e->watch);
    e->watch = NULL;
    if (first && e->options.handler.started)
        e->options.handler.started(e->options.handler.ctx, e->transitions);
}

static enum rco_elector_answer classify(struct rco_elector *e, const struct rco_kube_result *result,
                                        const struct rco_error *err)
{
    if (err)
        return err->code == RCO_ENOTFOUND ? RCO_ELECTOR_MISSING : RCO_ELECTOR_FAILED;
    if (!see_json(e, result->body, result->body_len))
        return RCO_ELECTOR_FAILED;
    return rco_streq(e->holder, e->identity) ? RCO_ELECTOR_OURS : RCO_ELECTOR_OTHERS;
}

static void read_first(struct rco_elector *e, const struct rco_error *err)
{
    e->known = false;
    if (err && err->code != RCO_ECONFLICT && err->code != RCO_EEXISTS && e->options.handler.failed)
        e->options.handler.failed(e->options.handler.ctx, err);
    if (err && e->doing != RCO_ELECTOR_READ && err->code == RCO_ECONFLICT &&
        (e->leading || e->releasing))
        schedule(e, 0);
    else if (err && e->releasing)
        schedule(e, 200 * RCO_NS_PER_MS);
    else
        schedule_retry(e);
}

static void on_answer(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_elector *e = ctx;
    enum rco_elector_answer answer = classify(e, result, err);

    e->call = NULL;
    switch (rco_elector_after(e->doing, answer)) {
    case RCO_ELECTOR_LOOK:
        if (answer == RCO_ELECTOR_MISSING)
            see_missing(e);
        act(e);
        break;
    case RCO_ELECTOR_LEAD:
        schedule_retry(e);
        lead(e);
        if (e->releasing)
            schedule(e, 0);
        break;
    case RCO_ELECTOR_GIVEN_BACK:
        end_release(e);
        break;
    case RCO_ELECTOR_READ_FIRST:
        read_first(e, err);
        break;
    }
}

static void spec_body(struct rco_elector *e, enum rco_elector_action action, struct rco_buf *out)
{
    struct rco_json_writer w;
    char t[RCO_TIME_STR_MAX];
    bool change = action == RCO_ELECTOR_CREATE || action == RCO_ELECTOR_ACQUIRE;
    bool release = action == RCO_ELECTOR_RELEASE;
    int64_t seconds = e->options.timing.lease_ns / RCO_NS_PER_S;

    rco_wall_format_micro(rco_loop_wall(e->options.loop), t);
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "coordination.k8s.io/v1");
    rco_json_kv_string(&w, "kind", "Lease");
    rco_json_kv_object(&w, "metadata");
    if (action == RCO_ELECTOR_CREATE) {
        rco_json_kv_string(&w, "name", e->name);
        rco_json_kv_string(&w, "namespace", e->ns);
    } else {
        rco_json_kv_string(&w, "resourceVersion", e->rv);
    }
    rco_json_end_object(&w);
    rco_json_kv_object(&w, "spec");
    if (change || release) {
        rco_json_kv_string(&w, "holderIdentity", release ? "" : e->identity);
        rco_json_kv_string(&w, "acquireTime", t);
    }
    if (change)
        rco_json_kv_int(&w, "leaseTransitions",
                        action == RCO_ELECTOR_CREATE ? 1 : e->transitions + 1);
    rco_json_kv_int(&w, "leaseDurationSeconds", release ? 1 : seconds);
    rco_json_kv_string(&w, "renewTime", t);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

static void request(struct rco_elector *e, enum rco_elector_action action)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_kube_request q = {
        .verb = RCO_KUBE_PATCH,
        .kind = RCO_KIND_LEASE,
        .ns = e->ns,
        .name = e->name,
        .lane = RCO_LANE_ELECTION,
        .deadline_ns = request_deadline(e),
    };

    if (action == RCO_ELECTOR_READ) {
        q.verb = RCO_KUBE_GET;
    } else {
        spec_body(e, action, &body);
        q.body = rco_buf_str(&body);
        q.body_len = body.len;
        if (action == RCO_ELECTOR_CREATE)
            q.verb = RCO_KUBE_CREATE;
    }
    e->doing = action;
    e->sent = now(e);
    e->call = rco_kube_start(e->options.client, &q, on_answer, e);
}

static void act(struct rco_elector *e)
{
    const struct rco_elector_view v = {
        .known = e->known,
        .exists = e->exists,
        .holder = e->holder,
        .identity = e->identity,
        .duration_ns = e->duration_ns,
        .changed = e->changed,
        .leading = e->leading,
        .renewed = e->renewed,
        .releasing = e->releasing,
    };
    enum rco_elector_action action;

    if (e->call || e->lost)
        return;
    action = rco_elector_decide(&v, &e->options.timing, now(e));
    switch (action) {
    case RCO_ELECTOR_LOST:
        lose(e, e->known && !rco_streq(e->holder, e->identity)
                    ? "another instance holds the lease"
                    : "the lease could not be renewed in time");
        break;
    case RCO_ELECTOR_WAIT:
        if (e->releasing) {
            end_release(e);
            break;
        }
        watch_record(e);
        schedule_retry(e);
        /* Not later than the moment at which the record expires. */
        if (e->changed + e->duration_ns - now(e) < e->options.timing.retry_ns)
            schedule(e, e->changed + e->duration_ns - now(e));
        break;
    default:
        request(e, action);
        break;
    }
}

static void on_tick(void *ctx)
{
    act(ctx);
}

static void on_deadline(void *ctx)
{
    struct rco_elector *e = ctx;

    if (e->leading && !e->releasing)
        lose(e, "the lease could not be renewed in time");
}

static void on_release_timer(void *ctx)
{
    end_release(ctx);
}

/* --- life --- */

struct rco_elector *rco_elector_new(const struct rco_elector_options *options)
{
    struct rco_elector *e = rco_calloc(1, sizeof(*e));

    e->options = *options;
    e->ns = rco_strdup(options->ns);
    e->name = rco_strdup(options->name);
    e->identity = rco_strdup(options->identity);
    e->tick = rco_timer_new(options->loop, on_tick, e);
    e->deadline = rco_timer_new(options->loop, on_deadline, e);
    e->release_timer = rco_timer_new(options->loop, on_release_timer, e);
    return e;
}

void rco_elector_free(struct rco_elector *e)
{
    if (!e)
        return;
    rco_kube_cancel(e->call);
    rco_stream_cancel(e->watch);
    rco_timer_free(e->tick);
    rco_timer_free(e->deadline);
    rco_timer_free(e->release_timer);
    free(e->ns);
    free(e->name);
    free(e->identity);
    free(e->holder);
    free(e->rv);
    free(e);
}

void rco_elector_start(struct rco_elector *e)
{
    if (e->started)
        return;
    e->started = true;
    schedule(e, 0);
}

bool rco_elector_is_leader(const struct rco_elector *e)
{
    return e->leading;
}

bool rco_elector_may_write(const struct rco_elector *e)
{
    return e->leading && now(e) - e->renewed < e->options.timing.renew_ns;
}

int64_t rco_elector_transitions(const struct rco_elector *e)
{
    return e->leading ? e->transitions : -1;
}

bool rco_elector_healthy(const struct rco_elector *e)
{
    return !e->leading ||
           now(e) - e->renewed < e->options.timing.lease_ns + e->options.timing.retry_ns;
}

void rco_elector_release(struct rco_elector *e, rco_loop_fn done, void *ctx)
{
    assert(!e->release_done);
    e->release_done = done;
    e->release_ctx = ctx;
    e->releasing = true;
    rco_timer_arm(e->release_timer, e->leading && !e->lost ? RELEASE_NS : 0);
    /* A renewal under way must end first: released underneath, it would take the lease back (A94).
     */
    if (!e->call)
        schedule(e, 0);
}
