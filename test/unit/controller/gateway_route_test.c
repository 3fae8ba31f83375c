#include "gateway_route.h"

#include "api/names.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void every_route_is_found(void **state)
{
    static const struct {
        const char *method, *path;
        enum rco_gateway_verb want_verb;
        enum rco_phase want_phase;
        int64_t want_max;
    } good[] = {
        {"POST", "/v1/runs/team-a/web-1a2b3-v7-b1/plan/start", RCO_GATEWAY_START, RCO_PHASE_PLAN,
         RCO_GATEWAY_START_MAX},
        {"POST", "/v1/runs/team-a/web/apply/heartbeat", RCO_GATEWAY_HEARTBEAT, RCO_PHASE_APPLY,
         RCO_GATEWAY_HEARTBEAT_MAX},
        {"POST", "/v1/runs/team-a/web/apply/receipt", RCO_GATEWAY_RECEIPT, RCO_PHASE_APPLY,
         RCO_GATEWAY_RECEIPT_MAX},
        {"PUT", "/v1/runs/team-a/web/plan/artifacts/log", RCO_GATEWAY_ARTIFACT, RCO_PHASE_PLAN,
         RCO_CHUNK_SIZE},
    };

    for (size_t i = 0; i < RCO_ARRAY_LEN(good); i++) {
        struct rco_gateway_route r;

        assert_true(rco_gateway_route(good[i].method, good[i].path, &r));
        assert_int_equal(r.verb, good[i].want_verb);
        assert_int_equal(r.phase, good[i].want_phase);
        assert_int_equal(r.max_body, good[i].want_max);
        assert_string_equal(r.ns, "team-a");
    }
}

static void anything_else_has_no_route(void **state)
{
    static const struct {
        const char *method, *path;
    } bad[] = {
        {"GET", "/v1/runs/a/b/plan/start"},
        {"PUT", "/v1/runs/a/b/plan/receipt"},
        {"POST", "/v1/runs/a/b/plan/artifacts/log"},
        {"PUT", "/v1/runs/a/b/plan/artifacts/secret"},
        {"PUT", "/v1/runs/a/b/plan/artifacts/"},
        {"PUT", "/v1/runs/a/b/plan/artifacts/state"},
        {"PUT", "/v1/runs/a/b/plan/artifacts/outputs"},
        {"PUT", "/v1/runs/a/b/apply/artifacts/plan"},
        {"PUT", "/v1/runs/a/b/apply/artifacts/diff"},
        {"PUT", "/v1/runs/a/b/plan/artifacts/log/x"},
        {"POST", "/v1/runs/a/b/destroy/start"},
        {"POST", "/v1/runs/a/b/plan/start/"},
        {"POST", "/v1/runs/a/b/plan/start/x"},
        {"POST", "/v1/runs/a/b/plan"},
        {"POST", "/v1/runs/../b/plan/start"},
        {"POST", "/v1/runs/a/../plan/start"},
        {"POST", "/v1/runs/a//plan/start"},
        {"POST", "/v1/runs/a/b%2fc/plan/start"},
        {"POST", "/v1/runs/A/b/plan/start"},
        {"POST", "/v2/runs/a/b/plan/start"},
        {"POST", ""},
    };

    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct rco_gateway_route r;

        if (rco_gateway_route(bad[i].method, bad[i].path, &r))
            fail_msg("%s %s has a route", bad[i].method, bad[i].path);
    }
}

static const char *chunk(enum rco_artifact_kind kind, int64_t index, int64_t size, size_t body,
                         bool *ret_too_big)
{
    struct rco_gateway_chunk c;
    char query[256];

    snprintf(query, sizeof query, "index=%lld&digest=" DIGEST "&size=%lld", (long long)index,
             (long long)size);
    return rco_gateway_chunk(query, kind, body, &c, ret_too_big);
}

static void chunks_have_exactly_their_length(void **state)
{
    bool too_big;

    assert_null(chunk(RCO_ARTIFACT_KIND_LOG, 0, 10, 10, &too_big));
    assert_non_null(chunk(RCO_ARTIFACT_KIND_LOG, 0, 10, 9, &too_big));
    assert_null(chunk(RCO_ARTIFACT_KIND_LOG, 0, RCO_CHUNK_SIZE + 1, RCO_CHUNK_SIZE, &too_big));
    assert_null(chunk(RCO_ARTIFACT_KIND_LOG, 1, RCO_CHUNK_SIZE + 1, 1, &too_big));
    assert_non_null(chunk(RCO_ARTIFACT_KIND_LOG, 1, RCO_CHUNK_SIZE, 0, &too_big));
    assert_non_null(chunk(RCO_ARTIFACT_KIND_LOG, 0, 0, 0, &too_big));
}

static void an_artifact_above_the_cap_of_its_kind_is_too_big(void **state)
{
    bool too_big;

    assert_null(chunk(RCO_ARTIFACT_KIND_PLAN, 0, RCO_ARTIFACT_PLAN_MAX, RCO_CHUNK_SIZE, &too_big));
    assert_non_null(
        chunk(RCO_ARTIFACT_KIND_PLAN, 0, RCO_ARTIFACT_PLAN_MAX + 1, RCO_CHUNK_SIZE, &too_big));
    assert_true(too_big);
}

static void broken_queries_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "index=0&size=10",
        "index=0&size=10&digest=abc",
        "index=-1&size=10&digest=" DIGEST,
        "index=0x&size=10&digest=" DIGEST,
        "index=99999999999999999999&size=10&digest=" DIGEST,
        "index=0&size=10&digest=0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
    };

    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct rco_gateway_chunk c;
        bool too_big;

        assert_non_null(rco_gateway_chunk(bad[i], RCO_ARTIFACT_KIND_LOG, 10, &c, &too_big));
        assert_false(too_big);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_found),
        cmocka_unit_test(anything_else_has_no_route),
        cmocka_unit_test(chunks_have_exactly_their_length),
        cmocka_unit_test(an_artifact_above_the_cap_of_its_kind_is_too_big),
        cmocka_unit_test(broken_queries_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
