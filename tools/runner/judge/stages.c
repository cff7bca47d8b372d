/* SPDX-License-Identifier: Apache-2.0 */
/* The stages after the build: smoke, verify, screen, time. What they do to a kernel is the target's
 * (target.h); what is asked, and what follows from it, is decided here. */
#include "tools/runner/judge/target.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/arms.h"
#include "tools/runner/judge/lease.h"
#include "tools/runner/judge/load.h"
#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define REGRESSION        0.97
#define STEAL_LIMIT       5.0
#define SHORT_BLOCK_NS    1e6
#define FLOOR_ROOM        0.9  /* measured ceilings may be a little low */
#define HIDDEN_WORK_SHARE 0.25 /* of the smallest public size */
#define MAX_LOG           20.0
#define AGAIN_SHARE       0.05 /* of the logarithm of a confirmed ratio: from one run to the next */
#define PART_OF_ROUNDS    3 / 4
#define LEAST_PAIRS       6 /* for a word; fewer are over before chance is... */
#define CLEAR_PAIRS       3 /* ...but for an interval that lies far above what noise does: */
#define CLEAR_LOW         10.0
#define UNLIKE_BASELINES  3.0 /* between the shares of the bound that a baseline reaches */
#define SCREEN_WORKLOADS  2
#define EDGE_DISTS        6
#define RANGE_DISTS       2
#define EDGE_ORACLE_NS    (100 * HONE_NS_PER_MS)
#define LONG_AXIS         16384
#define OBJECT_BYTES      (256u << 20)
#define CALLED_SHARE      0.1
#define VERIFY_MORE_NS    (200.0 * HONE_NS_PER_MS) /* of a workload, beyond what it gets always */

static const enum hone_distribution smoke_dists[] = {HONE_DIST_NORMAL, HONE_DIST_SHIFTED,
                                                     HONE_DIST_ALTERNATING, HONE_DIST_SPARSE,
                                                     HONE_DIST_MIXTURE};
/* What every wanted size is verified with: plain content, what shows elements that were left out,
 * what shows rounding that all goes to one side, and all kinds beside each other. */
static const enum hone_distribution core_dists[] = {
    HONE_DIST_NORMAL, HONE_DIST_SPIKES, HONE_DIST_NEARLY, HONE_DIST_RARE, HONE_DIST_MIXTURE};

/* Is this case asked for? The smoke case, the first, and the edges never are: checks of their own
 * have them. */
bool hone_judge_is_wanted(const struct hone_judge *judge, size_t c)
{
    const struct hone_workload *workload = &judge->cases[c];
    if (c == 0 || workload->is_edge)
        return false;
    if (workload->is_hidden || judge->job->workloads.n == 0)
        return true;
    for (size_t i = 0; i < judge->job->workloads.n; i++) {
        if (strcmp(judge->job->workloads.v[i], workload->id) == 0)
            return true;
    }
    return false;
}

int hone_stage_smoke(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    bool is_screen = hone_judge_is_tier(judge, HONE_TIER_SCREEN);
    enum hone_distribution kinds[HONE_N_DISTS];
    size_t n_kinds = hone_contents_kinds(judge, kinds);
    struct hone_check_plan plan = {
        .name = "smoke",
        .workload = &judge->cases[0],
        .dists = is_screen ? smoke_dists : kinds,
        .n_dists = is_screen ? HONE_COUNTOF(smoke_dists) : n_kinds,
        .oracle_budget_ns = 100 * HONE_NS_PER_MS,
    };
    int code = hone_sizes_check(judge, &plan, ret, err);
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    bool is_doubtful =
        baseline != NULL && baseline->is_built && !judge->job->is_baseline_known_good;
    if (code < 0 || !hone_outcome_is_good(ret) || !is_doubtful)
        return code;
    plan.name = "baseline";
    plan.n_dists = 1;
    code = judge->target->check(judge, baseline, &plan, ret, err);
    if (code == 0 && !hone_outcome_is_good(ret))
        ret->reason = HONE_REASON_BAD_TASK;
    return code;
}

