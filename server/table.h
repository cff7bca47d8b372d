/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of text in columns that are as wide as their widest cell. */
#ifndef HONE_SERVER_TABLE_H
#define HONE_SERVER_TABLE_H

#include "workspace/base/err.h"
#include "workspace/base/buf.h"

#define HONE_TABLE_COLUMNS 8

struct hone_table {
    struct hone_pool *pool; /* borrowed: holds the cells */
    size_t n_columns;
    const char **cells; /* n_columns a row; a row whose second cell is NULL is a line of its own */
    size_t n_rows, room;
};

/* cells: n_columns of them, NULL: empty; copied. */
void hone_table_add(struct hone_table *table, const char *const *cells);
/* A line below the last row, not in columns. */
void hone_table_line(struct hone_table *table, const char *text);
/* To stdout; controls in cells become '?'. The last column is not padded. */
void hone_table_print(const struct hone_table *table);

#endif
