/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmations of one version beside each other: alone with made reports, and through the tools
 * with an executor whose figures change from call to call. */
#include "tests/unit/tools/tool_util.h"

#include <math.h>

#include "tools/confirmations.h"
#include "workspace/base/limits.h"

/* ---- made reports ---- */

struct made {
    struct hone_report report;
    struct hone_ratio whole, ratios[2];
    struct hone_workload_report workloads[2];
    struct hone_machine_report machine;
    const char *doubt;
};

/* hidden: the drawn size's own ratio; NaN: none. */
static void make(struct made *m, double low, double high, double hidden)
{
    double mid = sqrt(low * high);
    *m = (struct made){.machine = {.cpu = "a", .n_cores = 2}};
    m->whole = (struct hone_ratio){
        .against = "baseline", .ratio = mid, .low = low, .high = high, .word = "faster"};
    m->ratios[0] = m->whole;
    m->ratios[1] = m->whole;
    if (!isnan(hidden))
        m->ratios[1].ratio = m->ratios[1].low = m->ratios[1].high = hidden;
    m->workloads[0] =
        (struct hone_workload_report){.id = "one", .ratios = {.v = &m->ratios[0], .n = 1}};
    m->workloads[1] = (struct hone_workload_report){
        .id = "hidden", .is_hidden = true, .ratios = {.v = &m->ratios[1], .n = 1}};
    m->report = (struct hone_report){.tier = HONE_TIER_CONFIRM,
                                     .reason = HONE_REASON_FASTER,
                                     .verdict = HONE_VERDICT_FASTER,
                                     .ratios = {.v = &m->whole, .n = 1},
                                     .workloads = {.v = m->workloads, .n = 2},
                                     .machine = &m->machine};
}

static void add_doubt(struct made *m, const char *doubt)
{
    m->doubt = doubt;
    m->report.doubts = (struct hone_strs){.v = &m->doubt, .n = 1};
}

START_TEST(two_that_exclude_each_other)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made first, second, third;
    make(&first, 7.47, 11.8, NAN);
    make(&second, 20.5, 27.3, NAN);
    hone_confirmations_add(&list, &first.report, "c1");
    ck_assert_ptr_null(hone_confirmations_contradiction(&list, pool));
    ck_assert_ptr_null(hone_confirmations_sum(&list, pool));
    hone_confirmations_add(&list, &second.report, "c2");
    hone_confirmations_judge(&list, pool, &second.report);
    ck_assert_uint_eq(second.report.doubts.n, 1);
    ck_assert_msg(strstr(second.report.doubts.v[0], "[7.47, 11.8]") &&
                      strstr(second.report.doubts.v[0], "[20.5, 27.3]"),
                  "%s", second.report.doubts.v[0]);
    ck_assert(!hone_report_is_claimable(&second.report));
    const struct hone_confirmations_report *sum = second.report.confirmations;
    ck_assert_int_eq(sum->n, 2);
    ck_assert(sum->low < 9 && sum->high > 23); /* the spread between them counts */
    ck_assert(((const struct hone_earlier *)sum->earlier.v)->is_contrary);
    /* the third decides, although the second carries the doubt */
    make(&third, 21, 24, NAN);
    hone_confirmations_add(&list, &third.report, "c3");
    hone_confirmations_judge(&list, pool, &third.report);
    ck_assert_uint_eq(list.n, 3);
    ck_assert_uint_eq(third.report.doubts.n, 0);
    ck_assert(hone_report_is_claimable(&third.report));
    hone_pool_free(pool);
}
END_TEST

START_TEST(two_that_agree)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made first, second;
    make(&first, 2.9, 3.1, NAN);
    make(&second, 2.95, 3.15, NAN);
    hone_confirmations_add(&list, &first.report, "c1");
    hone_confirmations_add(&list, &second.report, "c2");
    hone_confirmations_judge(&list, pool, &second.report);
    ck_assert_uint_eq(second.report.doubts.n, 0);
    const struct hone_confirmations_report *sum = second.report.confirmations;
    ck_assert(sum->ratio > 2.99 && sum->ratio < 3.06);
    ck_assert(sum->high / sum->low < 3.1 / 2.9); /* narrower than one alone */
    hone_pool_free(pool);
}
END_TEST