/* Sizes at the edges of tiles, long axes, the least size: cheap, and where tails and masks are
 * wrong; then those over the whole legal range. Each has the plain content; the others are dealt,
 * so that each is somewhere. */
static int verify_edges(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    for (size_t c = 1; c < judge->n_cases && hone_outcome_is_good(ret); c++) {
        enum hone_distribution dists[EDGE_DISTS] = {HONE_DIST_NORMAL};
        bool is_range = judge->kinds[c] == HONE_CASE_RANGE;
        if (!is_range && judge->kinds[c] != HONE_CASE_EDGE)
            continue;
        size_t n_dists = is_range ? RANGE_DISTS : EDGE_DISTS;
        hone_contents_deal(judge, &judge->cases[c], dists, 1, n_dists);
        struct hone_check_plan plan = {
            .name = is_range ? "range" : "edge",
            .workload = &judge->cases[c],
            .dists = dists,
            .n_dists = n_dists,
            .oracle_budget_ns = is_range ? judge->target->effort.oracle_ns / 5 : EDGE_ORACLE_NS,
            .with_baseline = true};
        int code = hone_sizes_check_drawn(judge, &plan, ret, err);
        if (code < 0)
            return code;
    }
    return 0;
}

/* Long enough for an element to be left out without a trace. */
static bool has_long_axis(const struct hone_task *task, const struct hone_workload *workload)
{
    for (size_t i = 0; i < task->n_inputs; i++)
        for (size_t d = 0; d < task->inputs[i].rank; d++)
            if (hone_dtype_is_float(task->inputs[i].dtype) &&
                workload->axes[task->inputs[i].shape[d]] >= LONG_AXIS)
                return true;
    return false;
}

/* Uneven rows are the kinds of content that a sparse matrix is got wrong on. */
static size_t core_of(const struct hone_task *task, enum hone_distribution *ret)
{
    memcpy(ret, core_dists, sizeof core_dists);
    size_t n = HONE_COUNTOF(core_dists);
    bool has_offsets = false;
    for (size_t i = 0; i < task->n_inputs; i++)
        has_offsets = has_offsets || task->inputs[i].role == HONE_ROLE_OFFSETS;
    if (has_offsets) {
        ret[n++] = HONE_DIST_HEAVY;
        ret[n++] = HONE_DIST_LARGE;
    }
    return n;
}

/* A short look at one size, for what a call takes there. */
static bool is_look(const struct hone_judge *judge)
{
    return judge->job->axes != NULL && hone_judge_is_tier(judge, HONE_TIER_SCREEN) &&
           hone_judge_has_stage(judge, "run");
}

/* The core and some others; then, as long as that is cheap, what is left. */
static int verify_case(struct hone_judge *judge, const struct hone_workload *workload,
                       struct hone_outcome *ret, struct hone_err *err)
{
    bool is_small = hone_judge_set_bytes(judge, workload) <= judge->target->effort.small_bytes;
    enum hone_distribution dists[HONE_N_DISTS];
    size_t n_kinds = hone_contents_kinds(judge, dists); /* how many: the list is dealt anew */
    struct hone_check_plan plan = {.name = "verify",
                                   .workload = workload,
                                   .dists = dists,
                                   .oracle_budget_ns = judge->target->effort.oracle_ns,
                                   .with_baseline = true};
    size_t n_core = core_of(judge->task, dists);
    plan.n_dists = n_core + (is_small ? 2 : 1);
    if (is_look(judge)) {
        plan.n_dists = 1; /* the plain content */
        return hone_sizes_check(judge, &plan, ret, err);
    }
    if (has_long_axis(judge->task, workload)) /* of those that would be dealt, one is chosen */
        dists[n_core++] = HONE_DIST_BORDERS;
    hone_contents_deal(judge, workload, dists, n_core, plan.n_dists);
    int64_t start = hone_now_ns(), called = judge->called_ns;
    int code = hone_sizes_check(judge, &plan, ret, err);
    /* the candidate's own time hardly counts: a slow one would be checked less */
    double called_ns = (double)(judge->called_ns - called),
           each_ns = (double)(hone_now_ns() - start) - called_ns * (1 - CALLED_SHARE);
    size_t n_left = n_kinds - plan.n_dists,
           n_more = (size_t)fmin(VERIFY_MORE_NS * (double)plan.n_dists / fmax(each_ns, 1),
                                 (double)n_left);
    if (code < 0 || !hone_outcome_is_good(ret) || n_more == 0)
        return code;
    hone_contents_deal(judge, workload, dists, plan.n_dists, plan.n_dists + n_more);
    plan.dists = dists + plan.n_dists;
    plan.n_dists = n_more;
    return hone_sizes_check(judge, &plan, ret, err);
}

