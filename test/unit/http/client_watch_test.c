#include "client_world.h"

static void start_watch(struct outcome *o, int64_t silence_ns, int64_t deadline_ns)
{
    outcome_start(o, &(struct rco_http_request){.method = "GET",
                                                .path = "/watch",
                                                .lane = RCO_LANE_WATCH,
                                                .silence_ns = silence_ns,
                                                .deadline_ns = deadline_ns});
}

static void answer_one_event_then_nothing(struct peer_conn *conn)
{
    peer_says(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc\n\r\n");
}

static void trap_3_4_a_watch_of_a_dead_peer_ends_by_the_silence_timer(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_one_event_then_nothing;
    start_watch(&f->a, 150 * MS, 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_non_null(strstr(f->a.err.msg, "sent nothing for 150ms"));
    assert_string_equal(rco_buf_str(&f->a.body), "abc\n");
}

static void trap_3_4_a_watch_that_never_gets_an_answer_ends_by_the_silence_timer(void **state)
{
    struct fixture *f = *state;

    start_watch(&f->a, 100 * MS, 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_int_equal(f->a.n_head, 0);
}

struct ticker {
    struct rco_timer *timer;
    struct peer_conn *conn;
    int left;
};

static void tick(void *ctx)
{
    struct ticker *t = ctx;

    peer_says(t->conn, "1\r\nx\r\n");
    if (--t->left > 0)
        rco_timer_arm(t->timer, 20 * MS);
}

static void a_watch_that_brings_bytes_is_not_silent(void **state)
{
    struct fixture *f = *state;
    struct ticker t = {.left = 20};

    f->peer.on_bytes = answer_one_event_then_nothing;
    start_watch(&f->a, 200 * MS, 0);
    while (f->peer.n_conns == 0)
        bench_run_for(&f->bench, 5 * MS);
    t.conn = f->peer.conns[0];
    t.timer = rco_timer_new(f->bench.loop, tick, &t);
    rco_timer_arm(t.timer, 20 * MS);
    bench_run(&f->bench);
    rco_timer_free(t.timer);
    assert_int_equal(t.left, 0);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_int_equal(f->a.body.len, 24);
}

static void a35_the_absolute_timer_ends_a_lively_watch(void **state)
{
    struct fixture *f = *state;
    struct ticker t = {.left = 1000};

    f->peer.on_bytes = answer_one_event_then_nothing;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 300 * MS);
    while (f->peer.n_conns == 0)
        bench_run_for(&f->bench, 5 * MS);
    t.conn = f->peer.conns[0];
    t.timer = rco_timer_new(f->bench.loop, tick, &t);
    rco_timer_arm(t.timer, 20 * MS);
    bench_run(&f->bench);
    rco_timer_free(t.timer);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_non_null(strstr(f->a.err.msg, "in full within 300ms"));
}

static void a44_a_body_that_dribbles_does_not_outlive_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct ticker t = {.left = 1000};

    f->peer.on_bytes = answer_one_event_then_nothing;
    outcome_get(&f->a, "/x", 200 * MS);
    while (f->peer.n_conns == 0)
        bench_run_for(&f->bench, 5 * MS);
    t.conn = f->peer.conns[0];
    t.timer = rco_timer_new(f->bench.loop, tick, &t);
    rco_timer_arm(t.timer, 10 * MS);
    bench_run(&f->bench);
    rco_timer_free(t.timer);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_int_equal(f->a.err.http_status, 0);
}

static void a36_a_connection_that_does_not_come_about_times_out(void **state)
{
    struct fixture *f = *state;
    /* TEST-NET-1: nobody answers, or the network says at once that it is unreachable. */
    struct rco_http_client_options o = {.base_url = "http://192.0.2.1:9", .connect_ns = 100 * MS};

    rco_http_client_free(f->client);
    start_client(f, &o);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_true(f->a.err.code == RCO_ETIMEOUT || f->a.err.code == RCO_EUNAVAILABLE);
}

/* --- connections ---------------------------------------------------------------------------- */

static void trap_3_4_sockets_are_set_up_to_find_dead_peers(void **state)
{
    struct fixture *f = *state;
    int found = 0;

    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    while (f->peer.n_conns == 0)
        bench_run_for(&f->bench, 5 * MS);
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in sa = {0};
        socklen_t n = sizeof sa;
        int value = 0;
        socklen_t size = sizeof value;

        if (getpeername(fd, (struct sockaddr *)&sa, &n) != 0 || ntohs(sa.sin_port) != f->peer.port)
            continue;
        found++;
        getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &size);
        assert_int_equal(value, 45000);
        getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &size);
        assert_int_equal(value, 1);
        getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, &size);
        assert_int_equal(value, 30);
        getsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &value, &size);
        assert_int_equal(value, 5);
        getsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &value, &size);
        assert_int_equal(value, 3);
    }
    assert_int_equal(found, 1);
}

