/* The stages after the build: smoke, verify, screen, time, run. */
#include "tools/runner/runner.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tools/runner/stats.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define SMALL_BYTES       (4ll << 20)
#define LEASE_MS          600000
#define REGRESSION        0.97
#define STEAL_LIMIT       5.0
#define SHORT_BLOCK_NS    1e6
#define FLOOR_ROOM        0.9  /* measured ceilings may be a little low */
#define HIDDEN_WORK_SHARE 0.25 /* of the smallest public size */
#define MAX_LOG           20.0
#define SCREEN_WORKLOADS  2
#define PRINTED_MAX       8192

static const enum hone_distribution smoke_dists[] = {HONE_DIST_NORMAL, HONE_DIST_SHIFTED,
                                                     HONE_DIST_ALTERNATING};
static const enum hone_distribution small_dists[] = {
    HONE_DIST_NORMAL,  HONE_DIST_UNIFORM,  HONE_DIST_SHIFTED,     HONE_DIST_EXPONENTIAL,
    HONE_DIST_HEAVY,   HONE_DIST_SMALL,    HONE_DIST_LARGE,       HONE_DIST_MIXED,
    HONE_DIST_OUTLIER, HONE_DIST_ZEROS,    HONE_DIST_EQUAL,       HONE_DIST_SORTED,
    HONE_DIST_HALVES,  HONE_DIST_INTEGERS, HONE_DIST_ALTERNATING,
};

/* Is this case asked for? The smoke case, the first, never is: it has its own stage. */
bool hone_judge_is_wanted(const struct hone_judge *judge, size_t c)
{
    const struct hone_workload *workload = &judge->cases[c];
    if (c == 0)
        return false;
    if (workload->is_hidden || judge->job->workloads.n == 0)
        return true;
    for (size_t i = 0; i < judge->job->workloads.n; i++) {
        if (strcmp(judge->job->workloads.v[i], workload->id) == 0)
            return true;
    }
    return false;
}

int hone_stage_smoke(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    bool is_screen = hone_judge_is_tier(judge, "screen");
    struct hone_check_plan plan = {
        .name = "smoke",
        .workload = &judge->cases[0],
        .dists = is_screen ? smoke_dists : small_dists,
        .n_dists = is_screen ? HONE_COUNTOF(smoke_dists) : HONE_COUNTOF(small_dists),
        .oracle_budget_ns = 100 * HONE_NS_PER_MS,
    };
    int code = hone_judge_check(judge, &judge->slots[0], &plan, ret, err);
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    bool is_doubtful =
        baseline != NULL && baseline->object != NULL && !judge->job->is_baseline_known_good;
    if (code < 0 || !hone_end_is_good(ret) || !is_doubtful)
        return code;
    plan.name = "baseline";
    plan.n_dists = 1;
    code = hone_judge_check(judge, baseline, &plan, ret, err);
    if (code == 0 && !hone_end_is_good(ret))
        ret->reason = HONE_REASON_BAD_TASK;
    return code;
}

int hone_stage_verify(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    int64_t n_done = 0;
    for (size_t c = 1; c < judge->n_cases && hone_end_is_good(ret); c++) {
        if (!hone_judge_is_wanted(judge, c))
            continue;
        const struct hone_workload *workload = &judge->cases[c];
        bool is_small = hone_judge_set_bytes(judge, workload) <= SMALL_BYTES;
        enum hone_distribution dists[HONE_N_DISTS] = {HONE_DIST_NORMAL};
        size_t n = 1;
        if (is_small) { /* three of the others, different ones for each workload and job */
            while (n < 4) {
                enum hone_distribution other =
                    small_dists[1 + hone_dice_below(&judge->dice, HONE_COUNTOF(small_dists) - 1)];
                bool is_new = true;
                for (size_t i = 0; i < n; i++)
                    is_new = is_new && dists[i] != other;
                if (is_new)
                    dists[n++] = other;
            }
        } else {
            dists[n++] =
                small_dists[1 + hone_dice_below(&judge->dice, HONE_COUNTOF(small_dists) - 1)];
        }
        struct hone_check_plan plan = {.name = "verify",
                                       .workload = workload,
                                       .dists = dists,
                                       .n_dists = n,
                                       .oracle_budget_ns = 150 * HONE_NS_PER_MS,
                                       .with_baseline = true};
        int code = hone_judge_check(judge, &judge->slots[0], &plan, ret, err);
        if (code < 0)
            return code;
        hone_judge_progress(judge, "verify", workload->id, ++n_done, (int64_t)judge->n_cases - 1,
                            "");
    }
    return 0;
}

