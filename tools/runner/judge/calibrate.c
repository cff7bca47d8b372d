/* SPDX-License-Identifier: Apache-2.0 */
/* Stage calibrate: how much room a task's tolerance has.
 *
 * From below: what honest kernels err by. The candidate is one, the arm "second" another (the same
 * text in another order of sums, or whatever the job brings). From above: answers that must not
 * pass. The judge makes them itself from the reference: zeros, ones, the mean, each input copied,
 * the reference with inputs or outputs rounded to the next lower type; the arm "lowered", where
 * there is one, calculates in that type. All go through compare.c, with contents of every
 * distribution, on the smoke size, the public sizes and drawn ones.
 *
 * Time: each size gets its share of the job's budget. A size gives one content of every
 * distribution, whatever that takes (all of them MOST_OVERDRAWN budgets at most), then more while
 * its share lasts, MAX_SEEDS at most; the oracle is asked for everything where that is affordable,
 * else for random items. What could not be had is a warning, and the report's n_seeds is what the
 * poorest size got of every distribution. Nothing is decided here. */
#include "tools/runner/judge/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/order_stats.h"

#define DEFAULT_BUDGET_MS 60000
#define MAX_SEEDS         8
#define ANSWER_SEEDS      1 /* contents of a size and distribution that trivial answers are tried on */
#define MOST_OVERDRAWN    3 /* times the budget that the first contents of all sizes may take */
#define PROBE_ITEMS       32
#define LEAST_ORACLE_NS   (2 * HONE_NS_PER_MS)
#define LEAST_ITEMS       64
#define MOST_ELEMENTS     (1ll << 18) /* compared of one content */
#define MAX_HONEST        2
#define PER_MILLE         0.999

struct noise { /* of one arm, output and distribution */
    int64_t *histogram;
    int64_t n_calls, n_elements, n_hopeless;
    double worst, rel_l2, bias;
    const struct hone_workload *workload;
};

struct work {
    struct hone_judge *judge;
    struct hone_slot *honest[MAX_HONEST], *lowered;
    size_t n_honest;
    struct noise *noise; /* [arm][output][distribution] */
    struct hone_oracle_record *records;
    int64_t n_records, records_room;
    int64_t *items; /* the list of the moment; NULL: all */
    int64_t n_items, n_all_items;
    int64_t hard_end_ns;
    double item_ns;    /* of the present workload; 0: not known yet */
    int64_t oracle_ns; /* of it, for one content */
    void *answer[HONE_LIMIT_TENSORS];
    struct hone_answer_report *answers;
    size_t n_answers;
    struct hone_calibration_report *report;
    bool is_full; /* of rows */
};

static struct noise *noise_of(const struct work *w, size_t arm, size_t output,
                              enum hone_distribution dist)
{
    return &w->noise[(arm * w->judge->task->n_outputs + output) * HONE_N_DISTS + (size_t)dist];
}

/* ---- the reference ---- */

static void keep_records(void *arg, const struct hone_oracle_record *records, int64_t n)
{
    struct work *w = arg;
    if (w->n_records + n > w->records_room) {
        w->records_room = 2 * (w->n_records + n);
        w->records = hone_realloc(w->records, (size_t)w->records_room * sizeof *w->records);
    }
    memcpy(w->records + w->n_records, records, (size_t)n * sizeof *records);
    w->n_records += n;
}

static int formula(struct work *w, const char *text, int64_t *ret, struct hone_err *err)
{
    double value = 0;
    int code = hone_task_eval(w->judge->task, text, w->judge->frame.workload, &value, err);
    *ret = (int64_t)value;
    return code;
}

static int ask(struct work *w, int64_t set, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    int64_t n_steps = 0;
    int code = hone_judge_ready_oracle(judge, err);
    w->n_records = 0;
    if (code == 0 && judge->task->steps != NULL)
        code = formula(w, judge->task->steps, &n_steps, err);
    if (code < 0)
        return code;
    const bool is_iterated = judge->task->steps != NULL;
    const struct hone_oracle_ask what = {.set = set,
                                         .items = is_iterated ? NULL : w->items,
                                         .n = is_iterated ? w->n_all_items : w->n_items,
                                         .n_steps = n_steps,
                                         .n_threads = judge->machine.n_cores,
                                         .on_records = keep_records,
                                         .arg = w};
    return (is_iterated ? hone_oracle_steps : hone_oracle_items)(judge->oracle.arena, &what, err);
}

