/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's side: near.h.
 *
 * A step changes a set, calls it (now and then another one first), and compares everything: with
 * the oracle where it can be asked for all, else with the baseline's answer over all elements.
 * A wrong answer accuses only where the baseline is right for the same content; and it is
 * `stateful` where a process that starts afresh says otherwise (hone_judge_blame). At least one
 * step is made, and as many as hone_near_limit_ns pays for, up to MOST_STEPS. */
#include "tools/runner/judge/near.h"

#include <math.h>
#include <string.h>

#include "workspace/base/clock.h"

#define MOST_STEPS     32
#define ORACLE_NS      (30 * HONE_NS_PER_MS)
#define PERTURB_BYTE   0x5a
#define REMAP_BYTES    (64ll << 20) /* larger frames are not mapped anew for another size */
#define SIZE_TRIES     8
#define PARAMETER_SETS 3 /* that are called with another size or scalar */

struct near {
    struct hone_judge *judge;
    struct hone_slot *slot;
    const struct hone_check_plan *plan; /* NULL: timed */
    int64_t n_sets;
    int64_t favourite; /* pair that every second step is about */
    int64_t oracle_ns;
    struct hone_compare compare; /* of the last comparison */
};

/* ---- elements on the host ---- */

struct place {
    struct hone_judge *judge;
    int64_t set;
};

static void *tensor_at(const struct place *p, size_t input)
{
    return hone_shared_tensor(&p->judge->inputs, &p->judge->frame.layout, p->set, (int64_t)input);
}

static int get_element(void *arg, size_t input, int64_t i, double *ret, struct hone_err *err)
{
    const struct place *p = arg;
    (void)err;
    *ret = hone_element_get(p->judge->task->inputs[input].dtype, tensor_at(p, input), i);
    return 0;
}

static int set_element(void *arg, size_t input, int64_t i, double value, struct hone_err *err)
{
    const struct place *p = arg;
    (void)err;
    hone_element_set(p->judge->task->inputs[input].dtype, tensor_at(p, input), i, value);
    return 0;
}

static int change_set(struct hone_judge *judge, int64_t set, int64_t *ret_n, struct hone_err *err)
{
    struct place place = {judge, set};
    const struct hone_near_io io = {.arg = &place, .get = get_element, .set = set_element};
    enum hone_distribution dist = judge->frame.dists[set];
    int code = hone_near_change(judge, judge->frame.workload, dist, &io, ret_n, err);
    judge->frame.n_filled = 0;
    judge->frame.dists[set] = HONE_DIST_OUTLIER; /* nothing that averages out */
    return code;
}

/* ---- calling and comparing ---- */

/* Only the NaN is poison here: a 16-bit answer may well be the large number. */
static int64_t find_poison(enum hone_dtype dtype, const void *values, int64_t n, int64_t *ret_count)
{
    uint64_t bits = hone_poison_bits(dtype, HONE_POISON_NAN);
    int64_t first = -1;
    *ret_count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!hone_element_is(dtype, values, i, bits))
            continue;
        first = first < 0 ? i : first;
        ++*ret_count;
    }
    return first;
}

static void check_written(struct near *near, int64_t set, struct hone_outcome *ret)
{
    struct hone_judge *judge = near->judge;
    hone_judge_check_canaries(judge, near->slot, set, ret);
    for (size_t o = 0; o < judge->task->n_outputs && hone_outcome_is_good(ret); o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        struct hone_elements found = {.output = o, .first = -1};
        if (hone_dtype_is_float(dtype)) /* an integer may well be the poison's bits */
            found.first = find_poison(dtype, hone_judge_output(judge, near->slot, set, o),
                                      hone_judge_output_elements(judge, o), &found.count);
        if (found.first >= 0)
            hone_judge_element_end(judge, judge->frame.workload, &found, HONE_REASON_UNWRITTEN,
                                   "was not written", ret);
    }
}

