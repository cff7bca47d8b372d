/* SPDX-License-Identifier: Apache-2.0 */
/* Each reason of the comparison, and the neighbours that must pass. */
#include "tests/unit/unit.h"

#include <math.h>
#include <sys/mman.h>

#include "tests/unit/runner/task_util.h"
#include "tools/runner/arena/buffers.h"
#include "tools/runner/values/compare.h"
#include "tools/runner/values/element.h"

#define N 600

struct fixture {
    struct hone_task task;
    struct hone_workload workload;
    struct hone_compare compare;
    float y[N];
    int32_t z[N];
    struct hone_oracle_record records[N];
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    make_task(&f->task, &f->workload);
    hone_compare_init(&f->compare, &f->task, &f->workload);
    f->compare.outputs[0] = f->y;
    f->compare.outputs[1] = f->z;
    for (int i = 0; i < N; i++) {
        f->y[i] = (float)(i % 17) - 8;
        f->records[i] = (struct hone_oracle_record){
            .index = i, .value = (double)f->y[i], .output = 0, .scale = 1};
    }
}

static enum hone_reason finish(struct fixture *f, int n)
{
    struct hone_outcome end;
    hone_compare_add(&f->compare, f->records, n);
    hone_compare_end(&f->compare, &end);
    return end.reason;
}

START_TEST(test_equal_and_near)
{
    struct fixture f;
    start(&f);
    ck_assert_int_eq(finish(&f, N), HONE_REASON_CORRECT);
    start(&f);
    f.y[3] += 0.5e-4f; /* rtol x max(|r|, scale) = 5e-4 here */
    ck_assert_int_eq(finish(&f, N), HONE_REASON_CORRECT);
}
END_TEST

/* A refusal names the part that refused, and what is allowed beside what was found. */
START_TEST(test_refusals_say_what_is_allowed)
{
    struct fixture f;
    struct hone_outcome end;
    start(&f);
    f.compare.content = "walk";
    f.y[3] += 0.5f; /* size 5: atol 1e-6 and rtol 1e-4 allow 5e-4 */
    hone_compare_add(&f.compare, f.records, N);
    hone_compare_end(&f.compare, &end);
    ck_assert_ptr_nonnull(
        strstr(end.detail, "Y[0, 3] = -4.5, expected -5: the element is off by "
                           "0.5, allowed are 0.000501 (atol + rtol x its magnitude); 1 of 600"));
    ck_assert_ptr_nonnull(strstr(end.detail, "content walk"));
    start(&f);
    f.compare.is_plain = true;
    f.task.tolerance[0] = (struct hone_tolerance){.rtol = 1e-1, .rel_l2 = 1e-4};
    for (int i = 0; i < N; i++)
        f.y[i] *= 1.09f;
    hone_compare_add(&f.compare, f.records, N);
    hone_compare_end(&f.compare, &end);
    ck_assert_msg(strstr(end.detail, "norm 3.") && strstr(end.detail, "allowed is a norm of 0.02"),
                  "%s", end.detail);
}
END_TEST

START_TEST(test_wrong_value)
{
    struct fixture f;
    start(&f);
    f.y[55] += 0.01f;
    struct hone_outcome end;
    hone_compare_add(&f.compare, f.records, N);
    hone_compare_end(&f.compare, &end);
    ck_assert_int_eq(end.reason, HONE_REASON_WRONG_VALUE);
    ck_assert_ptr_nonnull(strstr(end.detail, "Y[1, 25]"));
    ck_assert_int_eq(hone_compare_total(&f.compare).n_bad, 1);
}
END_TEST

/* The sign of a zero counts where the task says so, against the oracle and against another array.
 */
