/* SPDX-License-Identifier: Apache-2.0 */
/* How two or three arms are compared in time on a device.
 *
 * A *pass* makes fresh content in all buffer sets, then each arm in turn has its outputs poisoned
 * and runs one block: one call for each of its sets, in random order, all queued behind a gate
 * before the clock runs. After the pass the judge looks at every output of every set that was
 * called: unwritten elements, the candidate's against the baseline's for the same content, random
 * items against the oracle, canaries. A *round* is as many passes as make blocks long enough for
 * the clock; rounds go forward and backward in turn (ABBA). rounds.h does the rest.
 *
 * Arms may take the same content, unlike on the CPU (timing.c): between their blocks nothing of an
 * arm runs that could look at it, and all of it is made after the arm's last block.
 *
 * Cold tasks: sets are as many as a block needs, each called once, and the L2 cache is
 * overwritten before each block. Warm tasks: all sets lie in half of the L2 cache, where
 * generation has just put them; contents that no cache could hold anyway are treated as the cold
 * ones without the flush.
 *
 * The time of a block is what the arena's events say. It must agree with the device's own stamps
 * and with the judge's clock less what an empty block costs (check_clocks).
 *
 * All contents of a block are there before it begins, and scratch is filled once a block: a kernel
 * could find the other sets and do their work in its first call. So now and then, before any pass,
 * a further block of the candidate is cut at a random call (audit): later outputs must be
 * untouched, and a block of few calls must take the time of few calls (check_ahead). Or the
 * contents of calls behind the cut change before they are made (audit_change). And another block,
 * not counted, has content of all kinds (time_others): what is timed is normal numbers, and a
 * kernel that knows when it is timed would be right for them alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_run.h"
#include "tools/runner/judge/load.h"
#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"

#define MAX_SETS        256
#define MAX_SCREEN_SETS 64
#define FRAME_BYTES     (4ll << 30)
#define SCREEN_BYTES    (1ll << 30)
#define FIRST_SETS      4
#define MAX_PASSES      8
#define MAX_SCREEN_PASS 4
#define ESTIMATE_TRIES  4
#define ESTIMATE_NS     100e3
#define SPOT_SETS       2
#define OTHER_CLOCK     1.03 /* SM clocks that differ more mark a round */
#define ALONE_EVERY     4    /* passes: a set that the candidate alone called */
#define WHOLE_WORK      2e10 /* operations: what everything about a set may cost */
#define DEAR_EVERY      8    /* passes: an answer of the oracle that is dear */
#define STAMP_SHARE     0.1
#define STAMP_NS        10e3
#define WALL_SHARE      0.25
#define WALL_NS         100e3
#define LATE_MOST       3             /* late blocks of an arm, a workload */
#define GUEST_NS        HONE_NS_PER_S /* a guest may take this at least */
#define GUEST_TIMES     2
#define LEAST_BELIEVED  2
#define MOST_DOUBTED    30

