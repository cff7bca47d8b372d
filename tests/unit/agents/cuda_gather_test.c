/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gather_tile: direct convolutions in the spellings of the importer and of other programs give
 * the original's answer on the emulated device, with tiles of several shapes, at sizes that fill no
 * tile, with infinities; what is no such sum has no place. */
#include "tests/unit/agents/cuda_rig.h"

#include <math.h>

#include "agents/planner/features.h"

enum { MAX_DATA = 1 << 15, MAX_CALLS = 3 };

typedef void conv_any(const float *, const float *, const float *, float *, int64_t, int64_t,
                      int64_t, int64_t, int64_t, int64_t, void *);

static float x_data[MAX_DATA], w_data[MAX_DATA], b_data[MAX_DATA], y_data[MAX_DATA],
    expected[MAX_DATA];

/* conv(x, w, b, y, N, C, H, W, O, K): stride, border, dilation and the kernel's own arguments. */
#define LAUNCHER(s, p, d, config, args)                                                            \
    "extern \"C\" void conv(const float *x, const float *w, const float *b, float *y, int64_t "    \
    "N,\n"                                                                                         \
    "                     int64_t C, int64_t H, int64_t W, int64_t O, int64_t K,\n"                \
    "                     cudaStream_t stream)\n"                                                  \
    "{\n"                                                                                          \
    "    const int64_t s = " #s ", p = " #p ", d = " #d ";\n"                                      \
    "    const int64_t Y = (H + 2 * p - d * (K - 1) - 1) / s + 1;\n"                               \
    "    const int64_t X = (W + 2 * p - d * (K - 1) - 1) / s + 1;\n"                               \
    "    const int64_t total = N * O * Y * X;\n"                                                   \
    "    (void)d;\n    (void)total;\n"                                                             \
    "    kern<<<" config ", 0, stream>>>(" args ");\n"                                             \
    "}\n"
#define FLAT_GRID "(unsigned)((total + 127) / 128), 128"

/* The usual spelling: one index, int, an if around the update. */
#define USUAL_HEAD                                                                                 \
    "__global__ void kern(const float *in, const float *w, const float *bias, float *out, int "    \
    "N,\n"                                                                                         \
    "                     int C, int H, int W, int O, int OH, int OW, int KH, int KW,\n"           \
    "                     int stride, int pad)\n"                                                  \
    "{\n"                                                                                          \
    "    int idx = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    int total = N * O * OH * OW;\n"                                                           \
    "    if (idx >= total) return;\n"                                                              \
    "    int ox = idx % OW;\n"                                                                     \
    "    int oy = (idx / OW) % OH;\n"                                                              \
    "    int o = (idx / (OW * OH)) % O;\n"                                                         \
    "    int n = idx / (OW * OH * O);\n"
#define USUAL_ARGS                                                                                 \
    "x, w, b, y, (int)N, (int)C, (int)H, (int)W, (int)O, (int)Y, (int)X, (int)K, (int)K, (int)s, " \
    "(int)p"
#define USUAL(init, loops, guard, update, end)                                                     \
    USUAL_HEAD "    float acc = " init ";\n    " loops "{\n"                                       \
               "        int iy = oy * stride + ky - pad;\n"                                        \
               "        int ix = ox * stride + kx - pad;\n        " guard " " update               \
               "\n    }\n    " end "\n}\n"
#define THREE_LOOPS                                                                                \
    "for (int c = 0; c < C; ++c) for (int ky = 0; ky < KH; ++ky) for (int kx = 0; kx < KW; ++kx)"
#define INSIDE "if (iy >= 0 && iy < H && ix >= 0 && ix < W)"
#define TAP    "in[((n * C + c) * H + iy) * W + ix]"
#define WEIGHT "w[((o * C + c) * KH + ky) * KW + kx]"
#define STORE  "out[idx] = acc;"

static const char usual_text[] =
    USUAL("bias[o]", THREE_LOOPS, INSIDE, "acc += " TAP " * " WEIGHT ";", STORE)
        LAUNCHER(2, 1, 1, FLAT_GRID, USUAL_ARGS);
