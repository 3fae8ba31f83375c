/* Tables in plain text: columns aligned by display width, two spaces between, header in capitals.
 */
#ifndef RCO_CLI_TABLE_H
#define RCO_CLI_TABLE_H

#include "base/arena.h"
#include "text.h"

#include <stddef.h>

#define RCO_TABLE_MAX_COLUMNS 20

struct rco_table_row;

struct rco_table {
    struct rco_arena *arena;
    const char *headers[RCO_TABLE_MAX_COLUMNS];
    size_t n_columns;
    struct rco_table_row *first, **tail;
    struct rco_table_row *last;
    size_t n_rows;
};

/* Cells live in A. */
void rco_table_init(struct rco_table *t, struct rco_arena *a);
void rco_table_column(struct rco_table *t, const char *header);
/* Starts a row; cells follow from left to right, missing ones print as "-". */
void rco_table_row(struct rco_table *t);
/* TEXT is cleaned; NULL and "" print as "-". */
void rco_table_cell(struct rco_table *t, const char *text);
void rco_table_cell_ink(struct rco_table *t, const struct rco_style *style, enum rco_ink ink,
                        const char *text);
void rco_table_cell_int(struct rco_table *t, bool has, int64_t value);
void rco_table_cell_age(struct rco_table *t, rco_wall now, rco_wall then);
/* Prints the table, each line after INDENT spaces. On a terminal the last column is cut at its
 * width. */
void rco_table_print(const struct rco_table *t, const struct rco_style *style, unsigned indent,
                     struct rco_buf *out);

#endif
