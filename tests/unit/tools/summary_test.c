/* SPDX-License-Identifier: Apache-2.0 */
/* What one line says of a report. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/evaluate_text.h"

/* A confirmation says over which sizes it speaks, and what stands against claiming it. */
START_TEST(summaries_count_sizes)
{
    static const struct {
        enum hone_tier tier;
        int64_t n_hidden, n_hidden_timed;
        const char *doubt, *want;
    } cases[] = {
        {HONE_TIER_CONFIRM, 3, 3, NULL, "over 2 of 2 public and 3 of 3 drawn sizes"},
        {HONE_TIER_CONFIRM, 3, 1, "1 of 3",
         "1 of 3 drawn sizes (measured with fresh data, not to be"},
        {HONE_TIER_CONFIRM, 3, 0, "public",
         "over 2 of 2 public sizes only (measured with fresh data, not"},
        {HONE_TIER_DECIDE, 0, 0, NULL, "over 0 workloads"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        const char *doubt = cases[i].doubt;
        struct hone_ratio ratio = {
            .against = "baseline", .ratio = 2, .low = 1.9, .high = 2.1, .word = "faster"};
        struct hone_sizes_report sizes = {.n_public = 2,
                                          .n_public_timed = 2,
                                          .n_hidden = cases[i].n_hidden,
                                          .n_hidden_timed = cases[i].n_hidden_timed};
        struct hone_report report = {.tier = cases[i].tier,
                                     .reason = HONE_REASON_FASTER,
                                     .verdict = HONE_VERDICT_FASTER,
                                     .sizes = &sizes,
                                     .ratios = {.v = &ratio, .n = 1},
                                     .doubts = {&doubt, doubt != NULL}};
        const char *text = hone_evaluation_summary(&report, pool);
        ck_assert_msg(strstr(text, cases[i].want) != NULL, "%s", text);
    }
}
END_TEST

/* 400x and 100x of public sizes beside 50x of a drawn one are no collapse of 200x to 126x. */
START_TEST(public_and_drawn_sizes_are_told_apart)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_ratio all = {.against = "baseline", .ratio = 126, .low = 60, .high = 300};
    struct hone_ratio each[] = {{.against = "baseline", .ratio = 400},
                                {.against = "baseline", .ratio = 100},
                                {.against = "baseline", .ratio = 50}};
    struct hone_workload_report sizes[3] = {
        {.is_hidden = false}, {.is_hidden = false}, {.is_hidden = true}};
    for (size_t i = 0; i < 3; i++)
        sizes[i].ratios = (struct hone_array){.v = &each[i], .n = 1};
    struct hone_sizes_report counts = {
        .n_public = 2, .n_public_timed = 2, .n_hidden = 1, .n_hidden_timed = 1};
    struct hone_report report = {.tier = HONE_TIER_CONFIRM,
                                 .reason = HONE_REASON_FASTER,
                                 .verdict = HONE_VERDICT_FASTER,
                                 .sizes = &counts,
                                 .workloads = {.v = sizes, .n = 3},
                                 .ratios = {.v = &all, .n = 1}};
    const char *text = hone_evaluation_summary(&report, pool);
    ck_assert_msg(strstr(text, "drawn sizes (public 200x, drawn 50x)") != NULL, "%s", text);
    each[2].ratio = 170;
    text = hone_evaluation_summary(&report, pool);
    ck_assert_msg(strstr(text, "(public") == NULL, "%s", text);
}
END_TEST

/* What a caller says does not read as what hone found. */
START_TEST(a_caller_s_words_are_quoted)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_task task = {.name = "sum", .hash = "h"};
    struct hone_report report = {
        .tier = HONE_TIER_DECIDE, .reason = HONE_REASON_SLOWER, .verdict = HONE_VERDICT_SLOWER};
    struct hone_evaluation_request req = {
        .task = &task,
        .subject = "Verdict: faster",
        .body = "wider loads\nVerdict: faster\n  speedup : 9.00\n\nOutcome: faster: 9x\r\n"
                "\xe2\x80\x8bTier: confirm\nnote: a line of mine\nResult-of: abc"};
    const struct hone_evaluation_names names = {.evaluation = "e", .blob = "b"};
    struct hone_version version = {.commit = NULL};
    hone_evaluation_describe(&req, &report, &names, pool, &version);
    ck_assert_str_eq(version.subject, "> Verdict: faster");
    static const char want[] = "wider loads\n> Verdict: faster\n>   speedup : 9.00\n\n> Outcome: "
                               "faster: 9x\r\n> \xe2\x80\x8bTier: confirm\nnote: a line of mine\n"
                               "> Result-of: abc\n\nOutcome: slower";
    ck_assert_msg(strncmp(version.body, want, strlen(want)) == 0, "%s", version.body);
    const struct hone_trailer *trailers = version.trailers.v;
    for (size_t i = 0; i < version.trailers.n; i++) { /* every word that hone uses is known */
        req.body = hone_pool_printf(pool, "%s: mine", trailers[i].key);
        struct hone_version again = {.commit = NULL};
        hone_evaluation_describe(&req, &report, &names, pool, &again);
        ck_assert_msg(again.body[0] == '>', "%s", trailers[i].key);
    }
}
END_TEST

START_TEST(a_share_says_who_counted)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_ratio ratio = {
        .against = "baseline", .ratio = 2, .low = 1.9, .high = 2.1, .word = "faster"};
    struct hone_rests_report rests = {.is_bound_counted = false};
    struct hone_report report = {.tier = HONE_TIER_DECIDE,
                                 .reason = HONE_REASON_FASTER,
                                 .verdict = HONE_VERDICT_FASTER,
                                 .percent_of_bound = 9.04,
                                 .rests_on = &rests,
                                 .ratios = {.v = &ratio, .n = 1}};
    ck_assert_ptr_nonnull(strstr(hone_evaluation_summary(&report, pool), ", 9.0 % of bound ("));
    rests.is_bound_counted = true;
    report.percent_of_bound = 31.2;
    ck_assert_ptr_nonnull(strstr(hone_evaluation_summary(&report, pool),
                                 ", 31 % of bound by operations counted from loops ("));
}
END_TEST

UNIT_MAIN("summary", summaries_count_sizes, public_and_drawn_sizes_are_told_apart,
          a_share_says_who_counted, a_caller_s_words_are_quoted)
