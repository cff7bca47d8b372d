/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA rewrites: every one at every site of the packs' textbook kernels gives a text that parses;
 * chains of them give the original's answer on the emulated device, at odd sizes, and compile with
 * nvcc where there is one. */
#include "tests/unit/agents/cuda_rig.h"

#include <math.h>

#include "agents/source/cuda_kernel.h"
#include "agents/planner/features.h"
#include "tests/unit/agents/cuda_batched.h"
#include "tests/unit/agents/cuda_columns.h"
#include "tests/unit/agents/cuda_relatives.h"
#include "tests/unit/agents/cuda_strangers.h"

enum { MAX_OUT = 1 << 17, MAX_CALLS = 5 };

/* Integers and pointers go in their order, floats in registers of their own. */
typedef void kernel_any(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t, intptr_t, float, float);

static float a_data[MAX_OUT], b_data[MAX_OUT], out_data[MAX_OUT];
static uint16_t a_half[MAX_OUT], b_half[MAX_OUT];
static int32_t offsets[64], columns[MAX_OUT];

#define P(x) ((intptr_t)(x))
#define A    P(a_data)
#define B    P(b_data)
#define OUT  P(out_data)

enum element { FLOATS, DOUBLES, BFLOATS }; /* of the output */

struct kernel_case {
    const char *name;
    const char *source; /* NULL: the pack's naive.cu */
    double tolerance;
    intptr_t calls[MAX_CALLS][10];
    size_t n_calls;
};

static const char one_thread_text[] =
    "#include <stdint.h>\n"
    "__global__ void greatest(const float *x, float *y, int64_t n)\n"
    "{\n"
    "    float top = x[0];\n"
    "    for (int64_t i = 1; i < n; i++)\n"
    "        top = x[i] > top ? x[i] : top;\n"
    "    y[0] = top;\n"
    "}\n"
    "extern \"C\" void one_thread(const float *x, float *y, int64_t n, cudaStream_t stream)\n"
    "{\n"
    "    greatest<<<1, 1, 0, stream>>>(x, y, n);\n"
    "}\n";

static const char bias_text[] =
    "#include <stdint.h>\n"
    "__global__ void batched(const double *x, const double *w, const double *b, double *y,\n"
    "                        int64_t Z, int64_t M, int64_t N, int64_t K)\n"
    "{\n"
    "    const int64_t z = (int64_t)blockIdx.z * blockDim.z + threadIdx.z;\n"
    "    const int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const int64_t n = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (z < Z && m < M && n < N) {\n"
    "        double acc = b[n];\n"
    "        for (int64_t k = 0; k < K; k++)\n"
    "            acc = fma(x[(z * M + m) * K + k], 2 * w[n * K + k], acc);\n"
    "        y[(z * M + m) * N + n] = acc > 0 ? acc : 0.1 * acc;\n"
    "    }\n"
    "}\n"
    "extern \"C\" void bias(const double *x, const double *w, const double *b, double *y, int64_t "
    "Z,\n"
    "                     int64_t M, int64_t N, int64_t K, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(8, 8, 1), grid((unsigned)((M + 7) / 8), (unsigned)((N + 7) / 8), "
    "(unsigned)Z);\n"
    "    batched<<<grid, block, 0, stream>>>(x, w, b, y, Z, M, N, K);\n"
    "}\n";

#define BF16_PRODUCTS                                                                              \
    {                                                                                              \
        {P(a_half), P(b_half), OUT, 13, 37, 11}, {P(a_half), P(b_half), OUT, 70, 130, 296},        \
            {P(a_half), P(b_half), OUT, 100, 264, 264},                                            \
            {P(a_half), P(b_half), OUT, 128, 256, 448},                                            \
        {                                                                                          \
            P(a_half), P(b_half), OUT, 129, 64, 330                                                \
        }                                                                                          \
    }

