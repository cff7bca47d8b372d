/* SPDX-License-Identifier: Apache-2.0 */
/* Every rewrite at every site of the five packs' textbook kernels (and of some other shapes), and
 * chains of them: the new source must compile and give the original's answer. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/planner/features.h"
#include "agents/rewrites/coder_rules.h"
#include "agents/source/c_normal.h"
#include "workspace/base/file.h"
#include "workspace/task/task.h"

enum { MAX_OUT = 1 << 14 };

typedef void kernel_any(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t);

static float a_data[MAX_OUT], b_data[MAX_OUT], out_data[MAX_OUT];
static int32_t offsets[64], columns[MAX_OUT];

#define P(x) ((intptr_t)(x))
struct call {
    intptr_t args[9];
};
struct kernel_case {
    const char *name;
    const char *source; /* NULL: the pack's naive.c */
    struct call calls[4];
    size_t n_calls;
};

static const char conv_text[] =
    "#include <stdint.h>\n"
    "void conv(const float *x, const float *w, float *y, int64_t H, int64_t W)\n"
    "{\n"
    "    for (int64_t r = 0; r < H - 2; r++)\n"
    "        for (int64_t c = 0; c < W - 2; c++) {\n"
    "            float acc = 0.5f;\n"
    "            for (int64_t i = 0; i < 3; i++) for (int64_t j = 0; j < 3; j++)\n"
    "                    acc += x[(r + i) * W + c + j] * w[i * 3 + j];\n"
    "            y[r * W + c] = acc > 0 ? acc : 0.1f * acc;\n"
    "        }\n"
    "}\n";

static const char transpose_text[] =
    "#include <stdint.h>\n"
    "void transpose(const float *x, const float *b, float *y, int64_t M, int64_t N)\n"
    "{\n"
    "    (void)b;\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        for (int64_t j = 0; j < M; j++)\n"
    "            y[i * M + j] = 2 * x[j * N + i];\n"
    "}\n";

static const char rowmin_text[] =
    "#include <stdint.h>\n"
    "#include <math.h>\n"
    "void rowmin(const float *x, const float *b, float *y, int64_t M, int64_t N)\n"
    "{\n"
    "    (void)b;\n"
    "    for (int64_t i = 0; i < M; i++) {\n"
    "        const float *row = x + i * N;\n"
    "        float low = row[0], total = 0;\n"
    "        for (int64_t j = 0; j < N; j++) {\n"
    "            low = fminf(low, row[j]);\n"
    "            total += expf(row[j]);\n"
    "        }\n"
    "        y[2 * i] = low;\n"
    "        y[2 * i + 1] = total;\n"
    "    }\n"
    "}\n";

static const char rms_text[] =
    "#include <stdint.h>\n"
    "#include <math.h>\n"
    "void rms(const float *x, const float *b, float *y, int64_t M, int64_t N)\n"
    "{\n"
    "    (void)b;\n"
    "    for (int64_t i = 0; i < M * N; i++)\n"
    "        y[i] = x[i] / (sqrtf(x[i] * x[i] + 1) + powf(2, (float)N) + expf(x[i]));\n"
    "}\n";

/* The spellings that a normal form is for: each is a contraction to a rule that reads "acc". */
#define HEAD(name)                                                                                 \
    "#include <stdint.h>\n"                                                                        \
    "void " name "(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)\n"   \
    "{\n"
static const char gemm_text[] = /* k outside of j, first values by a loop of their own */
    HEAD("gemm") "    for (int64_t i = 0; i < M; i++)\n"
                 "        for (int64_t j = 0; j < N; j++)\n"
                 "            C[i * N + j] = B[i + j];\n"
                 "    for (int64_t i = 0; i < M; i++) {\n"
                 "        for (int64_t j = 0; j < N; j++)\n"
                 "            C[i * N + j] *= 0.25f;\n"
                 "        for (int64_t k = 0; k < K; k++)\n"
                 "            for (int64_t j = 0; j < N; j++)\n"
                 "                C[i * N + j] += 0.5f * A[i * K + k] * B[k * N + j];\n"
                 "    }\n"
                 "}\n";
static const char mm_text[] = /* the sum grows in memory */
    HEAD("mm") "    for (int64_t i = 0; i < M; i++)\n"
               "        for (int64_t j = 0; j < N; j++) {\n"
               "            C[i * N + j] = 0;\n"
               "            for (int64_t k = 0; k < K; ++k)\n"
               "                C[i * N + j] += A[i * K + k] * B[k * N + j];\n"
               "        }\n"
               "}\n";