static void answer_watch_or_hello(struct peer_conn *conn)
{
    if (!peer_has_request(conn))
        return;
    if (strstr(conn->in.data, "/watch"))
        answer_one_event_then_nothing(conn);
    else
        peer_says(conn, OK_HELLO);
    rco_buf_clear(&conn->in);
}

static void trap_3_2_lanes_do_not_share_connections(void **state)
{
    struct fixture *f = *state;
    struct rco_http_client_stats stats;

    f->peer.on_bytes = answer_watch_or_hello;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    for (int i = 0; i < 3; i++) {
        outcome_clear(&f->b);
        outcome_get(&f->b, "/x", 0);
        bench_run(&f->bench);
        assert_int_equal(f->b.err.code, RCO_OK);
        outcome_clear(&f->b);
        outcome_start(&f->b,
                      &(struct rco_http_request){
                          .method = "GET", .path = "/x", .lane = RCO_LANE_ELECTION, .max_body = 9});
        bench_run(&f->bench);
        assert_int_equal(f->b.err.code, RCO_OK);
    }
    rco_http_client_get_stats(f->client, &stats);
    assert_int_equal(stats.connections_made, 3);
    assert_int_equal(stats.calls, 1);
    assert_int_equal(f->a.n_done, 0);
}

static void an_election_request_passes_one_that_hangs(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_watch_or_hello;
    outcome_start(&f->a, &(struct rco_http_request){.method = "GET",
                                                    .path = "/watch",
                                                    .lane = RCO_LANE_ELECTION,
                                                    .deadline_ns = 20 * RCO_NS_PER_S});
    outcome_start(&f->b, &(struct rco_http_request){.method = "PATCH",
                                                    .path = "/x",
                                                    .body = "{}",
                                                    .body_len = 2,
                                                    .lane = RCO_LANE_ELECTION,
                                                    .max_body = 100,
                                                    .deadline_ns = 5 * RCO_NS_PER_S});
    bench_run(&f->bench);
    assert_int_equal(f->b.err.code, RCO_OK);
    assert_int_equal(f->a.n_done, 0);
}

static void close_second_request(struct peer_conn *conn)
{
    if (!peer_has_request(conn))
        return;
    conn->peer->n_requests++;
    rco_buf_clear(&conn->in);
    if (conn->index == 0 && conn->peer->n_requests == 2)
        peer_hang_up(conn);
    else
        peer_says(conn, OK_HELLO);
}

static void a41_a_write_is_not_repeated_when_its_connection_dies(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = close_second_request;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    outcome_start(
        &f->b, &(struct rco_http_request){
                   .method = "POST", .path = "/x", .body = "{}", .body_len = 2, .max_body = 100});
    bench_run(&f->bench);
    bench_run_for(&f->bench, 50 * MS);
    assert_int_equal(f->b.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->b.err.http_status, 0);
    assert_int_equal(f->peer.n_requests, 2);
}

static void a41_nor_is_a_delete_without_body(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = close_second_request;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    outcome_start(&f->b,
                  &(struct rco_http_request){.method = "DELETE", .path = "/x", .max_body = 100});
    bench_run(&f->bench);
    bench_run_for(&f->bench, 50 * MS);
    assert_int_equal(f->b.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->peer.n_requests, 2);
}

static void a40_a_get_on_a_reused_dead_connection_goes_out_again(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = close_second_request;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    outcome_get(&f->b, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->b.err.code, RCO_OK);
    assert_int_equal(f->peer.n_requests, 3);
}