static const char plain_text[] =
    USUAL("0.f", THREE_LOOPS, INSIDE, "acc = fmaf(" WEIGHT ", " TAP ", acc);",
          "out[idx] = acc > 0 ? acc : 0.1f * acc;") LAUNCHER(1, 0, 1, FLAT_GRID, USUAL_ARGS);
static const char unsigned_text[] =
    USUAL("bias[o]", THREE_LOOPS, "if ((unsigned)iy < (unsigned)H && (unsigned)ix < W)",
          "acc += " WEIGHT " * __ldg(&" TAP ");", STORE) LAUNCHER(1, 2, 1, FLAT_GRID, USUAL_ARGS);
static const char choice_text[] =
    USUAL("0", THREE_LOOPS, "",
          "acc += (0 <= iy && H > iy && !(ix < 0 || ix > W - 1) ? " TAP " : 0.f) * " WEIGHT ";",
          STORE) LAUNCHER(3, 1, 1, FLAT_GRID, USUAL_ARGS);

/* A place for each index, the image and the channel in one, sizes in constants and macros */
static const char blocks_text[] =
    "#include <stdint.h>\n"
    "#define KS 5\n"
    "constexpr int R = KS / 2;\n"
    "__global__ void kern(const float *__restrict__ src, const float *__restrict__ f, float *dst,\n"
    "                     int64_t C, int64_t H, int64_t W, int64_t O, int64_t planes)\n"
    "{\n"
    "    const int64_t col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const int64_t row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    const int64_t z = (int64_t)blockIdx.z * blockDim.z + threadIdx.z;\n"
    "    if (col >= W || row >= H || z >= planes)\n"
    "        return;\n"
    "    const int64_t o = z % O, n = z / O;\n"
    "    const float *image = src + n * C * H * W;\n"
    "    float sum = 0.0f;\n"
    "    for (int64_t c = 0; c < C; c++) {\n"
    "        const float *plane = image + c * H * W;\n"
    "        for (int i = -R; i <= R; i++) {\n"
    "            const int64_t yy = row + i;\n"
    "            if (yy < 0 || yy >= H)\n"
    "                continue;\n"
    "            for (int j = -R; j <= R; j++) {\n"
    "                const int64_t xx = col + j;\n"
    "                if (xx < 0 || xx >= W)\n"
    "                    continue;\n"
    "                sum += plane[yy * W + xx] * f[((o * C + c) * KS + i + R) * KS + j + R];\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    dst[(z * H + row) * W + col] = sum;\n"
    "}\n" LAUNCHER(1, 2, 1,
                   "dim3((unsigned)((X + 15) / 16), (unsigned)((Y + 3) / 4), (unsigned)(N * O)), "
                   "dim3(16, 4)",
                   "x, w, y, C, H, W, O, N * O");

/* Blocks for the image and the channel without a guard, the weights' channel fastest, dilation */
static const char dilated_text[] =
    "__global__ void kern(const float *in, const float *w, const float *bias, float *out, int C,\n"
    "                     int H, int W, int O, int OH, int OW, int K, int d)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int o = blockIdx.y;\n"
    "    int n = blockIdx.z;\n"
    "    if (i >= OH * OW) return;\n"
    "    int y = i / OW;\n"
    "    int x = i % OW;\n"
    "    float acc = bias[o];\n"
    "    for (int ky = 0; ky < K; ky++)\n"
    "        for (int kx = 0; kx < K; kx++)\n"
    "            for (int c = 0; c < C; c++) {\n"
    "                const int iy = y - 2 + ky * d, ix = x - 2 + kx * d;\n"
    "                const bool inside = iy >= 0 && iy < H && ix >= 0 && ix < W;\n"
    "                float v = inside ? in[((n * H + iy) * W + ix) * C + c] : 0.0f;\n"
    "                acc += v * w[((ky * K + kx) * C + c) * O + o];\n"
    "            }\n"
    "    out[((size_t)n * O + o) * OH * OW + i] = acc;\n"
    "}\n" LAUNCHER(1, 2, 3, "dim3((unsigned)((Y * X + 63) / 64), (unsigned)O, (unsigned)N), 64",
                   "x, w, b, y, (int)C, (int)H, (int)W, (int)O, (int)Y, (int)X, (int)K, (int)d");

