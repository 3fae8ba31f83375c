/* The operator's log goes into the trace, with virtual time; stands in for pkg/base/log.c. */
#include "base/log.h"

#include "log_sink.h"
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>

static struct sim *sink;

void sim_log_to(struct sim *s)
{
    sink = s;
}

void rco_log_setup(enum rco_log_level level, enum rco_log_format format)
{
    (void)level;
    (void)format;
}

int rco_log_enabled(enum rco_log_level level)
{
    return sink && (sink->verbose || level >= RCO_LOG_WARN);
}

void rco_log_fields(enum rco_log_level level, const char *msg, const struct rco_log_field *fields,
                    size_t n)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    rco_autobuf line = RCO_BUF_INIT;

    for (size_t i = 0; i < n; i++) {
        if (fields[i].text)
            rco_buf_addf(&line, " %s=\"%s\"", fields[i].key, fields[i].text);
        else
            rco_buf_addf(&line, " %s=%" PRId64, fields[i].key, fields[i].number);
    }
    sim_oracle_text(sink, "log", rco_buf_str(&line), line.len);
    if (sink->verbose)
        fprintf(stdout, "%12.3f      log %s: %s%s\n", (double)sink->now / 1e9, names[level], msg,
                rco_buf_str(&line));
}
