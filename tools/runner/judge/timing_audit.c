/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-overs that do not count: looked at midway (audit.h), or with content of the other kinds that
 * the checks have. Nothing tells them from those that do. */
#include "tools/runner/judge/timing_internal.h"

#include <math.h>

#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"

#define BASELINE_ITEMS 512  /* that could excuse a candidate: bad luck must not accuse */
#define AUDIT_LEAST    6    /* at the end there were as many that saw a block half done */
#define AUDIT_FEW      4    /* where rounds are dear */
#define STOPPED_LEAST  3    /* of them, the arena stood still in as many */
#define CHANGES_LEAST  16   /* sets, and as many had other inputs by then */
#define NEAR_LEAST     10   /* quiet looks that changed a call right ahead, where... */
#define NEAR_NS        60e3 /* ...calls are as long; shorter ones are over before */
#define FULL_SIZES     3    /* workloads that each get all of these */
#define SHARE_LEAST    2
#define FEW_SETS       4 /* where there is not always one to change */
#define AUDIT_SOONER   0.7
#define OTHERS_LEAST   4                     /* blocks with other content */
#define WHOLE_NS       (30 * HONE_NS_PER_MS) /* of the oracle, for one set of theirs */
#define CHANGE_NS      20e6 /* of the baseline's calls, which answer changed sets as well */

/* Every second one is of those that few elements show, in turn. */
static enum hone_distribution other_distribution(struct hone_timing_run *run,
                                                 struct hone_timing_lane *lane)
{
    static const enum hone_distribution thin[] = {
        HONE_DIST_SPIKES, HONE_DIST_NEARLY, HONE_DIST_RARE, HONE_DIST_MIXTURE, HONE_DIST_ONE_OTHER};
    struct hone_judge *judge = run->judge;
    int64_t n = lane->n_dealt++;
    enum hone_distribution dealt = thin[(size_t)(n / 2) % HONE_COUNTOF(thin)];
    if (n % 2 == 0 && !judge->is_dist_left_out[dealt])
        return dealt;
    return hone_judge_any_distribution(judge);
}

/* Beforehand: after the block that had the last. */
static void draw_other(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set)
{
    lane->other_dists[set] = other_distribution(run, lane);
    hone_timing_draw_set(run, lane->others, set, lane->other_dists[set]);
}

void hone_timing_draw_others(struct hone_timing_run *run, struct hone_timing_lane *lane)
{
    for (int64_t set = 0; set < lane->n_sets; set++)
        draw_other(run, lane, set);
}

/* Is this set wrong, and not by the distribution's fault? */
static int check_other(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    int code = hone_timing_check_set(run, lane, set, ret);
    if (code < 0 || !hone_outcome_is_good(ret) || baseline == NULL)
        return code;
    if (judge->task->steps != NULL || judge->task->is_oracle_naive_double)
        return hone_judge_compare_like(judge, lane->slot, baseline, set, ret, err);
    code = hone_compare_needs_all(judge->frame.dists[set])
               ? hone_judge_check_whole(judge, lane->slot, set, WHOLE_NS, ret, err)
               : hone_judge_spot_check(
                     judge, lane->slot, set,
                     hone_max_i64(HONE_TIMING_ITEMS / lane->n_sets, HONE_TIMING_SETS), ret, err);
    if (code < 0 || hone_outcome_is_good(ret))
        return code;
    struct hone_outcome end = HONE_OUTCOME_INIT, mine = *ret;
    code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    code = hone_judge_call_one(judge, baseline, set, 0, err);
    if (code == 0 && baseline->arena->is_alive)
        code = hone_judge_spot_check(judge, baseline, set, BASELINE_ITEMS, ret, err);
    if (code == 0)
        *ret = hone_outcome_is_good(ret) ? mine : (struct hone_outcome)HONE_OUTCOME_INIT;
    return code;
}

/* A hand-over whose sets hold content of all kinds. Nothing tells it from the others before its
 * inputs are read. */
int hone_timing_others(struct hone_timing_run *run, struct hone_timing_lane *lane,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_timing_midway midway = {.lane = lane};
    int code = hone_timing_fresh(run, lane, true, &midway, ret, err);
    for (int64_t set = 0; set < lane->n_sets && code == 0 && hone_outcome_is_good(ret); set++) {
        code = check_other(run, lane, set, ret, err);
        if (code == 0)
            code = hone_judge_blame(run->judge, lane->slot, set, ret, err);
    }
    lane->n_others++;
    hone_timing_draw_others(run, lane);
    return code;
}

