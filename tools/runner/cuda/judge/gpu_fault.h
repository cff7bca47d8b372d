/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of the device judge with the question of whose fault it was (fault.h): as those of the
 * same names without _settled, but an arena of the candidate's that ended without a reason is not
 * the end. The stage is done again in fresh arenas, and the baseline's module is called in one in
 * the same frame; without a baseline an empty block is run. Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_FAULT_H
#define HONE_RUNNER_CUDA_GPU_FAULT_H

#include "tools/runner/cuda/judge/gpu_judge.h"

int hone_gpu_check_settled(struct hone_judge *judge, struct hone_slot *slot,
                           const struct hone_check_plan *plan, struct hone_outcome *ret,
                           struct hone_err *err);
int hone_gpu_time_settled(struct hone_judge *judge, const struct hone_timing_plan *plan,
                          struct hone_workload_report *ret_report, struct hone_outcome *ret,
                          struct hone_err *err);
/* A whole stage of the candidate's. */
int hone_gpu_stage_settled(struct hone_judge *judge, const char *name, hone_stage_fn *stage,
                           struct hone_outcome *ret, struct hone_err *err);

#endif
