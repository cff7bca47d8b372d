/* SPDX-License-Identifier: Apache-2.0 */
/* A version that one evaluation calls faster and another wrong, in either order: it is wrong in
 * every place that speaks of it. */
#include "tests/unit/tools/tool_util.h"

#define SOURCE                                                                                     \
    "/* FAST */ void sum(const float *X, float *S, int64_t N) { S[0] = X[0] + (float)N; }"
#define FASTER  "{\"match\":\"FAST\",\"ns\":250000}\n"
#define WRONG   "{\"match\":\"FAST\",\"reason\":\"out_of_bounds\",\"detail\":\"outside of 'S'\"}\n"
#define CRASH   "{\"match\":\"FAST\",\"reason\":\"crash\"}\n"
#define TIMEOUT "{\"match\":\"FAST\",\"reason\":\"timeout\"}\n"

/* From here on the executor says this. */
static void says(struct bench *b, const char *script)
{
    HONE_AUTOFREE char *path = hone_path_join(b->dir, "script.jsonl", NULL);
    struct hone_err err = HONE_ERR_INIT;
    hone_executor_free(b->app.executor);
    ck_assert_int_eq(hone_file_write(path, script, strlen(script), 0600, false, &err), 0);
    ck_assert_int_eq(hone_exec_fake_new(path, &b->app.executor, &err), 0);
}

static struct hone_json *confirm(struct bench *b, const char *more)
{
    return bench_ok(b, "kernel_evaluate",
                    hone_pool_printf(b->pool,
                                     "{\"task\":\"sum\",\"source\":\"%s\",\"tier\":\"confirm\"%s}",
                                     SOURCE, more));
}

static void verify(struct bench *b)
{
    bool is_error;
    (void)bench_call(b, "kernel_verify", "{\"task\":\"sum\",\"source\":\"" SOURCE "\"}", &is_error);
}

static const char *export_args(struct bench *b, const char *commit, const char *more)
{
    return hone_pool_printf(b->pool, "{\"version\":\"%s\",\"no_test\":true%s}", commit, more);
}

static void has(const char *text, const char *want)
{
    ck_assert_msg(strstr(text, want) != NULL, "no '%s' in:\n%.1500s", want, text);
}

static void is_listed_wrong(struct bench *b, const char *commit, const char *reason)
{
    const struct hone_json *row =
        hone_json_first(hone_json_get(bench_ok(b, "history_show", "{}"), "versions"));
    ck_assert_str_eq(text_of(row, "reason"), reason);
    ck_assert_str_eq(text_of(row, "speedup"), "");
    struct hone_json *shown =
        bench_ok(b, "history_show", hone_pool_printf(b->pool, "{\"commit\":\"%s\"}", commit));
    ck_assert_str_eq(text_of(shown, "reason"), reason);
    has(text_of(shown, "best"), "found wrong");
    has(text_of(shown, "best"), "faster in another one, which does not count");
    shown = bench_ok(b, "history_show", "{\"review\":true}");
    ck_assert_uint_eq(hone_json_size(hone_json_get(shown, "versions")), 1);
}

static void is_exported_as_wrong(struct bench *b, const char *commit)
{
    bench_refused(b, "version_export", export_args(b, commit, ""), "found wrong: out_of_bounds");
    struct hone_json *e =
        bench_ok(b, "version_export", export_args(b, commit, ",\"allow_wrong\":true"));
    const char *text = text_of(hone_json_first(hone_json_get(e, "files")), "text");
    const char *warning = strstr(text, "WRONG     this version was found wrong: out_of_bounds");
    ck_assert_ptr_nonnull(warning);
    ck_assert(warning < strstr(text, " * function"));
    ck_assert_ptr_null(strstr(text, "verdict   faster"));
    has(hone_json_str(hone_json_first(hone_json_get(e, "notes"))), "WRONG");
    has(text_of(e, "summary"), "out_of_bounds");
}

START_TEST(faster_then_wrong)
{
    struct bench b;
    bench_open(&b, FASTER);
    struct hone_json *r = confirm(&b, "");
    const char *commit = text_of(r, "commit");
    ck_assert_str_eq(text_of(r, "verdict"), "faster");
    (void)bench_ok(&b, "version_export", export_args(&b, commit, ""));
    says(&b, WRONG);
    verify(&b);
    is_listed_wrong(&b, commit, "out_of_bounds");
    is_exported_as_wrong(&b, commit);
    /* another tool whose check passes says it first */
    says(&b, FASTER);
    r = bench_ok(&b, "kernel_profile", "{\"task\":\"sum\",\"source\":\"" SOURCE "\"}");
    ck_assert_msg(strncmp(text_of(r, "summary"), "found wrong: out_of_bounds", 26) == 0, "%s",
                  text_of(r, "summary"));
    /* the answer of before is not given without it, nor is a new one */
    says(&b, FASTER);
    r = confirm(&b, "");
    ck_assert(hone_json_get_bool(r, "is_cached", false));
    has(text_of(r, "summary"), "found wrong: out_of_bounds");
    r = confirm(&b, ",\"fresh\":true");
    has(text_of(r, "summary"), "found wrong: out_of_bounds");
    is_listed_wrong(&b, commit, "out_of_bounds");
    is_exported_as_wrong(&b, commit);
    bench_close(&b);
}
END_TEST

START_TEST(wrong_then_faster)
{
    struct bench b;
    bench_open(&b, WRONG);
    verify(&b);
    says(&b, FASTER);
    struct hone_json *r = confirm(&b, "");
    ck_assert_ptr_null(strstr(text_of(r, "next"), "may be claimed"));
    is_listed_wrong(&b, text_of(r, "commit"), "out_of_bounds");
    is_exported_as_wrong(&b, text_of(r, "commit"));
    bench_close(&b);
}
END_TEST

START_TEST(what_refutes)
{
    static const struct {
        const char *script, *reason;
    } cases[] = {{CRASH, "crash"}, {TIMEOUT, "faster"}};
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        bench_open(&b, FASTER);
        (void)confirm(&b, "");
        says(&b, cases[i].script);
        verify(&b);
        const struct hone_json *row =
            hone_json_first(hone_json_get(bench_ok(&b, "history_show", "{}"), "versions"));
        ck_assert_str_eq(text_of(row, "reason"), cases[i].reason);
        bench_close(&b);
    }
}
END_TEST

START_TEST(no_best_of_the_others)
{
    struct bench b;
    bench_open(&b, FASTER);
    (void)confirm(&b, "");
    says(&b, WRONG);
    verify(&b);
    struct hone_json *r = bench_ok(&b, "kernel_evaluate",
                                   "{\"task\":\"sum\",\"source\":\"SLOW\",\"tier\":\"decide\"}");
    ck_assert_str_eq(text_of(r, "best_known"), "");
    bench_close(&b);
}
END_TEST

UNIT_MAIN("refuted", faster_then_wrong, wrong_then_faster, what_refutes, no_best_of_the_others)
