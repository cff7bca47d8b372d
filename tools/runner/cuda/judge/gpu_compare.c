/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs on a device against reference answers (gpu_oracle.c) and against another arm's outputs.
 * The kernels apply compare.c's rule and add up; the words are compare.c's own. */
#include <math.h>
#include <string.h>

#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/judge/gpu_reference.h"
#include "workspace/base/clock.h"

#define LIKE_FACTOR 2 /* both sides round */

static double from_bits(unsigned long long bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t first_of(const struct hone_k_stats *stats)
{
    return (int64_t) ~(stats->n_nonfinite > 0 ? stats->first_nonfinite : stats->first_bad);
}

static void take_stats(const struct hone_k_stats *from, bool is_like, struct hone_output_stats *ret)
{
    *(is_like ? &ret->n_other : &ret->n) += (int64_t)from->n;
    if (from->n_bad > 0 && ret->n_bad == 0)
        ret->first_bad = first_of(from);
    ret->n_bad += (int64_t)from->n_bad;
    ret->n_nonfinite += (int64_t)from->n_nonfinite;
    ret->max_abs = fmax(ret->max_abs, from_bits(from->max_abs));
    ret->max_rel = fmax(ret->max_rel, from_bits(from->max_rel));
    if (is_like)
        return;
    ret->worst = fmax(ret->worst, from_bits(from->worst));
    ret->max_scale = fmax(ret->max_scale, from_bits(from->max_scale));
    ret->sums.err_squares += from->err_squares;
    ret->sums.ref_sum += from->ref_sum;
    ret->sums.ref_squares += from->ref_squares;
    ret->sums.size_squares += from->size_squares;
    ret->sums.err_sum += from->err_sum;
    ret->sums.toward_sum += from->toward_sum;
    ret->sums.size_sum += from->size_sum;
}

/* What stands there, for the message. */
static int fetch_element(struct hone_gpu_session *session, enum hone_dtype dtype, hone_cu_ptr base,
                         int64_t i, double *ret, struct hone_err *err)
{
    uint64_t room = 0;
    int64_t bytes = hone_dtype_bytes(dtype);
    int code = hone_gpu_fetch(session, &room, base + (hone_cu_ptr)(i * bytes), bytes, err);
    if (code == 0)
        *ret = hone_element_get(dtype, &room, 0);
    return code;
}

struct records { /* of the oracle, on the device */
    hone_cu_ptr base;
    int64_t n;
};

/* Fills in the value of the record for this output and index. */
static int find_record(struct hone_gpu_session *session, const struct records *records,
                       struct hone_k_record *record, bool *ret_is_found, struct hone_err *err)
{
    int64_t n = records->n;
    HONE_AUTOFREE struct hone_k_record *all = hone_malloc((size_t)n * sizeof *all + 1);
    int code =
        n > 0 ? hone_gpu_fetch(session, all, records->base, n * (int64_t)sizeof *all, err) : 0;
    *ret_is_found = false;
    for (int64_t i = 0; i < n && code == 0; i++) {
        if (all[i].output != record->output || all[i].index != record->index)
            continue;
        record->value = all[i].value;
        *ret_is_found = true;
    }
    return code;
}

struct answer { /* an arm's outputs for a set, and what they are held against */
    struct hone_judge *judge;
    struct hone_slot *slot;
    int64_t set;
    const struct hone_gpu_reference *reference; /* NULL: records of the moment */
    struct records records;
};

static long long has_signed_zero(const struct hone_judge *judge)
{
    return (judge->task->special_values & HONE_SPECIAL_NEGATIVE_ZERO) != 0;
}

static int compare_arrays(const struct answer *answer, struct hone_k_stats *ret,
                          struct hone_err *err)
{
    struct hone_judge *judge = answer->judge;
    const struct hone_gpu_reference *reference = answer->reference;
    struct hone_gpu_session *session = judge->gpu->session;
    size_t n_outputs = judge->task->n_outputs;
    int64_t bytes = (int64_t)(n_outputs * sizeof *ret), at = 0;
    const void *results = NULL;
    int code = hone_gpu_results_zero(session, bytes, err);
    for (size_t o = 0; o < n_outputs && code == 0; o++) {
        hone_cu_ptr values = reference->memory + (hone_cu_ptr)at * sizeof(double);
        hone_cu_ptr scales = values + (hone_cu_ptr)reference->n_elements * sizeof(double);
        struct hone_pitch pitch;
        (void)hone_tensor_pitch(&judge->task->outputs[o], judge->gpu->frame.workload, &pitch);
        struct hone_k_compare compare = {.got =
                                             hone_gpu_output(judge, answer->slot, answer->set, o),
                                         .n = hone_gpu_output_elements(judge, o),
                                         .n_sets = 1,
                                         .dtype = (int64_t)judge->task->outputs[o].dtype,
                                         .values = values,
                                         .scales = reference->has_scales ? scales : 0,
                                         .scale = reference->scale[o],
                                         .factor = 1,
                                         .atol = hone_compare_atol(judge->task, o),
                                         .rtol = judge->task->tolerance[o].rtol,
                                         .has_signed_zero = has_signed_zero(judge),
                                         .row = pitch.row,
                                         .used = pitch.used,
                                         .stats = session->results + o * sizeof *ret};
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_COMPARE, compare.n, 1, &compare, err);
        at += compare.n;
    }
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &results, err);
    if (code == 0)
        memcpy(ret, results, (size_t)bytes);
    return code;
}

