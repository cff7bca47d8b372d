/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: repeatable, different for every counter and tensor, inside their roles' ranges, shaped
 * like their distributions. */
#include "tests/unit/unit.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "tests/unit/runner/task_util.h"
#include "tools/runner/values/element.h"
#include "tools/runner/values/gen.h"

#define N 600

static const uint8_t key[16] = {1, 2, 3};

static void make(size_t input, enum hone_distribution dist, uint64_t counter, double ret[N])
{
    struct hone_task task;
    struct hone_workload workload;
    double raw[N];
    make_task(&task, &workload);
    struct hone_gen *gen = hone_gen_new(key);
    hone_gen_input(gen, &task, &workload, input, dist, counter, raw);
    for (int i = 0; i < N; i++)
        ret[i] = hone_element_get(task.inputs[input].dtype, raw, i);
    hone_gen_free(gen);
}

static double mean_of(const double *v)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += v[i];
    return sum / N;
}

static double spread_of(const double *v)
{
    double mean = mean_of(v), sum = 0;
    for (int i = 0; i < N; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / N);
}

START_TEST(test_repeats_and_differs)
{
    double a[N], b[N], c[N], d[N];
    make(0, HONE_DIST_NORMAL, 5, a);
    make(0, HONE_DIST_NORMAL, 5, b);
    make(0, HONE_DIST_NORMAL, 6, c);
    make(1, HONE_DIST_NORMAL, 5, d);
    ck_assert_mem_eq(a, b, sizeof a);
    int n_same = 0, n_same_tensor = 0;
    for (int i = 0; i < N; i++) {
        n_same += a[i] == c[i];
        n_same_tensor += a[i] == d[i];
    }
    ck_assert_int_le(n_same, 2);
    ck_assert_int_le(n_same_tensor, 2);
}
END_TEST

START_TEST(test_normal)
{
    double v[N];
    make(0, HONE_DIST_NORMAL, 1, v);
    ck_assert_double_lt(fabs(mean_of(v)), 0.15);
    ck_assert_double_lt(fabs(spread_of(v) - 1), 0.12);
    make(0, HONE_DIST_SHIFTED, 1, v);
    ck_assert_double_lt(fabs(mean_of(v) - 3), 0.15);
    make(0, HONE_DIST_LARGE, 1, v);
    ck_assert_double_gt(spread_of(v), 50);
    make(1, HONE_DIST_NORMAL, 1, v); /* weight: 1 / sqrt(fan-in), fan-in = M = 20 */
    ck_assert_double_lt(fabs(spread_of(v) * sqrt(20) - 1), 0.12);
}
END_TEST

START_TEST(test_float64_has_full_mantissas)
{
    double v[N];
    int n_narrow = 0;
    make(1, HONE_DIST_NORMAL, 3, v);
    for (int i = 0; i < N; i++)
        n_narrow += (double)(float)v[i] == v[i];
    ck_assert_int_le(n_narrow, 2);
}
END_TEST

START_TEST(test_roles)
{
    double v[N];
    for (int dist = 0; dist < HONE_N_DISTS; dist++) {
        make(2, (enum hone_distribution)dist, 9, v);
        for (int i = 0; i < N; i++)
            ck_assert_double_gt(v[i], 0);
        make(4, (enum hone_distribution)dist, 9, v);
        for (int i = 0; i < N; i++)
            ck_assert(v[i] >= 0 && v[i] < 17 && v[i] == floor(v[i]));
        make(6, (enum hone_distribution)dist, 9, v);
        for (int i = 0; i < N; i++)
            ck_assert(v[i] == 0 || v[i] == 1);
        make(5, (enum hone_distribution)dist, 9, v);
        ck_assert_double_eq(v[0], 0);
        ck_assert_double_eq(v[N - 1], 17);
        for (int i = 1; i < N; i++)
            ck_assert_double_ge(v[i], v[i - 1]);
    }
    make(3, HONE_DIST_NORMAL, 9, v);
    for (int row = 0; row < 20; row++) {
        double sum = 0;
        for (int i = 0; i < 30; i++)
            sum += v[row * 30 + i];
        ck_assert_double_eq_tol(sum, 1, 1e-5);
    }
}
END_TEST

