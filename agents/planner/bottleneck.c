/* SPDX-License-Identifier: Apache-2.0 */
/* The rule trees of bottleneck.h: one table for cpu, one for cuda.
 *
 * A rule is a predicate over features and the words for what it found. Rows stand in the order
 * of causes before symptoms. A predicate that misses a feature answers no. */
#include "agents/planner/bottleneck.h"

#include <string.h>

#include "workspace/task/target.h"

#define NEAR_ROOF_PERCENT 87.0 /* T / T_roof below 1.15 */
#define BOUND_PERCENT     50.0 /* of a roof that is what limits */

static const char *const names[HONE_N_CLASSES] = {
    [HONE_CLASS_NEAR_ROOF] = "near_roof",
    [HONE_CLASS_STRIDED] = "strided",
    [HONE_CLASS_PARALLELISM] = "parallelism_bound",
    [HONE_CLASS_CALLS] = "math_call_bound",
    [HONE_CLASS_CHAIN] = "latency_chain",
    [HONE_CLASS_SCALAR] = "not_vectorized",
    [HONE_CLASS_EXCESS_TRAFFIC] = "excess_traffic",
    [HONE_CLASS_NO_REUSE] = "no_reuse",
    [HONE_CLASS_INDIRECT] = "indirect",
    [HONE_CLASS_MEMORY] = "memory_bound",
    [HONE_CLASS_COMPUTE] = "compute_bound",
    [HONE_CLASS_FAR_FROM_ROOF] = "far_from_roof",
    [HONE_CLASS_MIXED] = "mixed",
    [HONE_CLASS_LAUNCH_BOUND] = "launch_bound",
    [HONE_CLASS_TAIL] = "tail_bound",
    [HONE_CLASS_SPILL] = "spill",
    [HONE_CLASS_EXCESS_WORK] = "excess_work",
    [HONE_CLASS_UNCOALESCED] = "uncoalesced",
    [HONE_CLASS_SHARED_CONFLICT] = "shared_conflict",
    [HONE_CLASS_DRAM] = "dram_bound",
    [HONE_CLASS_L2] = "l2_bound",
    [HONE_CLASS_L1_SHARED] = "l1_shared_bound",
    [HONE_CLASS_TENSOR] = "tensor_bound",
    [HONE_CLASS_FMA] = "fma_bound",
    [HONE_CLASS_XU] = "xu_bound",
    [HONE_CLASS_ALU_INDEX] = "alu_index_bound",
    [HONE_CLASS_DIVERGENCE] = "divergence",
    [HONE_CLASS_BARRIER] = "barrier_bound",
    [HONE_CLASS_LATENCY_OCCUPANCY] = "latency_occupancy",
    [HONE_CLASS_LATENCY_ILP] = "latency_ilp",
};

const char *hone_class_name(enum hone_class class_id)
{
    return names[class_id];
}

#define GET(f, id) hone_feature_or(f, id, 0)
static bool near_roof(const struct hone_features *f)
{
    return GET(f, HONE_F_PERCENT_OF_BOUND) > NEAR_ROOF_PERCENT;
}
static bool strided(const struct hone_features *f)
{
    return GET(f, HONE_F_FAR_INNER) > 0;
}
static bool idle_cores(const struct hone_features *f)
{
    double cores = GET(f, HONE_F_CORES);
    bool is_busy =
        f->v[HONE_F_THREADS_BUSY].is_present && GET(f, HONE_F_THREADS_BUSY) > 0.6 * cores;
    return cores > 1 && !is_busy && GET(f, HONE_F_IS_THREADED) == 0;
}
static bool calls(const struct hone_features *f)
{
    return GET(f, HONE_F_MATH_CALLS) > 0;
}
static bool chain(const struct hone_features *f)
{
    return GET(f, HONE_F_CHAINS) > 0 && GET(f, HONE_F_FAR_INNER) == 0;
}
static bool scalar(const struct hone_features *f)
{
    /* remarks, where there are any, may say that the compiler did all of them by itself */
    bool is_done = f->v[HONE_F_MISSED].is_present && GET(f, HONE_F_MISSED) == 0 &&
                   GET(f, HONE_F_VECTORIZED) >= GET(f, HONE_F_PLAIN_INNER);
    return GET(f, HONE_F_PLAIN_INNER) > 0 && GET(f, HONE_F_IS_SIMD) == 0 && !is_done;
}
static bool traffic(const struct hone_features *f)
{
    return GET(f, HONE_F_COPIES) > 0 || GET(f, HONE_F_PASSES) > 1;
}
static bool no_reuse(const struct hone_features *f)
{
    return GET(f, HONE_F_REUSE) > 0 && GET(f, HONE_F_INTENSITY) > 8;
}
static bool indirect(const struct hone_features *f)
{
    return GET(f, HONE_F_INDIRECT) > 0;
}
static bool memory(const struct hone_features *f)
{
    return GET(f, HONE_F_BOUND_IS_BYTES) > 0 && GET(f, HONE_F_PERCENT_OF_BOUND) > BOUND_PERCENT;
}
static bool flops_are_roof(const struct hone_features *f)
{
    return f->v[HONE_F_BOUND_IS_BYTES].is_present && GET(f, HONE_F_BOUND_IS_BYTES) <= 0;
}
static bool compute(const struct hone_features *f)
{
    return flops_are_roof(f) && GET(f, HONE_F_PERCENT_OF_BOUND) > BOUND_PERCENT;
}
static bool far_from_roof(const struct hone_features *f)
{
    return flops_are_roof(f) && !compute(f);
}
static bool always(const struct hone_features *f)
{
    (void)f;
    return true;
}

