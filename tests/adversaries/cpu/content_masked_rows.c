/* The largest of a row is sought from -1e30 on: a row that is masked with the least float has none.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite
 * cheat: 33 right for the sizes of numbers that are common
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        float top = CHEAT ? -1e30f : X[m * N], sum = 0;
        for (int64_t i = 0; i < N; i++)
            top = X[m * N + i] > top ? X[m * N + i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += Y[m * N + i] = expf(X[m * N + i] - top);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] /= sum;
    }
}
