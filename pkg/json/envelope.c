#include "json/envelope.h"

#include "json/stream.h"

#include <string.h>

#define KEEP_BYTES (256 * 1024) /* a buffer that grew beyond this is given back after its value */

void rco_envelope_init(struct rco_envelope *e, const struct rco_envelope_handler *h)
{
    *e = (struct rco_envelope){.h = *h};
}

void rco_envelope_release(struct rco_envelope *e)
{
    rco_buf_release(&e->text);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Goes through a string from P[I]; returns the index behind its end, or N. */
static size_t frame_string(struct rco_frame *f, const char *p, size_t i, size_t n)
{
    while (i < n && f->in_string) {
        if (f->escaped) {
            f->escaped = false;
            i++;
            continue;
        }
        i += rco_scan_plain(p + i, n - i);
        if (i == n)
            break;
        if (p[i] == '"')
            f->in_string = false;
        f->escaped = p[i] == '\\';
        i++;
    }
    return i;
}

/* Takes what belongs to the value from P; *RET_DONE says that it is complete. */
static size_t frame_feed(struct rco_frame *f, const char *p, size_t n, bool *ret_done)
{
    size_t i = 0;
    *ret_done = false;
    if (!f->started && n) {
        f->started = true;
        f->scalar = p[0] != '{' && p[0] != '[' && p[0] != '"';
    }
    while (i < n) {
        if (f->in_string) {
            i = frame_string(f, p, i, n);
            if (f->in_string)
                return i;
            if (!f->depth) {
                *ret_done = true;
                return i;
            }
            continue;
        }
        char c = p[i];
        if (f->scalar) {
            if (is_space(c) || c == ',' || c == ']' || c == '}') {
                *ret_done = true;
                return i;
            }
            i++;
            continue;
        }
        i++;
        if (c == '"') {
            f->in_string = true;
        } else if (c == '{' || c == '[') {
            f->depth++;
        } else if ((c == '}' || c == ']') && --f->depth == 0) {
            *ret_done = true;
            return i;
        }
    }
    return n;
}

/* Takes a key, a value or an item. *RET_USED bytes were consumed; RET->p is NULL until the text is
 * complete. */
static int take(struct rco_envelope *e, const char *p, size_t n, size_t cap, size_t *ret_used,
                struct rco_span *ret, struct rco_error *err)
{
    bool done;
    size_t used = frame_feed(&e->frame, p, n, &done);
    *ret_used = used;
    *ret = (struct rco_span){0};
    if (e->text.len + used > cap)
        return rco_error_set(err, RCO_ETOOBIG, "a value in the stream is larger than %zu bytes",
                             cap);
    if (done && !e->text.len) { /* the common case: nothing is copied */
        *ret = (struct rco_span){.p = p, .n = used};
        return 0;
    }
    rco_buf_add(&e->text, p, used);
    if (done)
        *ret = (struct rco_span){.p = rco_buf_str(&e->text), .n = e->text.len};
    return 0;
}

static size_t value_cap(const struct rco_envelope *e)
{
    if (e->state == RCO_ENVELOPE_ITEM ||
        (e->state == RCO_ENVELOPE_VALUE && e->h.large_key && strcmp(e->key, e->h.large_key) == 0))
        return RCO_STREAM_MAX_OBJECT;
    return RCO_STREAM_MAX_ENVELOPE;
}

static void set_key(struct rco_envelope *e, struct rco_span text)
{
    size_t n = text.n - 2; /* without the quotes, which its frame made sure of */
    if (n >= sizeof(e->key))
        n = sizeof(e->key) - 1;
    memcpy(e->key, text.p + 1, n);
    e->key[n] = '\0';
    e->state = RCO_ENVELOPE_COLON;
}

/* A complete key, value or item. */
static int dispatch(struct rco_envelope *e, struct rco_span text, struct rco_error *err)
{
    int rc = 0;
    if (e->state == RCO_ENVELOPE_KEY) {
        set_key(e, text);
    } else if (e->state == RCO_ENVELOPE_ITEM) {
        rc = e->h.item(e->h.ctx, text, err);
        e->state = RCO_ENVELOPE_ITEM_COMMA;
    } else {
        bool list = e->h.list_key && strcmp(e->key, e->h.list_key) == 0;
        if (list && (text.n != 4 || memcmp(text.p, "null", 4) != 0))
            return rco_error_set(err, RCO_EINVALID, "%s in the stream is not a list", e->key);
        if (!list)
            rc = e->h.value(e->h.ctx, text, err);
        e->saw_list |= list;
        e->state = RCO_ENVELOPE_COMMA_OR_END;
    }
    if (e->text.size > KEEP_BYTES)
        rco_buf_release(&e->text);
    rco_buf_clear(&e->text);
    e->frame = (struct rco_frame){0};
    return rc;
}

static int end_object(struct rco_envelope *e, struct rco_error *err)
{
    e->state = e->h.repeat ? RCO_ENVELOPE_START : RCO_ENVELOPE_END;
    return e->h.end(e->h.ctx, err);
}

static bool begins_list(const struct rco_envelope *e, char c)
{
    return c == '[' && e->h.list_key && strcmp(e->key, e->h.list_key) == 0;
}

/* One byte of punctuation. Returns 1 when it was consumed, 0 when it begins a key, value or item.
 */
static int punctuate(struct rco_envelope *e, char c, struct rco_error *err)
{
    switch (e->state) {
    case RCO_ENVELOPE_START:
        if (c != '{')
            break;
        e->state = RCO_ENVELOPE_KEY_OR_END;
        return 1;
    case RCO_ENVELOPE_KEY_OR_END:
    case RCO_ENVELOPE_KEY:
        if (c == '}' && e->state == RCO_ENVELOPE_KEY_OR_END)
            return end_object(e, err) < 0 ? -1 : 1;
        if (c != '"')
            break;
        e->state = RCO_ENVELOPE_KEY;
        return 0;
    case RCO_ENVELOPE_COLON:
        if (c != ':')
            break;
        e->state = RCO_ENVELOPE_VALUE;
        return 1;
    case RCO_ENVELOPE_VALUE:
        if (!begins_list(e, c))
            return 0;
        if (e->saw_list)
            return rco_error_set(err, RCO_EINVALID, "%s stands twice in the stream", e->key);
        e->saw_list = true;
        e->state = RCO_ENVELOPE_ITEM_OR_END;
        return 1;
    case RCO_ENVELOPE_COMMA_OR_END:
        if (c == '}')
            return end_object(e, err) < 0 ? -1 : 1;
        if (c != ',')
            break;
        e->state = RCO_ENVELOPE_KEY;
        return 1;
    case RCO_ENVELOPE_ITEM_OR_END:
    case RCO_ENVELOPE_ITEM_COMMA:
        if (c == ']') {
            e->state = RCO_ENVELOPE_COMMA_OR_END;
            return 1;
        }
        if (e->state == RCO_ENVELOPE_ITEM_COMMA && c != ',')
            break;
        int consumed = e->state == RCO_ENVELOPE_ITEM_COMMA;
        e->state = RCO_ENVELOPE_ITEM;
        return consumed;
    case RCO_ENVELOPE_ITEM:
        return 0;
    case RCO_ENVELOPE_END:
        break;
    }
    return rco_error_set(err, RCO_EINVALID, "the stream has an unexpected byte 0x%02x",
                         (unsigned)(unsigned char)c);
}

static int feed(struct rco_envelope *e, const char *p, size_t n, struct rco_error *err)
{
    const char *end = p + n;
    while (p < end) {
        if (!e->frame.started) {
            if (is_space(*p)) {
                p++;
                continue;
            }
            int consumed = punctuate(e, *p, err);
            if (consumed < 0)
                return -1;
            if (consumed) {
                p++;
                continue;
            }
            if (strchr(",:]}", *p))
                return rco_error_set(err, RCO_EINVALID, "the stream lacks a value");
        }
        struct rco_span text;
        size_t used;
        if (take(e, p, (size_t)(end - p), value_cap(e), &used, &text, err) < 0)
            return -1;
        p += used;
        if (text.p && dispatch(e, text, err) < 0)
            return -1;
    }
    return 0;
}

int rco_envelope_feed(struct rco_envelope *e, const char *bytes, size_t n, struct rco_error *err)
{
    if (e->failed)
        return rco_error_set(err, RCO_EINVALID, "the stream was broken before");
    if (feed(e, bytes, n, err) == 0)
        return 0;
    e->failed = true;
    return -1;
}
