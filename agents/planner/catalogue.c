/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies as two tables, C01... for cpu and G01... for cuda (catalogue.h).
 *
 * A row has the class that it cures, the resource that it touches, the expected gain,
 * the feature that must move, and its conditions. The needs_... functions are
 * conditions that are more than a comparison. A condition over an absent feature is
 * "unknown", which forbids nothing. */
#include "agents/planner/catalogue.h"

#include <string.h>

static enum hone_tri condition(const struct hone_condition *c, const struct hone_features *f)
{
    if (!f->v[c->feature].is_present)
        return HONE_TRI_UNKNOWN;
    double value = f->v[c->feature].value;
    return (c->op == '>' ? value > c->value : value < c->value) ? HONE_TRI_TRUE : HONE_TRI_FALSE;
}

static enum hone_tri positive(const struct hone_features *f, enum hone_feature_id id)
{
    return condition(&(struct hone_condition){id, '>', 0}, f);
}

#define NEEDS(name, id)                                                                            \
    static enum hone_tri name(const struct hone_features *f)                                       \
    {                                                                                              \
        return positive(f, id);                                                                    \
    }
NEEDS(needs_reuse, HONE_F_REUSE)
NEEDS(needs_stride, HONE_F_FAR_INNER)
NEEDS(needs_chain, HONE_F_CHAINS)
NEEDS(needs_plain, HONE_F_PLAIN_INNER)
NEEDS(needs_indirect, HONE_F_INDIRECT)
NEEDS(needs_copies, HONE_F_COPIES)
NEEDS(needs_passes, HONE_F_PASSES)
NEEDS(needs_calls, HONE_F_MATH_CALLS)
NEEDS(needs_branches, HONE_F_BRANCHES)
NEEDS(needs_divisions, HONE_F_DIVISIONS)
NEEDS(needs_allocations, HONE_F_ALLOCATIONS)

/* A cache line that is left half used is read again too. */
static enum hone_tri needs_lines(const struct hone_features *f)
{
    enum hone_tri reuse = needs_reuse(f), stride = needs_stride(f);
    return reuse > stride ? reuse : stride;
}

/* Several passes over the data, or one that reads what it wrote before. */
static enum hone_tri needs_rounds(const struct hone_features *f)
{
    enum hone_tri passes = needs_passes(f), reuse = needs_reuse(f);
    return passes > reuse ? passes : reuse;
}

static enum hone_tri needs_prefetch(const struct hone_features *f)
{
    enum hone_tri indirect = needs_indirect(f), stride = needs_stride(f);
    return indirect > stride ? indirect : stride;
}

static enum hone_tri needs_math(const struct hone_features *f)
{
    enum hone_tri calls = needs_calls(f), chains = needs_chain(f), divisions = needs_divisions(f);
    if (calls == HONE_TRI_TRUE || chains == HONE_TRI_TRUE || divisions == HONE_TRI_TRUE)
        return HONE_TRI_TRUE;
    return calls == HONE_TRI_UNKNOWN ? HONE_TRI_UNKNOWN : HONE_TRI_FALSE;
}

static enum hone_tri needs_cores(const struct hone_features *f)
{
    if (!f->v[HONE_F_CORES].is_present)
        return HONE_TRI_UNKNOWN;
    return f->v[HONE_F_CORES].value > 1 ? positive(f, HONE_F_PARALLEL_LOOPS) : HONE_TRI_FALSE;
}

/* Enough operations a byte that the multiply-add units can be the limit. */
static enum hone_tri needs_operations(const struct hone_features *f)
{
    return condition(&(struct hone_condition){HONE_F_INTENSITY, '>', 8}, f);
}

static enum hone_tri needs_threads(const struct hone_features *f)
{
    return positive(f, HONE_F_IS_THREADED);
}

static enum hone_tri needs_far_memory(const struct hone_features *f)
{
    if (!f->v[HONE_F_WORKING_SET].is_present)
        return HONE_TRI_UNKNOWN;
    return f->v[HONE_F_WORKING_SET].value > 16e6 ? HONE_TRI_TRUE : HONE_TRI_FALSE;
}

/* Chosen by somebody who has an idea, or made elsewhere (merge.h); never by the rules. */
static enum hone_tri never(const struct hone_features *f)
{
    (void)f;
    return HONE_TRI_FALSE;
}