/* ---- teams of threads ---- */

/* Names of what makes threads; an object without them has none. */
static bool makes_threads(const struct hone_judge *judge)
{
    static const char *const names[] = {"GOMP_", "__kmpc_", "pthread_create", "thrd_create"};
    HONE_AUTOFREE char *bytes = NULL;
    struct hone_err why = HONE_ERR_INIT;
    size_t len = 0;
    const char *object = judge->slots[0].object;
    if (strcmp(judge->target->name, "cpu") != 0 || object == NULL ||
        hone_file_read(object, OBJECT_BYTES, &bytes, &len, &why) < 0)
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (memmem(bytes, len, names[i], strlen(names[i])) != NULL)
            return true;
    return false;
}

static int check_team(struct hone_judge *judge, const struct hone_workload *workload, int64_t team,
                      struct hone_outcome *ret, struct hone_err *err)
{
    enum hone_distribution dists[] = {HONE_DIST_NORMAL};
    struct hone_check_plan plan = {.name = "team",
                                   .workload = workload,
                                   .dists = dists,
                                   .n_dists = 1,
                                   .oracle_budget_ns = EDGE_ORACLE_NS,
                                   .with_baseline = true};
    int code = hone_sizes_check(judge, &plan, ret, err);
    if (code < 0 || hone_outcome_is_good(ret))
        return code;
    if (ret->reason == HONE_REASON_TIMEOUT && !workload->is_edge) { /* as slow as one thread is */
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
        judge->is_checked[workload - judge->cases] = true;
        hone_judge_warn(judge, "workload '%s' could not be checked with %lld threads: too slow",
                        workload->id, (long long)team);
        return 0;
    }
    struct hone_outcome was = *ret;
    hone_outcome_set(ret, was.reason, "%.300s, with a team of %lld thread%s (OMP_THREAD_LIMIT)",
                     was.detail, (long long)team, team == 1 ? "" : "s");
    return 0;
}

/* A caller may give a kernel a smaller or a larger team than the job does: the largest edge and the
 * smallest size that is asked for, with one thread and with one more than the job's. */
static int verify_teams(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = &judge->slots[0];
    const struct hone_workload *sizes[2] = {NULL, NULL};
    const int64_t teams[] = {1, judge->n_threads + 1};
    if (!makes_threads(judge))
        return 0;
    for (size_t c = 1; c < judge->n_cases; c++) {
        const struct hone_workload *mine = &judge->cases[c];
        int64_t bytes = hone_judge_set_bytes(judge, mine);
        if (judge->kinds[c] == HONE_CASE_EDGE &&
            (sizes[0] == NULL || bytes > hone_judge_set_bytes(judge, sizes[0])))
            sizes[0] = mine;
        if (hone_judge_is_wanted(judge, c) && judge->kinds[c] == HONE_CASE_PUBLIC &&
            (sizes[1] == NULL || bytes < hone_judge_set_bytes(judge, sizes[1])))
            sizes[1] = mine;
    }
    int64_t start = hone_now_ns();
    int code = 0;
    for (size_t t = 0; t < HONE_COUNTOF(teams) && code == 0 && hone_outcome_is_good(ret); t++) {
        judge->target->drop_arena(judge, slot);
        slot->team = teams[t];
        for (size_t i = 0; i < HONE_COUNTOF(sizes) && code == 0 && hone_outcome_is_good(ret); i++)
            if (sizes[i] != NULL)
                code = check_team(judge, sizes[i], teams[t], ret, err);
    }
    slot->team = 0;
    if (code == 0 && hone_outcome_is_good(ret))
        judge->target->drop_arena(judge, slot);
    hone_judge_cost(judge, "verify.teams", hone_now_ns() - start);
    return code;
}

