#include "server_world.h"

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

/* --- strangers and friends ------------------------------------------------------------------- */

static bool asks_as_friend(int fd, struct script *s)
{
    return says(fd, "GET /x HTTP/1.1\r\nHost: h\r\nAuthorization: friend\r\n\r\n") &&
           hear_answer(fd, &s->got, false);
}

/* Whether the server has closed FD, which says nothing more. */
static bool is_closed(int fd)
{
    char c;

    return recv(fd, &c, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

static void a_crowd(struct script *s)
{
    int friend = dial_from("127.0.0.9", s->port);
    int crowd[] = {dial_from("127.0.0.2", s->port), dial_from("127.0.0.2", s->port),
                   dial_from("127.0.0.3", s->port)};
    int late, later;

    s->mark = asks_as_friend(friend, s);
    s->mark |= asks(crowd[0], s) && asks(crowd[1], s) && asks(crowd[2], s) ? 2 : 0;
    /* All four are taken. The next one takes the place of the oldest of the address with most. */
    late = dial_from("127.0.0.4", s->port);
    s->mark |= asks(late, s) ? 4 : 0;
    nap(30);
    s->mark |= is_closed(crowd[0]) && !is_closed(crowd[1]) && !is_closed(crowd[2]) ? 8 : 0;
    s->mark |= asks_as_friend(friend, s) ? 16 : 0;
    /* One connection of each address: the oldest stranger goes, the friend never. */
    later = dial_from("127.0.0.5", s->port);
    s->mark |= asks_as_friend(later, s) && asks_as_friend(late, s) ? 32 : 0;
    nap(30);
    s->mark |= is_closed(crowd[1]) && !is_closed(crowd[2]) ? 64 : 0;
    s->mark |= asks_as_friend(crowd[2], s) && asks_as_friend(friend, s) ? 128 : 0;
    /* All are friends now: who comes last has no place. */
    close(crowd[0]);
    crowd[0] = dial_from("127.0.0.2", s->port);
    says(crowd[0], "GET /x HTTP/1.1\r\nHost: h\r\nAuthorization: friend\r\n\r\n");
    s->mark |= !hear_answer(crowd[0], &s->got, false) && asks_as_friend(friend, s) ? 256 : 0;
    for (size_t i = 0; i < RCO_ARRAY_LEN(crowd); i++)
        close(crowd[i]);
    close(friend);
    close(late);
    close(later);
}

static void who_is_known_keeps_a_place_in_a_crowd(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_connections = 4;
    f->with_known = true;
    listen_again(f);
    play(f, &s, a_crowd);
    assert_int_equal(s.mark, 511);
    rco_buf_release(&s.got);
}

#define FRIEND_HEAD                                                                                \
    "POST /big HTTP/1.1\r\nHost: h\r\nAuthorization: friend\r\nContent-Length: 60000\r\n\r\n"

/* Bodies that are begun and never ended. */
static void a_heap(struct script *s)
{
    int heap[] = {dial_from("127.0.0.2", s->port), dial_from("127.0.0.3", s->port)};
    int friend = dial_from("127.0.0.9", s->port), small = dial_from("127.0.0.4", s->port);

    s->mark = says(heap[0], BIG_HEAD) && says_zeros(heap[0], 55000);
    nap(30);
    s->mark |= says(heap[1], BIG_HEAD) && says_zeros(heap[1], 38000) ? 2 : 0;
    nap(50);
    s->mark |= !is_closed(heap[0]) && !is_closed(heap[1]) ? 4 : 0;
    s->mark |= says(friend, FRIEND_HEAD) && says_zeros(friend, 60000) &&
                       hear_answer(friend, &s->got, false)
                   ? 8
                   : 0;
    nap(30);
    s->mark |= is_closed(heap[0]) && !is_closed(heap[1]) ? 16 : 0;
    /* A stranger with little takes from one with much. */
    s->mark |= asks(small, s) ? 32 : 0;
    for (size_t i = 0; i < RCO_ARRAY_LEN(heap); i++)
        close(heap[i]);
    close(friend);
    close(small);
}

static void who_is_known_gets_room_from_those_who_hold_most(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_held = 100000;
    f->with_known = true;
    listen_again(f);
    play(f, &s, a_heap);
    assert_int_equal(s.mark, 63);
    rco_buf_release(&s.got);
}

static void two_who_wait(struct script *s)
{
    int first = dial_from("127.0.0.2", s->port), second;

    says(first, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
    nap(30);
    second = dial_from("127.0.0.3", s->port);
    nap(30);
    s->mark = is_closed(first) && !is_closed(second);
    close(first);
    close(second);
}

static void who_waits_for_an_answer_goes_too_and_the_handler_is_told(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_connections = 1;
    f->manner = REPLY_NEVER;
    f->with_known = true;
    listen_again(f);
    play(f, &s, two_who_wait);
    bench_run_for(&f->bench, 50 * MS);
    assert_int_equal(s.mark, 1);
    assert_int_equal(f->n_gone, 1);
}

static void a_slow_stranger(struct script *s)
{
    int crowd[] = {dial_from("127.0.0.2", s->port), dial_from("127.0.0.3", s->port),
                   dial_from("127.0.0.4", s->port), dial_from("127.0.0.5", s->port)};

    nap(500);
    s->mark = !is_closed(crowd[0]) && is_closed(crowd[3]);
    for (size_t i = 0; i < RCO_ARRAY_LEN(crowd); i++)
        close(crowd[i]);
}

static void strangers_are_hurried_when_it_is_crowded(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    f->options.max_connections = 4;
    f->options.idle_ns = 1200 * MS;
    f->with_known = true;
    listen_again(f);
    play(f, &s, a_slow_stranger);
    assert_int_equal(s.mark, 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(trap_2_7_a_header_that_trickles_is_cut_off),
        T(trap_2_7_a_body_that_trickles_is_cut_off),
        T(trap_2_7_a_connection_without_request_is_closed_in_silence),
        T(trap_2_7_a_reply_that_never_comes_is_503_and_the_handler_is_told),
        T(a_peer_that_does_not_read_its_reply_is_given_up),
        T(connections_beyond_the_limit_are_closed),
        T(one_address_does_not_get_all_connections),
        T(bodies_that_are_too_much_together_are_put_off),
        T(a_body_is_not_kept_while_its_answer_is_awaited),
        T(who_is_known_keeps_a_place_in_a_crowd),
        T(who_is_known_gets_room_from_those_who_hold_most),
        T(who_waits_for_an_answer_goes_too_and_the_handler_is_told),
        T(strangers_are_hurried_when_it_is_crowded),
        T(trap_1_6_a_failed_bind_names_address_and_port),
        T(any_address_serves_ipv4),
        T(trap_2_11_draining_lets_requests_finish_and_refuses_new_connections),
        T(trap_1_3_closing_with_open_connections_ends_cleanly),
        T(trap_1_3_two_servers_on_one_loop_and_one_closed_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
