/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of content: each looks like its row of the table, docs/reference/contents.md has the same rows,
 * and tensors of one call need not be alike. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner/kind_util.h"
#include "tests/unit/runner/task_util.h"
#include "tools/runner/values/element.h"
#include "tools/runner/values/gen.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static const uint8_t key[16] = {4, 5, 6};

static void make_of(struct hone_task *task, size_t input, enum hone_distribution dist,
                    uint64_t counter, double ret[KIND_N])
{
    struct hone_task other;
    struct hone_workload workload;
    double raw[KIND_N];
    make_task(&other, &workload);
    struct hone_gen *gen = hone_gen_new(key);
    hone_gen_input(gen, task, &workload, input, dist, counter, raw);
    for (int i = 0; i < KIND_N; i++)
        ret[i] = hone_element_get(task->inputs[input].dtype, raw, i);
    hone_gen_free(gen);
}

START_TEST(each_looks_like_its_name)
{
    struct hone_task task;
    struct hone_workload workload;
    double v[KIND_N];
    make_task(&task, &workload);
    for (int d = 0; d < HONE_N_DISTS; d++) {
        enum hone_distribution dist = (enum hone_distribution)d;
        for (uint64_t counter = 1; counter < 12; counter++) {
            make_of(&task, 0, dist, counter, v);
            ck_assert_msg(kind_looks_right(dist, v), "%s %d", hone_dist_name(dist), (int)counter);
            for (size_t i = 2; i < task.n_inputs; i++) {
                make_of(&task, i, dist, counter, v);
                ck_assert_msg(kind_role_is_right(task.inputs[i].role, v), "%s: %s, %d",
                              hone_dist_name(dist), task.inputs[i].name, (int)counter);
            }
        }
    }
}
END_TEST

/* Half, nine in ten and 99 of 100; single elements, patches and rows. */
START_TEST(sparse_is_sparse_in_many_ways)
{
    struct hone_task task;
    struct hone_workload workload;
    double v[KIND_N];
    int n_half = 0, n_most = 0, n_rows = 0, n_single = 0;
    make_task(&task, &workload);
    for (uint64_t counter = 0; counter < 60; counter++) {
        int n_whole = 0, zeros = 0, n_alone = 0;
        make_of(&task, 0, HONE_DIST_SPARSE, counter, v);
        for (int r = 0; r < KIND_ROWS; r++) {
            int in_row = 0;
            for (int c = 0; c < KIND_COLUMNS; c++)
                in_row += v[r * KIND_COLUMNS + c] == 0;
            zeros += in_row;
            n_whole += in_row == KIND_COLUMNS;
            n_alone += in_row != 0 && in_row != KIND_COLUMNS && in_row != 16 && in_row != 14;
        }
        n_half += zeros > 200 && zeros < 400;
        n_most += zeros > 400;
        n_rows += n_whole > 0 && n_alone == 0;
        n_single += n_alone > KIND_ROWS / 4;
    }
    ck_assert(n_half >= 8 && n_most >= 15 && n_rows >= 10 && n_single >= 10);
}
END_TEST

