/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing outputs (compare.h).
 *
 * State: for each output the counts, the first wrong elements, the sums for norm and bias, and
 * a histogram of errors. Records of the oracle come in any order and in parts.
 * hone_compare_arrays compares two answers bit by bit and, where they differ, by the same rule. */
#include "tools/runner/values/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/runner/values/element.h"

enum { PART_ELEMENTS = 256 }; /* what is the same bit by bit is passed over in such parts */

static const char *const test_names[HONE_N_TOLERANCE_TESTS] = {
    [HONE_TOLERANCE_NORM] = "norm",
    [HONE_TOLERANCE_BIAS] = "bias",
};

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

#define LEAST_ERROR   0x1p-72 /* below it everything is the first bin */
#define BINS_A_DOUBLE 8
#define HUGE_ERROR    1e30 /* of an element whose size is 0 */

size_t hone_error_bin(double error)
{
    if (!(error > LEAST_ERROR))
        return 0;
    double at = 1 + BINS_A_DOUBLE * log2(error / LEAST_ERROR);
    return at < HONE_ERROR_BINS - 1 ? (size_t)at : HONE_ERROR_BINS - 1;
}

double hone_error_bin_value(size_t bin)
{
    return bin == 0 ? 0 : LEAST_ERROR * exp2((double)bin / BINS_A_DOUBLE);
}

double hone_compare_atol(const struct hone_task *task, size_t output)
{
    static const double steps[] = {/* smallest denormals */
                                   [HONE_DTYPE_F16] = 0x1p-24,
                                   [HONE_DTYPE_BF16] = 0x1p-133,
                                   [HONE_DTYPE_F32] = 0x1p-149,
                                   [HONE_DTYPE_F64] = 0x1p-1074};
    enum hone_dtype dtype = task->outputs[output].dtype;
    return hone_dtype_is_float(dtype) ? fmax(task->tolerance[output].atol, steps[dtype]) : 0;
}

double hone_compare_allowed(const struct hone_task *task, size_t output, double want, double scale)
{
    const struct hone_tolerance tolerance = {.atol = hone_compare_atol(task, output),
                                             .rtol = task->tolerance[output].rtol};
    bool is_float = hone_dtype_is_float(task->outputs[output].dtype);
    return is_float ? hone_tolerance_limit(&tolerance, want, scale) : 0;
}

static bool is_same_kind(double got, double want)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    return got == want; /* infinities with their sign */
}

/* One of got and rounded, the type's own want, is infinite, and want is not: so near to where the type
 * ends that the tolerance reaches beyond it? */
static bool is_at_the_end(enum hone_dtype dtype, double got, double want, double bound)
{
    static const double ends[] = {/* what rounds to infinity from there on */
                                  [HONE_DTYPE_F16] = 65520,
                                  [HONE_DTYPE_BF16] = 0x1.ffp127,
                                  [HONE_DTYPE_F32] = 0x1.ffffffp127,
                                  [HONE_DTYPE_F64] = HUGE_VAL};
    if (!hone_dtype_is_float(dtype) || isnan(got) || !isfinite(want) || !isfinite(bound) ||
        signbit(got) != signbit(want))
        return false;
    return isfinite(got) ? fabs(got - want) <= bound : fabs(want) + bound >= ends[dtype];
}

/* Where the task says so, the sign of a zero counts. */
static bool is_other_zero(const struct hone_task *task, double got, double want)
{
    return (task->special_values & HONE_SPECIAL_NEGATIVE_ZERO) != 0 && got == 0 && want == 0 &&
           signbit(got) != signbit(want);
}

static void note_bad(struct hone_output_stats *stats, int64_t index, double got, double want,
                     double allowed)
{
    stats->n_bad++;
    if (stats->first_bad < 0 || (stats->n_nonfinite == 1 && !isfinite(got))) {
        stats->first_bad = index;
        stats->bad_got = got;
        stats->bad_want = want;
        stats->bad_allowed = allowed;
    }
}

/* fmax of the C library is a call, and these run for every element of every check. A NaN in b
 * leaves a, as there. */
static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

struct judged { /* one output: what is the same for all of its elements */
    struct hone_output_stats *stats;
    const void *got;
    enum hone_dtype dtype;
    bool is_integer;
    double atol, rtol;
    int64_t *histogram;
};

static inline double value_at(enum hone_dtype dtype, const void *base, int64_t i)
{
    return dtype == HONE_DTYPE_F32 ? (double)((const float *)base)[i]
                                   : hone_element_get(dtype, base, i);
}

