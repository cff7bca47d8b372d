/* SPDX-License-Identifier: Apache-2.0 */
/* The normal form leaves kernels alone whose meaning a step would change: each row stands beside
 * one that differs in that point alone and is rewritten. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/coder/coder.h"
#include "agents/source/cuda_normal.h"

#define PLACE "(int64_t)blockIdx.x * blockDim.x + threadIdx.x"
#define LOOP(body)                                                                                 \
    "for (int64_t i = " PLACE "; i < M; i += (int64_t)gridDim.x * blockDim.x) {" body "}"
#define FLAT(type)                                                                                 \
    "const int64_t i = " PLACE "; if (i >= M * N) return; const " type " r = i / N;"               \
    "const " type " c = i % N; y[i] = x[i] + r + c;"
#define SUM(locals, last)                                                                          \
    "const int64_t i = " PLACE "; if (i >= M) return; float acc = 0; int64_t p = 0;"               \
    "for (int64_t k = 0; k < N; k++) {" locals last "} y[i] = acc + p;"
#define GROW(of)                                                                                   \
    "const int64_t i = " PLACE "; if (i >= M) return; y[i] = 1;"                                   \
    "for (int64_t k = 0; k < N; k++) y[i] += " of ";"
#define OPEN_COUNT                                                                                 \
    "const int64_t i = " PLACE "; if (i >= M) return; const int64_t r = i / N;"                    \
    "const int64_t c = i % N; y[i] = x[i] + r + c;"
#define HELPERS                                                                                    \
    "__device__ float where() { return (float)(blockIdx.x + threadIdx.x); }"                       \
    "__device__ float peek(const float *p) { return *p; }"                                         \
    "__device__ float bump(float *p) { *p += 1; return *p; }"

static const struct {
    bool is_changed;
    const char *body, *launch, *args; /* NULL: <<<(unsigned)M, 1>>> and M */
} rows[] = {
    /* a loop that strides over the grid */
    {true, LOOP("y[i] = x[i];"), NULL, NULL},
    {true, "float one = 1;" LOOP("y[i] = x[i] + one;"), NULL, NULL},
    {false, "float sum = 0;" LOOP("sum += x[i]; y[i] = sum;"), NULL, NULL},
    {false, "int lane = threadIdx.x % 32;" LOOP("y[i] = x[i] + lane;"), NULL, NULL},
    {false, "float *own = y + (" PLACE ");" LOOP("own[M] = x[i];"), NULL, NULL},
    {false, "float t = atomicAdd(y, 1.0f);" LOOP("y[i + 1] = x[i];"), NULL, NULL},
    {false, "float t = bump(y);" LOOP("y[i + 1] = x[i];"), NULL, NULL},
    {false, LOOP("if (threadIdx.x == 0) y[i] = x[i];"), NULL, NULL},
    {false, LOOP("y[i] = x[i] + where();"), NULL, NULL},
    {true, LOOP("y[i] = x[i] + peek(x);"), NULL, NULL},
    /* a block for each row */
    {true, "int64_t row = blockIdx.x; y[row] = x[row];", NULL, NULL},
    {false, "__shared__ float t[2]; int64_t row = blockIdx.x; t[0] = x[row]; y[row] = t[0];", NULL,
     NULL},
    {false, "atomicAdd(y, 1.0f); int64_t row = blockIdx.x; y[row] = x[row];", NULL, NULL},
    {false, "int64_t row = blockIdx.x; y[row] = x[row] + where();", NULL, NULL},
    {true, "int64_t row = blockIdx.x; y[row] = x[row];",
     "dim3 grid((unsigned)M), block(1); kern<<<grid, block, 0, stream>>>", NULL},
    {false, "int64_t row = blockIdx.x; y[row] = x[row];",
     "dim3 grid((unsigned)M), block(1); grid.x = 2; kern<<<grid, block, 0, stream>>>", NULL},
    {false, "int64_t row = blockIdx.x; y[row] = x[row];",
     "dim3 grid(1), block(1); grid = dim3(M); kern<<<grid, block, 0, stream>>>", NULL},
    /* a block's index in an expression */
    {true, "y[blockIdx.y / N] = x[blockIdx.y % N];", NULL, NULL},
    {false, "y[blockIdx.y / N + threadIdx.y] = x[blockIdx.y % N];", NULL, NULL},
    {false, "__shared__ float t[2]; t[0] = 0; y[blockIdx.y / N] = t[0];", NULL, NULL},
    {false, "y[blockIdx.y / N] = where();", NULL, NULL},
    /* a value that is divided as it goes */
    {true, "int64_t r = M; y[0] = x[r]; r /= N; y[1] = x[r];", NULL, NULL},
    {false, "int64_t r = M; y[0] = x[r]; r -= N; y[1] = x[r];", NULL, NULL},
    {false, "int64_t r = M; if (N > 2) r /= N; y[1] = x[r];", NULL, NULL},
    {false, "int64_t r = M; for (int64_t i = 0; i < 2; i++) { r /= N; y[i] = x[r]; }", NULL, NULL},
    {false, "int64_t r = M; r /= N; int64_t *p = &r; y[1] = x[*p];", NULL, NULL},
    /* a flat index */
    {true, FLAT("int64_t"), NULL, NULL},
    {true, FLAT("int"), NULL, NULL},
    {false, FLAT("int8_t"), NULL, NULL},
    {false, FLAT("short"), NULL, NULL},
    {false, FLAT("float"), NULL, NULL},
    {false, "atomicAdd(y, 1.0f);" FLAT("int64_t"), NULL, NULL},
    {false, FLAT("int64_t") "N = 3; y[i] = N;", NULL, NULL},
    {false, OPEN_COUNT, NULL, NULL},
    {true, OPEN_COUNT, NULL, "M * N"},
    {true, OPEN_COUNT, "int64_t n = M * N; kern<<<(unsigned)n, 1, 0, stream>>>", "n"},
    {false, OPEN_COUNT, NULL, "M * M"},
    {false, OPEN_COUNT, NULL, "M * N + 1"},
    /* a sum in memory */
    {true, GROW("x[k]"), NULL, NULL},
    {true, GROW("peek(x + k)"), NULL, NULL},
    {false, GROW("peek(y + i)"), NULL, NULL},
    /* locals of a loop */
    {true, SUM("float a = x[k]; float b = peek(x);", "acc += a * b;"), NULL, NULL},
    {true, SUM("auto a = x[k];", "acc += a;"), NULL, NULL},
    {false, SUM("int64_t q = p++;", "acc += x[q] + q;"), NULL, NULL},
    {false, SUM("float a = atomicAdd(y, 1.0f);", "acc += a * a;"), NULL, NULL},
    {false, SUM("float a = bump(y);", "acc += a * a;"), NULL, NULL},
    {false, SUM("float a = acc;", "acc = a * (acc = 2);"), NULL, NULL},
};