static const char value_text[] = /* a value beside the inner loop */
    HEAD("value") "    for (int64_t i = 0; i < M; i++) {\n"
                  "        for (int64_t j = 0; j < N; j++)\n"
                  "            C[i * N + j] = 1;\n"
                  "        for (int64_t k = 0; k < K; k++) {\n"
                  "            const float a = A[i * K + k];\n"
                  "            for (int64_t j = 0; j < N; j++)\n"
                  "                C[i * N + j] -= a * B[k * N + j];\n"
                  "        }\n"
                  "    }\n"
                  "}\n";
static const char rows_text[] = /* sums of rows */
    HEAD("rows") "    for (int64_t i = 0; i < M; i++) {\n"
                 "        C[i] = B[i];\n"
                 "        for (int64_t j = 0; j < N; j++)\n"
                 "            C[i] += A[i * N + j] * B[j];\n"
                 "    }\n"
                 "    (void)K;\n"
                 "}\n";
static const char triangle_text[] =
    HEAD("triangle") "    for (int64_t i = 0; i < M; i++)\n"
                     "        for (int64_t j = 0; j < N; j++)\n"
                     "            C[i * N + j] = B[i + j];\n"
                     "    for (int64_t i = 0; i < M; i++) {\n"
                     "        for (int64_t j = 0; j <= i && j < N; j++)\n"
                     "            C[i * N + j] *= 0.25f;\n"
                     "        for (int64_t k = 0; k < K; k++)\n"
                     "            for (int64_t j = 0; j < N; j++)\n"
                     "                C[i * N + j] += A[i * K + k] * A[j * K + k];\n"
                     "    }\n"
                     "}\n";

#define A   P(a_data)
#define B   P(b_data)
#define OUT P(out_data)
static struct kernel_case cases[] = {
    {"matmul",
     NULL,
     {{{A, B, OUT, 13, 37, 11}},
      {{A, B, OUT, 12, 16, 8}},
      {{A, B, OUT, 1, 1, 1}},
      {{A, B, OUT, 7, 5, 3}}},
     4},
    {"softmax", NULL, {{{A, OUT, 7, 70}}, {{A, OUT, 3, 1}}, {{A, OUT, 1, 33}}}, 3},
    {"jacobi2d", NULL, {{{A, OUT, 20, 33, 3}}, {{A, OUT, 9, 8, 4}}, {{A, OUT, 3, 3, 1}}}, 3},
    {"sum", NULL, {{{A, OUT, 1000}}, {{A, OUT, 1}}, {{A, OUT, 37}}}, 3},
    {"spmv_csr", NULL, {{{P(offsets), P(columns), A, B, OUT, 40, 200, 0, 41}}}, 1},
    {"conv", conv_text, {{{A, B, OUT, 20, 50}}, {{A, B, OUT, 5, 7}}}, 2},
    {"transpose", transpose_text, {{{A, B, OUT, 17, 41}}, {{A, B, OUT, 1, 3}}}, 2},
    {"rowmin", rowmin_text, {{{A, B, OUT, 5, 77}}, {{A, B, OUT, 2, 1}}}, 2},
    {"rms", rms_text, {{{A, B, OUT, 5, 77}}, {{A, B, OUT, 2, 1}}}, 2},
    {"gemm",
     gemm_text,
     {{{A, B, OUT, 13, 37, 11}}, {{A, B, OUT, 12, 16, 8}}, {{A, B, OUT, 1, 1, 1}}},
     3},
    {"mm",
     mm_text,
     {{{A, B, OUT, 13, 37, 11}}, {{A, B, OUT, 12, 16, 8}}, {{A, B, OUT, 1, 1, 1}}},
     3},
    {"value",
     value_text,
     {{{A, B, OUT, 13, 37, 11}}, {{A, B, OUT, 12, 16, 8}}, {{A, B, OUT, 1, 1, 1}}},
     3},
    {"rows",
     rows_text,
     {{{A, B, OUT, 13, 37, 11}}, {{A, B, OUT, 12, 16, 8}}, {{A, B, OUT, 1, 1, 1}}},
     3},
    {"triangle",
     triangle_text,
     {{{A, B, OUT, 13, 37, 11}}, {{A, B, OUT, 12, 16, 8}}, {{A, B, OUT, 1, 1, 1}}},
     3},
};

