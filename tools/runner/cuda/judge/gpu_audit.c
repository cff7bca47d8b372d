/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks beside those that are timed, which show what those do not: cut ones, ones whose content
 * changes behind a cut, ones with other content (gpu_time.c tells why). A candidate cannot know
 * which block it is in. */
#include <math.h>
#include <string.h>

#include "tools/runner/judge/audit.h"
#include "tools/runner/cuda/judge/gpu_near.h"
#include "tools/runner/cuda/judge/gpu_run.h"
#include "tools/runner/values/element.h"
#include "tools/runner/judge/stats.h"
#include "workspace/base/clock.h"

#define AUDIT_EVERY      4    /* rounds, on average */
#define CUTS_LEAST       3    /* before they say anything */
#define CUTS_SURE        9    /* before they are held against the candidate */
#define SHORT_CALLS      2    /* at most, in a short one */
#define BEGIN_NS         10e3 /* of a block: caches of instructions and addresses are cold */
#define BEGIN_LAX_NS     50e3 /* where no baseline shows what that costs */
#define AHEAD_CALLS      2.0
#define AHEAD_SHARE      1.0 /* and as much again: other work on the machine */
#define INTEGERS_LEAST   64  /* fewer may all be what poison is */
#define CHANGED_SETS     8   /* at most, whose content changes behind a cut */
#define CHANGED_ELEMENTS 3   /* of an input, at least */
#define CHANGED_SHIFT    22  /* of large ones one in as many */
#define PART_EVERY       4   /* changed sets: a part and not single elements */
#define UNUSUAL          8   /* normal content stays below 7 */
#define UNUSUAL_SUMMED   1024
#define SUMMED_SHARE     64 /* all that changes of a positive input is this part of it, or more */
#define CHANGES_LEAST    3  /* a workload */
#define NEAR_LEAST       2  /* blocks after which a set is called with a little changed */
#define ACCUSE_NS                                                                                  \
    (2 * HONE_NS_PER_S)  /* of the oracle, before anyone is accused by the baseline's word */
#define CHANGE_SHIFTS  8 /* a change is between a half and a 256th of an input */
#define OTHERS_LEAST   4 /* blocks of other content, a workload */
#define OTHERS_SETS    8 /* of them that are looked at */
#define OTHERS_KINDS   16
#define BASELINE_LOOKS 4

/* What a cut block left: what was called is complete, and all else still is poison. */
static int check_cut(struct hone_gpu_run *run, struct hone_gpu_lane *lane, const bool *was_called,
                     struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_found found[HONE_GPU_MAX_SETS];
    int code = 0;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_outcome_is_good(ret); o++) {
        int64_t n_elements = hone_gpu_output_elements(judge, o);
        bool is_float = hone_dtype_is_float(judge->task->outputs[o].dtype);
        /* single integers may well be the poison's bits, many not */
        int64_t most = is_float ? 0 : n_elements < INTEGERS_LEAST ? n_elements : n_elements / 2;
        code = hone_gpu_find_poison(judge, lane->slot, o, 0, run->n_sets, 1, false, found, err);
        for (int64_t s = 0; s < run->n_sets && code == 0; s++) {
            if (!was_called[s] && found[s].count != n_elements)
                hone_outcome_set(ret, HONE_REASON_TAMPERING,
                                 "the kernel wrote to output '%s' of a call that was not made yet",
                                 judge->task->outputs[o].name);
            else if (was_called[s] && found[s].count > most)
                hone_outcome_set(ret, HONE_REASON_TAMPERING,
                                 "the kernel puts work off to a later call: output '%s' has %lld "
                                 "unwritten elements",
                                 judge->task->outputs[o].name, (long long)found[s].count);
        }
    }
    return code;
}

static void note_cut(struct hone_gpu_cuts *cuts, int64_t n, double ns)
{
    if (cuts->n == HONE_GPU_CUTS)
        return;
    cuts->n_calls[cuts->n] = (double)n;
    cuts->ns[cuts->n++] = ns;
}

