#include "logs.h"

#include "api.h"
#include "api/names.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kube/path.h"
#include "views.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES (64 * 1024) /* a longer line is printed in pieces */
#define TAIL_MAX_BYTES (64 * 1024) /* kept of the newest lines */
#define TAIL_LINES 20              /* asked for: the newest may be the runner's own or empty */
#define TAIL_TIMEOUT_MS 5000       /* a screen does not wait longer for a node's answer */
#define TIMESTAMP_LEN 27           /* "2026-11-30T12:00:00.123456Z" */

static const struct rco_artifact *find_in(const struct rco_artifact *artifacts, size_t n,
                                          enum rco_engine_phase phase)
{
    for (size_t i = 0; i < n; i++)
        if (artifacts[i].kind == RCO_ARTIFACT_KIND_LOG && artifacts[i].phase == phase)
            return &artifacts[i];
    return NULL;
}

static const struct rco_artifact *find_phase(const struct rco_run *run, enum rco_engine_phase phase)
{
    const struct rco_artifact *found =
        find_in(run->status.artifacts, run->status.n_artifacts, phase);

    if (!found)
        found = find_in(run->status.apply_receipt.artifacts, run->status.apply_receipt.n_artifacts,
                        phase);
    return found;
}

const struct rco_artifact *rco_logs_find(const struct rco_run *run, enum rco_engine_phase phase)
{
    const struct rco_artifact *found;

    if (phase != RCO_ENGINE_PHASE_UNSET)
        return find_phase(run, phase);
    found = find_phase(run, RCO_ENGINE_PHASE_APPLY);
    return found ? found : find_phase(run, RCO_ENGINE_PHASE_PLAN);
}

static size_t chunk_count(const struct rco_artifact *artifact)
{
    return artifact->size > 0 ? ((size_t)artifact->size + RCO_CHUNK_SIZE - 1) / RCO_CHUNK_SIZE : 0;
}

static int append_chunk(const struct rco_view_chunk *chunk, const char *name, struct rco_buf *out,
                        struct rco_error *err)
{
    const char *coded = rco_kv_get(chunk->binary, chunk->n_binary, "data");
    const char *plain = rco_kv_get(chunk->data, chunk->n_data, "data");
    rco_autofree unsigned char *bytes = NULL;
    size_t n = 0;

    if (plain)
        return rco_buf_add_capped(out, plain, strlen(plain), RCO_LOGS_MAX_SIZE, err);
    if (!coded)
        return rco_error_set(err, RCO_EINTERNAL,
                             "ConfigMap %s has no key \"data\": it is not a chunk of a log", name);
    bytes = rco_base64_decode(coded, strlen(coded), &n);
    if (!bytes)
        return rco_error_set(err, RCO_EINTERNAL, "ConfigMap %s: binaryData.data is not base64",
                             name);
    return rco_buf_add_capped(out, bytes, n, RCO_LOGS_MAX_SIZE, err);
}

static int read_chunk(struct rco_cli *cli, const char *ns, const char *name, struct rco_buf *out,
                      struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *what = rco_asprintf("get ConfigMap %s", name);
    struct rco_view_chunk chunk = {0};

    if (rco_path_kind(&path, RCO_KIND_CONFIGMAP, ns, name, NULL, err) < 0 ||
        rco_api_call(cli, rco_path_str(&path), NULL, what, &rco_view_chunk_schema, &a, &chunk,
                     err) < 0)
        return -1;
    return append_chunk(&chunk, name, out, err);
}

static int check_whole(const struct rco_artifact *artifact, const struct rco_buf *got,
                       size_t old_len, struct rco_error *err)
{
    char hex[RCO_SHA256_HEX];

    if (artifact->has_size && got->len - old_len != (size_t)artifact->size)
        return rco_error_set(
            err, RCO_EINTERNAL,
            "the stored log is not what the runner sent (%zu bytes, recorded %" PRId64
            "): someone changed its ConfigMaps",
            got->len - old_len, artifact->size);
    rco_sha256_hex(rco_buf_str(got) + old_len, got->len - old_len, hex);
    if (!rco_str_empty(artifact->digest) && !rco_streq(artifact->digest, hex))
        return rco_error_set(err, RCO_EINTERNAL,
                             "the stored log is not what the runner sent (digest %.12s, recorded "
                             "%.12s): someone changed its ConfigMaps",
                             hex, artifact->digest);
    return 0;
}

int rco_logs_read(struct rco_cli *cli, const struct rco_run *run,
                  const struct rco_artifact *artifact, struct rco_buf *out, struct rco_error *err)
{
    size_t n = chunk_count(artifact), old_len = out->len;

    for (size_t i = 0; i < n; i++) {
        char name[RCO_NAME_SIZE];

        rco_name_chunk(run->metadata.uid, rco_engine_phase_name(artifact->phase), "log", i,
                       artifact->digest, name);
        if (read_chunk(cli, run->metadata.ns, name, out, err) == 0)
            continue;
        if (err->code != RCO_ENOTFOUND)
            return -1;
        return rco_error_set(err, RCO_ENOTFOUND,
                             "part %zu of %zu of the log (ConfigMap %s) is gone; it was deleted "
                             "with the run's artifacts or by hand",
                             i + 1, n, name);
    }
    return check_whole(artifact, out, old_len, err);
}

void rco_logs_print(struct rco_cli *cli, struct rco_buf *pending, const char *bytes, size_t n)
{
    rco_autobuf clean = RCO_BUF_INIT;
    size_t whole;

    rco_buf_add(pending, bytes, n);
    whole = pending->len;
    if (n && whole < LINE_MAX_BYTES)
        while (whole && pending->data[whole - 1] != '\n')
            whole--;
    if (cli->style.width) {
        rco_text_clean_log(&clean, rco_buf_str(pending), whole);
    } else {
        rco_buf_add(&clean, rco_buf_str(pending), whole);
    }
    rco_cli_print(cli, &clean);
    rco_buf_consume(pending, whole);
}

