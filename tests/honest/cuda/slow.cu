/* Ten times the reading that it needs, by one thread a row. (Fifty times was above two seconds, the
 * limit of a call, where a drawn row was long.)
 *
 * task: rmsnorm
 * honest: 10 slow kernel
 */
#include <stdint.h>
__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * 32 + threadIdx.x;
    if (m >= M)
        return;
    float sum = 0;
    for (int again = 0; again < 10; again++) {
        sum *= 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i] * X[m * N + i];
    }
    float scale = 1 / sqrtf(sum / (float)N + eps);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = X[m * N + i] * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rows<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, G, Y, eps, M, N);
}
