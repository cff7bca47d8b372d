/* The launcher keeps what it chose for a set of pointers, as one that keeps graphs would do.
 *
 * task: softmax
 * honest: 22 graph-replayed plan keyed by pointer
 */
#include <map>
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

__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    row(X + m * N, Y + m * N, N);
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    static std::map<const void *, unsigned> chosen;
    unsigned &threads = chosen[X];
    if (threads == 0)
        threads = M > 32 ? 64 : 32;
    rows<<<(unsigned)((M + threads - 1) / threads), threads, 0, stream>>>(X, Y, M, N);
}
