/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs against the oracle, against poison, against themselves.
 *
 * One check takes one workload and some distributions. Each distribution gets two buffer sets with
 * the same content: one whose outputs were filled with a NaN and whose tensors start at the start
 * of their room, one filled with a large number and ending at the end. All calls are made in one go
 * in a random order of distributions; only then does the judge look, and only after that is the
 * oracle asked. What the two sets say of an element:
 *
 *     both still poison   unwritten
 *     bits differ         called again: differs from itself: nondeterministic;
 *                         else it depends on the fill: uninitialised
 *     same                compared with the oracle (or, declared non-deterministic, both are)
 *
 * A distribution that the task's own baseline fails too says nothing about the candidate and is
 * left out with a warning. */
#include "tools/runner/judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/judge/near.h"
#include "workspace/base/clock.h"
#include "workspace/base/order_stats.h"

#define BASELINE_LOOKS 4
#define PROBE_ITEMS    32                    /* to learn what an item costs */
#define BASELINE_NS    (20 * HONE_NS_PER_MS) /* of the oracle, for the baseline's error alone */
#define MIN_ITEMS      64
#define MAX_ITEMS      4096
#define PERTURB_BYTE   0x5a
#define AGAIN          8  /* calls that may differ by chance */
#define GROWTH_ALLOWED 50 /* later calls may take this many times the first */

int hone_judge_check_canaries(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                              struct hone_outcome *ret)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        int64_t t = (int64_t)(judge->task->n_inputs + o);
        bool is_whole = hone_canary_is_whole(&slot->arena->own, &judge->frame.layout, set, t);
        if (!is_whole || !hone_judge_is_padded(judge, slot, set, o))
            hone_outcome_set(ret, HONE_REASON_OUT_OF_BOUNDS, "the kernel wrote %s output '%s'",
                             is_whole ? "between the rows of" : "beside",
                             judge->task->outputs[o].name);
    }
    return 0;
}

static void set_outputs(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        struct hone_compare *compare)
{
    compare->is_plain = hone_compare_is_plain_for(judge->task, judge->frame.dists[set]);
    compare->content = hone_dist_name(judge->frame.dists[set]);
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        compare->outputs[o] = hone_judge_output(judge, slot, set, o);
}

static int formula(struct hone_judge *judge, const char *text, int64_t *ret, struct hone_err *err)
{
    double value = 0;
    int code = hone_task_eval(judge->task, text, judge->frame.workload, &value, err);
    if (code == 0)
        *ret = (int64_t)value;
    return code;
}

/* Compares the oracle's answers for these items (NULL: the first n). */
static int ask_items(struct hone_judge *judge, int64_t set, const int64_t *items, int64_t n,
                     struct hone_compare *compare, struct hone_err *err)
{
    return hone_oracle_items(judge->oracle.arena,
                             &(struct hone_oracle_ask){.set = set,
                                                       .items = items,
                                                       .n = n,
                                                       .n_threads = judge->machine.n_cores,
                                                       .on_records = hone_compare_add,
                                                       .arg = compare},
                             err);
}

static int ask_random(struct hone_judge *judge, int64_t set, int64_t n_items, int64_t n,
                      struct hone_compare *compare, struct hone_err *err)
{
    compare->n_items += hone_min_i64(n, n_items);
    if (n >= n_items) /* a reduction to one number has one item, and asking twice says no more */
        return ask_items(judge, set, NULL, n_items, compare, err);
    HONE_AUTOFREE int64_t *items = hone_malloc((size_t)n * sizeof *items);
    for (int64_t i = 0; i < n; i++)
        items[i] = hone_rng_below(&judge->rng, n_items);
    items[0] = n_items - 1; /* the tail is where shortcuts end */
    qsort(items, (size_t)n, sizeof *items, hone_by_i64);
    return ask_items(judge, set, items, n, compare, err);
}