static void connections_without_http2_are_few_but_more_than_one(void **state)
{
    struct fixture *f = *state;
    struct outcome many[40];

    f->countdown = 40;
    f->peer.on_bytes = answer_watch_or_hello;
    for (int i = 0; i < 40; i++) {
        many[i] = (struct outcome){
            .bench = &f->bench, .transport = f->a.transport, .countdown = &f->countdown};
        outcome_get(&many[i], "/x", 0);
    }
    bench_run(&f->bench);
    assert_in_range(f->peer.n_conns, 2, RCO_HTTP1_CONNECTIONS);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(many[i].err.code, RCO_OK);
        rco_buf_release(&many[i].body);
    }
}

/* --- faults --------------------------------------------------------------------------------- */

static void a_refused_connection_is_unavailable(void **state)
{
    struct fixture *f = *state;
    struct rco_http_client_options o = {.base_url = "http://127.0.0.1:1"};

    rco_http_client_free(f->client);
    start_client(f, &o);
    outcome_get(&f->a, "/api/v1/secrets?labelSelector=private", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    assert_non_null(strstr(f->a.err.msg, "GET http://127.0.0.1:1/api/v1/secrets:"));
    assert_null(strstr(f->a.err.msg, "private"));
}

static void answer_cut_short(struct peer_conn *conn)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
    uv_buf_t buf = uv_buf_init((char *)text, sizeof text - 1);

    uv_try_write((uv_stream_t *)&conn->tcp, &buf, 1);
    peer_hang_up(conn);
}

static void an_answer_cut_short_is_not_an_answer(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_cut_short;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->a.n_done, 1);
}

static void answer_nonsense(struct peer_conn *conn)
{
    peer_says(conn, "220 mail.example.org ESMTP\r\n\r\n");
}

static void an_answer_that_is_not_http_is_a_fault(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_nonsense;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EINTERNAL);
}

static void unusable_options_are_refused(void **state)
{
    static const char *const urls[] = {
        "", "127.0.0.1:80", "ftp://x/", "https://u:p@x/", "https://x/?q", "https://x/#f"};
    struct fixture *f = *state;
    struct rco_http_client_options o = {.user_agent = "x"};
    struct rco_error err = RCO_ERROR_INIT;

    for (size_t i = 0; i < RCO_ARRAY_LEN(urls); i++) {
        o.base_url = urls[i];
        assert_null(rco_http_client_new(f->bench.loop, &o, &err));
        assert_int_equal(err.code, RCO_EINVALID);
    }
    o.base_url = "https://x";
    o.ca_pem = "nonsense";
    assert_null(rco_http_client_new(f->bench.loop, &o, &err));
    assert_non_null(strstr(err.msg, "CA bundle"));
    o.ca_pem = NULL;
    o.ca_file = "/nonexistent/ca.crt";
    assert_null(rco_http_client_new(f->bench.loop, &o, &err));
    assert_non_null(strstr(err.msg, "/nonexistent/ca.crt"));
    o.ca_file = NULL;
    o.cert_pem = "x";
    assert_null(rco_http_client_new(f->bench.loop, &o, &err));
}

/* --- cancelling ----------------------------------------------------------------------------- */

static void note_close(struct peer_conn *conn)
{
    rco_loop_stop(conn->peer->bench->loop);
}

static int end_it(struct outcome *o)
{
    return -1;
}

static void a46_a_receiver_that_ends_the_answer_frees_the_server(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_one_event_then_nothing;
    f->peer.on_close = note_close;
    f->a.on_data = end_it;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ECANCELLED);
    if (!f->peer.conns[0]->closed)
        bench_run(&f->bench);
    assert_true(f->peer.conns[0]->closed);
}

static int cancel_it(struct outcome *o)
{
    rco_transport_cancel(o->transport, o->call);
    return 0;
}

static void cancel_in_head(struct outcome *o)
{
    rco_transport_cancel(o->transport, o->call);
}

static void a_call_may_be_cancelled_inside_its_own_callbacks(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_one_event_then_nothing;
    f->peer.on_close = note_close;
    f->a.on_data = cancel_it;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    bench_run(&f->bench);
    assert_true(f->peer.conns[0]->closed);
    assert_int_equal(f->a.n_done, 0);
    assert_int_equal(f->a.n_data, 1);
    f->b.on_head = cancel_in_head;
    start_watch(&f->b, 10 * RCO_NS_PER_S, 0);
    bench_run(&f->bench);
    assert_true(f->peer.conns[1]->closed);
    assert_int_equal(f->b.n_head, 1);
    assert_int_equal(f->b.n_data + f->b.n_done, 0);
}

