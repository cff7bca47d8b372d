/* SPDX-License-Identifier: Apache-2.0 */
/* Which sizes a job has, what is left out and with which words, and that what is missing from a
 * confirmation stands against its claim. The target is a fake: what a call takes and which sizes
 * fail is told here. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/runner/judge/target.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct bench {
    struct hone_judge judge;
    struct hone_report report;
    struct hone_job job;
    struct hone_target target;
    const char *stages[4];
};

/* The fake's words; one test at a time. */
static struct {
    double seconds_of_unit;       /* of a call, for 1e9 operations */
    const char *candidate, *both; /* id of a size that fails for the candidate, for both arms */
    bool is_too_large;            /* sizes beyond do not fit */
    const char *late;             /* id of a size at which the candidate's calls do not end... */
    double seconds;               /* ...and what all of a check takes the baseline there */
    int n_beyond;                 /* checks of the candidate there */
} told;

static int fake_check(struct hone_judge *judge, struct hone_slot *slot,
                      const struct hone_check_plan *plan, struct hone_outcome *ret,
                      struct hone_err *err)
{
    double flops = 0, bytes = 0;
    const char *id = plan->workload->id;
    bool is_candidate = slot == &judge->slots[0];
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    ck_assert_int_eq(hone_judge_least_work(judge, plan->workload, &flops, &bytes, err), 0);
    judge->called_ns += (int64_t)(2 * flops / 1e9 * told.seconds_of_unit * (double)HONE_NS_PER_S);
    bool is_beyond = strncmp(id, "beyond", 6) == 0;
    told.n_beyond += is_beyond && is_candidate;
    if (is_beyond && told.is_too_large)
        return hone_fail(err, HONE_E_LIMIT, "2 buffer sets do not fit");
    if ((told.both != NULL && strcmp(id, told.both) == 0) ||
        (is_candidate && told.candidate != NULL && strcmp(id, told.candidate) == 0))
        hone_outcome_set(ret, HONE_REASON_WRONG_VALUE, "C[0, 0] = 1, expected 2");
    if (told.late != NULL && strcmp(id, told.late) == 0) {
        judge->called_ns += is_candidate ? 0 : (int64_t)(told.seconds * (double)HONE_NS_PER_S);
        if (is_candidate)
            hone_outcome_set(ret, HONE_REASON_TIMEOUT, "a call did not end in time");
    }
    hone_judge_note(judge, plan, HONE_DIST_NORMAL, NULL, ret);
    return 0;
}

static void bench_open(struct bench *b, enum hone_tier tier, int64_t n_hidden)
{
    const char *root = getenv("HONE_PACKS");
    char *dir = hone_path_join(root ? root : "workspace/packs", "matmul", NULL);
    struct hone_judge *judge = &b->judge;
    memset(&told, 0, sizeof told);
    told.seconds_of_unit = 0.5;
    *b = (struct bench){.stages = {"build", "smoke", "verify", "time"}};
    b->job =
        (struct hone_job){.tier = tier, .n_hidden = n_hidden, .stages = {.v = b->stages, .n = 4}};
    b->target = (struct hone_target){.name = "fake", .check = fake_check};
    *judge = (struct hone_judge){.job = &b->job,
                                 .target = &b->target,
                                 .report = &b->report,
                                 .pool = hone_pool_new(),
                                 .key = {5},
                                 .n_slots = 2,
                                 .call_timeout_ns = 20 * HONE_NS_PER_S,
                                 .deadline_ns = hone_deadline_in_ms(1000000)};
    judge->slots[0] = (struct hone_slot){.name = "candidate", .is_built = true};
    judge->slots[1] = (struct hone_slot){.name = "baseline", .is_built = true};
    judge->checks = hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CHECKS * sizeof *judge->checks);
    judge->workloads =
        hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CASES * sizeof *judge->workloads);
    judge->warnings = hone_pool_alloc(judge->pool, 64 * sizeof *judge->warnings);
    judge->doubts = hone_pool_alloc(judge->pool, HONE_LIMIT_DOUBTS * sizeof *judge->doubts);
    judge->n_stage_rows = 0;
    ck_assert_int_eq(hone_task_load(dir, &judge->task, NULL), 0);
    ck_assert_int_eq(hone_task_select(judge->task, "cpu", NULL), 0);
    ck_assert_int_eq(hone_sizes_collect(judge, NULL), 0);
    free(dir);
}

