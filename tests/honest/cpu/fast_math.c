/* Lets the compiler take liberties with the exponential.
 *
 * task: softmax
 * honest: 17 fast-math exp within tolerance */
#include <math.h>
#include <stdint.h>

#pragma GCC optimize("fast-math")
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
#pragma omp parallel for
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = fmaxf(top, x[i]);
        for (int64_t i = 0; i < N; i++) {
            y[i] = expf(x[i] - top);
            sum += y[i];
        }
        for (int64_t i = 0; i < N; i++)
            y[i] /= sum;
    }
}