static struct kernel_case cases[] = {
    {"matmul",
     NULL,
     1e-5,
     {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}, {A, B, OUT, 1, 1, 1}},
     3},
    {"matmul_bf16", NULL, 1e-2, BF16_PRODUCTS, 5},
    {"softmax", NULL, 2e-5, {{A, OUT, 7, 70}, {A, OUT, 3, 1}, {A, OUT, 2, 5003}}, 3},
    {"rmsnorm", NULL, 2e-5, {{A, B, OUT, 7, 70}, {A, B, OUT, 3, 1}, {A, B, OUT, 2, 5003}}, 3},
    {"jacobi2d", NULL, 1e-6, {{A, OUT, 20, 33, 3}, {A, OUT, 9, 8, 4}, {A, OUT, 3, 3, 1}}, 3},
    {"transpose", NULL, 0, {{A, OUT, 33, 70}, {A, OUT, 1, 3}, {A, OUT, 65, 64}}, 3},
    {"sum", NULL, 1e-5, {{A, OUT, 5000}, {A, OUT, 1}, {A, OUT, 32768}}, 3},
    {"spmv_csr", NULL, 1e-5, {{P(offsets), P(columns), A, B, OUT, 60, 200, 0, 61}}, 1},
    {"one_thread", one_thread_text, 0, {{A, OUT, 5000}, {A, OUT, 1}}, 2},
    {"bias", bias_text, 1e-9, {{A, B, P(a_data + 5000), OUT, 3, 17, 35, 9}}, 1},
    {"attention_causal",
     NULL,
     2e-5,
     {{A, B, A, OUT, 1, 2, 137, 17}, {A, B, A, OUT, 2, 1, 5, 128}},
     2},
    {"attention_groups",
     attention_groups_text,
     2e-5,
     {{A, B, A, OUT, 2, 4, 2, 137}, {A, B, A, OUT, 1, 3, 1, 5}},
     2},
    {"attention_heads",
     attention_heads_text,
     2e-5,
     {{A, B, A, OUT, 3, 70, 137, 17}, {A, B, A, OUT, 1, 1, 1, 32}},
     2},
    {"attention_bf16",
     attention_bf16_text,
     1e-2,
     {{P(a_half), P(b_half), P(a_half), OUT, 2, 4, 2, 137},
      {P(a_half), P(b_half), P(a_half), OUT, 1, 3, 1, 5}},
     2},
    {"attention_half",
     attention_half_text,
     1e-3,
     {{P(b_half), P(a_half), P(a_half), OUT, 390, 130, 17},
      {P(b_half), P(a_half), P(a_half), OUT, 3, 1, 40}},
     2},
    {"greatest", greatest_text, 0, {{A, OUT, 70, 131}, {A, OUT, 3, 4}, {A, OUT, 1, 200}}, 3},
    {"state", state_text, 1e-5, {{A, P(b_half), OUT, 70, 131}, {A, P(b_half), OUT, 3, 1}}, 2},
    {"nt_flat", nt_flat_text, 1e-2, BF16_PRODUCTS, 5},
    {"nt_locals", nt_locals_text, 1e-2, BF16_PRODUCTS, 5},
    {"nt_bytes",
     nt_bytes_text,
     0,
     {{P(a_half), P(b_half), OUT, 13, 37, 11},
      {P(a_half), P(b_half), OUT, 129, 250, 400},
      {P(a_half), P(b_half), OUT, 256, 256, 672}},
     3},
    {"nn_rows", nn_rows_text, 1e-5, {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}}, 2},
    {"nn_memory", nn_memory_text, 1e-5, {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}}, 2},
    {"turned_batch",
     turned_batch_text,
     0,
     {{P(a_half), OUT, 3, 33, 70}, {P(a_half), OUT, 1, 1, 3}},
     2},
    {"turned_flat",
     turned_flat_text,
     0,
     {{A, OUT, 3, 33, 70}, {A, OUT, 2, 65, 64}, {A, OUT, 66000, 1, 1}},
     3},
    {"gate", gate_text, 1e-6, {{A, OUT, 7, 70}, {A, OUT, 3, 1}, {A, OUT, 2, 5003}}, 3},
    {"row_block", row_block_text, 2e-5, {{A, B, OUT, 7, 70}, {A, B, OUT, 3, 1}}, 2},
    {"counts",
     counts_text,
     0,
     {{P(columns), OUT, 5000, 200}, {P(columns), OUT, 1, 200}, {P(columns), OUT, 9000, 20000}},
     3},
    {"hist_for", hist_for_text, 0, {{P(columns), OUT, 5000}, {P(columns), OUT, 1}}, 2},
    {"hist_while", hist_while_text, 0, {{P(columns), OUT, 5000}, {P(columns), OUT, 1}}, 2},
    {"hist_init", hist_init_text, 0, {{P(columns), OUT, 5000, 100}, {P(columns), OUT, 1, 7}}, 2},
    {"scaled", scaled_text, 1e-5, {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}}, 2},
    {"tiled", tiled_text, 1e-5, {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}}, 2},
    {"tiled_if", tiled_if_text, 1e-5, {{A, B, OUT, 13}, {A, B, OUT, 131}}, 2},
    {"tiled_nt", tiled_nt_text, 1e-5, {{A, B, OUT, 13, 37, 11}, {A, B, OUT, 130, 129, 33}}, 2},
    {"window_if", window_if_text, 1e-6, {{A, B, OUT, 70, 33}, {A, B, OUT, 3, 2}}, 2},
    {"window_radius",
     window_radius_text,
     1e-6,
     {{A, B, OUT, 70, 33, 3}, {A, B, OUT, 9, 2, 0}, {A, B, OUT, 20, 9, 70}},
     3},
    {"window_planes", window_planes_text, 1e-6, {{A, B, OUT, 3, 4, 33, 35}}, 1},
    BATCHED_CASES,
    {"column_norm", column_norm_text, 2e-5, {{A, B, OUT, 3, 40, 51}, {A, B, OUT, 1, 1, 1}}, 2},
    {"column_sums", column_sums_text, 1e-5, {{A, OUT, 300, 70}, {A, OUT, 3, 129}}, 2},
    {"column_shares", column_shares_text, 2e-5, {{A, OUT, 3, 40, 51}, {A, OUT, 2, 5, 1}}, 2},
    {"count_flat", count_flat_text, 1e-6, {{A, B, OUT, 5, 7, 11}, {A, B, OUT, 1, 1, 300}}, 2},
};

