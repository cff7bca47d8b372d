/* SPDX-License-Identifier: Apache-2.0 */
/* Launch facts without counters: occupancy by the usual arithmetic, waves, and the roofline.
 *
 * Pure functions. Names in reports follow Nsight Compute (launch__...) where it has one; derived
 * values of our own begin with hone__. Everything that is not known is NaN. */
#ifndef HONE_RUNNER_CUDA_GPU_LAUNCH_H
#define HONE_RUNNER_CUDA_GPU_LAUNCH_H

#include "tools/runner/cuda/driver/gpu_metrics.h"

struct hone_gpu_limits { /* of one multiprocessor */
    int64_t warps, blocks, registers, shared_bytes, reserved_shared_bytes; /* reserved: per block */
    int64_t register_unit, shared_unit, partitions;
};
/* False when the architecture is unknown: then that of the newest one below it is taken. */
bool hone_gpu_limits_of(int major, int minor, struct hone_gpu_limits *ret);

struct hone_gpu_shape { /* one launch and its kernel */
    int64_t blocks, block_threads, registers, static_shared_bytes, dynamic_shared_bytes;
};
struct hone_gpu_occupancy {
    int64_t limit_registers, limit_shared, limit_warps, limit_blocks; /* blocks a multiprocessor */
    int64_t blocks_per_sm;                                            /* the least of them */
    const char *limiter; /* "registers", "shared_mem", "warps", "blocks" */
    double percent;      /* of resident warps; 0: it does not fit */
    double waves;        /* grid / (multiprocessors x blocks_per_sm) */
};
void hone_gpu_occupancy(const struct hone_gpu_limits *limits, int64_t sm_count,
                        const struct hone_gpu_shape *shape, struct hone_gpu_occupancy *ret);

struct hone_gpu_roof {             /* what a call has to be held against; 0: unknown */
    double flops, bytes;           /* by the task: least operations, compulsory bytes */
    bool is_flops_guessed;         /* far below what the work needs: a bound and no yardstick */
    double flops_rate, bytes_rate; /* measured ceilings, per second */
    double launch_ns;              /* what an empty launch takes */
    double call_ns;                /* a call on the clock of timing, not under the profiler */
    int64_t n_launches;
};
struct hone_gpu_derived {
    double kernel_ns;      /* sum over launches, by the device's counter */
    double counted_flops;  /* NaN as well when tensor cores were busy: their work is not counted */
    double intensity;      /* counted (else the task's) operations / DRAM bytes; NaN: guessed */
    double traffic_ratio;  /* DRAM bytes / compulsory bytes */
    double work_ratio;     /* counted operations / the task's; NaN: those are guessed */
    double time_over_roof; /* call / max(bytes at the ceiling, operations at the ceiling, launch) */
    double launch_share;   /* 1 - kernel_ns / call_ns */
    double conflict_share; /* bank conflicts / shared wavefronts */
    double local_share;    /* local sectors / instruction */
    double lanes;          /* active lanes of an instruction, of 32 */
};
void hone_gpu_derive(const struct hone_gpu_values *values, const struct hone_gpu_roof *roof,
                     struct hone_gpu_derived *ret);

#endif
