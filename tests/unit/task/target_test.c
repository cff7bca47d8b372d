/* SPDX-License-Identifier: Apache-2.0 */
/* The table of targets: rows, words and names say the same. */
#include "workspace/task/target.h"

#include "tests/unit/unit.h"

START_TEST(rows_are_whole)
{
    for (int i = 0; i < HONE_N_TASK_TARGETS; i++) {
        const struct hone_target_traits *row = &hone_targets[i];
        enum hone_task_target target = HONE_N_TASK_TARGETS;

        ck_assert_ptr_nonnull(row->name);
        ck_assert_str_eq(hone_target_words[i], row->name);
        ck_assert(hone_task_target_parse(row->name, &target) && (int)target == i);
        ck_assert_ptr_eq(hone_target_traits(row->name), row);
        HONE_AUTOFREE char *path = hone_sprintf("kernels/naive.%s", row->extension);
        ck_assert_str_eq(row->naive_path, path);
        ck_assert_ptr_nonnull(row->loose_math[0]);
        ck_assert_ptr_null(row->loose_math[HONE_COUNTOF(row->loose_math) - 1]);
    }
    ck_assert_ptr_null(hone_target_words[HONE_N_TASK_TARGETS]);
}
END_TEST

START_TEST(other_words)
{
    static const char *const words[] = {NULL, "", "CUDA", "cuda ", "cpu,cuda"};
    enum hone_task_target target;

    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        ck_assert(!hone_task_target_parse(words[i], &target));
        ck_assert_ptr_eq(hone_target_traits(words[i]), &hone_targets[HONE_TASK_CPU]);
    }
}
END_TEST

UNIT_MAIN("target", rows_are_whole, other_words)
