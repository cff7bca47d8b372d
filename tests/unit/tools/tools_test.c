/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tools/tool_util.h"

#include <pthread.h>

#include "tools/evaluate_text.h"
#include "workspace/base/clock.h"
#include "workspace/ledger.h"

/* A source is only text to the fake executor. */
#define FAST "/* FAST */ void sum(void) {}"
#define SCRIPT                                                                                     \
    "{\"match\":\"FAST\",\"ns\":250000}\n"                                                         \
    "{\"match\":\"SLOW\",\"ns\":4000000}\n"                                                        \
    "{\"match\":\"EQUAL\",\"ns\":1000000}\n"                                                       \
    "{\"match\":\"BROKEN\",\"reason\":\"compile\",\"detail\":\"expected ';' before '}'\"}\n"       \
    "{\"match\":\"WRONG\",\"reason\":\"wrong_value\",\"detail\":\"S[0] = 1, expected 2\"}\n"       \
    "{\"match\":\"DOWN\",\"reason\":\"infra\",\"detail\":\"machine on fire\"}\n"                   \
    "{\"match\":\"WAIT\",\"ns\":250000,\"delay_ms\":60000}\n"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

START_TEST(verdicts)
{
    static const struct {
        const char *source, *more, *verdict, *summary;
        bool has_speedup;
    } cases[] = {
        {FAST, "", "screened", "screened: right; about 4x baseline", true},
        {FAST, ",\"tier\":\"decide\"", "faster", "confirm before you claim it", true},
        {FAST, ",\"tier\":\"confirm\"", "faster", "confirmed with fresh data", true},
        {"SLOW", ",\"tier\":\"decide\"", "slower", "slower: 0.25x baseline", true},
        {"EQUAL", ",\"tier\":\"decide\"", "same", "same: 1x baseline", true},
        {"BROKEN", "", "failed", "failed (compile): line 1: expected ';' before '}'", false},
        {"WRONG", ",\"tier\":\"decide\"", "incorrect", "incorrect", false},
        {"DOWN", "", "infra", "infra: machine on fire", false},
    };
    struct bench b;

    bench_open(&b, SCRIPT);
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_json *r =
            bench_ok(&b, "kernel_evaluate", args(&b, cases[i].source, cases[i].more));
        ck_assert_msg(strcmp(text_of(r, "verdict"), cases[i].verdict) == 0, "%s: %s",
                      cases[i].source, text_of(r, "verdict"));
        ck_assert_msg(strstr(text_of(r, "summary"), cases[i].summary) != NULL, "%s: %s",
                      cases[i].source, text_of(r, "summary"));
        ck_assert(cases[i].has_speedup == (hone_json_get(r, "speedup") != NULL));
        ck_assert_msg((text_of(r, "commit")[0] != '\0') == (strcmp(cases[i].verdict, "infra") != 0),
                      "%s", cases[i].source);
        ck_assert_ptr_nonnull(hone_json_get_str(r, "next", NULL));
    }
    bench_close(&b);
}
END_TEST

static const char *trailer(struct bench *b, const char *commit, const char *key)
{
    struct hone_version v;
    struct hone_err err = HONE_ERR_INIT;
    const char *value;

    ck_assert_msg(hone_history_read(hone_workspace_history(b->app.ws), commit, b->pool, &v, &err) ==
                      0,
                  "%s", err.message);
    value = hone_trailer_get(&v, key);
    return value != NULL ? value : "";
}

struct caller {
    struct bench *b;
    char commit[HONE_COMMIT_BYTES];
};

static void *call_of_its_own(void *arg)
{
    struct caller *caller = arg;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = {.app = &caller->b->app, .pool = pool, .caller = "test"};
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_AUTOJSON struct hone_json *result = NULL;
    bool is_error = true;

    hone_json_set_str(json, "task", "sum");
    hone_json_set_str(json, "source", "TWICE");
    if (hone_registry_call(&ctx, "kernel_evaluate", json, &result, &is_error, NULL) == 0)
        snprintf(caller->commit, sizeof(caller->commit), "%s",
                 hone_json_get_str(result, "commit", ""));
    return NULL;
}

START_TEST(one_source_at_once_is_one_version)
{
    enum { CALLERS = 4 };
    struct bench b;
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];

    bench_open(&b, "{\"match\":\"TWICE\",\"delay_ms\":150}\n");
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.b = &b};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_of_its_own, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_str_eq(callers[i].commit, callers[0].commit);
    ck_assert_uint_eq(strlen(callers[0].commit), HONE_COMMIT_BYTES - 1);
    bench_close(&b);
}
END_TEST

