/* SPDX-License-Identifier: Apache-2.0 */
/* The client of the compile server (compile_role.c): device text to cubin, several at a time.
 *
 *     struct hone_cuda_unit unit = {.text = device, .arch = "sm_90a", ...};
 *     hone_cuda_compile_start(compiler, &unit, &ticket, err);    at once
 *     ...                                                        the host compiler, timing, ...
 *     hone_cuda_compile_finish(ticket, pool, &object, err);      waits, until unit.deadline_ns
 *
 * The server is started by the first ticket that the cache does not answer, and again when it has
 * died. It runs in the COMPILE jail and sees the toolkit's headers and libraries, nothing of the
 * user's. What it answers is hostile: sizes are bounded here, the cubin is data (cubin.h), the log
 * is text. What is wrong with a text is object.reason. One thread. */
#ifndef HONE_RUNNER_CUDA_COMPILE_H
#define HONE_RUNNER_CUDA_COMPILE_H

#include "tools/format/verdict.h"
#include "workspace/base/buf.h"

struct hone_cuda_toolkit { /* what of NVIDIA's compilers this machine has; "" where there is none */
    char lib_dir[512];     /* real folder that holds NVRTC */
    char nvrtc[600];       /* its real path, for cache keys */
    char include_dir[512]; /* real folder with cuda_runtime.h */
    char cccl_dir[512];    /* the same with cuda/std */
    int64_t identity[3];   /* of the NVRTC file: size, time, inode */
    bool is_first_choice;  /* from $HONE_CUDA_LIB */
};
/* $HONE_CUDA_LIB, /usr/local/cuda, /usr/local/nvidia, the system's folders; headers: also
 * $HONE_CUDA_INCLUDE. Never fails: members stay empty. */
void hone_cuda_toolkit_find(struct hone_cuda_toolkit *ret);

struct hone_cuda_compiler;
struct hone_cuda_compiler_spec {
    const char *rung;
    bool allow_weak;
    bool is_warm; /* many requests will come: precompile headers early */
};
/* Looks for the toolkit; starts nothing yet. Never fails. */
struct hone_cuda_compiler *hone_cuda_compiler_new(const struct hone_cuda_compiler_spec *spec);
const struct hone_cuda_toolkit *
hone_cuda_compiler_toolkit(const struct hone_cuda_compiler *compiler);
const char *hone_cuda_compiler_name(const struct hone_cuda_compiler *compiler); /* "NVRTC 13.0";
                                                                "NVRTC" before the first answer */
void hone_cuda_compiler_stop(struct hone_cuda_compiler *compiler);

struct hone_cuda_unit {
    const char *text;         /* borrowed for the call */
    const char *arch;         /* "sm_90a" */
    const char *const *flags; /* candidate's; NULL-terminated; NULL: none */
    const char *const *names; /* name expressions */
    size_t n_names;
    const char *cache_dir; /* NULL: none */
    int64_t deadline_ns;
};
struct hone_cuda_object {
    enum hone_reason reason; /* BUILT, COMPILE, COMPILE_TIMEOUT, OOM, TOO_LARGE, FORBIDDEN,
                                BAD_FLAG, CRASH of the compiler as COMPILE, NO_JAIL, INFRA */
    const unsigned char *cubin;
    size_t cubin_len;
    const char *log;      /* of front end and ptxas, cut */
    const char **lowered; /* one for each name asked for; NULL: the text has no such thing */
    int64_t wall_ns;      /* of the compile itself */
    bool is_cached;
};

struct hone_cuda_ticket;
/* HONE_E_UNSUPPORTED: no jail; HONE_E_LIMIT: too large a request. */
int hone_cuda_compile_start(struct hone_cuda_compiler *compiler, const struct hone_cuda_unit *unit,
                            struct hone_cuda_ticket **ret, struct hone_err *err);
/* Blocks; frees the ticket, also when it fails (HONE_E_UNSUPPORTED: no NVRTC here). *ret lives in
 * the pool. */
int hone_cuda_compile_finish(struct hone_cuda_ticket *ticket, struct hone_pool *pool,
                             struct hone_cuda_object *ret, struct hone_err *err);
/* The answer is not wanted any more; NULL is fine. */
void hone_cuda_compile_drop(struct hone_cuda_ticket *ticket);
/* The options as given to the compiler, for people: "nvrtc --gpu-architecture=sm_90a ...";
 * in the pool. */
const char *hone_cuda_compile_command(const struct hone_cuda_unit *unit, struct hone_pool *pool);

/* Role "nvrtc": INCLUDE_DIR or "-", then "warm" or nothing; inside the jail. */
int hone_role_nvrtc(int argc, char **argv);

#endif
