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
 * Cold tasks: sets are as many as a block needs, each called once, and the L2 cache is overwritten
 * before each block. Warm tasks: all sets lie in half of the L2 cache, where generation has just
 * put them; contents that no cache could hold anyway are treated as the cold ones without the
 * flush.
 *
 * The time of a block is what the arena's events say. It must agree with the device's own stamps
 * and with the judge's clock less what an empty block costs (check_clocks). Now and then a further
 * block of the candidate is cut at a random call: later outputs must be untouched. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/gpu_judge.h"
#include "tools/runner/rounds.h"
#include "tools/runner/stats.h"
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
#define SPOT_ITEMS      64
#define SPOT_SETS       2
#define OTHER_CLOCK     1.03 /* SM clocks that differ more mark a round */
#define STAMP_SHARE     0.1
#define STAMP_NS        10e3
#define WALL_SHARE      0.25
#define WALL_NS         100e3
#define USUAL           2.0 /* times what the baseline's blocks show */
#define SCRATCH_POISON  0x7fa5a5a5u
#define AUDIT_EVERY     4 /* rounds, on average */

struct lane {
    struct hone_slot *slot;
    struct hone_lane *out;
    double call_ns;          /* estimate */
    int64_t n_calls, first;  /* in a block: sets first .. first + n_calls - 1 */
    double event_ns, period; /* of the present round: sum, last SM clock */
    /* what the clocks say of whole blocks, by round */
    double event[HONE_MAX_ROUNDS], stamp[HONE_MAX_ROUNDS], wall[HONE_MAX_ROUNDS];
};

struct run {
    struct hone_judge *judge;
    const struct hone_timing_plan *plan;
    struct lane *lanes; /* of n_lanes */
    size_t n_lanes;
    struct hone_rounds rounds;
    int64_t n_sets, n_passes;
    double nop_ns;
    bool can_spot;
    int64_t n_audits;
};

static void draw_order(struct run *run, const struct lane *lane, int64_t n, int32_t *ret)
{
    for (int64_t i = 0; i < lane->n_calls; i++)
        ret[i] = (int32_t)(lane->first + i);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i + hone_dice_below(&run->judge->dice, lane->n_calls - i);
        int32_t kept = ret[i];
        ret[i] = ret[j];
        ret[j] = kept;
    }
}

/* Poison, cache, call. n: of its sets, the first ones of *ret_order. */
static int block(struct run *run, struct lane *lane, int64_t n, int32_t *ret_order,
                 struct hone_gpu_time *ret, struct hone_end *ret_end, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    draw_order(run, lane, n, ret_order);
    int code = hone_gpu_poison(judge, lane->slot, 0, run->n_sets, 1, HONE_POISON_NAN, err);
    if (code == 0 && judge->task->is_cold)
        code = hone_gpu_flush(judge->gpu->session, err);
    if (code == 0)
        code = hone_gpu_call(judge, lane->slot, ret_order, n, SCRATCH_POISON, lane->call_ns, ret,
                             ret_end, err);
    return code;
}

/* ---- looking at what a pass left ---- */

static int check_written(struct run *run, struct lane *lane, struct hone_end *ret,
                         struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_found found[HONE_GPU_MAX_SETS];
    int code = hone_gpu_check_canaries(judge, lane->slot, ret, err);
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_end_is_good(ret); o++) {
        if (!hone_dtype_is_float(judge->task->outputs[o].dtype))
            continue; /* an integer may well be the poison's bits; the comparison decides */
        code = hone_gpu_find_poison(judge, lane->slot, o, lane->first, lane->n_calls, 1, false,
                                    found, err);
        for (int64_t s = 0; s < lane->n_calls && code == 0; s++) {
            if (found[s].count > 0)
                hone_end_set(ret, HONE_REASON_UNWRITTEN,
                             "output '%s' of a timed call has %lld unwritten elements",
                             judge->task->outputs[o].name, (long long)found[s].count);
        }
    }
    return code;
}

static struct lane *baseline_lane(struct run *run)
{
    for (size_t i = 1; i < run->n_lanes; i++) {
        if (strcmp(run->lanes[i].slot->name, "baseline") == 0)
            return &run->lanes[i];
    }
    return NULL;
}

static int check_like(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *mine = &run->lanes[0], *theirs = baseline_lane(run);
    if (theirs == NULL)
        return 0;
    int64_t first = hone_max_i64(mine->first, theirs->first);
    int64_t end = hone_min_i64(mine->first + mine->n_calls, theirs->first + theirs->n_calls);
    if (end <= first)
        return 0;
    struct hone_compare compare;
    hone_compare_init(&compare, judge->task, run->plan->workload);
    int code =
        hone_gpu_compare_like(judge, mine->slot, theirs->slot, first, end - first, &compare, err);
    if (code == 0)
        hone_compare_end(&compare, ret);
    return code;
}

