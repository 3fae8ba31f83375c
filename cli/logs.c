#include "logs.h"

#include "api.h"
#include "api/names.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kube/path.h"
#include "views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES (64 * 1024) /* a longer line is printed in pieces */

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
};

static int print_piece(void *ctx, const char *bytes, size_t n, struct rco_error *err)
{
    struct printing *p = ctx;

    (void)err;
    if (n)
        rco_logs_print(p->cli, &p->pending, bytes, n);
    return 0;
}

int rco_logs_pod(struct rco_cli *cli, const char *ns, const char *pod, const char *container,
                 enum rco_follow follow, struct rco_error *err)
{
    struct printing p = {.cli = cli};
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *what = rco_asprintf("read the log of pod %s, container %s", pod, container);
    struct rco_cli_stream stream = {.request = {.method = "GET", .accept = "*/*", .what = what},
                                    .sink = print_piece,
                                    .ctx = &p,
                                    .timeout_ms =
                                        follow == RCO_FOLLOW_YES ? 0 : RCO_CLI_REQUEST_TIMEOUT_MS};
    int rc;

    if (rco_path_kind(&path, RCO_KIND_POD, ns, pod, "log", err) < 0)
        return -1;
    rco_path_query(&path, "container", container);
    if (follow == RCO_FOLLOW_YES)
        rco_path_query(&path, "follow", "true");
    stream.request.path = rco_path_str(&path);
    rc = rco_cli_http_stream(cli->http, &stream, err);
    rco_logs_print(cli, &p.pending, "", 0);
    rco_buf_release(&p.pending);
    return rc;
}
