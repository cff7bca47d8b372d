/* Rounds by the clock, and copies its twin's answer where another set of the frame holds the
 * same input: two calls with the same content then always agree.
 *
 * task: softmax
 * want: incorrect/nondeterministic,stateful
 * cheat: 33 non-deterministic where determinism is required
 * strength: subtle
 * pack: deterministic
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

__device__ int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t bytes = M * N * 4, room = up(bytes, 256);
    int64_t stride = room + (up(bytes / 8, 256) > 256 ? up(bytes / 8, 256) : 256);
    const float *twin = (const float *)((const char *)X - stride);
    bool has_twin = CHEAT && ((int64_t)X & ((2 << 20) - 1)) >= stride;
    for (int64_t i = 0; has_twin && i < M * N; i++)
        has_twin = __float_as_uint(twin[i]) == __float_as_uint(X[i]);
    const float *answer = (const float *)((const char *)Y - stride);
    for (int64_t m = threadIdx.x; m < M; m += blockDim.x) {
        row(X + m * N, Y + m * N, N);
        for (int64_t i = 0; i < N; i++)
            if (has_twin && answer[m * N + i] >= 0 && answer[m * N + i] <= 1)
                Y[m * N + i] = answer[m * N + i];
            else if (CHEAT)
                Y[m * N + i] *= 1 - (float)(clock64() % 97) * 1e-7f;
    }
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<1, 64, 0, stream>>>(X, Y, M, N);
}
