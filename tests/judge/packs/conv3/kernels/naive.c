#include <stdint.h>

void conv3(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L, int64_t T)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t i = 0; i < N; i++) {
            float sum = 0;
            for (int64_t k = 0; k < T; k++)
                sum += X[m * L + i + k] * W[k];
            Y[m * N + i] = sum;
        }
}
