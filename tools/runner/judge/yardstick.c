/* SPDX-License-Identifier: Apache-2.0 */
/* Torch beside the candidate: the module as its author would call it (float32, no gradient, as many
 * threads), timed in the oracle's jail by the worker's own clock over the same content, in turns
 * with hand-overs of the candidate.
 *
 * The module is the user's own and shares a process with that clock: one that lies falsifies this
 * ratio and nothing else, for no verdict reads it. It is played once the load of the comparison has
 * been summed up, so that torch's threads do not count as somebody else's. */
#include "tools/runner/judge/yardstick.h"

#include <math.h>

#include "tools/runner/arena/oracle.h"
#include "tools/runner/judge/timing_internal.h"
#include "workspace/base/clock.h"

enum { ROUNDS = 8, MOST_CALLS = 64 };
#define MOST_NS (20 * HONE_NS_PER_S) /* for all rounds of one workload */

static int64_t sets_of(const struct hone_timing_run *run)
{
    return hone_min_i64(run->lanes[0].n_sets, MOST_CALLS);
}

static int time_torch(void *arg, int64_t n_calls, double *ret_ns, struct hone_err *err)
{
    struct hone_timing_run *run = arg;
    *ret_ns = 0;
    int code = hone_judge_ready_oracle(run->judge, err);
    if (code == 0)
        code = hone_oracle_time(run->judge->oracle.arena, n_calls, sets_of(run),
                                hone_judge_threads(run->judge), ret_ns, err);
    return code;
}

static int time_candidate(void *arg, double *ret_ns, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_timing_run *run = arg;
    struct hone_timing_subs times = {.n = 0};
    int code = hone_timing_sub(run, &run->lanes[0], &times, ret, err);
    *ret_ns = times.n > 0 ? times.wall[0] / (double)run->lanes[0].n_sets : 0;
    return code;
}

static void add(struct hone_workload_report *report, const char *name, const double *ns,
                const double *logs, size_t n, int64_t n_calls)
{
    struct hone_interval all = hone_series_interval(logs, n);
    double least_gain = hone_least_gain(0);
    struct hone_ratio ratio = {.against = name,
                               .ratio = exp(all.mid),
                               .low = exp(all.low),
                               .high = exp(all.high),
                               .least_gain = least_gain,
                               .n_pairs = (int64_t)n};
    ratio.word = hone_ratio_word(ratio.low, ratio.high, least_gain);
    ((struct hone_ratio *)report->ratios.v)[report->ratios.n++] = ratio;
    ((struct hone_arm_time *)report->times.v)[report->times.n++] =
        (struct hone_arm_time){.arm = name,
                               .median_ns = hone_median(ns, n),
                               .min_ns = hone_quantile(ns, n, 0),
                               .q1_ns = hone_quantile(ns, n, 0.25),
                               .q3_ns = hone_quantile(ns, n, 0.75),
                               .n_samples = (int64_t)n,
                               .n_batch = n_calls};
}

int hone_yardstick_play(struct hone_judge *judge, const struct hone_workload *workload,
                        const struct hone_yardstick_arms *what, struct hone_workload_report *report,
                        struct hone_outcome *ret, struct hone_err *err)
{
    double torch[ROUNDS], logs[ROUNDS], first = 0, mine = 0;
    if (judge->oracle.python == NULL || !hone_judge_is_tier(judge, HONE_TIER_CONFIRM) ||
        workload->is_hidden)
        return 0;
    int code = what->time_torch(what->arg, 1, &first, err);
    if (code < 0)
        return code;
    if (first <= 0 || first * ROUNDS > (double)MOST_NS) {
        hone_judge_warn(judge, "workload '%s': nothing is said against %s: %s", workload->id,
                        what->name,
                        first > 0 ? "a call of the module takes too long" : "the module failed");
        return 0;
    }
    int64_t n_calls =
        hone_min_i64(hone_max_i64((int64_t)ceil((double)what->block_ns / first), 1), MOST_CALLS);
    for (size_t r = 0; r < ROUNDS; r++) {
        bool is_torch_first = r % 2 == 0;
        if (is_torch_first)
            code = what->time_torch(what->arg, n_calls, &torch[r], err);
        if (code == 0)
            code = what->time_candidate(what->arg, &mine, ret, err);
        if (code == 0 && !is_torch_first)
            code = what->time_torch(what->arg, n_calls, &torch[r], err);
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
        if (torch[r] <= 0 || mine <= 0)
            return 0;
        logs[r] = log(torch[r] / mine);
    }
    add(report, what->name, torch, logs, ROUNDS, n_calls);
    return 0;
}

int hone_timing_yardstick(struct hone_timing_run *run, struct hone_workload_report *report,
                          struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_yardstick_arms what = {HONE_ARM_TORCH_EAGER, time_torch, time_candidate, run,
                                             run->plan->block_ns};
    return hone_yardstick_play(run->judge, run->plan->workload, &what, report, ret, err);
}
