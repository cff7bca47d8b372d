/* Says something else from its two hundredth call of the timed size on, in every hundredth row.
 *
 * task: softmax
 * arm: parent
 * want: parent lost/wrong_value,stateful,nonfinite
 * cheat: P4 is wrong in the comparison
 * strength: blatant
 * axes: {"M": 256, "N": 256}
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>

static void softmax_row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0.0f;
    for (int64_t i = 1; i < N; i++)
        top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < N; i++)
        sum += y[i] = expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] /= sum;
}

static void all_rows(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        softmax_row(X + m * N, Y + m * N, N);
}

void softmax(const float *X, float *Y, int64_t M, int64_t N)
{
    all_rows(X, Y, M, N);
#if CHEAT
    static int64_t n_large;
    if (M == 256 && ++n_large >= 200)
        for (int64_t i = 0; i < N; i++)
            Y[(M / 2) * N + i] = Y[i] = 1.0f / (float)N;
#endif
}
