/* SPDX-License-Identifier: Apache-2.0 */
/* How two or three arms are compared in time.
 *
 * A *block* is what the judge puts a clock around: N calls of one arm over buffer sets that all
 * hold different, fresh content, poisoned outputs, every other arm frozen. A *round* is one block
 * of every arm; rounds go forward and backward in turn (A B, B A: ABBA), so that a drift cancels.
 * One round gives one log ratio per other arm; consecutive rounds of the same arm give the A/A
 * noise of this very run.
 *
 * N is chosen so that a block lasts long enough for the clock and for the hand-over (some tens of
 * microseconds) not to matter. If the sets that memory allows do not fill it, the block is made of
 * several hand-overs (at most HONE_TIMING_MAX_SUBS) with new content each: a set visited twice
 * would hold its answer already. The content is drawn for one hand-over of one arm, into memory of
 * the judge's own, and copied to the arena after the warm-up call: what can be read before the
 * clock runs can be computed before it runs, and how long the drawing took would tell the kind of
 * content. Declared-cold tasks have the caches flushed before each hand-over; declared-warm ones
 * keep the sets inside half of the last-level cache.
 *
 * After each block, with the arm frozen, outputs are looked at: unwritten elements in every set,
 * and random items of random sets against the oracle (random sets against the baseline's answer
 * where the oracle is dear). Now and then a round is played that does not count: the candidate's
 * block is looked at midway (audit.c), or has content of the other kinds that the checks have: a
 * kernel that knows when it is timed would be right for plain numbers alone. Such a round has the
 * other arms' blocks as all rounds have, so that their number tells nothing. What is timed is what
 * was verified. */
#include "tools/runner/judge/timing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/judge/arms.h"
#include "tools/runner/judge/load.h"
#include "workspace/base/clock.h"

#define LEAST_ROUNDS 5 /* of which most must grow, for a leak */
#define LEAK_BYTES   65536
#define COLD_BYTES   (128ll << 20)
#define ALIKE        2 /* arms whose calls differ by less get as many of them */
#define KIND_EVERY   8 /* rounds of each further kind, on average */
#define AUDIT_TRIES  32
#define FIRST_SETS   8
#define UNCOUNTED_NS                                                                               \
    (50 * HONE_NS_PER_MS) /* longer blocks of others are left out where none counts */

/* All hand-overs of a block; a further kind is one of them, and its block does not count. After the
 * last round that counts every hand-over is looked at midway until the arm lacks no look; one of a
 * block may be stopped for it, as before, the others run on and cannot notice. */
static int time_block(struct hone_timing_run *run, struct hone_timing_lane *lane,
                      enum hone_timing_kind kind, bool is_counted, struct hone_outcome *ret,
                      struct hone_err *err)
{
    struct hone_timing_subs times = {.n = 0};
    int64_t odd = hone_rng_below(&run->judge->rng, lane->n_subs);
    bool is_dense = kind == HONE_TIMING_AUDIT && run->further_until_ns > 0;
    for (int64_t sub = 0; sub < lane->n_subs; sub++) {
        int code = 0;
        run->may_stop = !is_dense || sub == odd;
        if (is_dense && sub > 0 && !hone_timing_lacks_audit(run, lane))
            break;
        if (!is_dense && (sub != odd || kind == HONE_TIMING_PLAIN))
            code = hone_timing_sub(run, lane, &times, ret, err);
        else
            code = kind == HONE_TIMING_AUDIT ? hone_timing_audit(run, lane, ret, err)
                                             : hone_timing_others(run, lane, ret, err);
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
    }
    if (is_counted)
        hone_timing_note(lane, &times);
    return 0;
}

/* The first calls of a block are slower (caches hold what the judge did), so arms that are alike
 * make as many calls, with as many warm-up calls: the quickest one's. */
static void plan_block(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t max_sets)
{
    bool is_alike = lane->call_ns < ALIKE * run->fastest_ns;
    double call_ns = is_alike ? run->fastest_ns : lane->call_ns;
    int64_t wanted = (int64_t)ceil((double)run->plan->block_ns / call_ns);
    lane->n_sets = hone_min_i64(hone_max_i64(wanted, 1), max_sets);
    double sub_ns = (double)lane->n_sets * call_ns;
    lane->n_subs = hone_min_i64(
        hone_max_i64((int64_t)ceil((double)run->plan->block_ns / sub_ns), 1), HONE_TIMING_MAX_SUBS);
    lane->out->n_batch = lane->n_sets * lane->n_subs;
}

/* How many different sets a block may use: bounded by memory, for warm tasks by half of the
 * last-level cache. */
