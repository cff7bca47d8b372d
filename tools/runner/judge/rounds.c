/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds and what follows from them (rounds.h).
 *
 * State: a time for each arm and round, and the load beside it. Rounds with a disturbance are
 * left out, as long as enough are left; a ratio is the median over quiet rounds with its
 * interval; the noise is what an arm differs by from itself. hone_rounds_done ends the
 * comparison: decided, no budget, or no use. */
#include "tools/runner/judge/rounds.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/arms.h"
#include "tools/runner/judge/load.h"
#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"

#define MIN_QUIET    6
#define FEWEST       3 /* rounds, whatever they take */
#define MOST_BUDGETS 3
#define MOST_NS      (5 * HONE_NS_PER_S)

/* The one that the others are held against: the least load, or for loads that vary to both sides
 * the middle one. */
static double usual_load(const struct hone_rounds *rounds, const struct hone_lane *lane)
{
    return hone_quantile(lane->load, rounds->n, rounds->is_two_sided ? 0.5 : 0);
}

static bool is_disturbed(const struct hone_rounds *rounds, double load, double usual)
{
    if (!(usual > 0))
        return false;
    bool is_high = load > rounds->disturbed * usual;
    return is_high || (rounds->is_two_sided && load * rounds->disturbed < usual);
}

/* Lanes as bits: 1 << index. */
static unsigned trusted_lanes(const struct hone_rounds *rounds)
{
    unsigned lanes = 0;
    for (size_t i = 1; i < rounds->n_lanes; i++)
        lanes |= hone_arm_is_trusted(rounds->lanes[i].slot) ? 1u << i : 0;
    return rounds->n_lanes > 1 ? lanes : 1;
}

/* What is said of two lanes stands on them and the trusted: others have no say in it. */
static unsigned lanes_of(const struct hone_rounds *rounds, size_t a, size_t b)
{
    return trusted_lanes(rounds) | 1u << a | 1u << b;
}

/* Rounds that these lanes' clocks agree on. */
static size_t believed(const struct hone_rounds *rounds, unsigned lanes,
                       size_t ret_use[HONE_MAX_ROUNDS])
{
    size_t n = 0;
    for (size_t r = 0; r < rounds->n; r++) {
        bool is_out = false;
        for (size_t i = 0; i < rounds->n_lanes; i++)
            is_out = is_out || ((lanes >> i & 1) != 0 && rounds->lanes[i].is_out != NULL &&
                                rounds->lanes[i].is_out[r]);
        if (!is_out)
            ret_use[n++] = r;
    }
    return n;
}

size_t hone_rounds_believed(const struct hone_rounds *rounds)
{
    size_t use[HONE_MAX_ROUNDS];
    return believed(rounds, trusted_lanes(rounds) | 1, use);
}

/* Rounds in which nobody else took the cores or changed the clock while these arms ran. This looks
 * at the disturbance alone, never at the outcome. Too few quiet rounds: all are used that can be
 * believed. Returns how many rounds ret_use holds. */
static size_t quiet_lanes(const struct hone_rounds *rounds, unsigned lanes,
                          size_t ret_use[HONE_MAX_ROUNDS])
{
    double usual[HONE_RUNNER_MAX_ARMS];
    size_t all[HONE_MAX_ROUNDS], n_all = believed(rounds, lanes, all), n = 0;
    for (size_t i = 0; i < rounds->n_lanes; i++)
        usual[i] = usual_load(rounds, &rounds->lanes[i]);
    for (size_t k = 0; k < n_all; k++) {
        bool is_quiet = true;
        for (size_t i = 0; i < rounds->n_lanes; i++)
            is_quiet = is_quiet && ((lanes >> i & 1) == 0 ||
                                    !is_disturbed(rounds, rounds->lanes[i].load[all[k]], usual[i]));
        if (is_quiet)
            ret_use[n++] = all[k];
    }
    if (n >= MIN_QUIET && 4 * n >= n_all)
        return n;
    memcpy(ret_use, all, n_all * sizeof *all);
    return n_all;
}

