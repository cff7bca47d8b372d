/* Two halves in two streams that fork from the given one and join it.
 *
 * task: softmax
 * honest: 2 forked streams
 */
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
    int64_t half = M / 2;
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(side, fork, 0);
    if (half > 0)
        rows<<<(unsigned)((half + 31) / 32), 32, 0, stream>>>(X, Y, half, N);
    rows<<<(unsigned)((M - half + 31) / 32), 32, 0, side>>>(X + half * N, Y + half * N, M - half,
                                                            N);
    cudaEventRecord(join, side);
    cudaStreamWaitEvent(stream, join, 0);
}
