/* The state machine of a kind is the list of pairs in a CEL rule of its CRD; this reads it, so that
 * the C table can never differ from what the API server enforces. */
#include "gen.h"

#include <stdlib.h>
#include <string.h>

/* Index of the word at S..S+N, or -1. */
static long word_index(const struct gen_enum *e, const char *s, size_t n)
{
    for (size_t i = 0; i < e->n_words; i++)
        if (strlen(e->words[i]) == n && strncmp(e->words[i], s, n) == 0)
            return (long)i;
    return -1;
}

static void add_edge(struct gen_enum *e, long from, long to, const char *path)
{
    for (size_t i = 0; i < e->n_edges; i++)
        if (e->edges[i].from == (size_t)from && e->edges[i].to == (size_t)to)
            gen_die("%s: the transition %s -> %s is listed twice", path, e->words[from],
                    e->words[to]);
    e->edges = realloc(e->edges, (e->n_edges + 1) * sizeof(*e->edges));
    if (!e->edges)
        gen_die("out of memory");
    e->edges[e->n_edges++] = (struct gen_edge){.from = (size_t)from, .to = (size_t)to};
}

/* One quoted text: either a whole pair ("A>B", "A->B", "A/B", "A:B") or one half of a pair. */
static void take_quoted(struct gen_enum *e, const char *s, size_t n, long *half, const char *path)
{
    size_t cut = strcspn(s, ">-/:");
    if (cut < n) {
        const char *to = s + cut;
        while (to < s + n && strchr(">-/: ", *to))
            to++;
        size_t from_len = cut;
        while (from_len && s[from_len - 1] == ' ')
            from_len--;
        long a = word_index(e, s, from_len), b = word_index(e, to, (size_t)(s + n - to));
        if (a < 0 || b < 0)
            gen_die("%s: the rule names a transition of unknown states: %.*s", path, (int)n, s);
        add_edge(e, a, b, path);
        return;
    }
    long w = word_index(e, s, n);
    if (w < 0)
        gen_die("%s: the rule names an unknown state: %.*s", path, (int)n, s);
    if (*half < 0) {
        *half = w;
        return;
    }
    add_edge(e, *half, w, path);
    *half = -1;
}

/* The rule compares old and new state with a list, in one of the forms
 *   [oldSelf.state, self.state] in [['A','B'], ...]   or   (oldSelf.state + '>' + self.state) in
 * ['A>B', ...] */
static bool read_rule(const char *rule, const char *field, struct gen_enum *e, const char *path)
{
    char *old_name = gen_printf("oldSelf.%s", field);
    const char *at = strstr(rule, old_name);
    const char *list = at ? strstr(at, " in [") : NULL;
    if (!list)
        return false;
    list += strlen(" in ");
    long half = -1;
    int depth = 0;
    size_t before = e->n_edges;
    for (const char *p = list; *p; p++) {
        if (*p == '[')
            depth++;
        if (*p == ']' && --depth == 0)
            break;
        if (*p != '\'' && *p != '"')
            continue;
        const char *end = strchr(p + 1, *p);
        if (!end)
            gen_die("%s: a transition rule has an open quote", path);
        take_quoted(e, p + 1, (size_t)(end - p - 1), &half, path);
        p = end;
    }
    if (half >= 0)
        gen_die("%s: a transition rule ends with half a pair", path);
    return e->n_edges > before;
}

/* The rule that fixes the first state: has(oldSelf.state) || !has(self.state) || self.state ==
 * 'Pending' */
static void read_first(const struct node *rules, const char *field, struct gen_enum *e,
                       const char *path)
{
    char *start = gen_printf("has(oldSelf.%s) || ", field);
    char *equals = gen_printf("self.%s == '", field);
    for (size_t i = 0; i < rules->n; i++) {
        const char *rule = gen_text(rules->items[i], "rule");
        const char *word =
            rule && strncmp(rule, start, strlen(start)) == 0 ? strstr(rule, equals) : NULL;
        if (!word)
            continue;
        word += strlen(equals);
        long w = word_index(e, word, strcspn(word, "'"));
        if (w < 0)
            gen_die("%s: the rule names an unknown first state: %s", path, rule);
        e->first = (size_t)w;
        return;
    }
    gen_die("%s: no rule fixes the first state", path);
}

void gen_edges_read(const struct node *schema, const char *field, struct gen_enum *e,
                    const char *path)
{
    const struct node *rules = gen_get(schema, "x-kubernetes-validations");
    for (size_t i = 0; rules && i < rules->n; i++) {
        const char *rule = gen_text(rules->items[i], "rule");
        if (rule && read_rule(rule, field, e, path)) {
            read_first(rules, field, e, path);
            return;
        }
    }
}
