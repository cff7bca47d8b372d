/* SPDX-License-Identifier: Apache-2.0 */
/* skewed_lanes: recurrences over rows and columns keep their answer at sizes of all kinds and with
 * strips of all widths; what does not follow from the row above alone is left as it is. */
#include "tests/unit/agents/kernel_rig.h"

#define HEAD "#include <stdint.h>\n#include <math.h>\n#include <stdlib.h>\n"
#define ROWS                                                                                       \
    "double *prev = malloc((N + 1) * sizeof *prev), *cur = malloc((N + 1) * sizeof *cur);\n"       \
    "for (int64_t j = 0; j <= N; j++)\n"                                                           \
    "    prev[j] = (double)j, cur[j] = 0;\n"
#define ROWS_END                                                                                   \
    "for (int64_t j = 0; j <= N; j++)\n"                                                           \
    "    C[j] = prev[j], C[N + 1 + j] = cur[j];\n"                                                 \
    "free(prev), free(cur);\n"                                                                     \
    "(void)A, (void)B, (void)K;\n"
#define TEXT(name, body)                                                                           \
    {                                                                                              \
        name, HEAD "static double least(double a, double b)\n{\n    return a < b ? a : b;\n}\n"    \
                   "void " name "(double *C, double *A, const double *B, int64_t M, int64_t N, "   \
                   "int64_t K)\n{\n" body "}\n"                                                    \
    }

struct text {
    const char *name, *source;
};

