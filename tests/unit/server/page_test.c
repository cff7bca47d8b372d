/* SPDX-License-Identifier: Apache-2.0 */
/* The page in one file, and the way up as a picture: foreign text stays text. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/page/page.h"
#include "server/page/search_svg.h"

static const char hostile[] = "</script><script>alert(1)</script>&\"'\x01 <!-- ]]>";

START_TEST(data_cannot_end_the_script)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "name", hostile);
    HONE_AUTOFREE char *text = hone_page_static(data);
    const char *begin = strstr(text, "id=\"data\">");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("id=\"data\">");
    const char *end = strstr(begin, "</script>");
    ck_assert_ptr_nonnull(end);
    struct hone_json *again = NULL;
    ck_assert_int_eq(hone_json_parse(begin, (size_t)(end - begin), &again, NULL), 0);
    ck_assert_str_eq(hone_json_get_str(again, "name", ""), hostile);
    hone_json_free(again);
    ck_assert_ptr_null(strstr(text, "alert(1)</script>"));
    ck_assert_ptr_null(strstr(text, "src=\"/page.js\""));
    ck_assert_ptr_null(strstr(text, "href=\"/page.css\""));
}
END_TEST

START_TEST(paths_are_exact)
{
    static const char *const none[] = {"", "/page", "/page.jsx", "/../page.js", "page.js", "/mcp"};
    for (size_t i = 0; i < HONE_COUNTOF(none); i++)
        ck_assert_ptr_null(hone_page_find(none[i]));
    ck_assert_ptr_nonnull(hone_page_find("/?token=x"));
    ck_assert_str_eq(hone_page_find("/page.js?v=1")->path, "/page.js");
}
END_TEST

START_TEST(a_picture_has_each_step_and_no_foreign_element)
{
    static const struct hone_report_step steps[] = {
        {.kind = "root",
         .parent = -1,
         .node = 0,
         .value = 0,
         .evaluations = 1,
         .verdict = "screened"},
        {.kind = "expand",
         .parent = 0,
         .node = 1,
         .words = hostile,
         .value = 1.5,
         .evaluations = 2,
         .is_gain = true,
         .verdict = "screened"},
        {.kind = "expand",
         .parent = 1,
         .node = -1,
         .words = "wrong",
         .value = (double)NAN,
         .evaluations = 3,
         .verdict = "incorrect"},
        {.kind = "confirm",
         .parent = 0,
         .node = 1,
         .value = 1.4,
         .evaluations = 4,
         .verdict = "faster"},
    };
    struct hone_search_report report = {
        .id = "s-1", .name = hostile, .steps = {.v = (void *)(uintptr_t)steps, .n = 4}};
    HONE_AUTOFREE char *svg = hone_search_svg(&report);
    size_t n = 0;
    for (const char *at = strstr(svg, "<title>"); at; at = strstr(at + 1, "<title>"))
        n++;
    ck_assert_uint_eq(n, 4);
    ck_assert_ptr_null(strstr(svg, "<script"));
    ck_assert_ptr_null(strstr(svg, "\x01"));
    ck_assert_ptr_nonnull(strstr(svg, "class=\"confirmed\""));
    ck_assert_ptr_nonnull(strstr(svg, "class=\"wrong\""));
    ck_assert_ptr_nonnull(strstr(svg, "2.83x the baseline"));
    ck_assert_ptr_null(strstr(svg, "class=\"whisker\""));
    /* ended: the interval of the confirmation, and a summary in lines that fit */
    report.end = hone_json_new_object();
    struct hone_json *ci = hone_json_new_array();
    hone_json_push(ci, hone_json_new_f64(2));
    hone_json_push(ci, hone_json_new_f64(3));
    hone_json_set(report.end, "ci", ci);
    char summary[400];
    for (size_t i = 0; i < sizeof(summary) - 1; i++)
        summary[i] = (char)(i % 9 == 8 ? ' ' : 'w');
    summary[sizeof(summary) - 1] = '\0';
    hone_json_set_str(report.end, "summary", summary);
    HONE_AUTOFREE char *ended = hone_search_svg(&report);
    ck_assert_ptr_nonnull(strstr(ended, "class=\"whisker\""));
    const char *first = strstr(ended, "class=\"note\"");
    ck_assert_ptr_nonnull(first);
    ck_assert_uint_lt(strcspn(first, "\n"), 180);
    ck_assert_ptr_nonnull(strstr(first, "...</text>"));
    hone_json_free(report.end);
    report.end = NULL;
    /* nothing was tried yet */
    report.steps.n = 0;
    HONE_AUTOFREE char *empty = hone_search_svg(&report);
    ck_assert_ptr_nonnull(strstr(empty, "</svg>"));
}
END_TEST

UNIT_MAIN("page", data_cannot_end_the_script, paths_are_exact,
          a_picture_has_each_step_and_no_foreign_element)
