/* The server over plain loopback sockets, with clients of every kind. TLS: server_tls_test.c. */
#include "http/server.h"

#include "support.h"

#define REQUESTS_MAX 64

struct seen {
    char method[16], path[128], query[128], authorization[64], content_type[64];
    char body[64];
};

enum manner { REPLY_AT_ONCE, REPLY_LATER, REPLY_NEVER };

struct fixture {
    struct bench bench;
    struct rco_server *server;
    struct rco_listener *listener;
    struct rco_listener_options options;
    enum manner manner;
    struct seen seen[REQUESTS_MAX];
    int n_seen, n_gone;
    struct rco_exchange *waiting;
    struct rco_timer *later;
    const char *answer; /* NULL = "ok" */
    size_t answer_len;
    bool without_gone;
    bool closed;
};

static int64_t max_body(void *ctx, const char *method, const char *path)
{
    if (strcmp(path, "/none") == 0)
        return -1;
    return strcmp(path, "/big") == 0 ? 10 << 20 : 1000;
}

static void reply(struct fixture *f, struct rco_exchange *exchange)
{
    const char *text = f->answer ? f->answer : "ok";

    rco_exchange_reply(exchange, 200, "text/plain", text, f->answer ? f->answer_len : 2, 0);
}

static void reply_later(void *ctx)
{
    struct fixture *f = ctx;
    struct rco_exchange *exchange = f->waiting;

    f->waiting = NULL;
    if (exchange)
        reply(f, exchange);
}

static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "(null)");
}

static void request(void *ctx, struct rco_exchange *exchange, const struct rco_server_request *r)
{
    struct fixture *f = ctx;
    struct seen *s = &f->seen[f->n_seen++ % REQUESTS_MAX];

    copy(s->method, sizeof s->method, r->method);
    copy(s->path, sizeof s->path, r->path);
    copy(s->query, sizeof s->query, r->query);
    copy(s->authorization, sizeof s->authorization, r->authorization);
    copy(s->content_type, sizeof s->content_type, r->content_type);
    copy(s->body, sizeof s->body, r->body);
    rco_exchange_set_data(exchange, f);
    if (f->manner == REPLY_AT_ONCE) {
        reply(f, exchange);
        return;
    }
    f->waiting = exchange;
    if (f->manner == REPLY_LATER)
        rco_timer_arm(f->later, 30 * MS);
}

static void gone(void *ctx, struct rco_exchange *exchange)
{
    struct fixture *f = ctx;

    assert_ptr_equal(rco_exchange_data(exchange), f);
    f->n_gone++;
    if (f->waiting == exchange)
        f->waiting = NULL;
    /* A reply in here is in vain and harmless. */
    rco_exchange_reply(exchange, 200, NULL, "", 0, 0);
}

static void listen_again(struct fixture *f)
{
    struct rco_server_handler handler = {
        .max_body = max_body, .request = request, .gone = f->without_gone ? NULL : gone, .ctx = f};
    struct rco_error err = RCO_ERROR_INIT;

    f->options.address = "127.0.0.1";
    f->listener = rco_server_listen(f->server, &f->options, &handler, &err);
    if (!f->listener)
        fail_msg("%s", err.msg);
}

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);
    struct rco_error err = RCO_ERROR_INIT;

    bench_init(&f->bench);
    f->server = rco_server_new(f->bench.loop, &err);
    assert_non_null(f->server);
    f->options.idle_ns = 10 * RCO_NS_PER_S;
    f->later = rco_timer_new(f->bench.loop, reply_later, f);
    listen_again(f);
    *state = f;
    return 0;
}

static void closed(void *ctx)
{
    struct fixture *f = ctx;

    f->closed = true;
    rco_loop_stop(f->bench.loop);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    if (!f->closed) {
        rco_server_close(f->server, closed, f);
        bench_run(&f->bench);
    }
    rco_timer_free(f->later);
    bench_release(&f->bench);
    free(f);
    return 0;
}

