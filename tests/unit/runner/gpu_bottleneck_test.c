/* SPDX-License-Identifier: Apache-2.0 */
/* Each class of the rule tree by made-up counters, the order of the tree, and absent values. */
#include "tools/runner/cuda/device/gpu_bottleneck.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/buf.h"

static struct hone_gpu_findings find(const struct hone_gpu_facts *facts, struct hone_pool *pool)
{
    struct hone_gpu_findings ret;

    hone_gpu_bottlenecks(facts, pool, &ret);
    ck_assert_uint_ge(ret.n, 1);
    for (size_t i = 0; i < ret.n; i++) {
        ck_assert_ptr_nonnull(ret.found[i].advice);
        ck_assert_ptr_nonnull(strstr(ret.found[i].advice, "G")); /* names a strategy */
        ck_assert(i == 0 || ret.found[i].score < ret.found[i - 1].score);
    }
    return ret;
}

/* A healthy, busy kernel: everything counted, nothing fires but "mixed". */
static void healthy(struct hone_gpu_facts *f)
{
    hone_gpu_facts_init(f);
    for (size_t i = 0; i < HONE_GPU_N_METRICS; i++)
        f->values.v[i] = 5;
    f->values.v[HONE_GPU_TIME] = 1e6;
    f->values.v[HONE_GPU_SM_ACTIVE] = 99;
    f->values.v[HONE_GPU_WARPS_ACTIVE] = 80;
    f->values.v[HONE_GPU_DRAM_PCT] = f->values.v[HONE_GPU_L2_PCT] = 30;
    f->values.v[HONE_GPU_L1_PCT] = 40;
    f->values.v[HONE_GPU_SHARED_PCT] = 30;
    f->values.v[HONE_GPU_FMA_PCT] = f->values.v[HONE_GPU_ISSUE_ACTIVE] = 45;
    f->values.v[HONE_GPU_SECTOR_USE_LD] = f->values.v[HONE_GPU_SECTOR_USE_ST] = 100;
    f->derived = (struct hone_gpu_derived){
        .kernel_ns = 1e6,
        .counted_flops = 1e9,
        .intensity = 10,
        .traffic_ratio = 1.1,
        .work_ratio = 1,
        .time_over_roof = 3,
        .launch_share = 0.01,
        .conflict_share = 0.02,
        .local_share = 0,
        .lanes = 32,
    };
    f->has_occupancy = true;
    f->occupancy = (struct hone_gpu_occupancy){.percent = 100, .waves = 20, .blocks_per_sm = 8};
    f->spill_bytes = 0;
    f->n_launches = 1;
    for (int i = 0; i < HONE_GPU_N_LINES; i++)
        f->lines[i] = 100 + i;
}

static void v(struct hone_gpu_facts *f, enum hone_gpu_metric_id id, double value)
{
    f->values.v[id] = value;
}

/* What makes a class fire in a healthy kernel, and nothing that stands before it. */
struct change {
    size_t offset; /* of a double; 0: none (no such member is the first) */
    double value;
};
#define COUNTER(id, n)                                                                             \
    {                                                                                              \
        offsetof(struct hone_gpu_facts, values.v[id]), n                                           \
    }
#define DERIVED(m, n)                                                                              \
    {                                                                                              \
        offsetof(struct hone_gpu_facts, derived.m), n                                              \
    }
#define WAVES(n)                                                                                   \
    {                                                                                              \
        offsetof(struct hone_gpu_facts, occupancy.waves), n                                        \
    }

