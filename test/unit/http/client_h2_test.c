/* The transport against a real HTTP/2 server over TLS (nghttpd), through a relay that can go
 * silent. */
#include "http/client.h"

#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NGHTTPD "/usr/sbin/nghttpd"

struct fixture {
    struct bench bench;
    struct identity id;
    char dir[64];
    pid_t server;
    int port; /* of nghttpd */
    struct relay relay;
    struct rco_http_client *client;
    struct outcome a, b;
    int countdown;
};

static void write_file(struct fixture *f, const char *name, const char *text, size_t n)
{
    rco_autofree char *path = rco_asprintf("%s/%s", f->dir, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    fclose(file);
}

static int free_port(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t n = sizeof sa;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    getsockname(fd, (struct sockaddr *)&sa, &n);
    close(fd);
    return ntohs(sa.sin_port);
}

static void start_server(struct fixture *f)
{
    rco_autofree char *port = NULL;
    rco_autofree char *key = rco_asprintf("%s/key.pem", f->dir);
    rco_autofree char *cert = rco_asprintf("%s/cert.pem", f->dir);
    int fd = -1;

    f->port = free_port();
    port = rco_asprintf("%d", f->port);
    f->server = fork();
    assert_true(f->server >= 0);
    if (f->server == 0) {
        int null = open("/dev/null", O_RDWR);

        dup2(null, 1);
        dup2(null, 2);
        execl(NGHTTPD, NGHTTPD, "-a", "127.0.0.1", "-d", f->dir, "--echo-upload", port, key, cert,
              NULL);
        _exit(127);
    }
    for (int i = 0; i < 2000 && fd < 0; i++) {
        nap(5);
        fd = dial(f->port);
    }
    assert_true(fd >= 0);
    close(fd);
}

static void start_client(struct fixture *f, int64_t alive_ns)
{
    rco_autofree char *url = rco_asprintf("https://127.0.0.1:%d", f->relay.port);
    struct rco_http_client_options o = {
        .base_url = url, .user_agent = "t", .ca_pem = f->id.ca, .alive_ns = alive_ns};
    struct rco_error err = RCO_ERROR_INIT;

    f->client = rco_http_client_new(f->bench.loop, &o, &err);
    assert_non_null(f->client);
    f->a = f->b =
        (struct outcome){.bench = &f->bench, .transport = rco_http_client_transport(f->client)};
}

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);
    char big[200000];

    bench_init(&f->bench);
    identity_make(&f->id, "127.0.0.1");
    snprintf(f->dir, sizeof f->dir, "/tmp/rco-h2-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    memset(big, 'b', sizeof big);
    write_file(f, "cert.pem", f->id.cert, strlen(f->id.cert));
    write_file(f, "key.pem", f->id.key, strlen(f->id.key));
    write_file(f, "small", "hello", 5);
    write_file(f, "big", big, sizeof big);
    start_server(f);
    relay_init(&f->relay, &f->bench, f->port);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"cert.pem", "key.pem", "small", "big"};
    struct fixture *f = *state;

    rco_http_client_free(f->client);
    relay_release(&f->relay);
    kill(f->server, SIGKILL);
    waitpid(f->server, NULL, 0);
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++) {
        rco_autofree char *path = rco_asprintf("%s/%s", f->dir, names[i]);

        unlink(path);
    }
    rmdir(f->dir);
    rco_buf_release(&f->a.body);
    rco_buf_release(&f->b.body);
    identity_release(&f->id);
    bench_release(&f->bench);
    free(f);
    return 0;
}

static struct rco_http_client_stats stats_of(struct fixture *f)
{
    struct rco_http_client_stats stats;

    rco_http_client_get_stats(f->client, &stats);
    return stats;
}

static void get(struct fixture *f, struct outcome *o, const char *path, int64_t deadline_ns)
{
    outcome_clear(o);
    outcome_get(o, path, deadline_ns);
    bench_run(&f->bench);
}

static void check_many(struct fixture *f, int n)
{
    struct outcome *many = rco_calloc((size_t)n, sizeof *many);

    f->countdown = n;
    for (int i = 0; i < n; i++) {
        many[i] = (struct outcome){
            .bench = &f->bench, .transport = f->a.transport, .countdown = &f->countdown};
        if (i % 2)
            outcome_get(&many[i], "/small", 0);
        else
            outcome_start(&many[i], &(struct rco_http_request){.method = "POST",
                                                               .path = "/echo",
                                                               .body = "{\"spec\":1}",
                                                               .body_len = 10,
                                                               .max_body = 100});
    }
    bench_run(&f->bench);
    for (int i = 0; i < n; i++) {
        if (many[i].err.code != RCO_OK)
            fail_msg("request %d: %s", i, many[i].err.msg);
        assert_int_equal(many[i].status, 200);
        assert_string_equal(rco_buf_str(&many[i].body), i % 2 ? "hello" : "{\"spec\":1}");
        rco_buf_release(&many[i].body);
    }
    free(many);
}

