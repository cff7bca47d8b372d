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
 * several hand-overs (at most MAX_SUBS) with new content each: a set visited twice would hold its
 * answer already. The content is drawn for one hand-over of one arm, into memory of the judge's
 * own, and copied to the arena after the warm-up call: what can be read before the clock runs can
 * be computed before it runs, and how long the drawing took would tell the kind of content.
 * Declared-cold tasks have the caches flushed before each hand-over; declared-warm ones keep the
 * sets inside half of the last-level cache.
 *
 * After each block, with the arm frozen, outputs are looked at: unwritten elements in every set,
 * and random items of random sets against the oracle (random sets against the baseline's answer
 * where the oracle is dear). Now and then a round is played that does not count: the candidate's
 * block is looked at midway (audit.c), or has content of the other kinds that the checks have: a
 * kernel that knows when it is timed would be right for plain numbers alone. Such a round has the
 * other arms' blocks as all rounds have, so that their number tells nothing. What is timed is what
 * was verified. */
#include "tools/runner/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/audit.h"
#include "tools/runner/place.h"
#include "tools/runner/rounds.h"
#include "tools/runner/stats.h"
#include "workspace/base/clock.h"

#define MAX_SUBS   8
#define COLD_BYTES (128ll << 20)
#define FLUSH_MAX  (256ll << 20)
#define WARM_UP_NS                                                                                 \
    (2 * HONE_NS_PER_MS) /* where no arm is faster nobody gets a warm-up call per block */
#define WARM_UP_MOST_NS (20 * HONE_NS_PER_MS) /* slower arms never do */
#define ALIKE           2 /* arms whose calls differ by less get as many of them */
#define SPOT_ITEMS      64
#define BASELINE_ITEMS  512 /* that could excuse a candidate: bad luck must not accuse */
#define SPOT_SETS       8
#define LIKE_SETS       4
#define STEPS_NS                                                                                   \
    (30 * HONE_NS_PER_MS) /* iterated tasks: dearer references are asked once in a while */
#define DISTURBED     1.25
#define KIND_EVERY    8 /* rounds of each further kind, on average */
#define AUDIT_LEAST   6 /* at the end there were as many that saw a block half done */
#define AUDIT_FEW     4 /* where rounds are dear */
#define AUDIT_TRIES   32
#define CHANGES_LEAST 16   /* sets, and as many had other inputs by then */
#define NEAR_LEAST    10   /* quiet looks that changed a call right ahead, where... */
#define NEAR_NS       60e3 /* ...calls are as long; shorter ones are over before */
#define FEW_SETS      4    /* where there is not always one to change */
#define AUDIT_SOONER  0.7
#define OTHERS_LEAST  4                     /* blocks with other content */
#define WHOLE_NS      (30 * HONE_NS_PER_MS) /* of the oracle, for one set of theirs */
#define LOOK_FROM     0.1
#define LOOK_TO       0.8
#define CHANGE_NS     20e6 /* of the baseline's calls, which answer changed sets as well */
#define UNCOUNTED_NS                                                                               \
    (50 * HONE_NS_PER_MS) /* longer blocks of others are left out where none counts */
#define WARM_TIMES   10   /* a warm-up call may take as many times the estimate, and... */
#define WARM_NS      (20 * HONE_NS_PER_MS) /* ...this; what is beyond buys no end */
#define WARM_MOST_NS HONE_NS_PER_S

struct lane { /* one arm in a comparison */
    struct hone_slot *slot;
    struct hone_lane *out; /* where its times go */
    double call_ns;        /* estimate */
    int64_t n_sets, n_subs;
    size_t n;
    double wall_ns, cpu_ns; /* of all hand-overs that were timed */
    int64_t n_timed;
};

struct sub_times { /* of the hand-overs of a block */
    double wall[MAX_SUBS], cpu[MAX_SUBS];
    size_t n;
};

enum kind { PLAIN, AUDIT, OTHERS, N_KINDS }; /* of a round, and of the candidate's block in it */

