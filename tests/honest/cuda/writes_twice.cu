/* Clears its output first and then writes it: the value that counts is the last.
 *
 * task: transpose
 * honest: 12 memset of its own output
 */
#include <stdint.h>
__global__ void element(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x, m = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (m < M && n < N)
        Y[n * M + m] = X[m * N + n];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    dim3 block(32, 8), grid((unsigned)((N + 31) / 32), (unsigned)((M + 7) / 8));
    cudaMemsetAsync(Y, 0xff, (size_t)(M * N) * sizeof(float), stream);
    element<<<grid, block, 0, stream>>>(X, Y, M, N);
}