static int compare_records(const struct answer *answer, struct hone_k_stats *ret,
                           struct hone_err *err)
{
    struct hone_judge *judge = answer->judge;
    int64_t n = answer->records.n;
    struct hone_gpu_session *session = judge->gpu->session;
    size_t n_outputs = judge->task->n_outputs;
    int64_t bytes = (int64_t)(n_outputs * sizeof *ret);
    struct hone_k_records args = {
        .records = answer->records.base, .n_records = n, .stats = session->results};
    args.outputs.n_outputs = (int64_t)n_outputs;
    args.outputs.has_signed_zero = has_signed_zero(judge);
    for (size_t o = 0; o < n_outputs; o++) {
        args.outputs.got[o] = hone_gpu_output(judge, answer->slot, answer->set, o);
        args.outputs.n[o] = hone_gpu_output_elements(judge, o);
        args.outputs.dtype[o] = (int64_t)judge->task->outputs[o].dtype;
        args.outputs.atol[o] = hone_compare_atol(judge->task, o);
        args.outputs.rtol[o] = judge->task->tolerance[o].rtol;
    }
    const void *results = NULL;
    int code = hone_gpu_results_zero(session, bytes, err);
    if (code == 0)
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_COMPARE_RECORDS, n, (int64_t)n_outputs,
                               &args, err);
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &results, err);
    if (code == 0)
        memcpy(ret, results, (size_t)bytes);
    return code;
}

/* Fills compare from what a kernel found. */
static int conclude(const struct answer *answer, const struct hone_k_stats *stats,
                    struct hone_compare *compare, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = answer->judge;
    const struct hone_gpu_reference *reference = answer->reference;
    struct hone_gpu_session *session = judge->gpu->session;
    uint64_t n_uncovered = 0;
    int64_t at = 0;
    int code = 0;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        enum hone_dtype dtype = judge->task->outputs[o].dtype;
        struct hone_output_stats *own = &compare->stats[o];
        bool is_found = false;
        take_stats(&stats[o], false, own);
        struct hone_k_record record = {.output = (int64_t)o, .index = own->first_bad};
        n_uncovered += stats[o].n_uncovered;
        if (own->n_bad > 0) {
            code =
                fetch_element(session, dtype, hone_gpu_output(judge, answer->slot, answer->set, o),
                              own->first_bad, &own->bad_got, err);
            if (code == 0 && reference != NULL && reference->is_full)
                code = fetch_element(session, HONE_DTYPE_F64,
                                     reference->memory + (hone_cu_ptr)at * sizeof(double),
                                     own->first_bad, &own->bad_want, err);
            else if (code == 0)
                code = find_record(session, &answer->records, &record, &is_found, err);
            own->bad_want = is_found ? record.value : own->bad_want;
            double scale = is_found ? record.scale : reference != NULL ? reference->scale[o] : 0;
            if (code == 0 && reference != NULL && reference->is_full && reference->has_scales)
                code = fetch_element(session, HONE_DTYPE_F64,
                                     reference->memory +
                                         (hone_cu_ptr)(reference->n_elements + at) * sizeof(double),
                                     own->first_bad, &scale, err);
            own->bad_allowed = hone_compare_allowed(judge->task, o, own->bad_want, scale);
        }
        at += hone_gpu_output_elements(judge, o);
    }
    if (code < 0)
        return code;
    hone_compare_end(compare, ret);
    if (n_uncovered > 0)
        hone_outcome_set(
            ret, HONE_REASON_BAD_TASK,
            "the task's oracle leaves %llu output elements out, or names some that do not "
            "exist",
            (unsigned long long)n_uncovered);
    return 0;
}