/* What it costs to begin a block is read off a short one of the baseline. */
static int begin_baseline(struct hone_gpu_run *run, struct hone_err *err)
{
    struct hone_gpu_lane *lane = hone_gpu_run_baseline(run);
    struct hone_gpu_time time = {0};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    if (lane == NULL || lane->n_calls < 2)
        return 0;
    int code = hone_gpu_run_clocked(run, lane, 1, NULL, &time, &end, err);
    if (code == 0 && !hone_outcome_is_good(&end))
        return hone_fail(err, HONE_E_TARGET, "arm '%s' failed while it was timed: %s",
                         lane->slot->name, end.detail);
    note_cut(&run->usual, 1, time.event_ns);
    return code;
}

/* One more block of the candidate, cut at a random call. It cannot know which block it is. */
static int audit(struct hone_gpu_run *run, struct hone_gpu_lane *lane, enum hone_gpu_cut cut,
                 struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t most = cut == HONE_GPU_CUT_SHORT ? hone_min_i64(SHORT_CALLS, lane->n_calls - 1)
                                             : lane->n_calls - 1;
    int64_t n = 1 + hone_rng_below(&judge->rng, most);
    const int32_t *order = NULL;
    struct hone_gpu_time time = {0};
    bool was_called[HONE_GPU_MAX_SETS] = {false};
    uint64_t base = 0;
    int code = hone_gpu_run_fill(run, &base, err);
    if (code == 0 && cut == HONE_GPU_CUT_SHORT)
        code = begin_baseline(run, err);
    if (code == 0)
        code = hone_gpu_run_clocked(run, lane, n, &order, &time, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    for (int64_t i = 0; i < n; i++)
        was_called[order[i]] = true;
    if (2 * n <= lane->n_calls) /* nearly whole ones say little */
        note_cut(&lane->cuts[cut], n, time.event_ns);
    return check_cut(run, lane, was_called, ret, err);
}

static int change_part(struct hone_gpu_run *run, int64_t set, int64_t donor, size_t i, int64_t n,
                       struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t bytes = hone_dtype_bytes(judge->task->inputs[i].dtype);
    int64_t n_new = hone_max_i64(n >> (1 + hone_rng_below(&judge->rng, CHANGE_SHIFTS)), 1);
    hone_cu_ptr at = (hone_cu_ptr)(bytes * hone_rng_below(&judge->rng, n - n_new + 1));
    return hone_gpu_check(session,
                          session->cu->MemcpyDtoDAsync(hone_gpu_input(judge, set, i) + at,
                                                       hone_gpu_input(judge, donor, i) + at,
                                                       (size_t)(bytes * n_new), session->stream),
                          "changing an input", err);
}

/* A value that the role allows and that usual content does not have: beyond all normals where one
 * element is weighed against a row, larger where all may be added up (positive): there what
 * changes has to show in a sum of everything, within whose tolerance much could be left out. */
static double unusual_value(struct hone_gpu_run *run, const struct hone_tensor *tensor, int64_t n,
                            int64_t n_changed, double old)
{
    struct hone_rng *rng = &run->judge->rng;
    const struct hone_workload *workload = run->plan->workload;
    double share = 1 + (double)hone_rng_below(rng, 1 << 20) / (1 << 20);
    bool is_positive = hone_rng_below(rng, 2) == 0 || hone_dtype_is_unsigned(tensor->dtype);
    double sign = is_positive ? 1 : -1;
    if (tensor->role == HONE_ROLE_INDEX) {
        int64_t bound = tensor->bound_axis >= 0 ? workload->axes[tensor->bound_axis] : 1;
        return (double)hone_rng_below(rng, hone_max_i64(bound, 1));
    }
    if (tensor->role == HONE_ROLE_MASK || tensor->role == HONE_ROLE_ADDITIVE_MASK ||
        tensor->dtype == HONE_DTYPE_BOOL)
        return old == 0;
    if (tensor->role == HONE_ROLE_POSITIVE) {
        double summed =
            tensor->dtype == HONE_DTYPE_F16 ? 0 : (double)n / SUMMED_SHARE / (double)n_changed;
        return share * fmax(UNUSUAL, fmax(summed, fmin((double)n / 64, UNUSUAL_SUMMED)));
    }
    return sign * share * UNUSUAL *
           (tensor->role == HONE_ROLE_WEIGHT ? hone_gen_weight_scale(tensor, workload) : 1);
}

static int change_element(struct hone_gpu_run *run, int64_t set, size_t i, int64_t n,
                          int64_t n_changed, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    const struct hone_tensor *tensor = &judge->task->inputs[i];
    int64_t bytes = hone_dtype_bytes(tensor->dtype);
    int64_t e = hone_rng_below(&judge->rng, n);
    hone_cu_ptr at = hone_gpu_input(judge, set, i) + (hone_cu_ptr)(bytes * e);
    uint64_t room = 0;
    int code = hone_gpu_fetch(judge->gpu->session, &room, at, bytes, err);
    double old = hone_element_get(tensor->dtype, &room, 0);
    hone_element_set(tensor->dtype, &room, 0,
                     hone_gen_fit(tensor, run->plan->workload, e,
                                  unusual_value(run, tensor, n, n_changed, old)));
    return code < 0 ? code : hone_gpu_store(judge->gpu->session, at, &room, bytes, err);
}

/* Every input gets other content: a part becomes that of another set, or, more often, some single
 * elements become unusual, which nobody finds who does not look at all of them. */
static int change_set(struct hone_gpu_run *run, int64_t set, int64_t donor, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    bool is_part = hone_rng_below(&judge->rng, PART_EVERY) == 0;
    int code = 0;
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++) {
        const struct hone_tensor *tensor = &judge->task->inputs[i];
        int64_t n = hone_tensor_elements(judge->task, tensor, run->plan->workload);
        if (hone_audit_is_whole(tensor) || n < 1)
            continue;
        if (is_part)
            code = change_part(run, set, donor, i, n, err);
        int64_t n_changed = hone_max_i64(CHANGED_ELEMENTS, n >> CHANGED_SHIFT);
        for (int64_t k = 0; k < n_changed && !is_part && code == 0; k++)
            code = change_element(run, set, i, n, n_changed, err);
    }
    return code;
}

