#include "advice_pattern.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

const char *rco_advice_name(const struct rco_advice_found *found, const char *name)
{
    for (size_t i = 0; i < found->n_names; i++)
        if (rco_streq(found->names[i].name, name))
            return found->names[i].value;
    return "";
}

void rco_advice_add_name(struct rco_advice_found *found, const char *name, const char *value)
{
    if (found->n_names < RCO_ADVICE_MAX_NAMES)
        found->names[found->n_names++] = (struct rco_text_var){name, value};
}

/* What a name may have besides letters, digits, '.', '_' and '-', which mean nothing to a shell. */
static const struct name_rule {
    const char *name;
    const char *also;
    bool may_be_empty;
} name_rules[] = {
    {"account", "", false}, {"accountns", "", false}, {"configmap", "", false},
    {"group", "", true},    {"job", "", false},       {"key", ":/", false},
    {"named", "", false},   {"ref", ":/", false},     {"resource", "/", false},
    {"secret", "", false},  {"verb", "", false},      {"where", "", false},
};

static const struct name_rule *find_rule(const char *name, size_t n)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(name_rules); i++)
        if (strlen(name_rules[i].name) == n && memcmp(name_rules[i].name, name, n) == 0)
            return &name_rules[i];
    return NULL;
}

/* Length of the name at S, or -1 when there is none. One that begins like a flag is none. */
static int64_t name_length(const struct name_rule *rule, const char *s)
{
    size_t n = 0;

    while (s[n] &&
           (isalnum((unsigned char)s[n]) || strchr("._-", s[n]) || strchr(rule->also, s[n])))
        n++;
    if (*s == '-' || n > RCO_ADVICE_MAX_NAME || (n == 0 && !rule->may_be_empty))
        return -1;
    return (int64_t)n;
}

int64_t rco_advice_name_length(const char *name, const char *s)
{
    const struct name_rule *rule = find_rule(name, strlen(name));

    return rule ? name_length(rule, s) : -1;
}

static bool match_at(const char *pattern, const char *s, struct rco_arena *a,
                     struct rco_advice_found *found)
{
    while (*pattern) {
        if (*pattern != '{') {
            if (tolower((unsigned char)*pattern++) != tolower((unsigned char)*s++))
                return false;
            continue;
        }
        const char *end = strchr(pattern, '}');
        const struct name_rule *rule = find_rule(pattern + 1, (size_t)(end - pattern) - 1);
        int64_t n = rule ? name_length(rule, s) : -1;

        if (n < 0)
            return false;
        rco_advice_add_name(found, rule->name, rco_arena_strndup(a, s, (size_t)n));
        s += n;
        pattern = end + 1;
    }
    return true;
}

bool rco_advice_match(const struct rco_advice_pattern *p, const char *text,
                      const struct rco_advice_about *about, struct rco_arena *a,
                      struct rco_advice_found *out)
{
    for (size_t i = 0; text[i] && i < RCO_ADVICE_MAX_TEXT; i++) {
        *out = (struct rco_advice_found){.row = &p->row};
        if (match_at(p->text, text + i, a, out) && (!p->fits || p->fits(about, a, out)))
            return true;
    }
    *out = (struct rco_advice_found){0};
    return false;
}
