/* SPDX-License-Identifier: Apache-2.0 */
/* Which launch crashed?
 *
 * A block of calls runs as a graph, and its failure names nothing. So a crashed arm's last frame is
 * called once more in a fresh arena, waiting after each operation; the words of the end then name
 * the operation's kernel, its place in the plan, its line and the driver's code, with advice for
 * that code. The verdict is not touched. Judge's thread only; blocks. */
#ifndef HONE_RUNNER_CUDA_GPU_STEPS_H
#define HONE_RUNNER_CUDA_GPU_STEPS_H

#include "tools/runner/cuda/judge/gpu_judge.h"

/* Does nothing to an end that is no crash, or when nothing was mapped. The arm's arena is another
 * one afterwards. */
void hone_gpu_steps_name(struct hone_judge *judge, struct hone_slot *slot,
                         struct hone_outcome *end);
/* What usually causes this code; never NULL. */
const char *hone_gpu_steps_advice(int cuda_code);

#endif
