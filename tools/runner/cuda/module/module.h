/* SPDX-License-Identifier: Apache-2.0 */
/* A built CUDA arm: the cubin, what is in it, and the plans of its launcher.
 *
 *     file.cu --split--> host text   --g++----------> kernel.so --recorder (jail, no GPU)-->
 *                     |                                             one plan per workload
 *                     +> device text --NVRTC (jail)-> cubin --ELF walk--> kernels, variables
 *
 * Both compilers run at the same time. Everything is cached by content in the job's cache_dir: the
 * host object and its plans by host text and tunables, the cubin by device text, options and
 * architecture. What is wrong with a source is data (hone_outcome), as for C.
 *
 * Where this lane cannot do it (CUB, Thrust, lambdas for the device in the launcher, headers that
 * NVRTC has not got), or the source says `#pragma hone lane(nvcc)`, one nvcc makes both from the
 * whole source, in the same kind of jail; recording, checks and plans are the same. */
#ifndef HONE_RUNNER_CUDA_MODULE_H
#define HONE_RUNNER_CUDA_MODULE_H

#include "tools/format/plan.h"
#include "tools/runner/build/build.h"
#include "tools/runner/arena/arm.h"
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/compile/cuda_module.h"
#include "workspace/task/task.h"

struct hone_cuda_compiler; /* the compile server: a jailed process with NVRTC and precompiled
                              headers; opaque */

struct hone_cuda_request {
    const struct hone_task *task; /* selected for cuda */
    const char *arm;              /* for messages */
    const char *source;
    const struct hone_array *tunables;     /* of hone_tunable */
    const char *const *flags;              /* allow-listed; NULL-terminated, may be NULL */
    const struct hone_workload *workloads; /* to record */
    size_t n_workloads;
    const double *scalars; /* n_workloads x task->n_scalars */
    const char *arch;      /* "sm_90a"; the device's own, or the default without one */
    const struct hone_plan_device
        *device; /* facts that the launcher may ask for; also validation */
    const char *rung;
    bool allow_weak;
    const char *cache_dir, *scratch_dir;
    int64_t deadline_ns;
    bool wants_ptx; /* a second compile in the first lane */
    struct hone_cuda_compiler *
        *compiler; /* in and out: started when *compiler is NULL, kept by the caller */
};

/* 0 with *ret_end telling how the source fared (BUILT or COMPILE, NO_SYMBOL, BAD_REQUEST, CRASH of
 * the launcher...). *ret lives in the pool and is filled as far as it got. */
int hone_cuda_build(const struct hone_cuda_request *req, struct hone_pool *pool,
                    struct hone_cuda_module *ret, struct hone_outcome *ret_end,
                    struct hone_err *err);

/* Device text only (the judge's own kernels, oracles): text to cubin through the same server. */
struct hone_cuda_text {
    const char *name, *text; /* name: for messages */
    const char *arch, *cache_dir;
    const char *rung; /* of the compiler's jail */
    bool allow_weak;
    int64_t deadline_ns;
};
struct hone_cuda_object;
int hone_cuda_compile_device(struct hone_cuda_compiler **compiler,
                             const struct hone_cuda_text *text, struct hone_pool *pool,
                             struct hone_cuda_object *ret, struct hone_err *err);

#endif
