/* SPDX-License-Identifier: Apache-2.0 */
/* A device's ceilings, measured once with the judge's own kernels and kept beside the machine's own
 * (machine_path with the device's uuid behind it): copying and reading in memory, reading in
 * the L2 cache, multiply-adds in float32 and float64. Reading alone is faster than copying (4.4
 * and 3.9 TB/s on an H200), so the better of both is the ceiling of memory.
 *
 * Peaks of tensor cores come from the architecture's width and the highest clock: the simple
 * instruction that every kernel could use to measure them reaches about 60 % on an H200, and a
 * floor must not lie above what an honest kernel may need. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_judge.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"

#define ROUNDS         5
#define STILL          12 /* rounds without a better figure: it is steady */
#define BETTER         1.002
#define STEADY_NS      150000000ll   /* of one figure, beyond ROUNDS */
#define TOLD_GAIN      1.01          /* of a ceiling that was measured again */
#define COPY_BYTES     (512ll << 20) /* each side */
#define COPY_L2        8             /* times the L2 cache, if that is less */
#define ENOUGH_NS      2e6           /* a measured block lasts at least this */
#define MAX_GROWTH     (1ll << 16)
#define NEAR_SHARE     4
#define CHAINS         8 /* gpu_kernels.cu */
#define BF16_BY_TF32   2
#define SHORT_PRODUCTS 3

struct probe {
    enum hone_gpu_kernel kernel;
    int64_t n;
    struct hone_k_work args;
    bool is_length;
    double unit;
};

/* Best rate of a kernel, unit for each of n x repeats; the one that is_length names grows until a
 * launch lasts long enough for the clock. Ends when the figure is steady: a device that was idle
 * takes some tens of milliseconds to its full clocks, and a ceiling that was read before that makes
 * every later share of the bound too high. */
static int best_rate(struct hone_gpu_session *session, struct probe probe, double *ret,
                     struct hone_err *err)
{
    const struct hone_cuda *cu = session->cu;
    hone_cu_event from = NULL, to = NULL;
    double best = 0;
    int code =
        hone_gpu_check(session, cu->EventCreate(&from, HONE_CU_EVENT_DEFAULT), "an event", err);
    if (code == 0)
        code =
            hone_gpu_check(session, cu->EventCreate(&to, HONE_CU_EVENT_DEFAULT), "an event", err);
    int64_t begin = hone_now_ns();
    for (int round = 0, still = 0;
         code == 0 && (round < ROUNDS || (still < STILL && hone_now_ns() - begin < STEADY_NS));) {
        float ms = 0;
        code = hone_gpu_check(session, cu->EventRecord(from, session->stream), "an event", err);
        if (code == 0)
            code = hone_gpu_launch(session, probe.kernel, probe.n, 1, &probe.args, err);
        if (code == 0)
            code = hone_gpu_check(session, cu->EventRecord(to, session->stream), "an event", err);
        if (code == 0)
            code = hone_gpu_sync(session, err);
        if (code == 0)
            code = hone_gpu_check(session, cu->EventElapsedTime(&ms, from, to), "an event", err);
        long long *grows = probe.is_length ? &probe.args.n : &probe.args.repeats;
        if ((double)ms * 1e6 < ENOUGH_NS && *grows < MAX_GROWTH * 64 && code == 0 && round == 0 &&
            best == 0) {
            *grows *= 4;
            continue;
        }
        double units = probe.unit * (double)probe.args.n * (double)probe.args.repeats;
        double rate = ms > 0 ? units / ((double)ms / 1e3) : 0;
        still = rate > BETTER * best ? 0 : still + 1;
        best = fmax(best, rate);
        round++;
    }
    if (from != NULL)
        (void)cu->EventDestroy(from);
    if (to != NULL)
        (void)cu->EventDestroy(to);
    *ret = best;
    return code;
}

