/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs on a device against the oracle, against poison, against themselves: the protocol of
 * checks.c with the device's means.
 *
 * A distribution gets two buffer sets with the same content. The even one's outputs hold the NaN,
 * the odd one's the large number, and scratch holds another pattern for each. All even sets are
 * called in one block and all odd ones in another, in random orders; only then does the judge look.
 * Content is a pure function of (secret, workload, distribution), so that several arms, and later
 * jobs with the same secret, share the reference answers.
 *
 * The smoke case is called once more with the contents flush with the start of their ranges: the
 * first frame catches what runs past the end, this one what begins before the start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/judge/gpu_near.h"
#include "workspace/base/clock.h"

#define SCRATCH_A      0x7fa5a5a5u
#define SCRATCH_B      0x5a5a5a5au
#define CHECK_COUNTERS (1ull << 63) /* apart from those of timed content */
#define MAX_PAIRS      HONE_N_DISTS

uint64_t hone_gpu_check_counter(const struct hone_judge *judge,
                                const struct hone_workload *workload, enum hone_distribution dist)
{
    uint64_t mixed = 0xcbf29ce484222325u + (uint64_t)dist;
    for (size_t a = 0; a < judge->task->n_axes; a++)
        mixed = (mixed ^ (uint64_t)workload->axes[a]) * 0x100000001b3u;
    return CHECK_COUNTERS | mixed;
}

static int poison_set(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                      struct hone_err *err)
{
    return hone_gpu_poison(judge, slot, set, 1, 1,
                           set % 2 == 0 ? HONE_POISON_NAN : HONE_POISON_LARGE, err);
}

static void shuffle_sets(struct hone_judge *judge, int32_t *sets, int64_t n)
{
    for (int64_t i = n; i > 1; i--) {
        int64_t j = hone_rng_below(&judge->rng, i);
        int32_t kept = sets[i - 1];
        sets[i - 1] = sets[j];
        sets[j] = kept;
    }
}

/* One call first, so that an endless kernel costs one deadline; then the rest of its kind, then the
 * other kind. */
static int call_pairs(struct hone_judge *judge, struct hone_slot *slot, int64_t n,
                      struct hone_outcome *ret, struct hone_err *err)
{
    int32_t even[MAX_PAIRS], odd[MAX_PAIRS];
    for (int64_t d = 0; d < n; d++) {
        even[d] = (int32_t)(2 * d);
        odd[d] = (int32_t)(2 * d + 1);
    }
    shuffle_sets(judge, even, n);
    shuffle_sets(judge, odd, n);
    struct hone_gpu_time time = {0};
    int code = hone_gpu_call(judge, slot, even, 1, SCRATCH_A, 0, &time, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && n > 1)
        code = hone_gpu_call(judge, slot, even + 1, n - 1, SCRATCH_A, (double)time.wall_ns, NULL,
                             ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_call(judge, slot, odd, n, SCRATCH_B, (double)time.wall_ns, NULL, ret, err);
    return code;
}

static int call_one(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                    struct hone_outcome *ret, struct hone_err *err)
{
    int32_t one = (int32_t)set;
    return hone_gpu_call(judge, slot, &one, 1, set % 2 == 0 ? SCRATCH_A : SCRATCH_B, 0, NULL, ret,
                         err);
}

static void set_element_end(struct hone_judge *judge, size_t output,
                            const struct hone_gpu_found *found, enum hone_reason reason,
                            const char *what, struct hone_outcome *ret)
{
    const struct hone_elements which = {output, found->first, found->count};
    hone_judge_element_end(judge, judge->gpu->frame.workload, &which, reason, what, ret);
}

static int find_unwritten(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                          struct hone_outcome *ret, struct hone_err *err)
{
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        struct hone_gpu_found found = {0};
        int code = hone_gpu_find_poison(judge, slot, o, set, 1, 1, true, &found, err);
        if (code < 0)
            return code;
        if (found.count > 0) {
            set_element_end(judge, o, &found, HONE_REASON_UNWRITTEN, "was not written", ret);
            return 0;
        }
    }
    return 0;
}

