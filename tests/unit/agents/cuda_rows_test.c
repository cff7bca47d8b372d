/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that the blocks of a cluster hold, and maps that take vectors at once. The emulated device
 * has no clusters: there one block does the work of all, from the same places of shared memory, and
 * reads by single elements what the other blocks would hold. */
#include "tests/unit/agents/cuda_rig.h"

#include <math.h>

enum { MAX_OUT = 1 << 15 };

typedef void row_launcher(const void *, const void *, void *, int, int, void *);

static float x_data[MAX_OUT], z_data[MAX_OUT], out_data[MAX_OUT];
static uint16_t x_half[MAX_OUT];

#define LAUNCH(name, type)                                                                         \
    "extern \"C\" void " name "(const " type " *x, const float *z, float *y, int rows, int n,\n"   \
    "                           cudaStream_t stream)\n"                                            \
    "{\n    kern<<<(rows + 63) / 64, 64, 0, stream>>>(x, z, y, rows, n);\n}\n"
#define KERNEL(type)                                                                               \
    "__global__ void kern(const " type " *x, const float *z, float *y, int rows, int n)\n{\n"      \
    "    int r = blockIdx.x * blockDim.x + threadIdx.x;\n    if (r >= rows)\n        return;\n"

static const char log_softmax_text[] = KERNEL(
    "float") "    float top = -INFINITY, sum = 0.0f;\n"
             "    for (int i = 0; i < n; i++)\n        top = fmaxf(top, x[(size_t)r * n + i]);\n"
             "    for (int i = 0; i < n; i++)\n        sum += expf(x[(size_t)r * n + i] - top);\n"
             "    float lse = top + logf(sum);\n"
             "    for (int i = 0; i < n; i++)\n"
             "        y[(size_t)r * n + i] = x[(size_t)r * n + i] - lse;\n}\n" LAUNCH("log_softmax",
                                                                                      "float");

/* one loop begins at 1, the row's address in a local, one thread stores */
static const char entropy_text[] =
    KERNEL("float") "    const float *row = x + (size_t)r * n;\n    float top = row[0];\n"
                    "    for (int v = 1; v < n; v++)\n        top = fmaxf(top, row[v]);\n"
                    "    float sum = 0.0f;\n    for (int v = 0; v < n; v++)\n        sum += "
                    "expf(row[v] - top);\n"
                    "    y[r] = logf(sum) + top - row[n / 2];\n}\n" LAUNCH("entropy", "float");

/* another array beside the row, and one that all rows share */
static const char norm_text[] =
    KERNEL("float") "    float sum = 0.0f;\n"
                    "    for (int c = 0; c < n; c++)\n        sum += x[(size_t)r * n + c] + z[c];\n"
                    "    float mean = sum / n, var = 0.0f;\n"
                    "    for (int c = 0; c < n; c++) {\n        float d = x[(size_t)r * n + c] + "
                    "z[c] - mean;\n"
                    "        var += d * d;\n    }\n    float inv = rsqrtf(var / n + 1e-5f);\n"
                    "    for (int c = 0; c < n; c++)\n"
                    "        y[(size_t)r * n + c] = (x[(size_t)r * n + c] - mean) * inv * z[c] + "
                    "c;\n}\n" LAUNCH("row_norm", "float");

/* elements of two bytes in, of four out; a loop that does not read the row writes it */
static const char narrow_text[] = "#include <cuda_bf16.h>\n" KERNEL(
    "__nv_bfloat16") "    float sum = 0.0f;\n    for (int i = 0; i < n; i++)\n"
                     "        sum += __bfloat162float(x[(size_t)r * n + i]);\n"
                     "    for (int i = 0; i < n; i++)\n        y[(size_t)r * n + i] = z[i];\n"
                     "    for (int i = 0; i < n; i++)\n"
                     "        y[(size_t)r * n + i] = y[(size_t)r * n + i] +\n"
                     "                               __bfloat162float(x[(size_t)r * n + i]) / (sum "
                     "+ 300);\n"
                     "}\n" LAUNCH("narrow", "__nv_bfloat16");

