/* SPDX-License-Identifier: Apache-2.0 */
/* What the reading tools leave out and hand on: pages of history_show, sides of kernel_diff, the
 * details of task_show, sweeps of kernel_tune that keep nothing. */
#include "tests/unit/tools/tool_util.h"

#define N_SUM     11
#define N_SOFTMAX 3
#define SCRIPT                                                                                     \
    "{\"match\":\"FAST\",\"ns\":250000}\n{\"match\":\"SLOW\",\"ns\":4000000}\n"                    \
    "{\"match\":\"BROKEN\",\"reason\":\"compile\",\"detail\":\"expected ';'\"}\n"

static const char *version(struct bench *b, const char *task, const char *source, const char *more)
{
    const char *args =
        hone_pool_printf(b->pool, "{\"task\":\"%s\",\"source\":\"%s\"%s}", task, source, more);
    return text_of(bench_ok(b, "kernel_evaluate", args), "commit");
}

/* Versions of two tasks, one of sum after every few; ret is those of sum, newest last. */
static void make_history(struct bench *b, const char *ret[N_SUM])
{
    for (int i = 0; i < N_SUM; i++) {
        ret[i] = version(b, "sum", hone_pool_printf(b->pool, "FAST %d", i), "");
        if (i % 4 == 0)
            version(b, "softmax", hone_pool_printf(b->pool, "FAST %d", i), "");
    }
}

/* All pages of a list: each version once, none missing; and newest first, where one led to the
 * next (those of one second have no order). */
static void check_pages(struct bench *b, const char *more, const char *const want[], size_t n_want,
                        size_t limit, bool is_chain)
{
    bool seen[N_SUM] = {false};
    const char *cursor = NULL;
    size_t n = 0, n_pages = 0;

    do {
        const char *args =
            hone_pool_printf(b->pool, "{%s%s%s%s}", more, cursor != NULL ? ",\"cursor\":\"" : "",
                             cursor != NULL ? cursor : "", cursor != NULL ? "\"" : "");
        struct hone_json *r = bench_ok(b, "history_show", args);
        const struct hone_json *rows = hone_json_get(r, "versions");
        ck_assert_uint_le(hone_json_size(rows), limit);

        for (const struct hone_json *row = hone_json_first(rows); row; row = hone_json_next(row)) {
            size_t k = 0;
            while (k < n_want && strcmp(text_of(row, "commit"), want[k]) != 0)
                k++;
            ck_assert_msg(k < n_want && !seen[k], "%s: %s", args, text_of(row, "commit"));
            ck_assert(!is_chain || k == n_want - 1 - n);
            seen[k] = true;
            n++;
        }
        cursor = hone_json_get_str(r, "next_cursor", NULL);
        /* only the last may be empty: what is left is of other tasks */
        ck_assert_msg(hone_json_size(rows) > 0 || cursor == NULL, "an empty page: %s", args);
        ck_assert_msg((strstr(text_of(r, "summary"), "there are more") != NULL) == (cursor != NULL),
                      "%s", text_of(r, "summary"));
        n_pages++;
    } while (cursor != NULL);
    ck_assert_uint_eq(n, n_want);
    ck_assert_uint_ge(n_pages * limit, n_want);
}