static struct hone_timing_lane *baseline_lane(struct hone_timing_run *run)
{
    for (size_t i = 1; i < run->n_lanes; i++) {
        if (run->lanes[i].is_trusted)
            return &run->lanes[i];
    }
    return NULL;
}

static int is_changed_right(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set,
                            bool is_other, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    const struct hone_timing_lane *theirs = baseline_lane(run);
    return theirs == NULL || is_other
               ? check_other(run, lane, set, ret, err)
               : hone_judge_compare_like(judge, lane->slot, theirs->slot, set, ret, err);
}

/* A set whose inputs were changed before its call: a wrong answer that becomes another one, and
 * right, when the call is made again was made ahead. All else is judged like other content: a look
 * at some items may miss what the look before met. */
static int check_changed(struct hone_timing_run *run, struct hone_timing_lane *lane, int64_t set,
                         bool is_other, struct hone_outcome *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    int code = is_changed_right(run, lane, set, is_other, ret, err);
    if (code < 0 || hone_outcome_is_good(ret))
        return code;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    void **before = hone_judge_keep(run->judge, lane->slot, set, pool);
    hone_judge_poison(run->judge, lane->slot, set, HONE_POISON_NAN);
    code = hone_timing_hand_over(run, lane, &(struct hone_timing_calls){.n = 1, .first = set}, NULL,
                                 ret, err);
    bool is_same = code == 0 && hone_judge_is_kept(run->judge, lane->slot, set, before);
    if (code == 0 && hone_outcome_is_good(ret) && !is_same)
        code = is_changed_right(run, lane, set, is_other, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && !is_same) {
        hone_outcome_set(
            ret, HONE_REASON_TAMPERING,
            "the content of a call that was not made yet was changed, and the answer is "
            "not that of the new one, until it is made again: it was made, or judged, "
            "ahead");
        return 0;
    }
    if (code < 0 || !lane->slot->arena->is_alive)
        return code;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    code = check_other(run, lane, set, ret, err);
    return code == 0 ? hone_judge_blame(run->judge, lane->slot, set, ret, err) : code;
}

static int end_audit(struct hone_timing_run *run, const struct hone_timing_midway *midway,
                     struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_call_time *time = &midway->time;
    struct hone_timing_lane *lane = midway->lane;
    const struct hone_audit *audit = midway->audit;
    double load = (double)time->wall_ns / fmax((double)time->cpu_ns, 1);
    bool is_quiet_machine =
        lane->n > 0 && load <= HONE_TIMING_DISTURBED * hone_quantile(lane->out->load, lane->n, 0);
    int code = 0;
    hone_audit_end(audit, ret);
    for (int64_t i = 0; i < audit->n_changed && code == 0 && hone_outcome_is_good(ret); i++)
        code = check_changed(run, lane, audit->changed[i], audit->is_other[i], ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && !midway->is_quiet && is_quiet_machine &&
        lane == &run->lanes[0]) /* the review list is the candidate's */
        hone_audit_shares(audit,
                          (double)midway->look.cpu_ns / (double)hone_max_i64(time->cpu_ns, 1),
                          &lane->n_uneven);
    return code;
}

static bool can_be_near(const struct hone_timing_lane *lane)
{
    return lane->n_sets >= 2 && hone_timing_call_ns(lane) >= NEAR_NS;
}

/* What a kernel does with calls to come it does at every size, or gains at that size alone: where
 * many are timed, each has its share of what three need. */
static int64_t share_of(const struct hone_timing_run *run, int64_t least)
{
    int64_t n = hone_max_i64(run->plan->n_workloads, FULL_SIZES);
    return hone_max_i64((least * FULL_SIZES + n - 1) / n, hone_min_i64(least, SHARE_LEAST));
}

/* Of the few that a call right ahead of the one under way was changed in. */
static bool lacks_near(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    return can_be_near(lane) && lane->n_near < share_of(run, NEAR_LEAST);
}

