/* Bytes as they are, so that TLS and HTTP/2 go from end to end: only cutting, freezing, refusing.
 */
#include "proxy.h"

#include <poll.h>

#define PIECE (32 * 1024)
#define TURN_MS 50

static bool is_silent(struct fp_proxy *p)
{
    bool silent;

    pthread_mutex_lock(&p->lock);
    silent = p->gates.black_hole;
    pthread_mutex_unlock(&p->lock);
    return silent;
}

static int move(struct fp_stream *from, struct fp_stream *to)
{
    char bytes[PIECE];
    int n = fp_stream_read(from, bytes, sizeof bytes, 0);

    if (n == FP_TIMEOUT)
        return 0;
    return n > 0 ? fp_stream_write(to, bytes, (size_t)n) : -1;
}

void fp_pass(struct fp_proxy *p, int fd)
{
    struct fp_stream to = {.fd = fd}, up;
    bool goes_on = fp_stream_connect(&up, p->options.upstream, NULL) == 0;

    while (goes_on) {
        struct pollfd both[2] = {{.fd = to.fd, .events = POLLIN}, {.fd = up.fd, .events = POLLIN}};

        if (is_silent(p)) {
            fp_sleep_ms(TURN_MS);
            continue;
        }
        if (poll(both, 2, TURN_MS) <= 0)
            continue;
        goes_on =
            (!both[0].revents || move(&to, &up) == 0) && (!both[1].revents || move(&up, &to) == 0);
    }
    fp_stream_reset(&to);
    fp_stream_reset(&up);
}
