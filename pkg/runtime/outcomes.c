#include "base/buf.h"
#include "base/str.h"
#include "runtime/executor.h"

#include <stdlib.h>
#include <string.h>

static void outcome_release(struct rco_outcome *o)
{
    free((char *)o->name);
    free((char *)o->uid);
    free((char *)o->message);
}

void rco_outcomes_release(struct rco_outcomes *o)
{
    for (size_t i = 0; i < o->n; i++)
        outcome_release(&o->items[i]);
    free(o->items);
    *o = (struct rco_outcomes){0};
}

static void drop(struct rco_outcomes *o, size_t i)
{
    outcome_release(&o->items[i]);
    memmove(&o->items[i], &o->items[i + 1], (o->n - i - 1) * sizeof(o->items[0]));
    o->n--;
}

void rco_outcomes_put(struct rco_outcomes *o, const struct rco_outcome *outcome)
{
    for (size_t i = 0; i < o->n; i++) {
        if (o->items[i].kind == outcome->kind && rco_streq(o->items[i].name, outcome->name)) {
            drop(o, i);
            break;
        }
    }
    if (o->n == RCO_OUTCOMES_MAX)
        drop(o, 0);
    o->items = rco_realloc(o->items, (o->n + 1) * sizeof(o->items[0]));
    o->items[o->n++] = (struct rco_outcome){
        .type = outcome->type,
        .kind = outcome->kind,
        .name = rco_strdup(outcome->name),
        .uid = rco_strdup(outcome->uid),
        .message = rco_strdup(outcome->message),
    };
}
