/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/coder/prompt_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/task/target.h"

#define RATES_FILE_BYTES 65536
#define NAME_BYTES       80
#define STATIC_SHARED    48 /* KiB a block may have without asking for more */

/* What the driver is not asked for but follows from the compute capability (CUDA C++ programming
 * guide, technical specifications). KiB of shared memory; threads of a multiprocessor. */
static const struct arch {
    int cc, shared_block, shared_sm, threads_sm;
} archs[] = {
    {70, 96, 96, 2048},    {72, 96, 96, 2048},    {75, 64, 64, 1024},    {80, 163, 164, 2048},
    {86, 99, 100, 1536},   {87, 163, 164, 1536},  {89, 99, 100, 1536},   {90, 227, 228, 2048},
    {100, 227, 228, 2048}, {103, 227, 228, 2048}, {110, 227, 228, 1536}, {120, 99, 100, 1536},
    {121, 99, 100, 1536},
};

static const struct arch *arch_of(int cc)
{
    for (size_t i = 0; i < HONE_COUNTOF(archs); i++)
        if (archs[i].cc == cc)
            return &archs[i];
    return NULL;
}

/* Two digits: measured again they are the same, and so is the prompt. */
static void add_rates(struct hone_buf *out, const struct hone_json *rates)
{
    static const struct {
        const char *member, *words, *unit;
    } rows[] = {
        {"memory_bytes_per_s", "memory", "GB/s"},
        {"cache_bytes_per_s", "last cache", "GB/s"},
        {"flops_per_s", "float32", "GFLOP/s"},
        {"float32_flops_per_s", "float32", "GFLOP/s"},
        {"float64_flops_per_s", "float64", "GFLOP/s"},
    };
    bool is_first = true;
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        double rate = hone_json_get_f64(rates, rows[i].member, 0);
        if (!(rate > 0) || !isfinite(rate))
            continue;
        double step = pow(10, floor(log10(rate / 1e9)) - 1);
        hone_buf_printf(out, "%s%s %.9g %s", is_first ? "- measured, all of it together: " : ", ",
                        rows[i].words, round(rate / 1e9 / step) * step, rows[i].unit);
        is_first = false;
    }
    hone_buf_str(out, is_first ? "" : "\n");
}

static void add_cpu(struct hone_buf *out, const struct hone_device_facts *f, struct hone_pool *pool)
{
    bool is_first = true;
    hone_buf_printf(out, "- processor: %s\n",
                    f->cpu ? hone_plain_line(pool, f->cpu, NAME_BYTES) : "not known");
    if (f->n_cores > 0)
        hone_buf_printf(out, "- cores for the job: %lld%s\n", (long long)f->n_cores,
                        f->n_cores == 1 ? " (threads cannot help)" : "");
    if (f->vectors)
        hone_buf_printf(out, "- vector extensions: %s\n",
                        hone_plain_line(pool, f->vectors, 3 * NAME_BYTES));
    for (size_t i = 0; i < f->n_caches; i++) {
        const struct hone_device_cache *c = &f->caches[i];
        if (strcmp(c->name, "L1i") == 0)
            continue;
        hone_buf_printf(out, "%s%s %s", is_first ? "- caches: " : ", ",
                        hone_plain_line(pool, c->name, 16), hone_plain_line(pool, c->size, 16));
        is_first = false;
        if (c->n_sharing > 1)
            hone_buf_printf(out, " (for %lld cores)", (long long)c->n_sharing);
    }
    hone_buf_str(out, is_first ? "" : "\n");
}