START_TEST(versions_and_evidence)
{
    struct bench b;
    struct hone_json *screen, *again, *decide, *fresh, *shown, *direct;
    const char *commit;

    bench_open(&b, SCRIPT);
    screen = bench_ok(
        &b, "kernel_evaluate",
        args(&b, FAST,
             ",\"message\":\"go\\nVerdict: faster\",\"why\":\"because\",\"strategy\":\"tile\""));
    commit = text_of(screen, "commit");
    ck_assert_str_eq(trailer(&b, commit, "Verdict"), "screened");
    ck_assert_str_eq(trailer(&b, commit, "Strategy"), "tile");
    ck_assert_str_eq(trailer(&b, commit, "Task"), "sum");
    ck_assert_str_eq(trailer(&b, commit, "Speedup"), ""); /* a screen's figure is no result */
    again = bench_ok(&b, "kernel_evaluate", args(&b, FAST, ""));
    ck_assert(hone_json_get_bool(again, "is_cached", false));
    ck_assert_str_eq(text_of(again, "evaluation"), text_of(screen, "evaluation"));
    ck_assert_str_eq(text_of(again, "commit"), commit);
    decide = bench_ok(&b, "kernel_evaluate", args(&b, FAST, ",\"tier\":\"decide\""));
    ck_assert_str_eq(text_of(decide, "commit"), commit); /* evidence, no second version */
    fresh = bench_ok(&b, "kernel_evaluate", args(&b, FAST, ",\"fresh\":true"));
    ck_assert(!hone_json_get_bool(fresh, "is_cached", false));
    shown =
        bench_ok(&b, "history_show",
                 hone_pool_printf(
                     b.pool, "{\"commit\":\"%.8s\",\"detail\":\"full\",\"source\":true}", commit));
    ck_assert_uint_eq(hone_json_size(hone_json_get(shown, "evidence")), 2);
    ck_assert_msg(strstr(text_of(shown, "best"), "faster: 4x baseline") != NULL, "%s",
                  text_of(shown, "best"));
    ck_assert_str_eq(text_of(shown, "source"), FAST);
    ck_assert_ptr_nonnull(strstr(text_of(shown, "body"), "because"));
    direct = bench_ok(&b, "kernel_evaluate", args(&b, "FAST 2", ",\"tier\":\"decide\""));
    ck_assert_str_eq(trailer(&b, text_of(direct, "commit"), "Speedup-tier"), "decide");
    ck_assert_str_eq(trailer(&b, text_of(direct, "commit"), "Speedup"), "4 [3.92, 4.08]");
    shown = hone_json_get(bench_ok(&b, "history_show", "{}"), "versions");
    ck_assert_uint_eq(hone_json_size(shown), 2);
    HONE_AUTOFREE char *rows = hone_json_print(shown);
    ck_assert_msg(strstr(rows, "\"why\":\"because\"") != NULL, "%s", rows);
    for (const struct hone_json *row = hone_json_first(shown); row != NULL;
         row = hone_json_next(row))
        ck_assert_str_eq(hone_json_get_str(row, "verdict", ""),
                         "faster"); /* not what was known first */
    bench_close(&b);
}
END_TEST

START_TEST(parent_is_timed)
{
    struct bench b;
    struct hone_json *first, *second;

    bench_open(&b, SCRIPT);
    first = bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL", ",\"flags\":[\"-O2\"]"));
    ck_assert_str_eq(trailer(&b, text_of(first, "commit"), "Flags"), "-O2");
    second = bench_ok(&b, "kernel_evaluate",
                      args(&b, FAST,
                           hone_pool_printf(b.pool, ",\"tier\":\"decide\",\"parent\":\"%s\"",
                                            text_of(first, "commit"))));
    ck_assert_double_eq_tol(hone_json_get_f64(hone_json_get(second, "vs_parent"), "ratio", 0), 4,
                            1e-6);
    bench_refused(&b, "kernel_evaluate", args(&b, FAST, ",\"parent\":\"deadbeef\""), "deadbeef");
    /* the ratio alone, and no version of it */
    second = bench_ok(
        &b, "kernel_compare",
        args(&b, "FAST 3", hone_pool_printf(b.pool, ",\"with\":\"%s\"", text_of(first, "commit"))));
    ck_assert_double_eq_tol(hone_json_get_f64(second, "ratio", 0), 4, 1e-6);
    ck_assert_str_eq(text_of(second, "word"), "faster");
    ck_assert_ptr_nonnull(strstr(text_of(second, "summary"), "would not be seen"));
    ck_assert_ptr_null(hone_json_get(second, "commit"));
    bench_refused(&b, "kernel_compare", args(&b, FAST, ",\"with\":\"deadbeef\""), "deadbeef");
    second = bench_ok(&b, "history_show", "{}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(second, "versions")), 2);
    bench_close(&b);
}
END_TEST

/* A ledger scan that counts records of one type. */
struct counter {
    const char *type;
    int n;
};

