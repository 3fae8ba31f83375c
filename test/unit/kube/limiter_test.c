#include "kube/limiter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS RCO_NS_PER_MS
#define S RCO_NS_PER_S

/* One round of as many requests as may be under way, each with STATUS and LATENCY. */
static rco_mono round_of(struct rco_limiter *l, rco_mono now, int status, int64_t latency)
{
    unsigned n = 0;

    while (rco_limiter_may_start(l, now)) {
        rco_limiter_start(l);
        n++;
    }
    for (; n > 0; n--) {
        rco_limiter_done(l, now + latency, status, latency, 0);
        if (rco_limiter_may_start(l, now + latency) && n > 1) {
            rco_limiter_start(l); /* kept full, as a client with a queue does */
            n++;
            if (l->in_flight > 400)
                break;
            n--;
        }
    }
    while (l->in_flight > 0)
        rco_limiter_cancelled(l);
    return now + latency;
}

static void test_starts_at_eight(void **state)
{
    struct rco_limiter l;
    unsigned n = 0;

    (void)state;
    rco_limiter_init(&l);
    while (rco_limiter_may_start(&l, S)) {
        rco_limiter_start(&l);
        n++;
    }
    assert_int_equal(n, 8);
}

static void test_grows_while_latency_is_flat(void **state)
{
    struct rco_limiter l;
    rco_mono now = S;

    (void)state;
    rco_limiter_init(&l);
    for (int i = 0; i < 400; i++)
        now = round_of(&l, now, 200, 30 * MS);
    assert_true(l.limit > 16);
    assert_true(l.limit <= RCO_LIMIT_MAX);
}

static void test_stops_growing_when_latency_doubles(void **state)
{
    struct rco_limiter l;
    rco_mono now = S;

    (void)state;
    rco_limiter_init(&l);
    now = round_of(&l, now, 200, 30 * MS);
    unsigned before = l.limit;
    for (int i = 0; i < 100; i++)
        now = round_of(&l, now, 200, 70 * MS);
    assert_int_equal(l.limit, before);
}

static void test_does_not_grow_while_nothing_waits(void **state)
{
    struct rco_limiter l;

    (void)state;
    rco_limiter_init(&l);
    for (int i = 0; i < 10000; i++) {
        rco_limiter_start(&l);
        rco_limiter_done(&l, S + i * MS, 200, MS, 0);
    }
    assert_int_equal(l.limit, RCO_LIMIT_START);
}

static void test_halves_on_429_but_once_per_burst_of_answers(void **state)
{
    struct rco_limiter l;

    (void)state;
    rco_limiter_init(&l);
    for (int i = 0; i < 8; i++)
        rco_limiter_start(&l);
    for (int i = 0; i < 8; i++)
        rco_limiter_done(&l, 10 * S + i * MS, 429, MS, 0);
    assert_int_equal(l.limit, 4);
    for (int i = 0; i < 10; i++) {
        rco_limiter_start(&l);
        rco_limiter_done(&l, (20 + i) * S, 503, MS, 0);
    }
    assert_int_equal(l.limit, RCO_LIMIT_MIN);
    assert_true(rco_limiter_may_start(&l, 40 * S)); /* never stuck */
}

static void test_A43_retry_after_closes_the_gate_for_all(void **state)
{
    struct rco_limiter l;

    (void)state;
    rco_limiter_init(&l);
    rco_limiter_start(&l);
    rco_limiter_done(&l, 10 * S, 429, MS, 2500);
    assert_false(rco_limiter_may_start(&l, 12 * S));
    assert_true(rco_limiter_may_start(&l, 10 * S + 2500 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_at_eight),
        cmocka_unit_test(test_grows_while_latency_is_flat),
        cmocka_unit_test(test_stops_growing_when_latency_doubles),
        cmocka_unit_test(test_does_not_grow_while_nothing_waits),
        cmocka_unit_test(test_halves_on_429_but_once_per_burst_of_answers),
        cmocka_unit_test(test_A43_retry_after_closes_the_gate_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
