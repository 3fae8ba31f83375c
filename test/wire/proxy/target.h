/* What a request of the Kubernetes API is about, and its restriction to one namespace. */
#ifndef FP_TARGET_H
#define FP_TARGET_H

#include "base/buf.h"

#include <stdbool.h>

enum fp_verb { FP_GET, FP_LIST, FP_WATCH, FP_CREATE, FP_PATCH, FP_DELETE, FP_OTHER };

struct fp_target {
    enum fp_verb verb;
    char res[64]; /* plural, "" when it is no resource (/version, /readyz) */
    char ns[256];
    char name[256];
    char sub[32];
    char prefix[128];  /* "/apis/batch/v1", "/api/v1" */
    const char *query; /* from the '?' on, or ""; borrowed from the path */
    bool namespaced;   /* the path names a namespace */
};

/* METHOD and PATH as the request has them. Parts that are too long are cut. */
void fp_target_parse(const char *method, const char *path, struct fp_target *ret);
const char *fp_verb_name(enum fp_verb verb);
/* Whether it is a write that counts: not Events, token reviews, or the election's Lease. */
bool fp_target_counts(const struct fp_target *t, const char *election);
/* The path to ask for so that lists and watches over all namespaces are of NS alone. */
void fp_target_scope(const struct fp_target *t, const char *path, const char *ns,
                     struct rco_buf *out);
/* Whether parameter NAME stands in the query, with VALUE unless that is NULL. */
bool fp_target_has(const struct fp_target *t, const char *name, const char *value);
/* Copies the value of a parameter to OUT; "" when there is none. */
void fp_target_parameter(const struct fp_target *t, const char *name, char *out, size_t size);

#endif