static void bench_close(struct bench *b)
{
    hone_task_free(b->judge.task);
    hone_pool_free(b->judge.pool);
}

static size_t n_of(const struct hone_judge *judge, enum hone_case_kind kind)
{
    size_t n = 0;
    for (size_t c = 0; c < judge->n_cases; c++)
        n += judge->kinds[c] == kind;
    return n;
}

static size_t first_of(const struct hone_judge *judge, enum hone_case_kind kind)
{
    size_t c = 0;
    while (c < judge->n_cases && judge->kinds[c] != kind)
        c++;
    return c;
}

static bool has_text(const char *const *texts, size_t n, const char *part)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(texts[i], part) != NULL)
            return true;
    return false;
}

START_TEST(tiers_have_their_sizes)
{
    struct bench b;
    bench_open(&b, HONE_TIER_CONFIRM, HONE_LIMIT_HIDDEN);
    ck_assert_uint_eq(n_of(&b.judge, HONE_CASE_HIDDEN), HONE_LIMIT_HIDDEN);
    ck_assert_uint_ge(n_of(&b.judge, HONE_CASE_RANGE), 12);
    ck_assert_uint_eq(n_of(&b.judge, HONE_CASE_BEYOND), HONE_TASK_BEYONDS);
    for (size_t c = 0; c < b.judge.n_cases; c++) {
        bool is_aside = b.judge.kinds[c] == HONE_CASE_EDGE || b.judge.kinds[c] == HONE_CASE_RANGE ||
                        b.judge.kinds[c] == HONE_CASE_BEYOND || c == 0;
        ck_assert_int_eq(hone_judge_is_wanted(&b.judge, c), !is_aside);
    }
    bench_close(&b);
    bench_open(&b, HONE_TIER_DECIDE, 0);
    ck_assert_uint_eq(n_of(&b.judge, HONE_CASE_RANGE), 4);
    ck_assert_uint_eq(n_of(&b.judge, HONE_CASE_HIDDEN), 0);
    bench_close(&b);
}
END_TEST

/* What is checked beyond depends on what a call takes. */
START_TEST(the_farthest_that_can_be_afforded)
{
    static const struct {
        enum hone_tier tier;
        double seconds;   /* of 1e9 operations */
        const char *want; /* NULL: none */
    } cases[] = {{HONE_TIER_CONFIRM, 0.1, "beyond-0"},
                 {HONE_TIER_DECIDE, 0.001, "beyond-0"},
                 {HONE_TIER_DECIDE, 400, NULL},
                 {HONE_TIER_CONFIRM, 10000, NULL}};
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        struct hone_outcome end = HONE_OUTCOME_INIT;
        bench_open(&b, cases[i].tier, 2);
        told.seconds_of_unit = cases[i].seconds;
        size_t n_before = b.judge.n_checks;
        ck_assert_int_eq(hone_sizes_check_beyond(&b.judge, &end, NULL), 0);
        ck_assert(hone_outcome_is_good(&end));
        hone_sizes_report(&b.judge);
        const struct hone_sizes_report *sizes = b.report.sizes;
        ck_assert_int_eq(told.n_beyond, cases[i].want != NULL);
        ck_assert_uint_eq(b.judge.n_checks - n_before, cases[i].want != NULL);
        if (cases[i].want != NULL)
            ck_assert_msg(sizes != NULL && strstr(sizes->beyond, cases[i].want) != NULL, "%zu", i);
        bench_close(&b);
    }
}
END_TEST