/* Starts a listener with short deadlines. */
static void hurry(struct fixture *f, int64_t idle_ns, int64_t reply_ns)
{
    f->options.idle_ns = idle_ns;
    f->options.reply_ns = reply_ns;
    listen_again(f);
}

static void play(struct fixture *f, struct script *s, void (*fn)(struct script *))
{
    script_run(&f->bench, s, rco_listener_port(f->listener), fn);
}

/* Sends ctx (text), hears everything until the server closes. */
static void say_and_hear(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, s->ctx) && hear_all(fd, &s->got);
    close(fd);
}

static void say_and_hear_one(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, s->ctx) && hear_answer(fd, &s->got, rco_str_has_prefix(s->ctx, "HEAD"));
    close(fd);
}

/* TEXT is answered by STATUS on a connection that the server then closes. */
static void check_refused(struct fixture *f, const char *text, int status)
{
    struct script s = {.ctx = (void *)text};
    char want[32];
    int before = f->n_seen;

    snprintf(want, sizeof want, "HTTP/1.1 %d ", status);
    play(f, &s, say_and_hear);
    if (!s.mark || !rco_str_has_prefix(rco_buf_str(&s.got), want))
        fail_msg("%.60s: want %d, got %.60s", text, status, rco_buf_str(&s.got));
    assert_non_null(strstr(s.got.data, "\r\nConnection: close\r\n"));
    assert_int_equal(f->n_seen, before);
    rco_buf_release(&s.got);
}

#define CLOSE "Host: h\r\nConnection: close\r\n\r\n"

/* --- requests and answers ------------------------------------------------------------------- */

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

static void trickle(struct script *s, const char *first)
{
    int fd = dial(s->port);

    says(fd, first);
    for (int i = 0; i < 200; i++) {
        char buf[1024];
        ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);

        if (n > 0)
            rco_buf_add(&s->got, buf, (size_t)n);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            s->mark = 1;
            break;
        }
        send(fd, "x", 1, MSG_NOSIGNAL);
        nap(10);
    }
    close(fd);
}

static void trickle_header(struct script *s)
{
    trickle(s, "GET /x HTTP/1.1\r\nHost: h\r\nX: ");
}

