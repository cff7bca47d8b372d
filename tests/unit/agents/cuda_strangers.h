/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as they stand in textbooks and programs: macros, templates, counters declared outside,
 * tiles in shared memory, a border of zeros. */
#ifndef HONE_TESTS_CUDA_STRANGERS_H
#define HONE_TESTS_CUDA_STRANGERS_H

static const char hist_for_text[] =
    "#include <cuda_runtime.h>\n"
    "__global__ void kern(const unsigned char *data, unsigned int *bins, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int stride = gridDim.x * blockDim.x;\n"
    "    for (; i < n; i += stride) atomicAdd(&bins[data[i]], 1u);\n"
    "}\n"
    "extern \"C\" void hist_for(const unsigned char *data, unsigned int *bins, int n,\n"
    "                         cudaStream_t stream)\n"
    "{\n"
    "    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned int), stream);\n"
    "    kern<<<64, 256, 0, stream>>>(data, bins, n);\n"
    "}\n";

static const char hist_while_text[] =
    "#define BINS 256\n"
    "__global__ void kern(unsigned char *buffer, long size, unsigned int *histo)\n"
    "{\n"
    "    int i = threadIdx.x + blockIdx.x * blockDim.x, stride = blockDim.x * gridDim.x;\n"
    "    while (i < size) {\n"
    "        atomicAdd(histo + buffer[i], 1);\n"
    "        i += stride;\n"
    "    }\n"
    "}\n"
    "extern \"C\" void hist_while(unsigned char *buffer, unsigned int *histo, long size,\n"
    "                           cudaStream_t stream)\n"
    "{\n"
    "    cudaMemsetAsync(histo, 0, BINS * sizeof(int), stream);\n"
    "    kern<<<32, 256, 0, stream>>>(buffer, size, histo);\n"
    "}\n";

static const char hist_init_text[] =
    "#define TID (blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define SCALE(v, n) ((v) * (n) / 256)\n"
    "__global__ void kern(const unsigned char *img, unsigned *h, int n, int nb)\n"
    "{\n"
    "    int i;\n"
    "    for (i = TID; i < n; i += blockDim.x * gridDim.x) {\n"
    "        const int b = SCALE(img[i], nb);\n"
    "        atomicAdd(&h[b], 1u);\n"
    "    }\n"
    "}\n"
    "extern \"C\" void hist_init(const unsigned char *img, unsigned *h, int n, int nb,\n"
    "                          cudaStream_t stream)\n"
    "{\n"
    "    cudaMemsetAsync(h, 0, nb * sizeof(unsigned), stream);\n"
    "    kern<<<16, 128, 0, stream>>>(img, h, n, nb);\n"
    "}\n";

/* alpha and beta behind the sum, the size of a block in a macro */
static const char scaled_text[] =
    "#define TILE 16\n"
    "__global__ void kern(int M, int N, int K, float alpha, const float *A, const float *B,\n"
    "                     float beta, const float *D, float *C)\n"
    "{\n"
    "    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;\n"
    "    int k;\n"
    "    if (row >= M || col >= N) return;\n"
    "    float acc = 0.0f;\n"
    "    for (k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];\n"
    "    C[row * N + col] = alpha * acc + beta * D[col];\n"
    "}\n"
    "extern \"C\" void scaled(const float *A, const float *B, float *C, int M, int N, int K,\n"
    "                       float beta, float alpha, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);\n"
    "    kern<<<grid, block, 0, stream>>>(M, N, K, alpha, A, B, beta, B, C);\n"
    "}\n";

