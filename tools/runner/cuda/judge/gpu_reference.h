/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of gpu_oracle.c (asks) and gpu_compare.c (compares). Nobody else includes this. */
#ifndef HONE_RUNNER_CUDA_GPU_REFERENCE_H
#define HONE_RUNNER_CUDA_GPU_REFERENCE_H

#include "tools/runner/cuda/judge/gpu_judge.h"
#include "workspace/base/hash.h"

struct hone_gpu_reference {
    struct hone_gpu_reference *next;
    char id[HONE_HASH_TEXT_BYTES];
    enum hone_distribution dist;
    bool is_full;
    char task[HONE_LIMIT_NAME_BYTES + 1];
    bool is_of_job; /* the key is this job's alone: nobody else will ask */
    int64_t budget_ns, bytes;
    uint64_t used;
    /* full: values of all outputs, then (has_scales) their scales; else n_records records */
    hone_cu_ptr memory;
    int64_t n_elements;
    bool has_scales;
    double scale[HONE_LIMIT_TENSORS]; /* without scales */
    int64_t n_records;
};

/* Out of the session's list, and free. */
void hone_gpu_reference_drop(struct hone_gpu_session *session,
                             struct hone_gpu_reference *reference);
/* Random items of a set, fresh from the oracle, as *ret_n records in session->records. */
int hone_gpu_ask_random(struct hone_judge *judge, int64_t set, int64_t n_items, int64_t *ret_n,
                        struct hone_err *err);
/* The same of one item. */
int hone_gpu_ask_item(struct hone_judge *judge, int64_t set, int64_t item, int64_t *ret_n,
                      struct hone_err *err);

#endif
