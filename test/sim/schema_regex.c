#include "schema_regex.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define CODE_MAX 16384 /* instructions of one pattern; {1,253} repeats what it stands behind */

enum op { SET, SPLIT, JUMP, BEGIN, END, MATCH };

struct code {
    enum op op;
    int x, y;                    /* where to go on */
    const unsigned char *member; /* SET: of each byte, whether it is one */
};

struct sim_regex {
    struct code *code;
    int n;
};

struct parser {
    struct rco_arena *a;
    const char *p;
    struct sim_regex *r;
    bool failed, fold;
};

static int emit(struct parser *p, enum op op, int x, int y)
{
    if (p->r->n == CODE_MAX) {
        p->failed = true;
        return 0;
    }
    p->r->code[p->r->n] = (struct code){.op = op, .x = x, .y = y};
    return p->r->n++;
}

/* --- sets --- */

static void add_range(unsigned char *set, int lo, int hi)
{
    for (int c = lo; c <= hi; c++)
        set[c] = 1;
}

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* After a backslash: one byte, or -1 when the class was added to SET, or -2: not known. */
static int escape(struct parser *p, unsigned char *set)
{
    char c = *p->p++;

    switch (c) {
    case 's':
        for (const char *w = " \t\n\f\r"; *w; w++)
            set[(unsigned char)*w] = 1;
        return -1;
    case 'd':
        add_range(set, '0', '9');
        return -1;
    case 'x': {
        int v = hex_digit(p->p[0]) << 4 | hex_digit(p->p[1]);

        p->p += 2;
        return v;
    }
    case 'n':
        return '\n';
    case 't':
        return '\t';
    default:
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? -2 : c;
    }
}

static void fold(unsigned char *set)
{
    for (int c = 'a'; c <= 'z'; c++)
        set[c] = set[c - 32] = set[c] | set[c - 32];
}

static void emit_set(struct parser *p, unsigned char *set)
{
    if (p->fold)
        fold(set);
    p->r->code[emit(p, SET, 0, 0)].member = set;
}

static int one_of_class(struct parser *p, unsigned char *set)
{
    int c = (unsigned char)*p->p++;

    if (c != '\\')
        return c;
    c = escape(p, set);
    p->failed |= c == -2;
    return c;
}

static void parse_class(struct parser *p)
{
    unsigned char *set = rco_arena_alloc(p->a, 256);
    bool negated = *p->p == '^';
    bool first = true;

    p->p += negated;
    while (*p->p && (first || *p->p != ']') && !p->failed) {
        int lo = one_of_class(p, set), hi = lo;

        first = false;
        if (lo < 0)
            continue;
        if (p->p[0] == '-' && p->p[1] && p->p[1] != ']') {
            p->p++;
            hi = one_of_class(p, set);
        }
        add_range(set, lo, hi);
    }
    p->failed |= *p->p != ']';
    p->p += *p->p == ']';
    if (p->fold)
        fold(set);
    for (int c = 0; negated && c < 256; c++)
        set[c] = !set[c];
    p->r->code[emit(p, SET, 0, 0)].member = set;
}

/* --- grammar --- */

static void parse_alternatives(struct parser *p);

static void parse_atom(struct parser *p)
{
    unsigned char *set;
    int c;

    switch (*p->p) {
    case '(':
        p->p++;
        parse_alternatives(p);
        p->failed |= *p->p != ')';
        p->p += *p->p == ')';
        return;
    case '[':
        p->p++;
        parse_class(p);
        return;
    case '^':
        p->p++;
        emit(p, BEGIN, 0, 0);
        return;
    case '$':
        p->p++;
        emit(p, END, 0, 0);
        return;
    default:
        break;
    }
    set = rco_arena_alloc(p->a, 256);
    c = (unsigned char)*p->p++;
    if (c == '.') {
        add_range(set, 0, 255);
        c = -1;
    } else if (c == '\\') {
        c = escape(p, set);
        p->failed |= c == -2;
    }
    if (c >= 0)
        set[c] = 1;
    emit_set(p, set);
}

/* The code from START on becomes optional. */
static void make_optional(struct parser *p, int start)
{
    int n = p->r->n - start;

    emit(p, MATCH, 0, 0);
    memmove(p->r->code + start + 1, p->r->code + start, (size_t)n * sizeof(struct code));
    for (int i = start + 1; i < p->r->n; i++) {
        p->r->code[i].x += p->r->code[i].op == SPLIT || p->r->code[i].op == JUMP;
        p->r->code[i].y += p->r->code[i].op == SPLIT;
    }
    p->r->code[start] = (struct code){.op = SPLIT, .x = start + 1, .y = p->r->n};
}

