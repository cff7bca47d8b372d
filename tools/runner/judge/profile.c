/* SPDX-License-Identifier: Apache-2.0 */
/* The profile stage: what the candidate achieves against the machine's ceilings, what the compiler
 * said line by line, and which bottleneck follows.
 *
 * Hardware counters are used where the machine gives them; without them everything here still
 * stands on the judge's clock, the arena's CPU time, the task's formulas and the compiler's
 * remarks. Runs in an arena of its own, never in one that is timed. */
#include "tools/runner/judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/machine/perf.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define PROFILE_NS   (30 * HONE_NS_PER_MS)
#define ROUNDS       3
#define MAX_COUNTERS 24
#define MAX_FOUND    12
#define MAX_REMARKS  64
#define SHORT_NS     5000.0

struct facts { /* of one call on the profiled workload */
    double call_ns, cpu_ns;
    double flops, bytes;             /* by the task's formulas */
    double flops_share, bytes_share; /* of the ceilings, 0..1 */
    double threads_busy;
    double ipc, miss_rate; /* NaN without counters */
    double n_threads;
    const struct hone_remark *remarks;
    size_t n_remarks;
};

struct rule {
    const char *class_name;
    const char *text;
    const char *advice;
    /* Score above 0 when it fires; *ret_line is the source line, when there is one. */
    double (*score)(const struct facts *f, int64_t *ret_line);
};

static const struct hone_remark *find_remark(const struct facts *f, enum hone_remark_kind kind,
                                             const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < f->n_remarks; i++) {
        if (f->remarks[i].kind != kind)
            continue;
        for (size_t w = 0; w < n_words; w++) {
            if (strstr(f->remarks[i].message, words[w]) != NULL)
                return &f->remarks[i];
        }
    }
    return NULL;
}

static double near_roof(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    double share = fmax(f->flops_share, f->bytes_share);
    return share > 0.87 ? 1 : 0;
}

static double too_short(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->call_ns < SHORT_NS ? 0.9 : 0;
}

static double parallelism(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    if (f->n_threads < 2 || f->call_ns < 10 * SHORT_NS || f->threads_busy > 0.7 * f->n_threads)
        return 0;
    return 1 - f->threads_busy / f->n_threads;
}

static double chain(const struct facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"reorder floating-point", "reduction", "unsafe fp math",
                                        "fold-left"};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL || f->flops_share > 0.3)
        return 0;
    *ret_line = remark->line;
    return 0.7;
}

static double strided(const struct facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"stride", "gather", "not consecutive", "non-consecutive",
                                        "complicated access pattern"};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL)
        return 0;
    *ret_line = remark->line;
    return 0.75;
}

static double math_calls(const struct facts *f, int64_t *ret_line)
{
    static const char *const words[] = {"function call", "call to",
                                        "relevant stmt not supported: "};
    const struct hone_remark *remark =
        find_remark(f, HONE_REMARK_MISSED, words, HONE_COUNTOF(words));
    if (remark == NULL || f->flops_share > 0.3)
        return 0;
    *ret_line = remark->line;
    return 0.55;
}

static double not_vectorized(const struct facts *f, int64_t *ret_line)
{
    bool has_any = false;
    const struct hone_remark *missed = NULL;
    for (size_t i = 0; i < f->n_remarks; i++) {
        has_any = has_any || f->remarks[i].kind == HONE_REMARK_VECTORIZED;
        if (missed == NULL && f->remarks[i].kind == HONE_REMARK_MISSED)
            missed = &f->remarks[i];
    }
    if (missed == NULL || f->flops_share > 0.5)
        return 0;
    *ret_line = missed->line;
    return has_any ? 0.3 : 0.6;
}

static double no_reuse(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    bool is_dense = f->bytes > 0 && f->flops / f->bytes > 8;
    return is_dense && f->flops_share < 0.35 ? 0.5 * (1 - f->flops_share) : 0;
}

static double memory_bound(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->bytes_share > 0.5 && f->bytes_share > f->flops_share ? f->bytes_share * 0.8 : 0;
}

static double compute_bound(const struct facts *f, int64_t *ret_line)
{
    (void)ret_line;
    return f->flops_share > 0.4 && f->flops_share >= f->bytes_share ? f->flops_share * 0.8 : 0;
}

static double mixed(const struct facts *f, int64_t *ret_line)
{
    (void)f;
    (void)ret_line;
    return 0.05;
}

