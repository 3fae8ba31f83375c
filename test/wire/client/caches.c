/* Lists and watches as informers see them. */
#include "cache.h"
#include "tests.h"
#include "world.h"

#include "base/buf.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t created, refused;

static void on_created(void *ctx, const struct rco_kube_result *r, const struct rco_error *err)
{
    (void)ctx;
    (void)r;
    created += !err;
    refused += err != NULL;
}

static bool all_created(void *ctx)
{
    (void)ctx;
    return created + refused == OBJECTS;
}

void test_two_thousand_creates_with_the_adaptive_limit(void **state)
{
    rco_mono began = rco_clock_mono();

    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        rco_autobuf b = RCO_BUF_INIT;

        rco_buf_addf(
            &b,
            "{\"metadata\":{\"name\":\"object-%04d\",\"labels\":{\"t\":\"1\",\"half\":\"%d\"}},"
            "\"data\":{\"k\":\"v%d\"}}",
            i, i % 2, i);
        const struct rco_kube_request q = {.verb = RCO_KUBE_CREATE,
                                           .kind = RCO_KIND_CONFIGMAP,
                                           .ns = NS,
                                           .name = "object",
                                           .body = b.data,
                                           .body_len = b.len,
                                           .deadline_ns = 120 * S};
        rco_kube_start(wire.client, &q, on_created, NULL);
    }
    wire_wait_for("2,000 creates", all_created, NULL, 120 * S);
    print_message("    %d creates in %.1f s, limit at the end %u\n", OBJECTS,
                  (double)(rco_clock_mono() - began) / 1e9, rco_kube_client_limit(wire.client));
    assert_int_equal(refused, 0);
}

static void lists_all(enum rco_list_mode mode)
{
    struct wire_cache c;
    rco_autoarena a = RCO_ARENA_INIT;
    rco_mono began = rco_clock_mono();
    struct rco_store_stats stats;

    wire_cache_init(&c, mode, "t=1");
    wire_wait_for("the list", wire_has_synced, &c, 30 * S);
    rco_store_stats(rco_informer_store(c.informer), &stats);
    print_message("    %zu objects in %.0f ms, %zu bytes each\n", stats.objects,
                  (double)(rco_clock_mono() - began) / 1e6,
                  (stats.record_bytes + stats.table_bytes) / stats.objects);
    assert_int_equal(stats.objects, OBJECTS);
    assert_int_equal(c.failed, 0);
    assert_string_equal(wire_value_of(&c, "object-0000", &a), "v0");
    assert_string_equal(wire_value_of(&c, "object-1999", &a), "v1999");
    assert_int_equal(rco_reflector_counters(rco_informer_reflector(c.informer))->fallbacks, 0);
    wire_cache_release(&c);
}

void test_A20_list_in_pages_finds_every_object(void **state)
{
    (void)state;
    lists_all(RCO_LIST_PAGED);
}

void test_A23_streaming_list_finds_every_object(void **state)
{
    (void)state;
    lists_all(RCO_LIST_STREAMING);
}

static void watch_shows_changes(enum rco_list_mode mode)
{
    struct wire_cache c;
    rco_autoarena a = RCO_ARENA_INIT;
    char uid[64];

    wire_cache_init(&c, mode, "half=1");
    wire_wait_for("the list", wire_has_synced, &c, 30 * S);
    assert_int_equal(rco_lister_size(rco_informer_store(c.informer)), OBJECTS / 2);
    assert_int_equal(wire_get("object-0001"), RCO_OK);
    assert_int_equal(wire_patch("object-0001", wire.rv, mode == RCO_LIST_PAGED ? "p" : "s"),
                     RCO_OK);
    c.want = 1;
    wire_wait_for("the update", wire_has_updates, &c, 5 * S);
    assert_string_equal(wire_value_of(&c, "object-0001", &a), mode == RCO_LIST_PAGED ? "p" : "s");
    c.want_rv = wire.rv; /* A10, A78: the store has reached our own write */
    assert_true(wire_has_rv(&c));
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "short-lived", ""), RCO_OK);
    memcpy(uid, wire.uid, sizeof(uid));
    assert_int_equal(wire_delete("short-lived", uid), RCO_OK);
    assert_int_equal(c.failed, 0);
    assert_int_equal(rco_reflector_counters(rco_informer_reflector(c.informer))->lists, 1);
    wire_cache_release(&c);
}

void test_watch_after_a_paged_list_shows_changes(void **state)
{
    (void)state;
    watch_shows_changes(RCO_LIST_PAGED);
}

void test_watch_after_a_streaming_list_shows_changes(void **state)
{
    (void)state;
    watch_shows_changes(RCO_LIST_STREAMING);
}

void test_object_that_leaves_the_selector_is_deleted_from_the_cache(void **state)
{
    struct wire_cache c;
    const char *body = "{\"metadata\":{\"labels\":{\"half\":\"none\"}}}";
    const struct rco_kube_request q = {.verb = RCO_KUBE_PATCH,
                                       .kind = RCO_KIND_CONFIGMAP,
                                       .ns = NS,
                                       .name = "object-0003",
                                       .body = body,
                                       .body_len = strlen(body)};

    (void)state;
    wire_cache_init(&c, RCO_LIST_PAGED, "half=1");
    wire_wait_for("the list", wire_has_synced, &c, 30 * S);
    assert_int_equal(wire_request(&q), RCO_OK);
    c.want = 1;
    wire_wait_for("the deletion", wire_has_deletes, &c, 5 * S);
    wire_cache_release(&c);
}
