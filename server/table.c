/* SPDX-License-Identifier: Apache-2.0 */
#include "server/table.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/utf8.h"

static const char **new_row(struct hone_table *table)
{
    table->cells =
        hone_pool_grow(table->pool, table->cells, table->n_columns * sizeof(*table->cells),
                       table->n_rows, &table->room);
    return table->cells + table->n_columns * table->n_rows++;
}

static const char *plain(struct hone_table *table, const char *text)
{
    char *copy = hone_pool_strdup(table->pool, text ? text : "");
    hone_utf8_defuse(copy, '?');
    for (char *at = copy; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    return copy;
}

void hone_table_add(struct hone_table *table, const char *const *cells)
{
    const char **row = new_row(table);
    for (size_t i = 0; i < table->n_columns; i++)
        row[i] = plain(table, cells[i]);
}

void hone_table_line(struct hone_table *table, const char *text)
{
    const char **row = new_row(table);
    memset(row, 0, table->n_columns * sizeof(*row));
    row[0] = plain(table, text);
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void hone_table_print(const struct hone_table *table)
{
    size_t widths[HONE_TABLE_COLUMNS] = {0};
    for (size_t r = 0; r < table->n_rows; r++) {
        const char *const *row = table->cells + r * table->n_columns;
        for (size_t i = 0; row[1] && i + 1 < table->n_columns; i++)
            widths[i] = width_of(row[i]) > widths[i] ? width_of(row[i]) : widths[i];
    }
    for (size_t r = 0; r < table->n_rows; r++) {
        const char *const *row = table->cells + r * table->n_columns;
        for (size_t i = 0; i < table->n_columns && row[i]; i++)
            printf("%s%*s", row[i],
                   row[1] && i + 1 < table->n_columns ? (int)(widths[i] - width_of(row[i])) + 2 : 0,
                   "");
        printf("\n");
    }
}