/* How many of the oracle's items stand behind a reference: all, or as many as its records need. */
static int64_t items_of(const struct hone_judge *judge, const struct hone_gpu_reference *reference)
{
    double n_items = 0;
    int64_t n_elements = 0;
    if (hone_task_eval(judge->task, judge->task->items, judge->gpu->frame.workload, &n_items,
                       NULL) < 0)
        return 0;
    for (size_t o = 0; o < judge->task->n_outputs; o++)
        n_elements += hone_gpu_output_elements(judge, o);
    if (!reference->is_full)
        n_items *= (double)reference->n_records / (double)hone_max_i64(n_elements, 1);
    return (int64_t)n_items;
}

int hone_gpu_compare(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                     const struct hone_gpu_reference *reference, struct hone_compare *compare,
                     struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_k_stats stats[HONE_LIMIT_TENSORS] = {0};
    int64_t start = hone_now_ns();
    hone_compare_init(compare, judge->task, judge->gpu->frame.workload);
    compare->is_full = reference->is_full;
    compare->is_plain = hone_compare_is_plain_for(judge->task, reference->dist);
    compare->content = hone_dist_name(reference->dist);
    compare->n_items = items_of(judge, reference);
    const struct answer answer = {.judge = judge,
                                  .slot = slot,
                                  .set = set,
                                  .reference = reference,
                                  .records = {reference->memory, reference->n_records}};
    int code = reference->is_full ? compare_arrays(&answer, stats, err)
                                  : compare_records(&answer, stats, err);
    if (code == 0)
        code = conclude(&answer, stats, compare, ret, err);
    size_t c = hone_gpu_case(judge, judge->gpu->frame.workload);
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        double *known = &judge->gpu->scale[c][o];
        if (reference->dist == HONE_DIST_NORMAL)
            *known = fmax(*known, compare->stats[o].max_scale);
    }
    hone_judge_cost(judge, "device.compare", hone_now_ns() - start);
    return code;
}

/* The largest scale that the oracle gave for this workload's normal content; where it was never
 * asked, the size of the baseline's output. */
static int like_scale(struct hone_judge *judge, struct hone_slot *baseline, int64_t set,
                      size_t output, double *ret, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    *ret = judge->gpu->scale[hone_gpu_case(judge, judge->gpu->frame.workload)][output];
    if (*ret > 0)
        return 0;
    struct hone_k_squares squares = {.base = hone_gpu_output(judge, baseline, set, output),
                                     .n = hone_gpu_output_elements(judge, output),
                                     .dtype = (int64_t)judge->task->outputs[output].dtype,
                                     .sum = session->results};
    const void *sum = NULL;
    int code = hone_gpu_results_zero(session, sizeof(double), err);
    if (code == 0)
        code = hone_gpu_launch(session, HONE_GPU_KERNEL_SQUARES, squares.n, 1, &squares, err);
    if (code == 0)
        code = hone_gpu_results_read(session, sizeof(double), &sum, err);
    if (code < 0)
        return code;
    double value = 0;
    memcpy(&value, sum, sizeof value);
    *ret = sqrt(value / (double)hone_max_i64(squares.n, 1));
    return 0;
}

struct like { /* one output */
    struct hone_judge *judge;
    struct hone_gpu_like arms;
    size_t output;
    int64_t from; /* the first element that is compared */
    double scale;
};