static struct outcome *the_other;

static void cancel_other(struct outcome *o)
{
    rco_transport_cancel(the_other->transport, the_other->call);
}

static void a_call_may_be_cancelled_inside_the_callbacks_of_another(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_watch_or_hello;
    f->peer.on_close = note_close;
    the_other = &f->b;
    start_watch(&f->b, 10 * RCO_NS_PER_S, 0);
    while (f->b.n_data == 0)
        bench_run_for(&f->bench, 5 * MS);
    f->a.on_head = cancel_other;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    bench_run(&f->bench);
    assert_int_equal(f->b.n_done, 0);
    assert_int_equal(f->a.n_head, 1);
}

static void start_other(struct outcome *o)
{
    outcome_get(the_other, "/x", 0);
}

static void stop_then_start_other(struct outcome *o)
{
    rco_transport_cancel(o->transport, o->call); /* too late: harmless */
    start_other(o);
}

static void a_call_may_be_started_inside_any_callback(void **state)
{
    struct fixture *f = *state;
    int left = 2;

    f->peer.on_bytes = answer_watch_or_hello;
    the_other = &f->b;
    f->a.countdown = f->b.countdown = &left;
    f->a.on_done = stop_then_start_other;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.n_done, 1);
    assert_int_equal(f->b.n_done, 1);
    left = 2;
    outcome_clear(&f->a);
    outcome_clear(&f->b);
    f->a.countdown = f->b.countdown = &left;
    f->a.on_head = start_other;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->b.err.code, RCO_OK);
}

static void cancelled_at_once_it_never_happens(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_hello;
    outcome_get(&f->a, "/x", 0);
    rco_transport_cancel(f->a.transport, f->a.call);
    rco_transport_cancel(f->a.transport, NULL);
    bench_run_for(&f->bench, 30 * MS);
    assert_int_equal(f->a.n_done, 0);
    assert_int_equal(f->peer.n_conns, 0);
}

static void the_client_may_be_freed_with_calls_under_way(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_watch_or_hello;
    start_watch(&f->a, 10 * RCO_NS_PER_S, 0);
    while (f->a.n_data == 0)
        bench_run_for(&f->bench, 5 * MS);
    outcome_get(&f->b, "/x", 0);
    rco_http_client_free(f->client);
    f->client = NULL;
    bench_run_for(&f->bench, 10 * MS);
    assert_int_equal(f->a.n_done + f->b.n_done, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(trap_3_4_a_watch_of_a_dead_peer_ends_by_the_silence_timer),
        T(trap_3_4_a_watch_that_never_gets_an_answer_ends_by_the_silence_timer),
        T(a_watch_that_brings_bytes_is_not_silent),
        T(a35_the_absolute_timer_ends_a_lively_watch),
        T(a44_a_body_that_dribbles_does_not_outlive_the_deadline),
        T(a36_a_connection_that_does_not_come_about_times_out),
        T(trap_3_4_sockets_are_set_up_to_find_dead_peers),
        T(trap_3_2_lanes_do_not_share_connections),
        T(an_election_request_passes_one_that_hangs),
        T(a41_a_write_is_not_repeated_when_its_connection_dies),
        T(a41_nor_is_a_delete_without_body),
        T(a40_a_get_on_a_reused_dead_connection_goes_out_again),
        T(connections_without_http2_are_few_but_more_than_one),
        T(a_refused_connection_is_unavailable),
        T(an_answer_cut_short_is_not_an_answer),
        T(an_answer_that_is_not_http_is_a_fault),
        T(unusable_options_are_refused),
        T(a46_a_receiver_that_ends_the_answer_frees_the_server),
        T(a_call_may_be_cancelled_inside_its_own_callbacks),
        T(a_call_may_be_cancelled_inside_the_callbacks_of_another),
        T(a_call_may_be_started_inside_any_callback),
        T(cancelled_at_once_it_never_happens),
        T(the_client_may_be_freed_with_calls_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
