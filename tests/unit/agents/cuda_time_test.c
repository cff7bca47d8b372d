/* SPDX-License-Identifier: Apache-2.0 */
/* Several steps of a stencil in one launch, on the emulated device: the same bits as one by one, in
 * the array that the caller reads and in the other one where the caller may see it. */
#include "tests/unit/agents/cuda_rig.h"

#include "agents/rewrites/cuda/cuda_time_tile.h"

enum { MAX_POINTS = 1 << 15 };

typedef void launcher(const float *, float *, float *, int, int, int, void *);

static float first_data[MAX_POINTS], u_data[MAX_POINTS], v_data[MAX_POINTS];

#define STEP                                                                                       \
    "__global__ void step(const float *from, float *to, int H, int W)\n{\n"                        \
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
#define CROSS "0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - W] + from[i + W])"
#define LAUNCH(body)                                                                               \
    "extern \"C\" void steps(const float *U0, float *U, float *V, int H, int W, int T,\n"          \
    "                        cudaStream_t stream)\n{\n"                                            \
    "    dim3 block(32, 8), grid((W + 31) / 32, (H + 7) / 8);\n" body "}\n"
#define START "step<<<grid, block, 0, stream>>>"

/* every point is stored; a third buffer at first, the last step writes U */
#define TO_U                                                                                       \
    LAUNCH("    const float *from = U0;\n    for (int t = 0; t < T; t++) {\n"                      \
           "        float *to = (T - t) % 2 == 1 ? U : V;\n        " START "(from, to, H, W);\n"   \
           "        from = to;\n    }\n")
#define SWAPPED                                                                                    \
    LAUNCH("    float *a = U, *b = V;\n    for (int t = 0; t < T; t++) {\n        " START          \
           "(a, b, H, W);\n        float *c = a;\n        a = b;\n        b = c;\n    }\n")
#define BY_PARITY                                                                                  \
    LAUNCH("    for (int t = 1; t <= T; t++)\n        " START                                      \
           "(t & 1 ? U : V, t & 1 ? V : U, H, W);\n")
#define BRANCHED                                                                                   \
    LAUNCH("    for (int t = 0; t < T; t++) {\n        if (t % 2 == 0)\n            " START        \
           "(U, V, H, W);\n        else\n            " START "(V, U, H, W);\n    }\n")
#define FROM_LIST                                                                                  \
    LAUNCH("    float *both[2] = {U, V};\n    int now = 0;\n    for (int t = 0; t < T; t++) {\n"   \
           "        " START "(both[now], both[1 - now], H, W);\n        now = 1 - now;\n    }\n")
/* what the loop leaves in memory of its own is copied */
#define SCRATCH                                                                                    \
    LAUNCH("    float *a = U, *b;\n    cudaMallocAsync((void **)&b, (size_t)H * W * 4, stream);\n" \
           "    cudaMemcpyAsync(b, U, (size_t)H * W * 4, cudaMemcpyDeviceToDevice, stream);\n"     \
           "    float *own = b;\n    for (int t = 0; t < T; t++) {\n        " START                \
           "(a, b, H, W);\n        float *c = a;\n        a = b;\n        b = c;\n    }\n"         \
           "    if (a != U)\n"                                                                     \
           "        cudaMemcpyAsync(U, a, (size_t)H * W * 4, cudaMemcpyDeviceToDevice, stream);\n" \
           "    cudaFreeAsync(own, stream);\n")

#define COPIED                                                                                     \
    STEP "    if (y >= H || x >= W)\n        return;\n    int i = y * W + x;\n"                    \
         "    if (y == 0 || x == 0 || y == H - 1 || x == W - 1)\n        to[i] = from[i];\n"       \
         "    else\n        to[i] = " CROSS ";\n}\n"
/* points at the border are left alone; the two buffers have other values there */
#define KEPT                                                                                       \
    STEP "    if (x > 0 && x < W - 1 && y >= 1 && y < H - 1) {\n        int i = y * W + x;\n"      \
         "        to[i] = " CROSS ";\n    }\n}\n"