struct run {
    struct hone_judge *judge;
    const struct hone_timing_plan *plan;
    struct lane lanes[HONE_RUNNER_MAX_ARMS];
    size_t n_lanes;
    struct hone_rounds rounds;
    struct hone_place place;
    char *plain, *others; /* content, in the layout of the inputs' file; others: the candidate's */
    enum hone_distribution other_dists[HONE_BUFFERS_MAX_SETS];
    int64_t n_played;   /* rounds, counted or not */
    int64_t over_ns;    /* that the candidate's warm-up calls took beyond what they may */
    int64_t n_dealt;    /* kinds of other content */
    int64_t n_others;   /* blocks with other content */
    int64_t n_audits;   /* that saw a block half done */
    int64_t n_changes;  /* sets that they changed */
    int64_t n_near;     /* of them: a call or two ahead, while the arena ran */
    double audit_scale; /* of the expected time; less while blocks were over before the look */
    int64_t n_uneven;   /* of these in a row: hone_audit_end */
    double fastest_ns;  /* estimate of the quickest arm's call */
    double oracle_ns;   /* what the last full reference of an iterated task cost */
    char *flush;
    int64_t flush_bytes;
};

static void flush_caches(struct run *run)
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

/* One hand-over: sets 0 .. n_sets - 1 are filled and poisoned already. */
static int hand_over(struct run *run, struct lane *lane, int64_t n_calls, int64_t first,
                     struct hone_look *look, struct hone_call_time *ret, struct hone_end *ret_end,
                     struct hone_err *err)
{
    int64_t expected = (int64_t)(lane->call_ns * (double)n_calls);
    struct hone_calls calls = {.first_set = first,
                               .n_rotate = lane->n_sets,
                               .n_calls = n_calls,
                               .look = look,
                               .place = &run->place};
    calls.timeout_ns = run->judge->call_timeout_ns + 50 * expected;
    int code = hone_arena_call(lane->slot->arena, &calls, ret, err);
    *ret_end = lane->slot->arena->end;
    return code;
}

static int check_set(struct run *run, struct lane *lane, int64_t set, struct hone_end *ret)
{
    struct hone_judge *judge = run->judge;
    hone_judge_check_canaries(judge, lane->slot, set, ret);
    for (size_t o = 0; o < judge->task->n_outputs && hone_end_is_good(ret); o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        if (!hone_dtype_is_float(dtype))
            continue; /* an integer may well be the poison's bits; the items below decide */
        int64_t count = 0;
        if (hone_find_unwritten(dtype, hone_judge_output(judge, lane->slot, set, o), NULL,
                                hone_judge_output_elements(judge, o), &count) >= 0)
            hone_end_set(ret, HONE_REASON_UNWRITTEN,
                         "output '%s' of a timed call has %lld unwritten elements",
                         judge->task->outputs[o].name, (long long)count);
    }
    return 0;
}

/* Where the oracle is too dear for every block: the baseline, which it has been held to, answers
 * some of the same sets. It writes to outputs that have been checked already. */
static int check_like_baseline(struct run *run, struct lane *lane, int64_t *ret_set,
                               struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    if (baseline == NULL || baseline == lane->slot)
        return 0;
    int64_t n_sets = hone_min_i64(lane->n_sets, LIKE_SETS);
    for (int64_t i = 0; i < n_sets && hone_end_is_good(ret); i++) {
        *ret_set = hone_dice_below(&judge->dice, lane->n_sets);
        int code = hone_judge_compare_like(judge, lane->slot, baseline, *ret_set, ret, err);
        if (code < 0)
            return code;
    }
    return 0;
}

/* *ret_set: the last one that was looked at. */
static int check_reference(struct run *run, struct lane *lane, int64_t *ret_set,
                           struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    if (judge->task->steps == NULL && !judge->task->is_oracle_naive_double) {
        int code = 0;
        int64_t n_sets = hone_min_i64(lane->n_sets, SPOT_SETS);
        for (int64_t i = 0; i < n_sets && code == 0 && hone_end_is_good(ret); i++) {
            *ret_set = i == 0 ? lane->n_sets - 1 : hone_dice_below(&judge->dice, lane->n_sets);
            code =
                hone_judge_spot_check(judge, lane->slot, *ret_set, SPOT_ITEMS / n_sets, ret, err);
        }
        return code;
    }
    if (run->oracle_ns > STEPS_NS && hone_dice_below(&judge->dice, 8) != 0)
        return check_like_baseline(run, lane, ret_set, ret, err);
    struct hone_compare compare;
    int64_t start = hone_now_ns();
    *ret_set = hone_dice_below(&judge->dice, lane->n_sets);
    int code = hone_judge_compare(judge, lane->slot, *ret_set, 0, &compare, ret, err);
    run->oracle_ns = (double)(hone_now_ns() - start);
    return code;
}

