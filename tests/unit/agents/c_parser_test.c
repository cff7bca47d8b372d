/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's tree, index polynomials, reductions, independence of iterations. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/source/c_nest.h"
#include "agents/source/c_parser.h"
#include "agents/rewrites/coder_rules.h"
#include "workspace/task/task.h"

static struct hone_c_parser *open_parser(void)
{
    struct hone_c_parser *p = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_c_parser_new(&p, &err) == 0, "%s", err.message);
    return p;
}

struct shape {
    const char *body;
    int n_loops;
    const char *why; /* NULL: the first loop is parallel */
    const char *op;  /* reduction of the first loop, or NULL */
};

static const struct shape shapes[] = {
    {"for (int i = 0; i < n; i++) y[i] = 2 * x[i];", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[i] = y[i] + x[i];", 1, NULL, NULL},
    {"for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[0] = x[i];", 1, "two iterations may write the same element",
     NULL},
    {"for (int i = 0; i < n; i++) y[idx[i]] = x[i];", 1,
     "a subscript is no sum of products of names", NULL},
    {"float s = 0; for (int i = 0; i < n; i++) s += x[i]; y[0] = s;", 1, NULL, "+"},
    {"float s = 0; for (int i = 0; i < n; i++) s = x[i] + s; y[0] = s;", 1, NULL, "+"},
    {"float s = 1; for (int i = 0; i < n; i++) s *= x[i]; y[0] = s;", 1, NULL, "*"},
    {"float s = x[0]; for (int i = 0; i < n; i++) if (x[i] > s) s = x[i]; y[0] = s;", 1, NULL,
     "max"},
    {"float s = x[0]; for (int i = 0; i < n; i++) s = x[i] < s ? x[i] : s; y[0] = s;", 1, NULL,
     "min"},
    {"float s = x[0]; for (int i = 0; i < n; i++) s = fmaxf(s, x[i]); y[0] = s;", 1, NULL, "max"},
    {"float s = 0; for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }", 1,
     "a scalar is carried from one iteration to the next", NULL},
    {"for (int i = 0; i < n; i++) { if (x[i] < 0) break; y[i] = 1; }", 1, "the loop is left early",
     NULL},
    {"for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { if (j > 3) break; y[i * n + j] = "
     "1; } }",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) memset(y + i, 0, 4);", 1, "a call gets a pointer", NULL},
    {"for (int i = n; i > 0; i--) y[i] = 1;", 1, "the loop's bounds are not plain", NULL},
    {"for (int i = 0; i < n; i++) { i++; y[i] = 1; }", 1, "the loop's bounds are not plain", NULL},
    {"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) y[i * n + j] = y[(i - 1) * n + j];",
     2, "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) { float *row = y + i * n; for (int j = 1; j < n; j++) row[j] = "
     "row[j - 1]; }",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[2 * i] = y[2 * i + 2];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) { y[2 * i] = x[i]; y[2 * i + 1] = x[i]; }", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[2 * i] = y[2 * i + 1];", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[n - 1 - i] = y[n - 2 - i];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[n - 1 - i] = x[i];", 1, NULL, NULL},
    {"for (int i = 1 - n; i < 0; i++) y[-i] = y[-i - 1];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[i * 16] = y[i * 16 + 16];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i + j] += x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) y[3 * i + j] = x[j];", 2, NULL, NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) y[3 * i + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j <= 3; j++) y[3 * i + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + 2 * j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = y[i * n + j + 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; j++) y[i * n + j] = y[i * n + j + 1];",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = y[i * n + j - 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j <= n; j++) y[i * n + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j * n + i] += x[j];", 2, NULL,
     NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j * n + i] = y[j * n + i + 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < 16; i++) for (int j = 0; j < n; j++) y[j * 16 + i] = x[j];", 2, NULL,
     NULL},
    {"for (int i = 0; i < 17; i++) for (int j = 0; j < n; j++) y[j * 16 + i] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i += 2) { y[i] = x[i]; y[i + 1] = x[i]; }", 1, NULL, NULL},
    {"for (int i = 0; i < n; i += 2) { y[i] = x[i]; y[i + 1] = y[i + 2]; }", 1,
     "an iteration may read what another one writes", NULL},
    {"float *p = y; p += 3; for (int i = 0; i < n; i++) y[i] = p[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"float *p = y; p += 3; for (int i = 0; i < n; i++) p[i] = y[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"float *p = y, *q = y + n; p++; q++; for (int i = 0; i < n; i++) p[i] = q[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"float *p = n > 4 ? y : (float *)x; p += 3; for (int i = 0; i < n; i++) y[i] = p[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"float *p = y; p += 3; for (int i = 0; i < n; i++) p[i] = p[i] + x[i];", 1, NULL, NULL},
    {"const float *p = x; p += 3; for (int i = 0; i < n; i++) y[i] = p[i] + x[i];", 1, NULL, NULL},
    {"float b[9], *p = b, *q = y; p++; q++; for (int i = 0; i < n; i++) q[i] = p[i];", 1, NULL,
     NULL},
};

static void parse_shape(struct hone_c_parser *p, const struct shape *s, struct hone_pool *pool,
                        struct hone_coder_input *ret)
{
    struct hone_err err = HONE_ERR_INIT;
    const char *text = hone_pool_printf(pool,
                                        "#include <math.h>\n#include <string.h>\nvoid k(const "
                                        "float *x, const int *idx, float *y, int n)\n{\n%s\n}\n",
                                        s->body);
    ck_assert_msg(hone_coder_read(p, "cpu", text, "k", pool, ret, &err) == 0, "%s: %s", s->body,
                  err.message);
}

START_TEST(loops_are_understood)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(shapes); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        parse_shape(p, &shapes[i], pool, &in);
        ck_assert_msg((int)in.nest.n == shapes[i].n_loops, "%s: %zu loops", shapes[i].body,
                      in.nest.n);
        const char *why = "";
        bool is_parallel = hone_c_is_parallel(&in.nest, &in.nest.loops[0], &why);
        ck_assert_msg(is_parallel == !shapes[i].why, "%s: %s", shapes[i].body, why);
        if (shapes[i].why)
            ck_assert_msg(strcmp(why, shapes[i].why) == 0, "%s: %s", shapes[i].body, why);
        struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
        size_t n = 0;
        if (!shapes[i].op)
            continue;
        ck_assert(hone_c_reductions(&in.nest.loops[0], r, &n));
        ck_assert_uint_eq(n, 1);
        ck_assert_str_eq(r[0].op, shapes[i].op);
    }
}
END_TEST