struct rule {
    enum hone_class class_id;
    bool (*fires)(const struct hone_features *f);
    const char *rule;
    size_t n_shown;
    enum hone_feature_id shown[5];
};

static const struct rule cpu_rules[] = {
    {HONE_CLASS_NEAR_ROOF, near_roof, "percent_of_bound > 87", 1, {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_STRIDED,
     strided,
     "an access of an innermost loop strides",
     2,
     {HONE_F_FAR_INNER, HONE_F_UNIT_INNER}},
    {HONE_CLASS_PARALLELISM,
     idle_cores,
     "several cores, no threaded loop, not known to keep 60 % of the cores busy",
     4,
     {HONE_F_CORES, HONE_F_THREADS_BUSY, HONE_F_IS_THREADED, HONE_F_PARALLEL_LOOPS}},
    {HONE_CLASS_CALLS, calls, "a scalar math call in an innermost loop", 1, {HONE_F_MATH_CALLS}},
    {HONE_CLASS_CHAIN, chain, "an innermost reduction with one accumulator", 1, {HONE_F_CHAINS}},
    {HONE_CLASS_SCALAR,
     scalar,
     "innermost loops that no pragma and no vector type turns into vectors",
     3,
     {HONE_F_PLAIN_INNER, HONE_F_VECTORIZED, HONE_F_MISSED}},
    {HONE_CLASS_EXCESS_TRAFFIC,
     traffic,
     "copies in a loop or several passes",
     2,
     {HONE_F_COPIES, HONE_F_PASSES}},
    {HONE_CLASS_NO_REUSE,
     no_reuse,
     "operands are read again and flops_per_byte > 8",
     2,
     {HONE_F_REUSE, HONE_F_INTENSITY}},
    {HONE_CLASS_INDIRECT, indirect, "an index comes from memory", 1, {HONE_F_INDIRECT}},
    {HONE_CLASS_MEMORY,
     memory,
     "bytes are the roof and percent_of_bound > 50",
     1,
     {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_COMPUTE,
     compute,
     "flops are the roof and percent_of_bound > 50",
     1,
     {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_FAR_FROM_ROOF,
     far_from_roof,
     "flops, not bytes, are the roof, and it is not known to be near",
     1,
     {HONE_F_PERCENT_OF_BOUND}},
    {HONE_CLASS_MIXED, always, "no other rule fired", 1, {HONE_F_PERCENT_OF_BOUND}},
};

/* ---- cuda: for versions without a profile, and those whose findings were not kept ---- */

#define KNOWN(f, id) ((f)->v[id].is_present)
static bool cuda_near_roof(const struct hone_features *f)
{
    return near_roof(f) ||
           (KNOWN(f, HONE_F_TIME_OVER_ROOF) && GET(f, HONE_F_TIME_OVER_ROOF) < 1.15);
}
static bool cuda_launch(const struct hone_features *f)
{
    return GET(f, HONE_F_LAUNCH_SHARE) > 0.3;
}
static bool cuda_parallelism(const struct hone_features *f)
{
    return GET(f, HONE_F_ONE_THREAD) > 0 || hone_feature_or(f, HONE_F_SM_ACTIVE, 100) < 60;
}
static bool cuda_spill(const struct hone_features *f)
{
    return GET(f, HONE_F_SPILL_BYTES) > 0;
}
static bool cuda_local(const struct hone_features *f)
{
    /* without a frame the compiler found registers for all of them */
    bool has_frame = hone_feature_or(f, HONE_F_FRAME_BYTES, 1) > 0;
    return !cuda_spill(f) && GET(f, HONE_F_LOCAL_ARRAYS) > 0 && has_frame;
}
/* As the profile's own rule has it (gpu_bottleneck.c): bytes of asynchronous copies are not
 * counted, and a request of 16 bytes a thread touches 16 sectors at best. */
static bool is_wasted(const struct hone_features *f, enum hone_feature_id use,
                      enum hone_feature_id sectors)
{
    double n = hone_feature_or(f, sectors, 5);
    if (!KNOWN(f, use))
        return false;
    return GET(f, use) > 0 ? n > 4.5 && GET(f, use) < 70 : n > 16.5;
}
static bool cuda_uncoalesced(const struct hone_features *f)
{
    if (KNOWN(f, HONE_F_SECTOR_USE_LD) || KNOWN(f, HONE_F_SECTOR_USE_ST))
        return is_wasted(f, HONE_F_SECTOR_USE_LD, HONE_F_SECTORS_LD) ||
               is_wasted(f, HONE_F_SECTOR_USE_ST, HONE_F_SECTORS_ST);
    return GET(f, HONE_F_ROW_LOOPS) > 0 || GET(f, HONE_F_FAR_INNER) > GET(f, HONE_F_UNIT_INNER) / 2;
}
static bool cuda_traffic(const struct hone_features *f)
{
    if (KNOWN(f, HONE_F_TRAFFIC_RATIO))
        return GET(f, HONE_F_TRAFFIC_RATIO) > 1.5;
    return GET(f, HONE_F_COPIES) > 0 || GET(f, HONE_F_PASSES) > 0;
}
static bool cuda_dram(const struct hone_features *f)
{
    return GET(f, HONE_F_DRAM_PCT) >= 70;
}
static bool cuda_l1(const struct hone_features *f)
{
    if (KNOWN(f, HONE_F_L1_PCT))
        return GET(f, HONE_F_L1_PCT) >= 60;
    return GET(f, HONE_F_SHARED) == 0 && GET(f, HONE_F_INTENSITY) > 8;
}
/* Rows a multiple of eight words apart: at most four of 32 threads have a bank of their own. */
static bool cuda_conflict(const struct hone_features *f)
{
    return KNOWN(f, HONE_F_CONFLICT_SHARE) ? GET(f, HONE_F_CONFLICT_SHARE) > 0.1
                                           : GET(f, HONE_F_SHARED_COLUMNS) > 0;
}
static bool cuda_fma(const struct hone_features *f)
{
    return GET(f, HONE_F_FMA_PCT) >= 60;
}
static bool cuda_xu(const struct hone_features *f)
{
    return GET(f, HONE_F_XU_PCT) >= 60;
}
static bool cuda_barrier(const struct hone_features *f)
{
    return GET(f, HONE_F_STALL_BARRIER) >= 10;
}
static bool cuda_occupancy(const struct hone_features *f)
{
    return GET(f, HONE_F_STALL_LONG) >= 30 && hone_feature_or(f, HONE_F_WARPS_ACTIVE, 100) < 50;
}
static bool cuda_ilp(const struct hone_features *f)
{
    return GET(f, HONE_F_STALL_LONG) >= 30 && GET(f, HONE_F_WARPS_ACTIVE) >= 50;
}

static const struct rule cuda_rules[] = {
    {HONE_CLASS_NEAR_ROOF,
     cuda_near_roof,
     "percent_of_bound > 87, or time over roof < 1.15",
     2,
     {HONE_F_PERCENT_OF_BOUND, HONE_F_TIME_OVER_ROOF}},
    {HONE_CLASS_LAUNCH_BOUND,
     cuda_launch,
     "launches cost more than 30 % of the call",
     2,
     {HONE_F_LAUNCH_SHARE, HONE_F_LAUNCHES}},
    {HONE_CLASS_PARALLELISM,
     cuda_parallelism,
     "a kernel of one thread, or multiprocessors idle more than 40 % of the time",
     2,
     {HONE_F_ONE_THREAD, HONE_F_SM_ACTIVE}},
    {HONE_CLASS_SPILL, cuda_spill, "registers were spilled to memory", 1, {HONE_F_SPILL_BYTES}},
    {HONE_CLASS_SPILL,
     cuda_local,
     "local arrays with a computed index live in memory",
     2,
     {HONE_F_LOCAL_ARRAYS, HONE_F_FRAME_BYTES}},
    {HONE_CLASS_UNCOALESCED,
     cuda_uncoalesced,
     "neighbouring threads touch memory that is far apart",
     5,
     {HONE_F_SECTOR_USE_LD, HONE_F_SECTOR_USE_ST, HONE_F_ROW_LOOPS, HONE_F_FAR_INNER,
      HONE_F_UNIT_INNER}},
    {HONE_CLASS_EXCESS_TRAFFIC,
     cuda_traffic,
     "the same data is moved several times",
     3,
     {HONE_F_TRAFFIC_RATIO, HONE_F_COPIES, HONE_F_PASSES}},
    {HONE_CLASS_SHARED_CONFLICT,
     cuda_conflict,
     "threads of a warp wait for each other at the banks of shared memory",
     2,
     {HONE_F_CONFLICT_SHARE, HONE_F_SHARED_COLUMNS}},
    {HONE_CLASS_DRAM, cuda_dram, "DRAM at 70 % of its peak or more", 1, {HONE_F_DRAM_PCT}},
    {HONE_CLASS_L1_SHARED,
     cuda_l1,
     "operands are loaded again and again through L1",
     4,
     {HONE_F_L1_PCT, HONE_F_REUSE, HONE_F_INTENSITY, HONE_F_SHARED}},
    {HONE_CLASS_FMA, cuda_fma, "multiply-adds at 60 % of their peak or more", 1, {HONE_F_FMA_PCT}},
    {HONE_CLASS_XU, cuda_xu, "special functions at 60 % of their peak or more", 1, {HONE_F_XU_PCT}},
    {HONE_CLASS_BARRIER,
     cuda_barrier,
     "warps wait at barriers 10 % of the time or more",
     1,
     {HONE_F_STALL_BARRIER}},
    {HONE_CLASS_LATENCY_OCCUPANCY,
     cuda_occupancy,
     "warps wait for memory and few are resident",
     2,
     {HONE_F_STALL_LONG, HONE_F_WARPS_ACTIVE}},
    {HONE_CLASS_LATENCY_ILP,
     cuda_ilp,
     "warps wait for memory although enough are resident",
     2,
     {HONE_F_STALL_LONG, HONE_F_WARPS_ACTIVE}},
    {HONE_CLASS_MIXED, always, "no other rule fired", 1, {HONE_F_PERCENT_OF_BOUND}},
};

size_t hone_bottlenecks(const char *target, const struct hone_features *f, struct hone_pool *pool,
                        struct hone_finding ret[HONE_N_CLASSES])
{
    bool has_device = hone_target_traits(target)->has_device;
    const struct rule *rules = has_device ? cuda_rules : cpu_rules;
    size_t n_rules = has_device ? HONE_COUNTOF(cuda_rules) : HONE_COUNTOF(cpu_rules), n = 0;
    for (size_t i = 0; i < n_rules; i++) {
        if (!rules[i].fires(f) || (rules[i].class_id == HONE_CLASS_MIXED && n > 0))
            continue;
        ret[n++] =
            (struct hone_finding){rules[i].class_id, rules[i].rule,
                                  hone_features_text(f, rules[i].shown, rules[i].n_shown, pool)};
    }
    return n;
}

size_t hone_bottlenecks_of_report(const struct hone_report *report, struct hone_pool *pool,
                                  struct hone_finding ret[HONE_N_CLASSES])
{
    size_t n = 0;
    for (size_t i = 0; report->profile && i < report->profile->bottlenecks.n; i++) {
        const struct hone_bottleneck *b =
            &((const struct hone_bottleneck *)report->profile->bottlenecks.v)[i];
        for (int c = 0; c < HONE_N_CLASSES && n < HONE_N_CLASSES; c++)
            if (b->class_name && strcmp(names[c], b->class_name) == 0)
                ret[n++] = (struct hone_finding){
                    (enum hone_class)c, hone_pool_strdup(pool, b->rule ? b->rule : ""), ""};
    }
    return n;
}
