/* SPDX-License-Identifier: Apache-2.0 */
/* What a near change may do to an input: a few elements, anywhere, inside what their role allows,
 * and something that sums without places do not see. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/runner/task_util.h"
#include "tools/runner/judge/audit.h"
#include "tools/runner/judge/near.h"

#define N        600
#define N_INPUTS 7
#define TRIES    400
#define MOST     6 /* elements of an input: three pairs that change places */

static const uint8_t key[16] = {9, 8, 7};

struct content {
    const struct hone_task *task;
    double values[N_INPUTS][N]; /* as the type holds them */
};

static int get_value(void *arg, size_t input, int64_t i, double *ret, struct hone_err *err)
{
    (void)err;
    *ret = ((struct content *)arg)->values[input][i];
    return 0;
}

static int set_value(void *arg, size_t input, int64_t i, double value, struct hone_err *err)
{
    struct content *content = arg;
    (void)err;
    ck_assert(value == hone_element_round(content->task->inputs[input].dtype, value));
    content->values[input][i] = value;
    return 0;
}

struct bench {
    struct hone_task task;
    struct hone_workload workload;
    struct hone_judge judge;
    struct hone_gen *gen;
    struct content content;
    struct hone_near_io io;
};

static void set_up(struct bench *b)
{
    memset(b, 0, sizeof *b);
    make_task(&b->task, &b->workload);
    b->task.inputs[5].rank = 1;
    b->task.inputs[5].shape[0] = AXIS_N;
    b->gen = hone_gen_new(key);
    b->judge.task = &b->task;
    b->judge.rng = hone_gen_rng(b->gen, 3);
    b->content.task = &b->task;
    b->io = (struct hone_near_io){.arg = &b->content, .get = get_value, .set = set_value};
    for (size_t t = 0; t < N_INPUTS; t++) {
        double raw[N];
        int64_t n = hone_tensor_elements(&b->task, &b->task.inputs[t], &b->workload);
        hone_gen_input(b->gen, &b->task, &b->workload, t, HONE_DIST_NORMAL, 1, raw);
        for (int64_t i = 0; i < n; i++)
            b->content.values[t][i] = hone_element_get(b->task.inputs[t].dtype, raw, i);
    }
}

static void check_role(const struct bench *b, size_t t)
{
    const struct hone_tensor *tensor = &b->task.inputs[t];
    const double *v = b->content.values[t];
    int64_t n = hone_tensor_elements(&b->task, tensor, &b->workload),
            row = b->workload.axes[AXIS_N];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        ck_assert(isfinite(v[i]));
        if (tensor->role == HONE_ROLE_POSITIVE)
            ck_assert_double_gt(v[i], 0);
        if (tensor->role == HONE_ROLE_INDEX)
            ck_assert(v[i] >= 0 && v[i] < b->workload.axes[AXIS_BOUND]);
        if (tensor->role == HONE_ROLE_MASK)
            ck_assert(v[i] == 0 || v[i] == 1);
        if (tensor->role == HONE_ROLE_OFFSETS && i > 0)
            ck_assert(v[i] >= v[i - 1]);
        sum = i % row == 0 ? v[i] : sum + v[i];
        if (tensor->role == HONE_ROLE_PROBABILITY)
            ck_assert(v[i] >= 0 && v[i] <= 1);
        if (tensor->role == HONE_ROLE_PROBABILITY && i % row == row - 1)
            ck_assert_double_lt(fabs(sum - 1), 1e-5);
    }
    if (tensor->role == HONE_ROLE_OFFSETS)
        ck_assert(v[0] == 0 && v[n - 1] == b->workload.axes[AXIS_BOUND]);
}

START_TEST(test_roles_are_kept)
{
    struct bench b;
    set_up(&b);
    for (int k = 0; k < TRIES; k++) {
        int64_t n = 0;
        ck_assert_int_eq(hone_near_change(&b.judge, &b.workload, HONE_DIST_NORMAL, &b.io, &n, NULL),
                         0);
        for (size_t t = 0; t < N_INPUTS; t++)
            check_role(&b, t);
    }
    hone_gen_free(b.gen);
}
END_TEST

/* Content that the pack shifts stays where it was: positive values plus 100 are above 100. */
START_TEST(test_shifted_content_stays)
{
    struct bench b;
    double raw[N];
    set_up(&b);
    b.task.inputs[2].unit = 0.01;
    b.task.inputs[2].shift = 100;
    int64_t n = hone_tensor_elements(&b.task, &b.task.inputs[2], &b.workload), changed = 0;
    hone_gen_input(b.gen, &b.task, &b.workload, 2, HONE_DIST_NORMAL, 1, raw);
    for (int64_t i = 0; i < n; i++)
        b.content.values[2][i] = hone_element_get(b.task.inputs[2].dtype, raw, i);
    for (int k = 0; k < TRIES; k++) {
        ck_assert_int_eq(
            hone_near_change(&b.judge, &b.workload, HONE_DIST_NORMAL, &b.io, &changed, NULL), 0);
        for (int64_t i = 0; i < n; i++)
            ck_assert_msg(b.content.values[2][i] >= 99.9, "%g", b.content.values[2][i]);
    }
    hone_gen_free(b.gen);
}
END_TEST