static inline double rounded_to(enum hone_dtype dtype, double value)
{
    return dtype == HONE_DTYPE_F32 ? (double)(float)value : hone_element_round(dtype, value);
}

static struct judged judged_of(struct hone_compare *compare, size_t output)
{
    enum hone_dtype dtype = compare->task->outputs[output].dtype;
    return (struct judged){.stats = &compare->stats[output],
                           .got = compare->outputs[output],
                           .dtype = dtype,
                           .is_integer = !hone_dtype_is_float(dtype),
                           .atol = hone_compare_atol(compare->task, output),
                           .rtol = compare->task->tolerance[output].rtol,
                           .histogram = compare->histogram[output]};
}

/* The error as calibration sees it: (|e| - atol) / s. */
static inline double add_sums(struct hone_error_sums *sums, double atol, double signed_err,
                              double want, double size)
{
    double err = fabs(signed_err), beyond = larger(0, err - atol), error = 0;
    if (beyond > 0)
        error = size > 0 ? fmin(beyond / size, HUGE_ERROR) : HUGE_ERROR;
    sums->worst = larger(sums->worst, error);
    sums->err_squares += err * err;
    sums->ref_sum += want;
    sums->ref_squares += want * want;
    sums->size_squares += size * size;
    sums->err_sum += signed_err;
    sums->toward_sum += want < 0 ? -signed_err : signed_err;
    sums->size_sum += size;
    return error;
}

static void add_one(const struct hone_compare *compare, const struct judged *out,
                    const struct hone_oracle_record *record)
{
    int64_t index = record->index;
    double want = record->value;
    struct hone_output_stats *stats = out->stats;
    double got = value_at(out->dtype, out->got, index);
    double rounded = rounded_to(out->dtype, want);
    double size = hone_tolerance_size(out->is_integer ? rounded : want, record->scale);
    double bound = out->is_integer ? 0 : out->atol + out->rtol * size;
    stats->n++;
    if (!isfinite(rounded) || !isfinite(got)) {
        if (!is_same_kind(got, rounded) && !is_at_the_end(out->dtype, got, want, bound)) {
            stats->n_nonfinite += isfinite(rounded) ? 1 : 0;
            stats->n_hopeless++;
            note_bad(stats, index, got, want, 0);
        }
        return;
    }
    if (out->is_integer)
        want = rounded;
    double err = fabs(got - want);
    stats->max_abs = larger(stats->max_abs, err);
    double least = larger(1e-30, fabs(want));
    if (err > stats->max_rel * least) /* a division only for what is worse than all before */
        stats->max_rel = larger(stats->max_rel, err / least);
    if (bound > 0 && err > stats->worst * bound)
        stats->worst = larger(stats->worst, err / bound);
    double error = add_sums(&stats->sums, out->atol, got - want, want, size);
    stats->n_hopeless += out->is_integer && err > 0;
    if (out->histogram != NULL)
        out->histogram[hone_error_bin(error)]++;
    stats->max_scale = larger(stats->max_scale, record->scale);
    if (!(err <= bound) || (!out->is_integer && is_other_zero(compare->task, got, rounded)))
        note_bad(stats, index, got, want, bound);
}

void hone_compare_add(void *arg, const struct hone_oracle_record *records, int64_t n)
{
    struct hone_compare *compare = arg;
    struct judged outs[HONE_LIMIT_TENSORS];
    for (size_t o = 0; o < compare->task->n_outputs; o++)
        outs[o] = judged_of(compare, o);
    for (int64_t i = 0; i < n; i++) {
        int64_t o = records[i].output, index = records[i].index;
        if (o < 0 || (size_t)o >= compare->task->n_outputs || index < 0 ||
            index >= compare->n_elements[o])
            compare->is_bad_record = true;
        else
            add_one(compare, &outs[o], &records[i]);
    }
}

/* Of all that come, each stays with the same chance (reservoir sampling, Vitter's algorithm R). */
static void suspect(struct hone_suspects *suspects, struct hone_suspect one)
{
    size_t at = suspects->n;
    suspects->n_seen++;
    if (suspects->n < HONE_SUSPECTS) {
        suspects->n++;
    } else {
        suspects->rng = suspects->rng * 6364136223846793005u + 1442695040888963407u;
        at = (size_t)((suspects->rng >> 33) % (uint64_t)suspects->n_seen);
    }
    if (at < HONE_SUSPECTS)
        suspects->v[at] = one;
}