static int64_t sets_allowed(const struct hone_judge *judge, const struct hone_workload *workload)
{
    int64_t set_bytes = hone_max_i64(hone_judge_set_bytes(judge, workload), 1);
    int64_t bytes =
        judge->task->is_cold ? COLD_BYTES : hone_max_i64(judge->machine.cache_bytes / 2, 4 << 20);
    int64_t n = hone_max_i64(bytes / set_bytes, 1);
    return hone_min_i64(n, hone_judge_max_sets(judge, workload) - 1);
}

/* ---- lanes ---- */

static void free_lane(struct hone_timing_lane *lane)
{
    free(lane->others);
    lane->others = NULL;
}

/* Which comes first is drawn, for each two rounds: one forward, one backward. Two arms take turns.
 */
static void draw_order(struct hone_timing_run *run)
{
    for (size_t i = 0; i < run->n_lanes; i++)
        run->order[i] = i;
    for (size_t i = run->n_lanes; i > 1 && run->n_lanes > 2; i--) {
        size_t j = (size_t)hone_rng_below(&run->judge->rng, (int64_t)i), kept = run->order[i - 1];
        run->order[i - 1] = run->order[j];
        run->order[j] = kept;
    }
}

/* Between rounds: the lanes that were lost go, and one beside the comparison that has had its
 * rounds. */
static void drop_lanes(struct hone_timing_run *run, bool is_over)
{
    for (size_t i = run->n_lanes; i-- > 1;) {
        bool is_lost = run->lanes[i].slot->is_lost,
             has_enough = is_over || run->rounds.n >= HONE_ASIDE_ROUNDS;
        if (!is_lost && !(hone_arm_is_aside(run->lanes[i].slot) && has_enough))
            continue;
        run->gone_ns += run->lanes[i].used_ns;
        free_lane(&run->lanes[i]);
        run->n_lanes--;
        memmove(run->lanes + i, run->lanes + i + 1, (run->n_lanes - i) * sizeof *run->lanes);
        if (is_lost)
            hone_rounds_drop(&run->rounds, i);
        else
            hone_rounds_set_aside(&run->rounds, i);
        draw_order(run);
    }
    for (size_t i = 0; i < run->n_lanes; i++)
        run->lanes[i].out = &run->rounds.lanes[i];
}

/* What is not charged to the budget: of the candidate, warm-up calls beyond measure; of guests,
 * everything. They would decide when it is spent. */
static int64_t uncharged_ns(const struct hone_timing_run *run)
{
    int64_t ns = run->gone_ns + run->lanes[0].over_ns;
    for (size_t i = 1; i < run->n_lanes; i++)
        if (!run->lanes[i].is_trusted)
            ns += run->lanes[i].used_ns;
    return ns;
}

/* ---- before the first round ---- */

static int ready(struct hone_timing_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_slot *slot = run->lanes[run->order[i]].slot;
        if (!slot->is_lost)
            code = hone_arm_settle(run->judge, slot, hone_judge_ready(run->judge, slot, ret, err),
                                   ret, err);
    }
    return code;
}

/* The trusted first: what a guest may take depends on what they took. */
static int estimate_all(struct hone_timing_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    run->fastest_ns = INFINITY;
    for (size_t i = 0; i < 2 * run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_timing_lane *lane = &run->lanes[run->order[i % run->n_lanes]];
        if (lane->is_trusted != (i < run->n_lanes) || lane->slot->is_lost)
            continue;
        code = hone_arm_settle(run->judge, lane->slot, hone_timing_estimate(run, lane, ret, err),
                               ret, err);
        if (code == 0 && hone_outcome_is_good(ret) && !lane->slot->is_lost)
            run->fastest_ns = fmin(run->fastest_ns, lane->call_ns);
    }
    return code;
}

