#include "runtime/workqueue.h"

#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S RCO_NS_PER_S
#define MS RCO_NS_PER_MS
#define NOW (100 * S)

static void add(struct rco_workqueue *q, const char *ns, const char *name, enum rco_priority p,
                rco_mono now)
{
    struct rco_key k = rco_key_of(ns, name);

    rco_workqueue_add(q, &k, p, now);
}

static void expect_next(struct rco_workqueue *q, rco_mono now, const char *want)
{
    struct rco_work w;
    char got[256];

    assert_true(rco_workqueue_get(q, now, &w));
    snprintf(got, sizeof(got), "%s/%s", w.key.ns, w.key.name);
    assert_string_equal(got, want);
}

static void expect_none(struct rco_workqueue *q, rco_mono now)
{
    struct rco_work w;

    assert_false(rco_workqueue_get(q, now, &w));
}

static void done(struct rco_workqueue *q, const char *ns, const char *name, rco_mono now)
{
    struct rco_key k = rco_key_of(ns, name);

    rco_workqueue_done(q, &k, now);
}

static void test_A61_A67_a_key_waits_once_and_runs_once_at_a_time(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();

    (void)state;
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    expect_next(q, NOW, "a/x");
    expect_none(q, NOW);
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW); /* a change during the run is not lost */
    add(q, "a", "x", RCO_PRIORITY_HIGH, NOW);
    expect_none(q, NOW);
    done(q, "a", "x", NOW);
    expect_next(q, NOW, "a/x");
    done(q, "a", "x", NOW);
    expect_none(q, NOW);
    assert_int_equal(rco_workqueue_next(q, NOW), 0);
    rco_workqueue_free(q);
}

static void test_A62_backoff_doubles_from_5_ms_to_1000_s_and_is_forgotten(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    struct rco_key k = rco_key_of("a", "x");
    int64_t want = 5 * MS;
    rco_mono now = NOW;

    (void)state;
    for (int i = 0; i < 40; i++) {
        rco_mono due = rco_workqueue_add_rate_limited(q, &k, RCO_PRIORITY_NORMAL, now);

        assert_int_equal(due - now, want);
        expect_none(q, due - 1);
        expect_next(q, due, "a/x");
        done(q, "a", "x", due);
        now = due;
        want = want * 2 > 1000 * S ? 1000 * S : want * 2;
    }
    assert_int_equal(rco_workqueue_failures(q, &k), 40);
    rco_workqueue_forget(q, &k);
    assert_int_equal(rco_workqueue_failures(q, &k), 0);
    assert_int_equal(rco_workqueue_add_rate_limited(q, &k, RCO_PRIORITY_NORMAL, now) - now, 5 * MS);
    rco_workqueue_free(q);
}

static void test_A63_a_retry_storm_is_spread_to_ten_a_second(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    rco_mono last = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        char name[16];

        snprintf(name, sizeof(name), "k%d", i);
        struct rco_key k = rco_key_of("a", name);
        last = rco_workqueue_add_rate_limited(q, &k, RCO_PRIORITY_NORMAL, NOW);
        if (i == 99)
            assert_int_equal(last - NOW, 5 * MS); /* the burst */
    }
    assert_in_range(last - NOW, 19 * S, 21 * S);
    rco_workqueue_free(q);
}

static void test_A74_conflicts_take_nothing_from_the_bucket(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        struct rco_key k = rco_key_of("a", name);
        assert_int_equal(rco_workqueue_add_backoff(q, &k, RCO_PRIORITY_NORMAL, NOW) - NOW, 5 * MS);
    }
    struct rco_key k = rco_key_of("a", "k0");
    assert_int_equal(rco_workqueue_add_backoff(q, &k, RCO_PRIORITY_NORMAL, NOW) - NOW, 10 * MS);
    k = rco_key_of("a", "failed");
    assert_int_equal(rco_workqueue_add_rate_limited(q, &k, RCO_PRIORITY_NORMAL, NOW) - NOW, 5 * MS);
    rco_workqueue_free(q);
}

static void test_A64_a_later_delay_never_moves_an_earlier_one(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    struct rco_key k = rco_key_of("a", "x");

    (void)state;
    rco_workqueue_add_at(q, &k, RCO_PRIORITY_NORMAL, NOW + 10 * S, NOW);
    rco_workqueue_add_at(q, &k, RCO_PRIORITY_NORMAL, NOW + 60 * S, NOW);
    assert_int_equal(rco_workqueue_next(q, NOW), NOW + 10 * S);
    rco_workqueue_add_at(q, &k, RCO_PRIORITY_NORMAL, NOW + 2 * S, NOW);
    assert_int_equal(rco_workqueue_next(q, NOW), NOW + 2 * S);
    expect_none(q, NOW + 2 * S - 1);
    expect_next(q, NOW + 2 * S, "a/x");
    done(q, "a", "x", NOW + 2 * S);
    expect_none(q, NOW + 100 * S); /* one timer, not three */
    rco_workqueue_free(q);
}