static int check_block(struct run *run, struct lane *lane, struct hone_end *ret,
                       struct hone_err *err)
{
    for (int64_t set = 0; set < lane->n_sets && hone_end_is_good(ret); set++)
        check_set(run, lane, set, ret);
    if (!hone_end_is_good(ret))
        return 0;
    int64_t set = 0;
    int code = check_reference(run, lane, &set, ret, err);
    return code == 0 && ret->reason == HONE_REASON_WRONG_VALUE
               ? hone_judge_blame(run->judge, lane->slot, set, ret, err)
               : code;
}

/* A call on the last set of the frame, which is for this alone, while the other sets hold what some
 * arm has had already. A candidate that takes its time here decides when the budget is spent: what
 * is beyond measure is not charged to the budget, and ends the comparison when it is as much again.
 */
static int warm_up(struct run *run, struct lane *lane, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_call_time time = {0};
    if (judge->task->is_cold || run->fastest_ns >= WARM_UP_NS || lane->call_ns >= WARM_UP_MOST_NS)
        return 0;
    int code = hand_over(run, lane, 1, judge->frame.layout.n_sets - 1, NULL, &time, ret, err);
    if (lane != &run->lanes[0] || code < 0 || !hone_end_is_good(ret))
        return code;
    int64_t may_ns = WARM_TIMES * (int64_t)lane->call_ns + WARM_NS;
    run->over_ns += hone_max_i64(time.wall_ns - may_ns, 0);
    if (run->over_ns > hone_max_i64(run->plan->budget_ns, WARM_MOST_NS))
        hone_end_set(ret, HONE_REASON_TIMEOUT,
                     "calls before the clock runs took %.3g s more than they may, the last one "
                     "%.3g ms; a timed call takes %.3g ms",
                     (double)run->over_ns / 1e9, (double)time.wall_ns / 1e6, lane->call_ns / 1e6);
    return 0;
}

static void draw_set(struct run *run, char *content, int64_t set, enum hone_distribution dist)
{
    struct hone_judge *judge = run->judge;
    const struct hone_layout *layout = &judge->frame.layout;
    uint64_t counter = judge->counter++;
    for (size_t i = 0; i < judge->task->n_inputs; i++)
        hone_gen_input(judge->gen, judge->task, run->plan->workload, i, dist, counter,
                       content + set * layout->input_stride + layout->at[i]);
}

/* Every second one is of those that few elements show, in turn. */
static enum hone_distribution other_distribution(struct run *run)
{
    static const enum hone_distribution thin[] = {
        HONE_DIST_SPIKES, HONE_DIST_NEARLY, HONE_DIST_RARE, HONE_DIST_MIXTURE, HONE_DIST_ONE_OTHER};
    struct hone_judge *judge = run->judge;
    int64_t n = run->n_dealt++;
    enum hone_distribution dealt = thin[(size_t)(n / 2) % HONE_COUNTOF(thin)];
    if (n % 2 == 0 && !judge->is_dist_left_out[dealt])
        return dealt;
    return hone_judge_any_distribution(judge);
}

/* Beforehand: after the block that had the last. */
static void draw_other(struct run *run, int64_t set)
{
    run->other_dists[set] = other_distribution(run);
    draw_set(run, run->others, set, run->other_dists[set]);
}

static void draw_others(struct run *run)
{
    for (int64_t set = 0; set < run->lanes[0].n_sets; set++)
        draw_other(run, set);
}

/* The same work whatever the content is. */
static void put_sets(struct run *run, struct lane *lane, bool is_other)
{
    struct hone_judge *judge = run->judge;
    for (int64_t set = 0; set < lane->n_sets; set++) {
        hone_judge_put_set(judge, set, is_other ? run->others : run->plain,
                           is_other ? run->other_dists[set] : HONE_DIST_NORMAL);
        bool is_nan = hone_dice_below(&judge->dice, 2) == 0; /* checks have both too */
        hone_judge_poison(judge, lane->slot, set, is_nan ? HONE_POISON_NAN : HONE_POISON_LARGE);
    }
    if (judge->task->is_cold)
        flush_caches(run);
}