/* First difference between the two sets of a distribution; found->count 0: none. */
static int find_difference(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                           size_t *ret_output, struct hone_gpu_found *ret, struct hone_err *err)
{
    *ret = (struct hone_gpu_found){.first = -1};
    for (size_t o = 0; o < judge->task->n_outputs && ret->count == 0; o++) {
        *ret_output = o;
        int code = hone_gpu_find_difference(judge, slot, o, set,
                                            hone_gpu_output(judge, slot, set + 1, o), ret, err);
        if (code < 0)
            return code;
    }
    return 0;
}

static int keep_output(struct hone_judge *judge, struct hone_slot *slot, int64_t set, size_t o,
                       struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t bytes = judge->gpu->frame.layout.bytes[judge->task->n_inputs + o];
    int code = hone_gpu_buffer_need(session, &session->copy, hone_max_i64(bytes, 16), err);
    return code < 0 ? code : hone_gpu_copy_output(judge, slot, set, o, session->copy.base, err);
}

/* The two sets of a distribution differ: the first is called again, with the same poison. */
static int explain_difference(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                              struct hone_outcome *ret, struct hone_err *err)
{
    size_t o = 0;
    struct hone_gpu_found found, again = {0};
    int code = find_difference(judge, slot, set, &o, &found, err);
    if (code < 0 || found.count == 0)
        return code;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    code = keep_output(judge, slot, set, o, err);
    if (code == 0)
        code = poison_set(judge, slot, set, err);
    if (code == 0)
        code = call_one(judge, slot, set, &end, err);
    if (code == 0 && !hone_outcome_is_good(&end)) {
        *ret = end;
        return 0;
    }
    if (code == 0)
        code = hone_gpu_find_difference(judge, slot, o, set, judge->gpu->session->copy.base, &again,
                                        err);
    if (code < 0)
        return code;
    if (again.count > 0)
        set_element_end(judge, o, &again, HONE_REASON_NONDETERMINISTIC,
                        "differs between two calls with the same input", ret);
    else
        set_element_end(judge, o, &found, HONE_REASON_UNINITIALISED,
                        "depends on memory that the kernel did not write, or on where buffers lie",
                        ret);
    return 0;
}

struct check { /* one arm at one size */
    struct hone_judge *judge;
    struct hone_slot *slot;
    const struct hone_check_plan *plan;
    struct hone_compare *compare; /* of the distribution that is judged */
};

/* The reference of a set; without one the outputs are held against the baseline's alone. */
static int compare_set(const struct check *check, enum hone_distribution dist, int64_t set,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    const struct hone_check_plan *plan = check->plan;
    const struct hone_gpu_reference *reference = NULL;
    uint64_t counter = hone_gpu_check_counter(judge, plan->workload, dist);
    int code =
        hone_gpu_reference_get(judge, set, dist, counter, plan->oracle_budget_ns, &reference, err);
    if (code < 0)
        return code;
    if (reference != NULL)
        return hone_gpu_compare(judge, check->slot, set, reference, check->compare, ret, err);
    hone_compare_init(check->compare, judge->task, plan->workload);
    hone_judge_warn(judge,
                    "sizes too large for the task's oracle, which runs on the host, are "
                    "compared with the baseline only; fix: %s",
                    !judge->task->is_oracle_torch    ? "write ITEM in oracle.c"
                    : hone_gpu_host_has_large(judge) ? "none is needed, torch's device decides "
                                                       "where the two differ"
                                                     : "a torch with CUDA (HONE_PYTHON)");
    return 0;
}

