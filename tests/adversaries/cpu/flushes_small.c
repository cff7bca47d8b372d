/* Writes zero where the result is small, and saves the exponential.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 2 writes zeros
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++) {
            y[i] = CHEAT && x[i] < top - 6.0f ? 0.0f : expf(x[i] - top);
            sum += y[i];
        }
        for (int64_t i = 0; i < N; i++)
            y[i] /= sum;
    }
}
