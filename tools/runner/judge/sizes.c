/* SPDX-License-Identifier: Apache-2.0 */
/* Which sizes a job has, and what became of each.
 *
 *   smoke    one tiny size
 *   public   those of the task
 *   edge     cheap ones at the ends of tiles and axes: every job that verifies
 *   range    over the whole legal range of each axis: a few when deciding, all when confirming
 *   beyond   longer than any public size in two axes or more: the farthest that can be afforded
 *   hidden   drawn for a confirmation, to be timed
 *
 * A claim is for the sizes of the task, so a size that was planned and not run takes something
 * away from it. Each place that can leave one out writes the reason to judge->left_out, and the
 * end (hone_sizes_report) counts: what is missing from a confirmation is a warning that names it
 * and a doubt. */
#include "tools/runner/judge/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/clock.h"

#define DECIDE_RANGES   4
#define SLOW_SHARE      0.125                    /* of a call's limit */
#define BEYOND_CALL_NS  (2.0 * HONE_NS_PER_S)    /* of the slower arm, when confirming */
#define CHEAP_CALL_NS   (250.0 * HONE_NS_PER_MS) /* when deciding */
#define BEYOND_WHOLE_NS (15.0 * HONE_NS_PER_S)   /* of an answer that cannot be sampled */
#define MARGIN          2.0                      /* what caches and shapes may add to an estimate */
#define TOP_TIMES       4.0                      /* the dearest public size may take as long */
#define LIMIT_MOST      8.0                      /* times a call's limit, for more work */
#define MOST_NAMED      8                        /* in warnings */
#define PROBE_SHARE     (1.0 / 16)               /* of the dearest public size's work */

_Static_assert(HONE_RUNNER_MAX_CASES <= 2 * HONE_LIMIT_WORKLOADS, "a record has no more");

static void add_case(struct hone_judge *judge, enum hone_case_kind kind,
                     const struct hone_workload *workload)
{
    HONE_BUG_ON(judge->n_cases == HONE_RUNNER_MAX_CASES);
    judge->kinds[judge->n_cases] = kind;
    judge->cases[judge->n_cases++] = *workload;
}

static void add_ranges(struct hone_judge *judge)
{
    struct hone_workload ranges[HONE_TASK_RANGES];
    size_t n = hone_task_ranges(judge->task, judge->key, ranges);
    if (!hone_judge_is_tier(judge, HONE_TIER_CONFIRM))
        n = n < DECIDE_RANGES ? n : DECIDE_RANGES;
    for (size_t i = 0; i < n; i++)
        add_case(judge, HONE_CASE_RANGE, &ranges[i]);
}

/* Of the buffers: what is allowed, or half more than the largest public size has. */
static bool has_room(const struct hone_judge *judge, const struct hone_workload *workload)
{
    int64_t most = HONE_LIMIT_BEYOND_BYTES;
    for (size_t i = 0; i < judge->task->n_workloads; i++) {
        int64_t bytes = hone_judge_set_bytes(judge, &judge->task->workloads[i]);
        most = hone_max_i64(most, bytes + bytes / 2);
    }
    return hone_judge_set_bytes(judge, workload) <= most;
}

static void add_beyonds(struct hone_judge *judge)
{
    struct hone_workload workload;
    for (uint32_t i = 0; i < HONE_TASK_BEYONDS; i++)
        if (hone_task_beyond(judge->task, judge->key, i, HONE_LIMIT_BEYOND_BYTES, &workload) &&
            has_room(judge, &workload))
            add_case(judge, HONE_CASE_BEYOND, &workload);
}

