/* Decision tables: ordered rows, the first whose guard holds acts. Rows are constant data that can
 * be printed and that tests can walk. */
#ifndef RCO_DECIDE_TABLE_H
#define RCO_DECIDE_TABLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* One row. CTX is the decision's own context (facts derived from what was observed). */
struct rco_row {
    const char *name; /* kebab-case, unique in its table; plan->row and the case files name it */
    const char *when; /* the guard, for people */
    const char *then; /* the action, for people */
    bool (*guard)(const void *ctx); /* NULL: always */
    void (*act)(void *ctx);         /* NULL: nothing to do */
};

struct rco_table {
    const char *name;
    const struct rco_row *rows;
    size_t n_rows;
};

/* Runs the first row whose guard holds and returns its name. The last row has no guard. */
const char *rco_table_run(const struct rco_table *table, void *ctx);

/* Appends the table in Markdown. */
void rco_table_print(const struct rco_table *table, struct rco_buf *out);

#endif
