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
#define SPOT_DEAR_NS    (3 * HONE_NS_PER_MS) /* dearer ones are asked once in a while */
#define OTHER_CLOCK     1.03                 /* SM clocks that differ more mark a round */
#define STAMP_SHARE     0.1
#define STAMP_NS        10e3
#define WALL_SHARE      0.25
#define WALL_NS         100e3
#define USUAL           2.0 /* times what the baseline's blocks show */
#define SCRATCH_POISON  0x7fa5a5a5u
#define ORDERS          4
#define LEAST_BELIEVED  2
#define MOST_DOUBTED    30
#define AUDIT_EVERY     4    /* rounds, on average */
#define CUTS            64   /* of each kind: as many times are kept */
#define CUTS_LEAST      3    /* before they say anything */
#define CUTS_SURE       9    /* before they are held against the candidate */
#define SHORT_CALLS     2    /* at most, in a short one */
#define BEGIN_NS        10e3 /* of a block: caches of instructions and addresses are cold */
#define BEGIN_LAX_NS    50e3 /* where no baseline shows what that costs */
#define AHEAD_CALLS     2.0
#define AHEAD_SHARE     1.0 /* and as much again: other work on the machine */
#define INTEGERS_LEAST  64  /* fewer may all be what poison is */
#define CHANGED_SETS    4   /* at most, whose content changes behind a cut */
#define CHANGES_LEAST   2   /* a workload */
#define CHANGE_SHIFTS   8   /* a change is between a half and a 256th of an input */
#define OTHERS_LEAST    4   /* blocks of other content, a workload */
#define OTHERS_SETS     8   /* of them that are looked at */
#define OTHERS_KINDS    16

enum cut { CUT_SHORT, CUT_ANYWHERE, N_CUTS };

struct cuts { /* times of blocks that were cut, with their calls */
    size_t n;
    double n_calls[CUTS], ns[CUTS];
};

struct lane {
    struct hone_slot *slot;
    struct hone_lane *out;
    double call_ns;         /* estimate */
    int64_t n_calls, first; /* in a block: sets first .. first + n_calls - 1 */
    int64_t firsts[ORDERS];
    int32_t orders[ORDERS][HONE_GPU_MAX_SETS];
    double event_ns, period; /* of the present round: sum, last SM clock */
    /* what the clocks say of whole blocks, by round */
    bool is_out[HONE_MAX_ROUNDS];
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
    double stamp_gap, wall_gap; /* least of the baseline's, ns a round */
    bool can_spot;
    int64_t spot_ns;          /* what the last items of a pass cost */
    struct cuts cuts[N_CUTS]; /* the candidate's */
    struct cuts usual;        /* short ones of the baseline */
    int64_t n_changes;        /* audits with changed content */
    int64_t n_others;         /* blocks with other content */
};

