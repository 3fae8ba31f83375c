/* Two JSON texts, cut at the first NUL: the comparison of what was sent with what stands there. An
 * object is always its own equal, and a difference is always named. */
#include "kube/status.h"
#include "runtime/adopt.h"
#include "json/value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(C)                                                                                 \
    do {                                                                                           \
        if (!(C))                                                                                  \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Duplicate keys make an object that differs from itself; the API server never sends one. */
static bool has_duplicates(const struct rco_json_value *v)
{
    for (const struct rco_json_value *m = v->first; m; m = m->next) {
        if (has_duplicates(m))
            return true;
        for (const struct rco_json_value *o = m->next; m->key && o; o = o->next)
            if (strcmp(m->key, o->key) == 0)
                return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *sent = (const char *)data;
    size_t sent_len = strnlen(sent, n);
    const char *live = sent_len < n ? sent + sent_len + 1 : "";
    size_t live_len = sent_len < n ? n - sent_len - 1 : 0;
    static const enum rco_kind kinds[] = {RCO_KIND_JOB, RCO_KIND_PVC, RCO_KIND_RUN,
                                          RCO_KIND_CONFIGMAP};
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_json_value *v;
    struct rco_error err = RCO_ERROR_INIT;

    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++) {
        rco_autobuf why = RCO_BUF_INIT;

        if (!rco_adopt_same(kinds[i], sent, sent_len, live, live_len, &why))
            REQUIRE(why.len > 0);
        if (rco_json_value_parse(sent, sent_len, &a, &v, &err) == 0 && !has_duplicates(v))
            REQUIRE(rco_adopt_same(kinds[i], sent, sent_len, sent, sent_len, &why));
    }
    const struct rco_http_response r = {.status = 500};
    REQUIRE(rco_status_map(&r, sent, sent_len, "fuzz", &err) == -1 && *err.msg);
    rco_status_map_event(live, live_len, "fuzz", &err);
    REQUIRE(err.code != RCO_OK);
    return 0;
}