START_TEST(drawn_sizes_and_machines_may_differ)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made first, second;
    make(&first, 2.9, 3.1, 2);
    make(&second, 2.9, 3.1, 5);
    first.whole.low = first.whole.ratio = first.whole.high = 2.5; /* by the drawn size alone */
    second.whole.low = second.whole.ratio = second.whole.high = 3.9;
    hone_confirmations_add(&list, &first.report, "c1");
    hone_confirmations_add(&list, &second.report, "c2");
    ck_assert_ptr_null(hone_confirmations_contradiction(&list, pool));
    make(&first, 2, 2.1, NAN);
    make(&second, 4, 4.1, NAN);
    ck_assert_ptr_nonnull(hone_confirmations_contradiction(&list, pool));
    second.machine.n_cores = 64;
    ck_assert_ptr_null(hone_confirmations_contradiction(&list, pool));
    ck_assert_ptr_null(hone_confirmations_sum(&list, pool));
    /* a report that was cut for size has no workloads left: the whole must do */
    make(&second, 4, 4.1, NAN);
    second.report.workloads.n = 0;
    ck_assert_ptr_nonnull(hone_confirmations_contradiction(&list, pool));
    hone_pool_free(pool);
}
END_TEST

START_TEST(what_does_not_count)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made m;
    make(&m, 2, 2.1, NAN);
    m.report.tier = HONE_TIER_DECIDE;
    hone_confirmations_add(&list, &m.report, "c");
    make(&m, 2, 2.1, NAN);
    m.report.reason = HONE_REASON_LOADED;
    hone_confirmations_add(&list, &m.report, "c");
    make(&m, 2, 2.1, NAN);
    add_doubt(&m, "other processes used 1.1 of 2 cores");
    hone_confirmations_add(&list, &m.report, "c");
    make(&m, 2, 2.1, NAN);
    m.whole.low = -1; /* no logarithm */
    hone_confirmations_add(&list, &m.report, "c");
    make(&m, 2, 2.1, NAN);
    m.whole.high = (double)INFINITY;
    hone_confirmations_add(&list, &m.report, "c");
    ck_assert_uint_eq(list.n, 0);
    ck_assert_ptr_null(hone_confirmations_contradiction(&list, pool));
    hone_pool_free(pool);
}
END_TEST

START_TEST(more_than_are_looked_at)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made first, other;
    make(&first, 2, 2.1, NAN);
    make(&other, 3, 3.1, NAN);
    hone_confirmations_add(&list, &first.report, "first");
    for (int i = 1; i < HONE_LIMIT_CONFIRMATIONS; i++)
        hone_confirmations_add(&list, &other.report, "other");
    ck_assert_uint_eq(list.n, HONE_LIMIT_CONFIRMATIONS);
    ck_assert_str_eq(list.v[0].commit, "first");
    hone_confirmations_add(&list, &other.report, "other"); /* the oldest goes */
    ck_assert_uint_eq(list.n, HONE_LIMIT_CONFIRMATIONS);
    ck_assert_str_eq(list.v[0].commit, "other");
    hone_pool_free(pool);
}
END_TEST

START_TEST(a_known_answer_is_one)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_confirmations list = {.n = 0};
    struct made first, second, third, again;
    make(&first, 2, 2.1, NAN);
    make(&second, 3, 3.1, NAN);
    make(&third, 3.01, 3.11, NAN);
    make(&again, 2, 2.1, NAN);
    hone_confirmations_add(&list, &first.report, "c1");
    hone_confirmations_add(&list, &second.report, "c2");
    hone_confirmations_put_last(&list, &again.report);
    ck_assert_uint_eq(list.n, 2); /* itself is no second voice */
    ck_assert_ptr_nonnull(hone_confirmations_contradiction(&list, pool));
    hone_confirmations_add(&list, &third.report, "c3");
    ck_assert_ptr_null(hone_confirmations_contradiction(&list, pool));
    hone_confirmations_put_last(&list, &again.report); /* and the third decided against it */
    ck_assert_uint_eq(list.n, 3);
    ck_assert_ptr_nonnull(hone_confirmations_contradiction(&list, pool));
    hone_pool_free(pool);
}
END_TEST

