/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracle's shared object and the runner's oracle process agree on. Plain C, no
 * includes beyond stdint: the text of this file is also part of the preamble that is put in
 * front of oracle.c.
 *
 * One item is one unit of the reference: an output element, a row. An item reads inputs as doubles
 * whatever their type and emits (output, index, value) records. For an iterated task (steps > 0)
 * items emit into `next` (double arrays, one per output) and read `prev`; the judge drives the
 * steps and swaps the two. */
#ifndef HONE_TASK_ORACLE_ABI_H
#define HONE_TASK_ORACLE_ABI_H
#include <stdint.h>

struct hone_oracle_record {
    int64_t index; /* flat element of the output */
    double value;
    int64_t output; /* number of the output in task order */
    double scale;   /* sum of the magnitudes that were added up for value; 0: none given (task.h,
                       struct hone_tolerance) */
};

struct hone_oracle_args {
    const void *const *inputs;  /* task order */
    const int32_t *input_types; /* enum hone_dtype */
    const double *scalars;
    const int64_t *axes;
    double *const *prev;                /* iterated tasks: state before this step, else NULL */
    double *const *next;                /* iterated tasks: state after it, else NULL */
    int64_t step;                       /* 0 = initialisation from the inputs, then 1..steps */
    struct hone_oracle_record *records; /* not iterated: room for n_records_max */
    int64_t n_records_max;
    int64_t n_records; /* counts on past the maximum, writes nothing there; -1: inputs of other
                          types than the task's */
};

/* The kernel of hone_task_oracle_device_source takes this by value. Addresses are the device's. */
#define HONE_ORACLE_DEVICE_AXES    16
#define HONE_ORACLE_DEVICE_TENSORS 64
struct hone_oracle_device_args {
    long long axes[HONE_ORACLE_DEVICE_AXES];
    double scalars[HONE_ORACLE_DEVICE_AXES];
    unsigned long long in[HONE_ORACLE_DEVICE_TENSORS];
    /* one array of doubles per output (scale 0: none); prev: iterated tasks, state before */
    unsigned long long value[HONE_ORACLE_DEVICE_TENSORS], scale[HONE_ORACLE_DEVICE_TENSORS],
        prev[HONE_ORACLE_DEVICE_TENSORS];
    unsigned long long records;   /* not 0: records go there instead, */
    unsigned long long n_records; /* counted here (past the maximum, where none is written) */
    unsigned long long items;     /* list of item numbers; 0: first .. first + count - 1 */
    long long n_records_max, first, count, step;
};

typedef void hone_oracle_items_fn(struct hone_oracle_args *args, int64_t first, int64_t count,
                                  const int64_t *items);
#endif
