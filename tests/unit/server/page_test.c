/* SPDX-License-Identifier: Apache-2.0 */
/* The page in one file, and the way up as a picture: foreign text stays text. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/page/page.h"
#include "server/page/search_svg.h"

static const char hostile[] = "</script><script>alert(1)</script>&\"'\x01 <!-- ]]>";

/* What a browser would read out of the file; owned. */
static struct hone_json *data_of(const char *text)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { MOST = 32 << 20 };
    const char *begin = strstr(text, "id=\"data\">");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("id=\"data\">");
    size_t n = strspn(begin, base64), n_bytes = 0, n_all = strspn(begin + n, "=");
    ck_assert_int_eq(strncmp(begin + n + n_all, "</script>", 9), 0); /* nothing else stands there */
    uint8_t *small = hone_calloc(1, n + 4);
    char *large = hone_calloc(1, MOST);
    for (size_t i = 0; i < n; i++) {
        size_t six = (size_t)(strchr(base64, begin[i]) - base64);
        for (int bit = 5; bit >= 0; bit--, n_bytes++)
            if (six >> bit & 1)
                small[n_bytes / 8] |= (uint8_t)(0x80 >> n_bytes % 8);
    }
    z_stream z = {.next_in = small, .avail_in = (uInt)(n_bytes / 8)};
    z.next_out = (Bytef *)large;
    z.avail_out = MOST - 1;
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    struct hone_json *ret = NULL;
    ck_assert_int_eq(hone_json_parse(large, z.total_out, &ret, NULL), 0);
    free(small);
    free(large);
    return ret;
}

START_TEST(data_cannot_end_the_script)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "name", hostile);
    HONE_AUTOFREE char *text = hone_page_static(data);
    HONE_AUTOJSON struct hone_json *again = data_of(text);
    ck_assert_str_eq(hone_json_get_str(again, "name", ""), hostile);
    ck_assert_ptr_null(strstr(text, "alert(1)</script>"));
    ck_assert_ptr_null(strstr(text, "src=\"/page.js\""));
    ck_assert_ptr_null(strstr(text, "href=\"/page.css\""));
}
END_TEST

/* A night: 1,000 versions of 6 kB that differ in some lines, with their steps. */
START_TEST(a_thousand_versions_are_small)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    struct hone_json *sources = hone_json_new_object(), *steps = hone_json_new_array();
    unsigned seed = 1;
    for (int v = 0; v < 1000; v++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf source = HONE_BUF_INIT;
        char commit[41];
        for (int i = 0; i < 40; i++)
            commit[i] = "0123456789abcdef"[rand_r(&seed) % 16];
        commit[40] = '\0';
        for (int line = 0; line < 150; line++)
            hone_buf_printf(&source, "    acc_%d[i] += a[i * N + %d] * b[k * M + %d];\n", line,
                            line * 7, rand_r(&seed) % 50 ? line : rand_r(&seed) % 100000);
        hone_json_set_str(sources, commit, source.data);
        struct hone_json *step = hone_json_new_object();
        hone_json_set_str(step, "commit", commit);
        hone_json_set_str(step, "words", "register tile around the reduction (loop i at line 7)");
        hone_json_set_f64(step, "value", rand_r(&seed) / 1e8);
        hone_json_set_i64(step, "parent", rand_r(&seed) % (v + 1));
        hone_json_push(steps, step);
    }
    hone_json_set(data, "sources", sources);
    hone_json_set(data, "steps", steps);
    HONE_AUTOFREE char *text = hone_page_static(data);
    HONE_AUTOJSON struct hone_json *again = data_of(text);
    ck_assert_uint_eq(hone_json_size(hone_json_get(again, "sources")), 1000);
    ck_assert_uint_lt(strlen(text), 3000000);
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
    struct hone_report_step steps[] = {
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
        .id = "s-1", .name = hostile, .steps = {.v = steps, .n = 4}};
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
    ck_assert_ptr_null(strstr(svg, "class=\"barred\""));
    steps[3].barred = hostile;
    HONE_AUTOFREE char *barred = hone_search_svg(&report);
    ck_assert_ptr_nonnull(strstr(barred, "class=\"barred\""));
    ck_assert_ptr_null(strstr(barred, "class=\"confirmed\""));
    ck_assert_ptr_null(strstr(barred, "<script"));
    ck_assert_ptr_nonnull(strstr(barred, "not to be claimed: "));
    steps[3].barred = NULL;
    steps[3].verdict = "inconclusive";
    HONE_AUTOFREE char *unsure = hone_search_svg(&report);
    ck_assert_ptr_nonnull(strstr(unsure, "class=\"unsure\""));
    ck_assert_ptr_nonnull(strstr(unsure, "(measured afresh, inconclusive)"));
    steps[3].verdict = "faster";
    /* a later look at a version stands where it measured, not where the version is taken to be */
    steps[1].ratio = 5;
    HONE_AUTOFREE char *own = hone_search_svg(&report);
    ck_assert_ptr_nonnull(strstr(own, ": 5x the baseline (screened)"));
    steps[1].ratio = 0;
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

UNIT_MAIN("page", data_cannot_end_the_script, a_thousand_versions_are_small, paths_are_exact,
          a_picture_has_each_step_and_no_foreign_element)
