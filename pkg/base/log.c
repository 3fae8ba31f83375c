#include "base/log.h"

#include "base/clock.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192
#define VALUE_MAX_BYTES 2048

static enum rco_log_level log_level = RCO_LOG_INFO;
static enum rco_log_format log_format = RCO_LOG_TEXT;

struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
};

void rco_log_setup(enum rco_log_level level, enum rco_log_format format)
{
    log_level = level;
    log_format = format;
}

int rco_log_enabled(enum rco_log_level level)
{
    return level >= log_level;
}

/* Two bytes stay free for the end of the line. */
static void put(struct line *l, const char *s, size_t n)
{
    size_t room = sizeof l->text - 3 - l->len;

    if (n > room)
        n = room;
    memcpy(l->text + l->len, s, n);
    l->len += n;
}

static void puts_(struct line *l, const char *s)
{
    put(l, s, strlen(s));
}

/* Quoted as JSON. Bytes outside printable ASCII and valid continuation are escaped or kept. */
static void put_quoted(struct line *l, const char *s)
{
    puts_(l, "\"");
    for (size_t i = 0; s[i] && i < VALUE_MAX_BYTES; i++) {
        unsigned char c = (unsigned char)s[i];
        char esc[8];

        if (c == '"' || c == '\\')
            put(l, (char[]){'\\', (char)c}, 2);
        else if (c == '\n')
            put(l, "\\n", 2);
        else if (c < 0x20 || c == 0x7f)
            put(l, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", c));
        else
            put(l, (const char *)&s[i], 1);
    }
    puts_(l, "\"");
}

static void put_field(struct line *l, const struct rco_log_field *f)
{
    char number[24];

    if (log_format == RCO_LOG_JSON) {
        puts_(l, ",");
        put_quoted(l, f->key);
        puts_(l, ":");
    } else {
        puts_(l, " ");
        puts_(l, f->key);
        puts_(l, "=");
    }
    if (f->text) {
        put_quoted(l, f->text);
    } else {
        snprintf(number, sizeof number, "%lld", (long long)f->number);
        puts_(l, number);
    }
}

void rco_log_fields(enum rco_log_level level, const char *msg, const struct rco_log_field *fields,
                    size_t n)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    char when[RCO_TIME_STR_MAX];
    struct line l = {.len = 0};
    ssize_t ignored;

    rco_wall_format_micro(rco_clock_wall(), when);
    if (log_format == RCO_LOG_JSON) {
        puts_(&l, "{\"ts\":\"");
        puts_(&l, when);
        puts_(&l, "\",\"level\":\"");
        puts_(&l, names[level]);
        puts_(&l, "\",\"msg\":");
        put_quoted(&l, msg);
    } else {
        puts_(&l, when);
        puts_(&l, " ");
        puts_(&l, names[level]);
        puts_(&l, " ");
        puts_(&l, msg);
    }
    for (size_t i = 0; i < n; i++)
        put_field(&l, &fields[i]);
    if (log_format == RCO_LOG_JSON)
        l.text[l.len++] = '}';
    l.text[l.len++] = '\n';
    ignored = write(STDERR_FILENO, l.text, l.len);
    (void)ignored;
}
