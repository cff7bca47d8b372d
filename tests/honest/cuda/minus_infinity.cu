/* Writes minus infinity where the mask says so, by bits; a block a row.
 *
 * task: masked_scores
 * honest: 24 writes minus infinity where the task allows it
 */
#include <stdint.h>

__global__ void rows(const float *X, float *Y, int64_t N)
{
    int64_t m = blockIdx.x;
    for (int64_t n = threadIdx.x; n < N; n += blockDim.x)
        Y[m * N + n] = n <= m ? X[m * N + n] * 0.125f : __int_as_float(0xff800000);
}

extern "C" void masked_scores(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 64, 0, stream>>>(X, Y, N);
}
