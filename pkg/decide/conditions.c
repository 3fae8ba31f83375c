#include "decide/conditions.h"

#include "api/zz_generated_types.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rco_conditions rco_conditions_begin(struct rco_arena *a, const struct rco_condition *old,
                                           size_t n, int64_t generation, rco_wall now)
{
    struct rco_conditions c = {.arena = a, .n = n, .generation = generation, .now = now};
    /* Room for everything a kind may add. */
    c.items = rco_arena_array(a, n + 12, sizeof(*c.items));
    if (n)
        memcpy(c.items, old, n * sizeof(*old));
    return c;
}

static struct rco_condition *find(struct rco_condition *items, size_t n, const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(items[i].type, type))
            return &items[i];
    return NULL;
}

const struct rco_condition *rco_condition_find(const struct rco_condition *items, size_t n,
                                               const char *type)
{
    return find((struct rco_condition *)items, n, type);
}

bool rco_condition_is_true(const struct rco_condition *items, size_t n, const char *type,
                           const char *reason)
{
    const struct rco_condition *c = rco_condition_find(items, n, type);
    return c && rco_streq(c->status, "True") && (!reason || rco_streq(c->reason, reason));
}

void rco_conditions_set(struct rco_conditions *c, const char *type, const char *status,
                        const char *reason, const char *message)
{
    struct rco_condition *x = find(c->items, c->n, type);
    if (!x) {
        size_t at = rco_streq(type, "Ready") ? 0 : c->n;
        memmove(&c->items[at + 1], &c->items[at], (c->n - at) * sizeof(*x));
        c->n++;
        x = &c->items[at];
        *x = (struct rco_condition){.type = type};
    }
    if (!rco_streq(x->status, status))
        x->last_transition_time = c->now;
    x->status = status;
    x->reason = reason;
    x->message = rco_message_cut(c->arena, rco_str_or_empty(message), RCO_MESSAGE_MAX);
    x->observed_generation = c->generation;
    x->has_observed_generation = true;
}

void rco_conditions_remove(struct rco_conditions *c, const char *type)
{
    struct rco_condition *x = find(c->items, c->n, type);
    if (!x)
        return;
    size_t at = (size_t)(x - c->items);
    memmove(x, x + 1, (c->n - at - 1) * sizeof(*x));
    c->n--;
}

void rco_conditions_ready(struct rco_conditions *c, const char *reason, const char *message)
{
    rco_conditions_set(c, "Ready", "True", reason, message);
    rco_conditions_remove(c, "Reconciling");
    rco_conditions_remove(c, "Stalled");
}

void rco_conditions_progressing(struct rco_conditions *c, const char *reason, const char *message)
{
    rco_conditions_set(c, "Ready", "Unknown", reason, message);
    rco_conditions_set(c, "Reconciling", "True", reason, message);
    rco_conditions_remove(c, "Stalled");
}

void rco_conditions_stalled(struct rco_conditions *c, const char *reason, const char *message)
{
    rco_conditions_set(c, "Ready", "False", reason, message);
    rco_conditions_set(c, "Stalled", "True", reason, message);
    rco_conditions_remove(c, "Reconciling");
}

void rco_events_add(struct rco_arena *a, struct rco_domain_event **items, size_t *n,
                    const char *type, rco_wall now)
{
    size_t old = *n, skip = old >= RCO_STATUS_EVENTS_MAX ? old - RCO_STATUS_EVENTS_MAX + 1 : 0;
    struct rco_domain_event *list = rco_arena_array(a, old - skip + 1, sizeof(*list));
    if (old - skip)
        memcpy(list, *items + skip, (old - skip) * sizeof(*list));
    int64_t last = old ? (*items)[old - 1].sequence : 0;
    list[old - skip] = (struct rco_domain_event){
        .sequence = last + 1, .has_sequence = true, .type = type, .time = now};
    *items = list;
    *n = old - skip + 1;
}

const char *rco_message(struct rco_arena *a, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    return rco_message_cut(a, rco_buf_str(&text), RCO_MESSAGE_MAX);
}

static void make_printable(char *s, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) {
        unsigned char *p = (unsigned char *)s + i;
        len = *p < 0x80 ? 1 : rco_utf8_length(p, n - i);
        if (len == 0)
            *p = '?';
        else if (*p < 0x20 || *p == 0x7f)
            *p = ' ';
        len = len ? len : 1;
    }
}

const char *rco_message_cut(struct rco_arena *a, const char *s, size_t max)
{
    static const char more[] = "...";
    size_t n = strlen(s);
    bool fits = n <= max;
    if (!fits)
        n = rco_utf8_cut(s, max - strlen(more));
    char *text = rco_arena_alloc(a, n + sizeof(more));
    memcpy(text, s, n);
    make_printable(text, n);
    memcpy(text + n, fits ? "" : more, fits ? 1 : sizeof(more));
    return text;
}

const char *rco_message_fit(struct rco_arena *a, const char *head, const char *text,
                            const char *rest, size_t max)
{
    size_t around = strlen(head) + strlen(rest), least = 16;
    size_t room = around + least < max ? max - around : least;
    return rco_message(a, "%s%s%s", head, rco_message_cut(a, text, room), rest);
}
