/* SPDX-License-Identifier: Apache-2.0 */
/* A version's times and past, and the best of a search, in the words that prompts have. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/coder/profile_text.h"
#include "agents/coder/prompt.h"
#include "agents/coder/history_context.h"
#include "workspace/base/limits.h"

static const struct hone_node *grow(struct hone_tree *tree, int parent, const char *words,
                                    double value)
{
    struct hone_node *n = hone_tree_add(tree, parent, words, NULL, value, 0.01);
    ck_assert_ptr_nonnull(n);
    n->words = words;
    return n;
}

static struct hone_edge_record edge(const char *strategy, int parent, int child)
{
    const struct hone_strategy *s = hone_strategy_find("cpu", strategy);
    ck_assert_ptr_nonnull(s);
    return (struct hone_edge_record){
        .parent = parent, .child = child, .strategy = s, .rewrite = "r"};
}

/* A baseline and one step from it. */
static struct hone_tree *new_tree(struct hone_pool *pool)
{
    struct hone_tree *tree = hone_pool_alloc(pool, sizeof(*tree));
    hone_tree_init(tree, pool);
    grow(tree, HONE_NO_NODE, "root", 0);
    grow(tree, 0, "thread it", 2);
    return tree;
}

START_TEST(the_past_is_told)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_tree *tree = new_tree(pool);
    grow(tree, 1, "tile it", 3);
    tree->nodes[1]->low = 3.5;
    tree->nodes[1]->high = 4.5;
    tree->nodes[2]->low = 7;
    tree->nodes[2]->high = 9;
    ck_assert_ptr_null(hone_attempts_text(tree, 0, pool));
    ck_assert_ptr_null(hone_lineage_text(tree, 0, pool));
    struct hone_edge_record edges[] = {
        edge("C08", 0, 1),           edge("C05", 1, HONE_NO_NODE), edge("C01", 1, 2),
        edge("C16", 1, 1),           edge("G44", 1, HONE_NO_NODE), edge("X", 1, HONE_NO_NODE),
        edge("C03", 1, HONE_NO_NODE)};
    edges[1].verdict = "incorrect (wrong_value)";
    edges[1].note = "element 3 is 7";
    edges[4].is_declined = true;
    edges[4].note = "declined: no mathematics here";
    edges[5].plan = "turn it round";
    edges[5].note = "the answer was refused";
    edges[6].verdict = "failed (compile)";
    for (size_t i = 0; i < HONE_COUNTOF(edges); i++)
        hone_tree_note_edge(tree, &edges[i]);
    ck_assert_str_eq(hone_attempts_text(tree, 1, pool),
                     "- C05 explicit SIMD: incorrect (wrong_value): element 3 is 7\n"
                     "- C01 cache blocking: right, 2x (1.67 to 2.39) this version, 8x (7 to 9) the "
                     "baseline\n"
                     "- C16 compiler switches: right, but the same machine code as before\n"
                     "- G44 polynomial for transcendentals: declined: no mathematics here\n"
                     "- X turn it round: not carried out: the answer was refused\n"
                     "- C03 several accumulators: failed (compile)\n");
    ck_assert_str_eq(hone_attempts_text(tree, 0, pool),
                     "- C08 thread the outer loop: right, 4x (3.5 to 4.5) this version\n");
    ck_assert_str_eq(hone_lineage_text(tree, 2, pool), "- thread it: 4x (3.5 to 4.5) the baseline\n"
                                                       "- tile it: 8x (7 to 9) the baseline\n");
    tree->nodes[2]->low = 0; /* records of before have no interval */
    ck_assert_ptr_nonnull(
        strstr(hone_attempts_text(tree, 1, pool), "right, 2x this version, 8x the"));
    /* a busy machine */
    tree->nodes[2]->low = 3;
    tree->nodes[2]->high = 20;
    ck_assert_ptr_nonnull(strstr(hone_attempts_text(tree, 1, pool),
                                 "(0.745 to 5.05: too wide to tell) this version, 8x (3 to 20: too "
                                 "wide to tell) the baseline\n"));
    tree->nodes[2]->is_refuted = true;
    tree->nodes[2]->refuted_by = "incorrect (stateful): element 9 is 1";
    ck_assert_ptr_nonnull(
        strstr(hone_attempts_text(tree, 1, pool), "refused it: incorrect (stateful): element 9"));
    hone_pool_free(pool);
}
END_TEST

