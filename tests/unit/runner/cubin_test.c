/* SPDX-License-Identifier: Apache-2.0 */
/* What is read out of a cubin: the corpus' files were made by NVRTC (aligned: nvcc) 13.0 from the
 * texts in the comments; figures are those that ptxas printed then. */
#include "tools/runner/cuda/compile/cubin.h"

#include <string.h>

#include "tests/unit/unit.h"
#include "tools/runner/cuda/module/module_names.h"
#include "workspace/base/file.h"

static struct hone_pool *pool;

static const unsigned char *load(const char *name, size_t *ret_len)
{
    HONE_AUTOFREE char *path = hone_sprintf("tests/fuzz/corpus/cubin/%s", name);
    struct hone_err err = HONE_ERR_INIT;
    char *text = NULL;
    ck_assert_msg(hone_file_read(path, 1 << 20, &text, ret_len, &err) == 0, "%s", err.message);
    hone_pool_defer(pool, free, text);
    return (unsigned char *)text;
}

static struct hone_cubin read_file(const char *name)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_cubin cubin;
    size_t len = 0;
    pool = hone_pool_new();
    const unsigned char *bytes = load(name, &len);
    ck_assert_msg(hone_cubin_read(bytes, len, pool, &cubin, &err) == 0, "%s", err.message);
    return cubin;
}

/* template <int T> __global__ void __launch_bounds__(T) row(float *a, const float *b, int n), with
 * float s[T] in shared memory, T = 32; extern "C" __global__ void plain(double *x, char c) */
START_TEST(kernels)
{
    struct hone_cubin cubin = read_file("row.cubin");
    ck_assert(!cubin.is_emulated);
    ck_assert_uint_eq(cubin.kernels.n, 2);
    ck_assert_uint_eq(cubin.variables.n, 0);
    const struct hone_cuda_kernel *row = hone_cubin_find(&cubin.kernels, "_Z3rowILi32EEvPfPKfi");
    const struct hone_cuda_kernel *plain = hone_cubin_find(&cubin.kernels, "plain");
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(plain);
    ck_assert_str_eq(row->pretty, "row<32>");
    ck_assert_int_eq(row->registers, 12);
    ck_assert_int_eq(row->shared_bytes, 128);
    ck_assert_int_eq(row->max_threads, 32);
    ck_assert_int_eq(row->n_params, 3);
    ck_assert_int_eq(row->param_bytes, 20);
    const struct hone_plan_param *params = row->params.v;
    ck_assert_int_eq(params[2].at, 16);
    ck_assert_int_eq(params[2].size, 4);
    ck_assert_int_eq(plain->registers, 8);
    ck_assert_int_eq(plain->max_threads, 0);
    ck_assert_int_eq(plain->param_bytes, 9);
    ck_assert_ptr_null(hone_cubin_find(&cubin.kernels, "row"));
}
END_TEST

/* __device__ float scratch[4]; __constant__ int coef[3]; struct big { float v[1500]; };
 * extern "C" __global__ void k(float *a, big b, short c) */
START_TEST(variables_and_long_parameters)
{
    struct hone_cubin cubin = read_file("variables.cubin");
    const struct hone_cuda_variable *list = cubin.variables.v;
    ck_assert_uint_eq(cubin.variables.n, 2); /* the text of printf is none */
    ck_assert_str_eq(list[0].name, "scratch");
    ck_assert_int_eq(list[0].bytes, 16);
    ck_assert_str_eq(list[1].name, "coef");
    ck_assert_int_eq(list[1].bytes, 12);
    const struct hone_cuda_kernel *k = hone_cubin_find(&cubin.kernels, "k");
    const struct hone_plan_param *params = k->params.v;
    ck_assert_int_eq(k->n_params, 3);
    ck_assert_int_eq(params[1].size, 6000);
    ck_assert_int_eq(params[2].at, 6008);
    ck_assert_int_eq(k->const_bytes, 12);
}
END_TEST

/* struct __align__(128) map { char opaque[128]; }; extern "C" __global__ void k(const
 * __grid_constant__ map a, float *x, int n): the module's own figure counts padding before the
 * a parameter of 128 bytes' alignment. */
START_TEST(aligned_parameters)
{
    struct hone_cubin cubin = read_file("aligned.cubin");
    const struct hone_cuda_kernel *k = hone_cubin_find(&cubin.kernels, "k");
    ck_assert_int_eq(k->n_params, 3);
    ck_assert_int_eq(k->param_bytes, 140);
}
END_TEST

