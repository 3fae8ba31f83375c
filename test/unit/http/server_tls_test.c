/* The server over TLS, with our own client and with bare OpenSSL. */
#include "http/server.h"

#include "support.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

struct fixture {
    struct bench bench;
    struct identity id, other;
    struct rco_server *server;
    struct rco_listener *listener;
    struct rco_http_client *client;
    struct outcome a;
    char *answer;
    size_t answer_len;
    struct rco_buf body; /* of the last request */
    int n_requests;
    struct rco_exchange *waiting[64];
    int n_waiting, most_waiting;
    struct rco_timer *later;
    bool defer;
    bool closed;
    int countdown;
};

static int64_t max_body(void *ctx, const char *method, const char *path)
{
    return strcmp(path, "/big") == 0 ? 100 << 20 : 10 << 20;
}

static void release_waiting(void *ctx)
{
    struct fixture *f = ctx;

    if (f->n_waiting > f->most_waiting)
        f->most_waiting = f->n_waiting;
    while (f->n_waiting > 0)
        rco_exchange_reply(f->waiting[--f->n_waiting], 200, "text/plain", "late", 4, 0);
}

static void request(void *ctx, struct rco_exchange *exchange, const struct rco_server_request *r)
{
    struct fixture *f = ctx;

    f->n_requests++;
    rco_buf_clear(&f->body);
    rco_buf_add(&f->body, r->body, r->body_len);
    if (f->defer && f->n_waiting < 64) {
        f->waiting[f->n_waiting++] = exchange;
        rco_timer_arm(f->later, 30 * MS);
        return;
    }
    rco_exchange_reply(exchange, 200, "text/plain", f->answer ? f->answer : "ok",
                       f->answer ? f->answer_len : 2, 0);
}

static void start_client(struct fixture *f, const char *ca, const char *server_name)
{
    rco_autofree char *url = rco_asprintf("https://127.0.0.1:%d", rco_listener_port(f->listener));
    struct rco_http_client_options o = {
        .base_url = url, .user_agent = "t", .ca_pem = ca, .tls_server_name = server_name};
    struct rco_error err = RCO_ERROR_INIT;

    rco_http_client_free(f->client);
    f->client = rco_http_client_new(f->bench.loop, &o, &err);
    if (!f->client)
        fail_msg("%s", err.msg);
    outcome_clear(&f->a);
    f->a = (struct outcome){.bench = &f->bench, .transport = rco_http_client_transport(f->client)};
}

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);
    struct rco_server_handler handler = {.max_body = max_body, .request = request, .ctx = f};
    struct rco_listener_options o = {.address = "127.0.0.1", .idle_ns = 20 * RCO_NS_PER_S};
    struct rco_error err = RCO_ERROR_INIT;

    bench_init(&f->bench);
    identity_make(&f->id, "127.0.0.1");
    identity_make(&f->other, "gateway.example.org");
    o.cert_pem = f->id.cert;
    o.key_pem = f->id.key;
    f->server = rco_server_new(f->bench.loop, &err);
    f->listener = rco_server_listen(f->server, &o, &handler, &err);
    if (!f->listener)
        fail_msg("%s", err.msg);
    f->later = rco_timer_new(f->bench.loop, release_waiting, f);
    start_client(f, f->id.ca, NULL);
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

    rco_http_client_free(f->client);
    rco_server_close(f->server, closed, f);
    while (!f->closed)
        bench_run(&f->bench);
    rco_timer_free(f->later);
    rco_buf_release(&f->body);
    rco_buf_release(&f->a.body);
    free(f->answer);
    identity_release(&f->id);
    identity_release(&f->other);
    bench_release(&f->bench);
    free(f);
    return 0;
}

static void our_client_and_our_server_understand_each_other(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++) {
        outcome_clear(&f->a);
        outcome_get(&f->a, "/x", 0);
        bench_run(&f->bench);
        if (f->a.err.code != RCO_OK)
            fail_msg("%s", f->a.err.msg);
        assert_string_equal(rco_buf_str(&f->a.body), "ok");
    }
}

static void trap_2_1_large_bodies_over_tls_come_to_their_end(void **state)
{
    struct fixture *f = *state;
    size_t n = 600 * 1024;
    char *body = rco_malloc(n);

    for (size_t i = 0; i < n; i++)
        body[i] = (char)(i * 7);
    f->answer = body;
    f->answer_len = n;
    outcome_start(&f->a,
                  &(struct rco_http_request){
                      .method = "PUT", .path = "/x", .body = body, .body_len = n, .max_body = n});
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->body.len, n);
    assert_memory_equal(f->body.data, body, n);
    assert_int_equal(f->a.body.len, n);
    assert_memory_equal(f->a.body.data, body, n);
}

