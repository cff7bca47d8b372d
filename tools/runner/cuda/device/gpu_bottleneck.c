/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of gpu_bottleneck.h, in three values: yes, no, unknown.
 *
 * The helpers at the top (above, both, either, unless_idle) are the logic; each rule below is
 * one function of the facts; the table at the end has order, words and advice. */
#include "tools/runner/cuda/device/gpu_bottleneck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/buf.h"

enum tri { NO, UNKNOWN, YES };

/* Values that a rule shows: a counter, or one of these. */
enum shown {
    TIME_OVER_ROOF = HONE_GPU_N_METRICS,
    LAUNCH_SHARE,
    KERNEL_US,
    N_LAUNCHES,
    WAVES,
    OCCUPANCY,
    LOCAL_SHARE,
    SPILL_BYTES,
    WORK_RATIO,
    TRAFFIC_RATIO,
    CONFLICTS,
    N_SHOWN
};

struct rule {
    const char *class_name;
    const char *text;
    const char *advice;
    enum tri (*test)(const struct hone_gpu_facts *f);
    enum hone_gpu_line lines[3]; /* the first that is known */
    int shown[6];                /* enum shown or hone_gpu_metric_id, ends with -1 */
};

static enum tri above(double value, double limit)
{
    return isnan(value) ? UNKNOWN : value > limit ? YES : NO;
}

static enum tri least(double value, double limit)
{
    return isnan(value) ? UNKNOWN : value >= limit ? YES : NO;
}

static enum tri below(double value, double limit)
{
    return isnan(value) ? UNKNOWN : value < limit ? YES : NO;
}

static enum tri both(enum tri a, enum tri b)
{
    return a < b ? a : b;
}

static enum tri either(enum tri a, enum tri b)
{
    return a > b ? a : b;
}

/* A cause counts unless it is known not to matter. */
static enum tri unless_idle(enum tri cause, enum tri matters)
{
    return matters == NO ? NO : cause;
}

static double of(const struct hone_gpu_facts *f, enum hone_gpu_metric_id id)
{
    return f->values.v[id];
}

static enum tri memory_matters(const struct hone_gpu_facts *f)
{
    enum tri units =
        either(either(least(of(f, HONE_GPU_L1_PCT), 20), least(of(f, HONE_GPU_L2_PCT), 20)),
               least(of(f, HONE_GPU_DRAM_PCT), 20));

    return either(
        units, either(least(of(f, HONE_GPU_STALL_LONG), 20), least(of(f, HONE_GPU_STALL_LG), 10)));
}

/* Far below the roof the kernel uses faster units than those that the roof is of. */
static enum tri near_roof(const struct hone_gpu_facts *f)
{
    return both(least(f->derived.time_over_roof, 0.9), below(f->derived.time_over_roof, 1.1));
}

static enum tri launch_bound(const struct hone_gpu_facts *f)
{
    double each_us = f->derived.kernel_ns / f->n_launches / 1e3;

    return either(above(f->derived.launch_share, 0.3),
                  both(least(f->n_launches, 2), least(10 - each_us, 0)));
}

static double waves(const struct hone_gpu_facts *f)
{
    return f->has_occupancy ? f->occupancy.waves : (double)NAN;
}

/* One block a multiprocessor is less than a wave where several would fit, and may be all that a
 * persistent kernel wants: idle multiprocessors decide where they were counted. Warps that have
 * work of their own are few by design. */
static enum tri parallelism_bound(const struct hone_gpu_facts *f)
{
    enum tri idle = below(of(f, HONE_GPU_SM_ACTIVE), 60);
    enum tri few = f->is_specialised ? NO : below(of(f, HONE_GPU_WARPS_ACTIVE), 50);
    enum tri starved = both(below(waves(f), 1), either(few, below(of(f, HONE_GPU_SM_ACTIVE), 85)));

    return either(idle, starved == UNKNOWN ? below(waves(f), 1) : starved);
}

/* A single wave, which is what a persistent kernel launches, has no ragged last one. */
static enum tri tail_bound(const struct hone_gpu_facts *f)
{
    return both(both(above(waves(f), 1), below(waves(f), 4)), below(of(f, HONE_GPU_SM_ACTIVE), 85));
}

/* A sector carries 8 lanes: one instruction in 400 that reads spilled values is 0.01. */
static enum tri spill(const struct hone_gpu_facts *f)
{
    enum tri counted = above(f->derived.local_share, 0.01);

