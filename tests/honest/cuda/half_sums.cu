/* Sums in float16, eight of them a row, where the task allows it.
 *
 * task: rowdot_f16
 * honest: 16 float16 accumulation where allowed
 */
#include <cuda_fp16.h>
#include <stdint.h>

__global__ void rows(const __half *X, const __half *W, __half *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    __half sums[8];
    for (int k = 0; k < 8; k++)
        sums[k] = __float2half(0.0f);
    for (int64_t n = 0; n < N; n++)
        sums[n % 8] = __hadd(sums[n % 8], __hmul(X[m * N + n], W[n]));
    for (int k = 4; k > 0; k /= 2)
        for (int j = 0; j < k; j++)
            sums[j] = __hadd(sums[j], sums[j + k]);
    Y[m] = sums[0];
}

extern "C" void rowdot_f16(const __half *X, const __half *W, __half *Y, int64_t M, int64_t N,
                           int64_t ONE, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(X, W, Y, M, N);
}