static void trap_2_1_50_mb_over_tls(void **state)
{
    struct fixture *f = *state;
    size_t n = 50 << 20;
    char *body = rco_calloc(1, n);

    outcome_start(
        &f->a, &(struct rco_http_request){
                   .method = "PUT", .path = "/big", .body = body, .body_len = n, .max_body = 99});
    bench_run(&f->bench);
    free(body);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->body.len, n);
}

static void trap_2_9_a_413_over_tls_can_be_read(void **state)
{
    struct fixture *f = *state;
    size_t n = 12 << 20;
    char *body = rco_calloc(1, n);

    outcome_start(&f->a,
                  &(struct rco_http_request){
                      .method = "PUT", .path = "/x", .body = body, .body_len = n, .max_body = 99});
    bench_run(&f->bench);
    free(body);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->a.status, 413);
    assert_int_equal(f->n_requests, 0);
}

static void a_reply_over_tls_may_come_later(void **state)
{
    struct fixture *f = *state;

    f->defer = true;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_string_equal(rco_buf_str(&f->a.body), "late");
}

static void without_http2_requests_spread_over_a_few_connections(void **state)
{
    struct fixture *f = *state;
    struct rco_http_client_stats stats;
    struct outcome many[40];

    f->defer = true;
    f->countdown = 40;
    for (int i = 0; i < 40; i++) {
        many[i] = (struct outcome){
            .bench = &f->bench, .transport = f->a.transport, .countdown = &f->countdown};
        outcome_get(&many[i], "/x", 0);
    }
    bench_run(&f->bench);
    for (int i = 0; i < 40; i++) {
        if (many[i].err.code != RCO_OK)
            fail_msg("%s", many[i].err.msg);
        rco_buf_release(&many[i].body);
    }
    rco_http_client_get_stats(f->client, &stats);
    assert_in_range(stats.connections_made, 2, RCO_HTTP1_CONNECTIONS);
    assert_in_range(f->most_waiting, 2, RCO_HTTP1_CONNECTIONS);
}

static void trap_3_7_an_unknown_ca_is_refused(void **state)
{
    struct fixture *f = *state;

    start_client(f, f->other.ca, NULL);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->n_requests, 0);
    start_client(f, NULL, NULL); /* the system's store */
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
}

static void another_server_name_is_asked_for_and_verified(void **state)
{
    struct fixture *f = *state;
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_listener_set_certificate(f->listener, f->other.cert, f->other.key, &err),
                     0);
    start_client(f, f->other.ca, NULL);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    start_client(f, f->other.ca, "gateway.example.org");
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    if (f->a.err.code != RCO_OK)
        fail_msg("%s", f->a.err.msg);
    assert_int_equal(f->n_requests, 1);
}

static void a54_another_ca_counts_for_the_next_request(void **state)
{
    struct fixture *f = *state;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_http_client_stats stats;

    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(rco_http_client_set_tls(f->client, "nonsense", NULL, NULL, &err), -1);
    assert_int_equal(rco_http_client_set_tls(f->client, f->id.ca, f->id.cert, f->other.key, &err),
                     -1);
    assert_int_equal(rco_http_client_set_tls(f->client, f->other.ca, NULL, NULL, &err), 0);
    bench_run_for(&f->bench, 5 * MS);
    rco_http_client_get_stats(f->client, &stats);
    assert_int_equal(stats.connections, 0);
    outcome_clear(&f->a);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(rco_http_client_set_tls(f->client, f->id.ca, NULL, NULL, &err), 0);
    outcome_clear(&f->a);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
}

static void a54_a_request_under_way_survives_the_change(void **state)
{
    struct fixture *f = *state;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *both = rco_asprintf("%s%s", f->id.ca, f->other.ca);

    f->defer = true;
    outcome_get(&f->a, "/x", 0);
    while (f->n_waiting == 0)
        bench_run_for(&f->bench, 2 * MS);
    assert_int_equal(rco_http_client_set_tls(f->client, both, NULL, NULL, &err), 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
}

static void trap_3_6_a55_a_new_identity_ends_watches_and_replaces_connections(void **state)
{
    struct fixture *f = *state;
    struct outcome watch = f->a;
    struct rco_http_client_stats stats;
    struct rco_error err = RCO_ERROR_INIT;

    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    f->defer = true;
    outcome_start(&watch, &(struct rco_http_request){
                              .method = "GET", .path = "/watch", .lane = RCO_LANE_WATCH});
    while (f->n_waiting == 0)
        bench_run_for(&f->bench, 2 * MS);
    assert_int_equal(rco_http_client_set_tls(f->client, f->id.ca, f->id.cert, f->id.key, &err), 0);
    bench_run(&f->bench);
    assert_int_equal(watch.err.code, RCO_EUNAVAILABLE);
    bench_run_for(&f->bench, 5 * MS);
    rco_http_client_get_stats(f->client, &stats);
    assert_int_equal(stats.connections, 0);
    assert_int_equal(stats.connections_made, 2);
    bench_run_for(&f->bench, 40 * MS);
    f->defer = false;
    outcome_clear(&f->a);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    rco_buf_release(&watch.body);
}

/* --- bare OpenSSL ---------------------------------------------------------------------------- */

struct tls_script {
    char alpn[32];
};

static SSL *dial_tls(SSL_CTX *ctx, int port)
{
    SSL *ssl = SSL_new(ctx);
    int fd = dial(port);

    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) == 1)
        return ssl;
    ERR_clear_error();
    SSL_free(ssl);
    close(fd);
    return NULL;
}