static int take_lease(const struct hone_judge *judge, int *ret_fd, struct hone_err *err)
{
    if (judge->job->lease_path == NULL)
        return 0;
    int64_t deadline = hone_min_i64(hone_deadline_in_ms(LEASE_MS), judge->deadline_ns);
    int code = hone_lock_file(judge->job->lease_path, deadline, ret_fd, err);
    return code < 0 ? hone_wrap(err, "waiting for the timing lease") : 0;
}

/* Below the floor? The ceilings are measured again first: a busy neighbour may have lowered them.
 */
static int check_floor(struct hone_judge *judge, struct hone_workload_report *report,
                       struct hone_end *ret, struct hone_err *err)
{
    if (!(report->percent_of_bound * FLOOR_ROOM > 100))
        return 0;
    double before = judge->machine.flops, memory = judge->machine.memory_rate,
           cache = judge->machine.cache_rate;
    int code = hone_machine_ceilings(judge->job->machine_path, true, &judge->machine, err);
    if (code < 0)
        return code;
    double gain =
        strcmp(report->bound_by, "flops") == 0
            ? judge->machine.flops / before
            : fmax(judge->machine.cache_rate, judge->machine.memory_rate) / fmax(cache, memory);
    report->bound_ns /= gain;
    report->percent_of_bound /= gain;
    if (report->percent_of_bound * FLOOR_ROOM > 100)
        hone_end_set(ret, HONE_REASON_BELOW_FLOOR,
                     "workload '%s' took %.0f %% of the time that %s need at the measured ceilings",
                     report->id, 1e4 / report->percent_of_bound, report->bound_by);
    return 0;
}

static int time_case(struct hone_judge *judge, const struct hone_timing_plan *plan,
                     struct hone_end *ret, struct hone_err *err)
{
    struct hone_workload_report report = {0};
    int code = hone_judge_time(judge, plan, &report, ret, err);
    if (code < 0 || report.id == NULL)
        return code;
    if (hone_end_is_good(ret))
        code = check_floor(judge, &report, ret, err);
    judge->workloads[judge->n_workloads++] = report;
    return code;
}

static struct hone_interval ratio_logs(const struct hone_ratio *ratio)
{
    return (struct hone_interval){
        .mid = log(ratio->ratio), .low = log(ratio->low), .high = log(ratio->high)};
}

static void conclude_against(struct hone_judge *judge, size_t other, struct hone_ratio *ret)
{
    struct hone_interval logs[HONE_RUNNER_MAX_CASES] = {0};
    double gains = 0;
    int64_t n_pairs = INT64_MAX;
    size_t n = 0;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_ratio *ratio =
            (const struct hone_ratio *)judge->workloads[w].ratios.v + other;
        logs[n++] = ratio_logs(ratio);
        gains += ratio->least_gain * ratio->least_gain;
        n_pairs = hone_min_i64(n_pairs, ratio->n_pairs);
    }
    struct hone_interval all = hone_combine_logs(logs, n);
    *ret = (struct hone_ratio){.against = judge->slots[other + 1].name,
                               .ratio = exp(all.mid),
                               .low = exp(fmax(all.low, -MAX_LOG)),
                               .high = exp(fmin(all.high, MAX_LOG)),
                               .least_gain = fmax(0.005, sqrt(gains) / (double)n),
                               .n_pairs = n_pairs};
    ret->word = hone_ratio_word(ret->low, ret->high, ret->least_gain);
}

