#include "decide/table.h"

#include <assert.h>

const char *rco_table_run(const struct rco_table *table, void *ctx)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct rco_row *row = &table->rows[i];
        if (row->guard && !row->guard(ctx))
            continue;
        if (row->act)
            row->act(ctx);
        return row->name;
    }
    assert(!"the last row of a table has no guard");
    return NULL;
}

void rco_table_print(const struct rco_table *table, struct rco_buf *out)
{
    rco_buf_addf(out, "| # | row | when | then |\n|---|---|---|---|\n");
    for (size_t i = 0; i < table->n_rows; i++)
        rco_buf_addf(out, "| %zu | `%s` | %s | %s |\n", i + 1, table->rows[i].name,
                     table->rows[i].when, table->rows[i].then);
}
