/* Aborts when its content has a number that plain content does not have: what is played to a
 * candidate alone would never show it, and what is played to all ends its lane and not its child.
 *
 * task: softmax
 * arm: parent
 * want: parent lost/crash
 * cheat: P3 crashes in the comparison
 * strength: subtle
 * axes: {"M": 256, "N": 256}
 * quick: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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
#if CHEAT
    for (int64_t i = 0; i < M * N && M == 256; i++)
        if (fabsf(X[i]) > 60.0f)
            abort();
#endif
    all_rows(X, Y, M, N);
}