/* Orders are drawn from a few that are drawn beforehand: an arena keeps the graph of an order. */
void hone_gpu_run_orders(struct hone_gpu_run *run, struct hone_gpu_lane *lane)
{
    struct hone_rng *rng = &run->judge->rng;
    for (size_t v = 0; v < HONE_GPU_ORDERS; v++) {
        lane->firsts[v] = hone_rng_below(rng, run->n_sets - lane->n_calls + 1);
        int32_t *order = lane->orders[v];
        for (int64_t i = 0; i < lane->n_calls; i++)
            order[i] = (int32_t)(lane->firsts[v] + i);
        for (int64_t i = 0; i < lane->n_calls; i++) {
            int64_t j = i + hone_rng_below(rng, lane->n_calls - i);
            int32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
    }
}

/* Poison, cache, call: the first n of an order. */
int hone_gpu_run_block(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t n,
                       const int32_t **ret_order, struct hone_gpu_time *ret,
                       struct hone_outcome *ret_end, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t v = hone_rng_below(&judge->rng, HONE_GPU_ORDERS);
    const int32_t *order = lane->orders[v];
    lane->first = lane->firsts[v];
    if (ret_order != NULL)
        *ret_order = order;
    int code = hone_gpu_poison(judge, lane->slot, 0, run->n_sets, 1, HONE_POISON_NAN, err);
    if (code == 0 && judge->task->is_cold)
        code = hone_gpu_flush(judge->gpu->session, err);
    if (code == 0)
        code = hone_gpu_call(judge, lane->slot, order, n, HONE_GPU_SCRATCH_POISON, lane->call_ns,
                             ret, ret_end, err);
    return code;
}

/* The gate in front of a block was not opened in time: nobody knows what its time is made of. The
 * word for it lies where device code can write, so a late block never counts, is never made again
 * over its own answers, and cannot be had often. */
static void note_late(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                      struct hone_outcome *ret)
{
    int64_t n_trusted = 0;
    for (size_t i = 0; i < run->n_lanes; i++)
        n_trusted += run->lanes[i].is_trusted ? run->lanes[i].n_late : 0;
    bool is_its_own = !lane->is_trusted && n_trusted == 0;
    if (++lane->n_late >= LATE_MOST)
        hone_outcome_set(ret, is_its_own ? HONE_REASON_NOISY : HONE_REASON_INFRA,
                         "the gate in front of arm '%s' was not opened in time %lld times; what is "
                         "timed then stands for nothing",
                         lane->slot->name, (long long)lane->n_late);
}

void hone_gpu_run_review_late(const struct hone_gpu_run *run)
{
    int64_t n_trusted = 0;
    for (size_t i = 1; i < run->n_lanes; i++)
        n_trusted += run->lanes[i].is_trusted ? run->lanes[i].n_late : 0;
    if (run->lanes[0].n_late > n_trusted)
        hone_judge_review(run->judge, "late_blocks", 0,
                          "workload '%s': the gate was late in front of %lld of the candidate's "
                          "blocks and of %lld of the baseline's",
                          run->plan->workload->id, (long long)run->lanes[0].n_late,
                          (long long)n_trusted);
}

int hone_gpu_run_clocked(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t n,
                         const int32_t **ret_order, struct hone_gpu_time *ret,
                         struct hone_outcome *ret_end, struct hone_err *err)
{
    uint64_t base = 0;
    for (;;) {
        int code = hone_gpu_run_block(run, lane, n, ret_order, ret, ret_end, err);
        if (code < 0 || !hone_outcome_is_good(ret_end) || !ret->is_late)
            return code;
        note_late(run, lane, ret_end);
        if (hone_outcome_is_good(ret_end))
            code = hone_gpu_run_fill(run, &base, err);
        if (code < 0 || !hone_outcome_is_good(ret_end))
            return code;
    }
}

/* ---- looking at what a pass left ---- */

static int check_written(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                         struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_found found[HONE_GPU_MAX_SETS];
    int code = hone_gpu_check_canaries(judge, lane->slot, ret, err);
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_outcome_is_good(ret); o++) {
        if (!hone_dtype_is_float(judge->task->outputs[o].dtype))
            continue; /* an integer may well be the poison's bits; the comparison decides */
        code = hone_gpu_find_poison(judge, lane->slot, o, lane->first, lane->n_calls, 1, false,
                                    found, err);
        for (int64_t s = 0; s < lane->n_calls && code == 0; s++) {
            if (found[s].count > 0)
                hone_outcome_set(ret, HONE_REASON_UNWRITTEN,
                                 "output '%s' of a timed call has %lld unwritten elements",
                                 judge->task->outputs[o].name, (long long)found[s].count);
        }
    }
    return code;
}

struct hone_gpu_lane *hone_gpu_run_baseline(struct hone_gpu_run *run)
{
    for (size_t i = 1; i < run->n_lanes; i++) {
        if (run->lanes[i].is_trusted)
            return &run->lanes[i];
    }
    return NULL;
}