    return counted == UNKNOWN ? above(f->spill_bytes, 0) : counted;
}

static enum tri excess_work(const struct hone_gpu_facts *f)
{
    return unless_idle(
        above(f->derived.work_ratio, 1.5),
        either(least(of(f, HONE_GPU_ISSUE_ACTIVE), 40), least(of(f, HONE_GPU_FMA_PCT), 30)));
}

static enum tri wasted(double used_percent, double sectors)
{
    /* Without the share of used bytes (0: asynchronous copies, whose bytes reach no register): 16
     * sectors is what 16-byte lanes need. Lanes that read the same few words use little of a
     * sector, but ask for few: 4 is what 4-byte lanes in a row need. */
    if (!(used_percent > 0))
        return above(sectors, 16.5) == YES ? YES : UNKNOWN;
    return isnan(sectors) || sectors > 4.5 ? below(used_percent, 70) : NO;
}

static enum tri uncoalesced(const struct hone_gpu_facts *f)
{
    enum tri loads = wasted(of(f, HONE_GPU_SECTOR_USE_LD), of(f, HONE_GPU_SECTORS_LD));
    enum tri stores = wasted(of(f, HONE_GPU_SECTOR_USE_ST), of(f, HONE_GPU_SECTORS_ST));

    /* Where producers feed busy tensor cores, a few stores of results decide nothing, unless they
     * queue up. */
    if (f->is_specialised && of(f, HONE_GPU_TENSOR_PCT) >= 40 && of(f, HONE_GPU_STALL_LG) < 10)
        return NO;
    /* A kernel that only stores has no average of loads: what was counted decides. */
    if (loads == UNKNOWN || stores == UNKNOWN)
        return unless_idle(loads == YES || stores == YES ? YES
                           : loads == NO || stores == NO ? NO
                                                         : UNKNOWN,
                           memory_matters(f));
    return unless_idle(either(loads, stores), memory_matters(f));
}

static enum tri shared_conflict(const struct hone_gpu_facts *f)
{
    return unless_idle(
        above(f->derived.conflict_share, 0.1),
        either(either(least(of(f, HONE_GPU_SHARED_PCT), 15), least(of(f, HONE_GPU_STALL_MIO), 10)),
               least(of(f, HONE_GPU_STALL_SHORT), 10)));
}

static enum tri excess_traffic(const struct hone_gpu_facts *f)
{
    return unless_idle(above(f->derived.traffic_ratio, 1.5), least(of(f, HONE_GPU_DRAM_PCT), 30));
}

static enum tri dram_bound(const struct hone_gpu_facts *f)
{
    return least(of(f, HONE_GPU_DRAM_PCT), 70);
}

static double busier(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

enum unit { L2, L1, TENSOR, FMA, XU, ALU, N_UNITS };

static double unit_percent(const struct hone_gpu_facts *f, enum unit unit)
{
    switch (unit) {
    case L2:
        return of(f, HONE_GPU_L2_PCT);
    case L1:
        return busier(busier(of(f, HONE_GPU_L1_PCT), of(f, HONE_GPU_SHARED_PCT)),
                      of(f, HONE_GPU_LSU_PCT));
    case TENSOR:
        return of(f, HONE_GPU_TENSOR_PCT);
    case FMA:
        return busier(of(f, HONE_GPU_FMA_PCT), of(f, HONE_GPU_FP64_PCT));
    case XU:
        return of(f, HONE_GPU_XU_PCT);
    case ALU:
        return of(f, HONE_GPU_ALU_PCT);
    case N_UNITS:
        break;
    }
    return (double)NAN;
}

/* At least 60 % of its peak, and the busiest of those that were counted. */
static enum tri busiest(const struct hone_gpu_facts *f, enum unit unit)
{
    double percent = unit_percent(f, unit);

    for (int other = 0; other < N_UNITS; other++) {
        if (unit_percent(f, (enum unit)other) > percent)
            return NO;
    }
    return least(percent, 60);
}

static enum tri l2_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, L2);
}

static enum tri l1_shared_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, L1);
}

static enum tri tensor_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, TENSOR);
}

static enum tri fma_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, FMA);
}

static enum tri xu_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, XU);
}

static enum tri alu_index_bound(const struct hone_gpu_facts *f)
{
    return busiest(f, ALU);
}

static enum tri divergence(const struct hone_gpu_facts *f)
{
    return below(f->derived.lanes, 28);
}

