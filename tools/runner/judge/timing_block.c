/* SPDX-License-Identifier: Apache-2.0 */
/* One hand-over of a comparison in time: draw content, warm up, copy, call under the clock, look at
 * what it left. timing.c tells why. */
#include "tools/runner/judge/timing_internal.h"

#include <math.h>
#include <stdlib.h>

#include "tools/runner/judge/arms.h"
#include "tools/runner/judge/near.h"
#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"

#define FLUSH_MAX (256ll << 20)
#define WARM_UP_NS                                                                                 \
    (2 * HONE_NS_PER_MS) /* where no arm is faster nobody gets a warm-up call per block */
#define WARM_UP_MOST_NS (20 * HONE_NS_PER_MS) /* slower arms never do */
#define LIKE_SETS       4
#define STEPS_NS                                                                                   \
    (30 * HONE_NS_PER_MS) /* iterated tasks: dearer references are asked once in a while */
#define LOOK_FROM    0.1
#define LOOK_TO      0.8
#define WARM_TIMES   10 /* a warm-up call may take as many times the estimate, and... */
#define WARM_NS      (20 * HONE_NS_PER_MS) /* ...this; what is beyond buys no end */
#define WARM_MOST_NS HONE_NS_PER_S
#define GUEST_NS     HONE_NS_PER_S /* a guest may take this at least */
#define GUEST_TIMES  2
#define NEAR_EVERY   24 /* hand-overs that are followed by calls on nearly the same content */

static void flush_caches(struct hone_timing_run *run)
{
    if (run->flush == NULL) {
        int64_t bytes = 2 * hone_max_i64(run->judge->machine.cache_bytes, 8 << 20);
        run->flush_bytes = hone_min_i64(bytes, FLUSH_MAX);
        run->flush = hone_malloc((size_t)run->flush_bytes);
    }
    volatile char *at = run->flush;
    for (int64_t i = 0; i < run->flush_bytes; i += 64)
        at[i] = (char)(at[i] + 1);
}

/* A guest that takes its time would take the job's: it may have what the comparison has, and some
 * times what the slowest of the others had. */
static int64_t left_ns(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    int64_t others_ns = 0;
    if (!hone_arm_is_guest(run->judge, lane->slot))
        return INT64_MAX;
    for (size_t i = 0; i < run->n_lanes; i++)
        if (!hone_arm_is_guest(run->judge, run->lanes[i].slot))
            others_ns = hone_max_i64(others_ns, run->lanes[i].used_ns);
    return hone_max_i64(run->plan->budget_ns, GUEST_NS) + GUEST_TIMES * others_ns - lane->used_ns;
}

int hone_timing_hand_over(struct hone_timing_run *run, struct hone_timing_lane *lane,
                          const struct hone_timing_calls *what, struct hone_call_time *ret,
                          struct hone_outcome *ret_end, struct hone_err *err)
{
    int64_t expected = (int64_t)(lane->call_ns * (double)what->n);
    struct hone_calls calls = {.first_set = what->first,
                               .n_rotate = lane->n_sets,
                               .n_calls = what->n,
                               .look = what->look,
                               .place = &run->place};
    calls.timeout_ns =
        hone_min_i64(run->judge->call_timeout_ns + 50 * expected, left_ns(run, lane));
    int64_t start_ns = hone_now_ns();
    int code = hone_arena_call(lane->slot->arena, &calls, ret, err);
    lane->used_ns += hone_now_ns() - start_ns;
    *ret_end = lane->slot->arena->end;
    return code;
}

int hone_timing_check_set(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set,
                          struct hone_outcome *ret)
{
    struct hone_judge *judge = run->judge;
    hone_judge_check_canaries(judge, lane->slot, set, ret);
    for (size_t o = 0; o < judge->task->n_outputs && hone_outcome_is_good(ret); o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        if (!hone_dtype_is_float(dtype))
            continue; /* an integer may well be the poison's bits; the items below decide */
        int64_t count = 0;
        if (hone_find_unwritten(dtype, hone_judge_output(judge, lane->slot, set, o), NULL,
                                hone_judge_output_elements(judge, o), &count) >= 0)
            hone_outcome_set(ret, HONE_REASON_UNWRITTEN,
                             "output '%s' of a timed call has %lld unwritten elements",
                             judge->task->outputs[o].name, (long long)count);
    }
    return 0;
}

/* Where the oracle is too dear for every block: the baseline, which it has been held to, answers
 * some of the same sets. It writes to outputs that have been checked already. */
static int check_like_baseline(struct hone_timing_run *run, struct hone_timing_lane *lane,
                               int64_t *ret_set, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    if (baseline == NULL || baseline == lane->slot)
        return 0;
    int64_t n_sets = hone_min_i64(lane->n_sets, LIKE_SETS);
    for (int64_t i = 0; i < n_sets && hone_outcome_is_good(ret); i++) {
        *ret_set = hone_rng_below(&judge->rng, lane->n_sets);
        int code = hone_judge_compare_like(judge, lane->slot, baseline, *ret_set, ret, err);
        if (code < 0)
            return code;
    }
    return 0;
}