static const char tiled_text[] =
    "template <int TILE>\n"
    "__global__ void kern(int M, int N, int K, float alpha, const float *A, const float *B,\n"
    "                     float beta, const float *D, float *C)\n"
    "{\n"
    "    __shared__ float As[TILE][TILE];\n"
    "    __shared__ float Bs[TILE][TILE];\n"
    "    int row = blockIdx.y * TILE + threadIdx.y;\n"
    "    int col = blockIdx.x * TILE + threadIdx.x;\n"
    "    float acc = 0.0f;\n"
    "    for (int t = 0; t < (K + TILE - 1) / TILE; t++) {\n"
    "        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;\n"
    "        As[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[row * K + ka] : 0.0f;\n"
    "        Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb * N + col] : 0.0f;\n"
    "        __syncthreads();\n"
    "        for (int k = 0; k < TILE; k++) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (row < M && col < N) C[row * N + col] = alpha * acc + beta * D[col];\n"
    "}\n"
    "extern \"C\" void tiled(const float *A, const float *B, float *C, int M, int N, int K,\n"
    "                      float beta, float alpha, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);\n"
    "    kern<16><<<grid, block, 0, stream>>>(M, N, K, alpha, A, B, beta, B, C);\n"
    "}\n";

/* Places of threads in locals, if and else, a macro with arguments */
static const char tiled_if_text[] =
    "#define TW 8\n"
    "#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))\n"
    "__global__ void kern(float *M, float *N, float *P, int W)\n"
    "{\n"
    "    __shared__ float Mds[TW][TW];\n"
    "    __shared__ float Nds[TW][TW];\n"
    "    int bx = blockIdx.x, by = blockIdx.y;\n"
    "    int tx = threadIdx.x, ty = threadIdx.y;\n"
    "    int Row = by * TW + ty;\n"
    "    int Col = bx * TW + tx;\n"
    "    float Pvalue = 0;\n"
    "    for (int ph = 0; ph < CEIL_DIV(W, TW); ++ph) {\n"
    "        if ((Row < W) && (ph * TW + tx) < W)\n"
    "            Mds[ty][tx] = M[Row * W + ph * TW + tx];\n"
    "        else\n"
    "            Mds[ty][tx] = 0.0f;\n"
    "        if ((ph * TW + ty) < W && Col < W)\n"
    "            Nds[ty][tx] = N[(ph * TW + ty) * W + Col];\n"
    "        else\n"
    "            Nds[ty][tx] = 0.0f;\n"
    "        __syncthreads();\n"
    "        for (int k = 0; k < TW; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if ((Row < W) && (Col < W)) P[Row * W + Col] = Pvalue;\n"
    "}\n"
    "extern \"C\" void tiled_if(float *M, float *N, float *P, int W, cudaStream_t s)\n"
    "{\n"
    "    dim3 b(TW, TW), g(CEIL_DIV(W, TW), CEIL_DIV(W, TW));\n"
    "    kern<<<g, b, 0, s>>>(M, N, P, W);\n"
    "}\n";

/* The second factor is stored across, the arrays are flat, the turns go by elements. */
static const char tiled_nt_text[] =
    "#include <stdint.h>\n"
    "constexpr int BS = 16;\n"
    "__global__ void kern(const float *__restrict__ a, const float *__restrict__ b, float *c,\n"
    "                     int64_t m, int64_t n, int64_t k)\n"
    "{\n"
    "    __shared__ float sa[BS * BS], sb[BS * (BS + 1)];\n"
    "    const int tx = threadIdx.x;\n"
    "    const int ty = threadIdx.y;\n"
    "    const int64_t i = (int64_t)blockIdx.y * BS + ty, j = (int64_t)blockIdx.x * BS + tx;\n"
    "    const int64_t jb = (int64_t)blockIdx.x * BS + ty;\n"
    "    float s = 0.f;\n"
    "    for (int64_t k0 = 0; k0 < k; k0 += BS) {\n"
    "        sa[ty * BS + tx] = i < m && k0 + tx < k ? a[i * k + k0 + tx] : 0.f;\n"
    "        sb[ty * (BS + 1) + tx] = jb < n && k0 + tx < k ? b[jb * k + k0 + tx] : 0.f;\n"
    "        __syncthreads();\n"
    "#pragma unroll\n"
    "        for (int p = 0; p < BS; p++)\n"
    "            s += sa[ty * BS + p] * sb[tx * (BS + 1) + p];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (i < m && j < n)\n"
    "        c[i * n + j] = s;\n"
    "}\n"
    "extern \"C\" void tiled_nt(const float *a, const float *b, float *c, int64_t m, int64_t n,\n"
    "                         int64_t k, cudaStream_t st)\n"
    "{\n"
    "    dim3 threads(BS, BS);\n"
    "    dim3 blocks((unsigned)((n + BS - 1) / BS), (unsigned)((m + BS - 1) / BS));\n"
    "    kern<<<blocks, threads, 0, st>>>(a, b, c, m, n, k);\n"
    "}\n";

