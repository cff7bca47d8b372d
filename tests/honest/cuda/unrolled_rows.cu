/* A warp a row, everything unrolled for the row lengths that were asked for: some tens of KiB of
 * straight code. The first call of a block runs with cold instruction caches (contexts were switched), the next ones do not,
 * so a block cut to one call costs as much as many, although nothing is done ahead; the baseline's code is small.
 *
 * task: softmax
 * honest: 32 large straight code, short calls
 * axes: {"M": 528, "N": 1024} */
#include <stdint.h>
#ifndef WIDE
#define WIDE 1024
#endif
__device__ __forceinline__ float my_exp(float x) /* of its own, as in tests/honest: longer code, 1 ulp */
{
    float n = rintf(x * 1.44269504f), f = fmaf(n, -0.693145752f, x);
    f = fmaf(n, -1.42860677e-6f, f);
    float p = 1.98412698e-4f;
    p = fmaf(p, f, 1.38888889e-3f);
    p = fmaf(p, f, 8.33333333e-3f);
    p = fmaf(p, f, 4.16666667e-2f);
    p = fmaf(p, f, 1.66666667e-1f);
    p = fmaf(p, f, 0.5f);
    p = fmaf(p, f, 1.0f);
    p = fmaf(p, f, 1.0f);
    return n < -125 ? 0.0f : p * __int_as_float(((int)n + 127) << 23);
}

template <int N> __global__ void wide(const float *X, float *Y, int64_t M)
{
    constexpr int EACH = N / 32;
    float v[EACH], top = -INFINITY, sum = 0;
    int64_t m = (int64_t)blockIdx.x * 4 + threadIdx.y;
    if (m >= M)
        return;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = X[m * N + i * 32 + threadIdx.x];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        top = fmaxf(top, v[i]);
#pragma unroll
    for (int k = 16; k > 0; k /= 2)
        top = fmaxf(top, __shfl_xor_sync(~0u, top, k));
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum += v[i] = my_exp(v[i] - top);
#pragma unroll
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        Y[m * N + i * 32 + threadIdx.x] = v[i] / sum; /* a division in full: some ten instructions each */
}

__global__ void any(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 64 + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(x[i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    if (N == WIDE)
        wide<WIDE><<<(unsigned)((M + 3) / 4), dim3(32, 4), 0, stream>>>(X, Y, M);
    else
        any<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(X, Y, M, N);
}
