/* SPDX-License-Identifier: Apache-2.0 */
/* outer_strip and outer_lanes: kernels keep their answer at sizes of all kinds and with strips of
 * all widths; loops that may not run side by side are left alone. */
#include "tests/unit/agents/kernel_rig.h"

#define HEAD "#include <stdint.h>\n#include <math.h>\n"
#define TEXT(name, body)                                                                           \
    {                                                                                              \
        name, HEAD "void " name "(double *C, const double *A, const double *B, int64_t M, int64_t" \
                   " N, int64_t K)\n{\n" body "}\n"                                                \
    }

struct text {
    const char *name, *source;
};

static const struct text strips[] = {
    TEXT("column_stats", "for (int64_t j = 0; j < N; j++) {\n"
                         "    double sum = 0;\n"
                         "    for (int64_t i = 0; i < M; i++)\n"
                         "        sum += A[i * N + j];\n"
                         "    C[2 * j] = sum / (double)M;\n"
                         "    double ss = 0;\n"
                         "    for (int64_t i = 0; i < M; i++) {\n"
                         "        double d = A[i * N + j] - C[2 * j];\n"
                         "        ss += d * d;\n"
                         "    }\n"
                         "    C[2 * j + 1] = M > 1 ? sqrt(ss / (double)(M - 1)) : 0.0;\n"
                         "}\n(void)B, (void)K;\n"),
    /* a pointer, a branch, a local that is computed again */
    TEXT("column_max", "for (int64_t j = 0; j < N; j++) {\n"
                       "    const double *a = A + j;\n"
                       "    const int64_t to = 2 * j;\n"
                       "    double best = -1, second = -1;\n"
                       "    for (int64_t i = 0; i < M; i++) {\n"
                       "        if (a[i * N] < B[j])\n"
                       "            continue;\n"
                       "        if (a[i * N] > best)\n"
                       "            second = best, best = a[i * N];\n"
                       "        else if (a[i * N] > second)\n"
                       "            second = a[i * N];\n"
                       "    }\n"
                       "    C[to + 1] = best;\n"
                       "    C[to] = second;\n"
                       "}\n(void)K;\n"),
    /* shared loops in a shared loop, bounds of one that follow the other */
    TEXT("triangle", "for (int64_t j = 0; j < N; j++)\n"
                     "    for (int64_t i = 0; i < M; i++) {\n"
                     "        double s = A[i * N + j];\n"
                     "        for (int64_t k = 0; k < i; k++)\n"
                     "            s -= B[i * M + k] * A[k * N + j];\n"
                     "        C[i * N + j] = s;\n"
                     "    }\n(void)K;\n"),
};

static const struct text lanes[] = {
    TEXT("bank", "for (int64_t b = 0; b < N; b++) {\n"
                 "    double z = 0, y = 0;\n"
                 "    for (int64_t i = 0; i < M; i++) {\n"
                 "        double x = A[i] - 0.25 * z - 0.125 * y;\n"
                 "        y = z;\n"
                 "        z = x * B[b];\n"
                 "        C[b * M + i] = x + y;\n"
                 "    }\n"
                 "}\n(void)K;\n"),
    /* a step to the left that stops early stays whole in its lane */
    TEXT("search", "for (int64_t i = 0; i < N; i++) {\n"
                   "    double s = 0;\n"
                   "    for (int64_t k = 0; k < M; k++) {\n"
                   "        s += A[k];\n"
                   "        if (s > B[i])\n"
                   "            break;\n"
                   "    }\n"
                   "    double t = 0;\n"
                   "    for (int64_t k = 0; k < M; k++)\n"
                   "        t = 0.5 * t + A[k] * B[i];\n"
                   "    C[i] = s + t;\n"
                   "}\n(void)K;\n"),
    TEXT("forces", "for (int64_t i = 0; i < N; i++) {\n"
                   "    C[i] = 0;\n"
                   "    for (int64_t j = 0; j < N; j++) {\n"
                   "        if (j == i)\n"
                   "            continue;\n"
                   "        double d = A[j] - A[i];\n"
                   "        C[i] += B[j] * d / (d * d + 0.5);\n"
                   "    }\n"
                   "}\n(void)M, (void)K;\n"),
};

