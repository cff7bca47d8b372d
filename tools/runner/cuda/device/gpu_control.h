/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge and a device arena agree on: requests and answers of fixed size over one
 * SOCK_SEQPACKET socket, and one shared file for the order of sets.
 *
 *     arena   START                                context and stamp module are there
 *     judge   LOAD + memory file (cubin, names of writable variables)
 *     judge   MAP + memory file (plan as JSON) + one descriptor a tensor
 *     judge   PREPARE (order of sets in the shared file)   graphs are built, all is queued behind
 *                                                           the gate; nothing of the block runs yet
 *     judge   GO                                   opens the gate; answered when the device is done
 *     judge   PROFILE + memory file (a page of gpu_profile_arena.h, written by the arena)
 *     judge   STEP                                 one call, waiting after each operation
 *     judge   DROP                                 frame, or frame and module, are given back
 *
 * Every request has a serial number, which its answer repeats. After any error the arena answers
 * with the driver's code and a text, and ends: a context that failed is of no further use. The
 * judge is trusted by the arena, but not the other way round: an answer out of turn, of another
 * size or with impossible figures ends the arena.
 *
 * Descriptors in the arena: 3 the socket, 4 the shared file, 5 the stamp module (may be empty). */
#ifndef HONE_RUNNER_CUDA_GPU_CONTROL_H
#define HONE_RUNNER_CUDA_GPU_CONTROL_H

#include "tools/runner/cuda/device/gpu_memory.h"

#define HONE_GPU_SOCKET 3
#define HONE_GPU_SHARED 4
#define HONE_GPU_STAMP  5

#define HONE_GPU_MAX_CALLS   65536
#define HONE_GPU_MAX_SINGLES 4096 /* calls of a block with events around each */
#define HONE_GPU_MAX_NAME    4096 /* a lowered kernel name */
#define HONE_GPU_TEXT        400

enum hone_gpu_op {
    HONE_GPU_OP_START,
    HONE_GPU_OP_LOAD,
    HONE_GPU_OP_MAP,
    HONE_GPU_OP_PREPARE,
    HONE_GPU_OP_GO,
    HONE_GPU_OP_OCCUPANCY,
    HONE_GPU_OP_PROFILE,
    HONE_GPU_OP_DROP,
    HONE_GPU_OP_STEP
};

struct hone_gpu_request {
    uint32_t serial;
    int32_t op; /* enum hone_gpu_op */
    union {
        struct {
            int64_t cubin_bytes; /* then the names, each ended by NUL, up to file_bytes */
            int64_t file_bytes;
        } load;
        struct {
            int64_t file_bytes; /* the plan's text */
            struct hone_gpu_layout layout;
        } map;
        struct {
            int64_t n_calls; /* 0: what an empty block costs */
            int64_t flush_bytes;
            uint32_t scratch_poison;
            bool is_single;
            bool keeps_scratch; /* what the block before left in scratch stays */
            bool wipes_shared;  /* shared memory holds the pattern too */
        } prepare;
        struct {
            int64_t block_threads, dynamic_shared;
            char kernel[HONE_GPU_MAX_NAME];
        } occupancy;
        struct {
            int64_t set, budget_ns;
            uint32_t scratch_poison;
        } profile;
        struct {
            bool keeps_module;
        } drop;
        struct {
            int64_t set;
            uint32_t scratch_poison;
        } step;
    } u;
};

struct hone_gpu_answer {
    uint32_t serial;
    int32_t op;
    int32_t cuda_code; /* of the call that failed; 0 with is_error: no fault of CUDA's */
    int32_t is_error;  /* 0, or the error of ours as a positive number */
    int32_t is_late; /* GO: the gate gave up before it was opened; the figures are worth nothing */
    double event_ns, stamp_ns, sm_mhz;
    int64_t blocks_per_sm;
    int64_t at_op; /* STEP: the operation of the plan that failed, from 1; 0: none */
    char text[HONE_GPU_TEXT];
};

#define HONE_GPU_SHARED_BYTES (HONE_GPU_MAX_CALLS * (int64_t)sizeof(int32_t))

#endif
