/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a batch of matrices, as the importer and as strangers write them: where the batch's
 * index comes from, how many there are, which operand has none. */
#ifndef HONE_TESTS_CUDA_BATCHED_H
#define HONE_TESTS_CUDA_BATCHED_H

#define BATCHED_HEAD                                                                               \
    "#include <stdint.h>\n#include <cuda_bf16.h>\n"                                                \
    "#define PLACE(d) ((int64_t)blockIdx.d * blockDim.d + threadIdx.d)\n"
#define BATCHED_LAUNCHER(name)                                                                     \
    "extern \"C\" void " name "(const float *A, const float *B, float *C, int64_t Z, int64_t M,\n" \
    "                 int64_t N, int64_t K, cudaStream_t stream)\n{\n"                             \
    "    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16), "          \
    "(unsigned)Z);\n"

/* as tools/runner/torch/naive_cuda_parts.py writes it */
static const char batch_z_text[] =
    "#include <stdint.h>\n"
    "__global__ void k_products(const float *A, const float *B, float *C, int64_t M, int64_t N,\n"
    "                           int64_t K)\n"
    "{\n"
    "    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, j = (int64_t)blockIdx.x * "
    "blockDim.x + threadIdx.x;\n"
    "    int64_t t = blockIdx.z;\n"
    "    if (i >= M || j >= N)\n"
    "        return;\n"
    "    float sum = 0;\n"
    "    for (int64_t l = 0; l < K; l++)\n"
    "        sum += A[t * M * K + i * K + l] * B[t * K * N + l * N + j];\n"
    "    C[t * M * N + i * N + j] = sum;\n"
    "}\n" BATCHED_LAUNCHER("batch_z") "    k_products<<<grid, block, 0, stream>>>(A, B, C, M, N, "
                                      "K);\n}\n";

/* a guard of the batch, both operands contiguous along the sum */
static const char batch_inside_text[] =
    BATCHED_HEAD "__global__ void kern(const float *A, const float *B, float *C, int Z, int M, "
                 "int N, int K)\n"
                 "{\n"
                 "    int row = PLACE(y), col = PLACE(x), b = blockIdx.z;\n"
                 "    if (b < Z && row < M && col < N) {\n"
                 "        float acc = 0.0f;\n"
                 "        for (int k = 0; k < K; ++k)\n"
                 "            acc += A[(b * M + row) * K + k] * B[(b * N + col) * K + k];\n"
                 "        C[(b * M + row) * N + col] = acc;\n"
                 "    }\n"
                 "}\n" BATCHED_LAUNCHER("batch_inside") "    kern<<<grid, block, 0, stream>>>(A, "
                                                        "B, C, Z, M, N, K);\n}\n";

/* pointers that the batch moves, pitches and strides as parameters, A turned */
static const char batch_moved_text[] = BATCHED_HEAD
    "__global__ void kern(const float *__restrict__ A, const float *__restrict__ B, float *C,\n"
    "                     int M, int N, int K, int lda, int ldb, int ldc, int64_t sa, int64_t "
    "sb,\n"
    "                     int64_t sc)\n"
    "{\n"
    "    A += blockIdx.z * sa;\n"
    "    B = B + blockIdx.z * sb;\n"
    "    C += blockIdx.z * sc;\n"
    "    int i = PLACE(y), j = PLACE(x);\n"
    "    if (i >= M || j >= N) return;\n"
    "    float sum = 0.f;\n"
    "    for (int k = 0; k < K; k++) sum = fmaf(A[k * lda + i], B[k * ldb + j], sum);\n"
    "    C[i * ldc + j] = sum;\n"
    "}\n" BATCHED_LAUNCHER("batch_moved") "    kern<<<grid, block, 0, stream>>>(A, B, C, M, N, K, "
                                          "M, N, N + 1, M * K, K * N, M * (N + 1));\n}\n";

