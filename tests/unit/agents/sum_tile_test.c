/* SPDX-License-Identifier: Apache-2.0 */
/* sum_tile: kernels whose sums have edges keep their answer at sizes of all kinds and with tiles of
 * all shapes; texts that look like them and may not be cut into blocks are left alone. */
#include "tests/unit/agents/kernel_rig.h"

#include "workspace/base/file.h"

#define TEXT(name, body)                                                                           \
    {                                                                                              \
        name, "#include <stdint.h>\n"                                                              \
              "void " name "(double *C, const double *A, const double *B, int64_t M, int64_t N,"   \
              " int64_t K)\n{\n" body "}\n"                                                        \
    }

static const struct text {
    const char *name, *source;
} kept[] = {
    /* rows that have no column at all */
    TEXT("strict", "for (int64_t i = 0; i < M; i++)\n"
                   "    for (int64_t j = 0; j < i; j++) {\n"
                   "        double s = 0;\n"
                   "        for (int64_t k = 0; k < K; k++)\n"
                   "            s += A[(i + 1) * K + k] * A[j * K + k];\n"
                   "        C[i * M + j] = s + B[j];\n"
                   "    }\n(void)N;\n"),
    /* columns that shrink as rows go on, counters of 32 bits */
    TEXT("shrinks", "for (int32_t i = 0; i < M; i++)\n"
                    "    for (int32_t j = 2; j < M - i; j++) {\n"
                    "        C[i * M + j] *= 0.5;\n"
                    "        for (int32_t k = 0; k < K; k++)\n"
                    "            C[i * M + j] -= A[k * M + i] * B[k * M + j];\n"
                    "    }\n(void)N;\n"),
    /* two sums, one of them of differences */
    TEXT("two", "for (int64_t i = 0; i < M; i++) {\n"
                "    double s = 1, t = 2;\n"
                "    for (int64_t k = 0; k <= i; k++) {\n"
                "        s = s - A[i * M + k] * B[k];\n"
                "        t = A[i * M + k] + t;\n"
                "    }\n"
                "    C[i] = s / (1 + t * t);\n"
                "}\n(void)N, (void)K;\n"),
    /* a name that the sum's counter hides, and a loop beside the sum */
    TEXT("hides", "int64_t k = 3;\n"
                  "for (int64_t i = 0; i < M; i++) {\n"
                  "    double s = A[k];\n"
                  "    for (int64_t k = 0; k < K; k++)\n"
                  "        s += A[i * K + k] * A[k];\n"
                  "    for (int64_t j = 0; j < N; j++)\n"
                  "        C[j] += s * (double)k;\n"
                  "}\n"),
    /* rows that add to arrays that they share, spelled in two ways */
    {"adds", "#include <stdint.h>\n"
             "void adds(double *C, double *D, double *E, const double *A, const double *B,"
             " int64_t M, int64_t K)\n{\n"
             "for (int64_t i = 0; i < M; i++) {\n"
             "    double s = 0;\n"
             "    for (int64_t k = 1; k < K; k++) {\n"
             "        C[k] += B[i] * A[i * K + k];\n"
             "        s += A[i * K + k] * B[k];\n"
             "        D[k + 2] = D[k + 2] - B[i] * A[i * K + k];\n"
             "    }\n"
             "    E[i] = s;\n"
             "}\n}\n"},
    /* in parts, as thread_bins makes them: bin_tile does both */
    {"parts", "#include <stdint.h>\n"
              "void parts(double *C, double *E, const double *A, const double *B,"
              " int64_t M, int64_t K)\n{\n"
              "double parts_of[2 * 64];\n"
              "#pragma omp parallel for\nfor (int part = 0; part < 2; part++) {\n"
              "    double *restrict own = parts_of + part * 64;\n"
              "    for (int64_t k = 0; k < K; k++)\n"
              "        own[k] = 0;\n"
              "    const int64_t i_from = M * part / 2, i_to = M * (part + 1) / 2;\n"
              "    for (int64_t i = i_from; i < i_to; i++) {\n"
              "        double s = 0;\n"
              "        for (int64_t k = 0; k < K; k++) {\n"
              "            own[k] += B[i] * A[i * K + k];\n"
              "            s += A[i * K + k] * B[k];\n"
              "        }\n"
              "        E[i] = s;\n"
              "    }\n"
              "}\n"
              "for (int64_t k = 0; k < K; k++)\n"
              "    C[k] += parts_of[k] + parts_of[64 + k];\n"
              "}\n"},
    /* no sum beside them */
    {"column_sums", "#include <stdint.h>\n"
                    "void column_sums(double *C, const double *A, int64_t M, int64_t K)\n"
                    "{\n"
                    "for (int64_t i = 0; i < M; i++)\n"
                    "    for (int64_t k = 0; k < K; k++)\n"
                    "        C[k] += A[i * K + k] * A[i];\n"
                    "}\n"},
    {"filter", "#include <stdint.h>\n"
               "void filter(double *C, const double *A, const double *B, int64_t M, int64_t K)\n"
               "{\n"
               "for (int64_t i = 0; i < M; i++)\n"
               "    for (int64_t k = 0; k < K; k++)\n"
               "        C[k] -= A[i + k] * B[i];\n"
               "}\n"},
    /* one of them is read: each row's additions in their place */
    {"reads", "#include <stdint.h>\n"
              "void reads(double *C, double *E, const double *A, const double *B,"
              " int64_t M, int64_t K)\n{\n"
              "for (int64_t i = 0; i < M; i++) {\n"
              "    double s = 0;\n"
              "    for (int64_t k = 0; k < K; k++) {\n"
              "        C[k] += B[i] * A[i * K + k];\n"
              "        s += A[i * K + k] * B[k];\n"
              "    }\n"
              "    E[i] = s + C[0];\n"
              "}\n}\n"},
    /* what is added was written for the row just before */
    {"written", "#include <stdint.h>\n"
                "void written(double *C, double *E, const double *A, const double *B,"
                " int64_t M, int64_t K)\n{\n"
                "for (int64_t i = 0; i < M; i++) {\n"
                "    double s = 0;\n"
                "    E[i] = B[i] * 2;\n"
                "    for (int64_t k = 0; k < K; k++) {\n"
                "        C[k] += E[i] * A[i * K + k];\n"
                "        s += A[i * K + k] * B[k];\n"
                "    }\n"
                "    E[i] += s;\n"
                "}\n}\n"},
    /* a solver from below: what is read was written by rows before */
    TEXT("solves", "for (int64_t i = 1; i < M; i++) {\n"
                   "    for (int64_t k = 0; k < i - 1; k++)\n"
                   "        C[i] -= A[i * M + k] * C[k];\n"
                   "    C[i] = C[i] * 0.25;\n"
                   "}\n(void)N, (void)K;\n"),
};

