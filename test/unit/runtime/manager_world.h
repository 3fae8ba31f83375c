/* What the tests of manager_test.c and manager_writes_test.c share. */
#ifndef RCO_TEST_MANAGER_WORLD_H
#define RCO_TEST_MANAGER_WORLD_H

#include "runtime/manager.h"

#include "api/zz_generated_types.h"
#include "fake.h"
#include "json/writer.h"

/* The operator of these tests: for each ConfigMap NAME that has data k it creates a
 * PersistentVolumeClaim of the same name and then answers mailbox 7. */
struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_manager *manager;
    unsigned observed, leading, failed, replies, stopped;
    char last_key[128], why[512];
    const char *outcome_seen; /* uid of the last CREATED outcome */
    char outcome_uid[64], outcome_message[256];
    enum rco_outcome_type outcome_type;
    struct rco_crash_guard *guard;
    bool fail_observe, no_requeue, delete_mode, secret_mode;
    enum rco_exists_policy exists;
    int64_t requeue;
};

struct snapshot {
    const struct rco_configmap *cm;
    const struct rco_pvc *pvc;
    const struct world *w;
};

static inline int observe(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                          struct rco_arena *a, void **ret_snapshot, struct rco_error *err)
{
    struct world *w = ctx;
    struct snapshot *s = RCO_NEW(a, struct snapshot);
    const struct rco_outcome *o;

    w->observed++;
    snprintf(w->last_key, sizeof(w->last_key), "%s/%s", key->ns, key->name);
    if (w->fail_observe)
        return rco_error_set(err, RCO_EINTERNAL, "cannot observe");
    s->w = w;
    s->cm = rco_observer_get(obs, RCO_KIND_CONFIGMAP, key->ns, key->name, a);
    s->pvc = rco_observer_get(obs, RCO_KIND_PVC, key->ns, key->name, a);
    o = rco_observer_outcome(obs, w->secret_mode ? RCO_KIND_SECRET : RCO_KIND_PVC, key->name);
    if (o) {
        w->outcome_type = o->type;
        snprintf(w->outcome_uid, sizeof(w->outcome_uid), "%s", rco_str_or_empty(o->uid));
        snprintf(w->outcome_message, sizeof(w->outcome_message), "%s",
                 rco_str_or_empty(o->message));
    }
    if (!s->cm)
        return 0;
    /* A refusal is final for this test. */
    if (o && !w->delete_mode)
        s->pvc = (const struct rco_pvc *)(uintptr_t)1;
    *ret_snapshot = s;
    return 0;
}

static inline void body_of(const char *kind, const char *ns, const char *name, struct rco_buf *out)
{
    struct rco_json_writer j;

    rco_json_writer_init(&j, out);
    rco_json_begin_object(&j);
    rco_json_kv_string(&j, "apiVersion", "v1");
    rco_json_kv_string(&j, "kind", kind);
    rco_json_kv_object(&j, "metadata");
    rco_json_kv_string(&j, "name", name);
    rco_json_kv_string(&j, "namespace", ns);
    rco_json_end_object(&j);
    rco_json_end_object(&j);
}

static inline void decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct snapshot *s = snapshot;
    rco_autobuf body = RCO_BUF_INIT;
    rco_autobuf reply = RCO_BUF_INIT;

    (void)now;
    if (s->w->requeue)
        rco_plan_requeue(plan, s->w->requeue);
    if (s->w->delete_mode) {
        if (s->pvc && !s->pvc->metadata.deletion)
            rco_plan_delete(plan, RCO_KIND_PVC, &s->pvc->metadata);
        return;
    }
    if (s->pvc)
        return;
    body_of(s->w->secret_mode ? "Secret" : "PersistentVolumeClaim", s->cm->metadata.ns,
            s->cm->metadata.name, &body);
    rco_plan_create(plan, s->w->secret_mode ? RCO_KIND_SECRET : RCO_KIND_PVC, s->cm->metadata.ns,
                    s->cm->metadata.name, &body, s->w->exists);
    rco_buf_adds(&reply, "{}");
    rco_plan_reply(plan, 7, 200, &reply);
}

static inline void on_reply(void *ctx, uint64_t mailbox, int http_status, const char *body,
                            size_t n)
{
    assert_int_equal(mailbox, 7);
    assert_int_equal(http_status, 200);
    assert_int_equal(n, 2);
    (void)body;
    ((struct world *)ctx)->replies++;
}

static inline void on_leading(void *ctx, int64_t transitions)
{
    (void)transitions;
    ((struct world *)ctx)->leading++;
}

static inline void on_failed(void *ctx, const char *why)
{
    struct world *w = ctx;

    w->failed++;
    snprintf(w->why, sizeof(w->why), "%s", why);
}

