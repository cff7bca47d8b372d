#include "tools/runner/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/runner/element.h"

#define MIN_FOR_NORM 32 /* the spread of fewer elements says little */

void hone_compare_init(struct hone_compare *compare, const struct hone_task *task,
                       const struct hone_workload *workload)
{
    memset(compare, 0, sizeof *compare);
    compare->task = task;
    compare->workload = workload;
    for (size_t o = 0; o < task->n_outputs; o++) {
        compare->n_elements[o] = hone_tensor_elements(task, &task->outputs[o], workload);
        compare->stats[o].first_bad = -1;
    }
}

static bool is_same_kind(double got, double want)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    return got == want; /* infinities with their sign */
}

static void note_bad(struct hone_output_stats *stats, int64_t index, double got, double want)
{
    stats->n_bad++;
    if (stats->first_bad < 0 || (stats->n_nonfinite == 1 && !isfinite(got))) {
        stats->first_bad = index;
        stats->bad_got = got;
        stats->bad_want = want;
    }
}

static void add_one(struct hone_compare *compare, size_t output,
                    const struct hone_oracle_record *record)
{
    int64_t index = record->index;
    double want = record->value;
    const struct hone_tensor *tensor = &compare->task->outputs[output];
    const struct hone_tolerance *tolerance = &compare->task->tolerance[output];
    struct hone_output_stats *stats = &compare->stats[output];
    double got = hone_element_get(tensor->dtype, compare->outputs[output], index);
    double rounded = hone_element_round(tensor->dtype, want);
    stats->n++;
    if (!isfinite(rounded) || !isfinite(got)) {
        if (!is_same_kind(got, rounded)) {
            stats->n_nonfinite += isfinite(rounded) ? 1 : 0;
            note_bad(stats, index, got, want);
        }
        return;
    }
    bool is_integer = !hone_dtype_is_float(tensor->dtype);
    if (is_integer)
        want = rounded;
    double err = fabs(got - want);
    double bound = is_integer ? 0 : hone_tolerance_limit(tolerance, want, record->scale);
    double size = hone_tolerance_size(want, record->scale);
    stats->max_abs = fmax(stats->max_abs, err);
    stats->max_rel = fmax(stats->max_rel, err / fmax(fabs(want), 1e-30));
    stats->err_squares += err * err;
    stats->ref_sum += want;
    stats->ref_squares += want * want;
    stats->size_squares += size * size;
    stats->max_scale = fmax(stats->max_scale, record->scale);
    if (!(err <= bound))
        note_bad(stats, index, got, want);
}

void hone_compare_add(void *arg, const struct hone_oracle_record *records, int64_t n)
{
    struct hone_compare *compare = arg;
    for (int64_t i = 0; i < n; i++) {
        int64_t o = records[i].output, index = records[i].index;
        if (o < 0 || (size_t)o >= compare->task->n_outputs || index < 0 ||
            index >= compare->n_elements[o])
            compare->is_bad_record = true;
        else
            add_one(compare, (size_t)o, &records[i]);
    }
}

void hone_compare_arrays(struct hone_compare *compare, size_t output, const void *reference)
{
    const struct hone_tensor *tensor = &compare->task->outputs[output];
    struct hone_output_stats *stats = &compare->stats[output];
    const struct hone_tolerance *tolerance = &compare->task->tolerance[output];
    for (int64_t i = 0; i < compare->n_elements[output]; i++) {
        double got = hone_element_get(tensor->dtype, compare->outputs[output], i);
        double want = hone_element_get(tensor->dtype, reference, i);
        bool is_bad =
            !isfinite(got) || !isfinite(want)
                ? !is_same_kind(got, want)
                : fabs(got - want) > 2 * hone_tolerance_limit(tolerance, want, stats->max_scale);
        stats->n_other++;
        if (is_bad)
            note_bad(stats, i, got, want);
    }
}

static double centred_norm(const struct hone_output_stats *stats)
{
    double n = (double)hone_max_i64(stats->n, 1);
    return sqrt(fmax(stats->ref_squares - stats->ref_sum * stats->ref_sum / n, 0));
}

double hone_compare_rel_l2(const struct hone_compare *compare)
{
    double worst = NAN;
    for (size_t o = 0; o < compare->task->n_outputs; o++)
        if (centred_norm(&compare->stats[o]) > 0)
            worst =
                fmax(worst, sqrt(compare->stats[o].err_squares) / centred_norm(&compare->stats[o]));
    return worst;
}

