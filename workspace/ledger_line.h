/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the ledger: making it, taking it apart. Internal to ledger*.c. Pure; any thread. */
#ifndef HONE_WORKSPACE_LEDGER_LINE_H
#define HONE_WORKSPACE_LEDGER_LINE_H

#include "workspace/base/buf.h"

#define HONE_LEDGER_TYPE_BYTES 65
#define HONE_LEDGER_HEAD_BYTES 256 /* of a line, besides its data */

struct hone_ledger_line {
    uint64_t n;
    int64_t wall_ms;
    char type[HONE_LEDGER_TYPE_BYTES];
    const char *data; /* borrowed from the line */
    size_t data_len;
};

uint32_t hone_crc32c(uint32_t crc, const void *bytes, size_t len); /* start with 0 */
bool hone_ledger_is_type(const char *type);
/* Appends the whole line with its newline. */
void hone_ledger_line_print(struct hone_buf *out, uint64_t n, int64_t wall_ms, const char *type,
                            const char *data);
/* A line without its newline. False: damaged. */
bool hone_ledger_line_parse(const char *line, size_t len, struct hone_ledger_line *ret);
/* The number at the beginning of a line, unchecked; 0: none. */
uint64_t hone_ledger_line_number(const char *line, size_t len);
/* Greatest nesting of objects and arrays in a JSON text. */
int hone_ledger_depth(const char *data);

#endif