/* What happens in the middle of a hand-over: every block of every arm is looked at, so that nobody
 * can tell by that what it is for. */
struct midway {
    struct lane *lane;
    struct hone_audit *audit; /* NULL: a block that counts */
    bool is_quiet;
};

static void look_midway(void *arg)
{
    struct midway *midway = arg;
    if (midway->audit != NULL && midway->is_quiet)
        hone_audit_quiet(midway->audit);
    else if (midway->audit != NULL)
        hone_audit_look(midway->audit);
}

static double call_ns_of(const struct lane *lane)
{
    return lane->n > 0 ? hone_quantile(lane->out->wall, lane->n, 0) : lane->call_ns;
}

static struct hone_look plan_look(struct run *run, struct lane *lane, struct midway *midway)
{
    double n = (double)lane->n_sets, last = LOOK_TO;
    if (midway->audit != NULL && midway->audit->is_near) /* during the last call there is no next */
        last = fmin(last, (n - 1) / n);
    double part =
        LOOK_FROM + (last - LOOK_FROM) * (double)hone_dice_below(&run->judge->dice, 1000) / 1000;
    double scale = midway->audit != NULL ? run->audit_scale : 1;
    return (struct hone_look){.after_ns =
                                  (int64_t)(part * (double)lane->n_sets * call_ns_of(lane) * scale),
                              .is_quiet = midway->audit == NULL || midway->is_quiet,
                              .fn = look_midway,
                              .arg = midway};
}

