/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy, waves and roofline against known values; what becomes of counters in a report. */
#include "tools/runner/cuda/judge/gpu_profile.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/buf.h"

struct known {
    int major, minor;
    struct hone_gpu_shape shape;
    int64_t registers, shared, warps, blocks_per_sm;
    double percent;
    const char *limiter;
};

/* By NVIDIA's occupancy calculator (cuda_occupancy.h). */
static const struct known known[] = {
    {9, 0, {1, 256, 32, 0, 0}, 8, 228, 8, 8, 100, "warps"},
    {9, 0, {1, 1024, 64, 0, 0}, 1, 228, 2, 1, 50, "registers"},
    {9, 0, {1, 128, 168, 0, 0}, 3, 228, 16, 3, 18.75, "registers"},
    {9, 0, {1, 32, 16, 0, 0}, 128, 228, 64, 32, 50, "blocks"},
    {9, 0, {1, 256, 32, 0, 49152}, 8, 4, 8, 4, 50, "shared_mem"},
    {9, 0, {1, 384, 128, 0, 227 * 1024}, 1, 1, 5, 1, 18.75, "registers"},
    {9, 0, {1, 33, 24, 0, 0}, 42, 228, 32, 32, 100, "blocks"},
    {8, 0, {1, 256, 40, 16384, 0}, 6, 9, 8, 6, 75, "registers"},
    {8, 9, {1, 256, 32, 0, 0}, 8, 100, 6, 6, 100, "warps"},
    {7, 5, {1, 256, 64, 0, 0}, 4, 16, 4, 4, 100, "warps"},
    {12, 0, {1, 512, 128, 0, 0}, 1, 100, 3, 1, 33.3333, "registers"},
};

START_TEST(occupancy_is_the_calculators)
{
    for (size_t i = 0; i < HONE_COUNTOF(known); i++) {
        const struct known *k = &known[i];
        struct hone_gpu_limits limits;
        struct hone_gpu_occupancy o;
        ck_assert(hone_gpu_limits_of(k->major, k->minor, &limits));
        hone_gpu_occupancy(&limits, 132, &k->shape, &o);
        ck_assert_msg(o.limit_registers == k->registers && o.limit_warps == k->warps &&
                          o.blocks_per_sm == k->blocks_per_sm,
                      "row %zu: registers %d warps %d blocks %d", i, (int)o.limit_registers,
                      (int)o.limit_warps, (int)o.blocks_per_sm);
        if (limits.reserved_shared_bytes > 0)
            ck_assert_msg(o.limit_shared == k->shared, "row %zu: shared %d", i,
                          (int)o.limit_shared);
        ck_assert_double_eq_tol(o.percent, k->percent, 1e-3);
        ck_assert_msg(strcmp(o.limiter, k->limiter) == 0, "row %zu: %s", i, o.limiter);
    }
}
END_TEST

START_TEST(waves_count_blocks)
{
    struct hone_gpu_limits limits;
    struct hone_gpu_occupancy o;
    struct hone_gpu_shape shape = {4096, 256, 32, 0, 0};

    hone_gpu_limits_of(9, 0, &limits);
    hone_gpu_occupancy(&limits, 132, &shape, &o);
    ck_assert_double_eq_tol(o.waves, 4096.0 / (132 * 8), 1e-9);
    shape.dynamic_shared_bytes = 300 << 10; /* fits nowhere */
    hone_gpu_occupancy(&limits, 132, &shape, &o);
    ck_assert_int_eq(o.blocks_per_sm, 0);
    ck_assert(isnan(o.waves));
    ck_assert_double_eq(o.percent, 0);
    ck_assert(!hone_gpu_limits_of(99, 0, &limits)); /* of the newest known one */
    ck_assert_int_eq(limits.warps, 48);
}
END_TEST

