/* The launcher takes a thread a row for short rows and a block a row for long ones.
 *
 * task: softmax
 * honest: 61 one of two kernels by size */
#include <stdint.h>

template <int THREADS> struct Row {
    static __device__ float all(float x, bool is_max)
    {
        __shared__ float part[THREADS];
        part[threadIdx.x] = x;
        __syncthreads();
        for (int k = THREADS / 2; k > 0; k /= 2) {
            if (threadIdx.x < k) {
                float other = part[threadIdx.x + k];
                part[threadIdx.x] =
                    is_max ? fmaxf(part[threadIdx.x], other) : part[threadIdx.x] + other;
            }
            __syncthreads();
        }
        float result = part[0];
        __syncthreads();
        return result;
    }
};

template <int THREADS> __global__ void block_row(const float *X, float *Y, int64_t N)
{
    const float *x = X + (int64_t)blockIdx.x * N;
    float *y = Y + (int64_t)blockIdx.x * N, top = x[0], sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += THREADS)
        top = fmaxf(top, x[i]);
    top = Row<THREADS>::all(top, true);
    for (int64_t i = threadIdx.x; i < N; i += THREADS)
        sum += expf(x[i] - top);
    sum = Row<THREADS>::all(sum, false);
    for (int64_t i = threadIdx.x; i < N; i += THREADS)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void thread_row(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    float top = X[m * N], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, X[m * N + i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(X[m * N + i] - top);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(X[m * N + i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    if (N < 64)
        thread_row<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(X, Y, M, N);
    else
        block_row<128><<<(unsigned)M, 128, 0, stream>>>(X, Y, N);
}
