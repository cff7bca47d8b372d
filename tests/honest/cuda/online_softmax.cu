/* Maximum and sum in one pass, put right when the maximum grows; warps share a row.
 *
 * task: softmax
 * honest: 18 online softmax
 */
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t N)
{
    const float *x = X + blockIdx.x * N;
    float top = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += 32) {
        float most = fmaxf(top, x[i]);
        sum = sum * expf(top - most) + expf(x[i] - most);
        top = most;
    }
    for (int k = 16; k > 0; k /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, top, k);
        float more = __shfl_xor_sync(0xffffffffu, sum, k), most = fmaxf(top, other);
        if (most > -INFINITY)
            sum = sum * expf(top - most) + more * expf(other - most);
        top = most;
    }
    for (int64_t i = threadIdx.x; i < N; i += 32)
        Y[blockIdx.x * N + i] = expf(x[i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(X, Y, N);
}
