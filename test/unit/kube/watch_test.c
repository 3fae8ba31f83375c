#include "kube/watch.h"

#include "../runtime/fake.h"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_stream_call *call;
    unsigned items, events, opened, done, unauthorized;
    int code;
    char rv[64], token[64], last[256];
    bool cancel_inside, refuse;
};

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct world *w = ctx;

    w->items++;
    snprintf(w->last, sizeof(w->last), "%.*s", (int)n, json);
    if (w->refuse)
        return rco_error_set(err, RCO_EINTERNAL, "enough");
    if (w->cancel_inside) {
        rco_stream_cancel(w->call);
        w->call = NULL;
    }
    return 0;
}

static void on_list_done(void *ctx, const char *rv, const char *token, const struct rco_error *err)
{
    struct world *w = ctx;

    w->done++;
    w->code = err ? err->code : RCO_OK;
    snprintf(w->rv, sizeof(w->rv), "%s", rv);
    snprintf(w->token, sizeof(w->token), "%s", token);
}

static void on_opened(void *ctx)
{
    ((struct world *)ctx)->opened++;
}

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    struct world *w = ctx;

    (void)err;
    assert_int_not_equal(type, RCO_WATCH_ERROR);
    w->events++;
    snprintf(w->last, sizeof(w->last), "%.*s", (int)n, object);
    if (w->cancel_inside) {
        rco_stream_cancel(w->call);
        w->call = NULL;
    }
    return 0;
}

static void on_watch_done(void *ctx, const struct rco_error *err)
{
    struct world *w = ctx;

    w->done++;
    w->code = err ? err->code : RCO_OK;
}

static void on_unauthorized(void *ctx)
{
    ((struct world *)ctx)->unauthorized++;
}

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(2);
    fake_init(&w->fake, w->loop);
    const struct rco_kube_client_options options = {.unauthorized = on_unauthorized, .ctx = w};
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, &options);
}

static void world_release(struct world *w)
{
    rco_kube_client_free(w->client);
    assert_null(w->fake.open);
    rco_loop_virtual_free(w->loop);
}

static void list(struct world *w)
{
    const struct rco_list_done h = {.item = on_item, .done = on_list_done, .ctx = w};
    const struct rco_list_request q = {.scope = {.kind = RCO_KIND_POD, .ns = "a"}, .limit = 2};

    w->call = rco_kube_list_page(w->client, &q, &h);
}

static void watch(struct world *w)
{
    const struct rco_watch_done h = {
        .opened = on_opened, .event = on_event, .done = on_watch_done, .ctx = w};
    const struct rco_watch_request q = {
        .scope = {.kind = RCO_KIND_POD, .field_selector = "metadata.name=x"},
        .resource_version = "5",
        .timeout_s = 30};

    w->call = rco_kube_watch(w->client, &q, &h);
}

static void test_list_page_gives_items_and_the_way_on(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    list(&w);
    assert_string_equal(w.fake.open->path, "/api/v1/namespaces/a/pods?limit=2");
    fake_head(w.fake.open, 200);
    fake_data(w.fake.open, "{\"items\":[{\"a\":1},{\"b\"");
    fake_data(w.fake.open, ":2}],\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"t\"}}");
    fake_end(w.fake.open);
    assert_int_equal(w.items, 2);
    assert_string_equal(w.last, "{\"b\":2}");
    assert_string_equal(w.rv, "9");
    assert_string_equal(w.token, "t");
    assert_int_equal(w.code, RCO_OK);
    world_release(&w);
}

static void test_list_that_is_cut_short_is_no_list(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    list(&w);
    fake_head(w.fake.open, 200);
    fake_data(w.fake.open, "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{\"a\":1}");
    fake_end(w.fake.open);
    assert_int_equal(w.done, 1);
    assert_int_not_equal(w.code, RCO_OK);
    list(&w);
    fake_head(w.fake.open, 200);
    fake_data(w.fake.open, "{\"items\":[");
    fake_fail(w.fake.open, RCO_EUNAVAILABLE);
    assert_int_equal(w.code, RCO_EUNAVAILABLE);
    world_release(&w);
}