/* 1 x 1: one loop, four indices */
static const char point_text[] =
    "#include <stdint.h>\n"
    "__global__ void kern(const float *x, const float *w, const float *b, float *y, int64_t "
    "count,\n"
    "                     int64_t O, int64_t C, int64_t H, int64_t W)\n"
    "{\n"
    "    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (e < count) {\n"
    "        const int64_t area = H * W;\n"
    "        const int64_t at = e % area, h = at / W, v = at % W, o = e / area % O;\n"
    "        const int64_t n = e / area / O;\n"
    "        float sum = 0;\n"
    "        for (int64_t c = 0; c < C; c++)\n"
    "            sum += w[o * C + c] * x[(n * C + c) * area + h * W + v];\n"
    "        y[e] = sum + b[o] + (float)(at % 3);\n"
    "    }\n"
    "}\n" LAUNCHER(1, 0, 1, FLAT_GRID, "x, w, b, y, total - 5, O, C, H, W");

/* Indices that come off one after another; the sum in double */
static const char rests_text[] =
    "__global__ void kern(const float *in, const float *w, const float *bias, float *out, int N,\n"
    "                     int C, int H, int W, int O, int K)\n"
    "{\n"
    "    const int OH = H - K + 1, OW = W - K + 1;\n"
    "    int idx = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (idx >= N * O * OH * OW) return;\n"
    "    int rest = idx;\n"
    "    int x = rest % OW; rest /= OW;\n"
    "    int y = rest % OH; rest /= OH;\n"
    "    int o = rest % O; rest /= O;\n"
    "    double acc = bias[o];\n"
    "    for (int c = 0; c < C; c++)\n"
    "        for (int i = 0; i < K; i++)\n"
    "            for (int j = 0; j < K; j++)\n"
    "                acc += (double)in[((rest * C + c) * H + y + i) * W + x + j] *\n"
    "                       w[((o * C + c) * K + i) * K + j];\n"
    "    out[idx] = (float)acc;\n"
    "}\n" LAUNCHER(1, 0, 1, FLAT_GRID,
                   "x, w, b, y, (int)N, (int)C, (int)H, (int)W, (int)O, (int)K");

/* 16-bit factors, a sum in float */
static const char narrow_text[] =
    "#include <cuda_bf16.h>\n"
    "__global__ void kern(const __nv_bfloat16 *in, const __nv_bfloat16 *w, float *out, int N, int "
    "C,\n"
    "                     int H, int W, int O, int K)\n"
    "{\n"
    "    int idx = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (idx >= N * O * H * W) return;\n"
    "    int x = idx % W, y = idx / W % H, o = idx / (W * H) % O, n = idx / (W * H * O);\n"
    "    float acc = 0;\n"
    "    for (int c = 0; c < C; c++)\n"
    "        for (int i = 0; i < K; i++)\n"
    "            for (int j = 0; j < K; j++) {\n"
    "                int v = y + i - K / 2, u = x + j - K / 2;\n"
    "                if (v < 0 || v >= H || u < 0 || u >= W) continue;\n"
    "                acc += __bfloat162float(in[((n * C + c) * H + v) * W + u]) *\n"
    "                       __bfloat162float(w[((o * C + c) * K + i) * K + j]);\n"
    "            }\n"
    "    out[idx] = acc;\n"
    "}\n" LAUNCHER(1, (K / 2), 1, FLAT_GRID,
                   "(const __nv_bfloat16 *)x, (const __nv_bfloat16 *)w, y, (int)N, (int)C, (int)H, "
                   "(int)W, (int)O, (int)K");