/* Orders are drawn from a few that are drawn beforehand: an arena keeps the graph of an order. */
static void draw_orders(struct run *run, struct lane *lane)
{
    struct hone_dice *dice = &run->judge->dice;
    for (size_t v = 0; v < ORDERS; v++) {
        lane->firsts[v] = hone_dice_below(dice, run->n_sets - lane->n_calls + 1);
        int32_t *order = lane->orders[v];
        for (int64_t i = 0; i < lane->n_calls; i++)
            order[i] = (int32_t)(lane->firsts[v] + i);
        for (int64_t i = 0; i < lane->n_calls; i++) {
            int64_t j = i + hone_dice_below(dice, lane->n_calls - i);
            int32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
    }
}

/* Poison, cache, call: the first n of an order. */
static int block(struct run *run, struct lane *lane, int64_t n, const int32_t **ret_order,
                 struct hone_gpu_time *ret, struct hone_end *ret_end, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t v = hone_dice_below(&judge->dice, ORDERS);
    const int32_t *order = lane->orders[v];
    lane->first = lane->firsts[v];
    if (ret_order != NULL)
        *ret_order = order;
    int code = hone_gpu_poison(judge, lane->slot, 0, run->n_sets, 1, HONE_POISON_NAN, err);
    if (code == 0 && judge->task->is_cold)
        code = hone_gpu_flush(judge->gpu->session, err);
    if (code == 0)
        code = hone_gpu_call(judge, lane->slot, order, n, SCRATCH_POISON, lane->call_ns, ret,
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
    int64_t start = hone_now_ns();
    bool is_dear = run->spot_ns > SPOT_DEAR_NS && hone_dice_below(&judge->dice, 8) != 0 &&
                   baseline_lane(run) != NULL;
    int64_t n = run->can_spot && !is_dear ? hone_min_i64(lane->n_calls, SPOT_SETS) : 0;
    for (int64_t i = 0; i < n && code == 0 && hone_end_is_good(ret); i++) {
        int64_t set = lane->first + hone_dice_below(&judge->dice, lane->n_calls);
        code = hone_gpu_spot_check(judge, lane->slot, set, SPOT_ITEMS / n, ret, err);
    }
    run->spot_ns = n > 0 ? hone_now_ns() - start : run->spot_ns;
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

/* Do the clocks agree on the present round? The events against the device's own stamps and the
 * judge's clock less empty blocks: device code can write wherever its context is mapped, also to an
 * event's time. Other work on the machine widens the gaps too; so a round that does not agree is
 * left out, and only a candidate of which no round is left is accused. What the baseline's blocks
 * show at best is the machine's own. */
static bool is_believed(const struct run *run, const struct lane *lane, size_t r)
{
    double n_passes = (double)run->n_passes, event = lane->event[r];
    double stamp = isfinite(lane->stamp[r]) ? fabs(lane->stamp[r] - event) : 0;
    double wall = lane->wall[r] - event - n_passes * run->nop_ns;
    double stamp_room = STAMP_SHARE * event + n_passes * STAMP_NS + USUAL * fmax(run->stamp_gap, 0);
    double wall_room = WALL_SHARE * event + n_passes * WALL_NS + USUAL * fmax(run->wall_gap, 0);
    bool is_early = event > lane->wall[r] + stamp_room;
    return stamp <= stamp_room && wall <= wall_room && !is_early;
}

static void note_gaps(struct run *run, const struct lane *lane, size_t r)
{
    double stamp = isfinite(lane->stamp[r]) ? fabs(lane->stamp[r] - lane->event[r]) : 0;
    double wall = lane->wall[r] - lane->event[r] - (double)run->n_passes * run->nop_ns;
    bool is_first = run->rounds.n == 0;
    run->stamp_gap = is_first ? stamp : fmin(run->stamp_gap, stamp);
    run->wall_gap = is_first ? wall : fmin(run->wall_gap, wall);
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
        code = block(run, lane, lane->n_calls, NULL, &time, ret, err);
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

/* What a cut block left: what was called is complete, and all else still is poison. */
static int check_cut(struct run *run, const bool *was_called, struct hone_end *ret,
                     struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_found found[HONE_GPU_MAX_SETS];
    int code = 0;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_end_is_good(ret); o++) {
        int64_t n_elements = hone_gpu_output_elements(judge, o);
        bool is_float = hone_dtype_is_float(judge->task->outputs[o].dtype);
        /* single integers may well be the poison's bits, many not */
        int64_t most = is_float ? 0 : n_elements < INTEGERS_LEAST ? n_elements : n_elements / 2;
        code = hone_gpu_find_poison(judge, run->lanes[0].slot, o, 0, run->n_sets, 1, false, found,
                                    err);
        for (int64_t s = 0; s < run->n_sets && code == 0; s++) {
            if (!was_called[s] && found[s].count != n_elements)
                hone_end_set(ret, HONE_REASON_TAMPERING,
                             "the kernel wrote to output '%s' of a call that was not made yet",
                             judge->task->outputs[o].name);
            else if (was_called[s] && found[s].count > most)
                hone_end_set(ret, HONE_REASON_TAMPERING,
                             "the kernel puts work off to a later call: output '%s' has %lld "
                             "unwritten elements",
                             judge->task->outputs[o].name, (long long)found[s].count);
        }
    }
    return code;
}

static void note_cut(struct cuts *cuts, int64_t n, double ns)
{
    if (cuts->n == CUTS)
        return;
    cuts->n_calls[cuts->n] = (double)n;
    cuts->ns[cuts->n++] = ns;
}

/* What it costs to begin a block is read off a short one of the baseline. */
static int begin_baseline(struct run *run, struct hone_err *err)
{
    struct lane *lane = baseline_lane(run);
    struct hone_gpu_time time = {0};
    struct hone_end end = HONE_END_INIT;
    if (lane == NULL || lane->n_calls < 2)
        return 0;
    int code = block(run, lane, 1, NULL, &time, &end, err);
    if (code == 0 && !hone_end_is_good(&end))
        return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                         lane->slot->name, end.detail);
    note_cut(&run->usual, 1, time.event_ns);
    return code;
}

/* One more block of the candidate, cut at a random call. It cannot know which block it is. */
static int audit(struct run *run, enum cut cut, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    int64_t most =
        cut == CUT_SHORT ? hone_min_i64(SHORT_CALLS, lane->n_calls - 1) : lane->n_calls - 1;
    int64_t n = 1 + hone_dice_below(&judge->dice, most);
    const int32_t *order = NULL;
    struct hone_gpu_time time = {0};
    bool was_called[HONE_GPU_MAX_SETS] = {false};
    uint64_t base = 0;
    int code = fill_pass(run, &base, err);
    if (code == 0 && cut == CUT_SHORT)
        code = begin_baseline(run, err);
    if (code == 0)
        code = block(run, lane, n, &order, &time, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    for (int64_t i = 0; i < n; i++)
        was_called[order[i]] = true;
    if (2 * n <= lane->n_calls) /* nearly whole ones say little */
        note_cut(&run->cuts[cut], n, time.event_ns);
    return check_cut(run, was_called, ret, err);
}

/* A part of every input becomes that of another set. Offsets stay: parts of two lists are none. */
static int change_set(struct run *run, int64_t set, int64_t donor, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    int code = 0;
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++) {
        const struct hone_tensor *tensor = &judge->task->inputs[i];
        int64_t bytes = hone_dtype_bytes(tensor->dtype);
        int64_t n = hone_tensor_elements(judge->task, tensor, run->plan->workload);
        bool is_whole = tensor->role == HONE_ROLE_OFFSETS || tensor->role == HONE_ROLE_PROBABILITY;
        int64_t n_new = hone_max_i64(n >> (1 + hone_dice_below(&judge->dice, CHANGE_SHIFTS)), 1);
        if (is_whole || n < 1)
            continue;
        hone_cu_ptr at = (hone_cu_ptr)(bytes * hone_dice_below(&judge->dice, n - n_new + 1));
        code =
            hone_gpu_check(session,
                           session->cu->MemcpyDtoDAsync(hone_gpu_input(judge, set, i) + at,
                                                        hone_gpu_input(judge, donor, i) + at,
                                                        (size_t)(bytes * n_new), session->stream),
                           "changing an input", err);
    }
    return code;
}

/* What the candidate says of these sets, against the baseline or random items. */
static int check_changed(struct run *run, const int32_t *sets, int64_t n, struct hone_end *ret,
                         struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *mine = &run->lanes[0], *theirs = baseline_lane(run);
    struct hone_end end = HONE_END_INIT;
    struct hone_compare compare;
    int code = theirs == NULL ? 0
                              : hone_gpu_call(judge, theirs->slot, sets, n, SCRATCH_POISON,
                                              theirs->call_ns, NULL, &end, err);
    if (code == 0 && !hone_end_is_good(&end))
        return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                         theirs->slot->name, end.detail);
    hone_compare_init(&compare, judge->task, run->plan->workload);
    for (int64_t i = 0; i < n && code == 0 && hone_end_is_good(ret); i++) {
        if (theirs != NULL)
            code =
                hone_gpu_compare_like(judge, mine->slot, theirs->slot, sets[i], 1, &compare, err);
        else if (run->can_spot)
            code = hone_gpu_spot_check(judge, mine->slot, sets[i], SPOT_ITEMS, ret, err);
        if (code == 0 && theirs != NULL)
            hone_compare_end(&compare, ret);
    }
    return code;
}

/* A block is cut, and before it goes on, with its scratch as it is, the content of further sets
 * changes: whoever knew the old one answers what was asked before. Only parts change, so that a
 * look at some elements does not show it. */
static int audit_change(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    int64_t n = 1 + hone_dice_below(&judge->dice, lane->n_calls - 1);
    int64_t n_changed = hone_min_i64(lane->n_calls - n, CHANGED_SETS);
    const int32_t *order = NULL;
    uint64_t base = 0;
    int code = fill_pass(run, &base, err);
    if (code == 0)
        code = block(run, lane, n, &order, NULL, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    for (int64_t i = 0; i < n_changed && code == 0; i++)
        code = change_set(run, order[n + i], order[hone_dice_below(&judge->dice, n)], err);
    if (code == 0)
        code = hone_gpu_call_on(judge, lane->slot, order + n, n_changed, lane->call_ns, ret, err);
    if (code == 0 && hone_end_is_good(ret))
        code = check_changed(run, order + n, n_changed, ret, err);
    run->n_changes++;
    if (code == 0 &&
        (ret->reason == HONE_REASON_WRONG_VALUE || ret->reason == HONE_REASON_NONFINITE))
        hone_end_set(ret, HONE_REASON_TAMPERING,
                     "the content of a call that was not made yet was changed, and the answer is "
                     "not that of the new one: work is done ahead");
    return code;
}

/* Is this set wrong, and not by the distribution's fault? */
static int check_other(struct run *run, int32_t set, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *theirs = baseline_lane(run);
    int code = hone_gpu_spot_check(judge, run->lanes[0].slot, set, SPOT_ITEMS, ret, err);
    if (code < 0 || hone_end_is_good(ret) || theirs == NULL)
        return code;
    struct hone_end end = HONE_END_INIT;
    code = hone_gpu_call(judge, theirs->slot, &set, 1, SCRATCH_POISON, theirs->call_ns, NULL, &end,
                         err);
    if (code == 0 && hone_end_is_good(&end))
        code = hone_gpu_spot_check(judge, theirs->slot, set, SPOT_ITEMS, &end, err);
    if (code == 0 && !hone_end_is_good(&end))
        *ret = (struct hone_end)HONE_END_INIT;
    return code;
}

static enum hone_distribution other_distribution(struct hone_judge *judge)
{
    for (int tries = 0; tries < 64; tries++) {
        bool is_rare = hone_dice_below(&judge->dice, 4) == 0; /* the hardest to tell from plain */
        int64_t dist = is_rare ? HONE_DIST_RARE : hone_dice_below(&judge->dice, HONE_N_DISTS);
        if (!judge->is_dist_left_out[dist])
            return (enum hone_distribution)dist;
    }
    return HONE_DIST_NORMAL;
}

static int time_others(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0];
    int64_t step = hone_max_i64(run->n_sets / OTHERS_KINDS, 1);
    const int32_t *order = NULL;
    int code = 0;
    for (int64_t set = 0; set < run->n_sets && code == 0; set += step)
        code = hone_gpu_fill(judge, set, hone_min_i64(step, run->n_sets - set),
                             other_distribution(judge), judge->counter++, err);
    if (code == 0)
        code = block(run, lane, lane->n_calls, &order, NULL, ret, err);
    int64_t n = hone_min_i64(lane->n_calls, run->spot_ns > SPOT_DEAR_NS ? 1 : OTHERS_SETS);
    for (int64_t i = 0; i < n && code == 0 && hone_end_is_good(ret); i++)
        code = check_other(run, order[i], ret, err);
    run->n_others++;
    if (code == 0 &&
        (ret->reason == HONE_REASON_WRONG_VALUE || ret->reason == HONE_REASON_NONFINITE))
        ret->reason = HONE_REASON_STATEFUL; /* it passed such content before */
    return code;
}

static bool has_audits(const struct run *run)
{
    return !hone_judge_is_tier(run->judge, "screen") && run->lanes[0].n_calls >= 2;
}

static int maybe_audit(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_dice *dice = &run->judge->dice;
    if (!has_audits(run) || hone_dice_below(dice, AUDIT_EVERY * run->n_passes) != 0)
        return 0;
    int64_t kind = hone_dice_below(dice, N_CUTS + 2);
    if (kind == N_CUTS + 1)
        return run->can_spot ? time_others(run, ret, err) : 0;
    return kind == N_CUTS ? audit_change(run, ret, err) : audit(run, (enum cut)kind, ret, err);
}

/* Median of what cut blocks take beyond as many calls and some of them. */
static double beyond(const struct cuts *cuts, double call_ns, double share, double calls)
{
    double over[CUTS];
    for (size_t i = 0; i < cuts->n; i++)
        over[i] = cuts->ns[i] - (cuts->n_calls[i] * (1 + share) + calls) * call_ns;
    return hone_median(over, cuts->n);
}

/* What beginning a block may cost. */
static double begin_ns(struct run *run)
{
    const struct lane *theirs = baseline_lane(run);
    if (run->usual.n < CUTS_LEAST)
        return BEGIN_LAX_NS;
    double call_ns = hone_median(theirs->out->wall, run->rounds.n);
    return BEGIN_NS + USUAL * fmax(0, beyond(&run->usual, call_ns, 0, 0));
}

static int take_cuts(struct run *run, enum cut cut, size_t n, struct hone_end *ret,
                     struct hone_err *err)
{
    int code = 0;
    while (code == 0 && hone_end_is_good(ret) && run->cuts[cut].n < n)
        code = audit(run, cut, ret, err);
    return code;
}

/* Cut blocks against the blocks that counted, after the last round: calls that are made ahead make
 * few calls dear. Before that is held against the candidate, more blocks are cut. */
static int check_ahead(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    size_t n = run->rounds.n;
    int code = 0;
    bool is_screen = hone_judge_is_tier(run->judge, "screen");
    while (run->can_spot && !is_screen && code == 0 && hone_end_is_good(ret) &&
           run->n_others < OTHERS_LEAST)
        code = time_others(run, ret, err);
    if (!has_audits(run) || n == 0 || code < 0 || !hone_end_is_good(ret))
        return code;
    while (code == 0 && hone_end_is_good(ret) && run->n_changes < CHANGES_LEAST)
        code = audit_change(run, ret, err);
    double call_ns = hone_quantile(run->lanes[0].out->wall, n, 0.75);
    for (enum cut cut = 0; cut < N_CUTS && code == 0 && hone_end_is_good(ret); cut++) {
        const struct cuts *cuts = &run->cuts[cut];
        bool is_ahead = true;
        for (size_t least = CUTS_LEAST; least <= CUTS_SURE && is_ahead; least *= CUTS_LEAST) {
            code = take_cuts(run, cut, least, ret, err);
            if (code < 0 || !hone_end_is_good(ret))
                return code;
            is_ahead = beyond(cuts, call_ns, AHEAD_SHARE, AHEAD_CALLS) > begin_ns(run);
        }
        if (is_ahead)
            hone_end_set(ret, HONE_REASON_TAMPERING,
                         "the kernel does the work of later calls ahead: a block cut to %.0f calls "
                         "takes %.1f us, with %.1f us a call in whole blocks",
                         hone_median(cuts->n_calls, cuts->n), hone_median(cuts->ns, cuts->n) / 1e3,
                         call_ns / 1e3);
    }
    return code;
}

static int one_round(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    bool is_backward = (run->rounds.n % 2 == 1) != run->plan->is_reversed;
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].event_ns = run->lanes[i].period = 0;
    for (int64_t pass = 0; pass < run->n_passes; pass++) {
        int code = maybe_audit(run, ret, err);
        if (code == 0 && hone_end_is_good(ret))
            code = one_pass(run, is_backward, ret, err);
        if (code < 0 || !hone_end_is_good(ret))
            return code;
    }
    if (baseline_lane(run) != NULL)
        note_gaps(run, baseline_lane(run), run->rounds.n);
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct lane *lane = &run->lanes[i];
        lane->out->is_out[run->rounds.n] = !is_believed(run, lane, run->rounds.n);
        lane->out->wall[run->rounds.n] = lane->event_ns / (double)(lane->n_calls * run->n_passes);
        lane->out->load[run->rounds.n] = lane->period;
    }
    run->rounds.n++;
    return 0;
}