static const struct text kept[] = {
    /* a row that each i overwrites, its corner in a scalar */
    TEXT("edit_distance", "for (int64_t j = 0; j <= N; j++)\n"
                          "    C[j] = (double)j;\n"
                          "for (int64_t i = 1; i <= M; i++) {\n"
                          "    double diag = C[0];\n"
                          "    C[0] = (double)i;\n"
                          "    for (int64_t j = 1; j <= N; j++) {\n"
                          "        double old = C[j];\n"
                          "        double cost = A[i - 1] < B[j - 1] ? 0 : 1;\n"
                          "        C[j] = least(least(old + 1, C[j - 1] + 1), diag + cost);\n"
                          "        diag = old;\n"
                          "    }\n"
                          "}\n(void)K;\n"),
    /* a matrix by pointers, with its own first column */
    TEXT("warping", "for (int64_t i = 1; i < M; i++) {\n"
                    "    const double *up = C + (i - 1) * N;\n"
                    "    double *row = C + i * N;\n"
                    "    row[0] = up[0] + fabs(A[i] - B[0]);\n"
                    "    for (int64_t j = 1; j < N; j++) {\n"
                    "        double best = up[j];\n"
                    "        if (row[j - 1] < best)\n"
                    "            best = row[j - 1];\n"
                    "        if (up[j - 1] < best)\n"
                    "            best = up[j - 1];\n"
                    "        row[j] = best + fabs(A[i] - B[j]);\n"
                    "    }\n"
                    "}\n(void)K;\n"),
    /* the greatest of all, which is no part of the recurrence */
    TEXT("alignment", "double best = 0;\n"
                      "for (int i = 1; i <= M; i++)\n"
                      "    for (int j = 1; j <= N; j++) {\n"
                      "        double s = B[i - 1] < B[j - 1] ? 2 : -1;\n"
                      "        double h = C[(i - 1) * (N + 1) + (j - 1)] + s;\n"
                      "        h = fmax(h, C[(i - 1) * (N + 1) + j] - 1);\n"
                      "        h = fmax(h, C[i * (N + 1) + (j - 1)] - 1);\n"
                      "        C[i * (N + 1) + j] = h;\n"
                      "        if (h > best)\n"
                      "            best = h;\n"
                      "    }\n"
                      "A[0] = best;\n(void)K;\n"),
    /* two arrays that follow from each other, one a matrix and one a row */
    TEXT("affine_gaps", "for (int64_t i = 1; i < M; i++) {\n"
                        "    double e = -1e3;\n"
                        "    for (int64_t j = 1; j < N; j++) {\n"
                        "        e = fmax(e - 0.25, C[i * N + j - 1] - 1);\n"
                        "        A[j] = fmax(A[j] - 0.25, C[(i - 1) * N + j] - 1);\n"
                        "        C[i * N + j] = fmax(fmax(e, A[j]), C[(i - 1) * N + j - 1] +\n"
                        "                                               B[i * 3] * B[j]);\n"
                        "    }\n"
                        "}\n(void)K;\n"),
    /* a cascade of filters in place, what is left at the end of each, a sum of all */
    TEXT("cascade", "double total = 0;\n"
                    "for (int64_t i = 0; i < M; i++) {\n"
                    "    double last = B[i], half = 0.5 * last;\n"
                    "    for (int64_t j = 1; j < N; j++) {\n"
                    "        C[j] = half * C[j] + 0.25 * C[j - 1];\n"
                    "        last = 0.5 * last + C[j];\n"
                    "        total += last;\n"
                    "    }\n"
                    "    A[i + 1] = last;\n"
                    "}\n"
                    "A[0] = total;\n(void)K;\n"),
    /* the corner and the left alone */
    TEXT("corner",
         "for (int64_t i = 2; i < M; i++)\n"
         "    for (int64_t j = 2; j < N; j++)\n"
         "        C[i * N + j] = 0.5 * C[(i - 1) * N + j - 1] + 0.25 * C[i * N + j - 1] + \n"
         "                       B[j + K];\n(void)A;\n"),
    /* two rows whose pointers change places */
    TEXT("two_rows", ROWS "for (int64_t i = 1; i <= M; i++) {\n"
                          "    cur[0] = (double)i;\n"
                          "    for (int64_t j = 1; j <= N; j++) {\n"
                          "        double cost = A[i - 1] < B[j - 1] ? 0 : 1;\n"
                          "        double way = least(prev[j] + 1, cur[j - 1] + 1);\n"
                          "        cur[j] = least(way, prev[j - 1] + cost);\n"
                          "    }\n"
                          "    double *swap = prev;\n"
                          "    prev = cur;\n"
                          "    cur = swap;\n"
                          "}\n" ROWS_END),
    TEXT("two_rows_down", ROWS "double *swap;\n"
                               "double last = 0;\n"
                               "for (int64_t i = 0; i < M; i++) {\n"
                               "    double first = prev[0], s = 0;\n"
                               "    cur[0] = first + B[i];\n"
                               "    for (int64_t j = 1; j <= N; j++) {\n"
                               "        s = 0.5 * s + prev[j - 1];\n"
                               "        cur[j] = 0.25 * s + 0.5 * cur[j - 1];\n"
                               "    }\n"
                               "    swap = cur;\n"
                               "    cur = prev;\n"
                               "    prev = swap;\n"
                               "    A[i] = s;\n"
                               "}\n"
                               "(void)last;\n" ROWS_END),
    /* both ways of a branch write; a row that is copied to the one above */
    TEXT("common", ROWS "for (int64_t i = 1; i <= M; i++) {\n"
                        "    cur[0] = (double)i;\n"
                        "    for (int64_t j = 1; j <= N; j++) {\n"
                        "        if (A[i - 1] < B[j - 1]) {\n"
                        "            cur[j] = prev[j - 1] + 1;\n"
                        "        } else {\n"
                        "            double up = prev[j];\n"
                        "            cur[j] = up > cur[j - 1] ? up : cur[j - 1];\n"
                        "            cur[j] = cur[j] + 0.25;\n"
                        "        }\n"
                        "    }\n"
                        "    for (int64_t j = 0; j <= N; j++)\n"
                        "        prev[j] = cur[j];\n"
                        "}\n" ROWS_END),
    TEXT("common_in_all",
         "for (int64_t i = 1; i < M; i++)\n"
         "    for (int64_t j = 1; j < N; j++)\n"
         "        if (A[i - 1] < B[j - 1])\n"
         "            C[i * N + j] = C[(i - 1) * N + j - 1] + 1;\n"
         "        else\n"
         "            C[i * N + j] = least(C[(i - 1) * N + j], C[i * N + j - 1]);\n"
         "(void)K;\n"),
    TEXT("copied_down", ROWS "for (int64_t i = 0; i < M; i++) {\n"
                             "    double s = B[i];\n"
                             "    for (int64_t j = 2; j <= N; j++) {\n"
                             "        s = 0.5 * s + prev[j];\n"
                             "        cur[j] = s + 0.5 * cur[j - 1];\n"
                             "    }\n"
                             "    for (int64_t k = 1; k <= N; k++)\n"
                             "        prev[k] = cur[k];\n"
                             "}\n" ROWS_END),
};