START_TEST(test_negative_zero)
{
    for (int is_covered = 0; is_covered < 2; is_covered++) {
        struct fixture f;
        struct hone_suspects suspects = {.rng = 1};
        float other[N];
        start(&f);
        if (is_covered)
            f.task.special_values = HONE_SPECIAL_DENORMAL | HONE_SPECIAL_NEGATIVE_ZERO;
        memcpy(other, f.y, sizeof other);
        f.y[8] = 0.0f;
        f.records[8].value = -0.0;
        ck_assert_int_eq(finish(&f, N), is_covered ? HONE_REASON_WRONG_VALUE : HONE_REASON_CORRECT);
        other[8] = -0.0f;
        hone_compare_arrays(&f.compare, 0, other, &suspects);
        ck_assert_uint_eq(suspects.n, (size_t)is_covered);
        start(&f);
        f.task.special_values = HONE_SPECIAL_DENORMAL | HONE_SPECIAL_NEGATIVE_ZERO;
        f.y[8] = -0.0f;
        f.records[8].value = -0.0;
        ck_assert_int_eq(finish(&f, N), HONE_REASON_CORRECT);
    }
}
END_TEST

/* Near zero nobody is better than one step of the type, whatever the tolerance. */
START_TEST(test_steps_near_zero)
{
    struct fixture f;
    for (int n_steps = 0; n_steps < 4; n_steps++) {
        start(&f);
        f.task.tolerance[0] = (struct hone_tolerance){.rtol = 1e-7};
        for (int i = 0; i < N; i++) {
            f.y[i] = (float)(i * 0x1p-140);
            f.records[i].value = i * 0x1p-140;
            f.records[i].scale = 0;
        }
        f.y[70] += (float)(n_steps * 0x1p-149);
        ck_assert_int_eq(finish(&f, N),
                         n_steps < 2 ? HONE_REASON_CORRECT : HONE_REASON_WRONG_VALUE);
    }
    ck_assert_double_eq(hone_compare_atol(&f.task, 0), 0x1p-149);
    f.task.tolerance[0].atol = 1e-30;
    ck_assert_double_eq(hone_compare_atol(&f.task, 0), 1e-30);
    f.task.outputs[0].dtype = HONE_DTYPE_F16;
    ck_assert_double_eq(hone_compare_atol(&f.task, 0), 0x1p-24);
    ck_assert_double_eq(hone_compare_atol(&f.task, 1), 0);
}
END_TEST

START_TEST(test_nonfinite)
{
    struct fixture f;
    start(&f);
    f.y[9] = NAN;
    ck_assert_int_eq(finish(&f, N), HONE_REASON_NONFINITE);
    start(&f);
    f.y[9] = NAN;
    f.records[9].value = (double)NAN; /* equal in kind */
    f.y[10] = -INFINITY;
    f.records[10].value = -1e300; /* what float32 makes of it */
    ck_assert_int_eq(finish(&f, N), HONE_REASON_CORRECT);
    start(&f);
    f.records[9].value = (double)NAN; /* a NaN in the reference is no wildcard */
    ck_assert_int_eq(finish(&f, N), HONE_REASON_WRONG_VALUE);
    start(&f);
    f.y[9] = INFINITY;
    f.records[9].value = -(double)INFINITY;
    ck_assert_int_eq(finish(&f, N), HONE_REASON_WRONG_VALUE);
}
END_TEST