static void trickle_body(struct script *s)
{
    trickle(s, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n");
}

static void trap_2_7_a_header_that_trickles_is_cut_off(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    hurry(f, 200 * MS, 0);
    play(f, &s, trickle_header);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 408 "));
    rco_buf_release(&s.got);
}

static void trap_2_7_a_body_that_trickles_is_cut_off(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    hurry(f, 200 * MS, 0);
    play(f, &s, trickle_body);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 408 "));
    assert_int_equal(f->n_seen, 0);
    rco_buf_release(&s.got);
}

static void say_nothing(struct script *s)
{
    int fd = dial(s->port);

    s->mark = hear_all(fd, &s->got);
    close(fd);
}

static void trap_2_7_a_connection_without_request_is_closed_in_silence(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    hurry(f, 100 * MS, 0);
    play(f, &s, say_nothing);
    assert_true(s.mark);
    assert_int_equal(s.got.len, 0);
}

static void trap_2_7_a_reply_that_never_comes_is_503_and_the_handler_is_told(void **state)
{
    struct fixture *f = *state;
    struct script s = {.ctx = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"};

    f->manner = REPLY_NEVER;
    hurry(f, 10 * RCO_NS_PER_S, 100 * MS);
    play(f, &s, say_and_hear);
    assert_true(s.mark);
    assert_true(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 503 "));
    assert_non_null(strstr(s.got.data, "\r\nRetry-After: 1\r\n"));
    assert_int_equal(f->n_gone, 1);
    rco_buf_release(&s.got);
}

static void read_nothing(struct script *s)
{
    int fd = dial(s->port);
    char buf[1];

    says(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    nap(400);
    /* What the kernel holds can still be read; then it ends, far before 30 MiB. */
    while (recv(fd, buf, 1, MSG_DONTWAIT) == 1 && ++s->mark < (20 << 20))
        ;
    close(fd);
}

static void a_peer_that_does_not_read_its_reply_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};
    size_t n = 30 << 20;
    char *big = rco_calloc(1, n);

    f->answer = big;
    f->answer_len = n;
    hurry(f, 100 * MS, 0);
    play(f, &s, read_nothing);
    assert_in_range(s.mark, 1, (20 << 20) - 1);
    free(big);
}

/* --- limits, listening, ending --------------------------------------------------------------- */

static void three_at_once(struct script *s)
{
    int a = dial(s->port), b = dial(s->port), c;

    nap(30);
    c = dial(s->port);
    s->mark = says(a, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n") && hear_answer(a, &s->got, false);
    says(c, "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n");
    s->mark += hear_answer(c, &s->got, false) ? 100 : 0;
    close(a);
    nap(30);
    close(c);
    c = dial(s->port);
    s->mark +=
        says(c, "GET /4 HTTP/1.1\r\nHost: h\r\n\r\n") && hear_answer(c, &s->got, false) ? 10 : 0;
    close(b);
    close(c);
}

static void connections_beyond_the_limit_are_closed(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_connections = 2;
    listen_again(f);
    play(f, &s, three_at_once);
    assert_int_equal(s.mark, 11);
    rco_buf_release(&s.got);
}

static int dial_from(const char *address, int port)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, address, &from.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        print_message("cannot connect from %s\n", address);
    return fd;
}

static bool asks(int fd, struct script *s)
{
    return says(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n") && hear_answer(fd, &s->got, false);
}

static void from_two_addresses(struct script *s)
{
    int fds[] = {dial_from("127.0.0.2", s->port), dial_from("127.0.0.2", s->port),
                 dial_from("127.0.0.2", s->port), dial_from("127.0.0.3", s->port)};

    for (size_t i = 0; i < RCO_ARRAY_LEN(fds); i++)
        s->mark |= asks(fds[i], s) ? 1 << i : 0;
    close(fds[0]);
    nap(30);
    close(fds[2]);
    fds[2] = dial_from("127.0.0.2", s->port);
    s->mark |= asks(fds[2], s) ? 1 << 4 : 0;
    for (size_t i = 1; i < RCO_ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void one_address_does_not_get_all_connections(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_connections = 8;
    f->options.share = 4;
    listen_again(f);
    play(f, &s, from_two_addresses);
    assert_int_equal(s.mark, 1 | 2 | 8 | 16);
    rco_buf_release(&s.got);
}

#define BIG_HEAD "POST /big HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n"

static bool says_zeros(int fd, size_t n)
{
    char *zeros = rco_calloc(1, n);
    bool ok = say(fd, zeros, n);

    free(zeros);
    return ok;
}

static void two_bodies(struct script *s)
{
    int a = dial(s->port), b = dial_from("127.0.0.2", s->port);

    s->mark = says(a, BIG_HEAD) && says_zeros(a, 80000);
    nap(50);
    says(b, BIG_HEAD);
    says_zeros(b, 80000);
    s->mark += hear_all(b, &s->got) ? 10 : 0;
    s->mark += says_zeros(a, 10000) && hear_answer(a, &s->got, false) ? 100 : 0;
    close(b);
    b = dial(s->port);
    s->mark +=
        says(b, BIG_HEAD) && says_zeros(b, 90000) && hear_answer(b, &s->got, false) ? 1000 : 0;
    close(a);
    close(b);
}

static void bodies_that_are_too_much_together_are_put_off(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_held = 100000;
    listen_again(f);
    play(f, &s, two_bodies);
    assert_int_equal(s.mark, 1111);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 503 "), 1);
    assert_int_equal(count_of(s.got.data, "\r\nRetry-After: 1\r\n"), 1);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 "), 2);
    rco_buf_release(&s.got);
}

static void one_body_after_another(struct script *s)
{
    int a = dial(s->port), b = dial(s->port);

    s->mark = says(a, BIG_HEAD) && says_zeros(a, 90000);
    nap(50);
    s->mark += says(b, BIG_HEAD) && says_zeros(b, 90000);
    nap(50);
    close(a);
    close(b);
}

static void a_body_is_not_kept_while_its_answer_is_awaited(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_held = 100000;
    f->manner = REPLY_NEVER;
    listen_again(f);
    play(f, &s, one_body_after_another);
    bench_run_for(&f->bench, 50 * MS);
    assert_int_equal(s.mark, 2);
    assert_int_equal(f->n_seen, 2);
    assert_int_equal(f->n_gone, 2);
}

static void trap_1_6_a_failed_bind_names_address_and_port(void **state)
{
    struct fixture *f = *state;
    struct rco_server_handler handler = {.max_body = max_body, .request = request, .ctx = f};
    struct rco_listener_options o = {.address = "127.0.0.1",
                                     .port = rco_listener_port(f->listener)};
    struct rco_error err = RCO_ERROR_INIT;
    char want[64];

    snprintf(want, sizeof want, "127.0.0.1 port %d", o.port);
    assert_null(rco_server_listen(f->server, &o, &handler, &err));
    assert_int_equal(err.code, RCO_EIO);
    assert_non_null(strstr(err.msg, want));
    o.address = "192.0.2.1";
    o.port = 0;
    assert_null(rco_server_listen(f->server, &o, &handler, &err));
    assert_int_equal(err.code, RCO_EIO);
    o.address = "localhost";
    assert_null(rco_server_listen(f->server, &o, &handler, &err));
    assert_int_equal(err.code, RCO_EINVALID);
}

static void any_address_serves_ipv4(void **state)
{
    struct fixture *f = *state;
    struct rco_server_handler handler = {.max_body = max_body, .request = request, .ctx = f};
    static const char *const any[] = {NULL, "0.0.0.0"};
    struct rco_error err = RCO_ERROR_INIT;

    for (size_t i = 0; i < RCO_ARRAY_LEN(any); i++) {
        struct rco_listener_options o = {.address = any[i]};
        struct script s = {.ctx = "GET /x HTTP/1.1\r\n" CLOSE};

        f->listener = rco_server_listen(f->server, &o, &handler, &err);
        if (!f->listener)
            fail_msg("%s", err.msg);
        play(f, &s, say_and_hear);
        assert_true(rco_str_has_suffix(rco_buf_str(&s.got), "ok"));
        rco_buf_release(&s.got);
    }
}

struct drained {
    struct fixture *f;
    struct rco_timer *timer;
};

static void drain_now(void *ctx)
{
    struct drained *d = ctx;

    rco_server_drain(d->f->server);
    rco_timer_arm(d->f->later, 50 * MS);
}

static void talk_while_draining(struct script *s)
{
    int busy = dial(s->port), idle = dial(s->port), late;

    s->mark = says(idle, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n") && hear_answer(idle, &s->got, false);
    s->mark = s->mark && says(busy, "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
    nap(20);
    *(volatile int *)s->ctx = 1; /* the loop may drain */
    s->mark = s->mark && hear_all(idle, &s->got) && hear_all(busy, &s->got);
    late = dial(s->port);
    s->mark = s->mark && late < 0;
    close(busy);
    close(idle);
}

static int drain_flag;

static void poll_flag(void *ctx)
{
    struct drained *d = ctx;

    if (*(volatile int *)&drain_flag)
        drain_now(d);
    else
        rco_timer_arm(d->timer, 2 * MS);
}

static void reply_first(void *ctx, struct rco_exchange *exchange,
                        const struct rco_server_request *r)
{
    struct fixture *f = ctx;

    f->n_seen++;
    rco_exchange_set_data(exchange, f);
    if (strcmp(r->path, "/1") == 0)
        reply(f, exchange);
    else
        f->waiting = exchange;
}

static void trap_2_11_draining_lets_requests_finish_and_refuses_new_connections(void **state)
{
    struct fixture *f = *state;
    struct rco_server_handler handler = {
        .max_body = max_body, .request = reply_first, .gone = gone, .ctx = f};
    struct rco_error err = RCO_ERROR_INIT;
    struct drained d = {.f = f};
    struct script s = {.ctx = &drain_flag};

    drain_flag = 0;
    f->listener = rco_server_listen(f->server, &f->options, &handler, &err);
    d.timer = rco_timer_new(f->bench.loop, poll_flag, &d);
    rco_timer_arm(d.timer, 2 * MS);
    play(f, &s, talk_while_draining);
    rco_timer_free(d.timer);
    assert_true(s.mark);
    assert_int_equal(count_of(s.got.data, "HTTP/1.1 200 OK"), 2);
    assert_int_equal(count_of(s.got.data, "Connection: close"), 1);
    assert_int_equal(f->n_gone, 0);
    rco_buf_release(&s.got);
}

static void keep_three_open(struct script *s)
{
    int a = dial(s->port), b = dial(s->port), c = dial(s->port);

    says(a, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    says(b, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    nap(30);
    *(volatile int *)s->ctx = 1;
    s->mark = recv(a, s->ctx, 0, 0) <= 0;
    hear_all(a, &s->got);
    hear_all(b, &s->got);
    hear_all(c, &s->got);
    close(a);
    close(b);
    close(c);
}

static void just_note(void *ctx)
{
    ((struct fixture *)ctx)->closed = true;
}

static void close_now(void *ctx)
{
    struct drained *d = ctx;

    if (*(volatile int *)&drain_flag)
        rco_server_close(d->f->server, just_note, d->f);
    else
        rco_timer_arm(d->timer, 2 * MS);
}

static void trap_1_3_closing_with_open_connections_ends_cleanly(void **state)
{
    struct fixture *f = *state;
    struct drained d = {.f = f};
    struct script s = {.ctx = &drain_flag};

    drain_flag = 0;
    f->manner = REPLY_NEVER;
    d.timer = rco_timer_new(f->bench.loop, close_now, &d);
    rco_timer_arm(d.timer, 2 * MS);
    play(f, &s, keep_three_open);
    while (!f->closed)
        bench_run_for(&f->bench, 5 * MS);
    rco_timer_free(d.timer);
    assert_int_equal(f->n_gone, 1);
    assert_int_equal(f->n_seen, 1);
    rco_buf_release(&s.got);
}

static void trap_1_3_two_servers_on_one_loop_and_one_closed_at_once(void **state)
{
    struct fixture *f = *state;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_server *other = rco_server_new(f->bench.loop, &err);
    struct script s = {.ctx = "GET /x HTTP/1.1\r\n" CLOSE};

    assert_non_null(other);
    rco_server_close(other, closed, f);
    bench_run(&f->bench);
    assert_true(f->closed);
    f->closed = false;
    play(f, &s, say_and_hear);
    assert_true(rco_str_has_suffix(rco_buf_str(&s.got), "ok"));
    rco_buf_release(&s.got);
}

#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

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
        T(trap_2_7_a_header_that_trickles_is_cut_off),
        T(trap_2_7_a_body_that_trickles_is_cut_off),
        T(trap_2_7_a_connection_without_request_is_closed_in_silence),
        T(trap_2_7_a_reply_that_never_comes_is_503_and_the_handler_is_told),
        T(a_peer_that_does_not_read_its_reply_is_given_up),
        T(connections_beyond_the_limit_are_closed),
        T(one_address_does_not_get_all_connections),
        T(bodies_that_are_too_much_together_are_put_off),
        T(a_body_is_not_kept_while_its_answer_is_awaited),
        T(trap_1_6_a_failed_bind_names_address_and_port),
        T(any_address_serves_ipv4),
        T(trap_2_11_draining_lets_requests_finish_and_refuses_new_connections),
        T(trap_1_3_closing_with_open_connections_ends_cleanly),
        T(trap_1_3_two_servers_on_one_loop_and_one_closed_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
