/* SPDX-License-Identifier: Apache-2.0 */
/* What the system says of itself, then what was measured earlier, then what the runner answers. */
#include "tools/launch/devices.h"
#include "tools/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/device_facts.h"
#include "workspace/base/text.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/task/target.h"

#define SYS_FILE_BYTES     4096
#define MACHINE_FILE_BYTES 65536
#define COMPILER_MS        5000

struct info_in {
    bool probe;
};

struct info_out {
    struct hone_head head;
    const char *cpu, *vectors, *kernel, *executor, *probe_problem;
    int64_t n_cores, memory_bytes;
    struct hone_array caches;
    struct hone_strs compilers, targets;
    struct hone_json *ceilings, *probe, *devices, *load;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct info_in, probe, .fallback_bool = true,
               .help = "Ask the runner what jails and counters work here (0.2 s)."),
};

static const struct hone_field cache_fields[] = {
    HONE_FIELD(struct hone_device_cache, name, .required = true, .help = "L1d, L2..."),
    HONE_FIELD(struct hone_device_cache, size, .required = true, .help = "As the system says it."),
    HONE_FIELD(struct hone_device_cache, n_sharing, .skip_empty = true,
               .help = "Cores that share it."),
    HONE_FIELD(struct hone_device_cache, line_bytes, .unit = "bytes", .skip_empty = true,
               .help = "Of a line."),
};

#define OUT(m_, ...) HONE_FIELD(struct info_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct info_out),
    OUT(cpu, .help = "Processor."),
    OUT(vectors, .help = "Its vector extensions."),
    OUT(n_cores, .help = "Cores this process may use."),
    OUT(memory_bytes, .unit = "bytes", .help = "Memory."),
    OUT(caches, HONE_OF(struct hone_device_cache, cache_fields),
        .help = "Caches of the first core."),
    OUT(load, .json_schema = "{\"type\":\"number\"}",
        .help = "Threads that ran or waited on the machine, mean of the last minute."),
    OUT(kernel, .help = "Operating system kernel."),
    OUT(compilers, .help = "Compilers and their versions."),
    OUT(targets, .help = "Where kernels can run."),
    OUT(executor, .help = "Who runs them: local, 'command on MACHINE' (also of slurm), or fake "
                          "(nothing is measured)."),
    OUT(ceilings, .json_schema = "{\"type\":\"object\"}",
        .help = "Measured bandwidth and arithmetic rate; absent until something was timed."),
    OUT(probe, .json_schema = "{\"type\":\"object\"}",
        .help = "Jail rungs and hardware counters, with what is missing."),
    OUT(devices, .json_schema = "{\"type\":\"array\"}",
        .help = "Each device: class, who holds its timing lease, who waits."),
    OUT(probe_problem, .help = "Why the probe failed."),
};

static void free_json(void *json)
{
    hone_json_free(json);
}

/* First line of `cc --version`; a compiler that is not there is not listed. */
static void ask_compilers(struct hone_tool_ctx *ctx, struct hone_strs *ret)
{
    static const char *const names[] = {"gcc", "clang", "nvcc"};

    ret->v = hone_pool_alloc(ctx->pool, HONE_COUNTOF(names) * sizeof(*ret->v));
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        HONE_CLEANUP(hone_process_result_done) struct hone_process_result result = {.out = NULL};
        const struct hone_process_spec spec = {
            .argv = (const char *const[]){names[i], "--version", NULL},
            .deadline_ns = hone_deadline_in_ms(COMPILER_MS),
            .cancel = ctx->cancel,
        };
        if (hone_process_run(&spec, &result, NULL) < 0 || result.exit_status != 0 ||
            result.out == NULL)
            continue;
        result.out[strcspn(result.out, "\n")] = '\0';
        ret->v[ret->n++] = hone_pool_printf(ctx->pool, "%s: %s", names[i],
                                            hone_plain_line(ctx->pool, result.out, 120));
    }
}

