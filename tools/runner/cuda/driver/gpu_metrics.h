/* SPDX-License-Identifier: Apache-2.0 */
/* Which hardware counters a profile reads, under NVIDIA's names.
 *
 * One table. The order is the order of the tiers: what is worth most for its replay passes comes
 * first, so that a slow kernel gets a prefix of the table. On GH100 the tiers add up to 3, 4, 7, 8
 * and 9 passes; composite ...throughput names would need 8 passes alone, which is why the units are
 * asked one by one. All names of a tier go into one configuration.
 *
 * Every value is optional: NaN means not counted (chip without it, tier not reached, not allowed).
 * tests/unit/runner/cupti_test.c asks the profiler library whether each name can be scheduled, for
 * chips that need not be there. */
#ifndef HONE_RUNNER_CUDA_GPU_METRICS_H
#define HONE_RUNNER_CUDA_GPU_METRICS_H

#include "workspace/base/base.h"

enum hone_gpu_tier {
    HONE_GPU_TIER_T0,     /* time, traffic, pipes, issue */
    HONE_GPU_TIER_T1,     /* hit rates, bank conflicts, spills, lanes */
    HONE_GPU_TIER_STALLS, /* why warps wait */
    HONE_GPU_TIER_T2,     /* sectors per request, rarer stalls */
    HONE_GPU_TIER_SASS,   /* counted by instrumented instructions */
    HONE_GPU_N_TIERS
};

enum hone_gpu_fold { /* how the values of several launches become one */
                     HONE_GPU_FOLD_SUM,
                     HONE_GPU_FOLD_MEAN /* weighted with each launch's time */
};

enum hone_gpu_metric_id {
    HONE_GPU_TIME,
    HONE_GPU_CYCLES,
    HONE_GPU_SM_ACTIVE,
    HONE_GPU_WARPS_ACTIVE,
    HONE_GPU_ISSUE_ACTIVE,
    HONE_GPU_WARPS_ELIGIBLE,
    HONE_GPU_INST,
    HONE_GPU_DRAM_BYTES,
    HONE_GPU_DRAM_READ,
    HONE_GPU_DRAM_WRITE,
    HONE_GPU_DRAM_PCT,
    HONE_GPU_L2_PCT,
    HONE_GPU_L1_HIT,
    HONE_GPU_L1_PCT,
    HONE_GPU_SHARED_PCT,
    HONE_GPU_FMA_PCT,
    HONE_GPU_ALU_PCT,
    HONE_GPU_TENSOR_PCT,
    HONE_GPU_L2_HIT,
    HONE_GPU_CONFLICTS_LD,
    HONE_GPU_CONFLICTS_ST,
    HONE_GPU_SHARED_WAVEFRONTS,
    HONE_GPU_LOCAL_LD,
    HONE_GPU_LANES,
    HONE_GPU_LANES_ON,
    HONE_GPU_XU_PCT,
    HONE_GPU_LSU_PCT,
    HONE_GPU_FP64_PCT,
    HONE_GPU_STALL_LONG,
    HONE_GPU_STALL_SHORT,
    HONE_GPU_STALL_BARRIER,
    HONE_GPU_STALL_MATH,
    HONE_GPU_STALL_LG,
    HONE_GPU_STALL_MIO,
    HONE_GPU_STALL_WAIT,
    HONE_GPU_STALL_NOT_SELECTED,
    HONE_GPU_SECTORS_LD,
    HONE_GPU_SECTORS_ST,
    HONE_GPU_STALL_DRAIN,
    HONE_GPU_STALL_NO_INST,
    HONE_GPU_STALL_GMMA,
    HONE_GPU_SECTOR_USE_LD,
    HONE_GPU_SECTOR_USE_ST,
    HONE_GPU_WAVEFRONT_USE,
    HONE_GPU_FFMA,
    HONE_GPU_FADD,
    HONE_GPU_FMUL,
    HONE_GPU_DFMA,
    HONE_GPU_HFMA,
    HONE_GPU_INST_128B,
    HONE_GPU_INST_LDGSTS,
    HONE_GPU_ATOMS,
    HONE_GPU_REDS,
    HONE_GPU_LOCAL_ST,
    HONE_GPU_N_METRICS
};

struct hone_gpu_metric {
    const char *name;
    const char *instead; /* the name on chips that refuse the first; NULL: none */
    const char *not_on;  /* chips known to refuse both, with a space around each; NULL: none */
    const char *unit;
    const char *feeds; /* what it says */
    enum hone_gpu_tier tier;
    enum hone_gpu_fold fold;
};
extern const struct hone_gpu_metric hone_gpu_metrics[HONE_GPU_N_METRICS];

struct hone_gpu_values { /* by enum hone_gpu_metric_id; NaN: not counted */
    double v[HONE_GPU_N_METRICS];
};
void hone_gpu_values_init(struct hone_gpu_values *ret); /* all NaN */
const char *hone_gpu_tier_name(enum hone_gpu_tier tier);
/* The metrics of a tier and of those before it are the first ones of the table: how many. */
size_t hone_gpu_n_metrics(enum hone_gpu_tier last);
/* Sum or time-weighted mean over launches. A sum needs all of them; a mean takes those that have
 * a value (a launch without shared accesses has no average of them). */
void hone_gpu_values_fold(const struct hone_gpu_values *each, size_t n,
                          struct hone_gpu_values *ret);
/* A range is open from before its launch until the host has seen its end. Where the host was late,
 * units look idle that were not (48.7 % for 98 %, H200, 2026-11-22). open: time of all ranges over
 * that of the whole call on the host's clock without the profiler, which no kernel can exceed.
 * Shares of elapsed time become shares of the latter, and so does the time. Nothing happens where
 * open is not above 1, or infinite or NaN. */
void hone_gpu_values_without_host(struct hone_gpu_values *values, double open);

#endif