/* Sizes and the weights in a struct, the image and the channel in a block's index */
static const char struct_text[] =
    "#include <stdint.h>\n"
    "struct sizes { int N, C, H, W; long d[4]; const float *w; };\n"
    "__global__ void kern(const float *in, struct sizes s, float *out, int O)\n"
    "{\n"
    "    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + "
    "threadIdx.y;\n"
    "    int n = blockIdx.z / O, o = blockIdx.z % O;\n"
    "    if (ox >= s.d[3] || oy >= s.d[2]) return;\n"
    "    float acc = 0;\n"
    "    for (int c = 0; c < s.C; c++)\n"
    "        for (int ky = 0; ky < 3; ky++)\n"
    "            for (int kx = 0; kx < 3; kx++) {\n"
    "                int iy = oy + ky - 1, ix = ox + kx - 1;\n"
    "                if (iy >= 0 && iy < s.H && ix >= 0 && ix < s.W)\n"
    "                    acc += in[((n * s.C + c) * s.H + iy) * s.W + ix] * s.w[((o * s.C + c) * 3 "
    "+ ky) * 3 + kx];\n"
    "            }\n"
    "    out[((n * O + o) * s.d[2] + oy) * s.d[3] + ox] = acc;\n"
    "}\n"
    "extern \"C\" void conv(const float *x, const float *w, const float *b, float *y, int64_t N,\n"
    "                     int64_t C, int64_t H, int64_t W, int64_t O, int64_t K,\n"
    "                     cudaStream_t stream)\n"
    "{\n"
    "    struct sizes s = {(int)N, (int)C, (int)H, (int)W, {N, O, H, W}, w};\n"
    "    dim3 block(16, 16), grid((W + 15) / 16, (H + 15) / 16, N * O);\n"
    "    kern<<<grid, block, 0, stream>>>(x, s, y, (int)O);\n"
    "}\n";

/* Numbers that no table holds: what the launch gives, and what the sum's loops give */
static const char far_launch_text[] =
    USUAL("bias[o]", THREE_LOOPS, "if (iy >= 0 && iy < (1LL << 33) && ix >= 0 && ix < W)",
          "acc += " TAP " * " WEIGHT ";", STORE) LAUNCHER(1, 0, 1, FLAT_GRID, USUAL_ARGS);
static const char far_sum_text[] =
    USUAL("bias[o]", THREE_LOOPS, INSIDE " if (ky * 4294967295LL >= ky - 1)",
          "acc += " TAP " * " WEIGHT ";", STORE) LAUNCHER(1, 1, 1, FLAT_GRID, USUAL_ARGS);

struct conv_case {
    const char *name, *source; /* NULL: the importer's kernel of that name */
    const char *tiles;         /* beside the default one */
    int64_t calls[MAX_CALLS][6];
    const char *launcher;
};

#define IMPORTED_2                                                                                 \
    LAUNCHER(2, 3, 2, FLAT_GRID, "x, w, b, y, total, O, Y, X, C, H, W, K, K, s, s, p, p, d, d")
#define IMPORTED_3                                                                                 \
    LAUNCHER(1, 1, 1, "(unsigned)((total * Y + 127) / 128), 128",                                  \
             "x, w, b, y, total * Y, O, Y, Y, X, C, H, H, W, K, K, K, 1, s, s, p, p, p, d, d, d")

