#include "runtime/metrics.h"

#include "base/map.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTORS_MAX 16
#define LABEL_VALUE_MAX 128 /* bytes of one label value */

struct rco_series {
    struct rco_metric *family;
    struct rco_series *next;
    char *values[RCO_METRIC_LABELS_MAX];
    double value; /* counter, gauge; histogram: sum */
    uint64_t count;
    uint64_t *buckets;
};

struct rco_metric {
    struct rco_metric *next;
    struct rco_metric_spec spec;
    size_t n_labels;
    struct rco_series *first, **tail;
    struct rco_map by_values;
};

struct rco_metrics {
    struct rco_metric *first, **tail;
    struct {
        void (*fn)(void *ctx);
        void *ctx;
    } collectors[COLLECTORS_MAX];
    size_t n_collectors;
};

struct rco_metrics *rco_metrics_new(void)
{
    struct rco_metrics *m = rco_calloc(1, sizeof(*m));

    m->tail = &m->first;
    return m;
}

static void free_series(struct rco_metric *f)
{
    for (struct rco_series *s = f->first, *next; s; s = next) {
        next = s->next;
        for (size_t i = 0; i < f->n_labels; i++)
            free(s->values[i]);
        free(s->buckets);
        free(s);
    }
    f->first = NULL;
    f->tail = &f->first;
    rco_map_release(&f->by_values);
}

void rco_metrics_free(struct rco_metrics *m)
{
    if (!m)
        return;
    for (struct rco_metric *f = m->first, *next; f; f = next) {
        next = f->next;
        free_series(f);
        free(f);
    }
    free(m);
}

struct rco_metric *rco_metrics_add(struct rco_metrics *m, const struct rco_metric_spec *spec)
{
    struct rco_metric *f;

    for (f = m->first; f; f = f->next)
        if (strcmp(f->spec.name, spec->name) == 0)
            return f;
    f = rco_calloc(1, sizeof(*f));
    f->spec = *spec;
    while (f->spec.labels[f->n_labels])
        f->n_labels++;
    f->tail = &f->first;
    *m->tail = f;
    m->tail = &f->next;
    return f;
}

void rco_metrics_on_collect(struct rco_metrics *m, void (*fn)(void *ctx), void *ctx)
{
    assert(m->n_collectors < COLLECTORS_MAX);
    m->collectors[m->n_collectors].fn = fn;
    m->collectors[m->n_collectors++].ctx = ctx;
}

void rco_metrics_off_collect(struct rco_metrics *m, const void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->n_collectors; i++)
        if (m->collectors[i].ctx != ctx)
            m->collectors[kept++] = m->collectors[i];
    m->n_collectors = kept;
}

static void key_of(const struct rco_metric *f, const char *const *values, struct rco_buf *out)
{
    for (size_t i = 0; i < f->n_labels; i++) {
        const char *v = values && values[i] ? values[i] : "";

        rco_buf_add(out, v, strnlen(v, LABEL_VALUE_MAX));
        rco_buf_addc(out, '\x01'); /* in no label value that we make */
    }
}

struct rco_series *rco_metric_with(struct rco_metric *f, const char *const *values)
{
    static const char *const others[RCO_METRIC_LABELS_MAX] = {"other", "other", "other", "other",
                                                              "other"};
    rco_autobuf key = RCO_BUF_INIT;
    struct rco_series *s;

    key_of(f, values, &key);
    s = rco_map_get(&f->by_values, rco_buf_str(&key));
    if (s)
        return s;
    if (f->by_values.n >= RCO_METRIC_SERIES_MAX && values != others)
        return rco_metric_with(f, others);
    s = rco_calloc(1, sizeof(*s));
    s->family = f;
    for (size_t i = 0; i < f->n_labels; i++) {
        const char *v = values && values[i] ? values[i] : "";

        s->values[i] = rco_strndup(v, strnlen(v, LABEL_VALUE_MAX));
    }
    if (f->spec.type == RCO_METRIC_HISTOGRAM)
        s->buckets = rco_calloc(f->spec.n_bounds + 1, sizeof(*s->buckets));
    *f->tail = s;
    f->tail = &s->next;
    rco_map_set(&f->by_values, rco_buf_str(&key), s);
    return s;
}

