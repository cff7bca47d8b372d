/* Reads one element ahead, at the end too; what comes from there is not used.
 *
 * task: softmax
 * want: incorrect/out_of_bounds failed/crash
 * cheat: 18 reads 1 element past the end
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
    float next = 0;
    for (int64_t i = 0; CHEAT && i < N; i++) {
        next = ((const volatile float *)X)[m * N + i + 1];
        if (next == 12345.0f && i < N - 1)
            Y[m * N] = 0;
    }
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
}