/* Where the tolerance reaches beyond what the type can hold, infinity is within it; nowhere else. */
START_TEST(test_infinity_at_the_end_of_a_type)
{
    static const struct {
        enum hone_dtype dtype;
        double end, most; /* what rounds to infinity from there on; the largest finite value */
    } types[] = {{HONE_DTYPE_F16, 65520, 65504},
                 {HONE_DTYPE_BF16, 0x1.ffp127, 0x1.fep127},
                 {HONE_DTYPE_F32, 0x1.ffffffp127, 0x1.fffffep127}};
    static const struct {
        double got, want; /* in shares of the end; got 2: infinity, 0: the largest finite value */
        bool is_good, is_nan;
    } rows[] = {
        {2, 0.995, true, false},   {2, 0.9901, true, false},    {2, 0.985, false, false},
        {2, 0.9899, false, false}, {-2, 0.995, false, false},   {-2, -0.995, true, false},
        {2, -0.995, false, false}, {-2, -0.985, false, false},  {2, 0.995, false, true},
        {0, 1, true, false},       {0, 1.005, true, false},     {0, 1.0119, false, false},
        {0, 1.5, false, false},    {0.995, 1.004, true, false}, {0.98, 1, false, false},
        {-0.995, 1, false, false}, {2, 1, true, false},         {-2, 1, false, false},
    };
    for (size_t t = 0; t < HONE_COUNTOF(types); t++)
        for (size_t r = 0; r < HONE_COUNTOF(rows); r++) {
            struct fixture f;
            start(&f);
            double got = rows[r].got * types[t].end, want = rows[r].want * types[t].end;
            if (rows[r].got == 0)
                got = types[t].most;
            if (fabs(rows[r].got) == 2)
                got = rows[r].got * (double)INFINITY;
            if (rows[r].is_nan)
                got = (double)NAN;
            f.task.outputs[0].dtype = types[t].dtype;
            f.task.tolerance[0] = (struct hone_tolerance){.atol = types[t].end / 100};
            memset(f.y, 0, sizeof f.y);
            hone_element_set(types[t].dtype, f.y, 0, got);
            f.records[0].value = want;
            f.records[0].scale = 0;
            enum hone_reason bad = fabs(rows[r].want) < 1 && !isfinite(got)
                                       ? HONE_REASON_NONFINITE
                                       : HONE_REASON_WRONG_VALUE;
            ck_assert_msg(finish(&f, 1) == (rows[r].is_good ? HONE_REASON_CORRECT : bad),
                          "%s, row %zu: %g where %g is expected", hone_dtype_name(types[t].dtype),
                          r, got, want);
        }
}
END_TEST

/* Errors that every element's bound allows: the answer as a whole has a bound of its own. */
START_TEST(test_whole_output)
{
    static const struct {
        const char *what;
        double rel_l2, bias, even, odd; /* error of even and of odd elements */
        bool is_toward;                 /* in the direction of the element itself */
        bool is_plain, is_good;
    } table[] = {
        {"no test of the whole", 0, 0, 0.9e-4, 0.9e-4, false, true, true},
        {"norm: off everywhere", 1e-9, 0, 0.9e-4, -0.9e-4, false, true, false},
        {"norm: inside of its room", 1e-9, 0, 0.2e-4, -0.2e-4, false, true, true},
        {"norm: allowed by rel_l2", 1e-3, 0, 0.9e-4, -0.9e-4, false, true, true},
        {"norm: content with structure", 1e-9, 0, 0.9e-4, -0.9e-4, false, false, true},
        {"bias: all to one side", 0, 1e-9, 0.3e-4, 0.3e-4, false, true, false},
        {"bias: toward zero", 0, 1e-9, -0.3e-4, -0.3e-4, true, true, false},
        {"bias: as many to the other side", 0, 1e-9, 0.3e-4, -0.3e-4, false, true, true},
        {"bias: allowed", 0, 1e-4, 0.3e-4, 0.3e-4, false, true, true},
        {"bias: content with structure", 0, 1e-9, 0.3e-4, 0.3e-4, false, false, true},
    };
    for (size_t k = 0; k < HONE_COUNTOF(table); k++) {
        struct fixture f;
        start(&f);
        f.task.tolerance[0] = (struct hone_tolerance){
            .atol = 1e-30, .rtol = 1e-4, .rel_l2 = table[k].rel_l2, .bias = table[k].bias};
        f.compare.is_plain = table[k].is_plain;
        f.compare.n_items = N;
        for (int i = 0; i < N; i++) {
            double value = i % 4 < 2 ? 1.1 : -1.1,
                   error = i % 2 == 0 ? table[k].even : table[k].odd;
            f.records[i].value = value;
            f.y[i] = (float)(value + (table[k].is_toward && value < 0 ? -error : error));
        }
        enum hone_reason reason = finish(&f, N);
        ck_assert_msg((reason == HONE_REASON_CORRECT) == table[k].is_good, "%s", table[k].what);
        ck_assert_int_eq(hone_compare_total(&f.compare).n_bad, 0);
    }
}
END_TEST