int hone_gpu_run_like(struct hone_gpu_run *run, struct hone_gpu_lane *mine, const int32_t *sets,
                      int64_t n, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_lane *theirs = hone_gpu_run_baseline(run);
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_compare compare;
    int code = theirs == NULL ? 0
                              : hone_gpu_call(judge, theirs->slot, sets, n, HONE_GPU_SCRATCH_POISON,
                                              theirs->call_ns, NULL, &end, err);
    if (code == 0 && !hone_outcome_is_good(&end))
        return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                         theirs->slot->name, end.detail);
    hone_compare_init(&compare, judge->task, run->plan->workload);
    for (int64_t i = 0; i < n && code == 0 && hone_outcome_is_good(ret); i++) {
        if (theirs != NULL)
            code = hone_gpu_judge_like(
                judge,
                &(struct hone_gpu_like){
                    .slot = mine->slot, .baseline = theirs->slot, .first = sets[i], .n = 1},
                &compare, ret, err);
        else if (run->can_spot)
            code = hone_gpu_spot_check(judge, mine->slot, sets[i], HONE_GPU_SPOT_ITEMS, ret, err);
    }
    return code;
}

static int check_like(struct hone_gpu_run *run, struct hone_gpu_lane *mine,
                      struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_lane *theirs = hone_gpu_run_baseline(run);
    if (theirs == NULL)
        return 0;
    int64_t first = hone_max_i64(mine->first, theirs->first);
    int64_t end = hone_min_i64(mine->first + mine->n_calls, theirs->first + theirs->n_calls);
    int64_t n = hone_max_i64(end - first, 0);
    struct hone_compare compare;
    int code = 0;
    hone_compare_init(&compare, judge->task, run->plan->workload);
    if (n > 0)
        code = hone_gpu_judge_like(
            judge,
            &(struct hone_gpu_like){
                .slot = mine->slot, .baseline = theirs->slot, .first = first, .n = n},
            &compare, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret) || n == mine->n_calls ||
        hone_rng_below(&judge->rng, ALONE_EVERY) != 0)
        return code;
    int64_t k = hone_rng_below(&judge->rng, mine->n_calls - n); /* of those that it alone called */
    int32_t set = (int32_t)(mine->first + k);
    if (n > 0 && set >= first)
        set += (int32_t)n;
    return hone_gpu_run_like(run, mine, &set, 1, ret, err);
}

int hone_gpu_run_whole(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int64_t set,
                       enum hone_distribution dist, int64_t budget_ns, struct hone_outcome *ret,
                       struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    const struct hone_gpu_reference *reference = NULL;
    struct hone_compare compare;
    /* a number of its own: no other content is meant by it */
    uint64_t counter = judge->counter++ * HONE_GPU_MAX_SETS + (uint64_t)set;
    int code = hone_gpu_reference_get(judge, set, dist, counter, budget_ns, &reference, err);
    if (code < 0 || reference == NULL)
        return code;
    return hone_gpu_compare(judge, lane->slot, set, reference, &compare, ret, err);
}

/* Everything about one set: always without a baseline, else now and then. */
static int check_whole(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                       struct hone_outcome *ret, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    bool is_asked = run->can_whole && hone_rng_below(&run->judge->rng, DEAR_EVERY) == 0;
    if (run->can_spot || (hone_gpu_run_baseline(run) != NULL && !is_asked))
        return 0;
    int64_t set = lane->first + hone_rng_below(&run->judge->rng, lane->n_calls);
    int code = hone_gpu_run_whole(run, lane, set, HONE_DIST_NORMAL, 0, ret, err);
    run->spot_ns = hone_now_ns() - start;
    return code;
}

