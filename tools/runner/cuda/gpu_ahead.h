/* Building the next point of a sweep while the present one is timed: one thread with a compile
 * server of its own.
 *
 * The thread lives as long as the job (a server started by a thread dies with it). One build at a
 * time; its results are owned here until hone_gpu_ahead_take hands them over. Judge's thread only.
 */
#ifndef HONE_RUNNER_CUDA_GPU_AHEAD_H
#define HONE_RUNNER_CUDA_GPU_AHEAD_H

#include "tools/runner/cuda/module.h"

struct hone_gpu_ahead; /* opaque */

struct hone_gpu_ahead *hone_gpu_ahead_new(void);
/* Waits for a build that is under way, ends thread and server. NULL is fine. */
void hone_gpu_ahead_free(struct hone_gpu_ahead *ahead);
/* Begins with this build; drops one that nobody took. What req points at is borrowed until it is
 * taken, except compiler, which is the thread's own. */
void hone_gpu_ahead_begin(struct hone_gpu_ahead *ahead, const void *key,
                          const struct hone_cuda_request *req);
/* The build begun under this key: waits for it. *ret and the strings in it live in *ret_pool, which
 * becomes the caller's. false: there is none; build it yourself. */
bool hone_gpu_ahead_take(struct hone_gpu_ahead *ahead, const void *key, struct hone_pool **ret_pool,
                         struct hone_cuda_module *ret, struct hone_end *ret_end, int *ret_code,
                         struct hone_err *err);

#endif