void hone_rounds_init(struct hone_rounds *rounds, struct hone_judge *judge,
                      const struct hone_timing_plan *plan)
{
    *rounds = (struct hone_rounds){.plan = plan, .disturbed = (double)INFINITY};
    for (size_t i = 0; i < judge->n_slots; i++) {
        if (judge->slots[i].is_lost)
            continue;
        double *room = hone_pool_alloc(judge->pool, 3 * HONE_MAX_ROUNDS * sizeof *room);
        rounds->lanes[rounds->n_lanes++] = (struct hone_lane){.name = judge->slots[i].name,
                                                              .slot = &judge->slots[i],
                                                              .wall = room,
                                                              .cpu = room + HONE_MAX_ROUNDS,
                                                              .load = room + 2 * HONE_MAX_ROUNDS};
    }
}

void hone_rounds_drop(struct hone_rounds *rounds, size_t lane)
{
    rounds->n_lanes--;
    memmove(rounds->lanes + lane, rounds->lanes + lane + 1,
            (rounds->n_lanes - lane) * sizeof *rounds->lanes);
}

void hone_rounds_set_aside(struct hone_rounds *rounds, size_t lane)
{
    rounds->aside = rounds->lanes[lane];
    rounds->n_aside = rounds->n;
    hone_rounds_drop(rounds, lane);
}

/* Rounds that only disturbances of trusted arms leave out. A kernel that sleeps looks disturbed,
 * and could drop the rounds that went badly for it: what is claimed stands on these. */
static size_t quiet_for_others(const struct hone_rounds *rounds, size_t ret_use[HONE_MAX_ROUNDS])
{
    return quiet_lanes(rounds, trusted_lanes(rounds), ret_use);
}

static struct hone_interval ratio_in(const struct hone_rounds *rounds, size_t a, size_t b,
                                     const size_t *use, size_t n)
{
    double logs[HONE_MAX_ROUNDS];
    for (size_t k = 0; k < n; k++)
        logs[k] = log(rounds->lanes[a].wall[use[k]] / rounds->lanes[b].wall[use[k]]);
    return hone_series_interval(logs, n);
}

struct hone_interval hone_rounds_between(const struct hone_rounds *rounds, size_t a, size_t b)
{
    size_t use[HONE_MAX_ROUNDS];
    return ratio_in(rounds, a, b, use, quiet_for_others(rounds, use));
}

/* log(other / candidate) by round. The interval spans what both ways of leaving rounds out say: the
 * candidate has no say in its lower end, and a disturbance of the candidate alone does not make it
 * slower. */
static struct hone_interval ratio_of(const struct hone_rounds *rounds, size_t other)
{
    size_t use[HONE_MAX_ROUNDS];
    struct hone_interval ratio = ratio_in(rounds, other, 0, use, quiet_for_others(rounds, use));
    struct hone_interval kind =
        ratio_in(rounds, other, 0, use, quiet_lanes(rounds, lanes_of(rounds, 0, other), use));
    ratio.low = fmin(ratio.low, kind.low);
    ratio.high = fmax(ratio.high, kind.high);
    return ratio;
}

/* Same arm, consecutive rounds, of the candidate, the trusted and the other that it is held
 * against. A ratio has two noisy sides as well, so nothing is divided by the square root of 2. */
static double noise_of(const struct hone_rounds *rounds, size_t other)
{
    unsigned lanes = lanes_of(rounds, 0, other);
    size_t use[HONE_MAX_ROUNDS], n = quiet_for_others(rounds, use), m = 0;
    HONE_AUTOFREE double *logs = hone_malloc((n * rounds->n_lanes + 1) * sizeof *logs);
    for (size_t i = 0; i < rounds->n_lanes; i++) {
        for (size_t k = 0; k + 1 < n && (lanes >> i & 1) != 0; k++)
            logs[m++] = log(rounds->lanes[i].wall[use[k]] / rounds->lanes[i].wall[use[k + 1]]);
    }
    return hone_aa_noise(logs, m);
}

/* Slow calls would make the fewest rounds take many times the budget. */
int64_t hone_rounds_most_ns(const struct hone_timing_plan *plan)
{
    int64_t most = hone_max_i64(MOST_BUDGETS * plan->budget_ns, MOST_NS);
    return plan->most_ns > 0 ? hone_min_i64(most, plan->most_ns) : most;
}