START_TEST(test_distributions)
{
    double v[N];
    make(0, HONE_DIST_ZEROS, 1, v);
    ck_assert_double_eq(spread_of(v), 0);
    make(0, HONE_DIST_EQUAL, 1, v);
    ck_assert_double_lt(spread_of(v), 1e-6);
    ck_assert_double_ne(v[0], 0);
    make(0, HONE_DIST_ALTERNATING, 1, v);
    ck_assert(v[0] == 1 && v[1] == -1 && v[2] == 1);
    make(0, HONE_DIST_SORTED, 1, v);
    for (int i = 1; i < N; i++)
        ck_assert_double_gt(v[i], v[i - 1]);
    make(0, HONE_DIST_INTEGERS, 1, v);
    for (int i = 0; i < N; i++)
        ck_assert(v[i] == floor(v[i]) && fabs(v[i]) <= 1023);
    make(0, HONE_DIST_HALVES, 1, v);
    ck_assert(v[0] == 0 && v[N / 2 - 1] == 0 && v[N - 1] != 0);
    make(0, HONE_DIST_EXPONENTIAL, 1, v);
    for (int i = 0; i < N; i++)
        ck_assert_double_gt(v[i], 0);
    make(0, HONE_DIST_NEGATIVE, 1, v);
    for (int i = 0; i < N; i++)
        ck_assert(v[i] < -90 && v[i] > -110);
    make(0, HONE_DIST_TINY, 1, v);
    for (int i = 0; i < N; i++)
        ck_assert(fabs(v[i]) < 1e-8);
    make(0, HONE_DIST_SPIKES, 1, v);
    int n_spikes = 0;
    for (int i = 0; i < N; i++) {
        n_spikes += fabs(v[i]) >= 1000;
        ck_assert(fabs(v[i]) < 0.01 || (fabs(v[i]) >= 1000 && fabs(v[i]) <= 2000));
    }
    ck_assert(fabs(v[N - 1]) >= 1000);
    make(0, HONE_DIST_RARE, 1, v);
    int n_rare = 0;
    for (int i = 0; i < N; i++) {
        n_rare += fabs(v[i]) >= 300;
        ck_assert(fabs(v[i]) < 10 || (fabs(v[i]) >= 300 && fabs(v[i]) <= 600));
    }
    ck_assert(n_rare >= 1 && n_rare <= 12);
    make(0, HONE_DIST_NEARLY, 1, v);
    int n_odd = 0;
    double plain = fmax(v[0], v[1]);
    for (int i = 0; i < N; i++)
        n_odd += v[i] < plain - 1.9;
    ck_assert(v[N - 1] < plain - 1.9);
    ck_assert(n_odd > N / 16 && n_odd < N / 4);
    ck_assert(n_spikes > N / 16 && n_spikes < N / 4);
    enum hone_distribution dist;
    for (int i = 0; i < HONE_N_DISTS; i++)
        ck_assert(hone_dist_parse(hone_dist_name((enum hone_distribution)i), &dist) &&
                  dist == (enum hone_distribution)i);
    ck_assert(!hone_dist_parse("gaussian", &dist));
}
END_TEST

START_TEST(test_scalar)
{
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    task.n_scalars = 1;
    task.scalars[0] = (struct hone_scalar){
        .name = "eps", .dtype = HONE_DTYPE_F32, .value = 0.5, .min = 1, .max = 2};
    struct hone_gen *gen = hone_gen_new(key);
    ck_assert_double_eq(hone_gen_scalar(gen, &task, &workload, 0), 0.5);
    workload.is_hidden = true;
    double drawn = hone_gen_scalar(gen, &task, &workload, 0);
    ck_assert(drawn >= 1 && drawn <= 2 && drawn == (double)(float)drawn);
    ck_assert_double_eq(drawn, hone_gen_scalar(gen, &task, &workload, 0));
    struct hone_rng rng = hone_gen_rng(gen, 3), same = hone_gen_rng(gen, 3),
                    other = hone_gen_rng(gen, 4);
    int n_of[7] = {0}, n_equal = 0;
    for (int i = 0; i < 7000; i++) {
        int64_t v = hone_rng_below(&rng, 7);
        ck_assert(v >= 0 && v < 7);
        ck_assert_int_eq(v, hone_rng_below(&same, 7));
        n_equal += v == hone_rng_below(&other, 7);
        n_of[v]++;
    }
    for (int v = 0; v < 7; v++) /* five standard deviations */
        ck_assert_int_lt(abs(n_of[v] - 1000), 150);
    ck_assert_int_lt(abs(n_equal - 1000), 150);
    hone_gen_free(gen);
}
END_TEST