int hone_stage_verify(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    int64_t n_done = 0;
    judge->is_verifying = true;
    int code = verify_edges(judge, ret, err);
    for (size_t c = 1; c < judge->n_cases && code == 0 && hone_outcome_is_good(ret); c++) {
        if (!hone_judge_is_wanted(judge, c))
            continue;
        code = verify_case(judge, &judge->cases[c], ret, err);
        hone_judge_progress(judge, "verify", judge->cases[c].id, ++n_done,
                            (int64_t)judge->n_cases - 1, "");
    }
    if (code == 0 && hone_outcome_is_good(ret))
        code = verify_teams(judge, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_sizes_check_beyond(judge, ret, err);
    judge->is_verifying = false;
    return code;
}

/* The bound is that of ordinary arithmetic. Where the task's precision can be had in a faster way
 * (split operands on tensor cores), only that way's rate is physics. */
static double percent_of_floor(const struct hone_judge *judge,
                               const struct hone_workload_report *report)
{
    double percent = report->percent_of_bound;
    bool is_flops = strcmp(report->bound_by, "flops") == 0;
    if (is_flops && judge->machine.fastest_flops > judge->machine.flops)
        percent *= judge->machine.flops / judge->machine.fastest_flops;
    return percent;
}

static int measure_again(struct hone_judge *judge, struct hone_workload_report *report,
                         struct hone_err *err)
{
    double before = judge->machine.flops, memory = judge->machine.memory_rate,
           cache = judge->machine.cache_rate;
    int code = judge->target->ceilings(judge, true, err);
    if (code < 0)
        return code;
    double computing = judge->machine.flops / before;
    double moving = fmax(judge->machine.cache_rate / cache, judge->machine.memory_rate / memory);
    double gain = strcmp(report->bound_by, "flops") == 0 ? computing : moving;
    report->bytes_ns /= moving;
    report->flops_ns /= computing;
    report->bound_ns /= gain;
    report->percent_of_bound /= gain;
    return 0;
}

/* Nobody's score is better than the floor: the ratios become those of a candidate that needs it. */
static void clip_at_floor(struct hone_workload_report *report, double percent)
{
    struct hone_ratio *ratios = (struct hone_ratio *)report->ratios.v;
    for (size_t i = 0; i < report->ratios.n; i++) {
        ratios[i].ratio *= 100 / percent;
        ratios[i].low *= 100 / percent;
        ratios[i].high *= 100 / percent;
        ratios[i].word = hone_ratio_word(ratios[i].low, ratios[i].high, ratios[i].least_gain);
    }
}

/* Below the floor? The ceilings are measured again first: a busy neighbour may have lowered them.
 * What is left between the measured ceiling and the room that it is given is clipped and reviewed.
 */
int hone_judge_check_floor(struct hone_judge *judge, struct hone_workload_report *report,
                           struct hone_outcome *ret, struct hone_err *err)
{
    if (percent_of_floor(judge, report) <= 100)
        return 0;
    int code = measure_again(judge, report, err);
    double percent = percent_of_floor(judge, report);
    if (code < 0 || percent <= 100)
        return code;
    if (percent * FLOOR_ROOM > 100) {
        hone_outcome_set(
            ret, HONE_REASON_BELOW_FLOOR,
            "workload '%s' took %.0f %% of the time that %s need at the measured ceilings",
            report->id, 1e4 / percent, report->bound_by);
        return 0;
    }
    hone_judge_review(judge, "above_ceiling", 0,
                      "workload '%s' took %.1f %% of the time that %s need at the measured "
                      "ceilings; its ratios are clipped there",
                      report->id, 1e4 / percent, report->bound_by);
    clip_at_floor(report, percent);
    return 0;
}

static int time_case(struct hone_judge *judge, const struct hone_timing_plan *plan,
                     struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_workload_report report = {0};
    int code = judge->target->time(judge, plan, &report, ret, err);
    if (code == 0)
        hone_sizes_name(judge, plan->workload, ret);
    if (code < 0 || report.id == NULL) {
        if (code == 0)
            judge->left_out[plan->workload - judge->cases] = "its timing gave no figure";
        return code;
    }
    if (hone_outcome_is_good(ret))
        code = hone_judge_check_floor(judge, &report, ret, err);
    judge->workloads[judge->n_workloads++] = report;
    return code;
}

static const struct hone_ratio *ratio_against(const struct hone_workload_report *report,
                                              const char *name)
{
    const struct hone_ratio *ratios = report->ratios.v;
    for (size_t i = 0; i < report->ratios.n; i++)
        if (strcmp(ratios[i].against, name) == 0)
            return &ratios[i];
    return NULL;
}

/* Rounds of one run say nothing of what differs between runs: where memory lies, which cores the
 * threads got. What differs hits arms that are alike alike, so the allowance grows with what sets
 * the arms apart: a share of the ratio's logarithm (decision 0050 has the measurement). */
static void widen_for_again(struct hone_ratio *ratio)
{
    double again = exp(AGAIN_SHARE * fabs(log(ratio->ratio)));
    ratio->low /= again;
    ratio->high *= again;
    ratio->word = hone_ratio_word(ratio->low, ratio->high, ratio->least_gain);
}

static void conclude_against(struct hone_judge *judge, const char *other, struct hone_ratio *ret)
{
    struct hone_interval logs[HONE_RUNNER_MAX_CASES] = {0};
    double gains = 0;
    int64_t n_pairs = INT64_MAX;
    size_t n = 0;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_ratio *ratio = ratio_against(&judge->workloads[w], other);
        if (ratio == NULL)
            continue;
        logs[n++] = hone_load_logs(judge, &judge->workloads[w], ratio);
        gains += ratio->least_gain * ratio->least_gain;
        n_pairs = hone_min_i64(n_pairs, ratio->n_pairs);
    }
    struct hone_interval all = hone_combine_logs(logs, n);
    *ret = (struct hone_ratio){.against = other,
                               .ratio = exp(all.mid),
                               .low = exp(fmax(all.low, -MAX_LOG)),
                               .high = exp(fmin(all.high, MAX_LOG)),
                               .least_gain = fmax(0.005, sqrt(gains) / (double)n),
                               .n_pairs = n_pairs};
    hone_load_widen_whole(judge, ret);
    if (hone_judge_is_tier(judge, HONE_TIER_CONFIRM))
        widen_for_again(ret);
}