static void draw_items(struct work *w, int64_t n)
{
    w->items = hone_realloc(w->items, (size_t)n * sizeof *w->items);
    for (int64_t i = 0; i < n; i++)
        w->items[i] = hone_rng_below(&w->judge->rng, w->n_all_items);
    qsort(w->items, (size_t)n, sizeof *w->items, hone_by_i64);
    w->n_items = n;
}

/* Which items of the present content are asked for: all, or as many random ones as budget_ns pays.
 */
static int choose_items(struct work *w, int64_t budget_ns, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    int64_t n_elements = 0, n = 0;
    int code = formula(w, judge->task->items, &w->n_all_items, err);
    hone_free_ptr(&w->items);
    w->n_items = n = w->n_all_items;
    if (code < 0 || judge->task->steps != NULL || n <= 2 * LEAST_ITEMS)
        return code;
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        n_elements += hone_judge_output_elements(judge, o);
    if (!(w->item_ns > 0)) {
        int64_t start = hone_now_ns();
        draw_items(w, PROBE_ITEMS);
        code = ask(w, 0, err);
        w->item_ns = fmax((double)(hone_now_ns() - start) / PROBE_ITEMS, 1);
        hone_free_ptr(&w->items);
        w->n_items = n;
    }
    double affordable = (double)budget_ns / w->item_ns * (double)judge->machine.n_cores;
    double fitting = (double)MOST_ELEMENTS * (double)n / (double)hone_max_i64(n_elements, 1);
    double most = fmax(fmin(affordable, fitting), LEAST_ITEMS);
    if (code == 0 && most < (double)n)
        draw_items(w, (int64_t)most);
    return code;
}

/* ---- comparing ---- */

static void compare(struct work *w, enum hone_distribution dist, const void *const *outputs,
                    struct noise *noise, struct hone_compare *ret)
{
    struct hone_judge *judge = w->judge;
    hone_compare_init(ret, judge->task, judge->frame.workload);
    ret->is_plain = hone_compare_is_plain_for(w->judge->task, dist);
    ret->n_items = w->n_items;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        ret->outputs[o] = outputs[o];
        if (noise != NULL)
            ret->histogram[o] = noise[o * HONE_N_DISTS].histogram;
    }
    hone_compare_add(ret, w->records, w->n_records);
}

static int note_honest(struct work *w, size_t arm, enum hone_distribution dist,
                       struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    const void *outputs[HONE_LIMIT_TENSORS] = {NULL};
    struct hone_compare result;
    int code = judge->target->answer(judge, w->honest[arm], outputs, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    compare(w, dist, outputs, noise_of(w, arm, 0, dist), &result);
    if (result.is_bad_record)
        hone_outcome_set(ret, HONE_REASON_BAD_TASK,
                         "the task's oracle names an element that does not exist");
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        struct noise *noise = noise_of(w, arm, o, dist);
        struct hone_error_sums sums = hone_compare_sums(&result, o);
        if (sums.worst >= noise->worst)
            noise->workload = judge->frame.workload;
        noise->n_calls++;
        noise->n_elements += sums.n;
        noise->n_hopeless += result.stats[o].n_hopeless;
        noise->worst = fmax(noise->worst, sums.worst);
        noise->rel_l2 = fmax(noise->rel_l2, hone_error_rel_l2(&sums));
        noise->bias = fmax(noise->bias, hone_error_bias(&sums));
    }
    return 0;
}

/* ---- answers that must not pass ---- */