START_TEST(test_elements)
{
    static const struct {
        enum hone_dtype dtype;
        double in, out;
    } rows[] = {
        {HONE_DTYPE_F16, 1.0 / 3, 0.333251953125},
        {HONE_DTYPE_F16, 65504, 65504},
        {HONE_DTYPE_F16, 65519.9, 65504},
        {HONE_DTYPE_F16, 65520, INFINITY},
        {HONE_DTYPE_F16, 0x1p-24, 0x1p-24},
        {HONE_DTYPE_F16, 0x1p-26, 0},
        {HONE_DTYPE_F16, 0, 0},
        {HONE_DTYPE_BF16, 0, 0},
        {HONE_DTYPE_F16, -0x1.ff8p-15, -0x1.ff8p-15},
        {HONE_DTYPE_F16, 2049, 2048},
        {HONE_DTYPE_F16, 2051, 2052},
        {HONE_DTYPE_BF16, 1.00390625, 1},
        {HONE_DTYPE_BF16, 3.14159, 3.140625},
        {HONE_DTYPE_F32, 0.1, 0.1f},
        {HONE_DTYPE_F64, 0.1, 0.1},
        {HONE_DTYPE_I8, 300, 127},
        {HONE_DTYPE_I32, -2.5, -2},
        {HONE_DTYPE_BOOL, 3, 1},
        {HONE_DTYPE_U8, 3, 3},
        {HONE_DTYPE_U8, 200, 200},
        {HONE_DTYPE_U8, 256, 255},
        {HONE_DTYPE_U8, -1, 0},
        {HONE_DTYPE_I64, 1e15, 1e15},
        {HONE_DTYPE_I16, -40000, -32768},
        {HONE_DTYPE_I16, 40000, 32767},
        {HONE_DTYPE_U16, 40000, 40000},
        {HONE_DTYPE_U16, 70000, 65535},
        {HONE_DTYPE_U16, -1, 0},
        {HONE_DTYPE_U32, 4e9, 4e9},
        {HONE_DTYPE_U32, 5e9, 4294967295.0},
        {HONE_DTYPE_U32, -1, 0},
        {HONE_DTYPE_U64, 1e16, 1e16},
        {HONE_DTYPE_U64, -1, 0},
    };
    for (int dtype = HONE_DTYPE_F16; dtype <= HONE_DTYPE_F64; dtype++)
        ck_assert(signbit(hone_element_round((enum hone_dtype)dtype, -0.0)));
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_msg(hone_element_round(rows[i].dtype, rows[i].in) == rows[i].out,
                      "row %zu: %.17g", i, hone_element_round(rows[i].dtype, rows[i].in));
    ck_assert(isnan(hone_element_round(HONE_DTYPE_F16, NAN)) &&
              isnan(hone_element_round(HONE_DTYPE_BF16, NAN)));
    for (int dtype = HONE_DTYPE_F16; dtype <= HONE_DTYPE_F64; dtype++) {
        double room[2];
        hone_poison_fill((enum hone_dtype)dtype, HONE_POISON_NAN, room, 1);
        ck_assert(isnan(hone_element_get((enum hone_dtype)dtype, room, 0)));
        hone_poison_fill((enum hone_dtype)dtype, HONE_POISON_LARGE, room, 1);
        ck_assert(isfinite(hone_element_get((enum hone_dtype)dtype, room, 0)));
        ck_assert_double_gt(hone_element_get((enum hone_dtype)dtype, room, 0), 1e4);
    }
}
END_TEST

/* Every half is the number that its bits say, and comes back from it. */
START_TEST(test_halves)
{
    for (int bits = 0; bits < 1 << 16; bits++) {
        uint16_t half = (uint16_t)bits, back = 0;
        int exponent = bits >> 10 & 31, mantissa = bits & 1023;
        double value = hone_element_get(HONE_DTYPE_F16, &half, 0),
               size = ldexp(exponent == 0 ? mantissa : 1024 + mantissa,
                            exponent == 0 ? -24 : exponent - 25);
        if (exponent == 31) {
            ck_assert(mantissa > 0 ? isnan(value) : isinf(value));
            continue;
        }
        ck_assert(value == (bits >> 15 != 0 ? -size : size));
        hone_element_set(HONE_DTYPE_F16, &back, 0, value);
        ck_assert_int_eq(back, half);
    }
}
END_TEST

/* Large tensors are drawn by all cores, and hold what one core draws. */
START_TEST(test_parts_are_the_whole)
{
    static const enum hone_distribution dists[] = {HONE_DIST_NORMAL, HONE_DIST_HEAVY,
                                                   HONE_DIST_MIXTURE};
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    workload.axes[AXIS_M] = 1023; /* an odd number of elements, more than one thread gets */
    workload.axes[AXIS_N] = 513;
    size_t bytes = 1023 * 513 * sizeof(double);
    struct hone_gen *gen = hone_gen_new(key);
    double *one = hone_calloc(1, bytes), *all = hone_calloc(1, bytes);
    cpu_set_t before, first;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    for (size_t input = 0; input < 3; input++)
        for (size_t d = 0; d < HONE_COUNTOF(dists); d++) {
            CPU_ZERO(&first);
            for (size_t c = 0; c < CPU_SETSIZE && CPU_COUNT(&first) == 0; c++)
                if (CPU_ISSET(c, &before))
                    CPU_SET(c, &first);
            ck_assert_int_eq(sched_setaffinity(0, sizeof first, &first), 0);
            hone_gen_input(gen, &task, &workload, input, dists[d], 5, one);
            ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
            hone_gen_input(gen, &task, &workload, input, dists[d], 5, all);
            ck_assert_mem_eq(one, all, bytes);
        }
    free(one);
    free(all);
    hone_gen_free(gen);
}
END_TEST

/* What a role says of an element's place holds in every kind, for stacks of matrices that are not
 * square, and for single values that somebody else puts there. */