static void trap_3_1_300_requests_at_once_use_one_connection(void **state)
{
    struct fixture *f = *state;

    start_client(f, 0);
    check_many(f, 300);
    assert_int_equal(f->relay.n_pairs, 1);
    check_many(f, 50);
    assert_int_equal(f->relay.n_pairs, 1);
    assert_int_equal(stats_of(f).connections, 1);
}

static void a_large_answer_comes_whole_over_http2(void **state)
{
    struct fixture *f = *state;

    start_client(f, 0);
    get(f, &f->a, "/big", 0);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->a.body.len, 200000);
}

static void trap_3_2_a34_watches_do_not_use_the_request_connection(void **state)
{
    struct fixture *f = *state;

    start_client(f, 0);
    get(f, &f->a, "/small", 0);
    outcome_clear(&f->b);
    outcome_start(&f->b, &(struct rco_http_request){
                             .method = "GET", .path = "/small", .lane = RCO_LANE_WATCH});
    bench_run(&f->bench);
    /* nghttpd speaks nothing but HTTP/2: a connection for HTTP/1.1 alone is refused by it. */
    assert_int_equal(f->b.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->relay.n_pairs, 2);
    get(f, &f->a, "/small", 0);
    assert_int_equal(f->a.err.code, RCO_OK);
}

static void trap_3_5_a_timed_out_request_does_not_poison_later_ones(void **state)
{
    struct fixture *f = *state;

    start_client(f, 1); /* nothing counts as recent */
    get(f, &f->a, "/small", 0);
    assert_int_equal(f->a.err.code, RCO_OK);
    f->relay.pairs[0]->frozen = true;
    get(f, &f->a, "/small", 150 * MS);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    for (int i = 0; i < 22; i++) {
        get(f, &f->b, "/small", 20 * RCO_NS_PER_S);
        if (f->b.err.code != RCO_OK)
            fail_msg("request %d: %s", i, f->b.err.msg);
    }
    assert_int_equal(f->relay.n_pairs, 2);
    assert_int_equal(stats_of(f).connections_shut, 1);
}

static void trap_3_5_requests_that_share_the_dead_connection_end_too(void **state)
{
    struct fixture *f = *state;

    start_client(f, 1);
    get(f, &f->a, "/small", 0);
    f->relay.pairs[0]->frozen = true;
    f->countdown = 2;
    outcome_clear(&f->a);
    outcome_clear(&f->b);
    f->a.countdown = f->b.countdown = &f->countdown;
    outcome_get(&f->a, "/small", 150 * MS);
    outcome_start(&f->b, &(struct rco_http_request){.method = "POST",
                                                    .path = "/echo",
                                                    .body = "{}",
                                                    .body_len = 2,
                                                    .max_body = 100,
                                                    .deadline_ns = 30 * RCO_NS_PER_S});
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    /* Its outcome is unknown and it was not sent a second time. */
    assert_int_equal(f->b.err.code, RCO_EUNAVAILABLE);
    assert_int_equal(f->b.err.http_status, 0);
    get(f, &f->a, "/small", 0);
    assert_int_equal(f->a.err.code, RCO_OK);
}

static void trap_3_5_a_request_queued_behind_a_dead_connection_is_served(void **state)
{
    struct fixture *f = *state;
    struct outcome many[150];

    start_client(f, 1);
    get(f, &f->a, "/small", 0);
    f->relay.pairs[0]->frozen = true;
    f->countdown = 150;
    for (int i = 0; i < 150; i++) {
        many[i] = (struct outcome){
            .bench = &f->bench, .transport = f->a.transport, .countdown = &f->countdown};
        outcome_get(&many[i], "/small", i == 0 ? 150 * MS : 30 * RCO_NS_PER_S);
    }
    bench_run(&f->bench);
    assert_int_equal(many[0].err.code, RCO_ETIMEOUT);
    for (int i = 1; i < 150; i++) {
        if (many[i].err.code != RCO_OK && many[i].err.code != RCO_EUNAVAILABLE)
            fail_msg("request %d: %s", i, many[i].err.msg);
    }
    assert_int_equal(many[149].err.code, RCO_OK);
    for (int i = 0; i < 150; i++)
        rco_buf_release(&many[i].body);
    assert_int_equal(f->relay.n_pairs, 2);
}

