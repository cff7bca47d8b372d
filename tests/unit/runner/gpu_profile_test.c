/* Occupancy, waves and roofline against known values. */
#include "tools/runner/cuda/gpu_launch.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

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

UNIT_MAIN("gpu_profile", occupancy_is_the_calculators, waves_count_blocks, roofline)