/* Changed content that the baseline answers otherwise, and that a second call answers alike: the
 * baseline may be the one that is inexact there. The oracle decides, as far as it can be paid. */
static int ask_of_changed(struct hone_gpu_run *run, struct hone_gpu_lane *lane, const int32_t *sets,
                          int64_t n, struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    for (int64_t i = 0; i < n && code == 0 && hone_outcome_is_good(ret); i++)
        code = hone_gpu_run_whole(run, lane, sets[i], HONE_DIST_RARE, ACCUSE_NS, ret, err);
    return code;
}

/* Sets whose inputs were changed before their call: a wrong answer that becomes right when the call
 * is made again, with scratch as it was before the block, was made ahead. */
static int check_changed(struct hone_gpu_run *run, struct hone_gpu_lane *lane, const int32_t *sets,
                         int64_t n, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int code = hone_gpu_run_like(run, lane, sets, n, ret, err);
    if (code < 0 || !hone_outcome_is_value(ret))
        return code;
    struct hone_outcome again = HONE_OUTCOME_INIT;
    for (int64_t i = 0; i < n && code == 0; i++)
        code = hone_gpu_poison(judge, lane->slot, sets[i], 1, 1, HONE_POISON_NAN, err);
    if (code == 0)
        code = hone_gpu_call(judge, lane->slot, sets, n, HONE_GPU_SCRATCH_POISON, lane->call_ns,
                             NULL, &again, err);
    if (code == 0 && hone_outcome_is_good(&again))
        code = hone_gpu_run_like(run, lane, sets, n, &again, err);
    bool is_ahead = hone_outcome_is_good(&again);
    if (code == 0 && hone_outcome_is_value(&again) && hone_gpu_run_baseline(run) != NULL) {
        again = (struct hone_outcome)HONE_OUTCOME_INIT;
        code = ask_of_changed(run, lane, sets, n, &again, err);
    }
    if (code == 0)
        code = hone_gpu_run_blame(run, lane, sets, n, &again, err);
    if (code < 0)
        return code;
    *ret = again; /* wrong, but every time: its arithmetic is */
    if (is_ahead || again.reason == HONE_REASON_STATEFUL)
        hone_outcome_set(
            ret, HONE_REASON_TAMPERING,
            "the content of a call that was not made yet was changed, and the answer is "
            "not that of the new one, until it is made again: work is done ahead");
    return 0;
}

/* A block is cut, and before it goes on, with its scratch as it is, the content of further sets
 * changes: whoever knew the old one answers what was asked before. */