#define RETURNED                                                                                   \
    STEP "    int i = y * W + x;\n    if (x >= W || y >= H)\n        return;\n"                    \
         "    if (x == 0 || x == W - 1 || y == 0 || y == H - 1)\n        return;\n"                \
         "    to[i] = " CROSS ";\n}\n"
#define SHIFTED                                                                                    \
    "__global__ void step(const float *from, float *to, int H, int W)\n{\n"                        \
    "    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;\n"                                     \
    "    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;\n"                                     \
    "    if (x < W - 1 && y < H - 1)\n        to[y * W + x] = 0.25f * (from[y * W + x - 1] +\n"    \
    "            from[y * W + x + 1] + from[(y - 1) * W + x] + from[(y + 1) * W + x]);\n}\n"
/* some points inside are left alone too */
#define HOLES                                                                                      \
    STEP "    if (x >= W || y >= H)\n        return;\n    int i = y * W + x;\n"                    \
         "    if (x > 0 && x < W - 1 && y > 0 && y < H - 1) {\n"                                   \
         "        if ((x + 3 * y) % 7 != 0)\n            to[i] = " CROSS ";\n    }\n}\n"
/* nine points, zero outside, a value that decides what is stored */
#define NINE                                                                                       \
    STEP "    if (x >= W || y >= H)\n        return;\n    const float *row = from + y * W;\n"      \
         "    float w = x > 0 ? row[x - 1] : 0.0f, e = x + 1 < W ? row[x + 1] : 0.0f;\n"           \
         "    float n = y > 0 ? from[(y - 1) * W + x] : 0.0f;\n"                                   \
         "    float s = y + 1 < H ? from[(y + 1) * W + x] : 0.0f;\n"                               \
         "    float c = y > 0 && x > 0 ? from[(y - 1) * W + x - 1] : 1.0f;\n"                      \
         "    c += y + 1 < H && x + 1 < W ? from[(y + 1) * W + x + 1] : 1.0f;\n"                   \
         "    float sum = 0.15f * (w + e + n + s) + 0.125f * c + 0.1f * row[x];\n"                 \
         "    if (sum > 0.5f)\n        to[y * W + x] = sum - 0.25f;\n    else\n"                   \
         "        to[y * W + x] = sum;\n}\n"
/* two points away */
#define WIDE                                                                                       \
    STEP "    int i = y * W + x;\n    if (x < 2 || x >= W - 2 || y < 2 || y >= H - 2)\n"           \
         "        return;\n    to[i] = 0.5f * from[i] + 0.1f * (from[i - 2] + from[i + 2]) +\n"    \
         "            0.15f * (from[i - 2 * W] + from[i + 2 * W]);\n}\n"
/* the nearest point inside in place of one outside; an array that no step changes */
#define HELD                                                                                       \
    "__global__ void step(const float *from, const float *more, float *to, int H, int W)\n{\n"     \
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"                                         \
    "    if (x >= W || y >= H)\n        return;\n"                                                 \
    "    int l = max(x - 1, 0), e = x == W - 1 ? x : x + 1, n = y > 0 ? y - 1 : 0;\n"              \
    "    int s = min(y + 2, H - 1);\n"                                                             \
    "    to[y * W + x] = 0.2f * (from[y * W + l] + from[y * W + e] + from[n * W + x] +\n"          \
    "            from[s * W + x] + from[n * W + e]) + 0.1f * more[y * W + x];\n}\n" LAUNCH(        \
        "    for (int t = 0; t < T; t++) {\n        float *a = t % 2 ? V : U;\n        " START     \
        "(a, U0, t % 2 ? U : V, H, W);\n    }\n")
/* other spellings of a kernel */
#define MACRO                                                                                      \
    "#define AT(r, c) ((r) * W + (c))\n" STEP                                                      \
    "    if (y > 0 && y < H - 1 && x > 0 && x < W - 1)\n        to[AT(y, x)] = 0.25f *\n"          \
    "            (__ldg(&from[AT(y - 1, x)]) + from[AT(y + 1, x)] + from[AT(y, x - 1)] +\n"        \
    "             from[AT(y, x + 1)]);\n}\n"