bool hone_rounds_done(const struct hone_rounds *rounds, int64_t start_ns)
{
    const struct hone_timing_plan *plan = rounds->plan;
    if (rounds->n >= plan->max_pairs || rounds->n >= HONE_MAX_ROUNDS)
        return true;
    int64_t spent = hone_now_ns() - start_ns;
    if (rounds->n < plan->min_pairs)
        return rounds->n >= FEWEST && spent > hone_rounds_most_ns(plan);
    if (spent + spent / (int64_t)rounds->n > plan->budget_ns)
        return true;
    const struct hone_confidence_rule rule = {.min_pairs = plan->min_pairs,
                                              .wide_pairs = 10,
                                              .enough_pairs = 20,
                                              .wide_log = 0.1,
                                              .claim_half = 0.03};
    size_t use[HONE_MAX_ROUNDS], n_use = quiet_for_others(rounds, use);
    for (size_t i = 1; i < rounds->n_lanes; i++) {
        struct hone_interval ratio = ratio_of(rounds, i);
        if (!hone_arm_is_aside(rounds->lanes[i].slot) &&
            !hone_should_stop(&rule, &ratio, noise_of(rounds, i), n_use))
            return false;
    }
    return rounds->n_lanes > 1 || rounds->n >= 20;
}

static struct hone_arm_time time_of(const struct hone_lane *lane, const size_t *use, size_t n_use)
{
    double wall[HONE_MAX_ROUNDS], cpu[HONE_MAX_ROUNDS];
    for (size_t k = 0; k < n_use; k++) {
        wall[k] = lane->wall[use[k]];
        cpu[k] = lane->cpu != NULL ? lane->cpu[use[k]] : 0;
    }
    return (struct hone_arm_time){
        .arm = lane->name,
        .median_ns = hone_median(wall, n_use),
        .min_ns = hone_quantile(wall, n_use, 0),
        .q1_ns = hone_quantile(wall, n_use, 0.25),
        .q3_ns = hone_quantile(wall, n_use, 0.75),
        .cpu_ns = hone_median(cpu, n_use),
        .n_samples = (int64_t)n_use,
        .n_batch = lane->n_batch,
    };
}

static struct hone_ratio ratio_report(const struct hone_rounds *rounds, size_t lane, size_t n_use)
{
    struct hone_interval logs = ratio_of(rounds, lane);
    double least_gain = hone_least_gain(noise_of(rounds, lane));
    struct hone_ratio ratio = {.against = rounds->lanes[lane].name,
                               .ratio = exp(logs.mid),
                               .low = exp(logs.low),
                               .high = exp(logs.high),
                               .least_gain = least_gain,
                               .n_pairs = (int64_t)n_use};
    ratio.word = hone_ratio_word(ratio.low, ratio.high, least_gain);
    return ratio;
}

static void report_times(struct hone_judge *judge, const struct hone_rounds *rounds,
                         struct hone_workload_report *ret)
{
    struct hone_arm_time *times =
        hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_TIMES * sizeof *times);
    size_t use[HONE_MAX_ROUNDS], n_use = quiet_for_others(rounds, use);
    for (size_t i = 0; i < rounds->n_lanes; i++)
        times[i] = time_of(&rounds->lanes[i], use, n_use);
    ret->times = (struct hone_array){.v = times, .n = rounds->n_lanes};
}

static void report_ratios(struct hone_judge *judge, const struct hone_rounds *rounds,
                          struct hone_workload_report *ret)
{
    size_t use[HONE_MAX_ROUNDS], n_use = quiet_for_others(rounds, use);
    if (n_use < rounds->n)
        hone_judge_warn(judge,
                        "workload '%s': %zu of %zu rounds were disturbed by other work on this "
                        "machine and are left out",
                        rounds->plan->workload->id, rounds->n - n_use, rounds->n);
    if (rounds->n < rounds->plan->min_pairs)
        hone_judge_warn(judge,
                        "workload '%s': its calls are so slow that the budget of %.3g s gave %zu "
                        "rounds instead of %zu; raise budget_ms, or name smaller workloads",
                        rounds->plan->workload->id, (double)rounds->plan->budget_ns / 1e9,
                        rounds->n, rounds->plan->min_pairs);
    struct hone_ratio *ratios =
        hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_TIMES * sizeof *ratios);
    for (size_t i = 1; i < rounds->n_lanes; i++)
        ratios[i - 1] = ratio_report(rounds, i, n_use);
    ret->ratios = (struct hone_array){.v = ratios, .n = rounds->n_lanes - 1};
}