static int measure(struct hone_gpu_session *session, struct hone_gpu_rates *ret,
                   struct hone_err *err)
{
    int64_t l2 = hone_max_i64(session->device.l2_bytes, 1 << 20);
    int64_t bytes = hone_min_i64(COPY_BYTES, COPY_L2 * l2);
    struct hone_gpu_buffer room = {0};
    int code = hone_gpu_buffer_need(session, &room, 2 * bytes, err);
    struct hone_k_work copy = {
        .from = room.base, .to = room.base + (hone_cu_ptr)bytes, .n = bytes / 16, .repeats = 1};
    struct hone_k_work stream = {
        .from = room.base, .to = room.base, .n = 2 * bytes / 16, .repeats = 1};
    struct hone_k_work read = {.from = room.base, .to = room.base, .n = l2 / 2 / 16, .repeats = 1};
    struct hone_k_work fma = {.to = room.base, .n = 1024, .repeats = 1};
    /* as many threads as the launcher starts for a full device */
    double lanes = (double)session->device.sm_count * 8 * HONE_K_THREADS;
    int64_t full = (int64_t)lanes * 4;
    if (code == 0)
        code = best_rate(session, (struct probe){HONE_GPU_KERNEL_COPY, copy.n, copy, false, 32},
                         &ret->memory, err);
    double reading = 0;
    if (code == 0)
        code = best_rate(session, (struct probe){HONE_GPU_KERNEL_READ, stream.n, stream, false, 16},
                         &reading, err);
    ret->copy = ret->memory;
    ret->memory = fmax(ret->memory, reading);
    if (code == 0)
        code = best_rate(session, (struct probe){HONE_GPU_KERNEL_READ, read.n, read, false, 16},
                         &ret->cache, err);
    read.n /= NEAR_SHARE; /* what both halves of a divided cache can hold, each for its own */
    double near = 0;
    if (code == 0)
        code = best_rate(session, (struct probe){HONE_GPU_KERNEL_READ, read.n, read, false, 16},
                         &near, err);
    ret->cache = fmax(ret->cache, near);
    if (code == 0)
        code = best_rate(
            session,
            (struct probe){HONE_GPU_KERNEL_FMA_FLOAT, full, fma, true, 2.0 * CHAINS * lanes},
            &ret->fma32, err);
    if (code == 0)
        code = best_rate(
            session,
            (struct probe){HONE_GPU_KERNEL_FMA_DOUBLE, full, fma, true, 2.0 * CHAINS * lanes},
            &ret->fma64, err);
    if (room.size > 0)
        (void)session->cu->MemFree(room.base);
    return code;
}

/* ---- keeping ---- */

static char *file_of(const struct hone_judge *judge)
{
    const char *path = judge->job->machine_path;
    return path != NULL ? hone_sprintf("%s.%s", path, judge->gpu->session->device.uuid) : NULL;
}

