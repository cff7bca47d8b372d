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

#include "tools/runner/judge/load.h"
#include "tools/runner/machine/cpu_bottleneck.h"
#include "tools/runner/machine/perf.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define PROFILE_NS   (30 * HONE_NS_PER_MS)
#define ROUNDS       3
#define MOST_ROUNDS  64
#define LOOK_NS      (300 * HONE_NS_PER_MS) /* a shorter look at the load is within its steps */
#define MAX_COUNTERS 24
#define MAX_REMARKS  64

/* The least disturbed of a few rounds; short ones go on until the load can be seen. */
static int best_call(struct hone_arena *arena, const struct hone_calls *calls,
                     struct hone_call_time *ret, int64_t *ret_n, struct hone_err *err)
{
    struct hone_call_time best = {.wall_ns = INT64_MAX};
    int64_t start = hone_now_ns(), n = 0;
    while (arena->is_alive &&
           (n < ROUNDS || (n < MOST_ROUNDS && hone_now_ns() - start < LOOK_NS))) {
        struct hone_call_time now = {0};
        int code = hone_arena_call(arena, calls, &now, err);
        if (code < 0)
            return code;
        n++;
        if (arena->is_alive && now.wall_ns < best.wall_ns)
            best = now;
    }
    *ret = best;
    *ret_n = n;
    return 0;
}

static void look_at_load(struct hone_judge *judge, struct hone_load_meter *meter,
                         const struct hone_call_time *time, struct hone_cpu_facts *f)
{
    double busy = (double)time->cpu_ns / (double)hone_max_i64(time->wall_ns, 1);
    struct hone_load_report *load = hone_load_end_alone(meter, judge, busy);
    f->others = load->others;
    f->n_cores = (double)load->n_cores;
    f->slowdown = ((const struct hone_arm_load *)load->arms.v)->slowdown;
    if (judge->report->load == NULL)
        judge->report->load = load;
}

/* Warm call, then as many as fill PROFILE_NS, counted (perf NULL: not). */
static int run_calls(struct hone_judge *judge, struct hone_cpu_facts *f, struct hone_perf *perf,
                     struct hone_perf_value *values, const char **ret_timed,
                     struct hone_outcome *ret, struct hone_err *err)
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
        struct hone_load_meter meter;
        int64_t n_rounds = 1;
        hone_load_begin(&meter, judge);
        code = best_call(slot->arena, &calls, &time, &n_rounds, err);
        look_at_load(judge, &meter, &time, f);
        *ret_timed = hone_pool_printf(
            judge->pool, "%s alone, fastest of %lld rounds of %lld calls on one set of inputs",
            judge->frame.workload->id, (long long)n_rounds, (long long)calls.n_calls);
        if (perf != NULL)
            hone_perf_read(perf, values);
        for (size_t i = 0; i < HONE_PERF_MAX && perf != NULL; i++)
            values[i].value = (values[i].value - before[i].value) /
                              (double)(hone_max_i64(n_rounds, 1) * calls.n_calls);
    }
    *ret = slot->arena->end;
    f->call_ns = (double)time.wall_ns / (double)calls.n_calls;
    f->cpu_ns = (double)time.cpu_ns / (double)calls.n_calls;
    return code;
}

/* A loop's remark stands at its head, its instructions may stem from the lines behind: the last
 * head at or before one of them is its own. */
static bool is_of_hot_loop(const struct hone_judge *judge, const struct hone_remark *remarks,
                           size_t i)
{
    for (size_t l = 0; l < judge->hot_loop.n_lines; l++) {
        int64_t line = judge->hot_loop.lines[l];
        size_t last = judge->remarks.n;
        for (size_t k = 0; k < judge->remarks.n; k++)
            if (remarks[k].kind != HONE_REMARK_NOTE && remarks[k].line <= line)
                last = k;
        if (last == i)
            return true;
    }
    return false;
}

static void keep_hot_remarks(struct hone_judge *judge, struct hone_cpu_facts *f)
{
    const struct hone_remark *all = judge->remarks.v;
    struct hone_remark *kept = hone_pool_alloc(judge->pool, (judge->remarks.n + 1) * sizeof *kept);
    for (size_t i = 0; i < judge->remarks.n; i++)
        if (!judge->hot_loop.is_known || is_of_hot_loop(judge, all, i))
            kept[f->n_remarks++] = all[i];
    f->remarks = kept;
    f->is_hot_vector = judge->hot_loop.is_known && judge->hot_loop.is_vector;
}

/* A guess is far too low for a share of it to say anything. */
static void replace_guess(const struct hone_task *task, const struct hone_workload *workload,
                          struct hone_cpu_facts *f)
{
    if (!task->is_flops_guessed)
        return;
    f->is_flops_counted = task->flops_counted != NULL &&
                          hone_task_eval(task, task->flops_counted, workload, &f->flops, NULL) == 0;
    if (!f->is_flops_counted)
        f->flops = (double)NAN;
}

static int fill_facts(struct hone_judge *judge, const struct hone_workload *workload,
                      struct hone_cpu_facts *f, struct hone_err *err)
{
    int code = hone_judge_least_work(judge, workload, &f->flops, &f->bytes, err);
    if (code == 0)
        replace_guess(judge->task, workload, f);
    double seconds = f->call_ns / 1e9;
    /* the ceiling is of all cores */
    double cores = fmax((double)judge->machine.n_cores, 1);
    double flops = judge->machine.flops * fmin((double)judge->n_threads, cores) / cores;
    f->flops_share = flops > 0 || isnan(f->flops) ? f->flops / seconds / flops : 0;
    f->bytes_share =
        judge->machine.memory_rate > 0 ? f->bytes / seconds / judge->machine.memory_rate : 0;
    f->threads_busy = f->call_ns > 0 ? f->cpu_ns / f->call_ns : 0;
    f->n_threads = (double)judge->n_threads;
    keep_hot_remarks(judge, f);
    return code;
}

static void add(struct hone_counter *counters, size_t *n, const char *name, double value,
                const char *unit)
{
    if (isfinite(value) && *n < MAX_COUNTERS)
        counters[(*n)++] = (struct hone_counter){
            .name = name, .value = value, .unit = unit, .parent_value = (double)NAN};
}

static void report_counters(struct hone_judge *judge, struct hone_cpu_facts *f,
                            const struct hone_perf_value *values, bool has_perf,
                            struct hone_profile_report *ret)
{
    struct hone_counter *counters = hone_pool_alloc(judge->pool, MAX_COUNTERS * sizeof *counters);
    size_t n = 0;
    add(counters, &n, "call_ns", f->call_ns, "ns");
    add(counters, &n, "cpu_per_wall", f->threads_busy, "threads");
    bool is_counted = f->is_flops_counted; /* add leaves out what is not known */
    add(counters, &n, "gflops", f->flops / f->call_ns,
        is_counted ? "Gflop/s counted from loops" : "Gflop/s");
    add(counters, &n, "percent_of_flops", 100 * f->flops_share,
        is_counted ? "%, counted from loops" : "%");
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
    struct hone_cpu_facts f = {.ipc = (double)NAN, .miss_rate = (double)NAN, .slowdown = 1};
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
    code = run_calls(judge, &f, has_perf ? &perf : NULL, values, &report->timed, ret, err);
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
    hone_cpu_bottlenecks(&f, judge->pool, &report->bottlenecks);
    report->workload = workload->id;
    judge->report->profile = report;
    return 0;
}
