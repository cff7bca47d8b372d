/* SPDX-License-Identifier: Apache-2.0 */
/* thread_scratch: loops whose iterations share a scratch array keep their answer, and what it holds
 * at the end; loops that read what another iteration left are left alone. */
#include "tests/unit/agents/kernel_rig.h"

#define TEXT(text, body)                                                                           \
    {                                                                                              \
        .name = text, .source = "#include <stdint.h>\n"                                            \
                                "void " text "(double *C, double *t, const double *A, "            \
                                "int64_t M, int64_t N, int64_t K)\n{\n" body "}\n"                 \
    }
#define ROWS "for (int64_t i = 0; i < M; i++) {\n"
#define FILL "    for (int64_t j = 0; j < N; j++)\n        t[j] = A[i * N + j] * 2;\n"
#define USE  "    for (int64_t j = 0; j < N; j++)\n        C[i * N + j] += t[j] * t[j];\n}\n"

static const struct kernel kept[] = {
    TEXT("plain", ROWS FILL USE "(void)K;\n"),
    /* sums in it; another counter of the same bounds; twice in one iteration */
    TEXT("sums", ROWS "    for (int64_t p = 0; p < N; p++) {\n        t[p] = 0;\n"
                      "        for (int64_t k = 0; k < K; k++)\n"
                      "            t[p] += A[i * K + k] * A[k * N + p];\n    }\n" USE),
    TEXT("twice", "for (int64_t i = 0; i < M; i++)\n    for (int64_t q = 0; q < K - 9; q++) {\n"
                  "        for (int64_t j = 0; j < N; j++)\n            t[j] = A[q * N + j] + i;\n"
                  "        for (int64_t j = 0; j < N; j++)\n"
                  "            C[i * N + j] += t[j];\n    }\n"),
    /* one of the function itself, with fewer elements than it has room for */
    TEXT("local", "double u[32];\n" ROWS
                  "    for (int64_t j = 0; j < 21; j++)\n        u[j] = A[i * 21 + j];\n"
                  "    for (int64_t j = 0; j < 21; j++)\n        C[i * 21 + j] = u[j] + t[j];\n}\n"
                  "C[M * 21] = u[3 + 0 * N * K];\n"),
};

static const struct kernel left_alone[] = {
    /* read before it is filled; more is read than was filled */
    TEXT("reads", ROWS "    for (int64_t j = 0; j < N; j++)\n        t[j] = t[j] + A[i];\n" USE
                       "(void)K;\n"),
    TEXT("grows",
         ROWS "    for (int64_t j = 0; j < N; j++)\n        t[j] += A[i];\n" USE "(void)K;\n"),
    TEXT("more", ROWS FILL "    for (int64_t j = 0; j < K; j++)\n"
                           "        C[i * K + j] = t[j];\n}\n"),
    TEXT("beside", ROWS FILL "    for (int64_t j = 0; j < N; j++)\n"
                             "        C[i * N + j] = t[N - 1 - j];\n}\n(void)K;\n"),
    TEXT("half", ROWS "    for (int64_t j = 0; j < N; j++)\n        if (A[j] > 1.5)\n"
                      "            t[j] = A[i * N + j];\n" USE "(void)K;\n"),
    /* another number of elements each time; filled in some iterations; left early */
    TEXT("follows", ROWS "    for (int64_t j = 0; j < i; j++)\n        t[j] = A[i * N + j];\n"
                         "    for (int64_t j = 0; j < i; j++)\n"
                         "        C[i * N + j] = t[j];\n}\n(void)K;\n"),
    TEXT("some", "for (int64_t i = 0; i < M; i++)\n    if (A[i] > 1.5) {\n" FILL USE "(void)K;\n"),
    TEXT("inner", "for (int64_t i = 0; i < M; i++)\n    for (int64_t q = 0; q < i; q++) {\n"
                  "        for (int64_t j = 0; j < N; j++)\n            t[j] = A[q * N + j] + i;\n"
                  "        for (int64_t j = 0; j < N; j++)\n"
                  "            C[(i * K + q) * N + j] = t[j];\n    }\n"),
    TEXT("leaves", ROWS "    if (A[i] > 2.4)\n        continue;\n" FILL USE "(void)K;\n"),
    /* under another name; what else iterations share */
    TEXT("named",
         "double *u = t;\n" ROWS FILL
         "    for (int64_t j = 0; j < N; j++)\n        C[i * N + j] = u[j];\n}\n(void)K;\n"),
    TEXT("shares", ROWS FILL "    for (int64_t j = 0; j < N; j++)\n"
                             "        C[j] += t[j];\n}\n(void)K;\n"),
};

static size_t try(struct hone_c_parser *parser, struct kernel kernel)
{
    static const char *const rooms[] = {"", "enum { ROOM = 24 };\n", "enum { ROOM = 4 };\n"};
    return try_rule(parser, "thread_scratch", kernel, rooms, HONE_COUNTOF(rooms));
}

START_TEST(iterations_with_a_scratch_array_keep_their_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++)
        ck_assert_msg(try(parser, kept[i]) == 1, "%s", kept[i].name);
}
END_TEST

START_TEST(what_iterations_hand_on_is_left_alone)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(left_alone); i++)
        ck_assert_msg(try(parser, left_alone[i]) == 0, "%s", left_alone[i].name);
}
END_TEST

UNIT_MAIN("thread_scratch", iterations_with_a_scratch_array_keep_their_answer,
          what_iterations_hand_on_is_left_alone)