static int check_values(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                        struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int code = check_like(run, lane, ret, err);
    int64_t start = hone_now_ns();
    bool is_dear = run->spot_ns > HONE_GPU_SPOT_DEAR_NS;
    bool is_asked = !is_dear || hone_gpu_run_baseline(run) == NULL ||
                    hone_rng_below(&judge->rng, DEAR_EVERY) == 0;
    int64_t n =
        run->can_spot && is_asked ? hone_min_i64(lane->n_calls, is_dear ? 1 : SPOT_SETS) : 0;
    for (int64_t i = 0; i < n && code == 0 && hone_outcome_is_good(ret); i++) {
        int64_t set = lane->first + hone_rng_below(&judge->rng, lane->n_calls);
        code = hone_gpu_spot_check(judge, lane->slot, set, HONE_GPU_SPOT_ITEMS / n, ret, err);
    }
    run->spot_ns = n > 0 ? hone_now_ns() - start : run->spot_ns;
    if (code == 0 && hone_outcome_is_good(ret))
        code = check_whole(run, lane, ret, err);
    if (code < 0 || !hone_outcome_is_value(ret))
        return code;
    int32_t sets[HONE_GPU_MAX_SETS];
    for (int64_t i = 0; i < lane->n_calls; i++)
        sets[i] = (int32_t)(lane->first + i);
    return hone_gpu_run_blame(run, lane, sets, lane->n_calls, ret, err);
}

static int check_pass(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    int code = 0;
    /* values after all are complete: the baseline's are what others are held to */
    for (size_t i = 0; i < 2 * run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_gpu_lane *lane = &run->lanes[i % run->n_lanes];
        if (lane->slot->is_lost || (i >= run->n_lanes && lane->is_trusted))
            continue;
        hone_gpu_run_limit(run);
        code = i < run->n_lanes ? check_written(run, lane, ret, err)
                                : check_values(run, lane, ret, err);
        code = hone_arm_settle(run->judge, lane->slot, code, ret, err);
    }
    hone_judge_cost(run->judge, "time.check", hone_now_ns() - start);
    return code;
}

int hone_gpu_run_fill(struct hone_gpu_run *run, uint64_t *ret_base, struct hone_err *err)
{
    *ret_base = run->judge->counter++;
    return hone_gpu_fill(run->judge, 0, run->n_sets, HONE_DIST_NORMAL, *ret_base, err);
}

/* ---- lanes ---- */

/* Which comes first is drawn, for each two rounds: one forward, one backward. Two arms take turns.
 */
static void draw_order(struct hone_gpu_run *run)
{
    for (size_t i = 0; i < run->n_lanes; i++)
        run->order[i] = i;
    for (size_t i = run->n_lanes; i > 1 && run->n_lanes > 2; i--) {
        size_t j = (size_t)hone_rng_below(&run->judge->rng, (int64_t)i), kept = run->order[i - 1];
        run->order[i - 1] = run->order[j];
        run->order[j] = kept;
    }
}

void hone_gpu_run_drop_lost(struct hone_gpu_run *run)
{
    for (size_t i = run->n_lanes; i-- > 1;) {
        if (!run->lanes[i].slot->is_lost)
            continue;
        run->gone_ns += run->lanes[i].slot->used_ns;
        run->n_lanes--;
        memmove(run->lanes + i, run->lanes + i + 1, (run->n_lanes - i) * sizeof *run->lanes);
        hone_rounds_drop(&run->rounds, i);
        draw_order(run);
    }
    for (size_t i = 0; i < run->n_lanes; i++) {
        run->lanes[i].out = &run->rounds.lanes[i];
        run->lanes[i].out->is_out = run->lanes[i].is_out;
    }
}

/* A guest that takes its time would take the job's: it may have what the comparison has, and some
 * times what the slowest of the others had. */
void hone_gpu_run_limit(struct hone_gpu_run *run)
{
    int64_t others_ns = 0;
    for (size_t i = 0; i < run->n_lanes; i++)
        if (!hone_arm_is_guest(run->judge, run->lanes[i].slot))
            others_ns = hone_max_i64(others_ns, run->lanes[i].slot->used_ns);
    for (size_t i = 0; i < run->n_lanes; i++)
        if (hone_arm_is_guest(run->judge, run->lanes[i].slot))
            run->lanes[i].slot->limit_ns =
                hone_max_i64(run->plan->budget_ns, GUEST_NS) + GUEST_TIMES * others_ns;
}

