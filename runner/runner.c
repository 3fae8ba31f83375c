#include "runner.h"

#include "api/zz_generated_types.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "json/codec.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef RCO_VERSION
#define RCO_VERSION "0.0.0"
#endif

const char *rco_runner_version(void)
{
    return RCO_VERSION;
}

void rco_text_cut(char *out, size_t size, const char *text)
{
    size_t n = strlen(text);
    if (n >= size)
        n = rco_utf8_cut(text, size - 1);
    memmove(out, text, n);
    out[n] = '\0';
}

int rco_failure_set(struct rco_failure *f, enum rco_failure_class class, const char *fmt, ...)
{
    va_list ap;
    rco_autobuf text = RCO_BUF_INIT;
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    f->class = class;
    rco_text_cut(f->message, sizeof(f->message), rco_buf_str(&text));
    return -1;
}

int rco_failure_error(struct rco_failure *f, enum rco_failure_class class,
                      const struct rco_error *err, const char *doing)
{
    return rco_failure_set(f, class, "%s: %s", doing, err->msg);
}

const char *rco_runner_path(struct rco_runner *r, const char *name)
{
    return rco_arena_printf(&r->arena, "%s/%s", r->root, name);
}

const char *rco_runner_pathf(struct rco_runner *r, const char *fmt, ...)
{
    va_list ap;
    rco_autobuf text = RCO_BUF_INIT;
    rco_buf_addf(&text, "%s/", r->root);
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    return rco_arena_strdup(&r->arena, rco_buf_str(&text));
}

static int check_job(const struct rco_runner_job *job, struct rco_error *err)
{
    const struct {
        const char *name, *value;
    } needed[] = {{"namespace", job->namespace},
                  {"run", job->run},
                  {"runUid", job->run_uid},
                  {"program.repository", job->program.repository},
                  {"program.commit", job->program.commit},
                  {"stack", job->stack},
                  {"backend.url", job->backend.url}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(needed); i++)
        if (rco_str_empty(needed[i].value))
            return rco_error_set(err, RCO_EINVALID, "RCO_JOB: .%s is missing", needed[i].name);
    if (job->protocol != RCO_RUNNER_PROTOCOL)
        return rco_error_set(
            err, RCO_EINVALID,
            "RCO_JOB: protocol %lld, this runner speaks %d; use the runner image of "
            "the operator's version",
            (long long)job->protocol, RCO_RUNNER_PROTOCOL);
    if (job->phase != RCO_ENGINE_PHASE_PLAN && job->phase != RCO_ENGINE_PHASE_APPLY)
        return rco_error_set(err, RCO_EINVALID, "RCO_JOB: .phase is neither plan nor apply");
    if (job->phase == RCO_ENGINE_PHASE_APPLY && !job->has_expected)
        return rco_error_set(err, RCO_EINVALID, "RCO_JOB: an apply without .expected");
    return 0;
}

int rco_runner_load_job(struct rco_runner *r, const char *text, struct rco_error *err)
{
    if (rco_str_empty(text))
        return rco_error_set(err, RCO_EINVALID,
                             "the environment variable RCO_JOB is not set; it is "
                             "made by the operator for a runner Job");
    size_t n = strlen(text);
    if (n > RCO_RUNNER_MAX_JOB)
        return rco_error_set(err, RCO_ETOOBIG, "RCO_JOB is larger than %d bytes",
                             RCO_RUNNER_MAX_JOB);
    if (rco_codec_decode(&rco_runner_job_schema, text, n, &r->arena, &r->job, err) < 0)
        return rco_error_wrap(err, "RCO_JOB");
    return check_job(&r->job, err);
}

/* Encodes S; true when it fits a termination message. */
static bool fits(const struct rco_runner_summary *s, struct rco_buf *out)
{
    rco_buf_clear(out);
    rco_codec_encode(&rco_runner_summary_schema, s, out);
    return out->len <= RCO_RUNNER_MAX_SUMMARY;
}

/* The end of TEXT of at most MAX bytes, from the beginning of a line where there is one. */
static const char *tail(const char *text, size_t max)
{
    size_t n = text ? strlen(text) : 0;
    if (n <= max)
        return text;
    const char *from = text + n - max;
    const char *nl = strchr(from, '\n');
    if (nl && nl[1])
        return nl + 1;
    while (((unsigned char)*from & 0xc0) == 0x80)
        from++;
    return from;
}

static void encode_summary(struct rco_runner_summary *s, struct rco_buf *out)
{
    static const size_t log_sizes[] = {2000, 1000, 400, 0};
    const char *log = s->log;
    for (size_t i = 0; i < RCO_ARRAY_LEN(log_sizes); i++) {
        s->log = log_sizes[i] ? tail(log, log_sizes[i]) : NULL;
        if (fits(s, out))
            return;
    }
    /* Counts and digests stay; lists go, the longest first. */
    struct rco_runner_receipt *r = &s->receipt;
    r->truncated = r->has_truncated = true;
    r->n_resources = 0;
    if (fits(s, out))
        return;
    r->n_types = 0;
    if (fits(s, out))
        return;
    r->n_outputs = 0;
    if (fits(s, out))
        return;
    r->n_plugins = 0;
    s->has_receipt = s->has_receipt && fits(s, out);
    (void)fits(s, out);
}

void rco_runner_write_summary(struct rco_runner *r, struct rco_runner_summary *summary)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    summary->container = r->container;
    summary->phase = r->job.phase;
    summary->has_ok = true;
    encode_summary(summary, &text);
    /* The file is there already and its directory is not ours: written in place. */
    rco_autoclose int fd = open(r->termination_log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || rco_fd_write_all(fd, text.data, text.len, &err) < 0)
        rco_log(RCO_LOG_WARN, "termination message not written", RCO_S("path", r->termination_log));
}

int rco_runner_fail(struct rco_runner *r, const struct rco_failure *f, const struct rco_buf *log)
{
    struct rco_runner_summary s = {
        .ok = false,
        .has_failure = true,
        .failure = {.class = f->class, .message = f->message, .urn = f->urn[0] ? f->urn : NULL},
        .log = log && log->len ? rco_buf_str(log) : NULL,
    };
    rco_log(RCO_LOG_ERROR, "failed", RCO_S("class", rco_failure_class_name(f->class)),
            RCO_S("message", f->message));
    rco_runner_write_summary(r, &s);
    return RCO_EXIT_FAILED;
}
