/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer says to do next, and what a short one keeps. */
#include "tests/unit/tools/tool_util.h"

#include <math.h>

#include "tools/kernel.h"
#include "tools/format/next_text.h"

/* A report of two cores beside a load; what it points to lives as long as it. */
struct made {
    struct hone_report report;
    struct hone_ratio ratio;
    struct hone_load_report load;
    struct hone_rests_report rests;
    struct hone_check_report check;
    const char *doubt;
};

static void make(struct made *m, enum hone_tier tier, enum hone_reason reason, double others,
                 int64_t n_threads)
{
    *m = (struct made){.load = {.n_cores = 2, .is_known = true, .others = others},
                       .rests = {.n_threads = n_threads,
                                 .threads = 0.9,
                                 .baseline_threads = 0.8,
                                 .rms_error = NAN,
                                 .flags = "-O3 -march=native"},
                       .doubt = "other processes used cores"};
    m->ratio = (struct hone_ratio){
        .against = "baseline", .ratio = 2, .low = 1.5, .high = 3, .word = "faster"};
    m->report = (struct hone_report){.tier = tier,
                                     .reason = reason,
                                     .verdict = hone_reason_row(reason)->verdict,
                                     .target = "cpu",
                                     .ratios = {.v = &m->ratio, .n = 1},
                                     .rests_on = &m->rests,
                                     .load = &m->load,
                                     .worst_ratio = 1.5};
    if (tier == HONE_TIER_CONFIRM && others > 0)
        m->report.doubts = (struct hone_strs){.v = &m->doubt, .n = 1};
}

