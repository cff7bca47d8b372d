/* SPDX-License-Identifier: Apache-2.0 */
/* new: --size n=16777216 */
__global__ void gelu_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

extern "C" void gelu(const float *x, float *y, int n, cudaStream_t stream)
{
    gelu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
