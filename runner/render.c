#include "render.h"

#include "base/map.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 200 /* bytes of one value in a diff */
#define PATHS_MAX 100 /* paths of one resource */

void rco_render_log_release(struct rco_render_log *l)
{
    rco_buf_release(&l->head);
    rco_buf_release(&l->tail);
}

void rco_render_printable(const char *text, size_t n, struct rco_buf *out)
{
    bool replaced = false;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        size_t len = c < 0x80 ? 1 : rco_utf8_length((const unsigned char *)text + i, n - i);
        if (len == 0) { /* one mark for a run of them */
            if (!replaced)
                rco_buf_adds(out, "\xef\xbf\xbd");
            replaced = true;
            i++;
            continue;
        }
        replaced = false;
        if (c >= 0x20 ? c != 0x7f : c == '\n' || c == '\t')
            rco_buf_add(out, text + i, len);
        i += len;
    }
}

void rco_render_log_text(struct rco_render_log *l, const char *text, size_t n)
{
    rco_autobuf clean = RCO_BUF_INIT;
    rco_render_printable(text, n, &clean);
    if (l->on_text && clean.len)
        l->on_text(l->ctx, clean.data, clean.len);
    if (l->head.len + clean.len <= RCO_LOG_HEAD && l->tail.len == 0) {
        rco_buf_add(&l->head, clean.data, clean.len);
        return;
    }
    rco_buf_add(&l->tail, clean.data, clean.len);
    if (l->tail.len > 2 * RCO_LOG_TAIL) {
        size_t drop = l->tail.len - RCO_LOG_TAIL;
        const char *nl = memchr(l->tail.data + drop, '\n', l->tail.len - drop);
        drop = nl ? (size_t)(nl + 1 - l->tail.data) : drop;
        rco_buf_consume(&l->tail, drop);
        l->left_out += drop;
    }
}

static void add_line(struct rco_render_log *l, struct rco_buf *line)
{
    line->len = line->len ? rco_event_strip_markup(line->data, line->len) : 0;
    while (line->len && (line->data[line->len - 1] == '\n' || line->data[line->len - 1] == ' '))
        line->len--;
    rco_buf_addc(line, '\n');
    rco_render_log_text(l, line->data, line->len);
}

/* The resource's name, at the end of its URN. */
static const char *name_of(const char *urn)
{
    const char *name = urn, *at;
    while ((at = strstr(name, "::")))
        name = at + 2;
    return name;
}

/* "kubernetes:core/v1:ConfigMap app" */
static void add_resource(const struct rco_engine_event *e, struct rco_buf *out)
{
    rco_buf_addf(out, "%s %s", e->resource_type, name_of(e->urn));
}

/* Whether what a provider says while it waits ("0/1 Pods available") is new: it says the same again
 * and again, of several resources in turn. */
static bool is_new_progress(struct rco_render_log *l, const struct rco_engine_event *e)
{
    uint64_t hash = rco_hash(e->message, strlen(e->message), rco_hash(e->urn, strlen(e->urn), 0));
    for (size_t i = 0; i < RCO_ARRAY_LEN(l->progress); i++)
        if (l->progress[i] == hash)
            return false;
    if (l->progress_count >= RCO_LOG_PROGRESS_MAX)
        return false;
    l->progress[l->progress_count++ % RCO_ARRAY_LEN(l->progress)] = hash;
    return true;
}

static bool add_diagnostic(struct rco_render_log *l, const struct rco_engine_event *e,
                           struct rco_buf *out)
{
    if (rco_streq(e->severity, "debug") || rco_str_empty(e->message))
        return false;
    if (e->ephemeral) {
        if (rco_str_empty(e->urn) || !is_new_progress(l, e))
            return false;
        rco_buf_addf(out, "  %s: %s", name_of(e->urn), e->message);
        return true;
    }
    if (rco_streq(e->severity, "error") || rco_streq(e->severity, "warning"))
        rco_buf_addf(out, "%s: ", e->severity);
    rco_buf_adds(out, e->message);
    return true;
}