static const struct text left_alone[] = {
    /* copies of other columns, to one more row, of what the columns do not write */
    TEXT("copied_less", ROWS "for (int64_t i = 0; i < M; i++) {\n"
                             "    for (int64_t j = 1; j <= N; j++)\n"
                             "        cur[j] = prev[j] + 0.5 * cur[j - 1];\n"
                             "    for (int64_t k = 2; k <= N; k++)\n"
                             "        prev[k] = cur[k];\n"
                             "}\n" ROWS_END),
    TEXT("copied_beside", ROWS "for (int64_t i = 0; i < M; i++) {\n"
                               "    for (int64_t j = 1; j < N; j++)\n"
                               "        cur[j] = prev[j] + 0.5 * cur[j - 1];\n"
                               "    for (int64_t k = 1; k < N; k++)\n"
                               "        prev[k + 1] = cur[k + 1];\n"
                               "}\n" ROWS_END),
    TEXT("copied_back", ROWS "for (int64_t i = 0; i < M; i++) {\n"
                             "    for (int64_t j = 1; j <= N; j++)\n"
                             "        cur[j] = prev[j] + 0.5 * cur[j - 1];\n"
                             "    for (int64_t k = 1; k <= N; k++)\n"
                             "        cur[k] = prev[k];\n"
                             "}\n" ROWS_END),
    TEXT("one_way", "for (int64_t i = 1; i < M; i++)\n"
                    "    for (int64_t j = 1; j < N; j++)\n"
                    "        if (A[i - 1] < B[j - 1])\n"
                    "            C[i * N + j] = C[(i - 1) * N + j - 1] + 1;\n"
                    "        else if (A[i] > 1.5)\n"
                    "            C[i * N + j] = least(C[(i - 1) * N + j], C[i * N + j - 1]);\n"
                    "(void)K;\n"),
    TEXT("old_in_a_branch", "for (int64_t i = 1; i < M; i++)\n"
                            "    for (int64_t j = 1; j < N; j++)\n"
                            "        if (A[i - 1] < B[j - 1])\n"
                            "            C[i * N + j] = C[(i - 1) * N + j - 1] + 1;\n"
                            "        else\n"
                            "            C[i * N + j] = C[i * N + j] + C[i * N + j - 1];\n"
                            "(void)K;\n"),
    /* pointers change places that are read alone */
    TEXT("read_in_turns", ROWS "for (int64_t i = 0; i < M; i++) {\n"
                               "    for (int64_t j = 1; j <= N; j++)\n"
                               "        C[j] = 0.5 * C[j - 1] + prev[j];\n"
                               "    double *swap = prev;\n"
                               "    prev = cur;\n"
                               "    cur = swap;\n"
                               "}\n"
                               "(void)A, (void)B, (void)K;\n"),
    /* pointers that may be the same, that change places elsewhere too, that are three */
    TEXT("one_buffer", ROWS "cur = prev + 1;\n"
                            "for (int64_t i = 1; i <= M; i++) {\n"
                            "    for (int64_t j = 1; j < N; j++)\n"
                            "        cur[j] = prev[j] + 0.5 * cur[j - 1];\n"
                            "    double *swap = prev;\n"
                            "    prev = cur;\n"
                            "    cur = swap;\n"
                            "}\n"
                            "(void)A, (void)C, (void)B, (void)K;\n"),
    TEXT("other_rows", ROWS "double *old = malloc((N + 1) * sizeof *old);\n"
                            "for (int64_t j = 0; j <= N; j++)\n"
                            "    old[j] = 0;\n"
                            "for (int64_t i = 1; i <= M; i++) {\n"
                            "    for (int64_t j = 1; j <= N; j++)\n"
                            "        cur[j] = old[j] + 0.5 * cur[j - 1];\n"
                            "    double *swap = old;\n"
                            "    old = prev;\n"
                            "    prev = cur;\n"
                            "    cur = swap;\n"
                            "}\n" ROWS_END),
    TEXT("old_of_two", ROWS "for (int64_t i = 1; i <= M; i++) {\n"
                            "    for (int64_t j = 1; j <= N; j++)\n"
                            "        cur[j] = cur[j] + prev[j] + 0.5 * cur[j - 1];\n"
                            "    double *swap = prev;\n"
                            "    prev = cur;\n"
                            "    cur = swap;\n"
                            "}\n" ROWS_END),
    TEXT("right_of_it",
         "for (int64_t i = 0; i < M; i++)\n"
         "    for (int64_t j = 1; j < N; j++)\n"
         "        C[j] = 0.5 * C[j - 1] + 0.25 * C[j + 1];\n(void)A, (void)B, (void)K;\n"),
    TEXT("above_right", "for (int64_t i = 1; i < M; i++)\n"
                        "    for (int64_t j = 1; j < N - 1; j++)\n"
                        "        C[i * N + j] = 0.5 * C[i * N + j - 1] + C[(i - 1) * N + j + 1];\n"
                        "(void)A, (void)B, (void)K;\n"),
    TEXT("two_rows_up", "for (int64_t i = 2; i < M; i++)\n"
                        "    for (int64_t j = 1; j < N; j++)\n"
                        "        C[i * N + j] = 0.5 * C[i * N + j - 1] + C[(i - 2) * N + j];\n"
                        "(void)A, (void)B, (void)K;\n"),
    TEXT("triangle", "for (int64_t i = 1; i < M; i++)\n"
                     "    for (int64_t j = 1; j < i; j++)\n"
                     "        C[i * M + j] = 0.5 * C[i * M + j - 1] + C[(i - 1) * M + j];\n"
                     "(void)A, (void)B, (void)N, (void)K;\n"),
    TEXT("first_column",
         "for (int64_t i = 1; i < M; i++)\n"
         "    for (int64_t j = 0; j < N; j++)\n"
         "        C[i * N + j] = (j > 0 ? C[i * N + j - 1] : 0) + C[(i - 1) * N + j];\n"
         "(void)A, (void)B, (void)K;\n"),
    TEXT("first_row",
         "for (int64_t i = 0; i < M; i++)\n"
         "    for (int64_t j = 1; j < N; j++)\n"
         "        C[i * N + j] = C[i * N + j - 1] + (i > 0 ? C[(i - 1) * N + j] : 0);\n"
         "(void)A, (void)B, (void)K;\n"),
    TEXT("leaves", "for (int64_t i = 1; i < M; i++)\n"
                   "    for (int64_t j = 1; j < N; j++) {\n"
                   "        if (B[j] > 2)\n"
                   "            break;\n"
                   "        C[i * N + j] = C[i * N + j - 1] + C[(i - 1) * N + j];\n"
                   "    }\n(void)A, (void)K;\n"),
    TEXT("old_element", "for (int64_t i = 1; i < M; i++)\n"
                        "    for (int64_t j = 1; j < N; j++)\n"
                        "        C[i * N + j] += 0.5 * C[i * N + j - 1] + C[(i - 1) * N + j];\n"
                        "(void)A, (void)B, (void)K;\n"),
    /* what a row begins with is a column of the loop */
    TEXT("border_inside", "for (int64_t i = 1; i < M; i++) {\n"
                          "    double s = C[3];\n"
                          "    for (int64_t j = 1; j < N; j++) {\n"
                          "        s = 0.5 * s + C[j];\n"
                          "        C[j] = s + C[j - 1];\n"
                          "    }\n"
                          "}\n(void)A, (void)B, (void)K;\n"),
    /* behind its columns a row reads them */
    TEXT("reads_back", "for (int64_t i = 0; i < M; i++) {\n"
                       "    for (int64_t j = 1; j < N; j++)\n"
                       "        C[j] = 0.5 * C[j - 1] + B[j];\n"
                       "    A[i] = C[N - 1];\n"
                       "}\n(void)K;\n"),
    /* a row begins with what the last one left elsewhere */
    TEXT("handed_on", "for (int64_t i = 1; i < M; i++) {\n"
                      "    double s = A[i - 1];\n"
                      "    for (int64_t j = 1; j < N; j++) {\n"
                      "        s = 0.5 * s + C[j];\n"
                      "        C[j] = s;\n"
                      "    }\n"
                      "    A[i] = s;\n"
                      "}\n(void)B, (void)K;\n"),
    TEXT("at_times", "for (int64_t i = 1; i < M; i++)\n"
                     "    for (int64_t j = 1; j < N; j++)\n"
                     "        if (B[j] > 1)\n"
                     "            C[j] = 0.5 * C[j - 1] + C[j];\n(void)A, (void)K;\n"),
    TEXT("counts", "int64_t n = 0;\n"
                   "for (int64_t i = 1; i < M; i++)\n"
                   "    for (int64_t j = 1; j < N; j++) {\n"
                   "        C[j] = 0.5 * C[j - 1] + B[n % 7];\n"
                   "        n = (n * 3 + 1) % 64;\n"
                   "    }\n(void)A, (void)K;\n"),
    TEXT("other_name", "double *u = C + K;\n"
                       "if (K > 5)\n"
                       "    u = C;\n"
                       "for (int64_t i = 1; i < M; i++)\n"
                       "    for (int64_t j = 1; j < N; j++)\n"
                       "        C[j] = 0.5 * C[j - 1] + u[j];\n(void)A, (void)B;\n"),
};

static size_t try(struct hone_c_parser *parser, const struct text *text)
{
    static const char *const widths[] = {"", "enum { LANES = 1 };\n", "enum { LANES = 3 };\n",
                                         "enum { LANES = 8 };\n"};
    return try_rule(parser, "skewed_lanes",
                    (struct kernel){.name = text->name, .source = text->source}, widths,
                    HONE_COUNTOF(widths));
}

START_TEST(rows_keep_the_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++)
        ck_assert_msg(try(parser, &kept[i]) == 1, "%s", kept[i].name);
}
END_TEST

START_TEST(what_does_not_follow_is_left_alone)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(left_alone); i++)
        ck_assert_msg(try(parser, &left_alone[i]) == 0, "%s", left_alone[i].name);
}
END_TEST

UNIT_MAIN("skewed_lanes", rows_keep_the_answer, what_does_not_follow_is_left_alone)