static bool has_ratio(const struct hone_judge *judge, const char *against)
{
    for (size_t w = 0; w < judge->n_workloads; w++)
        if (ratio_against(&judge->workloads[w], against) != NULL)
            return true;
    return false;
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

/* The ratio has a word of its own, and is not believed. */
static enum hone_reason few_rounds(const struct hone_judge *judge)
{
    enum hone_reason why = why_inconclusive(judge);

    return why == HONE_REASON_NOISY ? HONE_REASON_FEW_ROUNDS : why;
}

/* A baseline of a second a call has time for few pairs: 634x [451, 891] was inconclusive with five. */
static bool is_clear(const struct hone_ratio *ratio)
{
    return ratio->n_pairs >= CLEAR_PAIRS && ratio->low >= CLEAR_LOW;
}

static enum hone_reason reason_of(const struct hone_judge *judge, const struct hone_ratio *ratio,
                                  const struct hone_ratio *worst)
{
    static const struct {
        const char *word;
        enum hone_reason reason;
    } words[] = {
        {"faster", HONE_REASON_FASTER}, {"slower", HONE_REASON_SLOWER}, {"same", HONE_REASON_SAME}};
    if (hone_judge_is_tier(judge, HONE_TIER_SCREEN))
        return HONE_REASON_SCREENED;
    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        if (strcmp(words[i].word, ratio->word) != 0)
            continue;
        if (ratio->n_pairs < LEAST_PAIRS && !(is_clear(ratio) && worst->low >= 1))
            return few_rounds(judge);
        if (words[i].reason != HONE_REASON_FASTER || worst->ratio >= REGRESSION)
            return words[i].reason;
        /* A loss that may well be noise forbids the claim, but is no regression either. */
        return worst->high < 1 ? HONE_REASON_REGRESSION : why_inconclusive(judge);
    }
    return why_inconclusive(judge);
}

