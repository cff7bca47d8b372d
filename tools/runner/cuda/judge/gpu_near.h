/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on nearly the same content, on a device: near.h tells what and why. Sizes and scalars are
 * baked into a launch plan, so that none of them changes under the same buffers here; instead
 * nearly equal sets are called in one block too, where scratch is kept from call to call. Judge's
 * thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_NEAR_H
#define HONE_RUNNER_CUDA_GPU_NEAR_H

#include "tools/runner/cuda/judge/gpu_run.h"

/* n_pairs pairs of sets as a check has left them, filled with these kinds, all answers good.
 * Afterwards every answer is that of what its set holds. */
int hone_gpu_near_check(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_check_plan *plan, const enum hone_distribution *dists,
                        int64_t n_pairs, struct hone_outcome *ret, struct hone_err *err);
/* A further block of the candidate, and then one of its sets again with a little changed. */
int hone_gpu_near_timed(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                        struct hone_outcome *ret, struct hone_err *err);

#endif
