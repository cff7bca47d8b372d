/* SPDX-License-Identifier: Apache-2.0 */
/* Records what a launcher does: runs its host object in a jail without a GPU, against a runtime
 * of our own (record_exports.h), and makes one plan per workload.
 *
 *   caller (judge)                      jail, role "recorder" (HONE_JAIL_RECORD)
 *   spec -> memory file          ->     dlopen the object; for each workload, twice:
 *                                           fork; the child calls the launcher with all buffers at
 *                                           addresses of this run, never mapped; every runtime call
 *                                           is written to the child's own part of a memory file
 *   plans <- compare both runs   <-     the jail ends
 *
 * Words that moved with a buffer between the two runs are pointers into it, equal words are values,
 * anything else is refused. The recording is hostile input like everything that comes out of a
 * jail: record_read.c checks it, then hone_plan_valid. Runner main thread; blocks.
 *
 * Names of kernels and variables in the plans are those of the host object, which are
 * NVRTC's lowered names too, except for templates NVRTC has not been asked for and for what
 * is static or in an anonymous namespace: ask NVRTC for `expression` of every instance that
 * has one, then hone_record_rename. */
#ifndef HONE_RUNNER_CUDA_RECORD_H
#define HONE_RUNNER_CUDA_RECORD_H

#include "tools/format/plan.h"
#include "tools/runner/arena/arm.h"
#include "workspace/task/task.h"

struct hone_record_spec {
    const char *object;           /* host path of the object; its folder is shown at /work */
    const struct hone_task *task; /* selected for cuda */
    const struct hone_workload *workloads;
    size_t n_workloads;
    const double *scalars;                  /* n_workloads x task->n_scalars */
    const struct hone_plan_device *device;  /* NULL: those of an H200 */
    const struct hone_plan_kernel *kernels; /* facts of the cubin's kernels by lowered name; may be
                                               empty: careful guesses are given then */
    size_t n_kernels;
    const struct hone_array *params; /* n_kernels lists of hone_plan_param, for is_nvcc; NULL: none
                                      */
    bool is_nvcc; /* the object was made by nvcc (nvcc_compile.h): kernels have the cubin's names
                     from the start, and their facts must be there */
    const char *rung;
    bool allow_weak;
    int64_t timeout_ms; /* of one call of the launcher; 0: 2000 */
    int64_t deadline_ns;
};

struct hone_record_instance { /* a kernel or variable that some plan names */
    const char *symbol;       /* in the host object, and in the plans until renamed */
    const char *expression;   /* name expression for NVRTC ("tiled<16, float>"); NULL: not needed */
    const char *lowered;      /* filled by the caller before hone_record_rename; NULL: as symbol */
    const char *typed; /* the same with its type, which tells overloads apart; expression is this
                          where two of them have the same words */
    bool is_variable;  /* expression is "&name" */
};

struct hone_record_result {
    struct hone_array plans;     /* of hone_plan, one per workload, same order */
    struct hone_array instances; /* of hone_record_instance */
    bool asked_facts;            /* the launcher asked for occupancy or attributes of kernels that
                            `kernels` does not tell: record again once the cubin is there */
    const char *printed;         /* what the launcher printed, cut */
    const char *rung;
};

/* 0 with *ret_end: BUILT, or how the launcher failed (NO_SYMBOL, LINK, CRASH, TIMEOUT, EXITED, OOM,
 * FORBIDDEN, LAUNCH, BAD_REQUEST) with a message for the coder. ret in the pool; plans are complete
 * only when BUILT. */
int hone_record(const struct hone_record_spec *spec, struct hone_pool *pool,
                struct hone_record_result *ret, struct hone_outcome *ret_end, struct hone_err *err);

/* Puts lowered names into the plans. */
void hone_record_rename(struct hone_array *plans, const struct hone_array *instances);

/* Role "recorder": in the jail. */
int hone_role_recorder(int argc, char **argv);

#endif
