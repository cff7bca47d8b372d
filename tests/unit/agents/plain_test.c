/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary C is read in its plain form, a row for each shape; what may not be moved stays. */
#include "tests/unit/unit.h"

#include <ctype.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"

#define KERNEL "void k(const float *A, float *C, long M, long N)\n{\n"

static const struct {
    const char *source, *has; /* of the plain form, blanks squeezed; NULL: it is plain */
} rows[] = {
    /* ---- scalars ---- */
    {KERNEL
     "long i, j; float s;\n"
     "for (i = 0; i < M; i++) { s = 0; for (j = 0; j < N; j++) s += A[i * N + j]; C[i] = s; }\n}",
     "{ for (long i = 0; i < M; i++) { float s = 0; for (long j = 0; j < N; j++) s += A[i * N + "
     "j]; "
     "C[i] = s; } }"},
    {KERNEL "long i; for (i = 0; i < M; i++) C[i] = 1; for (i = 0; i < N; i++) C[i] = 2; }",
     "for (long i = 0; i < M; i++) C[i] = 1; for (long i = 0; i < N; i++) C[i] = 2;"},
    {KERNEL "long i, n = N; const float *p, *q = A;\n"
            "for (i = 0; i < M; i++) { p = A + i; C[i] = *p + *q + n; } }",
     "long n = N; const float *q = A; for (long i = 0; i < M; i++) { const float *p = A + i;"},
    {KERNEL "long i; for (i = 0; i < M; i++) C[i] = 1; C[0] = i; }", NULL},
    {KERNEL "long i = 0; for (; i < M; i++) C[i] = 1; }", NULL},
    {KERNEL "long i; for (i = 0; i < M; i++) if (A[i] < 0) break; if (i < M) C[i] = 1; }", NULL},
    {KERNEL "float s; for (long i = 0; i < M; i++) { if (i == 0) s = 1; C[i] = s; s = A[i]; } }",
     NULL},
    {KERNEL "float s, *p = &s; for (long i = 0; i < M; i++) { s = A[i]; C[i] = *p; } }", NULL},
    {KERNEL "long i, n; n = N; for (i = 0; i < M; i++) C[i] = n;\n"
            "again: for (i = 0; i < M; i++) C[i] = n; if (n-- > 0) goto again; }",
     NULL},
    {KERNEL "long i;\n#pragma omp parallel for private(i)\nfor (i = 0; i < M; i++) C[i] = 1; }",
     NULL},
    {KERNEL "static float s; for (long i = 0; i < M; i++) { s = A[i]; C[i] = s; } }", NULL},
    /* ---- counters ---- */
    {KERNEL "long n = 0; for (long i = 0; i < M; i++) if (A[i] > 0) n++; C[0] = n; }",
     "for (long i = 0; i < M; i++) if (A[i] > 0) n += 1; C[0] = n;"},
    {KERNEL "long n = 0; for (long i = 0; i < M; i++) { ++n; } C[0] = n; }",
     "{ n += 1; } C[0] = n;"},
    {KERNEL "long n = 0; for (long i = 0; i < M; i++) C[n++] = A[i]; }", NULL},
    {KERNEL "long n = 0; for (long i = 0; i < M; i++) if (n++) C[i] = A[i]; }", NULL},
    {KERNEL "long n = 0; for (long i = 0; n++ < M; i++) C[i] = A[i]; }", NULL},
    {KERNEL "long n = 0; for (long i = 0; i < M; i++) C[i] = A[i] + (float)({ n++; }); }", NULL},
    {KERNEL "long n = 0; while (n < N) n++; const float *p = A; for (long i = 0; i < M; i++) p++;\n"
            "C[n] = *p; }",
     NULL},
    {"#define INC(v) v++\n" KERNEL "for (long i = 0; i < M; i++) { long n = 0; n++; C[i] = n; } }",
     NULL},
    /* ---- macros ---- */
    {"#define AT(f, i, j) ((f)[(unsigned long)(i) * N + (j)])\n" KERNEL
     "for (long i = 1; i < M; i++) for (long j = 0; j < N; j++) AT(C, i, j) = AT(A, i - 1, j); }",
     "C[(unsigned long)i * N + j] = A[(unsigned long)(i - 1) * N + j];"},
    {"#define MIN2(a, b) \\\n ((a) < (b) ? (a) : (b)) /* the less */\n" KERNEL
     "C[0] = MIN2(MIN2(A[0], A[1]), A[2]); }",
     "C[0] = ((A[0] < A[1] ? A[0] : A[1]) < A[2] ? (A[0] < A[1] ? A[0] : A[1]) : A[2]);"},
    {"#define NEG -1\n" KERNEL "C[0] = 2 -NEG; }", "C[0] = 2 - -1;"},
    {"#define FOUR 4\n#define TWO (2)\n" KERNEL "C[FOUR] = TWO; }", NULL},
    {"#ifndef W\n#define W (N + 1)\n#endif\n" KERNEL "C[W] = 1; }", NULL},
    {"#define W (N + 1)\n#undef W\n#define W (N + 2)\n" KERNEL "C[W] = 1; }", NULL},
    {"#if 0\n#define SQ(x) ((x) * (x))\n#endif\nfloat SQ(float x);\n" KERNEL "C[0] = SQ(A[0]); }",
     NULL},
    {"#define SET(p, v) do { (p)[0] = v; } while (0)\n" KERNEL "SET(C, 1); }", NULL},
    {"#define NAME(a) C##a\n" KERNEL "float Cx[4]; NAME(x)[0] = A[0]; C[0] = Cx[0]; }", NULL},
    {"#define AT(i) A[i]\n" KERNEL "C[0] = sizeof(\"AT(1)\"); /* AT(2) */ }", NULL},
    /* ---- functions ---- */
    {"static float dot(const float *w, const float *x, long n)\n{\nfloat s = 0; long t;\n"
     "for (t = 0; t < n; t++) s += w[t] * x[t + 1];\nreturn s;\n}\n" KERNEL
     "for (long i = 0; i < M; i++)\nC[i] = dot(A + i * N, A, N - 1) * 2;\n}",
     "for (long i = 0; i < M; i++) { float s = 0; for (long t = 0; t < (N - 1); t++) "
     "s += A[i * N + t] * A[t + 1]; C[i] = s * 2; } }"},
    {"static int luma(const unsigned char *p) { return (77 * p[0] + 150 * p[1]) >> 8; }\n"
     "void k(const unsigned char *A, float *C, long M, long N)\n{\n"
     "for (long i = 0; i < M; i++) if (i > 2) C[i] = luma(A + i * 3); }",
     "if (i > 2) C[i] = (77 * A[i * 3] + 150 * A[i * 3 + 1]) >> 8;"},
    {"static float at(const float *p, long i, long n) { if (i < 0) return p[0]; return p[i]; "
     "}\n" KERNEL "C[0] = 1 + at(A, N - 1, M); }",
     "C[0] = 1 + ((N - 1) < 0 ? A[0] : A[(N - 1)]);"},
    {"static double half(const float *p, float by) { return *p * by; }\n" KERNEL
     "C[0] = half(&A[3], M); }",
     "C[0] = (double)(A[3] * ((float)M));"},
    {"static void scale(float *p, float by, long n) { for (long i = 0; i < n; i++) p[i] *= by; "
     "}\n" KERNEL "for (long i = 0; i < M; i++) scale(C + i * N, C[i * N], N); }",
     "for (long i = 0; i < M; i++) { float by = C[i * N]; for (long i_2 = 0; i_2 < N; i_2++) "
     "C[i * N + i_2] *= by; } }"},
    {"static float last(const float *p, long n) { while (n-- > 1) p++; return *p; }\n" KERNEL
     "C[0] = last(A, N); }",
     "const float *p = A; long n = N; while (n-- > 1) p++; C[0] = *p;"},
    {"static float g = 2;\nstatic float of(const float *p) { return p[0] * g; }\n"
     "static float by(const float *p) { return of(p + 1); }\n" KERNEL "C[0] = by(A); }",
     "C[0] = A[1] * g;"},
    {"static float g = 2;\nstatic float of(const float *p) { return p[0] * g; }\n" KERNEL
     "float g = 1; C[0] = of(A) + g; }",
     NULL},
    {"static float sum(const float *p, long n)\n"
     "{ float s = 0; for (long i = 0; i < n; i++) s += p[i]; return s; }\n" KERNEL
     "C[0] = M > 2 && sum(A, N) > 0; while (sum(C, N) < 1) C[0]++; }",
     NULL},
    {"static float sum(const float *p, long n) { float s = 0; for (long i = 0; i < n; i++) {\n"
     "if (p[i] < 0) return s; s += p[i]; } return s; }\n" KERNEL "C[0] = sum(A, N); }",
     NULL},
    {"static float next(float *p) { p[0] += 1; return p[1]; }\n" KERNEL "C[0] += next(C); }", NULL},
    {"static float first(float *p) { static int n; n++; return p[n]; }\n" KERNEL
     "C[0] = first(C); }",
     NULL},
    {"static float down(const float *p, long n) { return n > 0 ? down(p + 1, n - 1) : p[0]; "
     "}\n" KERNEL "C[0] = down(A, N); }",
     NULL},
    {"static float one(const float *p, long n) { return p[n]; }\n" KERNEL
     "long i = 0; C[0] = one(A, i++); }",
     NULL},
};