static void hang_up_tls(SSL *ssl)
{
    int fd = SSL_get_fd(ssl);

    SSL_free(ssl);
    close(fd);
}

static void fingerprint(SSL *ssl, char out[128])
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    unsigned char digest[32];
    unsigned n = 0;

    X509_digest(cert, EVP_sha256(), digest, &n);
    rco_hex_encode(digest, n, out);
    X509_free(cert);
}

static void offer_http2(struct script *s)
{
    struct tls_script *t = s->ctx;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    const unsigned char *chosen;
    unsigned n;
    SSL *ssl;

    SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    ssl = dial_tls(ctx, s->port);
    if (ssl) {
        SSL_get0_alpn_selected(ssl, &chosen, &n);
        snprintf(t->alpn, sizeof t->alpn, "%.*s", (int)n, chosen);
        hang_up_tls(ssl);
    }
    SSL_CTX_free(ctx);
}

static void trap_2_2_http2_is_not_offered(void **state)
{
    struct fixture *f = *state;
    struct tls_script t = {0};
    struct script s = {.ctx = &t};

    script_run(&f->bench, &s, rco_listener_port(f->listener), offer_http2);
    assert_string_equal(t.alpn, "http/1.1");
}

static void offer_old_tls(struct script *s)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl;

    SSL_CTX_set_security_level(ctx, 0);
    SSL_CTX_set_max_proto_version(ctx, TLS1_1_VERSION);
    ssl = dial_tls(ctx, s->port);
    s->mark = ssl != NULL;
    if (ssl)
        hang_up_tls(ssl);
    SSL_CTX_free(ctx);
}

static void tls_below_1_2_is_refused(void **state)
{
    struct fixture *f = *state;
    struct script s = {.mark = -1};

    script_run(&f->bench, &s, rco_listener_port(f->listener), offer_old_tls);
    assert_int_equal(s.mark, 0);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
}

struct reload {
    struct fixture *f;
    struct rco_timer *timer;
    volatile int stage;
    char before[128], after[128];
    bool old_works, new_works;
};

static bool talk_tls(SSL *ssl)
{
    static const char text[] = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
    char buf[1024];
    int n;

    if (SSL_write(ssl, text, sizeof text - 1) <= 0)
        return false;
    n = SSL_read(ssl, buf, sizeof buf);
    return n > 12 && memcmp(buf, "HTTP/1.1 200", 12) == 0;
}

static void connect_reload_connect(struct script *s)
{
    struct reload *r = s->ctx;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *old = dial_tls(ctx, s->port), *new = NULL;

    fingerprint(old, r->before);
    r->old_works = talk_tls(old);
    r->stage = 1;
    while (r->stage == 1)
        nap(1);
    r->old_works = r->old_works && talk_tls(old);
    new = dial_tls(ctx, s->port);
    if (new) {
        fingerprint(new, r->after);
        r->new_works = talk_tls(new);
        hang_up_tls(new);
    }
    hang_up_tls(old);
    SSL_CTX_free(ctx);
}

static void reload_when_asked(void *ctx)
{
    struct reload *r = ctx;
    struct rco_error err = RCO_ERROR_INIT;
    struct fixture *f = r->f;

    if (r->stage != 1) {
        rco_timer_arm(r->timer, 2 * MS);
        return;
    }
    if (rco_listener_set_certificate(f->listener, f->other.cert, f->id.key, &err) == 0 ||
        rco_listener_set_certificate(f->listener, f->other.cert, f->other.key, &err) != 0)
        abort();
    r->stage = 2;
}