static enum hone_reason why_inconclusive(const struct hone_judge *judge)
{
    double steal = 0, block = INFINITY;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_arm_time *time = judge->workloads[w].times.v;
        steal = fmax(steal, judge->workloads[w].steal_percent);
        block = fmin(block, time->median_ns * (double)time->n_batch);
    }
    if (block < SHORT_BLOCK_NS)
        return HONE_REASON_TOO_SHORT;
    return steal > STEAL_LIMIT ? HONE_REASON_STEAL : HONE_REASON_NOISY;
}

static enum hone_reason reason_of(const struct hone_judge *judge, const struct hone_ratio *ratio,
                                  const struct hone_ratio *worst)
{
    static const struct {
        const char *word;
        enum hone_reason reason;
    } words[] = {
        {"faster", HONE_REASON_FASTER}, {"slower", HONE_REASON_SLOWER}, {"same", HONE_REASON_SAME}};
    if (hone_judge_is_tier(judge, "screen"))
        return HONE_REASON_SCREENED;
    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        if (strcmp(words[i].word, ratio->word) != 0)
            continue;
        if (words[i].reason != HONE_REASON_FASTER || worst->ratio >= REGRESSION)
            return words[i].reason;
        /* A loss that may well be noise forbids the claim, but is no regression either. */
        return worst->high < 1 ? HONE_REASON_REGRESSION : why_inconclusive(judge);
    }
    return why_inconclusive(judge);
}

void hone_judge_conclude_timing(struct hone_judge *judge)
{
    struct hone_report *report = judge->report;
    struct hone_ratio *ratios = hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_ARMS * sizeof *ratios);
    double bound = 0;
    const struct hone_ratio *worst = NULL;
    for (size_t w = 0; w < judge->n_workloads; w++)
        bound += log(fmax(judge->workloads[w].percent_of_bound, 1e-9)) / (double)judge->n_workloads;
    report->percent_of_bound = exp(bound);
    judge->was_timed = true;
    judge->timed_end = (struct hone_end)HONE_END_INIT;
    for (size_t i = 0; i + 1 < judge->n_slots; i++)
        conclude_against(judge, i, &ratios[i]);
    report->ratios = (struct hone_array){.v = ratios, .n = judge->n_slots - 1};
    const struct hone_ratio *against = hone_report_ratio(report, "baseline");
    if (against == NULL)
        return;
    size_t at = (size_t)(against - ratios);
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_ratio *ratio =
            (const struct hone_ratio *)judge->workloads[w].ratios.v + at;
        worst = worst == NULL || ratio->ratio < worst->ratio ? ratio : worst;
    }
    report->worst_ratio = worst->ratio;
    enum hone_reason reason = reason_of(judge, against, worst);
    hone_end_set(&judge->timed_end, reason,
                 "%.3gx the baseline's speed (95 %% interval %.3g to %.3g, %lld pairs, least "
                 "claimable gain %.1f %%)",
                 against->ratio, against->low, against->high, (long long)against->n_pairs,
                 100 * against->least_gain);
}

int hone_judge_ensure_ceilings(struct hone_judge *judge, struct hone_err *err)
{
    if (judge->machine.is_measured)
        return 0;
    int code = hone_machine_ceilings(judge->job->machine_path, false, &judge->machine, err);
    if (code < 0)
        return code;
    struct hone_machine_report *report = hone_pool_alloc(judge->pool, sizeof *report);
    *report = (struct hone_machine_report){.cpu = hone_pool_strdup(judge->pool, judge->machine.cpu),
                                           .n_cores = judge->machine.n_cores,
                                           .copy_bytes_per_s = judge->machine.memory_rate,
                                           .flops_per_s = judge->machine.flops,
                                           .peak_flops_per_s = judge->machine.flops};
    judge->report->machine = report;
    return 0;
}