START_TEST(pages_hold_each_version_once)
{
    static const int limits[] = {1, 4, N_SUM - 1, N_SUM, N_SUM + 1};
    const char *sums[N_SUM];
    struct bench b;

    bench_open(&b, SCRIPT);
    make_history(&b, sums);
    for (size_t i = 0; i < HONE_COUNTOF(limits); i++)
        check_pages(&b, hone_pool_printf(b.pool, "\"task\":\"sum\",\"limit\":%d", limits[i]), sums,
                    N_SUM, (size_t)limits[i], false);
    /* pages that are cut because they are long */
    check_pages(&b, "\"task\":\"sum\",\"detail\":\"concise\"", sums, N_SUM, N_SUM, false);
    check_pages(&b, "\"task\":\"sum\",\"detail\":\"concise\",\"limit\":7", sums, N_SUM, 7, false);
    struct hone_json *r = bench_ok(&b, "history_show", "{\"limit\":100}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "versions")), N_SUM + N_SOFTMAX);
    bench_close(&b);
}
END_TEST

START_TEST(cursors_are_ours)
{
    static const char *const bad[] = {
        "", "v1-", "v1-x", "v1-3x", "v2-3", "v1--1", "V1-3", "3", "v1-99999999999999999999999"};
    struct bench b;

    bench_open(&b, SCRIPT);
    version(&b, "sum", "FAST", "");
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        bench_refused(&b, "history_show", hone_pool_printf(b.pool, "{\"cursor\":\"%s\"}", bad[i]),
                      "cursor");
    struct hone_json *r = bench_ok(&b, "history_show", "{\"cursor\":\"v1-1000000\"}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "versions")), 0);
    ck_assert_ptr_null(hone_json_get(r, "next_cursor"));
    bench_refused(&b, "history_show", "{\"limit\":0}", "limit");
    bench_refused(&b, "history_show", "{\"branch\":\"nowhere\"}", "nowhere");
    bench_close(&b);
}
END_TEST

/* What led to a version, and nothing that came later. */
START_TEST(a_branch_ends_at_its_version)
{
    const char *v[3];
    struct bench b;

    bench_open(&b, SCRIPT);
    v[0] = version(&b, "sum", "FAST a", "");
    for (int i = 1; i < 3; i++)
        v[i] = version(&b, "sum", hone_pool_printf(b.pool, "FAST b%d", i),
                       hone_pool_printf(b.pool, ",\"parent\":\"%s\"", v[i - 1]));
    for (size_t i = 0; i < 3; i++)
        check_pages(&b, hone_pool_printf(b.pool, "\"branch\":\"%s\",\"limit\":2", v[i]), v, i + 1,
                    2, true);
    bench_close(&b);
}
END_TEST

START_TEST(what_one_version_shows)
{
    struct bench b;

    bench_open(&b, SCRIPT);
    const char *long_source = "FAST ";
    for (int i = 0; i < 12; i++)
        long_source = hone_pool_printf(b.pool, "%s%s", long_source, long_source);
    const char *commit = version(&b, "sum", long_source, ",\"tier\":\"decide\",\"why\":\"whim\"");
    static const char *const details[] = {"concise", "normal", "full"};
    static const size_t most[] = {1024, 8192, 61440};
    for (size_t i = 0; i < HONE_COUNTOF(details); i++) {
        struct hone_json *r = bench_ok(
            &b, "history_show",
            hone_pool_printf(b.pool, "{\"commit\":\"%s\",\"detail\":\"%s\"}", commit, details[i]));
        HONE_AUTOFREE char *text = hone_json_print(r);
        ck_assert_msg(strlen(text) <= most[i], "%s: %zu", details[i], strlen(text));
        ck_assert_str_eq(text_of(r, "commit"), commit);
        ck_assert_str_eq(text_of(r, "verdict"), "faster");
        ck_assert_ptr_null(hone_json_get(r, "source")); /* on demand */
        ck_assert_msg((hone_json_get(r, "report") != NULL) == (i == 2), "%s", details[i]);
        ck_assert_msg((strstr(text_of(r, "body"), "whim") != NULL), "%s", details[i]);
    }
    struct hone_json *asked =
        bench_ok(&b, "history_show",
                 hone_pool_printf(b.pool, "{\"commit\":\"%s\",\"source\":true}", commit));
    ck_assert_ptr_nonnull(hone_json_get(asked, "source"));
    bench_refused(&b, "history_show", "{\"commit\":\"abc\"}", "abc");
    bench_close(&b);
}
END_TEST

/* The figures of the best founded measurement, and a note that they are of two runs. */
START_TEST(sides_of_a_diff)
{
    struct bench b;
    struct hone_json *r;

    bench_open(&b, SCRIPT);
    const char *slow = version(&b, "sum", "SLOW\\nsame\\n", "");
    const char *fast =
        version(&b, "sum", "FAST\\nsame\\n", hone_pool_printf(b.pool, ",\"parent\":\"%s\"", slow));
    version(&b, "sum", "FAST\\nsame\\n", ",\"tier\":\"decide\"");
    r = bench_ok(&b, "kernel_diff", hone_pool_printf(b.pool, "{\"to\":\"%s\"}", fast));
    ck_assert_str_eq(text_of(r, "from"), slow); /* the parent */
    ck_assert_ptr_nonnull(strstr(text_of(r, "patch"), "-SLOW\n+FAST\n same\n"));
    const struct hone_json *changes = hone_json_get(r, "changes");
    bool has_time = false;
    for (const struct hone_json *change = hone_json_first(changes); change;
         change = hone_json_next(change)) {
        if (strcmp(text_of(change, "name"), "time_ns") != 0)
            continue;
        has_time = true;
        ck_assert(hone_json_get_f64(change, "to", 0) < hone_json_get_f64(change, "from", 0));
        ck_assert(hone_json_get_f64(change, "percent", 0) < -50);
    }
    ck_assert(has_time);
    r = bench_ok(&b, "kernel_diff",
                 hone_pool_printf(b.pool, "{\"from\":\"%s\",\"to\":\"%s\"}", fast, fast));
    ck_assert_int_eq(hone_json_get_i64(r, "n_added", 0), 0);
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "changes")), 0);
    r = bench_ok(&b, "kernel_diff",
                 hone_pool_printf(
                     b.pool, "{\"task\":\"sum\",\"from\":\"%s\",\"to_source\":\"SLOW\\n\"}", slow));
    ck_assert_int_eq(hone_json_get_i64(r, "n_removed", 0), 1);
    r = bench_ok(&b, "kernel_diff",
                 "{\"task\":\"sum\",\"from_source\":\"BROKEN\\n\",\"to_source\":\"FAST\\n\"}");
    ck_assert_int_eq(hone_json_get_i64(r, "n_added", 0), 1); /* what does not compile has a patch */
    bench_refused(&b, "kernel_diff",
                  hone_pool_printf(b.pool, "{\"to\":\"%s\",\"to_source\":\"x\"}", fast), "to");
    bench_close(&b);
}
END_TEST

