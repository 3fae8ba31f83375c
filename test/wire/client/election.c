/* Leader election and Events. */
#include "tests.h"
#include "world.h"

#include "base/clock.h"
#include "runtime/elector.h"
#include "runtime/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- election --- */

struct candidate {
    struct rco_elector *e;
    bool leads, lost, released;
    int64_t transitions;
    rco_mono since;
};

static void on_started(void *ctx, int64_t transitions)
{
    struct candidate *c = ctx;

    c->leads = true;
    c->transitions = transitions;
    c->since = rco_clock_mono();
}

static void on_lost(void *ctx, const char *why)
{
    (void)why;
    ((struct candidate *)ctx)->lost = true;
}

static void on_released(void *ctx)
{
    ((struct candidate *)ctx)->released = true;
}

static void candidate_init(struct candidate *c, const char *identity)
{
    const struct rco_elector_options o = {
        .loop = wire.loop,
        .client = wire.client,
        .ns = NS,
        .name = "leader",
        .identity = identity,
        .timing = {6 * S, 4 * S, S},
        .handler = {.started = on_started, .lost = on_lost, .ctx = c}};

    memset(c, 0, sizeof(*c));
    c->e = rco_elector_new(&o);
    rco_elector_start(c->e);
}

void test_leadership_is_handed_over_at_once_and_taken_after_a_crash(void **state)
{
    struct candidate a, b, c;
    rco_mono began;

    (void)state;
    candidate_init(&a, "a");
    wire_wait_for("the first leader", wire_is_true, &a.leads, 5 * S);
    assert_int_equal(a.transitions, 1);
    candidate_init(&b, "b");
    wire_run_for(8 * S); /* longer than the lease: renewals go on */
    assert_false(b.leads);
    assert_true(rco_elector_may_write(a.e));
    began = rco_clock_mono();
    rco_elector_release(a.e, on_released, &a);
    wire_wait_for("the hand-over", wire_is_true, &b.leads, 5 * S);
    print_message("    hand-over in %.0f ms\n", (double)(b.since - began) / 1e6);
    assert_true(b.since - began < 500 * MS);
    assert_int_equal(b.transitions, 2);
    assert_true(a.released);
    candidate_init(&c, "c");
    wire_run_for(S);
    began = rco_clock_mono();
    rco_elector_free(b.e); /* a crash: nothing is released */
    wire_wait_for("the takeover", wire_is_true, &c.leads, 12 * S);
    print_message("    takeover after a crash in %.1f s\n", (double)(c.since - began) / 1e9);
    assert_true(c.since - began >= 4 * S);
    assert_int_equal(c.transitions, 3);
    rco_elector_free(a.e);
    rco_elector_free(c.e);
}

/* --- events --- */

static bool sent(void *ctx)
{
    return rco_recorder_counters(ctx)->sent + rco_recorder_counters(ctx)->failed >= 1;
}

void test_events_are_accepted(void **state)
{
    const struct rco_recorder_options o = {.loop = wire.loop,
                                           .client = wire.client,
                                           .controller = "runtimecloud.io/controller",
                                           .instance = "wire-0"};
    struct rco_recorder *r = rco_recorder_new(&o);
    struct rco_occurrence e = {.kind = RCO_KIND_CONFIGMAP,
                               .ns = NS,
                               .name = "object-0000",
                               .uid = "11111111-2222-4333-8444-555555555555",
                               .type = "Warning",
                               .reason = "Tested",
                               .note = "on the wire"};

    (void)state;
    rco_recorder_event(r, &e);
    wire_wait_for("the event", sent, r, 10 * S);
    assert_int_equal(rco_recorder_counters(r)->sent, 1);
    rco_recorder_free(r);
    r = rco_recorder_new(&o);
    e.kind = RCO_KIND_NAMESPACE;
    e.ns = NULL;
    rco_recorder_event(r, &e);
    wire_wait_for("the event about a cluster-scoped object", sent, r, 10 * S);
    assert_int_equal(rco_recorder_counters(r)->sent, 1);
    rco_recorder_free(r);
}