static int compare_items(struct hone_judge *judge, int64_t set, int64_t budget_ns,
                         struct hone_compare *compare, struct hone_err *err)
{
    int64_t n_items = 0;
    int code = formula(judge, judge->task->items, &n_items, err);
    if (code < 0 || n_items <= 0)
        return code;
    int64_t affordable = n_items;
    if (n_items > 2 * MIN_ITEMS && budget_ns > 0) {
        int64_t start = hone_now_ns();
        code = ask_random(judge, set, n_items, PROBE_ITEMS, compare, err);
        if (code < 0)
            return code;
        double item_ns = (double)(hone_now_ns() - start) / PROBE_ITEMS;
        affordable = (int64_t)((double)budget_ns / fmax(item_ns, 1)) * judge->machine.n_cores;
    }
    compare->is_full = affordable >= n_items;
    if (compare->is_full)
        compare->n_items += n_items;
    if (compare->is_full)
        return ask_items(judge, set, NULL, n_items, compare, err);
    int64_t n = hone_min_i64(hone_max_i64(affordable, MIN_ITEMS), MAX_ITEMS);
    return ask_random(judge, set, n_items, n, compare, err);
}

static int answer(struct hone_judge *judge, int64_t set, int64_t budget_ns,
                  struct hone_compare *compare, struct hone_err *err)
{
    int code = hone_judge_ready_oracle(judge, err);
    if (code < 0)
        return code;
    if (judge->task->steps == NULL)
        return compare_items(judge, set, budget_ns, compare, err);
    int64_t n_steps = 0, n_items = 0;
    code = formula(judge, judge->task->steps, &n_steps, err);
    if (code == 0)
        code = formula(judge, judge->task->items, &n_items, err);
    if (code < 0)
        return code;
    compare->is_full = true;
    compare->n_items = n_items;
    return hone_oracle_steps(judge->oracle.arena,
                             &(struct hone_oracle_ask){.set = set,
                                                       .n = n_items,
                                                       .n_steps = n_steps,
                                                       .n_threads = judge->machine.n_cores,
                                                       .on_records = hone_compare_add,
                                                       .arg = compare},
                             err);
}

static int ask_oracle(struct hone_judge *judge, int64_t set, int64_t budget_ns,
                      struct hone_compare *compare, struct hone_err *err)
{
    int64_t start_ns = hone_now_ns();
    int code = answer(judge, set, budget_ns, compare, err);
    hone_judge_cost_verify(judge, "verify.oracle", start_ns);
    return code;
}

int hone_judge_compare(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       int64_t budget_ns, struct hone_compare *compare, struct hone_outcome *ret,
                       struct hone_err *err)
{
    hone_compare_init(compare, judge->task, judge->frame.workload);
    set_outputs(judge, slot, set, compare);
    int code = ask_oracle(judge, set, budget_ns, compare, err);
    if (code == 0)
        hone_compare_end(compare, ret);
    return code;
}

int hone_judge_spot_check(struct hone_judge *judge, struct hone_slot *slot, int64_t set, int64_t n,
                          struct hone_outcome *ret, struct hone_err *err)
{
    int64_t n_items = 0;
    struct hone_compare compare;
    hone_compare_init(&compare, judge->task, judge->frame.workload);
    set_outputs(judge, slot, set, &compare);
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int code = formula(judge, judge->task->items, &n_items, err);
    if (code == 0)
        code = hone_judge_ready_oracle(judge, err);
    if (code < 0 || n_items <= 0)
        return code;
    code = ask_random(judge, set, n_items, n, &compare, err);
    if (code == 0)
        hone_compare_end(&compare, ret);
    return code;
}