static int time_cases(struct hone_judge *judge, const bool *is_timed,
                      const struct hone_timing_plan *how, struct hone_end *ret,
                      struct hone_err *err)
{
    HONE_AUTOCLOSE int lease = -1;
    int code = hone_judge_ensure_ceilings(judge, err);
    if (code == 0)
        code = take_lease(judge, &lease, err);
    judge->n_workloads = 0;
    for (size_t c = 1; c < judge->n_cases && code == 0 && hone_end_is_good(ret); c++) {
        struct hone_timing_plan plan = *how;
        plan.workload = &judge->cases[c];
        if (is_timed[c])
            code = time_case(judge, &plan, ret, err);
    }
    if (code == 0 && hone_end_is_good(ret) && judge->n_workloads > 0)
        hone_judge_conclude_timing(judge);
    return code;
}

int hone_stage_screen(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    bool is_timed[HONE_RUNNER_MAX_CASES] = {false};
    int64_t n = 0;
    for (size_t c = 1; c < judge->n_cases && n < SCREEN_WORKLOADS; c++) {
        is_timed[c] = hone_judge_is_wanted(judge, c) && !judge->cases[c].is_hidden;
        n += is_timed[c];
    }
    enum hone_distribution dists[] = {HONE_DIST_NORMAL};
    for (size_t c = 1; c < judge->n_cases && hone_end_is_good(ret); c++) {
        struct hone_check_plan plan = {.name = "verify",
                                       .workload = &judge->cases[c],
                                       .dists = dists,
                                       .n_dists = 1,
                                       .oracle_budget_ns = 5 * HONE_NS_PER_MS};
        int code = is_timed[c] ? hone_judge_check(judge, &judge->slots[0], &plan, ret, err) : 0;
        if (code < 0)
            return code;
    }
    if (!hone_end_is_good(ret))
        return 0;
    int64_t budget = (judge->job->budget_ms > 0 ? judge->job->budget_ms : 300) * HONE_NS_PER_MS /
                     hone_max_i64(n, 1);
    struct hone_timing_plan plan = {
        .budget_ns = budget / 3, .block_ns = 2 * HONE_NS_PER_MS, .min_pairs = 3, .max_pairs = 15};
    return time_cases(judge, is_timed, &plan, ret, err);
}

/* What the machine needs at least for a case, in seconds: its operations or its bytes; 0: unknown.
 */
static double least_seconds(const struct hone_judge *judge, const struct hone_workload *workload)
{
    double flops = 0, bytes = 0;
    (void)hone_judge_least_work(judge, workload, &flops, &bytes, NULL);
    return fmax(flops / fmax(judge->machine.flops, 1), bytes / fmax(judge->machine.memory_rate, 1));
}

/* Edge sizes among the drawn ones are for the checks: a kernel for the public sizes may lose time
 * on ten elements. Timed are those with a fair share of the work of some public size. */
static bool is_large_enough(const struct hone_judge *judge, size_t c)
{
    if (!judge->cases[c].is_hidden)
        return true;
    double mine = least_seconds(judge, &judge->cases[c]);
    for (size_t p = 1; p < judge->n_cases; p++)
        if (!judge->cases[p].is_hidden &&
            mine >= HIDDEN_WORK_SHARE * least_seconds(judge, &judge->cases[p]))
            return true;
    return false;
}