int hone_sizes_collect(struct hone_judge *judge, struct hone_err *err)
{
    const struct hone_task *task = judge->task;
    struct hone_workload workload;
    bool verifies = hone_judge_has_stage(judge, "verify") && judge->job->axes == NULL;
    bool has_edges = verifies || hone_judge_has_stage(judge, "calibrate");
    for (size_t i = 0; i < judge->job->workloads.n; i++) {
        if (hone_task_workload(task, judge->job->workloads.v[i]) == NULL)
            return hone_fail(err, HONE_E_ARG, "task '%s' has no workload '%s'", task->name,
                             judge->job->workloads.v[i]);
    }
    int code = hone_task_smoke(task, &workload, err);
    if (code < 0)
        return code;
    judge->n_cases = 0;
    add_case(judge, HONE_CASE_SMOKE, &workload);
    for (size_t i = 0; i < task->n_workloads; i++)
        add_case(judge, HONE_CASE_PUBLIC, &task->workloads[i]);
    for (uint32_t i = 0; i < HONE_RUNNER_N_EDGES && has_edges; i++) {
        code = hone_task_edge(task, judge->key, i, &workload, err);
        if (code < 0)
            return code;
        add_case(judge, HONE_CASE_EDGE, &workload);
    }
    if (verifies) {
        add_ranges(judge);
        add_beyonds(judge);
    }
    for (uint32_t i = 0; i < judge->job->n_hidden; i++) {
        code = hone_task_draw(task, judge->key, i, &workload, err);
        if (code < 0)
            return code;
        add_case(judge, HONE_CASE_HIDDEN, &workload);
    }
    return 0;
}

/* "edge-3: M=1 K=700 N=33"; what is computed from other axes is left out. */
static const char *size_text(const struct hone_judge *judge, const struct hone_workload *workload)
{
    const struct hone_task *task = judge->task;
    const char *text = hone_pool_printf(judge->pool, "%s:", workload->id);
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            text = hone_pool_printf(judge->pool, "%s %s=%lld", text, task->axes[a].name,
                                    (long long)workload->axes[a]);
    return text;
}

void hone_sizes_name(const struct hone_judge *judge, const struct hone_workload *workload,
                     struct hone_outcome *ret)
{
    const char *text = size_text(judge, workload);
    const char *start = hone_pool_printf(judge->pool, "at %s:", workload->id);
    size_t len = strlen(ret->detail);
    if (hone_outcome_is_good(ret) || strstr(ret->detail, start) != NULL)
        return;
    snprintf(ret->detail + len, sizeof ret->detail - len, "%s%s", len > 0 ? " at " : "at ", text);
}

int hone_sizes_check(struct hone_judge *judge, const struct hone_check_plan *plan,
                     struct hone_outcome *ret, struct hone_err *err)
{
    size_t c = (size_t)(plan->workload - judge->cases);
    int code = judge->target->check(judge, &judge->slots[0], plan, ret, err);
    if (code < 0)
        return code;
    judge->is_checked[c] = hone_outcome_is_good(ret);
    hone_sizes_name(judge, plan->workload, ret);
    return 0;
}

