#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

rco_mono rco_clock_mono(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_BOOTTIME, &ts);
    return ts.tv_sec * RCO_NS_PER_S + ts.tv_nsec;
}

rco_wall rco_clock_wall(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return ts.tv_sec * RCO_US_PER_S + ts.tv_nsec / 1000;
}

void rco_clock_random(void *out, size_t n)
{
    unsigned char *p = out;

    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got < 0) {
            if (errno == EINTR)
                continue;
            abort();
        }
        p += got;
        n -= (size_t)got;
    }
}