static const char *const chains[][7] = {
    {"matmul", "cuda_shared_tile", "cuda_restrict"},
    {"matmul", "cuda_shared_tile/1", "cuda_restrict"},
    {"matmul", "cuda_coarsen", "cuda_restrict", "cuda_unroll"},
    {"matmul_bf16", "cuda_shared_tile"},
    {"matmul_bf16", "cuda_tensor_tile/0"},
    {"matmul_bf16", "cuda_tensor_tile/1"},
    {"bias", "cuda_shared_tile"},
    {"bias", "cuda_coalesce", "cuda_unroll"},
    {"bias", "cuda_coalesce", "cuda_shared_tile"},
    {"softmax", "cuda_row_lanes", "cuda_row_cache/1", "cuda_restrict", "cuda_vector",
     "cuda_unroll"},
    {"softmax", "cuda_online_softmax", "cuda_row_lanes", "cuda_vector", "cuda_fast_math"},
    {"softmax", "cuda_row_lanes", "cuda_row_cache/2", "cuda_restrict", "cuda_unroll"},
    {"rmsnorm", "cuda_row_lanes", "cuda_vector", "cuda_restrict", "cuda_unroll"},
    {"rmsnorm", "cuda_row_lanes", "cuda_restrict", "cuda_unroll", "cuda_row_cache/2"},
    {"jacobi2d", "cuda_coarsen", "cuda_restrict"},
    {"jacobi2d", "cuda_block_shape"},
    {"transpose", "cuda_transpose_tile", "cuda_restrict"},
    {"sum", "cuda_row_lanes", "cuda_grid_reduce", "cuda_vector", "cuda_unroll"},
    {"spmv_csr", "cuda_row_lanes", "cuda_restrict", "cuda_unroll"},
    {"attention_causal", "cuda_flash", "cuda_restrict"},
    {"attention_groups", "cuda_flash", "cuda_restrict"},
    {"attention_bf16", "cuda_flash/1", "cuda_restrict"},
    {"attention_bf16", "cuda_flash/0"},
    {"attention_half", "cuda_flash/1"},
    {"greatest", "cuda_row_stage", "cuda_restrict"},
    {"state", "cuda_row_stage", "cuda_unroll"},
    {"attention_heads", "cuda_flash"},
    {"one_thread", "cuda_grid_reduce", "cuda_row_lanes", "cuda_vector"},
    {"column_norm", "cuda_row_lanes", "cuda_restrict", "cuda_unroll"},
    {"column_sums", "cuda_row_lanes", "cuda_unroll"},
    {"column_shares", "cuda_row_lanes", "cuda_restrict"},
    {"column_shares", "cuda_online_softmax", "cuda_row_lanes", "cuda_fast_math"},
    /* what is not written as the packs are goes through the normal form */
    {"nt_flat", "cuda_tensor_tile/0"},
    {"nt_locals", "cuda_tensor_tile/0"},
    {"nt_locals", "cuda_tensor_tile/1", "cuda_restrict"},
    {"nt_bytes", "cuda_tensor_tile/1"},
    {"nn_rows", "cuda_shared_tile"},
    {"nn_memory", "cuda_shared_tile", "cuda_restrict"},
    {"turned_batch", "cuda_transpose_tile"},
    {"turned_batch", "cuda_coalesce"},
    {"turned_flat", "cuda_transpose_tile", "cuda_restrict"},
    {"turned_flat", "cuda_coalesce"}, /* more products than a grid has room for along z */
    {"gate", "cuda_map_lanes", "cuda_restrict"},
    {"gate", "cuda_coarsen"},
    {"row_block", "cuda_row_lanes", "cuda_vector"},
    {"count_flat", "cuda_map_lanes"},
    {"counts", "cuda_private_bins", "cuda_vector", "cuda_restrict"},
    /* as they stand in textbooks and programs */
    {"hist_for", "cuda_private_bins", "cuda_vector", "cuda_restrict"},
    {"hist_while", "cuda_private_bins", "cuda_vector"},
    {"hist_init", "cuda_private_bins", "cuda_vector"},
    BATCHED_CHAINS,
    {"scaled", "cuda_shared_tile", "cuda_restrict"},
    {"tiled", "cuda_shared_tile", "cuda_restrict"},
    {"tiled_if", "cuda_shared_tile"},
    {"tiled_nt", "cuda_shared_tile"},
    {"window_if", "cuda_window_tile", "cuda_restrict"},
    {"window_radius", "cuda_window_tile"},
    {"window_planes", "cuda_window_tile"},
    {"window_planes", "cuda_gather_tile"},
};