static const struct row_case {
    const char *name, *source;
} cases[] = {{"log_softmax", log_softmax_text},
             {"entropy", entropy_text},
             {"row_norm", norm_text},
             {"narrow", narrow_text}};

/* What a block holds: all, a few vectors of a thread, one. */
static const char *const tunables[] = {"PARTS=1 LANES=64", "PARTS=4 LANES=128",
                                       "PARTS=2 LANES=64 CACHE=1024", "PARTS=8 LANES=64 CACHE=600"};

static const char *applied(const char *source, const char *name, const char *const *steps,
                           int variant, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (; *steps; steps++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        const struct hone_rewrite *rewrite = hone_rewrite_find(*steps);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, name, pool, &in, &err) == 0, "%s",
                      err.message);
        size_t n = hone_coder_sites(rewrite, &in, sites), at = 0;
        while (at < n && !steps[1] && sites[at].variant != variant)
            at++;
        ck_assert_msg(at < n, "no site for %s in\n%s", *steps, source);
        ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[at], &source, &err) == 0, "%s",
                      err.message);
    }
    return source;
}

static void call(void *address, bool is_half, int shift, int rows, int n)
{
    row_launcher *f;
    memcpy(&f, &address, sizeof(f));
    memset(out_data, 0x7f, sizeof(out_data));
    f(is_half ? (const void *)(x_half + shift) : x_data + shift, z_data, out_data + shift / 2, rows,
      n, NULL);
}

static void compare(void *want_at, void *got_at, const char *source, const char *what)
{
    static const int sizes[][3] = {{0, 7, 70}, {0, 3, 1},    {1, 2, 5003}, {3, 4, 4096},
                                   {2, 5, 13}, {0, 6, 2048}, {1, 9, 3}};
    static float want[MAX_OUT];
    bool is_half = strstr(source, "const __nv_bfloat16 *x") != NULL;
    for (size_t i = 0; i < HONE_COUNTOF(sizes); i++) {
        call(want_at, is_half, sizes[i][0], sizes[i][1], sizes[i][2]);
        memcpy(want, out_data, sizeof(want));
        call(got_at, is_half, sizes[i][0], sizes[i][1], sizes[i][2]);
        for (size_t j = 0; j < HONE_COUNTOF(want); j++) {
            bool is_same = memcmp(&want[j], &out_data[j], sizeof(*want)) == 0;
            if (!is_same && !(fabsf(want[j] - out_data[j]) <= 3e-5f * (1 + fabsf(want[j])))) {
                fprintf(stderr, "%s\n", source);
                ck_abort_msg("%s, size %zu: [%zu] = %g, expected %g", what, i, j,
                             (double)out_data[j], (double)want[j]);
            }
        }
    }
}

static void fill(void)
{
    for (int i = 0; i < MAX_OUT; i++) {
        x_data[i] = (float)((i * 7919) % 2003) / 500.0f - 2.0f;
        x_half[i] = (uint16_t)(0x3f00 + (i * 7919) % 150 + ((i % 3) << 15));
        z_data[i] = (float)((i * 10473) % 997) / 500.0f - 1.0f;
    }
}

START_TEST(a_cluster_holds_the_row)
{
    static const char *const steps[] = {"cuda_row_lanes", "cuda_row_cache", NULL};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    fill();
    for (size_t c = 0; c < HONE_COUNTOF(cases); c++) {
        void *original = build(cases[c].source, cases[c].name, "", pool);
        const char *source = applied(cases[c].source, cases[c].name, steps, 2, pool);
        for (size_t t = 0; t < HONE_COUNTOF(tunables); t++)
            compare(original, build(source, cases[c].name, tunables[t], pool), source,
                    hone_pool_printf(pool, "%s, %s", cases[c].name, tunables[t]));
        if (has_nvcc())
            compile_for_device(source, "", pool);
    }
}
END_TEST

/* What is added to the kernel after rows were dealt out: number of threads and places in the grid
 * where a cluster's cannot be put. */
