/* SPDX-License-Identifier: Apache-2.0 */
/* Two recordings of one call into a plan. Both are hostile: every length and number is
 * checked. Any thread. */
#ifndef HONE_RUNNER_CUDA_RECORD_READ_H
#define HONE_RUNNER_CUDA_RECORD_READ_H

#include "tools/runner/cuda/record/record.h"
#include "tools/runner/cuda/record/record_abi.h"

struct hone_record_names { /* instances seen so far, over all workloads */
    struct hone_record_instance *v;
    size_t n, cap;
};

struct hone_recording {
    const char *a, *b; /* the slots of both runs */
    size_t len;        /* of each */
    const char *task, *workload;
    int64_t n_tensors;
};

/* 0 with *ret_end BUILT, or NONDETERMINISTIC and LAUNCH with what is wrong. HONE_E_ARG: damaged. */
int hone_record_read(const struct hone_recording *recording, struct hone_pool *pool,
                     struct hone_record_names *names, struct hone_plan *ret,
                     struct hone_outcome *ret_end, struct hone_err *err);

#endif