/* Without a baseline and without items: the whole reference of one set. */
static int check_whole(struct run *run, uint64_t base, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    int64_t set = lane->first + hone_dice_below(&judge->dice, lane->n_calls);
    const struct hone_gpu_reference *reference = NULL;
    struct hone_compare compare;
    int code = hone_gpu_reference_get(judge, set, HONE_DIST_NORMAL,
                                      base * HONE_GPU_MAX_SETS + (uint64_t)set, 0, &reference, err);
    if (code < 0 || reference == NULL)
        return code;
    return hone_gpu_compare(judge, lane->slot, set, reference, &compare, ret, err);
}

static int check_candidate(struct run *run, uint64_t base, struct hone_end *ret,
                           struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    int code = check_like(run, ret, err);
    int64_t n = run->can_spot ? hone_min_i64(lane->n_calls, SPOT_SETS) : 0;
    for (int64_t i = 0; i < n && code == 0 && hone_end_is_good(ret); i++) {
        int64_t set = lane->first + hone_dice_below(&judge->dice, lane->n_calls);
        code = hone_gpu_spot_check(judge, lane->slot, set, SPOT_ITEMS / n, ret, err);
    }
    if (code == 0 && hone_end_is_good(ret) && !run->can_spot && baseline_lane(run) == NULL)
        code = check_whole(run, base, ret, err);
    if (code == 0 && ret->reason == HONE_REASON_WRONG_VALUE)
        ret->reason = HONE_REASON_STATEFUL; /* it passed the checks before and is wrong now */
    return code;
}

static int check_pass(struct run *run, uint64_t base, struct hone_end *ret, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    int code = 0;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_end_is_good(ret); i++) {
        code = check_written(run, &run->lanes[i], ret, err);
        if (code == 0 && !hone_end_is_good(ret) && i > 0)
            return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                             run->lanes[i].slot->name, ret->detail);
    }
    if (code == 0 && hone_end_is_good(ret))
        code = check_candidate(run, base, ret, err);
    hone_judge_cost(run->judge, "time.check", hone_now_ns() - start);
    return code;
}

/* ---- passes and rounds ---- */

static int fill_pass(struct run *run, uint64_t *ret_base, struct hone_err *err)
{
    *ret_base = run->judge->counter++;
    return hone_gpu_fill(run->judge, 0, run->n_sets, HONE_DIST_NORMAL, *ret_base, err);
}

static void note_block(struct run *run, struct lane *lane, const struct hone_gpu_time *time)
{
    size_t r = run->rounds.n;
    lane->event_ns += time->event_ns;
    lane->period = time->sm_mhz;
    lane->event[r] += time->event_ns;
    lane->stamp[r] = time->stamp_ns > 0 ? lane->stamp[r] + time->stamp_ns : (double)NAN;
    lane->wall[r] += (double)time->wall_ns;
}

static int one_pass(struct run *run, bool is_backward, struct hone_end *ret, struct hone_err *err)
{
    uint64_t base = 0;
    int64_t start = hone_now_ns();
    int code = fill_pass(run, &base, err);
    for (size_t k = 0; k < run->n_lanes && code == 0; k++) {
        struct lane *lane = &run->lanes[is_backward ? run->n_lanes - 1 - k : k];
        struct hone_gpu_time time = {0};
        int32_t order[HONE_GPU_MAX_SETS];
        lane->first = hone_dice_below(&run->judge->dice, run->n_sets - lane->n_calls + 1);
        code = block(run, lane, lane->n_calls, order, &time, ret, err);
        if (code == 0 && !hone_end_is_good(ret)) {
            if (lane != &run->lanes[0])
                return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                                 lane->slot->name, ret->detail);
            return 0;
        }
        note_block(run, lane, &time);
    }
    hone_judge_cost(run->judge, "time.blocks", hone_now_ns() - start);
    return code == 0 ? check_pass(run, base, ret, err) : code;
}

/* One more block of the candidate, cut at a random call: what was called is complete, and all else
 * still is poison. It cannot know which block it is. */