/* ---- before the first round ---- */

static int estimate(struct run *run, struct lane *lane, struct hone_end *ret, struct hone_err *err)
{
    double best = INFINITY;
    for (int tries = 0; tries < ESTIMATE_TRIES; tries++) {
        struct hone_gpu_time time = {0};
        lane->n_calls = tries == 0 ? 1 : run->n_sets;
        lane->call_ns = isfinite(best) ? best : 0;
        draw_orders(run, lane);
        int code = block(run, lane, lane->n_calls, NULL, &time, ret, err);
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
    for (size_t i = 0; i < run->n_lanes; i++)
        draw_orders(run, &run->lanes[i]);
    if (code == 0 && hone_end_is_good(ret))
        code = hone_gpu_arm_nop(hone_gpu_slot(judge, run->lanes[0].slot)->arm, &nop, err);
    run->nop_ns = (double)nop.wall_ns;
    return code;
}

/* ---- after the last ---- */

/* On a busy machine most rounds may have to be left out: some more are tried before that is held
 * against the candidate. */
static bool is_done(const struct run *run, int64_t start_ns)
{
    bool is_enough = hone_rounds_believed(&run->rounds) >= LEAST_BELIEVED;
    return hone_rounds_done(&run->rounds, start_ns) && (is_enough || run->rounds.n >= MOST_DOUBTED);
}

static void check_clocks(const struct run *run, struct hone_end *ret)
{
    const struct lane *lane = &run->lanes[0];
    size_t n_out = 0, n = run->rounds.n;
    for (size_t r = 0; r < n; r++)
        n_out += lane->is_out[r];
    if (n_out == n)
        hone_end_set(ret, HONE_REASON_CLOCKS_DISAGREE,
                     "events say %.1f us for the candidate's blocks, the device's own stamps %.1f "
                     "us, the judge's clock %.1f us (an empty block: %.1f us)",
                     hone_median(lane->event, n) / 1e3, hone_median(lane->stamp, n) / 1e3,
                     hone_median(lane->wall, n) / 1e3, (double)run->n_passes * run->nop_ns / 1e3);
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
        lanes[i].out->is_out = lanes[i].is_out;
    }
    run.can_spot = hone_gpu_can_spot(judge, plan->workload);
    int64_t start_ns = hone_now_ns();
    int code = prepare(&run, ret, err);
    hone_judge_cost(judge, "time.prepare", hone_now_ns() - start_ns);
    start_ns = hone_now_ns();
    while (code == 0 && hone_end_is_good(ret) && !is_done(&run, start_ns)) {
        code = one_round(&run, ret, err);
        hone_judge_progress(judge, "time", plan->workload->id, (int64_t)run.rounds.n,
                            (int64_t)plan->max_pairs, "");
    }
    if (code == 0 && hone_end_is_good(ret))
        code = check_ahead(&run, ret, err);
    hone_rounds_keep(judge, &run.rounds);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    *ret_report = (struct hone_workload_report){0};
    hone_rounds_report(judge, &run.rounds, ret_report);
    check_clocks(&run, ret);
    return hone_rounds_bound(judge, plan->workload, run.n_sets, ret_report, err);
}
