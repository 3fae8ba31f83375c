#include "server_world.h"

static void a_request_reaches_the_handler_with_its_parts(void **state)
{
    struct fixture *f = *state;
    struct script s = {
        .ctx = "POST /a/b?c=d&e HTTP/1.1\r\nHost: h\r\nAuthorization:  Bearer t \r\n"
               "Content-Type: text/x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"};

    play(f, &s, say_and_hear);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(s.got.data, "HTTP/1.1 200 OK\r\n"));
    assert_true(rco_str_has_suffix(s.got.data, "\r\n\r\nok"));
    assert_non_null(strstr(s.got.data, "\r\nContent-Length: 2\r\n"));
    assert_int_equal(f->n_seen, 1);
    assert_string_equal(f->seen[0].method, "POST");
    assert_string_equal(f->seen[0].path, "/a/b");
    assert_string_equal(f->seen[0].query, "c=d&e");
    assert_string_equal(f->seen[0].authorization, "Bearer t");
    assert_string_equal(f->seen[0].content_type, "text/x");
    assert_string_equal(f->seen[0].body, "hello");
    assert_int_equal(f->n_gone, 0);
    rco_buf_release(&s.got);
}

static void trap_2_5_the_path_is_not_decoded(void **state)
{
    struct fixture *f = *state;
    struct script s = {.ctx = "GET /x%2fy/../%00 HTTP/1.1\r\n" CLOSE};

    play(f, &s, say_and_hear);
    assert_string_equal(f->seen[0].path, "/x%2fy/../%00");
    assert_string_equal(f->seen[0].query, "");
    assert_string_equal(f->seen[0].authorization, "(null)");
    rco_buf_release(&s.got);
}

static void head_has_no_body(void **state)
{
    struct fixture *f = *state;
    struct script s = {.ctx = "HEAD /x HTTP/1.1\r\n" CLOSE};

    play(f, &s, say_and_hear);
    assert_true(rco_str_has_suffix(s.got.data, "\r\n\r\n"));
    assert_non_null(strstr(s.got.data, "\r\nContent-Length: 2\r\n"));
    rco_buf_release(&s.got);
}

static void http_1_0_is_answered_and_closed(void **state)
{
    struct fixture *f = *state;
    struct script s = {.ctx = "GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"};

    play(f, &s, say_and_hear);
    assert_true(s.mark);
    assert_true(rco_str_has_suffix(s.got.data, "ok"));
    rco_buf_release(&s.got);
}

static void two_requests_on_one(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, "PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc") &&
              hear_answer(fd, &s->got, false) && says(fd, "HEAD /2 HTTP/1.1\r\nHost: h\r\n\r\n") &&
              hear_answer(fd, &s->got, true) && says(fd, "DELETE /3 HTTP/1.1\r\nHost: h\r\n\r\n") &&
              hear_answer(fd, &s->got, false);
    close(fd);
}

static void a_connection_serves_one_request_after_another(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    play(f, &s, two_requests_on_one);
    assert_true(s.mark);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 OK"), 3);
    assert_null(strstr(s.got.data, "Connection: close"));
    assert_int_equal(f->n_seen, 3);
    assert_string_equal(f->seen[0].body, "abc");
    assert_string_equal(f->seen[2].method, "DELETE");
    assert_string_equal(f->seen[2].body, "");
    rco_buf_release(&s.got);
}

static void a_reply_may_come_later(void **state)
{
    struct fixture *f = *state;
    struct script s = {.ctx = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"};

    f->manner = REPLY_LATER;
    play(f, &s, say_and_hear_one);
    assert_true(s.mark);
    assert_true(rco_str_has_suffix(s.got.data, "ok"));
    rco_buf_release(&s.got);
}

static void one_byte_at_a_time(struct script *s)
{
    static const char text[] = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
    int fd = dial(s->port);

    s->mark = 1;
    for (size_t i = 0; i < sizeof text - 1; i++) {
        s->mark &= say(fd, text + i, 1);
        nap(1);
    }
    s->mark &= hear_answer(fd, &s->got, false);
    close(fd);
}

static void a_request_in_single_bytes_is_understood(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    play(f, &s, one_byte_at_a_time);
    assert_true(s.mark);
    assert_string_equal(f->seen[0].body, "abc");
    rco_buf_release(&s.got);
}

static void large_reply(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, "GET /x HTTP/1.1\r\n" CLOSE) && hear_all(fd, &s->got);
    close(fd);
}

