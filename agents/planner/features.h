/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a version, as numbers with a present flag: from its text, from its last
 * report, from the machine. On cuda the profile's counters are features under their own names.
 *
 * An absent feature makes a predicate "unknown", which forbids nothing. */
#ifndef HONE_AGENTS_FEATURES_H
#define HONE_AGENTS_FEATURES_H

#include "agents/rewrites/coder_rules.h"
#include "tools/format/report.h"
#include "workspace/task/task.h"

enum hone_feature_id {
    /* text */
    HONE_F_LOOP_DEPTH,
    HONE_F_FAR_INNER,      /* accesses of innermost loops that stride */
    HONE_F_UNIT_INNER,     /* accesses of innermost loops at unit stride */
    HONE_F_INDIRECT,       /* accesses through another array */
    HONE_F_REUSE,          /* accesses that an outer loop repeats */
    HONE_F_CHAINS,         /* innermost reductions with one accumulator */
    HONE_F_PARALLEL_LOOPS, /* outermost loops with independent iterations */
    HONE_F_IS_THREADED,
    HONE_F_IS_SIMD,     /* omp simd or vector types are there */
    HONE_F_PLAIN_INNER, /* innermost loops without a vector pragma */
    HONE_F_MATH_CALLS,  /* scalar math calls in loops */
    HONE_F_COPIES,      /* memcpy inside a loop */
    HONE_F_ALLOCATIONS, /* malloc inside the function */
    HONE_F_DIVISIONS,   /* / and % inside innermost loops */
    HONE_F_BRANCHES,    /* if and ?: inside innermost loops */
    HONE_F_PASSES,      /* loops beside each other with the same parent */
    HONE_F_TUNABLES,
    /* text, cuda: some of the above hold for it too, seen from neighbouring threads */
    HONE_F_KERNELS,
    HONE_F_ONE_THREAD,   /* kernels that one thread runs */
    HONE_F_ROW_LOOPS,    /* loops of one thread along contiguous memory */
    HONE_F_LOCAL_ARRAYS, /* in kernels, with a computed index */
    HONE_F_SHARED,
    HONE_F_SHARED_COLUMNS, /* reads down columns of shared arrays whose rows lie a multiple of eight
                              words apart */
    HONE_F_BARRIERS,
    HONE_F_SHUFFLES,
    HONE_F_ATOMICS,
    HONE_F_VECTORS, /* float4 and the like, vector_of */
    HONE_F_ASYNC,   /* cp.async, pipelines, TMA */
    HONE_F_MMA,
    HONE_F_RESTRICT,
    HONE_F_NARROW, /* 16-bit and 8-bit elements */
    /* task */
    HONE_F_INTENSITY,   /* flops per compulsory byte */
    HONE_F_WORKING_SET, /* bytes of the largest workload */
    /* machine and report */
    HONE_F_CORES,
    HONE_F_THREADS_BUSY, /* cpu time / wall time */
    HONE_F_PERCENT_OF_BOUND,
    HONE_F_BOUND_IS_BYTES,
    HONE_F_NS,         /* geometric mean of one call */
    HONE_F_VECTORIZED, /* remarks: loops that the compiler vectorised */
    HONE_F_MISSED,     /* and that it did not */
    HONE_F_ARCH,       /* 90: compute capability 9.0 */
    HONE_F_SM_ACTIVE,  /* first counter; the order of the table in features.c */
    HONE_F_WARPS_ACTIVE,
    HONE_F_ISSUE_ACTIVE,
    HONE_F_WARPS_ELIGIBLE,
    HONE_F_INST,
    HONE_F_DRAM_BYTES,
    HONE_F_DRAM_PCT,
    HONE_F_L2_PCT,
    HONE_F_L2_HIT,
    HONE_F_L1_HIT,
    HONE_F_L1_PCT,
    HONE_F_SHARED_PCT,
    HONE_F_SHARED_WAVEFRONTS,
    HONE_F_FMA_PCT,
    HONE_F_ALU_PCT,
    HONE_F_TENSOR_PCT,
    HONE_F_XU_PCT,
    HONE_F_LSU_PCT,
    HONE_F_LOCAL_LD,
    HONE_F_LANES_ON,
    HONE_F_LANES,
    HONE_F_STALL_LONG,
    HONE_F_STALL_SHORT,
    HONE_F_STALL_BARRIER,
    HONE_F_STALL_LG,
    HONE_F_STALL_MIO,
    HONE_F_STALL_WAIT,
    HONE_F_SECTORS_LD,
    HONE_F_SECTORS_ST,
    HONE_F_SECTOR_USE_LD,
    HONE_F_SECTOR_USE_ST,
    HONE_F_VECTOR_INST,
    HONE_F_ASYNC_INST,
    HONE_F_ATOMIC_INST,
    HONE_F_TIME_OVER_ROOF,
    HONE_F_LAUNCH_SHARE,
    HONE_F_LAUNCHES,
    HONE_F_KERNEL_US,
    HONE_F_TRAFFIC_RATIO,
    HONE_F_WORK_RATIO,
    HONE_F_CONFLICT_SHARE,
    HONE_F_LOCAL_SHARE,
    HONE_F_SPILL_BYTES,
    HONE_F_FRAME_BYTES,
    HONE_F_REGISTERS,
    HONE_F_WAVES,
    HONE_F_OCCUPANCY,
    HONE_F_BLOCK_SIZE,
    HONE_F_LIMIT_REGISTERS,
    HONE_F_LIMIT_SHARED,
    HONE_F_LIMIT_BLOCKS,
    HONE_F_LIMIT_WARPS,
    HONE_N_FEATURES
};

struct hone_feature {
    bool is_present;
    double value;
};
struct hone_features {
    struct hone_feature v[HONE_N_FEATURES];
};

const char *hone_feature_name(enum hone_feature_id id);
/* Those that are known, from `first` on, by name. Owned. */
struct hone_json *hone_features_json(const struct hone_features *features, int first);
/* report may be NULL. Of a text that could not be read (in->is_blind) only what its words tell: the
 * shape of its loops stays unknown. */
void hone_features_of(const struct hone_coder_input *in, const struct hone_task *task,
                      const struct hone_report *report, struct hone_features *ret);
/* HONE_N_FEATURES: none of that name. */
enum hone_feature_id hone_feature_find(const char *name);
double hone_feature_or(const struct hone_features *f, enum hone_feature_id id, double fallback);
/* "threads_busy=1.0 cores=2", the named ones that are present; in the pool. */
const char *hone_features_text(const struct hone_features *f, const enum hone_feature_id *ids,
                               size_t n, struct hone_pool *pool);

/* cuda: the name of the kernel that a profile of several launches saw most time in; in the pool.
 * NULL: it does not tell. */
const char *hone_hot_kernel(const struct hone_report *report, struct hone_pool *pool);

/* Parts of hone_features_of, in features_cuda.c. */
void hone_features_of_cuda(const struct hone_coder_input *in, struct hone_features *f);
void hone_features_of_counters(const struct hone_report *report, struct hone_features *f);

#endif