START_TEST(details_of_tasks)
{
    struct bench b;

    bench_open(&b, SCRIPT);
    struct hone_json *r = bench_ok(&b, "task_show", "{\"detail\":\"concise\"}");
    HONE_AUTOFREE char *list = hone_json_print(r);
    ck_assert_uint_le(strlen(list), 1024);
    ck_assert_uint_ge(hone_json_size(hone_json_get(r, "tasks")), 8);
    static const char *const targets[] = {"cpu", "cuda"};
    for (size_t i = 0; i < 2; i++) {
        r = bench_ok(&b, "task_show",
                     hone_pool_printf(b.pool,
                                      "{\"name\":\"softmax\",\"target\":\"%s\",\"source\":true,"
                                      "\"detail\":\"full\"}",
                                      targets[i]));
        ck_assert((strstr(text_of(r, "signature"), "stream") != NULL) == (i == 1));
        ck_assert((strstr(text_of(r, "baseline"), "<<<") != NULL) == (i == 1));
        ck_assert((strstr(text_of(r, "start"), "CUDA") != NULL) == (i == 1));
        ck_assert_ptr_nonnull(strstr(text_of(r, "start"), "hone://docs/contents"));
        HONE_AUTOFREE char *task = hone_json_print(hone_json_get(r, "task"));
        ck_assert_ptr_nonnull(strstr(task, "workloads"));
    }
    r = bench_ok(&b, "task_show", "{\"name\":\"softmax\"}");
    ck_assert_ptr_nonnull(strstr(text_of(r, "signature_cuda"), "stream"));
    ck_assert_ptr_null(hone_json_get(r, "baseline"));
    r = bench_ok(&b, "task_show", "{\"name\":\"softmax\",\"source\":true,\"detail\":\"concise\"}");
    HONE_AUTOFREE char *text = hone_json_print(r);
    ck_assert_uint_le(strlen(text), 1024);
    ck_assert_str_eq(text_of(r, "name"), "softmax");
    /* a pack that does not load is told in the list, and hides no other */
    HONE_AUTOFREE char *broken = hone_path_join(b.dir, "ws/tasks/sum/task.json", NULL);
    ck_assert_int_eq(hone_file_write(broken, "{", 1, 0600, false, NULL), 0);
    r = bench_ok(&b, "task_show", "{}");
    const struct hone_json *rows = hone_json_get(r, "tasks");
    for (const struct hone_json *row = hone_json_first(rows); row; row = hone_json_next(row)) {
        bool is_sum = strcmp(text_of(row, "name"), "sum") == 0;
        ck_assert_msg((hone_json_get(row, "problem") != NULL) == is_sum, "%s",
                      text_of(row, "name"));
    }
    bench_close(&b);
}
END_TEST

