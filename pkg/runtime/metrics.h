/* Counters, gauges and histograms with labels, in the Prometheus text format. */
#ifndef RCO_RUNTIME_METRICS_H
#define RCO_RUNTIME_METRICS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

#define RCO_METRIC_LABELS_MAX 5
#define RCO_METRIC_SERIES_MAX                                                                      \
    2000 /* of one family; further label sets share one series of "other" */

enum rco_metric_type { RCO_METRIC_COUNTER, RCO_METRIC_GAUGE, RCO_METRIC_HISTOGRAM };

struct rco_metrics; /* the registry */
struct rco_metric;  /* one family */
struct rco_series;  /* one label set of a family */

struct rco_metric_spec {
    const char *name, *help; /* borrowed for ever (literals) */
    enum rco_metric_type type;
    const char *labels[RCO_METRIC_LABELS_MAX + 1]; /* NULL-terminated, literals */
    const double *bounds; /* histogram: ascending upper bounds without +Inf, literal */
    size_t n_bounds;
};

struct rco_metrics *rco_metrics_new(void);
void rco_metrics_free(struct rco_metrics *m);
/* Registers a family; the same name again returns the first. */
struct rco_metric *rco_metrics_add(struct rco_metrics *m, const struct rco_metric_spec *spec);
/* Called before each exposition, to set gauges. */
void rco_metrics_on_collect(struct rco_metrics *m, void (*fn)(void *ctx), void *ctx);
/* Forgets the collect functions of CTX, which is about to be freed. */
void rco_metrics_off_collect(struct rco_metrics *m, const void *ctx);

/* The series of VALUES (as many as labels; NULL counts as ""), made at need; lives as long as the
 * registry, so it may be kept. */
struct rco_series *rco_metric_with(struct rco_metric *f, const char *const *values);
/* Shorthands: rco_metric_inc(f, "run", "success") */
#define rco_metric_series(F, ...) rco_metric_with((F), (const char *const[]){__VA_ARGS__, NULL})
void rco_series_inc(struct rco_series *s);
void rco_series_add(struct rco_series *s, double v);
void rco_series_set(struct rco_series *s, double v);
void rco_series_observe(struct rco_series *s, double v);
double rco_series_value(const struct rco_series *s);
uint64_t rco_series_count(const struct rco_series *s); /* histogram: number of observations */
/* Drops all series of a gauge family, before it is filled anew by a collect function. */
void rco_metric_reset(struct rco_metric *f);

/* Appends the whole registry (text/plain; version=0.0.4). */
void rco_metrics_expose(struct rco_metrics *m, struct rco_buf *out);
#define RCO_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#endif
