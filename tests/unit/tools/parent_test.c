/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to the judge with a parent: its own record; and which parents are not timed. */
#include "tests/unit/tools/tool_util.h"

#include "tools/format/job.h"

/* A source is only text to the fake executor. */
#define FAST "/* FAST */ void sum(void) {}"
#define SCRIPT                                                                                     \
    "{\"match\":\"FAST\",\"ns\":250000,\"code\":\"c1\"}\n"                                         \
    "{\"match\":\"EQUAL\",\"ns\":1000000}\n"                                                       \
    "{\"match\":\"BAD\",\"reason\":\"wrong_value\"}\n"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

static struct hone_job *job_of(struct bench *b, const struct hone_json *result)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_job *job = hone_pool_alloc(b->pool, sizeof(*job));
    HONE_AUTOFREE char *path = hone_workspace_path(
        b->app.ws, hone_pool_printf(b->pool, "calls/%s/job.json", text_of(result, "evaluation")));
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    ck_assert_msg(hone_file_read(path, HONE_LIMIT_JOB_BYTES, &text, &len, &err) == 0, "%s",
                  err.message);
    ck_assert_msg(hone_job_parse(text, len, b->pool, job, &err) == 0, "%s", err.message);
    return job;
}

/* What a parent was decided to be goes with it; what a screen said does not. */
START_TEST(parent_has_its_record)
{
    struct bench b;
    struct hone_json *first;
    const struct hone_arm *parent;
    const struct hone_known *known;

    bench_open(&b, SCRIPT);
    first = bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", ""));
    const char *more = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"",
                                        text_of(first, "commit"));
    parent =
        hone_job_arm(job_of(&b, bench_ok(&b, "kernel_evaluate", args(&b, FAST, more))), "parent");
    ck_assert_uint_eq(parent->known.n, 0);
    bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", ",\"tier\":\"decide\""));
    parent = hone_job_arm(job_of(&b, bench_ok(&b, "kernel_evaluate", args(&b, "FAST 2", more))),
                          "parent");
    ck_assert_str_eq(parent->known_device, "fake");
    ck_assert_uint_ge(parent->known.n, 1);
    known = parent->known.v;
    ck_assert_double_eq_tol(known[0].ratio, 1, 1e-6);
    ck_assert(known[0].low > 0.9 && known[0].low < 1 && known[0].high > 1);
    bench_close(&b);
}
END_TEST

/* ---- an executor whose intervals can be widened ---- */

struct wide {
    struct hone_executor *inner;
    double by;    /* the ends are this much further off */
    bool is_lost; /* the parent lost its lane */
};

static void widen(struct hone_array *ratios, double by)
{
    struct hone_ratio *r = (struct hone_ratio *)ratios->v;
    for (size_t i = 0; i < ratios->n; i++) {
        r[i].low /= by;
        r[i].high *= by;
    }
}

/* As arms.c does: no ratio is said against it, and a warning says why. */
static void lose_parent(struct hone_report *report, struct hone_pool *pool)
{
    struct hone_ratio *r = (struct hone_ratio *)report->ratios.v;
    const char **warnings = hone_pool_alloc(pool, sizeof *warnings);
    size_t n = 0;
    for (size_t i = 0; i < report->ratios.n; i++)
        if (strcmp(r[i].against, "parent") != 0)
            r[n++] = r[i];
    report->ratios.n = n;
    warnings[0] = "nothing is said against arm 'parent': it ran slower than its record";
    report->warnings = (struct hone_strs){.v = warnings, .n = 1};
}

static int run_wide(void *cookie, const char *call_dir, const struct hone_job *job,
                    hone_progress_fn *on_progress, void *progress_arg,
                    const struct hone_cancel *cancel, struct hone_pool *pool,
                    struct hone_report *ret, struct hone_err *err)
{
    struct wide *wide = cookie;
    int rc = wide->inner->run(wide->inner->cookie, call_dir, job, on_progress, progress_arg, cancel,
                              pool, ret, err);
    struct hone_workload_report *w = (struct hone_workload_report *)ret->workloads.v;
    for (size_t i = 0; rc == 0 && i < ret->workloads.n; i++)
        widen(&w[i].ratios, wide->by);
    if (rc == 0)
        widen(&ret->ratios, wide->by);
    if (rc == 0 && wide->is_lost)
        lose_parent(ret, pool);
    return rc;
}

