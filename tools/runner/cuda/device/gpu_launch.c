/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/device/gpu_launch.h"

#include <math.h>

#define WARP 32

struct arch {
    int major, minor;
    struct hone_gpu_limits limits;
};

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". Oldest first. */
static const struct arch archs[] = {
    {7, 0, {64, 32, 65536, 98304, 0, 256, 256, 4}},
    {7, 5, {32, 16, 65536, 65536, 0, 256, 256, 4}},
    {8, 0, {64, 32, 65536, 167936, 1024, 256, 128, 4}},
    {8, 6, {48, 16, 65536, 102400, 1024, 256, 128, 4}},
    {8, 7, {48, 16, 65536, 167936, 1024, 256, 128, 4}},
    {8, 9, {48, 24, 65536, 102400, 1024, 256, 128, 4}},
    {9, 0, {64, 32, 65536, 233472, 1024, 256, 128, 4}},
    {10, 0, {64, 32, 65536, 233472, 1024, 256, 128, 4}},
    {10, 3, {64, 32, 65536, 233472, 1024, 256, 128, 4}},
    {11, 0, {48, 24, 65536, 233472, 1024, 256, 128, 4}},
    {12, 0, {48, 24, 65536, 102400, 1024, 256, 128, 4}},
    {12, 1, {48, 24, 65536, 102400, 1024, 256, 128, 4}},
};

bool hone_gpu_limits_of(int major, int minor, struct hone_gpu_limits *ret)
{
    const struct arch *best = &archs[0];

    for (size_t i = 0; i < HONE_COUNTOF(archs); i++) {
        if (archs[i].major < major || (archs[i].major == major && archs[i].minor <= minor))
            best = &archs[i];
    }
    *ret = best->limits;
    return best->major == major && best->minor == minor;
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int64_t by_registers(const struct hone_gpu_limits *limits,
                            const struct hone_gpu_shape *shape, int64_t warps)
{
    int64_t per_warp = round_up(shape->registers * WARP, limits->register_unit);

    if (per_warp == 0)
        return limits->blocks;
    /* Registers belong to one of the partitions, each with its own scheduler. */
    return limits->registers / limits->partitions / per_warp * limits->partitions / warps;
}

void hone_gpu_occupancy(const struct hone_gpu_limits *limits, int64_t sm_count,
                        const struct hone_gpu_shape *shape, struct hone_gpu_occupancy *ret)
{
    int64_t warps = hone_max_i64((shape->block_threads + WARP - 1) / WARP, 1);
    int64_t shared = round_up(shape->static_shared_bytes + shape->dynamic_shared_bytes +
                                  limits->reserved_shared_bytes,
                              limits->shared_unit);

    *ret = (struct hone_gpu_occupancy){
        .limit_registers = by_registers(limits, shape, warps),
        .limit_shared = shared > 0 ? limits->shared_bytes / shared : limits->blocks,
        .limit_warps = limits->warps / warps,
        .limit_blocks = limits->blocks,
        .limiter = "blocks",
    };
    ret->blocks_per_sm = ret->limit_blocks;
    const struct {
        int64_t blocks;
        const char *name;
    } each[] = {
        {ret->limit_warps, "warps"},
        {ret->limit_registers, "registers"},
        {ret->limit_shared, "shared_mem"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(each); i++) {
        if (each[i].blocks < ret->blocks_per_sm) {
            ret->blocks_per_sm = each[i].blocks;
            ret->limiter = each[i].name;
        }
    }
    ret->percent = 100.0 * (double)(ret->blocks_per_sm * warps) / (double)limits->warps;
    ret->waves = ret->blocks_per_sm > 0 && sm_count > 0
                     ? (double)shape->blocks / (double)(sm_count * ret->blocks_per_sm)
                     : (double)NAN;
}

static double ratio(double a, double b)
{
    return b > 0 && isfinite(a) ? a / b : (double)NAN;
}

/* NaN unless all parts are there. */
static double counted(const struct hone_gpu_values *values)
{
    const double *v = values->v;

    if (v[HONE_GPU_TENSOR_PCT] > 1)
        return (double)NAN;
    return 2 * v[HONE_GPU_FFMA] + v[HONE_GPU_FADD] + v[HONE_GPU_FMUL] + 2 * v[HONE_GPU_DFMA] +
           4 * v[HONE_GPU_HFMA]; /* of two elements each */
}

static double roof_ns(const struct hone_gpu_roof *roof)
{
    double by_bytes = roof->bytes_rate > 0 ? 1e9 * roof->bytes / roof->bytes_rate : 0;
    double by_flops = roof->flops_rate > 0 ? 1e9 * roof->flops / roof->flops_rate : 0;

    return fmax(fmax(by_bytes, by_flops), roof->launch_ns);
}

void hone_gpu_derive(const struct hone_gpu_values *values, const struct hone_gpu_roof *roof,
                     struct hone_gpu_derived *ret)
{
    const double *v = values->v;
    double flops = counted(values), least = roof->is_flops_guessed ? (double)NAN : roof->flops;

    ret->kernel_ns = v[HONE_GPU_TIME];
    ret->counted_flops = flops;
    ret->intensity = ratio(isfinite(flops) ? flops : least, v[HONE_GPU_DRAM_BYTES]);
    ret->traffic_ratio = ratio(v[HONE_GPU_DRAM_BYTES], roof->bytes);
    ret->work_ratio = ratio(flops, least);
    ret->time_over_roof = roof->call_ns > 0 ? ratio(roof->call_ns, roof_ns(roof)) : (double)NAN;
    /* The profiler's clock may run slower than the timed one: less than nothing is nothing. */
    ret->launch_share = roof->call_ns > 0 && isfinite(v[HONE_GPU_TIME])
                            ? fmax(0, 1 - v[HONE_GPU_TIME] / roof->call_ns)
                            : (double)NAN;
    ret->conflict_share =
        v[HONE_GPU_SHARED_WAVEFRONTS] > 0
            ? (v[HONE_GPU_CONFLICTS_LD] + v[HONE_GPU_CONFLICTS_ST]) / v[HONE_GPU_SHARED_WAVEFRONTS]
            : v[HONE_GPU_SHARED_WAVEFRONTS]; /* 0 or not counted */
    ret->local_share =
        ratio(v[HONE_GPU_LOCAL_LD] + (isnan(v[HONE_GPU_LOCAL_ST]) ? 0 : v[HONE_GPU_LOCAL_ST]),
              v[HONE_GPU_INST]);
    ret->lanes = v[HONE_GPU_LANES];
}