static int count(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                 const struct hone_json *data, struct hone_err *err)
{
    struct counter *c = arg;

    (void)n, (void)wall_ms, (void)data, (void)err;
    c->n += strcmp(type, c->type) == 0;
    return 0;
}

static int count_records(struct bench *b, const char *type)
{
    struct counter c = {.type = type};

    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(b->app.ws), 0, count, &c, NULL), 0);
    return c.n;
}

START_TEST(records_are_kept)
{
    struct bench b;

    bench_open(&b, SCRIPT);
    bench_ok(&b, "kernel_evaluate", args(&b, FAST, ""));
    bench_ok(&b, "kernel_evaluate", args(&b, FAST, "")); /* known: no record */
    bench_ok(&b, "kernel_evaluate", args(&b, "BROKEN", ""));
    bench_ok(&b, "kernel_run", args(&b, FAST, ""));
    bench_refused(&b, "kernel_evaluate", args(&b, FAST, ",\"flags\":[\"-fplugin=x\"]"),
                  "-fplugin=x");
    ck_assert_int_eq(count_records(&b, "evaluation.start"), 3);
    ck_assert_int_eq(count_records(&b, "evaluation.end"), 3);
    ck_assert_int_eq(count_records(&b, "commit"), 2); /* the run is none */
    bench_close(&b);
}
END_TEST

START_TEST(lost_commits_come_back)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *git = NULL;
    const char *commit;

    bench_open(&b, SCRIPT);
    commit =
        text_of(bench_ok(&b, "kernel_evaluate", args(&b, FAST, ",\"tier\":\"decide\"")), "commit");
    hone_workspace_close(b.app.ws);
    git = hone_sprintf("%s/ws/.git/refs/hone/v/%.2s/%s", b.dir, commit, commit);
    if (unlink(git) < 0)
        ck_abort_msg("%s is not there", git);
    git[0] = '/';
    HONE_AUTOFREE char *ws = hone_path_join(b.dir, "ws", NULL);
    ck_assert_msg(hone_workspace_open(ws, &b.app.ws, &err) == 0, "%s", err.message);
    ck_assert_str_eq(trailer(&b, commit, "Speedup"), "4 [3.92, 4.08]");
    bench_close(&b);
}
END_TEST

START_TEST(compile_verify_profile_run)
{
    struct bench b;
    struct hone_json *r;

    bench_open(&b, SCRIPT);
    r = bench_ok(&b, "kernel_compile", args(&b, FAST, ""));
    ck_assert_str_eq(text_of(r, "verdict"), "built");
    r = bench_ok(&b, "kernel_compile", args(&b, "BROKEN", ""));
    ck_assert_str_eq(text_of(r, "error_class"), "compile");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "diagnostics")), 1);
    r = bench_ok(&b, "kernel_verify", args(&b, FAST, ""));
    ck_assert_str_eq(text_of(r, "verdict"), "correct");
    ck_assert(hone_json_get_i64(r, "n_passed_checks", 0) && *text_of(r, "contents"));
    r = bench_ok(&b, "kernel_verify", args(&b, FAST, ",\"detail\":\"full\""));
    ck_assert_uint_gt(hone_json_size(hone_json_get(r, "checks")), 0);
    r = bench_ok(&b, "kernel_profile", args(&b, FAST, ""));
    ck_assert_uint_gt(hone_json_size(hone_json_get(r, "bottlenecks")), 0);
    r = bench_ok(&b, "kernel_run", args(&b, FAST, ",\"seed\":7"));
    ck_assert_str_eq(text_of(r, "commit"), "");
    ck_assert_ptr_nonnull(strstr(text_of(r, "output"), "nothing was run"));
    bench_close(&b);
}
END_TEST

#define TUNED "#pragma hone tune(TILE: 8, 16, 32)\\nvoid sum(void) {}\\n"

START_TEST(tuning)
{
    struct bench b;
    struct hone_json *r, *shown;

    bench_open(&b, NULL);
    r = bench_ok(&b, "kernel_tune",
                 args(&b, TUNED, ",\"options\":[\"\",\"-O2\"],\"detail\":\"full\""));
    ck_assert_int_eq(hone_json_get_i64(r, "n_settings", 0), 6);
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "points")), 6);
    ck_assert_ptr_nonnull(strstr(text_of(r, "kept"), "TILE="));
    shown = bench_ok(
        &b, "history_show",
        hone_pool_printf(b.pool, "{\"commit\":\"%s\",\"source\":true}", text_of(r, "commit")));
    int64_t kept = strtoll(text_of(r, "kept") + 5, NULL, 10);
    ck_assert_msg(strstr(text_of(shown, "source"),
                         hone_pool_printf(b.pool, "tune(TILE: %lld", (long long)kept)) != NULL,
                  "%s does not begin with %lld", text_of(shown, "source"), (long long)kept);
    ck_assert_ptr_nonnull(strstr(text_of(shown, "body"), "Sweep of 6 settings"));
    /* the sweep itself is no version */
    ck_assert_uint_eq(hone_json_size(hone_json_get(bench_ok(&b, "history_show", "{}"), "versions")),
                      1);
    bench_refused(&b, "kernel_tune", args(&b, "void sum(void) {}", ""), "nothing to sweep");
    bench_refused(&b, "kernel_tune", args(&b, TUNED, ",\"options\":[\"-O2 -I/etc\"]"), "-I/etc");
    bench_refused(&b, "kernel_tune", args(&b, "#pragma hone tune(TILE)", ""), "line 1");
    bench_close(&b);
}
END_TEST

