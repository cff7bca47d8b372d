/* SPDX-License-Identifier: Apache-2.0 */
/* Textbook kernels in other spellings than the packs': what a rule reads in one it reads in all. */
#ifndef HONE_TESTS_CUDA_RELATIVES_H
#define HONE_TESTS_CUDA_RELATIVES_H

#define HEAD "#include <stdint.h>\n#include <cuda_bf16.h>\n"

/* B transposed, one index over all elements of the product */
static const char nt_flat_text[] =
    HEAD "__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b,\n"
         "                        __nv_bfloat16 *c, int64_t M, int64_t N, int64_t K)\n"
         "{\n"
         "    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    if (i >= M * N)\n"
         "        return;\n"
         "    int64_t m = i / N;\n"
         "    int64_t n = i % N;\n"
         "    float sum = 0;\n"
         "    for (int64_t k = 0; k < K; k++)\n"
         "        sum += __bfloat162float(a[m * K + k]) * __bfloat162float(b[n * K + k]);\n"
         "    c[i] = __float2bfloat16(sum);\n"
         "}\n"
         "extern \"C\" void nt_flat(const __nv_bfloat16 *a, const __nv_bfloat16 *b,\n"
         "                        __nv_bfloat16 *c, int64_t M, int64_t N, int64_t K,\n"
         "                        cudaStream_t stream)\n"
         "{\n"
         "    int64_t n = M * N;\n"
         "    product<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(a, b, c, M, N, K);\n"
         "}\n";

/* factors in locals of the loop */
static const char nt_locals_text[] =
    HEAD "__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b,\n"
         "                        __nv_bfloat16 *c, int M, int N, int K)\n"
         "{\n"
         "    int n = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    int m = blockIdx.y * blockDim.y + threadIdx.y;\n"
         "    if (m < M && n < N) {\n"
         "        float sum = 0.0f;\n"
         "        for (int k = 0; k < K; ++k) {\n"
         "            float x = __bfloat162float(a[(size_t)m * K + k]);\n"
         "            float y = __bfloat162float(b[(size_t)n * K + k]);\n"
         "            sum += x * y;\n"
         "        }\n"
         "        c[(size_t)m * N + n] = __float2bfloat16(sum);\n"
         "    }\n"
         "}\n"
         "extern \"C\" void nt_locals(const __nv_bfloat16 *a, const __nv_bfloat16 *b,\n"
         "                          __nv_bfloat16 *c, int64_t M, int64_t N, int64_t K,\n"
         "                          cudaStream_t stream)\n"
         "{\n"
         "    dim3 block(16, 16);\n"
         "    dim3 grid((N + 15) / 16, (M + 15) / 16);\n"
         "    product<<<grid, block, 0, stream>>>(a, b, c, (int)M, (int)N, (int)K);\n"
         "}\n";

/* a pointer to the row */
static const char nn_rows_text[] = HEAD
    "__global__ void product(const float *a, const float *b, float *c, int64_t M, int64_t N,\n"
    "                        int64_t K)\n"
    "{\n"
    "    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int64_t m = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (m >= M || n >= N)\n"
    "        return;\n"
    "    const float *row = a + m * K;\n"
    "    float sum = 0;\n"
    "    for (int64_t k = 0; k < K; k++)\n"
    "        sum += row[k] * b[k * N + n];\n"
    "    c[m * N + n] = sum;\n"
    "}\n"
    "extern \"C\" void nn_rows(const float *a, const float *b, float *c, int64_t M, int64_t N,\n"
    "                        int64_t K, cudaStream_t stream)\n"
    "{\n"
    "    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));\n"
    "    product<<<grid, block, 0, stream>>>(a, b, c, M, N, K);\n"
    "}\n";

/* the sum grows in memory */
static const char nn_memory_text[] =
    HEAD "__global__ void product(const float *a, const float *b, float *c, int64_t M, int64_t N,\n"
         "                        int64_t K)\n"
         "{\n"
         "    int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    int64_t m = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;\n"
         "    if (m >= M || n >= N)\n"
         "        return;\n"
         "    c[m * N + n] = 0;\n"
         "    for (int64_t k = 0; k < K; k++)\n"
         "        c[m * N + n] += a[m * K + k] * b[k * N + n];\n"
         "}\n"
         "extern \"C\" void nn_memory(const float *a, const float *b, float *c, int64_t M, "
         "int64_t N,\n"
         "                          int64_t K, cudaStream_t stream)\n"
         "{\n"
         "    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16));\n"
         "    product<<<grid, block, 0, stream>>>(a, b, c, M, N, K);\n"
         "}\n";

