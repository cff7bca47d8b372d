/* SPDX-License-Identifier: Apache-2.0 */
/* A sum in float that drifts: another order of it is nearer to the truth than this one is. */
__global__ void long_sum_kernel(const float *x, float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[i];
    atomicExch(y, sum);
}

extern "C" void long_sum(const float *x, float *y, int n, cudaStream_t stream)
{
    long_sum_kernel<<<1, 1, 0, stream>>>(x, y, n);
}
