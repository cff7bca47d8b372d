/* SPDX-License-Identifier: Apache-2.0 */
/* Are calls of a block made one after the other? (audit.h)
 *
 * State: witness elements of some sets, and what they held when the judge looked. Flow: in
 * the middle of a block the judge looks which outputs are complete, in part written or
 * untouched, and changes inputs of calls that must not have begun yet. Where the arena ran on
 * meanwhile, hone_audit_settle finds out whether the change came in time. hone_audit_end says
 * which rule was broken. */
#include "tools/runner/judge/audit.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "workspace/base/clock.h"

#define MIN_SETS      8   /* fewer are too coarse to compare with a share of time */
#define UNEVEN        0.4 /* of all calls; caches explain less */
#define MAX_UNEVEN    3
#define CHANGE_SHIFTS 8 /* a change is between a half and a 256th of an input... */
#define SINGLES       4 /* ...and as many elements, wherever they are, that are... */
#define SINGLE_SCALE  64.0
/* What is as large already stays: an input of three elements would go beyond its type, and the
 * reference with it. */
#define MOST_SCALED  16.0
#define QUIET_AHEAD  2 /* calls, at least, between the one under way and the one changed */
#define QUIET_SPREAD 4
#define QUIET_NS     20e3 /* what a quiet change may take */
#define NEAR_STRETCH 4096 /* elements: a near change has no time for more */
#define NEAR_SINGLES 256  /* ...and these show in a sum of everything */
#define NEAR_BEFORE  3    /* of as many, one is the call that seems to be under way */
#define NEAR_AFTER   4    /* of as many, one is not the next call but the one after it */
#define SETTLE_NS    2000 /* more than a processor keeps a store to itself */

/* How much of a set's outputs is still poison: 0 none, 1 some, 2 all. */
static int untouched(const struct hone_audit *audit, int64_t set)
{
    const struct hone_task *task = audit->judge->task;
    int64_t n = 0, n_left = 0;
    for (size_t o = 0; o < task->n_outputs; o++) {
        int64_t n_elements = hone_judge_output_elements(audit->judge, o), count = 0;
        if (!hone_dtype_is_float(task->outputs[o].dtype))
            continue;
        (void)hone_find_unwritten(task->outputs[o].dtype,
                                  hone_judge_output(audit->judge, audit->slot, set, o), NULL,
                                  n_elements, &count);
        n += n_elements;
        n_left += count;
    }
    return n_left == 0 ? 0 : n_left < n ? 1 : 2;
}

static bool has_float_output(const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        if (hone_dtype_is_float(task->outputs[o].dtype))
            return true;
    }
    return false;
}

/* Does an element of this output that is still poison say that it was not written? Where there is
 * no floating point, wide integers say so as good as always: enough to choose what is changed, too
 * little to accuse of. */
static bool is_witness(const struct hone_task *task, size_t o)
{
    enum hone_dtype dtype = task->outputs[o].dtype;
    return hone_dtype_is_float(dtype) || (hone_dtype_bytes(dtype) >= 4 && !has_float_output(task));
}

static bool has_witness(const struct hone_task *task)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        if (is_witness(task, o))
            return true;
    }
    return false;
}

/* Parts of two lists of offsets are none, and what must add up to 1 stays as it is. */
bool hone_audit_is_whole(const struct hone_tensor *tensor)
{
    return tensor->role == HONE_ROLE_OFFSETS || tensor->role == HONE_ROLE_PROBABILITY;
}

static bool is_value(const struct hone_tensor *tensor)
{
    return hone_dtype_is_float(tensor->dtype) &&
           (tensor->role == HONE_ROLE_ACTIVATION || tensor->role == HONE_ROLE_WEIGHT ||
            tensor->role == HONE_ROLE_POSITIVE);
}

/* A part of every input becomes that of another set, and a few elements get another size, so that
 * a look at some elements does not show it. */
