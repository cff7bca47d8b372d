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
    const void *data;
};
int hone_stored_find(const char *bytes, size_t len, const char *name, struct hone_stored_view *ret,
                     struct hone_err *err);

/* Reads the files that the task's inputs name, from its folder: called by hone_task_load. Floating
 * values must be finite. */
int hone_task_load_stored(struct hone_task *task, struct hone_err *err);

#endif