static const char *squeezed(struct hone_pool *pool, const char *text)
{
    char *out = hone_pool_strdup(pool, text), *to = out;
    for (const char *at = text; *at; at++)
        if (!isspace((unsigned char)*at))
            *to++ = *at;
        else if (to > out && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
    return out;
}

START_TEST(ordinary_style_is_read_in_its_plain_form)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_coder_read(parser, "cpu", rows[i].source, "k", pool, &in, &err) == 0,
                      "%s\n%s", rows[i].source, err.message);
        const char *text = squeezed(pool, in.tree->source);
        ck_assert_str_eq(hone_coder_source(&in), rows[i].source);
        if (!rows[i].has)
            ck_assert_msg(!in.written, "%s\n%s", rows[i].source, text);
        else
            ck_assert_msg(strstr(text, rows[i].has) != NULL, "%s\n%s", rows[i].source, text);
    }
}
END_TEST

static const char image[] = /* line 1 */
    "#define AT(p, y, x) \\\n"
    "    ((p)[(y) * N + (x)])\n"
    "\n"
    "/* of three */\n"
    "static float three(const float *p)\n"
    "{\n"
    "    return p[0] + p[1] + p[2];\n"
    "}\n"
    "\n"
    "void k(const float *A, float *C, long M, long N)\n"
    "{\n"
    "    long y,\n"
    "        x;\n"
    "    for (y = 0; y < M; y++)\n"
    "        for (x = 1; x < N - 1; x++)\n"
    "            AT(C, y, x) = three(&AT(A, y, x - 1));\n"
    "}\n";