void rco_series_inc(struct rco_series *s)
{
    s->value += 1;
}

void rco_series_add(struct rco_series *s, double v)
{
    s->value += v;
}

void rco_series_set(struct rco_series *s, double v)
{
    s->value = v;
}

void rco_series_observe(struct rco_series *s, double v)
{
    size_t i = 0;

    assert(s->buckets);
    while (i < s->family->spec.n_bounds && v > s->family->spec.bounds[i])
        i++;
    s->buckets[i]++;
    s->count++;
    s->value += v;
}

double rco_series_value(const struct rco_series *s)
{
    return s->value;
}

uint64_t rco_series_count(const struct rco_series *s)
{
    return s->count;
}

void rco_metric_reset(struct rco_metric *f)
{
    free_series(f);
}

/* --- exposition --- */

static void add_number(struct rco_buf *out, double v)
{
    if (isinf(v))
        rco_buf_adds(out, v > 0 ? "+Inf" : "-Inf");
    else if (v == floor(v) && fabs(v) < 1e15)
        rco_buf_addf(out, "%.0f", v);
    else
        rco_buf_addf(out, "%.9g", v);
}

static void add_label(struct rco_buf *out, const char *name, const char *value, bool first)
{
    rco_buf_addc(out, first ? '{' : ',');
    rco_buf_adds(out, name);
    rco_buf_adds(out, "=\"");
    for (; *value; value++) {
        if (*value == '\n')
            rco_buf_adds(out, "\\n");
        else if (*value == '"' || *value == '\\')
            rco_buf_addf(out, "\\%c", *value);
        else
            rco_buf_addc(out, *value);
    }
    rco_buf_addc(out, '"');
}

/* "name_suffix{labels,le="..."} " */
static void add_head(struct rco_buf *out, const struct rco_series *s, const char *suffix,
                     const char *le)
{
    const struct rco_metric *f = s->family;

    rco_buf_adds(out, f->spec.name);
    rco_buf_adds(out, suffix);
    for (size_t i = 0; i < f->n_labels; i++)
        add_label(out, f->spec.labels[i], s->values[i], i == 0);
    if (le)
        add_label(out, "le", le, f->n_labels == 0);
    if (f->n_labels > 0 || le)
        rco_buf_addc(out, '}');
    rco_buf_addc(out, ' ');
}

static void expose_histogram(const struct rco_series *s, struct rco_buf *out)
{
    const struct rco_metric *f = s->family;
    uint64_t sum = 0;
    char le[32];

    for (size_t i = 0; i <= f->spec.n_bounds; i++) {
        sum += s->buckets[i];
        if (i < f->spec.n_bounds)
            snprintf(le, sizeof(le), "%g", f->spec.bounds[i]);
        else
            snprintf(le, sizeof(le), "+Inf");
        add_head(out, s, "_bucket", le);
        rco_buf_addf(out, "%" PRIu64 "\n", sum);
    }
    add_head(out, s, "_sum", NULL);
    add_number(out, s->value);
    rco_buf_addc(out, '\n');
    add_head(out, s, "_count", NULL);
    rco_buf_addf(out, "%" PRIu64 "\n", s->count);
}

static void expose_family(const struct rco_metric *f, struct rco_buf *out)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};

    rco_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", f->spec.name, f->spec.help, f->spec.name,
                 types[f->spec.type]);
    for (const struct rco_series *s = f->first; s; s = s->next) {
        if (f->spec.type == RCO_METRIC_HISTOGRAM) {
            expose_histogram(s, out);
        } else {
            add_head(out, s, "", NULL);
            add_number(out, s->value);
            rco_buf_addc(out, '\n');
        }
    }
}

void rco_metrics_expose(struct rco_metrics *m, struct rco_buf *out)
{
    for (size_t i = 0; i < m->n_collectors; i++)
        m->collectors[i].fn(m->collectors[i].ctx);
    for (const struct rco_metric *f = m->first; f; f = f->next)
        if (f->first)
            expose_family(f, out);
}
