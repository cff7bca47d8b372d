/* SPDX-License-Identifier: Apache-2.0 */
/* Which loop of an assembly text is taken for the hot one, and whether it has vectors. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/runner/binary/hot_loop.h"

#define AT(line) "# candidate.c:" line ":   text of it\n"

static const struct {
    const char *name, *text;
    bool is_known, is_vector;
    int64_t depth, line, other; /* line: of the loop; other: not of it */
} rows[] = {
    {"no loop", "f:\n" AT("3") "\taddss\t(%rdi), %xmm0\n\tret\n", false, false, 0, 0, 3},
    {"scalar sums", "f:\n.L3:\n" AT("4") "\tvaddss\t(%rdi), %xmm0, %xmm0\n\tjne\t.L3\t#,\n\tret\n",
     true, false, 1, 4, 3},
    {"packed sums", "f:\n.L3:\n" AT("4") "\tvaddps\t(%rdi), %zmm0, %zmm0\n\tjne\t.L3\t#,\n\tret\n",
     true, true, 1, 4, 3},
    {"a scalar copied with a packed move",
     "f:\n.L3:\n" AT("4") "\tmovaps\t%xmm1, %xmm0\t# a(b)\n\txorps\t%xmm2, %xmm2\n\tjne\t.L3\n",
     true, false, 1, 4, 3},
    {"the inner one of two",
     "f:\n.L2:\n" AT("3") "\tvaddps\t(%rdi), %ymm0, %ymm0\n.L3:\n" AT(
         "4") "\tvmulss\t%xmm1, %xmm0, %xmm0\n\tjne\t.L3\n\tjne\t.L2\n\tret\n",
     true, false, 2, 4, 3},
    {"vectors with their remainder",
     "f:\n.L3:\n" AT("4") "\tvfmadd231ps\t(%rdi), %ymm1, %ymm0\n\tjne\t.L3\n.L4:\n" AT(
         "4") "\tvfmadd231ss\t(%rdi), %xmm1, "
              "%xmm0\n\tincq\t%rax\n\tincq\t%rbx\n\tjne\t.L4\n\tret\n",
     true, true, 1, 4, 5},
    {"intrinsics: the line is of another file",
     "f:\n.L3:\n" AT("9") "\tincq\t%rax\n# /usr/lib/avx512fintrin.h:77:   return x\n"
                          "\tvmulps\t%zmm1, %zmm0, %zmm0\n\tjne\t.L3\n\tret\n",
     true, true, 1, 9, 77},
    {"a loop that another function calls in loops",
     "g:\n.L9:\n" AT("2") "\tvaddss\t%xmm1, %xmm0, %xmm0\n\tjne\t.L9\n\tret\n"
                          "f:\n.L2:\n" AT(
                              "6") "\tvaddps\t%zmm1, %zmm0, "
                                   "%zmm0\n\tjne\t.L2\n.L3:\n\tincq\t%rax\n.L4:\n" AT(
                                       "7") "\tcall\tg\t#\n\tjne\t.L4\n\tjne\t.L3\n\tret\n",
     true, false, 2 + 1, 2, 6},
    {"code behind the end that jumps back closes no loop",
     "f:\n" AT("3") "\tincq\t%rax\n.L5:\n" AT("4") "\tincq\t%rbx\n\tret\n.L8:\n" AT(
         "5") "\tincq\t%rcx\n\tjmp\t.L5\n",
     false, false, 0, 0, 4},
};

START_TEST(test_rows)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_hot_loop loop;
        hone_hot_loop_find(rows[i].text, strlen(rows[i].text), "candidate.c", &loop);
        ck_assert_msg(loop.is_known == rows[i].is_known, "%s", rows[i].name);
        ck_assert_msg(loop.is_vector == rows[i].is_vector, "%s", rows[i].name);
        ck_assert_msg(loop.depth == rows[i].depth, "%s: depth %lld", rows[i].name,
                      (long long)loop.depth);
        ck_assert_msg(rows[i].line == 0 || hone_hot_loop_has(&loop, rows[i].line), "%s",
                      rows[i].name);
        ck_assert_msg(!hone_hot_loop_has(&loop, rows[i].other), "%s", rows[i].name);
    }
}
END_TEST

/* A candidate's text is hostile: cut anywhere, it is read within its bounds. */
START_TEST(test_cut_text)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        for (size_t len = 0; len <= strlen(rows[i].text); len++) {
            struct hone_hot_loop loop;
            char *exact = malloc(len + 1);
            memcpy(exact, rows[i].text, len);
            hone_hot_loop_find(exact, len, "candidate.c", &loop);
            free(exact);
            ck_assert_int_ge(loop.depth, 0);
        }
}
END_TEST

UNIT_MAIN("hot_loop", test_rows, test_cut_text)