/* A check of the baseline that is no part of the report. */
static int check_with(struct hone_judge *judge, struct hone_check_plan plan, struct hone_slot *slot,
                      struct hone_outcome *ret, struct hone_err *err)
{
    plan.name = "baseline";
    plan.with_baseline = false;
    size_t n_checks = judge->n_checks;
    int code = 0;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (!slot->is_built)
        code = hone_judge_build_arm(judge, slot, NULL, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = judge->target->check(judge, slot, &plan, ret, err);
    judge->n_checks = n_checks;
    return code;
}

static int check_baseline(struct hone_judge *judge, const struct hone_workload *workload,
                          int64_t oracle_ns, struct hone_slot *slot, struct hone_outcome *ret,
                          struct hone_err *err)
{
    enum hone_distribution dists[] = {HONE_DIST_NORMAL};
    struct hone_check_plan plan = {
        .workload = workload, .dists = dists, .n_dists = 1, .oracle_budget_ns = oracle_ns};
    return check_with(judge, plan, slot, ret, err);
}

/* That a check makes for a kind of content: two sets, and one of them by a fresh process (on a
 * device both). */
static double calls_of_kind(const struct hone_judge *judge)
{
    int again = judge->gpu == NULL ? 1 : 2;
    return 2 + (judge->task->is_deterministic ? again : 0);
}

/* Far from the public sizes a task's own baseline may fail, or need about as long as a call may
 * take: then the size says nothing. It gets the contents that the candidate had. */
static void excuse(struct hone_judge *judge, size_t c, const struct hone_check_plan *plan,
                   struct hone_outcome *ret)
{
    struct hone_slot *baseline = hone_judge_slot(judge, "baseline");
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_err why = HONE_ERR_INIT;
    if (hone_outcome_is_good(ret) || baseline == NULL)
        return;
    int64_t called = judge->called_ns;
    int code = check_with(judge, *plan, baseline, &end, &why);
    double n_calls = (double)plan->n_dists * calls_of_kind(judge),
           call_ns = (double)(judge->called_ns - called) / n_calls;
    bool is_slow =
        ret->reason == HONE_REASON_TIMEOUT && call_ns > SLOW_SHARE * (double)judge->call_timeout_ns;
    if (code < 0 || (hone_outcome_is_good(&end) && !is_slow))
        return;
    judge->left_out[c] = is_slow ? "the task's own baseline is too slow there for a call's limit"
                                 : "the task's own baseline fails there";
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
}

struct work {
    double flops, bytes;
};

static struct work work_of(const struct hone_judge *judge, const struct hone_workload *workload)
{
    struct work work = {0};
    (void)hone_judge_least_work(judge, workload, &work.flops, &work.bytes, NULL);
    return work;
}

/* How many times the work of another. */
static double times_of(struct work mine, struct work other)
{
    return fmax(mine.flops / fmax(other.flops, 1), mine.bytes / fmax(other.bytes, 1));
}

/* A call's limit is meant for the sizes that are asked for: one with more work gets more. */
static int64_t limit_at(const struct hone_judge *judge, const struct hone_workload *workload)
{
    double times = INFINITY;
    for (size_t c = 1; c < judge->n_cases; c++)
        if (judge->kinds[c] == HONE_CASE_PUBLIC && hone_judge_is_wanted(judge, c))
            times =
                fmin(times, times_of(work_of(judge, workload), work_of(judge, &judge->cases[c])));
    if (!isfinite(times) || times < 1)
        return judge->call_timeout_ns;
    return (int64_t)(fmin(times, LIMIT_MOST) * (double)judge->call_timeout_ns);
}

int hone_sizes_check_drawn(struct hone_judge *judge, const struct hone_check_plan *plan,
                           struct hone_outcome *ret, struct hone_err *err)
{
    size_t c = (size_t)(plan->workload - judge->cases), n_checks = judge->n_checks;
    int64_t start = hone_now_ns(), limit_ns = judge->call_timeout_ns;
    judge->call_timeout_ns = limit_at(judge, plan->workload);
    int code = hone_sizes_check(judge, plan, ret, err);
    if (code == 0)
        excuse(judge, c, plan, ret);
    judge->call_timeout_ns = limit_ns;
    if (judge->kinds[c] == HONE_CASE_RANGE)
        hone_judge_cost(judge, "verify.range", hone_now_ns() - start);
    if (code == 0 && judge->left_out[c] != NULL)
        judge->n_checks = n_checks;
    return code;
}

/* ---- beyond the public sizes ---- */

struct probe { /* one check of a public size */
    struct work work;
    double call_ns;  /* of the slower arm */
    double whole_ns; /* of all of it, the oracle with it */
    double top;      /* times this work: the dearest public size that is asked for */
};

/* The lightest public size that is asked for with a fair share of the dearest one's work. */
static size_t choose_probe(const struct hone_judge *judge, double *ret_top)
{
    size_t best = 0, dearest = 0;
    for (size_t c = 1; c < judge->n_cases; c++) {
        if (judge->kinds[c] != HONE_CASE_PUBLIC || !hone_judge_is_wanted(judge, c))
            continue;
        if (dearest == 0 ||
            times_of(work_of(judge, &judge->cases[c]), work_of(judge, &judge->cases[dearest])) > 1)
            dearest = c;
    }
    for (size_t c = 1; c < judge->n_cases && dearest > 0; c++) {
        struct work mine = work_of(judge, &judge->cases[c]);
        bool is_fair = judge->kinds[c] == HONE_CASE_PUBLIC && hone_judge_is_wanted(judge, c) &&
                       times_of(mine, work_of(judge, &judge->cases[dearest])) >= PROBE_SHARE;
        if (is_fair && (best == 0 || times_of(mine, work_of(judge, &judge->cases[best])) < 1))
            best = c;
    }
    if (best > 0)
        *ret_top =
            times_of(work_of(judge, &judge->cases[dearest]), work_of(judge, &judge->cases[best]));
    return best;
}

/* What a call of each arm takes, from a check of a public size. *ret_why: there is no estimate. */
static int probe(struct hone_judge *judge, struct probe *ret, const char **ret_why,
                 struct hone_err *err)
{
    struct hone_slot *arms[] = {hone_judge_slot(judge, "baseline"), &judge->slots[0]};
    size_t c = choose_probe(judge, &ret->top);
    if (c == 0) {
        *ret_why = "no public size is asked for";
        return 0;
    }
    ret->work = work_of(judge, &judge->cases[c]);
    double n_calls = calls_of_kind(judge);
    for (size_t i = 0; i < HONE_COUNTOF(arms); i++) {
        struct hone_outcome end = HONE_OUTCOME_INIT;
        if (arms[i] == NULL)
            continue;
        int code = check_baseline(judge, &judge->cases[0], HONE_NS_PER_MS, arms[i], &end, err);
        int64_t start = hone_now_ns(), called = judge->called_ns;
        if (code == 0 && hone_outcome_is_good(&end))
            code = check_baseline(judge, &judge->cases[c], HONE_NS_PER_MS, arms[i], &end, err);
        if (code < 0)
            return code;
        if (!hone_outcome_is_good(&end)) {
            *ret_why = "no public size shows what a call costs";
            return 0;
        }
        double whole_ns = (double)(hone_now_ns() - start),
               called_ns = (double)(judge->called_ns - called);
        ret->whole_ns = fmax(ret->whole_ns, whole_ns);
        ret->call_ns = fmax(ret->call_ns, (called_ns > 0 ? called_ns : whole_ns) / n_calls);
    }
    return 0;
}

/* The oracle answers for some items of most tasks, for all of others. */
static bool is_answered_whole(const struct hone_judge *judge, const struct hone_workload *workload)
{
    double items = 0;
    (void)hone_task_eval(judge->task, judge->task->items, workload, &items, NULL);
    return judge->task->steps != NULL || judge->task->is_oracle_naive_double || items <= 1;
}

static bool can_afford(const struct hone_judge *judge, const struct probe *probe,
                       const struct hone_workload *workload)
{
    bool is_confirm = hone_judge_is_tier(judge, HONE_TIER_CONFIRM);
    double most =
        is_confirm ? fmax(BEYOND_CALL_NS, TOP_TIMES * probe->top * probe->call_ns) : CHEAP_CALL_NS;
    double whole = is_confirm ? BEYOND_WHOLE_NS : 4 * CHEAP_CALL_NS;
    double times = times_of(work_of(judge, workload), probe->work);
    double left = (double)(judge->deadline_ns - hone_now_ns());
    most = fmin(fmin(most, (double)judge->call_timeout_ns / 2), left / 16);
    return times * MARGIN * probe->call_ns <= most &&
           (!is_answered_whole(judge, workload) || times * probe->whole_ns <= whole);
}

/* Memory that ends is no word on the candidate: nobody has seen such a size before. */
static bool is_too_large(const struct hone_err *err)
{
    return err->code == HONE_E_LIMIT || err->code == HONE_E_NOMEM;
}

static int check_far(struct hone_judge *judge, size_t c, struct hone_outcome *ret,
                     struct hone_err *err)
{
    static const enum hone_distribution dists[] = {HONE_DIST_NORMAL};
    struct hone_check_plan plan = {.name = "beyond",
                                   .workload = &judge->cases[c],
                                   .dists = dists,
                                   .n_dists = HONE_COUNTOF(dists),
                                   .oracle_budget_ns = judge->target->effort.oracle_ns,
                                   .with_baseline = true};
    struct hone_err why = HONE_ERR_INIT;
    size_t n_checks = judge->n_checks;
    int code = hone_sizes_check(judge, &plan, ret, &why);
    if (code < 0 && is_too_large(&why)) {
        judge->left_out[c] = "its buffers do not fit";
        *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
        return 0;
    }
    if (code < 0)
        return hone_fail(err, why.code, "%s", why.message);
    excuse(judge, c, &plan, ret);
    if (judge->left_out[c] != NULL)
        judge->n_checks = n_checks;
    return 0;
}

int hone_sizes_check_beyond(struct hone_judge *judge, struct hone_outcome *ret,
                            struct hone_err *err)
{
    struct probe probed = {0};
    const char *why = NULL;
    size_t first = 0;
    while (first < judge->n_cases && judge->kinds[first] != HONE_CASE_BEYOND)
        first++;
    if (first == judge->n_cases)
        return 0;
    int64_t start = hone_now_ns();
    int code = probe(judge, &probed, &why, err);
    for (size_t c = first; code == 0 && c < judge->n_cases && hone_outcome_is_good(ret); c++) {
        if (judge->kinds[c] != HONE_CASE_BEYOND || judge->is_checked[c])
            break;
        judge->left_out[c] = why;
        if (why == NULL && !can_afford(judge, &probed, &judge->cases[c]))
            judge->left_out[c] = "the baseline would need too long";
        if (judge->left_out[c] == NULL)
            code = check_far(judge, c, ret, err);
        if (judge->is_checked[c])
            break;
    }
    hone_judge_cost(judge, "verify.beyond", hone_now_ns() - start);
    return code;
}

/* ---- the report ---- */

static bool is_timed(const struct hone_judge *judge, const struct hone_workload *workload)
{
    for (size_t w = 0; w < judge->n_workloads; w++)
        if (judge->workloads[w].id != NULL && strcmp(judge->workloads[w].id, workload->id) == 0)
            return true;
    return false;
}

static void widen(struct hone_axis_box *box, int64_t value)
{
    box->least = box->largest == 0 ? value : hone_min_i64(box->least, value);
    box->largest = hone_max_i64(box->largest, value);
}

static void fill_box(struct hone_judge *judge, struct hone_sizes_report *ret)
{
    const struct hone_task *task = judge->task;
    struct hone_axis_box *box = hone_pool_alloc(judge->pool, HONE_LIMIT_AXES * sizeof *box);
    size_t n = 0;
    for (size_t a = 0; a < task->n_axes; a++) {
        if (task->axes[a].kind != HONE_AXIS_VAR)
            continue;
        box[n] = (struct hone_axis_box){.axis = hone_pool_strdup(judge->pool, task->axes[a].name)};
        for (size_t c = 0; c < judge->n_cases; c++)
            if (judge->is_checked[c])
                widen(&box[n], judge->cases[c].axes[a]);
        n += box[n].largest > 0;
    }
    ret->box = (struct hone_array){.v = box, .n = n};
}

static void count(struct hone_judge *judge, struct hone_sizes_report *ret)
{
    bool has_beyond = false;
    for (size_t c = 1; c < judge->n_cases; c++) {
        enum hone_case_kind kind = judge->kinds[c];
        bool was_timed = is_timed(judge, &judge->cases[c]);
        ret->n_public += kind == HONE_CASE_PUBLIC;
        ret->n_public_timed += kind == HONE_CASE_PUBLIC && was_timed;
        ret->n_hidden += kind == HONE_CASE_HIDDEN;
        ret->n_hidden_timed += kind == HONE_CASE_HIDDEN && was_timed;
        ret->n_checked += judge->is_checked[c];
        if (kind == HONE_CASE_BEYOND && judge->is_checked[c])
            ret->beyond = size_text(judge, &judge->cases[c]);
        if (kind == HONE_CASE_BEYOND)
            has_beyond = true;
        else
            ret->n_planned +=
                kind == HONE_CASE_EDGE || kind == HONE_CASE_RANGE || hone_judge_is_wanted(judge, c);
    }
    /* of the sizes beyond, one; when deciding only if it is cheap */
    bool needs_beyond = has_beyond && hone_judge_is_tier(judge, HONE_TIER_CONFIRM);
    ret->n_planned += needs_beyond || ret->beyond != NULL;
}

static bool is_missing(const struct hone_judge *judge, size_t c, bool has_beyond)
{
    enum hone_case_kind kind = judge->kinds[c];
    bool is_wanted = kind == HONE_CASE_EDGE || kind == HONE_CASE_RANGE ||
                     (kind == HONE_CASE_BEYOND && !has_beyond) || hone_judge_is_wanted(judge, c);
    bool must_time = kind == HONE_CASE_HIDDEN || kind == HONE_CASE_PUBLIC;
    return is_wanted &&
           (!judge->is_checked[c] || (must_time && !is_timed(judge, &judge->cases[c])));
}

/* Sizes that should have been checked or timed and were not, with the reason: a few by name,
 * drawn ones and those beyond before the others. */
static void warn_of_missing(struct hone_judge *judge, bool has_beyond)
{
    size_t n_named = 0, n_more = 0;
    for (size_t c = judge->n_cases; c-- > 1;) {
        const char *why = judge->left_out[c];
        if (!is_missing(judge, c, has_beyond))
            continue;
        if (n_named++ < MOST_NAMED)
            hone_judge_warn(judge, "size %s was not %s: %s", size_text(judge, &judge->cases[c]),
                            judge->is_checked[c] ? "timed" : "checked",
                            why != NULL ? why : "the job ended before");
        else
            n_more++;
    }
    if (n_more > 0)
        hone_judge_warn(judge, "%zu more sizes were not checked or timed", n_more);
}

static void doubt_sizes(struct hone_judge *judge, const struct hone_sizes_report *sizes)
{
    bool has_beyond = false;
    for (size_t c = 1; c < judge->n_cases; c++)
        has_beyond = has_beyond || judge->kinds[c] == HONE_CASE_BEYOND;
    if (sizes->n_hidden == 0)
        hone_judge_doubt(judge, "public sizes only: no size was drawn to be timed");
    else if (sizes->n_hidden_timed == 0)
        hone_judge_doubt(judge, "public sizes only: none of %lld drawn sizes was timed",
                         (long long)sizes->n_hidden);
    else if (sizes->n_hidden_timed < sizes->n_hidden)
        hone_judge_doubt(judge, "%lld of %lld drawn sizes were timed",
                         (long long)sizes->n_hidden_timed, (long long)sizes->n_hidden);
    if (sizes->n_public_timed < sizes->n_public)
        hone_judge_doubt(judge, "%lld of %lld public sizes were timed",
                         (long long)sizes->n_public_timed, (long long)sizes->n_public);
    if (has_beyond && sizes->beyond == NULL)
        hone_judge_doubt(judge, "no size beyond the public ones was checked");
    if (sizes->n_checked < sizes->n_planned)
        hone_judge_doubt(judge, "%lld of %lld sizes were checked", (long long)sizes->n_checked,
                         (long long)sizes->n_planned);
}

void hone_sizes_report(struct hone_judge *judge)
{
    struct hone_sizes_report sizes = {0};
    bool is_claim = judge->was_timed && hone_judge_is_tier(judge, HONE_TIER_CONFIRM);
    if (judge->n_cases == 0 ||
        (!hone_judge_has_stage(judge, "verify") && !hone_judge_has_stage(judge, "time")))
        return;
    count(judge, &sizes);
    fill_box(judge, &sizes);
    if (sizes.n_checked == 0 && judge->n_workloads == 0)
        return;
    judge->report->sizes = hone_pool_alloc(judge->pool, sizeof sizes);
    *judge->report->sizes = sizes;
    if (!is_claim)
        return;
    warn_of_missing(judge, sizes.beyond != NULL);
    doubt_sizes(judge, &sizes);
}
