#include "agents/catalogue.h"

#include <string.h>

static enum hone_tri positive(const struct hone_features *f, enum hone_feature_id id)
{
    if (!f->v[id].is_present)
        return HONE_TRI_UNKNOWN;
    return f->v[id].value > 0 ? HONE_TRI_TRUE : HONE_TRI_FALSE;
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

#define HELPS(...)                                                                                 \
    .helps = {__VA_ARGS__},                                                                        \
    .n_helps = sizeof((enum hone_class[]){__VA_ARGS__}) / sizeof(enum hone_class)

const struct hone_strategy hone_strategies[] = {
    {"C01", "cpu", "cache blocking", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_STRIDED, HONE_CLASS_MEMORY), 0.0, 0.5, 3.3,
     HONE_F_PERCENT_OF_BOUND, 1, "L1 tile 16-64, L2 64-512, L3 by size", needs_reuse},
    {"C02", "cpu", "loop interchange to unit stride", HONE_CUT, HELPS(HONE_CLASS_STRIDED), 1.0, 2.2,
     3.3, HONE_F_FAR_INNER, -1, "order", needs_stride},
    {"C03", "cpu", "several accumulators", HONE_RAISE, HELPS(HONE_CLASS_CHAIN, HONE_CLASS_SCALAR),
     1.0, 1.8, 3.0, HONE_F_CHAINS, -1, "4-64 accumulators", needs_chain},
    {"C04", "cpu", "let the compiler vectorise", HONE_RAISE,
     HELPS(HONE_CLASS_SCALAR, HONE_CLASS_CHAIN), 0.0, 1.1, 3.0, HONE_F_PLAIN_INNER, -1, "none",
     needs_plain},
    {"C05", "cpu", "explicit SIMD", HONE_RAISE, HELPS(HONE_CLASS_SCALAR, HONE_CLASS_COMPUTE), 0.2,
     0.8, 1.6, HONE_F_IS_SIMD, 1, "width, masks", NULL},
    {"C06", "cpu", "structure of arrays", HONE_CUT, HELPS(HONE_CLASS_STRIDED), 0.5, 1.0, 2.0,
     HONE_F_FAR_INNER, -1, "block = vector width", needs_stride},
    {"C07", "cpu", "pack panels", HONE_CUT, HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_COMPUTE), 0.1,
     0.5, 1.0, HONE_F_PERCENT_OF_BOUND, 1, "MR x NR, KC 256, MC 96-512", needs_reuse},
    {"C08", "cpu", "thread the outer loop", HONE_RAISE, HELPS(HONE_CLASS_PARALLELISM), 0.6, 0.95,
     1.0, HONE_F_THREADS_BUSY, 1, "static, dynamic, chunk, threads", needs_cores},
    {"C09", "cpu", "first touch, pinning", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 1.0,
     HONE_F_PERCENT_OF_BOUND, 1, "policy", needs_threads},
    {"C10", "cpu", "pad against false sharing", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 3.0,
     HONE_F_PERCENT_OF_BOUND, 1, "64 or 128 bytes", needs_threads},
    {"C11", "cpu", "software prefetch", HONE_RAISE, HELPS(HONE_CLASS_INDIRECT), 0.0, 0.2, 0.6,
     HONE_F_PERCENT_OF_BOUND, 1, "distance 4-64", needs_indirect},
    {"C12", "cpu", "non-temporal stores", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0, 0.3, 0.6,
     HONE_F_PERCENT_OF_BOUND, 1, "threshold", needs_far_memory},
    {"C13", "cpu", "huge pages, page-friendly blocking", HONE_CUT, HELPS(HONE_CLASS_MEMORY), 0.0,
     0.2, 0.6, HONE_F_PERCENT_OF_BOUND, 1, "2 MiB", needs_far_memory},
    {"C14", "cpu", "branchless, table, sort first", HONE_CUT, HELPS(HONE_CLASS_SCALAR), 0.2, 0.8,
     2.0, HONE_F_BRANCHES, -1, "none", needs_branches},
    {"C15", "cpu", "fast math, reciprocal", HONE_CUT,
     HELPS(HONE_CLASS_CALLS, HONE_CLASS_CHAIN, HONE_CLASS_COMPUTE), 0.0, 1.0, 3.0, HONE_F_NS, -1,
     "Newton steps", needs_math},
    {"C16", "cpu", "compiler switches", HONE_RAISE, HELPS(HONE_CLASS_MIXED), -0.1, 0.1, 0.6,
     HONE_F_NS, -1, "list sweep", NULL},
    {"C17", "cpu", "fuse or split loops", HONE_CUT,
     HELPS(HONE_CLASS_EXCESS_TRAFFIC, HONE_CLASS_CALLS), 0.1, 0.7, 1.6, HONE_F_PERCENT_OF_BOUND, 1,
     "cut", needs_passes},
    {"C18", "cpu", "hoist, strength-reduce, no division in loops", HONE_CUT,
     HELPS(HONE_CLASS_COMPUTE), 0.0, 0.3, 1.0, HONE_F_DIVISIONS, -1, "none", needs_divisions},
    {"C19", "cpu", "hoist allocation, no memset", HONE_CUT, HELPS(HONE_CLASS_EXCESS_TRAFFIC), 0.0,
     0.3, 2.0, HONE_F_ALLOCATIONS, -1, "none", needs_allocations},
    {"C20", "cpu", "wavefront and temporal blocking", HONE_CUT,
     HELPS(HONE_CLASS_MEMORY, HONE_CLASS_EXCESS_TRAFFIC), 0.2, 0.8, 1.6, HONE_F_PERCENT_OF_BOUND, 1,
     "depth 2-16", needs_passes},
    {"C21", "cpu", "size-specialised kernels", HONE_CUT, HELPS(HONE_CLASS_COMPUTE), 0.0, 0.3, 1.0,
     HONE_F_PERCENT_OF_BOUND, 1, "sizes", NULL},
    {"C22", "cpu", "better algorithm or data structure", HONE_CUT, HELPS(HONE_CLASS_MIXED), 0.0,
     0.5, 5.0, HONE_F_NS, -1, "none", NULL},
    {"C23", "cpu", "iteration for recursion, cache-oblivious order", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE), 0.0, 0.3, 1.0, HONE_F_PERCENT_OF_BOUND, 1, "base case",
     needs_reuse},
    {"C24", "cpu", "split rows or trees for load balance", HONE_RAISE,
     HELPS(HONE_CLASS_PARALLELISM), 0.5, 0.95, 1.6, HONE_F_THREADS_BUSY, 1, "grain", needs_cores},
    {"G06", "cpu", "register micro-tile", HONE_CUT,
     HELPS(HONE_CLASS_NO_REUSE, HONE_CLASS_STRIDED, HONE_CLASS_COMPUTE), 2.0, 4.5, 6.0,
     HONE_F_FAR_INNER, -1, "MR 4-8, NR 8-32", needs_reuse},
    {"G44", "cpu", "polynomial for transcendentals", HONE_CUT, HELPS(HONE_CLASS_CALLS), 0.2, 1.6,
     3.0, HONE_F_MATH_CALLS, -1, "degree", needs_calls},
    {"G51", "cpu", "buffer reuse, no copy back", HONE_CUT, HELPS(HONE_CLASS_EXCESS_TRAFFIC), 0.1,
     0.7, 1.3, HONE_F_COPIES, -1, "none", needs_copies},
};
const size_t hone_n_strategies = HONE_COUNTOF(hone_strategies);

size_t hone_strategy_index(const struct hone_strategy *strategy)
{
    return (size_t)(strategy - hone_strategies);
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