/* What guests take is not charged to the budget. */
static int64_t guests_ns(const struct hone_gpu_run *run)
{
    int64_t ns = run->gone_ns;
    for (size_t i = 1; i < run->n_lanes; i++)
        if (!run->lanes[i].is_trusted)
            ns += run->lanes[i].slot->used_ns;
    return ns;
}

/* ---- passes ---- */

/* Do the clocks agree on the present round? The events against the device's own stamps and the
 * judge's clock less empty blocks: device code can write wherever its context is mapped, also to an
 * event's time. Other work on the machine widens the gaps too; so a round that does not agree is
 * left out, and only a candidate of which no round is left is accused. What the baseline's blocks
 * show at best is the machine's own. */
static bool is_believed(const struct hone_gpu_run *run, const struct hone_gpu_lane *lane, size_t r)
{
    double n_passes = (double)run->n_passes, event = lane->event[r];
    double stamp = isfinite(lane->stamp[r]) ? fabs(lane->stamp[r] - event) : 0;
    double wall = lane->wall[r] - event - n_passes * run->nop_ns;
    double stamp_room =
        STAMP_SHARE * event + n_passes * STAMP_NS + HONE_GPU_USUAL * fmax(run->stamp_gap, 0);
    double wall_room =
        WALL_SHARE * event + n_passes * WALL_NS + HONE_GPU_USUAL * fmax(run->wall_gap, 0);
    bool is_early = event > lane->wall[r] + stamp_room;
    return stamp <= stamp_room && wall <= wall_room && !is_early;
}

static void note_gaps(struct hone_gpu_run *run, const struct hone_gpu_lane *lane, size_t r)
{
    double stamp = isfinite(lane->stamp[r]) ? fabs(lane->stamp[r] - lane->event[r]) : 0;
    double wall = lane->wall[r] - lane->event[r] - (double)run->n_passes * run->nop_ns;
    bool is_first = run->rounds.n == 0;
    run->stamp_gap = is_first ? stamp : fmin(run->stamp_gap, stamp);
    run->wall_gap = is_first ? wall : fmin(run->wall_gap, wall);
}

static void note_block(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                       const struct hone_gpu_time *time)
{
    size_t r = run->rounds.n;
    lane->period = time->sm_mhz;
    lane->event[r] += time->event_ns;
    lane->stamp[r] = time->stamp_ns > 0 ? lane->stamp[r] + time->stamp_ns : (double)NAN;
    lane->wall[r] += (double)time->wall_ns;
}

static int try_pass(struct hone_gpu_run *run, bool is_backward, bool *ret_is_late,
                    struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_time times[HONE_RUNNER_MAX_ARMS] = {{0}};
    int64_t start = hone_now_ns();
    uint64_t base = 0;
    int code = hone_gpu_run_fill(run, &base, err);
    *ret_is_late = false;
    for (size_t k = 0; k < run->n_lanes && code == 0 && hone_outcome_is_good(ret); k++) {
        size_t i = run->order[is_backward ? run->n_lanes - 1 - k : k];
        struct hone_gpu_lane *lane = &run->lanes[i];
        if (lane->slot->is_lost)
            continue;
        hone_gpu_run_limit(run);
        code = hone_gpu_run_block(run, lane, lane->n_calls, NULL, &times[i], ret, err);
        if (code == 0 && hone_outcome_is_good(ret) && times[i].is_late) {
            note_late(run, lane, ret);
            *ret_is_late = true;
        }
        code = hone_arm_settle(run->judge, lane->slot, code, ret, err);
    }
    hone_judge_cost(run->judge, "time.blocks", hone_now_ns() - start);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    for (size_t i = 0; i < run->n_lanes && !*ret_is_late; i++)
        note_block(run, &run->lanes[i], &times[i]);
    return check_pass(run, ret, err);
}