/* One output of some sets, a row of stats for each. */
static int like_stats(const struct like *like, struct hone_k_stats *ret, struct hone_err *err)
{
    struct hone_judge *judge = like->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    size_t o = like->output;
    enum hone_dtype dtype = judge->task->outputs[o].dtype;
    hone_cu_ptr skipped = (hone_cu_ptr)(like->from * hone_dtype_bytes(dtype));
    struct hone_k_compare args = {
        .got = hone_gpu_output(judge, like->arms.slot, like->arms.first, o) + skipped,
        .n = hone_gpu_output_elements(judge, o) - like->from,
        .stride = hone_gpu_stride(judge, true, o),
        .n_sets = like->arms.n,
        .dtype = (int64_t)dtype,
        .like = hone_gpu_output(judge, like->arms.baseline, like->arms.first, o) + skipped,
        .like_stride = hone_gpu_stride(judge, true, o),
        .scale = like->scale,
        .factor = LIKE_FACTOR,
        .atol = hone_compare_atol(judge->task, o),
        .rtol = judge->task->tolerance[o].rtol,
        .has_signed_zero = has_signed_zero(judge),
        .stats = session->results};
    int64_t bytes = like->arms.n * (int64_t)sizeof *ret;
    const void *results = NULL;
    int code = hone_gpu_results_zero(session, bytes, err);
    if (code == 0)
        code =
            hone_gpu_launch(session, HONE_GPU_KERNEL_COMPARE_LIKE, args.n, args.n_sets, &args, err);
    if (code == 0)
        code = hone_gpu_results_read(session, bytes, &results, err);
    if (code == 0)
        memcpy(ret, results, (size_t)bytes);
    return code;
}

/* The first set with a bad element is taken. */
static int like_output(struct like *like, struct hone_compare *compare, struct hone_err *err)
{
    struct hone_judge *judge = like->judge;
    struct hone_gpu_session *session = judge->gpu->session;
    size_t o = like->output;
    enum hone_dtype dtype = judge->task->outputs[o].dtype;
    struct hone_output_stats *own = &compare->stats[o];
    HONE_AUTOFREE struct hone_k_stats *stats =
        hone_malloc((size_t)like->arms.n * sizeof *stats + 1);
    int code = like_scale(judge, like->arms.baseline, like->arms.first, o, &like->scale, err);
    like->scale = fmax(like->scale, own->max_scale);
    if (code == 0)
        code = like_stats(like, stats, err);
    for (int64_t s = 0; s < like->arms.n && code == 0; s++) {
        bool was_good = own->n_bad == 0;
        take_stats(&stats[s], true, own);
        if (!was_good || own->n_bad == 0)
            continue;
        code = fetch_element(session, dtype,
                             hone_gpu_output(judge, like->arms.slot, like->arms.first + s, o),
                             own->first_bad, &own->bad_got, err);
        if (code == 0)
            code =
                fetch_element(session, dtype,
                              hone_gpu_output(judge, like->arms.baseline, like->arms.first + s, o),
                              own->first_bad, &own->bad_want, err);
        own->bad_allowed =
            LIKE_FACTOR * hone_compare_allowed(judge->task, o, own->bad_want, like->scale);
        break;
    }
    return code;
}

int hone_gpu_compare_like(struct hone_judge *judge, const struct hone_gpu_like *arms,
                          struct hone_compare *compare, struct hone_err *err)
{
    int64_t start = hone_now_ns();
    int code = 0;
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        struct like like = {.judge = judge, .arms = *arms, .output = o};
        code = like_output(&like, compare, err);
    }
    hone_judge_cost(judge, "device.compare", hone_now_ns() - start);
    return code;
}

