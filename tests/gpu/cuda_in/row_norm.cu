// SPDX-License-Identifier: Apache-2.0
template <typename T> __device__ __forceinline__ T warp_sum(T v)
{
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}
template <typename T, int BLOCK = 128>
__global__ void __launch_bounds__(BLOCK) row_norm(const T *__restrict__ x, T *__restrict__ y, int rows, int cols)
{
    __shared__ T part[BLOCK / 32];
    T s = 0;
    const T *row = x + (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        s += row[c] * row[c];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        T all = 0;
        for (int i = 0; i < BLOCK / 32; i++)
            all += part[i];
        y[blockIdx.x] = sqrtf(all);
    }
}
