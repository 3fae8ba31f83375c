#include "client_world.h"

static void a_get_is_answered(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_hello;
    f->token = "Bearer s3cret";
    outcome_get(&f->a, "/api/v1/x?limit=5&l=a%2Fb", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->a.status, 200);
    assert_string_equal(rco_buf_str(&f->a.body), "hello");
    assert_int_equal(f->a.n_done, 1);
    assert_int_equal(f->a.n_head, 1);
    assert_true(rco_str_has_prefix(f->peer.conns[0]->in.data,
                                   "GET /api/v1/x?limit=5&l=a%2Fb HTTP/1.1\r\n"));
    assert_non_null(strstr(f->peer.conns[0]->in.data, "\r\nAuthorization: Bearer s3cret\r\n"));
}

static void a48_a47_nothing_is_sent_that_nobody_asked_for(void **state)
{
    struct fixture *f = *state;

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    f->peer.on_bytes = answer_hello;
    outcome_get(&f->a, "/../x", 0);
    bench_run(&f->bench);
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_null(strcasestr(f->peer.conns[0]->in.data, "accept-encoding"));
    assert_null(strcasestr(f->peer.conns[0]->in.data, "authorization"));
    assert_null(strcasestr(f->peer.conns[0]->in.data, "upgrade"));
    assert_non_null(strstr(f->peer.conns[0]->in.data, "GET /../x HTTP/1.1"));
}

static void trap_3_9_the_user_agent_is_ours_and_never_curl(void **state)
{
    struct fixture *f = *state;
    const char *const headers[] = {"User-Agent: curl/8", NULL};
    struct rco_http_client_options o = {.base_url = "http://127.0.0.1:1",
                                        .user_agent = "curl/7.88.1"};
    struct rco_error err = RCO_ERROR_INIT;

    assert_null(rco_http_client_new(f->bench.loop, &o, &err));
    assert_int_equal(err.code, RCO_EINVALID);
    f->peer.on_bytes = answer_hello;
    outcome_get(&f->a, "/", 0);
    bench_run(&f->bench);
    assert_non_null(strstr(f->peer.conns[0]->in.data, "\r\nUser-Agent: runtime-cloud/test\r\n"));
    outcome_start(&f->b,
                  &(struct rco_http_request){.method = "GET", .path = "/", .headers = headers});
    bench_run(&f->bench);
    assert_int_equal(f->b.err.code, RCO_EINVALID);
}

static void a_body_is_copied_and_sent_with_its_length(void **state)
{
    struct fixture *f = *state;
    const char *const headers[] = {"Content-Type: application/merge-patch+json", NULL};
    char body[] = "{\"a\":1}";

    f->peer.on_bytes = answer_hello;
    outcome_start(&f->a, &(struct rco_http_request){.method = "PATCH",
                                                    .path = "/x",
                                                    .headers = headers,
                                                    .body = body,
                                                    .body_len = strlen(body),
                                                    .max_body = 100});
    memset(body, 'z', sizeof body - 1);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_non_null(strstr(f->peer.conns[0]->in.data, "PATCH /x HTTP/1.1"));
    assert_non_null(
        strstr(f->peer.conns[0]->in.data, "\r\nContent-Type: application/merge-patch+json\r\n"));
    assert_non_null(strstr(f->peer.conns[0]->in.data, "\r\nContent-Length: 7\r\n"));
    assert_true(rco_str_has_suffix(f->peer.conns[0]->in.data, "\r\n\r\n{\"a\":1}"));
    assert_null(strcasestr(f->peer.conns[0]->in.data, "expect"));
}

static void a_large_body_does_not_wait_for_100_continue(void **state)
{
    struct fixture *f = *state;
    size_t n = 3 << 20;
    char *body = rco_calloc(1, n);

    memset(body, 'x', n);
    f->peer.on_bytes = answer_hello;
    outcome_start(
        &f->a, &(struct rco_http_request){
                   .method = "POST", .path = "/x", .body = body, .body_len = n, .max_body = 100});
    bench_run(&f->bench);
    free(body);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_null(strcasestr(f->peer.conns[0]->in.data, "expect"));
}

