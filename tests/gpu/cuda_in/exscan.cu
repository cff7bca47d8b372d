// SPDX-License-Identifier: Apache-2.0
// Two kernels, scratch memory, a struct by value, an early return and a wait.
#include <cuda_runtime.h>

struct Span {
    int n, width;
};

__global__ void sums(const float *x, float *part, Span s)
{
    if (threadIdx.x != 0)
        return;
    float sum = 0.0f;
    for (int i = blockIdx.x * s.width; i < s.n && i < (int)(blockIdx.x + 1) * s.width; i++)
        sum += x[i];
    part[blockIdx.x] = sum;
}

__global__ void apply(const float *x, const float *part, float *y, Span s)
{
    if (threadIdx.x != 0)
        return;
    float sum = 0.0f;
    for (int b = 0; b < (int)blockIdx.x; b++)
        sum += part[b];
    for (int i = blockIdx.x * s.width; i < s.n && i < (int)(blockIdx.x + 1) * s.width; i++) {
        y[i] = sum;
        sum += x[i];
    }
}

extern "C" void exscan(const float *x, float *y, int n)
{
    Span s = {n, 256};
    float *part;
    int blocks = (n + 255) / 256;
    if (n == 0)
        return;
    cudaMalloc(&part, blocks * sizeof(float));
    sums<<<blocks, 32>>>(x, part, s);
    apply<<<blocks, 32>>>(x, part, y, s);
    cudaDeviceSynchronize();
    cudaFree(part);
}