#define FLAT                                                                                       \
    "__global__ void step(const float *from, float *to, int H, int W)\n{\n"                        \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= H * W)\n        return;\n"   \
    "    int x = i % W, y = i / W;\n"                                                              \
    "    if (x == 0 || x == W - 1 || y == 0 || y == H - 1)\n        to[i] = from[i];\n"            \
    "    else\n        to[i] = " CROSS ";\n}\n"
#define STRIDED                                                                                    \
    "__global__ void step(const float *from, float *to, int H, int W)\n{\n    int n = H * W;\n"    \
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "             \
    "blockDim.x)\n"                                                                                \
    "        if (i > 0 && i < n - 1)\n            to[i] = 0.5f * from[i] + 0.25f * (from[i - 1] "  \
    "+\n"                                                                                          \
    "                    from[i + 1]);\n        else\n            to[i] = from[i];\n}\n"
/* one axis, H rows of W as one */
#define LINE                                                                                       \
    "__global__ void step(const float *from, float *to, int H, int W)\n{\n"                        \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    int n = H * W;\n"                     \
    "    if (i > 0 && i < n - 1)\n"                                                                \
    "        to[i] = 0.33333f * (from[i - 1] + from[i] + from[i + 1]);\n}\n"
#define LINE_LAUNCH                                                                                \
    "extern \"C\" void steps(const float *U0, float *U, float *V, int H, int W, int T,\n"          \
    "                        cudaStream_t stream)\n{\n"                                            \
    "    for (int t = 0; t < T; t++)\n"                                                            \
    "        step<<<(H * W + 127) / 128, 128, 0, stream>>>(t % 2 ? V : U, t % 2 ? U : V, H, W);\n" \
    "}\n"

static const struct time_case {
    const char *name, *source;
} cases[] = {
    {"third buffer", COPIED TO_U},
    {"swapped", COPIED SWAPPED},
    {"by parity", COPIED BY_PARITY},
    {"branched", COPIED BRANCHED},
    {"from a list", COPIED FROM_LIST},
    {"scratch", KEPT SCRATCH},
    {"kept", KEPT SWAPPED},
    {"returned", RETURNED SWAPPED},
    {"shifted", SHIFTED BY_PARITY},
    {"holes", HOLES SWAPPED},
    {"nine points", NINE TO_U},
    {"wide", WIDE SWAPPED},
    {"line", LINE LINE_LAUNCH},
    {"held", HELD},
    {"macro", MACRO SWAPPED},
    {"flat", FLAT LINE_LAUNCH},
    {"strided", STRIDED LINE_LAUNCH},
};

static const char *const tunables[] = {"", "STEPS=3 TILE_X=32 LINES=4 ROWS=4",
                                       "STEPS=1 TILE_X=32 LINES=2 ROWS=8"};

/* NULL: no site. */
static const char *applied(const char *source, struct hone_pool *pool, struct hone_err *err)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = open_parser();
    const struct hone_rewrite *rewrite = hone_rewrite_find("cuda_time_tile");
    struct hone_coder_input in;
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    const char *out = NULL;
    ck_assert_msg(hone_coder_read(parser, "cuda", source, "steps", pool, &in, err) == 0, "%s",
                  err->message);
    if (hone_coder_sites(rewrite, &in, sites) == 0) {
        struct hone_coder_site site = {.node = hone_cuda_main_kernel(&in)};
        ck_assert_ptr_null(rewrite->apply(&in, &site, err));
        return NULL;
    }
    ck_assert_msg(hone_coder_apply(parser, rewrite, &in, &sites[0], &out, err) == 0, "%s",
                  err->message);
    return out;
}

static void call(void *address, int h, int w, int t)
{
    launcher *f;
    memcpy(&f, &address, sizeof(f));
    for (int i = 0; i < MAX_POINTS; i++) {
        first_data[i] = (float)(((unsigned)i * 7919u) % 2003) / 500.0f - 2.0f;
        u_data[i] = (float)(((unsigned)i * 104729u) % 1009) / 500.0f - 1.0f;
        v_data[i] = (float)(((unsigned)i * 1299709u) % 997) / 500.0f - 1.0f;
    }
    f(first_data, u_data, v_data, h, w, t, NULL);
}

