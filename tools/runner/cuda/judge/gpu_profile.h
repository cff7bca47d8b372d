/* SPDX-License-Identifier: Apache-2.0 */
/* The profile stage of the cuda target: counters, launch facts, roofline, device instructions, and
 * which bottleneck follows.
 *
 * One workload, the most demanding one that is asked for, in an arena of its own. Where counters
 * are not to be had everything else still stands, and the report says why and what to do. */
#ifndef HONE_RUNNER_CUDA_GPU_PROFILE_H
#define HONE_RUNNER_CUDA_GPU_PROFILE_H

#include "tools/runner/cuda/device/gpu_bottleneck.h"
#include "tools/runner/cuda/arena/gpu_profile_arena.h"
#include "tools/runner/cuda/module/module.h"

struct hone_gpu_profile_in {
    const struct hone_cuda_module *module;
    const struct hone_plan *plan; /* of the profiled workload */
    int64_t sm_count;
    int major, minor;
    struct hone_gpu_roof roof;
    const struct hone_gpu_profile_page *page; /* NULL: nothing was counted */
    const char *note;                         /* then: why */
    const char *source;                       /* NULL: not known */
    const char *sass_text;                    /* NULL: there is no disassembler */
    size_t sass_len;
};
/* Pure; everything in *ret lives in the pool. */
void hone_gpu_profile_report(const struct hone_gpu_profile_in *in, struct hone_pool *pool,
                             struct hone_profile_report *ret);

struct hone_judge;
struct hone_outcome;
/* The stage (hone_stage_fn). */
int hone_gpu_judge_profile(struct hone_judge *judge, struct hone_outcome *ret,
                           struct hone_err *err);

#endif