/* 16 bits hold no more than 65504, integers what their type does. */
START_TEST(types_have_their_ranges)
{
    static const struct {
        enum hone_dtype dtype;
        enum hone_distribution dist;
        double low, high;    /* nothing is beyond */
        double below, above; /* something is */
    } rows[] = {
        {HONE_DTYPE_F16, HONE_DIST_HUGE, -65504, 65504, -8000, 8000},
        {HONE_DTYPE_F16, HONE_DIST_WIDE, -65504, 65504, -30000, 30000},
        {HONE_DTYPE_F16, HONE_DIST_DENORMAL, -0x1p-14, 0x1p-14, -0x1p-15, 0x1p-15},
        {HONE_DTYPE_BF16, HONE_DIST_WIDE, -1.01e7, 1.01e7, -1e6, 1e6},
        {HONE_DTYPE_F64, HONE_DIST_DENORMAL, -0x1p-1022, 0x1p-1022, -0x1p-1024, 0x1p-1024},
        {HONE_DTYPE_I8, HONE_DIST_NORMAL, -128, 127, -120, 120},
        {HONE_DTYPE_I8, HONE_DIST_UNIFORM, -128, 127, -120, 120},
        {HONE_DTYPE_I8, HONE_DIST_SMALL, 0, 0, 1, -1},
        {HONE_DTYPE_I8, HONE_DIST_LARGE, -128, 127, -120, 120},
        {HONE_DTYPE_U8, HONE_DIST_SORTED, 0, 255, 1, 254},
        {HONE_DTYPE_U8, HONE_DIST_EXPONENTIAL, 0, 255, 1, 120},
        {HONE_DTYPE_I32, HONE_DIST_NORMAL, -5, 5, 0, 0},
        {HONE_DTYPE_I32, HONE_DIST_HUGE, -2147483648.0, 2147483647, -2e9, 2e9},
        {HONE_DTYPE_I64, HONE_DIST_WIDE, -0x1p53, 0x1p53, -8e15, 8e15}, /* what the oracle counts */
        {HONE_DTYPE_I32, HONE_DIST_BYTES, 0, 255, 8, 240},
        {HONE_DTYPE_BOOL, HONE_DIST_NORMAL, 0, 1, 0.5, 0.5},
    };
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        double v[KIND_N], low = INFINITY, high = -INFINITY;
        task.inputs[0].dtype = rows[i].dtype;
        make_of(&task, 0, rows[i].dist, 3, v);
        for (int k = 0; k < KIND_N; k++) {
            low = fmin(low, v[k]);
            high = fmax(high, v[k]);
        }
        ck_assert_msg(low >= rows[i].low && high <= rows[i].high, "row %zu: %g to %g", i, low,
                      high);
        ck_assert_msg(low <= rows[i].below && high >= rows[i].above, "row %zu: %g to %g", i, low,
                      high);
    }
}
END_TEST

START_TEST(tensors_differ_in_kind)
{
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    struct hone_gen *gen = hone_gen_new(key);
    bool was_other[7] = {false}, was_kind[HONE_N_DISTS] = {false};
    int n_blocks = 0;
    for (uint64_t counter = 0; counter < 400; counter++) {
        int n_other = 0;
        for (size_t i = 0; i < task.n_inputs; i++) {
            struct hone_shape shape;
            hone_gen_shape(gen, &task, &workload, i, HONE_DIST_ONE_OTHER, counter, &shape);
            n_other += shape.kind != HONE_DIST_NORMAL;
            was_other[i] = was_other[i] || shape.kind != HONE_DIST_NORMAL;
            hone_gen_shape(gen, &task, &workload, i, HONE_DIST_MIXTURE, counter, &shape);
            n_blocks += i < 3 && shape.kind == HONE_DIST_MIXTURE;
            was_kind[shape.kind] = true;
            ck_assert(i >= 3 || shape.kind == HONE_DIST_MIXTURE ||
                      (HONE_SHAPE_MIXED >> shape.kind & 1) != 0);
        }
        ck_assert_int_le(n_other, 1);
    }
    for (size_t i = 0; i < task.n_inputs; i++)
        ck_assert_msg(was_other[i], "input %zu is never the other one", i);
    for (int d = 0; d < HONE_N_DISTS; d++)
        ck_assert_msg(was_kind[d] || (HONE_SHAPE_MIXED >> d & 1) == 0, "%s is never mixed",
                      hone_dist_name((enum hone_distribution)d));
    ck_assert(n_blocks > 250 && n_blocks < 600); /* a third: normal; half of the rest */
    hone_gen_free(gen);
}
END_TEST

/* A mixture has blocks of rows that are zero beside blocks that are large: no look at one row tells
 * the others. */