START_TEST(only_dealt_loops_go_to_a_cluster)
{
    static const struct {
        const char *before, *inside, *grid;
        bool is_offered;
    } rows[] = {
        {"", "x[r * n + i]", "rows", true},
        {"if (r >= rows) return;", "x[r * n + i]", "rows", true},
        {"if (lane >= LANES) return;", "x[r * n + i]", "rows", false},
        {"", "x[r * n + i] * threadIdx.x", "rows", false},
        {"", "x[r * n + i] * blockDim.x", "rows", false},
        {"__syncthreads();", "x[r * n + i]", "rows", false},
        {"__shared__ float all[4]; all[0] = 1;", "x[r * n + i]", "rows", false},
        {"", "x[r * n + i]", "dim3(rows, 1)", false},
        {"", "plain(x[r * n + i])", "rows", true},
        {"", "x[r * n + i] * of_warp(s)", "rows", false},
        {"", "x[r * n + i] * through(s)", "rows", false},
        {"", "x[r * n + i] * of_any(s)", "rows", false},
        {"", "x[r * n + i] * placed(s)", "rows", false},
        {"s = __shfl_xor_sync(0xffffffffu, 1.0f, 1);", "x[r * n + i]", "rows", false},
    };
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_err err = HONE_ERR_INIT;
        const char *source = hone_pool_printf(
            pool,
            "#pragma hone tune(LANES: 64, 128)\n"
            "template <int LANES, typename T> __device__ T group_sum(T value) { return value; }\n"
            "__device__ float plain(float v) { return 2 * v; }\n"
            "__device__ float of_warp(float v) { return __shfl_xor_sync(~0u, v, 1); }\n"
            "__device__ float through(float v) { return of_warp(v); }\n"
            "template <typename T> __device__ T of_any(T v) { __syncthreads(); return v; }\n"
            "__device__ float placed(float v) { return v * threadIdx.x; }\n"
            "__global__ void kern(const float *x, float *y, int rows, int n)\n{\n"
            "const int lane = threadIdx.x;\nconst int r = blockIdx.x;\nfloat s = 0;\n%s\n"
            "for (int i = lane; i < n; i += LANES)\n    s += x[r * n + i];\n"
            "s = group_sum<LANES>(s);\n"
            "for (int i = lane; i < n; i += LANES)\n    y[r * n + i] = %s / s;\n}\n"
            "extern \"C\" void k(const float *x, float *y, int rows, int n, cudaStream_t s)\n{\n"
            "    kern<<<%s, LANES, 0, s>>>(x, y, rows, n);\n}\n",
            rows[i].before, rows[i].inside, rows[i].grid);
        source = strchr(source, '\n') + 1; /* without the pragma, which a parser reads as a value */
        source = hone_pool_printf(pool, "constexpr int LANES = 64;\n%s", source);
        ck_assert_msg(hone_coder_read(parser, "cuda", source, "k", pool, &in, &err) == 0, "%zu: %s",
                      i, err.message);
        size_t n = hone_coder_sites(hone_rewrite_find("cuda_row_cache"), &in, sites), n_parted = 0;
        for (size_t s = 0; s < n; s++)
            n_parted += sites[s].variant == 2;
        ck_assert_msg(n_parted == rows[i].is_offered, "row %zu", i);
    }
}
END_TEST

START_TEST(a_map_takes_vectors_in_one_step)
{
    static const char *const steps[] = {"cuda_map_lanes", NULL};
    static const char text[] =
        "__global__ void kern(const float *x, const float *z, float *y, int rows, int n)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n)\n        return;\n"
        "    y[i] = x[i] / (1.0f + expf(-z[i]));\n}\n" LAUNCH("map", "float");
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char *one_row = hone_pool_strdup(pool, text), *grid = strstr(one_row, "(rows + 63)");
    memcpy(grid, "(n    + 63)", 11);
    fill();
    const char *source = applied(one_row, "map", steps, 0, pool);
    ck_assert_msg(strstr(source, "vector_of<float, VEC>") != NULL, "%s", source);
    void *original = build(one_row, "map", "", pool);
    compare(original, build(source, "map", "", pool), source, "map");
    compare(original, build(source, "map", "VEC=2 EACH=4 LANES=64", pool), source, "map by twos");
}
END_TEST

UNIT_MAIN("cuda_rows", only_dealt_loops_go_to_a_cluster, a_map_takes_vectors_in_one_step,
          a_cluster_holds_the_row)