static enum tri barrier_bound(const struct hone_gpu_facts *f)
{
    /* Producers that have nothing to do wait at barriers all the time. */
    return f->is_specialised ? NO : least(of(f, HONE_GPU_STALL_BARRIER), 10);
}

static double achieved_occupancy(const struct hone_gpu_facts *f)
{
    double achieved = of(f, HONE_GPU_WARPS_ACTIVE);

    return isnan(achieved) && f->has_occupancy ? f->occupancy.percent : achieved;
}

static enum tri latency_occupancy(const struct hone_gpu_facts *f)
{
    return both(least(of(f, HONE_GPU_STALL_LONG), 30), below(achieved_occupancy(f), 50));
}

static enum tri latency_ilp(const struct hone_gpu_facts *f)
{
    return both(least(of(f, HONE_GPU_STALL_LONG), 30), least(achieved_occupancy(f), 50));
}

/* clang-format off */
#define LINES(...) .lines = {__VA_ARGS__}
#define SHOWS(...) .shown = {__VA_ARGS__, -1}
static const struct rule rules[] = {
    {"near_roof", "within 10 % of the bound", "stop here, or ask for less: G32 narrow storage, G38 structure, G39 another algorithm",
     near_roof, LINES(HONE_GPU_LINE_KERNEL), SHOWS(TIME_OVER_ROOF)},
    {"launch_bound", "launches cost more than 30 % of the call, or kernels of at most 10 us follow each other", "G23/G24 fuse into a neighbour, G25 fuse side by side, G20 persistent blocks, G45 programmatic launch",
     launch_bound, LINES(HONE_GPU_LINE_LAUNCH, HONE_GPU_LINE_KERNEL), SHOWS(LAUNCH_SHARE, KERNEL_US, N_LAUNCHES)},
    {"parallelism_bound", "less than one wave of blocks, or multiprocessors idle more than 40 % of the time", "G18 split the reduction axis, G14 smaller blocks, G25 fuse side by side",
     parallelism_bound, LINES(HONE_GPU_LINE_LAUNCH, HONE_GPU_LINE_KERNEL), SHOWS(WAVES, HONE_GPU_SM_ACTIVE, HONE_GPU_WARPS_ACTIVE)},
    {"tail_bound", "more than 1 and up to 4 waves, with a ragged last one", "G19 stream-K, G37 balance the load, G14 other block size, G20 persistent blocks",
     tail_bound, LINES(HONE_GPU_LINE_LAUNCH, HONE_GPU_LINE_KERNEL), SHOWS(WAVES, HONE_GPU_SM_ACTIVE)},
    {"spill", "registers or indexed local arrays live in memory", "G17 remove spills and dynamically indexed arrays, G16 fewer live registers, G15 looser launch bounds",
     spill, LINES(HONE_GPU_LINE_LOCAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_LOCAL_LD, LOCAL_SHARE, SPILL_BYTES)},
    {"excess_work", "more than 1.5 times the operations that the task needs", "G38 exploit structure, G39 rewrite the algebra, G35 hoist invariants, G26 one pass",
     excess_work, LINES(HONE_GPU_LINE_FLOAT, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(WORK_RATIO, HONE_GPU_ISSUE_ACTIVE)},
    {"uncoalesced", "less than 70 % of the fetched sectors' bytes are used, at more than 4.5 sectors a request", "G01 coalesce (remap the index, swap axes), G04 other data layout, G22 interchange loops, G05 transpose through shared memory",
     uncoalesced, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_SECTOR_USE_LD, HONE_GPU_SECTOR_USE_ST, HONE_GPU_SECTORS_LD, HONE_GPU_SECTORS_ST)},
    {"shared_conflict", "more than 10 % of the shared memory wavefronts are bank conflicts", "G07 pad or swizzle, G06 more work per thread from registers",
     shared_conflict, LINES(HONE_GPU_LINE_SHARED, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(CONFLICTS, HONE_GPU_SHARED_PCT, HONE_GPU_STALL_MIO)},
    {"excess_traffic", "DRAM moves more than 1.5 times the compulsory bytes", "G05 tile in shared memory, G26 one pass, G23 fuse, G43 temporal blocking, G21 order of blocks",
     excess_traffic, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(TRAFFIC_RATIO, HONE_GPU_DRAM_PCT, HONE_GPU_L2_HIT)},
    {"dram_bound", "DRAM at 70 % of its peak or more", "G32 narrow storage, G50 smaller data, G23/G24 fuse, G26 one pass, G51 reuse buffers",
     dram_bound, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_DRAM_PCT, TRAFFIC_RATIO)},
    {"l2_bound", "L2 is the busiest unit, at 60 % or more", "G05 tile in shared memory, G21 order of blocks, G41 clusters, G08 cache hints",
     l2_bound, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_L2_PCT, HONE_GPU_L2_HIT)},
    {"l1_shared_bound", "loads and stores through L1 or shared memory are the busiest unit, at 60 % or more", "G05/G06 tile in shared memory and registers, G02 vector accesses, G49 ldmatrix and packed types",
     l1_shared_bound, LINES(HONE_GPU_LINE_SHARED, HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_L1_PCT, HONE_GPU_SHARED_PCT, HONE_GPU_LSU_PCT)},
    {"tensor_bound", "tensor cores are the busiest unit, at 60 % or more", "G40 warp specialisation, G10 bulk copies, G31 a narrower type where the tolerance allows, G39 another algorithm",
     tensor_bound, LINES(HONE_GPU_LINE_TENSOR, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_TENSOR_PCT, HONE_GPU_STALL_GMMA)},
    {"fma_bound", "multiply-adds are the busiest unit, at 60 % or more", "G31 tensor cores, G49 packed types, G38 structure, G39 another algorithm",
     fma_bound, LINES(HONE_GPU_LINE_FLOAT, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_FMA_PCT, HONE_GPU_FP64_PCT)},
    {"xu_bound", "special functions are the busiest unit, at 60 % or more", "G44 table or polynomial, G33 fast intrinsics, G35 hoist",
     xu_bound, LINES(HONE_GPU_LINE_SPECIAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_XU_PCT, HONE_GPU_STALL_SHORT)},
    {"alu_index_bound", "integer arithmetic is the busiest unit, at 60 % or more", "G34 cheaper indices, G35 fixed sizes, G13 unroll, G49 packed instructions",
     alu_index_bound, LINES(HONE_GPU_LINE_INTEGER, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_ALU_PCT, HONE_GPU_ISSUE_ACTIVE)},
    {"divergence", "fewer than 28 of 32 lanes are active in an instruction", "G36 remove divergence, G37 balance the load, G03 peel the tail",
     divergence, LINES(HONE_GPU_LINE_BRANCH, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_LANES, HONE_GPU_LANES_ON)},
    {"barrier_bound", "warps wait at barriers 10 % of the time or more", "G42 fewer barriers, G28 warp shuffles, G27 split the kernel",
     barrier_bound, LINES(HONE_GPU_LINE_BARRIER, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_STALL_BARRIER)},
    {"latency_occupancy", "warps wait for memory and too few are resident to hide it", "G15 raise occupancy, G16 fewer registers, G14 other block size, G27 split the kernel",
     latency_occupancy, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_STALL_LONG, HONE_GPU_WARPS_ACTIVE, OCCUPANCY)},
    {"latency_ilp", "warps wait for memory although enough are resident", "G12 more loads in flight, G13 unroll, G09 asynchronous copies, G11 prefetch into registers, G02 vector accesses",
     latency_ilp, LINES(HONE_GPU_LINE_GLOBAL, HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_STALL_LONG, HONE_GPU_WARPS_ACTIVE, HONE_GPU_WARPS_ELIGIBLE)},
    {"mixed", "no single cause", "G52 sweep the exposed numbers, G48 compiler switches, G14 block size",
     NULL, LINES(HONE_GPU_LINE_HOT, HONE_GPU_LINE_KERNEL), SHOWS(HONE_GPU_ISSUE_ACTIVE, HONE_GPU_DRAM_PCT, HONE_GPU_STALL_LONG, HONE_GPU_STALL_WAIT)},
};
/* clang-format on */