static const char *sign(const char *op)
{
    switch (rco_op_classify(op)) {
    case RCO_OP_ADD:
        return "+";
    case RCO_OP_CHANGE:
        return "~";
    case RCO_OP_DELETE:
        return "-";
    case RCO_OP_REPLACE:
        return "+-";
    case RCO_OP_PART:
        return strcmp(op, "create-replacement") == 0 ? "++" : "--";
    default:
        return " ";
    }
}

static void add_changes(const struct rco_value *changes, struct rco_buf *out)
{
    for (const struct rco_value *c = changes && changes->type == RCO_VALUE_OBJECT ? changes->first
                                                                                  : NULL;
         c; c = c->next)
        if (c->type == RCO_VALUE_NUMBER)
            rco_buf_addf(out, "%s %s %s", c == changes->first ? ":" : ",", c->text, c->key);
}

void rco_render_log_event(struct rco_render_log *l, const struct rco_engine_event *e,
                          const char *line, size_t n)
{
    rco_autobuf text = RCO_BUF_INIT;
    switch (e->type) {
    case RCO_EVENT_TEXT:
        rco_buf_add(&text, line, n);
        break;
    case RCO_EVENT_BROKEN:
        rco_buf_adds(&text, "(an event of the engine could not be read)");
        break;
    case RCO_EVENT_DIAGNOSTIC:
        if (!add_diagnostic(l, e, &text))
            return;
        break;
    case RCO_EVENT_RESOURCE:
        if (rco_op_classify(e->op) == RCO_OP_SAME || !e->op)
            return;
        rco_buf_addf(&text, "%s %s ", sign(e->op), e->op);
        add_resource(e, &text);
        rco_buf_adds(&text, e->planning ? " (preview)" : "");
        break;
    case RCO_EVENT_FAILED:
        rco_buf_addf(&text, "! %s failed: ", e->op);
        add_resource(e, &text);
        break;
    case RCO_EVENT_SUMMARY:
        rco_buf_addf(&text, "%s %s", e->is_preview ? "preview" : "update",
                     rco_str_or_empty(e->result));
        add_changes(e->changes, &text);
        break;
    case RCO_EVENT_POLICY:
        rco_buf_addf(&text, "policy %s%s: %s", rco_str_or_empty(e->policy),
                     e->mandatory ? " (mandatory)" : "", rco_str_or_empty(e->message));
        break;
    case RCO_EVENT_ERROR:
        rco_buf_addf(&text, "error: %s", rco_str_or_empty(e->message));
        break;
    default:
        return;
    }
    add_line(l, &text);
}

bool rco_render_log_finish(struct rco_render_log *l, struct rco_buf *out)
{
    if (l->tail.len > RCO_LOG_TAIL) {
        l->left_out += l->tail.len - RCO_LOG_TAIL;
        rco_buf_consume(&l->tail, l->tail.len - RCO_LOG_TAIL);
    }
    rco_buf_add(out, l->head.data, l->head.len);
    if (l->left_out)
        rco_buf_addf(out, "... %zu bytes left out ...\n", l->left_out);
    rco_buf_add(out, l->tail.data, l->tail.len);
    return l->left_out > 0;
}

/* The value at PATH ("spec.ports[0].name", "data[\"a.b\"]") below V, or NULL. */
static const struct rco_value *lookup(const struct rco_value *v, const char *path)
{
    while (v && *path) {
        char key[256];
        size_t n = 0;
        if (*path == '.')
            path++;
        if (path[0] == '[' && path[1] == '"') {
            for (path += 2; *path && !(path[0] == '"' && path[1] == ']') && n < sizeof(key) - 1;
                 path++)
                key[n++] = *path;
            path += *path ? 2 : 0;
        } else if (*path == '[') {
            char *end;
            unsigned long i = strtoul(path + 1, &end, 10);
            if (v->type != RCO_VALUE_ARRAY || *end != ']')
                return NULL;
            for (v = v->first; v && i > 0; i--)
                v = v->next;
            path = end + 1;
            continue;
        } else {
            while (*path && *path != '.' && *path != '[' && n < sizeof(key) - 1)
                key[n++] = *path++;
        }
        if (n == 0)
            return NULL;
        key[n] = '\0';
        v = rco_value_get(v, key);
    }
    return v;
}

