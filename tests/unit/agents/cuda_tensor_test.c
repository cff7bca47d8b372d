/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for tensor cores: what they are offered for, and that other values of their tunables than
 * the first ones give the original's answer too, on the emulated device. */
#include "tests/unit/agents/cuda_rig.h"

#include <math.h>

#include "tests/unit/agents/cuda_batched.h"
#include "tests/unit/agents/cuda_relatives.h"
#include "tests/unit/agents/cuda_strangers.h"

enum { MAX_OUT = 1 << 17 };

static uint16_t left[MAX_OUT], right[MAX_OUT];
static float out_data[MAX_OUT];

#define P(x) ((intptr_t)(x))

static void fill(void)
{
    for (int i = 0; i < MAX_OUT; i++) {
        left[i] = (uint16_t)(0x3f00 + (i * 7919) % 150 + ((i % 3) << 15));
        right[i] = (uint16_t)(0x3f00 + (i * 31) % 140);
    }
}

/* The source with the first rewrite of that variant; NULL: it is not offered. */
static const char *rewritten(const char *source, const char *name, const char *rule, int variant,
                             struct hone_c_parser *parser, struct hone_pool *pool)
{
    struct hone_coder_input in;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const struct hone_rewrite *rewrite = hone_rewrite_find(rule);
    const char *text = NULL;
    ck_assert_msg(hone_coder_read(parser, "cuda", source, name, pool, &in, &err) == 0, "%s",
                  err.message);
    size_t at = 0, n = hone_coder_sites(rewrite, &in, sites);
    while (at < n && sites[at].variant != variant)
        at++;
    if (at == n)
        return NULL;
    ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[at], &text, &err) == 0, "%s",
                  err.message);
    return text;
}

/* The text with one part in place of another, everywhere. */
static const char *with(const char *text, const char *old, const char *new, struct hone_pool *pool)
{
    const char *out = "", *at;
    while (*old && (at = strstr(text, old)) != NULL) {
        out = hone_pool_printf(pool, "%s%.*s%s", out, (int)(at - text), text, new);
        text = at + strlen(old);
    }
    return hone_pool_printf(pool, "%s%s", out, text);
}

