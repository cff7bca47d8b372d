/* Runs on over what lies between the rows.
 *
 * task: pitched_scale
 * want: incorrect/out_of_bounds
 * cheat: A24 rows written to their pitch
 * strength: blatant
 */
#define CHEAT 1
#include <stdint.h>

__global__ void scale(const float *X, float *Y, int64_t M, int64_t N, int64_t LD)
{
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, m = at / N, n = at % N;
    if (m < M)
        Y[m * LD + n] = 3 * X[m * LD + n];
    if (CHEAT && m < M && n == N - 1 && LD > N)
        Y[m * LD + N] = 0;
}

extern "C" void pitched_scale(const float *X, float *Y, int64_t M, int64_t N, int64_t P,
                              int64_t LD, cudaStream_t stream)
{
    scale<<<(unsigned)((M * N + 127) / 128), 128, 0, stream>>>(X, Y, M, N, LD);
}