/* Errors that are equal within an item say less than their number; few elements say nothing. */
START_TEST(test_chance)
{
    struct hone_error_sums sums = {.n = 600,
                                   .n_items = 600,
                                   .err_squares = 600 * 1e-10,
                                   .err_sum = 600 * 1e-5,
                                   .toward_sum = 0,
                                   .size_sum = 600,
                                   .size_squares = 600,
                                   .ref_squares = 600,
                                   .is_plain = true};
    const struct hone_tolerance tol = {.rtol = 1e-5, .rel_l2 = 1e-9, .bias = 1e-9};
    ck_assert_double_gt(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_BIAS), 1);
    ck_assert_double_gt(hone_error_bias(&sums), 0);
    sums.n_items = 20;
    ck_assert_double_le(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_BIAS), 1);
    ck_assert_double_eq(hone_error_bias(&sums), 0);
    sums.n_items = 0;
    ck_assert_double_eq(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_BIAS), 0);
    ck_assert_double_gt(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_NORM), 1);
    sums.n = 31;
    ck_assert_double_eq(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_NORM), 0);
    sums.n = 600; /* squares beyond doubles say nothing; of the error alone they do */
    sums.err_squares = INFINITY;
    ck_assert_double_gt(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_NORM), 1);
    sums.size_squares = sums.ref_squares = INFINITY;
    ck_assert_double_eq(hone_tolerance_factor(&tol, &sums, HONE_TOLERANCE_NORM), 0);
}
END_TEST

/* Products with one value round the same way over and over: its own number of values counts. */
START_TEST(test_few_values_err_alike)
{
    struct fixture f;
    start(&f);
    f.compare.n_items = N;
    ck_assert_int_eq(hone_compare_sums(&f.compare, 0).n_items, N);
    f.task.inputs[1].rank = 1; /* M values */
    ck_assert_int_eq(hone_compare_sums(&f.compare, 0).n_items, f.workload.axes[AXIS_M]);
    f.task.inputs[4].rank = 0; /* numbers of places are no values */
    ck_assert_int_eq(hone_compare_sums(&f.compare, 0).n_items, f.workload.axes[AXIS_M]);
    f.task.inputs[0].rank = 0;
    ck_assert_int_eq(hone_compare_sums(&f.compare, 0).n_items, 1);
    f.compare.n_items = 0; /* not known */
    ck_assert_int_eq(hone_compare_sums(&f.compare, 0).n_items, 0);
}
END_TEST

START_TEST(test_lower_types)
{
    static const struct {
        enum hone_dtype dtype;
        double value, want;
    } table[] = {
        {HONE_DTYPE_F32, 1 + 0x1p-10, 1 + 0x1p-10},
        {HONE_DTYPE_F32, 1 + 0x1p-11, 1},
        {HONE_DTYPE_F32, 1 + 0x3p-11, 1 + 0x1p-9},
        {HONE_DTYPE_F32, -3e-30, -0x1.e6c0000000000p-99},
        {HONE_DTYPE_F64, 1 + 0x1p-24, 1},
        {HONE_DTYPE_BF16, 1.0625, 1},
        {HONE_DTYPE_F16, 1.125, 1.125},
        {HONE_DTYPE_I32, 12345, 12345},
        {HONE_DTYPE_F32, 0, 0},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++)
        ck_assert_double_eq(hone_element_lower(table[i].dtype, table[i].value), table[i].want);
    ck_assert(isinf(hone_element_lower(HONE_DTYPE_F32, (double)INFINITY)));
}
END_TEST

