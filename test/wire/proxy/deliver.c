#include "deliver.h"

#include "proxy.h"

#include <string.h>

#define SPLIT_BYTES_MAX 4096 /* so many come alone, the rest whole */

void fp_spoil(enum fp_action action, struct rco_buf *json)
{
    rco_autofree char *filler = NULL;
    char *at = json->len ? memmem(json->data, json->len, "\"name\":\"", 8) : NULL;

    if (action == FP_GARBAGE)
        rco_buf_adds(json, "}{\"]garbage");
    if ((action == FP_NUL || action == FP_UTF8) && at)
        at[8] = action == FP_NUL ? '\0' : (char)0xff;
    if (action == FP_BIG) {
        filler = rco_malloc(FP_BIG_BYTES);
        memset(filler, 'x', FP_BIG_BYTES);
        rco_buf_clear(json);
        rco_buf_adds(json, "{\"type\":\"MODIFIED\",\"kind\":\"List\",\"filler\":\"");
        rco_buf_add(json, filler, FP_BIG_BYTES);
        rco_buf_adds(json, "\"}");
    }
}

/* Until the operator has had enough of it. */
static int wait_for_close(struct fp_stream *s)
{
    char byte[256];

    while (fp_stream_read(s, byte, sizeof byte, -1) > 0)
        continue;
    fp_stream_reset(s);
    return -1;
}

static int one_by_one(struct fp_stream *s, const char *bytes, size_t n, int pause_ms)
{
    for (size_t i = 0; i < n; i++) {
        if (fp_stream_write(s, bytes + i, 1) < 0) {
            fp_stream_reset(s);
            return -1;
        }
        if (pause_ms)
            fp_sleep_ms(pause_ms);
    }
    return 0;
}

static int rest(struct fp_stream *s, const char *bytes, size_t n)
{
    if (fp_stream_write(s, bytes, n) == 0)
        return 0;
    fp_stream_reset(s);
    return -1;
}

int fp_deliver(struct fp_stream *s, const struct fp_rule *rule, const char *bytes, size_t n)
{
    enum fp_action action = rule ? rule->action : FP_NOTHING;
    size_t some = n;

    if (action == FP_SPLIT && some > SPLIT_BYTES_MAX)
        some = SPLIT_BYTES_MAX;
    if (action == FP_SLOW && some > (size_t)rule->ms / 1000)
        some = (size_t)rule->ms / 1000;
    if (action == FP_SPLIT || action == FP_SLOW) {
        if (one_by_one(s, bytes, some, action == FP_SLOW ? 1000 : 0) < 0)
            return -1;
        return rest(s, bytes + some, n - some);
    }
    if (action < FP_TRUNCATE || action > FP_RESET)
        return rest(s, bytes, n);
    if (rest(s, bytes, n / 2) < 0)
        return -1;
    if (action == FP_BLACK_HOLE)
        return wait_for_close(s);
    if (action == FP_HALF_CLOSE) {
        fp_stream_half_close(s);
        return wait_for_close(s);
    }
    if (action == FP_RESET)
        fp_stream_reset(s);
    else
        fp_stream_close(s);
    return -1;
}