static const char *const chains[][6] = {
    {"matmul", "register_tile", "thread_outer", NULL},
    {"matmul", "interchange", "thread_outer", "simd_inner", NULL},
    {"matmul", "thread_outer", "simd_inner", "accumulators", NULL},
    {"matmul", "interchange", "simd_inner", "fast_math", NULL},
    {"softmax", "vector_math", "reuse_pass", "accumulators", "simd_inner", "thread_outer"},
    {"softmax", "thread_outer", "reuse_pass", "vector_math", "accumulators", NULL},
    {"jacobi2d", "ping_pong", "simd_inner", "thread_outer", NULL},
    {"jacobi2d", "thread_outer", "ping_pong", "simd_inner", NULL},
    {"sum", "thread_reduction", "accumulators", "simd_inner", NULL},
    {"spmv_csr", "thread_outer", "accumulators", "simd_inner", NULL},
    {"conv", "register_tile", "thread_outer", "simd_inner", NULL},
    {"conv", "thread_outer", "register_tile", "simd_inner", NULL},
    {"transpose", "tile_loops", "thread_outer", "simd_inner", NULL},
    {"rowmin", "vector_math", "thread_outer", "accumulators", "simd_inner", NULL},
    {"gemm", "register_tile", "thread_outer", NULL},
    {"gemm", "thread_outer", "register_tile", NULL},
    {"mm", "register_tile", "thread_outer", NULL},
    {"value", "register_tile", "thread_outer", NULL},
    {"rows", "accumulators", "thread_outer", NULL},
};

static void fill(void)
{
    for (int i = 0; i < MAX_OUT; i++) {
        a_data[i] = (float)((i * 7919) % 2003) / 1000.0f - 1.0f;
        b_data[i] = (float)((i * 104729) % 997) / 500.0f - 1.0f;
        columns[i] = (i * 37) % 200;
    }
    for (int i = 0; i < 64; i++)
        offsets[i] = i * (i % 7) / 2 + i * 3; /* made monotone below */
    for (int i = 1; i < 64; i++)
        offsets[i] = offsets[i - 1] + (i * 5) % 23;
    offsets[0] = 0;
}

static void *build(const char *source, const char *name, struct hone_pool *pool)
{
    static int serial;
    const char *stem = hone_pool_printf(pool, "/tmp/hone-unit-%d-%d", (int)getpid(), serial++);
    const char *c = hone_pool_printf(pool, "%s.c", stem),
               *so = hone_pool_printf(pool, "%s.so", stem);
    struct hone_array none = {.n = 0};
    const char *prologue = "";
    ck_assert_int_eq(hone_tune_prologue(source, &none, pool, &prologue, NULL), 0);
    FILE *f = fopen(c, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s%s", prologue, source);
    fclose(f);
    int status = system(hone_pool_printf(
        pool, "tests/cached %s %s -- gcc -w -O2 -march=native -fopenmp -fPIC -shared %s -o %s -lm",
        so, c, c, so));
    if (status != 0)
        ck_abort_msg("does not compile:\n%s", source);
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(lib != NULL, "%s", dlerror());
    unlink(c);
    unlink(so);
    return dlsym(lib, name);
}

static void call(void *address, const struct call *c)
{
    kernel_any *f;
    memcpy(&f, &address, sizeof(f));
    memset(out_data, 0x7f, sizeof(out_data));
    const intptr_t *x = c->args;
    f(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
}

static void compare(const struct kernel_case *k, void *original, const char *source,
                    const char *what, struct hone_pool *pool)
{
    static float want[MAX_OUT];
    void *changed = build(source, k->name, pool);
    for (size_t i = 0; i < k->n_calls; i++) {
        call(original, &k->calls[i]);
        memcpy(want, out_data, sizeof(want));
        call(changed, &k->calls[i]);
        for (int j = 0; j < MAX_OUT; j++)
            if (!(fabsf(want[j] - out_data[j]) <= 1e-5f + 1e-5f * fabsf(want[j])) &&
                memcmp(&want[j], &out_data[j], 4) != 0)
                ck_abort_msg("%s %s call %zu: [%d] = %g, expected %g\n%s", k->name, what, i, j,
                             (double)out_data[j], (double)want[j], source);
    }
}

static const char *source_of(const struct kernel_case *k, struct hone_pool *pool)
{
    if (k->source)
        return k->source;
    char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(
        hone_file_read(hone_pool_printf(pool, "workspace/packs/%s/kernels/naive.c", k->name),
                       1 << 16, &text, &len, NULL),
        0);
    const char *copy = hone_pool_strdup(pool, text);
    free(text);
    return copy;
}

static struct hone_c_parser *open_parser(void)
{
    struct hone_c_parser *p = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_c_parser_new(&p, &err) == 0, "%s", err.message);
    return p;
}

static size_t check_sites(const struct kernel_case *k, struct hone_c_parser *parser,
                          struct hone_pool *pool)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_coder_input in;
    const char *source = source_of(k, pool);
    ck_assert_msg(hone_coder_read(parser, "cpu", source, k->name, pool, &in, &err) == 0, "%s: %s",
                  k->name, err.message);
    void *original = build(source, k->name, pool);
    size_t n_done = 0;
    for (size_t i = 0; i < hone_n_rewrites; i++) {
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        size_t n = hone_coder_sites(hone_rewrites[i], &in, sites);
        for (size_t s = 0; s < n; s++, n_done++) {
            const char *text = NULL;
            ck_assert_uint_eq(strlen(sites[s].anchor), 16);
            ck_assert_msg(hone_coder_apply(parser, hone_rewrites[i], &in, &sites[s], &text, &err) ==
                              0,
                          "%s %s: %s", k->name, hone_rewrites[i]->name, err.message);
            ck_assert_str_ne(text, source);
            compare(k, original, text, hone_rewrites[i]->name, pool);
        }
    }
    return n_done;
}