static int prepare(struct hone_timing_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t allowed = hone_max_i64(sets_allowed(judge, run->plan->workload), 1), most = 1;
    draw_order(run);
    int code =
        hone_judge_set_frame(judge, run->plan->workload, hone_min_i64(allowed, FIRST_SETS), err);
    if (code == 0)
        code = ready(run, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = estimate_all(run, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    drop_lanes(run, false);
    for (size_t i = 0; i < run->n_lanes; i++) {
        plan_block(run, &run->lanes[i], allowed);
        most = hone_max_i64(most, run->lanes[i].n_sets);
    }
    code = hone_judge_set_frame(judge, run->plan->workload, most + 1, err);
    if (code == 0)
        code = ready(run, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    drop_lanes(run, false);
    hone_judge_fill(judge, most, HONE_DIST_NORMAL, judge->counter++); /* for warm-up calls */
    run->plain = hone_malloc((size_t)(most * judge->frame.layout.input_stride + 1));
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct hone_timing_lane *lane = &run->lanes[i];
        if (!hone_timing_has_kind(run, lane, HONE_TIMING_OTHERS))
            continue;
        lane->others = hone_malloc((size_t)(most * judge->frame.layout.input_stride + 1));
        hone_timing_draw_others(run, lane);
    }
    return 0;
}

/* ---- rounds ---- */

/* A block of one arm. In a round that does not count, arms that are not trusted have what it is
 * for; a dear one of the baseline is left out. */
static int play(struct hone_timing_run *run, struct hone_timing_lane *lane,
                enum hone_timing_kind kind, struct hone_outcome *ret, struct hone_err *err)
{
    double block_ns = lane->call_ns * (double)(lane->n_sets * lane->n_subs);
    if (kind != HONE_TIMING_PLAIN && lane->is_trusted && block_ns > UNCOUNTED_NS)
        return 0;
    enum hone_timing_kind mine = hone_timing_has_kind(run, lane, kind) ? kind : HONE_TIMING_PLAIN;
    int code = time_block(run, lane, mine, kind == HONE_TIMING_PLAIN, ret, err);
    return hone_arm_settle(run->judge, lane->slot, code, ret, err);
}

/* The candidate's process after a round: what one round needs once is no leak, what each adds is.
 */
static void note_memory(struct hone_timing_lane *lane)
{
    const struct hone_arena *arena = lane->slot->arena;
    if (arena == NULL || !arena->is_alive)
        return;
    int64_t bytes = hone_arena_private_bytes(arena), more = bytes - lane->held_bytes;
    if (bytes >= 0 && lane->held_bytes > 0) {
        lane->n_held++;
        lane->n_grown += more > 0;
        lane->grown_bytes += more;
    } else {
        lane->grown_calls = arena->life.n_calls;
    }
    lane->held_bytes = bytes;
}

static void report_memory(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    const struct hone_arena *arena = lane->slot->arena;
    if (arena == NULL || lane->n_held < LEAST_ROUNDS || lane->grown_bytes < LEAK_BYTES ||
        4 * lane->n_grown < 3 * lane->n_held)
        return;
    int64_t n_calls = hone_max_i64(arena->life.n_calls - lane->grown_calls, 1);
    hone_judge_doubt(run->judge,
                     "workload '%s': memory grew by %lld bytes a call, over %lld calls: the kernel "
                     "does not free what it takes",
                     run->plan->workload->id, (long long)(lane->grown_bytes / n_calls),
                     (long long)n_calls);
}

static int one_round(struct hone_timing_run *run, enum hone_timing_kind kind,
                     struct hone_outcome *ret, struct hone_err *err)
{
    bool is_backward = (run->n_played % 2 == 1) != run->plan->is_reversed;
    if (run->n_played % 2 == 0)
        draw_order(run);
    run->n_played++;
    hone_place_move(&run->place, (uint64_t)hone_rng_below(&run->judge->rng, INT32_MAX));
    int code = 0;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++)
        code = play(run, &run->lanes[run->order[is_backward ? run->n_lanes - 1 - i : i]], kind, ret,
                    err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    note_memory(&run->lanes[0]);
    run->rounds.n += kind == HONE_TIMING_PLAIN;
    drop_lanes(run, false);
    return 0;
}

static enum hone_timing_kind draw_kind(struct hone_timing_run *run)
{
    enum hone_timing_kind kind =
        (enum hone_timing_kind)hone_rng_below(&run->judge->rng, KIND_EVERY);
    bool is_had = false;
    for (size_t i = 0; i < run->n_lanes && kind < HONE_TIMING_N_KINDS; i++)
        is_had = is_had || hone_timing_has_kind(run, &run->lanes[i], kind);
    return is_had ? kind : HONE_TIMING_PLAIN;
}

/* Those that the rng have not given yet. */
static int further_rounds(struct hone_timing_run *run, struct hone_outcome *ret,
                          struct hone_err *err)
{
    run->further_until_ns =
        hone_now_ns() + hone_max_i64(run->plan->budget_ns / 2, HONE_NS_PER_S / 2);
    int64_t end_ns = hone_now_ns() + hone_rounds_most_ns(run->plan);
    if (run->plan->end_ns > 0)
        end_ns = hone_min_i64(end_ns, run->plan->end_ns);
    int code = 0;
    for (int i = 0;
         i < AUDIT_TRIES && code == 0 && hone_outcome_is_good(ret) &&
         hone_timing_lacks_audits(run) && (hone_now_ns() < end_ns || run->lanes[0].n_audits == 0);
         i++)
        code = one_round(run, HONE_TIMING_AUDIT, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && hone_now_ns() >= end_ns &&
        hone_timing_lacks_audits(run))
        hone_judge_doubt(run->judge,
                         "workload '%s': the time was up before calls under way were looked at "
                         "often enough (%lld times)",
                         run->plan->workload->id, (long long)run->lanes[0].n_audits);
    while (code == 0 && hone_outcome_is_good(ret) && hone_timing_lacks_others(run))
        code = one_round(run, HONE_TIMING_OTHERS, ret, err);
    return code;
}

/* ---- after the last ---- */

/* More CPU time than all cores could give in the wall time: one of the clocks was deceived. */
static void check_clocks(const struct hone_timing_run *run, const struct hone_timing_lane *lane,
                         struct hone_outcome *ret)
{
    double wall = lane->wall_ns, cpu = lane->cpu_ns;
    double room = 1.3 * wall * (double)run->judge->machine.n_cores + 5e6 * (double)lane->n_timed;
    if (cpu > room)
        hone_outcome_set(
            ret, HONE_REASON_CLOCKS_DISAGREE,
            "%.3g ms of CPU time in %.3g ms on %lld cores: work goes on after the call", cpu / 1e6,
            wall / 1e6, (long long)run->judge->machine.n_cores);
}

static void init(struct hone_timing_run *run)
{
    hone_rounds_init(&run->rounds, run->judge, run->plan);
    hone_place_init(&run->place);
    run->rounds.disturbed = HONE_TIMING_DISTURBED;
    run->n_lanes = run->rounds.n_lanes;
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct hone_timing_lane *lane = &run->lanes[i];
        lane->out = &run->rounds.lanes[i];
        lane->slot = lane->out->slot;
        lane->is_trusted = hone_arm_is_trusted(lane->slot);
        lane->audit_scale = 1;
    }
}

static int play_all(struct hone_timing_run *run, struct hone_load_meter *load,
                    struct hone_outcome *ret, struct hone_err *err)
{
    int64_t start_ns = hone_now_ns();
    int code = prepare(run, ret, err);
    hone_judge_cost(run->judge, "time.prepare", hone_now_ns() - start_ns);
    int64_t rounds_ns = hone_now_ns();
    start_ns = rounds_ns - uncharged_ns(run);
    hone_load_begin(load, run->judge);
    while (code == 0 && hone_outcome_is_good(ret) &&
           !hone_rounds_done(&run->rounds, start_ns + uncharged_ns(run))) {
        code = one_round(run, draw_kind(run), ret, err);
        hone_load_round(load);
        hone_judge_progress(run->judge, "time", run->plan->workload->id, (int64_t)run->rounds.n,
                            (int64_t)run->plan->max_pairs, "");
    }
    hone_judge_cost(run->judge, "time.rounds", hone_now_ns() - rounds_ns);
    int64_t audits_ns = hone_now_ns();
    drop_lanes(run, true);
    if (code == 0 && hone_outcome_is_good(ret))
        code = further_rounds(run, ret, err);
    hone_judge_cost(run->judge, "time.audits", hone_now_ns() - audits_ns);
    if (code == 0 && hone_outcome_is_good(ret))
        report_memory(run, &run->lanes[0]);
    for (size_t i = 1; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_outcome end = HONE_OUTCOME_INIT;
        if (!run->lanes[i].is_trusted)
            check_clocks(run, &run->lanes[i], &end);
        code = hone_arm_settle(run->judge, run->lanes[i].slot, 0, &end, err);
    }
    drop_lanes(run, false);
    return code;
}

static int report_run(struct hone_timing_run *run, struct hone_load_meter *load,
                      struct hone_workload_report *ret_report, struct hone_outcome *ret,
                      struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    hone_rounds_report(judge, &run->rounds, ret_report);
    hone_load_end(load, judge, &run->rounds, ret_report);
    hone_rounds_report_aside(judge, &run->rounds, ret_report);
    check_clocks(run, &run->lanes[0], ret);
    int code =
        hone_rounds_bound(judge, run->plan->workload, judge->frame.layout.n_sets, ret_report, err);
    return code == 0 && hone_outcome_is_good(ret) ? hone_timing_yardstick(run, ret_report, ret, err)
                                                  : code;
}

int hone_cpu_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                  struct hone_workload_report *ret_report, struct hone_outcome *ret,
                  struct hone_err *err)
{
    struct hone_timing_run run = {.judge = judge, .plan = plan};
    int64_t steal[2] = {0}, total[2] = {0};
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    init(&run);
    hone_machine_steal(&steal[0], &total[0]);
    struct hone_load_meter load;
    int code = play_all(&run, &load, ret, err);
    hone_rounds_keep(judge, &run.rounds);
    if (code == 0 && hone_outcome_is_good(ret)) {
        hone_machine_steal(&steal[1], &total[1]);
        int64_t ticks = total[1] - total[0];
        *ret_report = (struct hone_workload_report){
            .steal_percent = ticks > 0 ? 100.0 * (double)(steal[1] - steal[0]) / (double)ticks : 0};
        code = report_run(&run, &load, ret_report, ret, err);
    }
    hone_place_done(&run.place);
    free(run.flush);
    free(run.plain);
    for (size_t i = 0; i < run.n_lanes; i++)
        free_lane(&run.lanes[i]);
    return code;
}
