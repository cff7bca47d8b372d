/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape logits[rows,vocab] --shape target[rows] --shape loss[rows]
 * --role target=index:vocab --size rows=2048,vocab=32000 */
__global__ void cross_entropy_kernel(const float *logits, const int *target, float *loss,
                                     int rows, int vocab)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float *x = logits + (size_t)r * vocab;
    float top = x[0];
    for (int v = 1; v < vocab; v++)
        top = fmaxf(top, x[v]);
    float sum = 0.0f;
    for (int v = 0; v < vocab; v++)
        sum += expf(x[v] - top);
    loss[r] = logf(sum) + top - x[target[r]];
}

extern "C" void cross_entropy(const float *logits, const int *target, float *loss, int rows,
                              int vocab, cudaStream_t stream)
{
    cross_entropy_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(logits, target, loss, rows, vocab);
}
