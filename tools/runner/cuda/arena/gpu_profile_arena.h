/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the arena: one call counted launch by launch, written into a page that the judge reads.
 *
 * The whole plan runs once a pass (user replay), with the module's variables put back and scratch
 * poisoned before each, so every pass does the same. Counters that are not to be had are a note in
 * the page; only a failing kernel or driver is an error. */
#ifndef HONE_RUNNER_CUDA_GPU_PROFILE_ARENA_H
#define HONE_RUNNER_CUDA_GPU_PROFILE_ARENA_H

#include "tools/runner/cuda/driver/cupti.h"
#include "tools/runner/cuda/arena/gpu_graph.h"

#define HONE_GPU_PROFILE_NOTE 400

struct hone_gpu_profile_range { /* one launch */
    int32_t op;                 /* of the plan */
    struct hone_gpu_values values;
};
struct hone_gpu_profile_page {
    int32_t has_counters;
    int32_t n_ranges, n_launches; /* counted, and of one call */
    int32_t n_passes, last_tier;
    int32_t is_refused; /* by driver or profiler, perhaps for lack of privileges: outside of this
                           jail it may work */
    double call_ns;     /* one call before the profiler was on */
    double open_ns, count_ns;
    char chip[32];
    char note[HONE_GPU_PROFILE_NOTE]; /* why not, and the fix */
    struct hone_gpu_profile_range ranges[HONE_CUPTI_MAX_RANGES];
};

struct hone_gpu_profile_work {
    const struct hone_gpu_device *device;
    struct hone_gpu_program *program;
    hone_cu_stream stream;
    int64_t set;
    int64_t budget_ns; /* of the passes; the first tier is read at any price */
    uint32_t scratch_poison;
};
/* fd: a memory file of the page's size, writable. */
int hone_gpu_profile_serve(const struct hone_gpu_profile_work *work, int fd, struct hone_err *err);

#endif