/* Elements of a lane that are written again and again: apart for certain, and perhaps the same. */
static const struct text held[] = {
    TEXT("two_places", "for (int64_t i = 0; i < N; i++) {\n"
                       "    C[2 * i] = C[2 * i + 1] = 0;\n"
                       "    for (int64_t j = 0; j < M; j++) {\n"
                       "        C[2 * i] = 0.5 * C[2 * i] + A[j] * B[i];\n"
                       "        C[2 * i + 1] += C[2 * i] - A[j];\n"
                       "    }\n"
                       "}\n(void)K;\n"),
    TEXT("one_place", "for (int64_t i = 0; i < N; i++) {\n"
                      "    double s = 0;\n"
                      "    for (int64_t j = 0; j < M; j++) {\n"
                      "        C[i * 4 + j % 2] = 0.5 * s + A[j] * B[i];\n"
                      "        s += C[i * 4] + C[i * 4 + 1];\n"
                      "    }\n"
                      "}\n(void)K;\n"),
    /* read only where a branch lets it */
    TEXT("guarded", "for (int64_t i = 0; i < N; i++) {\n"
                    "    double s = 0;\n"
                    "    for (int64_t j = 0; j < M; j++) {\n"
                    "        s = 0.5 * s;\n"
                    "        if (i > 0)\n"
                    "            s += A[j] * B[i - 1];\n"
                    "        if (j > 0)\n"
                    "            s -= A[j - 1];\n"
                    "    }\n"
                    "    C[i] = s;\n"
                    "}\n(void)K;\n"),
};

/* Rows of a lane that a shared loop goes through again and again, and how many are packed. */
static const struct {
    struct text text;
    size_t n_packed;
} rows[] = {
    {TEXT("nearest", "double total = 0;\n"
                     "for (int64_t i = 0; i < M; i++) {\n"
                     "    double best = 1e30;\n"
                     "    int64_t which = -1;\n"
                     "    for (int64_t c = 0; c < N; c++) {\n"
                     "        double d = 0;\n"
                     "        for (int64_t j = 0; j < K; j++)\n"
                     "            d += (A[i * K + j] - B[c * K + j]) * (A[i * K + j] - 1);\n"
                     "        if (d < best) {\n"
                     "            best = d;\n"
                     "            which = c;\n"
                     "        }\n"
                     "    }\n"
                     "    if (C[i + 1] < best)\n"
                     "        total++;\n"
                     "    C[i + 1] = (double)which;\n"
                     "}\nC[0] = total;\n"),
     1},
    /* two rows, one that begins further on, in two shared loops; a row of the shared loop's own */
    {TEXT("two_rows", "for (int64_t i = 0; i < M; i++) {\n"
                      "    double s = 0, t = 0;\n"
                      "    for (int64_t c = 0; c < N; c++)\n"
                      "        for (int64_t j = 2; j < K; j++)\n"
                      "            s = 0.5 * s + A[i * K + j] * B[c] - A[(i + c) * K + j - 1];\n"
                      "    for (int64_t c = 1; c <= N; c++)\n"
                      "        for (int64_t j = 0; j <= K; j++)\n"
                      "            t = 0.5 * t + B[2 * i * K + j] * A[c];\n"
                      "    C[i] = s + t;\n"
                      "}\n"),
     2},
    /* what may lie behind the array's end is not read ahead: behind a jump, or at an address */
    {TEXT("behind_jumps", "for (int64_t i = 0; i < M; i++) {\n"
                          "    double s = 0;\n"
                          "    for (int64_t c = 0; c < N; c++) {\n"
                          "        for (int64_t j = 0; j < K; j++) {\n"
                          "            if (j >= 2) {\n"
                          "                s += 0.5;\n"
                          "                continue;\n"
                          "            }\n"
                          "            s = 0.5 * s + A[i * 2 + j] * B[c];\n"
                          "        }\n"
                          "        for (int64_t j = 0; j + 1 < K; j++) {\n"
                          "            const double *p = &A[i * K + j];\n"
                          "            s = 0.5 * s + p[1] * B[c + j];\n"
                          "        }\n"
                          "    }\n"
                          "    C[i] = s;\n"
                          "}\n"),
     0},
    /* a bound that the loop hides, a counter that hides a local, a row written by another name */
    {TEXT("hidden_names", "double *u = C;\n"
                          "for (int64_t i = 0; i < M; i++) {\n"
                          "    double s = 0;\n"
                          "    const int64_t l = 0;\n"
                          "    for (int64_t c = 0; c < N; c++) {\n"
                          "        for (int64_t j = N - N; j < K; j++) {\n"
                          "            const int64_t N = c;\n"
                          "            s = 0.5 * s + A[i * K + j] * (double)N;\n"
                          "        }\n"
                          "        for (int64_t j = 0; j < K; j++)\n"
                          "            s = 0.5 * s + C[i * K + j] * B[c];\n"
                          "        u[i * K + l] = s;\n"
                          "    }\n"
                          "}\n"),
     0},
    /* written meanwhile, reached at times only, along the loop that is shared itself */
    {TEXT("no_rows", "for (int64_t i = 0; i < M; i++) {\n"
                     "    double s = 0;\n"
                     "    for (int64_t c = 0; c < N; c++) {\n"
                     "        s += A[i * N + c] * A[c];\n"
                     "        if (c != 1)\n"
                     "            for (int64_t j = 0; j < K; j++)\n"
                     "                s = 0.5 * s + B[i * K + j];\n"
                     "    }\n"
                     "    C[i] = s;\n"
                     "}\n"),
     0},
};