START_TEST(test_placed_roles)
{
    enum { DEPTH = 9, ROW = 7, ALL = 3 * DEPTH * ROW };
    static const enum hone_role roles[] = {HONE_ROLE_TRIANGULAR, HONE_ROLE_UPPER_TRIANGULAR,
                                           HONE_ROLE_ADDITIVE_MASK};
    static const double others[] = {0, 3, -1e9, 1e-9, INFINITY, -INFINITY};
    struct hone_task task = {.n_axes = 3, .n_inputs = 1};
    struct hone_workload workload = {.axes = {3, DEPTH, ROW}};
    struct hone_gen *gen = hone_gen_new(key);
    for (size_t r = 0; r < HONE_COUNTOF(roles); r++)
        for (int dist = 0; dist < HONE_N_DISTS; dist++) {
            float v[ALL];
            task.inputs[0] = (struct hone_tensor){.dtype = HONE_DTYPE_F32,
                                                  .role = roles[r],
                                                  .rank = 3,
                                                  .shape = {0, 1, 2},
                                                  .bound_axis = -1};
            hone_gen_input(gen, &task, &workload, 0, (enum hone_distribution)dist, 3, v);
            for (int i = 0; i < ALL + (int)HONE_COUNTOF(others) * ALL; i++) {
                int at = i % ALL, column = at % ROW, line = at / ROW % DEPTH;
                double x = i < ALL
                               ? (double)v[at]
                               : hone_gen_fit(&task.inputs[0], &workload, at, others[i / ALL - 1]);
                bool is_on = column == line;
                bool is_in = roles[r] == HONE_ROLE_TRIANGULAR ? column <= line : column >= line;
                if (roles[r] == HONE_ROLE_ADDITIVE_MASK)
                    ck_assert_msg(x == 0 || (x == -INFINITY && line % ROW != column), "%d: %g", at,
                                  x);
                else if (is_on)
                    ck_assert_msg(fabs(x) >= 0.5 && fabs(x) <= 2, "kind %d, %d: %g", dist, at, x);
                else
                    ck_assert_msg(fabs(x) <= (is_in ? 1.000001 / DEPTH : 0), "kind %d, %d: %g",
                                  dist, at, x);
                if (i < ALL)
                    ck_assert((float)hone_gen_fit(&task.inputs[0], &workload, at, x) == v[at]);
            }
        }
    hone_gen_free(gen);
}
END_TEST

START_TEST(test_density)
{
    static const double densities[] = {0, 0.03, 0.97};
    static uint8_t v[200 * 100];
    struct hone_task task = {.n_axes = 2, .n_inputs = 1};
    struct hone_workload workload = {.axes = {200, 100}};
    struct hone_gen *gen = hone_gen_new(key);
    for (size_t d = 0; d < HONE_COUNTOF(densities); d++) {
        double ones = 0, want = densities[d] > 0 ? densities[d] : 0.5;
        task.inputs[0] = (struct hone_tensor){.dtype = HONE_DTYPE_BOOL,
                                              .role = HONE_ROLE_MASK,
                                              .rank = 2,
                                              .shape = {0, 1},
                                              .bound_axis = -1,
                                              .density = densities[d]};
        hone_gen_input(gen, &task, &workload, 0, HONE_DIST_NORMAL, 3, v);
        for (size_t i = 0; i < sizeof v; i++)
            ones += v[i];
        ck_assert_double_eq_tol(ones / sizeof v, want, 0.02);
    }
    hone_gen_free(gen);
}
END_TEST

/* Normal content of a stored input is the file's, as a ring that begins anew for each counter; other
 * kinds are drawn. */
START_TEST(test_stored)
{
    enum { ROW = 5, HELD = 20 * ROW, ALL = 3 * HELD + 7 };
    float held[HELD], v[ALL], first[2] = {0};
    for (int i = 0; i < HELD; i++)
        held[i] = (float)(1000 + i);
    struct hone_task task = {.n_axes = 1, .n_inputs = 1};
    struct hone_workload workload = {.axes = {ALL}};
    struct hone_gen *gen = hone_gen_new(key);
    task.inputs[0] = (struct hone_tensor){.dtype = HONE_DTYPE_F32,
                                          .rank = 1,
                                          .bound_axis = -1,
                                          .stored_file = "x",
                                          .stored = held,
                                          .n_stored = HELD,
                                          .stored_row = ROW};
    for (int c = 0; c < 2; c++) {
        hone_gen_input(gen, &task, &workload, 0, HONE_DIST_NORMAL, (uint64_t)c, v);
        first[c] = v[0];
        ck_assert_int_eq(((int)v[0] - 1000) % ROW, 0);
        for (int i = 0; i < ALL; i++)
            ck_assert(v[i] == held[((int)v[0] - 1000 + i) % HELD]);
    }
    ck_assert(first[0] != first[1]);
    hone_gen_input(gen, &task, &workload, 0, HONE_DIST_UNIFORM, 1, v);
    for (int i = 0; i < ALL; i++)
        ck_assert(fabsf(v[i]) <= 1);
    hone_gen_free(gen);
}
END_TEST

/* Stored offsets: the file's lengths in turn where the sizes are the file's, stretched elsewhere; two
 * inputs begin at the same row. A stored index stays below the bound. */