START_TEST(roofline)
{
    struct hone_gpu_values values;
    struct hone_gpu_derived d;
    struct hone_gpu_roof roof = {
        .flops = 2e9,
        .bytes = 4e8,
        .flops_rate = 5e13,
        .bytes_rate = 4e12,
        .launch_ns = 2000,
        .call_ns = 200e3,
        .n_launches = 2,
    };

    hone_gpu_values_init(&values);
    hone_gpu_derive(&values, &roof, &d);
    ck_assert_double_eq_tol(d.time_over_roof, 2, 1e-9); /* 100 us of bytes, 40 us of operations */
    ck_assert(isnan(d.traffic_ratio) && isnan(d.work_ratio) && isnan(d.launch_share) &&
              isnan(d.conflict_share) && isnan(d.local_share));

    values.v[HONE_GPU_TIME] = 150e3;
    values.v[HONE_GPU_DRAM_BYTES] = 8e8;
    values.v[HONE_GPU_FFMA] = 1e9;
    values.v[HONE_GPU_FADD] = 5e8;
    values.v[HONE_GPU_FMUL] = 5e8;
    values.v[HONE_GPU_DFMA] = values.v[HONE_GPU_HFMA] = 0;
    values.v[HONE_GPU_TENSOR_PCT] = 0;
    values.v[HONE_GPU_SHARED_WAVEFRONTS] = 100;
    values.v[HONE_GPU_CONFLICTS_LD] = 20;
    values.v[HONE_GPU_CONFLICTS_ST] = 30;
    values.v[HONE_GPU_LOCAL_LD] = 10;
    values.v[HONE_GPU_INST] = 1000;
    hone_gpu_derive(&values, &roof, &d);
    ck_assert_double_eq_tol(d.traffic_ratio, 2, 1e-9);
    ck_assert_double_eq_tol(d.work_ratio, 1.5, 1e-9);
    ck_assert_double_eq_tol(d.intensity, 3e9 / 8e8, 1e-9);
    ck_assert_double_eq_tol(d.launch_share, 0.25, 1e-9);
    ck_assert_double_eq_tol(d.conflict_share, 0.5, 1e-9);
    ck_assert_double_eq_tol(d.local_share, 0.01, 1e-9);

    roof.is_flops_guessed = true; /* by `hone task new`: nothing to hold counted ones against */
    hone_gpu_derive(&values, &roof, &d);
    ck_assert(isnan(d.work_ratio));
    ck_assert_double_eq_tol(d.intensity, 3e9 / 8e8, 1e-9);
    roof.is_flops_guessed = false;

    values.v[HONE_GPU_TENSOR_PCT] = 40; /* their work is not counted */
    hone_gpu_derive(&values, &roof, &d);
    ck_assert(isnan(d.counted_flops) && isnan(d.work_ratio));
    ck_assert_double_eq_tol(d.intensity, 2.5, 1e-9); /* by the task's formula */

    values.v[HONE_GPU_TIME] = 250e3; /* slower under the profiler */
    values.v[HONE_GPU_SHARED_WAVEFRONTS] = 0;
    hone_gpu_derive(&values, &roof, &d);
    ck_assert_double_eq(d.launch_share, 0);
    ck_assert_double_eq(d.conflict_share, 0);

    roof.bytes_rate = roof.flops_rate = 0; /* no ceilings: launching is all that is known */
    hone_gpu_derive(&values, &roof, &d);
    ck_assert_double_eq_tol(d.time_over_roof, 100, 1e-9);
    roof.launch_ns = 0;
    hone_gpu_derive(&values, &roof, &d);
    ck_assert(isnan(d.time_over_roof));
}
END_TEST

/* ---- the report ---- */

static const char sass_text[] = ".text._Z6strideP:\n"
                                "\t//## File \"/work/stride.cu\", line 7\n"
                                "        /*0000*/                   LDG.E R4, [R2.64] ;\n"
                                ".L_x_1:\n"
                                "\t//## File \"/work/stride.cu\", line 8\n"
                                "        /*0010*/                   STG.E [R2.64], R4 ;\n"
                                "        /*0020*/              @P0 BRA `(.L_x_1) ;\n"
                                "\t//## File \"/work/stride.cu\", line 9\n"
                                "        /*0030*/                   EXIT ;\n";

struct made {
    struct hone_cuda_kernel kernels[2];
    struct hone_plan_op ops[3];
    struct hone_cuda_module module;
    struct hone_plan plan;
    struct hone_gpu_profile_page page;
    struct hone_gpu_profile_in in;
};