static void compare(void *want_at, void *got_at, bool has_v, const char *source, const char *what)
{
    static const int sizes[][3] = {{5, 7, 4},   {70, 130, 11}, {131, 61, 5}, {64, 64, 1},
                                   {33, 90, 0}, {90, 33, 12},  {3, 200, 8},  {200, 3, 7}};
    static float want_u[MAX_POINTS], want_v[MAX_POINTS];
    for (size_t i = 0; i < HONE_COUNTOF(sizes); i++) {
        call(want_at, sizes[i][0], sizes[i][1], sizes[i][2]);
        memcpy(want_u, u_data, sizeof(want_u));
        memcpy(want_v, v_data, sizeof(want_v));
        call(got_at, sizes[i][0], sizes[i][1], sizes[i][2]);
        for (int j = 0; j < MAX_POINTS; j++) {
            bool is_same = memcmp(&want_u[j], &u_data[j], sizeof(*want_u)) == 0 &&
                           (!has_v || memcmp(&want_v[j], &v_data[j], sizeof(*want_v)) == 0);
            if (!is_same) {
                fprintf(stderr, "%s\n", source);
                ck_abort_msg("%s, size %zu: [%d] = %g, %g, expected %g, %g", what, i, j,
                             (double)u_data[j], (double)v_data[j], (double)want_u[j],
                             (double)want_v[j]);
            }
        }
    }
}

START_TEST(steps_in_one_launch_give_the_same_bits)
{
    for (size_t c = 0; c < HONE_COUNTOF(cases); c++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        void *original = build(cases[c].source, "steps", "", pool);
        const char *source = applied(cases[c].source, pool, &err);
        ck_assert_msg(source != NULL, "%s: %s", cases[c].name, err.message);
        for (size_t t = 0; t < HONE_COUNTOF(tunables); t++)
            compare(original, build(source, "steps", tunables[t], pool), true, source,
                    hone_pool_printf(pool, "%s, %s", cases[c].name, tunables[t]));
        if (has_nvcc())
            compile_for_device(source, "", pool);
    }
}
END_TEST

#define REFUSED(cond, store, loop)                                                                 \
    "__global__ void other(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1; }\n"       \
    "__global__ void step(float *from, float *to, int H, int W, float s)\n{\n"                     \
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"                                         \
    "    if (x >= W || y >= H)\n        return;\n    int i = y * W + x;\n"                         \
    "    if (" cond ") {\n" store "\n    }\n}\n" LAUNCH("    float *a = U, *b = V;\n" loop)
#define INSIDE     "x > 0 && x < W - 1 && y > 0 && y < H - 1"
#define STORE      "to[i] = from[i - 1] + from[i + 1];"
#define SWAP       "float *c = a; a = b; b = c; }\n"
#define LOOP(more) "for (int t = 0; t < T; t++) { " START "(a, b, H, W, 1.0f); " more SWAP

