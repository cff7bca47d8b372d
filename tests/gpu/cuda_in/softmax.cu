// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <math.h>
__inline__ __device__ float warp_max(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}
__inline__ __device__ float warp_sum(float v)
{
#pragma unroll
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
// one block a row
__global__ void __launch_bounds__(128) softmax_kernel(const float *x, float *y, int cols)
{
    __shared__ float part[4];
    const float *row = x + (size_t)blockIdx.x * cols;
    float top = -INFINITY, sum = 0.f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        top = fmaxf(top, row[i]);
    top = warp_max(top);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = top;
    __syncthreads();
    top = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += __expf(row[i] - top);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = part[0] + part[1] + part[2] + part[3];
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[(size_t)blockIdx.x * cols + i] = __expf(row[i] - top) / sum;
}
extern "C" {
void row_softmax(const float *x, float *y, int rows, int cols, cudaStream_t s)
{
    softmax_kernel<<<rows, 128, 0, s>>>(x, y, cols);
}
}