struct printing {
    struct rco_cli *cli;
    struct rco_buf pending;
    struct rco_logs_quiet *quiet;
};

static int print_piece(void *ctx, const char *bytes, size_t n, struct rco_error *err)
{
    struct printing *p = ctx;

    (void)err;
    if (n && p->quiet)
        p->quiet->heard = rco_clock_mono();
    if (n)
        rco_logs_print(p->cli, &p->pending, bytes, n);
    return 0;
}

bool rco_logs_quiet_due(struct rco_logs_quiet *q, rco_mono now, int64_t *ret_s)
{
    if (!q->heard)
        q->heard = now;
    if (now - q->heard < RCO_LOGS_QUIET_S * RCO_NS_PER_S ||
        (q->told && now - q->told < RCO_LOGS_REMIND_S * RCO_NS_PER_S))
        return false;
    q->told = now;
    *ret_s = (now - q->heard) / RCO_NS_PER_S;
    return true;
}

void rco_logs_quiet_say(struct rco_logs_quiet *q, const char *what)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error ignored = RCO_ERROR_INIT;
    int64_t s;

    if (!rco_logs_quiet_due(q, rco_clock_mono(), &s))
        return;
    rco_text_clean(&out, what);
    rco_buf_addf(&out, ", %" PRId64 "s without output", s);
    if (q->next) {
        rco_buf_adds(&out, "; cancel with: ");
        rco_text_clean(&out, q->next);
    }
    rco_buf_addc(&out, '\n');
    (void)(rco_fd_write_all(STDERR_FILENO, out.data, out.len, &ignored) == 0);
}

static void say_quiet(void *ctx)
{
    rco_logs_quiet_say(((const struct printing *)ctx)->quiet, "still running");
}

static int pod_log_path(struct rco_path *path, const char *ns, const char *pod,
                        const char *container, struct rco_error *err)
{
    if (rco_path_kind(path, RCO_KIND_POD, ns, pod, "log", err) < 0)
        return -1;
    rco_path_query(path, "container", container);
    return 0;
}

int rco_logs_pod(struct rco_cli *cli, const char *ns, const char *pod, const char *container,
                 struct rco_logs_quiet *quiet, struct rco_error *err)
{
    struct printing p = {.cli = cli, .quiet = quiet};
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *what = rco_asprintf("read the log of pod %s, container %s", pod, container);
    struct rco_cli_stream stream = {.request = {.method = "GET", .accept = "*/*", .what = what},
                                    .sink = print_piece,
                                    .ctx = &p,
                                    .tick = quiet ? say_quiet : NULL,
                                    .timeout_ms = quiet ? 0 : RCO_CLI_REQUEST_TIMEOUT_MS};
    int rc;

    if (pod_log_path(&path, ns, pod, container, err) < 0)
        return -1;
    if (quiet)
        rco_path_query(&path, "follow", "true");
    stream.request.path = rco_path_str(&path);
    rc = rco_cli_http_stream(cli->http, &stream, err);
    rco_logs_print(cli, &p.pending, "", 0);
    rco_buf_release(&p.pending);
    return rc;
}

/* --- the newest line --------------------------------------------------------------------------
 */

/* Keeps the end of what comes. */
static int keep_tail(void *ctx, const char *bytes, size_t n, struct rco_error *err)
{
    struct rco_buf *tail = ctx;

    (void)err;
    rco_buf_add(tail, bytes, n);
    if (tail->len > TAIL_MAX_BYTES)
        rco_buf_consume(tail, tail->len - TAIL_MAX_BYTES);
    return 0;
}

/* "2026-11-30T12:00:00.123456Z info ...": the report container speaks for itself. */
static bool is_runners_own(const char *line, size_t n)
{
    return n > TIMESTAMP_LEN && line[4] == '-' && line[10] == 'T' &&
           line[TIMESTAMP_LEN - 1] == 'Z' && line[TIMESTAMP_LEN] == ' ';
}

static bool is_blank(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isspace((unsigned char)line[i]))
            return false;
    return true;
}

const char *rco_logs_newest_line(struct rco_arena *a, const char *text, size_t n)
{
    while (n) {
        const char *newline = memrchr(text, '\n', n);
        const char *line = newline ? newline + 1 : text;
        size_t len = (size_t)(text + n - line);

        if (!is_blank(line, len) && !is_runners_own(line, len))
            return rco_arena_strndup(a, line, len);
        n = newline ? (size_t)(newline - text) : 0;
    }
    return NULL;
}

const char *rco_logs_last_line(struct rco_cli *cli, const char *ns, const char *pod,
                               const char *container)
{
    rco_autobuf tail = RCO_BUF_INIT;
    rco_autopath path = RCO_PATH_INIT;
    struct rco_error ignored = RCO_ERROR_INIT;
    struct rco_cli_stream stream = {
        .request = {.method = "GET", .accept = "*/*", .what = "read the newest line of a log"},
        .sink = keep_tail,
        .ctx = &tail,
        .timeout_ms = TAIL_TIMEOUT_MS};

    if (pod_log_path(&path, ns, pod, container, &ignored) < 0)
        return NULL;
    rco_path_query_int(&path, "tailLines", TAIL_LINES);
    stream.request.path = rco_path_str(&path);
    if (rco_cli_http_stream(cli->http, &stream, &ignored) < 0)
        return NULL;
    return rco_logs_newest_line(&cli->arena, rco_buf_str(&tail), tail.len);
}