static const struct rule rules[] = {
    {"near_roof", "more than 87 % of a measured ceiling", "stop, or change the algorithm",
     near_roof},
    {"too_short", "a call takes less than 5 us",
     "measure larger workloads; call overhead and clock dominate", too_short},
    {"strided", "the compiler names an access that jumps through memory",
     "interchange loops, or copy into a contiguous buffer", strided},
    {"parallelism_bound", "busy threads below 70 % of the allowed ones",
     "parallelise the outer loop; balance the parts", parallelism},
    {"latency_chain",
     "a floating-point reduction keeps its order and the arithmetic rate is below 30 %",
     "several accumulators, or allow reassociation for this loop", chain},
    {"math_call_bound", "a scalar call inside a loop that is not vectorised",
     "a vectorisable approximation, or fewer calls", math_calls},
    {"not_vectorized", "loops that the compiler did not vectorise",
     "restrict, simpler bounds, no aliasing, or intrinsics", not_vectorized},
    {"no_reuse", "more than 8 operations a byte, but below 35 % of the arithmetic ceiling",
     "tile for registers and caches", no_reuse},
    {"memory_bound", "more than 50 % of the memory ceiling",
     "fewer bytes: fuse, narrow, avoid write-allocate", memory_bound},
    {"compute_bound", "more than 40 % of the arithmetic ceiling",
     "wider vectors, fewer instructions per result", compute_bound},
    {"mixed", "no single cause", "look at the remarks", mixed},
};

static int by_score(const void *a, const void *b)
{
    double x = ((const struct hone_bottleneck *)a)->score,
           y = ((const struct hone_bottleneck *)b)->score;
    return (x < y) - (x > y);
}

static void find_bottlenecks(struct hone_judge *judge, const struct facts *f,
                             struct hone_profile_report *ret)
{
    struct hone_bottleneck *found =
        hone_pool_alloc(judge->pool, HONE_COUNTOF(rules) * sizeof *found);
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(rules); i++) {
        int64_t line = 0;
        double score = rules[i].score(f, &line);
        if (!(score > 0))
            continue;
        found[n++] = (struct hone_bottleneck){
            .class_name = rules[i].class_name,
            .score = score,
            .rule = hone_pool_printf(
                judge->pool,
                "%s (threads busy %.2f of %.0f, %.1f %% of arithmetic, %.1f %% of bandwidth)",
                rules[i].text, f->threads_busy, f->n_threads, 100 * f->flops_share,
                100 * f->bytes_share),
            .advice = rules[i].advice,
            .line = line,
        };
    }
    qsort(found, n, sizeof *found, by_score);
    ret->bottlenecks = (struct hone_array){.v = found, .n = n};
}

/* The least disturbed of a few rounds. */
static int best_call(struct hone_arena *arena, const struct hone_calls *calls,
                     struct hone_call_time *ret, struct hone_err *err)
{
    struct hone_call_time best = {.wall_ns = INT64_MAX};
    for (int i = 0; i < ROUNDS && arena->is_alive; i++) {
        struct hone_call_time now = {0};
        int code = hone_arena_call(arena, calls, &now, err);
        if (code < 0)
            return code;
        if (arena->is_alive && now.wall_ns < best.wall_ns)
            best = now;
    }
    *ret = best;
    return 0;
}

/* Warm call, then as many as fill PROFILE_NS, counted (perf NULL: not). */
static int run_calls(struct hone_judge *judge, struct facts *f, struct hone_perf *perf,
                     struct hone_perf_value *values, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    struct hone_calls calls = {.n_rotate = 1, .n_calls = 1, .timeout_ns = judge->call_timeout_ns};
    struct hone_call_time time = {0};
    int code = hone_arena_call(slot->arena, &calls, &time, err);
    if (code == 0 && slot->arena->is_alive) {
        struct hone_perf_value before[HONE_PERF_MAX];
        if (perf != NULL)
            hone_perf_read(perf, before);
        calls.n_calls = hone_max_i64(1, PROFILE_NS / hone_max_i64(time.wall_ns, 1));
        calls.timeout_ns = judge->call_timeout_ns + 20 * PROFILE_NS;
        code = best_call(slot->arena, &calls, &time, err);
        if (perf != NULL)
            hone_perf_read(perf, values);
        for (size_t i = 0; i < HONE_PERF_MAX && perf != NULL; i++)
            values[i].value =
                (values[i].value - before[i].value) / (double)(ROUNDS * calls.n_calls);
    }
    *ret = slot->arena->end;
    f->call_ns = (double)time.wall_ns / (double)calls.n_calls;
    f->cpu_ns = (double)time.cpu_ns / (double)calls.n_calls;
    return code;
}

