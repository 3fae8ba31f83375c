#include "table.h"

#include "base/str.h"

#include <assert.h>
#include <inttypes.h>

struct rco_table_row {
    const char *cells[RCO_TABLE_MAX_COLUMNS];
    size_t n;
    struct rco_table_row *next;
};

void rco_table_init(struct rco_table *t, struct rco_arena *a)
{
    *t = (struct rco_table){.arena = a};
    t->tail = &t->first;
}

void rco_table_column(struct rco_table *t, const char *header)
{
    assert(t->n_columns < RCO_TABLE_MAX_COLUMNS);
    t->headers[t->n_columns++] = header;
}

void rco_table_row(struct rco_table *t)
{
    struct rco_table_row *row = RCO_NEW(t->arena, struct rco_table_row);

    *t->tail = row;
    t->tail = &row->next;
    t->last = row;
    t->n_rows++;
}

void rco_table_cell_ink(struct rco_table *t, const struct rco_style *style, enum rco_ink ink,
                        const char *text)
{
    rco_autobuf cell = RCO_BUF_INIT;

    assert(t->last && t->last->n < t->n_columns);
    rco_text_ink(&cell, style, ink, rco_str_empty(text) ? "-" : text);
    t->last->cells[t->last->n++] = rco_arena_strdup(t->arena, rco_buf_str(&cell));
}

void rco_table_cell(struct rco_table *t, const char *text)
{
    static const struct rco_style plain = {0};

    rco_table_cell_ink(t, &plain, RCO_INK_PLAIN, text);
}

void rco_table_cell_int(struct rco_table *t, bool has, int64_t value)
{
    rco_table_cell(t, has ? rco_arena_printf(t->arena, "%" PRId64, value) : NULL);
}

void rco_table_cell_age(struct rco_table *t, rco_wall now, rco_wall then)
{
    rco_autobuf age = RCO_BUF_INIT;

    rco_text_age(&age, now, then);
    rco_table_cell(t, rco_buf_str(&age));
}

static const char *cell_at(const struct rco_table_row *row, size_t i)
{
    return i < row->n ? row->cells[i] : "-";
}

static void pad(struct rco_buf *out, size_t n)
{
    while (n-- > 0)
        rco_buf_addc(out, ' ');
}

/* One line; ROW NULL prints the headers. */
static void print_line(const struct rco_table *t, const struct rco_table_row *row,
                       const size_t *widths, size_t limit, unsigned indent, struct rco_buf *out)
{
    size_t column = indent;

    pad(out, indent);
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *text = row ? cell_at(row, i) : t->headers[i];

        if (i + 1 == t->n_columns) {
            rco_text_cut(out, text, limit > column + 10 ? limit - column : 0);
            break;
        }
        rco_buf_adds(out, text);
        pad(out, widths[i] - rco_text_width(text) + 2);
        column += widths[i] + 2;
    }
    rco_buf_addc(out, '\n');
}

void rco_table_print(const struct rco_table *t, const struct rco_style *style, unsigned indent,
                     struct rco_buf *out)
{
    size_t widths[RCO_TABLE_MAX_COLUMNS] = {0};
    size_t limit = style->width > 0 ? (size_t)style->width : 0;

    for (size_t i = 0; i < t->n_columns; i++) {
        widths[i] = rco_text_width(t->headers[i]);
        for (const struct rco_table_row *row = t->first; row; row = row->next) {
            size_t w = rco_text_width(cell_at(row, i));

            if (w > widths[i])
                widths[i] = w;
        }
    }
    print_line(t, NULL, widths, limit, indent, out);
    for (const struct rco_table_row *row = t->first; row; row = row->next)
        print_line(t, row, widths, limit, indent, out);
}