/* Content that the task's own baseline is wrong for accuses nobody. */
static int baseline_passes(struct near *near, int64_t set, bool *ret, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_compare compare;
    *ret = true;
    if (baseline == NULL || baseline == near->slot)
        return 0;
    int code = !baseline->is_built ? hone_judge_build_arm(judge, baseline, NULL, &end, err) : 0;
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    code = hone_judge_call_one(judge, baseline, set, 0, err);
    if (code < 0 || !baseline->arena->is_alive)
        return code;
    code = hone_judge_compare(judge, baseline, set, near->oracle_ns, &compare, &end, err);
    *ret = hone_outcome_is_good(&end);
    return code;
}

/* Where the oracle runs the whole task for one answer, the baseline stands for it while arms are
 * timed: it has been held to the oracle. */
static int compare_all(struct near *near, int64_t set, struct hone_outcome *ret,
                       struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    bool is_dear = judge->task->steps != NULL || judge->task->is_oracle_naive_double;
    if (near->plan == NULL && is_dear && baseline != NULL)
        return hone_judge_compare_like(judge, near->slot, baseline, set, ret, err);
    if (baseline != NULL && !baseline->is_built) /* no check has needed it yet */
        return hone_judge_compare(judge, near->slot, set, near->oracle_ns, &near->compare, ret,
                                  err);
    return hone_judge_compare_whole(judge, near->slot, set, near->oracle_ns, &near->compare, ret,
                                    err);
}

/* Outputs as hone_near_fill draws them. */
static void fill_outputs(struct near *near, int64_t set)
{
    struct hone_judge *judge = near->judge;
    const struct hone_layout *layout = &judge->frame.layout;
    struct hone_shared *own = &near->slot->arena->own;
    enum hone_near_fill fill = hone_near_fill(judge);
    if (fill == HONE_NEAR_POISON)
        hone_judge_poison(judge, near->slot, set, HONE_POISON_NAN);
    for (size_t o = 0; o < judge->task->n_outputs && fill != HONE_NEAR_POISON; o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        int64_t t = (int64_t)(judge->task->n_inputs + o);
        char *base = hone_shared_tensor(own, layout, set, t);
        struct hone_near_part part = hone_near_part(judge, hone_judge_output_elements(judge, o));
        hone_canary_fill(own, layout, set, t); /* the size may be another one */
        for (int64_t k = 0; k < part.count && fill == HONE_NEAR_PART; k++)
            hone_poison_fill(dtype, HONE_POISON_NAN,
                             base + (part.first + k * part.step) * hone_dtype_bytes(dtype),
                             part.length);
    }
    hone_judge_pad(judge, near->slot, set);
}

static int call_and_compare(struct near *near, int64_t set, const char *what,
                            struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    bool is_perturbed = near->plan != NULL && hone_rng_below(&judge->rng, 2) == 0;
    struct hone_calls calls = {.first_set = set,
                               .n_rotate = 1,
                               .n_calls = 1,
                               .perturb = is_perturbed ? PERTURB_BYTE : 0,
                               .timeout_ns = judge->call_timeout_ns};
    fill_outputs(near, set);
    int code = hone_arena_call(near->slot->arena, &calls, NULL, err);
    *ret = near->slot->arena->end;
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    check_written(near, set, ret);
    if (hone_outcome_is_good(ret))
        code = compare_all(near, set, ret, err);
    if (code < 0 || !hone_outcome_is_value(ret))
        return code;
    bool passes = true;
    code = baseline_passes(near, set, &passes, err);
    if (code == 0 && !passes)
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (code == 0 && passes)
        code = hone_judge_blame(judge, near->slot, set, ret, err);
    bool has_other = hone_judge_slot(judge, "baseline") != NULL &&
                     hone_judge_slot(judge, "baseline") != near->slot;
    if (code == 0 && hone_outcome_is_value(ret) && !has_other)
        *ret = (struct hone_outcome)
            HONE_OUTCOME_INIT; /* its arithmetic, which the kinds have judged */
    if (code == 0 && ret->reason == HONE_REASON_STATEFUL) {
        struct hone_outcome end = *ret;
        hone_outcome_set(ret, HONE_REASON_STATEFUL, "%s, and the answer is an older one's: %s",
                         what, end.detail);
    }
    return code;
}

/* ---- steps; each leaves a set that was called with what it holds ---- */