START_TEST(diffing)
{
    struct bench b;
    struct hone_json *r;
    const char *from, *to;

    bench_open(&b, SCRIPT);
    from = text_of(
        bench_ok(&b, "kernel_evaluate", args(&b, "EQUAL\\nline two\\n", ",\"tier\":\"decide\"")),
        "commit");
    to = text_of(
        bench_ok(&b, "kernel_evaluate", args(&b, "FAST\\nline two\\n", ",\"tier\":\"decide\"")),
        "commit");
    r = bench_ok(&b, "kernel_diff",
                 hone_pool_printf(b.pool, "{\"from\":\"%s\",\"to\":\"%s\"}", from, to));
    ck_assert_ptr_nonnull(strstr(text_of(r, "patch"), "-EQUAL\n+FAST\n line two\n"));
    ck_assert_int_eq(hone_json_get_i64(r, "n_added", 0), 1);
    ck_assert_uint_gt(hone_json_size(hone_json_get(r, "changes")), 0);
    r = bench_ok(&b, "kernel_diff",
                 "{\"task\":\"sum\",\"from_source\":\"a\\nb\\n\",\"to_source\":\"a\\nc\\n\"}");
    ck_assert_ptr_nonnull(strstr(text_of(r, "patch"), "-b\n+c\n"));
    r = bench_ok(&b, "kernel_diff", hone_pool_printf(b.pool, "{\"to\":\"%s\"}", to));
    ck_assert_str_eq(text_of(r, "from"), "baseline");
    bench_refused(&b, "kernel_diff", "{}", "to");
    bench_refused(&b, "kernel_diff", "{\"to\":\"0000000\"}", "0000000");
    bench_refused(&b, "kernel_diff", "{\"to_source\":\"x\"}", "task");
    bench_close(&b);
}
END_TEST