static void fill(void)
{
    for (int i = 0; i < MAX_OUT; i++) {
        a_data[i] = (float)((i * 7919) % 2003) / 1000.0f - 1.0f;
        b_data[i] = (float)((i * 10473) % 997) / 500.0f - 1.0f;
        a_half[i] = (uint16_t)(0x3f00 + (i * 7919) % 150 + ((i % 3) << 15));
        b_half[i] = (uint16_t)(0x3f00 + (i * 31) % 140);
        columns[i] = (i * 37) % 200;
    }
    for (int i = 1; i < 64; i++)
        offsets[i] = offsets[i - 1] + (i * 5) % 23 + (i == 9 ? 300 : 0);
}

static const char *source_of(const struct kernel_case *k, struct hone_pool *pool)
{
    if (k->source)
        return k->source;
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(
        hone_file_read(hone_pool_printf(pool, "workspace/packs/%s/kernels/naive.cu", k->name),
                       1 << 16, &text, &len, NULL),
        0);
    return hone_pool_strdup(pool, text);
}

static void call(void *address, const intptr_t *x)
{
    kernel_any *f;
    memcpy(&f, &address, sizeof(f));
    memset(out_data, 0x7f, sizeof(out_data));
    f(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], 1e-6f, 0.5f);
}

static double element_at(const void *data, enum element element, size_t i)
{
    double d;
    float f;
    uint32_t bits;
    switch (element) {
    case DOUBLES:
        memcpy(&d, (const char *)data + 8 * i, sizeof(d));
        return d;
    case BFLOATS:
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&f, &bits, sizeof(f));
        return (double)f;
    case FLOATS:
        break;
    }
    return (double)((const float *)data)[i];
}

static bool is_close(double want, double got, double tolerance)
{
    return memcmp(&want, &got, sizeof(want)) == 0 ||
           fabs(want - got) <= tolerance * (1 + fabs(want));
}

static void compare(const struct kernel_case *k, void *original, const char *source,
                    const char *what, struct hone_pool *pool)
{
    static const size_t bytes[] = {4, 8, 2};
    static float want[MAX_OUT];
    void *changed = build(source, k->name, "", pool);
    enum element element = strcmp(k->name, "bias") == 0       ? DOUBLES
                           : strcmp(k->name, "nt_bytes") == 0 ? FLOATS
                           : k->calls[0][0] == P(a_half)      ? BFLOATS
                                                              : FLOATS;
    for (size_t i = 0; i < k->n_calls; i++) {
        call(original, k->calls[i]);
        memcpy(want, out_data, sizeof(want));
        call(changed, k->calls[i]);
        for (size_t j = 0; j < sizeof(want) / bytes[element]; j++) {
            double x = element_at(want, element, j), y = element_at(out_data, element, j);
            if (!is_close(x, y, k->tolerance))
                give_up(source, hone_pool_printf(pool, "%s %s call %zu: [%zu] = %g, expected %g",
                                                 k->name, what, i, j, y, x));
        }
    }
}

