/* Bump allocator: decoded objects live in one arena and are freed at once. */
#ifndef RCO_BASE_ARENA_H
#define RCO_BASE_ARENA_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct rco_arena_block;

struct rco_arena {
    struct rco_arena_block *head;
    size_t used;  /* bytes handed out since the last clear */
    size_t block; /* size of the next block; 0 = default */
};

#define RCO_ARENA_INIT ((struct rco_arena){0})
#define rco_autoarena rco_cleanup(rco_arena_release) struct rco_arena

/* Frees everything; A may be used again. */
void rco_arena_release(struct rco_arena *a);
/* Forgets everything, keeps one block of at most 64 KiB for reuse. */
void rco_arena_clear(struct rco_arena *a);
/* N zeroed bytes, aligned for any type; never NULL (out of memory aborts). */
void *rco_arena_alloc(struct rco_arena *a, size_t n);
/* Array of N elements of SIZE bytes, zeroed; overflow aborts. */
void *rco_arena_array(struct rco_arena *a, size_t n, size_t size);
/* Copy with a NUL; NULL stays NULL. */
char *rco_arena_strdup(struct rco_arena *a, const char *s);
char *rco_arena_strndup(struct rco_arena *a, const char *s, size_t n);
void *rco_arena_memdup(struct rco_arena *a, const void *p, size_t n);
char *rco_arena_printf(struct rco_arena *a, const char *fmt, ...) RCO_PRINTF(2, 3);

/* A zeroed T in arena A. */
#define RCO_NEW(A, T) ((T *)rco_arena_alloc((A), sizeof(T)))

#endif