static int audit(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    if (lane->n_calls < 2)
        return 0;
    int64_t n = 1 + hone_dice_below(&judge->dice, lane->n_calls - 1);
    int32_t order[HONE_GPU_MAX_SETS];
    struct hone_gpu_found found[HONE_GPU_MAX_SETS];
    bool was_called[HONE_GPU_MAX_SETS] = {false};
    uint64_t base = 0;
    int code = fill_pass(run, &base, err);
    if (code == 0)
        code = block(run, lane, n, order, NULL, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    for (int64_t i = 0; i < n; i++)
        was_called[order[i]] = true;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_end_is_good(ret); o++) {
        int64_t n_elements = hone_gpu_output_elements(judge, o);
        bool is_float = hone_dtype_is_float(judge->task->outputs[o].dtype);
        code = hone_gpu_find_poison(judge, lane->slot, o, 0, run->n_sets, 1, false, found, err);
        for (int64_t s = 0; s < run->n_sets && code == 0; s++) {
            if (!was_called[s] && found[s].count != n_elements)
                hone_end_set(ret, HONE_REASON_TAMPERING,
                             "the kernel wrote to output '%s' of a call that was not made yet",
                             judge->task->outputs[o].name);
            else if (was_called[s] && is_float && found[s].count > 0)
                hone_end_set(ret, HONE_REASON_TAMPERING,
                             "the kernel puts work off to a later call: output '%s' has %lld "
                             "unwritten elements",
                             judge->task->outputs[o].name, (long long)found[s].count);
        }
    }
    run->n_audits++;
    return code;
}

static int one_round(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    bool is_backward = (run->rounds.n % 2 == 1) != run->plan->is_reversed;
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].event_ns = run->lanes[i].period = 0;
    for (int64_t pass = 0; pass < run->n_passes; pass++) {
        int code = one_pass(run, is_backward, ret, err);
        if (code < 0 || !hone_end_is_good(ret))
            return code;
    }
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct lane *lane = &run->lanes[i];
        lane->out->wall[run->rounds.n] = lane->event_ns / (double)(lane->n_calls * run->n_passes);
        lane->out->load[run->rounds.n] = lane->period;
    }
    run->rounds.n++;
    bool is_audited = !hone_judge_is_tier(run->judge, "screen") &&
                      hone_dice_below(&run->judge->dice, AUDIT_EVERY) == 0;
    return is_audited ? audit(run, ret, err) : 0;
}

/* ---- before the first round ---- */

static int estimate(struct run *run, struct lane *lane, struct hone_end *ret, struct hone_err *err)
{
    double best = INFINITY;
    int32_t order[HONE_GPU_MAX_SETS];
    lane->first = 0;
    for (int tries = 0; tries < ESTIMATE_TRIES; tries++) {
        struct hone_gpu_time time = {0};
        lane->n_calls = tries == 0 ? 1 : run->n_sets;
        lane->call_ns = isfinite(best) ? best : 0;
        int code = block(run, lane, lane->n_calls, order, &time, ret, err);
        if (code < 0 || !hone_end_is_good(ret))
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

static int64_t sets_allowed(const struct hone_judge *judge, const struct hone_workload *workload)
{
    bool is_screen = hone_judge_is_tier(judge, "screen");
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

static int set_frame(struct run *run, int64_t n_sets, struct hone_end *ret, struct hone_err *err)
{
    run->n_sets = n_sets;
    int code = hone_gpu_set_frame(run->judge, run->plan->workload, n_sets, false, err);
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_end_is_good(ret); i++) {
        code = hone_gpu_ready(run->judge, run->lanes[i].slot, ret, err);
        if (code == 0 && !hone_end_is_good(ret) && i > 0) /* not the candidate's fault */
            return hone_fail(err, HONE_E_TARGET, "arm '%s' failed: %s", run->lanes[i].slot->name,
                             ret->detail);
    }
    return code;
}

static int prepare(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t allowed = sets_allowed(judge, run->plan->workload), most = 1;
    uint64_t base = 0;
    int code = set_frame(run, hone_min_i64(allowed, FIRST_SETS), ret, err);
    if (code == 0 && hone_end_is_good(ret))
        code = fill_pass(run, &base, err);
    double shortest_ns = INFINITY;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_end_is_good(ret); i++) {
        struct lane *lane = &run->lanes[i];
        code = estimate(run, lane, ret, err);
        if (code == 0 && !hone_end_is_good(ret) && i > 0)
            return hone_fail(err, HONE_E_TARGET, "arm '%s' failed: %s", lane->slot->name,
                             ret->detail);
        int64_t wanted = (int64_t)ceil((double)run->plan->block_ns / lane->call_ns);
        lane->n_calls = hone_min_i64(hone_max_i64(wanted, 1), allowed);
        most = hone_max_i64(most, lane->n_calls);
        shortest_ns = fmin(shortest_ns, (double)lane->n_calls * lane->call_ns);
    }
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    int64_t passes = (int64_t)ceil((double)run->plan->block_ns / shortest_ns);
    bool is_screen = hone_judge_is_tier(judge, "screen");
    run->n_passes = hone_min_i64(hone_max_i64(passes, 1), is_screen ? MAX_SCREEN_PASS : MAX_PASSES);
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].out->n_batch = run->lanes[i].n_calls * run->n_passes;
    struct hone_gpu_time nop = {0};
    code = set_frame(run, most, ret, err);
    if (code == 0 && hone_end_is_good(ret))
        code = hone_gpu_arm_nop(hone_gpu_slot(judge, run->lanes[0].slot)->arm, &nop, err);
    run->nop_ns = (double)nop.wall_ns;
    return code;
}

