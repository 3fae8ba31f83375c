#include "runtime/selector.h"

#include <string.h>

#define KEY_MAX 320 /* prefix 253, "/", name 63, NUL */
#define VALUE_MAX 64

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t");
}

/* Copies a word of label characters; NULL when it does not fit. */
static const char *word(const char *s, char *out, size_t size)
{
    size_t n = strcspn(s, " \t,=!()");

    if (n >= size)
        return NULL;
    memcpy(out, s, n);
    out[n] = 0;
    return s + n;
}

/* "(a, b)" after in or notin. */
static const char *in_set(const char *s, const char *have, bool *ret_in)
{
    char value[VALUE_MAX];

    *ret_in = false;
    s = skip_space(s);
    if (*s++ != '(')
        return NULL;
    for (;;) {
        s = word(skip_space(s), value, sizeof(value));
        if (!s)
            return NULL;
        if (have && strcmp(have, value) == 0)
            *ret_in = true;
        s = skip_space(s);
        if (*s == ')')
            return s + 1;
        if (*s++ != ',')
            return NULL;
    }
}

static const char *compare(const char *s, const char *have, bool *ret)
{
    char value[VALUE_MAX];
    bool negated = *s == '!';

    s += strspn(s, negated ? "!=" : "=");
    s = word(skip_space(s), value, sizeof(value));
    if (!s)
        return NULL;
    *ret = (have && strcmp(have, value) == 0) != negated;
    return s;
}

/* One requirement; NULL when it cannot be read. */
static const char *requirement(const char *s, const struct rco_kv *labels, size_t n, bool *ret)
{
    char key[KEY_MAX];
    const char *have;
    bool absent = *s == '!', in;

    s = word(skip_space(absent ? s + 1 : s), key, sizeof(key));
    if (!s || !*key)
        return NULL;
    have = rco_kv_get(labels, n, key);
    s = skip_space(s);
    if (absent || *s == 0 || *s == ',') {
        *ret = (have != NULL) != absent;
        return s;
    }
    if (*s == '=' || (*s == '!' && s[1] == '='))
        return compare(s, have, ret);
    if (strncmp(s, "in", 2) == 0) {
        s = in_set(s + 2, have, &in);
        *ret = in;
        return s;
    }
    if (strncmp(s, "notin", 5) == 0) {
        s = in_set(s + 5, have, &in);
        *ret = !in;
        return s;
    }
    return NULL;
}

bool rco_selector_matches(const char *selector, const struct rco_kv *labels, size_t n)
{
    const char *s = selector;

    if (rco_str_empty(s))
        return true;
    for (;;) {
        bool holds = false;

        s = requirement(skip_space(s), labels, n, &holds);
        if (!s || !holds)
            return false;
        s = skip_space(s);
        if (*s == 0)
            return true;
        if (*s++ != ',')
            return false;
    }
}