static const struct text left_alone[] = {
    /* rows that read nothing in common */
    TEXT("squares", "for (int64_t i = 0; i < M; i++) {\n"
                    "    double s = 0;\n"
                    "    for (int64_t k = 0; k < K; k++)\n"
                    "        s += A[i * K + k] * A[i * K + k];\n"
                    "    C[i] = s;\n"
                    "}\n(void)N;\n"),
    /* reads what its own block writes */
    TEXT("reads_row", "for (int64_t i = 0; i < M; i++)\n"
                      "    for (int64_t j = 0; j < N; j++) {\n"
                      "        double s = C[i * N + j];\n"
                      "        for (int64_t k = 0; k <= i; k++)\n"
                      "            s += A[i * M + k] * C[k * N + j];\n"
                      "        C[i * N + j] = s;\n"
                      "    }\n(void)K;\n"),
    /* rows of C may overlap: K is no row's length */
    TEXT("pitched", "for (int64_t i = 0; i < M; i++)\n"
                    "    for (int64_t j = 0; j < N; j++) {\n"
                    "        double s = C[i * K + j];\n"
                    "        for (int64_t k = 0; k < i; k++)\n"
                    "            s += A[i * M + k] * C[k * K + j];\n"
                    "        C[i * K + j] = s;\n"
                    "    }\n"),
    /* an element that no pair of row and column outside of the triangle has */
    TEXT("speculates", "for (int64_t i = 0; i < M; i++)\n"
                       "    for (int64_t j = 0; j < i; j++) {\n"
                       "        double s = 0;\n"
                       "        for (int64_t k = 0; k < K; k++)\n"
                       "            s += A[i - j + k] * A[j * K + k];\n"
                       "        C[i * M + j] = s;\n"
                       "    }\n(void)N;\n"),
    /* an order of elements that blocks would change */
    TEXT("carried", "for (int64_t i = 1; i < M; i++)\n"
                    "    for (int64_t j = 0; j < N - 1; j++) {\n"
                    "        double s = C[(i - 1) * N + j + 1];\n"
                    "        for (int64_t k = 0; k < K; k++)\n"
                    "            s += A[i * K + k] * B[j * K + k];\n"
                    "        C[i * N + j] = s;\n"
                    "    }\n"),
    /* the sum leaves the nest */
    TEXT("outside", "double s = 0;\n"
                    "for (int64_t i = 0; i < M; i++)\n"
                    "    for (int64_t j = 0; j < i; j++) {\n"
                    "        double t = 0;\n"
                    "        for (int64_t k = 0; k < K; k++)\n"
                    "            s += A[i * K + k] * A[j * K + k], t += s;\n"
                    "        C[i * M + j] = t;\n"
                    "    }\n(void)N;\n"),
};