void hone_judge_note(struct hone_judge *judge, const struct hone_check_plan *plan,
                     enum hone_distribution dist, const struct hone_compare *compare,
                     const struct hone_outcome *end)
{
    struct hone_outcome named = *end;
    bool is_full = judge->n_checks == HONE_RUNNER_MAX_CHECKS;
    if (compare != NULL && hone_outcome_is_good(end))
        hone_rests_note(&judge->rests, strcmp(plan->name, "baseline") == 0, compare);
    judge->contents.is_compared[dist] = judge->contents.is_compared[dist] || compare != NULL;
    if (is_full && hone_outcome_is_good(end))
        return;
    judge->n_checks -= is_full; /* the one that failed is kept */
    hone_sizes_name(judge, plan->workload, &named);
    struct hone_output_stats total = {0};
    double rel_l2 = NAN;
    if (compare != NULL) {
        total = hone_compare_total(compare);
        rel_l2 = hone_compare_rel_l2(compare);
    }
    int64_t n = 0;
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        n += hone_tensor_elements(judge->task, &judge->task->outputs[o], plan->workload);
    judge->checks[judge->n_checks++] = (struct hone_check_report){
        .name = plan->name,
        .workload = plan->workload->id,
        .distribution = hone_dist_name(dist),
        .n_elements = n,
        .n_compared = total.n,
        .n_bad = total.n_bad,
        .max_abs_err = compare != NULL ? total.max_abs : NAN,
        .max_rel_err = compare != NULL ? total.max_rel : NAN,
        .rel_l2 = rel_l2,
        .detail = hone_contents_detail(judge, named.detail, compare != NULL, dist),
    };
}

void hone_judge_element_end(struct hone_judge *judge, const struct hone_workload *workload,
                            const struct hone_elements *which, enum hone_reason reason,
                            const char *what, struct hone_outcome *ret)
{
    const struct hone_tensor *tensor = &judge->task->outputs[which->output];
    char name[HONE_LIMIT_NAME_BYTES * 3];
    hone_element_name(judge->task, workload, tensor, which->first, name);
    hone_outcome_set(ret, reason, "%s %s (%lld of %lld elements)", name, what,
                     (long long)which->count,
                     (long long)hone_tensor_elements(judge->task, tensor, workload));
}

static void set_element_end(struct hone_judge *judge, const struct hone_elements *which,
                            enum hone_reason reason, const char *what, struct hone_outcome *ret)
{
    hone_judge_element_end(judge, judge->frame.workload, which, reason, what, ret);
}

static void find_unwritten(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                           struct hone_outcome *ret)
{
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        struct hone_elements found = {.output = o};
        int64_t n = hone_judge_output_elements(judge, o);
        found.first = hone_find_unwritten(
            judge->task->outputs[o].dtype, hone_judge_output(judge, slot, set, o),
            hone_judge_output(judge, slot, set + 1, o), n, &found.count);
        if (found.first >= 0) {
            set_element_end(judge, &found, HONE_REASON_UNWRITTEN, "was not written", ret);
            return;
        }
    }
}

/* First difference between the two sets of a distribution; false: none. */
static bool find_difference(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                            struct hone_elements *ret)
{
    ret->first = -1;
    for (size_t o = 0; o < judge->task->n_outputs && ret->first < 0; o++) {
        int64_t n = hone_judge_output_elements(judge, o);
        ret->output = o;
        ret->first = hone_find_difference(
            judge->task->outputs[o].dtype, hone_judge_output(judge, slot, set, o),
            hone_judge_output(judge, slot, set + 1, o), n, &ret->count);
    }
    return ret->first >= 0;
}

static size_t output_bytes(const struct hone_judge *judge, size_t o)
{
    return (size_t)(hone_judge_output_elements(judge, o) *
                    hone_dtype_bytes(judge->task->outputs[o].dtype));
}

void **hone_judge_keep(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       struct hone_pool *pool)
{
    size_t n = judge->task->n_outputs;
    void **kept = hone_pool_alloc(pool, (n + 1) * sizeof *kept);
    for (size_t o = 0; o < n; o++) {
        kept[o] = hone_pool_alloc(pool, output_bytes(judge, o) + 1);
        memcpy(kept[o], hone_judge_output(judge, slot, set, o), output_bytes(judge, o));
    }
    return kept;
}

static bool differs(struct hone_judge *judge, struct hone_slot *slot, int64_t set, size_t o,
                    void *const *kept, struct hone_elements *ret)
{
    *ret = (struct hone_elements){.output = o};
    ret->first = hone_find_difference(judge->task->outputs[o].dtype, kept[o],
                                      hone_judge_output(judge, slot, set, o),
                                      hone_judge_output_elements(judge, o), &ret->count);
    return ret->first >= 0;
}