static inline void on_stopped(void *ctx)
{
    ((struct world *)ctx)->stopped++;
}

static inline bool settled(const void *obj)
{
    const struct rco_configmap *c = obj;

    return rco_streq(rco_kv_get(c->data, c->n_data, "k"), "settled");
}

static const struct rco_informer_spec informers[] = {
    {.kind = RCO_KIND_CONFIGMAP, .label_selector = "managed=yes"},
    {.kind = RCO_KIND_PVC},
};
static const struct rco_trigger triggers[] = {
    {RCO_KIND_CONFIGMAP, rco_trigger_self},
    {RCO_KIND_PVC, rco_trigger_self},
};

struct setup {
    struct rco_reconciler reconciler;
    struct rco_setup setup;
};

static struct setup g_setup; /* of the running test: must outlive the manager */

static struct rco_crash_guard *g_guard; /* for the next world_init */

static inline void world_init(struct world *w, bool election)
{
    const struct rco_elector_options elect = {
        .ns = "op", .name = "rco", .identity = "me", .timing = RCO_ELECTOR_TIMING_DEFAULT};

    rco_log_setup(RCO_LOG_ERROR + 1, RCO_LOG_TEXT);
    memset(w, 0, sizeof(*w));
    w->guard = g_guard;
    w->loop = rco_loop_virtual_new(3);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    g_setup.reconciler = (struct rco_reconciler){.name = "volume",
                                                 .kind = RCO_KIND_CONFIGMAP,
                                                 .triggers = triggers,
                                                 .n_triggers = RCO_ARRAY_LEN(triggers),
                                                 .settled = settled,
                                                 .observe = observe,
                                                 .decide = decide,
                                                 .ctx = w};
    g_setup.setup = (struct rco_setup){.informers = informers,
                                       .n_informers = RCO_ARRAY_LEN(informers),
                                       .reconcilers = &g_setup.reconciler,
                                       .n_reconcilers = 1};
    const struct rco_manager_options options = {.loop = w->loop,
                                                .client = w->client,
                                                .election = election ? &elect : NULL,
                                                .instance = "pod-0",
                                                .crash_guard = w->guard,
                                                .reply = on_reply,
                                                .leading = on_leading,
                                                .failed = on_failed,
                                                .ctx = w};
    w->manager = rco_manager_new(&g_setup.setup, &options);
    rco_manager_start(w->manager);
    rco_loop_virtual_settle(w->loop);
}

static inline void world_release(struct world *w)
{
    rco_manager_free(w->manager);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop); /* asserts that no timer was leaked */
}

static inline char *pvc_json(const char *name, const char *rv, const char *more)
{
    return rco_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
        "\"%s\",\"namespace\":\"a\",\"uid\":\"00000000-0000-4000-8000-0000000000ff\","
        "\"resourceVersion\":\"%s\"%s}}",
        name, rv, more);
}

static inline void sync_kind(struct world *w, const char *path, const char *items)
{
    bool again = rco_manager_has_synced(w->manager);
    rco_autofree char *body =
        rco_asprintf("{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[%s]}",
                     again ? "200" : "100", items);

    fake_answer(fake_expect(&w->fake, "GET", path), 200, body);
    rco_loop_virtual_settle(w->loop);
}

static inline struct rco_http_call *watch_of(struct world *w, const char *kind)
{
    rco_autofree char *part = rco_asprintf("%s?", kind);
    struct rco_http_call *c = fake_expect(&w->fake, "GET", part);

    if (!c->status)
        fake_head(c, 200);
    return c;
}

/* Both caches synced with one ConfigMap "one" and no claim. */
static inline void synced_world(struct world *w)
{
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    world_init(w, false);
    sync_kind(w, "/configmaps?", cm);
    sync_kind(w, "/persistentvolumeclaims?", "");
    watch_of(w, "/configmaps");
    watch_of(w, "/persistentvolumeclaims");
}

static inline void send_pvc(struct world *w, const char *type, const char *rv, const char *more)
{
    rco_autofree char *object = pvc_json("one", rv, more);
    rco_autofree char *line = event_json(type, object);

    fake_data(watch_of(w, "/persistentvolumeclaims"), line);
    rco_loop_virtual_settle(w->loop);
}

static inline void answer_create(struct world *w, const char *rv)
{
    rco_autofree char *body = pvc_json("one", rv, "");

    fake_answer(fake_expect(&w->fake, "POST", "/persistentvolumeclaims?"), 201, body);
    rco_loop_virtual_settle(w->loop);
}

static inline unsigned patches_of(struct world *w)
{
    return (unsigned)fake_count(&w->fake, "POST", "/persistentvolumeclaims?");
}

/* --- tests --- */

#endif
