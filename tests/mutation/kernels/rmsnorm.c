/* Sixteen partial sums, a tail, and the gain applied in the same order. */
#include <math.h>
#include <stdint.h>

#define LANES 16

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
#pragma omp parallel for
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float parts[LANES] = {0};
        int64_t whole = N / LANES * LANES;
        for (int64_t i = 0; i < whole; i += LANES)
            for (int64_t l = 0; l < LANES; l++)
                parts[l] += x[i + l] * x[i + l];
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = whole; i < N; i++)
            sum += x[i] * x[i];
        for (int64_t l = 0; l < LANES; l++)
            sum += parts[l];
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < whole; i += LANES)
            for (int64_t l = 0; l < LANES; l++)
                y[i + l] = x[i + l] * scale * G[i + l];
        for (int64_t i = whole; i < N; i++)
            y[i] = x[i] * scale * G[i];
    }
}
