#include "base/arena.h"

#include "base/buf.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_BLOCK 4096
#define MAX_BLOCK (256 * 1024)
#define KEEP_BLOCK (64 * 1024)

struct rco_arena_block {
    struct rco_arena_block *next;
    size_t size; /* of data */
    size_t used;
    alignas(max_align_t) unsigned char data[];
};

void rco_arena_release(struct rco_arena *a)
{
    struct rco_arena_block *b = a->head;

    while (b) {
        struct rco_arena_block *next = b->next;

        free(b);
        b = next;
    }
    *a = RCO_ARENA_INIT;
}

void rco_arena_clear(struct rco_arena *a)
{
    struct rco_arena_block *b = a->head;

    a->head = NULL;
    while (b) {
        struct rco_arena_block *next = b->next;

        if (!a->head && b->size <= KEEP_BLOCK) {
            b->used = 0;
            b->next = NULL;
            a->head = b;
        } else {
            free(b);
        }
        b = next;
    }
    a->used = 0;
    a->block = 0;
}

static struct rco_arena_block *add_block(struct rco_arena *a, size_t n)
{
    size_t size = a->block ? a->block : DEFAULT_BLOCK;
    struct rco_arena_block *b;

    if (size < n)
        size = n;
    else
        a->block = size < MAX_BLOCK ? size * 2 : size;
    b = rco_malloc(sizeof *b + size);
    b->size = size;
    b->used = 0;
    b->next = a->head;
    a->head = b;
    return b;
}

void *rco_arena_alloc(struct rco_arena *a, size_t n)
{
    struct rco_arena_block *b = a->head;
    const size_t align = alignof(max_align_t);
    void *p;

    assert(n < SIZE_MAX / 2);
    n = (n + align - 1) & ~(align - 1);
    if (!b || b->size - b->used < n)
        b = add_block(a, n);
    p = b->data + b->used;
    b->used += n;
    a->used += n;
    memset(p, 0, n);
    return p;
}

void *rco_arena_array(struct rco_arena *a, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        abort();
    return rco_arena_alloc(a, total);
}

char *rco_arena_strdup(struct rco_arena *a, const char *s)
{
    return s ? rco_arena_strndup(a, s, strlen(s)) : NULL;
}

char *rco_arena_strndup(struct rco_arena *a, const char *s, size_t n)
{
    char *copy = rco_arena_alloc(a, n + 1);

    if (n)
        memcpy(copy, s, n);
    return copy;
}

void *rco_arena_memdup(struct rco_arena *a, const void *p, size_t n)
{
    void *copy = rco_arena_alloc(a, n);

    if (n)
        memcpy(copy, p, n);
    return copy;
}

char *rco_arena_printf(struct rco_arena *a, const char *fmt, ...)
{
    char text[256]; /* most fit, and are formatted once */
    va_list ap, again;
    char *s;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(text, sizeof text, fmt, ap);
    assert(n >= 0);
    s = rco_arena_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof text)
        memcpy(s, text, (size_t)n + 1);
    else
        vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return s;
}