static int parse_earlier(int n)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    const char *rows = "{}";
    for (int i = 1; i < n; i++)
        rows = hone_pool_printf(pool, "%s,{}", rows);
    const char *text = hone_pool_printf(
        pool, "{\"format\":1,\"reason\":\"same\",\"confirmations\":{\"n\":2,\"earlier\":[%s]}}",
        rows);
    int rc = hone_report_parse(text, strlen(text), pool, &report, NULL);
    hone_pool_free(pool);
    return rc;
}

START_TEST(earlier_rows_are_bounded)
{
    ck_assert_int_eq(parse_earlier(HONE_LIMIT_CONFIRMATIONS), 0);
    ck_assert_int_lt(parse_earlier(HONE_LIMIT_CONFIRMATIONS + 1), 0);
}
END_TEST

/* ---- through the tools ---- */

#define FAST   "/* FAST */ void sum(void) {}"
#define SCRIPT "{\"match\":\"FAST\",\"ns\":250000}\n"

struct shifting { /* an executor on another machine state each time */
    struct hone_executor *inner;
    double factor, wider; /* wider: ends of intervals are this much further off; 0: as they are */
    const char *doubt;    /* NULL: none */
};

static void scale(struct hone_array *ratios, const struct shifting *s)
{
    struct hone_ratio *r = (struct hone_ratio *)ratios->v;
    double wider = s->wider > 0 ? s->wider : 1;
    for (size_t i = 0; i < ratios->n; i++) {
        r[i].ratio *= s->factor;
        r[i].low *= s->factor / wider;
        r[i].high *= s->factor * wider;
    }
}

static int run_shifted(void *cookie, const char *call_dir, const struct hone_job *job,
                       hone_progress_fn *on_progress, void *progress_arg,
                       const struct hone_cancel *cancel, struct hone_pool *pool,
                       struct hone_report *ret, struct hone_err *err)
{
    struct shifting *s = cookie;
    int rc = s->inner->run(s->inner->cookie, call_dir, job, on_progress, progress_arg, cancel, pool,
                           ret, err);
    struct hone_workload_report *w = (struct hone_workload_report *)ret->workloads.v;
    for (size_t i = 0; rc == 0 && i < ret->workloads.n; i++)
        scale(&w[i].ratios, s);
    if (rc == 0)
        scale(&ret->ratios, s);
    if (rc == 0 && s->doubt != NULL)
        ret->doubts = (struct hone_strs){.v = &s->doubt, .n = 1};
    return rc;
}

static struct hone_json *confirm(struct bench *b, struct shifting *s, double factor,
                                 const char *more)
{
    s->factor = factor;
    return bench_ok(b, "kernel_evaluate",
                    hone_pool_printf(b->pool,
                                     "{\"task\":\"sum\",\"source\":\"%s\",\"tier\":\"confirm\","
                                     "\"budget_ms\":1000%s}",
                                     FAST, more));
}

static bool may_be_claimed(const struct hone_json *result)
{
    return strstr(text_of(result, "next"), "may be claimed") != NULL &&
           hone_json_size(hone_json_get(result, "doubts")) == 0;
}

