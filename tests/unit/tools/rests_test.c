/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on, in words; a version that is its parent's code. */
#include "tests/unit/tools/tool_util.h"

#include "tools/evaluate_text.h"
#include "tools/rests_text.h"
#include "workspace/ledger.h"

#define TUNED "#pragma hone tune(TILE: 8, 16, 32)\\nvoid sum(void) {}\\n"

static const char *args(struct bench *b, const char *source, const char *more)
{
    return hone_pool_printf(b->pool, "{\"task\":\"sum\",\"source\":\"%s\"%s}", source, more);
}

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

/* The setting that won makes the parent's machine code: nothing to commit, nothing to confirm. */
START_TEST(tuning_back_to_the_parent)
{
    struct bench b;
    struct hone_json *parent, *r;

    bench_open(&b, "{\"match\":\"OTHER\",\"code\":\"c1\",\"ns\":250000}\n{\"match\":\"TILE\","
                   "\"code\":\"c0\"}\n"
                   "{\"match\":\"parent\",\"code\":\"c0\"}\n");
    parent = bench_ok(&b, "kernel_evaluate", args(&b, "/* parent */", ""));
    for (int other = 0; other < 2; other++) {
        int before = count_records(&b, "commit"), runs = count_records(&b, "evaluation.start");
        r = bench_ok(&b, "kernel_tune",
                     args(&b, other ? "/* OTHER */\\n" TUNED : TUNED,
                          hone_pool_printf(b.pool, ",\"parent\":\"%s\",\"tier\":\"confirm\"",
                                           text_of(parent, "commit"))));
        bool is_again = strstr(text_of(r, "summary"), "no gain: the parent's setting won") != NULL;
        ck_assert_msg(is_again == (other == 0), "%d: %s", other, text_of(r, "summary"));
        ck_assert_int_eq(count_records(&b, "commit") - before, other);
        /* a look whether the source is right, the sweep, and the winner's own */
        ck_assert_int_eq(count_records(&b, "evaluation.start") - runs, 2 + other);
        ck_assert_ptr_nonnull(strstr(text_of(r, "kept"), "TILE="));
    }
    bench_close(&b);
}
END_TEST

START_TEST(same_code_as_the_parent_is_said)
{
    struct bench b;
    struct hone_json *parent, *r;

    bench_open(&b, "{\"match\":\"FAST\",\"ns\":250000,\"code\":\"c0\",\"fast_math\":\"-Ofast\"}\n");
    parent = bench_ok(&b, "kernel_evaluate", args(&b, "FAST", ""));
    ck_assert_ptr_nonnull(strstr(text_of(parent, "summary"), "rests on fast-math"));
    ck_assert_str_eq(trailer(&b, text_of(parent, "commit"), "Fast-math"), "-Ofast");
    r = bench_ok(&b, "kernel_evaluate",
                 args(&b, "FAST two",
                      hone_pool_printf(b.pool, ",\"tier\":\"confirm\",\"parent\":\"%s\"",
                                       text_of(parent, "commit"))));
    ck_assert_ptr_nonnull(strstr(text_of(r, "summary"), "same machine code as the parent"));
    ck_assert_msg(strstr(text_of(r, "rests_on"), "fast-math (-Ofast: NaN, infinities and the order "
                                                 "of sums are not kept)") != NULL,
                  "%s", text_of(r, "rests_on"));
    bench_close(&b);
}
END_TEST

/* ---- what a result rests on ---- */