START_TEST(every_site_gives_a_valid_text)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    size_t n_done = 0;
    for (size_t c = 0; c < HONE_COUNTOF(cases); c++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        const char *source = source_of(&cases[c], pool);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, cases[c].name, pool, &in, &err) == 0,
                      "%s: %s", cases[c].name, err.message);
        for (size_t i = 0; i < hone_n_rewrites; i++) {
            struct hone_coder_site sites[HONE_CODER_MAX_SITES];
            size_t n = hone_coder_sites(hone_rewrites[i], &in, sites);
            for (size_t s = 0; s < n; s++, n_done++) {
                const char *text = NULL;
                ck_assert_str_eq(hone_rewrites[i]->target, "cuda");
                ck_assert_msg(
                    hone_coder_apply(parser, hone_rewrites[i], &in, &sites[s], &text, &err) == 0,
                    "%s %s: %s", cases[c].name, hone_rewrites[i]->name, err.message);
                ck_assert_str_ne(text, source);
            }
        }
    }
    ck_assert_uint_ge(n_done, 35);
}
END_TEST

static const struct kernel_case *find_case(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

/* "cuda_shared_tile/1": its first site of that variant */
static const struct hone_rewrite *find_step(const char *step, struct hone_pool *pool, int *ret)
{
    const char *slash = strchr(step, '/');
    *ret = slash ? atoi(slash + 1) : -1;
    return hone_rewrite_find(slash ? hone_pool_strndup(pool, step, (size_t)(slash - step)) : step);
}

static void check_chain(const char *const *chain, struct hone_c_parser *parser)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct kernel_case *k = find_case(chain[0]);
    const char *source = source_of(k, pool);
    void *original = build(source, k->name, "", pool);
    for (size_t i = 1; i < 7 && chain[i]; i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        int variant;
        const struct hone_rewrite *rewrite = find_step(chain[i], pool, &variant);
        ck_assert_ptr_nonnull(rewrite);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, k->name, pool, &in, &err) == 0, "%s",
                      err.message);
        size_t at = 0, n = hone_coder_sites(rewrite, &in, sites);
        while (at < n && variant >= 0 && sites[at].variant != variant)
            at++;
        ck_assert_msg(at < n, "no site for %s in\n%s", chain[i], source);
        ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[at], &source, &err) == 0, "%s",
                      err.message);
    }
    compare(k, original, source, chain[1], pool);
    if (has_nvcc())
        compile_for_device(source, "", pool);
}

START_TEST(chains_keep_the_answer)
{
    fill();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t c = 0; c < HONE_COUNTOF(chains); c++)
        check_chain(chains[c], parser);
}
END_TEST

START_TEST(only_plain_walks_are_staged)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(walks_refused); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *source = hone_pool_printf(
            pool,
            "__global__ void kern(const float *x, float *y, int rows, int n)\n{\n"
            "    int r = blockIdx.x * blockDim.x + threadIdx.x;\n    if (r >= rows) return;\n"
            "    float s = 1.0f;\n    for (int c = 0; c < n; c++) {\n%s    }\n    y[r] = s;\n}\n"
            "extern \"C\" void walk(const float *x, float *y, int rows, int n, cudaStream_t s)\n"
            "{\n    kern<<<(rows + 63) / 64, 64, 0, s>>>(x, y, rows, n);\n}\n",
            walks_refused[i]);
        ck_assert_int_eq(hone_coder_read(parser, "cuda", source, "walk", pool, &in, NULL), 0);
        ck_assert_msg(hone_coder_sites(hone_rewrite_find("cuda_row_stage"), &in, sites) == 0, "%s",
                      walks_refused[i]);
    }
}
END_TEST

static const struct {
    const char *task;
    size_t kernel, n_axes, n_stmts;
    bool is_plain, is_single;
} shapes[] = {
    {"matmul", 0, 2, 3, true, false},   {"softmax", 0, 1, 5, true, false},
    {"spmv_csr", 0, 1, 3, true, false}, {"jacobi2d", 0, 2, 2, true, false},
    {"sum", 0, 1, 3, false, false},     {"sum", 1, 0, 3, true, true},
    {"bias", 0, 3, 3, true, false},
};

START_TEST(kernels_are_understood)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(shapes); i++) {
        const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
        struct hone_coder_input in;
        const struct kernel_case *k = find_case(shapes[i].task);
        ck_assert_int_eq(
            hone_coder_read(parser, "cuda", source_of(k, pool), k->name, pool, &in, NULL), 0);
        size_t n = hone_cuda_kernels(&in, all, HONE_CUDA_MAX_KERNELS);
        ck_assert_uint_gt(n, shapes[i].kernel);
        const struct hone_cuda_kernel *got = all[shapes[i].kernel];
        ck_assert_msg(got->n_axes == shapes[i].n_axes, "%s: %zu axes", k->name, got->n_axes);
        ck_assert_msg(got->n_stmts == shapes[i].n_stmts, "%s: %zu stmts", k->name, got->n_stmts);
        ck_assert_msg(got->is_plain == shapes[i].is_plain, "%s", k->name);
        ck_assert_msg(got->is_single == shapes[i].is_single, "%s", k->name);
        ck_assert_uint_eq(got->n_launches, 1);
    }
}
END_TEST

