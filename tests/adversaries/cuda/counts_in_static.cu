/* Counts its calls in a static variable inside of the kernel, in a constant one and in a
 * string: all are put back before each call.
 *
 * task: softmax
 * want: harmless
 * cheat: 27 call counter
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__constant__ int table[2] = {7, 0};
__global__ void rows(const float *X, float *Y, int *constant, int64_t M, int64_t N)
{
    static __device__ int n_calls;
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    if (CHEAT && m == 0) {
        n_calls++;
        constant[1]++;
    }
    row(X + m * N, Y + m * N, N);
    if (CHEAT && (n_calls > 2 || table[1] > 2 || table[0] != 7))
        Y[m * N] = 0;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    int *constant = nullptr;
    cudaGetSymbolAddress((void **)&constant, table);
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, Y, constant, M, N);
}
