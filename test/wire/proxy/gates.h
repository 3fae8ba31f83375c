/* What stands in the way of everything of one kind until it is taken away again: frozen watches,
 * delays, a server that is away. Calls are to be made under the proxy's lock. */
#ifndef FP_GATES_H
#define FP_GATES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FP_GATES_MAX 32

struct fp_gate {
    char res[64]; /* "all" = every one */
    bool frozen;  /* its watches show nothing more */
    bool stale;   /* and its lists are those that were shown last */
    int skew_ms;  /* its frames come that late */
    unsigned cut; /* watches that began before this number are to end */
};

/* Frames of one key that are never shown; at the end the watch is told 410. */
struct fp_hold {
    char res[64], name[256]; /* res "" = none */
    int64_t until_ms;
    unsigned hidden;
};

struct fp_gates {
    struct fp_gate all[FP_GATES_MAX];
    size_t n;
    struct fp_hold hold;
    bool refuse;     /* connections are refused, those that are open were reset */
    bool black_hole; /* nothing is answered any more */
};

/* The gate of RES, made if there is none; NULL when there are too many. */
struct fp_gate *fp_gate_of(struct fp_gates *gates, const char *res);
bool fp_gate_is_frozen(const struct fp_gates *gates, const char *res);
bool fp_gate_is_stale(const struct fp_gates *gates, const char *res);
int fp_gate_skew(const struct fp_gates *gates, const char *res);
/* Whether a watch of RES with this number is to end. */
bool fp_gate_is_cut(const struct fp_gates *gates, const char *res, unsigned number);

#endif