static void note_answer(struct work *w, const char *name, bool is_lower,
                        enum hone_distribution dist, const void *const *outputs)
{
    struct hone_judge *judge = w->judge;
    const struct hone_workload *workload = judge->frame.workload;
    struct hone_compare result;
    compare(w, dist, outputs, NULL, &result);
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        struct hone_error_sums sums = hone_compare_sums(&result, o);
        w->is_full = w->is_full || w->n_answers == HONE_LIMIT_ANSWER_ROWS;
        if (w->is_full)
            return;
        w->answers[w->n_answers++] = (struct hone_answer_report){
            .answer = name,
            .is_lower = is_lower,
            .is_public = workload != &judge->cases[0] && !workload->is_hidden,
            .is_random = !hone_kind_row(dist)->is_corner,
            .workload = workload->id,
            .distribution = hone_dist_name(dist),
            .output = judge->task->outputs[o].name,
            .n_hopeless = result.stats[o].n_hopeless,
            .n = sums.n,
            .n_items = sums.n_items,
            .worst = sums.worst,
            .err_squares = sums.err_squares,
            .ref_sum = sums.ref_sum,
            .ref_squares = sums.ref_squares,
            .size_squares = sums.size_squares,
            .err_sum = sums.err_sum,
            .toward_sum = sums.toward_sum,
            .size_sum = sums.size_sum,
            .is_plain = sums.is_plain,
        };
    }
}

typedef double value_fn(const struct work *w, const struct hone_oracle_record *record, size_t arg);

static double value_zero(const struct work *w, const struct hone_oracle_record *record, size_t arg)
{
    (void)w, (void)record, (void)arg;
    return 0;
}

static double value_one(const struct work *w, const struct hone_oracle_record *record, size_t arg)
{
    (void)w, (void)record, (void)arg;
    return 1;
}

static double value_right(const struct work *w, const struct hone_oracle_record *record, size_t arg)
{
    (void)w, (void)arg;
    return record->value;
}

static double value_rounded(const struct work *w, const struct hone_oracle_record *record,
                            size_t arg)
{
    (void)arg;
    return hone_element_lower(w->judge->task->outputs[record->output].dtype, record->value);
}

static double value_copied(const struct work *w, const struct hone_oracle_record *record,
                           size_t input)
{
    struct hone_judge *judge = w->judge;
    const struct hone_tensor *tensor = &judge->task->inputs[input];
    int64_t n = hone_tensor_elements(judge->task, tensor, judge->frame.workload);
    return hone_element_get(
        tensor->dtype, hone_shared_tensor(&judge->inputs, &judge->frame.layout, 0, (int64_t)input),
        record->index % hone_max_i64(n, 1));
}

static bool is_record_good(const struct work *w, const struct hone_oracle_record *r)
{
    return r->output >= 0 && (size_t)r->output < w->judge->task->n_outputs && r->index >= 0 &&
           r->index < hone_judge_output_elements(w->judge, (size_t)r->output);
}

/* Only the elements that are compared are written. */
static void write_answer(struct work *w, value_fn *value, size_t arg)
{
    for (int64_t i = 0; i < w->n_records; i++) {
        const struct hone_oracle_record *r = &w->records[i];
        if (is_record_good(w, r))
            hone_element_set(w->judge->task->outputs[r->output].dtype, w->answer[r->output],
                             r->index, value(w, r, arg));
    }
}

static void try_values(struct work *w, const char *name, bool is_lower, enum hone_distribution dist,
                       value_fn *value, size_t arg)
{
    write_answer(w, value, arg);
    note_answer(w, name, is_lower, dist, (const void *const *)w->answer);
}

static void try_mean(struct work *w, enum hone_distribution dist)
{
    double sum[HONE_LIMIT_TENSORS] = {0}, n[HONE_LIMIT_TENSORS] = {0};
    for (int64_t i = 0; i < w->n_records; i++) {
        if (!is_record_good(w, &w->records[i]) || !isfinite(w->records[i].value))
            continue;
        sum[w->records[i].output] += w->records[i].value;
        n[w->records[i].output]++;
    }
    for (int64_t i = 0; i < w->n_records; i++) {
        const struct hone_oracle_record *r = &w->records[i];
        if (is_record_good(w, r))
            hone_element_set(w->judge->task->outputs[r->output].dtype, w->answer[r->output],
                             r->index, sum[r->output] / fmax(n[r->output], 1));
    }
    note_answer(w, "mean", false, dist, (const void *const *)w->answer);
}

