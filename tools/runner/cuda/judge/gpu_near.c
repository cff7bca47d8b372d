/* SPDX-License-Identifier: Apache-2.0 */
/* Nearly equal content on a device (near.h has the idea).
 *
 * Steps, each followed by a call and a comparison: change one element of a set, change it back,
 * move an element, exchange two inputs. A wrong answer is first held to the baseline on the
 * same content, and to a fresh process, before anybody is accused. */
#include "tools/runner/cuda/judge/gpu_near.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/near.h"
#include "workspace/base/clock.h"

#define MOST_STEPS  48
#define ORACLE_NS   (30 * HONE_NS_PER_MS)
#define ACCUSE_NS   (2 * HONE_NS_PER_S) /* of the oracle, before anyone is accused while timed */
#define MOST_CALLED 4 /* calls of a block: a set that changed, and one with what it held */
#define MAX_SETS    (2 * HONE_N_DISTS)

struct near {
    struct hone_judge *judge;
    struct hone_slot *slot;
    const struct hone_check_plan *plan;
    const enum hone_distribution *dists; /* of pairs */
    int64_t n_sets, favourite;
    bool is_changed[MAX_SETS];
    int32_t called[MOST_CALLED]; /* by the present step */
    int64_t n_called;
    const char *what; /* is special about it */
    struct hone_compare compare;
};

/* ---- content ---- */

struct place {
    struct hone_judge *judge;
    int64_t set;
};

static hone_cu_ptr element_at(const struct place *p, size_t input, int64_t i)
{
    int64_t bytes = hone_dtype_bytes(p->judge->task->inputs[input].dtype);
    return hone_gpu_input(p->judge, p->set, input) + (hone_cu_ptr)(bytes * i);
}

static int get_element(void *arg, size_t input, int64_t i, double *ret, struct hone_err *err)
{
    const struct place *p = arg;
    enum hone_dtype dtype = p->judge->task->inputs[input].dtype;
    uint64_t room = 0;
    int code = hone_gpu_fetch(p->judge->gpu->session, &room, element_at(p, input, i),
                              hone_dtype_bytes(dtype), err);
    *ret = hone_element_get(dtype, &room, 0);
    return code;
}

static int set_element(void *arg, size_t input, int64_t i, double value, struct hone_err *err)
{
    const struct place *p = arg;
    enum hone_dtype dtype = p->judge->task->inputs[input].dtype;
    uint64_t room = 0;
    hone_element_set(dtype, &room, 0, value);
    return hone_gpu_store(p->judge->gpu->session, element_at(p, input, i), &room,
                          hone_dtype_bytes(dtype), err);
}

static int change_set(struct hone_judge *judge, int64_t set, enum hone_distribution dist,
                      struct hone_err *err)
{
    struct place place = {judge, set};
    const struct hone_near_io io = {.arg = &place, .get = get_element, .set = set_element};
    int64_t n = 0;
    return hone_near_change(judge, judge->gpu->frame.workload, dist, &io, &n, err);
}

static int change(struct near *near, int64_t set, struct hone_err *err)
{
    enum hone_distribution dist = near->is_changed[set] ? HONE_DIST_OUTLIER : near->dists[set / 2];
    near->is_changed[set] = true;
    return change_set(near->judge, set, dist, err);
}

static int copy(struct hone_judge *judge, hone_cu_ptr to, hone_cu_ptr from, int64_t bytes,
                struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    return hone_gpu_check(session,
                          session->cu->MemcpyDtoDAsync(to, from, (size_t)bytes, session->stream),
                          "copying an input", err);
}

static int copy_set(struct near *near, int64_t from, int64_t to, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    int code = 0;
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++)
        code = copy(judge, hone_gpu_input(judge, to, i), hone_gpu_input(judge, from, i),
                    judge->gpu->frame.layout.bytes[i], err);
    near->is_changed[to] = true;
    return code;
}

static int swap_inputs(struct near *near, int64_t set, size_t a, size_t b, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    int64_t bytes = judge->gpu->frame.layout.bytes[a];
    hone_cu_ptr x = hone_gpu_input(judge, set, a), y = hone_gpu_input(judge, set, b);
    int code = hone_gpu_buffer_need(session, &session->copy, hone_max_i64(bytes, 16), err);
    if (code == 0)
        code = copy(judge, session->copy.base, x, bytes, err);
    if (code == 0)
        code = copy(judge, x, y, bytes, err);
    near->is_changed[set] = true;
    return code == 0 ? copy(judge, y, session->copy.base, bytes, err) : code;
}

