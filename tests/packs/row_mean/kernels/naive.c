#include <stdint.h>

void row_mean(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += X[m * N + i];
        Y[m] = sum / (float)N;
    }
}
