#include "runtime/crash_guard.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAGIC UINT64_C(0x3173617263616f72) /* of this layout */

struct slot {
    uint64_t hash; /* 0 = free */
    uint64_t crashes;
};

struct page {
    uint64_t magic;
    volatile uint64_t current; /* being decided now, 0 = none */
    struct slot slots[RCO_CRASH_KEYS];
};

struct rco_crash_guard {
    struct page *page;
};

static struct slot *find(const struct rco_crash_guard *g, uint64_t hash)
{
    for (size_t i = 0; i < RCO_CRASH_KEYS; i++)
        if (g->page->slots[i].hash == hash)
            return &g->page->slots[i];
    return NULL;
}

/* The slot with the fewest crashes gives way when all are taken. */
static struct slot *find_or_take(struct rco_crash_guard *g, uint64_t hash)
{
    struct slot *s = find(g, hash), *least = &g->page->slots[0];

    if (!s)
        s = find(g, 0);
    if (!s) {
        for (size_t i = 1; i < RCO_CRASH_KEYS; i++)
            if (g->page->slots[i].crashes < least->crashes)
                least = &g->page->slots[i];
        s = least;
    }
    if (s->hash != hash)
        *s = (struct slot){.hash = hash};
    return s;
}

static int map_file(const char *path, struct page **ret, struct rco_error *err)
{
    rco_autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *p;

    if (fd < 0)
        return rco_error_errno(err, errno, "crash file %s", path);
    if (ftruncate(fd, sizeof(struct page)) < 0)
        return rco_error_errno(err, errno, "crash file %s: size", path);
    p = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return rco_error_errno(err, errno, "crash file %s: map", path);
    *ret = p;
    return 0;
}

struct rco_crash_guard *rco_crash_guard_open(const char *path, struct rco_error *err)
{
    struct rco_crash_guard *g;
    struct page *page = NULL;

    if (map_file(path, &page, err) < 0)
        return NULL;
    g = rco_calloc(1, sizeof(*g));
    g->page = page;
    if (page->magic != MAGIC) {
        memset(page, 0, sizeof(*page));
        page->magic = MAGIC;
    }
    if (page->current != 0)
        find_or_take(g, page->current)->crashes++;
    page->current = 0;
    return g;
}

void rco_crash_guard_close(struct rco_crash_guard *g)
{
    if (!g)
        return;
    munmap(g->page, sizeof(*g->page));
    free(g);
}

void rco_crash_guard_begin(struct rco_crash_guard *g, uint64_t hash)
{
    if (g)
        g->page->current = hash;
}

void rco_crash_guard_end(struct rco_crash_guard *g)
{
    if (g)
        g->page->current = 0;
}

bool rco_crash_guard_is_poison(const struct rco_crash_guard *g, uint64_t hash)
{
    const struct slot *s = g ? find(g, hash) : NULL;

    return s && s->crashes >= RCO_CRASH_LIMIT;
}

void rco_crash_guard_forget(struct rco_crash_guard *g, uint64_t hash)
{
    struct slot *s = g ? find(g, hash) : NULL;

    if (s)
        *s = (struct slot){0};
}