typedef int step_fn(struct near *near, int64_t set, struct hone_outcome *ret, struct hone_err *err);

static int step_change(struct near *near, int64_t set, struct hone_outcome *ret,
                       struct hone_err *err)
{
    int64_t n = 0;
    int code = change_set(near->judge, set, &n, err);
    return code == 0 ? call_and_compare(near, set, "some elements of its inputs changed in place",
                                        ret, err)
                     : code;
}

/* Nothing changed but the outputs, perhaps. */
static int step_again(struct near *near, int64_t set, struct hone_outcome *ret,
                      struct hone_err *err)
{
    return call_and_compare(near, set, "it was called again with the same inputs", ret, err);
}

/* The content that the set had, or that its twin has become. */
static int step_back(struct near *near, int64_t set, struct hone_outcome *ret, struct hone_err *err)
{
    hone_judge_copy_set(near->judge, set ^ 1, set);
    return call_and_compare(near, set, "its inputs changed back", ret, err);
}

/* Another set's content here, and a little of it changed. */
static int step_move(struct near *near, int64_t set, struct hone_outcome *ret, struct hone_err *err)
{
    int64_t from = hone_rng_below(&near->judge->rng, near->n_sets), n = 0;
    int code = 0;
    if (from != set)
        hone_judge_copy_set(near->judge, from, set);
    if (from == set || hone_rng_below(&near->judge->rng, 2) == 0)
        code = change_set(near->judge, set, &n, err);
    return code == 0
               ? call_and_compare(near, set, "its inputs became nearly another call's", ret, err)
               : code;
}