/* Draw, warm up, copy, call. */
static int fresh_hand_over(struct run *run, struct lane *lane, bool is_other, struct midway *midway,
                           struct hone_look *ret_look, struct hone_call_time *ret_time,
                           struct hone_end *ret, struct hone_err *err)
{
    for (int64_t set = 0; set < lane->n_sets;
         set++) /* also where it is not wanted: it takes time */
        draw_set(run, run->plain, set, HONE_DIST_NORMAL);
    *ret_look = plan_look(run, lane, midway);
    int code = warm_up(run, lane, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    put_sets(run, lane, is_other);
    return hand_over(run, lane, lane->n_sets, 0, ret_look, ret_time, ret, err);
}

static int time_sub(struct run *run, struct lane *lane, struct sub_times *times,
                    struct hone_end *ret, struct hone_err *err)
{
    struct hone_call_time time = {0};
    struct midway midway = {.lane = lane};
    struct hone_look look;
    int code = fresh_hand_over(run, lane, false, &midway, &look, &time, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    lane->wall_ns += (double)time.wall_ns;
    lane->cpu_ns += (double)time.cpu_ns;
    lane->n_timed++;
    times->wall[times->n] = (double)time.wall_ns;
    times->cpu[times->n++] = (double)time.cpu_ns;
    return check_block(run, lane, ret, err);
}

/* A block is worth its median hand-over: where every core has a thread, one in twenty-five waits
 * 3 ms for a turn (0011), and a mean of eight is half of that. */
static void note_block(struct lane *lane, const struct sub_times *times)
{
    double n_calls = (double)lane->n_sets, wall = hone_median(times->wall, times->n) / n_calls,
           cpu = hone_median(times->cpu, times->n) / n_calls;
    lane->out->wall[lane->n] = wall;
    lane->out->cpu[lane->n] = cpu;
    /* Other work on the machine shows as wall time without CPU time. */
    lane->out->load[lane->n] = wall / fmax(cpu, 1);
    lane->n++;
}

/* Is this set wrong, and not by the distribution's fault? */
static int check_other(struct run *run, struct lane *lane, int64_t set, struct hone_end *ret,
                       struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    int code = check_set(run, lane, set, ret);
    if (code < 0 || !hone_end_is_good(ret) || baseline == NULL)
        return code;
    if (judge->task->steps != NULL || judge->task->is_oracle_naive_double)
        return hone_judge_compare_like(judge, lane->slot, baseline, set, ret, err);
    code =
        hone_compare_needs_all(judge->frame.dists[set])
            ? hone_judge_check_whole(judge, lane->slot, set, WHOLE_NS, ret, err)
            : hone_judge_spot_check(judge, lane->slot, set,
                                    hone_max_i64(SPOT_ITEMS / lane->n_sets, SPOT_SETS), ret, err);
    if (code < 0 || hone_end_is_good(ret))
        return code;
    struct hone_end end = HONE_END_INIT, mine = *ret;
    code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_end_is_good(&end))
        return code;
    code = hone_judge_call_one(judge, baseline, set, 0, err);
    if (code == 0 && baseline->arena->is_alive)
        code = hone_judge_spot_check(judge, baseline, set, BASELINE_ITEMS, ret, err);
    if (code == 0)
        *ret = hone_end_is_good(ret) ? mine : (struct hone_end)HONE_END_INIT;
    return code;
}

/* A hand-over whose sets hold content of all kinds. Nothing tells it from the others before its
 * inputs are read. */
static int time_others(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct lane *lane = &run->lanes[0];
    struct midway midway = {.lane = lane};
    struct hone_call_time time = {0};
    struct hone_look look;
    int code = fresh_hand_over(run, lane, true, &midway, &look, &time, ret, err);
    for (int64_t set = 0; set < lane->n_sets && code == 0 && hone_end_is_good(ret); set++) {
        code = check_other(run, lane, set, ret, err);
        if (code == 0)
            code = hone_judge_blame(run->judge, lane->slot, set, ret, err);
    }
    run->n_others++;
    draw_others(run);
    return code;
}

static struct lane *baseline_lane(struct run *run)
{
    struct hone_slot *baseline = hone_judge_slot(run->judge, "baseline");
    for (size_t i = 1; i < run->n_lanes; i++) {
        if (run->lanes[i].slot == baseline)
            return &run->lanes[i];
    }
    return NULL;
}

static int is_changed_right(struct run *run, int64_t set, bool is_other, struct hone_end *ret,
                            struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct lane *lane = &run->lanes[0], *theirs = baseline_lane(run);
    return theirs == NULL || is_other
               ? check_other(run, lane, set, ret, err)
               : hone_judge_compare_like(judge, lane->slot, theirs->slot, set, ret, err);
}

/* A set whose inputs were changed before its call: a wrong answer that becomes another one, and
 * right, when the call is made again was made ahead. All else is judged like other content: a look
 * at some items may miss what the look before met. */
static int check_changed(struct run *run, int64_t set, bool is_other, struct hone_end *ret,
                         struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct lane *lane = &run->lanes[0];
    int code = is_changed_right(run, set, is_other, ret, err);
    if (code < 0 || hone_end_is_good(ret))
        return code;
    *ret = (struct hone_end)HONE_END_INIT;
    void **before = hone_judge_keep(run->judge, lane->slot, set, pool);
    hone_judge_poison(run->judge, lane->slot, set, HONE_POISON_NAN);
    code = hand_over(run, lane, 1, set, NULL, NULL, ret, err);
    bool is_same = code == 0 && hone_judge_is_kept(run->judge, lane->slot, set, before);
    if (code == 0 && hone_end_is_good(ret) && !is_same)
        code = is_changed_right(run, set, is_other, ret, err);
    if (code == 0 && hone_end_is_good(ret) && !is_same) {
        hone_end_set(ret, HONE_REASON_TAMPERING,
                     "the content of a call that was not made yet was changed, and the answer is "
                     "not that of the new one, until it is made again: it was made, or judged, "
                     "ahead");
        return 0;
    }
    if (code < 0 || !lane->slot->arena->is_alive)
        return code;
    *ret = (struct hone_end)HONE_END_INIT;
    code = check_other(run, lane, set, ret, err);
    return code == 0 ? hone_judge_blame(run->judge, lane->slot, set, ret, err) : code;
}

static int end_audit(struct run *run, const struct midway *midway, const struct hone_look *look,
                     const struct hone_call_time *time, struct hone_end *ret, struct hone_err *err)
{
    const struct lane *lane = &run->lanes[0];
    const struct hone_audit *audit = midway->audit;
    double load = (double)time->wall_ns / fmax((double)time->cpu_ns, 1);
    bool is_quiet_machine =
        lane->n > 0 && load <= DISTURBED * hone_quantile(lane->out->load, lane->n, 0);
    int code = 0;
    hone_audit_end(audit, ret);
    for (int64_t i = 0; i < audit->n_changed && code == 0 && hone_end_is_good(ret); i++)
        code = check_changed(run, audit->changed[i], audit->is_other[i], ret, err);
    if (code == 0 && hone_end_is_good(ret) && !midway->is_quiet && is_quiet_machine)
        hone_audit_shares(audit, (double)look->cpu_ns / (double)hone_max_i64(time->cpu_ns, 1),
                          &run->n_uneven);
    return code;
}

static bool can_be_near(const struct run *run)
{
    return run->lanes[0].n_sets >= 2 && call_ns_of(&run->lanes[0]) >= NEAR_NS;
}

/* A hand-over that is looked at midway: audit.h. It cannot know which one it is. */
static int audit(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct lane *lane = &run->lanes[0];
    const struct lane *theirs = baseline_lane(run);
    double their_ns = theirs != NULL ? theirs->call_ns : 0;
    struct hone_audit audit = {
        .judge = run->judge,
        .slot = lane->slot,
        .n_sets = lane->n_sets,
        .content = run->plain,
        .others = run->others,
        .other_dists = run->other_dists,
        .call_ns = call_ns_of(lane),
        .kept_set = -1,
        .max_changed = (int64_t)fmin(fmax(CHANGE_NS / fmax(their_ns, 1), 1), HONE_AUDIT_CHANGED)};
    struct midway midway = {
        .lane = lane, .audit = &audit, .is_quiet = hone_dice_below(&run->judge->dice, 3) != 0};
    int64_t far_of_4 = run->n_near < NEAR_LEAST ? 1 : 2;
    audit.is_near = can_be_near(run) && hone_dice_below(&run->judge->dice, 4) >= far_of_4;
    struct hone_call_time time = {0};
    struct hone_look look;
    int code = fresh_hand_over(run, lane, false, &midway, &look, &time, ret, err);
    if (code == 0 && lane->slot->arena->is_alive)
        hone_audit_settle(&audit);
    bool saw_half = look.was_early && audit.n_done < audit.n_sets && !audit.is_late;
    run->audit_scale = saw_half ? 1 : AUDIT_SOONER * run->audit_scale;
    run->n_changes += audit.is_late ? 0 : audit.n_changed;
    run->n_near += midway.is_quiet && audit.is_near && audit.kept_set < 0 && !audit.is_late
                       ? audit.n_changed
                       : 0;
    for (int64_t i = 0; i < audit.n_changed; i++)
        draw_other(run, audit.changed[i]);
    if (code < 0 || !hone_end_is_good(ret) || audit.is_late)
        return code;
    run->n_audits += saw_half && (audit.n_changed > 0 || lane->n_sets < FEW_SETS);
    if (look.was_early)
        code = end_audit(run, &midway, &look, &time, ret, err);
    return code == 0 && hone_end_is_good(ret) ? check_block(run, lane, ret, err) : code;
}

/* All hand-overs of a block; a further kind is one of them, and its block does not count. */
static int time_block(struct run *run, struct lane *lane, enum kind kind, bool is_counted,
                      struct hone_end *ret, struct hone_err *err)
{
    struct sub_times times = {.n = 0};
    int64_t odd = hone_dice_below(&run->judge->dice, lane->n_subs);
    for (int64_t sub = 0; sub < lane->n_subs; sub++) {
        int code = 0;
        if (sub != odd || kind == PLAIN)
            code = time_sub(run, lane, &times, ret, err);
        else
            code = kind == AUDIT ? audit(run, ret, err) : time_others(run, ret, err);
        if (code < 0 || !hone_end_is_good(ret))
            return code;
    }
    if (is_counted)
        note_block(lane, &times);
    return 0;
}

/* First guess of a call's time: single calls, then a few, until the hand-over does not matter; with
 * other content each time, or kept answers would make it. */
static int estimate(struct run *run, struct lane *lane, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t room = judge->frame.layout.n_sets;
    double best = INFINITY;
    lane->n_sets = room;
    for (int64_t n = 1, tries = 0; tries < 8; tries++) {
        struct hone_call_time time = {0};
        hone_judge_fill_many(judge, judge->counter, room);
        judge->counter += (uint64_t)room;
        lane->call_ns = isfinite(best) ? best : 0;
        int code = hand_over(run, lane, n, 0, NULL, &time, ret, err);
        if (code < 0 || !hone_end_is_good(ret))
            return code;
        best = fmin(best, (double)time.wall_ns / (double)n);
        /* the first may make tables or threads */
        if (time.wall_ns > 2 * HONE_NS_PER_MS && tries >= 1)
            break;
        n = hone_min_i64(n * 4, 4096);
    }
    lane->call_ns = fmax(best, 1);
    return 0;
}

/* The first calls of a block are slower (caches hold what the judge did), so arms that are alike
 * make as many calls, with as many warm-up calls: the quickest one's. */
static void plan_block(struct run *run, struct lane *lane, int64_t max_sets)
{
    bool is_alike = lane->call_ns < ALIKE * run->fastest_ns;
    double call_ns = is_alike ? run->fastest_ns : lane->call_ns;
    int64_t wanted = (int64_t)ceil((double)run->plan->block_ns / call_ns);
    lane->n_sets = hone_min_i64(hone_max_i64(wanted, 1), max_sets);
    double sub_ns = (double)lane->n_sets * call_ns;
    lane->n_subs = hone_min_i64(
        hone_max_i64((int64_t)ceil((double)run->plan->block_ns / sub_ns), 1), MAX_SUBS);
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

static bool has_kind(const struct run *run, enum kind kind)
{
    return !hone_judge_is_tier(run->judge, "screen") &&
           (kind != AUDIT || run->lanes[0].n_sets >= 2);
}

static int prepare(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t allowed = hone_max_i64(sets_allowed(judge, run->plan->workload), 1);
    int64_t first = hone_min_i64(allowed, 8);
    int code = hone_judge_set_frame(judge, run->plan->workload, first, err);
    int64_t most = 1;
    run->fastest_ns = INFINITY;
    for (size_t i = 0; i < run->n_lanes && code == 0; i++) {
        struct lane *lane = &run->lanes[i];
        code = hone_judge_ready(judge, lane->slot, ret, err);
        if (code == 0 && hone_end_is_good(ret))
            code = estimate(run, lane, ret, err);
        if (code < 0 || !hone_end_is_good(ret)) {
            if (i > 0 && code == 0) /* not the candidate's fault */
                return hone_fail(err, HONE_E_TARGET, "arm '%s' failed: %s", lane->slot->name,
                                 ret->detail);
            return code;
        }
        run->fastest_ns = fmin(run->fastest_ns, lane->call_ns);
    }
    for (size_t i = 0; i < run->n_lanes && code == 0; i++) {
        plan_block(run, &run->lanes[i], allowed);
        most = hone_max_i64(most, run->lanes[i].n_sets);
    }
    if (code == 0)
        code = hone_judge_set_frame(judge, run->plan->workload, most + 1, err);
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_end_is_good(ret); i++)
        code = hone_judge_ready(judge, run->lanes[i].slot, ret, err);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    hone_judge_fill(judge, most, HONE_DIST_NORMAL, judge->counter++); /* for warm-up calls */
    run->plain = hone_malloc((size_t)(most * judge->frame.layout.input_stride + 1));
    run->others = hone_malloc((size_t)(most * judge->frame.layout.input_stride + 1));
    if (has_kind(run, OTHERS))
        draw_others(run);
    return 0;
}

static int one_round(struct run *run, enum kind kind, struct hone_end *ret, struct hone_err *err)
{
    bool is_backward = (run->n_played % 2 == 1) != run->plan->is_reversed;
    run->n_played++;
    hone_place_move(&run->place, (uint64_t)hone_dice_below(&run->judge->dice, INT32_MAX));
    for (size_t i = 0; i < run->n_lanes; i++) {
        struct lane *lane = &run->lanes[is_backward ? run->n_lanes - 1 - i : i];
        bool is_candidate = lane == &run->lanes[0];
        double block_ns = lane->call_ns * (double)(lane->n_sets * lane->n_subs);
        if (kind != PLAIN && !is_candidate && block_ns > UNCOUNTED_NS)
            continue;
        int code = time_block(run, lane, is_candidate ? kind : PLAIN, kind == PLAIN, ret, err);
        if (code < 0)
            return code;
        if (!hone_end_is_good(ret)) {
            if (!is_candidate)
                return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                                 lane->slot->name, ret->detail);
            return 0;
        }
    }
    run->rounds.n += kind == PLAIN;
    return 0;
}

