/* A37: a server that says GOAWAY with every answer. It is forty lines of HTTP/2 on OpenSSL in a
 * thread. */
#include "http/client.h"

#include "support.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

enum { DATA = 0, HEADERS = 1, SETTINGS = 4, GOAWAY = 7 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

enum manner {
    SAY_GOODBYE,  /* GOAWAY behind the answer, then the connection ends */
    REFUSE_FIRST, /* the first stream of each connection is beyond the last one processed */
};

struct server {
    pthread_t thread;
    int fd, port;
    SSL_CTX *ctx;
    enum manner manner;
    volatile int n_connections, n_requests, n_answers;
};

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                     const unsigned char *in, unsigned n, void *arg)
{
    *out = (const unsigned char *)"h2";
    *out_n = 2;
    return SSL_TLSEXT_ERR_OK;
}

static bool read_full(SSL *ssl, unsigned char *out, size_t n)
{
    while (n > 0) {
        int done = SSL_read(ssl, out, (int)n);

        if (done <= 0)
            return false;
        out += done;
        n -= (size_t)done;
    }
    return true;
}

static void send_frame(SSL *ssl, int type, int flags, unsigned stream, const char *payload,
                       size_t n)
{
    unsigned char frame[64] = {0,
                               0,
                               (unsigned char)n,
                               (unsigned char)type,
                               (unsigned char)flags,
                               (unsigned char)(stream >> 24),
                               (unsigned char)(stream >> 16),
                               (unsigned char)(stream >> 8),
                               (unsigned char)stream};

    memcpy(frame + 9, payload, n);
    SSL_write(ssl, frame, (int)(9 + n));
}

static void send_goaway(SSL *ssl, unsigned last)
{
    char payload[8] = {(char)(last >> 24), (char)(last >> 16), (char)(last >> 8), (char)last};

    send_frame(ssl, GOAWAY, 0, 0, payload, sizeof payload);
}

/* False when the connection shall end. */
static bool serve_frame(struct server *s, SSL *ssl)
{
    static unsigned char payload[1 << 16];
    unsigned char head[9];
    size_t n;
    unsigned stream;

    if (!read_full(ssl, head, sizeof head))
        return false;
    n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    stream = (unsigned)head[5] << 24 | (unsigned)head[6] << 16 | (unsigned)head[7] << 8 | head[8];
    if (n > sizeof payload || !read_full(ssl, payload, n))
        return false;
    if (head[3] == SETTINGS && !(head[4] & ACK))
        send_frame(ssl, SETTINGS, ACK, 0, "", 0);
    if (head[3] == HEADERS)
        s->n_requests++;
    if ((head[3] != HEADERS && head[3] != DATA) || !(head[4] & END_STREAM))
        return true;
    if (s->manner == REFUSE_FIRST && s->n_connections == 1) {
        send_goaway(ssl, 0);
        return false;
    }
    s->n_answers++;
    send_frame(ssl, HEADERS, END_HEADERS, stream, "\x88", 1); /* :status 200 */
    send_frame(ssl, DATA, END_STREAM, stream, "ok", 2);
    send_goaway(ssl, stream);
    return false;
}

static void serve(struct server *s, int fd)
{
    unsigned char preface[24];
    SSL *ssl = SSL_new(s->ctx);
    char buf[256];

    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1 && read_full(ssl, preface, sizeof preface)) {
        send_frame(ssl, SETTINGS, 0, 0, "", 0);
        while (serve_frame(s, ssl))
            ;
        SSL_shutdown(ssl);
        shutdown(fd, SHUT_WR);
        while (recv(fd, buf, sizeof buf, 0) > 0)
            ;
    }
    ERR_clear_error();
    SSL_free(ssl);
    close(fd);
}

static void *server_main(void *ctx)
{
    struct server *s = ctx;
    int fd;

    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        struct timeval limit = {.tv_usec = 300000};

        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        s->n_connections++;
        serve(s, fd);
    }
    return NULL;
}

static void use_identity(SSL_CTX *ctx, const struct identity *id)
{
    BIO *cert_bio = BIO_new_mem_buf(id->cert, -1), *key_bio = BIO_new_mem_buf(id->key, -1);
    X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);

    assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
}

