/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's side of a device arena: a jailed process with a CUDA context of its own that loads
 * one arm's cubin and replays its plans. It knows no secret, and its clock only counts when the
 * judge's own clock agrees.
 *
 * No host code of a candidate ever runs in it: what it executes is our code, fed with a cubin and a
 * checked plan. The jail gives it the device nodes and the driver's libraries, nothing else.
 *
 * Life: start (a context costs 0.3 s: spares are started ahead) -> load a module -> map a frame ->
 * calls. How a kernel ended is data: functions return 0 and leave the reason in arm->end; after a
 * fault the process is dead and must be replaced. Judge's thread only; blocks.
 *
 * Where a jailed driver does not start, the arena is started once more without a jail (rung
 * "device-open"), unless HONE_DEVICE_JAIL=on; HONE_DEVICE_JAIL=off goes there at once. The rung
 * stands in every report.
 *
 * Protocol (gpu_control.h): a SOCK_SEQPACKET socket, and a shared file for the order of sets;
 * descriptors of memory ranges travel by SCM_RIGHTS; module and plans travel in sealed memory
 * files. Nothing that an arena writes is trusted. */
#ifndef HONE_RUNNER_CUDA_GPU_ARM_H
#define HONE_RUNNER_CUDA_GPU_ARM_H

#include "tools/runner/arena/arm.h"
#include "tools/runner/cuda/device/gpu_memory.h"
#include "tools/runner/cuda/module/module.h"

struct hone_gpu_arm;

struct hone_gpu_arm_spec {
    const char *rung;
    bool allow_weak;
    int ordinal; /* device */
    /* gpu_stamp.h's text compiled for the device; copied. NULL: no gate (launching is inside of the
     * time) and no stamps. */
    const unsigned char *stamp;
    size_t stamp_len;
    /* For counters (gpu_profile.h), never for timing: the profiler's library is visible, and where
     * we are root the process keeps CAP_PERFMON, which drivers ask for. */
    bool is_profiling;
    bool is_open; /* without a jail at once; refused with HONE_DEVICE_JAIL=on */
};
/* Starts the process; does not wait for its context (hone_gpu_arm_wait does). */
int hone_gpu_arm_start(const struct hone_gpu_arm_spec *spec, struct hone_gpu_arm **ret,
                       struct hone_err *err);
int hone_gpu_arm_wait(struct hone_gpu_arm *arm, int64_t deadline_ns, struct hone_err *err);
/* Is its context there already? Does not block. */
bool hone_gpu_arm_is_ready(struct hone_gpu_arm *arm);
/* Kills and reaps: when it returns the device is free of it. NULL is fine. */
void hone_gpu_arm_free(struct hone_gpu_arm *arm);

const struct hone_outcome *hone_gpu_arm_end(const struct hone_gpu_arm *arm);
bool hone_gpu_arm_is_alive(const struct hone_gpu_arm *arm);
const char *hone_gpu_arm_rung(const struct hone_gpu_arm *arm);
int64_t hone_gpu_arm_n_modules(const struct hone_gpu_arm *arm); /* loaded so far: for retirement */

/* What kernels printed since the last time, at most 1 MiB; borrowed until the next call
 * of the arm. */
const char *hone_gpu_arm_printed(struct hone_gpu_arm *arm, size_t *ret_len);
/* Writable variables of the module that the driver does not name, so that they are not put back. */
int64_t hone_gpu_arm_n_hidden_variables(const struct hone_gpu_arm *arm);

/* Unloads what was there and loads this cubin; keeps the initial image of its writable
 * variables. */
int hone_gpu_arm_load(struct hone_gpu_arm *arm, const struct hone_cuda_module *module,
                      int64_t deadline_ns, struct hone_err *err);
/* Maps the frame's buffers (ranges: inputs read-only, outputs read-write), makes scratch for the
 * plan and looks its kernels up. Old mappings and graphs go. (For the second run of the guard check
 * the layout is one of hone_gpu_layout_start_flush.) */
int hone_gpu_arm_map(struct hone_gpu_arm *arm, const struct hone_gpu_layout *layout,
                     const struct hone_gpu_range *ranges, const struct hone_plan *plan,
                     int64_t deadline_ns, struct hone_err *err);

/* Lets go of the frame (buffers, scratch, graphs), and without keeps_module of the module too. */
int hone_gpu_arm_drop(struct hone_gpu_arm *arm, bool keeps_module, struct hone_err *err);

struct hone_gpu_calls {
    const int32_t *sets; /* order in which sets are called */
    int64_t n_calls;
    uint32_t scratch_poison; /* 32-bit pattern that scratch is filled with before the block, and
                                before each call when is_single */
    bool is_single; /* events around every call (cold tasks with a flush between); else one pair
                       around all; at most HONE_GPU_MAX_SINGLES calls */
    int64_t flush_bytes; /* written between calls when is_single; 0: none */
    bool keeps_scratch;  /* no filling: scratch holds what the block before left there */
    bool wipes_shared;   /* shared memory of all multiprocessors is filled too, where possible */
    int64_t timeout_ns;
};
struct hone_gpu_time {
    int64_t wall_ns; /* judge's clock: from sending the word to its answer */
    double event_ns; /* arena's events: first kernel's start to last kernel's end (sum over calls
                        when is_single) */
    double stamp_ns; /* device's global timer between two stamp kernels; 0: not taken */
    double sm_mhz;   /* SM clock between the stamps; 0: not taken */
    bool is_late;    /* the gate gave up: the answers are there, the times stand for nothing */
};
/* Calls the launcher's plan n_calls times, once. The whole block is queued before it runs (a gate
 * holds the stream). Variables of the module are put back before each call. After a late block
 * whoever wants a time begins again with poisoned outputs and fresh content: over its own answers
 * a kernel has nothing to do, and the word that says "late" lies where it can write. */
int hone_gpu_arm_call(struct hone_gpu_arm *arm, const struct hone_gpu_calls *calls,
                      struct hone_gpu_time *ret, struct hone_err *err);
/* What an empty block costs on the judge's clock: the overhead to allow for. */
int hone_gpu_arm_nop(struct hone_gpu_arm *arm, struct hone_gpu_time *ret, struct hone_err *err);
struct hone_gpu_failed { /* an operation of the plan, alone */
    int64_t op;          /* from 1; 0: none failed */
    int cuda_code;
};
/* One call of one set, waiting after each operation. A failure is in *ret and ends the arena, as it
 * does in a block. */
int hone_gpu_arm_step(struct hone_gpu_arm *arm, int64_t set, uint32_t scratch_poison,
                      int64_t timeout_ns, struct hone_gpu_failed *ret, struct hone_err *err);
struct hone_gpu_profile_page;
/* Counts one call of one set, launch by launch (gpu_profile_arena.h). What the arena writes into
 * *ret is checked for sense. */
int hone_gpu_arm_profile(struct hone_gpu_arm *arm, int64_t set, int64_t budget_ns,
                         uint32_t scratch_poison, int64_t timeout_ns,
                         struct hone_gpu_profile_page *ret, struct hone_err *err);
/* Launch facts from the driver for one kernel of the loaded module: occupancy at
 * the launch's shape. */
int hone_gpu_arm_occupancy(struct hone_gpu_arm *arm, const char *kernel, int64_t block_threads,
                           int64_t dynamic_shared, int64_t *ret_blocks_per_sm,
                           struct hone_err *err);

#endif
