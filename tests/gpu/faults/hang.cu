#include <cuda_runtime.h>
#include <cassert>
#include <cstdint>
__global__ void k(const float *x, float *y, float one, float zero, int n, int repeats)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    for (int r = 0; r < repeats; r++)
        v = fmaf(v, one, zero);
    while (((const volatile float *)x)[i] > -1e30f) /* what a compiler may not leave out */
        ;
    y[i] = v;
}
extern "C" void steady(const float *x, float *y, float one, float zero, int64_t N, int64_t R, cudaStream_t stream)
{
    k<<<(unsigned)((N + 127) / 128), 128, 0, stream>>>(x, y, one, zero, (int)N, (int)R);
}