static void open_wide(struct bench *b, struct wide *wide, struct hone_executor *executor)
{
    bench_open(b, SCRIPT);
    *wide = (struct wide){.inner = b->app.executor, .by = 1};
    *executor = (struct hone_executor){.name = wide->inner->name, .run = run_wide, .cookie = wide};
    b->app.executor = executor;
}

static void close_wide(struct bench *b, const struct wide *wide)
{
    b->app.executor = wide->inner;
    bench_close(b);
}

static const struct hone_known *known_of(struct bench *b, const char *commit, const char *source)
{
    const char *more = hone_pool_printf(b->pool, ",\"tier\":\"decide\",\"parent\":\"%s\"", commit);
    const struct hone_json *r = bench_ok(b, "kernel_evaluate", args(b, source, more));
    return hone_job_arm(job_of(b, r), "parent")->known.v;
}

/* Of two of a tier the better founded is the record, as it is what the history shows. */
START_TEST(the_record_is_the_best_founded)
{
    struct bench b;
    struct wide wide;
    struct hone_executor executor;
    open_wide(&b, &wide, &executor);
    const char *decide = ",\"tier\":\"decide\",\"fresh\":true";
    const char *commit =
        text_of(bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", decide)), "commit");
    double low = known_of(&b, commit, FAST)->low;
    wide.by = 1.5;
    bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", decide));
    ck_assert_double_eq(known_of(&b, commit, "FAST 2")->low, low);
    wide.by = 1.004;
    bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", decide));
    ck_assert_double_lt(known_of(&b, commit, "FAST 3")->low, low);
    close_wide(&b, &wide);
}
END_TEST

/* ---- parents that are no arm ---- */

static const struct hone_arm *parent_arm(struct bench *b, const struct hone_json *result)
{
    return hone_job_arm(job_of(b, result), "parent");
}

START_TEST(a_wrong_parent_is_not_timed)
{
    struct bench b;
    bench_open(&b, SCRIPT);
    const char *wrong = text_of(bench_ok(&b, "kernel_evaluate", args(&b, "BAD", "")), "commit");
    const char *more = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"", wrong);
    struct hone_json *r = bench_ok(&b, "kernel_evaluate", args(&b, FAST, more));
    ck_assert_ptr_null(parent_arm(&b, r));
    ck_assert_ptr_null(hone_json_get(r, "vs_parent"));
    const char *warning = hone_json_str(hone_json_first(hone_json_get(r, "warnings")));
    ck_assert_ptr_nonnull(strstr(warning, "is not timed beside it: it was found wrong"));
    const char *with = hone_pool_printf(b.pool, ",\"with\":\"%s\"", wrong);
    bench_refused(&b, "kernel_compare", args(&b, FAST, with), "found wrong: wrong_value");
    bench_refused(&b, "kernel_compare",
                  hone_pool_printf(b.pool, "{\"task\":\"sum\",\"commit\":\"%s\",\"with\":\"%s\"}",
                                   wrong, text_of(r, "commit")),
                  "found wrong: wrong_value");
    bench_close(&b);
}
END_TEST

static double ratio_of(const struct hone_json *result, const char *key)
{
    return hone_json_get_f64(hone_json_get(result, key), "ratio", 0);
}

/* It is timed already: no second arm, no warning about a record, and the same ratio. */
START_TEST(a_parent_with_the_baselines_text)
{
    struct bench b;
    bench_open(&b, SCRIPT);
    const char *same = text_of(
        bench_ok(&b, "kernel_evaluate", "{\"task\":\"sum\",\"commit\":\"baseline\"}"), "commit");
    const char *more = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"", same);
    struct hone_json *r = bench_ok(&b, "kernel_evaluate", args(&b, FAST, more));
    ck_assert_ptr_null(parent_arm(&b, r));
    ck_assert_ptr_null(hone_json_get(r, "warnings"));
    ck_assert_double_gt(ratio_of(r, "speedup"), 1);
    ck_assert_double_eq(ratio_of(r, "vs_parent"), ratio_of(r, "speedup"));
    double speedup = ratio_of(r, "speedup");
    const char *const with[] = {same, "baseline"};
    for (size_t i = 0; i < HONE_COUNTOF(with); i++) {
        r = bench_ok(&b, "kernel_compare",
                     args(&b, "FAST 2", hone_pool_printf(b.pool, ",\"with\":\"%s\"", with[i])));
        ck_assert_double_eq_tol(hone_json_get_f64(r, "ratio", 0), speedup, 0.05);
        ck_assert_uint_ge(hone_json_size(hone_json_get(r, "workloads")), 1);
        ck_assert_str_ne(text_of(r, "rests_on"), "");
    }
    /* with options of its own it is another program */
    const char *fast = text_of(bench_ok(&b, "kernel_evaluate",
                                        "{\"task\":\"sum\",\"commit\":\"baseline\",\"flags\":["
                                        "\"-ffast-math\"]}"),
                               "commit");
    more = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"", fast);
    r = bench_ok(&b, "kernel_evaluate", args(&b, FAST, more));
    ck_assert_ptr_nonnull(parent_arm(&b, r));
    bench_close(&b);
}
END_TEST