static void a_connection_that_just_brought_something_survives_a_time_out(void **state)
{
    struct fixture *f = *state;

    start_client(f, 60 * RCO_NS_PER_S);
    get(f, &f->a, "/small", 0);
    f->relay.pairs[0]->frozen = true;
    get(f, &f->a, "/small", 100 * MS);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    assert_int_equal(stats_of(f).connections_shut, 0);
    assert_int_equal(stats_of(f).connections, 1);
}

/* libcurl forgets bytes of other streams that it had read already when the stream that held them up
 * is taken away. */
static void a_cancelled_stream_leaves_the_others_alone(void **state)
{
    struct fixture *f = *state;
    int never = 1000;

    start_client(f, 0);
    get(f, &f->a, "/small", 0);
    for (int i = 0; i < 60; i++) {
        outcome_clear(&f->b);
        f->b.countdown = &never;
        outcome_get(&f->b, "/big", 0);
        outcome_clear(&f->a);
        outcome_get(&f->a, "/big", 5 * RCO_NS_PER_S);
        bench_run_for(&f->bench, i % 20 * MS / 8);
        if (f->b.n_done == 0)
            rco_transport_cancel(f->b.transport, f->b.call);
        if (f->a.n_done == 0)
            bench_run(&f->bench);
        if (f->a.err.code != RCO_OK)
            fail_msg("round %d: %s", i, f->a.err.msg);
        assert_int_equal(f->a.body.len, 200000);
    }
    assert_int_equal(f->relay.n_pairs, 1);
}

static void large_answers_on_one_connection_all_come_to_their_end(void **state)
{
    struct fixture *f = *state;

    start_client(f, 0);
    get(f, &f->a, "/small", 0);
    for (int round = 0; round < 40; round++) {
        struct outcome many[6];

        f->countdown = 6;
        for (int i = 0; i < 6; i++) {
            many[i] = (struct outcome){
                .bench = &f->bench, .transport = f->a.transport, .countdown = &f->countdown};
            outcome_get(&many[i], i == 3 ? "/small" : "/big", 5 * RCO_NS_PER_S);
        }
        bench_run(&f->bench);
        for (int i = 0; i < 6; i++) {
            if (many[i].err.code != RCO_OK)
                fail_msg("round %d: %s", round, many[i].err.msg);
            assert_int_equal(many[i].body.len, i == 3 ? 5 : 200000);
            rco_buf_release(&many[i].body);
        }
    }
}

static int abort_it(struct outcome *o)
{
    return -1;
}

static void an_aborted_answer_leaves_the_others_alone(void **state)
{
    struct fixture *f = *state;
    int never = 1000;

    start_client(f, 0);
    get(f, &f->a, "/small", 0);
    for (int i = 0; i < 60; i++) {
        outcome_clear(&f->b);
        f->b.countdown = &never;
        f->b.on_data = abort_it;
        outcome_start(&f->b, &(struct rco_http_request){.method = "GET", .path = "/big"});
        get(f, &f->a, "/big", 5 * RCO_NS_PER_S);
        if (f->a.err.code != RCO_OK)
            fail_msg("round %d: %s", i, f->a.err.msg);
        assert_int_equal(f->a.body.len, 200000);
        if (f->b.n_done == 0)
            rco_transport_cancel(f->b.transport, f->b.call);
    }
}

static void a_stopped_server_is_survived(void **state)
{
    struct fixture *f = *state;

    start_client(f, 1);
    get(f, &f->a, "/small", 0);
    kill(f->server, SIGSTOP);
    get(f, &f->a, "/small", 100 * MS);
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    get(f, &f->a, "/small", 100 * MS); /* the kernel accepts, nobody answers */
    assert_int_equal(f->a.err.code, RCO_ETIMEOUT);
    kill(f->server, SIGCONT);
    get(f, &f->a, "/small", 20 * RCO_NS_PER_S);
    assert_int_equal(f->a.err.code, RCO_OK);
}

#define T(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(trap_3_1_300_requests_at_once_use_one_connection),
        T(a_large_answer_comes_whole_over_http2),
        T(trap_3_2_a34_watches_do_not_use_the_request_connection),
        T(trap_3_5_a_timed_out_request_does_not_poison_later_ones),
        T(trap_3_5_requests_that_share_the_dead_connection_end_too),
        T(trap_3_5_a_request_queued_behind_a_dead_connection_is_served),
        T(a_connection_that_just_brought_something_survives_a_time_out),
        T(a_cancelled_stream_leaves_the_others_alone),
        T(large_answers_on_one_connection_all_come_to_their_end),
        T(an_aborted_answer_leaves_the_others_alone),
        T(a_stopped_server_is_survived),
    };

    if (access(NGHTTPD, X_OK) != 0) {
        fprintf(stderr, "%s is missing: hack/deps/install.sh test (package nghttp2-server)\n",
                NGHTTPD);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