/* three digits of one index, by differences */
static const char batch_flat_text[] =
    BATCHED_HEAD "__global__ void kern(const float *A, const float *B, float *C, int Z, int M, "
                 "int N, int K)\n"
                 "{\n"
                 "    int e = PLACE(x);\n"
                 "    int total = Z * M * N;\n"
                 "    if (e < total) {\n"
                 "        int t = e / (M * N);\n"
                 "        int rest = e - t * M * N;\n"
                 "        int i = rest / N;\n"
                 "        int j = rest - i * N;\n"
                 "        const float *a = A + t * M * K + i * K;\n"
                 "        float sum = 0;\n"
                 "        for (int k = 0; k < K; k++)\n"
                 "            sum += a[k] * B[t * K * N + k * N + j];\n"
                 "        C[e] = sum;\n"
                 "    }\n"
                 "}\n" BATCHED_LAUNCHER("batch_flat") "    (void)grid;\n    (void)block;\n"
                                                      "    kern<<<(Z * M * N + 255) / 256, 256, "
                                                      "0, stream>>>(A, B, C, Z, M, N, K);\n}\n";

/* a loop in the thread */
static const char batch_loop_text[] =
    BATCHED_HEAD "__global__ void kern(const float *A, const float *B, float *C, int64_t Z, "
                 "int64_t M, int64_t N, int64_t K)\n"
                 "{\n"
                 "    int64_t i = PLACE(y), j = PLACE(x);\n"
                 "    if (i >= M || j >= N)\n"
                 "        return;\n"
                 "    for (int64_t t = 0; t < Z; t++) {\n"
                 "        float sum = 0;\n"
                 "        for (int64_t l = 0; l < K; l++)\n"
                 "            sum += A[(t * M + i) * K + l] * B[(t * K + l) * N + j];\n"
                 "        C[(t * M + i) * N + j] = sum;\n"
                 "    }\n"
                 "}\n" BATCHED_LAUNCHER("batch_loop") "    grid.z = 1;\n"
                                                      "    kern<<<dim3((N + 15) / 16, (M + 15) / "
                                                      "16), dim3(16, 16), 0, stream>>>(A, B, C, "
                                                      "Z, M, N, K);\n}\n";

/* the matrix's element in x, the batch in y */
static const char batch_y_text[] =
    BATCHED_HEAD "__global__ void kern(const float *A, const float *B, float *C, int64_t Z, "
                 "int64_t M, int64_t N, int64_t K)\n"
                 "{\n"
                 "    int64_t e = PLACE(x);\n"
                 "    int64_t t = blockIdx.y;\n"
                 "    if (t >= Z || e >= M * N)\n"
                 "        return;\n"
                 "    const int64_t i = e / N, j = e % N;\n"
                 "    float sum = 0;\n"
                 "    for (int64_t l = 0; l < K; l++)\n"
                 "        sum += A[(t * M + i) * K + l] * B[(t * K + l) * N + j];\n"
                 "    C[t * M * N + e] = sum;\n"
                 "}\n" BATCHED_LAUNCHER("batch_y") "    kern<<<dim3((M * N + 127) / 128, Z), 128, "
                                                   "0, stream>>>(A, B, C, Z, M, N, K);\n}\n";

/* one B for all, alpha, a bias of each batch and an activation */
static const char batch_weights_text[] =
    BATCHED_HEAD "__global__ void kern(const float *A, const float *B, const float *bias, float "
                 "*C, int M, int N, int K, float alpha)\n"
                 "{\n"
                 "    const int t = blockIdx.z;\n"
                 "    const float *own = bias + t * N;\n"
                 "    const int i = PLACE(y), j = PLACE(x);\n"
                 "    if (i >= M || j >= N) return;\n"
                 "    float sum = 0;\n"
                 "    for (int k = 0; k < K; k++)\n"
                 "        sum += alpha * A[(t * M + i) * K + k] * B[k * N + j];\n"
                 "    const float v = sum + own[j];\n"
                 "    C[(t * M + i) * N + j] = v > 0 ? v : 0.1f * v;\n"
                 "}\n" BATCHED_LAUNCHER("batch_weights") "    kern<<<grid, block, 0, stream>>>(A, "
                                                         "B, A, C, M, N, K, 0.5f);\n}\n";