#define WINDOW_LAUNCH(name)                                                                        \
    "extern \"C\" void " name "(const float *img, const float *filt, float *out, int W, int H,\n"  \
    "                         int R, cudaStream_t stream)\n"                                       \
    "{\n"                                                                                          \
    "    dim3 block(16, 16), grid((W + 15) / 16, (H + 15) / 16);\n"

/* A border of zeros by an if, the radius in a macro */
static const char window_if_text[] =
    "#define RADIUS 2\n"
    "#define KSIZE (2 * RADIUS + 1)\n"
    "__global__ void kern(const float *img, const float *filt, float *out, int W, int H)\n"
    "{\n"
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (x >= W || y >= H) return;\n"
    "    float acc = 0.0f;\n"
    "    for (int dy = -RADIUS; dy <= RADIUS; dy++)\n"
    "        for (int dx = -RADIUS; dx <= RADIUS; dx++) {\n"
    "            int sx = x + dx, sy = y + dy;\n"
    "            if (sx >= 0 && sx < W && sy >= 0 && sy < H)\n"
    "                acc += img[sy * W + sx] * filt[(dy + RADIUS) * KSIZE + dx + RADIUS];\n"
    "        }\n"
    "    out[y * W + x] = acc;\n"
    "}\n" WINDOW_LAUNCH("window_if") "    kern<<<grid, block, 0, stream>>>(img, filt, out, W, H);\n"
                                     "}\n";

/* The radius is an argument, rows out of range are passed over, a value of its own */
static const char window_radius_text[] =
    "__global__ void kern(const float *in, const float *w, float *res, int width, int height,\n"
    "                     int r)\n"
    "{\n"
    "    int tx = threadIdx.x, ty = threadIdx.y;\n"
    "    int col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;\n"
    "    int i, j;\n"
    "    if (row < height && col < width) {\n"
    "        float sum = 0;\n"
    "        for (i = 0; i < 2 * r + 1; i++) {\n"
    "            int y = row - r + i;\n"
    "            if (y < 0 || y >= height) continue;\n"
    "            for (j = 0; j < 2 * r + 1; j++) {\n"
    "                int x = col - r + j;\n"
    "                if (x < 0 || x >= width) continue;\n"
    "                sum += w[i * (2 * r + 1) + j] * in[y * width + x];\n"
    "            }\n"
    "        }\n"
    "        res[row * width + col] = sum + w[0];\n"
    "    }\n"
    "}\n" WINDOW_LAUNCH(
        "window_radius") "    kern<<<grid, block, 0, stream>>>(img, filt, out, W, H, R);\n"
                         "}\n";

/* Channels and planes, a choice of zero, no border at the far side */
static const char window_planes_text[] =
    "#define K 3\n"
    "__global__ void kern(const float *__restrict__ x, const float *__restrict__ w, float *y,\n"
    "                     int C, int P, int H, int W)\n"
    "{\n"
    "    const int ow = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const int oh = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    const int o = blockIdx.z * blockDim.z + threadIdx.z;\n"
    "    if (o >= P || oh >= H || ow >= W) return;\n"
    "    float acc = 0.f;\n"
    "    for (int c = 0; c < C; ++c)\n"
    "        for (int kh = 0; kh < K; ++kh)\n"
    "            for (int kw = 0; kw < K; ++kw) {\n"
    "                const int ih = oh + kh - 1;\n"
    "                const int iw = ow + kw - 1;\n"
    "                const float v = ih >= 0 && ih < H && iw >= 0 && iw < W\n"
    "                                    ? x[(c * H + ih) * W + iw] : 0.f;\n"
    "                acc += v * w[((o * C + c) * K + kh) * K + kw];\n"
    "            }\n"
    "    y[(o * H + oh) * W + ow] = acc;\n"
    "}\n"
    "extern \"C\" void window_planes(const float *x, const float *w, float *y, int C, int P, int "
    "H,\n"
    "                              int W, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(16, 8, 1), grid((W + 15) / 16, (H + 7) / 8, P);\n"
    "    kern<<<grid, block, 0, stream>>>(x, w, y, C, P, H, W);\n"
    "}\n";

