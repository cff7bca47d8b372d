/* One block a row; maximum and sum through shared memory. */
#include <stdint.h>

#define THREADS 64

__global__ void softmax_row(const float *X, float *Y, int64_t N)
{
    __shared__ float parts[THREADS];
    const float *x = X + (int64_t)blockIdx.x * N;
    float *y = Y + (int64_t)blockIdx.x * N;
    int thread = threadIdx.x;
    float top = -INFINITY;
    for (int64_t i = thread; i < N; i += THREADS)
        top = fmaxf(top, x[i]);
    parts[thread] = top;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            parts[thread] = fmaxf(parts[thread], parts[thread + half]);
        __syncthreads();
    }
    top = parts[0];
    __syncthreads();
    float sum = 0.0f;
    for (int64_t i = thread; i < N; i += THREADS)
        sum += expf(x[i] - top);
    parts[thread] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            parts[thread] += parts[thread + half];
        __syncthreads();
    }
    float scale = 1.0f / parts[0];
    for (int64_t i = thread; i < N; i += THREADS)
        y[i] = expf(x[i] - top) * scale;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    softmax_row<<<(unsigned)M, THREADS, 0, stream>>>(X, Y, N);
}
