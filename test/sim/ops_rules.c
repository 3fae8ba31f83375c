/* The rules of the schemas: every one is known here, and every one that people can break was
 * broken and kept. */
#include "ops.h"

#include <stdio.h>
#include <string.h>

#define RULES_MAX 512

struct entry {
    enum rco_kind kind;
    const char *path;
    const struct sim_rule *rule;
    bool kept; /* a refusal spoke its message */
};

struct book {
    struct rco_arena arena;
    struct entry entries[RULES_MAX];
    size_t n;
};

static void walk(struct book *b, enum rco_kind kind, const struct sim_schema *s, const char *path)
{
    for (size_t i = 0; i < s->n_rules && b->n < RULES_MAX; i++)
        b->entries[b->n++] = (struct entry){.kind = kind, .path = path, .rule = &s->rules[i]};
    for (const struct sim_schema *p = s->properties; p; p = p->next)
        walk(b, kind, p, rco_arena_printf(&b->arena, "%s.%s", path, p->name));
    if (s->items)
        walk(b, kind, s->items, rco_arena_printf(&b->arena, "%s[]", path));
    if (s->additional)
        walk(b, kind, s->additional, rco_arena_printf(&b->arena, "%s{}", path));
}

static struct book *book(void)
{
    static const enum rco_kind kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_ENV, RCO_KIND_TENANT,
                                          RCO_KIND_RUN};
    static struct book b;

    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds) && b.n < RULES_MAX; i++) {
        if (i == 0 && b.n)
            break; /* read before */
        walk(&b, kinds[i], sim_schema_of(kinds[i]), "");
    }
    return &b;
}

void sim_ops_rule_spoke(enum rco_kind kind, const char *message)
{
    struct book *b = book();

    for (size_t i = 0; i < b->n; i++)
        if (b->entries[i].kind == kind && strstr(message, b->entries[i].rule->message))
            b->entries[i].kept = true;
}

void sim_ops_print_rules(void)
{
    const struct book *b = book();

    for (size_t i = 0; i < b->n; i++)
        printf("rule %s %s: %s\n", rco_kind_info(b->entries[i].kind)->kind,
               *b->entries[i].path ? b->entries[i].path + 1 : ".", b->entries[i].rule->text);
}

/* What people do not write cannot be broken by them. */
static bool is_for_people(const struct entry *e)
{
    const char *at = e->rule->field_path ? e->rule->field_path : "";

    if (strncmp(e->path, ".status", 7) == 0 || strncmp(at, ".status", 7) == 0 ||
        strcmp(e->rule->message, "status must not be removed") == 0)
        return false;
    return e->kind != RCO_KIND_RUN || strstr(at, "cancel") || strstr(at, "approval");
}

int sim_ops_print_rule_coverage(bool complete)
{
    const struct book *b = book();
    int all = 0, kept = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (!is_for_people(&b->entries[i]))
            continue;
        all++;
        kept += b->entries[i].kept;
        if (complete && !b->entries[i].kept)
            printf("NEVER BROKEN %s %s: %s\n", rco_kind_info(b->entries[i].kind)->kind,
                   b->entries[i].path, b->entries[i].rule->message);
    }
    printf("rules: %d of %d that people can break refused something\n", kept, all);
    return complete && kept < all;
}