START_TEST(words_of_ptxas)
{
    struct hone_cubin cubin = read_file("row.cubin");
    hone_cubin_read_log("ptxas info    : Compiling entry function 'plain' for 'sm_90a'\n"
                        "ptxas info    : Function properties for plain\n"
                        "ptxas         .     824 bytes stack frame, 1140 bytes spill stores, 1144 "
                        "bytes spill loads\n"
                        "ptxas info    : Used 255 registers, used 1 barriers, 2112 bytes smem\n"
                        "ptxas info    : Function properties for _Z1ff\n"
                        "ptxas         .     7 bytes stack frame, 8 bytes spill stores, 9 bytes "
                        "spill loads\n"
                        "ptxas info    : Compiling entry function 'nobody' for 'sm_90a'\n",
                        &cubin);
    const struct hone_cuda_kernel *plain = hone_cubin_find(&cubin.kernels, "plain");
    const struct hone_cuda_kernel *row = hone_cubin_find(&cubin.kernels, "_Z3rowILi32EEvPfPKfi");
    ck_assert_int_eq(plain->registers, 255);
    ck_assert_int_eq(plain->shared_bytes, 2112);
    ck_assert_int_eq(plain->frame_bytes, 824);
    ck_assert_int_eq(plain->spill_store_bytes, 1140);
    ck_assert_int_eq(plain->spill_load_bytes, 1144);
    ck_assert_int_eq(row->registers, 12);
    ck_assert_int_eq(row->spill_store_bytes, 0);
}
END_TEST

/* Every byte flipped and every length cut: an error or facts, never a fault. */
START_TEST(damage)
{
    struct hone_cubin cubin;
    size_t len = 0;
    pool = hone_pool_new();
    const unsigned char *good = load("row.cubin", &len);
    unsigned char *bad = hone_malloc(len);
    for (size_t i = 0; i < len; i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *own = hone_pool_new();
        memcpy(bad, good, len);
        bad[i] ^= (unsigned char)(i % 3 == 0 ? 0xff : 0x81);
        (void)hone_cubin_read(bad, len, own, &cubin, NULL);
        struct hone_err err = HONE_ERR_INIT;
        if (i % 7 == 0 && i < len / 2) /* the table of sections lies behind */
            ck_assert(hone_cubin_read(good, i, own, &cubin, &err) < 0 && err.message[0] != '\0');
    }
    free(bad);
    hone_pool_free(pool);
}
END_TEST

START_TEST(whose_variables)
{
    static const struct {
        const char *name, *source;
        bool stays;
    } cases[] = {
        {"acc", "__device__ int acc;", true},
        {"_ZN4cuda3std3__417integral_constantIbLb0EE5valueE", "", false},
        {"_ZNSt6limits3maxE", "", false},
        {"_ZN4mine3accE", "", true},
        {"_ZN41_INTERNAL_00000000_13_hone_front_cu__Z1ff4cuda1xE", "", false},
        {"_ZN41_INTERNAL_00000000_13_hone_front_cu__Z1ff4mine1xE", "", true},
        {"_ZN4cuda3accE", "namespace cuda { __device__ int acc; }", true},
        {"_ZN4cuda3accE", "namespace\n cuda { __device__ int acc; }", true},
        {"_ZN4cuda3accE", "#define X cuda\nnamespace X { __device__ int acc; }", true},
        {"_ZN4cuda3accE", "#define N namespace cuda\nN { __device__ int acc; }", true},
        {"_ZN4cuda3accE", "using namespace cuda;\nnamespace mine {}", false},
        {"_ZN4cuda3accE", "extern \"C\" __device__ int _ZN4cuda3accE;", true},
        {"_ZN4cuda3accE", "names\\\npace cuda { __device__ int acc; }", true},
        {"_ZN4cuda3accE", "#define J(a, b) a##b\nJ(name, space) cuda { __device__ int acc; }",
         true},
        {"_ZN4cuda3accE", "#define LONG \\\n    1\n", false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_cuda_variable one = {.name = cases[i].name, .bytes = 4};
        struct hone_cubin cubin = {.variables = {&one, 1}};
        hone_cubin_drop_toolkit(cases[i].source, &cubin);
        ck_assert_msg((cubin.variables.n == 1) == cases[i].stays, "case %zu: %s", i, cases[i].name);
    }
}
END_TEST

START_TEST(constants)
{
    static const struct {
        const char *text, *name;
        bool is_constant;
    } cases[] = {
        {"constexpr int TILE = 16;\n", "TILE", true},
        {"#line 1 \"x\"\nconstexpr int TILE = 16;\nint f() { return TILE; }", "TILE", true},
        {"__device__ const float tab[2] = {1, 2};", "tab", true},
        {"__device__ const float *ptr;", "ptr", false},
        {"__device__ float acc;", "acc", false},
        {"const int n = 3; __device__ float acc[n];", "acc", false},
        {"int TILED; constexpr int TILE = 1;", "TILE", true},
        {"static __device__ int a; void f(const int a);", "a", false},
        {"", "gone", false},
        {"__device__ const int x;", "_ZN1a1xE", false},
        {"static constexpr int here = 4;", "_ZL4here", true},
        {"namespace a { constexpr int x = 1; } __device__ int x;", "x", false},
        {"constexpr int x = 1; __device__ int y = x; void f(int x);", "x", true},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        ck_assert_msg(hone_names_constant(cases[i].text, cases[i].name) == cases[i].is_constant,
                      "case %zu: %s", i, cases[i].text);
}
END_TEST

UNIT_MAIN("cubin", kernels, variables_and_long_parameters, aligned_parameters, words_of_ptxas,
          damage, whose_variables, constants)
