/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a suite: whose turn it is and how much it gets; outcomes; fast_p; limits. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "agents/suite/suite.h"

enum { ROWS = 4 };

struct fixture {
    struct hone_suite_row rows[ROWS];
    struct hone_suite suite;
};

static struct fixture *fresh(int64_t lanes, int64_t wall_ms, int64_t evaluations)
{
    static const char *const names[ROWS] = {"a", "b", "c", "d"};
    struct fixture *f = hone_calloc(1, sizeof(*f));
    for (size_t i = 0; i < ROWS; i++)
        f->rows[i] = (struct hone_suite_row){.task = names[i], .search = names[i]};
    f->suite =
        (struct hone_suite){.lanes = lanes,
                            .rows = f->rows,
                            .n_rows = ROWS,
                            .caps = {.budget_wall_ms = wall_ms, .budget_evaluations = evaluations}};
    return f;
}

static struct hone_suite_row *next(struct fixture *f, struct hone_event_caps *share)
{
    double left[HONE_N_BUDGETS];
    hone_suite_left(&f->suite, left);
    return hone_suite_next(&f->suite, left, share);
}

static void end(struct hone_suite_row *row, double wall_ms, double evaluations, bool is_stopped)
{
    row->is_open = false;
    row->passes++;
    row->is_stopped_by_share = is_stopped;
    row->used[HONE_BUDGET_WALL] += wall_ms;
    row->used[HONE_BUDGET_EVALUATIONS] += evaluations;
}

START_TEST(what_is_left_over_goes_to_those_behind)
{
    struct fixture *f = fresh(1, 80000, 40);
    struct hone_event_caps share;
    struct hone_suite_row *row = next(f, &share);
    ck_assert_str_eq(row->task, "a");
    ck_assert_int_eq(share.budget_wall_ms, 20000);
    ck_assert_int_eq(share.budget_evaluations, 10);
    end(row, 5000, 4, false); /* it left 15 s and 6 evaluations */
    f->suite.elapsed_ms = 5000;
    row = next(f, &share);
    ck_assert_str_eq(row->task, "b");
    ck_assert_int_eq(share.budget_wall_ms, 25000);
    ck_assert_int_eq(share.budget_evaluations, 12);
    free(f);
}
END_TEST

START_TEST(lanes_share_the_wall_time)
{
    struct fixture *f = fresh(2, 80000, 40);
    struct hone_event_caps share;
    struct hone_suite_row *row = next(f, &share);
    ck_assert_int_eq(share.budget_wall_ms, 40000);
    row->is_open = true;
    row->share = share;
    row = next(f, &share); /* what an open one may still take is not given twice */
    ck_assert_str_eq(row->task, "b");
    ck_assert_int_eq(share.budget_wall_ms, 40000);
    ck_assert_int_eq(share.budget_evaluations, 10);
    free(f);
}
END_TEST

START_TEST(a_second_turn_is_for_those_that_were_stopped)
{
    struct fixture *f = fresh(1, 80000, 0);
    struct hone_event_caps share;
    for (size_t i = 0; i < ROWS; i++)
        end(&f->rows[i], 10000, 5, i == 1 || i == 3);
    f->suite.elapsed_ms = 40000;
    struct hone_suite_row *row = next(f, &share);
    ck_assert_str_eq(row->task, "b");
    ck_assert_int_eq(share.budget_wall_ms, 20000);
    ck_assert_int_eq(share.budget_evaluations, 0); /* none was asked for */
    f->suite.elapsed_ms = 80000 - 2 * 5000;
    ck_assert_ptr_nonnull(next(f, &share));
    f->suite.elapsed_ms++; /* a second turn of less than 5 s is none */
    ck_assert_ptr_null(next(f, &share));
    free(f);
}
END_TEST

START_TEST(nothing_left_is_nobodys_turn)
{
    struct fixture *f = fresh(1, 1000, 2);
    struct hone_event_caps share;
    f->suite.elapsed_ms = 1000;
    ck_assert_ptr_null(next(f, &share));
    f->suite.elapsed_ms = 0;
    f->rows[0].used[HONE_BUDGET_EVALUATIONS] = 1;
    ck_assert_ptr_nonnull(next(f, &share));
    ck_assert_int_eq(share.budget_evaluations, 1);
    f->rows[0].used[HONE_BUDGET_EVALUATIONS] = 2;
    ck_assert_ptr_null(next(f, &share));
    free(f);
}
END_TEST