START_TEST(a_ratio_says_what_it_rests_on)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tree *tree = new_tree(pool);
    grow(tree, 1, "tile it", 3);
    struct hone_edge_record edges[] = {edge("C08", 0, 1), edge("C01", 1, 2)};
    for (size_t i = 0; i < HONE_COUNTOF(edges); i++)
        hone_tree_note_edge(tree, &edges[i]);
    tree->nodes[0]->basis = (struct hone_basis){"screened", 2, 3};
    tree->nodes[1]->basis = (struct hone_basis){"decided", 3, 3};
    tree->nodes[2]->basis = (struct hone_basis){"screened", 2, 3};
    ck_assert_str_eq(hone_lineage_text(tree, 2, pool),
                     "- thread it: 4x the baseline, decided on all timed sizes\n"
                     "- tile it: 8x the baseline, screened on 2 of 3 timed sizes\n");
    ck_assert_str_eq(hone_attempts_text(tree, 0, pool),
                     "- C08 thread the outer loop: right, 4x this version; decided on all timed "
                     "sizes\n");
    ck_assert_str_eq(hone_attempts_text(tree, 1, pool),
                     "- C01 cache blocking: right, 2x this version, 8x the baseline; screened on 2 "
                     "of 3 timed sizes, the one before it decided on all timed sizes: not the same "
                     "sizes\n");
    /* both had a first look: that is what they are compared by, and sizes left out are an older
     * version's */
    tree->nodes[1]->is_screened = true;
    tree->nodes[1]->screened = 2.5;
    tree->nodes[1]->times = "- small: 300 us\n- large: 9 ms\n";
    tree->nodes[2]->times = "- small: 140 us\n- large: not measured in this look\n";
    ck_assert_str_eq(
        hone_attempts_text(tree, 1, pool),
        "- C01 cache blocking: right, 1.41x this version, 8x the baseline; beside each "
        "other both as screened on 2 of 3 timed sizes\n"
        "  - small: 140 us\n  - large: not measured in this look\n");
    ck_assert_ptr_nonnull(strstr(
        hone_lineage_text(tree, 2, pool),
        "- thread it: 4x the baseline, decided on all timed sizes (5.66x as screened before)\n"));
    ck_assert_str_eq(hone_history_context_of(tree, 2, pool).whole,
                     "(decided on all timed sizes, 1 step before this version)\n"
                     "- small: 300 us\n- large: 9 ms\n");
    ck_assert_ptr_null(hone_history_context_of(tree, 1, pool).whole);
    tree->nodes[1]->basis = tree->nodes[2]->basis;
    ck_assert_ptr_null(hone_history_context_of(tree, 2, pool).whole);
    ck_assert_ptr_null(strstr(hone_attempts_text(tree, 1, pool), "not the same"));
    /* the head of the times says it too */
    struct hone_buf out = HONE_BUF_INIT;
    tree->nodes[2]->times = "- small: 140 us\n";
    struct hone_history_context past = hone_history_context_of(tree, 2, pool);
    hone_prompt_past(&out, 1, &past);
    ck_assert_ptr_nonnull(strstr(out.data, "rests on (screened on 2 of 3 timed sizes), with"));
    hone_buf_done(&out);
}
END_TEST

START_TEST(the_best_of_the_search_are_told)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tree *tree = new_tree(pool);
    ck_assert_ptr_nonnull(hone_best_text(tree, 0, pool));
    ck_assert_ptr_null(hone_best_text(tree, 1, pool));
    grow(tree, 0, "free (whole file)", 3);
    grow(tree, 2, "tune: TILE=8", 4);
    grow(tree, 1, "cheat", 9);
    tree->nodes[3]->rewrite = "tune";
    tree->nodes[3]->basis = (struct hone_basis){"decided", 3, 3};
    tree->nodes[3]->n_findings = 1;
    tree->nodes[3]->findings[0].class_id = (enum hone_class)0;
    tree->nodes[4]->is_refuted = true;
    struct hone_edge_record edges[] = {edge("C08", 0, 1), edge("X", 0, 2)};
    edges[1].plan = "turn it\nround";
    for (size_t i = 0; i < HONE_COUNTOF(edges); i++)
        hone_tree_note_edge(tree, &edges[i]);
    ck_assert_str_eq(hone_best_text(tree, 1, pool),
                     hone_pool_printf(pool,
                                      "- X turn it round: 16x the baseline, decided on all timed "
                                      "sizes; limited by %s\n"
                                      "- C08 thread it (this one): 4x the baseline\n",
                                      hone_class_name((enum hone_class)0)));
    ck_assert_ptr_nonnull(strstr(hone_best_text(tree, 2, pool), "turn it round (this one): 16x"));
    for (int i = 0; i < HONE_LIMIT_BEST; i++)
        grow(tree, 0, hone_pool_printf(pool, "number %d.", i), 5 + i);
    const char *text = hone_best_text(tree, 1, pool);
    ck_assert_ptr_null(strstr(text, "thread it"));
    ck_assert(strstr(text, "number 0.") > strstr(text, "number 7.")); /* best first */
}
END_TEST