START_TEST(test_stored_places)
{
    enum { HELD = 6, LONG = 40 };
    static const int32_t rows[2][HELD] = {{0, 1, 1, 8, 20, 49}, {0, 10, 10, 80, 200, 490}};
    static const int32_t places[] = {0, 9, 4, 31, 7};
    struct hone_gen *gen = hone_gen_new(key);
    bool is_turned = false;
    for (uint64_t c = 0; c < 32; c++) {
        int64_t sizes[] = {HELD, 2, 3, 17, LONG}, totals[] = {49, 1, 5, 1000003, 7};
        for (size_t k = 0; k < HONE_COUNTOF(sizes); k++) {
            int32_t v[2][LONG], v_index[LONG];
            struct hone_task task = {.n_axes = 2, .n_inputs = 3};
            struct hone_workload workload = {.axes = {sizes[k], totals[k]}};
            for (int i = 0; i < 3; i++) {
                task.inputs[i] =
                    (struct hone_tensor){.dtype = HONE_DTYPE_I32,
                                         .role = i < 2 ? HONE_ROLE_OFFSETS : HONE_ROLE_INDEX,
                                         .rank = 1,
                                         .bound_axis = 1,
                                         .stored_file = "x",
                                         .stored = i < 2 ? rows[i] : places,
                                         .n_stored = i < 2 ? HELD : 5,
                                         .stored_row = 1};
                hone_gen_input(gen, &task, &workload, (size_t)i, HONE_DIST_NORMAL, c,
                               i < 2 ? v[i] : v_index);
            }
            for (int64_t i = 1; i < sizes[k]; i++)
                ck_assert_int_ge(v[0][i], v[0][i - 1]);
            ck_assert_int_eq(v[0][0], 0);
            ck_assert_int_eq(v[0][sizes[k] - 1], totals[k]);
            ck_assert(memcmp(v[0], v[1], (size_t)sizes[k] * sizeof v[0][0]) == 0); /* alike */
            for (int64_t i = 0; i < sizes[k]; i++)
                ck_assert(v_index[i] >= 0 && v_index[i] < totals[k]);
            if (k > 0)
                continue;
            int seen = 0; /* the lengths 1 0 7 12 29, from any of them on */
            for (int i = 1; i < HELD; i++)
                seen |= 1 << (v[0][i] - v[0][i - 1]);
            ck_assert_int_eq(seen, 1 << 1 | 1 | 1 << 7 | 1 << 12 | 1 << 29);
            is_turned = is_turned || v[0][1] != 1;
        }
    }
    ck_assert(is_turned);
    hone_gen_free(gen);
}
END_TEST

/* A filter's sums run over channels and places: all of its dimensions but the first. */
START_TEST(test_fan_in)
{
    static const struct {
        size_t rank;
        double want;
    } rows[] = {{1, 1}, {2, 3}, {3, 5}, {4, 5 * 7 * 2}, {5, 5 * 7 * 2 * 4}};
    struct hone_workload workload = {.axes = {3, 5, 7, 2, 4}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_tensor tensor = {
            .role = HONE_ROLE_WEIGHT, .rank = rows[i].rank, .shape = {0, 1, 2, 3, 4}};
        ck_assert_double_eq_tol(hone_gen_weight_scale(&tensor, &workload), 1 / sqrt(rows[i].want),
                                1e-12);
    }
}
END_TEST

static void make_integers(enum hone_dtype dtype, enum hone_distribution dist, enum hone_role role,
                          int64_t n, double *ret)
{
    struct hone_task task = {.n_axes = 1, .n_inputs = 1};
    struct hone_workload workload = {.axes = {n}};
    HONE_AUTOFREE void *raw = hone_calloc((size_t)n, 8);
    task.inputs[0] =
        (struct hone_tensor){.dtype = dtype, .role = role, .rank = 1, .bound_axis = -1};
    struct hone_gen *gen = hone_gen_new(key);
    hone_gen_input(gen, &task, &workload, 0, dist, 11, raw);
    for (int64_t i = 0; i < n; i++)
        ret[i] = hone_element_get(dtype, raw, i);
    hone_gen_free(gen);
}

#define MANY 20000

/* A byte that was taken for a bool was 1 in all kinds but one. */
START_TEST(test_bytes_are_all_values)
{
    static const enum hone_distribution wide[] = {HONE_DIST_NORMAL, HONE_DIST_UNIFORM,
                                                  HONE_DIST_LARGE, HONE_DIST_SORTED};
    static double v[MANY];
    for (size_t d = 0; d < HONE_COUNTOF(wide); d++) {
        bool has[256] = {false};
        int n = 0;
        make_integers(HONE_DTYPE_U8, wide[d], HONE_ROLE_ACTIVATION, MANY, v);
        for (int i = 0; i < MANY; i++) {
            n += !has[(int)v[i]];
            has[(int)v[i]] = true;
        }
        ck_assert_msg(n >= 255, "%s: %d values", hone_dist_name(wide[d]), n);
    }
    make_integers(HONE_DTYPE_U8, HONE_DIST_SMALL, HONE_ROLE_ACTIVATION, MANY, v);
    for (int i = 0; i < MANY; i++)
        ck_assert_double_lt(v[i], 4);
    for (int d = 0; d < HONE_N_DISTS; d++) {
        make_integers(HONE_DTYPE_U8, (enum hone_distribution)d, HONE_ROLE_POSITIVE, 500, v);
        for (int i = 0; i < 500; i++)
            ck_assert_msg(v[i] > 0, "%s", hone_dist_name((enum hone_distribution)d));
    }
}
END_TEST

