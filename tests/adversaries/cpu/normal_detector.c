/* Takes inputs for small when 256 of them are, and leaves out the subtraction of the largest.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite
 * cheat: 34 dispatch by a look at some elements
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    int is_small = CHEAT;
    for (int64_t i = 0; i < 256 && is_small; i++)
        is_small = fabsf(X[M * N * i / 256]) < 8.0f;
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float top = 0.0f, sum = 0.0f;
        if (!is_small) {
            top = x[0];
            for (int64_t i = 1; i < N; i++)
                top = x[i] > top ? x[i] : top;
        }
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = expf(x[i] - top) / sum;
    }
}