struct one {
    const char *class_name;
    enum hone_gpu_line line;
    const char *shows;
    struct change changes[2];
};
/* clang-format off */
static const struct one ones[] = {
    {"near_roof", HONE_GPU_LINE_KERNEL, "hone__time_over_roof 1.09", {DERIVED(time_over_roof, 1.09)}},
    {"launch_bound", HONE_GPU_LINE_LAUNCH, "hone__launch_share 0.4", {DERIVED(launch_share, 0.4)}},
    {"parallelism_bound", HONE_GPU_LINE_LAUNCH, "launch__waves_per_multiprocessor 0.25", {WAVES(0.25), COUNTER(HONE_GPU_SM_ACTIVE, 20)}},
    {"tail_bound", HONE_GPU_LINE_LAUNCH, "launch__waves_per_multiprocessor 1.5", {WAVES(1.5), COUNTER(HONE_GPU_SM_ACTIVE, 75)}},
    {"spill", HONE_GPU_LINE_LOCAL, "hone__local_sectors_per_inst 0.5", {DERIVED(local_share, 0.5)}},
    {"excess_work", HONE_GPU_LINE_FLOAT, "hone__work_ratio 2", {DERIVED(work_ratio, 2)}},
    {"uncoalesced", HONE_GPU_LINE_GLOBAL, "mem_global_op_ld.pct 12.5", {COUNTER(HONE_GPU_SECTOR_USE_LD, 12.5), COUNTER(HONE_GPU_SECTORS_LD, 32)}},
    {"shared_conflict", HONE_GPU_LINE_SHARED, "hone__conflict_share 0.9", {DERIVED(conflict_share, 0.9)}},
    {"excess_traffic", HONE_GPU_LINE_GLOBAL, "hone__traffic_ratio 6", {DERIVED(traffic_ratio, 6)}},
    {"dram_bound", HONE_GPU_LINE_GLOBAL, "dram__throughput.avg.pct_of_peak_sustained_elapsed 91", {COUNTER(HONE_GPU_DRAM_PCT, 91)}},
    {"l2_bound", HONE_GPU_LINE_GLOBAL, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed 75", {COUNTER(HONE_GPU_L2_PCT, 75)}},
    {"l1_shared_bound", HONE_GPU_LINE_SHARED, "wavefronts.avg.pct_of_peak_sustained_elapsed 88", {COUNTER(HONE_GPU_L1_PCT, 88)}},
    {"tensor_bound", HONE_GPU_LINE_TENSOR, "sm__pipe_tensor_cycles_active", {COUNTER(HONE_GPU_TENSOR_PCT, 70)}},
    {"fma_bound", HONE_GPU_LINE_FLOAT, "sm__pipe_fma_cycles_active", {COUNTER(HONE_GPU_FMA_PCT, 70)}},
    {"xu_bound", HONE_GPU_LINE_SPECIAL, "sm__inst_executed_pipe_xu", {COUNTER(HONE_GPU_XU_PCT, 70)}},
    {"alu_index_bound", HONE_GPU_LINE_INTEGER, "sm__pipe_alu_cycles_active", {COUNTER(HONE_GPU_ALU_PCT, 70)}},
    {"divergence", HONE_GPU_LINE_BRANCH, "thread_inst_executed_per_inst_executed", {DERIVED(lanes, 16)}},
    {"barrier_bound", HONE_GPU_LINE_BARRIER, "stalled_barrier_per_warp_active.pct 25", {COUNTER(HONE_GPU_STALL_BARRIER, 25)}},
    {"latency_occupancy", HONE_GPU_LINE_GLOBAL, "stalled_long_scoreboard_per_warp_active.pct 60", {COUNTER(HONE_GPU_STALL_LONG, 60), COUNTER(HONE_GPU_WARPS_ACTIVE, 20)}},
    {"latency_ilp", HONE_GPU_LINE_GLOBAL, "stalled_long_scoreboard_per_warp_active.pct 60", {COUNTER(HONE_GPU_STALL_LONG, 60), COUNTER(HONE_GPU_WARPS_ACTIVE, 80)}},
    {"mixed", HONE_GPU_LINE_HOT, "smsp__issue_active", {{0}}},
};
/* clang-format on */

static void hurt(struct hone_gpu_facts *f, size_t i)
{
    for (size_t c = 0; c < HONE_COUNTOF(ones[i].changes); c++) {
        const struct change *change = &ones[i].changes[c];
        if (change->value > 0)
            *(double *)(void *)((char *)f + change->offset) = change->value;
    }
}

/* Rules that look for the busiest unit: of two only the busier one is meant. */
static bool is_unit(size_t i)
{
    return i >= 10 && i <= 15;
}

START_TEST(each_class_is_found)
{
    for (size_t i = 0; i < HONE_COUNTOF(ones); i++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_gpu_facts f;
        healthy(&f);
        hurt(&f, i);
        struct hone_gpu_findings found = find(&f, pool);
        ck_assert_str_eq(found.found[0].class_name, ones[i].class_name);
        ck_assert_msg(found.found[0].line == 100 + (int64_t)ones[i].line, "%s: line %d",
                      ones[i].class_name, (int)found.found[0].line);
        ck_assert_msg(strstr(found.found[0].rule, ones[i].shows) != NULL, "%s: '%s' lacks '%s'",
                      ones[i].class_name, found.found[0].rule, ones[i].shows);
        ck_assert_uint_eq(found.undecided.n, 0);
        hone_pool_free(pool);
    }
}
END_TEST

START_TEST(the_table_is_complete)
{
    size_t n = 0;

    while (hone_gpu_class_name(n) != NULL) {
        ck_assert_str_eq(hone_gpu_class_name(n), ones[n].class_name);
        n++;
    }
    ck_assert_uint_eq(n, HONE_COUNTOF(ones));
}
END_TEST

/* Of two classes that fire, the one that stands earlier comes first; the other is kept. */
START_TEST(causes_come_before_symptoms)
{
    for (size_t early = 0; early + 1 < HONE_COUNTOF(ones); early++) {
        for (size_t late = early + 1; late + 1 < HONE_COUNTOF(ones); late++) {
            if (is_unit(early) && is_unit(late))
                continue;
            struct hone_pool *pool = hone_pool_new();
            struct hone_gpu_facts f;
            healthy(&f);
            hurt(&f, late);
            hurt(&f, early);
            struct hone_gpu_findings found = find(&f, pool);
            ck_assert_msg(strcmp(found.found[0].class_name, ones[early].class_name) == 0,
                          "%s with %s: first is %s", ones[early].class_name, ones[late].class_name,
                          found.found[0].class_name);
            hone_pool_free(pool);
        }
    }
}
END_TEST

START_TEST(the_busiest_unit_is_named)
{
    for (size_t i = 10; i <= 15; i++) {
        for (size_t other = 10; other <= 15; other++) {
            struct hone_pool *pool = hone_pool_new();
            struct hone_gpu_facts f;
            healthy(&f);
            hurt(&f, i);
            hurt(&f, other);
            *(double *)(void *)((char *)&f + ones[i].changes[0].offset) = 99;
            ck_assert_str_eq(find(&f, pool).found[0].class_name, ones[i].class_name);
            hone_pool_free(pool);
        }
    }
}
END_TEST

START_TEST(nothing_known_is_mixed)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_gpu_facts f;

    hone_gpu_facts_init(&f);
    struct hone_gpu_findings found = find(&f, pool);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.found[0].class_name, "mixed");
    ck_assert_str_eq(found.found[0].rule, "no single cause");
    ck_assert_int_eq(found.found[0].line, 0);
    ck_assert_uint_eq(found.undecided.n, HONE_COUNTOF(ones) - 1);
    hone_pool_free(pool);
}
END_TEST