/* ---- after the last ---- */

struct gap { /* between the clocks, ns a round */
    double stamp, wall;
};

/* A lower quartile: other work on the machine can only widen a gap, and a lie is in every round. */
static struct gap gap_of(const struct run *run, const struct lane *lane)
{
    double stamp[HONE_MAX_ROUNDS], wall[HONE_MAX_ROUNDS];
    size_t n = run->rounds.n;
    for (size_t r = 0; r < n; r++) {
        bool has_stamp = isfinite(lane->stamp[r]);
        stamp[r] = has_stamp ? fabs(lane->stamp[r] - lane->event[r]) : 0;
        wall[r] = lane->wall[r] - lane->event[r] - (double)run->n_passes * run->nop_ns;
    }
    return (struct gap){.stamp = hone_quantile(stamp, n, 0.25),
                        .wall = hone_quantile(wall, n, 0.25)};
}

/* What the events say against the device's stamps and the judge's own clock; what the baseline's
 * blocks show is no lie. Device code can write wherever its context is mapped, also to an event's
 * time. */
static void check_clocks(struct run *run, struct hone_end *ret)
{
    const struct lane *mine = &run->lanes[0], *theirs = baseline_lane(run);
    struct gap gap = gap_of(run, mine), usual = {0};
    double n_passes = (double)run->n_passes;
    double event = hone_median(mine->event, run->rounds.n);
    if (theirs != NULL)
        usual = gap_of(run, theirs);
    double stamp_room = STAMP_SHARE * event + n_passes * STAMP_NS + USUAL * fmax(usual.stamp, 0);
    double wall_room = WALL_SHARE * event + n_passes * WALL_NS + USUAL * fmax(usual.wall, 0);
    bool is_early = gap.wall < -(n_passes * run->nop_ns + stamp_room);
    if (gap.stamp > stamp_room)
        hone_end_set(ret, HONE_REASON_CLOCKS_DISAGREE,
                     "events say %.1f us for a block, the device's own stamps differ by %.1f us",
                     event / 1e3, gap.stamp / 1e3);
    else if (gap.wall > wall_room || is_early)
        hone_end_set(ret, HONE_REASON_CLOCKS_DISAGREE,
                     "events say %.1f us for a block, the judge's clock %.1f us more (an empty "
                     "block taken off)",
                     event / 1e3, gap.wall / 1e3);
}

int hone_gpu_judge_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                        struct hone_workload_report *ret_report, struct hone_end *ret,
                        struct hone_err *err)
{
    struct run run = {.judge = judge, .plan = plan, .n_lanes = judge->n_slots};
    HONE_AUTOFREE struct lane *lanes = hone_calloc(run.n_lanes, sizeof *lanes);
    *ret = (struct hone_end)HONE_END_INIT;
    run.lanes = lanes;
    hone_rounds_init(&run.rounds, judge, plan);
    run.rounds.disturbed = OTHER_CLOCK;
    run.rounds.is_two_sided = true;
    for (size_t i = 0; i < run.n_lanes; i++) {
        lanes[i].slot = &judge->slots[i];
        lanes[i].out = &run.rounds.lanes[i];
        lanes[i].out->cpu = NULL;
    }
    run.can_spot = hone_gpu_can_spot(judge, plan->workload);
    int64_t start_ns = hone_now_ns();
    int code = prepare(&run, ret, err);
    hone_judge_cost(judge, "time.prepare", hone_now_ns() - start_ns);
    start_ns = hone_now_ns();
    while (code == 0 && hone_end_is_good(ret) && !hone_rounds_done(&run.rounds, start_ns)) {
        code = one_round(&run, ret, err);
        hone_judge_progress(judge, "time", plan->workload->id, (int64_t)run.rounds.n,
                            (int64_t)plan->max_pairs, "");
    }
    if (code == 0 && hone_end_is_good(ret) && run.n_audits == 0 &&
        !hone_judge_is_tier(judge, "screen"))
        code = audit(&run, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    *ret_report = (struct hone_workload_report){0};
    hone_rounds_report(judge, &run.rounds, ret_report);
    check_clocks(&run, ret);
    return hone_rounds_bound(judge, plan->workload, run.n_sets, ret_report, err);
}