/* Elements first..end-1 of an output, which are not bit by bit what the reference has. */
static void compare_part(struct hone_compare *compare, size_t output, const void *reference,
                         int64_t first, int64_t end, struct hone_suspects *suspects)
{
    const struct hone_tensor *tensor = &compare->task->outputs[output];
    const struct hone_output_stats *stats = &compare->stats[output];
    const struct hone_tolerance *tolerance = &compare->task->tolerance[output];
    double atol = hone_compare_atol(compare->task, output);
    for (int64_t i = first; i < end; i++) {
        double got = value_at(tensor->dtype, compare->outputs[output], i);
        double want = value_at(tensor->dtype, reference, i);
        double bound = 2 * (atol + tolerance->rtol * hone_tolerance_size(want, stats->max_scale));
        bool is_bad =
            !isfinite(got) || !isfinite(want)
                ? !is_same_kind(got, want) && !is_at_the_end(tensor->dtype, got, want, bound)
                : fabs(got - want) > bound || is_other_zero(compare->task, got, want);
        if (is_bad)
            suspect(suspects, (struct hone_suspect){output, i, got, want});
    }
}

void hone_compare_arrays(struct hone_compare *compare, size_t output, const void *reference,
                         struct hone_suspects *suspects)
{
    int64_t n = compare->n_elements[output];
    int64_t bytes = hone_dtype_bytes(compare->task->outputs[output].dtype);
    for (int64_t first = 0, end; first < n; first = end) {
        end = hone_min_i64(first + PART_ELEMENTS, n);
        if (memcmp((const char *)compare->outputs[output] + first * bytes,
                   (const char *)reference + first * bytes, (size_t)((end - first) * bytes)) != 0)
            compare_part(compare, output, reference, first, end, suspects);
    }
    compare->stats[output].n_other += n;
}

double hone_root_mean_square(enum hone_dtype dtype, const void *values, int64_t n)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = value_at(dtype, values, i);
        squares += isfinite(v) ? v * v : 0;
    }
    return sqrt(squares / (double)hone_max_i64(n, 1));
}

int64_t hone_compare_item(int64_t n_elements, int64_t n_items, int64_t element)
{
    bool is_even = n_items > 0 && n_elements >= n_items && n_elements % n_items == 0;
    return is_even ? element / (n_elements / n_items) : -1;
}

void hone_compare_accuse(struct hone_compare *compare, const struct hone_suspect *suspect)
{
    struct hone_output_stats *stats = &compare->stats[suspect->output];
    stats->max_abs = fmax(stats->max_abs, fabs(suspect->got - suspect->want));
    note_bad(
        stats, suspect->index, suspect->got, suspect->want,
        2 * hone_compare_allowed(compare->task, suspect->output, suspect->want, stats->max_scale));
}

bool hone_compare_is_plain(enum hone_distribution dist)
{
    return hone_kind_row(dist)->is_plain;
}

bool hone_compare_is_plain_for(const struct hone_task *task, enum hone_distribution dist)
{
    bool is_stored = false;
    for (size_t i = 0; i < task->n_inputs; i++) {
        enum hone_role role = task->inputs[i].role;
        bool is_place = role == HONE_ROLE_INDEX || role == HONE_ROLE_OFFSETS;
        is_stored = is_stored || (task->inputs[i].stored_file != NULL && !is_place);
    }
    return hone_compare_is_plain(dist) && !(is_stored && dist == HONE_DIST_NORMAL);
}

bool hone_compare_needs_all(enum hone_distribution dist)
{
    return hone_kind_row(dist)->needs_all;
}

/* How many parts of an output err independently: no more than items, and no more than the smallest
 * input has values. A product with a single value rounds the same way over and over. */
static int64_t independent_parts(const struct hone_compare *compare)
{
    const struct hone_task *task = compare->task;
    int64_t n = compare->n_items;
    for (size_t i = 0; i < task->n_inputs; i++)
        if (hone_dtype_is_float(task->inputs[i].dtype))
            n = hone_min_i64(
                n,
                hone_max_i64(hone_tensor_elements(task, &task->inputs[i], compare->workload), 1));
    return n;
}

struct hone_error_sums hone_compare_sums(const struct hone_compare *compare, size_t output)
{
    struct hone_error_sums sums = compare->stats[output].sums;
    sums.n = compare->stats[output].n;
    sums.n_items = independent_parts(compare);
    sums.is_plain = compare->is_plain;
    return sums;
}