START_TEST(showing)
{
    struct bench b;
    struct hone_json *r;
    const char *cursor;
    size_t n = 0;

    bench_open(&b, SCRIPT);
    r = bench_ok(&b, "task_show", "{}");
    ck_assert_uint_ge(hone_json_size(hone_json_get(r, "tasks")), 5);
    r = bench_ok(&b, "task_show", "{\"name\":\"matmul\",\"source\":true}");
    ck_assert_ptr_nonnull(strstr(text_of(r, "signature"), "void matmul("));
    ck_assert_ptr_nonnull(strstr(text_of(r, "baseline"), "matmul"));
    r = bench_ok(&b, "kernel_evaluate", "{\"task\":\"matmul\"}");
    ck_assert_ptr_nonnull(strstr(text_of(r, "summary"), "void matmul("));
    r = bench_ok(&b, "device_info", "{}");
    ck_assert_str_eq(text_of(r, "executor"), "fake");
    ck_assert_ptr_nonnull(hone_json_get(r, "probe"));
    for (int i = 0; i < 7; i++)
        bench_ok(&b, "kernel_evaluate", args(&b, hone_pool_printf(b.pool, "v%d", i), ""));
    cursor = "";
    for (int page = 0; cursor != NULL; page++) {
        const char *more =
            cursor[0] != '\0' ? hone_pool_printf(b.pool, ",\"cursor\":\"%s\"", cursor) : "";
        r = bench_ok(&b, "history_show",
                     hone_pool_printf(b.pool, "{\"limit\":3,\"task\":\"sum\"%s}", more));
        ck_assert_uint_le(hone_json_size(hone_json_get(r, "versions")), 3);
        n += hone_json_size(hone_json_get(r, "versions"));
        cursor = hone_json_get_str(r, "next_cursor", NULL);
        ck_assert_int_lt(page, 5);
    }
    ck_assert_uint_eq(n, 7);
    r = bench_ok(&b, "history_show", "{\"task\":\"matmul\"}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "versions")), 0);
    for (cursor = "", n = 0; cursor != NULL;) { /* pages cut for size lose nothing */
        const char *more =
            cursor[0] != '\0' ? hone_pool_printf(b.pool, ",\"cursor\":\"%s\"", cursor) : "";
        r = bench_ok(&b, "history_show",
                     hone_pool_printf(b.pool, "{\"detail\":\"concise\",\"task\":\"sum\"%s}", more));
        n += hone_json_size(hone_json_get(r, "versions"));
        cursor = hone_json_get_str(r, "next_cursor", NULL);
    }
    ck_assert_uint_eq(n, 7);
    bench_refused(&b, "history_show", "{\"cursor\":\"../etc\"}", "cursor");
    bench_refused(&b, "history_show", "{\"commit\":\"zzzz\"}", "zzzz");
    bench_close(&b);
}
END_TEST

START_TEST(exporting) /* export_test.c looks closer */
{
    struct bench b;

    bench_open(&b, SCRIPT);
    ck_assert_str_eq(
        text_of(bench_ok(&b, "version_export", "{\"version\":\"sum\",\"no_test\":true}"), "test"),
        "not run");
    bench_refused(&b, "version_export", "{}", "version");
    bench_refused(&b, "version_export", "{\"version\":\"sum\",\"form\":\"zip\"}", "diff");
    bench_close(&b);
}
END_TEST

/* ---- refusals: every tool, every kind of bad argument ---- */

START_TEST(refusals)
{
    static const char *const with_source[] = {"kernel_compile", "kernel_verify", "kernel_profile",
                                              "kernel_run",     "kernel_tune",   "kernel_evaluate"};
    struct bench b;

    bench_open(&b, SCRIPT);
    for (size_t i = 0; i < HONE_COUNTOF(with_source); i++) {
        const char *tool = with_source[i];
        bench_refused(&b, tool, "{}", "task");
        bench_refused(&b, tool, "{\"task\":\"summ\",\"source\":\"x\"}", "summ");
        bench_refused(&b, tool, "{\"task\":\"../../etc\",\"source\":\"x\"}", "");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"rm\":1}", "rm");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":1}", "source");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"commit\":\"abcd\"}",
                      "not both");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"commit\":\"abcd\"}", "abcd");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"\"}",
                      tool[7] == 't' ? "" : "source");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"target\":\"tpu\"}", "cpu");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"flags\":[\"-o/etc/x\"]}", "");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"tunables\":{\"A\":1}}", "");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"tunables\":[1]}", "");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"timeout_ms\":3600001}",
                      "3600000");
        bench_refused(&b, tool, "{\"task\":\"sum\",\"source\":\"x\",\"detail\":\"all\"}",
                      "concise");
        if (strcmp(tool, "kernel_evaluate") != 0)
            bench_refused(&b, tool, "{\"task\":\"sum\"}", "source");
    }
    bench_refused(&b, "kernel_evaluate",
                  "{\"task\":\"sum\",\"source\":\"x\",\"workloads\":[\"nope\"]}", "nope");
    bench_refused(&b, "kernel_run", "{\"task\":\"sum\",\"source\":\"x\",\"workload\":\"nope\"}",
                  "nope");
    bench_refused(&b, "kernel_compile", "{\"task\":\"sum\",\"source\":\"x\",\"assembly\":\"sass\"}",
                  "cpu has asm");
    bench_refused(&b, "kernel_profile",
                  "{\"task\":\"sum\",\"source\":\"x\",\"target\":\"cuda\",\"assembly\":\"asm\"}",
                  "sass and ptx");
    bench_refused(&b, "kernel_compile", "{\"task\":\"sum\",\"source\":\"x\",\"assembly\":\"llvm\"}",
                  "none");
    bench_refused(&b, "kernel_compile", "{\"task\":\"sum\",\"source\":\"x\",\"kernel\":\"k\"}",
                  "with assembly");
    bench_refused(&b, "task_show", "{\"name\":\"nope\"}", "nope");
    note_called("task_new"); /* with success: tests/e2e/task_new_test.sh */
    bench_refused(&b, "job_wait", "{\"job\":\"x\"}", "background");
    bench_refused(&b, "job_wait", "{\"timeout_ms\":50001}", "50000");
    bench_refused(&b, "device_info", "{\"x\":1}", "x");
    ck_assert_int_eq(count_records(&b, "evaluation.start"),
                     0); /* a bad request leaves nothing behind */
    bench_close(&b);
}
END_TEST

START_TEST(source_limit)
{
    HONE_AUTOFREE char *source = hone_malloc(HONE_LIMIT_SOURCE_BYTES + 2);
    bool is_error = true;
    struct bench b;
    bench_open(&b, NULL);
    memset(source, 'x', HONE_LIMIT_SOURCE_BYTES + 1);
    source[HONE_LIMIT_SOURCE_BYTES + 1] = '\0';
    bench_refused(&b, "kernel_compile", args(&b, source, ""), "1048576");
    source[HONE_LIMIT_SOURCE_BYTES] = '\0';
    bench_call(&b, "kernel_compile", args(&b, source, ""), &is_error);
    ck_assert(!is_error);
    bench_close(&b);
}
END_TEST