START_TEST(rows_of_a_mixture_differ)
{
    struct hone_task task;
    struct hone_workload workload;
    int n_mixed = 0;
    make_task(&task, &workload);
    for (uint64_t counter = 0; counter < 40; counter++) {
        double v[KIND_N], least = INFINITY, most = 0;
        make_of(&task, 0, HONE_DIST_MIXTURE, counter, v);
        for (int r = 0; r < KIND_ROWS; r++) {
            double size = 0;
            for (int c = 0; c < KIND_COLUMNS; c++)
                size = fmax(size, fabs(v[r * KIND_COLUMNS + c]));
            least = fmin(least, size);
            most = fmax(most, size);
        }
        n_mixed += most > 100 * (least + 1e-3);
    }
    ck_assert_int_ge(n_mixed, 8);
}
END_TEST

START_TEST(alike_is_the_same_everywhere)
{
    struct hone_task task;
    struct hone_workload workload;
    double a[KIND_N], b[KIND_N];
    make_task(&task, &workload);
    task.inputs[1] = task.inputs[0];
    make_of(&task, 0, HONE_DIST_ALIKE, 5, a);
    make_of(&task, 1, HONE_DIST_ALIKE, 5, b);
    ck_assert_mem_eq(a, b, sizeof a);
    make_of(&task, 1, HONE_DIST_ALIKE, 6, b);
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

/* Columns of X are as much larger as what they are multiplied with is smaller; `step` elements lie
 * between two factors of one column. */
static void check_scales(struct hone_task *task, int64_t n_columns, int64_t step, int64_t width)
{
    double x[KIND_N], w[KIND_N], least = INFINITY, most = 0;
    for (uint64_t counter = 1; counter < 20; counter++) {
        make_of(task, 0, HONE_DIST_SCALES, counter, x);
        make_of(task, 1, HONE_DIST_SCALES, counter, w);
        for (int64_t c = 0; c < n_columns; c++) {
            double mine = 0, theirs = 0;
            for (int64_t k = 0; k < 17; k++) {
                mine += fabs(x[k * n_columns + c]) / 17;
                theirs += fabs(w[c * step + k * width]) / 17;
            }
            ck_assert_msg(mine * theirs > 0.01 && mine * theirs < 10, "column %d: %g x %g", (int)c,
                          mine, theirs);
            least = fmin(least, mine);
            most = fmax(most, mine);
        }
    }
    ck_assert_double_gt(most / least, 1e11);
}

START_TEST(scales_of_two_tensors_go_together)
{
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    check_scales(&task, KIND_COLUMNS, 1, KIND_COLUMNS); /* the last dimension of both */
    task.inputs[1].shape[0] = AXIS_N;                   /* a product of matrices */
    task.inputs[1].shape[1] = AXIS_BOUND;
    task.outputs[0].shape[1] = task.outputs[1].shape[1] = AXIS_BOUND;
    check_scales(&task, KIND_COLUMNS, 17, 1);
}
END_TEST

/* Alone a tensor has a scale for each row. */
START_TEST(scales_of_one_tensor_are_rows)
{
    struct hone_task task;
    struct hone_workload workload;
    double v[KIND_N], low = INFINITY, high = 0;
    make_task(&task, &workload);
    task.n_inputs = 1;
    for (uint64_t counter = 1; counter < 6; counter++) {
        make_of(&task, 0, HONE_DIST_SCALES, counter, v);
        for (int r = 0; r < KIND_ROWS; r++) {
            double mean = 0, most = 0;
            for (int c = 0; c < KIND_COLUMNS; c++) {
                mean += fabs(v[r * KIND_COLUMNS + c]) / KIND_COLUMNS;
                most = fmax(most, fabs(v[r * KIND_COLUMNS + c]));
            }
            ck_assert_double_lt(most, 10 * mean);
            low = fmin(low, mean);
            high = fmax(high, mean);
        }
    }
    ck_assert_double_gt(high / low, 1e9);
}
END_TEST

/* What is left out at any of these places of a long row is a share of its sum that shows. */
START_TEST(borders_have_the_weight)
{
    static const struct {
        int64_t period, rest;
    } left_out[] = {{16384, 16383}, {4096, 4095}, {1024, 0}, {65536, 1}, {49152, 0}};
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    task.inputs[0].role = HONE_ROLE_POSITIVE;
    task.inputs[0].rank = 1;
    task.inputs[0].shape[0] = AXIS_N;
    workload.axes[AXIS_N] = 300000;
    struct hone_gen *gen = hone_gen_new(key);
    HONE_AUTOFREE float *v = hone_malloc(300000 * sizeof *v);
    int n_seen[HONE_COUNTOF(left_out)] = {0}, n_sixths = 0;
    for (uint64_t counter = 0; counter < 20; counter++) {
        double sum = 0, lost[HONE_COUNTOF(left_out)] = {0};
        hone_gen_input(gen, &task, &workload, 0, HONE_DIST_BORDERS, counter, v);
        for (int64_t i = 0; i < 300000; i++) {
            sum += (double)v[i];
            for (size_t k = 0; k < HONE_COUNTOF(left_out); k++)
                lost[k] += i % left_out[k].period == left_out[k].rest ? (double)v[i] : 0;
        }
        for (size_t k = 0; k < HONE_COUNTOF(left_out); k++)
            n_seen[k] += lost[k] / sum > 2e-4;
        n_sixths += (double)v[50000] / sum > 2e-4 && (double)v[199999] / sum > 2e-4;
    }
    for (size_t k = 0; k < HONE_COUNTOF(left_out); k++)
        ck_assert_msg(n_seen[k] >= 10, "border %zu: %d of 20", k, n_seen[k]);
    ck_assert_int_ge(n_sixths, 6);
    hone_gen_free(gen);
}
END_TEST

START_TEST(what_a_task_covers)
{
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    ck_assert(hone_kind_is_covered(HONE_DIST_HUGE, &task));
    ck_assert(!hone_kind_is_covered(HONE_DIST_NAN, &task));
    ck_assert(!hone_kind_is_covered(HONE_DIST_DENORMAL, &task));
    task.special_values = HONE_SPECIAL_NAN | HONE_SPECIAL_DENORMAL;
    ck_assert(hone_kind_is_covered(HONE_DIST_NAN, &task));
    ck_assert(!hone_kind_is_covered(HONE_DIST_INF, &task));
    ck_assert(hone_kind_is_covered(HONE_DIST_DENORMAL, &task));
}
END_TEST

/* "| `name` | values | others |", one line a kind, in the table's order. */
START_TEST(the_page_has_the_table)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_file_read("docs/reference/contents.md", 1 << 20, &text, &len, &err) == 0,
                  "%s", err.message);
    int n_rows = 0;
    for (const char *at = text; (at = strstr(at, "\n| `")) != NULL; at++)
        n_rows++;
    ck_assert_int_eq(n_rows, HONE_N_DISTS);
    ck_assert_int_le(HONE_N_DISTS, HONE_LIMIT_KINDS);
    for (int d = 0; d < HONE_N_DISTS; d++) {
        const struct hone_kind *kind = hone_kind_row((enum hone_distribution)d);
        enum hone_distribution back = HONE_N_DISTS;
        HONE_AUTOFREE char *row = hone_sprintf("\n| `%s` | %s | %s |\n", kind->name, kind->values,
                                               kind->others != NULL ? kind->others : "as usual");
        ck_assert_msg(strstr(text, row) != NULL, "docs/reference/contents.md lacks:%s", row);
        ck_assert(hone_dist_parse(kind->name, &back) && back == (enum hone_distribution)d);
    }
}
END_TEST

UNIT_MAIN("kinds", each_looks_like_its_name, sparse_is_sparse_in_many_ways, types_have_their_ranges,
          tensors_differ_in_kind, rows_of_a_mixture_differ, alike_is_the_same_everywhere,
          scales_of_two_tensors_go_together, scales_of_one_tensor_are_rows, borders_have_the_weight,
          what_a_task_covers, the_page_has_the_table)