const char *hone_gpu_class_name(size_t i)
{
    return i < HONE_COUNTOF(rules) ? rules[i].class_name : NULL;
}

void hone_gpu_facts_init(struct hone_gpu_facts *ret)
{
    const double nan_value = (double)NAN;

    *ret = (struct hone_gpu_facts){.spill_bytes = nan_value, .n_launches = nan_value};
    hone_gpu_values_init(&ret->values);
    ret->derived = (struct hone_gpu_derived){nan_value, nan_value, nan_value, nan_value, nan_value,
                                             nan_value, nan_value, nan_value, nan_value, nan_value};
}

static double shown_value(const struct hone_gpu_facts *f, int which, const char **ret_name)
{
    static const char *const names[] = {
        [TIME_OVER_ROOF - HONE_GPU_N_METRICS] = "hone__time_over_roof",
        [LAUNCH_SHARE - HONE_GPU_N_METRICS] = "hone__launch_share",
        [KERNEL_US - HONE_GPU_N_METRICS] = "hone__kernel_us",
        [N_LAUNCHES - HONE_GPU_N_METRICS] = "hone__launches",
        [WAVES - HONE_GPU_N_METRICS] = "launch__waves_per_multiprocessor",
        [OCCUPANCY - HONE_GPU_N_METRICS] = "launch__occupancy_percent",
        [LOCAL_SHARE - HONE_GPU_N_METRICS] = "hone__local_sectors_per_inst",
        [SPILL_BYTES - HONE_GPU_N_METRICS] = "hone__spill_bytes",
        [WORK_RATIO - HONE_GPU_N_METRICS] = "hone__work_ratio",
        [TRAFFIC_RATIO - HONE_GPU_N_METRICS] = "hone__traffic_ratio",
        [CONFLICTS - HONE_GPU_N_METRICS] = "hone__conflict_share",
    };

    if (which < HONE_GPU_N_METRICS) {
        *ret_name = hone_gpu_metrics[which].name;
        return f->values.v[which];
    }
    *ret_name = names[which - HONE_GPU_N_METRICS];
    switch ((enum shown)which) {
    case TIME_OVER_ROOF:
        return f->derived.time_over_roof;
    case LAUNCH_SHARE:
        return f->derived.launch_share;
    case KERNEL_US:
        return f->derived.kernel_ns / 1e3;
    case N_LAUNCHES:
        return f->n_launches;
    case WAVES:
        return waves(f);
    case OCCUPANCY:
        return f->has_occupancy ? f->occupancy.percent : (double)NAN;
    case LOCAL_SHARE:
        return f->derived.local_share;
    case SPILL_BYTES:
        return f->spill_bytes;
    case WORK_RATIO:
        return f->derived.work_ratio;
    case TRAFFIC_RATIO:
        return f->derived.traffic_ratio;
    case CONFLICTS:
        return f->derived.conflict_share;
    case N_SHOWN:
        break;
    }
    return (double)NAN;
}

