/* SPDX-License-Identifier: Apache-2.0 */
/* What the two lanes of a build (module.c, module_nvcc.c) share. */
#ifndef HONE_RUNNER_CUDA_MODULE_INTERNAL_H
#define HONE_RUNNER_CUDA_MODULE_INTERNAL_H

#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/compile/compile_host.h"
#include "tools/runner/cuda/compile/cubin.h"
#include "tools/runner/cuda/module/module.h"
#include "tools/runner/cuda/module/module_record.h"
#include "tools/runner/cuda/split/split.h"

#define HONE_BUILD_LOG_KEPT 8192 /* bytes of each compiler's output */

struct build {
    const struct hone_cuda_request *req;
    struct hone_pool *pool;
    struct hone_cuda_module *out;
    struct hone_outcome *end;
    const char *file; /* "candidate.cu" */
    const char *tune; /* tunables as text */
    const char *device_text;
    struct hone_split split;
    struct hone_strs names; /* asked for in the last device compile */
    struct hone_host_job *host_job;
    struct hone_cuda_ticket *ticket;
    struct hone_host_object host;
    struct hone_cuda_object device;
    struct hone_array host_diagnostics, device_diagnostics;
    struct hone_cubin cubin;
    struct hone_record_result record;
    int64_t device_start_ns;
    const char *why_nvcc; /* what the first lane cannot do; NULL: nothing */
    bool is_nvcc;         /* this is the second lane */
    bool has_nvrtc_alone; /* the source forbids it */
};

/* The source is at fault, or a limit was met: build->end says which. */
static inline bool hone_build_is_over(const struct build *build)
{
    return build->end->reason != HONE_REASON_BUILT;
}

/* The end after a compiler's refusal: its first error by line, else its log. */
void hone_build_fail(struct build *build, enum hone_reason reason, const char *log);
/* build->device.cubin and .log to kernels and variables of the result. */
int hone_build_read_cubin(struct build *build, struct hone_err *err);
/* build->host to build->record. */
int hone_build_record(struct build *build, struct hone_err *err);
/* The result's plans against device, kernels and task. */
int hone_build_check_plans(struct build *build, struct hone_err *err);

/* The second lane: the whole source by nvcc; build->why_nvcc is there. */
int hone_build_nvcc(struct build *build, struct hone_err *err);
/* What only the first lane's device compiler could tell: that it lacks what the source includes, or
 * stumbles in a header. NULL: the source is at fault. */
const char *hone_build_late_reason(const struct build *build);
/* Is there an nvcc to do it? */
bool hone_build_has_nvcc(void);

#endif
