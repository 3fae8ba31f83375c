#include "runtime/elector.h"

#include "fake.h"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_elector *e;
    unsigned started, lost, released;
    int64_t transitions;
    char why[256], holder[64];
};

static void on_started(void *ctx, int64_t transitions)
{
    struct world *w = ctx;

    w->started++;
    w->transitions = transitions;
}

static void on_lost(void *ctx, const char *why)
{
    struct world *w = ctx;

    w->lost++;
    snprintf(w->why, sizeof(w->why), "%s", why);
}

static void on_observed(void *ctx, const char *holder)
{
    struct world *w = ctx;

    snprintf(w->holder, sizeof(w->holder), "%s", holder);
}

static void on_released(void *ctx)
{
    ((struct world *)ctx)->released++;
}

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(5);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    const struct rco_elector_options options = {
        .loop = w->loop,
        .client = w->client,
        .ns = "op",
        .name = "rco",
        .identity = "me",
        .timing = RCO_ELECTOR_TIMING_DEFAULT,
        .handler = {.started = on_started, .lost = on_lost, .observed = on_observed, .ctx = w}};
    w->e = rco_elector_new(&options);
    rco_elector_start(w->e);
    rco_loop_virtual_settle(w->loop);
}

static void world_release(struct world *w)
{
    rco_elector_free(w->e);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop);
}

static char *lease_json(const char *holder, const char *rv, int transitions, int duration)
{
    /* renewTime lies far in the future and the past by turns: it must not matter (A91). */
    return rco_asprintf(
        "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"rco\",\"namespace\":\"op\","
        "\"resourceVersion\":\"%s\"},\"spec\":{\"holderIdentity\":\"%s\","
        "\"leaseDurationSeconds\":%d,\"leaseTransitions\":%d,\"renewTime\":\"%d-01-01T00:"
        "00:00.000000Z\"}}",
        rv, holder, duration, transitions, transitions % 2 ? 2099 : 1999);
}

static void answer(struct world *w, const char *method, const char *holder, const char *rv,
                   int transitions)
{
    rco_autofree char *body = lease_json(holder, rv, transitions, 30);

    fake_answer(fake_expect(&w->fake, method, "/namespaces/op/leases"), 200, body);
    rco_loop_virtual_settle(w->loop);
}

static void event(struct world *w, const char *type, const char *holder, const char *rv)
{
    rco_autofree char *body = lease_json(holder, rv, 4, 30);
    rco_autofree char *line = event_json(type, body);
    struct rco_http_call *c = fake_expect(&w->fake, "GET", "watch=true");

    if (!c->status)
        fake_head(c, 200);
    fake_data(c, line);
    rco_loop_virtual_settle(w->loop);
}

static void lead(struct world *w)
{
    world_init(w);
    answer(w, "GET", "", "10", 3);
    answer(w, "PATCH", "me", "11", 4);
    assert_true(rco_elector_is_leader(w->e));
}

/* --- the pure part --- */

static void test_decide_table(void **state)
{
    const struct rco_elector_timing t = RCO_ELECTOR_TIMING_DEFAULT;
    const rco_mono now = 1000 * S;
    const struct {
        const char *name;
        struct rco_elector_view v;
        enum rco_elector_action want;
    } rows[] = {
        {"nothing known", {.identity = "me"}, RCO_ELECTOR_READ},
        {"no record", {.known = true, .identity = "me"}, RCO_ELECTOR_CREATE},
        {"released",
         {.known = true,
          .exists = true,
          .holder = "",
          .identity = "me",
          .changed = now,
          .duration_ns = 30 * S},
         RCO_ELECTOR_ACQUIRE},
        {"held",
         {.known = true,
          .exists = true,
          .holder = "x",
          .identity = "me",
          .changed = now - 29 * S,
          .duration_ns = 30 * S},
         RCO_ELECTOR_WAIT},
        {"expired by the record's own duration",
         {.known = true,
          .exists = true,
          .holder = "x",
          .identity = "me",
          .changed = now - 30 * S,
          .duration_ns = 30 * S},
         RCO_ELECTOR_ACQUIRE},
        {"a long lease of another configuration",
         {.known = true,
          .exists = true,
          .holder = "x",
          .identity = "me",
          .changed = now - 40 * S,
          .duration_ns = 60 * S},
         RCO_ELECTOR_WAIT},
        {"ours without knowing",
         {.known = true,
          .exists = true,
          .holder = "me",
          .identity = "me",
          .changed = now,
          .duration_ns = 30 * S},
         RCO_ELECTOR_ACQUIRE},
        {"leading",
         {.known = true,
          .exists = true,
          .holder = "me",
          .identity = "me",
          .leading = true,
          .renewed = now - 19 * S},
         RCO_ELECTOR_RENEW},
        {"leading, not renewed in time",
         {.known = true,
          .exists = true,
          .holder = "me",
          .identity = "me",
          .leading = true,
          .renewed = now - 20 * S},
         RCO_ELECTOR_LOST},
        {"leading, taken over",
         {.known = true,
          .exists = true,
          .holder = "x",
          .identity = "me",
          .leading = true,
          .renewed = now},
         RCO_ELECTOR_LOST},
        {"leading, record deleted",
         {.known = true, .identity = "me", .leading = true, .renewed = now},
         RCO_ELECTOR_LOST},
        {"leading, must read first",
         {.identity = "me", .leading = true, .renewed = now},
         RCO_ELECTOR_READ},
        {"releasing",
         {.known = true,
          .exists = true,
          .holder = "me",
          .identity = "me",
          .leading = true,
          .renewed = now,
          .releasing = true},
         RCO_ELECTOR_RELEASE},
        {"releasing without leading",
         {.known = true, .exists = true, .holder = "", .identity = "me", .releasing = true},
         RCO_ELECTOR_WAIT},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_elector_decide(&rows[i].v, &t, now) != rows[i].want)
            fail_msg("%s: %d, want %d", rows[i].name, rco_elector_decide(&rows[i].v, &t, now),
                     rows[i].want);
}

