/* SPDX-License-Identifier: Apache-2.0 */
/* What no rule reads is told, one row for each reason; what a rule reads is not. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/rewrites/unread.h"

#define MANY4(x)  x x x x
#define MANY16(x) MANY4(x) MANY4(x) MANY4(x) MANY4(x)

static const struct {
    const char *body, *has; /* NULL: nothing is told */
} rows[] = {
    {"for (long i = 0; i < M; i++) C[i] = A[i];", NULL},
    {"float s = 0; for (long i = 0; i < M; i++) s += A[i]; C[0] = s;", NULL},
    /* the outer loop is bound, the inner one is free */
    {"for (long t = 0; t < M; t++) for (long i = 0; i < N; i++) C[i] = A[t] + B[i];", NULL},
    {"\n#pragma omp simd\nfor (long i = 1; i < M; i++) C[i] = C[i - 1];", NULL},
    /* a run of two nests has another order */
    {"for (long i = 1; i < M; i++) C[i * N] = C[(i - 1) * N] + A[i];\n"
     "for (long i = 1; i < M; i++) for (long j = 1; j < N; j++)\n"
     "C[i * N + j] = C[(i - 1) * N + j] + C[i * N + j - 1];",
     NULL},
    {"long i; for (i = 0; i < M; i++) C[i] = A[i]; C[0] = i;",
     "loop i at line 4: a scalar is carried from one iteration to the next, at i "
     "(carried_scalar)"},
    {"C[0] = A[0];", "k has no for loop of its own (no_loop)"},
    {"for (long i = M; i > 0; i--) C[i] = C[i + 1];",
     "loop i at line 4: the loop's bounds are not plain (bounds)"},
    {"for (long i = 0; i < M; i++) { if (A[i] < 0) break; C[i] = 1; }",
     "loop i at line 4: the loop is left early, at break (left_early)"},
    {"float s = 0; for (long i = 0; i < M; i++) { s += A[i]; C[i] = s; }",
     "loop i at line 4: a scalar is carried from one iteration to the next, at s "
     "(carried_scalar)"},
    {"for (long i = 0; i < M; i++) seen(C + i);",
     "loop i at line 4: a call gets a pointer, at seen(C + i) (pointer_call)"},
    {"for (long i = 0; i < M; i++) C[i] = kept();",
     "loop i at line 4: a function that it calls keeps a value, at kept() (state_call)"},
    {"for (long i = 0; i < M; i++) {" MANY16(MANY4("C[i] = 1;"))
         MANY16(MANY4("C[i] = 2;")) "C[i] = 3; }",
     "loop i at line 4: too many memory accesses to compare (many_accesses)"},
    {"for (long i = 0; i < M; i++) *(A[i] > 3 ? C : C + 1) = A[i];",
     "a pointer is written through whose array is not known, at *(A[i] > 3 ? C : C + 1) "
     "(unknown_array)"},
    {"for (long i = 0; i < M; i++) C[i % 7] = A[i];",
     "loop i at line 4: a subscript is no sum of products of names, at C[i % 7] (not_affine)"},
    {"for (long i = 0; i < M; i++) C[N] = A[i];",
     "loop i at line 4: two iterations may write the same element, at C[N] (same_element)"},
    {"for (long i = 1; i < M; i++) C[i] = C[i - 1] + A[i];",
     "loop i at line 4: an iteration may read what another one writes, at C[i - 1] "
     "(carried_array)"},
    {"for (long i = 1; i < M; i++) C[i] = C[i - 1];\n"
     "for (long j = 1; j < M; j++) C[j] = C[j - 1];\n"
     "for (long p = 1; p < M; p++) C[p] = C[p - 1];\n"
     "for (long q = 1; q < M; q++) C[q] = C[q - 1];",
     "; loop p at line 6: an iteration may read what another one writes, at C[p - 1] "
     "(carried_array); and 1 more"},
};

START_TEST(what_no_rule_reads_is_told)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        const char *source = hone_pool_printf(
            pool,
            "static int n; static float kept(void) { return (float)n++; } void seen(float *p);\n"
            "void k(const float *A, const float *B, float *C, long M, long N, long K)\n{\n%s\n}\n",
            rows[i].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        const char *text = hone_unread_text(&in);
        if (!rows[i].has)
            ck_assert_msg(text == NULL, "%s\n%s", rows[i].body, text);
        else
            ck_assert_msg(text && strstr(text, rows[i].has), "%s\n%s", rows[i].body, text);
    }
}
END_TEST

UNIT_MAIN("unread", what_no_rule_reads_is_told)