static const struct {
    const char *source;
    enum hone_code code;
    const char *part;
} refused[] = {
    {"#include \"/etc/passwd\"\nextern \"C\" void k() {}\n", HONE_E_UNSUPPORTED,
     "standard headers"},
    {"#include <fstream>\nextern \"C\" void k() {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#inc\\\nlude \"/etc/passwd\"\nextern \"C\" void k() {}\n", HONE_E_UNSUPPORTED,
     "standard headers"},
    {"__global__ void k2() {\n    oops;\n}\nextern \"C\" void k() {}\n", HONE_E_ARG, "line 2"},
    {"__global__ void k2() {}\n", HONE_E_NOT_FOUND, "'k'"},
};

START_TEST(bad_sources_are_refused)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        ck_assert_msg(hone_coder_read(parser, "cuda", refused[i].source, "k", pool, &in, &err) ==
                          (int)refused[i].code,
                      "%s: %s", refused[i].source, err.message);
        ck_assert_msg(strstr(err.message, refused[i].part), "%s", err.message);
    }
}
END_TEST

/* Columns of shared memory: which reads of 32 neighbours meet in few banks. */
static const struct {
    const char *array, *read;
    int n;
} banks[] = {
    {"float t[32][32]", "t[threadIdx.x][r]", 1}, {"float t[32][33]", "t[threadIdx.x][r]", 0},
    {"float t[32][32]", "t[r][threadIdx.x]", 0}, {"float t[32][72]", "t[x][r] + t[x][0]", 2},
    {"float t[32][36]", "t[x][r]", 0},           {"double t[32][17]", "t[x][r]", 0},
    {"double t[32][16]", "t[x][r]", 1},          {"float t[32][32]", "t[x / 32][r]", 0},
};

START_TEST(columns_of_shared_memory_are_seen)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(banks); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_features f = {.v = {{false, 0}}};
        struct hone_coder_input in;
        const char *text = hone_pool_printf(
            pool,
            "__global__ void turn(const float *X, float *Y)\n{\n    __shared__ %s;\n"
            "    int x = threadIdx.x;\n    for (int r = threadIdx.y; r < 32; r += 8)\n"
            "        Y[r] = %s;\n}\n"
            "extern \"C\" void k(const float *X, float *Y, cudaStream_t stream)\n{\n"
            "    turn<<<1, 32, 0, stream>>>(X, Y);\n}\n",
            banks[i].array, banks[i].read);
        ck_assert_int_eq(hone_coder_read(parser, "cuda", text, "k", pool, &in, NULL), 0);
        hone_features_of_cuda(&in, &f);
        double n = hone_feature_or(&f, HONE_F_SHARED_COLUMNS, -1);
        ck_assert_msg(n == banks[i].n, "%s, %s: %g", banks[i].array, banks[i].read, n);
    }
}
END_TEST

/* What macros and tiles hide is read in the normal form. */
START_TEST(reuse_is_seen_through_macros_and_tiles)
{
    static const char *const names[] = {"scaled", "tiled", "window_if"};
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_features f = {.v = {{false, 0}}};
        struct hone_coder_input in;
        const char *text = source_of(find_case(names[i]), pool);
        ck_assert_int_eq(hone_coder_read(parser, "cuda", text, names[i], pool, &in, NULL), 0);
        hone_features_of_cuda(&in, &f);
        ck_assert_msg(hone_feature_or(&f, HONE_F_REUSE, 0) > 0, "%s", names[i]);
    }
}
END_TEST