START_TEST(tools_show_contradictions)
{
    struct bench b;
    struct hone_json *result, *shown;
    bench_open(&b, SCRIPT);
    struct hone_executor *fake = b.app.executor;
    struct shifting state = {.inner = fake};
    struct hone_executor shifted = {.name = fake->name, .run = run_shifted, .cookie = &state};
    b.app.executor = &shifted;
    result = confirm(&b, &state, 1, "");
    const char *commit = text_of(result, "commit");
    ck_assert(may_be_claimed(result));
    ck_assert_ptr_null(hone_json_get(result, "confirmations"));
    result = confirm(&b, &state, 2.5, ",\"fresh\":true");
    ck_assert_str_eq(text_of(result, "verdict"), "faster");
    ck_assert_str_eq(text_of(result, "commit"), commit);
    ck_assert(!may_be_claimed(result));
    ck_assert_ptr_nonnull(strstr(text_of(result, "summary"), "contradict each other"));
    ck_assert_int_eq(hone_json_get_i64(hone_json_get(result, "confirmations"), "n", 0), 2);
    shown = bench_ok(&b, "history_show", hone_pool_printf(b.pool, "{\"commit\":\"%s\"}", commit));
    ck_assert_ptr_nonnull(strstr(text_of(shown, "summary"), "contradict each other"));
    /* the list reads no reports of versions, and says so all the same */
    shown = hone_json_get(bench_ok(&b, "history_show", "{}"), "versions");
    ck_assert_str_ne(hone_json_get_str(hone_json_first(shown), "contradiction", ""), "");
    /* and both say of the same measurement that it is not to be claimed */
    struct hone_json *one =
        bench_ok(&b, "history_show", hone_pool_printf(b.pool, "{\"commit\":\"%s\"}", commit));
    static const char *const members[] = {"verdict", "tier", "speedup", "doubt"};
    for (size_t i = 0; i < HONE_COUNTOF(members); i++)
        ck_assert_str_eq(text_of(hone_json_first(shown), members[i]),
                         text_of(hone_json_get(one, "version"), members[i]));
    ck_assert_ptr_nonnull(strstr(text_of(hone_json_first(shown), "doubt"), "not to be claimed"));
    /* a known answer is not given without it */
    result = confirm(&b, &state, 1, "");
    ck_assert(hone_json_get_bool(result, "is_cached", false));
    ck_assert(!may_be_claimed(result));
    /* the third decides */
    result = confirm(&b, &state, 2.5, ",\"fresh\":true");
    ck_assert(may_be_claimed(result));
    shown = bench_ok(&b, "history_show", hone_pool_printf(b.pool, "{\"commit\":\"%s\"}", commit));
    ck_assert_ptr_null(strstr(text_of(shown, "summary"), "contradict each other"));
    b.app.executor = fake;
    bench_close(&b);
}
END_TEST

/* "9.12 [8, 10]" of the version and its doubt, as both views of the history have them. */
static const char *shown_of(struct bench *b, const char *commit)
{
    const struct hone_json *one = hone_json_get(
        bench_ok(b, "history_show", hone_pool_printf(b->pool, "{\"commit\":\"%s\"}", commit)),
        "version");
    const struct hone_json *row =
        hone_json_first(hone_json_get(bench_ok(b, "history_show", "{}"), "versions"));
    ck_assert_str_eq(text_of(row, "speedup"), text_of(one, "speedup"));
    return hone_pool_printf(b->pool, "%s%s", text_of(one, "speedup"),
                            hone_json_get_str(one, "doubt", ""));
}

/* A repeat beside other programs does not take the place of a better founded figure. */
START_TEST(a_wider_or_doubted_repeat_replaces_nothing)
{
    struct bench b;
    bench_open(&b, SCRIPT);
    struct hone_executor *fake = b.app.executor;
    struct shifting state = {.inner = fake};
    struct hone_executor shifted = {.name = fake->name, .run = run_shifted, .cookie = &state};
    b.app.executor = &shifted;
    const char *commit = text_of(confirm(&b, &state, 1, ""), "commit");
    const char *first = shown_of(&b, commit);
    state.wider = 1.5;
    ck_assert_str_eq(text_of(confirm(&b, &state, 1.1, ",\"fresh\":true"), "commit"), commit);
    ck_assert_str_eq(shown_of(&b, commit), first);
    state.wider = 0;
    state.doubt = "others used the cores";
    (void)confirm(&b, &state, 1, ",\"fresh\":true");
    ck_assert_str_eq(shown_of(&b, commit), first);
    const struct hone_json *known = confirm(&b, &state, 1, ""); /* nor as the known answer */
    ck_assert(hone_json_get_bool(known, "is_cached", false));
    ck_assert_ptr_null(hone_json_get(known, "doubts"));
    state.doubt = NULL; /* as well founded: the latest counts */
    state.wider = 1.005;
    (void)confirm(&b, &state, 1.01, ",\"fresh\":true");
    ck_assert_str_ne(shown_of(&b, commit), first);
    known = confirm(&b, &state, 1, "");
    ck_assert_double_eq_tol(hone_json_get_f64(hone_json_get(known, "speedup"), "ratio", 0), 4.04,
                            0.005);
    b.app.executor = fake;
    bench_close(&b);
}
END_TEST

UNIT_MAIN("confirmations", two_that_exclude_each_other, two_that_agree,
          drawn_sizes_and_machines_may_differ, what_does_not_count, more_than_are_looked_at,
          a_known_answer_is_one, earlier_rows_are_bounded, tools_show_contradictions,
          a_wider_or_doubted_repeat_replaces_nothing)