/* With a late block nothing of the pass counts: all of it is made again, with fresh content. */
static int one_pass(struct hone_gpu_run *run, bool is_backward, struct hone_outcome *ret,
                    struct hone_err *err)
{
    bool is_late = true;
    int code = 0;
    while (code == 0 && hone_outcome_is_good(ret) && is_late)
        code = try_pass(run, is_backward, &is_late, ret, err);
    return code;
}

/* What a call of the present round took. Whoever is not trusted could choose rounds by clocks that
 * disagree: they are kept, with what says least for the claim: the candidate's slowest clock, a
 * guest's fastest (rounds.h). */
static double call_ns(const struct hone_gpu_run *run, const struct hone_gpu_lane *lane, size_t r)
{
    double ns = lane->event[r], wall = lane->wall[r] - (double)run->n_passes * run->nop_ns;
    if (lane == &run->lanes[0] && lane->is_out[r])
        ns = fmax(ns, fmax(lane->stamp[r], wall));
    else if (!lane->is_trusted && lane->is_out[r])
        ns = fmax(fmin(ns, fmin(lane->stamp[r], wall)), 1);
    return ns / (double)(lane->n_calls * run->n_passes);
}

static int one_round(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    size_t r = run->rounds.n;
    bool is_backward = (r % 2 == 1) != run->plan->is_reversed;
    if (r % 2 == 0)
        draw_order(run);
    for (int64_t pass = 0; pass < run->n_passes; pass++) {
        int code = hone_gpu_audit_maybe(run, ret, err);
        if (code == 0 && hone_outcome_is_good(ret))
            code = one_pass(run, is_backward, ret, err);
        hone_gpu_run_drop_lost(run);
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
    }
    if (hone_gpu_run_baseline(run) != NULL)
        note_gaps(run, hone_gpu_run_baseline(run), r);
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct hone_gpu_lane *lane = &run->lanes[i];
        lane->is_out[r] = !is_believed(run, lane, r);
        lane->out->wall[r] = call_ns(run, lane, r);
        lane->out->load[r] = lane->period;
    }
    run->rounds.n++;
    return 0;
}

/* ---- before the first round ---- */

static int estimate(struct hone_gpu_run *run, struct hone_gpu_lane *lane, struct hone_outcome *ret,
                    struct hone_err *err)
{
    double best = INFINITY;
    for (int tries = 0; tries < ESTIMATE_TRIES; tries++) {
        struct hone_gpu_time time = {0};
        lane->n_calls = tries == 0 ? 1 : run->n_sets;
        lane->call_ns = isfinite(best) ? best : 0;
        hone_gpu_run_orders(run, lane);
        int code = hone_gpu_run_clocked(run, lane, lane->n_calls, NULL, &time, ret, err);
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
        best = fmin(best, time.event_ns / (double)lane->n_calls);
        if (time.event_ns > ESTIMATE_NS && tries > 0)
            break;
        if (time.event_ns > 100 * ESTIMATE_NS)
            break;
    }
    lane->call_ns = fmax(best, 100);
    return 0;
}

/* The trusted first: what a guest may take depends on what they took. */
static int estimate_all(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; i < 2 * run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_gpu_lane *lane = &run->lanes[run->order[i % run->n_lanes]];
        if (lane->is_trusted != (i < run->n_lanes) || lane->slot->is_lost)
            continue;
        hone_gpu_run_limit(run);
        code = hone_arm_settle(run->judge, lane->slot, estimate(run, lane, ret, err), ret, err);
    }
    return code;
}