static void change_part(struct hone_audit *audit, int64_t set, int64_t most, int n_singles)
{
    struct hone_judge *judge = audit->judge;
    const struct hone_layout *layout = &judge->frame.layout;
    int64_t donor = (set + 1 + hone_rng_below(&judge->rng, audit->n_sets - 1)) % audit->n_sets;
    bool can_scale =
        !judge->is_dist_left_out[HONE_DIST_OUTLIER] && !judge->is_dist_left_out[HONE_DIST_LARGE];
    for (size_t i = 0; i < judge->task->n_inputs; i++) {
        const struct hone_tensor *tensor = &judge->task->inputs[i];
        int64_t bytes = hone_dtype_bytes(tensor->dtype);
        int64_t n = hone_tensor_elements(judge->task, tensor, judge->frame.workload);
        if (hone_audit_is_whole(tensor) || n < 1)
            continue;
        int64_t n_new = hone_max_i64(n >> (1 + hone_rng_below(&judge->rng, CHANGE_SHIFTS)), 1);
        n_new = hone_min_i64(n_new, most);
        int64_t at = bytes * hone_rng_below(&judge->rng, n - n_new + 1);
        char *to = hone_shared_tensor(&judge->inputs, layout, set, (int64_t)i);
        memcpy(to + at, audit->content + donor * layout->input_stride + layout->at[i] + at,
               (size_t)(bytes * n_new));
        for (int k = 0; k < n_singles && can_scale && is_value(tensor); k++) {
            int64_t e = hone_rng_below(&judge->rng, n);
            double old = hone_element_get(tensor->dtype, to, e);
            if (fabs(old) <= MOST_SCALED)
                hone_element_set(tensor->dtype, to, e, SINGLE_SCALE * old);
        }
    }
    judge->frame.dists[set] = HONE_DIST_OUTLIER;
}

static void note_changed(struct hone_audit *audit, int64_t set, bool is_other)
{
    audit->is_other[audit->n_changed] = is_other;
    audit->changed[audit->n_changed++] = set;
}

static void change_set(struct hone_audit *audit, int64_t set)
{
    bool is_other = hone_rng_below(&audit->judge->rng, 3) != 0;
    if (is_other)
        hone_judge_put_set(audit->judge, set, audit->others, audit->other_dists[set]);
    else
        change_part(audit, set, INT64_MAX, SINGLES);
    note_changed(audit, set, is_other);
}

/* The sets from `first` on that are next, and some behind them. */
static int64_t pick(struct hone_audit *audit, int64_t first)
{
    int64_t n_left = audit->n_sets - first;
    if (n_left <= 0 || audit->n_changed >= audit->max_changed)
        return -1;
    bool is_next = audit->n_changed < HONE_AUDIT_CHANGED / 2;
    return first + (is_next ? 0 : hone_rng_below(&audit->judge->rng, n_left));
}

void hone_audit_look(struct hone_audit *audit)
{
    bool was_unfinished = false;
    if (!has_float_output(audit->judge->task)) {
        hone_audit_quiet(audit);
        return;
    }
    for (int64_t set = 0; set < audit->n_sets; set++) {
        int left = untouched(audit, set);
        audit->n_done += left == 0;
        audit->n_begun += left == 1;
        audit->is_out_of_order = audit->is_out_of_order || (was_unfinished && left < 2);
        was_unfinished = was_unfinished || left > 0;
    }
    if (audit->is_out_of_order)
        return;
    /* The call after the finished ones may be under way without having written anything. */
    for (int64_t set = pick(audit, audit->n_done + 1); set >= 0; set = pick(audit, set + 1))
        change_set(audit, set);
}

/* Not even begun, or under way: the first element that a complete call has written is poison. */
static bool is_incomplete(const struct hone_audit *audit, int64_t set)
{
    const struct hone_task *task = audit->judge->task;
    for (size_t o = 0; o < task->n_outputs; o++) {
        int64_t count = 0;
        if (is_witness(task, o) && hone_judge_output_elements(audit->judge, o) > 0 &&
            hone_find_unwritten(task->outputs[o].dtype,
                                hone_judge_output(audit->judge, audit->slot, set, o), NULL, 1,
                                &count) >= 0)
            return true;
    }
    return false;
}

static void settle(void)
{
    for (int64_t until = hone_now_ns() + SETTLE_NS; hone_now_ns() < until;)
        ;
}

/* The very next call, or the one after it: whoever is never changed less than two calls ahead can
 * be solved two at a time. A call is not begun while the one before it is not complete; a processor
 * may read ahead of its own stores, but not for as long as is waited before the last look. */
static void change_near(struct hone_audit *audit, int64_t set)
{
    if (set >= audit->n_sets || audit->max_changed < 1)
        return;
    /* Reading what another core has just written takes time that a clock shows: not always many. */
    bool is_stretch = hone_rng_below(&audit->judge->rng, 2) == 0;
    change_part(audit, set, is_stretch ? NEAR_STRETCH : 1, NEAR_SINGLES);
    note_changed(audit, set, false);
    atomic_thread_fence(memory_order_seq_cst);
    settle();
    audit->is_late = !is_incomplete(audit, set - 1);
}