START_TEST(hostile_text)
{
    struct bench b;
    struct hone_json *r;

    bench_open(&b, SCRIPT);
    r = bench_ok(&b, "kernel_evaluate",
                 args(&b, "FAST \\u202e\\ud83d\\ude00 %s%n",
                      ",\"tier\":\"decide\",\"message\":\"\\u001b[31m%s%n\\nSpeedup: "
                      "99\",\"why\":\"x\\n\\nVerdict: faster\\nSpeedup: 99 [98, 99]\","
                      "\"strategy\":\"a\\nSpeedup: 99\""));
    ck_assert_str_eq(trailer(&b, text_of(r, "commit"), "Speedup"), "4 [3.92, 4.08]");
    ck_assert_str_eq(trailer(&b, text_of(r, "commit"), "Verdict"), "faster");
    ck_assert_str_eq(trailer(&b, text_of(r, "commit"), "Strategy"), "a Speedup: 99");
    bench_close(&b);
}
END_TEST

/* ---- sizes ---- */

START_TEST(budgets)
{
    static const struct {
        const char *detail;
        size_t max;
    } details[] = {{"concise", 1024}, {"normal", 8192}, {"full", 61440}};
    static const char *const tools[] = {"kernel_compile", "kernel_evaluate", "kernel_profile",
                                        "kernel_verify", "kernel_tune"};
    HONE_AUTOFREE char *detail = hone_malloc(4001);
    struct bench b;

    memset(detail, 'd', 4000);
    detail[4000] = '\0';
    HONE_AUTOFREE char *script =
        hone_sprintf("{\"match\":\"BROKEN\",\"reason\":\"compile\",\"detail\":\"%s\"}\n", detail);
    bench_open(&b, script);
    for (size_t t = 0; t < HONE_COUNTOF(tools); t++) {
        for (size_t i = 0; i < 2 * HONE_COUNTOF(details); i++) {
            const char *source =
                i % 2 == 0 ? "BROKEN #pragma"
                           : "#pragma hone tune(T: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)\\n";
            const char *options = strcmp(tools[t], "kernel_tune") == 0
                                      ? ",\"options\":[\"\",\"-O2\",\"-O3\",\"-Ofast\"]"
                                      : "";
            struct hone_json *r = bench_ok(&b, tools[t],
                                           args(&b, source,
                                                hone_pool_printf(b.pool, "%s,\"detail\":\"%s\"",
                                                                 options, details[i / 2].detail)));
            HONE_AUTOFREE char *text = hone_json_print(r);
            ck_assert_msg(strlen(text) <= details[i / 2].max, "%s %s: %zu bytes: %.300s", tools[t],
                          details[i / 2].detail, strlen(text), text);
        }
    }
    bench_close(&b);
}
END_TEST

START_TEST(compact_report)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_check_report checks[500];
    struct hone_point_report points[256];
    struct hone_workload_report workloads[64];
    struct hone_arm_time times[3];
    char *log = hone_pool_alloc(pool, 100001);
    struct hone_build_report build = {.compiler = "gcc", .log = log};
    struct hone_report report = {.format = 1,
                                 .reason = HONE_REASON_WRONG_VALUE,
                                 .tier = HONE_TIER_DECIDE,
                                 .build = &build,
                                 .best_point = 200,
                                 .checks = {checks, 500},
                                 .points = {points, 256},
                                 .workloads = {workloads, 64}},
                       back;
    struct hone_err err = HONE_ERR_INIT;
    const char *text;

    memset(log, 'l', 100000);
    for (int i = 0; i < 500; i++)
        checks[i] = (struct hone_check_report){
            .name = "verify", .n_bad = i == 499, .detail = "C[1] = 2, expected 3"};
    for (int i = 0; i < 256; i++)
        points[i] =
            (struct hone_point_report){.reason = HONE_REASON_SCREENED, .median_ns = 1000 - i};
    for (int i = 0; i < 3; i++)
        times[i] = (struct hone_arm_time){.arm = "candidate", .median_ns = 1};
    for (int i = 0; i < 64; i++)
        workloads[i] = (struct hone_workload_report){.id = "w", .times = {times, 3}};
    text = hone_report_compact(&report, pool);
    ck_assert_uint_le(strlen(text), HONE_LIMIT_TREE_REPORT_BYTES);
    ck_assert_msg(hone_report_parse(text, strlen(text), pool, &back, &err) == 0, "%s %s", err.path,
                  err.message);
    ck_assert_int_eq(((const struct hone_check_report *)back.checks.v)->n_bad,
                     1);              /* what is wrong goes last */
    ck_assert_ptr_eq(build.log, log); /* the caller's report stays whole */
    report = (struct hone_report){.format = 1, .reason = HONE_REASON_BUILT, .build = &build};
    build = (struct hone_build_report){.assembly = "EXIT ;", .assembly_of = "k"};
    text = hone_report_compact(&report, pool);
    ck_assert(strstr(text, "EXIT") == NULL && strstr(text, "assembly_of") != NULL);
    ck_assert_str_eq(build.assembly, "EXIT ;");
}
END_TEST