/* Set 1: the content with float inputs rounded. False: there are none. */
static bool round_inputs(struct hone_judge *judge)
{
    bool has_any = false;
    hone_judge_copy_set(judge, 0, 1);
    for (size_t i = 0; i < judge->task->n_inputs; i++) {
        const struct hone_tensor *tensor = &judge->task->inputs[i];
        void *base = hone_shared_tensor(&judge->inputs, &judge->frame.layout, 1, (int64_t)i);
        int64_t n = hone_tensor_elements(judge->task, tensor, judge->frame.workload);
        if (!hone_dtype_is_float(tensor->dtype))
            continue;
        has_any = true;
        for (int64_t k = 0; k < n; k++)
            hone_element_set(
                tensor->dtype, base, k,
                hone_element_lower(tensor->dtype, hone_element_get(tensor->dtype, base, k)));
    }
    return has_any;
}

/* The reference of the rounded inputs, as an answer to the content itself. */
static int try_rounded_inputs(struct work *w, enum hone_distribution dist, struct hone_err *err)
{
    if (!round_inputs(w->judge))
        return 0;
    struct hone_oracle_record *kept = w->records;
    int64_t n_kept = w->n_records, room_kept = w->records_room;
    w->records = NULL;
    w->n_records = w->records_room = 0;
    int code = ask(w, 1, err);
    if (code == 0)
        write_answer(w, value_right, 0);
    free(w->records);
    w->records = kept;
    w->n_records = n_kept;
    w->records_room = room_kept;
    if (code == 0)
        note_answer(w, "rounded inputs", true, dist, (const void *const *)w->answer);
    return code;
}

/* The arm that calculates in the lower type; where it fails it is no answer. */
static int try_lowered(struct work *w, enum hone_distribution dist, struct hone_err *err)
{
    const void *outputs[HONE_LIMIT_TENSORS] = {NULL};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    if (w->lowered == NULL)
        return 0;
    int code = w->judge->target->answer(w->judge, w->lowered, outputs, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        note_answer(w, "rounded arithmetic", true, dist, outputs);
    return code;
}

static int try_answers(struct work *w, enum hone_distribution dist, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    try_values(w, "zeros", false, dist, value_zero, 0);
    try_values(w, "ones", false, dist, value_one, 0);
    try_mean(w, dist);
    for (size_t i = 0; i < judge->task->n_inputs; i++)
        try_values(w, hone_pool_printf(judge->pool, "copy of %s", judge->task->inputs[i].name),
                   false, dist, value_copied, i);
    if (!hone_task_has_float_output(judge->task)) /* integers are right or wrong */
        return 0;
    try_values(w, "rounded outputs", true, dist, value_rounded, 0);
    int code = try_rounded_inputs(w, dist, err);
    return code == 0 ? try_lowered(w, dist, err) : code;
}

/* ---- contents ---- */

static int one_content(struct work *w, const struct hone_workload *workload,
                       enum hone_distribution dist, int64_t seed, struct hone_outcome *ret,
                       struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    int code = judge->target->content(judge, workload, dist, judge->counter++, err);
    if (code == 0)
        code = choose_items(w, w->oracle_ns, err);
    if (code == 0)
        code = ask(w, 0, err);
    for (size_t a = 0; a < w->n_honest && code == 0 && hone_outcome_is_good(ret); a++)
        code = note_honest(w, a, dist, ret, err);
    /* where a row holds one element, a trivial answer may be the right one */
    if (code == 0 && hone_outcome_is_good(ret) && !workload->is_edge && seed < ANSWER_SEEDS)
        code = try_answers(w, dist, err);
    return code;
}

static int one_workload(struct work *w, const struct hone_workload *workload, int64_t share_ns,
                        struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    enum hone_distribution kinds[HONE_N_DISTS];
    size_t n_kinds = hone_contents_kinds(judge, kinds);
    int64_t start = hone_now_ns(), n_seeds = 0, n_left_out = 0;
    w->oracle_ns = hone_max_i64(share_ns / ((int64_t)n_kinds * 4), LEAST_ORACLE_NS);
    w->item_ns = 0;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        int64_t n = hone_tensor_elements(judge->task, &judge->task->outputs[o], workload);
        free(w->answer[o]);
        w->answer[o] =
            hone_calloc((size_t)n + 1, (size_t)hone_dtype_bytes(judge->task->outputs[o].dtype));
    }
    for (int64_t seed = 0; seed < MAX_SEEDS && hone_outcome_is_good(ret); seed++) {
        int64_t n_done = 0;
        for (size_t k = 0; k < n_kinds && hone_outcome_is_good(ret); k++) {
            enum hone_distribution d = kinds[k];
            int64_t now = hone_now_ns();
            bool is_over = seed == 0 ? now > w->hard_end_ns : now > start + share_ns;
            if (is_over && (seed > 0 || k > 0)) {
                n_left_out += seed == 0;
                continue;
            }
            int code = one_content(w, workload, d, seed, ret, err);
            if (code < 0)
                return hone_wrap(err, "workload '%s', %s", workload->id, hone_dist_name(d));
            n_done++;
        }
        n_seeds += n_done == (int64_t)n_kinds;
    }
    w->report->n_seeds = hone_min_i64(w->report->n_seeds, n_seeds);
    if (n_left_out > 0)
        hone_judge_warn(judge,
                        "workload '%s' was too dear for %lld of %zu distributions: give more time",
                        workload->id, (long long)n_left_out, n_kinds);
    return 0;
}

