// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
__global__ void saxpy_kernel(int n, float a, const float *__restrict__ x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
extern "C" void saxpy(int n, float a, const float *x, float *y, cudaStream_t stream)
{
    dim3 block(256);
    saxpy_kernel<<<(n + 255) / 256, block, 0, stream>>>(n, a, x, y);
}
