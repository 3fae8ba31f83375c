/* Any text as a quantity: what is taken is in range, and its canonical form means the same. */
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = strndup((const char *)data, n), again[32];
    struct rco_error err = RCO_ERROR_INIT;
    int64_t milli, bytes, back;
    if (rco_quantity_cpu(text, &milli, &err) == 0) {
        snprintf(again, sizeof(again), "%" PRId64 "m", milli);
        if (milli < 0 || rco_quantity_cpu(again, &back, &err) < 0 || back != milli)
            abort();
    } else if (err.code != RCO_EINVALID) {
        abort();
    }
    if (rco_quantity_bytes(text, &bytes, &err) == 0) {
        snprintf(again, sizeof(again), "%" PRId64, bytes);
        if (bytes < 0 || rco_quantity_bytes(again, &back, &err) < 0 || back != bytes)
            abort();
    }
    free(text);
    return 0;
}
