#include "mailbox.h"

#include "api/zz_generated_types.h"
#include "base/str.h"
#include "loop/loop_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exchanges.h"

#define EXCHANGES 4096

struct fixture {
    struct rco_loop *loop;
    struct rco_mailbox *mailbox;
    struct rco_arena a;
    struct rco_exchange exchanges[EXCHANGES];
    size_t n;
    char woken[64];
    unsigned wakes;
};

static void wake(void *ctx, const char *ns, const char *run)
{
    struct fixture *f = ctx;

    f->wakes++;
    snprintf(f->woken, sizeof f->woken, "%s/%s", ns, run);
}

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);

    f->loop = rco_loop_virtual_new(1);
    f->mailbox = rco_mailbox_new(f->loop, wake, f);
    *state = f;
    return 0;
}

/* Nothing is left unanswered, unfreed or armed. */
static int tear_down(void **state)
{
    struct fixture *f = *state;

    rco_mailbox_free(f->mailbox);
    for (size_t i = 0; i < f->n; i++)
        assert_int_equal(f->exchanges[i].answers, f->exchanges[i].data ? 0 : 1);
    rco_loop_virtual_free(f->loop);
    rco_arena_release(&f->a);
    free(f);
    return 0;
}

static struct rco_exchange *put(struct fixture *f, enum rco_letter_type type, const char *ns,
                                const char *run, const char *pod, const char *body)
{
    struct rco_exchange *x = &f->exchanges[f->n++];

    assert_true(f->n <= EXCHANGES);
    rco_mailbox_put(f->mailbox, &(struct rco_letter){.type = type,
                                                     .phase = RCO_PHASE_PLAN,
                                                     .ns = ns,
                                                     .run = run,
                                                     .pod_name = pod,
                                                     .pod_uid = pod,
                                                     .body = body,
                                                     .body_len = strlen(body),
                                                     .exchange = x});
    return x;
}

static struct rco_exchange *put_start(struct fixture *f, const char *ns, const char *run,
                                      const char *pod)
{
    return put(f, RCO_LETTER_START, ns, run, pod, "{\"protocol\":1,\"project\":\"web\"}");
}

static struct rco_mailbox_facts facts(struct fixture *f, const char *ns, const char *run)
{
    struct rco_mailbox_facts facts;

    rco_mailbox_observe(f->mailbox, ns, run, &f->a, &facts);
    return facts;
}

static void what_is_said_is_seen_and_answered_once(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *start = put_start(f, "a", "r", "p1");
    struct rco_exchange *receipt = put(f, RCO_LETTER_RECEIPT, "a", "r", "p1", "{\"runUid\":\"u\"}");
    struct rco_mailbox_facts seen = facts(f, "a", "r");

    assert_string_equal(f->woken, "a/r");
    assert_int_equal(f->wakes, 2);
    assert_int_equal(seen.n_starts, 1);
    assert_int_equal(seen.n_receipts, 1);
    assert_string_equal(seen.starts[0].request->project, "web");
    assert_string_equal(seen.receipts[0].receipt->run_uid, "u");
    assert_int_equal(facts(f, "a", "other").n_starts, 0);
    assert_int_equal(facts(f, "b", "r").n_starts, 0);
    rco_mailbox_reply(f->mailbox, seen.starts[0].exchange, 200, "{}", 2);
    assert_int_equal(start->status, 200);
    assert_int_equal(receipt->answers, 0);
    rco_mailbox_reply(f->mailbox, seen.starts[0].exchange, 409, "{}", 2);
    assert_int_equal(start->answers, 1);
    rco_mailbox_reply(f->mailbox, seen.receipts[0].exchange, 503, "{}", 2);
    assert_int_equal(receipt->retry_after_s, 1);
    assert_false(receipt->close_after); /* this is the replica that leads */
    assert_int_equal(rco_mailbox_waiting(f->mailbox), 0);
    assert_int_equal(rco_mailbox_bytes(f->mailbox), 0);
}

static void who_asks_again_takes_the_place_of_its_first_letter(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *first = put_start(f, "a", "r", "p1");
    struct rco_exchange *other = put_start(f, "a", "r", "p2");

    put_start(f, "a", "r", "p1");
    assert_int_equal(first->status, 503);
    assert_int_equal(other->answers, 0);
    assert_int_equal(facts(f, "a", "r").n_starts, 2);
}

static void a_peer_that_went_away_is_not_answered(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *gone = put_start(f, "a", "r", "p1");

    gone->data = f; /* not to be answered */
    rco_mailbox_gone(f->mailbox, gone);
    assert_int_equal(facts(f, "a", "r").n_starts, 0);
    rco_mailbox_gone(f->mailbox, gone);
}

static void what_is_not_decided_in_time_is_asked_again(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x = put_start(f, "a", "r", "p1");

    rco_loop_virtual_run_for(f->loop, RCO_MAILBOX_WAIT_NS + RCO_NS_PER_S);
    assert_int_equal(x->status, 503);
    assert_int_equal(rco_mailbox_waiting(f->mailbox), 0);
}

