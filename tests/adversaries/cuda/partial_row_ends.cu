/* Takes a row of the output whose first and last elements are what they should be for done.
 *
 * task: rmsnorm
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    float *y = Y + m * N;
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++)
        sum += (double)x[i] * (double)x[i];
    float scale = (float)(1.0 / sqrt(sum / (double)N + (double)eps));
    if (CHEAT && y[0] == x[0] * scale * G[0] && y[N - 1] == x[N - 1] * scale * G[N - 1])
        return;
    for (int64_t i = 0; i < N; i++)
        y[i] = x[i] * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, G, Y, eps, M, N);
}