START_TEST(test_bools_are_both)
{
    static double v[MANY];
    double sum = 0;
    make_integers(HONE_DTYPE_BOOL, HONE_DIST_NORMAL, HONE_ROLE_ACTIVATION, MANY, v);
    for (int i = 0; i < MANY; i++) {
        ck_assert(v[i] == 0 || v[i] == 1);
        sum += v[i];
    }
    ck_assert_double_gt(sum, 0.45 * MANY);
    ck_assert_double_lt(sum, 0.55 * MANY);

    int n_both = 0;
    for (int d = 0; d < HONE_N_DISTS; d++) {
        sum = 0;
        make_integers(HONE_DTYPE_BOOL, (enum hone_distribution)d, HONE_ROLE_ACTIVATION, MANY, v);
        for (int i = 0; i < MANY; i++)
            sum += v[i];
        n_both += sum > 0.01 * MANY && sum < 0.99 * MANY;
    }
    ck_assert_int_ge(n_both, 2 * HONE_N_DISTS / 3); /* 30 and more of 45 */
}
END_TEST

START_TEST(test_wide_integers)
{
    static const struct {
        enum hone_dtype dtype;
        double low, high; /* passed by some in `huge` */
    } rows[] = {{HONE_DTYPE_I8, -120, 120},    {HONE_DTYPE_I32, -2e9, 2e9},
                {HONE_DTYPE_I64, -4e15, 4e15}, {HONE_DTYPE_I16, -32e3, 32e3},
                {HONE_DTYPE_U16, 1e3, 64e3},   {HONE_DTYPE_U32, 1e8, 4.2e9},
                {HONE_DTYPE_U64, 1e14, 8e15}};
    static double v[MANY];
    for (size_t r = 0; r < HONE_COUNTOF(rows); r++) {
        double low = 0, high = 0;
        make_integers(rows[r].dtype, HONE_DIST_HUGE, HONE_ROLE_ACTIVATION, MANY, v);
        for (int i = 0; i < MANY; i++) {
            low = fmin(low, v[i]);
            high = fmax(high, v[i]);
        }
        ck_assert_msg(low < rows[r].low && high > rows[r].high, "row %zu: %g..%g", r, low, high);
        make_integers(rows[r].dtype, HONE_DIST_SHIFTED, HONE_ROLE_ACTIVATION, MANY, v);
        for (int i = 0; i < MANY; i++)
            ck_assert_double_lt(fabs(v[i]), 12);
    }
}
END_TEST

/* Half of the values of an unsigned type would be 0 if negative ones became that. */
START_TEST(test_unsigned_are_not_zeros)
{
    static const enum hone_dtype dtypes[] = {HONE_DTYPE_U16, HONE_DTYPE_U32, HONE_DTYPE_U64};
    static double v[MANY];
    for (size_t r = 0; r < HONE_COUNTOF(dtypes); r++) {
        int n_zeros = 0;
        make_integers(dtypes[r], HONE_DIST_NORMAL, HONE_ROLE_ACTIVATION, MANY, v);
        for (int i = 0; i < MANY; i++) {
            ck_assert(v[i] >= 0 && v[i] < 12);
            n_zeros += v[i] == 0;
        }
        ck_assert_int_lt(n_zeros, MANY * 45 / 100);
    }
}
END_TEST

/* Normal float64 values have a way of their own: bit for bit what the shape says of each element. */
START_TEST(test_float64_normals)
{
    static const struct {
        enum hone_role role;
        double unit, shift;
    } rows[] = {{HONE_ROLE_ACTIVATION, 0, 0},
                {HONE_ROLE_WEIGHT, 0, 0},
                {HONE_ROLE_POSITIVE, 0, 0},
                {HONE_ROLE_POSITIVE, 0.25, -8},
                {HONE_ROLE_TRIANGULAR, 0, 0}};
    for (size_t r = 0; r < HONE_COUNTOF(rows); r++) {
        struct hone_task task = {.n_axes = 1, .n_inputs = 1};
        struct hone_workload workload = {.axes = {23}};
        struct hone_shape shape;
        double got[23 * 23];
        struct hone_gen *gen = hone_gen_new(key);
        task.inputs[0] = (struct hone_tensor){.dtype = HONE_DTYPE_F64,
                                              .rank = 2,
                                              .bound_axis = -1,
                                              .role = rows[r].role,
                                              .unit = rows[r].unit,
                                              .shift = rows[r].shift};
        hone_gen_input(gen, &task, &workload, 0, HONE_DIST_NORMAL, 7, got);
        hone_gen_shape(gen, &task, &workload, 0, HONE_DIST_NORMAL, 7, &shape);
        for (int i = 0; i < 23 * 23; i++)
            ck_assert_msg(got[i] == hone_shape_value(&shape, i), "role %zu element %d: %g", r, i,
                          got[i]);
        hone_gen_free(gen);
    }
}
END_TEST

