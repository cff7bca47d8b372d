/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted and known becomes the report's rows. */
#include "tools/runner/cuda/judge/gpu_profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/compile/cubin.h"
#include "tools/runner/cuda/compile/sass.h"

#define MAX_COUNTERS  256
#define MAX_HOT_LINES 8
#define MAX_KERNELS   6 /* launches that get rows of their own */

struct builder {
    const struct hone_gpu_profile_in *in;
    struct hone_pool *pool;
    struct hone_counter *counters;
    size_t n;
    /* the launch that takes most time */
    const struct hone_plan_op *op;
    const struct hone_cuda_kernel *kernel;
    const struct hone_gpu_values *values; /* NULL: not counted */
    struct hone_gpu_values main, total;   /* main: values point there */
    struct hone_gpu_occupancy occupancy;
    bool has_occupancy;
    struct hone_sass sass;
    bool has_sass;
    int64_t n_launches;
};

static void add(struct builder *b, const char *group, const char *kernel, const char *name,
                double value, const char *unit)
{
    if (isnan(value) || b->n == MAX_COUNTERS)
        return;
    b->counters[b->n++] = (struct hone_counter){.name = name,
                                                .value = value,
                                                .unit = unit,
                                                .group = group,
                                                .kernel = kernel,
                                                .parent_value = (double)NAN};
}

/* ---- which launch ---- */

static bool is_launch(const struct hone_plan_op *op)
{
    return strcmp(op->kind, "launch") == 0;
}

static int64_t volume(const struct hone_plan_dim *dim)
{
    return dim->x * dim->y * dim->z;
}

/* By time where it was counted, else by threads. */
static void find_main_launch(struct builder *b)
{
    const struct hone_plan_op *ops = b->in->plan->ops.v;
    const struct hone_gpu_profile_page *page = b->in->page;
    bool is_counted = page != NULL && page->has_counters;
    double most = -1;

    for (size_t i = 0; i < b->in->plan->ops.n; i++) {
        double threads = (double)volume(&ops[i].grid) * (double)volume(&ops[i].block);
        if (!is_launch(&ops[i]))
            continue;
        b->n_launches++;
        if (!is_counted && threads > most) {
            most = threads;
            b->op = &ops[i];
        }
    }
    for (int32_t r = 0; is_counted && r < page->n_ranges; r++) {
        double time = page->ranges[r].values.v[HONE_GPU_TIME];
        int32_t op = page->ranges[r].op;
        if (op < 0 || (size_t)op >= b->in->plan->ops.n || !(time > most) || !is_launch(&ops[op]))
            continue;
        most = time;
        b->op = &ops[op];
        b->values = &page->ranges[r].values;
    }
    if (b->op != NULL)
        b->kernel = hone_cubin_find(&b->in->module->kernels, b->op->kernel);
}

/* open: how much longer the ranges were open than the call took. */
static void leave_host_out(struct builder *b, double open)
{
    hone_gpu_values_without_host(&b->total, open);
    if (b->values == NULL)
        return;
    b->main = *b->values;
    hone_gpu_values_without_host(&b->main, open);
    b->values = &b->main;
}

static void fold_all(struct builder *b)
{
    const struct hone_gpu_profile_page *page = b->in->page;

    hone_gpu_values_init(&b->total);
    if (page == NULL || !page->has_counters || page->n_ranges < 1)
        return;
    struct hone_gpu_values *each = hone_pool_alloc(b->pool, (size_t)page->n_ranges * sizeof *each);
    for (int32_t r = 0; r < page->n_ranges; r++)
        each[r] = page->ranges[r].values;
    hone_gpu_values_fold(each, (size_t)page->n_ranges, &b->total);
    leave_host_out(b, b->total.v[HONE_GPU_TIME] / page->call_ns);
}

/* ---- rows ---- */

static void shape_of(const struct hone_plan_op *op, const struct hone_cuda_kernel *kernel,
                     struct hone_gpu_shape *ret)
{
    *ret = (struct hone_gpu_shape){.blocks = volume(&op->grid),
                                   .block_threads = volume(&op->block),
                                   .registers = kernel->registers,
                                   .static_shared_bytes = kernel->shared_bytes,
                                   .dynamic_shared_bytes = op->shared_bytes};
}