/* Marks of Pulumi's own value kinds, so that a person sees no raw signature. */
static const char secret_key[] = "4dabf18193072939515e22adb298388d";

static void add_value(const struct rco_value *v, struct rco_buf *out)
{
    rco_autobuf text = RCO_BUF_INIT;
    if (!v) {
        rco_buf_adds(out, "(none)");
        return;
    }
    if (rco_value_get(v, secret_key)) {
        rco_buf_adds(out, "[secret]");
        return;
    }
    rco_value_write(v, &text);
    if (text.len > VALUE_MAX) {
        text.len = rco_utf8_cut(text.data, VALUE_MAX);
        rco_render_printable(text.data, text.len, out);
        rco_buf_adds(out, " ...");
        return;
    }
    rco_render_printable(text.data, text.len, out);
}

static void add_detail(const struct rco_value *metadata, const struct rco_value *detail,
                       struct rco_buf *out)
{
    const struct rco_value *old = rco_value_get(metadata, "old"),
                           *new = rco_value_get(metadata, "new");
    size_t n = 0;
    for (const struct rco_value *d = detail->first; d; d = d->next) {
        const char *kind = rco_value_text(d, "diffKind");
        if (++n > PATHS_MAX) {
            rco_buf_addf(out, "    ... %zu more\n", detail->len - PATHS_MAX);
            return;
        }
        const char *from = rco_value_bool(d, "inputDiff") ? "inputs" : "outputs";
        rco_buf_addf(out, "    %s ", rco_str_or_empty(kind));
        rco_render_printable(d->key, strlen(d->key), out);
        rco_buf_adds(out, ": ");
        add_value(lookup(rco_value_get(old, from), d->key), out);
        rco_buf_adds(out, " => ");
        add_value(lookup(rco_value_get(new, "inputs"), d->key), out);
        rco_buf_addc(out, '\n');
    }
}

static void add_inputs(const struct rco_value *inputs, struct rco_buf *out)
{
    size_t n = 0;
    for (const struct rco_value *v = inputs && inputs->type == RCO_VALUE_OBJECT ? inputs->first
                                                                                : NULL;
         v; v = v->next) {
        if (strncmp(v->key, "__", 2) == 0)
            continue;
        if (++n > PATHS_MAX)
            return;
        rco_buf_adds(out, "    ");
        rco_render_printable(v->key, strlen(v->key), out);
        rco_buf_adds(out, ": ");
        add_value(v, out);
        rco_buf_addc(out, '\n');
    }
}

bool rco_render_diff(const struct rco_engine_event *e, struct rco_buf *out)
{
    enum rco_op_class class = rco_op_classify(e->op);
    if (e->type != RCO_EVENT_RESOURCE || !rco_op_changes(e->op) || class == RCO_OP_PART)
        return true;
    rco_autobuf text = RCO_BUF_INIT;
    const struct rco_value *detail = rco_value_get(e->metadata, "detailedDiff");
    rco_buf_addf(&text, "%s %s ", sign(e->op), e->op);
    rco_render_printable(e->urn, strlen(e->urn), &text);
    rco_buf_addc(&text, '\n');
    if (detail && detail->type == RCO_VALUE_OBJECT && detail->len)
        add_detail(e->metadata, detail, &text);
    else if (class == RCO_OP_ADD)
        add_inputs(rco_value_get(rco_value_get(e->metadata, "new"), "inputs"), &text);
    if (out->len + text.len > RCO_DIFF_MAX)
        return false;
    rco_buf_add(out, text.data, text.len);
    return true;
}
