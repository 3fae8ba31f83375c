#include "runtime/recorder.h"

#include "fake.h"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_recorder *r;
};

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(9);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    const struct rco_recorder_options options = {.loop = w->loop,
                                                 .client = w->client,
                                                 .controller = "runtimecloud.io/controller",
                                                 .instance = "pod-0"};
    w->r = rco_recorder_new(&options);
}

static void world_release(struct world *w)
{
    rco_recorder_free(w->r);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop);
}

static void say(struct world *w, const char *reason, const char *note)
{
    const struct rco_occurrence o = {.kind = RCO_KIND_RUN,
                                     .ns = "a",
                                     .name = "run",
                                     .uid = "uid-1",
                                     .type = "Normal",
                                     .reason = reason,
                                     .note = note};

    rco_recorder_event(w->r, &o);
}

/* Answers everything that is open until nothing is. */
static unsigned answer_all(struct world *w)
{
    unsigned n = 0;

    while (w->fake.open) {
        fake_answer(w->fake.open, 201, "{}");
        rco_loop_virtual_settle(w->loop);
        n++;
    }
    return n;
}

static void test_event_has_all_required_fields(void **state)
{
    static const char *const want[] = {"\"apiVersion\":\"events.k8s.io/v1\"",
                                       "\"kind\":\"Event\"",
                                       "\"namespace\":\"a\"",
                                       "\"name\":\"run.",
                                       "\"eventTime\":\"2026-01-01T00:00:0",
                                       "\"reportingController\":\"runtimecloud.io/controller\"",
                                       "\"reportingInstance\":\"pod-0\"",
                                       "\"action\":\"Planned\"",
                                       "\"reason\":\"Planned\"",
                                       "\"regarding\":{\"apiVersion\":\"runtimecloud.io/",
                                       "\"kind\":\"ProvisioningRun\"",
                                       "\"uid\":\"uid-1\"",
                                       "\"note\":\"2 changes\"",
                                       "\"type\":\"Normal\""};
    struct world w;

    (void)state;
    world_init(&w);
    say(&w, "Planned", "2 changes");
    struct rco_http_call *c =
        fake_expect(&w.fake, "POST", "/apis/events.k8s.io/v1/namespaces/a/events");
    for (size_t i = 0; i < RCO_ARRAY_LEN(want); i++)
        if (!strstr(c->body, want[i]))
            fail_msg("no %s in %s", want[i], c->body);
    world_release(&w);
}

static void test_event_about_a_cluster_scoped_object_goes_to_default(void **state)
{
    struct world w;
    const struct rco_occurrence o = {.kind = RCO_KIND_TENANT,
                                     .name = "t",
                                     .uid = "u",
                                     .type = "Normal",
                                     .reason = "R",
                                     .note = "n"};

    (void)state;
    world_init(&w);
    rco_recorder_event(w.r, &o);
    fake_expect(&w.fake, "POST", "/namespaces/default/events");
    world_release(&w);
}

static void test_A89_repeats_become_one_series(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    say(&w, "Waiting", "for the lease");
    assert_int_equal(answer_all(&w), 1);
    for (int i = 0; i < 100; i++) {
        rco_loop_virtual_run_for(w.loop, S);
        say(&w, "Waiting", "for the lease");
    }
    struct rco_http_call *c = fake_expect(&w.fake, "PATCH", "/events/run.");
    assert_non_null(strstr(c->body, "\"series\":{\"count\":61"));
    assert_int_equal(answer_all(&w), 1);
    assert_int_equal(rco_recorder_counters(w.r)->sent, 1);
    assert_int_equal(rco_recorder_counters(w.r)->series, 1);
    /* After six quiet minutes a new one begins. */
    rco_loop_virtual_run_for(w.loop, 361 * S);
    say(&w, "Waiting", "for the lease");
    fake_expect(&w.fake, "POST", "/events");
    world_release(&w);
}

static void test_A89_an_object_is_limited_to_25_events_then_one_per_300_s(void **state)
{
    struct world w;
    char note[32];

    (void)state;
    world_init(&w);
    for (int i = 0; i < 100; i++) {
        snprintf(note, sizeof(note), "note %d", i);
        say(&w, "Busy", note);
    }
    assert_int_equal(answer_all(&w), 25);
    assert_int_equal(rco_recorder_counters(w.r)->dropped_rate, 75);
    rco_loop_virtual_run_for(w.loop, 301 * S);
    say(&w, "Busy", "later 1");
    say(&w, "Busy", "later 2");
    assert_int_equal(answer_all(&w), 1);
    world_release(&w);
}

static void test_A89_queue_is_bounded_and_two_are_under_way(void **state)
{
    struct world w;
    char name[32];

    (void)state;
    world_init(&w);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "run-%d", i);
        const struct rco_occurrence o = {.kind = RCO_KIND_RUN,
                                         .ns = "a",
                                         .name = name,
                                         .uid = name,
                                         .type = "Normal",
                                         .reason = "R",
                                         .note = "n"};
        rco_recorder_event(w.r, &o);
    }
    assert_int_equal(fake_count(&w.fake, "POST", "/events"), 2);
    assert_int_equal(rco_recorder_counters(w.r)->dropped_queue, 3000 - 1002);
    assert_int_equal(answer_all(&w), 1002);
    world_release(&w);
}

static void test_A89_failed_event_is_tried_five_times_and_dropped(void **state)
{
    struct world w;
    unsigned tries = 0;

    (void)state;
    world_init(&w);
    say(&w, "R", "n");
    for (int i = 0; i < 200; i++) {
        if (w.fake.open) {
            tries++;
            fake_fail(w.fake.open, RCO_EUNAVAILABLE);
        }
        rco_loop_virtual_run_for(w.loop, S);
    }
    assert_int_equal(tries, 5);
    assert_int_equal(rco_recorder_counters(w.r)->failed, 1);
    world_release(&w);
}

static void test_refused_event_is_dropped_at_once(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    say(&w, "R", "n");
    fake_status(w.fake.open, 403, "Forbidden");
    rco_loop_virtual_run_for(w.loop, 60 * S);
    assert_null(w.fake.open);
    assert_int_equal(rco_recorder_counters(w.r)->failed, 1);
    world_release(&w);
}

static void test_A84_note_is_cut_at_1024_bytes_between_characters(void **state)
{
    struct world w;
    char note[3000];
    rco_autobuf want = RCO_BUF_INIT;

    (void)state;
    world_init(&w);
    note[0] = 'x';
    for (size_t i = 1; i + 2 < sizeof(note); i += 2)
        memcpy(note + i, "\xc3\xa9", 2);
    note[2999] = 0;
    say(&w, "R", note);
    rco_buf_adds(&want, "\"note\":\"");
    rco_buf_add(&want, note, 1023);
    rco_buf_adds(&want, "\",");
    assert_non_null(strstr(w.fake.open->body, rco_buf_str(&want)));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_has_all_required_fields),
        cmocka_unit_test(test_event_about_a_cluster_scoped_object_goes_to_default),
        cmocka_unit_test(test_A89_repeats_become_one_series),
        cmocka_unit_test(test_A89_an_object_is_limited_to_25_events_then_one_per_300_s),
        cmocka_unit_test(test_A89_queue_is_bounded_and_two_are_under_way),
        cmocka_unit_test(test_A89_failed_event_is_tried_five_times_and_dropped),
        cmocka_unit_test(test_refused_event_is_dropped_at_once),
        cmocka_unit_test(test_A84_note_is_cut_at_1024_bytes_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