static void make(struct made *m)
{
    *m = (struct made){
        .kernels = {{.name = "_Z6strideP",
                     .pretty = "stride",
                     .registers = 32,
                     .max_threads = 1024,
                     .line = 5},
                    {.name = "_Z4tinyP", .pretty = "tiny", .registers = 16, .line = 20}},
        .ops = {{.kind = "memset", .n_bytes = 64},
                {.kind = "launch",
                 .kernel = "_Z6strideP",
                 .grid = {4096, 1, 1},
                 .block = {16, 16, 1},
                 .line = 30},
                {.kind = "launch",
                 .kernel = "_Z4tinyP",
                 .grid = {8192, 1, 1},
                 .block = {256, 1, 1},
                 .line = 31}},
    };
    m->module.kernels = (struct hone_array){.v = m->kernels, .n = 2};
    m->plan.ops = (struct hone_array){.v = m->ops, .n = 3};
    m->page = (struct hone_gpu_profile_page){.has_counters = 1,
                                             .n_ranges = 2,
                                             .n_launches = 2,
                                             .n_passes = 9,
                                             .last_tier = HONE_GPU_TIER_SASS};
    for (int r = 0; r < 2; r++) {
        m->page.ranges[r].op = r + 1;
        for (size_t i = 0; i < HONE_GPU_N_METRICS; i++)
            m->page.ranges[r].values.v[i] = 1;
    }
    double *v = m->page.ranges[0].values.v;
    v[HONE_GPU_TIME] = 900e3;
    v[HONE_GPU_SM_ACTIVE] = 99;
    v[HONE_GPU_DRAM_PCT] = 40;
    v[HONE_GPU_LANES] = 32;
    v[HONE_GPU_SECTOR_USE_LD] = 100;
    v[HONE_GPU_SECTOR_USE_ST] = 12.5;
    v[HONE_GPU_SECTORS_ST] = 32;
    v[HONE_GPU_SHARED_WAVEFRONTS] = v[HONE_GPU_LOCAL_LD] = v[HONE_GPU_LOCAL_ST] = 0;
    m->page.ranges[1].values.v[HONE_GPU_TIME] = 100e3;
    m->in = (struct hone_gpu_profile_in){
        .module = &m->module,
        .plan = &m->plan,
        .sm_count = 132,
        .major = 9,
        .minor = 0,
        .roof = {.flops_rate = 5e13, .bytes_rate = 4e12, .bytes = 1e9, .call_ns = 1e6},
        .page = &m->page,
        .sass_text = sass_text,
        .sass_len = sizeof sass_text - 1};
}

static const struct hone_counter *row(const struct hone_profile_report *report, const char *name,
                                      bool of_kernel)
{
    const struct hone_counter *counters = report->counters.v;
    for (size_t i = 0; i < report->counters.n; i++)
        if (strcmp(counters[i].name, name) == 0 && (counters[i].kernel != NULL) == of_kernel)
            return &counters[i];
    return NULL;
}

START_TEST(counters_become_a_report)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_profile_report report;
    struct made m;

    make(&m);
    hone_gpu_profile_report(&m.in, pool, &report);
    ck_assert(report.has_counters);
    const struct hone_bottleneck *worst = report.bottlenecks.v;
    ck_assert_str_eq(worst->class_name, "uncoalesced");
    ck_assert_int_eq(worst->line, 8); /* the store, in the loop */
    ck_assert_ptr_nonnull(strstr(worst->advice, "G01"));
    ck_assert_double_eq(row(&report, "gpu__time_duration.sum", false)->value, 1e6);
    ck_assert_str_eq(row(&report, "gpu__time_duration.sum", false)->group, "T0");
    ck_assert_double_eq_tol(
        row(&report, "dram__throughput.avg.pct_of_peak_sustained_elapsed", false)->value,
        0.9 * 40 + 0.1, 1e-9);
    ck_assert_double_eq(row(&report, "launch__registers_per_thread", false)->value, 32);
    ck_assert_double_eq(row(&report, "launch__block_size", false)->value, 256);
    ck_assert_double_eq(row(&report, "launch__occupancy_percent", false)->value, 100);
    ck_assert_double_eq(row(&report, "sass__stg_32", false)->value, 1);
    ck_assert_double_eq(row(&report, "hone__launches", false)->value, 2);
    ck_assert_double_eq_tol(row(&report, "hone__time_over_roof", false)->value, 4, 1e-9);
    ck_assert_ptr_nonnull(strstr(row(&report, "gpu__time_duration.sum", true)->kernel, "stride"));
    ck_assert_uint_ge(report.remarks.n, 2);
    ck_assert_int_eq(((const struct hone_remark *)report.remarks.v)->line, 8);
    ck_assert_ptr_null(report.counters_note);

    m.page.ranges[0].op = 99; /* nothing that an arena writes may lead astray */
    m.page.ranges[1].op = 0;
    hone_gpu_profile_report(&m.in, pool, &report);
    ck_assert_uint_ge(report.bottlenecks.n, 1);
    hone_pool_free(pool);
}
END_TEST