static void trap_2_10_a_certificate_is_replaced_without_dropping_connections(void **state)
{
    struct fixture *f = *state;
    struct reload r = {.f = f};
    struct script s = {.ctx = &r};

    r.timer = rco_timer_new(f->bench.loop, reload_when_asked, &r);
    rco_timer_arm(r.timer, 2 * MS);
    script_run(&f->bench, &s, rco_listener_port(f->listener), connect_reload_connect);
    rco_timer_free(r.timer);
    assert_true(r.old_works);
    assert_true(r.new_works);
    assert_string_not_equal(r.before, r.after);
}

static void trap_2_10_a_mismatched_pair_leaves_the_old_one_in_use(void **state)
{
    struct fixture *f = *state;
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_listener_set_certificate(f->listener, f->other.cert, f->id.key, &err), -1);
    assert_int_equal(rco_listener_set_certificate(f->listener, "", "", &err), -1);
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
}

static void open_and_wait(struct script *s)
{
    int fd = dial(s->port);

    s->mark = hear_all(fd, &s->got);
    close(fd);
}

static void trap_2_7_a_handshake_that_does_not_come_is_cut_off(void **state)
{
    struct fixture *f = *state;
    struct rco_server_handler handler = {.max_body = max_body, .request = request, .ctx = f};
    struct rco_listener_options o = {
        .address = "127.0.0.1", .cert_pem = f->id.cert, .key_pem = f->id.key, .idle_ns = 100 * MS};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_listener *hasty = rco_server_listen(f->server, &o, &handler, &err);
    struct script s = {0};

    script_run(&f->bench, &s, rco_listener_port(hasty), open_and_wait);
    assert_true(s.mark);
}

static void speak_plain(struct script *s)
{
    int fd = dial(s->port);

    says(fd, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    hear_all(fd, &s->got);
    s->mark = 1;
    close(fd);
}

static void plain_http_on_the_tls_port_is_not_served(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    script_run(&f->bench, &s, rco_listener_port(f->listener), speak_plain);
    assert_int_equal(s.mark, 1);
    assert_int_equal(f->n_requests, 0);
    assert_false(rco_str_has_prefix(rco_buf_str(&s.got), "HTTP/1.1 200"));
    rco_buf_release(&s.got);
}

static void a_mismatched_pair_is_refused_when_listening(void **state)
{
    struct fixture *f = *state;
    struct rco_server_handler handler = {.max_body = max_body, .request = request, .ctx = f};
    struct rco_listener_options o = {
        .address = "127.0.0.1", .cert_pem = f->id.cert, .key_pem = f->other.key};
    struct rco_error err = RCO_ERROR_INIT;

    assert_null(rco_server_listen(f->server, &o, &handler, &err));
    assert_int_equal(err.code, RCO_EINVALID);
    o.key_pem = NULL;
    assert_null(rco_server_listen(f->server, &o, &handler, &err));
    assert_int_equal(err.code, RCO_EINVALID);
}

static void idle_connections(struct script *s)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *all[20];

    for (int i = 0; i < 20; i++)
        all[i] = dial_tls(ctx, s->port);
    s->mark = 1;
    for (int i = 0; i < 20; i++)
        s->mark &= all[i] && talk_tls(all[i]);
    for (int i = 0; i < 20; i++)
        hang_up_tls(all[i]);
    SSL_CTX_free(ctx);
}

static void many_tls_connections_are_served(void **state)
{
    struct fixture *f = *state;
    struct script s = {0};

    script_run(&f->bench, &s, rco_listener_port(f->listener), idle_connections);
    assert_int_equal(s.mark, 1);
    assert_int_equal(f->n_requests, 20);
}

#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(our_client_and_our_server_understand_each_other),
        T(trap_2_1_large_bodies_over_tls_come_to_their_end),
        T(trap_2_1_50_mb_over_tls),
        T(trap_2_9_a_413_over_tls_can_be_read),
        T(a_reply_over_tls_may_come_later),
        T(without_http2_requests_spread_over_a_few_connections),
        T(trap_3_7_an_unknown_ca_is_refused),
        T(another_server_name_is_asked_for_and_verified),
        T(a54_another_ca_counts_for_the_next_request),
        T(a54_a_request_under_way_survives_the_change),
        T(trap_3_6_a55_a_new_identity_ends_watches_and_replaces_connections),
        T(trap_2_2_http2_is_not_offered),
        T(tls_below_1_2_is_refused),
        T(trap_2_10_a_certificate_is_replaced_without_dropping_connections),
        T(trap_2_10_a_mismatched_pair_leaves_the_old_one_in_use),
        T(trap_2_7_a_handshake_that_does_not_come_is_cut_off),
        T(plain_http_on_the_tls_port_is_not_served),
        T(a_mismatched_pair_is_refused_when_listening),
        T(many_tls_connections_are_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