static size_t try(struct hone_c_parser *parser, struct kernel kernel)
{
    static const char *const tiles[] = {"", "enum { MR = 1, NR = 1, LANES = 4 };\n",
                                        "enum { MR = 5, NR = 3, LANES = 2 };\n"};
    return try_rule(parser, "sum_tile", kernel, tiles, HONE_COUNTOF(tiles));
}

static const char *file_of(const char *name, struct hone_pool *pool)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    ck_assert_int_eq(hone_file_read(hone_pool_printf(pool, "tests/relatives/cpu/%s.c", name),
                                    1 << 16, &text, &len, NULL),
                     0);
    return hone_pool_strdup(pool, text);
}

/* Places: with threads where rows or columns are independent, and without. */
START_TEST(kernels_with_edges_keep_their_answer)
{
    static const struct {
        const char *name;
        size_t n;
    } cases[] = {{"syrk", 2},    {"syr2k", 2}, {"correlation", 2}, {"trmm", 2}, {"symm", 2},
                 {"trisolv", 1}, {"atax", 1},  {"bicg", 1},        {"mvt", 2},  {"gesummv", 2}};
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct kernel kernel = {.name = cases[i].name, .source = file_of(cases[i].name, pool)};
        size_t n = try(parser, kernel);
        ck_assert_msg(n == cases[i].n, "%s: %zu places", kernel.name, n);
    }
}
END_TEST

START_TEST(odd_sums_keep_their_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++)
        ck_assert_msg(try(parser, (struct kernel){.name = kept[i].name, .source = kept[i].source}) >
                          0,
                      "%s: no place", kept[i].name);
}
END_TEST

START_TEST(sums_that_blocks_would_change_are_left_alone)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(left_alone); i++) {
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_coder_input in;
        struct kernel kernel = {.name = left_alone[i].name, .source = left_alone[i].source};
        read_kernel(parser, pool, &kernel, &in);
        size_t n = hone_coder_sites(hone_rewrite_find("sum_tile"), &in, sites);
        for (size_t s = 0; s < n; s++)
            ck_assert_msg(!strstr(sites[s].words, "columns"), "%s: %s", kernel.name,
                          sites[s].words);
    }
}
END_TEST

UNIT_MAIN("sum_tile", kernels_with_edges_keep_their_answer, odd_sums_keep_their_answer,
          sums_that_blocks_would_change_are_left_alone)