START_TEST(every_rewrite_keeps_the_answer)
{
    fill();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        n += check_sites(&cases[i], parser, pool);
    ck_assert_uint_ge(n, 30);
}
END_TEST

static const struct kernel_case *find_case(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

START_TEST(chains_keep_the_answer)
{
    fill();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t c = 0; c < HONE_COUNTOF(chains); c++) {
        const struct kernel_case *k = find_case(chains[c][0]);
        const char *source = source_of(k, pool);
        void *original = build(source, k->name, pool);
        for (size_t i = 1; i < 6 && chains[c][i]; i++) {
            struct hone_err err = HONE_ERR_INIT;
            struct hone_coder_input in;
            ck_assert_msg(hone_coder_read(parser, "cpu", source, k->name, pool, &in, &err) == 0,
                          "%s", err.message);
            struct hone_coder_site sites[HONE_CODER_MAX_SITES];
            const struct hone_rewrite *rewrite = hone_rewrite_find(chains[c][i]);
            ck_assert_msg(hone_coder_sites(rewrite, &in, sites) > 0,
                          "chain %zu: no site for %s in\n%.2000s", c, chains[c][i], source);
            ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[0], &source, &err) == 0,
                          "%s", err.message);
        }
        compare(k, original, source, "chain", pool);
    }
}
END_TEST

/* What a body of loops becomes; each text that must be refused holds what would change an element.
 */