static int step_swap(struct near *near, int64_t set, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    size_t a = 0, b = 0;
    if (!hone_near_pair(judge, judge->frame.workload, &a, &b))
        return step_change(near, set, ret, err);
    struct place place = {judge, set};
    char *x = tensor_at(&place, a), *y = tensor_at(&place, b);
    for (int64_t i = 0; i < judge->frame.layout.bytes[a]; i++) {
        char kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
    judge->frame.n_filled = 0;
    judge->frame.dists[set] = HONE_DIST_OUTLIER;
    return call_and_compare(near, set, "two of its inputs changed places", ret, err);
}

/* Two axes that change places: what is known again by a product of sizes is then the old one. */
static void swap_axes(struct hone_judge *judge, struct hone_workload *ret)
{
    size_t a = (size_t)hone_rng_below(&judge->rng, (int64_t)judge->task->n_axes),
           b = (size_t)hone_rng_below(&judge->rng, (int64_t)judge->task->n_axes);
    bool is_var =
        judge->task->axes[a].kind == HONE_AXIS_VAR && judge->task->axes[b].kind == HONE_AXIS_VAR;
    int64_t kept = ret->axes[a];
    if (!is_var)
        return;
    ret->axes[a] = ret->axes[b];
    ret->axes[b] = kept;
}

static bool shorten_axis(struct hone_judge *judge, struct hone_workload *ret)
{
    const struct hone_task *task = judge->task;
    int64_t a = hone_rng_below(&judge->rng, (int64_t)task->n_axes);
    const struct hone_axis *axis = &task->axes[a];
    int64_t step = hone_max_i64(axis->multiple, 1), n_less = (ret->axes[a] - axis->min) / step;
    if (axis->kind != HONE_AXIS_VAR || n_less < 1)
        return false;
    ret->axes[a] -= step * (1 + hone_rng_below(&judge->rng, n_less));
    return true;
}

/* A legal size that fits into the buffers of the present one. */
static bool smaller_size(struct hone_judge *judge, struct hone_workload *ret)
{
    const struct hone_task *task = judge->task;
    const struct hone_layout *layout = &judge->frame.layout;
    *ret = *judge->frame.workload;
    if (hone_rng_below(&judge->rng, 2) == 0)
        swap_axes(judge, ret);
    else if (!shorten_axis(judge, ret))
        return false;
    if (memcmp(ret->axes, judge->frame.workload->axes, sizeof ret->axes) == 0)
        return false;
    if (hone_task_resolve(task, ret, NULL) < 0)
        return false;
    for (size_t t = 0; t < task->n_inputs + task->n_outputs; t++) {
        const struct hone_tensor *tensor =
            t < task->n_inputs ? &task->inputs[t] : &task->outputs[t - task->n_inputs];
        int64_t n = hone_tensor_elements(task, tensor, ret);
        if (n < 1 || n * hone_dtype_bytes(tensor->dtype) > layout->bytes[t])
            return false;
    }
    return true;
}

/* Values stay where they are; what is bound to a size is drawn for the new one. */
static void fit_content(struct hone_judge *judge, int64_t set)
{
    struct place place = {judge, set};
    for (size_t i = 0; i < judge->task->n_inputs; i++) {
        enum hone_role role = judge->task->inputs[i].role;
        if (role == HONE_ROLE_INDEX || role == HONE_ROLE_OFFSETS || role == HONE_ROLE_PROBABILITY ||
            hone_role_is_placed(role))
            hone_gen_input(judge->gen, judge->task, judge->frame.workload, i, HONE_DIST_NORMAL,
                           judge->counter++, tensor_at(&place, i));
    }
    judge->frame.n_filled = 0;
    judge->frame.dists[set] = HONE_DIST_OUTLIER;
}

static void unmap_all(struct hone_judge *judge)
{
    for (size_t i = 0; i < judge->n_slots; i++)
        judge->slots[i].is_mapped = false;
    judge->oracle.is_mapped = false;
}

static bool other_scalar(struct hone_judge *judge)
{
    bool has_any = false;
    for (size_t i = 0; i < judge->task->n_scalars; i++) {
        const struct hone_scalar *row = &judge->task->scalars[i];
        double u = (double)hone_rng_below(&judge->rng, INT32_MAX) / (double)INT32_MAX;
        if (!(row->max > row->min))
            continue;
        judge->frame.scalars[i] =
            hone_element_round(row->dtype, row->min + u * (row->max - row->min));
        has_any = true;
    }
    return has_any;
}

/* The layout stays, so that every content that begins at the start of its room stays where it is.
 */
static void use_size(struct hone_judge *judge, const struct hone_workload *other)
{
    struct hone_frame *frame = &judge->frame;
    const struct hone_task *task = judge->task;
    frame->workload = other;
    for (size_t t = 0; t < task->n_inputs + task->n_outputs; t++) {
        const struct hone_tensor *tensor =
            t < task->n_inputs ? &task->inputs[t] : &task->outputs[t - task->n_inputs];
        frame->layout.bytes[t] =
            hone_tensor_elements(task, tensor, other) * hone_dtype_bytes(tensor->dtype);
    }
}

static int call_some(struct near *near, const int64_t *sets, bool is_size, struct hone_outcome *ret,
                     struct hone_err *err)
{
    const char *what = is_size ? "another size was asked for on the same buffers"
                               : "another scalar was given with the same buffers";
    unmap_all(near->judge);
    int code = hone_judge_ready(near->judge, near->slot, ret, err);
    for (int i = 0; i < PARAMETER_SETS && code == 0 && hone_outcome_is_good(ret); i++) {
        if (is_size)
            fit_content(near->judge, sets[i]);
        code = call_and_compare(near, sets[i], what, ret, err);
    }
    return code;
}

/* Same buffers, another size or another scalar; then everything as it was. Even sets: there content
 * begins at the start of its room, whatever its size. */
static int step_parameter(struct near *near, int64_t set, struct hone_outcome *ret,
                          struct hone_err *err)
{
    struct hone_judge *judge = near->judge;
    struct hone_frame *frame = &judge->frame;
    const struct hone_layout layout = frame->layout;
    const struct hone_workload *workload = frame->workload;
    struct hone_workload other;
    int64_t sets[PARAMETER_SETS] = {set & ~(int64_t)1};
    double scalars[HONE_LIMIT_AXES];
    bool is_size = false;
    if ((layout.input_stride + layout.output_stride) * layout.n_sets > REMAP_BYTES)
        return step_change(near, set, ret, err);
    memcpy(scalars, frame->scalars, sizeof scalars);
    for (int try = 0; try < SIZE_TRIES && !is_size; try++)
        is_size = smaller_size(judge, &other);
    bool is_scalar = other_scalar(judge);
    if (!is_size && !is_scalar)
        return step_change(near, set, ret, err);
    is_size = is_size && (!is_scalar || hone_rng_below(&judge->rng, 2) == 0);
    if (is_size)
        use_size(judge, &other);
    for (int i = 1; i < PARAMETER_SETS; i++)
        sets[i] = 2 * hone_rng_below(&judge->rng, near->n_sets / 2);
    int code = call_some(near, sets, is_size, ret, err);
    struct hone_outcome end = *ret;
    hone_sizes_name(judge, frame->workload, &end); /* the size that failed is this one */
    frame->workload = workload;
    frame->layout = layout;
    memcpy(frame->scalars, scalars, sizeof scalars);
    unmap_all(judge);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_judge_ready(judge, near->slot, &end, err);
    for (int i = 0; i < PARAMETER_SETS && code == 0 && hone_outcome_is_good(&end); i++)
        code = step_back(near, sets[i], &end, err);
    *ret = end;
    return code;
}

static step_fn *const steps[] = {step_change, step_change, step_back,     step_again,
                                 step_move,   step_swap,   step_parameter};
#define N_STEPS HONE_COUNTOF(steps)

static int one_step(struct near *near, size_t k, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_rng *rng = &near->judge->rng;
    int64_t pair =
        hone_rng_below(rng, 2) == 0 ? near->favourite : hone_rng_below(rng, near->n_sets / 2);
    int64_t set = 2 * pair + hone_rng_below(rng, 2);
    size_t kind = hone_near_kind(near->judge, k, N_STEPS);
    if (hone_rng_below(rng, 2) == 0) { /* a call that is no such call */
        int64_t other = hone_rng_below(rng, near->n_sets);
        int code = hone_judge_call_one(near->judge, near->slot, other, 0, err);
        *ret = near->slot->arena->end;
        if (code < 0 || !hone_outcome_is_good(ret))
            return code;
    }
    return steps[kind](near, set, ret, err);
}

int hone_near_check(struct hone_judge *judge, struct hone_slot *slot,
                    const struct hone_check_plan *plan, int64_t n_pairs, struct hone_outcome *ret,
                    struct hone_err *err)
{
    struct near near = {.judge = judge,
                        .slot = slot,
                        .plan = plan,
                        .n_sets = 2 * n_pairs,
                        .favourite = hone_rng_below(&judge->rng, n_pairs),
                        .oracle_ns = hone_min_i64(plan->oracle_budget_ns, ORACLE_NS)};
    struct hone_check_plan row = *plan;
    int64_t start = hone_now_ns();
    int code = 0;
    bool is_smoke = strcmp(plan->name, "smoke") == 0;
    int64_t limit_ns = hone_near_limit_ns(judge, plan);
    row.name = HONE_NEAR_ROW;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (limit_ns == 0)
        return 0;
    hone_compare_init(&near.compare, judge->task, plan->workload);
    for (size_t k = 0; k < MOST_STEPS && code == 0 && hone_outcome_is_good(ret) &&
                       (k == 0 || hone_now_ns() - start < limit_ns);
         k++)
        code = one_step(&near, k, ret, err);
    if (code == 0)
        hone_judge_note(judge, &row, judge->frame.dists[2 * near.favourite], &near.compare, ret);
    hone_judge_cost(judge, is_smoke ? "smoke.near" : "verify.near", hone_now_ns() - start);
    return code;
}

int hone_near_timed(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                    struct hone_outcome *ret, struct hone_err *err)
{
    struct near near = {.judge = judge, .slot = slot, .n_sets = n_sets, .oracle_ns = ORACLE_NS};
    int64_t n_left = 1 + hone_rng_below(&judge->rng, 2);
    int64_t set = hone_rng_below(&judge->rng, n_sets);
    int code = 0;
    for (; n_left > 0 && code == 0 && hone_outcome_is_good(ret); n_left--)
        code = step_change(&near, set, ret, err);
    return code;
}
