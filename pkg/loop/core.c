#include "loop/core.h"

#include "base/buf.h"

#include <assert.h>

#define QUEUE_START 32

struct timer {
    struct rco_timer head;
    struct rco_heap_node node;
};

static struct rco_loop_core *core_of(struct rco_loop *loop)
{
    return (struct rco_loop_core *)loop;
}

static struct timer *timer_of(struct rco_heap_node *node)
{
    return (struct timer *)((char *)node - offsetof(struct timer, node));
}

void rco_loop_core_init(struct rco_loop_core *core, const struct rco_loop_ops *ops)
{
    *core = (struct rco_loop_core){.head = {.ops = ops}, .timers = RCO_HEAP_INIT};
}

void rco_loop_core_release(struct rco_loop_core *core)
{
    assert(core->n_timers == 0 && "a timer outlives its loop");
    rco_heap_release(&core->timers);
    free(core->queue);
    core->queue = NULL;
    core->n_queued = core->capacity = 0;
}

struct rco_timer *rco_loop_core_timer_new(struct rco_loop *loop, rco_loop_fn fn, void *ctx)
{
    struct timer *timer = rco_calloc(1, sizeof *timer);

    timer->head = (struct rco_timer){.loop = loop, .fn = fn, .ctx = ctx};
    core_of(loop)->n_timers++;
    return &timer->head;
}

void rco_loop_core_timer_arm(struct rco_timer *head, rco_mono due)
{
    struct timer *timer = (struct timer *)head;
    struct rco_loop_core *core = core_of(head->loop);

    rco_heap_remove(&core->timers, &timer->node);
    head->due = due > 0 ? due : 1;
    rco_heap_push(&core->timers, &timer->node, head->due);
}

void rco_loop_core_timer_disarm(struct rco_timer *head)
{
    struct timer *timer = (struct timer *)head;

    rco_heap_remove(&core_of(head->loop)->timers, &timer->node);
    head->due = 0;
}

void rco_loop_core_timer_free(struct rco_timer *head)
{
    rco_loop_core_timer_disarm(head);
    core_of(head->loop)->n_timers--;
    free(head);
}

static void grow(struct rco_loop_core *core)
{
    size_t capacity = core->capacity ? core->capacity * 2 : QUEUE_START;
    struct rco_deferred *queue = rco_calloc(capacity, sizeof *queue);

    for (size_t i = 0; i < core->n_queued; i++)
        queue[i] = core->queue[(core->first + i) & (core->capacity - 1)];
    free(core->queue);
    core->queue = queue;
    core->capacity = capacity;
    core->first = 0;
}

void rco_loop_core_defer(struct rco_loop *loop, rco_loop_fn fn, void *ctx)
{
    struct rco_loop_core *core = core_of(loop);

    if (core->n_queued == core->capacity)
        grow(core);
    core->queue[(core->first + core->n_queued) & (core->capacity - 1)] =
        (struct rco_deferred){.fn = fn, .ctx = ctx};
    core->n_queued++;
}

rco_mono rco_loop_core_next_due(const struct rco_loop_core *core)
{
    struct rco_heap_node *node = rco_heap_peek(&core->timers);

    return node ? node->key : 0;
}

/* The callback may free the timer, so nothing of it is touched afterwards. */
static void fire(struct rco_loop_core *core, struct rco_heap_node *node)
{
    struct timer *timer = timer_of(node);

    rco_heap_remove(&core->timers, node);
    timer->head.due = 0;
    timer->head.fn(timer->head.ctx);
}

bool rco_loop_core_fire_one(struct rco_loop_core *core, rco_mono now)
{
    struct rco_heap_node *node = rco_heap_peek(&core->timers);

    if (!node || node->key > now)
        return false;
    fire(core, node);
    return true;
}

void rco_loop_core_fire_due(struct rco_loop_core *core, rco_mono now)
{
    uint64_t stop = core->timers.next_seq;

    for (;;) {
        struct rco_heap_node *node = rco_heap_peek(&core->timers);

        if (!node || node->key > now || node->seq >= stop)
            return;
        fire(core, node);
    }
}

bool rco_loop_core_run_one(struct rco_loop_core *core)
{
    struct rco_deferred call;

    if (core->n_queued == 0)
        return false;
    call = core->queue[core->first];
    core->first = (core->first + 1) & (core->capacity - 1);
    core->n_queued--;
    call.fn(call.ctx);
    return true;
}

void rco_loop_core_run_deferred(struct rco_loop_core *core)
{
    for (size_t n = core->n_queued; n > 0; n--)
        rco_loop_core_run_one(core);
}