/* What the text alone does not say of rows: in the sizes of a task, the first of which is
 * N=9 M=9 and 100 for all others, the second what the row says. S is a scalar, 8. */
static const struct {
    const char *sizes; /* NULL: there is no task */
    const char *body;
    bool is_parallel;
} sized[] = {
    /* overlap-add */
    {"WIN=8 HOP=4",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", false},
    {"WIN=8 HOP=8",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", true},
    {"WIN=8 HOP=9",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", true},
    {NULL, "for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", true},
    {"WIN=8 HOP=4 N=1",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", true},
    {"WIN=8 HOP=4 N=1",
     "for (int f = 0; f <= N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", false},
    {"WIN=8 HOP=4",
     "for (int f = 0; f < idx[0]; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", false},
    {"WIN=8 HOP=4", /* two elements apart, four frames at once */
     "for (int f = 0; f < N; f += 2) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;", true},
    {"WIN=8 HOP=4",
     "for (int f = 0; f < N; f++) { int at = f * HOP; for (int j = 0; j < WIN; j++) y[at + j] += "
     "1; "
     "}",
     false},
    {"WIN=8 HOP=4",
     "for (int f = 0; f < N; f++) { float *to = y + f * HOP; for (int j = 0; j < WIN; j++) to[j] "
     "+= "
     "1; }",
     false},
    {"WIN=8 HOP=4", /* as a sum is turned to lie in memory: j around */
     "for (int j = 0; j < WIN; j++) for (int f = 0; f < N; f++) y[f * HOP + j] += 1;", false},
    /* names that are not the axis */
    {"WIN=8 HOP=4",
     "HOP = 100; for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * HOP + j] += 1;",
     true},
    {"WIN=8 HOP=4",
     "int hop = idx[0]; for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f "
     "* hop + j] += 1;",
     true},
    {"WIN=8 HOP=4",
     "{ int HOP = idx[0]; for (int f = 0; f < N; f++) for (int j = 0; j < WIN; j++) y[f * "
     "HOP + j] += 1; }",
     true},
    {"WIN=8 HOP=4",
     "int half = WIN / 2; for (int f = 0; f < N; f++) for (int j = 0; j < half; j++) "
     "y[f * HOP + j] += 1;",
     true},
    {"WIN=8 HOP=4",
     "int most = WIN - 2; for (int f = 0; f < N; f++) for (int j = 0; j < most; j++) "
     "y[f * HOP + j] += 1;",
     false},
    {"WIN=12 HOP=4",
     "int half = WIN / 2; for (int f = 0; f < N; f++) for (int j = 0; j < half; j++) "
     "y[f * HOP + j] += 1;",
     false},
    {"WIN=9 HOP=4",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN % 5; j++) y[f * HOP + j] += 1;", true},
    {"WIN=9 HOP=3",
     "for (int f = 0; f < N; f++) for (int j = 0; j < WIN % 5; j++) y[f * HOP + j] += 1;", false},
    /* dilated */
    {"D=4", "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[i + k * D] += 1;", false},
    {"D=4 M=0", "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[i + k * D] += 1;", true},
    {"D=4 N=0", "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[i + k * D] += 1;", true},
    {"D=9", "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[i + k * D] += 1;", true},
    {NULL, "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[i + k * D] += 1;", true},
    {"D=4", "for (int k = 0; k < M; k++) for (int i = 0; i < N; i++) y[i + k * D] += 1;", false},
    {"D=9", "for (int k = 0; k < M; k++) for (int i = 0; i < N; i++) y[i + k * D] += 1;", true},
    {"D=18",
     "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[2 * i + k * D] = y[2 * i + 3 "
     "+ k * D];",
     true},
    {"D=17",
     "for (int i = 0; i < N; i++) for (int k = 0; k < M; k++) y[2 * i + k * D] = y[2 * i + 3 "
     "+ k * D];",
     false},
    /* rows with a pitch */
    {"LDA=9", "for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) y[i * LDA + j] = 1;", true},
    {"LDA=8", "for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) y[i * LDA + j] = 1;", false},
    {"LDA=9", "for (int j = 0; j < M; j++) for (int i = 0; i < N; i++) y[i * LDA + j] = 1;", true},
    {"LDA=8", "for (int j = 0; j < M; j++) for (int i = 0; i < N; i++) y[i * LDA + j] = 1;", false},
    {"LDA=8", "for (int i = 0; i < N; i++) for (int j = 1; j < M; j++) y[i * LDA + j] = 1;", true},
    {"LDA=9",
     "for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) y[i * LDA + j] = y[i * LDA + j "
     "+ 1];",
     false},
    {"LDA=10",
     "for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) y[i * LDA + j] = y[i * LDA + "
     "j + 1];",
     true},
    {"LDA=9", "for (int i = 0; i < N; i++) for (int j = M - 1; j >= 0; j--) y[i * LDA + j] = 1;",
     true},
    {"LDA=8", "for (int i = 0; i < N; i++) for (int j = M - 1; j >= 0; j--) y[i * LDA + j] = 1;",
     false},
    {"LDA=8", "for (int i = 0; i < N; i++) for (int j = M - 1; j > 0; j--) y[i * LDA + j] = 1;",
     true},
    {"M=8", "for (int i = 0; i < N; i++) for (int j = 0; j < LDA - 92; j++) y[i * S + j] = 1;",
     true},
    {"M=9", "for (int i = 0; i < N; i++) for (int j = 0; j < LDA - 91; j++) y[i * S + j] = 1;",
     false},
    /* batches and triangles */
    {"LDA=9",
     "for (int b = 0; b < D; b++) for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) "
     "y[b * N * LDA + i * LDA + j] = 1;",
     true},
    {"LDA=8",
     "for (int b = 0; b < D; b++) for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) "
     "y[b * N * LDA + i * LDA + j] = 1;",
     false},
    {"LDA=9", "for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) y[i * LDA + j] = 1;", true},
    {"LDA=8", "for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) y[i * LDA + j] = 1;",
     false},
    {"LDA=9", "for (int i = 0; i < N; i++) for (int j = i; j < N; j++) y[i * LDA + j - i] = 1;",
     true},
    {"D=2 LDA=5", /* a band: five elements of each row */
     "for (int i = 0; i < N; i++) for (int j = (i - D > 0 ? i - D : 0); j < (i + D + 1 < N ? i + D "
     "+ "
     "1 : N); j++) y[i * LDA + j - i + D] = 1;",
     true},
    {"D=2 LDA=4",
     "for (int i = 0; i < N; i++) for (int j = (i - D > 0 ? i - D : 0); j < (i + D + 1 < N ? i + D "
     "+ "
     "1 : N); j++) y[i * LDA + j - i + D] = 1;",
     false},
    /* tiles */
    {"LDA=9",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M; jj += 4) for (int j = jj; j < (jj "
     "+ 4 < M ? jj + 4 : M); j++) y[i * LDA + j] = 1;",
     true},
    {"LDA=8",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M; jj += 4) for (int j = jj; j < (jj "
     "+ 4 < M ? jj + 4 : M); j++) y[i * LDA + j] = 1;",
     false},
    {"LDA=8",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M / 4 * 4; jj += 4) for (int j = jj; "
     "j < jj + 4; j++) y[i * LDA + j] = 1;",
     true},
    {"LDA=7",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M / 4 * 4; jj += 4) for (int j = jj; "
     "j < jj + 4; j++) y[i * LDA + j] = 1;",
     false},
    {"LDA=8",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M / TILE * TILE; jj += TILE) for "
     "(int j = jj; j < jj + TILE; j++) y[i * LDA + j] = 1;",
     true},
    {"LDA=7",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M / TILE * TILE; jj += TILE) for "
     "(int j = jj; j < jj + TILE; j++) y[i * LDA + j] = 1;",
     false},
    {"LDA=12 M=11",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M; jj += 4) for (int j = 0; j < jj + 4; "
     "j++) y[i * LDA + j] = 1;",
     true},
    {"LDA=11 M=11",
     "for (int i = 0; i < N; i++) for (int jj = 0; jj < M; jj += 4) for (int j = 0; j < jj + 4; "
     "j++) y[i * LDA + j] = 1;",
     false},
    /* planes that are no longer than all rows, and whole rows apart */
    {"D=16 LDA=48 WIN=4",
     "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int l = 0; l < WIN; l++) y[i + "
     "j * D + l * LDA] = 1;",
     true},
    {"D=16 LDA=44 WIN=4",
     "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int l = 0; l < WIN; l++) y[i + "
     "j * D + l * LDA] = 1;",
     false},
    /* numbers alone: a row's start, and more than one counter beside it */
    {NULL,
     "for (int i = 0; i < 4; i++) for (int j = 0; j < N; j++) for (int k = 0; k < 4; k++) y[13 "
     "* j + 4 * i + k] += 1;",
     false},
    {NULL,
     "for (int i = 0; i < 4; i++) for (int j = 0; j < N; j++) for (int k = 0; k < 4; k++) y[16 "
     "* j + 4 * i + k] += 1;",
     true},
    {NULL,
     "for (int i = 0; i < 4; i++) for (int j = 0; j < 2; j++) for (int k = 0; k < 4; k++) for "
     "(int l = 0; l < N; l++) y[37 * l + 17 * j + 4 * i + k] += 1;",
     true},
    {NULL,
     "for (int i = 0; i < 5; i++) for (int l = 0; l < N; l++) for (int j = 0; j < N; j++) y[100 "
     "* l + 13 * j + i] += 1;",
     true}, /* j up to two is well */
};

static void parse_sized(struct hone_c_parser *p, size_t row, struct hone_pool *pool,
                        struct hone_coder_input *ret)
{
    static const char *const names[] = {"N", "M", "WIN", "HOP", "D", "LDA"};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task *task = hone_pool_alloc(pool, sizeof(*task));
    const char *text = hone_pool_printf(pool,
                                        "#pragma hone tune(TILE: 4, 8)\nvoid k(const float *x, "
                                        "const int *idx, float *y, int N, int "
                                        "M, int WIN, int HOP, int D, int LDA, int S)\n{\n%s\n}\n",
                                        sized[row].body);
    *task = (struct hone_task){.name = "k", .n_axes = HONE_COUNTOF(names), .n_workloads = 2};
    task->n_scalars = 1;
    task->scalars[0] = (struct hone_scalar){.name = "S", .dtype = HONE_DTYPE_I64, .value = 8};
    for (size_t a = 0; a < task->n_axes; a++) {
        const char *at = sized[row].sizes ? strstr(sized[row].sizes, names[a]) : NULL;
        while (at && at != sized[row].sizes && at[-1] != ' ')
            at = strstr(at + 1, names[a]);
        task->axes[a].name = names[a];
        task->workloads[0].axes[a] = task->workloads[1].axes[a] = a < 2 ? 9 : 100;
        if (at)
            task->workloads[1].axes[a] = atoi(at + strlen(names[a]) + 1);
    }
    int r = sized[row].sizes ? hone_coder_read_kernel(p, task, "cpu", text, pool, ret, &err)
                             : hone_coder_read(p, "cpu", text, "k", pool, ret, &err);
    ck_assert_msg(r == 0, "%s: %s", sized[row].body, err.message);
}

START_TEST(rows_are_held_to_sizes)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    size_t n_wrong = 0;
    for (size_t i = 0; i < HONE_COUNTOF(sized); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        const char *why = "";
        parse_sized(p, i, pool, &in);
        if (hone_c_is_parallel(&in.nest, &in.nest.loops[0], &why) == sized[i].is_parallel)
            continue;
        n_wrong++;
        printf("# %s: %s: %s\n", sized[i].sizes ? sized[i].sizes : "no sizes", sized[i].body, why);
    }
    ck_assert_uint_eq(n_wrong, 0);
}
END_TEST

static const struct {
    const char *index;
    enum hone_c_stride stride; /* by i */
} indices[] = {
    {"i", HONE_C_STRIDE_UNIT},
    {"i + 3", HONE_C_STRIDE_UNIT},
    {"n * n - n + i", HONE_C_STRIDE_UNIT},
    {"i * n", HONE_C_STRIDE_FAR},
    {"2 * i", HONE_C_STRIDE_FAR},
    {"(i + 1) * n - i * n", HONE_C_STRIDE_ZERO},
    {"n", HONE_C_STRIDE_ZERO},
    {"idx[i]", HONE_C_STRIDE_UNKNOWN},
    {"i % n", HONE_C_STRIDE_UNKNOWN},
    {"(long)(i) + (n)", HONE_C_STRIDE_UNIT},
    {"i * i", HONE_C_STRIDE_FAR},
    {"-i + 2 * i", HONE_C_STRIDE_UNIT},
    {"at", HONE_C_STRIDE_FAR},
};

START_TEST(strides_are_computed)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(indices); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct shape s = {
            hone_pool_printf(pool,
                             "for (int i = 0; i < n; i++) { int at = i * n + 1; y[%s] = at; }",
                             indices[i].index),
            1, NULL, NULL};
        struct hone_coder_input in;
        parse_shape(p, &s, pool, &in);
        struct hone_c_access a[8];
        size_t n = hone_c_accesses(in.nest.function, in.nest.loops[0].node->body, a, 8);
        ck_assert_uint_ge(n, 1);
        ck_assert(a[0].is_write);
        ck_assert_msg(hone_c_poly_stride(&a[0].index, in.nest.loops[0].var) == indices[i].stride,
                      "%s", indices[i].index);
    }
}
END_TEST

static const struct {
    const char *source;
    enum hone_code code;
    const char *part;
} refused[] = {
    {"#include \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#  include </etc/passwd>\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#define H <stdio.h>\n#include H\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#inc\\\nlude \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#/**/include/**/\"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#include_next <stdio.h>\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"%:include \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "digraph"},
    {"void k(void) {\n    oops\n}\n", HONE_E_ARG, "line 2"},
    {"void other(void) {}\n", HONE_E_NOT_FOUND, "'k'"},
};

START_TEST(bad_sources_are_refused)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        ck_assert_msg(hone_coder_read(p, "cpu", refused[i].source, "k", pool, &in, &err) ==
                          (int)refused[i].code,
                      "%s: %s", refused[i].source, err.message);
        ck_assert_msg(strstr(err.message, refused[i].part), "%s: %s", refused[i].source,
                      err.message);
    }
    HONE_AUTOFREE char *deep = hone_malloc(20000);
    size_t n = 0;
    memcpy(deep, "int f(void) { return ", 21);
    n = 21;
    memset(deep + n, '(', 220);
    n += 220;
    deep[n++] = '1';
    memset(deep + n, ')', 220);
    n += 220;
    strcpy(deep + n, "; }\nvoid k(void) {}\n");
    struct hone_coder_input in;
    ck_assert_int_eq(hone_coder_read(p, "cpu", deep, "k", pool, &in, NULL), 0);
}
END_TEST

START_TEST(layout_does_not_count)
{
    HONE_AUTOFREE char *a = hone_c_normalise("int  f( void )\n{ /* x */ return 1; } // y\n");
    HONE_AUTOFREE char *b = hone_c_normalise("int f( void )\n{ return 1; }\n");
    HONE_AUTOFREE char *c = hone_c_normalise("char *s = \"a  /* b */\";");
    ck_assert_str_eq(a, b);
    ck_assert_str_eq(c, "char *s = \"a  /* b */\";");
}
END_TEST

UNIT_MAIN("c_parser", loops_are_understood, rows_are_held_to_sizes, strides_are_computed,
          bad_sources_are_refused, layout_does_not_count)