START_TEST(test_few_elements_anywhere)
{
    struct bench b;
    bool is_hit[N_INPUTS][8] = {{false}}; /* eighths of an input */
    int n_alone = 0, n_sums = 0;
    set_up(&b);
    for (int k = 0; k < TRIES; k++) {
        struct content before = b.content;
        int64_t n = 0;
        size_t n_inputs = 0;
        ck_assert_int_eq(hone_near_change(&b.judge, &b.workload, HONE_DIST_NORMAL, &b.io, &n, NULL),
                         0);
        ck_assert_int_gt(n, 0);
        for (size_t t = 0; t < N_INPUTS; t++) {
            int64_t n_of = hone_tensor_elements(&b.task, &b.task.inputs[t], &b.workload);
            int n_here = 0;
            double sum = 0;
            for (int64_t i = 0; i < n_of; i++) {
                bool is_other = before.values[t][i] != b.content.values[t][i];
                n_here += is_other;
                sum += b.content.values[t][i] - before.values[t][i];
                is_hit[t][8 * i / n_of] = is_hit[t][8 * i / n_of] || is_other;
            }
            ck_assert_int_le(n_here, MOST);
            n_inputs += n_here > 0;
            n_sums += t == 0 && n_here > 0 && fabs(sum) < 1e-9;
        }
        n_alone += n_inputs == 1;
    }
    for (size_t t = 0; t < N_INPUTS; t++)
        for (int part = 0; part < 8; part++)
            ck_assert_msg(is_hit[t][part], "input %zu, part %d", t, part);
    ck_assert_int_gt(n_alone, TRIES / 10);
    ck_assert_int_gt(n_sums, TRIES / 50); /* two changed places */
    hone_gen_free(b.gen);
}
END_TEST

/* Each kind comes, however few steps a check makes. */
START_TEST(test_kinds_take_turns)
{
    struct bench b;
    struct hone_check_report checks[8] = {{0}};
    bool has[5] = {false};
    set_up(&b);
    b.judge.checks = checks;
    for (size_t c = 0; c < 4; c++) {
        has[hone_near_kind(&b.judge, 0, 5)] = true;
        has[hone_near_kind(&b.judge, 1, 5)] = true;
        checks[b.judge.n_checks++].name = HONE_NEAR_ROW;
    }
    for (size_t i = 0; i < HONE_COUNTOF(has); i++)
        ck_assert_msg(has[i], "kind %zu", i);
    hone_gen_free(b.gen);
}
END_TEST

/* Bits that only a strict tolerance lets anyone see change only under one. */
START_TEST(test_last_bits)
{
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        struct bench b;
        int n_last = 0;
        set_up(&b);
        b.task.n_inputs = b.task.n_outputs = 1;
        b.task.tolerance[0].rtol = is_strict ? 1e-8 : 1e-4;
        for (int k = 0; k < TRIES; k++) {
            struct content before = b.content;
            int64_t n = 0;
            ck_assert_int_eq(
                hone_near_change(&b.judge, &b.workload, HONE_DIST_NORMAL, &b.io, &n, NULL), 0);
            for (int64_t i = 0; i < N; i++) {
                double was = before.values[0][i], is = b.content.values[0][i];
                n_last += was != is && fabs(is - was) < ldexp(fabs(was), -22);
            }
        }
        ck_assert_msg(is_strict ? n_last > TRIES / 20 : n_last == 0, "%d changes", n_last);
        hone_gen_free(b.gen);
    }
}
END_TEST

/* Parts lie inside, are of all sizes, and leave the first and the last element alone often. */
START_TEST(test_parts_of_outputs)
{
    static const int64_t sizes[] = {1, 2, 7, 64, 1000, 100000};
    struct bench b;
    set_up(&b);
    for (size_t s = 0; s < HONE_COUNTOF(sizes); s++) {
        int n_short = 0, n_long = 0, n_many = 0, n_inside = 0, n_of[3] = {0};
        for (int k = 0; k < TRIES; k++) {
            struct hone_near_part part = hone_near_part(&b.judge, sizes[s]);
            int64_t end = part.first + (part.count - 1) * part.step + part.length;
            ck_assert(part.first >= 0 && part.length > 0 && part.count > 0);
            ck_assert(part.count == 1 || part.step >= part.length);
            ck_assert_int_le(end, sizes[s]);
            n_short += part.length * part.count <= hone_max_i64(sizes[s] / 100, 1);
            n_long += part.length * part.count > sizes[s] / 4;
            n_many += part.count > 1;
            n_inside += part.first > 0 && end < sizes[s];
            n_of[hone_near_fill(&b.judge)]++;
        }
        ck_assert(n_of[0] > TRIES / 8 && n_of[1] > TRIES / 8 && n_of[2] > TRIES / 4);
        if (sizes[s] >= 64)
            ck_assert_msg(n_short > TRIES / 20 && n_long > TRIES / 20 && n_many > TRIES / 5 &&
                              n_inside > TRIES / 2,
                          "%d: %d %d %d %d", (int)sizes[s], n_short, n_long, n_many, n_inside);
    }
    hone_gen_free(b.gen);
}
END_TEST

/* Three weights meet each of hundreds of enlarged elements: they once became infinite, and an
 * honest Winograd kernel was refused for the NaN that its sums then held. */
START_TEST(test_enlarged_elements_stay_finite)
{
    for (int exponent = -30; exponent <= 30; exponent++) {
        double start = ldexp(1, exponent), value = start;
        for (int i = 0; i < 300; i++)
            value = -hone_audit_enlarged(value);
        ck_assert_double_le(fabs(value), fmax(start, 512));
        ck_assert_double_ge(fabs(value), fmax(start, 8));
    }
    ck_assert_double_eq(hone_audit_enlarged(1), 64);
    ck_assert_double_eq(hone_audit_enlarged(0), 0);
}
END_TEST

UNIT_MAIN("near", test_roles_are_kept, test_shifted_content_stays, test_few_elements_anywhere,
          test_kinds_take_turns, test_last_bits, test_parts_of_outputs,
          test_enlarged_elements_stay_finite)
