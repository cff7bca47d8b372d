/* SPDX-License-Identifier: Apache-2.0 */
/* The host half of a candidate: C++ text to a shared object, by g++ in the COMPILE jail.
 *
 * Started and waited for apart, because NVRTC works at the same time. The prelude (cuda_runtime.h
 * and what the recorder needs) is precompiled once per cache folder; objects are cached by content.
 * The object is read as data here and loaded only in the recorder's jail. One thread. */
#ifndef HONE_RUNNER_CUDA_COMPILE_HOST_H
#define HONE_RUNNER_CUDA_COMPILE_HOST_H

#include "tools/runner/build/build_diag.h"
#include "tools/runner/cuda/compile/compile.h"

struct hone_host_unit {
    const char *text;   /* host half; its lines are the source's */
    const char *tune;   /* text put in front: tunables */
    const char *file;   /* "candidate.cu", for messages */
    const char *source; /* whole, for the context of messages */
    const char *arm;
    const char *symbol; /* the launcher, must be exported */
    const struct hone_cuda_toolkit *toolkit;
    const char *rung;
    bool allow_weak;
    const char *cache_dir;
    const char *scratch_dir; /* folder of this build; kernel.so is left in host/object/ */
    int64_t deadline_ns;
};
struct hone_host_object {
    enum hone_reason reason; /* BUILT, COMPILE, LINK, NO_SYMBOL, COMPILE_TIMEOUT, OOM... */
    const char *path;        /* <scratch_dir>/host/object/kernel.so */
    char hash[65];           /* of the object */
    struct hone_array diagnostics;
    const char *log, *rung;
    int64_t wall_ns;
    bool is_cached;
};

/* Its path, in the pool; NULL: there is none. */
const char *hone_host_compiler(struct hone_pool *pool);

struct hone_host_job;
int hone_host_compile_start(const struct hone_host_unit *unit, struct hone_pool *pool,
                            struct hone_host_job **ret, struct hone_err *err);
/* Blocks; frees the job, also when it fails. */
int hone_host_compile_finish(struct hone_host_job *job, struct hone_pool *pool,
                             struct hone_host_object *ret, struct hone_err *err);
void hone_host_compile_drop(struct hone_host_job *job); /* NULL is fine */

#endif