/* ---- executor and registry ---- */

static void *set_later(void *arg)
{
    struct timespec wait = {.tv_nsec = 100000000};

    nanosleep(&wait, NULL);
    hone_cancel_set(arg);
    return NULL;
}

START_TEST(cancelling)
{
    struct hone_cancel cancel;
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_json *result = NULL;
    const char *text;
    bool is_error;
    pthread_t thread;
    struct bench b;

    bench_open(&b, SCRIPT);
    ck_assert_int_eq(hone_cancel_init(&cancel, &err), 0);
    b.ctx.cancel = &cancel;
    text = args(&b, "WAIT", "");
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &json, &err), 0);
    int64_t start = hone_now_ns();
    ck_assert_int_eq(pthread_create(&thread, NULL, set_later, &cancel), 0);
    ck_assert_int_eq(hone_registry_call(&b.ctx, "kernel_evaluate", json, &result, &is_error, &err),
                     HONE_E_CANCEL);
    ck_assert(hone_now_ns() - start < 5 * HONE_NS_PER_S);
    pthread_join(thread, NULL);
    ck_assert_int_eq(count_records(&b, "evaluation.end"), 0);
    hone_cancel_done(&cancel);
    bench_close(&b);
}
END_TEST

START_TEST(unknown_tool)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_json *result = NULL;
    bool is_error;
    struct bench b;

    bench_open(&b, NULL);
    ck_assert_int_eq(hone_registry_call(&b.ctx, "kernel_evalute", NULL, &result, &is_error, &err),
                     HONE_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "kernel_evaluate"));
    ck_assert_int_eq(hone_registry_call(&b.ctx, "\x1b[2J", NULL, &result, &is_error, &err),
                     HONE_E_NOT_FOUND);
    ck_assert_ptr_null(strchr(err.message, '\x1b'));
    for (size_t i = 1; i < hone_registry_count(b.app.registry); i++)
        ck_assert_int_lt(strcmp(hone_registry_at(b.app.registry, i - 1)->name,
                                hone_registry_at(b.app.registry, i)->name),
                         0);
    bench_close(&b);
}
END_TEST

static int break_schema(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx, (void)in, (void)err;
    ((struct hone_kernel_out_like { struct hone_head head; } *)out)->head.status =
        "ok"; /* no summary */
    return 0;
}

struct bare {
    struct hone_head head;
};
static const struct hone_field bare_fields[] = {HONE_HEAD_FIELDS(struct bare)};
static const struct hone_tool breaking = {.name = "breaking",
                                          .out = bare_fields,
                                          .n_out = HONE_COUNTOF(bare_fields),
                                          .out_size = sizeof(struct bare),
                                          .run = break_schema};

START_TEST(registry_holds_tools_to_their_schema)
{
    static const struct hone_tool *const tools[] = {&breaking}, *const twice[] = {&breaking,
                                                                                  &breaking};
    static const struct hone_tool_set set = {tools, 1}, doubled = {twice, 2};
    static const struct hone_tool_set *const sets[] = {&set}, *const doubled_sets[] = {&doubled};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_app app = {.ws = NULL};
    struct hone_tool_ctx ctx = {.app = &app, .pool = pool};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_registry *registry;
    struct hone_json *result = NULL;
    bool is_error;

    ck_assert_int_eq(hone_registry_new(sets, 1, &app.registry, &err), 0);
    ck_assert_int_eq(hone_registry_call(&ctx, "breaking", NULL, &result, &is_error, &err),
                     HONE_E_BUG);
    ck_assert_ptr_null(result);
    hone_registry_free(app.registry);
    ck_assert_int_eq(hone_registry_new(doubled_sets, 1, &registry, &err), HONE_E_BUG);
}
END_TEST

/* ---- jobs, by a stand-in for the server's ---- */

static int fake_start(struct hone_jobs *jobs, const struct hone_job_spec *spec,
                      struct hone_pool *pool, const char **ret_id, struct hone_err *err)
{
    (void)jobs, (void)spec, (void)pool, (void)ret_id;
    return hone_fail(err, HONE_E_BUSY, "full");
}

static int fake_wait(struct hone_jobs *jobs, const char *id, int64_t deadline_ns,
                     const struct hone_cancel *cancel, struct hone_pool *pool,
                     struct hone_job_state *ret, struct hone_err *err)
{
    static const char result[] =
        "{\"status\":\"ok\",\"summary\":\"faster\",\"verdict\":\"faster\"}";