static const struct {
    const char *body;
    const char *has; /* NULL: no step */
} forms[] = {
    {"for (long k = 0; k < K; k++) C[0] += A[k];", "float acc = C[0];"},
    {"for (long k = 0; k < K; k++) C[0] = A[k] * B[k] + C[0];", "acc = A[k] * B[k] + acc;"},
    {"for (long k = 0; k < K; k++) C[0] = C[0] + C[1] * A[k];", NULL},
    {"for (long k = 0; k < K; k++) C[0] = A[k] + C[k];", NULL},
    {"C[1] = 2; for (long k = 0; k < K; k++) C[1] += A[k];", "float acc = 2;"},
    {"for (long p = 0; p < M; p++) for (long k = 0; k < K; k++) C[N] *= A[p + k];",
     "float acc = C[N];\nfor (long p = 0;"},
    {"for (long k = 0; k < K; k++) for (long j = 0; j < N; j++) C[j] += A[k] * B[j];",
     "for (long j = 0; j < N; j++) {\nfor (long k = 0; k < K; k++) {"},
    /* another element of the same array, kept apart by the bounds: below, above, over a third */
    {"for (long i = 0; i < M; i++) for (long j = 0; j < i; j++) C[i] -= A[i * M + j] * C[j];",
     "float acc = C[i];"},
    {"for (long i = 0; i < M; i++) for (long k = i + 1; k < M; k++) C[i] += A[k] * C[k];",
     "float acc = C[i];"},
    {"for (long i = 0; i < M; i++) for (long j = 0; j < i; j++) for (long k = 0; k < j; k++)"
     " C[i * M + j] -= C[i * M + k] * C[k * M + j];",
     "float acc = C[i * M + j];"},
    {"for (long i = 0; i < M; i++) for (long j = 0; j <= i; j++) C[i] -= A[i * M + j] * C[j];",
     NULL},
    {"for (long i = 0; i < M; i++) for (long k = i; k < M; k++) C[i] += A[k] * C[k];", NULL},
    {"for (long i = 0; i < M; i++) for (long j = 0; j < i; j++) C[i] -= C[i - j];", NULL},
    {"for (long i = 0; i < M; i++) for (long j = 0; j < N; j++) for (long k = 0; k < j; k++)"
     " C[i * M + j] -= C[i * M + k] * C[k * M + j];",
     NULL},
    /* another element of the same array */
    {"for (long k = 0; k < K; k++) C[0] += C[k];", NULL},
    {"for (long k = 0; k < K; k++) C[0] += A[k] * C[1];", NULL},
    {"for (long k = 0; k < K; k++) { float *D = C; C[0] += A[k] * D[0]; }", NULL},
    /* the index moves, by the counter, by memory, by a scalar */
    {"for (long k = 0; k < K; k++) C[k] += A[k];", NULL},
    {"for (long k = 0; k < K; k++) C[(long)A[k]] += 1;", NULL},
    {"long at = 0; for (long k = 0; k < K; k++) { C[at] += A[k]; at++; }", NULL},
    /* left early, or seen by somebody else */
    {"for (long k = 0; k < K; k++) { if (A[k] < 0) return; C[0] += A[k]; }", NULL},
    {"for (long k = 0; k < K; k++) { C[0] += A[k]; seen(C); }", NULL},
    {"\n#pragma omp parallel for\nfor (long k = 0; k < K; k++) C[0] += A[k];", NULL},
    {"for (long k = 0; k < K; k++) { \n#pragma omp atomic\n C[0] += A[k]; }", NULL},
    /* k and j may not change places: in place (lu), triangle of k, k in the index, two j at one
     * element */
    {"for (long k = 0; k < N; k++) for (long j = 0; j < N; j++) C[M + j] -= C[k] * C[k * N + j];",
     NULL},
    {"for (long k = 0; k < K; k++) for (long j = 0; j < k; j++) C[j] += A[k];", NULL},
    {"for (long k = 0; k < K; k++) for (long j = 0; j < N; j++) C[j + k] += A[k];", NULL},
    {"for (long k = 0; k < K; k++) for (long j = 0; j < N; j++) C[j / 2] += A[k];", NULL},
    {"for (long k = 0; k < K; k++) { float a = C[k]; for (long j = 0; j < N; j++) C[j] += a; }",
     NULL},
    /* a loop of first values that the other loop reads ahead of, or that is not as long */
    {"for (long j = 0; j < N; j++) C[j] = 1;"
     "for (long j = 0; j < N; j++) for (long k = 0; k < K; k++) C[j] += C[j + 1];",
     NULL},
    {"for (long j = 0; j < M; j++) C[j] = 1;"
     "for (long j = 0; j < N; j++) { for (long k = 0; k < K; k++) seen(0); C[j] += 1; }",
     NULL},
};

START_TEST(normal_form)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(forms); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        const char *source = hone_pool_printf(
            pool,
            "void seen(float *p);\n"
            "void k(const float *A, const float *B, float *C, long M, long N, long K)\n{\n%s\n}\n",
            forms[i].body);
        ck_assert_msg(hone_coder_read(parser, "cpu", source, "k", pool, &in, &err) == 0, "%s: %s",
                      forms[i].body, err.message);
        const char *text = hone_c_normal_step(&in);
        if (!forms[i].has)
            ck_assert_msg(text == NULL, "%s\nbecame\n%s", forms[i].body, text);
        HONE_AUTOFREE char *got = hone_c_normalise(text ? text : "");
        HONE_AUTOFREE char *want = hone_c_normalise(forms[i].has ? forms[i].has : "");
        ck_assert_msg(strstr(got, want) != NULL, "%s\nbecame\n%s", forms[i].body, got);
    }
}
END_TEST

/* What the planner knows of a sum does not hang on where it is kept. */
START_TEST(a_sum_in_memory_is_a_chain)
{
    static const char *const bodies[] = {
        "float s = 0; for (long k = 0; k < K; k++) s += A[k]; C[0] = s;",
        "for (long k = 0; k < K; k++) C[0] += A[k];",
        "for (long k = 0; k < K; k++) C[0] = A[k] + C[0];"};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(bodies); i++) {
        struct hone_coder_input in;
        struct hone_features f;
        const char *source = hone_pool_printf(
            pool, "void k(const float *A, float *C, long K)\n{\n%s\n}\n", bodies[i]);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        hone_features_of(&in, NULL, NULL, &f);
        ck_assert_msg(hone_feature_or(&f, HONE_F_CHAINS, -1) == 1, "%s", bodies[i]);
    }
}
END_TEST