START_TEST(narrow_heads_go_to_tensor_cores)
{
    static const struct {
        const char *old, *new;
        bool is_offered;
    } rows[] = {
        {"", "", true},
        {"#define D 64", "#define D 128", true},
        {"#define D 64", "#define D 129", false},
        {"expf(", "__expf(", true},
        {"expf(", "expm1f(", false},
        {"__bfloat162float(q[d])", "(float)q[d]", true},
        {"__bfloat162float(q[d])", "2.0f * __bfloat162float(q[d])", false},
        {"__bfloat162float(q[d])", "(float)(int)__bfloat162float(q[d])", false},
        {"(size_t)j * D + d", "(size_t)d * T + j", false},
        {"const __nv_bfloat16 *V", "const float *V", false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        const char *source = with(attention_bf16_text, rows[i].old, rows[i].new, pool);
        if (strstr(source, "float *V")) {
            source = with(source, "const __nv_bfloat16 *v ", "const float *v ", pool);
            source = with(source, "__bfloat162float(v[(size_t)j * D + d])", "v[j * D + d]", pool);
        }
        ck_assert_msg(!rewritten(source, "attention_bf16", "cuda_flash", 1, parser, pool) ==
                          !rows[i].is_offered,
                      "row %zu: %s", i, rows[i].new);
        ck_assert_msg(rewritten(source, "attention_bf16", "cuda_flash", 0, parser, pool), "row %zu",
                      i);
    }
}
END_TEST

typedef void kernel_any(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t);

static void call(void *address, const intptr_t *x)
{
    kernel_any *f;
    memcpy(&f, &address, sizeof(f));
    memset(out_data, 0x7f, sizeof(out_data));
    f(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

static double bfloat_at(const void *data, size_t i)
{
    float f;
    uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

/* Outputs of bfloat16 by both texts, what was not written among them. */
static void compare(void *original, const char *text, const char *name, const char *given,
                    const intptr_t *arguments, struct hone_pool *pool)
{
    static float want[MAX_OUT];
    void *changed = build(text, name, given, pool);
    call(original, arguments);
    memcpy(want, out_data, sizeof(want));
    call(changed, arguments);
    for (size_t i = 0; i < 2 * (size_t)MAX_OUT; i++) {
        double x = bfloat_at(want, i), y = bfloat_at(out_data, i);
        if (!(fabs(x - y) <= 1e-2 * (1 + fabs(x))) && memcmp(&x, &y, sizeof(x)) != 0)
            give_up(text,
                    hone_pool_printf(pool, "%s %s: [%zu] = %g, expected %g", name, given, i, y, x));
    }
}

START_TEST(other_tiles_of_attention_are_right)
{
    static const struct {
        const char *head, *type, *given;
        int variant;
        intptr_t arguments[8];
    } rows[] = {
        {"64", "bf16", "ROWS=1 WARPS=8 KEYS=32", 1, {1, 2, 1, 140}},
        {"64", "bf16", "ROWS=1 KEYS=128", 1, {1, 2, 1, 140}},
        {"64", "bf16", "", 2, {1, 4, 2, 140}},
        {"128", "bf16", "", 2, {1, 1, 1, 390}},
        {"100", "f16", "", 2, {2, 1, 1, 129}},
    };
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    fill();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *source =
            with(attention_bf16_text, "D 64", hone_pool_printf(pool, "D %s", rows[i].head), pool);
        intptr_t arguments[8] = {P(left), P(right), P(left), P(out_data)};
        if (strcmp(rows[i].type, "f16") == 0) {
            source = with(source, "cuda_bf16.h", "cuda_fp16.h", pool);
            source = with(source, "__nv_bfloat16", "__half", pool);
            source = with(source, "__bfloat162float", "__half2float", pool);
            source = with(source, "__float2bfloat16", "__float2half", pool);
        }
        memcpy(arguments + 4, rows[i].arguments, 4 * sizeof(intptr_t));
        void *original = build(source, "attention_bf16", "", pool);
        const char *text =
            rewritten(source, "attention_bf16", "cuda_flash", rows[i].variant, parser, pool);
        ck_assert_ptr_nonnull(text);
        compare(original, text, "attention_bf16", rows[i].given, arguments, pool);
        if (has_nvcc())
            compile_for_device(text, rows[i].given, pool);
    }
}
END_TEST

/* Few tiles and a long k: the emulated device has four processors, which all get a part of k. */
START_TEST(long_sums_are_split)
{
    static const struct {
        const char *name, *source; /* NULL: of tests/relatives/cuda */
        int variant;
        intptr_t arguments[8];
    } rows[] = {
        {"gemm_nn", NULL, 0, {P(left), P(right), P(out_data), 13, 37, 600}},
        {"gemm_nn", NULL, 1, {P(left), P(right), P(out_data), 13, 37, 600}},
        {"gemm_nn", NULL, 1, {P(left), P(right), P(out_data), 70, 130, 1000}},
        {"nt_locals", nt_locals_text, 1, {P(left), P(right), P(out_data), 1, 120, 1024}},
        {"nt_bytes", nt_bytes_text, 1, {P(left), P(right), P(out_data), 9, 33, 2100}},
        {"batch_bf16", batch_bf16_text, 1, {P(left), P(right), P(out_data), 1, 2, 13, 37, 600}},
    };
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    fill();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE char *read = NULL;
        const char *source = rows[i].source, *name = rows[i].name;
        size_t len = 0;
        if (!source) {
            const char *path = hone_pool_printf(pool, "tests/relatives/cuda/%s.cu", name);
            ck_assert_int_eq(hone_file_read(path, 1 << 16, &read, &len, NULL), 0);
            source = read;
        }
        const char *text =
            rewritten(source, name, "cuda_tensor_tile", rows[i].variant, parser, pool);
        ck_assert_ptr_nonnull(text);
        compare(build(source, name, "", pool), text, name, "", rows[i].arguments, pool);
        if (has_nvcc())
            compile_for_device(text, "", pool);
    }
}
END_TEST

START_TEST(only_signed_bytes_along_k_are_products)
{
    static const struct {
        const char *left, *right;
        size_t n;
    } rows[] = {
        {"(int)A[m * K + k]", "B[n * K + k]", 1},
        {"(int32_t)A[m * K + k]", "(int)B[n * K + k]", 1},
        {"(unsigned char)A[m * K + k]", "B[n * K + k]", 0},
        {"(int)(short)(signed char)A[m * K + k]", "B[n * K + k]", 0},
        {"A[m * K + k]", "B[k * N + n]", 0},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *source = hone_pool_printf(
            pool,
            "#include <stdint.h>\n"
            "__global__ void kern(const int8_t *A, const int8_t *B, int *C, int M, int N, int K)\n"
            "{\n    int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;\n"
            "    if (m >= M || n >= N) return;\n    int s = 0;\n"
            "    for (int k = 0; k < K; k++) s += %s * %s;\n    C[m * N + n] = s;\n}\n"
            "extern \"C\" void bytes(const int8_t *A, const int8_t *B, int *C, int M, int N, int K,"
            " cudaStream_t s)\n{\n    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);\n"
            "    kern<<<grid, block, 0, s>>>(A, B, C, M, N, K);\n}\n",
            rows[i].left, rows[i].right);
        ck_assert_int_eq(hone_coder_read(parser, "cuda", source, "bytes", pool, &in, NULL), 0);
        ck_assert_msg(hone_coder_sites(hone_rewrite_find("cuda_tensor_tile"), &in, sites) ==
                          rows[i].n,
                      "%s", rows[i].left);
    }
}
END_TEST

UNIT_MAIN("cuda_tensor", narrow_heads_go_to_tensor_cores, other_tiles_of_attention_are_right,
          long_sums_are_split, only_signed_bytes_along_k_are_products)