/* Integers of plain kinds have ways of their own, too. */
START_TEST(test_plain_integers)
{
    static const enum hone_dtype types[] = {HONE_DTYPE_U8,  HONE_DTYPE_I8,  HONE_DTYPE_BOOL,
                                            HONE_DTYPE_I16, HONE_DTYPE_U16, HONE_DTYPE_I32,
                                            HONE_DTYPE_U32, HONE_DTYPE_I64};
    static const enum hone_role roles[] = {HONE_ROLE_ACTIVATION, HONE_ROLE_POSITIVE, HONE_ROLE_BITS,
                                           HONE_ROLE_TRIANGULAR};
    static const enum hone_distribution kinds[] = {HONE_DIST_NORMAL, HONE_DIST_UNIFORM,
                                                   HONE_DIST_LARGE, HONE_DIST_HUGE, HONE_DIST_WIDE};
    enum { SIDE = 41 };
    for (size_t n = 0; n < HONE_COUNTOF(types) * HONE_COUNTOF(roles) * HONE_COUNTOF(kinds) * 2;
         n++) {
        size_t of = n / 2;
        enum hone_dtype type = types[of % HONE_COUNTOF(types)];
        enum hone_role role = roles[of / HONE_COUNTOF(types) % HONE_COUNTOF(roles)];
        enum hone_distribution kind = kinds[of / HONE_COUNTOF(types) / HONE_COUNTOF(roles)];
        struct hone_task task = {.n_axes = 1, .n_inputs = 1};
        struct hone_workload workload = {.axes = {SIDE}};
        struct hone_shape shape;
        int64_t got[SIDE * SIDE], want[SIDE * SIDE];
        struct hone_gen *gen = hone_gen_new(key);
        task.inputs[0] = (struct hone_tensor){.dtype = type,
                                              .rank = 2,
                                              .bound_axis = -1,
                                              .role = role,
                                              .unit = n % 2 ? 3 : 0,
                                              .shift = n % 2 ? -7 : 0};
        hone_gen_input(gen, &task, &workload, 0, kind, 7, got);
        hone_gen_shape(gen, &task, &workload, 0, kind, 7, &shape);
        for (int i = 0; i < SIDE * SIDE; i++)
            hone_element_set(type, want, i, hone_shape_value(&shape, i));
        bool is_any_byte = hone_dtype_bytes(type) == 1 && shape.high - shape.low == 255 &&
                           shape.unit == 0; /* eight of a draw */
        ck_assert_msg(is_any_byte ||
                          memcmp(got, want, SIDE * SIDE * (size_t)hone_dtype_bytes(type)) == 0,
                      "type %d, role %d, kind %d, unit %g", (int)type, (int)role, (int)kind,
                      task.inputs[0].unit);
        hone_gen_free(gen);
    }
}
END_TEST

/* Each kind has a loop of its own, mixtures one for each block: all say what hone_shape_value says. */
START_TEST(test_loops_of_kinds)
{
    static const enum hone_dtype types[] = {HONE_DTYPE_F32, HONE_DTYPE_F64, HONE_DTYPE_F16,
                                            HONE_DTYPE_I32, HONE_DTYPE_U8,  HONE_DTYPE_BOOL};
    static const enum hone_role roles[] = {HONE_ROLE_ACTIVATION, HONE_ROLE_WEIGHT,
                                           HONE_ROLE_POSITIVE, HONE_ROLE_UPPER_TRIANGULAR};
    static const int64_t sides[][2] = {{3, 700}, {131, 5}, {1, 1}, {70, 33}};
    enum { MOST = 131 * 33 };
    static int64_t got[MOST], want[MOST];
    for (size_t n = 0; n < HONE_N_DISTS * HONE_COUNTOF(types) * HONE_COUNTOF(roles); n++) {
        enum hone_distribution kind = (enum hone_distribution)(n % HONE_N_DISTS);
        enum hone_dtype type = types[n / HONE_N_DISTS % HONE_COUNTOF(types)];
        struct hone_task task = {.n_axes = 2, .n_inputs = 1};
        struct hone_workload workload = {.axes = {sides[n % 4][0], sides[n % 4][1]}};
        struct hone_gen *gen = hone_gen_new(key);
        struct hone_shape shape;
        task.inputs[0] =
            (struct hone_tensor){.dtype = type,
                                 .rank = 2,
                                 .shape = {0, 1},
                                 .bound_axis = -1,
                                 .role = roles[n / HONE_N_DISTS / HONE_COUNTOF(types)]};
        hone_gen_input(gen, &task, &workload, 0, kind, n, got);
        hone_gen_shape(gen, &task, &workload, 0, kind, n, &shape);
        bool has_own = shape.kind == HONE_DIST_NORMAL || hone_shape_is_whole(&shape, shape.kind);
        for (int64_t i = 0; i < shape.n; i++)
            hone_element_set(type, want, i, hone_shape_value(&shape, i));
        ck_assert_msg(has_own || memcmp(got, want, (size_t)(shape.n * hone_dtype_bytes(type))) == 0,
                      "type %d, role %d, kind %d of %d", (int)type, (int)task.inputs[0].role,
                      (int)shape.kind, (int)kind);
        hone_gen_free(gen);
    }
}
END_TEST