/* One item of a set against the oracle. *ret_is_known: it is the one that gives this element. */
static int judge_item(const struct like *like, int64_t item, int64_t element, bool *ret_is_known,
                      struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = like->judge;
    struct hone_compare asked;
    struct hone_k_stats stats[HONE_LIMIT_TENSORS] = {0};
    struct answer answer = {.judge = judge, .slot = like->arms.slot, .set = like->arms.first};
    struct hone_k_record record = {.output = (int64_t)like->output, .index = element};
    *ret_is_known = false;
    hone_compare_init(&asked, judge->task, judge->gpu->frame.workload);
    int code = hone_gpu_ask_item(judge, like->arms.first, item, &answer.records.n, err);
    answer.records.base = judge->gpu->session->records.base;
    if (code == 0)
        code = find_record(judge->gpu->session, &answer.records, &record, ret_is_known, err);
    if (code == 0 && *ret_is_known)
        code = compare_records(&answer, stats, err);
    return code == 0 && *ret_is_known ? conclude(&answer, stats, &asked, ret, err) : code;
}

/* Suspects of one output of one set: the first ones, then some from anywhere. said: what the
 * baseline's word alone comes to. */
static int judge_suspects(struct like *like, const struct hone_outcome *said,
                          struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_judge *judge = like->judge;
    int64_t n = hone_gpu_output_elements(judge, like->output);
    double n_items = 0;
    int code =
        hone_task_eval(judge->task, judge->task->items, judge->gpu->frame.workload, &n_items, err);
    like->from = 0;
    for (int k = 0; k < HONE_SUSPECTS && code == 0 && like->from < n && hone_outcome_is_good(ret);
         k++) {
        struct hone_k_stats stats;
        bool is_known = false;
        code = like_stats(like, &stats, err);
        if (code < 0 || stats.n_bad == 0)
            return code;
        int64_t at = like->from + first_of(&stats);
        int64_t item = hone_compare_item(n, (int64_t)n_items, at);
        if (item >= 0)
            code = judge_item(like, item, at, &is_known, ret, err);
        if (code == 0 && !is_known)
            *ret = *said;
        if (k < HONE_SUSPECTS / 2 && item >= 0)
            like->from = (item + 1) * (n / (int64_t)n_items);
        else
            like->from = hone_rng_below(&judge->rng, n);
    }
    return code;
}

/* Content of this kind says nothing at this size. */
static void leave_out(struct hone_judge *judge, enum hone_distribution dist,
                      struct hone_compare *compare, struct hone_outcome *ret)
{
    const struct hone_workload *workload = judge->gpu->frame.workload;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    hone_compare_init(compare, judge->task, workload);
    hone_contents_leave_out(judge, dist, workload->id);
}

/* Elements where an arm gives no finite number and the other one does, of one set. */
static int count_nonfinite(struct hone_judge *judge, const struct hone_gpu_like *arms, int64_t *ret,
                           struct hone_err *err)
{
    struct hone_compare compare;
    hone_compare_init(&compare, judge->task, judge->gpu->frame.workload);
    int code = hone_gpu_compare_like(judge, arms, &compare, err);
    *ret = hone_compare_total(&compare).n_nonfinite;
    return code;
}

/* What the baseline's word alone comes to. Where all that is off is the baseline's own overflow, it
 * accuses nobody: of exp(s * scale - top) a fused multiply-add keeps what the rounding of top lost,
 * and every row of an attention whose scores are huge was a NaN. Plain content excuses nothing: an
 * infinity may be right. */
static int accuse(struct hone_judge *judge, const struct hone_gpu_like *arms,
                  const struct hone_outcome *said, struct hone_compare *compare,
                  struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_like turned = *arms;
    int64_t n_theirs = 0;
    turned.slot = arms->baseline;
    turned.baseline = arms->slot;
    int code = arms->n == 1 && !hone_compare_is_plain(arms->dist)
                   ? count_nonfinite(judge, &turned, &n_theirs, err)
                   : 0;
    if (code == 0 && n_theirs > 0 && n_theirs == hone_compare_total(compare).n_bad)
        leave_out(judge, arms->dist, compare, ret);
    else if (code == 0)
        *ret = *said;
    return code;
}

/* Content that the baseline fails too says nothing, as in a check of a small size. Plain content
 * excuses nothing: the baseline's sums drift there. */
