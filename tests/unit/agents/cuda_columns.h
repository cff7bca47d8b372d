/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose threads walk along columns, as an imported module has them
 * (tools/runner/torch/naive_cuda_folds.py). */
#ifndef HONE_TESTS_CUDA_COLUMNS_H
#define HONE_TESTS_CUDA_COLUMNS_H

static const char column_norm_text[] =
    "#include <math.h>\n"
    "#include <stdint.h>\n"
    "__global__ void k_fold0(const float *a0, const float *a1, float *out, int64_t M, int64_t N,\n"
    "                        int64_t in)\n"
    "{\n"
    "    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (e >= M)\n"
    "        return;\n"
    "    int64_t o = e / in;\n"
    "    int64_t c = e % in;\n"
    "    double s0 = 0;\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        s0 += a0[(o * N + i) * in + c] * a0[(o * N + i) * in + c];\n"
    "    float r0 = sqrtf((float)(s0 / (double)N) + 1e-5f);\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        out[(o * N + i) * in + c] = a0[(o * N + i) * in + c] / r0 * a1[i];\n"
    "}\n"
    "extern \"C\" void column_norm(const float *x, const float *w, float *y, int64_t rows, int64_t "
    "N,\n"
    "                            int64_t in, cudaStream_t stream)\n"
    "{\n"
    "    int64_t M = rows * in;\n"
    "    k_fold0<<<(unsigned)((M + 255) / 256), 256, 0, stream>>>(x, w, y, M, N, in);\n"
    "}\n";

static const char column_sums_text[] =
    "#include <stdint.h>\n"
    "__global__ void k_fold0(const float *a0, float *out, int64_t M, int64_t N, int64_t in)\n"
    "{\n"
    "    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (e >= M)\n"
    "        return;\n"
    "    double s0 = 0;\n"
    "    float s1 = a0[e];\n"
    "    for (int64_t i = 0; i < N; i++) {\n"
    "        s0 += a0[i * in + e];\n"
    "        s1 = fmaxf(s1, a0[i * in + e]);\n"
    "    }\n"
    "    out[e] = (float)s0 + s1;\n"
    "}\n"
    "extern \"C\" void column_sums(const float *x, float *y, int64_t N, int64_t in, cudaStream_t "
    "stream)\n"
    "{\n"
    "    k_fold0<<<(unsigned)((in + 255) / 256), 256, 0, stream>>>(x, y, in, N, in);\n"
    "}\n";

static const char column_shares_text[] =
    "#include <math.h>\n"
    "#include <stdint.h>\n"
    "__global__ void k_fold0(const float *a0, float *out, int64_t M, int64_t N, int64_t in)\n"
    "{\n"
    "    int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (e >= M)\n"
    "        return;\n"
    "    int64_t o = e / in;\n"
    "    int64_t c = e % in;\n"
    "    float s0 = a0[(o * N) * in + c];\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        s0 = fmaxf(s0, a0[(o * N + i) * in + c]);\n"
    "    double s1 = 0;\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        s1 += expf(a0[(o * N + i) * in + c] - s0);\n"
    "    float b1 = (float)(1 / s1);\n"
    "    for (int64_t i = 0; i < N; i++)\n"
    "        out[(o * N + i) * in + c] = expf(a0[(o * N + i) * in + c] - s0) * b1;\n"
    "}\n"
    "extern \"C\" void column_shares(const float *x, float *y, int64_t rows, int64_t N, int64_t "
    "in,\n"
    "                              cudaStream_t stream)\n"
    "{\n"
    "    int64_t M = rows * in;\n"
    "    k_fold0<<<(unsigned)((M + 255) / 256), 256, 0, stream>>>(x, y, M, N, in);\n"
    "}\n";

#endif
