#include "pulumi/diagnostics.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What the engine says when a language host ended by itself. */
#define HOST_IS_GONE "error reading from server"

/* Whether LINE only says that something failed. */
static bool is_generic(const char *line)
{
    static const char *const generic[] = {
        "update failed",
        "preview failed",
        "destroy failed",
        "error: update failed",
        "error: preview failed",
        "an unhandled error occurred",
        HOST_IS_GONE /* its own last words say more */
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(generic); i++)
        if (rco_str_has_prefix(line, generic[i]))
            return true;
    return false;
}

static char *trim(char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '*' || *s == '\r')
        s++;
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]); n--)
        s[n - 1] = '\0';
    return s;
}

/* Where a traceback of Python names the exception: the first line behind the last traceback that is
 * not indented. NULL when there is none. */
static char *exception_line(char *text)
{
    static const char mark[] = "Traceback (most recent call last):";
    char *last = NULL;
    for (char *at = strstr(text, mark); at; at = strstr(at + 1, mark))
        last = at;
    char *nl = last ? strchr(last, '\n') : NULL;
    while (nl && (nl[1] == ' ' || nl[1] == '\n'))
        nl = strchr(nl + 1, '\n');
    return nl && nl[1] ? nl + 1 : NULL;
}

/* Whether LINE is the head of a list of errors: "4 errors occurred:", also behind other words. */
static bool is_list_head(const char *line)
{
    return rco_str_has_suffix(line, "1 error occurred:") ||
           rco_str_has_suffix(line, " errors occurred:");
}

/* Ends OUT at its cap, not within a character. */
static void cut(struct rco_buf *out, size_t max)
{
    if (out->len <= max)
        return;
    out->len = rco_utf8_cut(out->data, max);
    out->data[out->len] = '\0';
}

static bool is_point(const char *line)
{
    return line[strspn(line, " \t")] == '*';
}

/* Points of a list that are told; further ones are left out. */
#define MAX_POINTS 16
/* Bytes of a point from which on no further line is added to it. */
#define MAX_POINT (2 * RCO_DIAGNOSTICS_MAX_SENTENCE)

/* The points in TEXT, each with the lines that follow it up to the next point or an empty line: how
 * a container ended stands there. Returns how many there are. */
static size_t find_points(struct rco_arena *a, char *text, const char *points[static MAX_POINTS])
{
    size_t n = 0;
    bool inside = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        bool point = is_point(line);
        char *words = trim(line);
        if (point && is_list_head(words))
            continue;
        if (point || !*words)
            inside = point && n < MAX_POINTS;
        if (inside && point)
            points[n++] = words;
        else if (inside && strlen(points[n - 1]) < MAX_POINT)
            points[n - 1] = rco_arena_printf(a, "%s %s", points[n - 1], words);
    }
    return n;
}

/* The greatest length that all points may have so that they fit together; shorter ones leave their
 * room to longer ones. */
static size_t room_of_each(const char *const *points, size_t n)
{
    size_t each = RCO_DIAGNOSTICS_MAX_SENTENCE, sum;
    do {
        sum = 2 * n; /* what stands between them */
        for (size_t i = 0; i < n; i++)
            sum += strnlen(points[i], each);
    } while (sum > RCO_DIAGNOSTICS_MAX_SENTENCE && each-- > 0);
    return each;
}

/* POINT with its middle left out when it has no room: it begins with the subject, and the cause is
 * at its end. */
static void add_shortened(struct rco_buf *out, const char *point, size_t room)
{
    static const char gap[] = "…";
    size_t n = strlen(point);
    if (n <= room) {
        rco_buf_adds(out, point);
        return;
    }
    size_t keep = room - (sizeof(gap) - 1); /* MAX_POINTS of them have room for more than that */
    size_t head = rco_utf8_cut(point, keep / 2), tail = n - keep / 2;
    while (tail < n && ((unsigned char)point[tail] & 0xc0) == 0x80)
        tail++;
    rco_buf_add(out, point, head);
    rco_buf_adds(out, gap);
    rco_buf_adds(out, point + tail);
}

/* The points of the list of errors in TEXT: the first says which resource, later ones say the cause
 * (a container that cannot start). Returns whether there is one. */
static bool add_points(struct rco_arena *a, struct rco_buf *out, char *text)
{
    const char *points[MAX_POINTS];
    size_t n = find_points(a, text, points), room = room_of_each(points, n);
    for (size_t i = 0; i < n; i++) {
        if (out->len > 0)
            rco_buf_adds(out, out->data[out->len - 1] == ':' ? " " : "; ");
        add_shortened(out, points[i], room);
    }
    return n > 0;
}

/* What MESSAGE says in one line: its first line that says something, with the next one when it ends
 * in a colon; of a list of errors its points. */
static const char *sentence(struct rco_arena *a, const char *message)
{
    char *text = rco_arena_strdup(a, message), *save = NULL;
    rco_autobuf out = RCO_BUF_INIT;
    text[rco_event_strip_markup(text, strlen(text))] = '\0';
    char *exception = exception_line(text);
    if (exception) {
        rco_buf_adds(&out, "unhandled exception:");
        text = exception;
    }
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        line = trim(line);
        if (!*line)
            continue;
        if (is_list_head(line) && add_points(a, &out, rco_arena_strdup(a, rco_str_or_empty(save))))
            break;
        if (out.len > 0)
            rco_buf_addc(&out, ' ');
        rco_buf_adds(&out, line);
        if (line[strlen(line) - 1] != ':' || out.len > RCO_DIAGNOSTICS_MAX_SENTENCE)
            break;
    }
    cut(&out, RCO_DIAGNOSTICS_MAX_SENTENCE);
    const char *s = rco_buf_str(&out);
    bool prefixed = rco_str_has_prefix(s, "error: ") || rco_str_has_prefix(s, "Error: ");
    return rco_arena_strdup(a, prefixed ? s + 7 : s);
}