/* What made no commit does not take the place of an answer that did. */
START_TEST(a_comparison_leaves_known_answers_alone)
{
    struct bench b;
    bench_open(&b, SCRIPT);
    const char *first = text_of(bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", "")), "commit");
    const char *decide = hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"", first);
    bench_ok(&b, "kernel_evaluate", args(&b, FAST, decide));
    bench_ok(&b, "kernel_compare",
             args(&b, FAST, hone_pool_printf(b.pool, ",\"with\":\"%s\"", first)));
    struct hone_json *r = bench_ok(&b, "kernel_evaluate", args(&b, FAST, decide));
    ck_assert(hone_json_get_bool(r, "is_cached", false));
    bench_close(&b);
}
END_TEST

/* The first was faster than the baseline: that is no answer. */
START_TEST(a_comparison_says_that_the_other_was_lost)
{
    struct bench b;
    struct wide wide;
    struct hone_executor executor;
    open_wide(&b, &wide, &executor);
    const char *first = text_of(bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", "")), "commit");
    wide.is_lost = true;
    struct hone_json *r = bench_ok(
        &b, "kernel_compare", args(&b, FAST, hone_pool_printf(b.pool, ",\"with\":\"%s\"", first)));
    ck_assert_str_eq(
        text_of(r, "summary"),
        "not compared: nothing is said against arm 'parent': it ran slower than its record");
    ck_assert_ptr_null(hone_json_get(r, "verdict"));
    ck_assert_ptr_null(hone_json_get(r, "ratio"));
    close_wide(&b, &wide);
}
END_TEST

/* ---- figures that are none ---- */

START_TEST(a_wide_interval_has_no_figure)
{
    struct bench b;
    struct wide wide;
    struct hone_executor executor;
    open_wide(&b, &wide, &executor);
    const char *commit = text_of(bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", "")), "commit");
    static const struct {
        double by;
        bool is_told;
    } rows[] = {{1.9, true}, {2.1, false}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        wide.by = rows[i].by;
        const char *more = hone_pool_printf(
            b.pool, ",\"tier\":\"decide\",\"fresh\":true,\"parent\":\"%s\"", commit);
        const struct hone_json *row = hone_json_first(
            hone_json_get(bench_ok(&b, "kernel_evaluate", args(&b, FAST, more)), "workloads"));
        ck_assert_int_eq(hone_json_get(row, "ratio") != NULL, rows[i].is_told);
        ck_assert_int_eq(hone_json_get(row, "vs_parent") != NULL, rows[i].is_told);
        ck_assert_ptr_nonnull(hone_json_get(row, "high"));
        more = hone_pool_printf(b.pool, ",\"with\":\"%s\"", commit);
        row = hone_json_first(
            hone_json_get(bench_ok(&b, "kernel_compare", args(&b, "FAST 2", more)), "workloads"));
        ck_assert_int_eq(hone_json_get(row, "ratio") != NULL, rows[i].is_told);
    }
    close_wide(&b, &wide);
}
END_TEST

UNIT_MAIN("parent", parent_has_its_record, the_record_is_the_best_founded,
          a_wrong_parent_is_not_timed, a_parent_with_the_baselines_text,
          a_comparison_leaves_known_answers_alone, a_comparison_says_that_the_other_was_lost,
          a_wide_interval_has_no_figure)
