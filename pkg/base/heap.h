/* Binary min-heap of embedded nodes, ordered by (key, seq): equal keys come out first in first out.
 */
#ifndef RCO_BASE_HEAP_H
#define RCO_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_heap_node {
    int64_t key;
    uint64_t seq;
    size_t pos; /* index + 1 in the heap, 0 = not in a heap */
};

struct rco_heap {
    struct rco_heap_node **nodes;
    size_t n;
    size_t capacity;
    uint64_t next_seq;
};

#define RCO_HEAP_INIT ((struct rco_heap){0})

/* Frees the array; nodes belong to the caller. */
void rco_heap_release(struct rco_heap *h);
/* Inserts NODE, which is in no heap, under KEY. */
void rco_heap_push(struct rco_heap *h, struct rco_heap_node *node, int64_t key);
/* Smallest node or NULL; stays in. */
struct rco_heap_node *rco_heap_peek(const struct rco_heap *h);
/* Removes and returns the smallest node or NULL. */
struct rco_heap_node *rco_heap_pop(struct rco_heap *h);
/* Removes NODE if it is in H. */
void rco_heap_remove(struct rco_heap *h, struct rco_heap_node *node);
bool rco_heap_contains(const struct rco_heap_node *node);

#endif