static enum kind draw_kind(struct run *run)
{
    enum kind kind = (enum kind)hone_dice_below(&run->judge->dice, KIND_EVERY);
    return kind < N_KINDS && has_kind(run, kind) ? kind : PLAIN;
}

static bool lacks_audits(const struct run *run, int64_t deadline_ns)
{
    int64_t least = hone_now_ns() < deadline_ns ? AUDIT_LEAST : AUDIT_FEW;
    bool lacks_changes = run->lanes[0].n_sets >= FEW_SETS && run->n_changes < CHANGES_LEAST;
    bool lacks_near = can_be_near(run) && run->n_near < NEAR_LEAST;
    return has_kind(run, AUDIT) &&
           (run->n_audits < least || (lacks_changes && least == AUDIT_LEAST) || lacks_near);
}

/* Those that the dice have not given yet. */
static int further_rounds(struct run *run, struct hone_end *ret, struct hone_err *err)
{
    int64_t deadline_ns = hone_now_ns() + hone_max_i64(run->plan->budget_ns / 2, HONE_NS_PER_S / 2);
    int code = 0;
    for (int i = 0;
         i < AUDIT_TRIES && code == 0 && hone_end_is_good(ret) && lacks_audits(run, deadline_ns);
         i++)
        code = one_round(run, AUDIT, ret, err);
    while (code == 0 && hone_end_is_good(ret) && run->n_others < OTHERS_LEAST &&
           has_kind(run, OTHERS))
        code = one_round(run, OTHERS, ret, err);
    return code;
}