static double output_value(const struct hone_audit *audit, const struct hone_audit_kept *k)
{
    return hone_element_get(
        audit->judge->task->outputs[k->output].dtype,
        hone_judge_output(audit->judge, audit->slot, audit->kept_set, k->output), k->element);
}

static bool is_same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The call that seems to be under way, low: the one before it may be it, with outputs that it has
 * written already and will write again. */
static void change_before(struct hone_audit *audit, int64_t low)
{
    if (low >= audit->n_sets || audit->max_changed < 1)
        return;
    change_part(audit, low, 1, NEAR_SINGLES);
    note_changed(audit, low, false);
    atomic_thread_fence(memory_order_seq_cst);
    settle();
    audit->kept_set = low - 1;
    for (size_t i = 0; i < HONE_AUDIT_KEPT; i++) {
        struct hone_audit_kept *k = &audit->kept[i];
        k->output =
            (size_t)hone_rng_below(&audit->judge->rng, (int64_t)audit->judge->task->n_outputs);
        k->element =
            hone_rng_below(&audit->judge->rng,
                           hone_max_i64(hone_judge_output_elements(audit->judge, k->output), 1));
        k->value = output_value(audit, k);
    }
}

void hone_audit_settle(struct hone_audit *audit)
{
    bool is_same = audit->kept_set >= 0;
    for (size_t i = 0; i < HONE_AUDIT_KEPT && is_same; i++)
        is_same = is_same_value(audit->kept[i].value, output_value(audit, &audit->kept[i]));
    audit->is_late = audit->is_late || is_same;
}

/* A call is not begun while the one two before it is not complete; one between them is for
 * processors that read ahead. */
void hone_audit_quiet(struct hone_audit *audit)
{
    int64_t low = 0, high = audit->n_sets;
    if (!has_witness(audit->judge->task))
        return;
    while (low < high) { /* the first that is not complete */
        int64_t mid = (low + high) / 2;
        if (is_incomplete(audit, mid))
            high = mid;
        else
            low = mid + 1;
    }
    audit->n_done = low;
    if (audit->is_near && low > 0 && hone_rng_below(&audit->judge->rng, NEAR_BEFORE) == 0) {
        change_before(audit, low);
        return;
    }
    if (audit->is_near) {
        bool is_after = hone_rng_below(&audit->judge->rng, NEAR_AFTER) == 0;
        change_near(audit, low + 1 + (is_after && low + 2 < audit->n_sets));
        return;
    }
    int64_t spread = hone_min_i64(QUIET_SPREAD, 1 + audit->n_sets / 8);
    int64_t ahead = QUIET_AHEAD + hone_rng_below(&audit->judge->rng, spread) +
                    (int64_t)fmin(QUIET_NS / fmax(audit->call_ns, 1), 1e6);
    for (int64_t set = pick(audit, low + ahead); set >= 0 && !audit->is_late;
         set = pick(audit, set + 1)) {
        change_set(audit, set);
        atomic_thread_fence(memory_order_seq_cst);
        audit->is_late = !is_incomplete(audit, set - QUIET_AHEAD);
    }
}

void hone_audit_end(const struct hone_audit *audit, struct hone_outcome *ret)
{
    if (audit->is_out_of_order && has_float_output(audit->judge->task))
        hone_outcome_set(
            ret, HONE_REASON_TAMPERING,
            "the kernel worked on the outputs of a later call before an earlier one was "
            "done");
}

void hone_audit_shares(const struct hone_audit *audit, double share, int64_t *n_uneven)
{
    double done = ((double)audit->n_done + 0.5 * (double)audit->n_begun) / (double)audit->n_sets;
    bool is_uneven = audit->n_sets >= MIN_SETS && has_float_output(audit->judge->task) &&
                     fabs(done - share) > UNEVEN;
    *n_uneven = is_uneven ? *n_uneven + 1 : 0;
    if (*n_uneven >= MAX_UNEVEN)
        hone_judge_review(audit->judge, "uneven_calls", 0,
                          "after %.0f %% of a block's CPU time %.0f %% of its calls were done: is "
                          "work of several calls done in one?",
                          100 * share, 100 * done);
}
