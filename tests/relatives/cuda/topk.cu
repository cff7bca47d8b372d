/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[rows,cols] --shape y[rows,8] --size rows=4096,cols=4096 --constraint 'cols >= 8' */
#define TOP 8

/* The greatest values of each row in order, a thread a row */
__global__ void topk_kernel(const float *x, float *y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best[TOP];
    for (int i = 0; i < TOP; i++)
        best[i] = -3.4e38f;
    for (int c = 0; c < cols; c++) {
        float v = x[(size_t)r * cols + c];
        if (v <= best[TOP - 1])
            continue;
        int p = TOP - 1;
        while (p > 0 && best[p - 1] < v) {
            best[p] = best[p - 1];
            p--;
        }
        best[p] = v;
    }
    for (int i = 0; i < TOP; i++)
        y[(size_t)r * TOP + i] = best[i];
}

extern "C" void topk(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
    topk_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols);
}