START_TEST(times_are_told_by_size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_arm_time times[] = {{.arm = "baseline", .median_ns = 9.22e6},
                                    {.arm = "candidate", .median_ns = 140e3}};
    struct hone_ratio ratios[] = {{.against = "parent", .ratio = 3},
                                  {.against = "baseline", .ratio = 65.9, .low = 61, .high = 70.2}};
    struct hone_workload_report sizes[] = {
        {.id = "small",
         .times = {.v = times, .n = 2},
         .ratios = {.v = ratios, .n = 2},
         .bound_ns = 35e3,
         .bound_by = "bytes"},
        {.id = "drawn", .times = {.v = times, .n = 2}, .is_hidden = true},
        {.id = "alone", .times = {.v = times + 1, .n = 1}, .bound_ns = 150e3},
        {.id = "untimed"}};
    struct hone_workload all[] = {
        {.id = "large"}, {.id = "small"}, {.id = "untimed"}, {.id = "alone"}};
    struct hone_task task = {.n_workloads = 4};
    memcpy(task.workloads, all, sizeof(all));
    struct hone_report report = {.workloads = {.v = sizes, .n = 4}};
    ck_assert_str_eq(hone_times_text(&report, &task, pool),
                     "- large: not measured in this look\n"
                     "- small: 140 us (baseline 9.22 ms), 65.9x (61 to 70.2), 25 % of what the "
                     "machine allows (by bytes)\n"
                     "- untimed: not measured in this look\n- alone: 140 us, 100 % of what the "
                     "machine allows\n");
    sizes[0].bound_ns = sizes[2].bound_ns = 0; /* not known */
    ck_assert_str_eq(hone_times_text(&report, &task, pool),
                     "- large: not measured in this look\n"
                     "- small: 140 us (baseline 9.22 ms), 65.9x (61 to 70.2)\n"
                     "- untimed: not measured in this look\n- alone: 140 us\n");
    struct hone_basis basis = hone_basis_of(&report, &task, "screen");
    ck_assert_str_eq(hone_basis_text(&basis, pool), "screened on 2 of 4 timed sizes");
    task.workloads[0] = all[1];
    task.n_workloads = 1;
    basis = hone_basis_of(&report, &task, "decide");
    ck_assert_str_eq(hone_basis_text(&basis, pool), "decided on all timed sizes");
    report.workloads.n = 0;
    ck_assert_ptr_null(hone_times_text(&report, &task, pool));
    basis = hone_basis_of(&report, &task, "nothing");
    ck_assert_ptr_null(hone_basis_text(&basis, pool));
}
END_TEST

START_TEST(settings_are_told)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tunable t[HONE_LIMIT_SETTINGS + 3];
    struct hone_point points[HONE_LIMIT_SETTINGS + 3];
    double ns[HONE_LIMIT_SETTINGS + 3];
    for (int i = 0; i < HONE_LIMIT_SETTINGS + 3; i++) {
        t[i] = (struct hone_tunable){"TILE", 8 + i};
        points[i] = (struct hone_point){.tunables = {.v = &t[i], .n = 1}};
        ns[i] = 200e3 - 10e3 * i;
    }
    const struct hone_array three = {.v = points, .n = 3};
    ck_assert_str_eq(hone_settings_text(&three, ns, 3, 3, pool),
                     "- TILE=10: 180 us, 1.11x the default\n- TILE=9: 190 us, 1.05x the default\n"
                     "- TILE=8: 200 us (the default)\n");
    ns[2] = (double)NAN;
    ck_assert_str_eq(hone_settings_text(&three, ns, 3, 12, pool),
                     "- TILE=9: 190 us, 1.05x the default\n- TILE=8: 200 us (the default)\n"
                     "- 10 more, slower or failed\n");
    ck_assert_ptr_null(hone_settings_text(&three, ns, 1, 3, pool));
    ns[2] = 180e3;
    /* at the limit all are shown; above it the default in any case */
    for (size_t n = HONE_LIMIT_SETTINGS; n <= HONE_LIMIT_SETTINGS + 2; n++) {
        const struct hone_array all = {.v = points, .n = n};
        const char *text = hone_settings_text(&all, ns, n, n, pool);
        size_t n_lines = 0;
        for (const char *c = text; *c; c++)
            n_lines += *c == '\n';
        ck_assert_ptr_nonnull(strstr(text, "- TILE=8: 200 us (the default)\n"));
        ck_assert_int_eq(strstr(text, "TILE=9:") == NULL, n == HONE_LIMIT_SETTINGS + 2);
        ck_assert_int_eq(strstr(text, "- 1 more, slower") != NULL, n == HONE_LIMIT_SETTINGS + 2);
        ck_assert_uint_eq(n_lines, n);
    }
    ns[0] = (double)NAN;
    ck_assert_ptr_null(hone_settings_text(&three, ns, 3, 3, pool));
}
END_TEST

