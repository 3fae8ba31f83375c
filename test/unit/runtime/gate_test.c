#include "runtime/gate.h"

#include "api/zz_generated_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW (100 * RCO_NS_PER_S)

struct world {
    struct rco_intern *intern;
    struct rco_store *store;
    const struct rco_store *stores[RCO_KIND_COUNT];
};

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->intern = rco_intern_new();
    w->store = rco_store_new(RCO_KIND_JOB, w->intern);
    w->stores[RCO_KIND_JOB] = w->store;
}

static void world_release(struct world *w)
{
    rco_store_free(w->store);
    rco_intern_free(w->intern);
}

static void put(struct world *w, const char *uid, rco_wall deletion)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_job *j = RCO_NEW(&a, struct rco_job);

    j->metadata = (struct rco_meta){.ns = "a", .name = "x", .uid = uid, .deletion = deletion};
    rco_store_upsert(w->store, j, &a);
}

static void test_A78_write_is_awaited_until_the_store_has_reached_it(void **state)
{
    struct world w;
    struct rco_gate *g = NULL;

    (void)state;
    world_init(&w);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "100", NOW);
    assert_int_equal(rco_gate_kinds(g), 1u << RCO_KIND_JOB);
    assert_false(rco_gate_check(&g, w.stores));
    rco_store_set_rv(w.store, "99");
    assert_false(rco_gate_check(&g, w.stores));
    rco_store_set_rv(w.store, "100");
    assert_true(rco_gate_check(&g, w.stores));
    assert_null(g);
    assert_true(rco_gate_check(&g, w.stores));
    world_release(&w);
}

static void test_later_write_of_the_same_object_replaces_the_earlier(void **state)
{
    struct world w;
    struct rco_gate *g = NULL;

    (void)state;
    world_init(&w);
    rco_store_set_rv(w.store, "150");
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "100", NOW);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "200", NOW);
    assert_false(rco_gate_check(&g, w.stores));
    rco_store_set_rv(w.store, "200");
    assert_true(rco_gate_check(&g, w.stores));
    world_release(&w);
}

static void test_kind_that_is_not_watched_holds_nothing_up(void **state)
{
    struct world w;
    struct rco_gate *g = NULL;

    (void)state;
    world_init(&w);
    rco_gate_expect_rv(&g, RCO_KIND_SECRET, "a", "x", "100", NOW);
    assert_true(rco_gate_check(&g, w.stores));
    world_release(&w);
}

static void test_malformed_version_is_not_awaited_for_ever(void **state)
{
    struct rco_gate *g = NULL;

    (void)state;
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "", NOW);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", NULL, NOW);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "0", NOW);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "12a", NOW);
    assert_null(g);
}

static void test_delete_is_awaited_until_gone_terminating_or_another(void **state)
{
    struct world w;
    struct rco_gate *g = NULL;
    const char *uid = "11111111-2222-4333-8444-555555555555";
    const char *other = "99999999-2222-4333-8444-555555555555";
    struct rco_key k = rco_key_of("a", "x");

    (void)state;
    world_init(&w);
    put(&w, uid, 0);
    rco_gate_expect_gone(&g, RCO_KIND_JOB, "a", "x", uid, NOW);
    assert_false(rco_gate_check(&g, w.stores));
    put(&w, uid, 1767225600 * RCO_US_PER_S);
    assert_true(rco_gate_check(&g, w.stores));
    put(&w, uid, 0);
    rco_gate_expect_gone(&g, RCO_KIND_JOB, "a", "x", uid, NOW);
    put(&w, other, 0);
    assert_true(rco_gate_check(&g, w.stores));
    rco_gate_expect_gone(&g, RCO_KIND_JOB, "a", "x", other, NOW);
    rco_store_remove(w.store, &k);
    assert_true(rco_gate_check(&g, w.stores));
    world_release(&w);
}

static void test_deadline_is_30_s_and_can_be_moved(void **state)
{
    struct rco_gate *g = NULL;

    (void)state;
    assert_int_equal(rco_gate_deadline(g), 0);
    rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", "x", "100", NOW);
    assert_int_equal(rco_gate_deadline(g), NOW + 30 * RCO_NS_PER_S);
    rco_gate_extend(g, NOW + 31 * RCO_NS_PER_S);
    assert_int_equal(rco_gate_deadline(g), NOW + 61 * RCO_NS_PER_S);
    rco_gate_free(g);
}

static void test_a_plan_of_a_thousand_writes_is_bounded(void **state)
{
    struct world w;
    struct rco_gate *g = NULL;
    char name[16];

    (void)state;
    world_init(&w);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        rco_gate_expect_rv(&g, RCO_KIND_JOB, "a", name, "100", NOW);
    }
    assert_false(rco_gate_check(&g, w.stores));
    rco_store_set_rv(w.store, "100");
    assert_true(rco_gate_check(&g, w.stores));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A78_write_is_awaited_until_the_store_has_reached_it),
        cmocka_unit_test(test_later_write_of_the_same_object_replaces_the_earlier),
        cmocka_unit_test(test_kind_that_is_not_watched_holds_nothing_up),
        cmocka_unit_test(test_malformed_version_is_not_awaited_for_ever),
        cmocka_unit_test(test_delete_is_awaited_until_gone_terminating_or_another),
        cmocka_unit_test(test_deadline_is_30_s_and_can_be_moved),
        cmocka_unit_test(test_a_plan_of_a_thousand_writes_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
