/* The exponential by the special function unit.
 *
 * task: softmax
 * honest: 17 fast-math exp within tolerance
 */
#include <stdint.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += __expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = __expf(x[i] - top) * (1 / sum);
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
}