START_TEST(rules_act_on_it_and_lines_stay_those_of_the_source)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const char *text = NULL;
    const struct hone_rewrite *threads = hone_rewrite_find("thread_outer"),
                              *unroll = hone_rewrite_find("unroll_loops");
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    ck_assert_int_eq(hone_coder_read(parser, "cpu", image, "k", pool, &in, NULL), 0);
    ck_assert_str_eq(hone_loop_words(&in, &in.nest.loops[0]), "loop y at line 14");
    ck_assert_str_eq(hone_loop_words(&in, &in.nest.loops[1]), "loop x at line 15");
    ck_assert_uint_ge(hone_coder_sites(threads, &in, sites), 1);
    ck_assert_uint_eq(sites[0].line, 10);
    ck_assert_uint_eq(sites[0].last_line, 17);
    ck_assert_int_eq(hone_coder_apply(parser, threads, &in, &sites[0], &text, NULL), 0);
    ck_assert_ptr_nonnull(strstr(text, "    for (long y = 0; y < M; y++)\n"));
    ck_assert_ptr_nonnull(strstr(text, "A[y * N + (x - 1)] + A[y * N + (x - 1) + 1]"));
    ck_assert_ptr_null(strstr(text, "three"));
    ck_assert_ptr_eq(in.nest.loops[1].parent, &in.nest.loops[0]);
    ck_assert_ptr_nonnull(strstr(text, "if((double)M * "));
    /* what is done to the whole text leaves it as it was written */
    ck_assert_uint_eq(hone_coder_sites(unroll, &in, sites), 1);
    ck_assert_int_eq(hone_coder_apply(parser, unroll, &in, &sites[0], &text, NULL), 0);
    ck_assert_ptr_nonnull(strstr(text, image));
}
END_TEST

UNIT_MAIN("plain", ordinary_style_is_read_in_its_plain_form,
          rules_act_on_it_and_lines_stay_those_of_the_source)