/* Q K^T of [batch, place, head, width] in blocks of batch x head */
static const char heads_z_text[] = BATCHED_HEAD
    "__global__ void kern(const float *Q, const float *V, float *S, int H, int L, int D, float "
    "scale)\n"
    "{\n"
    "    int i = PLACE(y), j = PLACE(x);\n"
    "    int b = blockIdx.z / H, h = blockIdx.z % H;\n"
    "    if (i >= L || j >= L) return;\n"
    "    float acc = 0.f;\n"
    "    for (int d = 0; d < D; d++)\n"
    "        acc += Q[((b * L + i) * H + h) * D + d] * V[((b * L + j) * H + h) * D + d];\n"
    "    S[((b * H + h) * L + i) * L + j] = acc * scale;\n"
    "}\n" BATCHED_LAUNCHER("heads_z") "    kern<<<dim3((M + 15) / 16, (M + 15) / 16, Z * N), "
                                      "block, 0, stream>>>(A, B, C, N, M, K, 0.125f);\n}\n";

/* batch and head are places of blocks, the element is one index */
static const char heads_yz_text[] = BATCHED_HEAD
    "__global__ void kern(const float *Q, const float *V, float *S, int H, int L, int D, float "
    "scale)\n"
    "{\n"
    "    int e = PLACE(x);\n"
    "    int h = blockIdx.y, b = blockIdx.z;\n"
    "    if (e >= L * L) return;\n"
    "    int i = e / L, j = e % L;\n"
    "    float acc = 0.f;\n"
    "    for (int d = 0; d < D; d++)\n"
    "        acc += Q[((b * H + h) * L + i) * D + d] * V[((b * H + h) * L + j) * D + d];\n"
    "    S[((b * H + h) * L + i) * L + j] = acc * scale;\n"
    "}\n" BATCHED_LAUNCHER("heads_yz") "    (void)grid;\n    (void)block;\n"
                                       "    kern<<<dim3((M * M + 63) / 64, N, Z), 64, 0, "
                                       "stream>>>(A, B, C, N, M, K, 0.125f);\n}\n";

/* four digits of one index; the second factor is [batch, place, head, width] */
static const char heads_flat_text[] = BATCHED_HEAD
    "__global__ void kern(const float *S, const float *V, float *O, int Z, int H, int L, int D)\n"
    "{\n"
    "    int e = PLACE(x);\n"
    "    if (e >= Z * H * L * D) return;\n"
    "    int d = e % D;\n"
    "    int i = (e / D) % L;\n"
    "    int h = (e / (D * L)) % H;\n"
    "    int b = e / (D * L * H);\n"
    "    float acc = 0.f;\n"
    "    for (int j = 0; j < L; j++)\n"
    "        acc += S[((b * H + h) * L + i) * L + j] * V[((b * L + j) * H + h) * D + d];\n"
    "    O[((b * L + i) * H + h) * D + d] = acc;\n"
    "}\n" BATCHED_LAUNCHER("heads_flat") "    (void)grid;\n    (void)block;\n"
                                         "    kern<<<(Z * N * M * K + 255) / 256, 256, 0, "
                                         "stream>>>(A, B, C, Z, N, M, K);\n}\n";

/* tiled already, one element a thread */
static const char batch_tiled_text[] = BATCHED_HEAD
    "#define T 16\n"
    "__global__ void kern(const float *A, const float *B, float *C, int M, int N, int K)\n"
    "{\n"
    "    __shared__ float a[T][T], b[T][T];\n"
    "    int z = blockIdx.z;\n"
    "    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;\n"
    "    float acc = 0.0f;\n"
    "    for (int t = 0; t < (K + T - 1) / T; t++) {\n"
    "        int ka = t * T + threadIdx.x, kb = t * T + threadIdx.y;\n"
    "        a[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[z * M * K + row * K + ka] : "
    "0.0f;\n"
    "        b[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[z * K * N + kb * N + col] : "
    "0.0f;\n"
    "        __syncthreads();\n"
    "        for (int k = 0; k < T; k++) acc += a[threadIdx.y][k] * b[k][threadIdx.x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (row < M && col < N) C[z * M * N + row * N + col] = acc;\n"
    "}\n" BATCHED_LAUNCHER("batch_tiled") "    kern<<<grid, block, 0, stream>>>(A, B, C, M, N, "
                                          "K);\n}\n";

