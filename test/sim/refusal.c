#include "refusal.h"

#include <stdio.h>
#include <string.h>

void sim_cause_add(struct rco_arena *a, struct sim_causes *causes, const char *reason,
                   const char *field, const char *fmt, ...)
{
    struct sim_cause *c = RCO_NEW(a, struct sim_cause);
    rco_autobuf text = RCO_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    c->reason = reason;
    c->field = field ? rco_arena_strdup(a, field) : NULL;
    c->message = rco_arena_strdup(a, rco_buf_str(&text));
    if (!causes->first)
        causes->tail = &causes->first;
    *causes->tail = c;
    causes->tail = (struct sim_cause **)&c->next;
    causes->n++;
}

static struct sim_answer refusal(struct sim *s, int code, const char *reason, const char *fmt,
                                 va_list ap)
{
    rco_autobuf text = RCO_BUF_INIT;

    rco_buf_addv(&text, fmt, ap);
    return (struct sim_answer){
        .code = code, .reason = reason, .message = rco_arena_strdup(&s->arena, rco_buf_str(&text))};
}

struct sim_answer sim_refuse(struct sim *s, int code, const char *reason, const char *fmt, ...)
{
    struct sim_answer a;
    va_list ap;

    va_start(ap, fmt);
    a = refusal(s, code, reason, fmt, ap);
    va_end(ap);
    return a;
}

/* Events are judged as their older form, which has no group. */
static const char *group_of(enum rco_kind kind)
{
    return kind == RCO_KIND_EVENT ? "" : rco_kind_info(kind)->group;
}

static void describe(struct sim_answer *a, enum rco_kind kind, const char *name, bool by_kind)
{
    const struct rco_kind_info *info = rco_kind_info(kind);

    a->of_name = name;
    a->of_group = by_kind ? group_of(kind) : info->group;
    a->of_kind = by_kind ? info->kind : info->plural;
}

struct sim_answer sim_refuse_of(struct sim *s, enum rco_kind kind, const char *name, int code,
                                const char *reason, const char *fmt, ...)
{
    struct sim_answer a;
    va_list ap;

    va_start(ap, fmt);
    a = refusal(s, code, reason, fmt, ap);
    va_end(ap);
    describe(&a, kind, name, false);
    return a;
}

const char *sim_plural_of(struct rco_arena *a, enum rco_kind kind)
{
    const struct rco_kind_info *i = rco_kind_info(kind);

    return *i->group ? rco_arena_printf(a, "%s.%s", i->plural, i->group) : i->plural;
}

static const char *kind_of(struct rco_arena *a, enum rco_kind kind)
{
    const struct rco_kind_info *i = rco_kind_info(kind);

    return *group_of(kind) ? rco_arena_printf(a, "%s.%s", i->kind, i->group) : i->kind;
}

struct sim_answer sim_invalid(struct sim *s, enum rco_kind kind, const char *name,
                              const struct sim_cause *causes)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct sim_answer a;

    for (const struct sim_cause *c = causes; c; c = c->next)
        rco_buf_addf(&text, "%s%s: %s", c == causes ? "" : ", ", c->field ? c->field : "<nil>",
                     c->message);
    a = sim_refuse(s, 422, "Invalid",
                   causes->next ? "%s \"%s\" is invalid: [%s]" : "%s \"%s\" is invalid: %s",
                   kind_of(&s->arena, kind), rco_str_or_empty(name), rco_buf_str(&text));
    describe(&a, kind, rco_str_empty(name) ? NULL : name, true);
    a.causes = causes;
    return a;
}

struct sim_answer sim_not_found(struct sim *s, enum rco_kind kind, const char *name)
{
    return sim_refuse_of(s, kind, name, 404, "NotFound", "%s \"%s\" not found",
                         sim_plural_of(&s->arena, kind), name);
}

struct sim_answer sim_precondition(struct sim *s, const struct sim_version *v, const char *what,
                                   const char *want, const char *got, const char *might)
{
    struct sim_answer a =
        sim_refuse(s, 409, "Conflict",
                   "Operation cannot be fulfilled on %s \"%s\": the %s in the precondition (%s) "
                   "does not match "
                   "the %s in record (%s). The object might have been %s",
                   kind_of(&s->arena, v->kind), v->name, what, want, what, got, might);

    describe(&a, v->kind, v->name, true);
    return a;
}