static int hold_to(struct hone_judge *judge, const struct hone_gpu_like *arms, int64_t set,
                   const struct hone_gpu_reference *reference, struct hone_compare *compare,
                   struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_compare other;
    struct hone_outcome theirs = HONE_OUTCOME_INIT;
    int code = hone_gpu_compare(judge, arms->slot, set, reference, compare, ret, err);
    if (code < 0 || !hone_outcome_is_value(ret))
        return code;
    code = hone_gpu_compare(judge, arms->baseline, set, reference, &other, &theirs, err);
    if (code == 0 && !hone_outcome_is_good(&theirs) && !hone_compare_is_plain(arms->dist))
        leave_out(judge, arms->dist, compare, ret);
    return code;
}

/* The whole oracle's answer in double decides, where it can be had; else what the baseline's word
 * comes to. */
static int hold_to_whole(struct hone_judge *judge, const struct hone_gpu_like *arms,
                         const struct hone_outcome *said, struct hone_compare *compare,
                         struct hone_outcome *ret, struct hone_err *err)
{
    int code = 0;
    for (int64_t i = 0; i < arms->n && code == 0 && hone_outcome_is_good(ret); i++) {
        const struct hone_gpu_reference *reference = NULL;
        int64_t set = arms->first + i;
        /* a number of its own: no other content is meant by it */
        uint64_t counter = arms->counter != 0
                               ? arms->counter
                               : judge->counter++ * HONE_GPU_MAX_SETS + (uint64_t)set;
        code = hone_gpu_reference_get(
            judge, set, arms->counter != 0 ? arms->dist : HONE_DIST_OUTLIER, counter,
            judge->task->is_oracle_torch ? HONE_GPU_ANY_NS : HONE_GPU_APPEAL_NS, &reference, err);
        if (code == 0 && reference != NULL)
            code = hold_to(judge, arms, set, reference, compare, ret, err);
        else if (code == 0)
            code = accuse(judge, arms, said, compare, ret, err);
    }
    return code;
}

int hone_gpu_judge_like(struct hone_judge *judge, const struct hone_gpu_like *arms,
                        struct hone_compare *compare, struct hone_outcome *ret,
                        struct hone_err *err)
{
    struct hone_outcome said = HONE_OUTCOME_INIT;
    int code = hone_gpu_compare_like(judge, arms, compare, err);
    hone_compare_end(compare, &said);
    if (code < 0 || hone_outcome_is_good(&said))
        return code;
    bool has_whole =
        judge->task->is_oracle_torch ? hone_gpu_host_has_large(judge) : judge->gpu->is_host_oracle;
    if (hone_outcome_is_value(&said) && has_whole)
        return hold_to_whole(judge, arms, &said, compare, ret, err);
    if (!hone_gpu_can_spot(judge, judge->gpu->frame.workload))
        return accuse(judge, arms, &said, compare, ret, err);
    for (int64_t i = 0; i < arms->n * (int64_t)judge->task->n_outputs && code == 0; i++) {
        int64_t set = arms->first + i / (int64_t)judge->task->n_outputs;
        struct like like = {
            .judge = judge,
            .arms = {.slot = arms->slot, .baseline = arms->baseline, .first = set, .n = 1},
            .output = (size_t)(i % (int64_t)judge->task->n_outputs)};
        code = like_scale(judge, arms->baseline, set, like.output, &like.scale, err);
        like.scale = fmax(like.scale, compare->stats[like.output].max_scale);
        if (code == 0 && hone_outcome_is_good(ret))
            code = judge_suspects(&like, &said, ret, err);
        compare->stats[like.output].n_bad = compare->stats[like.output].n_nonfinite = 0;
    }
    return code;
}

int hone_gpu_spot_check(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        int64_t n_items, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_compare compare;
    struct hone_k_stats stats[HONE_LIMIT_TENSORS] = {0};
    struct answer answer = {.judge = judge, .slot = slot, .set = set};
    int64_t start = hone_now_ns();
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int code = hone_gpu_ask_random(judge, set, n_items, &answer.records.n, err);
    answer.records.base = judge->gpu->session->records.base;
    if (code == 0)
        code = compare_records(&answer, stats, err);
    hone_compare_init(&compare, judge->task, judge->gpu->frame.workload);
    if (code == 0)
        code = conclude(&answer, stats, &compare, ret, err);
    hone_judge_cost(judge, "device.oracle", hone_now_ns() - start);
    return code;
}
