/* The engine's event stream (`pulumi preview|up --json` with streaming previews): one JSON object a
 * line, mixed with lines of plugins and programs. Everything here is hostile input. */
#ifndef RCO_PULUMI_EVENTS_H
#define RCO_PULUMI_EVENTS_H

#include "base/arena.h"
#include "pulumi/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer line is not looked at (a resource event carries its whole old and new state). */
#define RCO_EVENT_MAX_LINE (16 * 1024 * 1024)
/* Values in one event: bounds the memory of who reads it to about 50 MiB. */
#define RCO_EVENT_MAX_NODES 500000

enum rco_engine_event_type {
    RCO_EVENT_TEXT,       /* not an event: a line of a plugin or a program */
    RCO_EVENT_BROKEN,     /* looks like an event and cannot be read */
    RCO_EVENT_OTHER,      /* an event that tells nothing about the outcome */
    RCO_EVENT_DIAGNOSTIC, /* message, severity, urn */
    RCO_EVENT_PRELUDE,
    RCO_EVENT_SUMMARY,  /* is_preview, result */
    RCO_EVENT_RESOURCE, /* resourcePreEvent: a step begins; op, urn, type, planning */
    RCO_EVENT_OUTPUTS,  /* resOutputsEvent: a step has succeeded */
    RCO_EVENT_FAILED,   /* resOpFailedEvent: a step has failed */
    RCO_EVENT_POLICY,   /* message, mandatory, urn, policy */
    RCO_EVENT_ERROR,    /* message */
    RCO_EVENT_CANCEL    /* the stream's end */
};

/* Texts are borrowed from the line's arena and may be NULL. */
struct rco_engine_event {
    enum rco_engine_event_type type;
    int64_t sequence;
    int64_t timestamp; /* seconds */
    const char *op, *urn, *resource_type;
    bool planning;
    const char *message, *severity; /* severity: debug, info, info#err, warning, error */
    bool ephemeral;
    bool is_preview;
    const char *result;              /* succeeded, failed, canceled */
    const struct rco_value *changes; /* SUMMARY: operation -> count */
    bool mandatory;                  /* POLICY: enforcement level */
    const char *policy;
    const struct rco_value *metadata; /* of resource events: old, new, detailedDiff */
};

/* Reads one line without its line end. Never fails: what cannot be read is TEXT or BROKEN. */
void rco_event_parse(const char *line, size_t n, struct rco_arena *a, struct rco_engine_event *ret);

/* Whether a line of output only carries text of programs (diagnostics, lines that are no events),
 * judged by its first bytes: N of them suffice from RCO_EVENT_PREFIX on. Such lines may be dropped
 * when there are too many; events may not. */
#define RCO_EVENT_PREFIX 128
bool rco_event_is_chatter(const char *line, size_t n);

/* How an operation counts. */
enum rco_op_class {
    RCO_OP_UNKNOWN, /* no operation of the engine: the stream cannot be trusted */
    RCO_OP_SAME,
    RCO_OP_ADD,
    RCO_OP_CHANGE,
    RCO_OP_DELETE,
    RCO_OP_REPLACE,
    RCO_OP_PART,   /* one half of a replacement: changes something, counted by its REPLACE */
    RCO_OP_NOTHING /* read, refresh, discard */
};

enum rco_op_class rco_op_classify(const char *op);
/* Whether the operation changes infrastructure, and so belongs into operationsDigest. */
bool rco_op_changes(const char *op);

/* Removes the engine's colour markup (`<{%fg 1%}>`) and ANSI escapes, in place; returns the new
 * length. */
size_t rco_event_strip_markup(char *s, size_t n);

#endif