static void repeat(struct parser *p, const char *atom, int start, int min, int max)
{
    const char *end = p->p;

    /* The first time stands there already. */
    for (int i = 1; i < max && !p->failed; i++) {
        int at = p->r->n;

        p->p = atom;
        parse_atom(p);
        if (i >= min)
            make_optional(p, at);
    }
    if (min == 0)
        make_optional(p, start);
    p->p = end;
}

static void parse_counts(struct parser *p, const char *atom, int start)
{
    char *rest;
    int min = (int)strtol(p->p + 1, &rest, 10), max = min;

    if (*rest == ',')
        max = (int)strtol(rest + 1, &rest, 10);
    p->failed |= *rest != '}' || max < 1 || max < min;
    p->p = rest + (*rest == '}');
    if (!p->failed)
        repeat(p, atom, start, min, max);
}

static void parse_piece(struct parser *p)
{
    const char *atom = p->p;
    int start = p->r->n;

    parse_atom(p);
    switch (p->failed ? 0 : *p->p) {
    case '*':
        p->p++;
        emit(p, JUMP, start, 0);
        make_optional(p, start);
        p->r->code[p->r->n - 1].x = start;
        break;
    case '+':
        p->p++;
        emit(p, SPLIT, start, p->r->n + 1);
        break;
    case '?':
        p->p++;
        make_optional(p, start);
        break;
    case '{':
        parse_counts(p, atom, start);
        break;
    default:
        break;
    }
}

static void parse_alternatives(struct parser *p)
{
    int start = p->r->n, jump;

    while (*p->p && *p->p != '|' && *p->p != ')' && !p->failed)
        parse_piece(p);
    if (*p->p != '|' || p->failed)
        return;
    p->p++;
    jump = emit(p, JUMP, 0, 0);
    make_optional(p, start);
    jump++;
    p->r->code[start].y = p->r->n;
    parse_alternatives(p);
    p->r->code[jump].x = p->r->n;
}

const struct sim_regex *sim_regex_new(struct rco_arena *a, const char *pattern)
{
    struct sim_regex *r = RCO_NEW(a, struct sim_regex);
    struct parser p = {.a = a, .p = pattern, .r = r};

    r->code = rco_calloc(CODE_MAX + 1, sizeof *r->code);
    if (strncmp(p.p, "(?i)", 4) == 0) {
        p.fold = true;
        p.p += 4;
    }
    parse_alternatives(&p);
    emit(&p, MATCH, 0, 0);
    p.failed |= *p.p != '\0';
    {
        struct code *all = r->code;

        r->code = rco_arena_memdup(a, all, (size_t)r->n * sizeof *all);
        free(all);
    }
    return p.failed ? NULL : r;
}

/* --- matching --- */

struct threads {
    int *at;
    int n;
    size_t *seen; /* of each instruction the position, plus one, at which it was added */
};

static bool add(const struct sim_regex *r, struct threads *t, int pc, size_t pos, size_t n)
{
    const struct code *c = &r->code[pc];

    if (t->seen[pc] == pos + 1)
        return false;
    t->seen[pc] = pos + 1;
    switch (c->op) {
    case MATCH:
        return true;
    case JUMP:
        return add(r, t, c->x, pos, n);
    case SPLIT:
        return add(r, t, c->x, pos, n) || add(r, t, c->y, pos, n);
    case BEGIN:
        return pos == 0 && add(r, t, pc + 1, pos, n);
    case END:
        return pos == n && add(r, t, pc + 1, pos, n);
    default:
        t->at[t->n++] = pc;
        return false;
    }
}

bool sim_regex_matches(const struct sim_regex *r, const char *text, size_t n)
{
    size_t size = (size_t)r->n;
    int *room = rco_calloc(2 * size, sizeof *room);
    size_t *seen = rco_calloc(size, sizeof *seen);
    struct threads now = {.at = room, .seen = seen}, next = {.at = room + size, .seen = seen};
    bool found = add(r, &now, 0, 0, n);

    for (size_t i = 0; i < n && !found; i++) {
        int *swap = now.at;

        next.n = 0;
        for (int k = 0; k < now.n && !found; k++)
            if (r->code[now.at[k]].member[(unsigned char)text[i]])
                found = add(r, &next, now.at[k] + 1, i + 1, n);
        found = found || add(r, &next, 0, i + 1, n);
        now.at = next.at;
        now.n = next.n;
        next.at = swap;
    }
    free(room);
    free(seen);
    return found;
}
