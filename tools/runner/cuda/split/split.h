/* SPDX-License-Identifier: Apache-2.0 */
/* One CUDA file into two: what the host's C++ compiler reads and what NVRTC reads.
 *
 * Host text: bodies of kernels are replaced by a stub that hands its parameters to the recorder,
 * functions for the device alone are blanked, and `k<<<g, b, s, st>>>(args)` becomes
 * `(hone_conf(g, b, s, st), k(args))`, also inside macros: overloads, deduction, conversions,
 * default arguments and kernels in variables are the C++ compiler's business. It is compiled behind
 * hone_host_prelude, with hone_host_flags.
 * Device text: declarations that the device does not need (functions without __device__ or
 * __global__, and whatever else mentions the runtime or std::, unless device code names them) are
 * blanked. Both texts have the lines of the source: line numbers of diagnostics are right.
 * Preprocessor lines stay in both, except that #includes of headers for the device alone go from
 * the host text.
 *
 * It is a scanner of declarations, not a compiler: what it cannot be sure about is HONE_E_ARG with
 * the line, never a wrong split. Source text is hostile; any thread; no state. */
#ifndef HONE_RUNNER_CUDA_SPLIT_H
#define HONE_RUNNER_CUDA_SPLIT_H

#include "tools/format/job.h"

struct hone_split_param { /* of a kernel */
    const char *text;     /* "const float *in" */
    bool is_optional;     /* has a default, or is a pack */
};
struct hone_split_kernel {
    const char *name; /* as written; in a macro the macro's own words ("NAME##_kernel") */
    int64_t line;
    bool is_template, is_static, is_in_macro;
    struct hone_array params; /* of hone_split_param */
};
struct hone_split_launch {
    const char *text;   /* "tiled<TILE, 4>" */
    const char *kernel; /* "tiled"; NULL: an expression */
    int64_t n_args;     /* -1: macros or packs hide it */
    int64_t line;
    bool is_in_macro;
};
struct hone_split_include {
    const char *name; /* "cuda_fp16.h" */
    bool is_system;   /* <...> */
    bool is_in_host;  /* still stands in the host text */
    int64_t line;
};
struct hone_split_define { /* a macro, or a constant at file scope */
    const char *name;
    int64_t line;
    bool is_guarded; /* inside #ifndef NAME */
};
struct hone_split {
    const char *host, *device;  /* texts */
    struct hone_array kernels;  /* of hone_split_kernel */
    struct hone_array launches; /* of hone_split_launch */
    struct hone_array includes; /* of hone_split_include */
    struct hone_array defines;  /* of hone_split_define */
    const char *needs_nvcc; /* why the first lane cannot do it (extended lambdas, CUB, Thrust...);
                               NULL: it can */
    int64_t needs_nvcc_line;
    bool needs_library; /* the reason is a library (cuBLAS...) that works on the device by itself:
                           nothing can record what it does */
};

/* Everything in *ret lives in the pool. HONE_E_ARG "line 12: ..." or HONE_E_LIMIT. */
int hone_split(const char *source, size_t len, struct hone_pool *pool, struct hone_split *ret,
               struct hone_err *err);

/* HONE_E_ARG when the source fixes one of the tunables itself: "line 5 defines TILE, so tune(TILE:
 * ...) would have no effect. fix: ...". */
int hone_split_check_tunables(const struct hone_split *split, const struct hone_array *tunables,
                              struct hone_err *err);

/* A better text for a compiler's complaint about the launch at this line ("too few arguments to
 * function"): "tiled has 6 parameters, 5 arguments given; parameter 6 is 'int K'". NULL: none. */
const char *hone_split_explain(const struct hone_split *split, int64_t line, const char *message,
                               struct hone_pool *pool);

/* The C++ header that host text is compiled with: write it to a file (hone_host.hpp; precompiling
 * it pays) and give it first: -include hone_host.hpp -include hone_tune.h. It includes
 * <cuda_runtime.h>: the toolkit's, or hone's where there is none. */
const char *hone_host_prelude(void);
/* The part of it that nvcc's lane needs in front of a source: runtime functions over structs. */
const char *hone_host_structs(void);
struct hone_host_standin { /* one file of a folder for -isystem, where there is no toolkit */
    const char *name, *text;
};
const struct hone_host_standin *hone_host_standins(void); /* ends with a NULL name */
/* "-std=c++17 -O0 -w -fPIC -shared -ffp-contract=off ..."; NULL-terminated. All of
 * them are needed. */
const char *const *hone_host_flags(void);

#endif
