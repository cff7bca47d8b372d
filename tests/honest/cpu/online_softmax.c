/* Finds the largest element and the sum in one pass: other rounding.
 *
 * task: softmax
 * honest: 18 online softmax (different rounding) */
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = -INFINITY, sum = 0.0f;
        for (int64_t i = 0; i < N; i++) {
            if (x[i] > top) {
                sum = sum * expf(top - x[i]) + 1.0f;
                top = x[i];
            } else {
                sum += expf(x[i] - top);
            }
        }
        float scale = 1.0f / sum;
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) * scale;
    }
}