static bool read_rates(const char *path, const char *device, struct hone_gpu_rates *ret)
{
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    size_t len = 0;
    if (path == NULL || hone_file_read(path, HONE_LIMIT_JSON_BYTES, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0 ||
        strcmp(hone_json_get_str(json, "device", ""), device) != 0)
        return false;
    *ret = (struct hone_gpu_rates){.copy = hone_json_get_f64(json, "copy_bytes_per_s", 0),
                                   .memory = hone_json_get_f64(json, "memory_bytes_per_s", 0),
                                   .cache = hone_json_get_f64(json, "cache_bytes_per_s", 0),
                                   .fma32 = hone_json_get_f64(json, "float32_flops_per_s", 0),
                                   .fma64 = hone_json_get_f64(json, "float64_flops_per_s", 0)};
    return ret->copy > 0 && ret->memory > 0 && ret->fma32 > 0;
}

static int write_rates(const char *path, const char *device, const struct hone_gpu_rates *rates,
                       struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    char date[32];
    hone_wall_text(hone_wall_ms(), date);
    hone_json_set_str(json, "device", device);
    hone_json_set_f64(json, "copy_bytes_per_s", rates->copy);
    hone_json_set_f64(json, "memory_bytes_per_s", rates->memory);
    hone_json_set_f64(json, "cache_bytes_per_s", rates->cache);
    hone_json_set_f64(json, "float32_flops_per_s", rates->fma32);
    hone_json_set_f64(json, "float64_flops_per_s", rates->fma64);
    hone_json_set_str(json, "date", date);
    HONE_AUTOFREE char *text = hone_json_print(json);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

/* ---- what a task may use ---- */

/* Operations of a multiprocessor's tensor cores in a clock, bfloat16, dense; TF32 is half of it. */
static const struct {
    int major, minor;
    double bf16;
} widths[] = {{8, 0, 2048}, {8, 6, 1024}, {8, 9, 1024}, {9, 0, 4096}, {10, 0, 8192}, {12, 0, 2048}};

static double tensor_peak(const struct hone_gpu_device *device)
{
    double width = 0;
    for (size_t i = 0; i < HONE_COUNTOF(widths); i++) {
        if (widths[i].major == device->major && (width <= 0 || widths[i].minor <= device->minor))
            width = widths[i].bf16;
    }
    return width * (double)device->sm_count * (double)device->clock_khz * 1e3;
}

static void take_faster(struct hone_machine *machine, double flops, const char *unit)
{
    if (flops <= machine->flops)
        return;
    machine->flops = flops;
    machine->flops_unit = unit;
}

/* The usual rate for a task's precision, and the fastest way to it: float32 results can be had
 * from three products of bfloat16 halves (high by high, high by low, low by high: 2^-16 of each
 * term), twice as fast as from three of TF32. */
void hone_gpu_choose_flops(const struct hone_task *task, const struct hone_gpu_device *device,
                           const struct hone_gpu_rates *rates, struct hone_machine *machine)
{
    double bf16 = tensor_peak(device), tf32 = bf16 / BF16_BY_TF32;
    const char *precision = task->compute_precision != NULL ? task->compute_precision : "float32";
    machine->flops = rates->fma32;
    machine->flops_unit = "float32 multiply-add units, no tensor cores";
    machine->fastest_flops = fmax(rates->fma32, bf16 / SHORT_PRODUCTS);
    if (strcmp(precision, "float64") == 0) {
        machine->flops = rates->fma64;
        machine->flops_unit = "float64 multiply-add units, no tensor cores";
        machine->fastest_flops = 2.2 * rates->fma64; /* tensor cores have twice that */
    } else if (strcmp(precision, "bfloat16") == 0 || strcmp(precision, "float16") == 0) {
        take_faster(machine, bf16, "16-bit tensor cores");
    } else if (strcmp(precision, "tfloat32") == 0) {
        take_faster(machine, tf32, "TF32 tensor cores");
    }
    bool has_short_inputs = false;
    for (size_t i = 0; i < task->n_inputs; i++)
        has_short_inputs = has_short_inputs || task->inputs[i].dtype == HONE_DTYPE_BF16 ||
                           task->inputs[i].dtype == HONE_DTYPE_F16;
    if (task->allows_lower_precision || has_short_inputs) /* products of those are exact */
        machine->fastest_flops = fmax(machine->fastest_flops, 2 * bf16);
    if (has_short_inputs)
        take_faster(machine, bf16, "16-bit tensor cores");
    machine->fastest_flops = fmax(machine->fastest_flops, machine->flops);
}

static void report_machine(struct hone_judge *judge, const struct hone_gpu_rates *rates)
{
    struct hone_machine *machine = &judge->machine;
    const struct hone_gpu_device *device = &judge->gpu->session->device;
    snprintf(machine->cpu, sizeof machine->cpu, "%s", device->name);
    machine->cache_bytes = device->l2_bytes;
    machine->memory_rate = rates->memory;
    machine->cache_rate = fmax(rates->cache, rates->memory);
    machine->is_measured = true;
    hone_gpu_choose_flops(judge->task, device, rates, machine);
}

/* Shares of the bound that were told before stand on the older figure. */
static void tell_gain(struct hone_judge *judge, const struct hone_gpu_rates *before,
                      const struct hone_gpu_rates *after)
{
    if (before->memory > 0 && after->memory > TOLD_GAIN * before->memory)
        hone_judge_warn(judge,
                        "the device's memory ceiling was measured again: %.4g TB/s, %.4g before; "
                        "earlier shares of the bound are too high by %.0f %%",
                        after->memory / 1e12, before->memory / 1e12,
                        100 * (after->memory / before->memory - 1));
}

int hone_gpu_ceilings(struct hone_judge *judge, bool is_fresh, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    struct hone_gpu_rates *kept = &session->rates, now = {0};
    HONE_AUTOFREE char *path = file_of(judge);
    bool is_known = kept->memory > 0 || read_rates(path, session->device.name, kept);
    if (!is_known || is_fresh) {
        int64_t start = hone_now_ns();
        int code = measure(session, &now, err);
        hone_judge_cost(judge, "device.ceilings", hone_now_ns() - start);
        if (code < 0)
            return hone_wrap(err, "measuring the device's ceilings");
        const struct hone_gpu_rates before = *kept;
        /* somebody else on the device can only lower a figure */
        kept->copy = fmax(kept->copy, now.copy);
        kept->memory = fmax(kept->memory, now.memory);
        kept->cache = fmax(kept->cache, now.cache);
        kept->fma32 = fmax(kept->fma32, now.fma32);
        kept->fma64 = fmax(kept->fma64, now.fma64);
        tell_gain(judge, &before, kept);
        code = path != NULL ? write_rates(path, session->device.name, kept, err) : 0;
        if (code < 0)
            return code;
    }
    report_machine(judge, kept);
    return 0;
}
