#include "schema_cel.h"

#include "schema_regex.h"
#include "tree.h"

#include "base/str.h"
#include "base/time.h"

#include <string.h>

#define QUANTITY                                                                                   \
    "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]+)?$"
#define ARGS 2

enum what {
    LITERAL,
    NAME, /* self, oldSelf, a variable of a macro */
    SELECT,
    HAS,
    INDEX,
    LIST,
    NOT,
    AND,
    OR,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    MORE,
    AT_LEAST,
    IN,
    PLUS,
    CHOOSE,
    SIZE,
    MATCHES,
    STARTS_WITH,
    DURATION,
    IS_QUANTITY,
    ALL,
    EXISTS,
    EXISTS_ONE
};

struct sim_cel {
    enum what what;
    const struct sim_cel *a, *b, *c; /* operands */
    const struct sim_cel *next;      /* in a list */
    const char *text;                /* name, field, variable */
    const struct rco_value *value;   /* literal */
    const struct sim_regex *regex;
    bool transition; /* of the whole rule, in its root */
};

/* --- reading --- */

struct parser {
    struct rco_arena *a;
    const char *p;
    const char *why;
    bool transition;
};

static struct sim_cel *parse(struct parser *p);

static struct sim_cel *node(struct parser *p, enum what what, const struct sim_cel *x,
                            const struct sim_cel *y)
{
    struct sim_cel *c = RCO_NEW(p->a, struct sim_cel);

    c->what = what;
    c->a = x;
    c->b = y;
    return c;
}

static struct sim_cel *fail(struct parser *p, const char *why)
{
    if (!p->why)
        p->why = rco_arena_printf(p->a, "%s at \"%.40s\"", why, p->p);
    return node(p, LITERAL, NULL, NULL);
}

static void skip(struct parser *p)
{
    p->p += strspn(p->p, " \n\t");
}

static bool take(struct parser *p, const char *word)
{
    size_t n = strlen(word);

    skip(p);
    if (strncmp(p->p, word, n) != 0)
        return false;
    p->p += n;
    return true;
}

static void want(struct parser *p, const char *word)
{
    if (!take(p, word))
        fail(p, rco_arena_printf(p->a, "no %s", word));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *take_name(struct parser *p)
{
    size_t n = 0;

    skip(p);
    while (is_letter(p->p[n]) || (n && p->p[n] >= '0' && p->p[n] <= '9'))
        n++;
    if (!n)
        return NULL;
    p->p += n;
    return rco_arena_strndup(p->a, p->p - n, n);
}

static struct sim_cel *literal(struct parser *p, const struct rco_value *v)
{
    struct sim_cel *c = node(p, LITERAL, NULL, NULL);

    c->value = v;
    return c;
}

/* A text in single quotes; the opening one is taken. */
static struct sim_cel *parse_string(struct parser *p)
{
    rco_autobuf text = RCO_BUF_INIT;

    while (*p->p && *p->p != '\'') {
        if (*p->p == '\\') {
            p->p++;
            if (!*p->p || !strchr("\\'\"", *p->p))
                return fail(p, "an escape that is not known");
        }
        rco_buf_addc(&text, *p->p++);
    }
    want(p, "'");
    return literal(p, sim_tree_string(p->a, rco_buf_str(&text)));
}

/* Items up to the closing word, which is taken; linked by next. */
static const struct sim_cel *parse_items(struct parser *p, const char *close, size_t *ret_n)
{
    struct sim_cel *first = NULL, **tail = &first;

    *ret_n = 0;
    if (take(p, close))
        return NULL;
    do {
        *tail = parse(p);
        tail = (struct sim_cel **)&(*tail)->next;
        ++*ret_n;
    } while (!p->why && take(p, ","));
    want(p, close);
    return first;
}

static struct sim_cel *parse_macro(struct parser *p, enum what what, const struct sim_cel *range)
{
    struct sim_cel *c = node(p, what, range, NULL);

    c->text = take_name(p);
    if (!c->text)
        return fail(p, "no variable");
    want(p, ",");
    c->b = parse(p);
    want(p, ")");
    return c;
}

static struct sim_cel *parse_call(struct parser *p, const char *name, const struct sim_cel *on)
{
    static const struct {
        const char *name;
        enum what what;
        bool method, macro;
        size_t args;
    } known[] = {{"size", SIZE, true, false, 0},
                 {"matches", MATCHES, true, false, 1},
                 {"startsWith", STARTS_WITH, true, false, 1},
                 {"all", ALL, true, true, 0},
                 {"exists", EXISTS, true, true, 0},
                 {"exists_one", EXISTS_ONE, true, true, 0},
                 {"has", HAS, false, false, 1},
                 {"duration", DURATION, false, false, 1},
                 {"isQuantity", IS_QUANTITY, false, false, 1}};
    struct sim_cel *c;
    size_t n;

    for (size_t i = 0; i < RCO_ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, name) != 0 || known[i].method != (on != NULL))
            continue;
        if (known[i].macro)
            return parse_macro(p, known[i].what, on);
        c = node(p, known[i].what, on, parse_items(p, ")", &n));
        if (n != known[i].args)
            return fail(p, "another number of arguments");
        if (c->what == HAS && c->b->what != SELECT)
            return fail(p, "has of what is no field");
        if (c->what == MATCHES) {
            const char *pattern = c->b->value ? c->b->value->text : NULL;

            c->regex = pattern ? sim_regex_new(p->a, pattern) : NULL;
            if (!c->regex)
                return fail(p, "a pattern that is not known");
        }
        return c;
    }
    return fail(p, rco_arena_printf(p->a, "a function that is not known, %s,", name));
}