/* Without counters the launch facts and the compiler's figures still decide. */
START_TEST(facts_without_counters_decide)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_gpu_facts f;

    hone_gpu_facts_init(&f);
    f.has_occupancy = true;
    f.occupancy = (struct hone_gpu_occupancy){.waves = 0.5, .percent = 50};
    f.spill_bytes = 64;
    f.derived.time_over_roof = 1.1;
    struct hone_gpu_findings found = find(&f, pool);
    ck_assert_uint_eq(found.n, 2);
    ck_assert_str_eq(found.found[0].class_name, "parallelism_bound");
    ck_assert_str_eq(found.found[1].class_name, "spill");
    ck_assert_ptr_nonnull(strstr(found.found[1].rule, "hone__spill_bytes 64"));
    f.derived.time_over_roof = 1.09; /* then nothing else is advised */
    found = find(&f, pool);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.found[0].class_name, "near_roof");
    ck_assert_uint_eq(found.undecided.n, 0);
    f.derived.time_over_roof = 0.55; /* the roof is of slower units than the kernel's */
    found = find(&f, pool);
    ck_assert_str_eq(found.found[0].class_name, "parallelism_bound");
    hone_pool_free(pool);
}
END_TEST

static bool names(const struct hone_gpu_facts *f, const char *class_name)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_gpu_findings found = find(f, pool);
    bool ret = false;
    for (size_t i = 0; i < found.n; i++)
        ret = ret || strcmp(found.found[i].class_name, class_name) == 0;
    hone_pool_free(pool);
    return ret;
}