static void test_A90_timing_rules_are_checked(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_elector_timing t = RCO_ELECTOR_TIMING_DEFAULT;

    (void)state;
    assert_int_equal(rco_elector_timing_check(&t, &err), 0);
    t.renew_ns = 30 * S;
    assert_int_equal(rco_elector_timing_check(&t, &err), -1);
    assert_non_null(strstr(err.msg, "--leader-elect-renew-deadline"));
    t = RCO_ELECTOR_TIMING_DEFAULT;
    t.retry_ns = 17 * S;
    assert_int_equal(rco_elector_timing_check(&t, &err), -1);
    t = RCO_ELECTOR_TIMING_DEFAULT;
    t.lease_ns = 30500 * MS;
    assert_int_equal(rco_elector_timing_check(&t, &err), -1);
}

/* --- the driver --- */

static void test_record_that_does_not_exist_is_created(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    assert_int_equal(fake_expect(&w.fake, "GET", "/leases/rco")->lane, RCO_LANE_ELECTION);
    fake_status(fake_expect(&w.fake, "GET", "/leases/rco"), 404, "NotFound");
    rco_loop_virtual_settle(w.loop);
    struct rco_http_call *c = fake_expect(&w.fake, "POST", "/namespaces/op/leases");
    assert_non_null(strstr(c->body, "\"holderIdentity\":\"me\""));
    assert_true(c->deadline_ns <= 5 * S);
    answer(&w, "POST", "me", "1", 1);
    assert_int_equal(w.started, 1);
    assert_int_equal(w.transitions, 1);
    world_release(&w);
}

static void test_lost_race_for_creation_is_no_leadership(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    fake_status(fake_expect(&w.fake, "GET", "/leases/rco"), 404, "NotFound");
    rco_loop_virtual_settle(w.loop);
    fake_status(fake_expect(&w.fake, "POST", "/leases"), 409, "AlreadyExists");
    rco_loop_virtual_run_for(w.loop, 5 * S);
    answer(&w, "GET", "other", "1", 1);
    assert_int_equal(w.started, 0);
    assert_string_equal(w.holder, "other");
    world_release(&w);
}

static void test_A91_expiry_is_judged_by_our_own_clock_and_observations(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_loop_virtual_set_wall(w.loop,
                              INT64_C(4000000000) * RCO_US_PER_S); /* the calendar is wrong */
    answer(&w, "GET", "other", "10", 4);
    rco_loop_virtual_run_for(w.loop, 20 * S);
    event(&w, "MODIFIED", "other", "11"); /* it still renews */
    rco_loop_virtual_run_for(w.loop, 29 * S);
    assert_null(fake_find(&w.fake, "PATCH", "/leases/rco"));
    rco_loop_virtual_run_for(w.loop, 2 * S);
    struct rco_http_call *c = fake_expect(&w.fake, "PATCH", "/leases/rco");
    assert_non_null(strstr(c->body, "\"resourceVersion\":\"11\""));
    assert_non_null(strstr(c->body, "\"leaseTransitions\":5"));
    answer(&w, "PATCH", "me", "12", 5);
    assert_int_equal(w.transitions, 5);
    assert_int_equal(rco_elector_transitions(w.e), 5);
    world_release(&w);
}