static void add_launch(struct builder *b)
{
    struct hone_gpu_limits limits;
    struct hone_gpu_shape shape;

    if (b->op == NULL)
        return;
    add(b, "launch", NULL, "launch__grid_size", (double)volume(&b->op->grid), "blocks");
    add(b, "launch", NULL, "launch__block_size", (double)volume(&b->op->block), "threads");
    add(b, "launch", NULL, "launch__shared_mem_per_block_dynamic", (double)b->op->shared_bytes,
        "bytes");
    if (b->kernel == NULL || b->kernel->registers < 1)
        return;
    shape_of(b->op, b->kernel, &shape);
    (void)hone_gpu_limits_of(b->in->major, b->in->minor, &limits);
    hone_gpu_occupancy(&limits, b->in->sm_count, &shape, &b->occupancy);
    b->has_occupancy = true;
    const struct {
        const char *name;
        double value;
        const char *unit;
    } rows[] = {
        {"launch__shared_mem_per_block_static", (double)shape.static_shared_bytes, "bytes"},
        {"launch__registers_per_thread", (double)shape.registers, "registers"},
        {"launch__occupancy_limit_registers", (double)b->occupancy.limit_registers, "blocks"},
        {"launch__occupancy_limit_shared_mem", (double)b->occupancy.limit_shared, "blocks"},
        {"launch__occupancy_limit_warps", (double)b->occupancy.limit_warps, "blocks"},
        {"launch__occupancy_limit_blocks", (double)b->occupancy.limit_blocks, "blocks"},
        {"launch__occupancy_percent", b->occupancy.percent, "%"},
        {"launch__waves_per_multiprocessor", b->occupancy.waves, "waves"},
        {"hone__spill_bytes", (double)(b->kernel->spill_store_bytes + b->kernel->spill_load_bytes),
         "bytes"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        add(b, "launch", NULL, rows[i].name, rows[i].value, rows[i].unit);
}

static void add_roof(struct builder *b, const struct hone_gpu_derived *d)
{
    const struct hone_gpu_roof *roof = &b->in->roof;
    double call = roof->call_ns > 0 ? roof->call_ns : (double)NAN;
    bool has_flops = roof->flops > 0 && !roof->is_flops_guessed;
    const struct {
        const char *group, *name;
        double value;
        const char *unit;
    } rows[] = {
        {"time", "call_ns", call, "ns"},
        {"time", "hone__kernel_ns", d->kernel_ns, "ns"},
        {"time", "hone__launches", (double)b->n_launches, "launches"},
        {"roof", "gflops", has_flops ? roof->flops / call : (double)NAN, "Gflop/s"},
        {"roof", "gbytes", roof->bytes > 0 ? roof->bytes / call : (double)NAN, "GB/s"},
        {"roof", "hone__time_over_roof", d->time_over_roof, "x"},
        {"roof", "hone__arithmetic_intensity", d->intensity, "flop/byte"},
        {"roof", "hone__traffic_ratio", d->traffic_ratio, "x"},
        {"roof", "hone__work_ratio", d->work_ratio, "x"},
        {"roof", "hone__launch_share", d->launch_share, "share"},
        {"roof", "hone__conflict_share", d->conflict_share, "share"},
        {"roof", "hone__local_sectors_per_inst", d->local_share, "sectors"},
    };

    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        add(b, rows[i].group, NULL, rows[i].name, rows[i].value, rows[i].unit);
}

static void add_totals(struct builder *b)
{
    for (size_t m = 0; m < HONE_GPU_N_METRICS; m++)
        add(b, hone_gpu_tier_name(hone_gpu_metrics[m].tier), NULL, hone_gpu_metrics[m].name,
            b->total.v[m], hone_gpu_metrics[m].unit);
}

/* Several launches: what tells them apart, for those that take most time. */
static void add_kernels(struct builder *b)
{
    static const enum hone_gpu_metric_id shown[] = {
        HONE_GPU_TIME,      HONE_GPU_DRAM_PCT,     HONE_GPU_L2_PCT,
        HONE_GPU_L1_PCT,    HONE_GPU_FMA_PCT,      HONE_GPU_TENSOR_PCT,
        HONE_GPU_SM_ACTIVE, HONE_GPU_WARPS_ACTIVE, HONE_GPU_STALL_LONG,
    };
    const struct hone_gpu_profile_page *page = b->in->page;
    const struct hone_plan_op *ops = b->in->plan->ops.v;
    bool is_done[HONE_CUPTI_MAX_RANGES] = {false};

    if (page == NULL || !page->has_counters || page->n_ranges < 2)
        return;
    for (int k = 0; k < MAX_KERNELS && k < page->n_ranges; k++) {
        int32_t best = -1;
        for (int32_t r = 0; r < page->n_ranges; r++) {
            if (!is_done[r] && (best < 0 || page->ranges[r].values.v[HONE_GPU_TIME] >
                                                page->ranges[best].values.v[HONE_GPU_TIME]))
                best = r;
        }
        is_done[best] = true;
        int32_t op = page->ranges[best].op;
        if (op < 0 || (size_t)op >= b->in->plan->ops.n || !is_launch(&ops[op]))
            continue;
        const struct hone_cuda_kernel *kernel =
            hone_cubin_find(&b->in->module->kernels, ops[op].kernel);
        const char *name =
            kernel != NULL && kernel->pretty != NULL ? kernel->pretty : ops[op].kernel;
        const char *which = hone_pool_printf(b->pool, "%.200s (operation %d)", name, (int)op);
        for (size_t i = 0; i < HONE_COUNTOF(shown); i++)
            add(b, "kernel", which, hone_gpu_metrics[shown[i]].name,
                page->ranges[best].values.v[shown[i]], hone_gpu_metrics[shown[i]].unit);
    }
}

static void add_sass(struct builder *b, struct hone_profile_report *ret)
{
    const struct hone_gpu_profile_in *in = b->in;

    b->has_sass = in->sass_text != NULL && b->op != NULL &&
                  hone_sass_read(in->sass_text, in->sass_len, b->op->kernel, b->pool, &b->sass);
    if (!b->has_sass)
        return;
    add(b, "sass", NULL, "sass__instructions", (double)b->sass.n_instructions, "instr");
    for (int k = 0; k < HONE_SASS_OTHER; k++) {
        if (b->sass.n_by_kind[k] > 0)
            add(b, "sass", NULL,
                hone_pool_printf(b->pool, "sass__%s", hone_sass_kind_name((enum hone_sass_kind)k)),
                (double)b->sass.n_by_kind[k], "instr");
    }
    struct hone_remark *remarks = hone_pool_alloc(b->pool, MAX_HOT_LINES * sizeof *remarks);
    for (size_t i = 0; i < b->sass.n_lines && i < MAX_HOT_LINES; i++)
        remarks[ret->remarks.n++] = (struct hone_remark){
            .line = b->sass.lines[i].line,
            .kind = HONE_REMARK_NOTE,
            .message = hone_pool_printf(b->pool, "%.0f %% of the weight: %s",
                                        100 * b->sass.lines[i].weight / fmax(b->sass.weight, 1),
                                        hone_sass_describe(&b->sass.lines[i], b->pool)),
        };
    ret->remarks.v = remarks;
}

/* ---- lines ---- */

struct line_rule {
    enum hone_gpu_line line;
    enum hone_sass_kind kinds[8];
    size_t n;
};

#define LOADS  HONE_SASS_LDG_8_16, HONE_SASS_LDG_32, HONE_SASS_LDG_64, HONE_SASS_LDG_128
#define STORES HONE_SASS_STG_8_16, HONE_SASS_STG_32, HONE_SASS_STG_64, HONE_SASS_STG_128

static void find_lines(const struct builder *b, struct hone_gpu_facts *facts)
{
    static const struct line_rule rules[] = {
        {HONE_GPU_LINE_SHARED, {HONE_SASS_LDS, HONE_SASS_LDSM, HONE_SASS_STS}, 3},
        {HONE_GPU_LINE_LOCAL, {HONE_SASS_LDL, HONE_SASS_STL}, 2},
        {HONE_GPU_LINE_BARRIER, {HONE_SASS_BAR}, 1},
        {HONE_GPU_LINE_BRANCH, {HONE_SASS_BRA}, 1},
        {HONE_GPU_LINE_SPECIAL, {HONE_SASS_MUFU}, 1},
        {HONE_GPU_LINE_INTEGER, {HONE_SASS_INTEGER}, 1},
        {HONE_GPU_LINE_FLOAT, {HONE_SASS_FFMA, HONE_SASS_DFMA, HONE_SASS_HFMA2}, 3},
        {HONE_GPU_LINE_TENSOR, {HONE_SASS_MMA, HONE_SASS_WGMMA}, 2},
    };
    static const enum hone_sass_kind all[] = {LOADS, STORES}, loads[] = {LOADS},
                                     stores[] = {STORES},
                                     shared_loads[] = {HONE_SASS_LDS, HONE_SASS_LDSM},
                                     shared_stores[] = {HONE_SASS_STS};
    const double *v = facts->values.v;

    facts->lines[HONE_GPU_LINE_KERNEL] = b->kernel != NULL ? b->kernel->line : 0;
    facts->lines[HONE_GPU_LINE_LAUNCH] = b->op != NULL ? b->op->line : 0;
    if (!b->has_sass)
        return;
    for (size_t i = 0; i < HONE_COUNTOF(rules); i++)
        facts->lines[rules[i].line] = hone_sass_line_of(&b->sass, rules[i].kinds, rules[i].n);
    facts->lines[HONE_GPU_LINE_HOT] = b->sass.n_lines > 0 ? b->sass.lines[0].line : 0;
    if (v[HONE_GPU_CONFLICTS_LD] > v[HONE_GPU_CONFLICTS_ST])
        facts->lines[HONE_GPU_LINE_SHARED] =
            hone_sass_line_of(&b->sass, shared_loads, HONE_COUNTOF(shared_loads));
    else if (v[HONE_GPU_CONFLICTS_ST] > v[HONE_GPU_CONFLICTS_LD])
        facts->lines[HONE_GPU_LINE_SHARED] =
            hone_sass_line_of(&b->sass, shared_stores, HONE_COUNTOF(shared_stores));
    /* Whichever of the two uses less of what it moves. */
    bool is_store = v[HONE_GPU_SECTOR_USE_ST] < v[HONE_GPU_SECTOR_USE_LD];
    bool is_load = v[HONE_GPU_SECTOR_USE_LD] < v[HONE_GPU_SECTOR_USE_ST];
    facts->lines[HONE_GPU_LINE_GLOBAL] =
        is_store  ? hone_sass_line_of(&b->sass, stores, HONE_COUNTOF(stores))
        : is_load ? hone_sass_line_of(&b->sass, loads, HONE_COUNTOF(loads))
                  : hone_sass_line_of(&b->sass, all, HONE_COUNTOF(all));
}

/* Producer and consumer warps: what such sources are written with. */
static bool is_specialised(const char *source)
{
    static const char *const words[] = {"setmaxnreg", "mbarrier", "cuda::barrier"};
    for (size_t i = 0; source != NULL && i < HONE_COUNTOF(words); i++)
        if (strstr(source, words[i]) != NULL)
            return true;
    return false;
}

static const char *note_of(struct builder *b, const struct hone_gpu_findings *findings)
{
    const struct hone_gpu_profile_page *page = b->in->page;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;

    if (page == NULL || !page->has_counters)
        hone_buf_str(&text, page != NULL && page->note[0] != '\0' ? page->note
                            : b->in->note != NULL                 ? b->in->note
                                                                  : "no counters were read");
    else if (page->note[0] != '\0')
        hone_buf_str(&text, page->note);
    else if (page->n_launches > page->n_ranges)
        hone_buf_printf(&text, "%d of %d launches were counted", page->n_ranges, page->n_launches);
    else if (page->last_tier < HONE_GPU_N_TIERS - 1)
        hone_buf_printf(&text, "a long call: only the tiers up to %s were read, in %d passes",
                        hone_gpu_tier_name((enum hone_gpu_tier)page->last_tier), page->n_passes);
    for (size_t i = 0; i < findings->undecided.n; i++)
        hone_buf_printf(&text, "%s%s",
                        i > 0           ? ", "
                        : text.len == 0 ? "not decided for lack of values: "
                                        : "; not decided for lack of values: ",
                        findings->undecided.v[i]);
    return text.len > 0 ? hone_pool_strdup(b->pool, text.data) : NULL;
}

void hone_gpu_profile_report(const struct hone_gpu_profile_in *in, struct hone_pool *pool,
                             struct hone_profile_report *ret)
{
    struct builder b = {.in = in, .pool = pool};
    struct hone_gpu_facts facts;
    struct hone_gpu_findings findings;
    struct hone_gpu_derived main_only;

    *ret = (struct hone_profile_report){.has_counters = in->page != NULL && in->page->has_counters};
    b.counters = hone_pool_alloc(pool, MAX_COUNTERS * sizeof *b.counters);
    find_main_launch(&b);
    fold_all(&b);
    hone_gpu_facts_init(&facts);
    hone_gpu_derive(&b.total, &in->roof, &facts.derived);
    if (b.values != NULL) { /* how a unit is used is a matter of one kernel, traffic of the call */
        facts.values = *b.values;
        hone_gpu_derive(b.values, &in->roof, &main_only);
        facts.derived.conflict_share = main_only.conflict_share;
        facts.derived.local_share = main_only.local_share;
        facts.derived.lanes = main_only.lanes;
    }
    add_roof(&b, &facts.derived);
    add_launch(&b);
    add_totals(&b);
    add_sass(&b, ret);
    add_kernels(&b);
    facts.has_occupancy = b.has_occupancy;
    facts.occupancy = b.occupancy;
    facts.n_launches = (double)b.n_launches;
    facts.is_specialised = is_specialised(in->source);
    if (b.kernel != NULL && b.kernel->registers > 0)
        facts.spill_bytes = (double)(b.kernel->spill_store_bytes + b.kernel->spill_load_bytes);
    find_lines(&b, &facts);
    hone_gpu_bottlenecks(&facts, pool, &findings);
    ret->counters = (struct hone_array){.v = b.counters, .n = b.n};
    ret->bottlenecks = (struct hone_array){.v = findings.found, .n = findings.n};
    ret->counters_note = note_of(&b, &findings);
}