double hone_compare_rel_l2(const struct hone_compare *compare)
{
    double worst = NAN;
    for (size_t o = 0; o < compare->task->n_outputs; o++) {
        struct hone_error_sums sums = hone_compare_sums(compare, o);
        worst = fmax(worst, hone_error_rel_l2(&sums));
    }
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

static void describe_bad(const struct hone_compare *compare, size_t output,
                         struct hone_outcome *ret)
{
    const struct hone_output_stats *stats = &compare->stats[output];
    const struct hone_tensor *tensor = &compare->task->outputs[output];
    char name[HONE_LIMIT_NAME_BYTES * 3];
    hone_element_name(compare->task, compare->workload, tensor, stats->first_bad, name);
    char off[120] = "";
    bool is_nonfinite = stats->n_nonfinite > 0;
    char largest[40] = "";
    if (stats->max_abs > 0) /* of finite ones */
        snprintf(largest, sizeof largest, ", largest error %.3g", stats->max_abs);
    if (isfinite(stats->bad_got) && isfinite(stats->bad_want))
        snprintf(off, sizeof off, ": the element is off by %.3g, allowed are %.3g%s",
                 fabs(stats->bad_got - stats->bad_want), stats->bad_allowed,
                 stats->bad_allowed > 0 ? " (atol + rtol x its magnitude)" : "");
    hone_outcome_set(ret, is_nonfinite ? HONE_REASON_NONFINITE : HONE_REASON_WRONG_VALUE,
                     "%s = %.9g, expected %.9g%s; %lld of %lld compared elements are wrong%s%s%s",
                     name, stats->bad_got, stats->bad_want, off, (long long)stats->n_bad,
                     (long long)(stats->n + stats->n_other), largest,
                     compare->content != NULL ? ", content " : "",
                     compare->content != NULL ? compare->content : "");
}

static void check_whole(const struct hone_compare *compare, size_t output, struct hone_outcome *ret)
{
    const struct hone_tolerance *tolerance = &compare->task->tolerance[output];
    struct hone_error_sums sums = hone_compare_sums(compare, output);
    for (int t = HONE_TOLERANCE_NORM; t < HONE_N_TOLERANCE_TESTS; t++) {
        double factor = hone_tolerance_factor(tolerance, &sums, (enum hone_tolerance_test)t);
        if (factor <= 1)
            continue;
        hone_outcome_set(
            ret, HONE_REASON_WRONG_VALUE,
            "output '%s' as a whole is off: %s %.3g times what is allowed (relative L2 "
            "error %.3g, mean signed error %.3g of the mean size; allowed is a %s of %.3g)%s%s",
            compare->task->outputs[output].name, test_names[t], factor, hone_error_rel_l2(&sums),
            hone_error_bias(&sums), test_names[t],
            (t == HONE_TOLERANCE_NORM ? hone_error_rel_l2(&sums) : hone_error_bias(&sums)) / factor,
            compare->content != NULL ? ", content " : "",
            compare->content != NULL ? compare->content : "");
        return;
    }
}

void hone_compare_end(const struct hone_compare *compare, struct hone_outcome *ret)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (compare->is_bad_record) {
        hone_outcome_set(ret, HONE_REASON_BAD_TASK,
                         "the task's oracle names an element that does not exist");
        return;
    }
    for (size_t o = 0; o < compare->task->n_outputs; o++) {
        if (compare->stats[o].n_bad > 0) {
            describe_bad(compare, o, ret);
            return;
        }
    }
    for (size_t o = 0; o < compare->task->n_outputs && hone_outcome_is_good(ret); o++)
        check_whole(compare, o, ret);
}

int64_t hone_find_unwritten(enum hone_dtype dtype, const void *a, const void *b, int64_t n,
                            int64_t *ret_count)
{
    uint64_t bits_a = hone_poison_bits(dtype, HONE_POISON_NAN),
             bits_b = hone_poison_bits(dtype, HONE_POISON_LARGE);
    int64_t first = -1, count = 0;
    *ret_count = 0;
    if (!hone_element_any(dtype, a, n, bits_a, b != NULL ? bits_a : bits_b))
        return -1;
    for (int64_t i = 0; i < n; i++) {
        bool is_left =
            b != NULL
                ? hone_element_is(dtype, a, i, bits_a) && hone_element_is(dtype, b, i, bits_b)
                : hone_element_is(dtype, a, i, bits_a) || hone_element_is(dtype, a, i, bits_b);
        if (!is_left)
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