static const struct text left_alone[] = {
    /* an iteration reads what the one before wrote */
    TEXT("carried", "for (int64_t j = 1; j < N; j++)\n"
                    "    for (int64_t i = 0; i < M; i++)\n"
                    "        C[i * N + j] = A[i * N + j] + C[i * N + j - 1];\n(void)B, (void)K;\n"),
    TEXT("returns", "for (int64_t j = 0; j < N; j++) {\n"
                    "    double s = 0;\n"
                    "    for (int64_t i = 0; i < M; i++)\n"
                    "        s += A[i * N + j];\n"
                    "    if (s < 0)\n"
                    "        return;\n"
                    "    C[j] = s;\n"
                    "}\n(void)B, (void)K;\n"),
    /* it goes on behind two loops at once */
    TEXT("skips", "for (int64_t j = 0; j < N; j++) {\n"
                  "    double s = 0;\n"
                  "    if (B[j] > 1.5)\n"
                  "        continue;\n"
                  "    for (int64_t i = 0; i < M; i++)\n"
                  "        s += A[i * N + j];\n"
                  "    C[j] = s;\n"
                  "}\n(void)K;\n"),
    TEXT("arrays", "for (int64_t j = 0; j < N; j++) {\n"
                   "    double last[2] = {0, 0};\n"
                   "    for (int64_t i = 0; i < M; i++)\n"
                   "        last[i & 1] += A[i * N + j];\n"
                   "    C[j] = last[0] - last[1];\n"
                   "}\n(void)B, (void)K;\n"),
    /* two loops are one for the threads */
    TEXT("collapsed", "#pragma omp parallel for collapse(2)\n"
                      "for (int64_t i = 0; i < M; i++)\n"
                      "    for (int64_t j = 0; j < N; j++) {\n"
                      "        double s = 0;\n"
                      "        for (int64_t k = 0; k < K; k++)\n"
                      "            s += A[i * K + k] * B[k * N + j];\n"
                      "        C[i * N + j] = s;\n"
                      "    }\n"),
};

static size_t try(struct hone_c_parser *parser, const char *rule, const struct text *text)
{
    static const char *const widths[] = {"", "enum { LANES = 1 };\n", "enum { LANES = 3 };\n",
                                         "enum { LANES = 8 };\n"};
    return try_rule(parser, rule, (struct kernel){.name = text->name, .source = text->source},
                    widths, HONE_COUNTOF(widths));
}

START_TEST(strips_keep_the_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(strips); i++)
        ck_assert_msg(try(parser, "outer_strip", &strips[i]) == 2, "%s", strips[i].name);
}
END_TEST

START_TEST(lanes_keep_the_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(lanes); i++)
        ck_assert_msg(try(parser, "outer_lanes", &lanes[i]) == 2, "%s", lanes[i].name);
}
END_TEST

START_TEST(elements_that_stay_are_held)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(held); i++)
        (void)try(parser, "outer_lanes", &held[i]);
    ck_assert_uint_eq(try(parser, "outer_lanes", &held[0]), 2);
    ck_assert_uint_eq(try(parser, "outer_lanes", &held[2]), 2);
}
END_TEST

START_TEST(rows_are_packed)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct kernel kernel = {.name = rows[i].text.name, .source = rows[i].text.source};
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const struct hone_rewrite *rule = hone_rewrite_find("outer_lanes");
        const char *text, *guard;
        ck_assert_msg(try(parser, "outer_lanes", &rows[i].text) >= 1, "%s", kernel.name);
        read_kernel(parser, pool, &kernel, &in);
        ck_assert_uint_ge(hone_coder_sites(rule, &in, sites), 1);
        ck_assert_int_eq(hone_coder_apply(parser, rule, &in, &sites[0], &text, NULL), 0);
        size_t n = 0;
        for (const char *at = text; (at = strstr(at, "[512][LANES];")); at++)
            n++;
        ck_assert_msg(n == rows[i].n_packed, "%s: %zu rows\n%s", kernel.name, n, text);
        guard = n > 0 ? strstr(text, " <= 512 && ") : text;
        ck_assert_msg(guard, "%s\n%s", kernel.name, text);
    }
}
END_TEST

START_TEST(what_may_not_run_side_by_side)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(left_alone); i++)
        ck_assert_msg(try(parser, "outer_strip", &left_alone[i]) +
                              try(parser, "outer_lanes", &left_alone[i]) ==
                          0,
                      "%s", left_alone[i].name);
}
END_TEST

UNIT_MAIN("outer_lanes", strips_keep_the_answer, lanes_keep_the_answer, elements_that_stay_are_held,
          rows_are_packed, what_may_not_run_side_by_side)
