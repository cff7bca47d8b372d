/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape data[n] --shape bins[256] --role data=bits --size n=67108864 */
__global__ void histogram_kernel(const unsigned char *data, unsigned int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1u);
}

extern "C" void histogram(const unsigned char *data, unsigned int *bins, int n,
                          cudaStream_t stream)
{
    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned int), stream);
    histogram_kernel<<<(n + 255) / 256, 256, 0, stream>>>(data, bins, n);
}