int hone_stage_time(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    bool is_timed[HONE_RUNNER_MAX_CASES] = {false};
    int64_t n = 0;
    int code = hone_judge_ensure_ceilings(judge, err);
    if (code < 0)
        return code;
    for (size_t c = 1; c < judge->n_cases; c++) {
        is_timed[c] = hone_judge_is_wanted(judge, c) && is_large_enough(judge, c);
        n += is_timed[c];
    }
    int64_t budget = judge->job->budget_ms > 0 ? judge->job->budget_ms : 3000 * n;
    struct hone_timing_plan plan = {.budget_ns = budget * HONE_NS_PER_MS / hone_max_i64(n, 1),
                                    .block_ns = 5 * HONE_NS_PER_MS,
                                    .min_pairs = 3,
                                    .max_pairs = 200,
                                    .is_reversed = hone_judge_is_tier(judge, "confirm")};
    /* Fresh processes: address layout and allocator state are drawn anew. */
    for (size_t i = 0; i < judge->n_slots; i++)
        hone_judge_drop_arena(&judge->slots[i]);
    return time_cases(judge, is_timed, &plan, ret, err);
}

static void summarise_output(struct hone_judge *judge, size_t output, struct hone_buf *buf)
{
    const struct hone_tensor *tensor = &judge->task->outputs[output];
    const void *base = hone_judge_output(judge, &judge->slots[0], 0, output);
    int64_t n = hone_judge_output_elements(judge, output), n_finite = 0;
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = hone_element_get(tensor->dtype, base, i);
        if (!isfinite(v))
            continue;
        n_finite++;
        low = fmin(low, v);
        high = fmax(high, v);
        sum += v;
    }
    hone_buf_printf(buf,
                    "%s: %lld elements, min %.6g, max %.6g, mean %.6g, %lld not finite; first:",
                    tensor->name, (long long)n, low, high, sum / (double)hone_max_i64(n_finite, 1),
                    (long long)(n - n_finite));
    for (int64_t i = 0; i < n && i < 8; i++)
        hone_buf_printf(buf, " %.6g", hone_element_get(tensor->dtype, base, i));
    hone_buf_str(buf, "\n");
}

static void add_printed(const struct hone_arena *arena, struct hone_buf *buf)
{
    off_t end = arena->printed.base != NULL ? lseek(arena->printed.fd, 0, SEEK_CUR) : 0;
    if (end <= 0)
        return;
    int64_t len = hone_min_i64(hone_min_i64(end, arena->printed.size), PRINTED_MAX);
    hone_buf_str(buf, "printed by the kernel:\n");
    hone_buf_add(buf, arena->printed.base, (size_t)len);
}

int hone_stage_run(struct hone_judge *judge, struct hone_end *ret, struct hone_err *err)
{
    size_t c = 1;
    while (c + 1 < judge->n_cases && !hone_judge_is_wanted(judge, c))
        c++;
    const struct hone_workload *workload = &judge->cases[judge->n_cases > 1 ? c : 0];
    struct hone_slot *slot = &judge->slots[0];
    hone_judge_drop_arena(slot);
    int code = hone_judge_set_frame(judge, workload, 1, err);
    if (code == 0)
        code = hone_judge_ready(judge, slot, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    hone_judge_fill(judge, 0, HONE_DIST_NORMAL, judge->counter++);
    hone_judge_poison(judge, slot, 0, HONE_POISON_NAN);
    struct hone_calls calls = {.n_rotate = 1, .n_calls = 1, .timeout_ns = judge->call_timeout_ns};
    struct hone_call_time time = {0};
    code = hone_arena_call(slot->arena, &calls, &time, err);
    if (code < 0)
        return code;
    *ret = slot->arena->end;
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    if (hone_end_is_good(ret)) {
        hone_buf_printf(&buf,
                        "workload %s, distribution normal, one call: %.3f ms wall, %.3f ms CPU\n",
                        workload->id, (double)time.wall_ns / 1e6, (double)time.cpu_ns / 1e6);
        for (size_t o = 0; o < judge->task->n_outputs; o++)
            summarise_output(judge, o, &buf);
    }
    add_printed(slot->arena, &buf);
    judge->report->output =
        hone_pool_strndup(judge->pool, buf.data != NULL ? buf.data : "", buf.len);
    return 0;
}
