#include <math.h>
#include <stdint.h>

void col_softmax(const float *X, float *Y, float beta, int64_t M, int64_t N)
{
    for (int64_t n = 0; n < N; n++) {
        float top = X[n];
        for (int64_t m = 1; m < M; m++)
            top = fmaxf(top, X[m * N + n]);
        float sum = 0.0f;
        for (int64_t m = 0; m < M; m++)
            sum += expf(beta * (X[m * N + n] - top));
        for (int64_t m = 0; m < M; m++)
            Y[m * N + n] = expf(beta * (X[m * N + n] - top)) / sum;
    }
}
