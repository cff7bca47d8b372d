/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of two texts, line by line. */
#include "workspace/base/diff.h"

#include <string.h>

#include "tests/unit/unit.h"

START_TEST(line_diffs)
{
    static const struct {
        const char *from, *to, *want;
    } cases[] = {
        {"a\n", "a\n", ""},
        {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
        {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
        {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nX\n",
         "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+X\n"},
        {"A\n2\n3\n4\n5\n6\n7\n8\n9\nB\n", "a\n2\n3\n4\n5\n6\n7\n8\n9\nb\n",
         "@@ -1,4 +1,4 @@\n-A\n+a\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-B\n+b\n"},
    };

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        const char *patch, *body;
        const struct hone_diff_side from = {"f", cases[i].from}, to = {"t", cases[i].to};
        ck_assert_int_eq(hone_line_diff(&from, &to, pool, &patch, &err), 0);
        body = strstr(patch, "@@");
        ck_assert_str_eq(body != NULL ? body : "", cases[i].want);
    }
}
END_TEST

UNIT_MAIN("diff", line_diffs)
