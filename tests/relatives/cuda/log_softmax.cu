/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[rows,n] --shape y[rows,n] --size rows=1024,n=50257 */
__global__ void log_softmax_kernel(const float *x, float *y, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float top = -INFINITY, sum = 0.0f;
    for (int i = 0; i < n; i++)
        top = fmaxf(top, x[(size_t)r * n + i]);
    for (int i = 0; i < n; i++)
        sum += expf(x[(size_t)r * n + i] - top);
    float lse = top + logf(sum);
    for (int i = 0; i < n; i++)
        y[(size_t)r * n + i] = x[(size_t)r * n + i] - lse;
}

extern "C" void log_softmax(const float *x, float *y, int rows, int n, cudaStream_t stream)
{
    log_softmax_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, n);
}