START_TEST(what_is_no_chain_of_steps_is_refused)
{
    static const struct {
        const char *source, *why;
    } rows[] = {
        {REFUSED(INSIDE, STORE, LOOP("")), NULL},
        {REFUSED(INSIDE, "from[i] = from[i - 1];", LOOP("")), "reads what it writes"},
        {REFUSED(INSIDE, "to[i] += from[i - 1];", LOOP("")), "reads what it writes"},
        {REFUSED(INSIDE, "for (int k = 0; k < 2; k++) to[i] = from[i - k];", LOOP("")),
         "a loop stands inside the step"},
        {REFUSED("from[i] > 0", STORE, LOOP("")), "decides whether a point is stored"},
        {REFUSED(INSIDE, STORE " from[i] = 0;", LOOP("")), "two arrays"},
        {REFUSED(INSIDE, "to[i] = from[i / 2];", LOOP("")), "no fixed distance"},
        {REFUSED(INSIDE, STORE, LOOP("other<<<1, 32, 0, stream>>>(b, W); ")),
         "something else happens in the loop"},
        {REFUSED("x < W", "int l = x == 0 ? W - 1 : x - 1; to[i] = from[y * W + l];", LOOP("")),
         "no fixed distance"},
        {REFUSED(INSIDE, "to[i] = from[i - 1] + *(from + i + 1);", LOOP("")), NULL},
        {REFUSED(INSIDE, "to[i] = from[i - 1] + (from > to);", LOOP("")),
         "in a way that could not be read"},
        {REFUSED(INSIDE, "to[i] = from[i - 1] + from[0];", LOOP("")), "no fixed distance"},
        {REFUSED(INSIDE, "to[i] = from[i - 1] + __ldg(from + i);", LOOP("")),
         "hands an array to a function"},
        {REFUSED(INSIDE, STORE,
                 LOOP("cudaMemcpyAsync(a, b, (size_t)H * W * 4, cudaMemcpyDeviceToDevice, "
                      "stream); ")),
         "something else happens in the loop"},
        {REFUSED(INSIDE, STORE, "for (int t = 0; t < T; t++) { " START "(a, b, H, W, t); " SWAP),
         "the number of the step is an argument"},
        {REFUSED(INSIDE, STORE,
                 "for (int t = 0; t < T; t++) { float s = 1.0f / (t + 1);" START
                 "(a, b, H, W, s); " SWAP),
         "another argument of the step changes"},
        {REFUSED(INSIDE, STORE, START "(a, b, H, W, 1.0f);\n"), "outside of a loop over steps"},
        {REFUSED(INSIDE, STORE, START "(a, b, H, W, 1.0f);\n" LOOP("")),
         "outside of a loop over steps"},
        {REFUSED(INSIDE, STORE, "for (int t = 0; t < T; t++) " START "(a, b, H, W, 1.0f);\n"),
         "does not read what the step before it wrote"},
        {REFUSED(INSIDE, STORE,
                 "float *d = (float *)U0; for (int t = 0; t < T; t++) { " START
                 "(a, b, H, W, 1.0f); float *c = a; a = b; b = d; d = c; }\n"),
         "more than two buffers"},
        {REFUSED(
             INSIDE, STORE,
             "const float *f = U0; for (int t = 0; t < T; t++) { float *to = t % 2 ? U : V; " START
             "((float *)f, to, H, W, 1.0f); f = to; }\n"),
         "a third buffer"},
        {REFUSED(INSIDE, STORE,
                 "for (int t = 0; t < T; t++) { " START
                 "(a, b, H, W, 1.0f); if (t < 4) { float *c = a; a = b; b = c; } }\n"),
         "does not read what the step before it wrote"},
        {REFUSED(INSIDE, STORE,
                 "for (int t = 0; t < T; t++) { " START
                 "(a, b, H, W, 1.0f); if (t % 16 == 15) cudaMemsetAsync(b, 0, 4, stream); " SWAP),
         "more than the parity"},
        {REFUSED(INSIDE, STORE,
                 "for (int t = 0; t < T; t++) { if (t != 12) " START "(a, b, H, W, 1.0f); " SWAP),
         "more than the parity"},
        {"__global__ void step(const float *from, const float *more, float *to, int H, int W)\n{\n"
         "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n    int i = y * W + x;\n"
         "    if (x > 0 && x < W - 1 && y > 0 && y < H - 1)\n"
         "        to[i] = from[i - 1] + more[i];\n}\n" LAUNCH(
             "    float *a = U, *b = V;\n    const float *same = U;\n"
             "    for (int t = 0; t < T; t++) {\n        " START "(a, same, b, H, W);\n"
             "        float *c = a;\n        a = b;\n        b = c;\n    }\n"),
         "a buffer twice"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        const char *source = applied(rows[i].source, pool, &err);
        if (rows[i].why)
            ck_assert_msg(source == NULL && strstr(err.message, rows[i].why), "row %zu: %s", i,
                          source ? source : err.message);
        else
            ck_assert_msg(source != NULL, "row %zu: %s", i, err.message);
    }
}
END_TEST

UNIT_MAIN("cuda_time", what_is_no_chain_of_steps_is_refused, steps_in_one_launch_give_the_same_bits)