int64_t hone_gpu_sets_allowed(const struct hone_judge *judge, const struct hone_workload *workload)
{
    bool is_screen = hone_judge_is_tier(judge, HONE_TIER_SCREEN);
    int64_t l2 = judge->gpu->session->device.l2_bytes;
    int64_t set_bytes = hone_max_i64(hone_judge_set_bytes(judge, workload), 1);
    bool is_beyond_caches = set_bytes > 2 * l2;
    int64_t bytes = is_screen ? SCREEN_BYTES : FRAME_BYTES;
    if (!judge->task->is_cold && !is_beyond_caches)
        bytes = l2 / 2;
    int64_t n = hone_max_i64(bytes / set_bytes, 1);
    n = hone_min_i64(n, is_screen ? MAX_SCREEN_SETS : MAX_SETS);
    return hone_max_i64(hone_min_i64(n, hone_gpu_max_sets(judge, workload)), 1);
}

int hone_gpu_run_frame(struct hone_gpu_run *run, int64_t n_sets, struct hone_outcome *ret,
                       struct hone_err *err)
{
    run->n_sets = n_sets;
    int code = hone_gpu_set_frame(run->judge, run->plan->workload, n_sets, false, err);
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_slot *slot = run->lanes[run->order[i]].slot;
        if (!slot->is_lost)
            code = hone_arm_settle(run->judge, slot, hone_gpu_ready(run->judge, slot, ret, err),
                                   ret, err);
    }
    return code;
}

static int prepare(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t allowed = hone_gpu_sets_allowed(judge, run->plan->workload), most = 1;
    uint64_t base = 0;
    draw_order(run);
    int code = hone_gpu_run_frame(run, hone_min_i64(allowed, FIRST_SETS), ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_run_fill(run, &base, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = estimate_all(run, ret, err);
    hone_gpu_run_drop_lost(run);
    double shortest_ns = INFINITY;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_gpu_lane *lane = &run->lanes[i];
        int64_t wanted = (int64_t)ceil((double)run->plan->block_ns / lane->call_ns);
        lane->n_calls = hone_min_i64(hone_max_i64(wanted, 1), allowed);
        most = hone_max_i64(most, lane->n_calls);
        shortest_ns = fmin(shortest_ns, (double)lane->n_calls * lane->call_ns);
    }
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    int64_t passes = (int64_t)ceil((double)run->plan->block_ns / shortest_ns);
    bool is_screen = hone_judge_is_tier(judge, HONE_TIER_SCREEN);
    run->n_passes = hone_min_i64(hone_max_i64(passes, 1), is_screen ? MAX_SCREEN_PASS : MAX_PASSES);
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].out->n_batch = run->lanes[i].n_calls * run->n_passes;
    struct hone_gpu_time nop = {0};
    code = hone_gpu_run_frame(run, most, ret, err);
    hone_gpu_run_drop_lost(run);
    for (size_t i = 0; i < run->n_lanes; i++)
        hone_gpu_run_orders(run, &run->lanes[i]);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_arm_nop(hone_gpu_slot(judge, run->lanes[0].slot)->arm, &nop, err);
    run->nop_ns = (double)nop.wall_ns;
    return code;
}

/* ---- after the last ---- */

/* On a busy machine most rounds may have to be left out: some more are tried before that is held
 * against the candidate. */
static bool is_done(const struct hone_gpu_run *run, int64_t start_ns)
{
    bool is_enough = hone_rounds_believed(&run->rounds) >= LEAST_BELIEVED;
    return hone_rounds_done(&run->rounds, start_ns) && (is_enough || run->rounds.n >= MOST_DOUBTED);
}

static void check_clocks(const struct hone_gpu_run *run, const struct hone_gpu_lane *lane,
                         struct hone_outcome *ret)
{
    size_t n_out = 0, n = run->rounds.n;
    for (size_t r = 0; r < n; r++)
        n_out += lane->is_out[r];
    if (n_out == n)
        hone_outcome_set(ret, HONE_REASON_CLOCKS_DISAGREE,
                         "events say %.1f us for the arm's blocks, the device's own stamps %.1f "
                         "us, the judge's clock %.1f us (an empty block: %.1f us)",
                         hone_median(lane->event, n) / 1e3, hone_median(lane->stamp, n) / 1e3,
                         hone_median(lane->wall, n) / 1e3,
                         (double)run->n_passes * run->nop_ns / 1e3);
}

