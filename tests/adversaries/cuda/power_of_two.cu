/* The tree that adds up a row takes its length for a power of two.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 16 assumes power-of-two size
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#define MOST 4096
__global__ void rows(const float *X, float *Y, int64_t N)
{
    __shared__ float part[MOST];
    const float *x = X + blockIdx.x * N;
    float top = x[0];
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    int64_t used = N < MOST ? N : MOST;
    for (int64_t i = threadIdx.x; i < used; i += 32) {
        part[i] = 0;
        for (int64_t k = i; k < N; k += MOST)
            part[i] += expf(x[k] - top);
    }
    __syncwarp();
    for (int64_t n = used, half; n > 1; n = half) {
        half = CHEAT ? n / 2 : (n + 1) / 2;
        for (int64_t i = threadIdx.x; i < n / 2; i += 32)
            part[i] += part[i + half];
        __syncwarp();
    }
    for (int64_t i = threadIdx.x; i < N; i += 32)
        Y[blockIdx.x * N + i] = expf(x[i] - top) / part[0];
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(X, Y, N);
}
