/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's GPUs are, for `hone-runner --probe`: asked of the driver, without a context.
 *
 * {"driver": "13.0", "nvrtc": "13.0", "devices": [{"name", "uuid", "arch", "sm_count",
 * "memory_bytes", "l2_bytes"}], "why": why there is none, "why_nvrtc": ..., "nvcc": "13.0" where it
 * is found, "cupti": its folder where it is found, "restricts_counters"} Owned by the caller. */
#ifndef HONE_RUNNER_CUDA_GPU_FACTS_H
#define HONE_RUNNER_CUDA_GPU_FACTS_H

#include "workspace/base/json.h"

struct hone_json *hone_gpu_facts(void);
/* Does the driver let only administrators see counters? */
bool hone_gpu_restricts_counters(void);

#endif
