#include "gen.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void gen_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("rco-gen: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

void *gen_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        gen_die("out of memory");
    return p;
}

char *gen_printf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        gen_die("out of memory");
    va_end(ap);
    return s;
}

char *gen_snake(const char *s)
{
    char *out = gen_alloc(2 * strlen(s) + 1);
    size_t n = 0;
    for (size_t i = 0; s[i]; i++) {
        unsigned char c = (unsigned char)s[i];
        if (!isalnum(c)) {
            if (n && out[n - 1] != '_')
                out[n++] = '_';
            continue;
        }
        bool after_lower =
            i && (islower((unsigned char)s[i - 1]) || isdigit((unsigned char)s[i - 1]));
        bool before_lower =
            i && isupper((unsigned char)s[i - 1]) && islower((unsigned char)s[i + 1]);
        if (isupper(c) && (after_lower || before_lower) && n && out[n - 1] != '_')
            out[n++] = '_';
        out[n++] = (char)tolower(c);
    }
    return out;
}

char *gen_upper(const char *s)
{
    char *out = gen_snake(s);
    for (char *p = out; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return out;
}

char *gen_singular(const char *s)
{
    size_t n = strlen(s);
    if (n > 3 && strcmp(s + n - 3, "ies") == 0)
        return gen_printf("%.*sy", (int)n - 3, s);
    if (n > 4 && strcmp(s + n - 4, "sses") == 0)
        return gen_printf("%.*s", (int)n - 2, s);
    if (n > 1 && s[n - 1] == 's' && s[n - 2] != 's' && strcmp(s, "status") != 0)
        return gen_printf("%.*s", (int)n - 1, s);
    return gen_printf("%s", s);
}

char *gen_member(const char *s)
{
    static const char *const keywords[] = {
        "auto",     "break",  "case",   "char",     "const",    "continue", "default",  "do",
        "double",   "else",   "enum",   "extern",   "float",    "for",      "goto",     "if",
        "inline",   "int",    "long",   "register", "restrict", "return",   "short",    "signed",
        "sizeof",   "static", "struct", "switch",   "typedef",  "union",    "unsigned", "void",
        "volatile", "while",  "bool",   "true",     "false",    "asm",      "typeof",   "errno"};
    char *out = gen_snake(s);
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(out, keywords[i]) == 0)
            return gen_printf("%s_", out);
    return out;
}

bool gen_glob(const char *pattern, const char *s)
{
    for (; *pattern; pattern++, s++) {
        if (*pattern == '*') {
            for (;; s++) {
                if (gen_glob(pattern + 1, s))
                    return true;
                if (!*s)
                    return false;
            }
        }
        if (*pattern != *s)
            return false;
    }
    return !*s;
}

bool gen_streq(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}
