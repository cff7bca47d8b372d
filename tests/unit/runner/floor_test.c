/* SPDX-License-Identifier: Apache-2.0 */
/* What is faster than the measured ceilings: suspicious when far, clipped and reviewed when near,
 * and neither before the ceilings have been measured again. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/runner/judge/target.h"

#define RATE 1e9

static int same_ceilings(struct hone_judge *judge, bool is_fresh, struct hone_err *err)
{
    (void)err;
    ck_assert(is_fresh);
    judge->counter++; /* how often it was asked */
    return 0;
}

static int better_ceilings(struct hone_judge *judge, bool is_fresh, struct hone_err *err)
{
    judge->machine.flops = 2 * RATE;
    judge->machine.memory_rate = 2 * RATE;
    return same_ceilings(judge, is_fresh, err);
}

static const struct hone_target same = {.name = "same", .ceilings = same_ceilings};
static const struct hone_target better = {.name = "better", .ceilings = better_ceilings};

struct fixture {
    struct hone_judge judge;
    struct hone_review review[HONE_LIMIT_REVIEW_ROWS];
    struct hone_ratio ratio;
    struct hone_workload_report report;
    struct hone_outcome end;
};

static void run(struct fixture *f, const struct hone_target *target, double percent,
                double fastest_flops)
{
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.end = HONE_OUTCOME_INIT};
    f->judge.target = target;
    f->judge.pool = hone_pool_new();
    f->judge.review = f->review;
    f->judge.machine = (struct hone_machine){
        .memory_rate = RATE, .cache_rate = RATE, .flops = RATE, .fastest_flops = fastest_flops};
    f->ratio = (struct hone_ratio){
        .against = "baseline", .ratio = 4, .low = 3.8, .high = 4.2, .least_gain = 0.005};
    f->report = (struct hone_workload_report){.id = "w",
                                              .bound_by = "flops",
                                              .bound_ns = percent,
                                              .percent_of_bound = percent,
                                              .ratios = {.v = &f->ratio, .n = 1}};
    ck_assert_int_eq(hone_judge_check_floor(&f->judge, &f->report, &f->end, &err), 0);
    hone_pool_free(f->judge.pool);
}

START_TEST(test_slower_than_the_ceiling)
{
    struct fixture f;
    run(&f, &same, 100, 0);
    ck_assert(hone_outcome_is_good(&f.end));
    ck_assert_uint_eq(f.judge.counter, 0);
    ck_assert_uint_eq(f.judge.n_review, 0);
    ck_assert_double_eq(f.ratio.ratio, 4);
}
END_TEST

START_TEST(test_a_little_above)
{
    struct fixture f;
    run(&f, &same, 105, 0);
    ck_assert(hone_outcome_is_good(&f.end));
    ck_assert_uint_eq(f.judge.counter, 1);
    ck_assert_uint_eq(f.judge.n_review, 1);
    ck_assert_str_eq(f.review[0].rule, "above_ceiling");
    ck_assert_double_eq_tol(f.ratio.ratio, 4 / 1.05, 1e-12);
    ck_assert_double_eq_tol(f.ratio.low, 3.8 / 1.05, 1e-12);
    ck_assert_double_eq_tol(f.ratio.high, 4.2 / 1.05, 1e-12);
    ck_assert_str_eq(f.ratio.word, "faster");
}
END_TEST

START_TEST(test_far_above)
{
    struct fixture f;
    run(&f, &same, 120, 0);
    ck_assert_int_eq(f.end.reason, HONE_REASON_BELOW_FLOOR);
    run(&f, &better, 120, 0); /* the machine can do more than was measured before */
    ck_assert(hone_outcome_is_good(&f.end));
    ck_assert_double_eq_tol(f.report.percent_of_bound, 60, 1e-12);
    ck_assert_uint_eq(f.judge.n_review, 0);
}
END_TEST

/* 300 % of ordinary arithmetic is honest where tensor cores give four times its rate. */
START_TEST(test_faster_arithmetic)
{
    struct fixture f;
    run(&f, &same, 300, 4 * RATE);
    ck_assert(hone_outcome_is_good(&f.end));
    ck_assert_uint_eq(f.judge.n_review, 0);
    run(&f, &same, 500, 4 * RATE);
    ck_assert_int_eq(f.end.reason, HONE_REASON_BELOW_FLOOR);
}
END_TEST

/* One row for each rule and line, and no more rows than there is room for. */
START_TEST(test_review_rows)
{
    struct hone_review rows[HONE_LIMIT_REVIEW_ROWS];
    struct hone_judge judge = {.pool = hone_pool_new(), .review = rows};
    hone_judge_review(&judge, "timer", 3, "rdtsc");
    hone_judge_review(&judge, "timer", 3, "rdtsc");
    ck_assert_uint_eq(judge.n_review, 1);
    for (int line = 4; line < 100; line++)
        hone_judge_review(&judge, "timer", line, "rdtsc at %d", line);
    ck_assert_uint_eq(judge.n_review, HONE_LIMIT_REVIEW_ROWS);
    ck_assert_str_eq(rows[1].evidence, "rdtsc at 4");
    hone_pool_free(judge.pool);
}
END_TEST

UNIT_MAIN("floor", test_slower_than_the_ceiling, test_a_little_above, test_far_above,
          test_faster_arithmetic, test_review_rows)