/* *ret_set: the last one that was looked at. */
static int check_reference(struct hone_timing_run *run, struct hone_timing_lane *lane,
                           int64_t *ret_set, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    if (judge->task->steps == NULL && !judge->task->is_oracle_naive_double) {
        int code = 0;
        int64_t n_sets = hone_min_i64(lane->n_sets, HONE_TIMING_SETS);
        for (int64_t i = 0; i < n_sets && code == 0 && hone_outcome_is_good(ret); i++) {
            *ret_set = i == 0 ? lane->n_sets - 1 : hone_rng_below(&judge->rng, lane->n_sets);
            code = hone_judge_spot_check(judge, lane->slot, *ret_set, HONE_TIMING_ITEMS / n_sets,
                                         ret, err);
        }
        return code;
    }
    if (run->oracle_ns > STEPS_NS && hone_rng_below(&judge->rng, 8) != 0)
        return check_like_baseline(run, lane, ret_set, ret, err);
    struct hone_compare compare;
    int64_t start = hone_now_ns();
    *ret_set = hone_rng_below(&judge->rng, lane->n_sets);
    int code = hone_judge_compare(judge, lane->slot, *ret_set, 0, &compare, ret, err);
    run->oracle_ns = (double)(hone_now_ns() - start);
    return code;
}

int hone_timing_check_block(struct hone_timing_run *run, struct hone_timing_lane *lane,
                            struct hone_outcome *ret, struct hone_err *err)
{
    for (int64_t set = 0; set < lane->n_sets && hone_outcome_is_good(ret); set++)
        hone_timing_check_set(run, lane, set, ret);
    if (!hone_outcome_is_good(ret))
        return 0;
    int64_t set = 0;
    int code = check_reference(run, lane, &set, ret, err);
    return code == 0 && ret->reason == HONE_REASON_WRONG_VALUE
               ? hone_judge_blame(run->judge, lane->slot, set, ret, err)
               : code;
}

/* A call on the last set of the frame, which is for this alone, while the other sets hold what some
 * arm has had already. Whoever takes its time here decides when the budget is spent: what
 * is beyond measure is not charged to the budget, and ends the comparison when it is as much again.
 */
static int warm_up(struct hone_timing_run *run, struct hone_timing_lane *lane,
                   struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_call_time time = {0};
    if (judge->task->is_cold || run->fastest_ns >= WARM_UP_NS || lane->call_ns >= WARM_UP_MOST_NS)
        return 0;
    const struct hone_timing_calls last = {.n = 1, .first = judge->frame.layout.n_sets - 1};
    int code = hone_timing_hand_over(run, lane, &last, &time, ret, err);
    if (lane->is_trusted || code < 0 || !hone_outcome_is_good(ret))
        return code;
    int64_t may_ns = WARM_TIMES * (int64_t)lane->call_ns + WARM_NS;
    lane->over_ns += hone_max_i64(time.wall_ns - may_ns, 0);
    if (lane->over_ns > hone_max_i64(run->plan->budget_ns, WARM_MOST_NS))
        hone_outcome_set(ret, HONE_REASON_TIMEOUT,
                         "calls before the clock runs took %.3g s more than they may, the last one "
                         "%.3g ms; a timed call takes %.3g ms",
                         (double)lane->over_ns / 1e9, (double)time.wall_ns / 1e6,
                         lane->call_ns / 1e6);
    return 0;
}

void hone_timing_draw_set(struct hone_timing_run *run, char *content, int64_t set,
                          enum hone_distribution dist)
{
    struct hone_judge *judge = run->judge;
    const struct hone_layout *layout = &judge->frame.layout;
    uint64_t counter = judge->counter++;
    for (size_t i = 0; i < judge->task->n_inputs; i++)
        hone_gen_input(judge->gen, judge->task, run->plan->workload, i, dist, counter,
                       content + set * layout->input_stride + layout->at[i]);
}

/* The same work whatever the content is. */
static void put_sets(struct hone_timing_run *run, struct hone_timing_lane *lane, bool is_other)
{
    struct hone_judge *judge = run->judge;
    for (int64_t set = 0; set < lane->n_sets; set++) {
        hone_judge_put_set(judge, set, is_other ? lane->others : run->plain,
                           is_other ? lane->other_dists[set] : HONE_DIST_NORMAL);
        bool is_nan = hone_rng_below(&judge->rng, 2) == 0; /* checks have both too */
        hone_judge_poison(judge, lane->slot, set, is_nan ? HONE_POISON_NAN : HONE_POISON_LARGE);
    }
    if (judge->task->is_cold)
        flush_caches(run);
}

