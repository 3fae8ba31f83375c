#include "stream.h"

#include "base/file.h"
#include "base/str.h"
#include "pulumi/events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define BEGINNING_MAX (64 * 1024)

struct rco_stream {
    int fd;
    struct rco_mask_stream *mask;
    struct rco_buf masked; /* out of the mask, not yet looked at */
    struct rco_buf line;   /* the current line so far */
    bool skipping;         /* the rest of the current line is left out */
    struct rco_buf tail;   /* text behind the head */
    struct rco_buf beginning;
    size_t text;      /* bytes of text written */
    long long events; /* bytes of events written */
    size_t left_out;  /* bytes of text */
    bool cut, events_cut;
};

struct rco_stream *rco_stream_new(const char *path, struct rco_mask *mask, struct rco_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        rco_error_errno(err, errno, "make %s", path);
        return NULL;
    }
    struct rco_stream *s = rco_calloc(1, sizeof(*s));
    s->fd = fd;
    s->mask = rco_mask_stream_new(mask);
    return s;
}

void rco_stream_free(struct rco_stream *s)
{
    if (!s)
        return;
    close(s->fd);
    rco_mask_stream_free(s->mask);
    rco_buf_release(&s->masked);
    rco_buf_release(&s->line);
    rco_buf_release(&s->tail);
    rco_buf_release(&s->beginning);
    free(s);
}

static int put_text(struct rco_stream *s, const char *line, size_t n, struct rco_error *err)
{
    if (s->beginning.len < BEGINNING_MAX)
        rco_buf_add(&s->beginning, line, n);
    if (s->text + n <= RCO_STREAM_HEAD && s->tail.len == 0) {
        s->text += n;
        return rco_fd_write_all(s->fd, line, n, err);
    }
    rco_buf_add(&s->tail, line, n);
    if (s->tail.len > 2 * RCO_STREAM_TAIL) { /* moving it costs its length: not for each line */
        size_t drop = s->tail.len - RCO_STREAM_TAIL;
        const char *nl = memchr(s->tail.data + drop, '\n', s->tail.len - drop);
        drop = nl ? (size_t)(nl + 1 - s->tail.data) : drop;
        rco_buf_consume(&s->tail, drop);
        s->left_out += drop;
        s->cut = true;
    }
    return 0;
}

static int put_event(struct rco_stream *s, const char *line, size_t n, struct rco_error *err)
{
    if (s->events + (long long)n > RCO_STREAM_MAX_EVENTS) {
        s->events_cut = true;
        return 0;
    }
    s->events += (long long)n;
    return rco_fd_write_all(s->fd, line, n, err);
}

/* A complete line with its line end. */
static int put_line(struct rco_stream *s, struct rco_error *err)
{
    int rc;
    if (!rco_event_is_chatter(s->line.data, s->line.len)) {
        rc = put_event(s, s->line.data, s->line.len, err);
    } else {
        if (s->line.len >
            RCO_STREAM_MAX_TEXT) { /* a diagnostic in one long line: no event any more */
            s->left_out += s->line.len - RCO_STREAM_MAX_TEXT;
            s->line.len = RCO_STREAM_MAX_TEXT;
            s->line.data[s->line.len - 1] = '\n';
            s->cut = true;
        }
        rc = put_text(s, s->line.data, s->line.len, err);
    }
    rco_buf_clear(&s->line);
    return rc;
}

/* The line is longer than anything we keep and has no end yet. */
static int give_up_line(struct rco_stream *s, struct rco_error *err)
{
    bool chatter = rco_event_is_chatter(s->line.data, s->line.len);
    if (s->line.len <= (chatter ? RCO_STREAM_MAX_TEXT : RCO_EVENT_MAX_LINE))
        return 0;
    s->skipping = true;
    if (!chatter) {
        s->events_cut = true;
        rco_buf_clear(&s->line);
        return 0;
    }
    rco_buf_addc(&s->line, '\n');
    return put_line(s, err);
}

static int split(struct rco_stream *s, struct rco_error *err)
{
    const char *at = s->masked.data;
    size_t left = s->masked.len;
    int rc = 0;
    while (left > 0 && rc == 0) {
        const char *nl = memchr(at, '\n', left);
        size_t n = nl ? (size_t)(nl - at) + 1 : left;
        if (s->skipping) {
            s->left_out += n;
            s->cut = true;
            s->skipping = !nl;
        } else {
            rco_buf_add(&s->line, at, n);
            rc = nl ? put_line(s, err) : give_up_line(s, err);
        }
        at += n;
        left -= n;
    }
    rco_buf_clear(&s->masked);
    return rc;
}

int rco_stream_feed(struct rco_stream *s, const void *bytes, size_t n, struct rco_error *err)
{
    rco_mask_stream_feed(s->mask, bytes, n, &s->masked);
    return s->masked.len ? split(s, err) : 0;
}

static int put_tail(struct rco_stream *s, struct rco_error *err)
{
    rco_autobuf note = RCO_BUF_INIT;
    if (s->tail.len > RCO_STREAM_TAIL) {
        size_t drop = s->tail.len - RCO_STREAM_TAIL;
        rco_buf_consume(&s->tail, drop);
        s->left_out += drop;
        s->cut = true;
    }
    if (s->cut) {
        rco_buf_addf(&note, "... %zu bytes of output left out ...\n", s->left_out);
        if (rco_fd_write_all(s->fd, note.data, note.len, err) < 0)
            return -1;
    }
    return s->tail.len ? rco_fd_write_all(s->fd, s->tail.data, s->tail.len, err) : 0;
}

int rco_stream_finish(struct rco_stream *s, struct rco_error *err)
{
    rco_mask_stream_finish(s->mask, &s->masked);
    if (s->masked.len && split(s, err) < 0)
        return -1;
    if (s->line.len) { /* without a line end */
        rco_buf_addc(&s->line, '\n');
        if (put_line(s, err) < 0)
            return -1;
    }
    int rc = put_tail(s, err);
    rco_buf_clear(&s->tail);
    return rc;
}

bool rco_stream_text_cut(const struct rco_stream *s)
{
    return s->cut;
}

bool rco_stream_events_cut(const struct rco_stream *s)
{
    return s->events_cut;
}

const struct rco_buf *rco_stream_beginning(const struct rco_stream *s)
{
    return &s->beginning;
}