struct fixture {
    struct bench bench;
    struct identity id;
    struct server server;
    struct rco_http_client *client;
    struct outcome a;
};

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t n = sizeof sa;
    struct rco_http_client_options o = {.user_agent = "t"};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *url = NULL;

    signal(SIGPIPE, SIG_IGN);
    bench_init(&f->bench);
    identity_make(&f->id, "127.0.0.1");
    f->server.ctx = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_alpn_select_cb(f->server.ctx, choose_h2, NULL);
    SSL_CTX_set_num_tickets(f->server.ctx, 0);
    use_identity(f->server.ctx, &f->id);
    f->server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(f->server.fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(f->server.fd, 16), 0);
    getsockname(f->server.fd, (struct sockaddr *)&sa, &n);
    url = rco_asprintf("https://127.0.0.1:%d", ntohs(sa.sin_port));
    o.base_url = url;
    o.ca_pem = f->id.ca;
    f->client = rco_http_client_new(f->bench.loop, &o, &err);
    f->a = (struct outcome){.bench = &f->bench, .transport = rco_http_client_transport(f->client)};
    *state = f;
    return 0;
}

static void start(struct fixture *f, enum manner manner)
{
    f->server.manner = manner;
    assert_int_equal(pthread_create(&f->server.thread, NULL, server_main, &f->server), 0);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rco_http_client_free(f->client);
    shutdown(f->server.fd, SHUT_RDWR);
    pthread_join(f->server.thread, NULL);
    close(f->server.fd);
    SSL_CTX_free(f->server.ctx);
    rco_buf_release(&f->a.body);
    identity_release(&f->id);
    bench_release(&f->bench);
    free(f);
    return 0;
}

static void write_one(struct fixture *f)
{
    outcome_clear(&f->a);
    outcome_start(&f->a, &(struct rco_http_request){.method = "PATCH",
                                                    .path = "/x",
                                                    .body = "{}",
                                                    .body_len = 2,
                                                    .max_body = 100,
                                                    .deadline_ns = 20 * RCO_NS_PER_S});
    bench_run(&f->bench);
}

static void trap_3_3_a37_goaway_after_each_answer_is_no_fault(void **state)
{
    struct fixture *f = *state;

    start(f, SAY_GOODBYE);
    for (int i = 0; i < 6; i++) {
        if (i % 2) {
            write_one(f);
        } else {
            outcome_clear(&f->a);
            outcome_get(&f->a, "/x", 20 * RCO_NS_PER_S);
            bench_run(&f->bench);
        }
        if (f->a.err.code != RCO_OK)
            fail_msg("request %d: %s", i, f->a.err.msg);
        assert_int_equal(f->a.status, 200);
        assert_string_equal(rco_buf_str(&f->a.body), "ok");
        /* The end of the connection is seen before the next request; in the same instant a write
         * would be reported as lost, see below. */
        bench_run_for(&f->bench, 20 * MS);
    }
    assert_int_equal(f->server.n_connections, 6);
    assert_int_equal(f->server.n_requests, 6);
}

static void a37_a_refused_read_is_unavailable_and_the_next_one_served(void **state)
{
    struct fixture *f = *state;

    start(f, REFUSE_FIRST);
    outcome_get(&f->a, "/x", 20 * RCO_NS_PER_S);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    outcome_clear(&f->a);
    outcome_get(&f->a, "/x", 20 * RCO_NS_PER_S);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->server.n_answers, 1);
}

static void a41_a_refused_write_is_reported_and_never_processed_twice(void **state)
{
    struct fixture *f = *state;

    start(f, REFUSE_FIRST);
    write_one(f);
    assert_int_equal(f->a.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->a.err.http_status, 0);
    assert_int_equal(f->server.n_answers, 0);
    write_one(f);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->server.n_answers, 1);
}

#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(trap_3_3_a37_goaway_after_each_answer_is_no_fault),
        T(a37_a_refused_read_is_unavailable_and_the_next_one_served),
        T(a41_a_refused_write_is_reported_and_never_processed_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
