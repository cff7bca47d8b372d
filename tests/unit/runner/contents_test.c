/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds a job draws: what the task covers, each once before one comes again; and what the
 * report says of it. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tests/unit/runner/task_util.h"
#include "tools/runner/judge/judge.h"

struct bench {
    struct hone_task task;
    struct hone_report report;
    struct hone_judge judge;
    struct hone_workload workload;
};

static void set_up(struct bench *b, unsigned special)
{
    static const uint8_t key[16] = {7};
    memset(b, 0, sizeof *b);
    make_task(&b->task, &b->workload);
    b->task.special_values = special;
    struct hone_judge *judge = &b->judge;
    judge->task = &b->task;
    judge->report = &b->report;
    judge->pool = hone_pool_new();
    judge->gen = hone_gen_new(key);
    judge->rng = hone_gen_rng(judge->gen, 0);
    judge->warnings = hone_pool_alloc(judge->pool, 64 * sizeof *judge->warnings);
    judge->checks = hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CHECKS * sizeof *judge->checks);
    hone_contents_start(judge);
}

static void tear_down(struct bench *b)
{
    hone_gen_free(b->judge.gen);
    hone_pool_free(b->judge.pool);
}

START_TEST(kinds_come_in_turn)
{
    struct bench b;
    enum hone_distribution kinds[HONE_N_DISTS];
    set_up(&b, HONE_SPECIAL_DENORMAL | HONE_SPECIAL_INF);
    size_t n = hone_contents_kinds(&b.judge, kinds);
    ck_assert_uint_eq(n, HONE_N_DISTS - 2); /* no NaN, nothing extreme */
    ck_assert_int_eq(kinds[0], HONE_DIST_NORMAL);
    for (int round = 0; round < 3; round++) {
        int n_of[HONE_N_DISTS] = {0};
        for (size_t i = 0; i < n; i++)
            n_of[hone_judge_any_distribution(&b.judge)]++;
        for (int d = 0; d < HONE_N_DISTS; d++)
            ck_assert_msg(n_of[d] == (d != HONE_DIST_NAN && d != HONE_DIST_EXTREME), "%s: %d",
                          hone_dist_name((enum hone_distribution)d), n_of[d]);
    }
    tear_down(&b);
}
END_TEST

