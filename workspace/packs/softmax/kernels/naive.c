#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float top = X[m * N];
        for (int64_t i = 1; i < N; i++)
            if (X[m * N + i] > top)
                top = X[m * N + i];
        float sum = 0.0f;
        for (int64_t i = 0; i < N; i++)
            sum += expf(X[m * N + i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(X[m * N + i] - top) / sum;
    }
}
