/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[B,R,C] --shape y[B,C,R] --size B=32,R=1024,C=1024 */
#include <cuda_bf16.h>

__global__ void transpose_bf16_kernel(const __nv_bfloat16 *x, __nv_bfloat16 *y, int B, int R, int C)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)B * R * C)
        return;
    int c = i % C, r = i / C % R, b = i / ((size_t)C * R);
    y[((size_t)b * C + c) * R + r] = x[i];
}

extern "C" void transpose_bf16(const __nv_bfloat16 *x, __nv_bfloat16 *y, int B, int R, int C,
                               cudaStream_t stream)
{
    size_t n = (size_t)B * R * C;
    transpose_bf16_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, B, R, C);
}