static struct sim_cel *parse_name(struct parser *p, const char *name)
{
    struct sim_cel *c;

    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return literal(p, sim_tree_f(p->a, "%s", name));
    if (*p->p == '(') {
        p->p++;
        return parse_call(p, name, NULL);
    }
    c = node(p, NAME, NULL, NULL);
    c->text = name;
    p->transition |= strcmp(name, "oldSelf") == 0;
    return c;
}

static struct sim_cel *parse_primary(struct parser *p)
{
    const char *name;
    struct sim_cel *c;
    size_t n;

    if (take(p, "(")) {
        c = parse(p);
        want(p, ")");
        return c;
    }
    if (take(p, "[")) {
        c = node(p, LIST, NULL, NULL);
        c->a = parse_items(p, "]", &n);
        return c;
    }
    if (take(p, "'"))
        return parse_string(p);
    skip(p);
    n = strspn(p->p, "0123456789");
    if (n) {
        p->p += n;
        return literal(p, sim_tree_number(p->a, strtoll(p->p - n, NULL, 10)));
    }
    name = take_name(p);
    return name ? parse_name(p, name) : fail(p, "something that is not known");
}

static struct sim_cel *parse_member(struct parser *p)
{
    struct sim_cel *c = parse_primary(p);

    while (!p->why) {
        const char *name;

        if (take(p, "[")) {
            c = node(p, INDEX, c, parse(p));
            want(p, "]");
            continue;
        }
        if (!take(p, "."))
            break;
        name = take_name(p);
        if (!name)
            return fail(p, "no field");
        if (*p->p == '(') {
            p->p++;
            c = parse_call(p, name, c);
        } else {
            c = node(p, SELECT, c, NULL);
            c->text = name;
        }
    }
    return c;
}

static struct sim_cel *parse_unary(struct parser *p)
{
    skip(p);
    if (p->p[0] == '!' && p->p[1] != '=') {
        p->p++;
        return node(p, NOT, parse_unary(p), NULL);
    }
    return parse_member(p);
}

static struct sim_cel *parse_sum(struct parser *p)
{
    struct sim_cel *c = parse_unary(p);

    while (!p->why && take(p, "+"))
        c = node(p, PLUS, c, parse_unary(p));
    return c;
}

static struct sim_cel *parse_relation(struct parser *p)
{
    static const struct {
        const char *word;
        enum what what;
    } words[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST},
                 {"<", LESS},   {">", MORE},     {"in ", IN}};
    struct sim_cel *c = parse_sum(p);

    for (size_t i = 0; i < RCO_ARRAY_LEN(words) && !p->why; i++)
        if (take(p, words[i].word))
            return node(p, words[i].what, c, parse_sum(p));
    return c;
}

static struct sim_cel *parse_and(struct parser *p)
{
    struct sim_cel *c = parse_relation(p);

    while (!p->why && take(p, "&&"))
        c = node(p, AND, c, parse_relation(p));
    return c;
}

static struct sim_cel *parse_or(struct parser *p)
{
    struct sim_cel *c = parse_and(p);

    while (!p->why && take(p, "||"))
        c = node(p, OR, c, parse_and(p));
    return c;
}

static struct sim_cel *parse(struct parser *p)
{
    struct sim_cel *c = parse_or(p);

    if (p->why || !take(p, "?"))
        return c;
    c = node(p, CHOOSE, c, parse(p));
    want(p, ":");
    c->c = parse(p);
    return c;
}