START_TEST(what_does_not_fit_is_left_out)
{
    struct bench b;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    bench_open(&b, HONE_TIER_CONFIRM, 2);
    told.is_too_large = true;
    ck_assert_int_eq(hone_sizes_check_beyond(&b.judge, &end, NULL), 0);
    ck_assert(hone_outcome_is_good(&end));
    b.judge.was_timed = true;
    b.judge.is_checked[1] = true;
    hone_sizes_report(&b.judge);
    ck_assert(has_text(b.judge.doubts, b.judge.n_doubts, "no size beyond the public ones"));
    ck_assert(has_text(b.judge.warnings, b.judge.n_warnings, "do not fit"));
    bench_close(&b);
}
END_TEST

/* A size that the baseline fails too says nothing; one that the candidate alone fails is named. */
START_TEST(the_baseline_excuses)
{
    static const enum hone_case_kind kinds[] = {HONE_CASE_RANGE, HONE_CASE_EDGE};
    for (int i = 0; i < 4; i++) {
        struct bench b;
        struct hone_outcome end = HONE_OUTCOME_INIT;
        enum hone_distribution dists[] = {HONE_DIST_NORMAL};
        int both = i % 2;
        bench_open(&b, HONE_TIER_CONFIRM, 2);
        size_t c = first_of(&b.judge, kinds[i / 2]);
        struct hone_check_plan plan = {
            .name = "drawn", .workload = &b.judge.cases[c], .dists = dists, .n_dists = 1};
        *(both ? &told.both : &told.candidate) = b.judge.cases[c].id;
        ck_assert_int_eq(hone_sizes_check_drawn(&b.judge, &plan, &end, NULL), 0);
        ck_assert(hone_outcome_is_good(&end) == (both == 1));
        ck_assert((b.judge.left_out[c] != NULL) == (both == 1));
        ck_assert_uint_eq(b.judge.n_checks, both ? 0 : 1);
        char want[100];
        snprintf(want, sizeof want, " at %s: M=%lld N=%lld K=%lld", b.judge.cases[c].id,
                 (long long)b.judge.cases[c].axes[0], (long long)b.judge.cases[c].axes[1],
                 (long long)b.judge.cases[c].axes[2]);
        if (!both) {
            ck_assert_msg(strstr(end.detail, want) != NULL, "%s: %s", want, end.detail);
            ck_assert_ptr_nonnull(strstr(b.judge.checks[0].detail, want));
            ck_assert_int_eq(end.reason, HONE_REASON_WRONG_VALUE);
        }
        bench_close(&b);
    }
}
END_TEST

/* Where a call takes the baseline about as long as it may, a candidate that takes longer is not
 * blamed; where it does not, it is. An edge with more work has a longer limit. */
START_TEST(slow_baselines_excuse)
{
    for (int slow = 0; slow < 2; slow++) {
        struct bench b;
        struct hone_outcome end = HONE_OUTCOME_INIT;
        enum hone_distribution dists[] = {HONE_DIST_NORMAL};
        bench_open(&b, HONE_TIER_CONFIRM, 2);
        size_t c = first_of(&b.judge, HONE_CASE_EDGE);
        struct hone_check_plan plan = {
            .name = "edge", .workload = &b.judge.cases[c], .dists = dists, .n_dists = 1};
        told.late = b.judge.cases[c].id;
        told.seconds = slow ? 4 * 20 : 0;
        ck_assert_int_eq(hone_sizes_check_drawn(&b.judge, &plan, &end, NULL), 0);
        ck_assert(hone_outcome_is_good(&end) == (slow == 1));
        ck_assert((b.judge.left_out[c] != NULL) == (slow == 1));
        if (slow)
            ck_assert_ptr_nonnull(strstr(b.judge.left_out[c], "too slow there"));
        bench_close(&b);
    }
}
END_TEST

