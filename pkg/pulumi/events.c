#include "pulumi/events.h"

#include "base/str.h"

#include <string.h>

struct event_name {
    const char *name;
    enum rco_engine_event_type type;
};

static const struct event_name event_names[] = {
    {"diagnosticEvent", RCO_EVENT_DIAGNOSTIC},
    {"resourcePreEvent", RCO_EVENT_RESOURCE},
    {"resOutputsEvent", RCO_EVENT_OUTPUTS},
    {"resOpFailedEvent", RCO_EVENT_FAILED},
    {"summaryEvent", RCO_EVENT_SUMMARY},
    {"preludeEvent", RCO_EVENT_PRELUDE},
    {"policyEvent", RCO_EVENT_POLICY},
    {"errorEvent", RCO_EVENT_ERROR},
    {"cancelEvent", RCO_EVENT_CANCEL},
    {"stdoutEvent", RCO_EVENT_OTHER},
    {"progressEvent", RCO_EVENT_OTHER},
    {"policyRemediationEvent", RCO_EVENT_OTHER},
    {"policyLoadEvent", RCO_EVENT_OTHER},
    {"policyAnalyzeSummaryEvent", RCO_EVENT_OTHER},
    {"policyRemediateSummaryEvent", RCO_EVENT_OTHER},
    {"policyAnalyzeStackSummaryEvent", RCO_EVENT_OTHER},
    {"startDebuggingEvent", RCO_EVENT_OTHER},
};

static const char event_start[] = "{\"sequence\":";

static bool looks_like_event(const char *line, size_t n)
{
    return n >= sizeof(event_start) - 1 && memcmp(line, event_start, sizeof(event_start) - 1) == 0;
}

static void read_resource(const struct rco_value *body, struct rco_engine_event *e)
{
    const struct rco_value *m = rco_value_get(body, "metadata");
    e->metadata = m;
    e->op = rco_value_text(m, "op");
    e->urn = rco_value_text(m, "urn");
    e->resource_type = rco_value_text(m, "type");
    e->planning = rco_value_bool(body, "planning");
    if (!e->op || !e->urn || !e->resource_type)
        e->type = RCO_EVENT_BROKEN;
}

static void read_body(const struct rco_value *body, struct rco_engine_event *e)
{
    switch (e->type) {
    case RCO_EVENT_RESOURCE:
    case RCO_EVENT_OUTPUTS:
    case RCO_EVENT_FAILED:
        read_resource(body, e);
        break;
    case RCO_EVENT_DIAGNOSTIC:
        e->message = rco_value_text(body, "message");
        e->severity = rco_value_text(body, "severity");
        e->urn = rco_value_text(body, "urn");
        e->ephemeral = rco_value_bool(body, "ephemeral");
        break;
    case RCO_EVENT_SUMMARY:
        e->is_preview = rco_value_bool(body, "isPreview");
        e->result = rco_value_text(body, "result");
        e->changes = rco_value_get(body, "resourceChanges");
        break;
    case RCO_EVENT_POLICY:
        e->message = rco_value_text(body, "message");
        e->urn = rco_value_text(body, "resourceUrn");
        e->policy = rco_value_text(body, "policyName");
        e->mandatory = rco_streq(rco_value_text(body, "enforcementLevel"), "mandatory");
        break;
    case RCO_EVENT_ERROR:
        e->message = rco_value_text(body, "error");
        break;
    default:
        break;
    }
}

/* The line with U+FFFD for each NUL, which a text of C cannot hold; a program that prints binary
 * makes such lines. The line itself when it has none. */
static const char *without_nul(const char *line, size_t n, struct rco_arena *a)
{
    if (!memmem(line, n, "\\u0000", 6))
        return line;
    char *copy = rco_arena_strndup(a, line, n);
    for (size_t i = 0; i + 1 < n; i++) {
        if (copy[i] != '\\')
            continue;
        i++; /* what is escaped, also another backslash */
        if (n - i >= 5 && memcmp(copy + i, "u0000", 5) == 0)
            memcpy(copy + i, "ufffd", 5);
    }
    return copy;
}