static int audit_change(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                        struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t n = 1 + hone_rng_below(&judge->rng, lane->n_calls - 1);
    int64_t n_changed = hone_min_i64(lane->n_calls - n, CHANGED_SETS);
    const int32_t *order = NULL;
    uint64_t base = 0;
    int code = hone_gpu_run_fill(run, &base, err);
    if (code == 0)
        code = hone_gpu_run_block(run, lane, n, &order, NULL, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    for (int64_t i = 0; i < n_changed && code == 0; i++)
        code = change_set(run, order[n + i], order[hone_rng_below(&judge->rng, n)], err);
    if (code == 0)
        code = hone_gpu_call_on(judge, lane->slot, order + n, n_changed, lane->call_ns, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = check_changed(run, lane, order + n, n_changed, ret, err);
    lane->n_changes++;
    return code;
}

/* What an arm says of content of this kind, as far as the oracle is asked. */
static int ask_other(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int32_t set,
                     enum hone_distribution dist, struct hone_outcome *ret, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    int code = run->can_spot
                   ? hone_gpu_spot_check(run->judge, lane->slot, set, HONE_GPU_SPOT_ITEMS, ret, err)
                   : hone_gpu_run_whole(run, lane, set, dist, 0, ret, err);
    run->spot_ns = hone_now_ns() - start;
    return code;
}

/* Is this set wrong, and not by the distribution's fault? */
static int check_other(struct hone_gpu_run *run, struct hone_gpu_lane *lane, int32_t set,
                       enum hone_distribution dist, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_lane *theirs = hone_gpu_run_baseline(run);
    int code = ask_other(run, lane, set, dist, ret, err);
    if (code < 0 || hone_outcome_is_good(ret) || theirs == NULL)
        return code;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    code = hone_gpu_call(run->judge, theirs->slot, &set, 1, HONE_GPU_SCRATCH_POISON,
                         theirs->call_ns, NULL, &end, err);
    /* more items than the candidate's: bad luck must not accuse */
    for (int i = 0; i < BASELINE_LOOKS && code == 0 && hone_outcome_is_good(&end); i++)
        code = ask_other(run, theirs, set, dist, &end, err);
    if (code == 0 && !hone_outcome_is_good(&end))
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    return code;
}

/* One in four is of those that are hardest to tell from plain. */
static enum hone_distribution other_distribution(struct hone_judge *judge)
{
    static const enum hone_distribution hard[] = {HONE_DIST_RARE, HONE_DIST_ONE_OTHER,
                                                  HONE_DIST_MIXTURE};
    bool is_hard = hone_rng_below(&judge->rng, 4) == 0;
    enum hone_distribution dist = hard[hone_rng_below(&judge->rng, HONE_COUNTOF(hard))];
    return is_hard && !judge->is_dist_left_out[dist] ? dist : hone_judge_any_distribution(judge);
}

static int time_others(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    int64_t step = hone_max_i64(run->n_sets / OTHERS_KINDS, 1);
    enum hone_distribution dists[HONE_GPU_MAX_SETS];
    const int32_t *order = NULL;
    int code = 0;
    for (int64_t set = 0; set < run->n_sets && code == 0; set += step) {
        int64_t n = hone_min_i64(step, run->n_sets - set);
        enum hone_distribution dist = other_distribution(judge);
        for (int64_t i = 0; i < n; i++)
            dists[set + i] = dist;
        code = hone_gpu_fill(judge, set, n, dist, judge->counter++, err);
    }
    if (code == 0)
        code = hone_gpu_run_block(run, lane, lane->n_calls, &order, NULL, ret, err);
    bool is_dear = run->spot_ns > HONE_GPU_SPOT_DEAR_NS || !run->can_spot;
    int64_t n = hone_min_i64(lane->n_calls, is_dear ? 1 : OTHERS_SETS);
    for (int64_t i = 0; i < n && code == 0 && hone_outcome_is_good(ret); i++)
        code = check_other(run, lane, order[i], dists[order[i]], ret, err);
    lane->n_others++;
    return code == 0 ? hone_gpu_run_blame(run, lane, order, lane->n_calls, ret, err) : code;
}

static bool can_ask(const struct hone_gpu_run *run)
{
    return run->can_spot || run->can_whole;
}

static bool has_audits(const struct hone_gpu_run *run, const struct hone_gpu_lane *lane)
{
    return !hone_judge_is_tier(run->judge, HONE_TIER_SCREEN) && lane->n_calls >= 2;
}

static int audit_maybe(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_rng *rng = &run->judge->rng;
    if (!has_audits(run, lane) || hone_rng_below(rng, AUDIT_EVERY * run->n_passes) != 0)
        return 0;
    int64_t kind = hone_rng_below(rng, HONE_GPU_N_CUTS + 3);
    if (kind == HONE_GPU_N_CUTS + 2) {
        lane->n_near++;
        return hone_gpu_near_timed(run, lane, ret, err);
    }
    if (kind == HONE_GPU_N_CUTS + 1)
        return can_ask(run) ? time_others(run, lane, ret, err) : 0;
    return kind == HONE_GPU_N_CUTS ? audit_change(run, lane, ret, err)
                                   : audit(run, lane, (enum hone_gpu_cut)kind, ret, err);
}

typedef int audit_fn(struct hone_gpu_run *run, struct hone_gpu_lane *lane, struct hone_outcome *ret,
                     struct hone_err *err);

/* Of each arm that is not trusted: none can tell by what it is asked which it is. */
static int of_each(struct hone_gpu_run *run, audit_fn *fn, struct hone_outcome *ret,
                   struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; i < run->n_lanes && code == 0 && hone_outcome_is_good(ret); i++) {
        struct hone_gpu_lane *lane = &run->lanes[i];
        if (lane->is_trusted || lane->slot->is_lost)
            continue;
        hone_gpu_run_limit(run);
        code = hone_arm_settle(run->judge, lane->slot, fn(run, lane, ret, err), ret, err);
    }
    hone_gpu_run_drop_lost(run);
    return code;
}

int hone_gpu_audit_maybe(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    return of_each(run, audit_maybe, ret, err);
}

/* Median of what cut blocks take beyond as many calls and some of them. */
static double beyond(const struct hone_gpu_cuts *cuts, double call_ns, double share, double calls)
{
    double over[HONE_GPU_CUTS];
    for (size_t i = 0; i < cuts->n; i++)
        over[i] = cuts->ns[i] - (cuts->n_calls[i] * (1 + share) + calls) * call_ns;
    return hone_median(over, cuts->n);
}

/* What beginning a block may cost: by the baseline's, and by the candidate's own where there was
 * nothing to do ahead. */
static double begin_ns(struct hone_gpu_run *run, const struct hone_gpu_lane *lane)
{
    const struct hone_gpu_lane *theirs = hone_gpu_run_baseline(run);
    double ns = BEGIN_LAX_NS;
    if (run->usual.n >= CUTS_LEAST) {
        double call_ns = hone_median(theirs->out->wall, run->rounds.n);
        ns = BEGIN_NS + HONE_GPU_USUAL * fmax(0, beyond(&run->usual, call_ns, 0, 0));
    }
    return fmax(ns, BEGIN_NS + HONE_GPU_USUAL * lane->alone_ns);
}

/* Blocks of one call in a frame of one set, each behind one of the baseline's: large code is cold
 * then too, but there is no later call whose work could be done. */
static int time_alone(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                      struct hone_gpu_cuts *ret_cuts, struct hone_outcome *ret,
                      struct hone_err *err)
{
    struct hone_gpu_lane *theirs = hone_gpu_run_baseline(run);
    struct hone_gpu_time time = {0};
    uint64_t base = 0;
    int code = 0;
    for (int k = 0; k < CUTS_SURE && code == 0 && hone_outcome_is_good(ret); k++) {
        struct hone_outcome end = HONE_OUTCOME_INIT;
        code = hone_gpu_run_fill(run, &base, err);
        if (code == 0 && theirs != NULL)
            code = hone_gpu_run_block(run, theirs, 1, NULL, NULL, &end, err);
        if (code == 0)
            code = hone_gpu_run_clocked(run, lane, 1, NULL, &time, ret, err);
        if (code == 0 && hone_outcome_is_good(ret))
            note_cut(ret_cuts, 1, time.event_ns);
    }
    return code;
}

static int begin_alone(struct hone_gpu_run *run, struct hone_gpu_lane *lane, double call_ns,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_cuts cuts = {.n = 0};
    int64_t n_sets = run->n_sets, n_calls[HONE_RUNNER_MAX_ARMS];
    for (size_t i = 0; i < run->n_lanes; i++)
        n_calls[i] = run->lanes[i].n_calls;
    int code = hone_gpu_run_frame(run, 1, ret, err);
    for (size_t i = 0; i < run->n_lanes && code == 0; i++) {
        run->lanes[i].n_calls = 1;
        hone_gpu_run_orders(run, &run->lanes[i]);
    }
    if (code == 0 && hone_outcome_is_good(ret))
        code = time_alone(run, lane, &cuts, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    lane->alone_ns = fmax(0, beyond(&cuts, call_ns, 0, 0));
    code = hone_gpu_run_frame(run, n_sets, ret, err);
    for (size_t i = 0; i < run->n_lanes && code == 0; i++) {
        run->lanes[i].n_calls = n_calls[i];
        hone_gpu_run_orders(run, &run->lanes[i]);
    }
    return code;
}

static int take_cuts(struct hone_gpu_run *run, struct hone_gpu_lane *lane, enum hone_gpu_cut cut,
                     size_t n, struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    while (code == 0 && hone_outcome_is_good(ret) && lane->cuts[cut].n < n)
        code = audit(run, lane, cut, ret, err);
    return code;
}

/* Cut blocks against the blocks that counted, after the last round: calls that are made ahead make
 * few calls dear. Before that is held against the candidate, more blocks are cut. */
static int audit_end(struct hone_gpu_run *run, struct hone_gpu_lane *lane, struct hone_outcome *ret,
                     struct hone_err *err)
{
    size_t n = run->rounds.n;
    int code = 0;
    bool is_screen = hone_judge_is_tier(run->judge, HONE_TIER_SCREEN);
    while (can_ask(run) && !is_screen && code == 0 && hone_outcome_is_good(ret) &&
           lane->n_others < OTHERS_LEAST)
        code = time_others(run, lane, ret, err);
    if (!has_audits(run, lane) || n == 0 || code < 0 || !hone_outcome_is_good(ret))
        return code;
    while (code == 0 && hone_outcome_is_good(ret) && lane->n_changes < CHANGES_LEAST)
        code = audit_change(run, lane, ret, err);
    while (code == 0 && hone_outcome_is_good(ret) && lane->n_near++ < NEAR_LEAST)
        code = hone_gpu_near_timed(run, lane, ret, err);
    double call_ns = hone_quantile(lane->out->wall, n, 0.75);
    for (enum hone_gpu_cut cut = 0; cut < HONE_GPU_N_CUTS && code == 0 && hone_outcome_is_good(ret);
         cut++) {
        const struct hone_gpu_cuts *cuts = &lane->cuts[cut];
        bool is_ahead = true;
        for (size_t least = CUTS_LEAST; least <= CUTS_SURE && is_ahead; least *= CUTS_LEAST) {
            code = take_cuts(run, lane, cut, least, ret, err);
            if (code < 0 || !hone_outcome_is_good(ret))
                return code;
            is_ahead = beyond(cuts, call_ns, AHEAD_SHARE, AHEAD_CALLS) > begin_ns(run, lane);
        }
        if (is_ahead && lane->alone_ns < 0) {
            code = begin_alone(run, lane, call_ns, ret, err);
            if (code < 0 || !hone_outcome_is_good(ret))
                return code;
        }
        is_ahead =
            is_ahead && beyond(cuts, call_ns, AHEAD_SHARE, AHEAD_CALLS) > begin_ns(run, lane);
        if (is_ahead)
            hone_outcome_set(
                ret, HONE_REASON_TAMPERING,
                "the kernel does the work of later calls ahead: a block cut to %.0f calls "
                "takes %.1f us, with %.1f us a call in whole blocks",
                hone_median(cuts->n_calls, cuts->n), hone_median(cuts->ns, cuts->n) / 1e3,
                call_ns / 1e3);
    }
    return code;
}

int hone_gpu_audit_end(struct hone_gpu_run *run, struct hone_outcome *ret, struct hone_err *err)
{
    return of_each(run, audit_end, ret, err);
}