    (void)jobs, (void)deadline_ns, (void)cancel;
    if (strcmp(id, "none") == 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "no job 'none'");
    enum hone_job_status status = HONE_JOB_QUEUED;
    while (strcmp(hone_job_status_name(status), id) != 0)
        status++;
    *ret = (struct hone_job_state){.id = hone_pool_strdup(pool, id),
                                   .status = status,
                                   .done = 1,
                                   .total = 2,
                                   .message = "half"};
    if (strcmp(id, "done") == 0) {
        ck_assert_int_eq(hone_json_parse(result, strlen(result), &ret->result, err), 0);
        hone_pool_defer(pool, (void (*)(void *))hone_json_free, ret->result);
    }
    return 0;
}

static int fake_cancel(struct hone_jobs *jobs, const char *id, struct hone_err *err)
{
    (void)jobs, (void)id, (void)err;
    return 0;
}

struct two_jobs {
    struct hone_jobs jobs;      /* first */
    enum hone_job_status other; /* of the second job */
};

static int fake_list(struct hone_jobs *jobs, struct hone_pool *pool, struct hone_job_state **ret,
                     size_t *ret_n, struct hone_err *err)
{
    (void)err;
    const struct two_jobs *two = (const struct two_jobs *)jobs;
    *ret = hone_pool_alloc(pool, 2 * sizeof(**ret));
    (*ret)[0] = (struct hone_job_state){.id = "running", .status = HONE_JOB_RUNNING};
    (*ret)[1] = (struct hone_job_state){.id = "other", .status = two->other};
    *ret_n = 2;
    return 0;
}

START_TEST(waiting)
{
    static const struct hone_jobs_ops ops = {
        .start = fake_start, .wait = fake_wait, .cancel = fake_cancel, .list = fake_list};
    struct two_jobs two = {{&ops}, HONE_JOB_QUEUED};
    struct hone_json *r;
    bool is_error;
    struct bench b;

    bench_open(&b, NULL);
    b.app.jobs = &two.jobs;
    r = bench_ok(&b, "job_wait", "{}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "jobs")), 2);
    two.other = HONE_JOB_DONE; /* the only one that runs is waited for */
    r = bench_ok(&b, "job_wait", "{\"timeout_ms\":0}");
    ck_assert_str_eq(text_of(r, "job"), "running");
    r = bench_ok(&b, "job_wait", "{\"job\":\"running\",\"timeout_ms\":0}");
    ck_assert_str_eq(text_of(r, "status"), "running");
    ck_assert_str_eq(text_of(r, "job"), "running");
    ck_assert_str_eq(text_of(r, "summary"), "running: half");
    r = bench_ok(&b, "job_wait", "{\"job\":\"queued\",\"timeout_ms\":0}");
    ck_assert_str_eq(text_of(r, "summary"), "queued: half");
    r = bench_ok(&b, "job_wait", "{\"job\":\"done\"}");
    ck_assert_str_eq(text_of(r, "verdict"), "faster");
    r = bench_call(&b, "job_wait", "{\"job\":\"failed\"}", &is_error);
    ck_assert(is_error);
    r = bench_ok(&b, "job_wait", "{\"job\":\"cancelled\",\"cancel\":true}");
    bench_refused(&b, "job_wait", "{\"job\":\"none\"}", "none");
    bench_close(&b);
}
END_TEST

/* Last: every tool of the set was called with success by a test above; a tool without a test fails
 * here (task_import: import_test.c). */
START_TEST(every_tool_is_exercised)
{
    HONE_AUTOFREE char *called = NULL;
    struct hone_err err = HONE_ERR_INIT;
    size_t len;
    ck_assert_msg(hone_file_read(getenv(CALLED), 1u << 20, &called, &len, &err) == 0, "%s",
                  err.message);
    unlink(getenv(CALLED));
    for (size_t i = 0; i < hone_tool_set_kernel.n; i++) {
        const struct hone_tool *tool = hone_tool_set_kernel.tools[i];
        HONE_AUTOFREE char *line = hone_sprintf("\n%s\n", tool->name);
        bool is_elsewhere = tool == &hone_tool_task_import;
        ck_assert_msg(is_elsewhere || strstr(called, line), "no test called %s", tool->name);
        ck_assert(tool->title != NULL && tool->summary != NULL);
        size_t size = strlen(tool->description); /* every client pays for it at every start */
        ck_assert_msg(size >= 80 && size <= 450, "%s: %zu bytes", tool->name, size);
    }
}
END_TEST

UNIT_MAIN("tools", verdicts, one_source_at_once_is_one_version, versions_and_evidence,
          parent_is_timed, records_are_kept, lost_commits_come_back, compile_verify_profile_run,
          tuning, diffing, showing, exporting, refusals, source_limit, hostile_text, budgets,
          compact_report, cancelling, unknown_tool, registry_holds_tools_to_their_schema, waiting,
          every_tool_is_exercised)