#undef WINDOW_LAUNCH
/* Signed bytes, both along k, summed in int */
static const char nt_bytes_text[] =
    "#include <stdint.h>\n"
    "__global__ void kern(const int8_t *A, const int8_t *B, int *C, int M, int N, int K)\n"
    "{\n"
    "    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + "
    "threadIdx.y;\n"
    "    if (m >= M || n >= N) return;\n"
    "    int sum = 0;\n"
    "    for (int k = 0; k < K; k++) sum += (int)A[m * K + k] * (int)B[n * K + k];\n"
    "    C[m * N + n] = sum;\n"
    "}\n"
    "extern \"C\" void nt_bytes(const int8_t *A, const int8_t *B, int *C, int M, int N, int K,\n"
    "                         cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);\n"
    "    kern<<<grid, block, 0, stream>>>(A, B, C, M, N, K);\n"
    "}\n";

/* Attention with a head and a batch of its own for a block; heads share keys. */
static const char attention_groups_text[] =
    "#define D 16\n"
    "__global__ void kern(const float *Q, const float *K, const float *V, float *O, int B, int H,\n"
    "                     int G, int T)\n"
    "{\n"
    "    int t = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y, b = blockIdx.z;\n"
    "    if (t >= T) return;\n"
    "    int g = h / (H / G);\n"
    "    const float *q = Q + ((size_t)(b * H + h) * T + t) * D;\n"
    "    const float *k = K + (size_t)(b * G + g) * T * D;\n"
    "    const float *v = V + (size_t)(b * G + g) * T * D;\n"
    "    float acc[D], top = -1e30f, sum = 0.0f, scale = rsqrtf((float)D);\n"
    "    for (int d = 0; d < D; d++) acc[d] = 0.0f;\n"
    "    for (int j = 0; j <= t; j++) {\n"
    "        float s = 0.0f;\n"
    "        for (int d = 0; d < D; d++) s += q[d] * k[(size_t)j * D + d];\n"
    "        top = fmaxf(top, s * scale);\n"
    "    }\n"
    "    for (int j = 0; j <= t; j++) {\n"
    "        float s = 0.0f;\n"
    "        for (int d = 0; d < D; d++) s += q[d] * k[(size_t)j * D + d];\n"
    "        float p = expf(s * scale - top);\n"
    "        sum += p;\n"
    "        for (int d = 0; d < D; d++) acc[d] += p * v[(size_t)j * D + d];\n"
    "    }\n"
    "    for (int d = 0; d < D; d++)\n"
    "        O[((size_t)(b * H + h) * T + t) * D + d] = acc[d] / sum;\n"
    "}\n"
    "extern \"C\" void attention_groups(const float *Q, const float *K, const float *V, float *O,\n"
    "                                 int B, int H, int G, int T, cudaStream_t stream)\n"
    "{\n"
    "    kern<<<dim3((T + 31) / 32, H, B), 32, 0, stream>>>(Q, K, V, O, B, H, G, T);\n"
    "}\n";