/* Threads go to the deepest nest or nowhere. */
static const struct {
    const char *body;
    bool has_site;
} threaded[] = {
    {"for (long i = 0; i < M; i++) C[i] = A[i];", true},
    {"for (long i = 0; i < M; i++) for (long j = 0; j < N; j++) C[i * N + j] = A[i];", true},
    {"for (long i = 0; i < M; i++) C[i] = A[i];"
     "for (long i = 0; i < M; i++) for (long j = 0; j < N; j++) C[i * N + j] = A[i];",
     true},
    {"for (long i = 0; i < M; i++) C[i] = A[i];"
     "for (long i = 1; i < M; i++) for (long j = 1; j < N; j++) C[j] += C[i + j - 1];",
     false},
    {"for (long i = 0; i < M; i++) C[i] = A[i];"
     "for (long i = 1; i < M; i++) for (long j = 0; j < 4; j++) C[j] += C[i + j - 1];",
     true},
    {"for (long t = 0; t < K; t++) { for (long i = 0; i < M; i++) C[i] = A[i] + B[i]; }", true},
};

START_TEST(threads_go_to_the_deepest_nest)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(threaded); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *source = hone_pool_printf(
            pool,
            "void k(const float *A, const float *B, float *C, long M, long N, long K)\n{%s}\n",
            threaded[i].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        size_t n = hone_coder_sites(hone_rewrite_find("thread_outer"), &in, sites);
        ck_assert_msg((n > 0) == threaded[i].has_site, "%zu sites: %s", n, threaded[i].body);
    }
}
END_TEST

/* The second loop of a collapsed pair stays directly inside of the first. */
START_TEST(collapsed_loops_stay_together)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    static const char *const pragmas[] = {"omp parallel for", "omp parallel for collapse(2)"};
    static const char *const rules[] = {"interchange", "register_tile"};
    for (size_t i = 0; i < HONE_COUNTOF(pragmas) * HONE_COUNTOF(rules); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *source = hone_pool_printf(
            pool,
            "void k(const float *A, const float *B, float *C, long M, long N, long K)\n{\n"
            "#pragma %s\n"
            "for (long i = 0; i < M; i++)\n"
            "    for (long j = 0; j < N; j++) {\n"
            "        float acc = 0;\n"
            "        for (long k = 0; k < K; k++)\n"
            "            acc += A[i * K + k] * B[k * N + j];\n"
            "        C[i * N + j] = acc;\n"
            "    }\n}\n",
            pragmas[i % 2]);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "k", pool, &in, NULL), 0);
        size_t n = hone_coder_sites(hone_rewrite_find(rules[i / 2]), &in, sites);
        ck_assert_msg((n > 0) == (i % 2 == 0), "%zu sites for %s in %s", n, rules[i / 2], source);
    }
}
END_TEST

/* Products whose sums grow in memory: all of them in one step, with their sums in registers. */
START_TEST(tiles_hold_their_sums)
{
    static const char source[] =
        "#include <stdint.h>\n"
        "void two(const float *A, const float *B, float *T, float *D, int64_t N)\n{\n"
        "    for (int64_t i = 0; i < N; i++)\n        T[i] = 0;\n"
        "    for (int64_t i = 0; i < N; i++)\n        for (int64_t j = 0; j < N; j++) {\n"
        "            T[i * N + j] = 0;\n"
        "            for (int64_t k = 0; k < N; k++)\n"
        "                T[i * N + j] += A[i * N + k] * B[k * N + j];\n        }\n"
        "    for (int64_t i = 0; i < N; i++)\n        for (int64_t j = 0; j < N; j++)\n"
        "            for (int64_t k = 0; k < N; k++)\n"
        "                D[i * N + j] += T[i * N + k] * B[k * N + j];\n}\n";
    struct hone_pool *pool = hone_pool_new();
    struct hone_c_parser *parser = NULL;
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const struct hone_rewrite *tile = hone_rewrite_find("register_tile");
    const char *text = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "two", pool, &in, NULL), 0);
    ck_assert_uint_eq(hone_coder_sites(tile, &in, sites), 3);
    ck_assert_str_eq(sites[0].words, "2 nests");
    ck_assert(sites[0].is_normal);
    ck_assert_int_eq(hone_coder_apply(parser, tile, &in, &sites[0], &text, NULL), 0);
    size_t n_tiles = 0;
    for (const char *at = text; (at = strstr(at, "[MR][NR];")); at++)
        n_tiles++;
    ck_assert_uint_eq(n_tiles, 2);
    hone_c_parser_free(parser);
    hone_pool_free(pool);
}
END_TEST

