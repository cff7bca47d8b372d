/* SPDX-License-Identifier: Apache-2.0 */
/* What the device's own instructions say: counts by kind and where in the source they stand.
 *
 * nvdisasm, where the toolkit has it, prints the cubin with its line table; this reads the
 * text. Static: a line's weight is the number of its instructions, ten times more for each loop
 * around them (a branch backwards). It is not where time was spent: counters per instruction
 * need other means than the range profiler. Both the cubin and the text are data that may lie;
 * sizes are bounded. */
#ifndef HONE_RUNNER_CUDA_SASS_H
#define HONE_RUNNER_CUDA_SASS_H

#include "workspace/base/buf.h"

enum hone_sass_kind {
    HONE_SASS_LDG_8_16,
    HONE_SASS_LDG_32,
    HONE_SASS_LDG_64,
    HONE_SASS_LDG_128,
    HONE_SASS_STG_8_16,
    HONE_SASS_STG_32,
    HONE_SASS_STG_64,
    HONE_SASS_STG_128,
    HONE_SASS_LDGSTS, /* asynchronous copies to shared memory */
    HONE_SASS_BULK,   /* bulk and tensor copies */
    HONE_SASS_LDS,
    HONE_SASS_STS,
    HONE_SASS_LDSM,
    HONE_SASS_LDL, /* local memory: spills, indexed arrays */
    HONE_SASS_STL,
    HONE_SASS_ATOM,
    HONE_SASS_FFMA, /* and additions, products */
    HONE_SASS_DFMA,
    HONE_SASS_HFMA2,
    HONE_SASS_MMA,   /* of a warp */
    HONE_SASS_WGMMA, /* of a warp group */
    HONE_SASS_MUFU,  /* special functions */
    HONE_SASS_BAR,
    HONE_SASS_SHFL,
    HONE_SASS_BRA,
    HONE_SASS_INTEGER,
    HONE_SASS_OTHER,
    HONE_SASS_N_KINDS
};
const char *hone_sass_kind_name(enum hone_sass_kind kind); /* "ldg_32" */

struct hone_sass_line {
    int64_t line;
    int64_t n_instructions;
    int64_t depth; /* of the deepest loop */
    double weight;
    double by_kind[HONE_SASS_N_KINDS]; /* weights */
    int64_t n_by_kind[HONE_SASS_N_KINDS];
};
struct hone_sass {
    int64_t n_instructions;
    double weight; /* of all lines */
    int64_t n_by_kind[HONE_SASS_N_KINDS];
    struct hone_sass_line *lines; /* in the pool; heaviest first */
    size_t n_lines;
};

/* Reads nvdisasm's text for one kernel (lowered name; NULL: all). False when it is not in it. */
bool hone_sass_read(const char *text, size_t len, const char *kernel, struct hone_pool *pool,
                    struct hone_sass *ret);
/* The line with most weight in these kinds; 0: none has a line. */
int64_t hone_sass_line_of(const struct hone_sass *sass, const enum hone_sass_kind *kinds, size_t n);
/* "3 instructions in a loop of depth 1: 2 ldg_32, 1 ffma" */
const char *hone_sass_describe(const struct hone_sass_line *line, struct hone_pool *pool);

struct hone_sass_request {
    const unsigned char *cubin;
    size_t len;
    const char *scratch_dir; /* a folder of its own is made in it */
    const char *rung;
    bool allow_weak;
    int64_t deadline_ns;
};
/* Runs nvdisasm in a compile jail. HONE_E_UNSUPPORTED when there is none. *ret_text in the pool. */
int hone_sass_disassemble(const struct hone_sass_request *req, struct hone_pool *pool,
                          const char **ret_text, size_t *ret_len, struct hone_err *err);

#endif