/* "text (name 12.5, name 3)" with the values that are there. */
static const char *rule_text(const struct hone_gpu_facts *f, const struct rule *rule,
                             struct hone_pool *pool)
{
    char text[600];
    size_t len = (size_t)snprintf(text, sizeof text, "%s", rule->text);
    const char *before = " (";

    for (size_t i = 0; i < HONE_COUNTOF(rule->shown) && rule->shown[i] >= 0; i++) {
        const char *name = NULL;
        double value = shown_value(f, rule->shown[i], &name);
        if (isnan(value) || len + 120 > sizeof text)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %.4g", before, name, value);
        before = ", ";
    }
    return hone_pool_printf(pool, "%s%s", text, before[0] == ',' ? ")" : "");
}

static int64_t line_of(const struct hone_gpu_facts *f, const struct rule *rule)
{
    for (size_t i = 0; i < HONE_COUNTOF(rule->lines); i++) {
        if (f->lines[rule->lines[i]] > 0)
            return f->lines[rule->lines[i]];
    }
    return 0;
}

void hone_gpu_bottlenecks(const struct hone_gpu_facts *facts, struct hone_pool *pool,
                          struct hone_gpu_findings *ret)
{
    const char **undecided = hone_pool_alloc(pool, HONE_COUNTOF(rules) * sizeof *undecided);
    double score = 1;

    *ret = (struct hone_gpu_findings){.undecided.v = undecided};
    ret->found = hone_pool_alloc(pool, HONE_COUNTOF(rules) * sizeof *ret->found);
    for (size_t i = 0; i < HONE_COUNTOF(rules); i++) {
        const struct rule *rule = &rules[i];
        enum tri fires = rule->test != NULL ? rule->test(facts) : ret->n == 0 ? YES : NO;
        if (fires == UNKNOWN)
            undecided[ret->undecided.n++] = rule->class_name;
        if (fires != YES)
            continue;
        ret->found[ret->n++] = (struct hone_bottleneck){
            .class_name = rule->class_name,
            .score = score,
            .rule = rule_text(facts, rule, pool),
            .advice = rule->advice,
            .line = line_of(facts, rule),
        };
        if (rule->test == near_roof) { /* nothing is to be gained that other rules could name */
            ret->undecided.n = 0;
            return;
        }
        score *= 0.8; /* the place in the tree, not a measure */
    }
}