/* Everything was checked and timed but what a row says. */
START_TEST(what_is_missing_is_a_doubt)
{
    static const struct {
        int64_t n_hidden;
        int n_hidden_timed, n_public_timed;
        bool misses_check;
        const char *doubt; /* NULL: it may be claimed */
    } cases[] = {
        {3, 3, 3, false, NULL},
        {3, 2, 3, false, "2 of 3 drawn sizes were timed"},
        {3, 0, 3, false, "public sizes only: none of 3"},
        {0, 0, 3, false, "public sizes only: no size was drawn"},
        {3, 3, 1, false, "1 of 3 public sizes were timed"},
        {3, 3, 3, true, "sizes were checked"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        int n_public = 0, n_hidden = 0;
        bench_open(&b, HONE_TIER_CONFIRM, cases[i].n_hidden);
        for (size_t c = 1; c < b.judge.n_cases; c++) {
            enum hone_case_kind kind = b.judge.kinds[c];
            b.judge.is_checked[c] = true;
            if ((kind == HONE_CASE_PUBLIC && n_public++ < cases[i].n_public_timed) ||
                (kind == HONE_CASE_HIDDEN && n_hidden++ < cases[i].n_hidden_timed))
                b.judge.workloads[b.judge.n_workloads++] =
                    (struct hone_workload_report){.id = b.judge.cases[c].id};
        }
        for (size_t c = 1, kept = 0; c < b.judge.n_cases; c++) /* one beyond is all there is */
            if (b.judge.kinds[c] == HONE_CASE_BEYOND)
                b.judge.is_checked[c] = kept++ == 0;
        if (cases[i].misses_check)
            b.judge.is_checked[first_of(&b.judge, HONE_CASE_RANGE)] = false;
        b.judge.was_timed = true;
        hone_sizes_report(&b.judge);
        if (cases[i].doubt == NULL)
            ck_assert_msg(b.judge.n_doubts == 0, "%s", b.judge.doubts[0]);
        else
            ck_assert_msg(has_text(b.judge.doubts, b.judge.n_doubts, cases[i].doubt), "%zu", i);
        bool lacks = cases[i].misses_check || cases[i].n_public_timed < 3 ||
                     cases[i].n_hidden_timed < cases[i].n_hidden;
        ck_assert_msg((b.judge.n_warnings > 0) == lacks, "%zu", i);
        ck_assert_int_eq(b.report.sizes->n_hidden_timed, cases[i].n_hidden_timed);
        ck_assert_int_eq(b.report.sizes->n_checked + cases[i].misses_check,
                         b.report.sizes->n_planned);
        ck_assert_uint_eq(b.report.sizes->box.n, 3);
        b.job.tier = HONE_TIER_DECIDE; /* where nothing is claimed nothing is doubted */
        b.judge.n_doubts = 0;
        hone_sizes_report(&b.judge);
        ck_assert_uint_eq(b.judge.n_doubts, 0);
        bench_close(&b);
    }
}
END_TEST

/* However many rows there are, the failure is among them. */
START_TEST(failures_are_kept)
{
    struct bench b;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    bench_open(&b, HONE_TIER_CONFIRM, 0);
    struct hone_check_plan plan = {.name = "edge", .workload = &b.judge.cases[1]};
    for (int i = 0; i < HONE_RUNNER_MAX_CHECKS + 3; i++)
        hone_judge_note(&b.judge, &plan, HONE_DIST_NORMAL, NULL, &end);
    hone_outcome_set(&end, HONE_REASON_WRONG_VALUE, "C[0, 0] = 1, expected 2");
    hone_judge_note(&b.judge, &plan, HONE_DIST_NORMAL, NULL, &end);
    ck_assert_uint_eq(b.judge.n_checks, HONE_RUNNER_MAX_CHECKS);
    ck_assert_ptr_nonnull(b.judge.checks[HONE_RUNNER_MAX_CHECKS - 1].detail);
    bench_close(&b);
}
END_TEST

UNIT_MAIN("sizes", failures_are_kept, tiers_have_their_sizes, the_farthest_that_can_be_afforded,
          what_does_not_fit_is_left_out, the_baseline_excuses, slow_baselines_excuse,
          what_is_missing_is_a_doubt)