static void test_error_answers_are_mapped_and_told(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    list(&w);
    fake_status(w.fake.open, 410, "Expired");
    assert_int_equal(w.code, RCO_EGONE);
    watch(&w);
    fake_status(w.fake.open, 401, "Unauthorized");
    assert_int_equal(w.code, RCO_EUNAUTHORIZED);
    assert_int_equal(w.unauthorized, 1);
    assert_int_equal(w.opened, 0);
    watch(&w);
    fake_answer(w.fake.open, 502, "<html>bad gateway</html>");
    assert_int_equal(w.code, RCO_EUNAVAILABLE);
    assert_int_equal(w.events, 0);
    world_release(&w);
}

static void test_watch_request_and_events(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    watch(&w);
    assert_string_equal(w.fake.open->path,
                        "/api/v1/pods?fieldSelector=metadata.name%3Dx&watch=true&"
                        "allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion=5");
    fake_head(w.fake.open, 200);
    assert_int_equal(w.opened, 1);
    fake_data(w.fake.open, "{\"type\":\"ADDED\",\"object\":{\"x\":1}}\n{\"type\":\"MOD");
    fake_data(w.fake.open, "IFIED\",\"object\":{\"x\":2}}\n");
    assert_int_equal(w.events, 2);
    assert_string_equal(w.last, "{\"x\":2}");
    fake_end(w.fake.open);
    assert_int_equal(w.code, RCO_OK);
    world_release(&w);
}

static void test_item_that_is_refused_ends_the_request_with_its_reason(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.refuse = true;
    list(&w);
    fake_head(w.fake.open, 200);
    assert_false(fake_data(w.fake.open, "{\"items\":[{\"a\":1},{\"b\":2}]}"));
    assert_int_equal(w.items, 1);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_EINTERNAL);
    world_release(&w);
}

static void test_cancel_from_inside_is_silent(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.cancel_inside = true;
    list(&w);
    fake_head(w.fake.open, 200);
    assert_false(fake_data(w.fake.open, "{\"items\":[{\"a\":1},{\"b\":2}]}"));
    assert_int_equal(w.items, 1);
    watch(&w);
    fake_head(w.fake.open, 200);
    assert_false(fake_data(w.fake.open, "{\"type\":\"ADDED\",\"object\":{}}\n"
                                        "{\"type\":\"ADDED\",\"object\":{}}\n"));
    assert_int_equal(w.events, 1);
    assert_int_equal(w.done, 0);
    world_release(&w);
}

static void test_cancel_from_outside_and_end_of_the_client(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    watch(&w);
    rco_stream_cancel(w.call);
    assert_null(w.fake.open);
    watch(&w);
    list(&w);
    world_release(&w); /* drops both */
    assert_int_equal(w.done, 0);
}

static void test_garbage_in_a_watch_is_an_error_not_an_end(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    watch(&w);
    fake_head(w.fake.open, 200);
    assert_false(fake_data(w.fake.open, "<html>\n"));
    assert_int_equal(w.done, 1);
    assert_int_not_equal(w.code, RCO_OK);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_page_gives_items_and_the_way_on),
        cmocka_unit_test(test_list_that_is_cut_short_is_no_list),
        cmocka_unit_test(test_error_answers_are_mapped_and_told),
        cmocka_unit_test(test_watch_request_and_events),
        cmocka_unit_test(test_item_that_is_refused_ends_the_request_with_its_reason),
        cmocka_unit_test(test_cancel_from_inside_is_silent),
        cmocka_unit_test(test_cancel_from_outside_and_end_of_the_client),
        cmocka_unit_test(test_garbage_in_a_watch_is_an_error_not_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