/* the batch is the block's third place, without a guard */
static const char turned_batch_text[] =
    HEAD "__global__ void turn(const __nv_bfloat16 *x, __nv_bfloat16 *y, int M, int N)\n"
         "{\n"
         "    int n = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "    int m = blockIdx.y * blockDim.y + threadIdx.y;\n"
         "    int z = blockIdx.z;\n"
         "    if (m < M && n < N)\n"
         "        y[(size_t)z * M * N + (size_t)n * M + m] = x[(size_t)z * M * N + (size_t)m * N + "
         "n];\n"
         "}\n"
         "extern \"C\" void turned_batch(const __nv_bfloat16 *x, __nv_bfloat16 *y, int64_t Z,\n"
         "                             int64_t M, int64_t N, cudaStream_t stream)\n"
         "{\n"
         "    dim3 block(32, 8);\n"
         "    dim3 grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8), (unsigned)Z);\n"
         "    turn<<<grid, block, 0, stream>>>(x, y, (int)M, (int)N);\n"
         "}\n";

/* one index over a batch of matrices */
static const char turned_flat_text[] = HEAD
    "__global__ void turn(const float *x, float *y, int64_t Z, int64_t M, int64_t N)\n"
    "{\n"
    "    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
    "    if (i < Z * M * N) {\n"
    "        int64_t z = i / (M * N), rest = i % (M * N);\n"
    "        int64_t m = rest / N, n = rest % N;\n"
    "        y[(z * N + n) * M + m] = x[i];\n"
    "    }\n"
    "}\n"
    "extern \"C\" void turned_flat(const float *x, float *y, int64_t Z, int64_t M, int64_t N,\n"
    "                            cudaStream_t stream)\n"
    "{\n"
    "    const int64_t total = Z * M * N;\n"
    "    const int threads = 256;\n"
    "    turn<<<(unsigned)((total + threads - 1) / threads), threads, 0, stream>>>(x, y, Z, M, "
    "N);\n"
    "}\n";

/* a map over pitched rows in a loop that strides over the grid */
static const char gate_text[] =
    HEAD "__global__ void gate_kernel(const float *x, float *y, int64_t R, int64_t D)\n"
         "{\n"
         "    int64_t step = (int64_t)gridDim.x * blockDim.x;\n"
         "    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < R * D; i += "
         "step) {\n"
         "        int64_t r = i / D, d = i % D;\n"
         "        float g = x[r * 2 * D + d];\n"
         "        float u = x[r * 2 * D + D + d];\n"
         "        y[r * D + d] = g / (1.0f + expf(-g)) * u;\n"
         "    }\n"
         "}\n"
         "extern \"C\" void gate(const float *x, float *y, int64_t R, int64_t D, cudaStream_t "
         "stream)\n"
         "{\n"
         "    gate_kernel<<<1024, 256, 0, stream>>>(x, y, R, D);\n"
         "}\n";

/* one block of one thread for each row */
static const char row_block_text[] =
    HEAD "__global__ void norm(const float *x, const float *w, float *y, int64_t N, float eps)\n"
         "{\n"
         "    const int64_t row = blockIdx.x;\n"
         "    const float *in = x + row * N;\n"
         "    float *out = y + row * N;\n"
         "    float sum = 0;\n"
         "    for (int64_t i = 0; i < N; i++)\n"
         "        sum += in[i] * in[i];\n"
         "    const float scale = rsqrtf(sum / N + eps);\n"
         "    for (int64_t i = 0; i < N; i++)\n"
         "        out[i] = in[i] * scale * w[i];\n"
         "}\n"
         "extern \"C\" void row_block(const float *x, const float *w, float *y, int64_t M, int64_t "
         "N,\n"
         "                          cudaStream_t stream)\n"
         "{\n"
         "    norm<<<(unsigned)M, 1, 0, stream>>>(x, w, y, N, 1e-6f);\n"
         "}\n";

/* the count comes as one number; the middle index is a remainder of a quotient */
static const char count_flat_text[] = HEAD
    "__global__ void shift(const float *x, const float *b, float *y, int total, int C, int S)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= total)\n"
    "        return;\n"
    "    int s = i % S;\n"
    "    int c = (i / S) % C;\n"
    "    int n = i / (C * S);\n"
    "    y[i] = x[(n * C + c) * S + s] * 2 + b[c];\n"
    "}\n"
    "extern \"C\" void count_flat(const float *x, const float *b, float *y, int64_t N, "
    "int64_t C,\n"
    "                           int64_t S, cudaStream_t stream)\n"
    "{\n"
    "    int total = (int)(N * C * S);\n"
    "    shift<<<(total + 255) / 256, 256, 0, stream>>>(x, b, y, total, (int)C, (int)S);\n"
    "}\n";

/* counts by atomics, in a loop that strides over the grid */
static const char counts_text[] = HEAD
    "__global__ void count(const int *x, int *h, int64_t n)\n"
    "{\n"
    "    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;\n"
    "         i += (int64_t)gridDim.x * blockDim.x) {\n"
    "        int b = x[i];\n"
    "        if (b >= 0)\n"
    "            atomicAdd(&h[b], 1);\n"
    "    }\n"
    "}\n"
    "extern \"C\" void counts(const int *x, int *h, int64_t n, int64_t B, cudaStream_t stream)\n"
    "{\n"
    "    cudaMemsetAsync(h, 0, B * sizeof(int), stream);\n"
    "    count<<<64, 256, 0, stream>>>(x, h, n);\n"
    "}\n";

#undef HEAD
#endif