/* ---- the stage ---- */

static int build_arms(struct work *w, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    w->honest[w->n_honest++] = &judge->slots[0];
    struct hone_slot *second = hone_judge_slot(judge, "second"),
                     *lowered = hone_judge_slot(judge, "lowered");
    int code = second != NULL ? hone_judge_build_arm(judge, second, NULL, ret, err) : 0;
    if (code == 0 && second != NULL && hone_outcome_is_good(ret))
        w->honest[w->n_honest++] = second;
    if (code < 0 || !hone_outcome_is_good(ret) || lowered == NULL)
        return code;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    code = hone_judge_build_arm(judge, lowered, NULL, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        w->lowered = lowered;
    else if (code == 0)
        hone_judge_warn(judge, "no arithmetic in a lower type was tried: %.200s", end.detail);
    return code;
}

static double percentile(const struct noise *noise)
{
    int64_t total = 0, below = 0;
    for (size_t b = 0; b < HONE_ERROR_BINS; b++)
        total += noise->histogram[b];
    for (size_t b = 0; b < HONE_ERROR_BINS; b++) {
        below += noise->histogram[b];
        if ((double)below >= PER_MILLE * (double)total)
            return fmin(hone_error_bin_value(b), noise->worst);
    }
    return noise->worst;
}

static void report_noise(struct work *w)
{
    struct hone_judge *judge = w->judge;
    size_t n_rows = w->n_honest * judge->task->n_outputs * HONE_N_DISTS;
    struct hone_noise_report *rows = hone_pool_alloc(judge->pool, n_rows * sizeof *rows);
    w->report->noise.v = rows;
    for (size_t a = 0; a < w->n_honest; a++) {
        for (size_t o = 0; o < judge->task->n_outputs; o++) {
            for (int d = 0; d < HONE_N_DISTS; d++) {
                const struct noise *noise = noise_of(w, a, o, (enum hone_distribution)d);
                if (noise->n_calls == 0 || w->report->noise.n == HONE_LIMIT_REPORT_ROWS)
                    continue;
                rows[w->report->noise.n++] = (struct hone_noise_report){
                    .arm = w->honest[a]->name,
                    .output = judge->task->outputs[o].name,
                    .distribution = hone_dist_name((enum hone_distribution)d),
                    .n_calls = noise->n_calls,
                    .n_elements = noise->n_elements,
                    .n_hopeless = noise->n_hopeless,
                    .p999 = percentile(noise),
                    .worst = noise->worst,
                    .rel_l2 = noise->rel_l2,
                    .bias = noise->bias,
                    .workload = noise->workload != NULL ? noise->workload->id : NULL,
                    .is_plain =
                        hone_compare_is_plain_for(w->judge->task, (enum hone_distribution)d),
                };
            }
        }
    }
}

static int all_workloads(struct work *w, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = w->judge;
    int64_t budget_ms = judge->job->budget_ms > 0 ? judge->job->budget_ms : DEFAULT_BUDGET_MS;
    int64_t end_ns = hone_deadline_in_ms(budget_ms), n_done = 0;
    w->hard_end_ns = hone_deadline_in_ms(MOST_OVERDRAWN * budget_ms);
    int code = 0;
    for (size_t c = 0; c < judge->n_cases && code == 0 && hone_outcome_is_good(ret); c++) {
        if (c > 0 && !judge->cases[c].is_edge && !hone_judge_is_wanted(judge, c))
            continue;
        int64_t left = hone_max_i64(end_ns - hone_now_ns(), 0);
        int64_t share = left / (int64_t)(judge->n_cases - c);
        code = one_workload(w, &judge->cases[c], share, ret, err);
        hone_judge_progress(judge, "calibrate", judge->cases[c].id, ++n_done,
                            (int64_t)judge->n_cases, "");
    }
    return code;
}

static void done(struct work *w)
{
    size_t n_noise = MAX_HONEST * w->judge->task->n_outputs * HONE_N_DISTS;
    for (size_t i = 0; i < n_noise; i++)
        free(w->noise[i].histogram);
    for (size_t o = 0; o < HONE_LIMIT_TENSORS; o++)
        free(w->answer[o]);
    free(w->noise);
    free(w->records);
    free(w->items);
}

int hone_stage_calibrate(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    if (judge->target->content == NULL) {
        hone_outcome_set(ret, HONE_REASON_BAD_REQUEST, "target '%s' cannot calibrate a task",
                         judge->target->name);
        return 0;
    }
    struct work w = {.judge = judge};
    size_t n_noise = MAX_HONEST * judge->task->n_outputs * HONE_N_DISTS;
    w.noise = hone_calloc(n_noise, sizeof *w.noise);
    for (size_t i = 0; i < n_noise; i++)
        w.noise[i].histogram = hone_calloc(HONE_ERROR_BINS, sizeof(int64_t));
    w.answers = hone_pool_alloc(judge->pool, HONE_LIMIT_ANSWER_ROWS * sizeof *w.answers);
    w.report = hone_pool_alloc(judge->pool, sizeof *w.report);
    *w.report = (struct hone_calibration_report){
        .n_seeds = MAX_SEEDS, .device = hone_pool_strdup(judge->pool, judge->machine.cpu)};
    int code = judge->target->build_oracle(judge, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = build_arms(&w, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = all_workloads(&w, ret, err);
    report_noise(&w);
    w.report->answers = (struct hone_array){.v = w.answers, .n = w.n_answers};
    if (w.is_full)
        hone_judge_warn(judge, "more than %d answers: the rest is left out",
                        HONE_LIMIT_ANSWER_ROWS);
    judge->report->calibration = w.report;
    done(&w);
    return code;
}

/* ---- target cpu ---- */

int hone_cpu_content(struct hone_judge *judge, const struct hone_workload *workload,
                     enum hone_distribution dist, uint64_t counter, struct hone_err *err)
{
    int code = hone_judge_set_frame(judge, workload, 2, err);
    if (code == 0)
        hone_judge_fill(judge, 0, dist, counter);
    return code;
}

int hone_cpu_answer(struct hone_judge *judge, struct hone_slot *slot, const void **ret_outputs,
                    struct hone_outcome *ret, struct hone_err *err)
{
    int code = hone_judge_ready(judge, slot, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    code = hone_judge_call_one(judge, slot, 0, 0, err);
    *ret = slot->arena->end;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++)
        ret_outputs[o] = hone_judge_output(judge, slot, 0, o);
    return code;
}