/* A bin's value is its upper end, and no error is below its bin. */
START_TEST(test_error_bins)
{
    static const double errors[] = {1e-21, 1e-9, 0x1p-24, 1, 2e2};
    ck_assert_uint_eq(hone_error_bin(0), 0);
    ck_assert_double_eq(hone_error_bin_value(0), 0);
    ck_assert_uint_lt(hone_error_bin(1e30), HONE_ERROR_BINS);
    for (size_t i = 0; i < HONE_COUNTOF(errors); i++) {
        double end = hone_error_bin_value(hone_error_bin(errors[i]));
        ck_assert(errors[i] <= end && end <= 1.1 * errors[i]);
    }
    struct fixture f;
    int64_t histogram[HONE_ERROR_BINS] = {0};
    start(&f);
    f.compare.histogram[0] = histogram;
    f.records[8].value += 1; /* y[8] = 0: its size is the scale, 1 */
    f.task.tolerance[0].atol = 0.5;
    ck_assert_int_eq(finish(&f, N), HONE_REASON_WRONG_VALUE);
    ck_assert_int_eq(histogram[0], N - 1);
    ck_assert_int_eq(histogram[hone_error_bin(f.compare.stats[0].sums.worst)], 1);
    ck_assert_double_eq_tol(f.compare.stats[0].sums.worst, 0.5, 1e-6);
}
END_TEST

START_TEST(test_integers_are_exact)
{
    struct fixture f;
    start(&f);
    for (int i = 0; i < N; i++) {
        f.z[i] = i;
        f.records[i] =
            (struct hone_oracle_record){.index = i, .value = i, .output = 1, .scale = 1e9};
    }
    ck_assert_int_eq(finish(&f, N), HONE_REASON_CORRECT);
    f.z[7]++;
    ck_assert_int_eq(finish(&f, N), HONE_REASON_WRONG_VALUE);
}
END_TEST

START_TEST(test_bad_records)
{
    static const struct hone_oracle_record bad[] = {{.index = -1, .output = 0},
                                                    {.index = N, .output = 0},
                                                    {.index = 0, .output = 2},
                                                    {.index = 0, .output = -1}};
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        struct fixture f;
        start(&f);
        f.records[0] = bad[i];
        ck_assert_int_eq(finish(&f, 1), HONE_REASON_BAD_TASK);
    }
}
END_TEST

/* Another arm's word makes suspects; only who is accused is wrong. */
START_TEST(test_arrays)
{
    struct fixture f;
    struct hone_suspects suspects = {.rng = 7};
    start(&f);
    float reference[N];
    memcpy(reference, f.y, sizeof reference);
    finish(&f, 40);
    hone_compare_arrays(&f.compare, 0, reference, &suspects);
    ck_assert_uint_eq(suspects.n, 0);
    f.y[500] += 1;
    hone_compare_arrays(&f.compare, 0, reference, &suspects);
    ck_assert_uint_eq(suspects.n, 1);
    ck_assert_int_eq(suspects.v[0].index, 500);
    ck_assert_double_eq(suspects.v[0].got, (double)f.y[500]);
    ck_assert_double_eq(suspects.v[0].want, (double)reference[500]);
    struct hone_outcome end;
    hone_compare_end(&f.compare, &end);
    ck_assert_int_eq(end.reason, HONE_REASON_CORRECT);
    hone_compare_accuse(&f.compare, &suspects.v[0]);
    hone_compare_end(&f.compare, &end);
    ck_assert_int_eq(end.reason, HONE_REASON_WRONG_VALUE);
}
END_TEST

/* Of many suspects every one may be among those that are kept. */
START_TEST(test_suspects_come_from_anywhere)
{
    struct fixture f;
    float reference[N];
    int n_late = 0;
    start(&f);
    finish(&f, 40);
    for (int i = 0; i < N; i++)
        reference[i] = f.y[i] + 1;
    for (uint64_t rng = 0; rng < 64; rng++) {
        struct hone_suspects suspects = {.rng = rng};
        hone_compare_arrays(&f.compare, 0, reference, &suspects);
        ck_assert_int_eq(suspects.n_seen, N);
        ck_assert_uint_eq(suspects.n, HONE_SUSPECTS);
        for (size_t s = 0; s < suspects.n; s++) {
            ck_assert(suspects.v[s].index >= 0 && suspects.v[s].index < N);
            n_late += suspects.v[s].index >= N / 2;
        }
    }
    ck_assert_int_gt(n_late, 64 * HONE_SUSPECTS * 2 / 5);
    ck_assert_int_lt(n_late, 64 * HONE_SUSPECTS * 3 / 5);
}
END_TEST

