/* One block a row; the sum of squares through shared memory. */
#include <stdint.h>

#define THREADS 64

__global__ void rmsnorm_row(const float *X, const float *G, float *Y, float eps, int64_t N)
{
    __shared__ float parts[THREADS];
    const float *x = X + (int64_t)blockIdx.x * N;
    float *y = Y + (int64_t)blockIdx.x * N;
    int thread = threadIdx.x;
    float sum = 0.0f;
    int64_t i = thread;
    for (; i + THREADS < N; i += 2 * THREADS)
        sum += x[i] * x[i] + x[i + THREADS] * x[i + THREADS];
    if (i < N)
        sum += x[i] * x[i];
    parts[thread] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            parts[thread] += parts[thread + half];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(parts[0] / (float)N + eps);
    for (int64_t j = thread; j < N; j += THREADS)
        y[j] = x[j] * scale * G[j];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rmsnorm_row<<<(unsigned)M, THREADS, 0, stream>>>(X, G, Y, eps, N);
}