static const struct conv_case cases[] = {
    {"k_conv2",
     NULL,
     "BM=32 BN=128 BK=8 TM=8 TN=8",
     {{2, 3, 9, 11, 70, 3}, {1, 5, 30, 7, 3, 4}, {3, 1, 6, 6, 2, 1}},
     IMPORTED_2},
    {"k_conv3",
     NULL,
     "BM=64 BN=64 BK=16 TM=4 TN=4",
     {{2, 2, 4, 5, 5, 3}, {1, 3, 3, 6, 9, 1}},
     IMPORTED_3},
    {"usual",
     usual_text,
     "BM=96 BN=64 BK=16 TM=8 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 9, 20, 17, 33, 5}},
     NULL},
    {"plain",
     plain_text,
     "BM=96 BN=128 BK=8 TM=8 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 9, 7, 6, 130, 5}},
     NULL},
    {"unsigned",
     unsigned_text,
     "BM=128 BN=64 BK=8 TM=8 TN=4",
     {{2, 3, 9, 11, 5, 3}, {1, 2, 4, 3, 3, 5}},
     NULL},
    {"choice",
     choice_text,
     "BM=32 BN=64 BK=16 TM=4 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 2, 4, 3, 3, 5}},
     NULL},
    {"blocks",
     blocks_text,
     "BM=128 BN=128 BK=16 TM=8 TN=8",
     {{2, 3, 9, 11, 5, 5}, {1, 2, 4, 3, 3, 5}},
     NULL},
    {"dilated",
     dilated_text,
     "BM=32 BN=64 BK=8 TM=8 TN=8",
     {{2, 3, 12, 11, 5, 3}, {1, 17, 8, 9, 40, 2}},
     NULL},
    {"far_launch", far_launch_text, "BM=32 BN=64 BK=8 TM=8 TN=8", {{2, 3, 9, 11, 5, 3}}, NULL},
    {"far_sum", far_sum_text, "BM=32 BN=64 BK=8 TM=8 TN=8", {{2, 3, 9, 11, 5, 3}}, NULL},
    {"rests",
     rests_text,
     "BM=32 BN=64 BK=4 TM=8 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 9, 8, 7, 70, 2}},
     NULL},
    {"narrow",
     narrow_text,
     "BM=128 BN=128 BK=16 TM=4 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 2, 20, 3, 3, 5}},
     NULL},
    {"struct",
     struct_text,
     "BM=96 BN=128 BK=8 TM=4 TN=8",
     {{2, 3, 9, 11, 5, 3}, {1, 2, 20, 3, 3, 3}},
     NULL},
    {"point",
     point_text,
     "BM=64 BN=128 BK=8 TM=8 TN=4",
     {{2, 19, 5, 7, 6, 1}, {3, 2, 1, 9, 40, 1}},
     NULL},
};

static void fill(bool has_infinities)
{
    for (int i = 0; i < MAX_DATA; i++) {
        x_data[i] = (float)((i * 7919) % 2003) / 1000.0f - 1.0f;
        w_data[i] = (float)((i * 10473) % 997) / 500.0f - 1.0f;
        b_data[i] = (float)(i % 13) - 6.0f;
        if (has_infinities && i % 7 == 3)
            w_data[i] = i % 2 ? INFINITY : -INFINITY;
        if (has_infinities && i % 29 == 11)
            w_data[i] = NAN;
        if (has_infinities && i % 31 == 5)
            x_data[i] = INFINITY;
    }
}

/* The kernel as tools/runner/torch writes it, under the name kern. */
static const char *imported(const char *name, const char *launcher, struct hone_pool *pool)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(
        hone_file_read("tools/runner/torch/naive_cuda_conv.py", 1 << 16, &text, &len, NULL), 0);
    char *begin = strstr(text, hone_pool_printf(pool, "__global__ void %s(", name));
    ck_assert_ptr_nonnull(begin);
    const char *params = strchr(begin, '('), *end = strstr(begin, "\n}\n");
    return hone_pool_printf(pool, "#include <stdint.h>\n__global__ void kern%.*s\n}\n%s",
                            (int)(end - params), params, launcher);
}

static const char *source_of(const struct conv_case *c, struct hone_pool *pool)
{
    return c->source ? c->source : imported(c->name, c->launcher, pool);
}

static const char *rewritten(struct hone_c_parser *parser, const char *source,
                             struct hone_pool *pool)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const struct hone_rewrite *rule = hone_rewrite_find("cuda_gather_tile");
    ck_assert_msg(hone_coder_read(parser, "cuda", source, "conv", pool, &in, &err) == 0, "%s",
                  err.message);
    if (hone_coder_sites(rule, &in, sites) == 0)
        return NULL;
    ck_assert_msg(hone_coder_apply(parser, rule, &in, &sites[0], &source, &err) == 0, "%s",
                  err.message);
    return source;
}

