/* What the tests of client_test.c and client_watch_test.c share. */
#ifndef RCO_TEST_CLIENT_WORLD_H
#define RCO_TEST_CLIENT_WORLD_H

/* The transport against scripted plain HTTP/1.1 peers. HTTP/2 and TLS: client_tls_test.c. */
#include "http/client.h"

#include "support.h"

#include <netinet/tcp.h>
#include <sys/resource.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

struct fixture {
    struct bench bench;
    struct peer peer;
    struct rco_http_client *client;
    struct outcome a, b;
    const char *token; /* what authorization returns */
    int asked;
    int countdown;
};

static const char *authorization(void *ctx)
{
    struct fixture *f = ctx;

    f->asked++;
    return f->token;
}

static inline void start_client(struct fixture *f, const struct rco_http_client_options *with)
{
    struct rco_http_client_options o = with ? *with : (struct rco_http_client_options){0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *url = rco_asprintf("http://127.0.0.1:%d", f->peer.port);

    if (!o.base_url)
        o.base_url = url;
    if (!o.user_agent)
        o.user_agent = "runtime-cloud/test";
    o.authorization = authorization;
    o.ctx = f;
    f->client = rco_http_client_new(f->bench.loop, &o, &err);
    if (!f->client)
        fail_msg("%s", err.msg);
    f->a = f->b =
        (struct outcome){.bench = &f->bench, .transport = rco_http_client_transport(f->client)};
}

static inline int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);

    bench_init(&f->bench);
    peer_init(&f->peer, &f->bench, NULL);
    start_client(f, NULL);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    rco_http_client_free(f->client);
    peer_release(&f->peer);
    rco_buf_release(&f->a.body);
    rco_buf_release(&f->b.body);
    bench_release(&f->bench);
    free(f);
    return 0;
}

/* --- what goes over the wire ---------------------------------------------------------------- */

static inline void answer_hello(struct peer_conn *conn)
{
    if (!peer_has_request(conn))
        return;
    conn->peer->n_requests++;
    peer_says(conn, OK_HELLO);
}

/* One entry of a list of tests. */
#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

#endif
