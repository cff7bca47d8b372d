/* SPDX-License-Identifier: Apache-2.0 */
/* Warm spares: device arenas that are started ahead, because a context costs 0.3 s.
 *
 * The pool owns the spares; an arm that was taken is the caller's until it is given back or
 * freed. Starting does not wait: a spare's context comes up while other work goes on.
 * Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_POOL_H
#define HONE_RUNNER_CUDA_GPU_POOL_H

#include "tools/runner/cuda/judge/gpu_arm.h"

#define HONE_GPU_MAX_SPARES 8

struct hone_gpu_pool; /* opaque */

struct hone_gpu_pool_spec {
    struct hone_gpu_arm_spec arm; /* copied */
    int64_t n_spares;             /* kept ready; 0 to HONE_GPU_MAX_SPARES */
    int64_t max_modules; /* an arm that has loaded so many is not used again; 0: no limit */
};
/* Starts the first spares. */
int hone_gpu_pool_new(const struct hone_gpu_pool_spec *spec, struct hone_gpu_pool **ret,
                      struct hone_err *err);
/* One whose context is there: a ready spare if there is one, else it waits for the oldest. Starts
 * the next spare. *ret is the caller's. */
int hone_gpu_pool_take(struct hone_gpu_pool *pool, int64_t deadline_ns, struct hone_gpu_arm **ret,
                       struct hone_err *err);
/* Takes an arm back: kept as a spare, or killed and reaped when it has ended, has loaded too many
 * modules, or there are enough. NULL is fine. */
void hone_gpu_pool_give(struct hone_gpu_pool *pool, struct hone_gpu_arm *arm);
/* Kills and reaps all spares that have ever loaded something; used before a confirmation. */
void hone_gpu_pool_retire(struct hone_gpu_pool *pool);
/* Starts what is missing; does not wait. A machine that cannot start one says so at take. */
void hone_gpu_pool_refill(struct hone_gpu_pool *pool);
int64_t hone_gpu_pool_n_spares(const struct hone_gpu_pool *pool);
/* Kills and reaps every spare: the device is free of the pool. NULL is fine. */
void hone_gpu_pool_free(struct hone_gpu_pool *pool);

#endif