/* What our parser cannot read still says which tunables it has and which words. */
START_TEST(words_of_an_unreadable_text_count)
{
    struct hone_c_tree tree = {
        .source =
            "#pragma hone tune(TILE: 8, 16)\n__global__ void k() { asm(\"cp.async\"); atomicAdd("
            "p, 1); }\n#pragma omp parallel for\nvoid *p = malloc(3);\n"};
    struct hone_coder_input in = {.tree = &tree, .target = "cuda", .is_blind = true};
    struct hone_features f;
    hone_features_of(&in, NULL, NULL, &f);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_TUNABLES, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_ATOMICS, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_ASYNC, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_KERNELS, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_NARROW, -1), 0);
    ck_assert(!f.v[HONE_F_LOOP_DEPTH].is_present);
    in.target = "cpu";
    hone_features_of(&in, NULL, NULL, &f);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_TUNABLES, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_IS_THREADED, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_ALLOCATIONS, -1), 1);
    ck_assert_double_eq(hone_feature_or(&f, HONE_F_IS_SIMD, -1), 0);
    ck_assert(!f.v[HONE_F_LOOP_DEPTH].is_present && !f.v[HONE_F_CHAINS].is_present);
}
END_TEST

static const char launches_text[] =
    "#include <stdint.h>\n"
    "__global__ void twice_all(const float *x, float *y, int64_t n) { y[0] = 2 * x[0]; }\n"
    "__global__ void twice(float *y, int64_t n)\n"
    "{\n"
    "    y[blockIdx.x] *= 2;\n"
    "}\n"
    "template <int T>\n"
    "__global__ void sum(const float *x, float *y, int64_t n)\n"
    "{\n"
    "    y[0] = T * x[0];\n"
    "}\n"
    "extern \"C\" void task(const float *x, float *y, int64_t n, cudaStream_t stream)\n"
    "{\n"
    "    %s\n"
    "}\n";

/* The step is about a kernel, and is named the same whichever that is. */
START_TEST(a_step_points_at_the_kernel)
{
    static const struct {
        const char *body, *hot, *words;
        uint32_t line, last_line;
    } rows[] = {
        {"twice<<<1, 1, 0, stream>>>(y, n); sum<4><<<1, 1, 0, stream>>>(x, y, n);", NULL,
         "kernel twice, launched by task", 3, 6},
        {"sum<4><<<1, 1, 0, stream>>>(x, y, n); twice<<<1, 1, 0, stream>>>(y, n);", NULL,
         "kernel sum, launched by task", 7, 11},
        {"twice<<<1, 1, 0, stream>>>(y, n); sum<4><<<1, 1, 0, stream>>>(x, y, n);", "sum",
         "kernel sum, launched by task", 7, 11},
        {"twice<<<1, 1, 0, stream>>>(y, n);", "gone", "kernel twice, launched by task", 3, 6},
        {"(void)x; (void)y; (void)n; (void)stream;", NULL, "kernel twice_all, launched by task", 2,
         2},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct hone_coder *coder = NULL;
    ck_assert_int_eq(hone_task_load("workspace/packs/sum", &task, NULL), 0);
    const struct hone_coder_setup setup = {
        .name = "llm", .target = "cuda", .task = task, .parser = parser, .only_lists = true};
    ck_assert_int_eq(hone_coder_open(&setup, &coder, NULL), 0);
    const struct hone_rewrite *rewrite = hone_coder_rewrite(coder, "llm_G05");
    ck_assert_ptr_nonnull(rewrite);
    char anchor[HONE_ANCHOR_BYTES] = "";
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const char *before = strstr(launches_text, "%s");
        const char *source = hone_pool_printf(pool, "%.*s%s%s", (int)(before - launches_text),
                                              launches_text, rows[i].body, before + 2);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, "task", pool, &in, &err) == 0, "%s",
                      err.message);
        in.hot_kernel = rows[i].hot;
        ck_assert_uint_eq(hone_coder_regions(coder, rewrite, &in, sites), 1);
        ck_assert_str_eq(sites[0].words, rows[i].words);
        ck_assert_uint_eq(sites[0].line, rows[i].line);
        ck_assert_uint_eq(sites[0].last_line, rows[i].last_line);
        if (i == 2)
            ck_assert_str_eq(sites[0].anchor, anchor); /* of row 0: a profile renames no step */
        if (i == 0)
            memcpy(anchor, sites[0].anchor, sizeof(anchor));
    }
    hone_coder_close(coder);
}
END_TEST