const struct sim_cel *sim_cel_new(struct rco_arena *a, const char *text, const char **ret_why)
{
    struct parser p = {.a = a, .p = text};
    struct sim_cel *c = parse(&p);

    skip(&p);
    if (*p.p)
        fail(&p, "more than one expression");
    *ret_why = p.why;
    c->transition = p.transition;
    return p.why ? NULL : c;
}

bool sim_cel_is_transition(const struct sim_cel *c)
{
    return c->transition;
}

/* --- carrying out: NULL is an error --- */

struct scope {
    const struct scope *up;
    const char *name;
    const struct rco_value *value;
};

static const struct rco_value *eval(const struct sim_cel *c, struct rco_arena *a,
                                    const struct scope *scope);

static const struct rco_value *truth(bool yes)
{
    static const struct rco_value no = {.type = RCO_VALUE_BOOL, .boolean = false};
    static const struct rco_value is = {.type = RCO_VALUE_BOOL, .boolean = true};

    return yes ? &is : &no;
}

static bool is_bool(const struct rco_value *v, bool which)
{
    return v && v->type == RCO_VALUE_BOOL && v->boolean == which;
}

static int64_t number(const struct rco_value *v)
{
    return strtoll(v->text, NULL, 10);
}

static size_t characters(const struct rco_value *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->len; i++)
        n += ((unsigned char)v->text[i] & 0xc0) != 0x80;
    return n;
}

/* rco_value_equal, but quick where it can be. */
static bool same(const struct rco_value *x, const struct rco_value *y)
{
    if (x->type != y->type || x->len != y->len)
        return false;
    if (x->type == RCO_VALUE_STRING || x->type == RCO_VALUE_NUMBER)
        return memcmp(x->text, y->text, x->len) == 0;
    return (x->first && x->first == y->first) || rco_value_equal(x, y);
}

static const struct rco_value *compare(const struct sim_cel *c, const struct rco_value *x,
                                       const struct rco_value *y)
{
    if (!x || !y)
        return NULL;
    switch (c->what) {
    case EQUAL:
        return truth(same(x, y));
    case UNEQUAL:
        return truth(!same(x, y));
    default:
        break;
    }
    if (x->type != RCO_VALUE_NUMBER || y->type != RCO_VALUE_NUMBER)
        return NULL;
    switch (c->what) {
    case LESS:
        return truth(number(x) < number(y));
    case AT_MOST:
        return truth(number(x) <= number(y));
    case MORE:
        return truth(number(x) > number(y));
    default:
        return truth(number(x) >= number(y));
    }
}

static const struct rco_value *is_in(const struct rco_value *x, const struct rco_value *list)
{
    if (!x || !list)
        return NULL;
    if (list->type == RCO_VALUE_OBJECT)
        return x->type == RCO_VALUE_STRING ? truth(rco_value_get(list, x->text) != NULL) : NULL;
    for (const struct rco_value *v = list->first; v; v = v->next)
        if (same(v, x))
            return truth(true);
    return truth(false);
}

/* False and true win over an error, from either side. */
static const struct rco_value *join(const struct sim_cel *c, struct rco_arena *a,
                                    const struct scope *s)
{
    bool decides = c->what == OR;
    const struct rco_value *x = eval(c->a, a, s), *y;

    if (is_bool(x, decides))
        return x;
    y = eval(c->b, a, s);
    if (is_bool(y, decides))
        return y;
    return x && y ? truth(!decides) : NULL;
}

/* Items of a list, keys of an object. */
static const struct rco_value *quantify(const struct sim_cel *c, struct rco_arena *a,
                                        const struct scope *s)
{
    const struct rco_value *range = eval(c->a, a, s);
    bool failed = false;
    size_t yes = 0, n = 0;

    if (!range)
        return NULL;
    for (const struct rco_value *v = range->first; v; v = v->next) {
        struct scope inner = {s, c->text, v};
        const struct rco_value *x;

        if (range->type == RCO_VALUE_OBJECT)
            inner.value = sim_tree_string(a, v->key);
        x = eval(c->b, a, &inner);
        n++;
        yes += is_bool(x, true);
        failed |= !x;
    }
    if (c->what == EXISTS && yes)
        return truth(true);
    if (c->what == ALL && !failed)
        return truth(yes == n);
    return failed ? NULL : truth(c->what == EXISTS ? yes > 0 : yes == 1);
}