static void test_standby_takes_a_released_lease_at_once(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    answer(&w, "GET", "other", "10", 4);
    rco_loop_virtual_run_for(w.loop, 7 * S);
    struct rco_http_call *watch = fake_expect(&w.fake, "GET", "watch=true");
    assert_non_null(strstr(watch->path, "fieldSelector=metadata.name%3Drco"));
    event(&w, "MODIFIED", "", "12");
    rco_loop_virtual_run_for(w.loop, 30 * MS);
    fake_expect(&w.fake, "PATCH", "/leases/rco");
    answer(&w, "PATCH", "me", "13", 5);
    assert_int_equal(w.started, 1);
    world_release(&w);
}

static void test_standby_polls_nothing_while_its_watch_works(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    answer(&w, "GET", "other", "10", 4);
    rco_loop_virtual_settle(w.loop);
    unsigned before = w.fake.started;
    for (int i = 0; i < 50; i++) {
        char rv[16];

        snprintf(rv, sizeof(rv), "%d", 11 + i);
        rco_loop_virtual_run_for(w.loop, 4 * S);
        event(&w, "MODIFIED", "other", rv);
    }
    assert_int_equal(w.fake.started, before);
    world_release(&w);
}

static void test_standby_survives_the_end_of_its_watch(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    answer(&w, "GET", "other", "10", 4);
    fake_fail(fake_expect(&w.fake, "GET", "watch=true"), RCO_EUNAVAILABLE);
    rco_loop_virtual_run_for(w.loop, 6 * S);
    answer(&w, "GET", "other", "20", 4);
    fake_expect(&w.fake, "GET", "watch=true");
    world_release(&w);
}

static void test_A92_renewal_goes_on_every_retry_period_with_jitter(void **state)
{
    struct world w;
    rco_mono last;
    char rv[16];

    (void)state;
    lead(&w);
    last = rco_loop_now(w.loop);
    for (int i = 0; i < 20; i++) {
        while (!fake_find(&w.fake, "PATCH", "/leases/rco"))
            rco_loop_virtual_run_for(w.loop, 50 * MS);
        assert_in_range(rco_loop_now(w.loop) - last, 4 * S, 4850 * MS);
        last = rco_loop_now(w.loop);
        snprintf(rv, sizeof(rv), "%d", 12 + i);
        assert_null(strstr(fake_expect(&w.fake, "PATCH", "")->body, "leaseTransitions"));
        answer(&w, "PATCH", "me", rv, 4);
    }
    assert_int_equal(w.lost, 0);
    assert_int_equal(w.started, 1);
    world_release(&w);
}

static void test_A92_conflict_is_read_and_renewed_at_once(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    fake_status(fake_expect(&w.fake, "PATCH", "/leases/rco"), 409, "Conflict");
    rco_loop_virtual_settle(w.loop);
    answer(&w, "GET", "me", "30", 4);
    assert_non_null(strstr(fake_expect(&w.fake, "PATCH", "")->body, "\"resourceVersion\":\"30\""));
    answer(&w, "PATCH", "me", "31", 4);
    assert_int_equal(w.lost, 0);
    world_release(&w);
}

static void test_A92_one_slow_request_does_not_lose_the_lease(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    rco_loop_virtual_run_for(w.loop, 5 * S); /* its deadline */
    fake_fail(fake_expect(&w.fake, "PATCH", "/leases/rco"), RCO_ETIMEOUT);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    answer(&w, "GET", "me", "11", 4);
    answer(&w, "PATCH", "me", "12", 4);
    rco_loop_virtual_run_for(w.loop, 3 * S);
    assert_int_equal(w.lost, 0);
    assert_true(rco_elector_may_write(w.e));
    world_release(&w);
}

static void test_A93_unrenewed_lease_is_given_up_at_the_renew_deadline(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 19900 * MS);
    assert_true(rco_elector_may_write(w.e));
    assert_int_equal(w.lost, 0);
    rco_loop_virtual_run_for(w.loop, 200 * MS);
    assert_int_equal(w.lost, 1);
    assert_false(rco_elector_may_write(w.e));
    assert_non_null(strstr(w.why, "could not be renewed"));
    world_release(&w);
}

static void test_A93_takeover_is_noticed(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    fake_status(fake_expect(&w.fake, "PATCH", "/leases/rco"), 409, "Conflict");
    rco_loop_virtual_settle(w.loop);
    answer(&w, "GET", "other", "40", 5);
    assert_int_equal(w.lost, 1);
    assert_non_null(strstr(w.why, "another instance"));
    world_release(&w);
}