static void test_a_delayed_key_can_run_now_and_again_later(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    struct rco_key k = rco_key_of("a", "x");

    (void)state;
    rco_workqueue_add_at(q, &k, RCO_PRIORITY_NORMAL, NOW + 10 * S, NOW);
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    expect_next(q, NOW, "a/x");
    done(q, "a", "x", NOW);
    expect_none(q, NOW + S);
    expect_next(q, NOW + 10 * S, "a/x");
    rco_workqueue_free(q);
}

static void test_A66_priorities_come_first_and_merge_upwards(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();

    (void)state;
    add(q, "a", "low", RCO_PRIORITY_LOW, NOW);
    add(q, "a", "normal", RCO_PRIORITY_NORMAL, NOW);
    add(q, "a", "high", RCO_PRIORITY_HIGH, NOW);
    add(q, "a", "risen", RCO_PRIORITY_LOW, NOW);
    add(q, "a", "risen", RCO_PRIORITY_HIGH, NOW);
    add(q, "a", "high", RCO_PRIORITY_LOW, NOW); /* never downwards */
    expect_next(q, NOW, "a/high");
    expect_next(q, NOW, "a/risen");
    expect_next(q, NOW, "a/normal");
    expect_next(q, NOW, "a/low");
    expect_none(q, NOW);
    rco_workqueue_free(q);
}

static void test_A66_low_priority_work_rises_one_level_per_30_s(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    rco_mono now = NOW;
    bool seen = false;

    (void)state;
    add(q, "a", "old", RCO_PRIORITY_LOW, now);
    /* An endless stream of high priority work. */
    for (int i = 0; i < 1500 && !seen; i++) {
        struct rco_work w;
        char name[16];

        snprintf(name, sizeof(name), "h%d", i);
        add(q, "a", name, RCO_PRIORITY_HIGH, now);
        snprintf(name, sizeof(name), "g%d", i);
        if (i % 2)
            add(q, "a", name, RCO_PRIORITY_HIGH, now);
        assert_true(rco_workqueue_get(q, now, &w));
        seen = strcmp(w.key.name, "old") == 0;
        rco_workqueue_done(q, &w.key, now);
        if (seen)
            assert_true(now - NOW >= 60 * S);
        now += 100 * MS;
    }
    assert_true(seen);
    rco_workqueue_free(q);
}

static void test_namespaces_take_turns(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        add(q, "noisy", name, RCO_PRIORITY_NORMAL, NOW);
    }
    add(q, "quiet", "x", RCO_PRIORITY_NORMAL, NOW);
    add(q, "quiet", "y", RCO_PRIORITY_NORMAL, NOW);
    expect_next(q, NOW, "noisy/n0");
    expect_next(q, NOW, "quiet/x");
    expect_next(q, NOW, "noisy/n1");
    expect_next(q, NOW, "quiet/y");
    expect_next(q, NOW, "noisy/n2");
    expect_next(q, NOW, "noisy/n3");
    rco_workqueue_free(q);
}

static void test_quarantined_key_is_neither_taken_nor_added(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    struct rco_key k = rco_key_of("a", "bad");
    struct rco_workqueue_stats s;

    (void)state;
    add(q, "a", "bad", RCO_PRIORITY_NORMAL, NOW);
    rco_workqueue_add_at(q, &k, RCO_PRIORITY_NORMAL, NOW + S, NOW);
    rco_workqueue_quarantine(q, &k);
    expect_none(q, NOW + 2 * S);
    add(q, "a", "bad", RCO_PRIORITY_HIGH, NOW);
    rco_workqueue_add_rate_limited(q, &k, RCO_PRIORITY_HIGH, NOW);
    expect_none(q, NOW + 5000 * S);
    rco_workqueue_stats(q, NOW, &s);
    assert_int_equal(s.quarantined, 1);
    rco_workqueue_unquarantine(q, &k);
    add(q, "a", "bad", RCO_PRIORITY_NORMAL, NOW);
    expect_next(q, NOW, "a/bad");
    rco_workqueue_quarantine(q, &k); /* while it runs */
    add(q, "a", "bad", RCO_PRIORITY_NORMAL, NOW);
    done(q, "a", "bad", NOW);
    expect_none(q, NOW);
    rco_workqueue_free(q);
}