/* A persistent kernel with producer and consumer warps, its tensor cores half busy. */
START_TEST(what_is_by_design_is_no_cause)
{
    struct hone_gpu_facts f;

    healthy(&f);
    f.occupancy.waves = 1;
    v(&f, HONE_GPU_SM_ACTIVE, 84.5);
    ck_assert(!names(&f, "tail_bound"));
    f.occupancy.waves = 1.01;
    ck_assert(names(&f, "tail_bound"));

    healthy(&f);
    f.occupancy.waves = 0.5;
    v(&f, HONE_GPU_WARPS_ACTIVE, 19);
    v(&f, HONE_GPU_STALL_BARRIER, 60);
    ck_assert(names(&f, "barrier_bound"));
    ck_assert(names(&f, "parallelism_bound"));
    f.is_specialised = true;
    ck_assert(!names(&f, "barrier_bound"));
    ck_assert(!names(&f, "parallelism_bound"));
    v(&f, HONE_GPU_SM_ACTIVE, 57); /* clusters that do not fit at once */
    ck_assert(names(&f, "parallelism_bound"));

    v(&f, HONE_GPU_SECTOR_USE_ST, 25);
    v(&f, HONE_GPU_SECTORS_ST, 32);
    ck_assert(names(&f, "uncoalesced"));
    v(&f, HONE_GPU_TENSOR_PCT, 50);
    ck_assert(!names(&f, "uncoalesced"));
    v(&f, HONE_GPU_STALL_LG, 20);
    ck_assert(names(&f, "uncoalesced"));
}
END_TEST

START_TEST(idle_units_are_no_cause)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_gpu_facts f;

    healthy(&f); /* compute-bound, a few bad accesses on the side */
    v(&f, HONE_GPU_FMA_PCT, 85);
    v(&f, HONE_GPU_SECTOR_USE_LD, 20);
    v(&f, HONE_GPU_SECTORS_LD, 32);
    f.derived.conflict_share = 0.5;
    f.derived.traffic_ratio = 3;
    v(&f, HONE_GPU_L1_PCT, 4);
    v(&f, HONE_GPU_L2_PCT, 3);
    v(&f, HONE_GPU_DRAM_PCT, 2);
    v(&f, HONE_GPU_SHARED_PCT, 2);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "fma_bound");
    hone_pool_free(pool);
}
END_TEST

START_TEST(an_edge_decides_where_it_should)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_gpu_facts f;

    healthy(&f);
    f.derived.time_over_roof = 1.1;
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");
    f.derived.time_over_roof = 1.099;
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "near_roof");

    healthy(&f); /* short kernels in a row are launch-bound, one alone is not */
    f.derived.kernel_ns = 9e3;
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");
    f.derived.kernel_ns = 18e3;
    f.n_launches = 2;
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "launch_bound");
    f.derived.kernel_ns = 21e3;
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");

    healthy(&f); /* a persistent kernel fills the device with one block each */
    f.occupancy.waves = 0.125;
    v(&f, HONE_GPU_SM_ACTIVE, 98);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");

    healthy(&f); /* lanes that read one word use little of one sector: a broadcast */
    v(&f, HONE_GPU_SECTOR_USE_LD, 12.5);
    v(&f, HONE_GPU_SECTORS_LD, 1);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");
    v(&f, HONE_GPU_SECTORS_LD, 8);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "uncoalesced");

    healthy(&f); /* asynchronous copies of 16 bytes a lane: no byte reaches a register */
    v(&f, HONE_GPU_SECTOR_USE_LD, 0);
    v(&f, HONE_GPU_SECTORS_LD, 16);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "mixed");
    v(&f, HONE_GPU_SECTORS_LD, 32);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "uncoalesced");

    healthy(&f); /* only stores were counted: loads have no average */
    v(&f, HONE_GPU_SECTOR_USE_LD, (double)NAN);
    v(&f, HONE_GPU_SECTORS_LD, (double)NAN);
    ck_assert_uint_eq(find(&f, pool).undecided.n, 0);
    v(&f, HONE_GPU_SECTOR_USE_ST, 12.5);
    v(&f, HONE_GPU_SECTORS_ST, 32);
    ck_assert_str_eq(find(&f, pool).found[0].class_name, "uncoalesced");
    hone_pool_free(pool);
}
END_TEST

UNIT_MAIN("gpu_bottleneck", the_busiest_unit_is_named, each_class_is_found, the_table_is_complete,
          causes_come_before_symptoms, nothing_known_is_mixed, facts_without_counters_decide,
          what_is_by_design_is_no_cause, idle_units_are_no_cause, an_edge_decides_where_it_should)
