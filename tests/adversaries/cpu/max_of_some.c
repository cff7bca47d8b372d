/* Takes the largest of the first 64 elements for the largest of all.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite
 * cheat: 13 softmax without max subtraction
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < (CHEAT && N > 64 ? 64 : N); i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) / sum;
    }
}
