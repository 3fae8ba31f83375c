#include "tail.h"

#include "pulumi/events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

void rco_tail_init(struct rco_tail *t, const char *path)
{
    *t = (struct rco_tail){.path = path, .fd = -1};
}

void rco_tail_release(struct rco_tail *t)
{
    rco_close_cleanup(&t->fd);
    t->fd = -1;
    rco_buf_release(&t->line);
}

static bool open_file(struct rco_tail *t)
{
    struct stat st;
    if (t->fd >= 0)
        return true;
    /* The directory is the engine's: whatever a program puts there must not block or lead
     * elsewhere. */
    int fd = open(t->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return false;
    }
    t->fd = fd;
    return true;
}

static void take(struct rco_tail *t, const char *bytes, size_t n, rco_tail_fn fn, void *ctx)
{
    while (n > 0) {
        const char *nl = memchr(bytes, '\n', n);
        size_t len = nl ? (size_t)(nl - bytes) : n;
        if (!t->too_long)
            rco_buf_add(&t->line, bytes, len);
        if (t->line.len > RCO_EVENT_MAX_LINE)
            t->too_long = true; /* one byte more than the cap: the parser calls it broken */
        if (nl) {
            fn(ctx, rco_buf_str(&t->line), t->line.len);
            rco_buf_clear(&t->line);
            t->too_long = false;
            len++;
        }
        bytes += len;
        n -= len;
    }
}

bool rco_tail_read(struct rco_tail *t, size_t budget, rco_tail_fn fn, void *ctx)
{
    char bytes[65536];
    if (!open_file(t))
        return false;
    while (budget > 0) {
        ssize_t n = read(t->fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        take(t, bytes, (size_t)n, fn, ctx);
        budget -= (size_t)n < budget ? (size_t)n : budget;
    }
    return true;
}
