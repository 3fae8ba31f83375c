#include "process_metrics.h"

#include "base/clock.h"
#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STATM_MAX 256 /* bytes of /proc/self/statm */

static void read_memory(struct rco_process_metrics *p)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    double page = (double)sysconf(_SC_PAGESIZE);
    char *end;

    if (rco_file_read("/proc/self/statm", STATM_MAX, &text, &ignored) < 0)
        return;
    rco_series_set(p->virtual_memory, (double)strtoull(rco_buf_str(&text), &end, 10) * page);
    rco_series_set(p->resident, (double)strtoull(end, NULL, 10) * page);
}

static void read_descriptors(struct rco_process_metrics *p)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *e;
    unsigned n = 0;

    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.';
    if (!d)
        return;
    closedir(d);
    rco_series_set(p->open_fds, n - 1); /* without that of the directory */
}

static void collect(void *ctx)
{
    struct rco_process_metrics *p = ctx;
    struct timespec cpu = {0};

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
        rco_series_set(p->cpu, (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    read_memory(p);
    read_descriptors(p);
}

static struct rco_series *series(struct rco_metrics *metrics, enum rco_metric_type type,
                                 const char *name, const char *help)
{
    const struct rco_metric_spec spec = {.name = name, .help = help, .type = type};

    return rco_metric_with(rco_metrics_add(metrics, &spec), (const char *const[]){NULL});
}

void rco_process_metrics_add(struct rco_process_metrics *p, struct rco_metrics *metrics)
{
    struct rlimit fds = {0};
    double start = (double)(rco_clock_wall() / 1000000); /* whole seconds are printed exactly */

    *p = (struct rco_process_metrics){
        .cpu = series(metrics, RCO_METRIC_COUNTER, "process_cpu_seconds_total",
                      "User and system CPU time spent, in seconds"),
        .resident = series(metrics, RCO_METRIC_GAUGE, "process_resident_memory_bytes",
                           "Resident memory, in bytes"),
        .virtual_memory = series(metrics, RCO_METRIC_GAUGE, "process_virtual_memory_bytes",
                                 "Virtual memory, in bytes"),
        .open_fds = series(metrics, RCO_METRIC_GAUGE, "process_open_fds", "Open file descriptors"),
    };
    rco_series_set(series(metrics, RCO_METRIC_GAUGE, "process_start_time_seconds",
                          "Start of the process, in seconds since 1970"),
                   start);
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0)
        rco_series_set(series(metrics, RCO_METRIC_GAUGE, "process_max_fds",
                              "Most file descriptors that may be open"),
                       (double)fds.rlim_cur);
    rco_metrics_on_collect(metrics, collect, p);
}