static void read_ceilings(struct hone_tool_ctx *ctx, struct info_out *out)
{
    HONE_AUTOFREE char *path = hone_workspace_path(ctx->app->ws, "machine.json");
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    if (hone_file_read(path, MACHINE_FILE_BYTES, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &out->ceilings, NULL) < 0)
        return;
    hone_pool_defer(ctx->pool, free_json, out->ceilings);
    if (hone_json_type(out->ceilings) != HONE_JSON_OBJECT)
        out->ceilings = NULL;
}

static void read_load(struct hone_tool_ctx *ctx, struct info_out *out)
{
    double minute;

    if (getloadavg(&minute, 1) != 1)
        return;
    out->load = hone_json_new_f64(minute);
    hone_pool_defer(ctx->pool, free_json, out->load);
}

static void ask_runner(struct hone_tool_ctx *ctx, struct info_out *out)
{
    const struct hone_executor *executor = ctx->app->executor;
    struct hone_err err = HONE_ERR_INIT;

    if (executor == NULL || executor->probe == NULL) {
        out->probe_problem = "this executor cannot be asked";
        return;
    }
    if (executor->probe(executor->cookie, &out->probe, &err) < 0) {
        out->probe_problem = hone_pool_strdup(ctx->pool, err.message);
        return;
    }
    hone_pool_defer(ctx->pool, free_json, out->probe);
    out->devices = hone_devices_json(out->probe);
    hone_pool_defer(ctx->pool, free_json, out->devices);
}

/* cuda is a target where a device was found; without one, kernels can still be compiled. */
static void list_targets(struct hone_pool *pool, struct info_out *out)
{
    const struct hone_json *gpu = hone_json_get(out->probe, "gpu");

    out->targets.v = hone_pool_alloc(pool, sizeof(hone_target_words));
    memcpy(out->targets.v, hone_target_words, sizeof(hone_target_words));
    out->targets.n = hone_json_size(hone_json_get(gpu, "devices")) > 0 ? HONE_N_TASK_TARGETS : 1;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct info_in *in = arguments;
    struct info_out *out = result;
    struct hone_device_facts *facts = hone_pool_alloc(ctx->pool, sizeof(*facts));
    HONE_AUTOFREE char *kernel = NULL;
    size_t len;

    (void)err;
    hone_device_facts_read(ctx->pool, facts);
    out->cpu = facts->cpu;
    out->vectors = facts->vectors;
    out->n_cores = facts->n_cores;
    out->caches = (struct hone_array){.v = facts->caches, .n = facts->n_caches};
    out->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    if (hone_file_read("/proc/sys/kernel/osrelease", SYS_FILE_BYTES, &kernel, &len, NULL) == 0)
        out->kernel = hone_plain_line(ctx->pool, kernel, 200);
    out->executor = ctx->app->executor != NULL ? ctx->app->executor->name : "none";
    ask_compilers(ctx, &out->compilers);
    read_ceilings(ctx, out);
    read_load(ctx, out);
    if (in->probe)
        ask_runner(ctx, out);
    list_targets(ctx->pool, out);
    out->head.status = "ok";
    out->head.summary =
        hone_pool_printf(ctx->pool, "%s, %lld core%s, executor %s%s",
                         out->cpu != NULL ? out->cpu : "unknown processor", (long long)out->n_cores,
                         out->n_cores == 1 ? "" : "s", out->executor,
                         out->probe_problem != NULL ? "; the probe failed" : "");
    out->head.next = "task_show lists what can be made fast here.";
    return 0;
}

const struct hone_tool hone_tool_device_info = {
    .name = "device_info",
    .title = "Describe the machine",
    .summary =
        "Processor, caches, compilers, jail, counters and measured ceilings of this machine.",
    .description =
        "Processor, cores, caches, compilers, jails and counters that work here (and why "
        "others do not), load now; bandwidth and arithmetic rate once something was timed. Changes "
        "nothing; 0.1 to 0.5 "
        "s. Not for a kernel's limit: kernel_profile measures that.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct info_in, struct info_out),
    .run = run,
};