struct hone_output_stats hone_compare_total(const struct hone_compare *compare)
{
    struct hone_output_stats sum = {.first_bad = -1};
    for (size_t o = 0; o < compare->task->n_outputs; o++) {
        const struct hone_output_stats *stats = &compare->stats[o];
        sum.n += stats->n + stats->n_other;
        sum.n_bad += stats->n_bad;
        sum.n_nonfinite += stats->n_nonfinite;
        sum.max_abs = fmax(sum.max_abs, stats->max_abs);
        sum.max_rel = fmax(sum.max_rel, stats->max_rel);
    }
    return sum;
}

void hone_element_name(const struct hone_task *task, const struct hone_workload *workload,
                       const struct hone_tensor *tensor, int64_t flat,
                       char ret[HONE_LIMIT_NAME_BYTES * 3])
{
    (void)task;
    int64_t at[HONE_LIMIT_RANK] = {0};
    for (size_t d = tensor->rank; d-- > 0;) {
        int64_t size = hone_max_i64(workload->axes[tensor->shape[d]], 1);
        at[d] = flat % size;
        flat /= size;
    }
    size_t room = HONE_LIMIT_NAME_BYTES * 3;
    int len = snprintf(ret, room, "%s", tensor->name);
    for (size_t d = 0; d < tensor->rank && len > 0 && (size_t)len < room; d++)
        len += snprintf(ret + len, room - (size_t)len, "%s%lld%s", d == 0 ? "[" : ", ",
                        (long long)at[d], d + 1 == tensor->rank ? "]" : "");
}

static void describe_bad(const struct hone_compare *compare, size_t output, struct hone_end *ret)
{
    const struct hone_output_stats *stats = &compare->stats[output];
    const struct hone_tensor *tensor = &compare->task->outputs[output];
    char name[HONE_LIMIT_NAME_BYTES * 3];
    hone_element_name(compare->task, compare->workload, tensor, stats->first_bad, name);
    bool is_nonfinite = stats->n_nonfinite > 0;
    hone_end_set(
        ret, is_nonfinite ? HONE_REASON_NONFINITE : HONE_REASON_WRONG_VALUE,
        "%s = %.9g, expected %.9g; %lld of %lld compared elements are wrong, largest error %.3g",
        name, stats->bad_got, stats->bad_want, (long long)stats->n_bad,
        (long long)(stats->n + stats->n_other), stats->max_abs);
}

void hone_compare_end(const struct hone_compare *compare, struct hone_end *ret)
{
    *ret = (struct hone_end)HONE_END_INIT;
    if (compare->is_bad_record) {
        hone_end_set(ret, HONE_REASON_BAD_TASK,
                     "the task's oracle names an element that does not exist");
        return;
    }
    for (size_t o = 0; o < compare->task->n_outputs; o++) {
        if (compare->stats[o].n_bad > 0) {
            describe_bad(compare, o, ret);
            return;
        }
    }
    for (size_t o = 0; o < compare->task->n_outputs; o++) {
        const struct hone_output_stats *stats = &compare->stats[o];
        double error = sqrt(stats->err_squares), centred = centred_norm(stats);
        bool is_near = hone_tolerance_norm_ok(&compare->task->tolerance[o], error, centred,
                                              sqrt(stats->size_squares), sqrt((double)stats->n));
        if (!is_near && stats->n >= MIN_FOR_NORM) {
            hone_end_set(
                ret, HONE_REASON_WRONG_VALUE,
                "output '%s' as a whole is off: relative L2 error %.3g, at most %.3g is allowed",
                compare->task->outputs[o].name, error / centred,
                compare->task->tolerance[o].rel_l2);
            return;
        }
    }
}

int64_t hone_find_unwritten(enum hone_dtype dtype, const void *a, const void *b, int64_t n,
                            int64_t *ret_count)
{
    uint64_t bits_a = hone_poison_bits(dtype, HONE_POISON_NAN),
             bits_b = hone_poison_bits(dtype, HONE_POISON_LARGE);
    int64_t first = -1, count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!hone_element_is(dtype, a, i, bits_a) ||
            (b != NULL && !hone_element_is(dtype, b, i, bits_b)))
            continue;
        if (first < 0)
            first = i;
        count++;
    }
    *ret_count = count;
    return first;
}

int64_t hone_find_difference(enum hone_dtype dtype, const void *a, const void *b, int64_t n,
                             int64_t *ret_count)
{
    size_t bytes = (size_t)hone_dtype_bytes(dtype);
    const char *x = a, *y = b;
    int64_t first = -1, count = 0;
    *ret_count = 0;
    if (memcmp(x, y, (size_t)n * bytes) == 0)
        return -1;
    for (int64_t i = 0; i < n; i++, x += bytes, y += bytes) {
        if (memcmp(x, y, bytes) == 0)
            continue;
        if (first < 0)
            first = i;
        count++;
    }
    *ret_count = count;
    return first;
}
