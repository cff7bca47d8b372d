/* SPDX-License-Identifier: Apache-2.0 */
/* pack_panels: products in any layout keep their answer at sizes of all kinds, with tiles of all
 * shapes, with panels on the stack and allocated; what cannot be copied ahead is left alone. */
#include "tests/unit/agents/kernel_rig.h"

#include "workspace/base/file.h"

#define TEXT(text, body)                                                                           \
    {                                                                                              \
        .name = text, .source = "#include <stdint.h>\n"                                            \
                                "void " text "(double *C, const double *A, const double *B, "      \
                                "float *D, int64_t M, int64_t N, int64_t K)\n{\n" body "}\n"       \
    }
#define ROWS    "for (int64_t i = 0; i < M; i++)\n"
#define COLUMNS "    for (int64_t j = 0; j < N; j++) {\n        double s = 0;\n"
#define SUM     "        for (int64_t k = 0; k < K; k++)\n            "
#define END     "        C[i * N + j] = s;\n    }\n"

static const struct kernel kept[] = {
    /* neither operand lies along the columns, nor along the sum */
    TEXT("across", ROWS COLUMNS SUM "s += A[k * M + i] * B[j * K + k];\n" END),
    /* a sum of products with signs, numbers between factors, a factor of the sum alone */
    TEXT("terms", ROWS COLUMNS SUM
         "s -= 2 * A[i * K + k] * K * B[k * N + j] - (B[j * K + k] + A[k * M + i] * 3) + "
         "A[k] * A[i * K + k];\n" END),
    /* a product of three, and one where the row has no factor */
    TEXT("three",
         ROWS COLUMNS SUM "s += B[k * N + j] * A[i * K + k] * B[j] + A[k * N + j] / 2;\n" END),
    /* floats that are added as doubles */
    TEXT("mixed", ROWS COLUMNS SUM "s += (double)D[i * K + k] * D[k * N + j] * 0.1;\n" END),
    /* columns that grow and that shrink as rows go on, counters of 32 bits */
    TEXT("grows", ROWS "    for (int64_t j = 0; j <= i; j++) {\n        double s = 0;\n" SUM
                       "s += A[i * K + k] * A[j * K + k] + B[j * K + k] * B[i * K + k];\n"
                       "        C[i * M + j] += s;\n    }\n(void)N;\n"),
    TEXT("strict", ROWS "    for (int64_t j = i + 1; j < M; j++) {\n        double s = 0;\n" SUM
                        "s += A[k * M + i] * A[k * M + j];\n"
                        "        C[i * M + j] = s;\n    }\n(void)N;\n"),
    TEXT("shrinks", "for (int32_t i = 0; i < M; i++)\n"
                    "    for (int32_t j = 2; j < M - i; j++) {\n"
                    "        C[i * M + j] *= 0.5;\n"
                    "        for (int32_t k = 1; k < K; k++)\n"
                    "            C[i * M + j] -= A[k * M + i] * B[k * M + j];\n"
                    "    }\n(void)N;\n"),
    /* two sums at once; a statement of the row in front; a name that is taken */
    TEXT("two", "double *panel = C;\n" ROWS "    for (int64_t j = 0; j < N; j++) {\n"
                "        double s = 1, t = 2;\n"
                "        for (int64_t k = 0; k < K; k++) {\n"
                "            s += A[i * K + k] * B[k * N + j];\n"
                "            t = t - A[i * K + k] * B[j * K + k];\n"
                "        }\n"
                "        panel[i * N + j] = s / (1 + t * t);\n    }\n"),
    TEXT("front", "for (int64_t i = 0; i < M; i++) {\n"
                  "    D[i] = (float)A[i];\n"
                  "    for (int64_t j = 0; j < N; j++) {\n        double s = 0;\n" SUM
                  "s += A[i * K + k] * B[k * N + j];\n" END "}\n"),
};

static const struct kernel left_alone[] = {
    /* no product of a row and a column */
    TEXT("sums", ROWS COLUMNS SUM "s += A[i * K + k];\n" END),
    TEXT("numbers", ROWS COLUMNS SUM "s += A[i * K + k] * A[k];\n" END),
    /* a factor of both */
    TEXT("both", ROWS COLUMNS SUM "s += A[i + j + k] * B[k * N + j];\n" END),
    TEXT("inside", ROWS COLUMNS SUM "s += A[i * K + k] / (1 + B[k * N + j] * A[i]);\n" END),
    /* what a panel would hold changes under way */
    TEXT("in_place", ROWS COLUMNS SUM "s += A[i * K + k] * C[k * N + j];\n" END),
    TEXT("pointer",
         "const double *p = C;\n" ROWS COLUMNS SUM "s += A[i * K + k] * p[k * N + j];\n" END),
    TEXT("solves", "for (int64_t i = 0; i < M; i++)\n"
                   "    for (int64_t j = 0; j < N; j++) {\n"
                   "        double s = C[i * N + j];\n"
                   "        for (int64_t k = 0; k < i; k++)\n"
                   "            s -= A[i * M + k] * C[k * N + j];\n" END "(void)K;\n"),
    /* an order of elements that blocks would change */
    TEXT("carried", "for (int64_t i = 1; i < M; i++)\n"
                    "    for (int64_t j = 0; j < N - 1; j++) {\n"
                    "        double s = C[(i - 1) * N + j + 1];\n" SUM
                    "s += A[i * K + k] * B[j * K + k];\n" END),
};

static size_t try(struct hone_c_parser *parser, struct kernel kernel)
{
    static const char *const tiles[] = {"", "enum { MR = 1, NR = 1, DEPTH = 32 };\n",
                                        "enum { MR = 5, NR = 3, DEPTH = 64 };\n",
                                        "enum { MR = 3, NR = 4, DEPTH = 2 };\n"};
    return try_rule(parser, "pack_panels", kernel, tiles, HONE_COUNTOF(tiles));
}

START_TEST(products_keep_their_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++) {
        size_t n = try(parser, kept[i]);
        ck_assert_msg(n == 2, "%s: %zu places", kept[i].name, n);
    }
}
END_TEST

/* Places: with threads, and without. */
START_TEST(kernels_of_strangers_keep_their_answer)
{
    static const struct {
        const char *name;
        size_t n;
    } cases[] = {{"gemm", 2},       {"syrk", 2}, {"syr2k", 2}, {"mm2", 5},   {"mm3", 7},
                 {"covariance", 2}, {"trmm", 0}, {"atax", 0},  {"conv2d", 0}};
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_AUTOFREE char *text = NULL;
        size_t len;
        ck_assert_int_eq(
            hone_file_read(hone_pool_printf(pool, "tests/relatives/cpu/%s.c", cases[i].name),
                           1 << 16, &text, &len, NULL),
            0);
        size_t n = try(parser, (struct kernel){.name = cases[i].name, .source = text});
        ck_assert_msg(n == cases[i].n, "%s: %zu places", cases[i].name, n);
    }
}
END_TEST

START_TEST(what_cannot_be_copied_ahead_is_left_alone)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(left_alone); i++)
        ck_assert_msg(try(parser, left_alone[i]) == 0, "%s", left_alone[i].name);
}
END_TEST

UNIT_MAIN("pack_panels", products_keep_their_answer, kernels_of_strangers_keep_their_answer,
          what_cannot_be_copied_ahead_is_left_alone)