/* What the option -ffast-math vectorises, its pragma does too. */
START_TEST(fast_math_is_the_option)
{
    static const char source[] = "#include <math.h>\n"
                                 "#define AT(a, i) a[i]\n"
                                 "void scaled(const float *restrict x, float *restrict y, long n)\n"
                                 "{\n"
                                 "    for (long i = 0; i < n; i++)\n"
                                 "        AT(y, i) = AT(x, i) / (sqrtf(AT(x, i)) + 1e-8f);\n"
                                 "}\n";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const struct hone_rewrite *rewrite = hone_rewrite_find("fast_math");
    const char *made = NULL;
    ck_assert_int_eq(
        hone_coder_read(parser, "cpu", "void k(int *y) { y[0]++; }", "k", pool, &in, &err), 0);
    ck_assert_uint_eq(hone_coder_sites(rewrite, &in, sites), 0); /* nothing of floats */
    ck_assert_int_eq(hone_coder_read(parser, "cpu", source, "scaled", pool, &in, &err), 0);
    ck_assert_uint_eq(hone_coder_sites(rewrite, &in, sites), 1);
    ck_assert_int_eq(hone_coder_apply(parser, rewrite, &in, sites, &made, &err), 0);
    ck_assert_ptr_nonnull(strstr(made, "__attribute__((const)) float sqrtf(float);\n"));
    ck_assert_ptr_null(strstr(made, "double sqrt(")); /* not called */
    ck_assert_ptr_nonnull(strstr(made, source));      /* as it was written, not its plain form */
#ifdef __x86_64__
    const char *c = hone_pool_printf(pool, "/tmp/hone-unit-fast-%d.c", (int)getpid());
    ck_assert_int_eq(hone_file_write(c, made, strlen(made), 0600, false, NULL), 0);
    int status =
        system(hone_pool_printf(pool, "gcc -O3 -mavx2 -S -o - %s | grep -q 'vr*sqrtps'", c));
    unlink(c);
    ck_assert_msg(status == 0, "not vectorised:\n%s", made);
#endif
}
END_TEST