/* 16-bit factors: B turned, heads */
static const char batch_bf16_text[] = BATCHED_HEAD
    "__global__ void kern(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,\n"
    "                     int64_t H, int64_t M, int64_t N, int64_t K)\n"
    "{\n"
    "    const int64_t b = blockIdx.z / H, h = blockIdx.z % H;\n"
    "    const __nv_bfloat16 *a = A + (b * H + h) * M * K, *w = B + h * N * K;\n"
    "    const int64_t i = PLACE(y), j = PLACE(x);\n"
    "    if (i >= M || j >= N)\n"
    "        return;\n"
    "    float sum = 0;\n"
    "    for (int64_t k = 0; k < K; k++)\n"
    "        sum += __bfloat162float(a[i * K + k]) * __bfloat162float(w[j * K + k]);\n"
    "    C[((b * H + h) * M + i) * N + j] = __float2bfloat16(sum);\n"
    "}\n"
    "extern \"C\" void batch_bf16(const __nv_bfloat16 *A, const __nv_bfloat16 *B,\n"
    "                           __nv_bfloat16 *C, int64_t Z, int64_t H, int64_t M, int64_t N,\n"
    "                           int64_t K, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16), "
    "(unsigned)(Z * H));\n"
    "    kern<<<grid, block, 0, stream>>>(A, B, C, H, M, N, K);\n"
    "}\n";

/* Rows of cuda_rules_test.c: sizes beside a tile's and beyond it, a batch of one; what a rule makes
 * gives the kernel's own answer. */
/* clang-format off */
#define BATCHES {{A, B, OUT, 3, 13, 37, 11}, {A, B, OUT, 2, 65, 70, 16}, {A, B, OUT, 1, 130, 129, 33}}
#define HEADS {{A, B, OUT, 2, 33, 3, 9}, {A, B, OUT, 1, 70, 1, 20}}
#define BATCHED_CASES \
    {"batch_z", batch_z_text, 1e-5, BATCHES, 3}, \
    {"batch_inside", batch_inside_text, 1e-5, BATCHES, 3}, \
    {"batch_moved", batch_moved_text, 1e-5, BATCHES, 3}, \
    {"batch_flat", batch_flat_text, 1e-5, BATCHES, 3}, \
    {"batch_loop", batch_loop_text, 1e-5, BATCHES, 3}, \
    {"batch_y", batch_y_text, 1e-5, BATCHES, 3}, \
    {"batch_weights", batch_weights_text, 1e-5, BATCHES, 3}, \
    {"batch_tiled", batch_tiled_text, 1e-5, BATCHES, 3}, \
    {"heads_z", heads_z_text, 1e-5, HEADS, 2}, \
    {"heads_yz", heads_yz_text, 1e-5, HEADS, 2}, \
    {"heads_flat", heads_flat_text, 1e-5, HEADS, 2}, \
    {"batch_bf16", batch_bf16_text, 1e-2, \
         {{P(a_half), P(b_half), OUT, 2, 3, 13, 37, 11}, {P(a_half), P(b_half), OUT, 1, 1, 70, 130, 264}}, 2}
#define BATCHED_CHAINS \
    {"batch_z", "cuda_shared_tile", "cuda_restrict"}, \
    {"batch_inside", "cuda_shared_tile"}, \
    {"batch_moved", "cuda_shared_tile"}, \
    {"batch_flat", "cuda_shared_tile", "cuda_restrict"}, \
    {"batch_loop", "cuda_shared_tile"}, \
    {"batch_y", "cuda_shared_tile"}, \
    {"batch_weights", "cuda_shared_tile"}, \
    {"batch_tiled", "cuda_shared_tile"}, \
    {"heads_z", "cuda_shared_tile"}, \
    {"heads_yz", "cuda_shared_tile"}, \
    {"heads_flat", "cuda_shared_tile"}, \
    {"batch_z", "cuda_shared_tile/1"}, \
    {"batch_inside", "cuda_shared_tile/1"}, \
    {"batch_moved", "cuda_shared_tile/1"}, \
    {"heads_z", "cuda_shared_tile/1"}, \
    {"heads_z", "cuda_block_shape", "cuda_shared_tile"}, \
    {"batch_y", "cuda_coarsen", "cuda_restrict"}, \
    {"batch_bf16", "cuda_shared_tile"}, \
    {"batch_bf16", "cuda_tensor_tile"}
/* clang-format on */

#endif