START_TEST(what_is_refused_has_no_turn)
{
    struct fixture *f = fresh(1, 80000, 0);
    struct hone_event_caps share;
    f->rows[0].code = "refused";
    ck_assert_str_eq(next(f, &share)->task, "b");
    ck_assert_int_eq(share.budget_wall_ms, 80000 / 3);
    ck_assert_int_eq(hone_suite_outcome_of(&f->rows[0]), HONE_SUITE_REFUSED);
    free(f);
}
END_TEST

START_TEST(fast_p_counts_what_the_user_has)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct fixture *f = fresh(1, 80000, 0);
    struct hone_yardstick eager = {"torch-eager", 1.5, 1.4, 1.6};
    struct hone_search_result results[ROWS] = {
        {.verdict = "faster", .speedup = 4, .yardsticks = {&eager, 1}},
        {.verdict = "faster", .speedup = 9, .doubt = "a limit was touched"},
        {.verdict = "slower", .speedup = 0.5},
    };
    struct hone_suite_measure *m;
    for (size_t i = 0; i < 3; i++)
        f->rows[i].last = &results[i];
    f->rows[3].code = "timeout";
    f->rows[3].passes = 1;
    static const enum hone_suite_outcome wanted[ROWS] = {HONE_SUITE_FASTER, HONE_SUITE_DOUBTED,
                                                         HONE_SUITE_NO_GAIN, HONE_SUITE_FAILED};
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_int_eq(hone_suite_outcome_of(&f->rows[i]), wanted[i]);
    ck_assert_uint_eq(hone_suite_measures(&f->suite, pool, &m), 2);
    ck_assert_uint_eq(m[0].n, 4);
    ck_assert_double_eq_tol(m[0].geomean, cbrt(4), 1e-12); /* 4, 1, 1; the failed one is none */
    for (int i = 0; i < HONE_SUITE_N_P; i++) {
        double p = hone_suite_p[i], share = p < 1 ? 0.75 : p < 4 ? 0.25 : 0;
        ck_assert_double_eq_tol(m[0].fast[i], share, 1e-12);
        ck_assert_double_eq_tol(m[1].fast[i], p < 1.5 ? 1 : 0, 1e-12);
    }
    ck_assert_str_eq(m[1].name, "torch-eager");
    ck_assert_uint_eq(m[1].n, 1);
    free(f);
}
END_TEST

START_TEST(limits_hold)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_suite_options o = {.name = "s",
                                   .n_tasks = HONE_LIMIT_SUITE_TASKS + 1,
                                   .lanes = 1,
                                   .each = {.budget_wall_ms = 1}};
    struct hone_suite suite;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_suite_run(NULL, &o, NULL, pool, &suite, &err), HONE_E_LIMIT);
    o.n_tasks = HONE_LIMIT_SUITE_TASKS; /* at it: what is looked at next is refused */
    o.lanes = HONE_LIMIT_LANES + 1;
    ck_assert_int_eq(hone_suite_run(NULL, &o, NULL, pool, &suite, &err), HONE_E_ARG);
    ck_assert_str_eq(err.path, "lanes");
    o.lanes = HONE_LIMIT_LANES;
    o.each.budget_wall_ms = 0;
    ck_assert_int_eq(hone_suite_run(NULL, &o, NULL, pool, &suite, &err), HONE_E_ARG);
    ck_assert_str_eq(err.path, "budget_wall_ms");
    o.name = "../s";
    ck_assert_int_eq(hone_suite_run(NULL, &o, NULL, pool, &suite, &err), HONE_E_ARG);
    ck_assert_str_eq(err.path, "name");
}
END_TEST

UNIT_MAIN("suite", what_is_left_over_goes_to_those_behind, lanes_share_the_wall_time,
          a_second_turn_is_for_those_that_were_stopped, nothing_left_is_nobodys_turn,
          what_is_refused_has_no_turn, fast_p_counts_what_the_user_has, limits_hold)