/* What asks a provider is not the program's fault, wherever it stands in the program. */
static bool asks_a_provider(const char *message)
{
    return strstr(message, "invocation of ") || strstr(message, "invoke of ");
}

/* "FILE line N" of a line "  on FILE line N:", by which the YAML language host says where in the
 * program an error is; NULL for another line. */
static const char *place_of_line(struct rco_arena *a, const char *text)
{
    char *line = trim(rco_arena_strndup(a, text, strcspn(text, "\n")));
    size_t n = strlen(line);
    if (!rco_str_has_prefix(line, "on ") || !strstr(line, " line ") || line[n - 1] != ':')
        return NULL;
    line[n - 1] = '\0';
    return line + 3;
}

/* The same of a whole diagnostic. */
static const char *place_of(struct rco_arena *a, const char *message)
{
    const char *at = strstr(message, "\n  on ");
    return at ? place_of_line(a, at + 1) : NULL;
}

static const char *with_place(struct rco_arena *a, const char *error, const char *place)
{
    if (!place || strlen(error) + strlen(place) + 3 > RCO_DIAGNOSTICS_MAX_SENTENCE)
        return error;
    return rco_arena_printf(a, "%s (%s)", error, place);
}

static bool blames_the_program(const char *message, const char *place)
{
    return !asks_a_provider(message) && (place || strstr(message, "unhandled exception") ||
                                         strstr(message, "an unhandled error occurred") ||
                                         strstr(message, "Duplicate resource URN"));
}

static void note_error(struct rco_diagnostics *d, const char *message, const char *urn,
                       bool resource_failed, struct rco_arena *a)
{
    if (rco_str_empty(message))
        return;
    /* A planned step that never came is the plan's refusal only when nothing went wrong before it:
     * after a resource failed, those that depend on it are left out, and this says no more. */
    bool known = d->error && !is_generic(d->error);
    bool missing = strstr(message, "expected resource operations for");
    bool left_out = missing && (resource_failed || known);
    bool violation = strstr(message, "violates plan") ||
                     strstr(message, "is not allowed by the plan") || (missing && !left_out);
    if (left_out && known)
        return;
    bool better = !d->error || ((violation || !known) && !d->plan_violation);
    d->plan_violation = d->plan_violation || violation;
    if (!better)
        return;
    const char *s = sentence(a, message);
    if (!*s)
        return;
    const char *place = place_of(a, message);
    d->error = with_place(a, s, place);
    d->program_failed = blames_the_program(message, place);
    if (!rco_str_empty(urn))
        d->error_urn = rco_arena_strdup(a, urn);
}

/* What follows the line that was told: the rest of a sentence that ends in a colon, as programs in
 * Go print it, or where in the program that is. */
static void note_more(struct rco_diagnostics *d, const char *message, struct rco_arena *a)
{
    const char *line = trim(rco_arena_strndup(a, message, strcspn(message, "\n")));
    if (!*line)
        return;
    d->more_may_follow = false;
    if (is_list_head(d->told))
        d->told = rco_arena_strndup(a, line, rco_utf8_cut(line, RCO_DIAGNOSTICS_MAX_SENTENCE));
    else if (rco_str_has_suffix(d->told, ":"))
        d->told = sentence(a, rco_arena_printf(a, "%s %s", d->told, line));
    else
        d->told = with_place(a, d->told, place_of_line(a, message));
}

/* What a language host, or a program, printed to its stderr comes as diagnostics of severity
 * info#err, a line each. */
static void note_told(struct rco_diagnostics *d, const char *message, struct rco_arena *a)
{
    if (d->more_may_follow) {
        note_more(d, message, a);
    } else if (!d->told &&
               (rco_str_has_prefix(message, "panic: ") || strncasecmp(message, "error", 5) == 0)) {
        d->told = sentence(a, message);
        d->told_of_program = !asks_a_provider(message);
        d->more_may_follow = true;
    }
}

void rco_diagnostics_event(struct rco_diagnostics *d, const struct rco_engine_event *e,
                           bool resource_failed, struct rco_arena *a)
{
    if (e->ephemeral || !e->message)
        return;
    if (e->type == RCO_EVENT_ERROR)
        note_error(d, e->message, NULL, resource_failed, a);
    else if (rco_streq(e->severity, "error"))
        note_error(d, e->message, e->urn, resource_failed, a);
    else if (rco_streq(e->severity, "info#err"))
        note_told(d, e->message, a);
}

void rco_diagnostics_policy(struct rco_diagnostics *d, const char *message, const char *urn,
                            struct rco_arena *a)
{
    note_error(d, message, urn, false, a);
}

void rco_diagnostics_end(struct rco_diagnostics *d, struct rco_arena *a)
{
    bool host_is_gone = d->error && rco_str_has_prefix(d->error, HOST_IS_GONE);
    if (!d->told || (d->error && !is_generic(d->error)))
        return;
    d->error = host_is_gone ? with_place(a, d->told, d->error) : d->told;
    d->program_failed = d->told_of_program && !host_is_gone;
}