START_TEST(the_past_is_bounded)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_tree *tree = hone_pool_alloc(pool, sizeof(*tree));
    HONE_AUTOFREE char *words = hone_malloc(10001);
    memset(words, 'w', 10000);
    words[10000] = '\0';
    hone_tree_init(tree, pool);
    grow(tree, HONE_NO_NODE, "root", 0);
    for (int n = 1; n <= HONE_LIMIT_TRIED + 1; n++) {
        struct hone_edge_record e = edge("C05", 0, HONE_NO_NODE);
        e.note = hone_pool_printf(pool, "number %d. %s", n, words);
        hone_tree_note_edge(tree, &e);
        grow(tree, n - 1, hone_pool_printf(pool, "step %d. %s", n, words), n);
        const char *tried = hone_attempts_text(tree, 0, pool),
                   *way = hone_lineage_text(tree, n, pool);
        bool is_over = n > HONE_LIMIT_TRIED;
        ck_assert_int_eq(strstr(tried, "number 1.") == NULL, is_over); /* the oldest goes */
        ck_assert_int_eq(strstr(way, "step 1.") == NULL, is_over);
        ck_assert_ptr_nonnull(strstr(tried, hone_pool_printf(pool, "number %d.", n)));
        ck_assert_uint_le(strlen(tried), HONE_LIMIT_TRIED * (HONE_LIMIT_TRIED_BYTES + 80));
        ck_assert_uint_le(strlen(way), HONE_LIMIT_TRIED * (HONE_LIMIT_TRIED_BYTES + 80));
    }
    hone_pool_free(pool);
}
END_TEST

/* Which size, the call, each launch; names are others' words. */
START_TEST(a_profile_is_told)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_counter counters[] = {
        {.name = "gpu__time_duration.sum", .value = 120000},
        {.name = "hone__traffic_ratio", .value = 1.52},
        {.name = "gpu__time_duration.sum", .value = 80000, .kernel = "part<4> (operation 0)"},
        {.name = "dram__throughput.avg.pct_of_peak_sustained_elapsed",
         .value = 61.4,
         .kernel = "part<4> (operation 0)"},
        {.name = "gpu__time_duration.sum", .value = 40000, .kernel = "write\n- x (operation 1)"},
        {.name = "sm__warps_active.avg.pct_of_peak_sustained_active",
         .value = (double)NAN,
         .kernel = "write\n- x (operation 1)"},
    };
    struct hone_profile_report profile = {
        .has_counters = true,
        .workload = "g1",
        .counters = {.v = counters, .n = HONE_COUNTOF(counters)},
    };
    struct hone_report report = {.profile = &profile};
    ck_assert_str_eq(hone_profile_text(&report, pool),
                     "- size g1, the whole call: 120 us\n"
                     "- DRAM traffic: 1.52 times the bytes that must move\n"
                     "- part<4> (operation 0): 80 us, DRAM 61 %\n"
                     "- write - x (operation 1): 40 us\n");
    struct hone_buf out = HONE_BUF_INIT;
    struct hone_history_context past = {.profile = hone_profile_text(&report, pool)};
    hone_prompt_past(&out, 1, &past);
    ck_assert_ptr_nonnull(strstr(out.data, "DRAM 61 %"));
    ck_assert_ptr_nonnull(strstr(out.data, "<<DATA"));
    hone_buf_done(&out);
    profile.workload = NULL; /* of an older report */
    ck_assert_ptr_null(hone_profile_text(&report, pool));
    report.profile = NULL;
    ck_assert_ptr_null(hone_profile_text(&report, pool));
}
END_TEST

UNIT_MAIN("past", a_profile_is_told, the_past_is_told, a_ratio_says_what_it_rests_on,
          the_best_of_the_search_are_told, times_are_told_by_size, settings_are_told,
          the_past_is_bounded)
