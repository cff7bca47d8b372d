/* The bulk copy engine (TMA without a tensor map) brings a row into shared memory; a barrier in memory says when it is there.
 *
 * task: rmsnorm
 * honest: 7 TMA kernel
 * needs: device
 */
#include <stdint.h>
#define MOST 11000 /* elements of a row in shared memory */

__device__ void fetch(float *row, const float *x, uint32_t bytes, uint64_t *barrier)
{
    uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier);
    uint32_t to = (uint32_t)__cvta_generic_to_shared(row), is_there = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(x), "r"(bytes), "r"(bar)
                     : "memory");
    }
    __syncthreads();
    while (!is_there)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_there)
                     : "r"(bar)
                     : "memory");
}

__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t N)
{
    __shared__ __align__(128) float row[MOST];
    __shared__ __align__(8) uint64_t barrier;
    __shared__ float sums[128];
    const float *x = X + blockIdx.x * N;
    if (N % 4 == 0 && N <= MOST) {
        fetch(row, x, (uint32_t)(4 * N), &barrier);
        x = row;
    }
    float sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += 128)
        sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (threadIdx.x < k)
            sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    float scale = 1 / sqrtf(sums[0] / (float)N + eps);
    for (int64_t i = threadIdx.x; i < N; i += 128)
        Y[blockIdx.x * N + i] = x[i] * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rows<<<(unsigned)M, 128, 0, stream>>>(X, G, Y, eps, N);
}
