#include "project.h"

#include "base/str.h"

#include <string.h>

/* A scan of the top level of block style YAML. Only three plain keys are wanted, and a program of
 * any size with any feature of YAML may stand around them. */

static const char *next_line(const char *at, const char *end, size_t *ret_len)
{
    const char *nl = memchr(at, '\n', (size_t)(end - at));
    *ret_len = nl ? (size_t)(nl - at) : (size_t)(end - at);
    return nl ? nl + 1 : end;
}

/* Scalar text behind a key, without quotes and comment; in A. */
static char *scalar(const char *s, size_t n, struct rco_arena *a)
{
    while (n > 0 && (*s == ' ' || *s == '\t')) {
        s++;
        n--;
    }
    if (n > 0 && (*s == '"' || *s == '\'')) {
        const char *close = memchr(s + 1, *s, n - 1);
        return rco_arena_strndup(a, s + 1, close ? (size_t)(close - s) - 1 : n - 1);
    }
    for (size_t i = 0; i < n; i++)
        if (s[i] == '#' && (i == 0 || s[i - 1] == ' ' || s[i - 1] == '\t'))
            n = i;
    while (n > 0 && strchr(" \t\r", s[n - 1]))
        n--;
    return rco_arena_strndup(a, s, n);
}

/* Value part when the line is `KEY:` at column INDENT, else NULL. */
static const char *value_of(const char *line, size_t n, const char *key, size_t *ret_len)
{
    size_t len = strlen(key), quoted = n > 0 && (*line == '"' || *line == '\'');
    if (n < len + 1 + 2 * quoted || memcmp(line + quoted, key, len) != 0)
        return NULL;
    size_t at = len + 2 * quoted;
    if (line[at] != ':' || (at + 1 < n && !strchr(" \t\r", line[at + 1])))
        return NULL;
    *ret_len = n - at - 1;
    return line + at + 1;
}

/* `runtime:` followed by an indented map: its name. */
static const char *nested_name(const char *at, const char *end, struct rco_arena *a)
{
    while (at < end) {
        size_t n, len;
        const char *line = at;
        at = next_line(at, end, &n);
        size_t indent = 0;
        while (indent < n && line[indent] == ' ')
            indent++;
        if (indent == n || line[indent] == '#' || line[indent] == '\r')
            continue;
        if (indent == 0)
            return NULL;
        const char *v = value_of(line + indent, n - indent, "name", &len);
        if (v)
            return scalar(v, len, a);
    }
    return NULL;
}

/* `{name: nodejs, options: …}` and JSON's form of it. */
static const char *flow_name(const char *s, size_t n, struct rco_arena *a)
{
    const char *at = memmem(s, n, "name", 4), *end = s + n;
    if (!at)
        return NULL;
    at += 4;
    while (at < end && strchr("\"' \t:", *at))
        at++;
    size_t len = 0;
    while (at + len < end && !strchr("\"' \t,}\r\n", at[len]))
        len++;
    return rco_arena_strndup(a, at, len);
}

static bool is_project_name(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    if (n < 1 || n > 100)
        return false;
    for (; *s; s++)
        if (!((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
              strchr("_-.", *s)))
            return false;
    return true;
}

int rco_project_parse(const char *name, const char *text, size_t n, struct rco_arena *a,
                      struct rco_project *ret, struct rco_error *err)
{
    const char *at = text, *end = text + n;
    *ret = (struct rco_project){.settings_dir = ""};
    if (memchr(text, '\0', n))
        return rco_error_set(err, RCO_EINVALID, "%s holds binary data", name);
    while (at < end) {
        size_t len, value_len;
        const char *line = at, *v;
        at = next_line(at, end, &len);
        if ((v = value_of(line, len, "name", &value_len)))
            ret->name = scalar(v, value_len, a);
        else if ((v = value_of(line, len, "stackConfigDir", &value_len)))
            ret->settings_dir = scalar(v, value_len, a);
        else if ((v = value_of(line, len, "runtime", &value_len))) {
            const char *s = scalar(v, value_len, a);
            ret->runtime = *s == '{' ? flow_name(s, strlen(s), a)
                           : *s      ? s
                                     : nested_name(at, end, a);
        }
    }
    if (!is_project_name(ret->name))
        return rco_error_set(
            err, RCO_EINVALID,
            "%s: `name` must be 1 to 100 letters, digits, '_', '-' or '.', and stand "
            "at the top level",
            name);
    if (rco_str_empty(ret->runtime))
        return rco_error_set(err, RCO_EINVALID, "%s: `runtime` is missing at the top level", name);
    return 0;
}
