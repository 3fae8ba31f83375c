/* What the tests of reflector_test.c and reflector_watch_test.c share. */
#ifndef RCO_TEST_REFLECTOR_WORLD_H
#define RCO_TEST_REFLECTOR_WORLD_H

#include "runtime/reflector.h"

#include "api/zz_generated_types.h"
#include "fake.h"

#define KINDS "/configmaps"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_intern *intern;
    struct rco_store *store;
    struct rco_list_gate *gate;
    struct rco_reflector *r;
    unsigned adds, updates, deletes, synced, progress, bad, good, failed;
    char last_deleted[128], last_deleted_value[64], last_bad[128];
    struct rco_error last_error;
};

static inline void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct world *w = ctx;
    const struct rco_configmap *o = old_obj;

    if (!old_obj)
        w->adds++;
    else if (new_obj)
        w->updates++;
    else {
        w->deletes++;
        snprintf(w->last_deleted, sizeof(w->last_deleted), "%s", o->metadata.name);
        snprintf(w->last_deleted_value, sizeof(w->last_deleted_value), "%s",
                 rco_str_or_empty(rco_kv_get(o->data, o->n_data, "k")));
    }
}

static inline void on_synced(void *ctx)
{
    ((struct world *)ctx)->synced++;
}

static inline void on_progress(void *ctx)
{
    ((struct world *)ctx)->progress++;
}

static inline void on_bad(void *ctx, const struct rco_key *key, const struct rco_error *err)
{
    struct world *w = ctx;

    w->bad++;
    snprintf(w->last_bad, sizeof(w->last_bad), "%s/%s", key->ns, key->name);
    assert_true(*err->msg);
}

static inline void on_good(void *ctx, const struct rco_key *key)
{
    (void)key;
    ((struct world *)ctx)->good++;
}

static inline void on_failed(void *ctx, enum rco_reflector_state state, const struct rco_error *err)
{
    struct world *w = ctx;

    (void)state;
    w->failed++;
    w->last_error = *err;
}

static inline struct rco_reflector *reflector_of(struct world *w, enum rco_list_mode mode)
{
    const struct rco_reflector_options options = {
        .loop = w->loop,
        .client = w->client,
        .gate = w->gate,
        .store = w->store,
        .scope = {.kind = RCO_KIND_CONFIGMAP, .label_selector = "x=y"},
        .mode = mode,
        .handler = {.synced = on_synced,
                    .progress = on_progress,
                    .undecodable = on_bad,
                    .decodable = on_good,
                    .failed = on_failed,
                    .ctx = w},
    };

    return rco_reflector_new(&options);
}

static inline void world_init(struct world *w, enum rco_list_mode mode)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(1);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    w->intern = rco_intern_new();
    w->store = rco_store_new(RCO_KIND_CONFIGMAP, w->intern);
    rco_store_add_handler(w->store, on_change, w);
    w->gate = rco_list_gate_new(w->loop);
    w->r = reflector_of(w, mode);
    rco_reflector_start(w->r);
    rco_loop_virtual_settle(w->loop);
}

static inline void world_release(struct world *w)
{
    rco_reflector_free(w->r);
    rco_list_gate_free(w->gate);
    rco_store_free(w->store);
    assert_int_equal(rco_intern_count(w->intern), 0); /* every reference was given back */
    rco_intern_free(w->intern);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop);
}

/* A list of ConfigMaps "name:rv:value,..." */
static inline char *list_json(const char *rv, const char *token, const char *items)
{
    rco_autobuf b = RCO_BUF_INIT;
    rco_autofree char *copy = rco_strdup(items);
    char *save = NULL;
    bool first = true;

    rco_buf_addf(&b,
                 "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
                 "\"resourceVersion\":\"%s\",\"continue\":\"%s\"},\"items\":[",
                 rv, token);
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *save2 = NULL, *name = strtok_r(item, ":", &save2), *irv = strtok_r(NULL, ":", &save2);
        rco_autofree char *object = cm_json("a", name, irv, strtok_r(NULL, ":", &save2));

        rco_buf_adds(&b, first ? "" : ",");
        rco_buf_adds(&b, object);
        first = false;
    }
    rco_buf_adds(&b, "]}");
    return rco_buf_take(&b);
}

static inline void answer_list(struct world *w, const char *rv, const char *token,
                               const char *items)
{
    rco_autofree char *body = list_json(rv, token, items);
    struct rco_http_call *c = fake_expect(&w->fake, "GET", KINDS "?");

    assert_null(strstr(c->path, "watch="));
    fake_answer(c, 200, body);
    rco_loop_virtual_settle(w->loop);
}

static inline struct rco_http_call *watch_of(struct world *w)
{
    return fake_expect(&w->fake, "GET", "watch=true");
}

static inline struct rco_http_call *open_watch(struct world *w)
{
    struct rco_http_call *c = watch_of(w);

    fake_head(c, 200);
    return c;
}

/* The last version has expired: the reflector lists anew. */
static inline void expire(struct world *w)
{
    assert_false(fake_data(watch_of(w),
                           "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":"
                           "\"Failure\",\"reason\":\"Expired\",\"code\":410}}\n"));
    rco_loop_virtual_settle(w->loop);
}

static const char *value_of(struct world *w, const char *name, struct rco_arena *a)
{
    const struct rco_configmap *c = rco_lister_get(w->store, "a", name, a);

    return c ? rco_kv_get(c->data, c->n_data, "k") : NULL;
}

/* --- lists --- */

#endif
