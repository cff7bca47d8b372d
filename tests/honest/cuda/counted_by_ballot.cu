/* The first of the largest is found by a vote of the warp.
 *
 * task: argmax
 * honest: 64 warp votes */
#include <stdint.h>

__global__ void rows(const float *X, int32_t *I, int64_t M, int64_t N)
{
    int64_t m = blockIdx.x;
    int lane = threadIdx.x;
    float top = -INFINITY;
    for (int64_t i = lane; i < N; i += 32)
        top = fmaxf(top, X[m * N + i]);
    for (int k = 16; k > 0; k /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, k));
    for (int64_t i = 0; i < N; i += 32) {
        bool is_top = i + lane < N && X[m * N + i + lane] == top;
        unsigned votes = __ballot_sync(0xffffffffu, is_top);
        if (votes != 0) {
            if (lane == 0)
                I[m] = (int32_t)(i + __ffs(votes) - 1);
            return;
        }
    }
}

extern "C" void argmax(const float *X, int32_t *I, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(X, I, M, N);
}
