/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's own kernels: a gate that holds a stream until the judge says go, and stamps of the
 * device's clocks. Device text, compiled once by the judge (hone_cuda_compile_device) and handed to
 * arenas as a module of its own, so that no candidate's module is needed for it. */
#ifndef HONE_RUNNER_CUDA_GPU_STAMP_H
#define HONE_RUNNER_CUDA_GPU_STAMP_H

#include <stdint.h>

/* hone_gate(go, serial, limit_ns, late): returns when *go has come to serial, or after limit_ns
 * (*late = 1). hone_stamp(out, n): for every multiprocessor below n that got a block, (global ns,
 * SM clock). hone_mark(out): one word, global ns. hone_wipe(pattern, n): fills n words of shared
 * memory; launched with all that a block can have, so that each multiprocessor's is filled. */
extern const char hone_gpu_stamp_text[];
#define HONE_GPU_STAMP_NAME "hone_stamp.cu"

#define HONE_GPU_STAMP_BLOCKS_PER_SM 2

struct hone_gpu_stamp { /* of one multiprocessor; both 0: it got no block */
    uint64_t ns, clocks;
};
/* From two rounds of stamps: ns between the last of the first round and the first of the
 * second, and the median clock rate of the multiprocessors that are in both; 0 where the span
 * is too short. */
void hone_gpu_stamps_read(const struct hone_gpu_stamp *from, const struct hone_gpu_stamp *to,
                          int64_t n, double *ret_ns, double *ret_mhz);

#endif