static void report_axes(const struct hone_judge *judge, const struct hone_rounds *rounds,
                        struct hone_workload_report *ret)
{
    const struct hone_task *task = judge->task;
    ret->id = rounds->plan->workload->id;
    ret->is_hidden = rounds->plan->workload->is_hidden;
    ret->axes = hone_json_new_object(); /* freed with the report's text (judge.c) */
    for (size_t i = 0; i < task->n_axes; i++)
        hone_json_set_i64(ret->axes, task->axes[i].name, rounds->plan->workload->axes[i]);
}

void hone_rounds_report(struct hone_judge *judge, struct hone_rounds *rounds,
                        struct hone_workload_report *ret)
{
    hone_arms_hold_to_record(judge, rounds);
    report_axes(judge, rounds, ret);
    report_times(judge, rounds, ret);
    report_ratios(judge, rounds, ret);
}

void hone_rounds_report_aside(struct hone_judge *judge, const struct hone_rounds *rounds,
                              struct hone_workload_report *ret)
{
    size_t use[HONE_MAX_ROUNDS], at = rounds->n_lanes;
    if (rounds->n_aside == 0 || rounds->aside.slot->is_lost || at >= HONE_RUNNER_MAX_ARMS)
        return;
    struct hone_rounds early = *rounds; /* as if nothing had come after */
    early.n = rounds->n_aside;
    early.lanes[early.n_lanes++] = rounds->aside;
    size_t n_use = quiet_for_others(&early, use);
    ((struct hone_arm_time *)ret->times.v)[ret->times.n++] = time_of(&rounds->aside, use, n_use);
    struct hone_ratio *ratio = (struct hone_ratio *)ret->ratios.v + ret->ratios.n++;
    *ratio = ratio_report(&early, at, n_use);
    hone_load_widen_aside(judge, ret, ratio);
}

int hone_judge_least_work(const struct hone_judge *judge, const struct hone_workload *workload,
                          double *ret_flops, double *ret_bytes, struct hone_err *err)
{
    double flops = 0, bytes = 0;
    int code = judge->task->bytes != NULL
                   ? hone_task_eval(judge->task, judge->task->bytes, workload, &bytes, err)
                   : 0;
    if (code == 0 && judge->task->flops != NULL)
        code = hone_task_eval(judge->task, judge->task->flops, workload, &flops, err);
    if (code < 0)
        return code;
    *ret_flops = flops;
    *ret_bytes = bytes;
    return 0;
}

/* Least time of a workload: bytes by the measured rates, or operations. */
static int floor_of(const struct hone_judge *judge, const struct hone_workload *workload,
                    bool is_in_cache, struct hone_workload_report *ret, struct hone_err *err)
{
    double bytes = 0, flops = 0, flops_rate = judge->machine.flops;
    int code = hone_judge_least_work(judge, workload, &flops, &bytes, err);
    if (code < 0)
        return code;
    double rate = is_in_cache ? fmax(judge->machine.cache_rate, judge->machine.memory_rate)
                              : judge->machine.memory_rate;
    ret->least_bytes = bytes;
    ret->least_flops = flops;
    ret->bytes_ns = rate > 0 ? bytes / rate * 1e9 : 0;
    ret->flops_ns = flops_rate > 0 ? flops / flops_rate * 1e9 : 0;
    ret->bound_ns = fmax(ret->bytes_ns, ret->flops_ns);
    ret->bound_by = ret->bytes_ns >= ret->flops_ns ? "bytes" : "flops";
    return 0;
}

bool hone_rounds_is_in_cache(const struct hone_judge *judge, const struct hone_workload *workload,
                             int64_t n_sets)
{
    int64_t in_flight = hone_judge_set_bytes(judge, workload) * n_sets;
    return !judge->task->is_cold && in_flight <= 2 * judge->machine.cache_bytes;
}

int hone_rounds_bound(const struct hone_judge *judge, const struct hone_workload *workload,
                      int64_t n_sets, struct hone_workload_report *ret, struct hone_err *err)
{
    int code =
        floor_of(judge, workload, hone_rounds_is_in_cache(judge, workload, n_sets), ret, err);
    if (code < 0)
        return code;
    double median = ((const struct hone_arm_time *)ret->times.v)->median_ns;
    ret->percent_of_bound = median > 0 ? 100 * ret->bound_ns / median : 0;
    return 0;
}
