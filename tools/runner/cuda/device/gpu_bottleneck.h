/* SPDX-License-Identifier: Apache-2.0 */
/* What limits a CUDA version: a rule tree over counters, launch facts and the roofline.
 *
 * A table; the order is causes before symptoms. The first rule that fires is the class; the later
 * ones that fire are reported behind it. Thresholds are starting points. Every value may be
 * absent: a rule whose values are not there does not fire, and its name is kept (n_undecided), so
 * that "not found" can be told from "not looked at". A resource rule that names a cause also asks
 * whether the resource is used enough to matter; that question alone is answered yes when it
 * cannot be decided. */
#ifndef HONE_RUNNER_CUDA_GPU_BOTTLENECK_H
#define HONE_RUNNER_CUDA_GPU_BOTTLENECK_H

#include "tools/format/report.h"
#include "tools/runner/cuda/device/gpu_launch.h"

enum hone_gpu_line { /* where in the source something happens most; 0: unknown */
                     HONE_GPU_LINE_KERNEL,
                     HONE_GPU_LINE_LAUNCH,
                     HONE_GPU_LINE_HOT, /* most instructions in the innermost loops */
                     HONE_GPU_LINE_GLOBAL,
                     HONE_GPU_LINE_SHARED,
                     HONE_GPU_LINE_LOCAL,
                     HONE_GPU_LINE_BARRIER,
                     HONE_GPU_LINE_BRANCH,
                     HONE_GPU_LINE_SPECIAL, /* exp, sin, reciprocal */
                     HONE_GPU_LINE_INTEGER,
                     HONE_GPU_LINE_FLOAT,
                     HONE_GPU_LINE_TENSOR,
                     HONE_GPU_N_LINES
};

struct hone_gpu_facts {
    struct hone_gpu_values values; /* of the launch that takes most time, or of all */
    struct hone_gpu_derived derived;
    bool has_occupancy;
    struct hone_gpu_occupancy occupancy; /* of the launch that takes most time */
    double spill_bytes;                  /* by the compiler; NaN: unknown */
    double n_launches;
    bool is_specialised; /* warps have different work and wait for each other by design */
    int64_t lines[HONE_GPU_N_LINES];
};
void hone_gpu_facts_init(struct hone_gpu_facts *ret); /* everything absent */

struct hone_gpu_findings {
    struct hone_bottleneck *found; /* in the pool; worst first, at least one */
    size_t n;
    struct hone_strs undecided; /* classes that lacked values */
};
void hone_gpu_bottlenecks(const struct hone_gpu_facts *facts, struct hone_pool *pool,
                          struct hone_gpu_findings *ret);

/* Class names in the order of the tree; NULL behind the last. */
const char *hone_gpu_class_name(size_t i);

#endif