#define TUNED "#pragma hone tune(TILE: 8, 16)\\n"

START_TEST(sweeps_that_keep_nothing)
{
    struct bench b;
    struct hone_json *r;
    const char *all = "8";

    bench_open(&b, SCRIPT);
    r = bench_ok(&b, "kernel_tune", "{\"task\":\"sum\",\"source\":\"" TUNED "BROKEN\"}");
    ck_assert_str_eq(text_of(r, "verdict"), "failed");
    ck_assert_ptr_null(hone_json_get(r, "kept"));
    ck_assert_uint_eq(hone_json_size(hone_json_get(bench_ok(&b, "history_show", "{}"), "versions")),
                      0);
    for (int i = 9; i < 8 + HONE_LIMIT_TUNE_VALUES; i++)
        all = hone_pool_printf(b.pool, "%s, %d", all, i);
    bench_refused(&b, "kernel_tune",
                  hone_pool_printf(b.pool,
                                   "{\"task\":\"sum\",\"source\":\"#pragma hone tune(T: %s)\\n"
                                   "#pragma hone tune(U: 1, 2, 3, 4, 5)\\n\","
                                   "\"options\":[\"\",\"-O2\"]}",
                                   all),
                  "at most 256 settings");
    r = bench_ok(&b, "kernel_tune",
                 "{\"task\":\"sum\",\"source\":\"FAST\",\"options\":[\"-O2\",\"-O3\"]}");
    ck_assert_int_eq(hone_json_get_i64(r, "n_settings", 0), 2);
    ck_assert_ptr_nonnull(strstr(text_of(r, "kept"), "-O"));
    ck_assert_uint_gt(strlen(text_of(r, "commit")), 20);
    bench_close(&b);
}
END_TEST

/* tunables fixes what it names; a winner that does not beat the parent is no version. */
START_TEST(sweeps_of_a_part)
{
    struct bench b;
    struct hone_json *r;

    bench_open(&b, SCRIPT);
    r = bench_ok(&b, "kernel_tune",
                 "{\"task\":\"sum\",\"source\":\"#pragma hone tune(T: 1, 2, 3)\\n#pragma hone "
                 "tune(U: 1, 2)\\nFAST\",\"tunables\":{\"T\":2}}");
    ck_assert_int_eq(hone_json_get_i64(r, "n_settings", 0), 2);
    ck_assert_ptr_nonnull(strstr(text_of(r, "kept"), "T=2"));
    bench_refused(&b, "kernel_tune",
                  "{\"task\":\"sum\",\"source\":\"" TUNED "FAST\",\"tunables\":{\"X\":2}}",
                  "'X' is no #pragma hone tune");
    r = bench_ok(&b, "kernel_tune",
                 hone_pool_printf(
                     b.pool, "{\"task\":\"sum\",\"source\":\"" TUNED "SLOW\",\"parent\":\"%s\"}",
                     version(&b, "sum", "FAST", "")));
    ck_assert_ptr_nonnull(strstr(text_of(r, "summary"), "the parent won"));
    ck_assert_str_eq(text_of(r, "commit"), "");
    ck_assert_uint_eq(hone_json_size(hone_json_get(bench_ok(&b, "history_show", "{}"), "versions")),
                      2);
    /* the baseline is a parent that no version stands for */
    r = bench_ok(&b, "kernel_evaluate",
                 "{\"task\":\"sum\",\"source\":\"FAST 9\",\"parent\":\"baseline\"}");
    ck_assert_uint_gt(strlen(text_of(r, "commit")), 20);
    ck_assert_ptr_null(hone_json_get(r, "vs_parent"));
    bench_close(&b);
}
END_TEST

UNIT_MAIN("pages", pages_hold_each_version_once, cursors_are_ours, a_branch_ends_at_its_version,
          what_one_version_shows, sides_of_a_diff, details_of_tasks, sweeps_that_keep_nothing,
          sweeps_of_a_part)
