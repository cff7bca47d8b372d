/* Four loads of sixteen bytes in flight a thread: as fast as memory allows, and not faster.
 *
 * task: sum
 * honest: 25 kernel near the measured bandwidth
 * workload: g256m
 */
#include <stdint.h>
__global__ void all(const float *X, double *total, int64_t N)
{
    __shared__ double part[256];
    int64_t fours = (uintptr_t)X % 16 == 0 ? N / 4 : 0, step = (int64_t)gridDim.x * 256;
    double sum = 0;
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    for (; i + 3 * step < fours; i += 4 * step) {
        float4 a = ((const float4 *)X)[i], b = ((const float4 *)X)[i + step];
        float4 c = ((const float4 *)X)[i + 2 * step], d = ((const float4 *)X)[i + 3 * step];
        sum +=
            (double)(a.x + a.y) + (double)(a.z + a.w) + (double)(b.x + b.y) + (double)(b.z + b.w);
        sum +=
            (double)(c.x + c.y) + (double)(c.z + c.w) + (double)(d.x + d.y) + (double)(d.z + d.w);
    }
    for (; i < fours; i += step) {
        float4 a = ((const float4 *)X)[i];
        sum += (double)(a.x + a.y) + (double)(a.z + a.w);
    }
    for (i = 4 * fours + (int64_t)blockIdx.x * 256 + threadIdx.x; i < N; i += step)
        sum += X[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, part[0]);
}

__global__ void end(const double *total, float *S)
{
    S[0] = (float)*total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *total;
    int sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaMallocAsync((void **)&total, sizeof *total, stream);
    cudaMemsetAsync(total, 0, sizeof *total, stream);
    all<<<(unsigned)(8 * sms), 256, 0, stream>>>(X, total, N);
    end<<<1, 1, 0, stream>>>(total, S);
    cudaFreeAsync(total, stream);
}
