/* SPDX-License-Identifier: Apache-2.0 */
/* What building a CUDA source gives: the cubin, what is in it, and the plans of its launcher.
 * module/module.h fills it. Plain values; texts and arrays live in the pool of who built it. */
#ifndef HONE_RUNNER_CUDA_MODULE_VALUES_H
#define HONE_RUNNER_CUDA_MODULE_VALUES_H

#include "tools/format/plan.h"
#include "tools/format/report.h"

struct hone_cuda_kernel { /* one kernel instance of the cubin */
    const char *name;     /* lowered (mangled) */
    const char *pretty;   /* "tiled<16>" */
    int64_t registers, shared_bytes, frame_bytes, spill_store_bytes, spill_load_bytes, const_bytes,
        max_threads, n_params, param_bytes;
    int64_t line;             /* of the definition; 0 unknown */
    struct hone_array params; /* of hone_plan_param; empty where unknown (emulator) */
};
struct hone_cuda_variable { /* writable device variable, to be put back before each call */
    const char *name;
    int64_t bytes;
};
struct hone_cuda_module {
    const char *lane;       /* "nvrtc" or "nvcc" */
    const char *arch;       /* "sm_90a" */
    const char *cubin_path; /* in the scratch folder */
    const unsigned char *cubin;
    size_t cubin_len;
    const char *ptx; /* where it was asked for; NULL: ptx_note says why there is none */
    size_t ptx_len;
    const char *ptx_note;
    struct hone_array kernels;       /* of hone_cuda_kernel; nvcc: those that a plan launches */
    struct hone_array variables;     /* of hone_cuda_variable */
    struct hone_array plans;         /* of hone_plan, one per workload given, same order */
    struct hone_build_report report; /* compiler, command, diagnostics, log: shown like gcc's */
    const char *rung;
    int64_t split_ns, host_ns, device_ns, record_ns; /* cost by stage, wall */
    bool is_host_cached, is_device_cached;
};

#endif