static void call(void *address, const int64_t *n)
{
    conv_any *f;
    memcpy(&f, &address, sizeof(f));
    memset(y_data, 0x7f, sizeof(y_data));
    f(x_data, w_data, b_data, y_data, n[0], n[1], n[2], n[3], n[4], n[5], NULL);
}

static bool is_close(float want, float got)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : want == got;
    return fabsf(want - got) <= 1e-5f * (1 + fabsf(want));
}

static void compare(const struct conv_case *c, void *original, const char *text, const char *tile,
                    struct hone_pool *pool)
{
    void *changed = build(text, "conv", tile, pool);
    for (size_t i = 0; i < 2 * MAX_CALLS; i++) {
        const int64_t *n = c->calls[i / 2];
        if (n[0] == 0)
            break;
        fill(i % 2 == 1);
        call(original, n);
        memcpy(expected, y_data, sizeof(expected));
        call(changed, n);
        for (size_t j = 0; j < MAX_DATA; j++)
            if (!is_close(expected[j], y_data[j]))
                give_up(text,
                        hone_pool_printf(pool, "%s %s call %zu: [%zu] = %g, expected %g", c->name,
                                         tile, i, j, (double)y_data[j], (double)expected[j]));
    }
}

/* The tile that is tried first keeps all it has in registers. */
static void check_registers(const char *text, struct hone_pool *pool)
{
    const char *stem = write_source(text, "", pool);
    int status = system(hone_pool_printf(pool,
                                         "tests/cached %s.cubin %s.h %s.cu -- "
                                         "/usr/local/cuda/bin/nvcc -std=c++17 -arch=sm_90a -cubin "
                                         "-Xptxas -v -include %s.h -o %s.cubin %s.cu 2>%s.log && "
                                         "grep -q ' 0 bytes spill stores' %s.log",
                                         stem, stem, stem, stem, stem, stem, stem, stem));
    if (status != 0)
        give_up(text, "nvcc refuses it, or registers are spilled");
    ck_assert_int_eq(system(hone_pool_printf(pool, "rm -f %s.*", stem)), 0);
}

START_TEST(convolutions_keep_the_answer)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *source = source_of(&cases[i], pool);
        const char *text = rewritten(parser, source, pool);
        ck_assert_msg(text != NULL, "no place in %s", cases[i].name);
        void *original = build(source, "conv", "", pool);
        compare(&cases[i], original, text, "", pool);
        compare(&cases[i], original, text, cases[i].tiles, pool);
        if (has_nvcc())
            check_registers(text, pool);
    }
}
END_TEST

#define REFUSED(loops, guard, update, end)                                                         \
    USUAL("bias[o]", loops, guard, update, end) LAUNCHER(2, 1, 1, FLAT_GRID, USUAL_ARGS)
#define UPDATE "acc += " TAP " * " WEIGHT ";"