static void look_midway(void *arg)
{
    struct hone_timing_midway *midway = arg;
    if (midway->audit != NULL && midway->is_quiet)
        hone_audit_quiet(midway->audit);
    else if (midway->audit != NULL)
        hone_audit_look(midway->audit);
}

double hone_timing_call_ns(const struct hone_timing_lane *lane)
{
    return lane->n > 0 ? hone_quantile(lane->out->wall, lane->n, 0) : lane->call_ns;
}

static struct hone_look plan_look(struct hone_timing_run *run, struct hone_timing_lane *lane,
                                  struct hone_timing_midway *midway)
{
    double n = (double)lane->n_sets, last = LOOK_TO;
    if (midway->audit != NULL && midway->audit->is_near) /* during the last call there is no next */
        last = fmin(last, (n - 1) / n);
    double part =
        LOOK_FROM + (last - LOOK_FROM) * (double)hone_rng_below(&run->judge->rng, 1000) / 1000;
    double scale = midway->audit != NULL ? lane->audit_scale : 1;
    return (struct hone_look){
        .after_ns = (int64_t)(part * (double)lane->n_sets * hone_timing_call_ns(lane) * scale),
        .is_quiet = midway->audit == NULL || midway->is_quiet,
        .fn = look_midway,
        .arg = midway};
}

/* Draw, warm up, copy, call. */
int hone_timing_fresh(struct hone_timing_run *run, struct hone_timing_lane *lane, bool is_other,
                      struct hone_timing_midway *midway, struct hone_outcome *ret,
                      struct hone_err *err)
{
    for (int64_t set = 0; set < lane->n_sets;
         set++) /* also where it is not wanted: it takes time */
        hone_timing_draw_set(run, run->plain, set, HONE_DIST_NORMAL);
    midway->look = plan_look(run, lane, midway);
    int code = warm_up(run, lane, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    put_sets(run, lane, is_other);
    const struct hone_timing_calls all = {.n = lane->n_sets, .look = &midway->look};
    return hone_timing_hand_over(run, lane, &all, &midway->time, ret, err);
}

int hone_timing_sub(struct hone_timing_run *run, struct hone_timing_lane *lane,
                    struct hone_timing_subs *times, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_timing_midway midway = {.lane = lane};
    int code = hone_timing_fresh(run, lane, false, &midway, ret, err);
    const struct hone_call_time time = midway.time;
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    lane->wall_ns += (double)time.wall_ns;
    lane->cpu_ns += (double)time.cpu_ns;
    lane->n_timed++;
    times->wall[times->n] = (double)time.wall_ns;
    times->cpu[times->n++] = (double)time.cpu_ns;
    code = hone_timing_check_block(run, lane, ret, err);
    bool is_near = !hone_judge_is_tier(run->judge, HONE_TIER_SCREEN) && !lane->is_trusted &&
                   hone_rng_below(&run->judge->rng, NEAR_EVERY) == 0;
    return code == 0 && hone_outcome_is_good(ret) && is_near
               ? hone_near_timed(run->judge, lane->slot, lane->n_sets, ret, err)
               : code;
}

/* A block is worth its median hand-over: where every core has a thread, one in twenty-five waits
 * 3 ms for a turn (0011), and a mean of eight is half of that. */
void hone_timing_note(struct hone_timing_lane *lane, const struct hone_timing_subs *times)
{
    double n_calls = (double)lane->n_sets, wall = hone_median(times->wall, times->n) / n_calls,
           cpu = hone_median(times->cpu, times->n) / n_calls;
    lane->out->wall[lane->n] = wall;
    lane->out->cpu[lane->n] = cpu;
    /* Other work on the machine shows as wall time without CPU time. */
    lane->out->load[lane->n] = wall / fmax(cpu, 1);
    lane->n++;
}

/* First guess of a call's time: single calls, then a few, until the hand-over does not matter; with
 * other content each time, or kept answers would make it. Sets that no call reads get none. */
int hone_timing_estimate(struct hone_timing_run *run, struct hone_timing_lane *lane,
                         struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t room = judge->frame.layout.n_sets;
    double best = INFINITY;
    lane->n_sets = room;
    for (int64_t n = 1, tries = 0; tries < 8; tries++) {
        struct hone_call_time time = {0};
        hone_judge_fill_many(judge, judge->counter, hone_min_i64(n, room));
        judge->counter += (uint64_t)room;
        lane->call_ns = isfinite(best) ? best : 0;
        int code =
            hone_timing_hand_over(run, lane, &(struct hone_timing_calls){.n = n}, &time, ret, err);
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
        best = fmin(best, (double)time.wall_ns / (double)n);
        /* the first may make tables or threads */
        if (time.wall_ns > 2 * HONE_NS_PER_MS && tries >= 1)
            break;
        /* one more of a long call tells as much as four */
        n = time.wall_ns > 2 * HONE_NS_PER_MS ? n : hone_min_i64(n * 4, 4096);
    }
    lane->call_ns = fmax(best, 1);
    return 0;
}
