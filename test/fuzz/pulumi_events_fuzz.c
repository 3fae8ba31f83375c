/* Any bytes as the engine's event stream: through the mask, cut into lines, into the receipt of a
 * plan or of an apply. The first byte chooses the phase and the size of the pieces. Then as an
 * exported state. */
#include "pulumi/diagnostics.h"
#include "pulumi/digest.h"
#include "pulumi/events.h"
#include "pulumi/failure.h"
#include "pulumi/mask.h"
#include "pulumi/receipt.h"

#include <stdlib.h>
#include <string.h>

#define REQUIRE(C)                                                                                 \
    do {                                                                                           \
        if (!(C))                                                                                  \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char canary[] = "s3cr\"et/+";

static struct rco_mask *make_mask(void)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = rco_mask_new();
    REQUIRE(rco_mask_add(m, canary, strlen(canary), &err) == 0);
    return m;
}

/* The same whole as in pieces, and without the value. */
static void mask_stream(const char *text, size_t n, size_t step, struct rco_buf *out)
{
    struct rco_mask *m = make_mask();
    struct rco_mask_stream *s = rco_mask_stream_new(m);
    rco_autobuf whole = RCO_BUF_INIT;
    for (size_t i = 0; i < n; i += step)
        rco_mask_stream_feed(s, text + i, n - i < step ? n - i : step, out);
    rco_mask_stream_finish(s, out);
    rco_mask_text(m, text, n, &whole);
    REQUIRE(whole.len == out->len &&
            (out->len == 0 || memcmp(whole.data, out->data, out->len) == 0));
    REQUIRE(out->len == 0 || !memmem(out->data, out->len, canary, strlen(canary)));
    rco_mask_stream_free(s);
    rco_mask_free(m);
}

static void feed_line(struct rco_receipt_builder *b, const char *line, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_engine_event e;
    char *copy = rco_strndup(line, n); /* the sanitizer sees a read beyond the line */
    rco_event_parse(line, n, &a, &e);
    REQUIRE(e.type != RCO_EVENT_RESOURCE || (e.op && e.urn && e.resource_type));
    (void)rco_event_is_chatter(line, n);
    rco_receipt_builder_event(b, &e);
    REQUIRE(rco_event_strip_markup(copy, strlen(copy)) <= n);
    free(copy);
}

static void check_receipt(struct rco_receipt_builder *b)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_runner_receipt r = {0};
    struct rco_receipt_result s;
    int64_t adds = 0;
    rco_receipt_builder_fill(b, &a, &r);
    rco_receipt_builder_result(b, &s);
    REQUIRE(r.n_types <= RCO_RECEIPT_MAX_TYPES && r.n_resources <= RCO_RECEIPT_MAX_RESOURCES);
    REQUIRE(strlen(r.operations_digest) == 64);
    for (size_t i = 0; i < r.n_types; i++)
        adds += r.types[i].adds;
    REQUIRE(r.truncated || adds == r.adds);
    REQUIRE(!s.error || strlen(s.error) <= RCO_DIAGNOSTICS_MAX_SENTENCE);
    struct rco_engine_end end = {
        .exit_code = 1, .program_failed = s.program_failed, .error = s.error};
    REQUIRE(rco_fail_of_engine(&end) > RCO_FAILURE_CLASS_UNKNOWN);
}

static void read_state(const char *text, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v, *again;
    struct rco_state_facts facts;
    rco_autobuf one = RCO_BUF_INIT, two = RCO_BUF_INIT;
    if (rco_value_parse(text, n, &a, &v, &err) == 0) {
        rco_value_canonical(v, &one);
        REQUIRE(rco_value_parse(one.data, one.len, &a, &again, &err) == 0);
        rco_value_canonical(again, &two);
        REQUIRE(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    }
    if (rco_state_read(text, n, &a, &facts, &err) == 0)
        REQUIRE(strlen(facts.digest) == 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rco_autobuf text = RCO_BUF_INIT;
    size_t len;
    if (n == 0)
        return 0;
    struct rco_receipt_builder *b =
        rco_receipt_builder_new(data[0] & 1 ? RCO_ENGINE_PHASE_APPLY : RCO_ENGINE_PHASE_PLAN);
    mask_stream((const char *)data + 1, n - 1, 1 + (data[0] >> 1) % 50, &text);
    for (size_t pos = 0; pos < text.len; pos += len + 1) {
        const char *nl = memchr(text.data + pos, '\n', text.len - pos);
        len = nl ? (size_t)(nl - text.data) - pos : text.len - pos;
        feed_line(b, text.data + pos, len);
    }
    check_receipt(b);
    rco_receipt_builder_free(b);
    (void)rco_fail_first_line((const char *)data + 1, n - 1, &len);
    read_state((const char *)data + 1, n - 1);
    return 0;
}