/* What the source's own loops do stands in for a guess, which is far too low. The floor of a claim
 * still rests on the guess. */
static bool use_counted(struct hone_judge *judge, struct hone_workload_report *report)
{
    double flops = 0;
    size_t c = 1;
    while (c < judge->n_cases && strcmp(judge->cases[c].id, report->id) != 0)
        c++;
    if (judge->task->flops_counted == NULL || c == judge->n_cases || !(report->bound_ns > 0) ||
        !(judge->machine.flops > 0) ||
        hone_task_eval(judge->task, judge->task->flops_counted, &judge->cases[c], &flops, NULL) < 0)
        return false;
    double was = report->bound_ns;
    report->least_flops = flops;
    report->flops_ns = flops / judge->machine.flops * 1e9;
    report->bound_ns = fmax(report->bytes_ns, report->flops_ns);
    report->bound_by = report->bytes_ns >= report->flops_ns ? "bytes" : "flops";
    report->percent_of_bound *= report->bound_ns / was;
    return true;
}

/* A share of what a guess allows is no figure. */
static void leave_out_percents(struct hone_judge *judge)
{
    judge->report->percent_of_bound = (double)NAN;
    for (size_t i = 0; i < judge->n_workloads; i++) {
        struct hone_workload_report *w = &judge->workloads[i];
        w->percent_of_bound = (double)NAN;
        w->bytes_ns = w->flops_ns = w->least_bytes = w->least_flops = (double)NAN;
    }
}

/* A mean of ratios says something of the candidate only where the baseline is as good at each. */
static void note_unlike_baselines(struct hone_judge *judge, const char *name)
{
    const struct hone_workload_report *best = NULL, *worst = NULL;
    double most = 0, least = INFINITY;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_workload_report *report = &judge->workloads[w];
        const struct hone_arm_time *times = report->times.v;
        for (size_t i = 0; i < report->times.n; i++) {
            double percent = 100 * report->bound_ns / times[i].median_ns;
            if (strcmp(times[i].arm, name) != 0 || !isfinite(percent) || percent <= 0)
                continue;
            if (percent > most) {
                most = percent;
                best = report;
            }
            if (percent < least) {
                least = percent;
                worst = report;
            }
        }
    }
    if (best != NULL && most >= UNLIKE_BASELINES * least)
        hone_judge_warn(judge,
                        "the mean ratio stands on unlike baselines: the %s reaches %.3g %% of the "
                        "bound on '%s' and %.3g %% on '%s'; compare the candidate's own times",
                        name, least, worst->id, most, best->id);
}

/* Yardsticks that are no arms. */
static const char *const played[] = {HONE_ARM_TORCH_EAGER, HONE_ARM_TORCH_COMPILE};

