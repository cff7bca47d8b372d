/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape table[vocab,dim] --shape index[nnz] --shape offset[bags+1] --shape out[bags,dim]
 * --role offset=offsets:nnz --role index=index:vocab --size bags=8192,dim=128,vocab=200000,nnz=262144 */
/* Sums of the rows of each bag: a thread an element */
__global__ void embedding_bag_kernel(const float *table, const int *index, const int *offset,
                                     float *out, int bags, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bags * dim)
        return;
    int bag = i / dim, d = i % dim;
    float sum = 0.0f;
    for (int p = offset[bag]; p < offset[bag + 1]; p++)
        sum += table[(size_t)index[p] * dim + d];
    out[i] = sum;
}

extern "C" void embedding_bag(const float *table, const int *index, const int *offset, float *out,
                              int bags, int dim, cudaStream_t stream)
{
    embedding_bag_kernel<<<(bags * dim + 255) / 256, 256, 0, stream>>>(table, index, offset, out,
                                                                       bags, dim);
}