/* As stages.c deals: over eight edge sizes all kinds. */
START_TEST(a_deal_repeats_nothing)
{
    struct bench b;
    int n_of[HONE_N_DISTS] = {0};
    set_up(&b, HONE_SPECIAL_DENORMAL);
    for (int c = 0; c < 9; c++) {
        enum hone_distribution dists[6] = {HONE_DIST_NORMAL};
        hone_contents_deal(&b.judge, &b.workload, dists, 1, 6);
        for (int i = 0; i < 6; i++) {
            n_of[dists[i]]++;
            for (int k = 0; k < i; k++)
                ck_assert_int_ne(dists[i], dists[k]);
        }
    }
    for (int d = 0; d < HONE_N_DISTS; d++)
        ck_assert_msg((n_of[d] > 0) == hone_kind_is_covered((enum hone_distribution)d, &b.task),
                      "%s: %d", hone_dist_name((enum hone_distribution)d), n_of[d]);
    enum hone_distribution all[HONE_N_DISTS] = {HONE_DIST_NORMAL};
    size_t n = hone_contents_kinds(&b.judge, all);
    hone_contents_deal(&b.judge, &b.workload, all, 1, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_int_ne(all[i], all[k]);
    tear_down(&b);
}
END_TEST

/* Short rows get what shows there; what needs long ones comes with the first that are. */
START_TEST(kinds_wait_for_room)
{
    ck_assert(hone_kind_row(HONE_DIST_NEAR_ROWS)->needs_room);
    for (int first = 0; first < 40; first++) {
        struct bench b;
        enum hone_distribution dists[6] = {HONE_DIST_NORMAL};
        size_t n_waiting = 0, n_dealt = 0;
        set_up(&b, 0);
        for (int skip = 0; skip < first; skip++)
            (void)hone_judge_any_distribution(&b.judge);
        b.workload.axes[AXIS_N] = 63;
        for (int c = 0; c < 3; c++) {
            bool is_left = b.judge.contents.n_deck > 12; /* others than those that wait */
            hone_contents_deal(&b.judge, &b.workload, dists, 1, 6);
            for (int i = 0; i < 6 && is_left; i++)
                ck_assert(!hone_kind_row(dists[i])->needs_room);
        }
        for (size_t i = 0; i < b.judge.contents.n_deck; i++)
            n_waiting += hone_kind_row(b.judge.contents.deck[i])->needs_room;
        enum hone_distribution rest[HONE_N_DISTS] = {HONE_DIST_NORMAL};
        size_t n = 1 + b.judge.contents.n_deck;
        b.workload.axes[AXIS_N] = 64;
        hone_contents_deal(&b.judge, &b.workload, rest, 1, n);
        for (size_t i = 0; i < n; i++)
            n_dealt += hone_kind_row(rest[i])->needs_room;
        ck_assert_uint_ge(n_dealt, n_waiting);
        tear_down(&b);
    }
}
END_TEST

START_TEST(the_report_names_them)
{
    struct bench b;
    struct hone_compare compare;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_check_plan plan = {.name = "verify", .workload = &b.workload};
    set_up(&b, 0);
    hone_contents_report(&b.judge);
    ck_assert_ptr_null(b.report.contents); /* nothing was compared */
    hone_compare_init(&compare, &b.task, &b.workload);
    hone_judge_note(&b.judge, &plan, HONE_DIST_WALK, &compare, &end);
    hone_judge_note(&b.judge, &plan, HONE_DIST_HUGE, NULL, &end); /* not compared */
    hone_contents_leave_out(&b.judge, HONE_DIST_HUGE, "m512");
    ck_assert_uint_eq(b.judge.n_checks, 2); /* what was noted was settled and stays */
    for (int i = 0; i < 2 * HONE_N_DISTS; i++)
        ck_assert_int_ne(hone_judge_any_distribution(&b.judge), HONE_DIST_HUGE);
    hone_contents_report(&b.judge);
    ck_assert_uint_eq(b.report.contents->compared.n, 1);
    ck_assert_str_eq(b.report.contents->compared.v[0], "walk");
    const struct hone_left_out_report *out = b.report.contents->left_out.v;
    ck_assert_uint_eq(b.report.contents->left_out.n, 5);
    ck_assert_str_eq(out[0].kind, "huge");
    ck_assert_str_eq(out[0].reason, "the baseline fails it too (m512)");
    ck_assert_str_eq(out[1].kind, "denormal");
    ck_assert_str_eq(out[1].reason, "the task does not cover it");
    tear_down(&b);
}
END_TEST

/* As many rows as a report may hold; the one that failed is among them. */
START_TEST(rows_have_a_limit)
{
    struct bench b;
    struct hone_compare compare;
    struct hone_outcome good = HONE_OUTCOME_INIT, bad = HONE_OUTCOME_INIT;
    struct hone_check_plan plan = {.name = "verify", .workload = &b.workload};
    set_up(&b, 0);
    ck_assert_int_eq(HONE_RUNNER_MAX_CHECKS, HONE_LIMIT_REPORT_ROWS);
    hone_compare_init(&compare, &b.task, &b.workload);
    for (int i = 0; i < HONE_RUNNER_MAX_CHECKS + 1; i++)
        hone_judge_note(&b.judge, &plan, HONE_DIST_NORMAL, &compare, &good);
    ck_assert_uint_eq(b.judge.n_checks, HONE_RUNNER_MAX_CHECKS);
    hone_outcome_set(&bad, HONE_REASON_WRONG_VALUE, "Y[3] = 1, expected 2");
    hone_judge_note(&b.judge, &plan, HONE_DIST_SPARSE, &compare, &bad);
    ck_assert_uint_eq(b.judge.n_checks, HONE_RUNNER_MAX_CHECKS);
    ck_assert_str_eq(b.judge.checks[HONE_RUNNER_MAX_CHECKS - 1].distribution, "sparse");
    tear_down(&b);
}
END_TEST

UNIT_MAIN("contents", kinds_come_in_turn, a_deal_repeats_nothing, kinds_wait_for_room,
          the_report_names_them, rows_have_a_limit)