static void a_post_without_body_says_length_zero(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_hello;
    outcome_start(&f->a,
                  &(struct rco_http_request){.method = "POST", .path = "/x", .max_body = 100});
    bench_run(&f->bench);
    assert_non_null(strstr(f->peer.conns[0]->in.data, "\r\nContent-Length: 0\r\n"));
}

static void answer_head_only(struct peer_conn *conn)
{
    peer_says(conn, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
}

static void a_head_request_expects_no_body(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_head_only;
    outcome_start(&f->a,
                  &(struct rco_http_request){.method = "HEAD", .path = "/x", .max_body = 100});
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->a.body.len, 0);
}

/* METHOD on the one connection, its answer full; returns what the peer read. */
static const char *ask(struct fixture *f, const char *method, const char *type, const char *body)
{
    const char *const headers[] = {type, NULL};

    if (f->peer.n_conns > 0)
        rco_buf_release(&f->peer.conns[0]->in);
    outcome_clear(&f->a);
    outcome_start(&f->a, &(struct rco_http_request){.method = method,
                                                    .path = "/x",
                                                    .headers = headers,
                                                    .body = body,
                                                    .body_len = body ? strlen(body) : 0,
                                                    .max_body = 100});
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->peer.n_conns, 1);
    return f->peer.conns[0]->in.data;
}

/* The handles of libcurl serve one call after the other. */
static void nothing_of_a_call_is_left_for_the_next(void **state)
{
    struct fixture *f = *state;
    const char *seen;

    f->peer.on_bytes = answer_hello;
    f->token = "Bearer one";
    seen = ask(f, "PATCH", "Content-Type: application/merge-patch+json", "{}");
    assert_non_null(strstr(seen, "PATCH /x HTTP/1.1\r\n"));
    f->token = NULL;
    seen = ask(f, "GET", NULL, NULL);
    assert_true(rco_str_has_prefix(seen, "GET /x HTTP/1.1\r\n"));
    assert_true(rco_str_has_suffix(seen, "\r\n\r\n"));
    assert_null(strcasestr(seen, "content-"));
    assert_null(strcasestr(seen, "authorization"));
    f->peer.on_bytes = answer_head_only;
    seen = ask(f, "HEAD", NULL, NULL);
    assert_true(rco_str_has_prefix(seen, "HEAD /x HTTP/1.1\r\n"));
    f->peer.on_bytes = answer_hello;
    seen = ask(f, "DELETE", NULL, NULL);
    assert_true(rco_str_has_prefix(seen, "DELETE /x HTTP/1.1\r\n"));
    assert_string_equal(rco_buf_str(&f->a.body), "hello");
    seen = ask(f, "POST", NULL, "abc");
    assert_true(rco_str_has_suffix(seen, "\r\n\r\nabc"));
    assert_null(strcasestr(seen, "content-type"));
    seen = ask(f, "DELETE", NULL, NULL);
    assert_true(rco_str_has_prefix(seen, "DELETE /x HTTP/1.1\r\n"));
    assert_null(strcasestr(seen, "content-length: 3"));
}

static void answer_redirect(struct peer_conn *conn)
{
    peer_says(conn, "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
}

static void redirects_are_answers_like_any_other(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_redirect;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.status, 302);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(count_of(f->peer.conns[0]->in.data, "HTTP/1.1"), 1);
}

static void answer_429(struct peer_conn *conn)
{
    peer_says(conn,
              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\n"
              "Warning: 299 - \"old\"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
}

static void a39_an_error_status_is_an_answer_with_its_headers(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_429;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_OK);
    assert_int_equal(f->a.status, 429);
    assert_int_equal(f->a.retry_after_ms, 2000);
    assert_string_equal(f->a.warning, "299 - \"old\"");
    assert_string_equal(rco_buf_str(&f->a.body), "abc");
    assert_int_equal(f->a.n_head, 1);
}

