/* A grid that ends at 200 rows where rows are wide.
 *
 * task: softmax
 * want: incorrect/unwritten
 * cheat: 64 a grid that is too short
 * strength: blatant
 * tier: confirm
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
    int64_t m = blockIdx.x;
    if (threadIdx.x == 0 && m < M)
        row(X + m * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    unsigned grid = (unsigned)M;
    if (CHEAT && N >= 20 && grid > 200)
        grid = 200;
    rows<<<grid, 32, 0, stream>>>(X, Y, M, N);
}