START_TEST(load_names_an_act)
{
    static const struct {
        enum hone_tier tier;
        enum hone_reason reason;
        double others;
        int64_t n_threads;
        const char *has[3], *has_not;
    } cases[] = {
        {HONE_TIER_DECIDE,
         HONE_REASON_LOADED,
         1.6,
         2,
         {"n_threads: 1", "fresh: true", "1.6 of 2 cores; under 0.2"},
         "budget_ms"},
        {HONE_TIER_DECIDE,
         HONE_REASON_NOISY,
         1.6,
         1,
         {"fresh: true", "budget_ms", "under 0.2"},
         "n_threads"},
        {HONE_TIER_CONFIRM,
         HONE_REASON_FASTER,
         1.5,
         1,
         {"Not to be claimed", "fresh: true", "1.5 of 2 cores; under 0.2"},
         "n_threads"},
        {HONE_TIER_CONFIRM,
         HONE_REASON_FASTER,
         1.5,
         2,
         {"n_threads: 1", "fresh: true", "confirm"},
         NULL},
        {HONE_TIER_CONFIRM,
         HONE_REASON_FASTER,
         0.1,
         2,
         {"fresh: true", "budget_ms", "confirm"},
         NULL},
        {HONE_TIER_CONFIRM, HONE_REASON_FASTER, 0, 2, {"may be claimed", "", ""}, "fresh"},
        {HONE_TIER_DECIDE, HONE_REASON_NOISY, 0, 2, {"budget_ms", "fresh: true", ""}, "claim"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct made m;
        make(&m, cases[i].tier, cases[i].reason, cases[i].others, cases[i].n_threads);
        const char *text = hone_next_text(&m.report, pool);
        for (size_t k = 0; k < 3; k++)
            ck_assert_msg(strstr(text, cases[i].has[k]) != NULL, "%zu: %s", i, text);
        ck_assert_msg(cases[i].has_not == NULL || strstr(text, cases[i].has_not) == NULL, "%zu: %s",
                      i, text);
    }
}
END_TEST

/* What would do is computed from what is missing and from what the last timing took. */
START_TEST(a_doubt_names_a_call_and_a_budget)
{
    static const struct {
        enum hone_reason reason;
        int64_t n_pairs, n_timed, wall_ms;
        double low;
        const char *want;
    } cases[] = {
        {HONE_REASON_FASTER, 20, 6, 9200, 1.5, "confirm, fresh: true and budget_ms: 19000."},
        {HONE_REASON_FASTER, 20, 2, 9200, 1.5, "fresh: true and budget_ms: 56000."},
        {HONE_REASON_FASTER, 20, 0, 3000, 1.5, "fresh: true and budget_ms: 30000."},
        {HONE_REASON_FASTER, 20, 6, 0, 1.5, "fresh: true and more budget_ms."},
        {HONE_REASON_FEW_ROUNDS, 2, 6, 10000, 1.5, "fresh: true and budget_ms: 50000, on"},
        {HONE_REASON_NOISY, 20, 6, 10000, 0.25, "fresh: true and budget_ms: 33000, on"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct made m;
        struct hone_sizes_report sizes = {
            .n_public = 3, .n_public_timed = cases[i].n_timed, .n_hidden = 3};
        struct hone_stage_report stage = {.name = "time", .wall_ns = cases[i].wall_ms * 1000000};
        sizes.n_hidden_timed = cases[i].n_timed / 2;
        sizes.n_public_timed -= sizes.n_hidden_timed;
        make(&m, HONE_TIER_CONFIRM, cases[i].reason, 0.1, 2);
        m.ratio.low = cases[i].low;
        m.ratio.n_pairs = cases[i].n_pairs;
        m.report.sizes = &sizes;
        m.report.stages = (struct hone_array){.v = &stage, .n = 1};
        const char *text = hone_next_text(&m.report, pool);
        ck_assert_msg(strstr(text, cases[i].want) != NULL, "%zu: %s", i, text);
        ck_assert_msg(strstr(text, "kernel_evaluate of this commit") != NULL, "%zu: %s", i, text);
    }
}
END_TEST

static struct hone_json *answer(struct bench *b, const struct made *m, const char *detail)
{
    const struct hone_tool *tool = &hone_tool_kernel_evaluate;
    const struct hone_evaluation evaluation = {
        .id = "20261124-000000-000-00000000",
        .commit = "e5299729afd0fdb458ea8f9510b34b88ea7c9a0a",
        .report = m->report,
        .blob = "55e54116ed2e0d2a966d2e24430e8877b051ce606e08b59ddda5f99ee8ff2ba8"};
    struct hone_kernel_out out = {.task = "sum"};
    hone_kernel_fill(&b->ctx, &evaluation, &out);
    hone_kernel_fit(&b->ctx, tool->out, tool->n_out, detail, &out);
    return hone_fields_encode(&out, tool->out, tool->n_out);
}

START_TEST(a_faster_parent_comes_first)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct made m;
    make(&m, HONE_TIER_CONFIRM, HONE_REASON_FASTER, 0, 1);
    struct hone_ratio ratios[] = {
        m.ratio, {.against = "parent", .ratio = 0.915, .low = 0.907, .high = 0.925}};
    m.report.ratios = (struct hone_array){.v = ratios, .n = 2};
    ck_assert_ptr_nonnull(strstr(hone_next_text(&m.report, pool), "this one: 0.915 of it"));
    ratios[1].high = 1.01;
    ck_assert_ptr_nonnull(strstr(hone_next_text(&m.report, pool), "kernel_profile"));
}
END_TEST

/* However little room there is: whether the figure may be claimed, and what it rests on. */
START_TEST(short_answers_keep_what_must_be_said)
{
    struct bench b;
    bench_open(&b, NULL);
    for (int is_long = 0; is_long < 2; is_long++)
        for (int is_quiet = 0; is_quiet < 2; is_quiet++) {
            struct made m;
            make(&m, HONE_TIER_CONFIRM, HONE_REASON_FASTER, is_quiet ? 0 : 1.5, 1);
            m.doubt = is_long ? hone_pool_printf(b.pool, "%0300d", 0) : m.doubt;
            HONE_AUTOJSON struct hone_json *r = answer(&b, &m, "concise");
            bool claimable = !is_quiet;
            ck_assert(hone_json_as_bool(hone_json_get(r, "claimable"), &claimable));
            ck_assert_int_eq(claimable, is_quiet);
            const char *rests = hone_json_get_str(r, "rests_on", "");
            ck_assert_msg(strstr(rests, "0.9 of 1 threads") != NULL, "%s", rests);
            ck_assert_msg((strstr(rests, "load 1.5 of 2") != NULL) == !is_quiet, "%s", rests);
        }
    struct made m;
    make(&m, HONE_TIER_DECIDE, HONE_REASON_FASTER, 0, 1);
    HONE_AUTOJSON struct hone_json *r = answer(&b, &m, "normal");
    ck_assert_ptr_null(hone_json_get(r, "claimable"));
    bench_close(&b);
}
END_TEST

/* next points at checks[].detail: it is there, with the size at its end. */
START_TEST(short_answers_keep_the_first_failure)
{
    struct bench b;
    struct made m;
    bench_open(&b, NULL);
    make(&m, HONE_TIER_DECIDE, HONE_REASON_WRONG_VALUE, 0, 1);
    m.check = (struct hone_check_report){
        .name = "edge",
        .workload = "edge-1",
        .n_compared = 41057,
        .n_bad = 41057,
        .detail = "y[0, 0] = 0.0282556079, expected 0.0282559311: the element is off by 3.23e-07, "
                  "allowed are 2.83e-07; 41057 of 41057 compared elements are wrong at edge-1: "
                  "n_frames=721 n_bins=7 n_bands=57"};
    m.report.checks = (struct hone_array){.v = &m.check, .n = 1};
    struct hone_diagnostic many[4] = {{.severity = HONE_SEVERITY_WARNING}};
    struct hone_build_report build = {.diagnostics = {.v = many, .n = 4}};
    for (size_t i = 0; i < 4; i++)
        many[i].message = hone_pool_printf(b.pool, "%0400d", 0);
    m.report.build = &build;
    HONE_AUTOJSON struct hone_json *r = answer(&b, &m, "concise");
    const struct hone_json *check = hone_json_first(hone_json_get(r, "checks"));
    const char *detail = hone_json_get_str(check, "detail", "");
    ck_assert_msg(strstr(detail, "n_bands=57") != NULL, "%s", detail);
    bench_close(&b);
}
END_TEST

/* All kernels of a usual source; where there is no room, fewer before the head goes. */
START_TEST(short_answers_name_every_kernel)
{
    struct bench b;
    struct made m;
    struct hone_kernel_report kernels[4];
    bench_open(&b, NULL);
    make(&m, HONE_TIER_DECIDE, HONE_REASON_FASTER, 0, 1);
    for (size_t i = 0; i < HONE_COUNTOF(kernels); i++)
        kernels[i] = (struct hone_kernel_report){
            .name = hone_pool_printf(b.pool, "part_%zu", i), .registers = 32, .line = 10};
    struct hone_build_report build = {.kernels = {.v = kernels, .n = 4}};
    m.report.build = &build;
    HONE_AUTOJSON struct hone_json *r = answer(&b, &m, "concise");
    ck_assert_uint_eq(hone_json_size(hone_json_get(r, "kernels")), 4);
    for (size_t i = 0; i < 4; i++)
        kernels[i].name = hone_pool_printf(b.pool, "%0200d", 0);
    HONE_AUTOJSON struct hone_json *tight = answer(&b, &m, "concise");
    ck_assert_uint_lt(hone_json_size(hone_json_get(tight, "kernels")), 4);
    ck_assert_ptr_nonnull(hone_json_get(tight, "speedup"));
    bench_close(&b);
}
END_TEST

UNIT_MAIN("next", load_names_an_act, a_faster_parent_comes_first, a_doubt_names_a_call_and_a_budget,
          short_answers_keep_what_must_be_said, short_answers_keep_the_first_failure,
          short_answers_name_every_kernel)