START_TEST(rests_are_short_and_plain)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *units[HONE_LIMIT_RESTS];
    char flags[400], fast[200];
    struct hone_ratio ratio = {.against = "baseline", .ratio = 4.5, .low = 4, .high = 5};
    struct hone_workload_report workload = {.id = "w"};
    struct hone_rests_report rests = {.rms_error = 0.2,
                                      .worst_error = 0.9,
                                      .baseline_rms_error = 0.005,
                                      .baseline_worst_error = 0.02,
                                      .has_units = true,
                                      .units = {units, 1},
                                      .bound_unit = "float32 multiply-add units",
                                      .threads = 1.94,
                                      .baseline_threads = 1,
                                      .n_threads = 2,
                                      .n_sizes = 12,
                                      .n_contents = 20};
    struct hone_report report = {.format = 1,
                                 .tier = HONE_TIER_CONFIRM,
                                 .reason = HONE_REASON_FASTER,
                                 .verdict = HONE_VERDICT_FASTER,
                                 .jail = "full",
                                 .percent_of_bound = 352,
                                 .workloads = {&workload, 1},
                                 .ratios = {&ratio, 1},
                                 .rests_on = &rests};
    const char *text;

    for (size_t i = 0; i < HONE_LIMIT_RESTS; i++)
        units[i] = "bfloat16 tensor cores";
    text = hone_rests_text(&report, pool);
    ck_assert_msg(strcmp(text, "beyond the bound of float32 multiply-add units: it uses bfloat16 "
                               "tensor cores, error rms 0.2, worst 0.9 of tolerance "
                               "(baseline 0.005, 0.02: 40 times its rms), 1.9 of 2 threads "
                               "(baseline 1.0), 12 sizes, 20 contents, bits may differ, jail "
                               "full") == 0,
                  "%s", text);
    struct hone_sizes_report sizes = {.n_planned = 16,
                                      .n_checked = 14,
                                      .n_public = 3,
                                      .n_public_timed = 3,
                                      .n_hidden = 2,
                                      .n_hidden_timed = 2};
    const char *kinds[] = {"normal", "uniform"};
    struct hone_left_out_report left_out = {.kind = "huge", .reason = "too large"};
    struct hone_contents_report contents = {.compared = {kinds, 2}, .left_out = {&left_out, 1}};
    struct hone_load_report load = {
        .n_cores = 2, .is_known = true, .others = 0.25, .others_most = 1.5};
    report.sizes = &sizes;
    report.contents = &contents;
    report.load = &load;
    text = hone_rests_text(&report, pool);
    ck_assert_msg(strstr(text, ", 14 of 16 sizes (5 timed, 2 drawn), 2 contents (1 left out), bits "
                               "may differ, jail full, load 0.2 of 2 cores") != NULL,
                  "%s", text);
    load.is_known = false;
    sizes = (struct hone_sizes_report){.n_planned = 4, .n_checked = 4};
    text = hone_rests_text(&report, pool);
    ck_assert_msg(strstr(text, ", 4 sizes, 2 contents (1 left out), bits") != NULL &&
                      strstr(text, ", load not known") != NULL,
                  "%s", text);
    text = hone_evaluation_summary(&report, pool);
    ck_assert_msg(strstr(text, "352") == NULL && strstr(text, "% of bound") == NULL, "%s", text);
    ck_assert_msg(strstr(text, "beyond the bound of float32 multiply-add units: it uses bfloat16 "
                               "tensor cores") != NULL,
                  "%s", text);
    ck_assert_double_eq_tol(hone_shown_percent(352), 100, 1e-9);
    ck_assert_double_eq_tol(hone_shown_percent(99), 99, 1e-9);
    report.percent_of_bound = 100;
    ck_assert_str_eq(hone_beyond_bound(&report, pool), "");
    rests.units.n = 0; /* the code could not be read */
    rests.has_units = false;
    ck_assert_str_eq(hone_rests_precision(&report, pool), "units of lower precision not known");
    struct hone_stage_report stages[] = {{.name = "build"}, {.name = "profile"}};
    report.stages = (struct hone_array){.v = stages, .n = 2}; /* nothing was to read it */
    ck_assert_ptr_null(hone_rests_precision(&report, pool));
    stages[1].name = "policy";
    ck_assert_ptr_nonnull(hone_rests_precision(&report, pool));
    /* hostile and long words of a runner */
    memset(flags, 'x', sizeof(flags) - 1);
    flags[sizeof(flags) - 1] = '\0';
    memset(fast, '\033', sizeof(fast) - 1);
    fast[sizeof(fast) - 1] = '\0';
    const char *list[] = {fast};
    rests.flags = flags;
    rests.units.n = HONE_LIMIT_RESTS;
    rests.fast_math = (struct hone_strs){.v = list, .n = 1};
    text = hone_rests_text(&report, pool);
    ck_assert_uint_lt(strlen(text), HONE_RESTS_BYTES);
    ck_assert_ptr_null(strchr(text, '\033'));
    report.rests_on = NULL;
    ck_assert_ptr_null(hone_rests_text(&report, pool));
}
END_TEST