START_TEST(without_counters_facts_stay)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_profile_report report;
    struct made m;

    make(&m);
    m.page.has_counters = 0;
    snprintf(m.page.note, sizeof m.page.note, "counters are for administrators; fix: be one");
    m.in.sass_text = NULL;
    m.kernels[1].spill_load_bytes = 8; /* the larger launch */
    hone_gpu_profile_report(&m.in, pool, &report);
    ck_assert(!report.has_counters);
    ck_assert_ptr_nonnull(strstr(report.counters_note, "fix: be one"));
    ck_assert_ptr_nonnull(strstr(report.counters_note, "not decided"));
    ck_assert_ptr_nonnull(strstr(report.counters_note, "uncoalesced"));
    ck_assert_double_eq(row(&report, "launch__registers_per_thread", false)->value, 16);
    ck_assert_ptr_null(row(&report, "gpu__time_duration.sum", false));
    ck_assert_str_eq(((const struct hone_bottleneck *)report.bottlenecks.v)->class_name, "spill");
    ck_assert_int_eq(((const struct hone_bottleneck *)report.bottlenecks.v)->line, 20);

    m.plan.ops.n = 1; /* no launch at all */
    m.in.page = NULL;
    m.in.note = "no CUPTI";
    hone_gpu_profile_report(&m.in, pool, &report);
    ck_assert_str_eq(((const struct hone_bottleneck *)report.bottlenecks.v)->class_name, "mixed");
    ck_assert_ptr_nonnull(strstr(report.counters_note, "no CUPTI"));
    hone_pool_free(pool);
}
END_TEST

START_TEST(a_report_with_counters_survives_the_file)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_report report = {.format = HONE_REPORT_FORMAT,
                                 .reason = HONE_REASON_SCREENED,
                                 .verdict = HONE_VERDICT_SCREENED,
                                 .best_point = -1,
                                 .worst_ratio = (double)NAN,
                                 .percent_of_bound = (double)NAN};
    struct hone_report back;
    struct hone_profile_report profile;
    struct hone_err err = HONE_ERR_INIT;
    struct made m;

    make(&m);
    hone_gpu_profile_report(&m.in, pool, &profile);
    ((struct hone_counter *)profile.counters.v)[0].parent_value = 7;
    report.profile = &profile;
    char *text = hone_report_print(&report);
    ck_assert_msg(hone_report_parse(text, strlen(text), pool, &back, &err) == 0, "%s: %s", err.path,
                  err.message);
    ck_assert_uint_eq(back.profile->counters.n, profile.counters.n);
    const struct hone_counter *counters = back.profile->counters.v;
    ck_assert_double_eq(counters[0].parent_value, 7);
    ck_assert(isnan(counters[1].parent_value));
    ck_assert_str_eq(counters[0].group, "time");
    printf("# report with a profile: %zu bytes\n", strlen(text));
    free(text);
    hone_pool_free(pool);
}
END_TEST

UNIT_MAIN("gpu_profile", occupancy_is_the_calculators, waves_count_blocks, roofline,
          counters_become_a_report, without_counters_facts_stay,
          a_report_with_counters_survives_the_file)
