#include "base/heap.h"

#include "base/buf.h"

#include <assert.h>

static bool before(const struct rco_heap_node *a, const struct rco_heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->seq < b->seq;
}

static void place(struct rco_heap *h, struct rco_heap_node *node, size_t i)
{
    h->nodes[i] = node;
    node->pos = i + 1;
}

static void sift_up(struct rco_heap *h, struct rco_heap_node *node, size_t i)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;

        if (!before(node, h->nodes[parent]))
            break;
        place(h, h->nodes[parent], i);
        i = parent;
    }
    place(h, node, i);
}

static void sift_down(struct rco_heap *h, struct rco_heap_node *node, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= h->n)
            break;
        if (child + 1 < h->n && before(h->nodes[child + 1], h->nodes[child]))
            child++;
        if (!before(h->nodes[child], node))
            break;
        place(h, h->nodes[child], i);
        i = child;
    }
    place(h, node, i);
}

void rco_heap_release(struct rco_heap *h)
{
    free(h->nodes);
    *h = RCO_HEAP_INIT;
}

void rco_heap_push(struct rco_heap *h, struct rco_heap_node *node, int64_t key)
{
    assert(node->pos == 0);
    if (h->n == h->capacity) {
        h->capacity = h->capacity ? h->capacity * 2 : 16;
        h->nodes = rco_realloc(h->nodes, h->capacity * sizeof *h->nodes);
    }
    node->key = key;
    node->seq = h->next_seq++;
    h->n++;
    sift_up(h, node, h->n - 1);
}

struct rco_heap_node *rco_heap_peek(const struct rco_heap *h)
{
    return h->n ? h->nodes[0] : NULL;
}

struct rco_heap_node *rco_heap_pop(struct rco_heap *h)
{
    struct rco_heap_node *top = rco_heap_peek(h);

    if (top)
        rco_heap_remove(h, top);
    return top;
}

void rco_heap_remove(struct rco_heap *h, struct rco_heap_node *node)
{
    size_t i = node->pos;
    struct rco_heap_node *last;

    if (i == 0)
        return;
    i--;
    assert(i < h->n && h->nodes[i] == node);
    last = h->nodes[--h->n];
    node->pos = 0;
    if (last == node)
        return;
    if (i > 0 && before(last, h->nodes[(i - 1) / 2]))
        sift_up(h, last, i);
    else
        sift_down(h, last, i);
}

bool rco_heap_contains(const struct rco_heap_node *node)
{
    return node->pos != 0;
}
