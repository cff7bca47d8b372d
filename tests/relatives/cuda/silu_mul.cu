/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[rows,2,cols] --shape y[rows,cols] --size rows=4096,cols=5504 */
#include <cuda_bf16.h>

/* Gate and value lie beside each other in a row of 2 * cols. */
__global__ void silu_mul_kernel(const __nv_bfloat16 *x, __nv_bfloat16 *y, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int r = i / cols, c = i % cols;
    float gate = __bfloat162float(x[(size_t)r * 2 * cols + c]);
    float up = __bfloat162float(x[(size_t)r * 2 * cols + cols + c]);
    y[i] = __float2bfloat16(gate / (1.0f + expf(-gate)) * up);
}

extern "C" void silu_mul(const __nv_bfloat16 *x, __nv_bfloat16 *y, int rows, int cols,
                         cudaStream_t stream)
{
    int n = rows * cols;
    silu_mul_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, rows, cols);
}