void hone_judge_conclude_timing(struct hone_judge *judge)
{
    struct hone_report *report = judge->report;
    struct hone_ratio *ratios =
        hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_TIMES * sizeof *ratios);
    double bound = 0;
    const struct hone_ratio *worst = NULL;
    bool is_told = !judge->task->is_flops_guessed || judge->task->flops_counted != NULL;
    for (size_t w = 0; judge->task->is_flops_guessed && w < judge->n_workloads; w++)
        is_told = use_counted(judge, &judge->workloads[w]) && is_told;
    for (size_t w = 0; w < judge->n_workloads; w++)
        bound += log(fmax(judge->workloads[w].percent_of_bound, 1e-9)) / (double)judge->n_workloads;
    report->percent_of_bound = exp(bound);
    if (!is_told)
        leave_out_percents(judge);
    judge->was_timed = true;
    judge->timed_end = (struct hone_outcome)HONE_OUTCOME_INIT;
    hone_arms_conclude(judge);
    hone_load_conclude(judge);
    report->ratios = (struct hone_array){.v = ratios};
    for (size_t i = 1; i < judge->n_slots; i++)
        if (!judge->slots[i].is_lost)
            conclude_against(judge, judge->slots[i].name, &ratios[report->ratios.n++]);
    for (size_t i = 0; i < HONE_COUNTOF(played); i++)
        if (has_ratio(judge, played[i]))
            conclude_against(judge, played[i], &ratios[report->ratios.n++]);
    const struct hone_ratio *against = hone_report_ratio(report, "baseline");
    if (against == NULL)
        return;
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_ratio *ratio = ratio_against(&judge->workloads[w], against->against);
        if (ratio != NULL && (worst == NULL || ratio->ratio < worst->ratio))
            worst = ratio;
    }
    report->worst_ratio = worst->ratio;
    note_unlike_baselines(judge, against->against);
    enum hone_reason reason = reason_of(judge, against, worst);
    const char *why = NULL;
    if ((reason != HONE_REASON_SCREENED && hone_load_decides(judge, against->against, &why)) ||
        (reason == HONE_REASON_NOISY && hone_load_explains(judge, &why))) {
        hone_outcome_set(&judge->timed_end, HONE_REASON_LOADED,
                         "%.3gx the baseline's speed (95 %% interval %.3g to %.3g): %s",
                         against->ratio, against->low, against->high, why);
        return;
    }
    hone_outcome_set(&judge->timed_end, reason,
                     "%.3gx the baseline's speed (95 %% interval %.3g to %.3g, %lld pairs, least "
                     "gain %.1f %%)",
                     against->ratio, against->low, against->high, (long long)against->n_pairs,
                     100 * against->least_gain);
}

int hone_judge_ensure_ceilings(struct hone_judge *judge, struct hone_err *err)
{
    if (judge->machine.is_measured)
        return 0;
    int code = judge->target->ceilings(judge, false, err);
    if (code < 0)
        return code;
    struct hone_machine_report *report = hone_pool_alloc(judge->pool, sizeof *report);
    *report = (struct hone_machine_report){.cpu = hone_pool_strdup(judge->pool, judge->machine.cpu),
                                           .n_cores = judge->machine.n_cores,
                                           .copy_bytes_per_s = judge->machine.memory_rate,
                                           .flops_per_s = judge->machine.flops,
                                           .peak_flops_per_s = judge->machine.flops,
                                           .flops_unit = judge->machine.flops_unit};
    judge->report->machine = report;
    return 0;
}

/* Fresh processes: address layout and allocator state are drawn anew, and nobody can tell by the
 * calls that it remembers whether it was checked. */
static void drop_arenas(struct hone_judge *judge)
{
    for (size_t i = 0; i < judge->n_slots; i++)
        judge->target->drop_arena(judge, &judge->slots[i]);
}

/* What is left of the job's finish_ms, in equal parts for the workloads that are still to be timed:
 * of a part, rounds leave some for the looks after them. */
static void hurry(struct hone_judge *judge, const bool *is_timed, size_t c,
                  struct hone_timing_plan *plan)
{
    int64_t n = 0;
    if (judge->finish_ns == 0)
        return;
    for (size_t i = c; i < judge->n_cases; i++)
        n += is_timed[i];
    int64_t usual = hone_rounds_most_ns(plan);
    int64_t part = (judge->finish_ns - hone_now_ns()) / n;
    int64_t most = hone_max_i64(part * PART_OF_ROUNDS, 1);
    if (part >= 2 * usual)
        return;
    plan->most_ns = most;
    /* Most need less than a part: half of what is kept for the others may be used. */
    plan->end_ns = hone_now_ns() + part + (n - 1) * part / 2;
    plan->budget_ns = hone_min_i64(plan->budget_ns, most);
    hone_judge_warn(
        judge,
        "workload '%s': little time was left, %.2g s for its rounds and the looks after "
        "them",
        plan->workload->id, fmax((double)part, 0) / 1e9);
}