/* ---- comparing ---- */

static int reference_of(struct near *near, int64_t set, const struct hone_gpu_reference **ret,
                        struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    enum hone_distribution dist = near->dists[set / 2];
    uint64_t counter = hone_gpu_check_counter(judge, near->plan->workload, dist);
    int64_t budget_ns = near->plan->oracle_budget_ns;
    if (near->is_changed[set]) { /* a number of its own: no other content is meant by it */
        dist = HONE_DIST_OUTLIER;
        counter = judge->counter++ * HONE_GPU_MAX_SETS + (uint64_t)set;
        budget_ns = hone_min_i64(budget_ns, ORACLE_NS);
    }
    return hone_gpu_reference_get(judge, set, dist, counter, budget_ns, ret, err);
}

/* The baseline's answer for a set, held to the oracle as far as that can be paid. */
static int ask_baseline(struct near *near, int64_t set, const struct hone_gpu_reference *reference,
                        struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    struct hone_compare compare;
    int32_t one = (int32_t)set;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int code = !baseline->is_built ? hone_judge_build_arm(judge, baseline, NULL, ret, err) : 0;
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_ready(judge, baseline, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_poison(judge, baseline, set, 1, 1, HONE_POISON_NAN, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_call(judge, baseline, &one, 1, HONE_GPU_SCRATCH_POISON, 0, NULL, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && reference != NULL)
        code = hone_gpu_compare(judge, baseline, set, reference, &compare, ret, err);
    return code;
}

static int compare_set(struct near *near, int64_t set, struct hone_outcome *ret,
                       struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    const struct hone_gpu_reference *reference = NULL;
    struct hone_outcome theirs = HONE_OUTCOME_INIT;
    int code = reference_of(near, set, &reference, err);
    hone_compare_init(&near->compare, judge->task, near->plan->workload);
    if (code == 0 && reference != NULL)
        code = hone_gpu_compare(judge, near->slot, set, reference, &near->compare, ret, err);
    bool is_accused = hone_outcome_is_value(ret),
         is_open = hone_outcome_is_good(ret) && near->plan->with_baseline && !near->compare.is_full;
    if (code < 0 || baseline == NULL || baseline == near->slot || !(is_accused || is_open))
        return code;
    code = ask_baseline(near, set, reference, &theirs, err);
    if (code == 0 && !hone_outcome_is_good(&theirs))
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT; /* such content accuses nobody */
    else if (code == 0 && is_open)
        code = hone_gpu_judge_like(judge,
                                   &(struct hone_gpu_like){.slot = near->slot,
                                                           .baseline = baseline,
                                                           .first = set,
                                                           .n = 1,
                                                           .dist = near->dists[set / 2]},
                                   &near->compare, ret, err);
    return code;
}

static int find_unwritten(struct near *near, int64_t set, struct hone_outcome *ret,
                          struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    for (size_t o = 0; o < judge->task->n_outputs && hone_outcome_is_good(ret); o++) {
        struct hone_gpu_found found = {0};
        if (!hone_dtype_is_float(judge->task->outputs[o].dtype))
            continue;
        int code = hone_gpu_find_poison(judge, near->slot, o, set, 1, 1, false, &found, err);
        if (code < 0)
            return code;
        if (found.count > 0)
            hone_judge_element_end(judge, near->plan->workload,
                                   &(struct hone_elements){o, found.first, found.count},
                                   HONE_REASON_UNWRITTEN, "was not written", ret);
    }
    return 0;
}

static int blame(struct near *near, int64_t set, struct hone_outcome *ret, struct hone_err *err)
{
    int32_t one = (int32_t)set;
    int code = hone_gpu_blame(near->judge, near->slot, &one, 1, ret, err);
    const struct hone_slot *baseline = hone_judge_slot(near->judge, "baseline");
    if (code == 0 && ret->reason != HONE_REASON_STATEFUL &&
        (baseline == NULL || baseline == near->slot))
        *ret = (struct hone_outcome)
            HONE_OUTCOME_INIT; /* its arithmetic, which the kinds have judged */
    if (code < 0 || ret->reason != HONE_REASON_STATEFUL)
        return code;
    struct hone_outcome end = *ret;
    hone_outcome_set(ret, HONE_REASON_STATEFUL, "%s, and the answer is an older one's: %s",
                     near->what, end.detail);
    return 0;
}

/* Outputs as hone_near_fill draws them. */
static int fill_outputs(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        struct hone_err *err)
{
    enum hone_near_fill fill = hone_near_fill(judge);
    int code = 0;
    if (fill == HONE_NEAR_POISON)
        return hone_gpu_poison(judge, slot, set, 1, 1, HONE_POISON_NAN, err);
    for (size_t o = 0; o < judge->task->n_outputs && fill == HONE_NEAR_PART && code == 0; o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        struct hone_near_part part = hone_near_part(judge, hone_gpu_output_elements(judge, o));
        int64_t bytes = hone_dtype_bytes(dtype);
        struct hone_k_poison args = {.base = hone_gpu_output(judge, slot, set, o) +
                                             (hone_cu_ptr)(part.first * bytes),
                                     .n = part.length,
                                     .stride = part.step * bytes,
                                     .n_sets = part.count,
                                     .element_bytes = bytes,
                                     .bits = hone_poison_bits(dtype, HONE_POISON_NAN)};
        code = hone_gpu_launch(judge->gpu->session, HONE_GPU_KERNEL_POISON, args.n, part.count,
                               &args, err);
    }
    if (code == 0)
        code = hone_gpu_pad(judge, slot, set, 1, 1, err);
    return code;
}

/* Judges put a module's memory back before each block, so that nearly equal sets are called in one.
 * Scratch is as it was left, or poison. */
static int call_and_compare(struct near *near, int64_t set, struct hone_outcome *ret,
                            struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    const int64_t sets[] = {set, set ^ 1};
    int code = 0;
    for (size_t i = 0; i < HONE_COUNTOF(sets) && code == 0; i++)
        code = fill_outputs(judge, near->slot, sets[i], err);
    bool keeps_scratch = hone_rng_below(&judge->rng, 2) == 0;
    if (code == 0 && keeps_scratch)
        code = hone_gpu_call_on(judge, near->slot, near->called, near->n_called, 0, ret, err);
    else if (code == 0)
        code = hone_gpu_call(judge, near->slot, near->called, near->n_called,
                             HONE_GPU_SCRATCH_POISON, 0, NULL, ret, err);
    for (size_t i = 0; i < HONE_COUNTOF(sets) && code == 0 && hone_outcome_is_good(ret); i++) {
        code = find_unwritten(near, sets[i], ret, err);
        if (code == 0 && hone_outcome_is_good(ret))
            code = compare_set(near, sets[i], ret, err);
        if (code == 0 && hone_outcome_is_value(ret))
            code = blame(near, sets[i], ret, err);
    }
    return code;
}

/* ---- steps ---- */

typedef int step_fn(struct near *near, int64_t set, struct hone_err *err);

static int step_change(struct near *near, int64_t set, struct hone_err *err)
{
    near->what = "some elements of its inputs changed in place";
    return change(near, set, err);
}

/* Nothing changes but the outputs, perhaps. */
static int step_again(struct near *near, int64_t set, struct hone_err *err)
{
    (void)set;
    (void)err;
    near->what = "it was called again with the same inputs";
    return 0;
}

static int step_back(struct near *near, int64_t set, struct hone_err *err)
{
    enum hone_distribution dist = near->dists[set / 2];
    near->what = "its inputs changed back";
    near->is_changed[set] = false;
    return hone_gpu_fill(near->judge, set, 1, dist,
                         hone_gpu_check_counter(near->judge, near->plan->workload, dist), err);
}

static int step_move(struct near *near, int64_t set, struct hone_err *err)
{
    int64_t from = hone_rng_below(&near->judge->rng, near->n_sets);
    near->what = "its inputs became nearly another call's";
    int code = from != set ? copy_set(near, from, set, err) : 0;
    if (code == 0)
        code = copy_set(near, set, set ^ 1, err);
    return code == 0 ? change(near, set, err) : code;
}

static int step_swap(struct near *near, int64_t set, struct hone_err *err)
{
    size_t a = 0, b = 0;
    if (!hone_near_pair(near->judge, near->plan->workload, &a, &b))
        return step_change(near, set, err);
    near->what = "two of its inputs changed places";
    return swap_inputs(near, set, a, b, err);
}

static step_fn *const steps[] = {step_change, step_swap, step_again,
                                 step_change, step_move, step_back};
#define N_STEPS HONE_COUNTOF(steps)

static int one_step(struct near *near, size_t k, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_rng *rng = &near->judge->rng;
    int64_t pair =
        hone_rng_below(rng, 2) == 0 ? near->favourite : hone_rng_below(rng, near->n_sets / 2);
    int64_t set = 2 * pair + hone_rng_below(rng, 2);
    int code = copy_set(near, set, set ^ 1, err); /* what it held, at another address */
    if (code == 0)
        code = steps[hone_near_kind(near->judge, k, N_STEPS)](near, set, err);
    near->n_called = 2 + hone_rng_below(rng, MOST_CALLED - 1);
    for (int64_t i = 0; i < near->n_called; i++)
        near->called[i] = (int32_t)(set ^ hone_rng_below(rng, 2));
    int64_t at = hone_rng_below(rng, near->n_called); /* each of the two somewhere */
    near->called[at] = (int32_t)set;
    near->called[(at + 1) % near->n_called] = (int32_t)(set ^ 1);
    return code == 0 ? call_and_compare(near, set, ret, err) : code;
}

int hone_gpu_near_check(struct hone_judge *judge, struct hone_slot *slot,
                        const struct hone_check_plan *plan, const enum hone_distribution *dists,
                        int64_t n_pairs, struct hone_outcome *ret, struct hone_err *err)
{
    struct near near = {.judge = judge,
                        .slot = slot,
                        .plan = plan,
                        .dists = dists,
                        .n_sets = 2 * n_pairs,
                        .favourite = hone_rng_below(&judge->rng, n_pairs)};
    struct hone_check_plan row = *plan;
    int64_t start = hone_now_ns();
    int code = 0;
    bool is_smoke = strcmp(plan->name, "smoke") == 0;
    int64_t limit_ns = hone_near_limit_ns(judge, plan);
    if (limit_ns == 0)
        return 0;
    row.name = HONE_NEAR_ROW;
    hone_compare_init(&near.compare, judge->task, plan->workload);
    for (size_t k = 0; k < MOST_STEPS && code == 0 && hone_outcome_is_good(ret) &&
                       (k == 0 || hone_now_ns() - start < limit_ns);
         k++)
        code = one_step(&near, k, ret, err);
    if (code == 0)
        hone_judge_note(judge, &row, dists[near.favourite], &near.compare, ret);
    hone_judge_cost(judge, is_smoke ? "smoke.near" : "verify.near", hone_now_ns() - start);
    return code;
}

/* ---- while timed ---- */

int hone_gpu_near_timed(struct hone_gpu_run *run, struct hone_gpu_lane *lane,
                        struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = run->judge;
    const int32_t *order = NULL;
    uint64_t base = 0;
    int code = hone_gpu_run_fill(run, &base, err);
    if (code == 0)
        code = hone_gpu_run_block(run, lane, lane->n_calls, &order, NULL, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    int32_t set = order[hone_rng_below(&judge->rng, lane->n_calls)];
    code = change_set(judge, set, HONE_DIST_NORMAL, err);
    if (code == 0)
        code = fill_outputs(judge, lane->slot, set, err);
    if (code == 0)
        code = hone_gpu_call_on(judge, lane->slot, &set, 1, lane->call_ns, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_run_like(run, lane, &set, 1, ret, err);
    if (code < 0 || !hone_outcome_is_value(ret))
        return code;
    /* So far it is the baseline's word, which may be the one that is inexact. A module loaded anew
     * that says what the baseline says settles it; else the oracle is asked. */
    struct hone_outcome again = HONE_OUTCOME_INIT;
    code = hone_gpu_run_blame(run, lane, &set, 1, ret, err);
    if (code == 0 && ret->reason == HONE_REASON_STATEFUL)
        code = hone_gpu_run_like(run, lane, &set, 1, &again, err);
    if (code < 0 || hone_gpu_run_baseline(run) == NULL ||
        (ret->reason == HONE_REASON_STATEFUL && hone_outcome_is_good(&again)))
        return code;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    return hone_gpu_run_whole(run, lane, set, HONE_DIST_OUTLIER, ACCUSE_NS, ret, err);
}
