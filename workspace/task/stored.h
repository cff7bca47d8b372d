/* SPDX-License-Identifier: Apache-2.0 */
/* Stored inputs: tensors of a safetensors file of the pack.
 *
 * The file is hostile bytes: 8 bytes of a little-endian length, a JSON object of that length (name
 * -> dtype, shape, data_offsets; "__metadata__" besides), then the data. Accepted is what the
 * format's own reader accepts: parts that follow each other without holes and fill the file, each
 * as long as its shape says. */
#ifndef HONE_TASK_STORED_H
#define HONE_TASK_STORED_H

#include "workspace/task/task.h"

/* One tensor of the file in `bytes`, borrowed from there. HONE_E_NOT_FOUND: no tensor has that name;
 * HONE_E_ARG, HONE_E_LIMIT: the file is none. */
struct hone_stored_view {
    enum hone_dtype dtype;
    int64_t n, row; /* elements; of the last dimension */
    size_t rank;
    int64_t shape[HONE_LIMIT_RANK];
    const void *data;
};
int hone_stored_find(const char *bytes, size_t len, const char *name, struct hone_stored_view *ret,
                     struct hone_err *err);

/* What integers must be, HONE_E_ARG with the first element that is not. Index: 0 <= v < below.
 * Offsets: two or more, the first 0, none below the one before it, the last `total`. HONE_STORED_ANY
 * as below or total: as far as the file alone tells; a total must be 1 or more then. */
#define HONE_STORED_ANY (-1)
int hone_stored_check_index(const struct hone_stored_view *view, int64_t below,
                            struct hone_err *err);
int hone_stored_check_offsets(const struct hone_stored_view *view, int64_t total,
                              struct hone_err *err);

/* Reads the files that the task's inputs name, from its folder: called by hone_task_load. Floating
 * values must be finite, indexes and offsets be some for an axis that is large enough. */
int hone_task_load_stored(struct hone_task *task, struct hone_err *err);

#endif