START_TEST(every_part_at_its_longest_stands_whole)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char word[400];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    const char *list[] = {word, word, word};
    struct hone_ratio ratios[] = {{.against = "baseline", .ratio = 4.5, .low = 4, .high = 5},
                                  {.against = HONE_ARM_FAST_MATH,
                                   .ratio = 0.123456789,
                                   .low = 1.23456789e-10,
                                   .high = 1.23456789e+10}};
    struct hone_rests_report rests = {.rms_error = 1.2e-100,
                                      .worst_error = 1.2e-100,
                                      .baseline_rms_error = 1.2e-300,
                                      .baseline_worst_error = 1.2e-100,
                                      .has_units = true,
                                      .is_parents_code = true,
                                      .units = {list, 3},
                                      .fast_math = {list, 3},
                                      .copied = {list, 3},
                                      .bound_unit = word,
                                      .flags = word,
                                      .threads = 99999.9,
                                      .baseline_threads = 99999.9,
                                      .n_threads = 100000};
    struct hone_sizes_report sizes = {.n_planned = 1000000,
                                      .n_checked = 999999,
                                      .n_public_timed = 999999,
                                      .n_hidden_timed = 999999};
    struct hone_load_report load = {.n_cores = 100000, .is_known = true, .others = 99999.5};
    struct hone_report report = {.jail = word,
                                 .percent_of_bound = 352,
                                 .ratios = {ratios, 2},
                                 .sizes = &sizes,
                                 .load = &load,
                                 .rests_on = &rests};
    const char *text = hone_rests_text(&report, pool);
    ck_assert_uint_gt(strlen(text), 400);
    ck_assert_msg(strstr(text, ", load 99999.5 of 100000 cores") != NULL, "%zu: %s", strlen(text),
                  text);
}
END_TEST

START_TEST(an_interval_beside_one_is_told)
{
    static const struct {
        double low, high;
        const char *word, *want;
    } rows[] = {
        {0.567, 0.869, "inconclusive",
         "probably slower: by at least 13 % in this run, whose noise reaches 18 %"},
        {1.05, 1.4, "inconclusive", "probably faster: by at least 5 %"},
        {0.9, 1.1, "inconclusive", NULL},
        {0.5, 0.6, "slower", NULL},
        {2, 3, "faster", NULL},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();

    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        const struct hone_ratio ratio = {.ratio = (rows[i].low + rows[i].high) / 2,
                                         .low = rows[i].low,
                                         .high = rows[i].high,
                                         .least_gain = 0.18,
                                         .word = rows[i].word};
        const char *note = hone_ratio_note(&ratio, pool);
        ck_assert_msg((note != NULL) == (rows[i].want != NULL), "%zu", i);
        ck_assert_msg(note == NULL || strstr(note, rows[i].want) == note, "%zu: %s", i, note);
    }
}
END_TEST

/* A gain that the compiler alone would have given is told beside the figure. */
START_TEST(the_fast_math_baseline_comes_first)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_ratio ratios[] = {
        {.against = "baseline", .ratio = 10, .low = 9, .high = 11},
        {.against = HONE_ARM_FAST_MATH, .ratio = 0.98, .low = 0.95, .high = 1.02}};
    struct hone_rests_report rests = {.rms_error = (double)NAN};
    struct hone_report report = {.rests_on = &rests, .ratios = {.v = ratios, .n = 2}};
    const char *want =
        "0.98x (0.95 to 1.02) against the baseline built with -O3 -march=native -ffast-math";

    const char *text = hone_rests_text(&report, pool);
    ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
    report.ratios.n = 1;
    ck_assert_ptr_null(strstr(hone_rests_text(&report, pool), "-ffast-math"));
    ck_assert_ptr_null(strstr(hone_rests_text(&report, pool), "in-place"));
    const char *copied[] = {"re", "im"};
    rests.copied = (struct hone_strs){copied, 2};
    text = hone_rests_text(&report, pool);
    want = "in-place: re, im copied before each call, in the baseline too";
    ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
}
END_TEST

UNIT_MAIN("rests", the_fast_math_baseline_comes_first, tuning_back_to_the_parent,
          same_code_as_the_parent_is_said, rests_are_short_and_plain,
          every_part_at_its_longest_stands_whole, an_interval_beside_one_is_told)