static int fill_facts(struct hone_judge *judge, const struct hone_workload *workload,
                      struct facts *f, struct hone_err *err)
{
    int code = hone_judge_least_work(judge, workload, &f->flops, &f->bytes, err);
    double seconds = f->call_ns / 1e9;
    f->flops_share = judge->machine.flops > 0 ? f->flops / seconds / judge->machine.flops : 0;
    f->bytes_share =
        judge->machine.memory_rate > 0 ? f->bytes / seconds / judge->machine.memory_rate : 0;
    f->threads_busy = f->call_ns > 0 ? f->cpu_ns / f->call_ns : 0;
    f->n_threads = (double)judge->n_threads;
    f->remarks = judge->remarks.v;
    f->n_remarks = judge->remarks.n;
    return code;
}

static void add(struct hone_counter *counters, size_t *n, const char *name, double value,
                const char *unit)
{
    if (isfinite(value) && *n < MAX_COUNTERS)
        counters[(*n)++] = (struct hone_counter){
            .name = name, .value = value, .unit = unit, .parent_value = (double)NAN};
}

static void report_counters(struct hone_judge *judge, struct facts *f,
                            const struct hone_perf_value *values, bool has_perf,
                            struct hone_profile_report *ret)
{
    struct hone_counter *counters = hone_pool_alloc(judge->pool, MAX_COUNTERS * sizeof *counters);
    size_t n = 0;
    add(counters, &n, "call_ns", f->call_ns, "ns");
    add(counters, &n, "cpu_per_wall", f->threads_busy, "threads");
    add(counters, &n, "gflops", f->flops / f->call_ns, "Gflop/s");
    add(counters, &n, "percent_of_flops", 100 * f->flops_share, "%");
    add(counters, &n, "gbytes", f->bytes / f->call_ns, "GB/s");
    add(counters, &n, "percent_of_memory", 100 * f->bytes_share, "%");
    if (f->bytes > 0)
        add(counters, &n, "flops_per_byte", f->flops / f->bytes, "flop/byte");
    for (size_t i = 0; i < HONE_PERF_MAX && has_perf; i++)
        add(counters, &n, values[i].name, values[i].value, "per call");
    if (has_perf) {
        f->ipc = values[1].value / values[0].value;
        f->miss_rate = values[3].value / values[2].value;
        add(counters, &n, "ipc", f->ipc, "per cycle");
        add(counters, &n, "cache_miss_percent", 100 * f->miss_rate, "%");
    }
    ret->counters = (struct hone_array){.v = counters, .n = n};
}

const struct hone_workload *hone_judge_heaviest(struct hone_judge *judge)
{
    const struct hone_workload *best = &judge->cases[0];
    double most = -1;
    for (size_t c = 1; c < judge->n_cases; c++) {
        double flops = 0;
        bool is_known =
            judge->task->flops != NULL &&
            hone_task_eval(judge->task, judge->task->flops, &judge->cases[c], &flops, NULL) == 0;
        double size = is_known ? flops : (double)hone_judge_set_bytes(judge, &judge->cases[c]);
        if (hone_judge_is_wanted(judge, c) && size > most) {
            most = size;
            best = &judge->cases[c];
        }
    }
    return best;
}

int hone_cpu_profile(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    const struct hone_workload *workload = hone_judge_heaviest(judge);
    struct hone_profile_report *report = hone_pool_alloc(judge->pool, sizeof *report);
    struct facts f = {.ipc = (double)NAN, .miss_rate = (double)NAN};
    struct hone_perf perf;
    struct hone_perf_value values[HONE_PERF_MAX] = {0};
    struct hone_err why = HONE_ERR_INIT;
    hone_judge_drop_arena(slot);
    int code = hone_judge_ensure_ceilings(judge, err);
    if (code == 0)
        code = hone_judge_set_frame(judge, workload, 1, err);
    if (code == 0)
        code = hone_judge_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    hone_judge_fill(judge, 0, HONE_DIST_NORMAL, judge->counter++);
    bool has_perf = hone_perf_open(hone_jail_pid(slot->arena->jail), &perf, &why) == 0;
    code = run_calls(judge, &f, has_perf ? &perf : NULL, values, ret, err);
    if (has_perf)
        hone_perf_close(&perf);
    if (code == 0)
        code = fill_facts(judge, workload, &f, err);
    hone_judge_drop_arena(slot);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    report->has_counters = has_perf;
    report->counters_note = has_perf ? NULL : hone_pool_strdup(judge->pool, why.message);
    report_counters(judge, &f, values, has_perf, report);
    report->remarks =
        (struct hone_array){.v = judge->remarks.v,
                            .n = judge->remarks.n < MAX_REMARKS ? judge->remarks.n : MAX_REMARKS};
    find_bottlenecks(judge, &f, report);
    report->workload = workload->id;
    judge->report->profile = report;
    return 0;
}
