/* SPDX-License-Identifier: Apache-2.0 */
/* Building the next points of a sweep while the present one is checked and timed: some threads,
 * each with a compile server of its own.
 *
 * Threads live as long as the job (a server started by a thread dies with it). Each does
 * one build at a time; its result is owned here until hone_gpu_ahead_take hands it over.
 * Judge's thread only. */
#ifndef HONE_RUNNER_CUDA_GPU_AHEAD_H
#define HONE_RUNNER_CUDA_GPU_AHEAD_H

#include "tools/runner/cuda/module/module.h"

struct hone_gpu_ahead; /* opaque */

#define HONE_GPU_AHEAD_MOST 4

/* n threads, 1 to HONE_GPU_AHEAD_MOST of them. */
struct hone_gpu_ahead *hone_gpu_ahead_new(int64_t n);
/* Waits for builds that are under way, ends threads and servers. NULL is fine. */
void hone_gpu_ahead_free(struct hone_gpu_ahead *ahead);
/* A thread that has nothing to keep; -1: none has, or this key's build was begun already. */
int64_t hone_gpu_ahead_place(struct hone_gpu_ahead *ahead, const void *key);
/* Begins with this build there. What req points at is borrowed until it is taken, except compiler,
 * which is the thread's own. key: not NULL. */
void hone_gpu_ahead_begin(struct hone_gpu_ahead *ahead, int64_t place, const void *key,
                          const struct hone_cuda_request *req);
/* The build begun under this key: waits for it. *ret and the strings in it live in *ret_pool, which
 * becomes the caller's. false: there is none; build it yourself. */
bool hone_gpu_ahead_take(struct hone_gpu_ahead *ahead, const void *key, struct hone_pool **ret_pool,
                         struct hone_cuda_module *ret, struct hone_outcome *ret_end, int *ret_code,
                         struct hone_err *err);

#endif