START_TEST(a_step_keeps_the_meaning)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct hone_err err = HONE_ERR_INIT;
        const char *source = hone_pool_printf(
            pool,
            "#include <stdint.h>\n" HELPERS
            "\n__global__ void kern(const float *x, float *y, int64_t M, int64_t N) {\n%s\n}\n"
            "extern \"C\" void k(const float *x, float *y, int64_t M, int64_t N, "
            "cudaStream_t stream) {\n%s(x, y, %s, N);\n}\n",
            rows[i].body, rows[i].launch ? rows[i].launch : "kern<<<(unsigned)M, 1, 0, stream>>>",
            rows[i].args ? rows[i].args : "M");
        ck_assert_msg(hone_coder_read(parser, "cuda", source, "k", pool, &in, &err) == 0,
                      "row %zu: %s", i, err.message);
        const char *text = hone_cuda_normal_step(&in);
        ck_assert_msg((text != NULL) == rows[i].is_changed, "row %zu: %s", i, rows[i].body);
        ck_assert_msg(!text || hone_coder_read(parser, "cuda", text, "k", pool, &in, &err) == 0,
                      "row %zu: %s", i, err.message);
    }
}
END_TEST

/* A struct that comes by value. */
static const struct {
    bool is_changed;
    const char *body, *arg;
} struct_rows[] = {
    {true, "y[0] = x[s.M + s.d[1]];", "s"},
    {true, "float a = x[s.M]; y[s.M] = a * s.f;", "s"},
    {false, "y[0] = x[s.M];", "sizes{M, {M, N}, 2}"},
    {false, "s.M = 3; y[0] = x[s.M];", "s"},
    {false, "s.d[1] += 3; y[0] = x[s.d[1]];", "s"},
    {false, "s.M++; y[0] = x[s.M];", "s"},
    {false, "int64_t *p = &s.M; y[0] = x[*p];", "s"},
    {false, "y[0] = x[s.d[s.M]];", "s"},
    {false, "sizes t = s; y[0] = x[t.M];", "s"},
    {false, "y[0] = x[least(s)];", "s"},
};

START_TEST(members_become_parameters)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(struct_rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct hone_err err = HONE_ERR_INIT;
        const char *source = hone_pool_printf(
            pool,
            "#include <stdint.h>\nstruct sizes { int64_t M, d[2]; float f; };\n"
            "__device__ int64_t least(struct sizes s) { return s.M; }\n"
            "__global__ void kern(const float *x, struct sizes s, float *y) {\n%s\n}\n"
            "extern \"C\" void k(const float *x, float *y, int64_t M, int64_t N, "
            "cudaStream_t stream) {\nstruct sizes s = {M, {M, N}, 2};\n"
            "kern<<<1, 1, 0, stream>>>(x, %s, y);\n}\n",
            struct_rows[i].body, struct_rows[i].arg);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, "k", pool, &in, &err) == 0,
                      "row %zu: %s", i, err.message);
        const char *text = hone_cuda_normal_step(&in);
        ck_assert_msg((text != NULL) == struct_rows[i].is_changed, "row %zu: %s", i,
                      struct_rows[i].body);
        ck_assert_msg(!text || (strstr(text, "s_M") && strstr(text, ">>>(x, s.M")), "%s", text);
        ck_assert_msg(!text || hone_coder_read(parser, "cuda", text, "k", pool, &in, &err) == 0,
                      "row %zu: %s", i, err.message);
    }
}
END_TEST

UNIT_MAIN("cuda_normal", a_step_keeps_the_meaning, members_become_parameters)