static void test_A93_A96_a_stopped_process_may_not_write_after_it_wakes_up(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_skip(w.loop, 40 * S); /* SIGSTOP, SIGCONT */
    assert_false(rco_elector_may_write(w.e));
    assert_false(rco_elector_healthy(w.e));
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.lost, 1);
    world_release(&w);
}

static void test_renewal_counts_from_the_start_of_its_request(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    rco_mono sent = rco_loop_now(w.loop);
    while (!fake_find(&w.fake, "PATCH", "/leases/rco"))
        rco_loop_virtual_run_for(w.loop, MS);
    rco_loop_virtual_run_for(w.loop, 4 * S); /* the answer takes 4 s */
    answer(&w, "PATCH", "me", "12", 4);
    rco_loop_virtual_run_until(w.loop, sent + 20 * S);
    assert_false(rco_elector_may_write(w.e));
    world_release(&w);
}

static void test_A94_release_empties_the_record(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_elector_release(w.e, on_released, &w);
    rco_loop_virtual_settle(w.loop);
    struct rco_http_call *c = fake_expect(&w.fake, "PATCH", "/leases/rco");
    assert_non_null(strstr(c->body, "\"holderIdentity\":\"\""));
    assert_non_null(strstr(c->body, "\"leaseDurationSeconds\":1"));
    assert_int_equal(w.released, 0);
    answer(&w, "PATCH", "", "12", 4);
    assert_int_equal(w.released, 1);
    assert_int_equal(w.lost, 0);
    rco_loop_virtual_run_for(w.loop, 60 * S);
    assert_null(w.fake.open); /* it does not come back */
    world_release(&w);
}

static void
test_A94_release_waits_for_a_renewal_under_way_and_repeats_after_a_conflict(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    fake_expect(&w.fake, "PATCH", "/leases/rco"); /* renewal under way */
    rco_elector_release(w.e, on_released, &w);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(fake_count(&w.fake, "PATCH", ""), 1);
    answer(&w, "PATCH", "me", "12", 4);
    assert_non_null(strstr(fake_expect(&w.fake, "PATCH", "")->body, "\"holderIdentity\":\"\""));
    fake_status(fake_expect(&w.fake, "PATCH", ""), 409, "Conflict");
    rco_loop_virtual_settle(w.loop);
    answer(&w, "GET", "me", "13", 4);
    answer(&w, "PATCH", "", "14", 4);
    assert_int_equal(w.released, 1);
    world_release(&w);
}

static void test_A94_release_gives_up_after_5_s(void **state)
{
    struct world w;

    (void)state;
    lead(&w);
    rco_elector_release(w.e, on_released, &w);
    rco_loop_virtual_run_for(w.loop, 6 * S);
    assert_int_equal(w.released, 1);
    world_release(&w);
}

static void test_A94_release_of_a_standby_writes_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    answer(&w, "GET", "other", "10", 4);
    rco_elector_release(w.e, on_released, &w);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.released, 1);
    assert_null(fake_find(&w.fake, "PATCH", ""));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide_table),
        cmocka_unit_test(test_A90_timing_rules_are_checked),
        cmocka_unit_test(test_record_that_does_not_exist_is_created),
        cmocka_unit_test(test_lost_race_for_creation_is_no_leadership),
        cmocka_unit_test(test_A91_expiry_is_judged_by_our_own_clock_and_observations),
        cmocka_unit_test(test_standby_takes_a_released_lease_at_once),
        cmocka_unit_test(test_standby_polls_nothing_while_its_watch_works),
        cmocka_unit_test(test_standby_survives_the_end_of_its_watch),
        cmocka_unit_test(test_A92_renewal_goes_on_every_retry_period_with_jitter),
        cmocka_unit_test(test_A92_conflict_is_read_and_renewed_at_once),
        cmocka_unit_test(test_A92_one_slow_request_does_not_lose_the_lease),
        cmocka_unit_test(test_A93_unrenewed_lease_is_given_up_at_the_renew_deadline),
        cmocka_unit_test(test_A93_takeover_is_noticed),
        cmocka_unit_test(test_A93_A96_a_stopped_process_may_not_write_after_it_wakes_up),
        cmocka_unit_test(test_renewal_counts_from_the_start_of_its_request),
        cmocka_unit_test(test_A94_release_empties_the_record),
        cmocka_unit_test(
            test_A94_release_waits_for_a_renewal_under_way_and_repeats_after_a_conflict),
        cmocka_unit_test(test_A94_release_gives_up_after_5_s),
        cmocka_unit_test(test_A94_release_of_a_standby_writes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