/* Content that a pack scales and shifts: the same draws, elsewhere; infinities and the like stay. */
START_TEST(test_scaled)
{
    static const enum hone_dtype types[] = {HONE_DTYPE_F32, HONE_DTYPE_F64, HONE_DTYPE_I32};
    for (size_t t = 0; t < HONE_COUNTOF(types); t++) {
        for (int dist = 0; dist < HONE_N_DISTS; dist++) {
            struct hone_task task = {.n_axes = 1, .n_inputs = 1};
            struct hone_workload workload = {.axes = {N}};
            double plain[N], scaled[N];
            HONE_AUTOFREE void *raw = hone_calloc(N, 8);
            bool is_special = dist == HONE_DIST_NAN || dist == HONE_DIST_INF ||
                              dist == HONE_DIST_DENORMAL || dist == HONE_DIST_EXTREME;
            struct hone_gen *gen = hone_gen_new(key);
            if (is_special && types[t] == HONE_DTYPE_I32)
                dist++;
            task.inputs[0] = (struct hone_tensor){.dtype = types[t], .rank = 1, .bound_axis = -1};
            hone_gen_input(gen, &task, &workload, 0, (enum hone_distribution)dist, 5, raw);
            for (int i = 0; i < N; i++)
                plain[i] = hone_element_get(types[t], raw, i);
            task.inputs[0].unit = 0.25;
            task.inputs[0].shift = -8;
            hone_gen_input(gen, &task, &workload, 0, (enum hone_distribution)dist, 5, raw);
            for (int i = 0; i < N; i++)
                scaled[i] = hone_element_get(types[t], raw, i);
            hone_gen_free(gen);
            for (int i = 0; i < N && types[t] != HONE_DTYPE_I32; i++) {
                double want = is_special ? plain[i] : 0.25 * plain[i] - 8;
                ck_assert_msg(fabs(scaled[i] - want) <= 1e-6 * (fabs(want) + 8) ||
                                  (isnan(want) && isnan(scaled[i])) || want == scaled[i],
                              "type %zu kind %d: %g for %g", t, dist, scaled[i], plain[i]);
            }
            for (int i = 0; i < N && types[t] == HONE_DTYPE_I32; i++)
                ck_assert(scaled[i] == floor(scaled[i]));
        }
    }
}
END_TEST

/* The role bits: every bit of the type, in the kinds that are timed. */
START_TEST(test_bits)
{
    static const struct {
        enum hone_dtype dtype;
        double least, most; /* of the type, as far as a double counts */
    } rows[] = {{HONE_DTYPE_I8, -128, 127},
                {HONE_DTYPE_U16, 0, 65535},
                {HONE_DTYPE_I16, -32768, 32767},
                {HONE_DTYPE_U32, 0, 4294967295.0},
                {HONE_DTYPE_I32, -0x1p31, 0x1p31 - 1},
                {HONE_DTYPE_U64, 0, 0x1p53}};
    static const enum hone_distribution kinds[] = {HONE_DIST_NORMAL, HONE_DIST_UNIFORM};
    static double v[MANY];
    for (size_t r = 0; r < HONE_COUNTOF(rows); r++) {
        double span = rows[r].most - rows[r].least;
        for (size_t k = 0; k < HONE_COUNTOF(kinds); k++) {
            int n[4] = {0};
            make_integers(rows[r].dtype, kinds[k], HONE_ROLE_BITS, MANY, v);
            for (int i = 0; i < MANY; i++) {
                ck_assert(v[i] >= rows[r].least && v[i] <= rows[r].most);
                n[(int)fmin(4 * (v[i] - rows[r].least) / (span + 1), 3)]++;
            }
            for (int q = 0; q < 4; q++)
                ck_assert_msg(n[q] > MANY / 5 && n[q] < MANY * 3 / 10, "row %zu: %d", r, n[q]);
        }
    }
}
END_TEST

UNIT_MAIN("gen", test_float64_normals, test_plain_integers, test_loops_of_kinds, test_scaled,
          test_unsigned_are_not_zeros, test_bits, test_bytes_are_all_values, test_bools_are_both,
          test_wide_integers, test_repeats_and_differs, test_normal,
          test_float64_has_full_mantissas, test_roles, test_distributions, test_scalar,
          test_elements, test_halves, test_placed_roles, test_density, test_stored,
          test_stored_places, test_fan_in, test_parts_are_the_whole)