int hone_judge_call_one(struct hone_judge *judge, struct hone_slot *slot, int64_t set, int perturb,
                        struct hone_err *err)
{
    struct hone_calls calls = {.first_set = set,
                               .n_rotate = 1,
                               .n_calls = 1,
                               .perturb = perturb,
                               .timeout_ns = judge->call_timeout_ns};
    hone_judge_poison(judge, slot, set, HONE_POISON_NAN);
    int64_t start_ns = hone_now_ns();
    int code = hone_arena_call(slot->arena, &calls, NULL, err);
    hone_judge_cost_verify(judge, "verify.call", start_ns);
    return code;
}

/* The two sets of a distribution differ: the first is run again with the same poison, several times
 * where nothing changes. */
static int explain_difference(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                              struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_elements found = {0}, again = {.first = -1};
    if (!find_difference(judge, slot, set, &found))
        return 0;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    void **before = hone_judge_keep(judge, slot, set, pool);
    for (int try = 0; try < AGAIN && again.first < 0; try++) {
        int code = hone_judge_call_one(judge, slot, set, PERTURB_BYTE, err);
        if (code < 0)
            return code;
        *ret = slot->arena->end;
        if (!hone_outcome_is_good(ret))
            return 0;
        (void)differs(judge, slot, set, found.output, before, &again);
    }
    if (again.first >= 0)
        set_element_end(judge, &again, HONE_REASON_NONDETERMINISTIC,
                        "differs between two calls with the same input", ret);
    else
        set_element_end(judge, &found, HONE_REASON_UNINITIALISED,
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

/* Everything about the two sets of one distribution. */
static int judge_pair(const struct check *check, int64_t set, struct hone_outcome *ret,
                      struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    struct hone_compare *compare = check->compare;
    for (int64_t s = set; s < set + 2 && hone_outcome_is_good(ret); s++)
        hone_judge_check_canaries(judge, slot, s, ret);
    if (hone_outcome_is_good(ret))
        find_unwritten(judge, slot, set, ret);
    int code = 0;
    if (hone_outcome_is_good(ret))
        code =
            hone_judge_compare(judge, slot, set, check->plan->oracle_budget_ns, compare, ret, err);
    struct hone_elements found = {0};
    if (code == 0 && ret->reason == HONE_REASON_NONFINITE) { /* the poison's own NaN? */
        struct hone_outcome why = HONE_OUTCOME_INIT;
        code = explain_difference(judge, slot, set, &why, err);
        if (code == 0 && why.reason == HONE_REASON_UNINITIALISED)
            *ret = why;
        return code;
    }
    if (code < 0 || !hone_outcome_is_good(ret) || !find_difference(judge, slot, set, &found))
        return code;
    if (judge->task->is_deterministic)
        return explain_difference(judge, slot, set, ret, err);
    return hone_judge_compare(judge, slot, set + 1, check->plan->oracle_budget_ns, compare, ret,
                              err);
}

/* Every other edge is called from a thread that is not the process's first. */
static bool is_beside(const struct hone_judge *judge)
{
    const struct hone_workload *workload = judge->frame.workload;
    return workload->is_edge && (workload - judge->cases) % 2 != 0;
}

/* One call first, so that an endless kernel costs one deadline; then all. */
static int call_sets(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                     struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_calls calls = {.n_rotate = 1,
                               .n_calls = 1,
                               .perturb = PERTURB_BYTE,
                               .is_beside = is_beside(judge),
                               .timeout_ns = judge->call_timeout_ns};
    struct hone_call_time time = {0};
    int64_t start = hone_now_ns();
    int code = hone_arena_call(slot->arena, &calls, &time, err);
    if (code == 0 && slot->arena->is_alive && n_sets > 1) {
        calls.first_set = 1;
        calls.n_rotate = calls.n_calls = n_sets - 1;
        int64_t most_ns = hone_min_i64(GROWTH_ALLOWED * time.wall_ns, judge->call_timeout_ns);
        calls.timeout_ns = judge->call_timeout_ns + n_sets * most_ns;
        code = hone_arena_call(slot->arena, &calls, NULL, err);
    }
    judge->called_ns += hone_now_ns() - start;
    hone_judge_cost_verify(judge, "verify.call", start);
    *ret = slot->arena->end;
    return code;
}

/* Whether the baseline passes the very content that the candidate failed; a kind that it fails is
 * not applicable to the task. Where the oracle sees some items, several times as many as the
 * candidate's are asked for: bad luck must not accuse. */
static int baseline_passes(struct hone_judge *judge, const struct hone_check_plan *plan,
                           enum hone_distribution dist, uint64_t counter, bool *ret,
                           struct hone_err *err)
{
    *ret = true;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    if (baseline == NULL)
        return 0;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_compare compare;
    int code = !baseline->is_built ? hone_judge_build_arm(judge, baseline, NULL, &end, err) : 0;
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    code = hone_judge_set_frame(judge, plan->workload, 2, err);
    if (code == 0)
        code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    hone_judge_fill(judge, 0, dist, counter);
    hone_judge_poison(judge, baseline, 0, HONE_POISON_NAN);
    code = call_sets(judge, baseline, 1, &end, err);
    if (code == 0 && end.reason == HONE_REASON_INFRA) /* says nothing about the distribution */
        return hone_fail(err, HONE_E_TARGET, "the baseline: %.300s", end.detail);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_judge_compare(judge, baseline, 0, plan->oracle_budget_ns, &compare, &end, err);
    for (int i = 1;
         i < BASELINE_LOOKS && code == 0 && hone_outcome_is_good(&end) && !compare.is_full; i++)
        code = hone_judge_compare(judge, baseline, 0, plan->oracle_budget_ns, &compare, &end, err);
    *ret = hone_outcome_is_good(&end);
    return code;
}

struct asked {
    struct hone_compare *compare;
    const struct hone_suspects *suspects;
    bool is_known[HONE_SUSPECTS];
};

static void take_answer(void *arg, const struct hone_oracle_record *records, int64_t n)
{
    struct asked *asked = arg;
    hone_compare_add(asked->compare, records, n);
    for (int64_t i = 0; i < n; i++)
        for (size_t s = 0; s < asked->suspects->n; s++)
            if (records[i].output == (int64_t)asked->suspects->v[s].output &&
                records[i].index == asked->suspects->v[s].index)
                asked->is_known[s] = true;
}

/* What another arm calls wrong is held to the oracle: all of it, where it gives whole answers alone.
 * It knows how far the answer may move; the other arm's own error is no wrong of this one's. */
static int ask_about(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                     const struct hone_suspects *suspects, struct hone_outcome *ret,
                     struct hone_err *err)
{
    struct hone_compare compare;
    struct asked asked = {.compare = &compare, .suspects = suspects};
    int64_t items[HONE_SUSPECTS], n = 0, n_items = 0;
    bool has_items = judge->task->steps == NULL && !judge->task->is_oracle_naive_double;
    if (suspects->n == 0)
        return 0;
    if (!has_items)
        return hone_judge_compare(judge, slot, set, 0, &compare, ret, err);
    int code = formula(judge, judge->task->items, &n_items, err);
    if (code < 0)
        return code;
    hone_compare_init(&compare, judge->task, judge->frame.workload);
    set_outputs(judge, slot, set, &compare);
    compare.is_plain = false;
    for (size_t s = 0; s < suspects->n; s++) {
        int64_t item = hone_compare_item(compare.n_elements[suspects->v[s].output], n_items,
                                         suspects->v[s].index);
        if (item >= 0)
            items[n++] = item;
    }
    qsort(items, (size_t)n, sizeof *items, hone_by_i64);
    code = n > 0 ? hone_judge_ready_oracle(judge, err) : 0;
    if (code == 0 && n > 0)
        code = hone_oracle_items(judge->oracle.arena,
                                 &(struct hone_oracle_ask){.set = set,
                                                           .items = items,
                                                           .n = n,
                                                           .n_threads = judge->machine.n_cores,
                                                           .on_records = take_answer,
                                                           .arg = &asked},
                                 err);
    for (size_t s = 0; s < suspects->n; s++)
        if (!asked.is_known[s])
            hone_compare_accuse(&compare, &suspects->v[s]);
    if (code == 0)
        hone_compare_end(&compare, ret);
    return code;
}

/* The baseline's answer for a set, held to the oracle for budget_ns. *ret_is_good: it can be relied
 * on. */
static int certify_baseline(struct hone_judge *judge, struct hone_slot *baseline, int64_t set,
                            int64_t budget_ns, bool *ret_is_good, struct hone_err *err)
{
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_compare certified;
    *ret_is_good = false;
    int code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    code = hone_judge_call_one(judge, baseline, set, 0, err);
    if (code < 0 || !baseline->arena->is_alive)
        return code;
    code = hone_judge_compare(judge, baseline, set, budget_ns, &certified, &end, err);
    *ret_is_good = code == 0 && hone_outcome_is_good(&end);
    if (*ret_is_good)
        hone_rests_note(&judge->rests, true, &certified);
    return code;
}

/* The oracle saw only some items: the rest against the baseline, which is held to the same items.
 * Where it saw all, the baseline's error is asked for alone, once a workload. */
static int compare_with_baseline(const struct check *check, int64_t set, struct hone_outcome *ret,
                                 struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    const struct hone_check_plan *plan = check->plan;
    struct hone_compare *compare = check->compare;
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    int64_t budget_ns = compare->is_full ? hone_min_i64(plan->oracle_budget_ns, BASELINE_NS)
                                         : plan->oracle_budget_ns;
    bool is_good = false;
    if (baseline == NULL || baseline == slot)
        return 0;
    int code = certify_baseline(judge, baseline, set, budget_ns, &is_good, err);
    if (code == 0 && !is_good && !compare->is_full)
        hone_judge_warn(judge,
                        "workload '%s' was checked on random elements only: the baseline gave no "
                        "answer that could be relied on",
                        plan->workload->id);
    if (code < 0 || !is_good || compare->is_full)
        return code;
    struct hone_suspects suspects = {.rng = (uint64_t)hone_rng_below(&judge->rng, INT32_MAX)};
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        hone_compare_arrays(compare, o, hone_judge_output(judge, baseline, set, o), &suspects);
    return ask_about(judge, slot, set, &suspects, ret, err);
}

int hone_judge_compare_like(struct hone_judge *judge, struct hone_slot *slot,
                            struct hone_slot *baseline, int64_t set, struct hone_outcome *ret,
                            struct hone_err *err)
{
    struct hone_compare compare;
    struct hone_suspects suspects = {.rng = (uint64_t)hone_rng_below(&judge->rng, INT32_MAX)};
    hone_compare_init(&compare, judge->task, judge->frame.workload);
    set_outputs(judge, slot, set, &compare);
    struct hone_outcome end = HONE_OUTCOME_INIT;
    int code = hone_judge_ready(judge, baseline, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    code = hone_judge_call_one(judge, baseline, set, 0, err);
    if (code < 0 || !baseline->arena->is_alive)
        return code;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        const void *reference = hone_judge_output(judge, baseline, set, o);
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        int64_t n = compare.n_elements[o], n_bytes = n * hone_dtype_bytes(dtype);
        if (memcmp(compare.outputs[o], reference, (size_t)n_bytes) != 0) {
            compare.stats[o].max_scale = hone_root_mean_square(dtype, reference, n);
            hone_compare_arrays(&compare, o, reference, &suspects);
        }
    }
    return ask_about(judge, slot, set, &suspects, ret, err);
}

bool hone_judge_is_kept(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        void *const *kept)
{
    struct hone_elements found;
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        if (differs(judge, slot, set, o, kept, &found))
            return false;
    return true;
}

/* The first of each pair: the other one holds the same, and nothing is asked of it. */
static int call_firsts(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                       struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    int64_t start = hone_now_ns(), limit_ns = judge->call_timeout_ns;
    judge->call_timeout_ns = 2 * limit_ns; /* calls in one go share their room; a busy machine */
    for (int64_t set = 0; set < n_sets && code == 0 && hone_outcome_is_good(ret); set += 2) {
        code = hone_judge_call_one(judge, slot, set, PERTURB_BYTE, err);
        *ret = slot->arena->end;
    }
    judge->call_timeout_ns = limit_ns;
    judge->called_ns += hone_now_ns() - start;
    return code;
}

/* A kernel that is not deterministic may remember an answer and give it again. A process that
 * starts afresh remembers nothing. The first of each pair of sets. */
static int check_afresh(struct hone_judge *judge, struct hone_slot *slot, int64_t n_sets,
                        struct hone_outcome *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    void ***before = hone_pool_alloc(pool, (size_t)n_sets * sizeof *before);
    for (int64_t set = 0; set < n_sets; set += 2)
        before[set] = hone_judge_keep(judge, slot, set, pool);
    hone_judge_drop_arena(slot);
    int code = hone_judge_ready(judge, slot, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = call_firsts(judge, slot, n_sets, ret, err);
    for (int64_t set = 0; set < n_sets; set += 2)
        for (size_t o = 0; o < judge->task->n_outputs && code == 0 && hone_outcome_is_good(ret);
             o++) {
            struct hone_elements found;
            if (differs(judge, slot, set, o, before[set], &found))
                set_element_end(judge, &found, HONE_REASON_NONDETERMINISTIC,
                                "differs between two processes with the same input", ret);
        }
    return code;
}

int hone_judge_blame(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                     struct hone_outcome *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_outcome end = HONE_OUTCOME_INIT;
    if (!hone_outcome_is_value(ret))
        return 0;
    void **before = hone_judge_keep(judge, slot, set, pool);
    hone_judge_drop_arena(slot);
    int code = hone_judge_ready(judge, slot, &end, err);
    if (code < 0 || !hone_outcome_is_good(&end))
        return code;
    /* like a check: who is right then alone is found out */
    code = hone_judge_call_one(judge, slot, set, PERTURB_BYTE, err);
    bool is_same = code == 0 && hone_outcome_is_good(&slot->arena->end) &&
                   hone_judge_is_kept(judge, slot, set, before);
    if (code == 0 && !is_same)
        ret->reason = HONE_REASON_STATEFUL;
    return code;
}

static size_t index_of_normal(const enum hone_distribution *dists, size_t n)
{
    for (size_t d = 0; d < n; d++) {
        if (dists[d] == HONE_DIST_NORMAL)
            return d;
    }
    return 0;
}

int hone_judge_compare_whole(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                             int64_t oracle_budget_ns, struct hone_compare *compare,
                             struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_check_plan plan = {.workload = judge->frame.workload,
                                   .oracle_budget_ns = oracle_budget_ns};
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    hone_compare_init(compare, judge->task, plan.workload);
    int code = hone_judge_compare(judge, slot, set, oracle_budget_ns, compare, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && !compare->is_full)
        code = compare_with_baseline(
            &(struct check){.judge = judge, .slot = slot, .plan = &plan, .compare = compare}, set,
            ret, err);
    return code;
}

int hone_judge_check_whole(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                           int64_t oracle_budget_ns, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_compare compare;
    return hone_judge_compare_whole(judge, slot, set, oracle_budget_ns, &compare, ret, err);
}

/* ret_bad: the kind whose values are wrong, which is not noted yet: the baseline may fail it too.
 * Its comparison is in check->compare. n: there is none. */
static int check_batch(const struct check *check, const enum hone_distribution *dists, size_t n,
                       size_t *ret_bad, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = check->judge;
    struct hone_slot *slot = check->slot;
    const struct hone_check_plan *plan = check->plan;
    struct hone_compare *compare = check->compare;
    *ret_bad = n; /* a fault: which one is not known */
    int code = hone_judge_set_frame(judge, plan->workload, 2 * (int64_t)n, err);
    if (code == 0)
        code = hone_judge_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    uint64_t base = judge->counter;
    judge->counter += n;
    for (size_t d = 0; d < n; d++) {
        hone_judge_fill(judge, 2 * (int64_t)d, dists[d], base + d);
        hone_judge_copy_set(judge, 2 * (int64_t)d, 2 * (int64_t)d + 1);
        hone_judge_poison(judge, slot, 2 * (int64_t)d, HONE_POISON_NAN);
        hone_judge_poison(judge, slot, 2 * (int64_t)d + 1, HONE_POISON_LARGE);
    }
    code = call_sets(judge, slot, 2 * (int64_t)n, ret, err);
    if (code < 0)
        return code;
    if (!hone_outcome_is_good(ret))
        hone_judge_note(judge, plan, dists[0], NULL, ret);
    size_t plainest = index_of_normal(dists, n); /* first: what fails there is settled */
    for (size_t i = 0; i < n && hone_outcome_is_good(ret); i++) {
        size_t d = i == 0 ? plainest : i == plainest ? 0 : i;
        hone_compare_init(compare, judge->task, plan->workload);
        judge->contents.last_compared = base + d;
        code = judge_pair(check, 2 * (int64_t)d, ret, err);
        bool needs_baseline =
            compare->is_full ? hone_rests_wants(plan, dists[d]) : hone_compare_needs_all(dists[d]);
        if (code == 0 && hone_outcome_is_good(ret) && plan->with_baseline && needs_baseline)
            code = compare_with_baseline(check, 2 * (int64_t)d, ret, err);
        if (code < 0)
            return code;
        if (hone_outcome_is_good(ret))
            hone_judge_note(judge, plan, dists[d], compare, ret);
        *ret_bad = d;
    }
    if (!hone_outcome_is_good(ret))
        return 0;
    *ret_bad = n;
    code = hone_near_check(judge, slot, plan, (int64_t)n, ret, err);
    if (!judge->task->is_deterministic || code < 0 || !hone_outcome_is_good(ret))
        return code;
    code = check_afresh(judge, slot, 2 * (int64_t)n, ret, err);
    if (code == 0 && !hone_outcome_is_good(ret))
        hone_judge_note(judge, plan, dists[plainest], NULL, ret);
    return code;
}

void hone_judge_shuffle(struct hone_judge *judge, enum hone_distribution *dists, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)hone_rng_below(&judge->rng, (int64_t)i);
        enum hone_distribution kept = dists[i - 1];
        dists[i - 1] = dists[j];
        dists[j] = kept;
    }
}

int hone_cpu_check(struct hone_judge *judge, struct hone_slot *slot,
                   const struct hone_check_plan *plan, struct hone_outcome *ret,
                   struct hone_err *err)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    enum hone_distribution dists[HONE_N_DISTS];
    memcpy(dists, plan->dists, plan->n_dists * sizeof *dists);
    hone_judge_shuffle(judge, dists, plan->n_dists);
    size_t at_once = (size_t)hone_max_i64(hone_judge_max_sets(judge, plan->workload) / 2, 1);
    size_t n_left = plan->n_dists;
    for (size_t done = 0; done < n_left;) {
        size_t n = n_left - done < at_once ? n_left - done : at_once, bad = 0;
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
        bool is_for_all = bad == n || hone_compare_is_plain(dists[done + bad]);
        bool passes = true;
        if (!is_for_all && hone_outcome_is_value(ret))
            code = baseline_passes(judge, plan, dists[done + bad], judge->contents.last_compared,
                                   &passes, err);
        if (code == 0 && passes && bad < n)
            hone_judge_note(judge, plan, dists[done + bad], &compare, ret);
        if (code < 0 || passes)
            return code;
        hone_contents_leave_out(judge, dists[done + bad], plan->workload->id);
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
        n_left--; /* the others of the batch are called again, without it */
        dists[done + bad] = dists[n_left];
    }
    return 0;
}
