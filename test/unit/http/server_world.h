/* What the tests of server_test.c and server_limits_test.c share. */
#ifndef RCO_TEST_SERVER_WORLD_H
#define RCO_TEST_SERVER_WORLD_H

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
    bool with_known; /* a request with "Authorization: friend" is known */
    bool closed;
};

static inline int64_t max_body(void *ctx, const char *method, const char *path)
{
    if (strcmp(path, "/none") == 0)
        return -1;
    return strcmp(path, "/big") == 0 ? 10 << 20 : 1000;
}

static inline bool known(void *ctx, const char *method, const char *path,
                         const char *authorization)
{
    return rco_streq(authorization, "friend");
}

static inline void reply(struct fixture *f, struct rco_exchange *exchange)
{
    const char *text = f->answer ? f->answer : "ok";

    rco_exchange_reply(exchange, 200, "text/plain", text, f->answer ? f->answer_len : 2, 0);
}

static inline void reply_later(void *ctx)
{
    struct fixture *f = ctx;
    struct rco_exchange *exchange = f->waiting;

    f->waiting = NULL;
    if (exchange)
        reply(f, exchange);
}

static inline void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "(null)");
}

static inline void request(void *ctx, struct rco_exchange *exchange,
                           const struct rco_server_request *r)
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

static inline void gone(void *ctx, struct rco_exchange *exchange)
{
    struct fixture *f = ctx;

    assert_ptr_equal(rco_exchange_data(exchange), f);
    f->n_gone++;
    if (f->waiting == exchange)
        f->waiting = NULL;
    /* A reply in here is in vain and harmless. */
    rco_exchange_reply(exchange, 200, NULL, "", 0, 0);
}

static inline void listen_again(struct fixture *f)
{
    struct rco_server_handler handler = {
        .max_body = max_body,
        .known = f->with_known ? known : NULL,
        .request = request,
        .gone = f->without_gone ? NULL : gone,
        .ctx = f};
    struct rco_error err = RCO_ERROR_INIT;

    f->options.address = "127.0.0.1";
    f->listener = rco_server_listen(f->server, &f->options, &handler, &err);
    if (!f->listener)
        fail_msg("%s", err.msg);
}

static inline int set_up(void **state)
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

static inline void closed(void *ctx)
{
    struct fixture *f = ctx;

    f->closed = true;
    rco_loop_stop(f->bench.loop);
}

static inline int tear_down(void **state)
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
static inline void hurry(struct fixture *f, int64_t idle_ns, int64_t reply_ns)
{
    f->options.idle_ns = idle_ns;
    f->options.reply_ns = reply_ns;
    listen_again(f);
}

static inline void play(struct fixture *f, struct script *s, void (*fn)(struct script *))
{
    script_run(&f->bench, s, rco_listener_port(f->listener), fn);
}

/* Sends ctx (text), hears everything until the server closes. */
static inline void say_and_hear(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, s->ctx) && hear_all(fd, &s->got);
    close(fd);
}

static inline void say_and_hear_one(struct script *s)
{
    int fd = dial(s->port);

    s->mark = says(fd, s->ctx) && hear_answer(fd, &s->got, rco_str_has_prefix(s->ctx, "HEAD"));
    close(fd);
}

/* TEXT is answered by STATUS on a connection that the server then closes. */
static inline void check_refused(struct fixture *f, const char *text, int status)
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


/* One entry of a list of tests. */
#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

#endif