static int time_cases(struct hone_judge *judge, const bool *is_timed,
                      const struct hone_timing_plan *how, struct hone_outcome *ret,
                      struct hone_err *err)
{
    HONE_AUTOCLOSE int lease = -1;
    int code = hone_judge_ensure_ceilings(judge, err);
    if (code == 0)
        code = hone_lease_take(judge, &lease, err);
    judge->n_workloads = 0;
    for (size_t c = 1; c < judge->n_cases && code == 0 && hone_outcome_is_good(ret); c++) {
        struct hone_timing_plan plan = *how;
        plan.workload = &judge->cases[c];
        if (!is_timed[c])
            continue;
        hurry(judge, is_timed, c, &plan);
        code = time_case(judge, &plan, ret, err);
    }
    if (code == 0 && hone_outcome_is_good(ret) && judge->n_workloads > 0)
        hone_judge_conclude_timing(judge);
    return code;
}

int hone_stage_screen(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    bool is_timed[HONE_RUNNER_MAX_CASES] = {false};
    int64_t n = 0;
    for (size_t c = 1; c < judge->n_cases && n < SCREEN_WORKLOADS; c++) {
        is_timed[c] = hone_judge_is_wanted(judge, c) && !judge->cases[c].is_hidden;
        n += is_timed[c];
    }
    enum hone_distribution dists[] = {HONE_DIST_NORMAL};
    for (size_t c = 1; c < judge->n_cases && hone_outcome_is_good(ret); c++) {
        struct hone_check_plan plan = {.name = "verify",
                                       .workload = &judge->cases[c],
                                       .dists = dists,
                                       .n_dists = 1,
                                       .oracle_budget_ns = judge->target->effort.screen_oracle_ns};
        int code = is_timed[c] ? hone_sizes_check(judge, &plan, ret, err) : 0;
        if (code < 0)
            return code;
    }
    if (!hone_outcome_is_good(ret))
        return 0;
    if (hone_arm_has_guest(judge))
        drop_arenas(judge);
    const struct hone_effort *effort = &judge->target->effort;
    int64_t budget =
        (judge->job->budget_ms > 0 ? judge->job->budget_ms : effort->screen_budget_ms) *
        HONE_NS_PER_MS / hone_max_i64(n, 1);
    struct hone_timing_plan plan = {.budget_ns = budget / 3,
                                    .block_ns = effort->screen_block_ns,
                                    .min_pairs = 3,
                                    .max_pairs = effort->screen_pairs};
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

int hone_stage_time(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    bool is_timed[HONE_RUNNER_MAX_CASES] = {false};
    int64_t n = 0;
    int code = hone_judge_ensure_ceilings(judge, err);
    if (code < 0)
        return code;
    for (size_t c = 1; c < judge->n_cases; c++) {
        is_timed[c] = hone_judge_is_wanted(judge, c) && is_large_enough(judge, c);
        n += is_timed[c];
        if (hone_judge_is_wanted(judge, c) && !is_timed[c]) /* sizes.c says it in the report */
            judge->left_out[c] = "it has too little work to be timed";
    }
    int64_t budget = judge->job->budget_ms > 0 ? judge->job->budget_ms : 3000 * n;
    struct hone_timing_plan plan = {.budget_ns = budget * HONE_NS_PER_MS / hone_max_i64(n, 1),
                                    .block_ns = judge->target->effort.block_ns,
                                    .min_pairs = LEAST_PAIRS,
                                    .max_pairs = judge->target->effort.max_pairs,
                                    .is_reversed = hone_judge_is_tier(judge, HONE_TIER_CONFIRM),
                                    .n_workloads = n};
    drop_arenas(judge);
    return time_cases(judge, is_timed, &plan, ret, err);
}

int hone_stage_run(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    return judge->target->run(judge, ret, err);
}

int hone_stage_profile(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    return judge->target->profile(judge, ret, err);
}