static void add_device(struct hone_buf *out, const struct hone_json *d, struct hone_pool *pool)
{
    const char *name = hone_json_get_str(d, "arch", "");
    int cc = strncmp(name, "sm_", 3) == 0 ? (int)strtol(name + 3, NULL, 10) : 0;
    int64_t n_sms = hone_json_get_i64(d, "sm_count", 0);
    int64_t memory = hone_json_get_i64(d, "memory_bytes", 0);
    int64_t l2 = hone_json_get_i64(d, "l2_bytes", 0);
    const struct arch *arch = arch_of(cc);
    hone_buf_printf(out, "- device: %s",
                    hone_plain_line(pool, hone_json_get_str(d, "name", "not known"), NAME_BYTES));
    if (cc > 0)
        hone_buf_printf(out, ", compute capability %d.%d", cc / 10, cc % 10);
    if (n_sms > 0)
        hone_buf_printf(out, ", %lld multiprocessors", (long long)n_sms);
    if (memory > 0)
        hone_buf_printf(out, ", %lld GiB", (long long)(memory >> 30));
    if (l2 > 0)
        hone_buf_printf(out, ", L2 cache %lld KiB", (long long)(l2 >> 10));
    hone_buf_str(out, "\n");
    if (arch)
        hone_buf_printf(out,
                        "- shared memory: %d KiB a block at most (above %d: dynamic, with "
                        "cudaFuncSetAttribute), %d KiB a multiprocessor\n"
                        "- registers: 65536 a multiprocessor, 255 a thread at most; threads: %d a "
                        "multiprocessor, 1024 a block at most\n",
                        arch->shared_block, STATIC_SHARED, arch->shared_sm, arch->threads_sm);
}

/* The first device of the probe, which the judge takes; NULL: none. */
static const struct hone_json *device_of(const struct hone_device_facts *facts)
{
    return hone_json_first(hone_json_get(hone_json_get(facts->probe, "gpu"), "devices"));
}

const char *hone_prompt_machine(const char *target, const struct hone_device_facts *facts,
                                const struct hone_json *cpu_rates,
                                const struct hone_json *gpu_rates, struct hone_pool *pool)
{
    struct hone_buf out = HONE_BUF_INIT;
    const struct hone_json *device = device_of(facts);
    hone_buf_str(&out, "The machine that versions are built for and timed on:\n");
    if (!hone_target_traits(target)->has_device) {
        add_cpu(&out, facts, pool);
        add_rates(&out, cpu_rates);
    } else if (device) {
        add_device(&out, device, pool);
        add_rates(&out, gpu_rates);
    } else {
        hone_buf_str(&out, "- device: not known\n");
    }
    const char *text = hone_plain_lines(pool, out.data, HONE_LIMIT_MACHINE_BYTES);
    hone_buf_done(&out);
    return text;
}

static void free_json(void *json)
{
    hone_json_free(json);
}

/* NULL: nothing was measured yet. */
static const struct hone_json *read_rates(const char *path, struct hone_pool *pool)
{
    HONE_AUTOFREE char *text = NULL;
    struct hone_json *json = NULL;
    size_t len = 0;
    if (hone_file_read(path, RATES_FILE_BYTES, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0)
        return NULL;
    hone_pool_defer(pool, free_json, json);
    return json;
}

const char *hone_prompt_machine_of(const struct hone_executor *executor, const char *machine_path,
                                   const char *target, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *work = hone_pool_new();
    struct hone_device_facts facts;
    hone_device_facts_ask(executor, work, &facts);
    const char *uuid = hone_json_get_str(device_of(&facts), "uuid", "");
    const struct hone_json *gpu = NULL;
    /* the probe has the digits alone, the judge's file has the name that tools show */
    if (strlen(uuid) == 32 && strspn(uuid, "0123456789abcdef") == 32)
        gpu = read_rates(hone_pool_printf(work, "%s.GPU-%.8s-%.4s-%.4s-%.4s-%.12s", machine_path,
                                          uuid, uuid + 8, uuid + 12, uuid + 16, uuid + 20),
                         work);
    const char *text =
        hone_prompt_machine(target, &facts, read_rates(machine_path, work), gpu, work);
    return hone_pool_strdup(pool, text);
}

const char *hone_machine_name(const struct hone_executor *executor, const char *target,
                              struct hone_pool *pool)
{
    struct hone_device_facts facts = {0};
    bool is_device = strcmp(target, "cpu") != 0;
    if (is_device)
        hone_device_facts_ask(executor, pool, &facts);
    else
        hone_device_facts_read(pool, &facts);
    const struct hone_json *device = is_device ? device_of(&facts) : NULL;
    const char *name = is_device ? hone_json_get_str(device, "name", NULL) : facts.cpu;
    if (name == NULL || is_device)
        return name;
    return hone_pool_printf(pool, "%s, %lld cores", name, (long long)facts.n_cores);
}
