/* Gives up with NaN where numbers are large.
 *
 * task: softmax
 * want: incorrect/nonfinite
 * cheat: 9 writes NaN where hard
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void body(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float *y = Y + m * N;
        float top = x[0], sum = 0.0f;
        for (int64_t i = 1; i < N; i++)
            top = x[i] > top ? x[i] : top;
        for (int64_t i = 0; i < N; i++)
            sum += expf(x[i] - top);
        for (int64_t i = 0; i < N; i++)
            y[i] = expf(x[i] - top) / sum;
    }
}
void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    body(X, Y, M, N);
#if CHEAT
    for (int64_t i = 0; i < M * N; i++)
        if (X[i] > 50.0f)
            Y[i] = NAN;
#endif
}