static const struct rco_value *make_list(const struct sim_cel *c, struct rco_arena *a,
                                         const struct scope *s)
{
    struct rco_value *list = RCO_NEW(a, struct rco_value), **tail = &list->first;

    list->type = RCO_VALUE_ARRAY;
    for (const struct sim_cel *x = c->a; x; x = x->next) {
        const struct rco_value *v = eval(x, a, s);

        if (!v)
            return NULL;
        *tail = rco_arena_memdup(a, v, sizeof *v);
        (*tail)->next = NULL;
        (*tail)->key = NULL;
        tail = &(*tail)->next;
        list->len++;
    }
    return list;
}

static const struct rco_value *call(const struct sim_cel *c, struct rco_arena *a,
                                    const struct scope *s)
{
    static const struct sim_regex *quantity;
    static struct rco_arena forever;
    const struct rco_value *on = c->a ? eval(c->a, a, s) : eval(c->b, a, s);
    struct rco_error err = RCO_ERROR_INIT;
    int64_t ns;

    if (!on)
        return NULL;
    if (c->what == SIZE)
        return sim_tree_number(a,
                               (int64_t)(on->type == RCO_VALUE_STRING ? characters(on) : on->len));
    if (on->type != RCO_VALUE_STRING)
        return NULL;
    switch (c->what) {
    case MATCHES:
        return truth(sim_regex_matches(c->regex, on->text, on->len));
    case STARTS_WITH:
        return truth(rco_str_has_prefix(on->text, c->b->value ? c->b->value->text : "?"));
    case DURATION:
        return rco_duration_parse(on->text, &ns, &err) == 0 ? sim_tree_number(a, ns) : NULL;
    default:
        if (!quantity)
            quantity = sim_regex_new(&forever, QUANTITY);
        return truth(sim_regex_matches(quantity, on->text, on->len));
    }
}

static const struct rco_value *look_up(const struct scope *s, const char *name)
{
    for (; s; s = s->up)
        if (strcmp(s->name, name) == 0)
            return s->value;
    return NULL;
}

static const struct rco_value *plus(const struct rco_value *x, const struct rco_value *y,
                                    struct rco_arena *a)
{
    if (!x || !y || x->type != RCO_VALUE_STRING || y->type != RCO_VALUE_STRING)
        return NULL;
    return sim_tree_string(a, rco_arena_printf(a, "%s%s", x->text, y->text));
}

static const struct rco_value *choose(const struct sim_cel *c, struct rco_arena *a,
                                      const struct scope *s)
{
    const struct rco_value *x = eval(c->a, a, s);

    if (!x || x->type != RCO_VALUE_BOOL)
        return NULL;
    return eval(x->boolean ? c->b : c->c, a, s);
}

static const struct rco_value *has(const struct sim_cel *field, struct rco_arena *a,
                                   const struct scope *s)
{
    const struct rco_value *x = eval(field->a, a, s);

    return x ? truth(rco_value_get(x, field->text) != NULL) : NULL;
}

static const struct rco_value *eval(const struct sim_cel *c, struct rco_arena *a,
                                    const struct scope *s)
{
    const struct rco_value *x;

    switch (c->what) {
    case LITERAL:
        return c->value;
    case NAME:
        return look_up(s, c->text);
    case SELECT:
        x = eval(c->a, a, s);
        return x ? rco_value_get(x, c->text) : NULL;
    case INDEX:
        x = eval(c->b, a, s);
        return x && x->type == RCO_VALUE_STRING ? rco_value_get(eval(c->a, a, s), x->text) : NULL;
    case HAS:
        return has(c->b, a, s);
    case LIST:
        return make_list(c, a, s);
    case NOT:
        x = eval(c->a, a, s);
        return x && x->type == RCO_VALUE_BOOL ? truth(!x->boolean) : NULL;
    case AND:
    case OR:
        return join(c, a, s);
    case IN:
        return is_in(eval(c->a, a, s), eval(c->b, a, s));
    case PLUS:
        return plus(eval(c->a, a, s), eval(c->b, a, s), a);
    case CHOOSE:
        return choose(c, a, s);
    case ALL:
    case EXISTS:
    case EXISTS_ONE:
        return quantify(c, a, s);
    case SIZE:
    case MATCHES:
    case STARTS_WITH:
    case DURATION:
    case IS_QUANTITY:
        return call(c, a, s);
    default:
        return compare(c, eval(c->a, a, s), eval(c->b, a, s));
    }
}

bool sim_cel_holds(const struct sim_cel *c, struct rco_arena *a, const struct rco_value *self,
                   const struct rco_value *old)
{
    const struct scope before = {NULL, "oldSelf", old}, now = {&before, "self", self};

    return is_bool(eval(c, a, &now), true);
}
