#include <math.h>
#include <stdint.h>

void quartic_mean(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++) {
            float square = X[m * N + i] * X[m * N + i];
            sum += square * square;
        }
        Y[m] = sqrtf(sqrtf(sum / (float)N));
    }
}