/* Each differs in one point from a kernel that has a place. */
static const struct {
    bool has_place;
    const char *source;
} places[] = {
    {true, REFUSED(THREE_LOOPS, INSIDE, UPDATE, STORE)},
    /* written in place, in the kernel and at the launch */
    {false, REFUSED(THREE_LOOPS, INSIDE, UPDATE, "((float *)in)[idx] = acc; out[idx] = acc;")},
    {false, REFUSED(THREE_LOOPS, INSIDE, UPDATE, "float *to = (float *)w; to[idx] = acc;")},
    {false, USUAL("bias[o]", THREE_LOOPS, INSIDE, UPDATE, STORE) LAUNCHER(
                2, 1, 1, FLAT_GRID,
                "y, w, b, y, (int)N, (int)C, (int)H, (int)W, (int)O, (int)Y, (int)X, (int)K, "
                "(int)K, (int)s, (int)p")},
    {false, USUAL("bias[o]", THREE_LOOPS, INSIDE, UPDATE, STORE) LAUNCHER(
                2, 1, 1, FLAT_GRID,
                "x, y + 64, b, y, (int)N, (int)C, (int)H, (int)W, (int)O, (int)Y, (int)X, (int)K, "
                "(int)K, (int)s, (int)p")},
    /* weights of the pixel, a channel of the output in the guard, groups */
    {false, REFUSED(THREE_LOOPS, INSIDE,
                    "acc += " TAP " * w[((o * C + c) * KH + ky) * KW + kx + ox];", STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE " if (o > ky)", UPDATE, STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE,
                    "acc += in[((n * C + o / 2 + c) * H + iy) * W + ix] * " WEIGHT ";", STORE)},
    /* bounds of the pixel and of another loop */
    {false, REFUSED("for (int c = 0; c < C; ++c) for (int ky = 0; ky < KH; ++ky) for (int kx = 0; "
                    "kx < KW - ox % 2; ++kx)",
                    INSIDE, UPDATE, STORE)},
    {false, REFUSED("for (int c = 0; c < C; ++c) for (int ky = 0; ky < KH; ++ky) for (int kx = 0; "
                    "kx <= ky; ++kx)",
                    INSIDE, UPDATE, STORE)},
    /* what is no sum of an element's part and the loops' part */
    {false, REFUSED(THREE_LOOPS, INSIDE " if (iy % 2 == 0)", UPDATE, STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE " if (bias[ky] > 0)", UPDATE, STORE)},
    {false, REFUSED(THREE_LOOPS, "unsigned long at = (unsigned)ix; " INSIDE,
                    "acc += in[((n * C + c) * H + iy) * W + at] * " WEIGHT ";", STORE)},
    {false, REFUSED(THREE_LOOPS, "unsigned at = ix; " INSIDE,
                    "acc += in[((n * C + c) * H + iy) * W + at] * " WEIGHT ";", STORE)},
    {false, REFUSED(THREE_LOOPS, "char at = ix; " INSIDE,
                    "acc += in[((n * C + c) * H + iy) * W + at] * " WEIGHT ";", STORE)},
    {true, REFUSED(THREE_LOOPS, "long at = ix; " INSIDE,
                   "acc += in[((n * C + c) * H + iy) * W + at] * " WEIGHT ";", STORE)},
    /* more than a sum */
    {false, REFUSED(THREE_LOOPS, INSIDE " if (acc < 5)", UPDATE, STORE)},
    {false,
     REFUSED(THREE_LOOPS, INSIDE, "{ acc += " TAP " * " WEIGHT "; out[idx] = acc; }", STORE)},
    {false, REFUSED(THREE_LOOPS, "if (ky > 3) break; " INSIDE, UPDATE, STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE, "acc += " TAP " * " TAP ";", STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE, "acc += (double)" TAP " * " WEIGHT ";", STORE)},
    {false, REFUSED(THREE_LOOPS, "", "acc += __expf(ix < W ? " TAP " : 0) * " WEIGHT ";", STORE)},
    {true, REFUSED(THREE_LOOPS, INSIDE, "acc += __expf(" TAP ") * " WEIGHT ";", STORE)},
    {false, REFUSED(THREE_LOOPS, INSIDE, UPDATE, "if (acc > 0) return; out[idx] = acc;")},
};

START_TEST(what_is_no_such_sum_has_no_place)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(places); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        bool has_place = rewritten(parser, places[i].source, pool) != NULL;
        ck_assert_msg(has_place == places[i].has_place, "row %zu:\n%s", i, places[i].source);
    }
}
END_TEST

/* Else the search would not try a tile. */
START_TEST(reuse_is_seen)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_features f = {.v = {{false, 0}}};
        struct hone_coder_input in;
        ck_assert_int_eq(
            hone_coder_read(parser, "cuda", source_of(&cases[i], pool), "conv", pool, &in, NULL),
            0);
        hone_features_of_cuda(&in, &f);
        ck_assert_msg(hone_feature_or(&f, HONE_F_REUSE, 0) > 0, "%s", cases[i].name);
    }
}
END_TEST

UNIT_MAIN("cuda_gather", reuse_is_seen, what_is_no_such_sum_has_no_place,
          convolutions_keep_the_answer)
