/* Any bytes as a receipt, and as the termination message that carries one. What passes the check
 * holds what the decisions rely on, and survives being sent again. */
#include "api/zz_generated_types.h"
#include "base/str.h"
#include "pulumi/receipt.h"
#include "json/codec.h"

#include <stdlib.h>

#define REQUIRE(C)                                                                                 \
    do {                                                                                           \
        if (!(C))                                                                                  \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_accepted(const struct rco_runner_receipt *r, enum rco_engine_phase phase)
{
    bool failed = r->result == RCO_APPLY_RESULT_FAILED;
    REQUIRE(rco_streq(r->run_uid, "uid") && r->phase == phase);
    REQUIRE(failed == r->has_failure);
    REQUIRE(r->adds >= 0 && r->changes >= 0 && r->deletes >= 0 && r->replaces >= 0 &&
            r->sames >= 0);
    REQUIRE(failed || (rco_is_lower_hex(r->base_state_digest, 64) &&
                       rco_is_lower_hex(r->operations_digest, 64)));
    REQUIRE(r->result != RCO_APPLY_RESULT_NO_CHANGES || phase == RCO_ENGINE_PHASE_APPLY);
}

static void check_again(const struct rco_runner_receipt *r, enum rco_engine_phase phase)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_runner_receipt again;
    struct rco_error err = RCO_ERROR_INIT;
    rco_codec_encode(&rco_runner_receipt_schema, r, &text);
    REQUIRE(rco_codec_decode(&rco_runner_receipt_schema, text.data, text.len, &a, &again, &err) ==
            0);
    REQUIRE(rco_codec_equal(&rco_runner_receipt_schema, r, &again));
    REQUIRE(rco_receipt_check(&again, "uid", phase, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_runner_receipt r;
    struct rco_runner_summary s;
    if (rco_codec_decode(&rco_runner_receipt_schema, (const char *)data, n, &a, &r, &err) == 0) {
        for (int phase = RCO_ENGINE_PHASE_PLAN; phase <= RCO_ENGINE_PHASE_APPLY; phase++) {
            if (rco_receipt_check(&r, "uid", phase, &err) != 0)
                continue;
            check_accepted(&r, phase);
            check_again(&r, phase);
        }
        (void)rco_receipt_plugin_texts(r.plugins, r.n_plugins, &a);
    }
    if (rco_codec_decode(&rco_runner_summary_schema, (const char *)data, n, &a, &s, &err) == 0 &&
        s.has_receipt)
        (void)(rco_receipt_check(&s.receipt, "uid", RCO_ENGINE_PHASE_PLAN, &err) == 0);
    return 0;
}