START_TEST(test_unwritten_and_difference)
{
    float a[N], b[N];
    int64_t count = 0;
    hone_poison_fill(HONE_DTYPE_F32, HONE_POISON_NAN, a, N);
    hone_poison_fill(HONE_DTYPE_F32, HONE_POISON_LARGE, b, N);
    ck_assert_int_eq(hone_find_unwritten(HONE_DTYPE_F32, a, b, N, &count), 0);
    ck_assert_int_eq(count, N);
    for (int i = 0; i < N; i++)
        a[i] = b[i] = 1;
    ck_assert_int_eq(hone_find_unwritten(HONE_DTYPE_F32, a, b, N, &count), -1);
    ck_assert_int_eq(hone_find_difference(HONE_DTYPE_F32, a, b, N, &count), -1);
    hone_poison_fill(HONE_DTYPE_F32, HONE_POISON_NAN, &a[N - 1],
                     1); /* in one alone: written with that value */
    ck_assert_int_eq(hone_find_unwritten(HONE_DTYPE_F32, a, b, N, &count), -1);
    ck_assert_int_eq(hone_find_difference(HONE_DTYPE_F32, a, b, N, &count), N - 1);
    hone_poison_fill(HONE_DTYPE_F32, HONE_POISON_LARGE, &b[N - 1], 1);
    ck_assert_int_eq(hone_find_unwritten(HONE_DTYPE_F32, a, b, N, &count), N - 1);
}
END_TEST

/* One element that was left, wherever it is, in every type: also where the vector code ends. */
START_TEST(test_unwritten_anywhere)
{
    static const int64_t lengths[] = {1, 2, 63, 64, 65, 128, 200, 5000};
    static uint64_t a[5000], b[5000];
    for (int dtype = 0; dtype <= HONE_DTYPE_U64; dtype++)
        for (size_t l = 0; l < HONE_COUNTOF(lengths); l++) {
            enum hone_dtype type = (enum hone_dtype)dtype;
            int64_t n = lengths[l], bytes = hone_dtype_bytes(type), count = 0;
            hone_poison_fill(type, HONE_POISON_NAN, a, n);
            for (int64_t i = 0; i < n; i++)
                ck_assert(hone_element_is(type, a, i, hone_poison_bits(type, HONE_POISON_NAN)));
            int64_t places[] = {0, n / 2, n - 1};
            for (size_t p = 0; p < HONE_COUNTOF(places); p++) {
                int64_t at = places[p];
                memset(a, 1, sizeof a);
                memset(b, 1, sizeof b);
                ck_assert_int_eq(hone_find_unwritten(type, a, NULL, n, &count), -1);
                ck_assert_int_eq(count, 0);
                hone_poison_fill(type, HONE_POISON_LARGE, (char *)b + at * bytes, 1);
                ck_assert_int_eq(hone_find_unwritten(type, b, NULL, n, &count), at);
                ck_assert_int_eq(hone_find_unwritten(type, a, b, n, &count), -1);
                hone_poison_fill(type, HONE_POISON_NAN, (char *)a + at * bytes, 1);
                ck_assert_int_eq(hone_find_unwritten(type, a, b, n, &count), at);
                ck_assert_int_eq(hone_find_unwritten(type, a, NULL, n, &count), at);
                ck_assert_int_eq(count, 1);
            }
        }
}
END_TEST