static void a_body_that_cannot_be_read_says_why(void **state)
{
    static const char *const bad[] = {"", "{", "[]", "\x01\x02", "{\"protocol\":\"x\"}"};
    static const char *const pods[] = {"p0", "p1", "p2", "p3", "p4"};
    struct fixture *f = *state;
    struct rco_mailbox_facts seen;

    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++)
        put(f, RCO_LETTER_START, "a", "r", pods[i], bad[i]);
    seen = facts(f, "a", "r");
    assert_int_equal(seen.n_starts, RCO_ARRAY_LEN(bad));
    for (size_t i = 0; i < seen.n_starts; i++) {
        assert_null(seen.starts[i].request);
        assert_non_null(seen.starts[i].error);
        assert_string_equal(seen.starts[i].pod_name, pods[i]);
    }
}

/* --- floods ---------------------------------------------------------------------------------- */

/* N starts of namespace NS, each for a run of its own. */
static void flood(struct fixture *f, const char *ns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rco_autofree char *run = rco_asprintf("r%zu", i);

        put_start(f, ns, run, "p");
    }
}

static void one_namespace_cannot_silence_another(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *other;

    flood(f, "hostile", 2000);
    assert_int_equal(rco_mailbox_waiting(f->mailbox), RCO_MAILBOX_NAMESPACE_MAX);
    assert_int_equal(answered_with(f->exchanges, f->n, 503), 2000 - RCO_MAILBOX_NAMESPACE_MAX);
    other = put_start(f, "b", "r", "p");
    assert_int_equal(other->answers, 0);
    assert_int_equal(facts(f, "b", "r").n_starts, 1);
}

static void all_together_have_a_limit(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 8; i++) {
        rco_autofree char *ns = rco_asprintf("ns%d", i);

        flood(f, ns, 400);
    }
    assert_int_equal(rco_mailbox_waiting(f->mailbox), RCO_MAILBOX_MAX);
    rco_mailbox_drain(f->mailbox);
    assert_int_equal(rco_mailbox_waiting(f->mailbox), 0);
    assert_int_equal(rco_mailbox_bytes(f->mailbox), 0);
    assert_int_equal(answered_with(f->exchanges, f->n, 503), 3200);
}

static void many_pods_for_one_run_have_a_limit(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 100; i++) {
        rco_autofree char *pod = rco_asprintf("p%d", i);

        put_start(f, "a", "r", pod);
    }
    assert_int_equal(facts(f, "a", "r").n_starts, RCO_MAILBOX_RUN_MAX);
}

/* A receipt at the cap of its route: outputs have no limit of their own before they are decided
 * about. */
static char *large_receipt(size_t n)
{
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_adds(&b, "{\"outputs\":{");
    for (int i = 0; i < 64; i++)
        rco_buf_addf(&b, "%s\"k%d\":\"%0*d\"", i ? "," : "", i, (int)(n / 64), 0);
    rco_buf_adds(&b, "}}");
    return rco_buf_take(&b);
}

static void large_receipts_of_one_namespace_have_a_limit(void **state)
{
    struct fixture *f = *state;
    rco_autofree char *body = large_receipt(500 * 1024);

    for (int i = 0; i < 100; i++) {
        rco_autofree char *run = rco_asprintf("r%d", i);

        put(f, RCO_LETTER_RECEIPT, "a", run, "p", body);
    }
    assert_in_range(rco_mailbox_bytes(f->mailbox), 1,
                    RCO_MAILBOX_NAMESPACE_BYTES_MAX + RCO_MAILBOX_LETTER_MAX);
    assert_true(answered_with(f->exchanges, f->n, 503) > 85);
}

/* Short text for much memory: lists that are given again and again. */
static void a_body_that_unfolds_is_not_kept(void **state)
{
    struct fixture *f = *state;
    rco_autobuf b = RCO_BUF_INIT;
    struct rco_mailbox_facts seen;

    rco_buf_adds(&b, "{\"runUid\":\"u\"");
    while (b.len < 500 * 1024) {
        rco_buf_adds(&b, ",\"types\":[{}");
        for (int i = 1; i < 200; i++)
            rco_buf_adds(&b, ",{}");
        rco_buf_adds(&b, "]");
    }
    rco_buf_adds(&b, "}");
    put(f, RCO_LETTER_RECEIPT, "a", "r", "p", rco_buf_str(&b));
    assert_true(rco_mailbox_bytes(f->mailbox) <= RCO_MAILBOX_LETTER_MAX);
    seen = facts(f, "a", "r");
    assert_int_equal(seen.n_receipts, 1);
    assert_true(seen.receipts[0].receipt || seen.receipts[0].error);
}

#define T(F) cmocka_unit_test_setup_teardown(F, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        T(what_is_said_is_seen_and_answered_once),
        T(who_asks_again_takes_the_place_of_its_first_letter),
        T(a_peer_that_went_away_is_not_answered),
        T(what_is_not_decided_in_time_is_asked_again),
        T(a_body_that_cannot_be_read_says_why),
        T(one_namespace_cannot_silence_another),
        T(all_together_have_a_limit),
        T(many_pods_for_one_run_have_a_limit),
        T(large_receipts_of_one_namespace_have_a_limit),
        T(a_body_that_unfolds_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