static void test_A70_shutdown_hands_out_nothing_and_takes_done(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();

    (void)state;
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    add(q, "a", "y", RCO_PRIORITY_NORMAL, NOW);
    expect_next(q, NOW, "a/x");
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    rco_workqueue_shutdown(q);
    expect_none(q, NOW);
    add(q, "a", "z", RCO_PRIORITY_HIGH, NOW);
    done(q, "a", "x", NOW);
    expect_none(q, NOW);
    assert_int_equal(rco_workqueue_next(q, NOW), 0);
    rco_workqueue_free(q);
}

static void test_stats_tell_depth_and_running_work(void **state)
{
    struct rco_workqueue *q = rco_workqueue_new();
    struct rco_workqueue_stats s;

    (void)state;
    add(q, "a", "x", RCO_PRIORITY_NORMAL, NOW);
    add(q, "b", "y", RCO_PRIORITY_LOW, NOW);
    expect_next(q, NOW, "a/x");
    rco_workqueue_stats(q, NOW + 3 * S, &s);
    assert_int_equal(s.depth[RCO_PRIORITY_LOW], 1);
    assert_int_equal(s.depth[RCO_PRIORITY_NORMAL], 0);
    assert_int_equal(s.processing, 1);
    assert_int_equal(s.unfinished_ns, 3 * S);
    assert_int_equal(s.oldest_processing, NOW);
    assert_int_equal(s.adds, 2);
    rco_workqueue_free(q);
}

/* No key is lost, none runs twice at once: random operations against a model. */
static void test_random_operations_lose_no_key(void **state)
{
    enum { KEYS = 50 };
    struct rco_workqueue *q = rco_workqueue_new();
    bool wanted[KEYS] = {0}, running[KEYS] = {0};
    rco_mono now = NOW;
    uint64_t seed = 7;

    (void)state;
    for (int step = 0; step < 50000; step++) {
        char name[16], ns[16];
        struct rco_work w;

        seed = rco_hash(&seed, sizeof(seed), 3);
        unsigned k = (unsigned)(seed % KEYS);
        snprintf(name, sizeof(name), "%u", k);
        snprintf(ns, sizeof(ns), "t%u", k % 5);
        struct rco_key key = rco_key_of(ns, name);
        switch ((seed >> 20) % 4) {
        case 0:
            rco_workqueue_add(q, &key, (enum rco_priority)((seed >> 30) % 3), now);
            wanted[k] = true;
            break;
        case 1:
            rco_workqueue_add_at(q, &key, RCO_PRIORITY_NORMAL, now + (int64_t)(seed >> 30) % S,
                                 now);
            wanted[k] = true;
            break;
        case 2:
            if (rco_workqueue_get(q, now, &w)) {
                unsigned got = (unsigned)atoi(w.key.name);

                assert_false(running[got]);
                running[got] = true;
                wanted[got] = false;
            }
            break;
        default:
            if (running[k]) {
                running[k] = false;
                rco_workqueue_done(q, &key, now);
            }
        }
        now += 10 * MS;
    }
    now += 2 * S;
    for (unsigned k = 0; k < KEYS; k++) {
        char name[16], ns[16];

        snprintf(name, sizeof(name), "%u", k);
        snprintf(ns, sizeof(ns), "t%u", k % 5);
        struct rco_key key = rco_key_of(ns, name);
        if (running[k])
            rco_workqueue_done(q, &key, now);
    }
    struct rco_work w;
    while (rco_workqueue_get(q, now, &w)) {
        wanted[atoi(w.key.name)] = false;
        rco_workqueue_done(q, &w.key, now);
    }
    for (unsigned k = 0; k < KEYS; k++)
        assert_false(wanted[k]);
    rco_workqueue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A61_A67_a_key_waits_once_and_runs_once_at_a_time),
        cmocka_unit_test(test_A62_backoff_doubles_from_5_ms_to_1000_s_and_is_forgotten),
        cmocka_unit_test(test_A63_a_retry_storm_is_spread_to_ten_a_second),
        cmocka_unit_test(test_A74_conflicts_take_nothing_from_the_bucket),
        cmocka_unit_test(test_A64_a_later_delay_never_moves_an_earlier_one),
        cmocka_unit_test(test_a_delayed_key_can_run_now_and_again_later),
        cmocka_unit_test(test_A66_priorities_come_first_and_merge_upwards),
        cmocka_unit_test(test_A66_low_priority_work_rises_one_level_per_30_s),
        cmocka_unit_test(test_namespaces_take_turns),
        cmocka_unit_test(test_quarantined_key_is_neither_taken_nor_added),
        cmocka_unit_test(test_A70_shutdown_hands_out_nothing_and_takes_done),
        cmocka_unit_test(test_stats_tell_depth_and_running_work),
        cmocka_unit_test(test_random_operations_lose_no_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
