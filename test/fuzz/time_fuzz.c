/* Any text as a time and as a duration: what is taken comes back from its written form. */
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = strndup((const char *)data, n), again[RCO_TIME_STR_MAX];
    struct rco_error err = RCO_ERROR_INIT;
    rco_wall t, back;
    int64_t ns, ns_back;
    if (rco_wall_parse(text, &t, &err) == 0 && t >= 0 && t < INT64_C(253402300800000000)) {
        rco_wall_format_micro(t, again);
        if (rco_wall_parse(again, &back, &err) < 0 || back != t)
            abort();
        rco_wall_format(t, again);
        if (rco_wall_parse(again, &back, &err) < 0 || back != t - t % RCO_US_PER_S)
            abort();
    }
    if (rco_duration_parse(text, &ns, &err) == 0) {
        if (ns < 0)
            abort();
        rco_duration_format(ns, again);
        if (rco_duration_parse(again, &ns_back, &err) < 0 || ns_back > ns)
            abort();
    }
    free(text);
    return 0;
}