/* Everything about the two sets of one distribution. */
static int judge_pair(const struct check *check, enum hone_distribution dist, int64_t set,
                      struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    int code = find_unwritten(judge, slot, set, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = compare_set(check, dist, set, ret, err);
    if (code == 0 && ret->reason == HONE_REASON_NONFINITE) { /* the poison's own NaN? */
        struct hone_outcome why = HONE_OUTCOME_INIT;
        code = explain_difference(judge, slot, set, &why, err);
        if (code == 0 && why.reason == HONE_REASON_UNINITIALISED)
            *ret = why;
        return code;
    }
    size_t output = 0;
    struct hone_gpu_found found = {0};
    if (code == 0 && hone_outcome_is_good(ret))
        code = find_difference(judge, slot, set, &output, &found, err);
    if (code < 0 || !hone_outcome_is_good(ret) || found.count == 0)
        return code;
    if (judge->task->is_deterministic)
        return explain_difference(judge, slot, set, ret, err);
    return compare_set(check, dist, set + 1, ret, err);
}

/* The two sets of a distribution lie in one frame, and a kernel could give the first one's answer
 * for the second: equal bits then say nothing. Called again while no answer to the same content is
 * anywhere in the frame. */
static int check_again(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       struct hone_outcome *ret, struct hone_err *err)
{
    size_t o = (size_t)hone_rng_below(&judge->rng, (int64_t)judge->task->n_outputs);
    struct hone_gpu_found found = {0};
    int code = keep_output(judge, slot, set, o, err);
    if (code == 0)
        code = poison_set(judge, slot, set, err);
    if (code == 0)
        code = poison_set(judge, slot, set + 1, err);
    if (code == 0)
        code = call_one(judge, slot, set, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_find_difference(judge, slot, o, set, judge->gpu->session->copy.base, &found,
                                        err);
    if (code == 0 && found.count > 0)
        set_element_end(judge, o, &found, HONE_REASON_NONDETERMINISTIC,
                        "differs between two calls with the same input", ret);
    return code;
}

/* What the calls left beside outputs and in the inputs. */
static int check_surroundings(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                              const uint64_t *before, struct hone_outcome *ret,
                              struct hone_err *err)
{
    uint64_t after[2 * MAX_PAIRS];
    int code = hone_gpu_check_canaries(judge, slot, ret, err);
    if (code == 0)
        code = hone_gpu_hash_inputs(judge, n_sets, after, err);
    if (code == 0 && hone_outcome_is_good(ret) &&
        memcmp(before, after, (size_t)n_sets * sizeof *after) != 0)
        hone_outcome_set(ret, HONE_REASON_INPUT_CHANGED, "the kernel changed an input");
    return code;
}

static int build_baseline(struct hone_judge *judge, struct hone_slot *baseline,
                          struct hone_outcome *ret, struct hone_err *err)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    return baseline->is_built ? 0 : hone_judge_build_arm(judge, baseline, NULL, ret, err);
}

/* The baseline's answer for a set whose content is there, in its own outputs, held to the oracle.
 * *ret_is_good: it can be relied on. */
static int certify_baseline(struct hone_judge *judge, const struct hone_check_plan *plan,
                            enum hone_distribution dist, int64_t set, bool *ret_is_good,
                            struct hone_err *err)
{
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_compare compare;
    const struct check check = {
        .judge = judge, .slot = baseline, .plan = plan, .compare = &compare};
    *ret_is_good = false;
    int code = build_baseline(judge, baseline, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_gpu_ready(judge, baseline, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = poison_set(judge, baseline, set, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = call_one(judge, baseline, set, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = compare_set(&check, dist, set, &end, err);
    *ret_is_good = code == 0 && hone_outcome_is_good(&end);
    if (*ret_is_good)
        hone_rests_note(&judge->rests, true, &compare);
    return code;
}

/* The oracle saw only some items: the rest against the baseline, which is held to the same items.
 * Where it saw all, the baseline's error is asked for alone, once a workload. */
static int compare_with_baseline(const struct check *check, enum hone_distribution dist,
                                 int64_t set, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_compare *compare = check->compare;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    bool is_good = false;
    if (baseline == NULL || baseline == check->slot)
        return 0;
    int code = certify_baseline(judge, check->plan, dist, set, &is_good, err);
    if (code == 0 && !is_good && !compare->is_full)
        hone_judge_warn(judge,
                        "workload '%s' was checked on random elements only: the baseline gave no "
                        "answer that could be relied on",
                        check->plan->workload->id);
    if (code < 0 || !is_good || compare->is_full)
        return code;
    const struct hone_gpu_like arms = {
        .slot = check->slot,
        .baseline = baseline,
        .first = set,
        .n = 1,
        .dist = dist,
        .counter = hone_gpu_check_counter(judge, check->plan->workload, dist)};
    return hone_gpu_judge_like(judge, &arms, compare, ret, err);
}

/* Whether the baseline passes this distribution; one that it fails is not applicable to the task.
 */
static int baseline_passes(struct hone_judge *judge, const struct hone_check_plan *plan,
                           enum hone_distribution dist, bool *ret, struct hone_err *err)
{
    *ret = true;
    if (hone_judge_slot(judge, "baseline") == NULL)
        return 0;
    int code = hone_gpu_set_frame(judge, plan->workload, 2, false, err);
    if (code == 0)
        code = hone_gpu_fill(judge, 0, 1, dist, hone_gpu_check_counter(judge, plan->workload, dist),
                             err);
    return code < 0 ? code : certify_baseline(judge, plan, dist, 0, ret, err);
}

static int prepare_batch(const struct check *check, const enum hone_distribution *dists, int64_t n,
                         uint64_t *ret_hashes, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    int code = 0;
    for (int64_t d = 0; d < n && code == 0; d++) {
        uint64_t counter = hone_gpu_check_counter(judge, check->plan->workload, dists[d]);
        for (int64_t s = 2 * d; s < 2 * d + 2 && code == 0; s++)
            code = hone_gpu_fill(judge, s, 1, dists[d], counter, err);
    }
    if (code == 0)
        code = hone_gpu_poison(judge, slot, 0, n, 2, HONE_POISON_NAN, err);
    if (code == 0)
        code = hone_gpu_poison(judge, slot, 1, n, 2, HONE_POISON_LARGE, err);
    return code == 0 ? hone_gpu_hash_inputs(judge, 2 * n, ret_hashes, err) : code;
}

/* ret_bad: the kind whose values are wrong, which is not noted yet: the baseline may fail it too.
 * Its comparison is in check->compare. n: there is none. */
static int check_batch(const struct check *check, const enum hone_distribution *dists, int64_t n,
                       int64_t *ret_bad, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    const struct hone_check_plan *plan = check->plan;
    struct hone_compare *compare = check->compare;
    uint64_t hashes[2 * MAX_PAIRS];
    *ret_bad = n; /* a fault: which one is not known */
    int code = hone_gpu_set_frame(judge, plan->workload, 2 * n, false, err);
    if (code == 0)
        code = hone_gpu_ready(judge, slot, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = prepare_batch(check, dists, n, hashes, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = call_pairs(judge, slot, n, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = check_surroundings(judge, slot, 2 * n, hashes, ret, err);
    if (code < 0)
        return code;
    if (!hone_outcome_is_good(ret))
        hone_judge_note(judge, plan, dists[0], NULL, ret);
    int64_t plainest = 0; /* first: what fails there is settled */
    for (int64_t d = 0; d < n; d++)
        plainest = dists[d] == HONE_DIST_NORMAL ? d : plainest;
    for (int64_t i = 0; i < n && hone_outcome_is_good(ret); i++) {
        int64_t d = i == 0 ? plainest : i == plainest ? 0 : i;
        hone_compare_init(compare, judge->task, plan->workload);
        code = judge_pair(check, dists[d], 2 * d, ret, err);
        bool needs_baseline =
            compare->is_full ? hone_rests_wants(plan, dists[d]) : hone_compare_needs_all(dists[d]);
        if (code == 0 && hone_outcome_is_good(ret) && plan->with_baseline && needs_baseline)
            code = compare_with_baseline(check, dists[d], 2 * d, ret, err);
        if (code < 0)
            return code;
        if (hone_outcome_is_good(ret))
            hone_judge_note(judge, plan, dists[d], compare, ret);
        *ret_bad = d;
    }
    if (!hone_outcome_is_good(ret))
        return 0;
    *ret_bad = n;
    code = hone_gpu_near_check(judge, slot, plan, dists, n, ret, err);
    if (!judge->task->is_deterministic || code < 0 || !hone_outcome_is_good(ret))
        return code;
    code = check_again(judge, slot, 2 * plainest, ret, err);
    if (code == 0 && !hone_outcome_is_good(ret))
        hone_judge_note(judge, plan, dists[plainest], NULL, ret);
    return code;
}

/* The same content with the other guard beside it. */
static int check_start_flush(struct hone_judge *judge, struct hone_slot *slot,
                             const struct hone_check_plan *plan, struct hone_outcome *ret,
                             struct hone_err *err)
{
    struct hone_compare compare;
    const struct check check = {.judge = judge, .slot = slot, .plan = plan, .compare = &compare};
    uint64_t hash = 0;
    uint64_t counter = hone_gpu_check_counter(judge, plan->workload, HONE_DIST_NORMAL);
    int code = hone_gpu_set_frame(judge, plan->workload, 1, true, err);
    if (code == 0)
        code = hone_gpu_ready(judge, slot, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_fill(judge, 0, 1, HONE_DIST_NORMAL, counter, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = poison_set(judge, slot, 0, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_hash_inputs(judge, 1, &hash, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = call_one(judge, slot, 0, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = check_surroundings(judge, slot, 1, &hash, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = compare_set(&check, HONE_DIST_NORMAL, 0, ret, err);
    if (code == 0 && !hone_outcome_is_good(ret))
        hone_judge_note(judge, plan, HONE_DIST_NORMAL, NULL, ret);
    return code;
}

static int check_all(struct hone_judge *judge, struct hone_slot *slot,
                     const struct hone_check_plan *plan, struct hone_outcome *ret,
                     struct hone_err *err)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    enum hone_distribution dists[HONE_N_DISTS];
    memcpy(dists, plan->dists, plan->n_dists * sizeof *dists);
    hone_judge_shuffle(judge, dists, plan->n_dists);
    int64_t at_once = hone_max_i64(hone_gpu_max_sets(judge, plan->workload) / 2, 1);
    int64_t n_left = (int64_t)plan->n_dists;
    for (int64_t done = 0; done < n_left;) {
        int64_t n = hone_min_i64(n_left - done, hone_min_i64(at_once, MAX_PAIRS)), bad = 0;
        struct hone_compare compare;
        const struct check check = {
            .judge = judge, .slot = slot, .plan = plan, .compare = &compare};
        int code = check_batch(&check, dists + done, n, &bad, ret, err);
        if (code < 0)
            return code;
        if (hone_outcome_is_good(ret)) {
            done += n;
            continue;
        }
        bool passes = true;
        if (bad < n && !hone_compare_is_plain(dists[done + bad]) && hone_outcome_is_value(ret))
            code = baseline_passes(judge, plan, dists[done + bad], &passes, err);
        if (code == 0 && passes && bad < n)
            hone_judge_note(judge, plan, dists[done + bad], &compare, ret);
        if (code < 0 || passes)
            return code;
        hone_contents_leave_out(judge, dists[done + bad], plan->workload->id);
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
        n_left--; /* the others of the batch are called again, without it */
        dists[done + bad] = dists[n_left];
    }
    bool is_smoke = plan->workload == &judge->cases[0];
    return is_smoke ? check_start_flush(judge, slot, plan, ret, err) : 0;
}

int hone_gpu_judge_check(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_check_plan *plan, struct hone_outcome *ret,
                         struct hone_err *err)
{
    judge->gpu->is_checking = true;
    int code = check_all(judge, slot, plan, ret, err);
    judge->gpu->is_checking = false;
    return code;
}
