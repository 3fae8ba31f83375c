/* Watches and lists without an informer: how they end and expire. */
#include "tests.h"
#include "world.h"

#include "base/clock.h"
#include "kube/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- raw watches --- */

struct watch {
    bool opened, done;
    enum rco_code code;
    char msg[512];
};

static void on_opened(void *ctx)
{
    ((struct watch *)ctx)->opened = true;
}

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    (void)ctx;
    (void)type;
    (void)object;
    (void)n;
    (void)err;
    return 0;
}

static void on_watch_done(void *ctx, const struct rco_error *err)
{
    struct watch *w = ctx;

    w->done = true;
    w->code = err ? err->code : RCO_OK;
    snprintf(w->msg, sizeof(w->msg), "%s", err ? err->msg : "");
}

static void watch_from(struct watch *w, const char *rv, int timeout_s, int64_t patience)
{
    const struct rco_watch_done h = {
        .opened = on_opened, .event = on_event, .done = on_watch_done, .ctx = w};
    const struct rco_watch_request q = {.scope = {.kind = RCO_KIND_CONFIGMAP, .ns = NS},
                                        .resource_version = rv,
                                        .timeout_s = timeout_s};

    memset(w, 0, sizeof(*w));
    rco_kube_watch(wire.client, &q, &h);
    wire_wait_for("the end of the watch", wire_is_true, &w->done, patience);
}

void test_A12_expired_version_is_recognised(void **state)
{
    struct watch w;

    (void)state;
    /* The API server was restarted: its watch cache begins after everything above. */
    watch_from(&w, "1", 30, 20 * S);
    print_message("    opened %d: %s\n", w.opened, w.msg);
    assert_int_equal(w.code, RCO_EGONE);
}

void test_A15_watch_ends_cleanly_at_its_timeout(void **state)
{
    struct watch w;
    rco_mono began = rco_clock_mono();

    (void)state;
    assert_int_equal(wire_get("object-0000"), RCO_OK);
    watch_from(&w, wire.rv, 2, 20 * S);
    /* object-0000 may be older than the window of the watch cache; then it is the other rule. */
    if (w.code == RCO_EGONE) {
        assert_int_equal(wire_patch("object-0000", wire.rv, "fresh"), RCO_OK);
        began = rco_clock_mono();
        watch_from(&w, wire.rv, 2, 20 * S);
    }
    assert_true(w.opened);
    assert_int_equal(w.code, RCO_OK);
    assert_true(rco_clock_mono() - began >= 1900 * MS);
}

static bool list_done;
static enum rco_code list_code;

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    (void)ctx;
    (void)json;
    (void)n;
    (void)err;
    return 0;
}

static void on_list_done(void *ctx, const char *rv, const char *token, const struct rco_error *err)
{
    (void)ctx;
    (void)rv;
    (void)token;
    list_done = true;
    list_code = err ? err->code : RCO_OK;
}

void test_A4_version_of_the_future_is_recognised(void **state)
{
    const struct rco_list_done h = {.item = on_item, .done = on_list_done};
    const struct rco_list_request q = {.scope = {.kind = RCO_KIND_CONFIGMAP, .ns = NS},
                                       .resource_version = "999999999",
                                       .resource_version_match = "NotOlderThan"};

    (void)state;
    rco_kube_list_page(wire.client, &q, &h);
    wire_wait_for("the list", wire_is_true, &list_done, 20 * S);
    assert_int_equal(list_code, RCO_EGONE);
}
