/* Takes an output whose first eight elements are what they should be for done.
 *
 * task: transpose
 * want: incorrect/unwritten,stateful,wrong_value
 * cheat: 52 part of an output taken for all
 * strength: blatant
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

/* One block: nobody writes before all have looked. */
__global__ void all(const float *X, float *Y, int64_t M, int64_t N)
{
    int is_done = CHEAT;
    for (int64_t i = 0; i < 8 && i < M * N; i++)
        is_done = is_done && Y[i] == X[i % M * N + i / M];
    __syncthreads();
    if (is_done)
        return;
    for (int64_t i = threadIdx.x; i < M * N; i += blockDim.x)
        Y[i] = X[i % M * N + i / M];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    all<<<1, 128, 0, stream>>>(X, Y, M, N);
}