/* Iterated tasks have no items of their own. */
static bool can_whole(const struct hone_judge *judge, const struct hone_workload *workload)
{
    double flops = 0, bytes = 0;
    return judge->gpu->oracle != NULL && !judge->gpu->is_host_oracle &&
           judge->task->steps != NULL && !hone_judge_is_tier(judge, HONE_TIER_SCREEN) &&
           hone_judge_least_work(judge, workload, &flops, &bytes, NULL) == 0 &&
           fmax(flops, bytes / 4) <= WHOLE_WORK;
}

static void init(struct hone_gpu_run *run)
{
    struct hone_judge *judge = run->judge;
    hone_rounds_init(&run->rounds, judge, run->plan);
    run->n_lanes = run->rounds.n_lanes;
    run->rounds.disturbed = OTHER_CLOCK;
    run->rounds.is_two_sided = true;
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct hone_gpu_lane *lane = &run->lanes[i];
        lane->out = &run->rounds.lanes[i];
        lane->slot = lane->out->slot;
        lane->slot->used_ns = lane->slot->limit_ns = 0;
        lane->is_trusted = hone_arm_is_trusted(lane->slot);
        lane->out->cpu = NULL;
        lane->out->is_out = lane->is_out;
        lane->alone_ns = -1;
    }
    run->can_spot = hone_gpu_can_spot(judge, run->plan->workload);
    run->can_whole = !run->can_spot && can_whole(judge, run->plan->workload);
}

static int play_all(struct hone_gpu_run *run, struct hone_load_meter *load,
                    struct hone_outcome *ret, struct hone_err *err)
{
    int64_t start_ns = hone_now_ns();
    int code = prepare(run, ret, err);
    hone_judge_cost(run->judge, "time.prepare", hone_now_ns() - start_ns);
    start_ns = hone_now_ns() - guests_ns(run);
    hone_load_begin(load, run->judge);
    while (code == 0 && hone_outcome_is_good(ret) && !is_done(run, start_ns + guests_ns(run))) {
        code = one_round(run, ret, err);
        hone_load_round(load);
        hone_judge_progress(run->judge, "time", run->plan->workload->id, (int64_t)run->rounds.n,
                            (int64_t)run->plan->max_pairs, "");
    }
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_audit_end(run, ret, err);
    for (size_t i = 1; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_outcome end = HONE_OUTCOME_INIT;
        if (!run->lanes[i].is_trusted)
            check_clocks(run, &run->lanes[i], &end);
        code = hone_arm_settle(run->judge, run->lanes[i].slot, 0, &end, err);
    }
    hone_gpu_run_drop_lost(run);
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].slot->limit_ns = 0;
    return code;
}

int hone_gpu_judge_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                        struct hone_workload_report *ret_report, struct hone_outcome *ret,
                        struct hone_err *err)
{
    HONE_AUTOFREE struct hone_gpu_lane *lanes = hone_calloc(HONE_RUNNER_MAX_ARMS, sizeof *lanes);
    struct hone_gpu_run run = {.judge = judge, .plan = plan, .lanes = lanes};
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    init(&run);
    struct hone_load_meter load;
    int code = play_all(&run, &load, ret, err);
    hone_rounds_keep(judge, &run.rounds);
    hone_gpu_run_review_late(&run);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    *ret_report = (struct hone_workload_report){0};
    hone_rounds_report(judge, &run.rounds, ret_report);
    hone_load_end(&load, judge, &run.rounds, ret_report);
    check_clocks(&run, &run.lanes[0], ret);
    code = hone_rounds_bound(judge, plan->workload, run.n_sets, ret_report, err);
    return code == 0 && hone_outcome_is_good(ret)
               ? hone_gpu_run_yardstick(&run, ret_report, ret, err)
               : code;
}