/* All keys for each row, heads beside each other in a position */
static const char attention_heads_text[] =
    "__global__ void kern(const float *Q, const float *K, const float *V, float *O, int H, int T,\n"
    "                     int S, int D)\n"
    "{\n"
    "    int h = blockIdx.y, row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row < T) {\n"
    "        float acc[32];\n"
    "        float top = -INFINITY, sum = 0.0f;\n"
    "        for (int d = 0; d < D; d++) acc[d] = 0.0f;\n"
    "        for (int j = 0; j < S; j++) {\n"
    "            float s = 0.0f;\n"
    "            for (int d = 0; d < D; d++)\n"
    "                s += Q[(row * H + h) * D + d] * K[(j * H + h) * D + d];\n"
    "            top = fmaxf(top, s);\n"
    "        }\n"
    "        for (int j = 0; j < S; j++) {\n"
    "            float s = 0.0f;\n"
    "            for (int d = 0; d < D; d++)\n"
    "                s += Q[(row * H + h) * D + d] * K[(j * H + h) * D + d];\n"
    "            float p = __expf(s - top);\n"
    "            sum += p;\n"
    "            for (int d = 0; d < D; d++) acc[d] += p * V[(j * H + h) * D + d];\n"
    "        }\n"
    "        for (int d = 0; d < D; d++) O[(row * H + h) * D + d] = acc[d] / sum;\n"
    "    }\n"
    "}\n"
    "extern \"C\" void attention_heads(const float *Q, const float *K, const float *V, float *O,\n"
    "                                int H, int T, int S, int D, cudaStream_t stream)\n"
    "{\n"
    "    kern<<<dim3((T + 63) / 64, H), 64, 0, stream>>>(Q, K, V, O, H, T, S, D);\n"
    "}\n";

/* The greatest four of a row in order, and a state that goes on from element to element */
static const char greatest_text[] =
    "#define TOP 4\n"
    "__global__ void kern(const float *x, float *y, int rows, int cols)\n"
    "{\n"
    "    int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (r >= rows) return;\n"
    "    float best[TOP];\n"
    "    for (int i = 0; i < TOP; i++) best[i] = -3.4e38f;\n"
    "    for (int c = 0; c < cols; c++) {\n"
    "        float v = x[(size_t)r * cols + c];\n"
    "        if (v <= best[TOP - 1]) continue;\n"
    "        int p = TOP - 1;\n"
    "        while (p > 0 && best[p - 1] < v) {\n"
    "            best[p] = best[p - 1];\n"
    "            p--;\n"
    "        }\n"
    "        best[p] = v;\n"
    "    }\n"
    "    for (int i = 0; i < TOP; i++) y[(size_t)r * TOP + i] = best[i];\n"
    "}\n"
    "extern \"C\" void greatest(const float *x, float *y, int rows, int cols, cudaStream_t s)\n"
    "{\n"
    "    kern<<<(rows + 127) / 128, 128, 0, s>>>(x, y, rows, cols);\n"
    "}\n";

static const char state_text[] =
    "#include <cuda_bf16.h>\n"
    "__global__ void kern(const float *x, const __nv_bfloat16 *w, float *y, long rows, long cols)\n"
    "{\n"
    "    long r = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (r < rows) {\n"
    "        const float *row = x + r * cols;\n"
    "        float state = row[0];\n"
    "        for (long c = 1; c < cols; c++) {\n"
    "            float gate = 1.0f / (1.0f + expf(-__bfloat162float(w[r * cols + c])));\n"
    "            state = gate * state + (1.0f - gate) * row[c] + 0.0f * row[c - 1];\n"
    "        }\n"
    "        y[r] = state;\n"
    "    }\n"
    "}\n"
    "extern \"C\" void state(const float *x, const __nv_bfloat16 *w, float *y, long rows,\n"
    "                      long cols, cudaStream_t s)\n"
    "{\n"
    "    kern<<<(unsigned)((rows + 63) / 64), 64, 0, s>>>(x, w, y, rows, cols);\n"
    "}\n";

/* A row's end, and elements that are not read in each turn, are as they are. */
static const char *const walks_refused[] = {
    /* leaves the row */
    "        if (x[r * n + c] < s) break;\n        s = 0.5f * s + 1.0f;\n",
    /* reads under a condition */
    "        if (s > 0.0f) s = 0.5f * s + x[r * n + c];\n",
    /* reads behind a jump */
    "        if (s > 9.0f) continue;\n        s = 0.5f * s + x[r * n + c];\n",
    /* stores on the way */
    "        s = 0.5f * s + x[r * n + c];\n        y[r * n + c] = s;\n",
    /* a sum is dealt out */
    "        s += x[r * n + c];\n",
};

#endif