static void a_large_reply_arrives_whole(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};
    size_t n = 20 << 20;
    char *big = rco_calloc(1, n);

    for (size_t i = 0; i < n; i++)
        big[i] = (char)('a' + i % 23);
    f->answer = big;
    f->answer_len = n;
    play(f, &s, large_reply);
    assert_true(s.mark);
    assert_true(s.got.len > n);
    assert_memory_equal(s.got.data + s.got.len - n, big, n);
    rco_buf_release(&s.got);
    free(big);
}

/* --- trap 2.3: what sends the library's HTTP role into an endless loop ----------------------- */

/* After the script the loop must come to rest: a few turns for timers, not thousands. */
static void check_at_rest(struct fixture *f)
{
    long before = f->bench.turns;

    bench_run_for(&f->bench, 60 * MS);
    assert_in_range(f->bench.turns - before, 0, 50);
}

static void trap_2_3_pipelined_get_and_post_are_answered_in_order(void **state)
{
    struct fixture *f = *state;
    struct script s = {
        .ctx = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
               "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"};

    play(f, &s, say_and_hear);
    assert_true(s.mark);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 OK"), 2);
    assert_int_equal(f->n_seen, 2);
    assert_string_equal(f->seen[0].path, "/1");
    assert_string_equal(f->seen[1].body, "body");
    check_at_rest(f);
    rco_buf_release(&s.got);
}

static void trap_2_3_three_posts_in_one_write_are_processed_one_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct script s = {
        .ctx = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"
               "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nb"
               "POST /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nConnection: close\r\n\r\nc"};

    f->manner = REPLY_LATER;
    play(f, &s, say_and_hear);
    assert_true(s.mark);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 OK"), 3);
    assert_string_equal(f->seen[2].body, "c");
    check_at_rest(f);
    rco_buf_release(&s.got);
}

static void bytes_while_waiting(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na");
    nap(10);
    s->mark = s->mark && says(fd, "GE") && hear_answer(fd, &s->got, false) &&
              says(fd, "T /2 HTTP/1.1\r\n" CLOSE) && hear_all(fd, &s->got);
    close(fd);
}

static void trap_2_3_bytes_that_come_while_a_reply_is_deferred_wait(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->manner = REPLY_LATER;
    play(f, &s, bytes_while_waiting);
    assert_true(s.mark);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 OK"), 2);
    check_at_rest(f);
    rco_buf_release(&s.got);
}

static void trap_2_3_a_request_behind_a_refused_body_is_not_served(void **state)
{
    struct fixture *f = *state;

    check_refused(f,
                  "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n"
                  "POST /y HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na",
                  413);
    check_at_rest(f);
}