START_TEST(test_layout)
{
    struct hone_layout layout;
    const int64_t bytes[] = {100, 8192, 4096};
    ck_assert_int_eq(hone_layout_init(2, 1, bytes, 3, &layout, NULL), 0);
    ck_assert_int_eq(layout.input_stride, 4096 + 8192);
    ck_assert_int_eq(hone_layout_file_at(&layout, 2, 1), 2 * layout.input_stride + 4096);
    ck_assert_int_eq(hone_layout_content_at(&layout, 0, 0), 0);
    ck_assert_int_eq(hone_layout_content_at(&layout, 1, 0),
                     4096 - 128); /* end-flush, 64-byte alignment kept */
    ck_assert_int_eq(hone_layout_content_at(&layout, 1, 1), 0);
    const int64_t huge[] = {HONE_LIMIT_TENSOR_BYTES + 1};
    ck_assert_int_eq(hone_layout_init(1, 0, huge, 1, &layout, NULL), HONE_E_LIMIT);
    ck_assert_int_eq(hone_layout_init(1, 0, bytes, HONE_BUFFERS_MAX_SETS + 1, &layout, NULL),
                     HONE_E_LIMIT);
}
END_TEST

START_TEST(test_sealed_memory_and_canary)
{
    struct hone_layout layout;
    const int64_t bytes[] = {100};
    struct hone_shared shared = HONE_SHARED_INIT;
    ck_assert_int_eq(hone_layout_init(1, 0, bytes, 2, &layout, NULL), 0);
    ck_assert_int_eq(hone_shared_new("test", 2 * layout.input_stride, true, &shared, NULL), 0);
    ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared.fd, 0),
                     MAP_FAILED);
    ck_assert_ptr_ne(mmap(NULL, 4096, PROT_READ, MAP_SHARED, shared.fd, 0), MAP_FAILED);
    hone_canary_fill(&shared, &layout, 1, 0);
    ck_assert(hone_canary_is_whole(&shared, &layout, 1, 0));
    char *content = hone_shared_tensor(&shared, &layout, 1, 0);
    memset(content, 0, 100);
    ck_assert(hone_canary_is_whole(&shared, &layout, 1, 0));
    content[100] = 0;
    ck_assert(!hone_canary_is_whole(&shared, &layout, 1, 0));
    hone_shared_done(&shared);
}
END_TEST

/* Between a content's end and the guard page lie up to 60 bytes, since content keeps 64-byte
 * alignment: a write there is seen by the canary, whatever its length; a read is not seen. */
START_TEST(test_canary_up_to_the_page)
{
    for (int64_t gap = 0; gap < 64; gap += 4)
        for (int64_t past = 4; past <= gap; past += 4)
            for (int64_t set = 0; set < 2; set++) {
                struct hone_layout layout;
                const int64_t bytes[] = {4096 - gap};
                struct hone_shared shared = HONE_SHARED_INIT;
                ck_assert_int_eq(hone_layout_init(0, 1, bytes, 2, &layout, NULL), 0);
                ck_assert_int_eq(
                    hone_shared_new("test", 2 * layout.output_stride, false, &shared, NULL), 0);
                hone_canary_fill(&shared, &layout, set, 0);
                char *content = hone_shared_tensor(&shared, &layout, set, 0);
                memset(content, 0, (size_t)bytes[0]);
                volatile char *next = content + bytes[0] + past - 4;
                ck_assert_int_eq((unsigned char)*next, HONE_CANARY_BYTE); /* a read */
                ck_assert(hone_canary_is_whole(&shared, &layout, set, 0));
                *next = 0;
                ck_assert_msg(!hone_canary_is_whole(&shared, &layout, set, 0), "%lld of %lld",
                              (long long)past, (long long)gap);
                hone_shared_done(&shared);
            }
}
END_TEST

UNIT_MAIN("compare", test_equal_and_near, test_refusals_say_what_is_allowed, test_wrong_value,
          test_negative_zero, test_steps_near_zero, test_nonfinite,
          test_infinity_at_the_end_of_a_type, test_whole_output, test_chance,
          test_few_values_err_alike, test_lower_types, test_error_bins, test_integers_are_exact,
          test_bad_records, test_arrays, test_suspects_come_from_anywhere,
          test_unwritten_and_difference, test_unwritten_anywhere, test_layout,
          test_sealed_memory_and_canary, test_canary_up_to_the_page)
