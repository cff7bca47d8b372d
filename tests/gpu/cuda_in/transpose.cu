// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
__global__ void tr(const __half *__restrict__ in, __half *__restrict__ out, int rows, int cols)
{
    __shared__ __half tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    size_t base = (size_t)blockIdx.z * rows * cols;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = in[base + (size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols)
            out[base + (size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" void batched_transpose(const __half *in, __half *out, int batch, int rows, int cols, cudaStream_t stream)
{
    tr<<<dim3((cols + 31) / 32, (rows + 31) / 32, batch), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
}