#define HELPS(...)                                                                                 \
    .helps = {__VA_ARGS__},                                                                        \
    .n_helps = sizeof((enum hone_class[]){__VA_ARGS__}) / sizeof(enum hone_class)

#define NEEDS_ANY(...)                                                                             \
    .n_needs = sizeof((struct hone_condition[]){__VA_ARGS__}) / sizeof(struct hone_condition),     \
    .needs = {__VA_ARGS__}

const struct hone_strategy hone_strategies[] = {
    {"C01", "cpu", "cache blocking", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_STRIDED, HONE_CLASS_MEMORY), 0.0, 0.5, 3.3,
     HONE_F_PERCENT_OF_BOUND, 1, "L1 tile 16-64, L2 64-512, L3 by size", needs_lines},
    {"C02", "cpu", "loop interchange to unit stride", HONE_CUT, HELPS(HONE_CLASS_STRIDED), 1.0, 2.2,
     3.3, HONE_F_FAR_INNER, -1, "order", needs_stride},
    {"C03", "cpu", "several accumulators", HONE_RAISE, HELPS(HONE_CLASS_CHAIN, HONE_CLASS_SCALAR),
     1.0, 1.8, 3.0, HONE_F_CHAINS, -1, "4-64 accumulators", needs_chain},
    {"C04", "cpu", "let the compiler vectorise", HONE_RAISE,
     HELPS(HONE_CLASS_SCALAR, HONE_CLASS_CHAIN), 0.0, 1.1, 3.0, HONE_F_PLAIN_INNER, -1, "none",
     needs_plain},
    {"C05", "cpu", "explicit SIMD", HONE_RAISE,
     HELPS(HONE_CLASS_SCALAR, HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF), 0.2, 0.8, 1.6,
     HONE_F_IS_SIMD, 1, "width, masks", NULL},
    {"C06", "cpu", "structure of arrays", HONE_CUT, HELPS(HONE_CLASS_STRIDED), 0.5, 1.0, 2.0,
     HONE_F_FAR_INNER, -1, "block = vector width", needs_stride},
    {"C07", "cpu", "pack panels", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_STRIDED, HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF),
     2.0, 4.6, 6.0, HONE_F_FAR_INNER, -1, "MR 4-8, NR 8-32", needs_lines},
    {"C08", "cpu", "thread the outer loop", HONE_RAISE, HELPS(HONE_CLASS_PARALLELISM), 0.6, 0.95,
     1.0, HONE_F_THREADS_BUSY, 1, "static, dynamic, chunk, threads", needs_cores},
    {"C09", "cpu", "first touch, pinning", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 1.0,
     HONE_F_PERCENT_OF_BOUND, 1, "policy", needs_threads},
    {"C10", "cpu", "pad against false sharing", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 3.0,
     HONE_F_PERCENT_OF_BOUND, 1, "64 or 128 bytes", needs_threads},
    {"C11", "cpu", "software prefetch", HONE_RAISE, HELPS(HONE_CLASS_INDIRECT), 0.0, 0.2, 0.6,
     HONE_F_PERCENT_OF_BOUND, 1, "distance 4-64", needs_prefetch},
    {"C12", "cpu", "non-temporal stores", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 0.6,
     HONE_F_PERCENT_OF_BOUND, 1, "threshold", needs_far_memory},
    {"C13", "cpu", "huge pages, page-friendly blocking", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0,
     0.2, 0.6, HONE_F_PERCENT_OF_BOUND, 1, "2 MiB", needs_far_memory},
    {"C14", "cpu", "borders apart, branchless, table", HONE_CUT, HELPS(HONE_CLASS_SCALAR), 0.2, 0.8,
     2.0, HONE_F_BRANCHES, -1, "none", needs_branches},
    {"C15", "cpu", "fast math, reciprocal", HONE_CUT,
     HELPS(HONE_CLASS_CALLS, HONE_CLASS_CHAIN, HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF), 0.0,
     1.0, 3.0, HONE_F_NS, -1, "Newton steps", needs_math},
    {"C16", "cpu", "compiler switches", HONE_RAISE, HELPS(HONE_CLASS_MIXED), -0.1, 0.1, 0.6,
     HONE_F_NS, -1, "list sweep", NULL},
    {"C17", "cpu", "fuse or split loops", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_CALLS), 0.1, 0.7, 1.6, HONE_F_PERCENT_OF_BOUND, 1,
     "cut", needs_passes},
    {"C18", "cpu", "hoist, strength-reduce, no division in loops", HONE_CUT,
     HELPS(HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF), 0.0, 0.3, 1.0, HONE_F_DIVISIONS, -1,
     "none", needs_divisions},
    {"C19", "cpu", "hoist allocation, no memset", HONE_CUT, HELPS(HONE_CLASS_EXCESS_TRAFFIC), 0.0,
     0.3, 2.0, HONE_F_ALLOCATIONS, -1, "none", needs_allocations},
    {"C20", "cpu", "wavefront and temporal blocking", HONE_CUT,
     HELPS(HONE_CLASS_MEMORY, HONE_CLASS_EXCESS_TRAFFIC), 0.2, 0.8, 1.6, HONE_F_PERCENT_OF_BOUND, 1,
     "depth 2-16", needs_rounds},
    {"C21", "cpu", "size-specialised kernels", HONE_CUT,
     HELPS(HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF), 0.0, 0.3, 1.0, HONE_F_PERCENT_OF_BOUND, 1,
     "sizes", NULL},
    {"C22", "cpu", "better algorithm or data structure", HONE_CUT, HELPS(HONE_CLASS_MIXED), 0.0,
     2.0, 5.0, HONE_F_NS, -1, "none", NULL},
    {"C23", "cpu", "iteration for recursion, cache-oblivious order", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE), 0.0, 0.3, 1.0, HONE_F_PERCENT_OF_BOUND, 1, "base case",
     needs_reuse},
    {"C24", "cpu", "split rows or trees for load balance", HONE_RAISE,
     HELPS(HONE_CLASS_PARALLELISM), 0.5, 0.95, 1.6, HONE_F_THREADS_BUSY, 1, "grain", needs_cores},
    {"G06", "cpu", "register micro-tile", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_STRIDED, HONE_CLASS_COMPUTE, HONE_CLASS_FAR_FROM_ROOF),
     2.0, 4.5, 6.0, HONE_F_FAR_INNER, -1, "MR 4-8, NR 8-32", needs_lines},
    {"G44", "cpu", "polynomial for transcendentals", HONE_CUT, HELPS(HONE_CLASS_CALLS), 0.2, 1.6,
     3.0, HONE_F_MATH_CALLS, -1, "degree", needs_calls},
    {"G51", "cpu", "buffer reuse, no copy back", HONE_CUT, HELPS(HONE_CLASS_EXCESS_TRAFFIC), 0.1,
     0.7, 1.3, HONE_F_COPIES, -1, "none", needs_copies},

    /* cuda */
    {"G01", "cuda", "coalesce global access", HONE_CUT, HELPS(HONE_CLASS_UNCOALESCED), 0.58, 1.58,
     3.00, HONE_F_SECTORS_LD, -1, "which index threadIdx.x runs over; a shared-memory turn", NULL,
     NEEDS_ANY({HONE_F_SECTOR_USE_LD, '<', 70}, {HONE_F_SECTOR_USE_ST, '<', 70},
               {HONE_F_FAR_INNER, '>', 0}, {HONE_F_SECTORS_LD, '>', 6})},
    {"G02", "cuda", "vector loads and stores", HONE_RAISE,
     HELPS(HONE_CLASS_L1_SHARED, HONE_CLASS_LATENCY_ILP, HONE_CLASS_DRAM), 0.00, 0.26, 0.58,
     HONE_F_VECTOR_INST, 1, "8 or 16 bytes; 2, 4, 8 elements", NULL, .resource = HONE_DRAM},
    {"G03", "cuda", "align and peel the tail", HONE_CUT, HELPS(HONE_CLASS_DIVERGENCE), 0.00, 0.07,
     0.20, HONE_F_LANES_ON, 1, "peel size", NULL, NEEDS_ANY({HONE_F_LANES_ON, '<', 30}),
     .resource = HONE_WORK},
    {"G04", "cuda", "change the data layout, turn axes", HONE_CUT, HELPS(HONE_CLASS_UNCOALESCED),
     1.00, 2.32, 3.70, HONE_F_SECTOR_USE_ST, 1, "tile 32-64, rows 4-16", NULL,
     NEEDS_ANY({HONE_F_SECTOR_USE_LD, '<', 70}, {HONE_F_SECTOR_USE_ST, '<', 70},
               {HONE_F_FAR_INNER, '>', 0})},
    {"G05", "cuda", "shared-memory tile", HONE_CUT,
     HELPS(HONE_CLASS_L1_SHARED, HONE_CLASS_L2, HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_UNCOALESCED),
     1.00, 3.00, 4.32, HONE_F_FMA_PCT, 1, "16-128 along each axis, 8-64 along k", NULL,
     NEEDS_ANY({HONE_F_REUSE, '>', 0}, {HONE_F_INTENSITY, '>', 8}, {HONE_F_LOCAL_ARRAYS, '>', 0},
               {HONE_F_PASSES, '>', 0})},
    {"G06", "cuda", "register micro-tile, thread coarsening", HONE_CUT,
     HELPS(HONE_CLASS_L1_SHARED, HONE_CLASS_LATENCY_ILP, HONE_CLASS_ALU_INDEX), 0.00, 0.38, 2.00,
     HONE_F_FMA_PCT, 1, "2x2 to 8x16; rows 2-8", NULL},
    {"G07", "cuda", "remove bank conflicts", HONE_CUT, HELPS(HONE_CLASS_SHARED_CONFLICT), 0.07,
     0.38, 1.00, HONE_F_CONFLICT_SHARE, -1, "pad 1-8, swizzle bits", NULL,
     NEEDS_ANY({HONE_F_CONFLICT_SHARE, '>', 0.1})},
    {"G08", "cuda", "cache hints, read-only path", HONE_CUT,
     HELPS(HONE_CLASS_L2, HONE_CLASS_EXCESS_TRAFFIC), 0.00, 0.07, 0.38, HONE_F_L2_HIT, 1,
     "evict first or last, window bytes", NULL, .resource = HONE_TRAFFIC},
    {"G09", "cuda", "asynchronous copies to shared memory", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_ILP, HONE_CLASS_LATENCY_OCCUPANCY), 0.14, 0.38, 0.85,
     HONE_F_ASYNC_INST, 1, "stages 2-5", NULL, NEEDS_ANY({HONE_F_SHARED, '>', 0}),
     .resource = HONE_DRAM, .min_arch = 80},
    {"G10", "cuda", "bulk tensor copies and mbarriers", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_ILP, HONE_CLASS_TENSOR), 0.07, 0.26, 0.49, HONE_F_INST, -1,
     "box, stages 2-6, swizzle", NULL, NEEDS_ANY({HONE_F_SHARED, '>', 0}), .resource = HONE_DRAM,
     .min_arch = 90},
    {"G11", "cuda", "keep in registers, prefetch into them", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_ILP, HONE_CLASS_EXCESS_TRAFFIC), 0.07, 0.38, 1.00, HONE_F_STALL_LONG,
     -1, "items 4-32, distance 1-3", NULL, .resource = HONE_DRAM},
    {"G12", "cuda", "more independent loads in flight", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_ILP, HONE_CLASS_LATENCY_OCCUPANCY), 0.14, 0.49, 1.00, HONE_F_DRAM_PCT,
     1, "2-8 loads", NULL, NEEDS_ANY({HONE_F_DRAM_PCT, '<', 60}), .resource = HONE_DRAM},
    {"G13", "cuda", "unroll", HONE_RAISE, HELPS(HONE_CLASS_LATENCY_ILP, HONE_CLASS_ALU_INDEX), 0.00,
     0.20, 0.58, HONE_F_ISSUE_ACTIVE, 1, "2-16", NULL, .resource = HONE_SM},
    {"G14", "cuda", "block size and shape", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_OCCUPANCY, HONE_CLASS_TAIL, HONE_CLASS_PARALLELISM), -0.07, 0.07,
     0.58, HONE_F_WARPS_ACTIVE, 1, "64-1024, one or two dimensions", NULL},
    {"G15", "cuda", "raise the occupancy", HONE_RAISE, HELPS(HONE_CLASS_LATENCY_OCCUPANCY), 0.00,
     0.26, 0.58, HONE_F_WARPS_ACTIVE, 1, "blocks 1-8, registers 32-128", NULL,
     NEEDS_ANY({HONE_F_WARPS_ACTIVE, '<', 50}), .resource = HONE_DRAM},
    {"G16", "cuda", "lower the register pressure", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_OCCUPANCY, HONE_CLASS_SPILL), 0.07, 0.26, 0.58, HONE_F_REGISTERS, -1,
     "none", NULL, NEEDS_ANY({HONE_F_REGISTERS, '>', 95}), .resource = HONE_DRAM},
    {"G17", "cuda", "remove spills and indexed local arrays", HONE_CUT, HELPS(HONE_CLASS_SPILL),
     0.14, 0.85, 1.58, HONE_F_LOCAL_LD, -1, "full unroll, select chain", NULL,
     NEEDS_ANY({HONE_F_LOCAL_LD, '>', 0}, {HONE_F_SPILL_BYTES, '>', 0},
               {HONE_F_LOCAL_ARRAYS, '>', 0})},
    {"G18", "cuda", "split the row or reduction axis among threads", HONE_RAISE,
     HELPS(HONE_CLASS_PARALLELISM, HONE_CLASS_UNCOALESCED, HONE_CLASS_L1_SHARED), 0.38, 2.58, 4.32,
     HONE_F_SM_ACTIVE, 1, "2-1024 lanes, split 2-16", NULL,
     NEEDS_ANY({HONE_F_ROW_LOOPS, '>', 0}, {HONE_F_ONE_THREAD, '>', 0},
               {HONE_F_SECTOR_USE_LD, '<', 70})},
    {"G19", "cuda", "stream-K, a scheduler of tiles", HONE_RAISE, HELPS(HONE_CLASS_TAIL), 0.07,
     0.20, 0.38, HONE_F_SM_ACTIVE, 1, "work unit", NULL, NEEDS_ANY({HONE_F_WAVES, '<', 4}),
     .resource = HONE_SM},
    {"G20", "cuda", "grid-stride, blocks for the machine", HONE_RAISE,
     HELPS(HONE_CLASS_PARALLELISM, HONE_CLASS_LAUNCH_BOUND, HONE_CLASS_TAIL), 0.00, 1.58, 3.32,
     HONE_F_SM_ACTIVE, 1, "blocks = k x multiprocessors", NULL},
    {"G21", "cuda", "order of blocks for L2", HONE_CUT,
     HELPS(HONE_CLASS_L2, HONE_CLASS_EXCESS_TRAFFIC), 0.03, 0.14, 0.38, HONE_F_L2_HIT, 1,
     "group 2-16", NULL, NEEDS_ANY({HONE_F_L2_HIT, '<', 80}), .resource = HONE_TRAFFIC},
    {"G22", "cuda", "interchange loops", HONE_CUT, HELPS(HONE_CLASS_UNCOALESCED), 0.26, 1.00, 2.32,
     HONE_F_SECTORS_LD, -1, "order", NULL, NEEDS_ANY({HONE_F_FAR_INNER, '>', 0})},
    {"G23", "cuda", "fuse into the producer's end", HONE_CUT,
     HELPS(HONE_CLASS_DRAM, HONE_CLASS_LAUNCH_BOUND, HONE_CLASS_EXCESS_TRAFFIC), 0.14, 0.68, 1.58,
     HONE_F_DRAM_BYTES, -1, "operations", NULL, NEEDS_ANY({HONE_F_KERNELS, '>', 1}),
     .resource = HONE_TRAFFIC},
    {"G24", "cuda", "fuse into the consumer's start", HONE_CUT,
     HELPS(HONE_CLASS_DRAM, HONE_CLASS_LAUNCH_BOUND, HONE_CLASS_EXCESS_TRAFFIC), 0.14, 0.58, 1.58,
     HONE_F_DRAM_BYTES, -1, "none", NULL, NEEDS_ANY({HONE_F_KERNELS, '>', 1}),
     .resource = HONE_TRAFFIC},
    {"G25", "cuda", "fuse small kernels side by side", HONE_RAISE,
     HELPS(HONE_CLASS_LAUNCH_BOUND, HONE_CLASS_PARALLELISM), 0.26, 0.68, 1.58, HONE_F_LAUNCHES, -1,
     "partition", NULL, NEEDS_ANY({HONE_F_LAUNCHES, '>', 1}, {HONE_F_KERNELS, '>', 1})},
    {"G26", "cuda", "one-pass algorithm", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_DRAM), 0.14, 0.58, 1.32, HONE_F_DRAM_BYTES, -1,
     "chunk", NULL, NEEDS_ANY({HONE_F_PASSES, '>', 0}), .resource = HONE_TRAFFIC},
    {"G27", "cuda", "split the kernel", HONE_RAISE,
     HELPS(HONE_CLASS_LATENCY_OCCUPANCY, HONE_CLASS_BARRIER), -0.15, 0.14, 0.49, HONE_F_REGISTERS,
     -1, "cut", NULL, NEEDS_ANY({HONE_F_REGISTERS, '>', 95})},
    {"G28", "cuda", "warp-shuffle reduction", HONE_CUT, HELPS(HONE_CLASS_BARRIER), 0.14, 0.38, 0.68,
     HONE_F_STALL_BARRIER, -1, "warps 1-32", NULL, NEEDS_ANY({HONE_F_STALL_BARRIER, '>', 5})},
    {"G29", "cuda", "privatised or aggregated atomics", HONE_CUT, HELPS(HONE_CLASS_L2), 0.58, 2.00,
     4.32, HONE_F_ATOMIC_INST, -1, "copies 1-32", NULL, NEEDS_ANY({HONE_F_ATOMICS, '>', 0})},
    {"G30", "cuda", "single-pass scan", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_LAUNCH_BOUND), 0.38, 0.68, 1.00, HONE_F_DRAM_BYTES,
     -1, "tile 1-8 K", NULL, NEEDS_ANY({HONE_F_KERNELS, '>', 1}), .resource = HONE_TRAFFIC},
    {"G31", "cuda", "tensor cores", HONE_CUT,
     HELPS(HONE_CLASS_FMA, HONE_CLASS_L1_SHARED, HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_UNCOALESCED),
     2.00, 4.00, 6.00, HONE_F_TENSOR_PCT, 1, "MMA shape, type", needs_operations,
     NEEDS_ANY({HONE_F_NARROW, '>', 0}), .min_arch = 80},
    {"G32", "cuda", "narrow storage, wide accumulation", HONE_CUT, HELPS(HONE_CLASS_DRAM), 0.14,
     0.58, 1.00, HONE_F_DRAM_BYTES, -1, "fp16, bf16, int8", NULL, .resource = HONE_TRAFFIC},
    {"G33", "cuda", "fast intrinsics, contraction", HONE_CUT,
     HELPS(HONE_CLASS_XU, HONE_CLASS_ALU_INDEX), 0.00, 0.20, 0.58, HONE_F_INST, -1, "per function",
     NULL, NEEDS_ANY({HONE_F_MATH_CALLS, '>', 0}, {HONE_F_XU_PCT, '>', 40})},
    {"G34", "cuda", "cheaper indices", HONE_CUT, HELPS(HONE_CLASS_ALU_INDEX), 0.00, 0.20, 0.49,
     HONE_F_ALU_PCT, -1, "32-bit, strength reduction", NULL},
    {"G35", "cuda", "hoist invariants, fix sizes at compile time", HONE_CUT,
     HELPS(HONE_CLASS_ALU_INDEX, HONE_CLASS_SPILL), 0.07, 0.38, 1.00, HONE_F_INST, -1, "sizes",
     NULL},
    {"G36", "cuda", "remove divergence", HONE_CUT, HELPS(HONE_CLASS_DIVERGENCE), 0.14, 0.58, 1.58,
     HONE_F_LANES, 1, "none", NULL, NEEDS_ANY({HONE_F_LANES, '<', 28})},
    {"G37", "cuda", "balance the load", HONE_RAISE, HELPS(HONE_CLASS_TAIL, HONE_CLASS_DIVERGENCE),
     0.26, 0.85, 2.32, HONE_F_SM_ACTIVE, 1, "bin sizes", NULL,
     NEEDS_ANY({HONE_F_INDIRECT, '>', 0}, {HONE_F_SM_ACTIVE, '<', 85})},
    {"G38", "cuda", "exploit structure", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_WORK, HONE_CLASS_DRAM, HONE_CLASS_FMA), 0.58, 1.00, 6.64, HONE_F_INST,
     -1, "none", NULL, .resource = HONE_WORK},
    {"G39", "cuda", "algebraic or algorithmic rewrite", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_WORK, HONE_CLASS_FMA, HONE_CLASS_NEAR_ROOF), 0.26, 0.58, 6.64,
     HONE_F_INST, -1, "tile", NULL, .resource = HONE_WORK},
    {"G40", "cuda", "warp specialisation", HONE_RAISE,
     HELPS(HONE_CLASS_TENSOR, HONE_CLASS_LATENCY_ILP), 0.07, 0.20, 0.38, HONE_F_STALL_LONG, -1,
     "1-3 consumer groups", NULL, NEEDS_ANY({HONE_F_SHARED, '>', 0}), .resource = HONE_SM,
     .min_arch = 80},
    {"G41", "cuda", "clusters, distributed shared memory", HONE_CUT, HELPS(HONE_CLASS_L2), 0.07,
     0.14, 0.32, HONE_F_L2_PCT, -1, "cluster 2-8", NULL, NEEDS_ANY({HONE_F_SHARED, '>', 0}),
     .resource = HONE_TRAFFIC, .min_arch = 90},
    {"G42", "cuda", "fewer or narrower barriers", HONE_CUT, HELPS(HONE_CLASS_BARRIER), 0.07, 0.20,
     0.38, HONE_F_STALL_BARRIER, -1, "none", NULL,
     NEEDS_ANY({HONE_F_STALL_BARRIER, '>', 10}, {HONE_F_BARRIERS, '>', 1})},
    {"G43", "cuda", "stencil: register queue, temporal blocking", HONE_CUT,
     HELPS(HONE_CLASS_L1_SHARED, HONE_CLASS_DRAM, HONE_CLASS_EXCESS_TRAFFIC), 0.38, 0.85, 2.00,
     HONE_F_DRAM_BYTES, -1, "time 2-8, tile", NULL,
     NEEDS_ANY({HONE_F_UNIT_INNER, '>', 3}, {HONE_F_BRANCHES, '>', 1}), .resource = HONE_TRAFFIC},
    {"G44", "cuda", "table or polynomial for transcendentals", HONE_CUT, HELPS(HONE_CLASS_XU), 0.14,
     0.49, 1.00, HONE_F_XU_PCT, -1, "degree, table size", NULL,
     NEEDS_ANY({HONE_F_XU_PCT, '>', 60})},
    {"G45", "cuda", "programmatic dependent launch", HONE_RAISE, HELPS(HONE_CLASS_LAUNCH_BOUND),
     0.00, 0.38, 2.00, HONE_F_LAUNCH_SHARE, -1, "none", NULL, NEEDS_ANY({HONE_F_LAUNCHES, '>', 1}),
     .min_arch = 90},
    {"G46", "cuda", "overlap streams, copy and compute", HONE_RAISE,
     HELPS(HONE_CLASS_LAUNCH_BOUND, HONE_CLASS_PARALLELISM), 0.00, 0.38, 1.00, HONE_F_SM_ACTIVE, 1,
     "streams 2-4, chunks", NULL, NEEDS_ANY({HONE_F_COPIES, '>', 0}, {HONE_F_KERNELS, '>', 1})},
    {"G47", "cuda", "library call", HONE_CUT, HELPS(HONE_CLASS_MIXED), -0.32, 0.58, 3.32, HONE_F_NS,
     -1, "algorithm, workspace", NULL},
    {"G48", "cuda", "compiler switches, restrict, register cap", HONE_RAISE,
     HELPS(HONE_CLASS_MIXED, HONE_CLASS_LATENCY_ILP), -0.03, 0.07, 0.26, HONE_F_NS, -1,
     "small list", NULL},
    {"G49", "cuda", "packed and special instructions", HONE_CUT,
     HELPS(HONE_CLASS_FMA, HONE_CLASS_ALU_INDEX, HONE_CLASS_L1_SHARED), 0.14, 0.49, 1.00,
     HONE_F_INST, -1, "none", NULL, NEEDS_ANY({HONE_F_NARROW, '>', 0})},
    {"G50", "cuda", "smaller data", HONE_CUT, HELPS(HONE_CLASS_DRAM), 0.14, 0.38, 1.00,
     HONE_F_DRAM_BYTES, -1, "width", NULL,
     NEEDS_ANY({HONE_F_INDIRECT, '>', 0}, {HONE_F_DRAM_PCT, '>', 60}), .resource = HONE_TRAFFIC},
    {"G51", "cuda", "in place, no zero-fill, no copy back", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_LAUNCH_BOUND), 0.07, 0.49, 1.00, HONE_F_DRAM_BYTES,
     -1, "none", NULL, NEEDS_ANY({HONE_F_COPIES, '>', 0}), .resource = HONE_TRAFFIC},
    {"G52", "cuda", "sweep of the exposed numbers", HONE_RAISE, HELPS(HONE_CLASS_MIXED), 0.00, 0.20,
     0.58, HONE_F_NS, -1, "product of ranges", NULL, NEEDS_ANY({HONE_F_TUNABLES, '>', 0})},
    {"N", "cpu", "write it anew from the task's description", HONE_CUT, HELPS(HONE_CLASS_MIXED),
     -1.0, 1.5, 4.0, HONE_F_NS, -1, "none", NULL},
    {"N", "cuda", "write it anew from the task's description", HONE_CUT, HELPS(HONE_CLASS_MIXED),
     -1.0, 1.5, 4.0, HONE_F_NS, -1, "none", NULL},
    {"X", "cpu", "an idea from outside of the catalogue", HONE_CUT, HELPS(HONE_CLASS_MIXED), -0.5,
     0.4, 1.5, HONE_F_NS, -1, "none", never},
    {"X", "cuda", "an idea from outside of the catalogue", HONE_CUT, HELPS(HONE_CLASS_MIXED), -0.5,
     0.4, 1.5, HONE_F_NS, -1, "none", never},
    {"M", "cpu", "merge what won on a sibling", HONE_CUT, HELPS(HONE_CLASS_MIXED), 0.0, 0.3, 1.0,
     HONE_F_NS, -1, "none", never},
    {"M", "cuda", "merge what won on a sibling", HONE_CUT, HELPS(HONE_CLASS_MIXED), 0.0, 0.3, 1.0,
     HONE_F_NS, -1, "none", never},
};
const size_t hone_n_strategies = HONE_COUNTOF(hone_strategies);