static bool lacks_looks(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    bool is_early = hone_now_ns() < run->further_until_ns;
    bool lacks_changes = lane->n_sets >= FEW_SETS && lane->n_changes < share_of(run, CHANGES_LEAST);
    return lane->n_audits < share_of(run, is_early ? AUDIT_LEAST : AUDIT_FEW) ||
           (lane->n_stopped < share_of(run, STOPPED_LEAST) && is_early) ||
           (lacks_changes && is_early);
}

/* After the last round that counts: all that is still lacking are changes right ahead. */
static bool wants_near_alone(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    return run->further_until_ns > 0 && lacks_near(run, lane) && !lacks_looks(run, lane);
}

/* A hand-over that is looked at midway: audit.h. It cannot know which one it is. */
int hone_timing_audit(struct hone_timing_run *run, struct hone_timing_lane *lane,
                      struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_timing_lane *theirs = baseline_lane(run);
    double their_ns = theirs != NULL ? theirs->call_ns : 0;
    struct hone_audit audit = {
        .judge = run->judge,
        .slot = lane->slot,
        .n_sets = lane->n_sets,
        .content = run->plain,
        .others = lane->others,
        .other_dists = lane->other_dists,
        .call_ns = hone_timing_call_ns(lane),
        .kept_set = -1,
        .max_changed = (int64_t)fmin(fmax(CHANGE_NS / fmax(their_ns, 1), 1), HONE_AUDIT_CHANGED)};
    bool is_near_alone = wants_near_alone(run, lane);
    struct hone_timing_midway midway = {.lane = lane,
                                        .audit = &audit,
                                        .is_quiet = is_near_alone ||
                                                    hone_rng_below(&run->judge->rng, 3) != 0};
    int64_t far_of_4 = is_near_alone ? 0 : lane->n_near < NEAR_LEAST ? 1 : 2;
    audit.is_near = can_be_near(lane) && hone_rng_below(&run->judge->rng, 4) >= far_of_4;
    int code = hone_timing_fresh(run, lane, false, &midway, ret, err);
    if (code == 0 && lane->slot->arena->is_alive)
        hone_audit_settle(&audit);
    bool saw_half = midway.look.was_early && audit.n_done < audit.n_sets && !audit.is_late;
    lane->audit_scale = saw_half ? 1 : AUDIT_SOONER * lane->audit_scale;
    lane->n_changes += audit.is_late ? 0 : audit.n_changed;
    lane->n_near += midway.is_quiet && audit.is_near && audit.kept_set < 0 && !audit.is_late
                        ? audit.n_changed
                        : 0;
    for (int64_t i = 0; i < audit.n_changed; i++)
        draw_other(run, lane, audit.changed[i]);
    if (code < 0 || !hone_outcome_is_good(ret) || audit.is_late)
        return code;
    bool is_look = saw_half && (audit.n_changed > 0 || lane->n_sets < FEW_SETS);
    lane->n_audits += is_look;
    lane->n_stopped += is_look && !midway.is_quiet;
    if (midway.look.was_early)
        code = end_audit(run, &midway, ret, err);
    return code == 0 && hone_outcome_is_good(ret) ? hone_timing_check_block(run, lane, ret, err)
                                                  : code;
}

bool hone_timing_has_kind(const struct hone_timing_run *run, const struct hone_timing_lane *lane,
                          enum hone_timing_kind kind)
{
    return !hone_judge_is_tier(run->judge, HONE_TIER_SCREEN) && !lane->is_trusted &&
           (kind != HONE_TIMING_AUDIT || lane->n_sets >= 2);
}

bool hone_timing_lacks_audit(const struct hone_timing_run *run, const struct hone_timing_lane *lane)
{
    return hone_timing_has_kind(run, lane, HONE_TIMING_AUDIT) &&
           (lacks_looks(run, lane) || lacks_near(run, lane));
}

bool hone_timing_lacks_audits(const struct hone_timing_run *run)
{
    for (size_t i = 0; i < run->n_lanes; i++)
        if (hone_timing_lacks_audit(run, &run->lanes[i]))
            return true;
    return false;
}

bool hone_timing_lacks_others(const struct hone_timing_run *run)
{
    for (size_t i = 0; i < run->n_lanes; i++)
        if (hone_timing_has_kind(run, &run->lanes[i], HONE_TIMING_OTHERS) &&
            run->lanes[i].n_others < share_of(run, OTHERS_LEAST))
            return true;
    return false;
}