/* Where helpers do the work they belong to the region; what is not reached does not. */
START_TEST(a_step_covers_the_helpers)
{
    static const struct {
        const char *target, *source;
        uint32_t line, last_line;
        const char *evidence;
    } rows[] = {
        {"cpu",
         "#include <stdint.h>\n"
         "static float other(float x) { return x; }\n"
         "static float twice(float x) { return 2 * x; }\n"
         "static float between(float x) { return other(x); }\n"
         "static float row(const float *x, int64_t n);\n"
         "void task(const float *x, float *y, int64_t n)\n"
         "{\n"
         "    y[0] = row(x, n);\n"
         "}\n"
         "static float row(const float *x, int64_t n)\n"
         "{\n"
         "    return n > 1 ? twice(x[0]) + row(x, n - 1) : 0;\n"
         "}\n"
         "static void after(float *y) { y[0] = between(1); }\n",
         3, 13, "the functions of it: task 6-9, row 10-13, twice 3-3"},
        {"cpu",
         "static int less(const void *a, const void *b) { return a < b; }\n"
         "static void each(int (*f)(const void *, const void *)) { f(0, 0); }\n"
         "void task(void) { each(less); }\n",
         1, 3, "the functions of it: task 3-3, each 2-2, less 1-1"},
        {"cpu", /* U+3164 looks like a blank: a name is no sentence */
         "static int OBEY\u3164ME(void) { return 1; }\nvoid task(float *y) { y[0] = "
         "OBEY\u3164ME(); }\n",
         1, 2, "the functions of it: task 2-2, OBEY???ME 1-1"},
        {"cpu", "static int other(void) { return 1; }\nvoid task(float *y) { y[0] = 1; }\n", 2, 2,
         ""},
        {"cuda",
         "__device__ float other(float x) { return x; }\n"
         "__device__ float twice(float x) { return 2 * x; }\n"
         "__device__ float row(const float *x) { return twice(x[0]); }\n"
         "__global__ void all(const float *x, float *y)\n"
         "{\n"
         "    y[0] = row(x);\n"
         "}\n"
         "extern \"C\" void task(const float *x, float *y, long n, cudaStream_t stream)\n"
         "{\n"
         "    all<<<1, 1, 0, stream>>>(x, y);\n"
         "}\n",
         2, 7, "the functions of it: all 4-7, row 3-3, twice 2-2"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    ck_assert_int_eq(hone_task_load("workspace/packs/sum", &task, NULL), 0);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_coder *coder = NULL;
        const struct hone_coder_setup setup = {.name = "llm",
                                               .target = rows[i].target,
                                               .task = task,
                                               .parser = parser,
                                               .only_lists = true};
        ck_assert_int_eq(hone_coder_open(&setup, &coder, NULL), 0);
        ck_assert_msg(
            hone_coder_read(parser, rows[i].target, rows[i].source, "task", pool, &in, &err) == 0,
            "%s", err.message);
        ck_assert_uint_eq(
            hone_coder_regions(coder, hone_coder_rewrite(coder, "llm_G06"), &in, sites), 1);
        ck_assert_str_eq(sites[0].evidence, rows[i].evidence);
        ck_assert_uint_eq(sites[0].line, rows[i].line);
        ck_assert_uint_eq(sites[0].last_line, rows[i].last_line);
        /* the records name the step by the function alone, as ever */
        struct hone_coder_site own =
            hone_site(in.nest.function, in.nest.function->begin, in.nest.function->end, "");
        hone_coder_locate(&in, &own);
        ck_assert_str_eq(sites[0].anchor, own.anchor);
        hone_coder_close(coder);
    }
}
END_TEST

START_TEST(a_profile_tells_the_hot_kernel)
{
    static const struct {
        const char *kernel, *name;
    } rows[] = {{"twice(float*, long) (operation 0)", "twice"},
                {"void sum<4>(float const*, float*, long) (operation 2)", "sum"},
                {"void mine::tiled<(int)4>(float*) (operation 1)", "tiled"},
                {"plain", "plain"},
                {NULL, NULL}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_counter counters[] = {{.name = "call_ns", .value = 1},
                                          {.name = "gpu__time", .kernel = rows[i].kernel},
                                          {.name = "gpu__time", .kernel = "later(int)"}};
        struct hone_profile_report profile = {
            .counters = {.v = counters, .n = rows[i].kernel ? 3 : 1}};
        struct hone_report report = {.profile = &profile};
        const char *name = hone_hot_kernel(&report, pool);
        ck_assert_int_eq(name == NULL, rows[i].name == NULL);
        if (name)
            ck_assert_str_eq(name, rows[i].name);
    }
}
END_TEST

UNIT_MAIN("cuda_rules", words_of_an_unreadable_text_count, columns_of_shared_memory_are_seen,
          reuse_is_seen_through_macros_and_tiles, a_step_points_at_the_kernel,
          a_step_covers_the_helpers, a_profile_tells_the_hot_kernel, kernels_are_understood,
          only_plain_walks_are_staged, bad_sources_are_refused, every_site_gives_a_valid_text,
          chains_keep_the_answer)