size_t hone_strategy_index(const struct hone_strategy *strategy)
{
    return (size_t)(strategy - hone_strategies);
}

bool hone_strategy_helps(const struct hone_strategy *s, enum hone_class class_id)
{
    for (size_t i = 0; i < s->n_helps; i++)
        if (s->helps[i] == class_id)
            return true;
    return false;
}

const struct hone_strategy *hone_strategy_find(const char *target, const char *id)
{
    for (size_t i = 0; i < hone_n_strategies; i++)
        if (strcmp(hone_strategies[i].id, id) == 0 &&
            strcmp(hone_strategies[i].target, target) == 0)
            return &hone_strategies[i];
    return NULL;
}

const struct hone_strategy *hone_strategy_of(const struct hone_rewrite *rewrite)
{
    return hone_strategy_find(rewrite->target ? rewrite->target : "cpu", rewrite->strategy);
}

enum hone_tri hone_strategy_fits(const struct hone_strategy *s, const struct hone_features *f)
{
    enum hone_tri any = s->n_needs > 0 ? HONE_TRI_FALSE : HONE_TRI_TRUE, own = HONE_TRI_TRUE;
    for (size_t i = 0; i < s->n_needs; i++) {
        enum hone_tri one = condition(&s->needs[i], f);
        any = one > any ? one : any;
    }
    if (s->fits)
        own = s->fits(f);
    if (s->min_arch > 0 && f->v[HONE_F_ARCH].is_present && f->v[HONE_F_ARCH].value < s->min_arch)
        return HONE_TRI_FALSE;
    return own < any ? own : any;
}
