#include "json/writer.h"

#include "base/str.h"
#include "json/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rco_json_writer_init(struct rco_json_writer *w, struct rco_buf *out)
{
    w->out = out;
    w->depth = 0;
    w->need_comma = false;
    w->after_key = false;
}

/* Before each value or key: the comma, where one belongs. */
static void separate(struct rco_json_writer *w)
{
    if (w->need_comma && !w->after_key)
        rco_buf_addc(w->out, ',');
    w->after_key = false;
    w->need_comma = true;
}

static void begin(struct rco_json_writer *w, char open)
{
    separate(w);
    assert(w->depth < RCO_JSON_WRITER_DEPTH);
    w->kind[w->depth++] = (unsigned char)open;
    rco_buf_addc(w->out, open);
    w->need_comma = false;
}

static void end(struct rco_json_writer *w, char open, char close)
{
    assert(w->depth > 0 && w->kind[w->depth - 1] == (unsigned char)open && !w->after_key);
    (void)open;
    w->depth--;
    rco_buf_addc(w->out, close);
    w->need_comma = true;
}

void rco_json_begin_object(struct rco_json_writer *w)
{
    begin(w, '{');
}

void rco_json_end_object(struct rco_json_writer *w)
{
    end(w, '{', '}');
}

void rco_json_begin_array(struct rco_json_writer *w)
{
    begin(w, '[');
}

void rco_json_end_array(struct rco_json_writer *w)
{
    end(w, '[', ']');
}

/* Appends what must stand for the special byte at P; returns how many bytes of P it covers. */
static size_t add_special(struct rco_buf *out, const char *p, size_t n)
{
    unsigned char c = (unsigned char)*p;
    if (c >= 0x80) {
        size_t len = rco_utf8_length((const unsigned char *)p, n);
        if (len)
            rco_buf_add(out, p, len);
        else
            rco_buf_adds(out, "\xef\xbf\xbd");
        return len ? len : 1;
    }
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        rco_buf_addc(out, '\\');
        rco_buf_addc(out, to[known - from]);
    } else {
        rco_buf_addf(out, "\\u%04x", c);
    }
    return 1;
}

static void add_quoted(struct rco_buf *out, const char *s, size_t n)
{
    rco_buf_addc(out, '"');
    while (n) {
        size_t plain = rco_scan_plain(s, n);
        rco_buf_add(out, s, plain);
        s += plain;
        n -= plain;
        if (!n)
            break;
        size_t taken = add_special(out, s, n);
        s += taken;
        n -= taken;
    }
    rco_buf_addc(out, '"');
}

void rco_json_key(struct rco_json_writer *w, const char *key)
{
    assert(w->depth > 0 && w->kind[w->depth - 1] == '{' && !w->after_key);
    separate(w);
    add_quoted(w->out, key, strlen(key));
    rco_buf_addc(w->out, ':');
    w->after_key = true;
}

void rco_json_string_n(struct rco_json_writer *w, const char *s, size_t n)
{
    separate(w);
    add_quoted(w->out, s, n);
}

void rco_json_string(struct rco_json_writer *w, const char *s)
{
    if (s)
        rco_json_string_n(w, s, strlen(s));
    else
        rco_json_null(w);
}

void rco_json_int(struct rco_json_writer *w, int64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRId64, v);
    separate(w);
    rco_buf_add(w->out, text, (size_t)n);
}

void rco_json_bool(struct rco_json_writer *w, bool v)
{
    separate(w);
    rco_buf_adds(w->out, v ? "true" : "false");
}

void rco_json_null(struct rco_json_writer *w)
{
    separate(w);
    rco_buf_adds(w->out, "null");
}

void rco_json_raw(struct rco_json_writer *w, const char *json, size_t n)
{
    separate(w);
    rco_buf_add(w->out, json, n);
}

void rco_json_kv_string(struct rco_json_writer *w, const char *key, const char *s)
{
    rco_json_key(w, key);
    rco_json_string(w, s);
}

void rco_json_kv_string_opt(struct rco_json_writer *w, const char *key, const char *s)
{
    if (s && *s)
        rco_json_kv_string(w, key, s);
}

void rco_json_kv_int(struct rco_json_writer *w, const char *key, int64_t v)
{
    rco_json_key(w, key);
    rco_json_int(w, v);
}

void rco_json_kv_bool(struct rco_json_writer *w, const char *key, bool v)
{
    rco_json_key(w, key);
    rco_json_bool(w, v);
}

void rco_json_kv_object(struct rco_json_writer *w, const char *key)
{
    rco_json_key(w, key);
    rco_json_begin_object(w);
}

void rco_json_kv_array(struct rco_json_writer *w, const char *key)
{
    rco_json_key(w, key);
    rco_json_begin_array(w);
}
