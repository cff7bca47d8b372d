/* SPDX-License-Identifier: Apache-2.0 */
/* The second lane's compiler: a whole source to a cubin and a host object, by one nvcc in the
 * COMPILE jail. The object's calls of the CUDA runtime are left open: it is loaded only in the
 * recorder's jail, whose program has them (record_register.c). Nothing links libcudart.
 *
 *   scratch_dir/nvcc/jail/      what the compiler sees and leaves
 *   scratch_dir/nvcc/object/    kernel.so, outside of the compiler's reach
 *
 * Object, cubin, PTX and log are cached by content. Everything that comes out is hostile: the cubin
 * is data (cubin.h), the object is read as data here. One thread; blocks until deadline_ns. */
#ifndef HONE_RUNNER_CUDA_NVCC_COMPILE_H
#define HONE_RUNNER_CUDA_NVCC_COMPILE_H

#include "tools/runner/build/build_diag.h"
#include "tools/runner/cuda/compile/compile.h"

struct hone_nvcc { /* what this machine has; path "" where there is none */
    char path[512];
    char home[512]; /* folder above bin/ */
    char version[24];
    int64_t identity[3];
};
/* $HONE_CUDA_HOME/bin, /usr/local/cuda/bin, $PATH. Where $HONE_CUDA_LIB chose the device compiler
 * only the first counts, so that no two toolkits mix. Never fails. */
void hone_nvcc_find(struct hone_nvcc *ret);

struct hone_nvcc_unit {
    const char *text; /* the whole source */
    const char *tune; /* text put in front: tunables */
    const char *file; /* "candidate.cu", for messages */
    const char *arm;
    const char *symbol;       /* the launcher, must be exported */
    const char *arch;         /* "sm_90a" */
    const char *const *flags; /* candidate's; NULL-terminated; NULL: none */
    const struct hone_nvcc *nvcc;
    const char *rung;
    bool allow_weak;
    const char *cache_dir; /* NULL: none */
    const char *scratch_dir;
    int64_t deadline_ns;
};
struct hone_nvcc_object {
    enum hone_reason reason; /* BUILT, COMPILE, LINK, NO_SYMBOL, COMPILE_TIMEOUT, OOM... */
    const char *path;        /* of the host object */
    char hash[65];           /* of the same */
    const unsigned char *cubin;
    size_t cubin_len;
    const char *ptx; /* NULL: none, or a very long one */
    size_t ptx_len;
    struct hone_array diagnostics;
    const char *log, *rung;
    int64_t wall_ns;
    bool is_cached;
};
/* HONE_E_UNSUPPORTED: no jail, or no C++ compiler for the host. *ret lives in the pool. */
int hone_nvcc_compile(const struct hone_nvcc_unit *unit, struct hone_pool *pool,
                      struct hone_nvcc_object *ret, struct hone_err *err);
/* As run, without folders; in the pool. */
const char *hone_nvcc_command(const struct hone_nvcc_unit *unit, struct hone_pool *pool);

#endif