static void the_authorization_is_asked_for_each_request(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_hello;
    f->token = "Bearer one";
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    f->token = "Bearer two";
    rco_buf_release(&f->peer.conns[0]->in);
    outcome_get(&f->b, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->asked, 2);
    assert_non_null(strstr(f->peer.conns[0]->in.data, "Bearer two"));
}

static void check_refused(struct fixture *f, const struct rco_http_request *r)
{
    outcome_clear(&f->a);
    outcome_start(&f->a, r);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_EINVALID);
    assert_int_equal(f->a.n_done, 1);
}

static void requests_that_could_smuggle_are_refused(void **state)
{
    struct fixture *f = *state;
    const char *const split[] = {"X-A: 1\r\nX-B: 2", NULL};
    const char *const no_colon[] = {"X-A", NULL};

    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "/a b"});
    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "/a\r\nX: y"});
    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "a"});
    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "/a#b"});
    check_refused(f, &(struct rco_http_request){.method = "GET X", .path = "/a"});
    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "/a", .headers = split});
    check_refused(f,
                  &(struct rco_http_request){.method = "GET", .path = "/a", .headers = no_colon});
    f->token = "Bearer s3cret\nX-Evil: 1";
    check_refused(f, &(struct rco_http_request){.method = "GET", .path = "/a"});
    assert_null(strstr(f->a.err.msg, "s3cret"));
    assert_int_equal(f->peer.n_conns, 0);
}

/* --- caps ----------------------------------------------------------------------------------- */

static void answer_big(struct peer_conn *conn)
{
    rco_autofree char *body = rco_calloc(1, 200001);

    memset(body, 'x', 200000);
    peer_says(conn, "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n");
    peer_says(conn, body);
}

static void a_body_beyond_the_cap_ends_the_call(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_big;
    outcome_start(&f->a,
                  &(struct rco_http_request){.method = "GET", .path = "/x", .max_body = 199999});
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ETOOBIG);
    assert_non_null(strstr(f->a.err.msg, "199999"));
    outcome_start(&f->b,
                  &(struct rco_http_request){.method = "GET", .path = "/x", .max_body = 200000});
    bench_run(&f->bench);
    assert_int_equal(f->b.err.code, RCO_OK);
    assert_int_equal(f->b.body.len, 200000);
}

static void answer_endless_headers(struct peer_conn *conn)
{
    rco_autofree char *line = rco_calloc(1, 60000);

    peer_says(conn, "HTTP/1.1 200 OK\r\n");
    memset(line, 'x', 50000);
    memcpy(line, "X-A: ", 5);
    memcpy(line + 50000, "\r\n", 3);
    for (int i = 0; i < 8; i++)
        peer_says(conn, line);
}

static void headers_beyond_the_cap_end_the_call(void **state)
{
    struct fixture *f = *state;

    f->peer.on_bytes = answer_endless_headers;
    outcome_get(&f->a, "/x", 0);
    bench_run(&f->bench);
    assert_int_equal(f->a.err.code, RCO_ETOOBIG);
}

/* --- time ----------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_get_is_answered),
        T(a48_a47_nothing_is_sent_that_nobody_asked_for),
        T(trap_3_9_the_user_agent_is_ours_and_never_curl),
        T(a_body_is_copied_and_sent_with_its_length),
        T(a_large_body_does_not_wait_for_100_continue),
        T(a_post_without_body_says_length_zero),
        T(a_head_request_expects_no_body),
        T(redirects_are_answers_like_any_other),
        T(a39_an_error_status_is_an_answer_with_its_headers),
        T(the_authorization_is_asked_for_each_request),
        T(nothing_of_a_call_is_left_for_the_next),
        T(requests_that_could_smuggle_are_refused),
        T(a_body_beyond_the_cap_ends_the_call),
        T(headers_beyond_the_cap_end_the_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