void rco_event_parse(const char *line, size_t n, struct rco_arena *a, struct rco_engine_event *ret)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    *ret = (struct rco_engine_event){.type = RCO_EVENT_TEXT};
    if (!looks_like_event(line, n))
        return;
    ret->type = RCO_EVENT_BROKEN;
    if (n > RCO_EVENT_MAX_LINE ||
        rco_value_parse_capped(without_nul(line, n, a), n, RCO_EVENT_MAX_NODES, a, &v, &err) < 0)
        return;
    ret->type = RCO_EVENT_OTHER; /* an event of a later engine */
    ret->sequence = rco_value_int(v, "sequence", -1);
    ret->timestamp = rco_value_int(v, "timestamp", 0);
    for (size_t i = 0; i < RCO_ARRAY_LEN(event_names); i++) {
        const struct rco_value *body = rco_value_get(v, event_names[i].name);
        if (!body)
            continue;
        ret->type = event_names[i].type;
        read_body(body, ret);
        break;
    }
}

/* Skips TEXT and a number behind it; NULL when they are not there. */
static const char *skip_number(const char *at, const char *end, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(end - at) < n || memcmp(at, text, n) != 0)
        return NULL;
    at += n;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

bool rco_event_is_chatter(const char *line, size_t n)
{
    static const char *const chatter[] = {
        ",\"diagnosticEvent\":", ",\"stdoutEvent\":", ",\"progressEvent\":"};
    if (!looks_like_event(line, n))
        return true;
    /* The engine writes sequence, timestamp and then the one event. Whatever looks otherwise is
     * kept: a name that a program chose must not make an event disappear. */
    const char *end = line + n, *at = skip_number(line, end, event_start);
    at = at ? skip_number(at, end, ",\"timestamp\":") : NULL;
    for (size_t i = 0; at && i < RCO_ARRAY_LEN(chatter); i++)
        if ((size_t)(end - at) >= strlen(chatter[i]) &&
            memcmp(at, chatter[i], strlen(chatter[i])) == 0)
            return true;
    return false;
}

static const struct {
    const char *op;
    enum rco_op_class class;
} ops[] = {
    {"same", RCO_OP_SAME},
    {"create", RCO_OP_ADD},
    {"import", RCO_OP_ADD},
    {"update", RCO_OP_CHANGE},
    {"delete", RCO_OP_DELETE},
    {"replace", RCO_OP_REPLACE},
    {"create-replacement", RCO_OP_PART},
    {"delete-replaced", RCO_OP_PART},
    {"import-replacement", RCO_OP_PART},
    {"read-replacement", RCO_OP_PART},
    {"discard-replaced", RCO_OP_PART},
    {"remove-pending-replace", RCO_OP_PART},
    {"read", RCO_OP_NOTHING},
    {"refresh", RCO_OP_NOTHING},
    {"discard", RCO_OP_NOTHING},
};

enum rco_op_class rco_op_classify(const char *op)
{
    for (size_t i = 0; op && i < RCO_ARRAY_LEN(ops); i++)
        if (strcmp(ops[i].op, op) == 0)
            return ops[i].class;
    return RCO_OP_UNKNOWN;
}

bool rco_op_changes(const char *op)
{
    switch (rco_op_classify(op)) {
    case RCO_OP_ADD:
    case RCO_OP_CHANGE:
    case RCO_OP_DELETE:
    case RCO_OP_REPLACE:
    case RCO_OP_PART:
        return true;
    default:
        return false;
    }
}

/* Length of the markup or escape sequence at S, 0 when there is none. */
static size_t markup_len(const char *s, size_t n)
{
    if (n >= 5 && memcmp(s, "<{%", 3) == 0) {
        const char *end = memmem(s, n > 64 ? 64 : n, "%}>", 3);
        return end ? (size_t)(end - s) + 3 : 0;
    }
    if (n >= 2 && s[0] == '\033' && s[1] == '[') {
        size_t i = 2;
        while (i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x40)
            i++;
        return i < n ? i + 1 : n;
    }
    return 0;
}

size_t rco_event_strip_markup(char *s, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n;) {
        size_t skip = markup_len(s + i, n - i);
        if (skip) {
            i += skip;
            continue;
        }
        s[out++] = s[i++];
    }
    return out;
}