static void flood_behind_request(struct script *s)
{
    static const char zeros[8192];
    int fd = dial(s->port);

    says(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    s->mark = 0;
    while (s->mark < 100 && say(fd, zeros, sizeof zeros)) {
        s->mark++;
        nap(1);
    }
    close(fd);
}

static void a_flood_behind_an_open_request_ends_the_connection(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->manner = REPLY_NEVER;
    play(f, &s, flood_behind_request);
    assert_in_range(s.mark, 8, 99);
    assert_int_equal(f->n_gone, 1);
}

static void send_without_reading(struct script *s)
{
    static const char zeros[1024];
    int fd = dial(s->port);

    says(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    nap(60);
    send(fd, zeros, sizeof zeros, MSG_NOSIGNAL);
    nap(100);
    close(fd);
}

static void a_peer_that_sends_and_does_not_read_cannot_spin_the_loop(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};
    size_t n = 30 << 20;
    char *big = rco_calloc(1, n);
    long before = f->bench.turns;

    f->answer = big;
    f->answer_len = n;
    play(f, &s, send_without_reading);
    assert_in_range(f->bench.turns - before, 0, 5000);
    check_at_rest(f);
    free(big);
}

/* --- trap 2.4: peers that go away ------------------------------------------------------------ */

static void say_and_leave(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    nap(30);
    close(fd);
}

static void trap_2_4_a_client_that_disappears_is_reported(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->manner = REPLY_NEVER;
    play(f, &s, say_and_leave);
    while (f->n_gone == 0)
        bench_run_for(&f->bench, 5 * MS);
    assert_int_equal(f->n_seen, 1);
    assert_null(f->waiting);
}

static void without_gone_a_late_reply_to_nobody_is_harmless(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->without_gone = true;
    listen_again(f);
    f->manner = REPLY_NEVER;
    play(f, &s, say_and_leave);
    bench_run_for(&f->bench, 30 * MS);
    assert_non_null(f->waiting);
    reply_later(f);
    bench_run_for(&f->bench, 10 * MS);
}

/* --- traps 2.6, 2.8: grammar ----------------------------------------------------------------- */

static void malformed_requests_are_refused(void **state)
{
    struct fixture *f = *state;

    check_refused(f, "nonsense\r\n\r\n", 400);
    check_refused(f, "\x16\x03\x01\x02\r\n\r\n", 400);
    check_refused(f, "PATCH /x HTTP/1.1\r\n" CLOSE, 405);
    check_refused(f, "OPTIONS * HTTP/1.1\r\n" CLOSE, 405);
    check_refused(f, "GET /none HTTP/1.1\r\n" CLOSE, 404);
    check_refused(f, "GET /x HTTP/1.1\r\n\r\n", 400);
    check_refused(f, "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400);
    check_refused(f, "GET /x HTTP/2.0\r\n" CLOSE, 505);
    check_refused(f, "GET http://h/x HTTP/1.1\r\n" CLOSE, 400);
    check_refused(f, "GET /x\x80 HTTP/1.1\r\n" CLOSE, 400);
    check_refused(f, "GET /x HTTP/1.1\r\nBad Name: 1\r\n" CLOSE, 400);
    check_refused(f, "GET /x HTTP/1.1\r\nX: a\x01z\r\n" CLOSE, 400);
    check_refused(f, "GET /x HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nExpect: tea\r\nContent-Length: 1\r\n" CLOSE, 417);
}

static void trap_2_8_unclear_lengths_are_refused(void **state)
{
    struct fixture *f = *state;

    check_refused(
        f, "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" CLOSE "1\r\na\r\n0\r\n\r\n", 411);
    check_refused(f, "POST /x HTTP/1.1\r\nTransfer-Encoding: gzip\r\n" CLOSE, 411);
    check_refused(f, "GET /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" CLOSE "0\r\n\r\n", 411);
    check_refused(f, "POST /x HTTP/1.1\r\n" CLOSE, 411);
    check_refused(f, "PUT /x HTTP/1.1\r\n" CLOSE, 411);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: -5\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: +5\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: 5x\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length:\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: 5, 5\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n" CLOSE, 400);
    check_refused(
        f, "POST /x HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" CLOSE, 400);
    check_refused(f, "POST /x HTTP/1.1\r\nContent-Length: 1001\r\n" CLOSE, 413);
}

static char *filled(const char *before, size_t n, const char *after)
{
    struct rco_buf b = RCO_BUF_INIT;
    char *x = rco_calloc(1, n + 1);

    memset(x, 'x', n);
    rco_buf_addf(&b, "%s%s%s", before, x, after);
    free(x);
    return rco_buf_take(&b);
}

static void trap_2_6_oversized_heads_get_an_answer(void **state)
{
    struct fixture *f = *state;
    rco_autofree char *header = filled("GET /x HTTP/1.1\r\nX: ", 40000, "\r\n" CLOSE);
    rco_autofree char *spaces = filled("GET /x HTTP/1.1\r\nX: y", 100, "\r\n");
    rco_autofree char *target = filled("GET /", 2048, " HTTP/1.1\r\n" CLOSE);
    rco_autofree char *fits = filled("GET /", 2047, " HTTP/1.1\r\n" CLOSE);
    rco_autobuf many = RCO_BUF_INIT;
    rco_autobuf endless = RCO_BUF_INIT;
    struct script s = {.ctx = fits};

    check_refused(f, header, 431);
    check_refused(f, target, 414);
    rco_buf_adds(&many, "GET /x HTTP/1.1\r\n");
    for (int i = 0; i < 120; i++)
        rco_buf_adds(&many, "A: b\r\n");
    rco_buf_adds(&many, CLOSE);
    check_refused(f, rco_buf_str(&many), 431);
    rco_buf_adds(&endless, spaces);
    for (int i = 0; i < 600; i++)
        rco_buf_adds(&endless,
                     "X:                                                                  y\r\n");
    check_refused(f, rco_buf_str(&endless), 431);
    play(f, &s, say_and_hear);
    assert_true(rco_str_has_prefix(s.got.data, "HTTP/1.1 200 OK"));
    rco_buf_release(&s.got);
}

static void wait_for_continue(struct script *s)
{
    int fd = dial(s->port);
    char buf[25];

    says(fd, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
             "Connection: close\r\n\r\n");
    s->mark = recv(fd, buf, sizeof buf, MSG_WAITALL) == sizeof buf &&
              memcmp(buf, "HTTP/1.1 100 Continue\r\n\r\n", sizeof buf) == 0;
    says(fd, "abc");
    hear_all(fd, &s->got);
    close(fd);
}

static void trap_2_8_a_client_that_waits_for_continue_gets_it(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    play(f, &s, wait_for_continue);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 200 OK"));
    assert_string_equal(f->seen[0].body, "abc");
    rco_buf_release(&s.got);
}

/* --- trap 2.9: refusing an upload ------------------------------------------------------------ */

/* A client that sends all of its body before it looks at the answer. */
static void upload_50_mb(struct script *s)
{
    static const char zeros[1 << 20];
    int fd = dial(s->port);

    s->mark = says(fd, "PUT /big HTTP/1.1\r\nHost: h\r\nContent-Length: 52428800\r\n\r\n");
    for (int i = 0; i < 50 && s->mark; i++)
        s->mark = say(fd, zeros, sizeof zeros);
    s->mark = s->mark && hear_all(fd, &s->got);
    close(fd);
}

static void trap_2_9_a_50_mb_upload_gets_to_read_its_413(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    play(f, &s, upload_50_mb);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 413 "));
    assert_int_equal(f->n_seen, 0);
    rco_buf_release(&s.got);
}

/* --- trap 2.7: slow peers -------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_request_reaches_the_handler_with_its_parts),
        T(trap_2_5_the_path_is_not_decoded),
        T(head_has_no_body),
        T(http_1_0_is_answered_and_closed),
        T(a_connection_serves_one_request_after_another),
        T(a_reply_may_come_later),
        T(a_request_in_single_bytes_is_understood),
        T(a_large_reply_arrives_whole),
        T(trap_2_3_pipelined_get_and_post_are_answered_in_order),
        T(trap_2_3_three_posts_in_one_write_are_processed_one_at_a_time),
        T(trap_2_3_bytes_that_come_while_a_reply_is_deferred_wait),
        T(trap_2_3_a_request_behind_a_refused_body_is_not_served),
        T(a_flood_behind_an_open_request_ends_the_connection),
        T(a_peer_that_sends_and_does_not_read_cannot_spin_the_loop),
        T(trap_2_4_a_client_that_disappears_is_reported),
        T(without_gone_a_late_reply_to_nobody_is_harmless),
        T(malformed_requests_are_refused),
        T(trap_2_8_unclear_lengths_are_refused),
        T(trap_2_6_oversized_heads_get_an_answer),
        T(trap_2_8_a_client_that_waits_for_continue_gets_it),
        T(trap_2_9_a_50_mb_upload_gets_to_read_its_413),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