/* Borders are split off in each spelling; all sizes from none on, with what lies outside told apart. */
START_TEST(borders_are_split)
{
    static const struct {
        const char *body; /* of void k(const int *x, int *y, int n, int m) */
        bool is_fit;
    } rows[] = {
        {"for (int i = 0; i < n; i++) { if (i == 0 || i == n - 1) continue; y[i] = x[i - 1]; }",
         true},
        {"for (int i = 0; i < n; i++) y[i] = i - 2 < 0 ? 5 : i + 1 >= n ? 7 : x[i - 2];", true},
        {"for (int i = 0; i < n; i++) for (int d = -m; d <= m; d++) { int k = i + d; if (0 <= k && "
         "n > k) y[i] += x[k] * (d + 9); }",
         true},
        {"for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) { int s = 0; for (int e = -1; e "
         "<= 1; e++) for (int d = -1; d <= 1; d++) s += x[(j + e + m) % m * n + (i + d + n) % n] * "
         "(3 * e + d + 9); y[j * n + i] = s; }",
         true},
        {"for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) if (i - k >= 0) y[i] += x[i - k] "
         "* (k + 1);",
         true},
        {"for (int i = n; i < n + m; i++) { if (i != n && !(i > n + m - 2)) y[i - n] = x[i]; else "
         "y[i - n] -= 3; }",
         true},
        {"for (unsigned long i = 0; i < (unsigned long)n; i++) { if (i < 1 || i + 1 >= (unsigned "
         "long)n) y[i] = 4; else y[i] = x[i - 1] + x[i + 1]; }",
         true},
        {"for (int i = 0; i < n; i++) { y[i] = x[i]; if (i > 1) y[i] += y[i - 1]; if (i == n - 2) "
         "return; }",
         true},
        {"for (unsigned i = 0; i < (unsigned)n; i++) y[i] = i - 1 < (unsigned)n ? 1 : 2;", false},
        {"for (int i = 0; i < n; i++) { if (i == 3) break; y[i] = i < 2; }", false},
        {"int e = 1; for (int i = 0; i < n; i++) { if (i < e) y[i] = 1; e = m; }", false},
        {"for (int i = 0; i < n; i++) for (int k = 0; k < i - 1; k++) y[i]++;", false},
        {"for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) y[i] += i == k;", false},
        {"for (int i = 0; i < n; i++) y[i] = x[i] < m;", false},
        {"for (int i = 0; i < 8; i++) y[i] = i == 2;", false},
        {"struct { int n; } *p = (void *)y; for (int i = 0; i < p->n; i++) y[i] = i < 2; for (int "
         "i = -3; i < n; i++) y[i] = i + 1 < (unsigned)n; for (int i = 0; i < n; i++) y[i] = i - 1 "
         "< n - 1u; int k = n; { int n = m; for (int i = 0; i < k; i++) y[i] = i < k - 1; } for "
         "(int i = 0; i < n; i++) { int t = i + m; { int m = 9; y[i] = (t + n) % n + m; } l:; }",
         false},
        {"for (int i = 0; i < n; i++) { static int t; y[i] = i > 0 ? ++t : 1; }", false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    const struct hone_rewrite *rule = hone_rewrite_find("split_borders");
    const char *all = "";
    size_t n_fit = 0;
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *made = NULL;
        const char *text = hone_pool_printf(
            pool, "void k(const int *x, int *y, int n, int m)\n{\n%s\n}\n", rows[i].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", text, "k", pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg((n > 0) == rows[i].is_fit, "%s: %zu places", rows[i].body, n);
        if (n == 0)
            continue;
        ck_assert_int_eq(hone_coder_apply(parser, rule, &in, &sites[0], &made, NULL), 0);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", made, "k", pool, &in, NULL), 0);
        n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg(n == 0, "once more:\n%s", made);
        all =
            hone_pool_printf(pool, "%s#define k was%zu\n%s#undef k\n#define k is%zu\n%s#undef k\n",
                             all, n_fit, text, n_fit, made);
        n_fit++;
    }
    for (size_t i = 0; i < n_fit; i++) {
        void *old = build(all, hone_pool_printf(pool, "was%zu", i), pool);
        void *new = build(all, hone_pool_printf(pool, "is%zu", i), pool);
        kernel_any *f, *g;
        memcpy(&f, &old, sizeof(f));
        memcpy(&g, &new, sizeof(g));
        for (int n = 0; n < 9; n++)
            for (int m = 0; m < 5; m++) {
                int x[128], was[128] = {0}, is[128] = {0};
                for (int k = 0; k < 128; k++)
                    x[k] = k * k % 37 + 1;
                f(P(x + 40), P(was + 8), n, m, 0, 0, 0, 0, 0);
                g(P(x + 40), P(is + 8), n, m, 0, 0, 0, 0, 0);
                ck_assert_msg(memcmp(was, is, sizeof(was)) == 0, "%zu of those that fit, at %d, %d",
                              i, n, m);
            }
    }
}
END_TEST

/* A text that rounds as it is written keeps its sums of floats; other reductions are free. */
START_TEST(rounding_is_exact)
{
    static const char head[] = "#pragma GCC optimize(\"fp-contract=off\")\n",
                      sum[] = "#include <math.h>\n"
                              "void sum(const float *x, int *y, long n)\n{\nfloat s = 0;\n"
                              "for (long i = 0; i < n; i++) s += expf(x[i]);\ny[0] = s > 2;\n}\n",
                      counts[] = "void counts(const float *x, int *y, long n)\n{\n"
                                 "int s = 0; float m = 0;\n"
                                 "for (long i = 0; i < n; i++) {\nif (x[i] > 1) s++;\n"
                                 "m = x[i] > m ? x[i] : m;\n}\ny[0] = s; y[1] = m > 3;\n}\n";
    static const struct {
        const char *rule;
        bool of_sum, of_counts; /* is it offered, where the text keeps its rounding? */
    } rows[] = {{"fast_math", false, false},       {"vector_math", false, false},
                {"accumulators", false, true},     {"simd_inner", false, true},
                {"thread_reduction", false, true}, {"unroll_loops", true, true}};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        for (int is_exact = 0; is_exact < 2; is_exact++)
            for (int is_sum = 0; is_sum < 2; is_sum++) {
                struct hone_coder_input in;
                struct hone_coder_site sites[HONE_CODER_MAX_SITES];
                const char *text =
                    hone_pool_printf(pool, "%s%s", is_exact ? head : "", is_sum ? sum : counts);
                ck_assert_int_eq(hone_coder_read(parser, "cpu", text, is_sum ? "sum" : "counts",
                                                 pool, &in, NULL),
                                 0);
                const struct hone_rewrite *rule = hone_rewrite_find(rows[i].rule);
                size_t n = hone_coder_sites(rule, &in, sites);
                bool any = n > 0 && !sites[0].is_weak;
                if (is_exact)
                    ck_assert_msg(any == (is_sum ? rows[i].of_sum : rows[i].of_counts), "%s\n%s",
                                  rows[i].rule, text);
                else if (is_sum)
                    ck_assert_msg(any, "%s\n%s", rows[i].rule, text);
            }
}
END_TEST

UNIT_MAIN("coder_rules", borders_are_split, rounding_is_exact, fast_math_is_the_option,
          tiles_hold_their_sums, every_rewrite_keeps_the_answer, chains_keep_the_answer,
          normal_form, a_sum_in_memory_is_a_chain, threads_go_to_the_deepest_nest,
          collapsed_loops_stay_together)