/* More CPU time than all cores could give in the wall time: one of the clocks was deceived. */
static void check_clocks(const struct run *run, struct hone_end *ret)
{
    const struct lane *lane = &run->lanes[0];
    double wall = lane->wall_ns, cpu = lane->cpu_ns;
    double room = 1.3 * wall * (double)run->judge->machine.n_cores + 5e6 * (double)lane->n_timed;
    if (cpu > room)
        hone_end_set(ret, HONE_REASON_CLOCKS_DISAGREE,
                     "%.3g ms of CPU time in %.3g ms on %lld cores: work goes on after the call",
                     cpu / 1e6, wall / 1e6, (long long)run->judge->machine.n_cores);
}

int hone_cpu_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                  struct hone_workload_report *ret_report, struct hone_end *ret,
                  struct hone_err *err)
{
    struct run run = {.judge = judge, .plan = plan, .n_lanes = judge->n_slots, .audit_scale = 1};
    hone_rounds_init(&run.rounds, judge, plan);
    hone_place_init(&run.place);
    run.rounds.disturbed = DISTURBED;
    for (size_t i = 0; i < run.n_lanes; i++) {
        run.lanes[i].slot = &judge->slots[i];
        run.lanes[i].out = &run.rounds.lanes[i];
    }
    *ret = (struct hone_end)HONE_END_INIT;
    int64_t steal[2] = {0}, total[2] = {0};
    hone_machine_steal(&steal[0], &total[0]);
    int code = prepare(&run, ret, err);
    int64_t start_ns = hone_now_ns();
    while (code == 0 && hone_end_is_good(ret) &&
           !hone_rounds_done(&run.rounds, start_ns + run.over_ns)) {
        code = one_round(&run, draw_kind(&run), ret, err);
        hone_judge_progress(judge, "time", plan->workload->id, (int64_t)run.rounds.n,
                            (int64_t)plan->max_pairs, "");
    }
    if (code == 0 && hone_end_is_good(ret))
        code = further_rounds(&run, ret, err);
    hone_place_done(&run.place);
    free(run.flush);
    free(run.plain);
    free(run.others);
    hone_rounds_keep(judge, &run.rounds);
    if (code < 0 || !hone_end_is_good(ret))
        return code;
    hone_machine_steal(&steal[1], &total[1]);
    *ret_report = (struct hone_workload_report){0};
    int64_t ticks = total[1] - total[0];
    ret_report->steal_percent =
        ticks > 0 ? 100.0 * (double)(steal[1] - steal[0]) / (double)ticks : 0;
    hone_rounds_report(judge, &run.rounds, ret_report);
    check_clocks(&run, ret);
    return hone_rounds_bound(judge, plan->workload, judge->frame.layout.n_sets, ret_report, err);
}
