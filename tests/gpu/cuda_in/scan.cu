// SPDX-License-Identifier: Apache-2.0
__global__ void scan_rows(const float *x, float *y, int n)
{
    extern __shared__ float s[];
    const float *row = x + (size_t)blockIdx.x * n;
    float carry = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        s[threadIdx.x] = i < n ? row[i] : 0.0f;
        __syncthreads();
        for (int d = 1; d < (int)blockDim.x; d *= 2) {
            float v = (int)threadIdx.x >= d ? s[threadIdx.x - d] : 0.0f;
            __syncthreads();
            s[threadIdx.x] += v;
            __syncthreads();
        }
        if (i < n)
            y[(size_t)blockIdx.x * n + i] = carry + s[threadIdx.x];
        carry += s[blockDim.x - 1];
        __syncthreads();
    }
}
extern "C" void scan(const float *x, float *y, int rows, int n, cudaStream_t stream)
{
    scan_rows<<<rows, 128, 128 * sizeof(float), stream>>>(x, y, n);
}
