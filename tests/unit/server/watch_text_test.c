/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of versions and a search as text: shape, bounds, foreign text. */
#include "server/page/watch_text.h"

#include <math.h>
#include <string.h>

#include "server/page/version_tree.h"
#include "tests/unit/unit.h"

#define NONE ((double)NAN)

/* The leads of a tree, in the order of its lines, with a newline each. */
static char *leads(const struct hone_tree_item *items, size_t n)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tree_line *lines = hone_pool_alloc(pool, (n + 1) * sizeof(*lines));
    struct hone_buf out = HONE_BUF_INIT;
    hone_version_tree(items, n, pool, lines);
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(&out, "%s\n", lines[i].lead);
    return hone_buf_steal(&out);
}

START_TEST(the_best_line_of_descent_keeps_its_column)
{
    static const struct hone_tree_item items[] = {
        {-1, 0, 'a', false},  {0, 1, 'b', false},   {0, 0.5, 'c', false}, {2, 2, 'd', false},
        {1, 0.2, 'e', false}, {0, NONE, 'x', true}, {4, NONE, 'y', true}, {-1, 0, 'r', false},
    };
    HONE_AUTOFREE char *text = leads(items, HONE_COUNTOF(items));
    ck_assert_str_eq(text, "a\n"
                           "|-b\n"
                           "| e\n"
                           "| `-y\n"
                           "|-x\n"
                           "c\n"
                           "d\n"
                           "r\n");
}
END_TEST

START_TEST(a_failed_try_branches_off_but_its_children_do_not)
{
    static const struct hone_tree_item items[] = {
        {-1, 0, 'a', false},
        {0, NONE, 'x', true},
        {1, 1, 'b', false},
    };
    HONE_AUTOFREE char *one = leads(items, 2);
    ck_assert_str_eq(one, "a\n`-x\n");
    HONE_AUTOFREE char *two = leads(items, 3);
    ck_assert_str_eq(two, "a\nx\nb\n");
}
END_TEST

/* Each version has two children, the better one a leaf: every generation branches off once more. */
START_TEST(branchings_without_end_stay_within_the_columns)
{
    enum { N = 4001 };
    HONE_AUTOFREE struct hone_tree_item *items = hone_calloc(N, sizeof(*items));
    items[0] = (struct hone_tree_item){.parent = -1, .sign = 'o'};
    for (int i = 1; i < N; i++)
        items[i] = (struct hone_tree_item){
            .parent = i % 2 != 0 ? i - 1 : i - 2, .worth = i % 2 != 0 ? N - i : 0, .sign = 'o'};
    HONE_AUTOFREE char *text = leads(items, N);
    size_t longest = 0;
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        longest = strcspn(at, "\n") > longest ? strcspn(at, "\n") : longest;
    ck_assert_uint_gt(longest, 40);
    ck_assert_uint_le(longest, 50);
}
END_TEST

static const char hostile[] = "\033[2J\x07"
                              "a\nb\tc \xff\xe2\x80\xae";

enum { N_STEPS = 600 };

static struct hone_report_step *many_steps(void)
{
    struct hone_report_step *steps = hone_calloc(N_STEPS, sizeof(*steps));
    for (int i = 0; i < N_STEPS; i++)
        steps[i] = (struct hone_report_step){
            .kind = i == 0 ? "root" : "expand",
            .parent = i == 0 ? -1 : (i - 1) / 2,
            .node = i,
            .words = hostile,
            .value = i % 7 == 3 ? NONE
                     : i == 77  ? 5
                                : 0.001 * i,
            .is_gain = i % 5 == 0,
            .evaluations = i,
            .verdict = "screened",
        };
    return steps;
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x7f || ((unsigned char)*text < ' ' && *text != '\n'))
            return false;
    return true;
}

START_TEST(a_screen_fits_and_holds_the_best_and_the_newest)
{
    static const size_t sizes[][2] = {{20, 8}, {80, 24}, {200, 50}, {1000, 700}, {1, 1}};
    HONE_AUTOFREE struct hone_report_step *steps = many_steps();
    struct hone_search_report report = {
        .id = "s-1",
        .name = hostile,
        .steps = {.v = steps, .n = N_STEPS},
        .intent = {.step = 9, .strategy = "C08", .rule = hostile},
        .target = "cpu",
    };
    for (size_t i = 0; i < HONE_COUNTOF(sizes); i++) {
        HONE_AUTOFREE char *text = hone_watch_screen(&report, true, sizes[i][0], sizes[i][1]);
        size_t lines = 0, width = sizes[i][0] < 20 ? 20 : sizes[i][0];
        for (const char *at = text; *at; at = strchr(at, '\n') + 1, lines++)
            ck_assert_uint_le(strcspn(at, "\n"), width);
        ck_assert_uint_le(lines, sizes[i][1] < 8 ? 8 : sizes[i][1]);
        ck_assert(is_plain(text));
    }
    HONE_AUTOFREE char *text = hone_watch_screen(&report, true, 120, 40);
    const char *best = strstr(text, "about 32x"); /* in the head */
    ck_assert_ptr_nonnull(best);
    ck_assert_ptr_nonnull(strstr(best + 1, "about 32x")); /* in the tree */
    ck_assert_ptr_nonnull(strstr(text, "about 1.51x"));   /* the last one */
    ck_assert_ptr_nonnull(strstr(text, "C08 thread the outer loop"));
    ck_assert_ptr_nonnull(strstr(text, "unconfirmed"));
    report.steps.n = 0;
    HONE_AUTOFREE char *empty = hone_watch_screen(&report, false, 80, 24);
    ck_assert_ptr_nonnull(strstr(empty, "no version yet"));
}
END_TEST

START_TEST(a_line_is_one_line)
{
    HONE_AUTOFREE struct hone_report_step *steps = many_steps();
    HONE_AUTOFREE char *line = hone_watch_line(&steps[5]);
    ck_assert(is_plain(line));
    ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
    ck_assert_ptr_nonnull(strstr(line, "[screened]"));
    steps[5] = (struct hone_report_step){
        .kind = "confirm", .value = 1, .ratio = 2, .verdict = "faster", .barred = hostile};
    HONE_AUTOFREE char *barred = hone_watch_line(&steps[5]);
    ck_assert(is_plain(barred));
    ck_assert_ptr_nonnull(strstr(barred, " ! 2x with fresh data: faster, not to be claimed: "));
}
END_TEST

UNIT_MAIN("watch_text", the_best_line_of_descent_keeps_its_column,
          a_failed_try_branches_off_but_its_children_do_not,
          branchings_without_end_stay_within_the_columns,
          a_screen_fits_and_holds_the_best_and_the_newest, a_line_is_one_line)
